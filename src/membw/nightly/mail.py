"""summary.txt of a night: a Subject, what each step said, where the rest is."""

import re
import socket

from membw.errors import MembwError
from membw.files import write_whole
from membw.nightly.clock import ended_at
from membw.nightly.night import STOPPED, WELL, WRONG
from membw.printable import at_most, printable
from membw.results.case import cases_of, title
from membw.results.hostlist import read_node_check
from membw.run import summary

WORDS = {WELL: 'well', WRONG: 'look at it', STOPPED: 'out of time'}
TAIL = 25  # lines of a step that did not end well
MOST = 100  # nodes named; the node-check file has them all
KNOWN = 'known failures'
VERDICT = re.compile(r'^(Verdict: |membw: |hint: )')


def write(night, to):
    lines = [*header(night, to), '', *table(night)]
    lines += slow_nodes(night)
    lines += known(night)
    for name, step in night.state['steps'].items():
        if step['status'] != WELL and name != 'rank':
            lines += ['', f'--- {name}, the last lines of {name}.log', *tail(night, name)]
    if not night.has_run:
        lines += ['', f'Nothing ran now: this night was over at {ended_at(night)}']
    lines += ['', *night.state.get('forgotten', []), f'All of it is in {night.folder}', '']
    write_whole(night.folder / 'summary.txt', '\n'.join(lines))


def header(night, to):
    where = night.state['asked']['system'] or socket.gethostname()
    unwell = [name for name, step in night.state['steps'].items() if step['status'] != WELL]
    well = f'all is well, {KNOWN}' if known(night) else 'all is well'
    what = {0: well, 1: 'look at'}.get(night.status(), 'not complete:')
    subject = f'membw {where} {night.folder.name}: {what} {", ".join(unwell)}'.rstrip()
    return [f'To: {to}'] * bool(to) + [f'Subject: {subject}']


def table(night):
    for name, step in night.state['steps'].items():
        word = WORDS.get(step['status'], f'failed, exit status {step["status"]}')
        said = f'left out: {step["skipped"]}' if 'skipped' in step else last_word(night, name)
        yield f'{name:<8}  {word:<11}  {step.get("seconds", 0):7.1f} s  {said}'.rstrip()


def slow_nodes(night):
    """The lines of the node-check file that are not PASS."""
    nodes = read_node_check(night.folder / 'nodecheck.txt')
    lines = [printable(line) for _, verdict, line in nodes if verdict != 'PASS']
    head = ['', '--- nodes to look at (nodecheck.txt has all, rank.log the ranking)']
    return [*head, *at_most(lines, MOST)] if lines else []


def known(night):
    """What failed as its reference expects: no alarm, and not forgotten either."""
    cases = [case for path in sorted(night.folder.glob('*.json')) for case in reported(path)]
    lines = [f'{title(case)}: {" ".join(summary.judge(case))}' for case in cases
             if case.get('result') == 'xfail']  # fmt: skip
    return ['', f'--- {KNOWN}', *at_most(lines, MOST)] if lines else []


def reported(path):
    try:
        return cases_of(summary.load(path))
    except MembwError:  # state.json, or a report that was cut: its step says so
        return []


def tail(night, name):
    path = night.folder / f'{name}.log'
    return path.read_text(errors='replace').splitlines()[-TAIL:] if path.exists() else []


def last_word(night, name):
    """The verdict of a step: its last line of that kind, else its last line."""
    lines = [line for line in tail(night, name) if line.strip()]
    spoken = [line for line in lines if VERDICT.match(line)]
    return (spoken or lines or [''])[-1]
