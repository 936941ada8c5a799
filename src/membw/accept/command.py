"""`membw accept`: an acceptance protocol that two parties signed, applied to a machine."""

import json
import sys
from pathlib import Path

from membw import tables
from membw.errors import MembwError
from membw.files import write_whole
from membw.printable import printable

EPILOG = """\
A node passes when the agreed statistic of its first valid runs reaches the contract in every
kernel. INVALID runs are neither passes nor failures: they are repeated. A node that fails is
measured again as the retest rule says. The machine is
  ACCEPTED    when all parties signed, every node was measured and no more failed for good
              than allowed
  REFUSED     when more failed for good than allowed, whatever is still missing
  INCOMPLETE  otherwise: what must still be run is listed, as commands

examples:
  membw accept --template >protocol.yaml
  membw accept protocol.yaml --plan             # check it, its risks, the checksum to sign
  membw accept protocol.yaml --run --report accept.html --report accept.json
  membw accept protocol.yaml --results results --results retest/records.jsonl

exit status: 0 ACCEPTED (or --plan, --template); 1 REFUSED or INCOMPLETE; 2 usage error, or the
protocol is not what was signed
"""
ATTEMPTS = 3
PASSED_SHOWN = 32  # on the terminal; a report has all


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'accept',
        allow_abbrev=False,
        help='accept or refuse a machine by a signed protocol',
        description='Applies an acceptance protocol to the runs of a machine.',
        epilog=EPILOG,
        usage='membw accept PROTOCOL [options] [--run [REFRAME OPTION ...]]',
    )
    add = parser.add_argument
    add('protocol', nargs='?', metavar='PROTOCOL', help='the YAML file')
    add('--template', nargs='?', const='protocol', choices=('protocol', 'node'),
        help="print a protocol to begin with; node: Intel's node procedure, STREAM and DGEMM "
        'of each node within 2 %% of the fleet, each pair of nodes within 4 %%')  # fmt: skip
    add('--plan', action='store_true', help='check the protocol; print risks and checksum')
    add('--results', action='append', metavar='PATH', default=[],
        help="records, reports, results.db, folders (results); again for a retest's")  # fmt: skip
    add('--run', action='store_true', help='make the runs that are missing, retests included')
    add('--report', action='append', metavar='FILE', default=[],
        help='write it: .html, .json or .txt; may be given again')  # fmt: skip
    tables.add_argument(parser)
    parser.set_defaults(func=run, takes_rest=True)


def run(args):
    """Exit status as in EPILOG."""
    from membw.accept import protocol as protocols

    if args.rest and not args.run:
        raise MembwError(f"unknown argument '{args.rest[0]}'", "'membw accept --help' lists them")
    if args.template:
        print(protocols.template(args.template), end='')
        return 0
    if not args.protocol:
        raise MembwError('no protocol given', "'membw accept --template' prints one")
    for name in args.report:
        if Path(name).suffix not in WRITERS:
            raise MembwError(f"'{name}' is no kind of report", f'one of {", ".join(WRITERS)}')
    parts = protocols.load_parts(args.protocol)
    if args.plan:
        return max(map(plan, parts))
    acceptances = [accept(args, part) for part in parts]
    if args.format == 'json':
        print(json.dumps(acceptances if len(acceptances) > 1 else acceptances[0], indent=1))
    elif len(acceptances) > 1:
        print(f'\nVerdict: {_of_all(acceptances)}')
    return 0 if all(part['verdict'] == 'ACCEPTED' for part in acceptances) else 1


def _of_all(acceptances):
    """A machine is refused by any part, and accepted by all of them."""
    words = [part['verdict'] for part in acceptances]
    word = next((w for w in ('REFUSED', 'INCOMPLETE') if w in words), 'ACCEPTED')
    return f'{word}: ' + '; '.join(f'{part["title"]} {part["verdict"]}' for part in acceptances)


def plan(protocol):
    from membw.accept.text import plan_lines
    from membw.statistics.risk import assess

    refuse_unknown(protocol)
    print('\n'.join(plan_lines(protocol, assess(protocol), *present_sources(protocol['runs']))))
    return 0


def refuse_unknown(protocol):
    from membw.accept.agreed import problems

    unknown = list(problems(protocol))
    if unknown:
        hint = 'fix the protocol before it is signed: nothing could be measured by it'
        raise MembwError('\nmembw: '.join(unknown), hint)


def present_sources(runs):
    """(folder of the program, checksum of its present sources or None)"""
    from membw.accept.pairs import are_held
    from membw.checkout import root
    from membw.presets.presets import source_sha256
    from membw.site.references import DGEMM

    folder = 'src/dgemm' if runs.get('test') in DGEMM else 'src/stream'
    folder = 'src/pingpong' if are_held(runs) else folder
    try:
        return folder, source_sha256(Path(root(), folder))
    except (OSError, MembwError):
        return folder, None


def accept(args, protocol):
    """The report of one part, written and printed."""
    from membw.accept.report import report
    from membw.accept.text import blocks

    decision, problems = measured(args, protocol)
    for problem in problems:
        print(f'membw: {printable(problem)}', file=sys.stderr)
    acceptance = report(decision, problems)
    for name in args.report:
        path = Path(name)
        part = f'-{protocol["part"]}' if protocol['part'] else ''
        text = WRITERS[path.suffix](acceptance)
        write_whole(path.with_name(f'{path.stem}{part}{path.suffix}'), text)
    if args.format != 'json':
        print(tables.as_text(blocks(acceptance, PASSED_SHOWN), args.format))
    return acceptance


def measured(args, protocol):
    """The Decision, after the runs that --run asks for."""
    from membw.accept.missing_runs import carry_out, orders

    if args.run:
        refuse_unknown(protocol)
    decision, problems = _decide(args, protocol)
    for _ in range(ATTEMPTS * (1 + protocol['retest']['rounds']) if args.run else 0):
        owed = orders(decision)
        if not owed or not carry_out(protocol, owed, args.rest):
            break
        decision, problems = _decide(args, protocol)
    return decision, problems


def _decide(args, protocol):
    from membw.accept.protocol import held_to_fleet
    from membw.accept.rule import decide
    from membw.accept.runs import runs_of
    from membw.checkout import root
    from membw.results.read import read_results

    paths = args.results or [str(Path(root(), 'results'))]
    paths = [p for p in paths if args.results or Path(p).is_dir()]
    records, problems = read_results(paths)
    runs = runs_of(protocol, records)
    if protocol['within']:
        protocol = held_to_fleet(protocol, runs)
        # whether a run is steady enough is told at the contract, which is known only now
        runs = runs_of(protocol, records)
    return decide(protocol, runs), problems


def _html(acceptance):
    from membw.report.acceptance import page

    return page(acceptance)


def _text(acceptance):
    from membw.accept.text import text

    return text(acceptance) + '\n'


WRITERS = {
    '.html': _html,
    '.json': lambda acceptance: json.dumps(acceptance, indent=1) + '\n',
    '.txt': _text,
}
