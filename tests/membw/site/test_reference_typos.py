"""A typo in a file of references is one clear line; it once meant 'no reference', and PASS."""

import pytest
import yaml
from places import ROOT

from membw import presets
from membw.site import references, systems

SYSTEM = yaml.safe_load((ROOT / 'systems/thin.yaml').read_text())
GOOD = (ROOT / 'systems/references/thin.yaml').read_text()
TYPOS = [
    ('stream:', 'straem:', "no check 'straem'", "did you mean 'stream'?"),
    ('stream:', 'batch_job:', "no check 'batch_job'", 'known here'),
    ("'thin:thin':", "'thin:thni':", "no partition 'thin:thni'", "did you mean 'thin:thin'?"),
    ('    gcc-o2:', '    gcc-02:', "no preset 'gcc-02'", "did you mean 'gcc-o2'?"),
    ('      likwid:', '      likwd:', "no pinning 'likwd'", "did you mean 'likwid'?"),
    ('0.10, GB/s', '0.10, MB/s', "'MB/s']' cannot be used", 'a figure is'),
    ('-0.05, 0.10', '0.05, 0.10', '0.05, 0.1, ', 'lower from -1 to 0'),
    ('166.6391, -0.05', '.nan, -0.05', '[nan, ', 'a figure is'),
    ('166.6391, -0.05, ', '', "[0.1, 'GB/s']' cannot be used", 'a figure is'),
    ('        scale: [159', '        copy: [159', "copy' is given twice", 'fix that line'),
    ('  $index', '  index', "'$index' is None: its keys", '$index: [$partition'),
    (
        '$index: [$partition, $environ, pinning]',
        '$index: 5',
        'is 5: its keys',
        '$index: [$partition',
    ),
    ('[$partition, $environ', '[$environ, $partition', 'would match no case', '[$partition'),
    ('[$partition, ', '[$system, ', 'would match no case', '[$partition'),
    ('[166.6391, -0.05, 0.10, GB/s]', '166.6', "'166.6' cannot be used", 'a figure is'),
]


def problems(text):
    return list(references.problems_of(text, True, SYSTEM, presets.load()))


@pytest.mark.parametrize('old, new, fact, hint', TYPOS)
def test_a_typo_is_one_line_with_its_place(old, new, fact, hint):
    assert old in GOOD
    (_, said, way), *_ = problems(GOOD.replace(old, new))
    assert fact in said and hint in way


def test_a_known_failure_is_no_typo_and_one_without_its_message_is():
    row = '[166.6391, -0.05, 0.10, GB/s]'
    assert row in GOOD
    assert problems(GOOD.replace(row, f"['$xfail', ticket 123, {row}]")) == []
    ((_, fact, hint),) = problems(GOOD.replace(row, f"['$xfail', {row}]"))
    assert 'without a message' in fact and 'ticket' not in hint


@pytest.mark.parametrize('content', [b'', b'\xff\xfe\x00', b'stream: [\n'])
def test_an_empty_file_and_another_encoding_are_a_line(content):
    assert len(problems(content)) == 1


def test_our_own_references_have_no_typo():
    assert systems.load(presets.load())[1] == {}
