"""References of a system, in ReFrame's own format, written so that a person's words survive."""

import copy
import difflib
import io
import math
import os
import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError
from membw.files import write_whole
from membw.plural import plural
from membw.results.metrics import HIGHER

INDEX = ('$partition', '$environ', 'pinning')
TEST = 'stream'
ANCHORS = ('first', 'best')  # calibrated figures that are never forgotten
HEAD = """\
# References of {system}; source: [measured] on the system itself by `membw calibrate`, the
# details of each figure are below `calibration`. The tolerances are this project's policy.
"""
SECTION = """\
{test}:
  $index: [{index}]
"""
AS_BEFORE = "the references are as before; 'df' shows whether there is room, 'ls -ld' whose it is"
BESIDE = 'what membw calibrate measured; ReFrame does not read it'


class ReferenceFile:
    """systems/references/<system>.yaml, the part of one test; nothing is written before `write`.

    What was measured of the test `stream` stands directly below `calibration`; of another one
    below `calibration: {<test>: ...}`.
    """

    def __init__(self, system, test=TEST):
        self.system, self.test = system, test
        self.path = Path(root(), 'systems', 'references', f'{system}.yaml')
        self.facts = Path(root(), 'systems', f'{system}.yaml')
        refuse_unknown_system(system)
        self.old = _text(self.path)
        self.data = self._load()
        self.table, self.is_touched = self.data[test], False

    def _load(self):
        section = SECTION.format(test=self.test, index=', '.join(INDEX))
        try:
            data = _yaml().load(self.old or HEAD.format(system=self.system) + section)
            if self.test != TEST and self.test not in data:
                data[self.test] = _yaml().load(section)[self.test]
            tuple(data[self.test]['$index'])
        except (YAMLError, KeyError, TypeError) as err:
            raise MembwError(
                f"no references of ReFrame in '{self.path}': {' '.join(str(err).split())}",
                f"'{self.test}:' and '$index: [{', '.join(INDEX)}]' begin such a file",
            ) from err
        return data

    def hold_to_index(self, parameters):
        """A check's own parameters are in the index: what one of its cases reaches is no reference
        of another."""
        wanted, index = (*INDEX, *parameters), tuple(self.table['$index'])
        if index == INDEX and len(self.table) == 1:
            self.table['$index'] = _flow(wanted)
        elif index != wanted:
            raise MembwError(
                f"'{self.path}': '{self.test}' is indexed by {', '.join(index)}",
                f'its runs are told apart by {", ".join(wanted)}: write its figures so',
            )

    def in_force(self, key):
        """{kernel: [value, low, high, unit]} that ReFrame holds this key to now."""
        entry = self.table
        for part in key:
            entry = entry.get(match(entry, part)) if entry else None
        return dict(entry or {})

    def calibrated(self, key):
        """What an earlier calibration wrote of this key."""
        entry = self.data.get('calibration') or {}
        for part in self._path(key):
            entry = entry.get(part) or {}
        return entry

    def _path(self, key):
        return key if self.test == TEST else (self.test, *key)

    def anchors(self, key, metric):
        """[(which, value, worst rate)] that a calibrated figure must not fall below: the one
        in force, if it was calibrated; the first, and the best, of all calibrations."""
        kernel, entry, existing = metric.name, self.calibrated(key), self.in_force(key)
        rows = []
        if kernel in (entry.get('in_force') or []) and kernel in existing:
            rows.append(('the reference in force', existing[kernel]))
        for which in ANCHORS:
            figure = (entry.get(which) or {}).get(kernel)
            if figure:
                rows.append((f'the {which} calibrated, of {figure[4]}', figure))
        for _, figure in rows:
            self._refuse_other_unit(key, metric, figure)
        return [(text, figure[0], worst_rate(metric, figure)) for text, figure in rows]

    def _refuse_other_unit(self, key, metric, figure):
        if figure[3] != metric.unit:
            raise MembwError(
                f"{self.path}: {' '.join(key)}: {metric.name} is in '{figure[3]}', "
                f'not in {metric.unit}',
                f'state it in {metric.unit}' + ': one is 1000 MB/s' * metric.is_bandwidth,
            )

    def kept(self, key, kernels, replace):
        """Kernels whose existing figure stays: published or written by hand."""
        ours = self.calibrated(key).get('in_force') or []
        existing = self.in_force(key)
        return [] if replace else [k for k in kernels if k in existing and k not in ours]

    def put(self, proposal, rule, replace, expires):
        """Enter a Proposal; the kernels that keep their existing figure."""
        key, today, self.is_touched = proposal.samples.key, date.today(), True
        kept = self.kept(key, proposal.kernels, replace)
        existing = self.in_force(key)
        ours = self.calibrated(key).get('in_force') or []
        taken = [k for k in proposal.kernels if k not in kept]
        if taken:
            entry = _own_entry(self.table, key)
            units = {metric.name: metric.unit for metric in proposal.samples.metrics}
            for kernel in taken:
                measured = proposal.kernels[kernel]
                bounds = [measured.median, measured.low, measured.high, units[kernel]]
                entry[kernel] = _flow(bounds)
                entry.yaml_add_eol_comment(_origin(proposal.samples, today), kernel)
        beside = CommentedMap()
        _head(beside, proposal, rule, today, today + timedelta(days=expires))
        beside['in_force'] = _flow(taken)
        _measured(beside, proposal)
        others = {k: existing[k] for k in proposal.kernels if k in existing and k not in ours}
        for word, names in (('kept', kept), ('replaced', taken)):
            if any(k in others for k in names):
                beside[word] = CommentedMap({k: _flow(others[k]) for k in names if k in others})
        self._anchor(beside, proposal, replace, today)
        beside.update(proposal.samples.fingerprint)
        self._beside(key, beside)
        return kept

    def _anchor(self, beside, proposal, replace, today):
        """Keep the first and the best calibrated figure; --replace gives up what it undercuts."""
        before = self.calibrated(proposal.samples.key)
        table = {which: CommentedMap() for which in ANCHORS}
        for metric in proposal.samples.metrics:
            name, kernel = metric.name, proposal.kernels[metric.name]
            now = [kernel.median, kernel.low, kernel.high, metric.unit, str(today)]
            first, best = ((before.get(which) or {}).get(name) for which in ANCHORS)
            first = first or _measured_before(before, metric) or now
            rate = metric.rate(kernel.median)
            best = best if best and metric.rate(best[0]) >= rate else now
            if replace and any(rate < worst_rate(metric, f) for f in (first, best)):
                first = best = now
            table['first'][name], table['best'][name] = _flow(first), _flow(best)
        beside.update(table)

    def _beside(self, key, entry):
        if 'calibration' not in self.data:
            self.data['calibration'] = CommentedMap()
            self.data.yaml_set_comment_before_after_key('calibration', before='\n' + BESIDE)
        table, path = self.data['calibration'], self._path(key)
        for part in path[:-1]:
            table = table.setdefault(part, CommentedMap())
        table[path[-1]] = entry

    def text(self):
        out = io.StringIO()
        _yaml().dump(self.data, out)
        return out.getvalue()

    def changes(self):
        """[(path, old text, new text)] of the files that `write` would change."""
        if not self.is_touched:
            return []
        changes = [(self.path, self.old, self.text())]
        facts = self.facts.read_text()
        if not re.search(r'^references:', facts, re.M):
            line = f'references: references/{self.path.name}\n'
            changes.append(
                (self.facts, facts, re.sub(r'^partitions:', line + r'\g<0>', facts, 1, re.M))
            )
        return [(path, old, new) for path, old, new in changes if old != new]

    def diff(self):
        """Lines of a unified diff."""
        for path, old, new in self.changes():
            name = os.path.relpath(path, root())
            yield from difflib.unified_diff(
                old.splitlines(), new.splitlines(), f'a/{name}' if old else '/dev/null',
                f'b/{name}', lineterm='',
            )  # fmt: skip

    def write(self):
        """The paths that were written, each in one step; none where a person was quicker."""
        changes = self.changes()
        if changes and _text(self.path) != self.old:
            raise MembwError(f"'{self.path}' was changed meanwhile", 'calibrate again')
        for path, _, _ in changes:
            if not os.access(path.parent, os.W_OK):
                raise MembwError(
                    f"cannot write '{path}': its folder is read-only to you", AS_BEFORE
                )
        for path, _, new in changes:  # the facts name a references file that is there
            write_whole(path, new, AS_BEFORE)
        return [path for path, _, _ in changes]


def _text(path):
    """'' where there is none yet; a pipe or a device has no end."""
    if path.exists() and not path.is_file():
        raise MembwError(f"'{path}' is no file", 'move it away: calibrate writes a new one')
    try:
        return path.read_text(encoding='utf-8') if path.exists() else ''
    except UnicodeDecodeError as err:
        raise MembwError(f"'{path}' is not UTF-8: {err.reason}", 'save it as UTF-8') from err


def worst_rate(metric, figure):
    """That [value, low, high, ...] of a reference accepts; 0 where its tolerance is open."""
    value, low, high = figure[:3]
    worst = low if metric.better == HIGHER else high
    return 0 if worst is None or worst <= -1 else metric.rate(value * (1 + worst))


def _measured_before(entry, metric):
    """Of a calibration from before the first and the best were kept."""
    row = (entry.get('measured') or {}).get(metric.name)
    unit, date = metric.unit, entry.get('date', '')
    return row and [row['median'], row['low'], row['high'], unit, date]


def _yaml():
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096  # a line of a person stays one line
    return yaml


def match(table, name):
    """The key that ReFrame takes: the name itself, else the first pattern that fits."""
    if name in table:
        return name
    keys = (k for k in table if isinstance(k, str) and not k.startswith('$'))
    return next((k for k in keys if re.match(f'^{k}$', name)), None)


def _own_entry(table, key):
    """The entry of exactly this key; what a pattern gave it before is copied, not lost."""
    for part in key:
        if part not in table:
            table[part] = copy.deepcopy(table.get(match(table, part))) or CommentedMap()
            table[part].fa.set_block_style()
        table = table[part]
    return table


def as_figures(proposal):
    """The Proposal with figures in place of rates, rounded as they are written.

    Where less is better, below and above change places; tolerances are never narrowed.
    """
    kernels = {
        metric.name: _of_figures(proposal.kernels[metric.name], metric)
        for metric in proposal.samples.metrics
    }
    return replace(proposal, kernels=kernels)


def _of_figures(kernel, metric):
    median = round(metric.figure(kernel.median), 3)
    if metric.better == HIGHER:
        return replace(kernel, median=median)
    low, high = (metric.figure(1 + bound) - 1 for bound in (kernel.high, kernel.low))
    return replace(
        kernel, median=median, interval=tuple(metric.figure(v) for v in kernel.interval[::-1]),
        low=math.floor(1000 * low) / 1000, high=math.ceil(1000 * high) / 1000,
    )  # fmt: skip


def _flow(values):
    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence


def _origin(samples, today):
    nodes = plural(len(set(samples.nodes)), 'node')
    return f'{today}: median of {plural(len(samples.nodes), "run")} of {nodes}'


def _head(entry, proposal, rule, today, expires):
    samples = proposal.samples
    entry['date'], entry['expires'] = str(today), str(expires)
    entry['samples'], entry['nodes'] = len(samples.nodes), len(set(samples.nodes))
    entry['independent'] = proposal.effective
    entry['method'] = (
        f'median; tolerance limits of {rule.coverage:.0%} of runs with {rule.confidence:.0%} '
        f'confidence by order statistics (Wilks), at least -{rule.margin:.1%} and '
        f'+{rule.upper:.1%}'
    )
    entry['false_alarms_percent'] = _flow(
        [None if share is None else round(100 * share, 2) for share in proposal.alarms]
    )
    entry.yaml_add_eol_comment(
        'mean and 95 % interval, by resampling; null: not known', 'false_alarms_percent'
    )


def _measured(entry, proposal):
    entry['measured'] = CommentedMap()
    for name, kernel in proposal.kernels.items():
        row = CommentedMap(
            median=kernel.median, interval=_flow([round(v, 3) for v in kernel.interval]),
            low=kernel.low, high=kernel.high,
        )  # fmt: skip
        row.fa.set_flow_style()
        entry['measured'][name] = row
