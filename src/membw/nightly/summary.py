"""summary.txt of a night: a subject, how each step ended, the slow nodes, the last lines."""

import re
import socket
from collections.abc import Iterator

from membw.files import write_whole
from membw.nightly import expected
from membw.nightly.night import STOPPED, WELL, WRONG, Night
from membw.printable import at_most, printable
from membw.results.hostlist import KNOWN, fold, read_node_check
from membw.results.verdict import MISSING, PASS

WORDS = {WELL: 'well', WRONG: 'look at it', STOPPED: 'out of time'}
TAIL, MOST = 25, 100  # lines of a step that did not end well; nodes that are named
BESIDES = re.compile(r'(membw|hint|note|measure again): ')
VERDICT = re.compile(r'^(Verdict: |membw: |hint: )')


def write(night: Night, system: str | None, to: str | None) -> str:
    """The text, which is in the folder of the night, too; it may be given to sendmail."""
    bad = [
        name
        for name, step in night.steps.items()
        if step['status'] != WELL and not night.is_early(name)
    ]
    what = {0: 'all is well', 1: 'look at'}.get(night.status(), 'not complete:')
    subject = f'membw {system or socket.gethostname()} {night.folder.name}: {what}'
    lines = [f'To: {to}'] * bool(to) + [f'Subject: {subject} {", ".join(bad)}'.rstrip(), '']
    nodes = slow_nodes(night)
    lines += [*table(night), *nodes]
    for name in bad:
        last = tail(night, name)
        if nodes and name == 'rank':  # its verdicts stand above
            last = [line for line in last if BESIDES.match(line)]
        lines += ['', f'--- {name}, the last lines of {name}.log', *last] if last else []
    text = '\n'.join([*lines, '', f'All files are in {night.folder}', ''])
    write_whole(night.folder / 'summary.txt', text)
    return text


def table(night: Night) -> Iterator[str]:
    for name, step in night.steps.items():
        word = WORDS.get(step['status'], f'failed, exit status {step["status"]}')
        word = 'not judged' if night.is_early(name) else word
        lines = [line for line in tail(night, name) if line.strip()]
        last = ([line for line in lines if VERDICT.match(line)] or lines or [''])[-1]
        yield f'{name:<8}  {word:<11}  {step["seconds"]:7.1f} s  {last}'.rstrip()


def slow_nodes(night: Night) -> list[str]:
    """The lines of the node-check file that are not PASS, and which nodes were not measured."""
    nodes = read_node_check(night.folder / 'nodecheck.txt')
    known = [node for node, _, line in nodes if f' {MISSING} {KNOWN}' in line]
    lines = [printable(line) for n, word, line in nodes if word != PASS and n not in known]
    lines += [f'MISSING for {expected.RECENT} nights and more: {fold(known)}'] * bool(known)
    lines += expected.comments(night.folder)
    return ['', '--- nodes to look at', *at_most(lines, MOST)] if lines else []


def tail(night: Night, name: str) -> list[str]:
    log = night.log(name)
    return log.read_text(errors='replace').splitlines()[-TAIL:] if log.exists() else []
