"""The JUnit file of a run: a testcase per row of its table, with the words of the terminal."""

import os
import xml.etree.ElementTree as ET
from collections import Counter

from membw.files import write_whole
from membw.printable import printable
from membw.results import reframe
from membw.results.case import named
from membw.summary.command import Run
from membw.summary.full_table import text_of
from membw.words import KNOWN, MISSING, OF


def write(run: Run) -> None:
    save(suite_of(run), os.path.splitext(run.path)[0] + '.xml')


def suite_of(run: Run) -> ET.Element:
    """What did not pass is a failure with its reason, what died or is missing (a failed build,
    too) an error, a known issue or what a system has not is skipped."""
    suite = ET.Element('testsuite', name='membw run')
    for row in run.rows:
        nodes = {one.node for one in run.rows if one.case.at('') == row.case.at('')}
        words = row.preset, named(row.parameters.items()), row.node if nodes - {row.node} else ''
        name = ' '.join(filter(None, words))
        figures = ', '.join(f'{f.metric} {text_of(f)} {f.unit}' for f in row.figures.values())
        case = add(suite, f'{row.case.where}.{row.test}', name, row.word, row.reason, figures)
        seconds = sum(a.case.time_total or 0 for a in row.attempts)
        case.set('time', f'{seconds:.3f}')
        ET.SubElement(case, 'system-out').text = printable(figures)
    for build, why in reframe.failed_builds(run.cases).items():
        add(suite, 'build', reframe.named_build(build), MISSING, why)
    for test, preset, why in reframe.skipped(run.cases):
        add(suite, f'skipped.{test}', preset, KNOWN, why)
    if run.status and not suite.findall('*/failure') + suite.findall('*/error'):
        add(suite, 'run', 'verdict', MISSING, run.verdict)
    return suite


def save(suite: ET.Element, path: str | os.PathLike[str]) -> None:
    tags = Counter(child.tag for case in suite for child in case)
    suite.set('tests', str(len(suite)))
    for name, tag in (('failures', 'failure'), ('errors', 'error'), ('skipped', 'skipped')):
        suite.set(name, str(tags[tag]))
    xml = ET.tostring(suite, encoding='unicode', xml_declaration=True)
    write_whole(path, f'{xml}\n')


def add(
    suite: ET.Element, group: str, name: str, word: str, reason: str, figures: str = ''
) -> ET.Element:
    """A testcase; a verdict other than PASS is its child, in words as GitLab shows them: those of
    `message` it does not."""
    case = ET.SubElement(suite, 'testcase', classname=printable(group), name=printable(name))
    if tag := OF[word].tag if word in OF else 'failure':
        said = printable(f'{word}: {reason}' if tag != 'skipped' else reason)
        child = ET.SubElement(case, tag, message=said, type=word)
        child.text = '; '.join(filter(None, [said, printable(figures)]))
    return case
