"""The JUnit file of a run: a testcase per row of its table, with the words of the terminal."""

import os
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

from membw.printable import printable
from membw.results.verdict import KNOWN, NOT_MEASURED, PASS
from membw.run import outcome
from membw.run.full_table import text_of
from membw.run.rows import rows_of
from membw.run.skips import reasons
from membw.run.summary import verdict_of

TAGS = {PASS: '', KNOWN: 'skipped', NOT_MEASURED: 'error'}  # of any other word: 'failure'


def write(path: str) -> None:
    """Next to ReFrame's report at `path`: what did not pass is a failure with its reason, what was
    not measured (a failed build, too) an error, a known issue or a skipped case is skipped."""
    report = outcome.load(path)
    cases = outcome.cases_of(report)
    suite = ET.Element('testsuite', name='membw run')
    rows = rows_of(report, path)
    text, status = verdict_of(rows, cases)
    for row in rows:
        name = ' '.join([row.preset, *(f'{k}={v}' for k, v in row.parameters.items())])
        is_dry = row.word == NOT_MEASURED and not status
        word = KNOWN if is_dry else row.word
        case = add(suite, f'{row.where}.{row.test}', name, word, row.reason)
        seconds = sum(float(a.case.get('time_total') or 0) for a in row.attempts)
        case.set('time', f'{seconds:.3f}')
        figures = (f'{f.metric} {text_of(f)} {f.unit}' for f in row.figures.values())
        ET.SubElement(case, 'system-out').text = printable(', '.join(figures))
    for key, why in outcome.failed_builds(cases).items():
        add(suite, 'build', outcome.named_build(key), NOT_MEASURED, why)
    for test, preset, why in reasons(path):
        add(suite, f'skipped.{test}', preset, KNOWN, why)
    if status and not suite.findall('*/failure') + suite.findall('*/error'):
        add(suite, 'run', 'verdict', NOT_MEASURED, text)
    tags = Counter(child.tag for case in suite for child in case)
    suite.set('tests', str(len(suite)))
    for name, tag in (('failures', 'failure'), ('errors', 'error'), ('skipped', 'skipped')):
        suite.set(name, str(tags[tag]))
    xml = ET.tostring(suite, encoding='unicode', xml_declaration=True)
    Path(os.path.splitext(path)[0] + '.xml').write_text(f'{xml}\n')


def add(suite: ET.Element, group: str, name: str, word: str, reason: str) -> ET.Element:
    """A testcase; a verdict other than PASS is its child."""
    case = ET.SubElement(suite, 'testcase', classname=printable(group), name=printable(name))
    if tag := TAGS.get(word, 'failure'):
        said = printable(f'{word}: {reason}' if tag != 'skipped' else reason)
        ET.SubElement(case, tag, message=said, type=word)
    return case
