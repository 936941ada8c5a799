"""What more ranks cost rank 0: a generator of as many as one likes, in place of a cluster."""

import json
import pathlib
import subprocess

from places import ROOT


def build_generator(folder):
    """tests/probes/cluster_growth.c with the program's own sources."""
    program = pathlib.Path(folder) / 'cluster_growth'
    src = ROOT / 'src'
    sources = [src / 'harness/harness.c', *src.glob('stream/**/*.c')]
    sources = [source for source in sources if source.stem not in ('main', 'stream', 'stream_f')]
    line = ['gcc', '-O0', '-fopenmp', '-DLOCAL=', f'-I{src}']
    sources.append(ROOT / 'tests/probes/cluster_growth.c')
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
