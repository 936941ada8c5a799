"""What more ranks cost rank 0: real ranks as far as this machine goes, a generator for the rest.

python tests/lib/cluster_growth.py OUT [--ranks 4 16 64 256]     OUT/cluster_growth.json and .png
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from mpi_job import DEFECTS, Job, lacking
from places import ROOT
from program_build import build

MADE_UP = (64, 256, 1024, 4096, 8192, 16384, 32768, 65536)
COLLECTED = re.compile(r'Collected (\d+) ranks in ([\d.]+) s, ([\d.]+) s of')


def build_generator(folder):
    """tests/probes/cluster_growth.c with the program's own sources."""
    program = pathlib.Path(folder) / 'cluster_growth'
    src = ROOT / 'src'
    sources = [src / 'harness/harness.c', *src.glob('stream/**/*.c')]
    sources = [source for source in sources if source.stem not in ('main', 'stream', 'stream_f')]
    line = ['gcc', '-O0', '-fopenmp', f'-I{src}', f'{ROOT}/tests/probes/cluster_growth.c']
    subprocess.run([*line, *sources, '-o', str(program)], check=True)
    return program


def made_up(program, ranks, ranks_per_node=1, *rates):
    """(cost, report) of a made-up cluster: records written, summaries joined, sorted, printed."""
    records = program.with_name('records.jsonl')
    words = [str(word) for word in (program, ranks, ranks_per_node, records, *rates)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    for path in program.parent.glob('records.jsonl*'):
        path.unlink()
    return json.loads(done.stderr), done.stdout


def real(folder, program, ranks):
    """Cost of everything from the first summary on, the records and printing among it."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    nodes = [f'n{i:03}' for i in range(ranks)]
    done = Job(folder, program, nodes, '-n', '2000', '-t', '3', '--allow', DEFECTS).wait(600)
    found = COLLECTED.search(done.stdout)
    if not found or int(found[1]) != ranks:
        raise SystemExit(f'membw: {ranks} ranks did not run: {done.stderr}\nhint: give fewer')
    return {
        'ranks': ranks,
        'seconds': float(found[2]),
        'cpu_seconds': float(found[3]),
        'records_mib': round(done.json.stat().st_size / 2**20, 3),
    }


def plot(found, path):
    import altair as alt

    from membw.report import charts, pictures
    from membw.report.model import Picture

    real = f'real ranks on {found["cpus"]} CPUs: the same and MPI'
    lines = (('made_up', 'seconds', 'made up: records, join, sort, print'),
             ('real', 'seconds', real),
             ('real', 'cpu_seconds', 'the same, CPU time of rank 0'))  # fmt: skip
    times = [
        {'ranks': row['ranks'], 'value': row[key], 'what': what}
        for kind, key, what in lines for row in found[kind] if row[key] > 0
    ]  # fmt: skip
    memory = [
        {'ranks': row['ranks'], 'value': max(row['mib'], 0.01), 'what': 'names, summaries, list'}
        for row in found['made_up']
    ]

    def chart(rows, unit):
        log = alt.Scale(type='log')
        names = list(dict.fromkeys(row['what'] for row in rows))
        base = alt.Chart(charts.data(rows)).encode(
            x=alt.X('ranks:Q', scale=log), y=alt.Y('value:Q', title=unit, scale=log),
            color=charts.color('what', names, None),
        )  # fmt: skip
        dots = base.mark_point(filled=True, size=60).encode(
            shape=charts.shape('what', names, None)
        )
        return charts.as_dict(alt.layer(base.mark_line(), dots), 280, unit)

    pictures.save([
        Picture('time', 'Time of rank 0', '', chart(times, 'seconds')),
        Picture('memory', 'Memory of rank 0', '', chart(memory, 'MiB')),
    ], path)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('out', type=pathlib.Path, help='folder of the figures and the picture')
    parser.add_argument('--ranks', type=int, nargs='*', default=[4, 16, 64], help='real ones')
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    found = {'cpus': len(os.sched_getaffinity(0)), 'made_up': [], 'real': []}
    with tempfile.TemporaryDirectory() as folder:
        generator = build_generator(folder)
        for ranks in MADE_UP:
            costs = [made_up(generator, ranks)[0] for _ in range(3)]
            found['made_up'].append(min(costs, key=lambda cost: cost['seconds']))
            print(found['made_up'][-1])
        if lacking():
            print(f"no real ranks: no '{lacking()}' on the PATH")
            args.ranks = []
        program = build('stream', '-DMEMBW_MPI', cc='mpicc') if args.ranks else None
        for ranks in args.ranks:
            found['real'].append(real(folder, program, ranks))
            print(found['real'][-1], flush=True)
    (args.out / 'cluster_growth.json').write_text(json.dumps(found, indent=1) + '\n')
    plot(found, args.out / 'cluster_growth.png')


if __name__ == '__main__':
    sys.exit(main())
