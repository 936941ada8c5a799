"""The steps of a night, in their order: what each runs, when it is left out, what it leaves."""

import pathlib
import shlex
import shutil
import subprocess

from membw.checkout import root

CLUSTER = 'cluster_stream'


class Step:
    """A command of ours with its name; subclasses say when it is left out, what is kept of it."""

    name = ''
    share = 1.0  # of the time that is left
    judges = True  # what others measured

    def __init__(self, args, night):
        self.args, self.night = args, night
        self.folder = night.folder
        self.system = ['--system', args.system] if args.system else []

    def command(self):
        raise NotImplementedError

    def left_out(self):
        """The reason not to run it, or nothing."""

    def left_so_far(self):
        """Its files, each with its date: the clock may be set while the step runs."""
        return set()

    def gather(self, before):
        """Puts copies of what it left, but what was there `before`, into the night."""


class Measuring(Step):
    """`membw run`; its report and JUnit file are kept under the step's name."""

    share = 0.9  # the rest is for judging and telling what was measured
    judges = False
    leaves = ('reports/run-*',)  # below results

    def left_so_far(self):
        folder = pathlib.Path(root(), 'results')
        files = [file for pattern in self.leaves for file in folder.glob(pattern)]
        return {(file, file.stat().st_mtime_ns) for file in files}

    def new(self, before):
        return sorted(file for file, _ in self.left_so_far() - before)

    def gather(self, before):
        new = self.new(before)
        for suffix in ('json', 'xml', 'log'):
            for file in [f for f in new if f.match(f'reports/run-*.{suffix}')][-1:]:
                kept = self.folder / f'{self.name}{".reframe" * (suffix == "log")}.{suffix}'
                shutil.copyfile(file, kept)


class Checks(Measuring):
    name = 'checks'

    def command(self):
        chosen = ['--tag=nightly', '-x', CLUSTER]
        return ['membw', 'run', *self.system, *chosen, *shlex.split(self.args.checks)]


class Cluster(Measuring):
    name = 'cluster'
    leaves = (*Measuring.leaves, f'records/*{CLUSTER}*')

    def command(self):
        return ['membw', 'run', *self.system, '-n', CLUSTER, *shlex.split(self.args.cluster)]

    def left_out(self):
        listed = subprocess.run(
            ['reframe', '-c', 'reframe-checks', '-l', '-n', CLUSTER, *self.system],
            cwd=root(),
            capture_output=True,
            text=True,
        )
        if 'Found 0 check' in listed.stdout:
            return 'no partition of this system has nodes to ask a scheduler for'

    def gather(self, before):
        super().gather(before)
        kept = self.folder / 'cluster.records'
        for file in [f for f in self.new(before) if f.parent.name == 'records']:
            kept.mkdir(exist_ok=True)
            shutil.copyfile(file, kept / file.name)


class Rank(Step):
    name = 'rank'

    def records(self):
        return self.folder / 'cluster.records'

    def command(self):
        return ['membw', 'rank', str(self.records()), '--node-check',
                str(self.folder / 'nodecheck.txt')]  # fmt: skip

    def left_out(self):
        if not self.records().exists():
            return 'the whole-cluster job left no records'


class History(Step):
    name = 'history'

    def command(self):
        return ['membw', 'history', '--since', '14d']


class Report(Step):
    name = 'report'

    def command(self):
        """Of all that this night measured, with the history of all nights."""
        folders = [self.folder / 'cluster.records', pathlib.Path(root(), 'results', 'records')]
        there = [str(folder) for folder in folders if folder.is_dir()]
        return ['membw', 'report', *there, '--output', str(self.folder / 'report.html')]


def of(args, night):
    return [step(args, night) for step in (Checks, Cluster, Rank, History, Report)]
