"""`membw accept`: an acceptance protocol that two parties signed, applied to a machine."""

import argparse
import json
import sys
from pathlib import Path

from membw import tables
from membw.accept import protocol as protocols
from membw.accept import signatures
from membw.accept.plan import plan
from membw.accept.report import report
from membw.accept.rule import Decision
from membw.accept.runs import runs_of
from membw.accept.sheet import blocks, sheet
from membw.arguments import FORMS, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole
from membw.results.table import Table, read_table

NEXT = "'--sheet FILE' has contract, rule, risks, machine and checksums, too."
EPILOG = """\
--plan prints the rule in sentences. The machine is
  ACCEPTED    when all parties signed, every node was measured and no more failed than allowed
  REFUSED     when more failed than allowed, whatever is still missing
  INCOMPLETE  otherwise: what is due, missing or undecided is named

A party signs by ssh-keygen, with the key that the protocol names: --plan prints the command. The
signature PROTOCOL.PARTY.sig lies beside the protocol, SHEET.PARTY.sig beside the sheet.

examples:
  membw accept protocol.yaml results retest/records.jsonl
  membw accept protocol.yaml --sheet sheet.html

exit status: 0 ACCEPTED (or --plan, --template); 1 REFUSED or INCOMPLETE, or no memory can meet the
contract; 2 usage error, or the protocol or the sheet is not what was signed
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.allow_abbrev = False
    add = parser.add_argument
    add('protocol', nargs='?', metavar='PROTOCOL', help='the YAML file; none with --template')
    add('results', nargs='*', metavar='RESULTS', help=f'{FORMS} (results)')
    add = tables.add_argument(parser, 'what is printed, in place of the verdict').add_argument
    add(
        '--template',
        action='store_true',
        help='print an example protocol, with the CPU of RESULTS',
    )
    add('--plan', action='store_true', help='check the protocol; print what it asks for')
    add = parser.add_argument_group('the machine').add_argument
    add('--sheet', metavar='FILE', help='write the sheet to sign: HTML, printed on A4')
    add('--page', metavar='FILE', help='write it with every node and run')
    add_site_tests(parser)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    if args.template:
        places = [args.protocol, *args.results] if args.protocol else []
        table = _table(args, places) if places else None
        print(protocols.of_machine(table) if table else protocols.template(), end='')
        return 0
    if not args.protocol:
        raise MembwError('no protocol given', "'membw accept --template' prints one")
    protocol = protocols.load(args.protocol)
    if args.plan:
        lines, is_possible = plan(protocol, args.protocol)
        print(tables.as_text(lines))
        return 0 if is_possible else 1
    table = _table(args, args.results or [str(Path(root(), 'results'))])
    found = Decision(protocol, runs_of(protocol, table))
    data = report(found, table.problems)
    more = ['', NEXT] * (not args.sheet)
    print(json.dumps(data, indent=1) if args.json else tables.as_text([*blocks(found), *more]))
    for path, is_whole in (args.sheet, False), (args.page, True):
        if path:
            _write(path, sheet(found, is_whole), protocol.content['parties'])
    return 0 if found.verdict == 'ACCEPTED' else 1


def _table(args: argparse.Namespace, results: list[str]) -> Table:
    table = read_table(results, wanted=wanted_of(args, args.since))
    table.say()
    return table


def _write(path: str, text: str, parties: dict[str, dict[str, str]]) -> None:
    """Unless another one was signed."""
    unsigned = signatures.missing(path, text.encode(), parties)
    write_whole(path, text, 'give it another name')
    by = [party for party in parties if party not in unsigned]
    said = f'signed by {" and ".join(by)}' if by else 'signed by nobody yet'
    print(f'{path}: {said}', file=sys.stderr)
    for party in unsigned:
        print(f'{party} signs it by: {signatures.command(path, party)}', file=sys.stderr)
