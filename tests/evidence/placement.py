"""What the place of a loop in its 64-byte line of code is worth: placement.csv.

python tests/evidence/placement.py --stream-c ~/STREAM/stream.c >>tests/evidence/placement.csv
python tests/evidence/placement.py                      the table of what the file holds

Of stream.c and of our stream the loops of Scale, Add and Triad are moved to each place by bytes
that do nothing before their first instruction; nm says where they came to lie. The instructions
stay. Copy calls memcpy, has no loop and cannot move: its span is what chance does. One call is one
series: each program and place once a round, in random order. The line is that of gcc-o2.
"""

import argparse
import csv
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [f'{ROOT}/tests/lib', f'{ROOT}/src']

import stream_table  # noqa: E402

LINE = ['gcc', '-O2', '-fopenmp', '-mcmodel=medium']
PINNED = {'OMP_PROC_BIND': 'close', 'OMP_PLACES': 'cores'}
# stream.c prints its table whatever happens
OURS = ['-t', '10', '--allow', 'disturbed']
PLACES = range(0, 64, 8)
KERNELS = ('copy', 'scale', 'add', 'triad')
# the functions that GCC makes of the timed regions
TIMED = {'stream.c': r'main\._omp_fn\.\d+', 'membw': r'kernel_(?:scale|add|triad)\._omp_fn\.\d+'}
CSV = Path(__file__).with_suffix('.csv')


def moved(assembly: str, functions: str, place: int) -> str:
    """`assembly`, with each loop of one block in `functions` at `place`, bytes, of its line."""
    name, labels = '', set()
    lines = assembly.splitlines()
    for number, line in enumerate(lines):
        if found := re.match(r'(\w[\w.]*):', line):
            name = found[1]
        elif found := re.match(r'\tj\w+\t(\.L\w+)$', line):
            body = lines[max(number - 12, 0) : number]
            whole = [i for i in body if re.match(r'\.L', i)][-1:] == [f'{found[1]}:']
            labels |= {found[1]} if whole and re.fullmatch(functions, name) else set()
    for label in labels:
        skip = f'\t.skip {place}, 0x90\n' if place else ''
        at = f'\t.p2align 6\n{skip}moved{label}:\n{label}:\n'
        assembly = assembly.replace(f'\n{label}:\n', f'\n{at}')
    return assembly


def built(program: str, source: Path, macros: list[str], folder: Path) -> dict[int, Path]:
    """The path of the program by place, bytes; AssertionError where a loop lies elsewhere."""
    text = subprocess.check_output([*LINE, *macros, '-S', str(source), '-o', '-'], text=True)
    paths = {}
    for place in PLACES:
        path = folder / f'{program}-{place}'
        assembly = folder / f'{path.name}.s'
        assembly.write_text(moved(text, TIMED[program], place))
        subprocess.run([*LINE, str(assembly), '-o', str(path)], check=True)
        lie = re.findall(r'(\w+) \w moved', subprocess.check_output(['nm', str(path)], text=True))
        assert len(lie) >= 3 and {int(address, 16) % 64 for address in lie} == {place}, lie
        paths[place] = path
    return paths


def rates(words: list[str]) -> list[float]:
    """GB/s of the best repetition, per kernel."""
    said = subprocess.check_output(words, env={**os.environ, **PINNED}, text=True)
    assert 'Solution Validates' in said, said
    rows = {name.lower(): row['best_mbs'] / 1e3 for name, row in stream_table.rows(said).items()}
    return [rows[kernel] for kernel in KERNELS]


def measure(args: argparse.Namespace) -> None:
    began = time.strftime('%Y-%m-%dT%H:%MZ', time.gmtime())
    macros = [f'-DSTREAM_ARRAY_SIZE={args.size}', '-DNTIMES=10']
    ours = ROOT / 'src/stream/stream.c'
    with tempfile.TemporaryDirectory() as folder:
        programs = {
            'stream.c': (built('stream.c', args.stream_c, macros, Path(folder)), []),
            'membw': (built('membw', ours, [], Path(folder)), [*OURS, '-n', str(args.size)]),
        }
        runs = [(program, place) for program in programs for place in PLACES]
        out = csv.writer(sys.stdout, lineterminator='\n')
        for number in range(args.rounds):
            random.shuffle(runs)
            for program, place in runs:
                paths, options = programs[program]
                figures = rates([str(paths[place]), *options])
                out.writerow([began, program, place, *(f'{rate:.2f}' for rate in figures)])
                sys.stdout.flush()
            print(f'round {number + 1} of {args.rounds}', file=sys.stderr)


def spans(rates: np.ndarray, rng: np.random.Generator, times: int = 1000) -> tuple[float, float]:
    """Of rates[round, place]: the span of the places' medians, in per cent, and the span that one
    in twenty reaches whose places are shuffled within each round."""

    def span(of: np.ndarray) -> float:
        medians = np.median(of, axis=0)
        return 100 * (medians.max() / medians.min() - 1)

    shuffled = sorted(span(rng.permuted(rates, axis=1)) for _ in range(times))
    return span(rates), shuffled[times * 95 // 100]


def table() -> None:
    """Rates are divided by Copy of the same run: what the host does to all of a run drops out."""
    rows = list(csv.DictReader(line for line in CSV.open() if not line.startswith('#')))
    every = list(dict.fromkeys(row['series'] for row in rows))
    rng = np.random.default_rng(1)
    print(f'{"series":19} kernel  span, by chance: stream.c      membw           ours / stream.c')
    for series in [*every, ', '.join(every)] if len(every) > 1 else every:
        for kernel in KERNELS[1:]:
            middles, texts = {}, []
            for program in TIMED:
                rates = np.array([
                    [float(row[kernel]) / float(row['copy']) for row in rows
                     if row['program'] == program and row['place'] == str(place)
                     and row['series'] in series]
                    for place in PLACES
                ]).T  # fmt: skip
                texts.append('{:5.1f} %, {:4.1f} %'.format(*spans(rates, rng)))
                middles[program] = np.median(rates, axis=0)
            least, most = np.percentile(middles['stream.c'], (25, 75))
            ours = np.median(middles['membw'])
            where = 'in' if least <= ours <= most else 'outside'
            ratio = ours / np.median(middles['stream.c'])
            line = f'{series if series in every else "all":19} {kernel:22} {"   ".join(texts)}'
            print(f'{line}   {ratio:.3f}, {where} its middle half')


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--stream-c', type=Path, help="McCalpin's; measures one series")
    parser.add_argument('--size', type=int, default=64_000_000, help='elements of an array')
    parser.add_argument('--rounds', type=int, default=6)
    args = parser.parse_args()
    measure(args) if args.stream_c else table()


if __name__ == '__main__':
    main()
