"""Pairs beside their peers: `cas` beside core-to-core-latency, messages of MPI beside IMB-MPI1.

Both are started in turn, size by size, on the same two CPUs; IMB-MPI1 and ours with the same MPI.
"""

import argparse
import contextlib
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from membw.arguments import percent
from membw.bench import page_aligned
from membw.bench.build import LINES, Line, build
from membw.bench.rounds import in_turn
from membw.checkout import root
from membw.errors import MembwError
from membw.results import imb_table
from membw.site import realtime as real_time
from membw.site.topology import cores_here
from membw.tables import Cell, Column, Table, shown

CAS, MPI = 'cas', 'mpi'
PEERS = {CAS: 'core-to-core-latency', MPI: 'IMB-MPI1'}
UNITS = {CAS: 'ns', MPI: 'us'}
# As long as ours, 10 to 200 ms. IMB would take fewer of large messages, 40 MiB in all: its start
# is then up to half of what it times (docs/pairs.md). With a busy loop its own default.
REPETITIONS, VOLUME = 30000, 2**29
REPETITIONS_BUSY, VOLUME_BUSY = 1000, 40 * 2**20
# core-to-core-latency's, of its page
ROUND_TRIPS, SAMPLES = '1000', '300'
LIMIT_S = 300
# what was read a moment ago is not read again
MOMENT_S = 0.1
# of `cas` around the runs that are compared: beyond it the host has moved the CPUs between them
MOVED, TRIES = 1.25, 3
# a VALID figure under load that lies further than this from that without; how near a ratio to the
# peer is asked to be where nothing else is said
WRONG, NEAR = 0.05, 0.03
# fewer ratios have no interval of 95 %
LEAST_RATIOS = 6
QUIET, BUSY, AFTER = 'quiet', 'busy', 'after'
# where IMB has what it sends: as ours at the start of a page, or where its MPI puts it
PAGE, OWN = 'page', 'own'
# whether a ratio is near 1; more INVALID rounds than not are an answer, too
YES, NO, OPEN, INVALID = 'yes', 'no', 'not known', 'INVALID'


def add_arguments(parser):
    parser.add_argument('--core-to-core-latency', default=os.environ.get('CORE_TO_CORE', ''),
                        metavar='PATH', help='for the part pairs; default: on $PATH')  # fmt: skip
    parser.add_argument('--imb', default=os.environ.get('IMB', ''), metavar='PATH',
                        help='IMB-MPI1, for the part pairs; default: on $PATH')  # fmt: skip
    parser.add_argument('--imb-buffers', choices=(PAGE, OWN), default=PAGE, help='of the part '
                        'pairs: what IMB-MPI1 sends lies at the start of a page, as ours, or '
                        'where its MPI puts it (page)')  # fmt: skip
    parser.add_argument('--cpus', type=two_cpus, metavar='A-B',
                        help='of the part pairs; default: the first two cores')  # fmt: skip
    parser.add_argument('--sizes', type=figures, metavar='LIST',
                        help=f"of the part pairs, as 0,65536 or {CAS},0; default: {CAS} and IMB's"
                        ' 24 sizes')  # fmt: skip
    parser.add_argument('--busy', action='store_true', help='in the part pairs, each figure once '
                        'more with a busy loop on both CPUs; in the part runs, all with one on '
                        'each core')  # fmt: skip
    parser.add_argument('--realtime', action='store_true', help='part pairs under chrt --fifo: '
                        'nobody else gets the two CPUs; needs root. Part runs: membw run '
                        '--realtime')  # fmt: skip
    parser.add_argument('--within', type=percent, metavar='PERCENT', help='part pairs: of each '
                        'figure as many rounds as tell whether its ratio is within so much of 1, '
                        'and busy within 5 of quiet; --rounds and --seconds are then the '
                        'most')  # fmt: skip


def two_cpus(text):
    if not re.fullmatch(r'\d+-\d+', text) or len(set(text.split('-'))) < 2:
        raise argparse.ArgumentTypeError(f"'{text}' is not two CPUs, as 0-1")
    return [int(cpu) for cpu in text.split('-')]


def figures(text):
    known = [CAS, *map(str, imb_table.SIZES)]
    if not set(text.split(',')) <= set(known):
        raise argparse.ArgumentTypeError(f"'{text}' is not of {', '.join(known)}")
    return [name if name == CAS else f'{name} B' for name in text.split(',')]


def compare(
    say,
    rounds,
    peers,
    cpus=None,
    busy=False,
    realtime=False,
    only=None,
    seconds=None,
    within=None,
    imb_buffers=PAGE,
):
    """{'rows': [...], 'left_out': [...], 'rounds': [{'cas': {'quiet': {program: ..}}}]}.

    Args:
        peers: {'cas': path of core-to-core-latency, 'mpi': path of IMB-MPI1}; '': of the PATH.
        cpus: the two; None: the first two cores.
        busy: measure once more with a busy loop on both.
        realtime: start what measures without a busy loop, ours and theirs, by chrt --fifo.
        only: names of figures, as 'cas' and '64 B'; None: all.
        seconds: nothing begins after that, but for two rounds.
        within: percent; a figure of which it is known whether its ratio is so near to 1 gets no
            further round. None: all get all rounds.
        imb_buffers: 'page', or 'own': where IMB has what it sends.

    Raises MembwError where a path names no program, or a program prints no figure.
    """
    cpus = cpus or cores_here()[:2]
    places = places_of(cpus, busy, realtime)
    near = within / 100 if within else NEAR

    def is_known(name, done):
        lines = [row(name, weather, done, near) for weather in places]
        return bool(within) and all(line['near'] != OPEN for line in lines)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        things, left_out = chosen(only, *collect(peers, folder, imb_buffers))
        for reason in left_out:
            say(f'left out: {reason}')
        look = Look(functools.partial(line_now, built(LINES[0]), folder, Place(cpus)))
        starts = {name: both(*programs, places, look) for name, programs in things.items()}
        done = in_turn('pairs', starts, rounds, say, seconds, is_known)
    return {
        'cpus': cpus,
        'weathers': list(places),
        'realtime': realtime,
        'imb_buffers': imb_buffers,
        'load_average': os.getloadavg()[0],
        'near': near,
        'left_out': left_out,
        'rounds': done,
        'rows': [row(name, weather, done, near) for weather in places for name in things],
    }


def places_of(cpus, busy, realtime):
    """{weather: Place}"""
    if len(cpus) < 2:
        raise MembwError('one CPU, and a pair takes two')
    real_time.words(realtime, is_local=True)  # refused where it is not permitted
    places = {QUIET: Place(cpus, real_time.COMMAND if realtime else [])}
    return {**places, BUSY: Place(cpus, is_busy=True)} if busy else places


def chosen(only, things, left_out):
    """(things, left_out), without the figures that were not asked for."""
    things = {name: things[name] for name in only or things if name in things}
    if not things:
        raise MembwError('; '.join(left_out), 'docs/bench.md says where to get them')
    return things, left_out


class Look:
    """ns of a line between the two CPUs now; what READ said a moment ago still holds."""

    def __init__(self, read):
        self.read, self.ns, self.at = read, None, -MOMENT_S

    def __call__(self):
        if time.monotonic() - self.at > MOMENT_S:
            self.ns = self.read()
            self.at = time.monotonic()
        return self.ns


def both(ours, theirs, places, look):
    """What measures a thing once by each program: neither is always first.

    Again, up to three times, where LOOK, the ns of a line between the two CPUs, was another before
    or after; 'moved' of what it returns says that the last time it was, too.
    """
    turns = itertools.cycle([{'ours': ours, 'theirs': theirs}, {'theirs': theirs, 'ours': ours}])

    def once(programs):
        results, looks = {}, [look()]
        for weather, place in places.items():
            with burning(place.cpus if weather == BUSY else ()):
                results[weather] = {who: run(place) for who, run in programs.items()}
            looks.append(look())
        if BUSY in places:  # what the machine does by itself is no fault of the loop
            results[AFTER] = {'ours': ours(places[QUIET])}
            looks.append(look())
        return results | {'looks_ns': looks, 'moved': max(looks) > MOVED * min(looks)}

    def measure():
        programs = next(turns)
        for _ in range(TRIES):
            results = once(programs)
            if not results['moved']:
                break
        return results

    return measure


@contextlib.contextmanager
def burning(cpus):
    """A process on each of these CPUs that does nothing, and does not stop doing it."""
    line = ['sh', '-c', 'while :; do :; done']
    burners = [subprocess.Popen(['taskset', '-c', str(cpu), *line]) for cpu in cpus]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


# --- the programs ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Two CPUs, and what goes before a program that measures on them."""

    cpus: list
    prefix: list = field(default_factory=list)
    is_busy: bool = False  # somebody else computes on both

    @property
    def pair(self):
        return '-'.join(map(str, self.cpus))


def collect(peers, folder, imb_buffers=PAGE):
    """({'cas' or bytes: (what starts ours, what starts theirs)}, why others are not there)."""
    things, left_out = {}, []
    core_to_core = program_of(CAS, peers[CAS], left_out)
    if core_to_core:
        things[CAS] = (
            functools.partial(ours_by_lines, built(LINES[0]), folder),
            functools.partial(theirs_by_lines, core_to_core),
        )
    imb = program_of(MPI, peers[MPI], left_out)
    if imb:
        mpirun, mpicc = tools_of(imb)
        with_mpi = built(Line(mpicc, (*LINES[0].flags, '-DMEMBW_MPI')))
        refuse_two_libraries(imb, with_mpi)
        imb = [imb]
        if imb_buffers == PAGE:
            imb = ['env', f'LD_PRELOAD={page_aligned.library(mpicc)}', *imb]
        for size in imb_table.SIZES:
            things[f'{size} B'] = (
                functools.partial(ours_by_mpi, mpirun, with_mpi, size, folder),
                functools.partial(theirs_by_mpi, mpirun, imb, size, folder),
            )
    return things, left_out


def program_of(which, asked, left_out):
    """Its path; None, and a reason more, where it is not on the PATH."""
    path = shutil.which(asked or PEERS[which])
    if asked and not path:
        raise MembwError(f"no program '{asked}'", f'give the path of {PEERS[which]}')
    if not path:
        left_out.append(f"{PEERS[which]}: no '{PEERS[which]}' on PATH")
    return path


def tools_of(imb):
    """(mpirun, mpicc): those beside IMB-MPI1, else of the PATH."""
    folders = os.pathsep.join([os.path.dirname(os.path.abspath(imb)), os.environ.get('PATH', '')])
    tools = [shutil.which(name, path=folders) for name in ('mpirun', 'mpicc')]
    if not all(tools):
        raise MembwError(f"no mpirun and mpicc for '{imb}'",
                         'put those of the MPI that it was built with on the PATH')  # fmt: skip
    return tools


def built(line):
    source = pathlib.Path(root(), 'src', 'pingpong', 'pingpong.c')
    binary, why = build(line, [source], 'pingpong')
    if not binary:
        raise MembwError(why, "the part pairs of 'membw bench' needs it")
    return binary


def refuse_two_libraries(imb, binary):
    """The same transport is compared only where both take the same library."""
    libraries = [library_of(program) for program in (imb, binary)]
    if libraries[0] != libraries[1]:
        raise MembwError(
            f'IMB-MPI1 takes {libraries[0]}, and our program {libraries[1]}',
            'put mpirun and mpicc of the MPI that IMB-MPI1 was built with first on the PATH',
        )


def library_of(program):
    """The libmpi that a program would load now; a wrapper script has none."""
    done = subprocess.run(['ldd', str(program)], capture_output=True, text=True)
    library = re.search(r'^\s*libmpi\.so\S* => (/\S+)', done.stdout, re.M)
    return os.path.realpath(library[1]) if library else 'no libmpi that is found'


def start(words):
    root_may = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
    env = {**os.environ, **root_may, 'OMP_NUM_THREADS': '1'}
    return subprocess.run(list(map(str, words)), env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT_S)  # fmt: skip


def measured(words, folder):
    """Ours: the record of the one pair and figure that were asked for."""
    path = folder / 'record.json'
    path.unlink(missing_ok=True)
    done = start([*words, '--json', path])
    if not path.is_file():
        raise MembwError(f'pingpong measured nothing: {done.stderr.strip()}')
    return json.loads(path.read_text())


def said_of(record, figure, unit):
    """The median and its interval, the mean, and whether they may be believed."""
    return {'time': figure[f'median_{unit}'], 'low': figure[f'low_{unit}'],
            'high': figure[f'high_{unit}'], 'mean': figure[f'mean_{unit}'],
            'verdict': record['verdict'],
            'reasons': [r['reason'] for r in record['reasons']]}  # fmt: skip


def line_now(binary, folder, place):
    return ours_by_lines(binary, folder, place, '--seconds', '0.02')['time']


def ours_by_lines(binary, folder, place, *options):
    words = [*place.prefix, binary, '--pairs', place.pair, '--method', 'cas', *options]
    record = measured(words, folder)
    # the peer's line is touched first by neither of the two: home A
    return said_of(record, record['pairs'][0], 'ns')


def theirs_by_lines(program, place):
    cpus = ','.join(map(str, place.cpus))
    done = start([*place.prefix, program, ROUND_TRIPS, SAMPLES, '-b', '1', '--csv', '-c', cpus])
    latency = re.search(r'^,*([\d.]+),*$', done.stdout, re.M)
    if done.returncode or not latency:
        raise MembwError(f"'{program}' printed no latency", 'it is to be core-to-core-latency')
    return {'time': float(latency[1])}


def ours_by_mpi(mpirun, binary, size, folder, place):
    words = [mpirun, '-n', '2', *place.prefix, binary, '--pairs', place.pair, '--sizes', size]
    record = measured(words, folder)
    return said_of(record, record['messages'][0], 'us')


def theirs_by_mpi(mpirun, imb, size, folder, place):
    """Each rank bound to its CPU: the source's line binds both to both."""
    lengths = folder / 'lengths'
    lengths.write_text(f'{size}\n')
    most, volume = (REPETITIONS_BUSY, VOLUME_BUSY) if place.is_busy else (REPETITIONS, VOLUME)
    most = min(most, volume // max(size, 1))
    test = [*place.prefix, *imb, 'PingPong', '-iter', most, '-iter_policy', 'off', '-msglen',
            lengths]  # fmt: skip
    one, other = (['-n', '1', 'taskset', '-c', cpu, *test] for cpu in place.cpus)
    done = start([mpirun, *one, ':', *other])
    times = [imb_table.finer_us(r) for r in imb_table.rows(done.stdout) if r.bytes == size]
    if done.returncode or not times:
        said = (done.stderr.strip() or done.stdout.strip() or 'nothing').splitlines()[-1]
        raise MembwError(f"'{imb[-1]}' printed no time of {size} B: {said}", 'run it by hand')
    return dict(zip(('time', 'off'), times[0]))


# --- what they say together ------------------------------------------------------------------


def row(name, weather, rounds, near=NEAR):
    """Both medians of a thing, the median of the ratios within the rounds and its interval.

    Rounds in which ours was INVALID have no figure, and stand in 'invalid'; those in which the
    CPUs were moved have no ratio, and stand in 'moved'. 'ours' and the ratio are of our median,
    the figure that we publish; 'of_mean' is the ratio of our mean, which the peers print: of one
    run it holds what the host took meanwhile, up to 1.8 times the median (docs/pairs.md). Of a
    time that is printed to 0.01 us, the ratio is to the nearest that it may have been. 'near'
    says whether the ratio is within that part of 1. With a busy loop it is of ours to itself
    without one; see beside_itself().
    """
    rounds = [of_round[name] for of_round in rounds if name in of_round]
    results = [of_round[weather] for of_round in rounds]
    valid = [r for r in results if is_valid(r['ours'])]
    still = [of_round for of_round in rounds if not of_round.get('moved')]
    line = {
        'name': name,
        'weather': weather,
        'unit': UNITS[CAS if name == CAS else MPI],
        'peer': PEERS[CAS if name == CAS else MPI],
        'ours': middle([r['ours']['time'] for r in valid]),
        'theirs': middle([r['theirs']['time'] for r in results]),
        'invalid': len(results) - len(valid),
        'moved': len(rounds) - len(still),
        'rounds': len(results),
    }
    if weather == BUSY:
        line |= beside_itself(still)
    else:
        compared = [
            of_round[weather] for of_round in still
            if is_valid(of_round[weather]['ours']) and of_round[weather]['theirs']['time'] > 0
        ]  # fmt: skip
        line |= of_ratios([ratio_of(result, 'time') for result in compared], near)
        line['of_mean'] = middle([ratio_of(result, 'mean') for result in compared])
    if len(results) >= LEAST_RATIOS and 2 * line['invalid'] > len(results):
        line['near'] = INVALID
    return line


def is_valid(result):
    return result['verdict'] == 'VALID'


def beside_itself(rounds):
    """What a busy loop did to either program: ratios to itself without one.

    Ours is held to the nearest of what it read before and after, and of what lies between;
    'ours_after' is the ratio of those two. 'wrong' counts figures that were VALID and off by more
    than 5 %, 'wrong_quiet' the same of what was read after, to what was read before.
    """
    ours, after = [], []
    for of_round in rounds:
        all_of_ours = [of_round[weather]['ours'] for weather in (QUIET, BUSY, AFTER)]
        if all(map(is_valid, all_of_ours)):
            before, busy, later = (result['time'] for result in all_of_ours)
            ours.append(busy / min(max(busy, min(before, later)), max(before, later)))
            after.append(later / before)
    return {
        **of_ratios(ours, WRONG),
        'ours_after': middle(after),
        'theirs_busy': middle([r[BUSY]['theirs']['time'] / r[QUIET]['theirs']['time']
                               for r in rounds if r[QUIET]['theirs']['time'] > 0]),
        'wrong': sum(abs(ratio - 1) > WRONG for ratio in ours),
        'wrong_quiet': sum(abs(ratio - 1) > WRONG for ratio in after),
    }  # fmt: skip


def median_interval(values):
    """The 95 % interval of the median, by order statistics: W. Conover, Practical Nonparametric
    Statistics, 1999, 3.2."""
    from scipy.stats import binom  # takes a second to load

    rising = sorted(values)
    first = max(int(binom.ppf(0.025, len(rising), 0.5)) - 1, 0)
    return rising[first], rising[-1 - first]


def of_ratios(ratios, near):
    """Their median, its 95 % interval, and whether that lies within `near` of 1."""
    if not ratios:
        return {'ratio': None, 'interval': None, 'near': OPEN}
    low, high = median_interval(ratios)
    answer = OPEN
    if len(ratios) >= LEAST_RATIOS and 1 - near <= low and high <= 1 + near:
        answer = YES
    elif len(ratios) >= LEAST_RATIOS and (high < 1 - near or low > 1 + near):
        answer = NO
    return {'ratio': middle(ratios), 'interval': (low, high), 'near': answer}


def ratio_of(result, statistic):
    ours, theirs = result['ours'][statistic], result['theirs']['time']
    off = result['theirs'].get('off', 0)
    return ours / min(max(ours, theirs - off), theirs + off)


def middle(values):
    return statistics.median(values) if values else None


def columns(weather, near):
    """Those of BUSY have some more; there the ratio is of ours to itself."""
    busy = weather == BUSY
    of_mean = () if busy else (Column('of_mean', 'of our mean', right=True),)
    more = (
        Column('ours_after', 'quiet / quiet', right=True),
        Column('theirs_busy', 'peer busy / quiet', right=True),
        Column('wrong', 'VALID and wrong', right=True),
        Column('wrong_quiet', 'quiet and as far off', right=True),
    )
    return (
        Column('name', 'what'),
        Column('ours', 'membw', right=True),
        Column('theirs', 'peer', right=True),
        *of_mean,
        Column('ratio', 'membw busy / quiet' if busy else 'of our median', right=True),
        Column('interval', '95 % interval', right=True),
        Column('near', f'within {100 * (WRONG if busy else near):g} %', right=True),
        Column('invalid', 'INVALID', right=True),
        Column('moved', 'CPUs moved', right=True),
        *(more if busy else ()),
    )


def blocks(result):
    """A table for each weather, and how many of its figures are as near as was asked."""
    lines = []
    for weather in result['weathers']:
        rows = [row for row in result['rows'] if row['weather'] == weather]
        title = (f'CPUs {result["cpus"][0]} and {result["cpus"][1]}, one way: cas beside '
                 f'{PEERS[CAS]} (ns), messages beside {PEERS[MPI]} (us), '
                 f'{len(result["rounds"])} rounds, load {result["load_average"]:.1f}'
                 f'{", chrt --fifo" if result["realtime"] else ""}; ratios to the peer, '
                 f'IMB\'s buffers: {result["imb_buffers"]}')  # fmt: skip
        title = title if weather == QUIET else 'The same with a busy loop on both CPUs'
        of_weather = columns(weather, result['near'])
        lines.append(Table(title, of_weather, [cells(row, of_weather) for row in rows]))
        answers = [row['near'] for row in rows]
        counted = ', '.join(f'{word} {answers.count(word)}' for word in (YES, NO, INVALID, OPEN))
        near = next(column.title for column in of_weather if column.name == 'near')
        lines.append(f'{near}: {counted}, of {len(rows)}')
    return [*lines, *result['left_out']]


FORMS = {
    'ours': '.4g',
    'theirs': '.4g',
    'of_mean': '.3f',
    'ratio': '.3f',
    'ours_after': '.3f',
    'theirs_busy': '.3f',
}


def cells(row, of_weather):
    low, high = row['interval'] or (None, None)
    texts = {
        'interval': '-' if low is None else f'{low:.3f} to {high:.3f}',
        'invalid': f'{row["invalid"]} of {row["rounds"]}',
    }
    return [
        shown(row[c.name], FORMS[c.name])
        if c.name in FORMS
        else Cell(row[c.name], texts.get(c.name))
        for c in of_weather
    ]
