"""One run of ReFrame over the checks, then the table; never green for nothing."""

import contextlib
import difflib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from membw import interruption
from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError
from membw.plural import plural
from membw.progress import Cases, say
from membw.results.left_out import by_reason, partitions_of
from membw.results.run_lock import alone
from membw.run import junit, queue_wait, rounds, rows, summary, under_way
from membw.site import realtime

# ReFrame only warns of these, runs the rest and exits 0
NOT_LOADED = re.compile(
    r'^(?:\S*WARNING: (skipping test.*|check path .* does not exist)|\S*ERROR: (.*))$'
)
SHOWN = re.compile(r'^\[ +(OK|FAIL|XFAIL|XPASS|SKIP|ABORT) \]|^\S*(WARNING|ERROR):')
# what our checks say just before ReFrame says FAIL, as of any case that it does not pass
SAID_INVALID = re.compile(r' @\S+: INVALID: (.*)')
# told once, by the reason of what they depend on, or meant
QUIET = re.compile(
    r'\[skipped due to skipped dependencies\]|variables were not set|Ignoring check search path'
    r'|ERROR: Traceback'
)
UNKNOWN_SYSTEM = re.compile(r"configuration entry for the requested system: '([^':]*)")
UNSET = re.compile(r"test '(\w+)': the following variables were not set: (.*)")
CHECK = re.compile(r'^class (\w+)\(', re.M)
NOT_STORED = re.compile(r'WARNING: failed to store results in the database: (.*)')
STOPPED = 'run session stopped: '
RERUN = " (rerun with '-v' for a backtrace)"
ENDING_S = 30  # for ReFrame to cancel its jobs and write its report
HEARD_S = 4  # ... by when it has begun: two seconds are a local job's own
COLOURS = re.compile(r'\x1b\[[0-9;]*m')


def measure(system, rest, asked=1, form='plain', by_priority=False):
    """ReFrame with the further options `rest`, alone in this checkout; the exit status.

    `asked` rounds of what compares on this machine; with more than one, once more what was
    disturbed; `by_priority`: in real time. Tables in one of tables.FORMATS: what is for people
    alone goes to stderr otherwise. Who interrupts it has the table of what was measured before.
    """
    begun, base = time.monotonic(), report_base()
    try:
        with alone(), contextlib.redirect_stdout(sys.stdout if form == 'plain' else sys.stderr):
            partitions, lines = _measure(base, system, rest, asked, by_priority)
    except KeyboardInterrupt:
        if os.path.exists(f'{base}.json'):  # ReFrame writes it where a case had begun
            show_interrupted(f'{base}.json', time.monotonic() - begun, form)
        raise
    status = summary.show(f'{base}.json', time.monotonic() - begun, by_reason(partitions), form)
    tell_cut_short(f'{base}.json')
    refuse_lost_history(lines)
    return status


def show_interrupted(report, seconds, form):
    summary.show(report, seconds, form=form)
    tell_cut_short(report, under_way.WRITTEN_S)


def tell_cut_short(report, wait_s=0.0):
    for line in under_way.kept(summary.load(report), os.path.join(root(), 'results'), wait_s):
        say(line)


def _measure(base, system, rest, asked, by_priority):
    """(partitions, ReFrame's lines); the files of the run are `base` and a suffix."""
    os.makedirs(os.path.dirname(base), exist_ok=True)
    partitions = partitions_of(system)
    turns = asked > 1 and rounds.applies(rest)
    priority = realtime.words(by_priority, is_local(partitions))
    options = [*keeping_still(partitions, rest), *priority, *rest]
    if turns and is_local(partitions):
        options = ['-S', f'max_seconds={rounds.ROW_S / asked:g}', *options]
    with queue_wait.told(partitions):
        lines = reframe(command(base, system, options), base, '-v' in rest)
    refuse_load_errors(lines)
    refuse_nothing(base, system, rest, lines, partitions)
    if turns:
        lines += in_turn(base, system, options, asked)
    junit.tell_verdicts(f'{base}.json', f'{base}.xml')
    return partitions, lines


def keeping_still(partitions, rest):
    """One case after the other: ReFrame would judge a case while it measures the next one, on
    the cores that are measured."""
    chosen = any(word.startswith('--exec-policy') for word in rest)
    return ['--exec-policy=serial'] if is_local(partitions) and not chosen else []


def is_local(partitions):
    return bool(partitions) and all(part['scheduler'] == 'local' for part in partitions)


def in_turn(base, system, options, asked):
    """Further rounds of what compares, then what the weather spoilt; ReFrame's output."""
    first, lines = f'{base}.json', []
    for number in range(2, asked + 1):
        cases = rounds.rows_in_turn(summary.load(first))
        lines += again(base, system, options, cases, f'round {number} of {asked}')
    cases = rounds.spoilt(summary.load(first))
    if not cases:
        return lines
    options = [*options, '-S', f'max_seconds={rounds.last_seconds(len(cases)):g}']
    what = f'once more, what was disturbed or unstable, in about {rounds.last_takes(cases):.0f} s'
    return lines + again(base, system, options, cases, what)


def again(base, system, options, cases, what):
    """One further session; its runs are put into the report of the first."""
    if not cases:
        return []
    print(f'{what}: {plural(len(cases), "row")}', flush=True)
    other = os.path.join(root(), 'results', f'.{os.path.basename(base)}.again.json')
    # the path again: that of the report has the files of fixtures as well, which are no checks
    words = ['reframe', *checks(options), '-r', *where(system), '--nocolor']
    words += [*rounds.words(f'{base}.json', options, cases), f'--report-file={other}']
    try:
        return reframe(words, base, '-v' in options)
    finally:  # what was measured until an interruption, too
        if os.path.exists(other):
            rounds.merge(f'{base}.json', other)
        else:
            print(f"membw: {what}: ReFrame ended without a report, '{base}.log' says why; what "
                  'was measured before stands', file=sys.stderr)  # fmt: skip


def report_base():
    """Path of this run's report, JUnit file and log, without their suffixes."""
    name = time.strftime('run-%Y%m%dT%H%M%S-') + str(os.getpid())
    return os.path.join(root(), 'results', 'reports', name)


def command(base, system, rest):
    files = [f'--report-file={base}.json', f'--report-junit={base}.xml', '--nocolor']
    return ['reframe', *checks(rest), '-r', *where(system), *files, *rest]


def checks(rest):
    return [] if {'-c', '--checkpath'} & set(rest) else ['-c', 'reframe-checks']


def where(system):
    return ['--system', system] if system else []


def reframe(words, base, verbose):
    """Run ReFrame, show its progress, keep its whole output; the lines of it."""
    if 'MEMBW_ROOT' not in os.environ:
        words = ['sh', '-c', '. ./setup-env.sh && exec "$@"', 'sh', *words]
    lines, begun, cases, asked = [], time.monotonic(), Cases(), variables(words)
    refuse_unknown_checks(asked)
    why = ''
    with (
        open(f'{base}.log', 'ab', buffering=0) as log,
        start(words) as process,
        ended_with(process),
    ):
        for line in process.stdout:
            line = COLOURS.sub('', line.rstrip('\n'))
            lines.append(line)
            keep(line, log)
            refuse_unset(line, asked)
            under_way = cases.take(line)
            if verbose:
                say(line, stream=sys.stdout)
            elif SHOWN.search(line) and not QUIET.search(line):
                say(
                    f'{time.monotonic() - begun:6.1f} s  {as_invalid(line, why)}',
                    stream=sys.stdout,
                )
            invalid = SAID_INVALID.search(line)
            why = invalid[1] if invalid else '' if SHOWN.search(line) else why
            if under_way and not verbose:
                say(under_way, passing=True)
    return lines


def keep(line, log):
    try:
        log.write(f'{line}\n'.encode())
    except OSError as err:  # then nothing that is measured can be kept
        hint = 'results/ takes what is measured: make room for it'
        raise MembwError(f"cannot write '{log.name}': {err.strerror}", hint) from err


def as_invalid(line, why):
    """A line of the progress in the table's word, where the check said why it is INVALID."""
    if not why or not line.startswith('[     FAIL ]'):
        return line
    names = ', '.join(rows.REASONS.findall(why))
    return line.replace('    FAIL ]', ' INVALID ]', 1) + (f' ({names})' if names else '')


def variables(words):
    """[(check, variable)] that `-S check.variable=...` sets."""
    pairs = []
    for before, word in zip(['', *words], words, strict=False):
        set_by = [word.removeprefix(o) for o in ('--setvar=', '-S') if word.startswith(o)]
        text = word if before in ('-S', '--setvar') else (set_by or [''])[0]
        name = text.split('=')[0].split('.')
        pairs += [(name[0], name[1])] if '=' in text and len(name) > 1 else []
    return pairs


def refuse_unknown_checks(asked):
    """ReFrame passes over a variable of a check that there is not, without a word."""
    if not asked:
        return
    files = pathlib.Path(root(), 'reframe-checks').rglob('*.py')
    known = sorted({name for file in files for name in CHECK.findall(file.read_text())})
    for check, variable in asked:
        if known and check not in known:
            near = difflib.get_close_matches(check, known, 1)
            hint = f"did you mean '{near[0]}.{variable}'?" if near else 'name a check of ours'
            raise MembwError(f"no check '{check}' for '-S {check}.{variable}'", hint)


def refuse_unset(line, asked):
    """... and only warns of one that the check has not."""
    said = UNSET.search(line)
    unset = re.findall(r"'(?:\w+\.)?(\w+)'", said[2]) if said else ()
    wrong = [name for check, name in asked if said and check == said[1] and name in unset]
    if wrong:
        raise MembwError(
            f"check '{said[1]}' has no variable '{wrong[0]}': nothing was set",
            f"'reframe -c reframe-checks -n {said[1]} --describe' has its variables",
        )


@contextlib.contextmanager
def ended_with(process):
    """ReFrame and what it started end when this command is told to: by `kill`, `timeout`, a CI.

    It has a session of its own, so that the benchmark hears it as well; ReFrame is interrupted
    first, as by Ctrl-C, because then it writes its report and cancels its jobs.
    """
    try:
        yield
    except BaseException:
        end(process)
        raise


def end(process):
    """Its session, by ever harder signals; an impatient second Ctrl-C asks for the next one."""
    jobs = interruption.descendants(process.pid)
    asked(process, signal.SIGINT, min(HEARD_S, ENDING_S))
    # what ran then runs still: ReFrame 4.10 lost it, seen once in about 20, the cause unknown
    lost = interruption.alive(jobs)
    for number, seconds in (
        (signal.SIGINT if lost else 0, ENDING_S),
        (signal.SIGTERM, 1),
        (signal.SIGKILL, 1),
    ):
        asked(process, number, seconds)


def asked(process, number, seconds):
    with contextlib.suppress(ProcessLookupError):  # the group outlives its first process
        os.killpg(process.pid, number)
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.wait(seconds)


def start(words):
    try:
        with interruption.audible():
            return subprocess.Popen(
                words,
                cwd=root(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors='replace',
                start_new_session=True,
            )
    except FileNotFoundError as err:
        raise MembwError(f"'{err.filename}' is not on the PATH", "'make setup', then try again")


def refuse_load_errors(lines):
    """A check or a reference file that does not load is a failure, not a warning."""
    faults = [m.group(1) or m.group(2) for m in map(NOT_LOADED.match, lines) if m]
    faults = [text.replace(RERUN, '') for text in faults if not text.startswith('Traceback')]
    for system in filter(None, map(UNKNOWN_SYSTEM.search, faults)):
        refuse_unknown_system(system[1])
    refuse_stopped_session(faults)
    if faults:
        each = '\nmembw: '.join(dict.fromkeys(faults))
        hint = "repair it first; or is it a value after '-S'?"
        raise MembwError(f'not everything could be loaded: {each}', hint)


def refuse_stopped_session(faults):
    """ReFrame stops where the scheduler does not answer; the jobs that it handed in stay."""
    for text in (text for text in faults if text.startswith(STOPPED)):
        hint = "jobs that it handed in go on: 'squeue --me', 'scancel'"
        if "command 'sacct " in text:
            hint = f"no accounting? 'scheduler: squeue', or MEMBW_SLURM_BACKEND=squeue; {hint}"
        raise MembwError(f'ReFrame gave up: {text.removeprefix(STOPPED)}', hint)


def refuse_as_told(lines):
    """What our own configuration or checks said of a file that is wrong: as it stands."""
    facts = [line.removeprefix('membw: ') for line in lines if line.startswith('membw: ')]
    hints = [line.removeprefix('hint: ') for line in lines if line.startswith('hint: ')]
    if facts:
        facts, hints = (list(dict.fromkeys(texts)) for texts in (facts, hints))
        raise MembwError('\nmembw: '.join(facts), '\nhint: '.join(hints) or None)


def refuse_lost_history(lines):
    """ReFrame warns that it could not store the run, and ends well; a night would be lost."""
    lost = [m[1] for m in map(NOT_STORED.search, lines) if m]
    if lost:
        raise MembwError(
            f"measured, but not in the history: 'results/results.db': {lost[0]}",
            'the table above is all there is of it; move the file away, or wait for who holds it',
        )


def left_out(rest, partitions):
    """'gcc-o2: its compiler does not ...' of each preset that `-p` asks for in vain."""
    asked = [word for before, word in zip(['', *rest], rest, strict=False) if before == '-p']
    for reason, names in by_reason(partitions).items():
        wanted = [name for name in names if any(re.search(p, name) for p in asked)]
        if wanted:
            yield f'{", ".join(wanted)}: {reason}'


def refuse_nothing(base, system, rest, lines, partitions=()):
    """No report or no test case: say why, as far as can be told."""
    if os.path.exists(f'{base}.json') and summary.load(f'{base}.json')['runs']:
        if summary.load(f'{base}.json')['session_info']['num_cases']:
            return
    elif not any('Ran 0/0' in line for line in lines):
        refuse_as_told(lines)
        said = [line for line in lines if re.search(r'^reframe: |error|WARNING', line)]
        raise MembwError(
            f'ReFrame ended without a report: {said[-1] if said else "it gave no reason"}',
            f"'{base}.log' holds all that it said",
        )
    chosen = ' '.join(rest)
    where = f' --system {system}' if system else ''
    why = ''.join(f'\nmembw: left out here is {text}' for text in left_out(rest, partitions))
    raise MembwError(
        (f"no test case matches '{chosen}'" if chosen else 'no test case fits this system') + why,
        f"'reframe -c reframe-checks -l{where}' lists the tests",
    )
