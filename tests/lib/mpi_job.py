"""Runs the MPI variant under mpirun on this machine, and reads what it leaves behind."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from record_schema import check

# what a tiny run of many ranks on a small, shared machine cannot be
DEFECTS = 'array-too-small,too-short,wrong-pinning,oversubscribed'
LAUNCHER = {
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'OMPI_MCA_rmaps_base_oversubscribe': '1',
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    'OMPI_MCA_odls_base_sigkill_timeout': '3',  # a loaded machine needs more than one second
    'OMP_NUM_THREADS': '1',
}
# for jobs that leave nothing behind which takes time to write: the launcher waits for it, even so
AT_ONCE = {'OMPI_MCA_odls_base_sigkill_timeout': '1'}
FIGURE = re.compile(r'^([A-Z]+)_(\w+) += ([\d.]+)\t\t MB/s(?: on (\S+))?$', re.M)


def lacking():
    """What of an MPI this machine does not have, or None."""
    return next((tool for tool in ('mpicc', 'mpirun') if not shutil.which(tool)), None)


class Job:
    """One mpirun; `nodes` names the pretended node of each rank."""

    def __init__(self, folder, program, nodes, *options, json=True, **variables):
        self.folder, self.json = folder, folder / 'all.jsonl'
        more = ['--json', str(self.json)] if json else []
        line = ['mpirun']
        for i, node in enumerate(nodes):
            line += [':'] if i else []
            line += ['-n', '1', '-x', f'SLURMD_NODENAME={node}', str(program), *options, *more]
        env = {**os.environ, **LAUNCHER, **variables}
        self.process = subprocess.Popen(
            line, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.program = pathlib.Path(program)

    def wait(self, timeout=300):
        self.stdout, self.stderr = self.process.communicate(timeout=timeout)
        self.status = self.process.returncode
        return self

    def ranks(self):
        """{rank: process id} of the ranks that run now."""
        found = {}
        for folder in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if os.readlink(folder / 'exe') != str(self.program):
                    continue
                if os.readlink(folder / 'cwd') != str(self.folder):  # another test's
                    continue
                variables = (folder / 'environ').read_bytes().split(b'\0')
            except OSError:
                continue
            for variable in variables:
                if variable.startswith(b'OMPI_COMM_WORLD_RANK='):
                    found[int(variable.partition(b'=')[2])] = int(folder.name)
        return found

    def until_measuring(self, ranks):
        """Waits until all ranks have opened their records' files, and some iterations more."""
        while self.process.poll() is None:
            time.sleep(0.05)
            if len(list(self.json.parent.glob(f'{self.json.name}.unfinished-*'))) == ranks:
                break
        time.sleep(1)
        return self

    def hit(self, rank, number):
        os.kill(self.ranks()[rank], number)

    def kill(self, rank):
        self.hit(rank, signal.SIGKILL)

    def stop(self, rank):
        self.hit(rank, signal.SIGSTOP)

    def records(self):
        """Every record on disk, by rank; each as the schema says."""
        found = {}
        paths = [self.json] if self.json.exists() else []
        for path in [*paths, *self.json.parent.glob(self.json.name + '.rank-*')]:
            text = path.read_text()
            assert not text or text.endswith('\n')
            for line in text.splitlines():
                record = json.loads(line)
                check(record)
                assert record['rank'] not in found
                found[record['rank']] = record
        return found

    def summary(self):
        """{'TRIAD': {'MAX': (value, node), ...}, ...} of the block."""
        found = {}
        block = self.stdout.partition('SUMMARY====')[2].partition('====END SUMMARY')[0]
        for kernel, name, value, node in FIGURE.findall(block):
            found.setdefault(kernel, {})[name] = (float(value), node or None)
        return found

    def listed(self):
        """[(node, MB/s, what else the line says), ...] in the order printed."""
        part = self.stdout.partition('\nTriad Rate (MB/s):\n')[2].partition('\n\n')[0]
        rows = [re.match(r'(\S+)\t\t([\d.]+)\t?(.*)$', line) for line in part.splitlines()]
        return [(row[1], float(row[2]), row[3]) for row in rows]
