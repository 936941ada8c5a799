"""summary.txt of a night: a subject, how each step ended, the slow nodes, the last lines; and
junit.xml, the rows of its run and what the night adds."""

import contextlib
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from membw.errors import MembwError
from membw.files import write_whole
from membw.nightly.measured import ACKNOWLEDGED
from membw.nightly.night import NOT_DONE, STOPPED, WELL, WRONG, Night
from membw.printable import at_most, printable
from membw.results.hostlist import fold, read_node_check
from membw.summary import junit
from membw.summary.command import read
from membw.words import FAIL, GOOD, KNOWN, MISSING, PASS

WORDS = {None: 'not begun', WELL: 'well', WRONG: 'look at it'}
WORDS |= {NOT_DONE: 'incomplete', STOPPED: 'out of time'}
MOST, TAIL = 100, 25  # nodes, or rows, that are named; lines of a log


def write(night: Night, system: str, to: str | None) -> str:
    """The text, which is in the folder of the night, too; it may be given to sendmail."""
    parts = [f'not complete: {", ".join(night.incomplete)}'] * bool(night.incomplete)
    parts += [f'look at {", ".join(night.wrong)}'] * bool(night.wrong)
    subject = f'membw {system} {night.folder.name}: {"; ".join(parts) or "all is well"}'
    lines = [f'To: {to}'] * bool(to) + [f'Subject: {subject}', '']
    nodes = slow_nodes(night)
    lines += [night.said] * bool(night.said) + [*table(night), *nodes, *problems(night)]
    for name in night.state.steps:
        if name not in night.incomplete + night.wrong:
            continue
        last = night.printed(name)[-TAIL:]
        if nodes and name in night.campaigns:  # its verdicts stand above
            last = [line for line in last if line.startswith('membw: ')]
        lines += ['', f'--- {name}, the last lines of {name}.log', *last] if last else []
    text = '\n'.join([*lines, '', f'All files are in {night.folder}', ''])
    write_whole(night.folder / 'summary.txt', text)
    write_junit(night)
    return text


def word_of(night: Night, name: str) -> str:
    step = night.state.steps[name]
    if step.status is None and step.command:
        return 'stopped'
    if night.is_early(name):
        return 'undecided'
    return WORDS.get(step.status, f'failed, exit status {step.status}')


def table(night: Night) -> Iterator[str]:
    width = max(len(name) for name in night.state.steps)
    for name, step in night.state.steps.items():
        printed = night.printed(name) if step.command else []
        lines = [x for x in printed if x.strip() and not x.startswith(('hint: ', 'membw: note: '))]
        last = ([x for x in lines if x.startswith('Verdict: ')] or lines or [''])[-1]
        how = f'{word_of(night, name):<11}  {step.seconds:7.1f} s'
        yield f'{name:<{width}}  {how}  {last}'.rstrip()


def problems(night: Night) -> Iterator[str]:
    for kind, found in night.state.problems.items():
        lines = [printable(f'{name} {why}') for name, why in found.items()]
        yield from ('', f'--- {kind}', *at_most(lines, MOST))
        if kind == 'rows':
            file = night.folder.parent / ACKNOWLEDGED
            yield f'hint: no longer wanted? write its line to {file}'


def slow_nodes(night: Night) -> list[str]:
    """The lines of the node-check file that are not PASS."""
    nodes = read_node_check(night.folder / 'nodecheck.txt')
    known = [node for node, word, _ in nodes if word == KNOWN]
    lines = [printable(line) for _, word, line in nodes if word not in GOOD]
    lines += [f'{KNOWN}, drained for 14 days and more: {fold(known)}'] * bool(known)
    return ['', '--- nodes to look at', *at_most(lines, MOST)] if lines else []


def write_junit(night: Night) -> None:
    """Of the runs' rows, each step, node and row that is not well."""
    suite = ET.Element('testsuite', name='membw nightly')
    for report in night.state.reports:
        with contextlib.suppress(MembwError):  # a problem of the night
            suite.extend(junit.suite_of(read(report)))
    for name in night.state.steps:
        word = MISSING if name in night.incomplete else FAIL if name in night.wrong else PASS
        junit.add(suite, 'night', name, word, word_of(night, name))
    for kind, found in night.state.problems.items():
        for name, why in found.items():
            junit.add(suite, f'night.{kind}', name, MISSING, why)
    for node, word, line in read_node_check(night.folder / 'nodecheck.txt'):
        junit.add(suite, 'night.nodes', node, word, line)
    junit.save(suite, night.folder / 'junit.xml')
