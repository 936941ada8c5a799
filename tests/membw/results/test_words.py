"""One table of words, from which all mouths are drawn; findings have codes and sentences."""

import inspect
import json
import re

import pytest
from places import ROOT

from membw import tables
from membw.report import svg
from membw.results import findings
from membw.results.findings import SENTENCES, Finding
from membw.words import WORDS

READING = (ROOT / 'docs/reading.md').read_text()


@pytest.mark.parametrize('word', WORDS, ids=[word.name for word in WORDS])
def test_a_word_is_one_row_and_everything_draws_on_it(word):
    assert f'| {word.name} | {word.means} | {word.status} |\n' in READING
    assert tables.painted(word.name) != word.name
    assert all(word.colour in theme for theme in svg.COLOURS.values())
    assert (word.tag in ('', 'skipped')) == (word.status == 0)
    assert f'**{word.name}**' in (ROOT / 'README.md').read_text()


def test_a_reason_of_a_program_is_no_code_of_ours():
    """Its sentence would be made of numbers that it has not."""
    text = (ROOT / 'src/harness/verdict.c').read_text()
    codes = re.findall(r'\{ "([a-z-]+)",', text)
    assert len(codes) > 12 and not {*codes} & {*SENTENCES}
    assert (
        Finding('not-proven', {'detail': 'beyond 360 MiB'}).text == 'not-proven (beyond 360 MiB)'
    )
    assert Finding('not-proven', {'detail': ''}).text == 'not-proven'


def test_findings_are_json_with_code_and_numbers():
    (one,) = findings.for_json([Finding('fact', {'name': 'thp', 'value': 'a', 'usual': 'b'})])
    assert json.loads(json.dumps(one)) == {
        'code': 'fact', 'numbers': {'name': 'thp', 'value': 'a', 'usual': 'b'}}  # fmt: skip


def test_every_code_is_given_somewhere():
    """A code that nobody gives is a sentence that nobody reads."""
    texts = [file.read_text() for file in (ROOT / 'src/membw').rglob('*.py')
             if file.name != 'findings.py']  # fmt: skip
    never = {code for code in SENTENCES if not any(f"'{code}'" in text for text in texts)}
    assert never <= DEFAULTS


DEFAULTS = {
    parameter.default for parameter in inspect.signature(findings.reported).parameters.values()
} | {'rounds-lost'}  # made of two parts
