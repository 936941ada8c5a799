"""Reads the records that our programs write: one JSON object per line, one line per rank."""

import json
import marshal
import math
import re
import statistics
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from membw.results import intervals, metrics, provenance, regimes
from membw.results.numa_facts import count_sockets, first_domain
from membw.site.peak_from_modules import channel_count

# the first had `kernels` where now there are `metrics`
SCHEMAS = ('membw-record-1', 'membw-record-2')
MOST_PROBLEMS = 100  # told of one file, or of a piece of a long one
MUCH = 2 << 20  # characters: of fewer json has read all before msgspec is loaded, 16 ms
A_RECORD = re.compile(r'"schema"\s*:\s*"membw-record-')


NOTHING = {}  # one for all: millions of records have no timings


@dataclass(frozen=True, slots=True)
class Record:
    """What one rank measured, as far as ranking needs it; some 600 bytes."""

    host: str
    rank: int
    ranks: int
    time: float  # seconds since 1970
    file: str
    rates: dict  # metric -> rate: larger is better, whatever was measured (see metrics.py)
    steadiness: float  # usual rate / best rate, of the least steady kernel
    invalid: tuple  # reasons; empty: the record may be believed
    traits: dict  # what must be alike before two nodes are compared
    domain: int
    sockets: int
    channels: int
    allowed: tuple = ()  # reasons against it that the caller allowed
    provenance: dict = field(default_factory=dict)  # provenance.FIELDS
    findings: tuple = ()  # of `invalid`, as 'reason (detail)'
    metrics: tuple = ()  # of `rates`, in their order
    lasted: float = 0.0  # seconds that its repetitions took, at least
    timings: dict = field(default_factory=dict)  # of pingpong: its `pairs` or `messages`
    links: tuple = ()  # (other node, why not to be believed or None, {bytes: us one way})
    spans: dict = field(default_factory=dict)  # metric -> (low, high) of its rate, if it says so
    pair: tuple = ()  # of the nearest cores, ns (results/regimes.py)
    _identity: int | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def setting(self):
        """The same of records that say alike what was built and how it ran: a key as long as one
        of them is kept. What thousands say alike is one object (`parse_record`)."""
        return id(self.traits), id(self.provenance)

    @property
    def identity(self):
        """64 bits that are the same wherever it is met: database, report, file of its own."""
        if self._identity is None:
            figures = marshal.dumps((self.host, self.rank, self.time, *self.rates.values()), 2)
            digest = blake2b(figures, digest_size=8).digest()
            object.__setattr__(self, '_identity', int.from_bytes(digest, 'little'))
        return self._identity


class BadRecord(ValueError):
    """A line that is no record."""


def read_lines(lines, name, first=1):
    """Records and problems (`file:line: what`) of one file's lines, or those from `first` on;
    whoever tells them tells `told` of them."""
    records, problems = [], []
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            records.append(parse_record(parse_json(line), name))
        except BadRecord as err:
            problems.append(f'{name}:{number}: {err}')
    return records, problems


def told(problems, name):
    """The first of them, and how many more there are."""
    if len(problems) <= MOST_PROBLEMS:
        return problems
    more = f'{name}: and {len(problems) - MOST_PROBLEMS} more lines that cannot be read'
    return [*problems[:MOST_PROBLEMS], more]


def is_record(data):
    return isinstance(data, dict) and data.get('schema') in SCHEMAS


def names_record(text):
    """Whether a record is in a text; with and without blanks: `jq -c` leaves none."""
    return bool(A_RECORD.search(text))


quick, expected = json.loads, 0


def expect(characters):
    """So many are to be read. Once they are many msgspec reads them, in a quarter of the time; a
    set-up of before, without it, goes on with json, which says the same."""
    global quick, expected
    before, expected = expected, expected + characters
    if before < MUCH <= expected:
        with suppress(ImportError):
            from msgspec.json import decode as quick


def parse_json(line):
    """What a line holds; BadRecord for all that json.loads cannot take."""
    with suppress(ValueError, RecursionError):
        return quick(line)
    try:  # which takes NaN and halves of characters, too, and says what is wrong with a line
        return json.loads(line)
    except json.JSONDecodeError as err:
        line = f'line {err.lineno}, ' if err.lineno > 1 else ''
        raise BadRecord(f'not JSON: {err.msg} at {line}column {err.colno}') from err
    except ValueError as err:  # an integer of more digits than Python converts
        raise BadRecord('not as in the schema: an integer of thousands of digits') from err
    except RecursionError as err:
        raise BadRecord('not as in the schema: nested too deep') from err


def parse_record(data, name):
    """A Record from the JSON object of one rank."""
    if not is_record(data):
        raise BadRecord(f"not a record: 'schema' is none of {', '.join(SCHEMAS)}")
    try:
        host = _host(data)
        _hold_to_schema(data)
        setting = _setting(data)
        figures, measured = metrics.of_record(data)
        kernels, reasons = data.get('kernels') or {}, data.get('reasons') or ()
        return Record(
            host=host,
            rank=int(data.get('rank', 0)),
            ranks=int(data.get('ranks', 1)),
            time=_seconds(data.get('time')),
            file=name,
            rates={m.name: _rate(m, figures[m.name]) for m in measured},
            steadiness=min(map(_steadiness, kernels.values()), default=1.0),
            invalid=_invalid(data),
            allowed=tuple(r['reason'] for r in reasons if r.get('allowed')),
            findings=_findings(reasons),
            metrics=measured,
            lasted=sum(map(_lasted, kernels.values())),
            timings=_timings(data),
            links=tuple(map(_link, data['links'])) if 'links' in data else (),
            spans=intervals.of_rates(data, measured) or NOTHING,
            pair=regimes.latencies(data),
            **setting._asdict(),
        )
    except KeyError as err:
        raise BadRecord(f"'{err.args[0]}' is missing") from err
    except BadRecord:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError, LookupError) as err:
        raise BadRecord(f'not as in the schema: {err}') from err
    except RecursionError as err:
        raise BadRecord('not as in the schema: nested too deep') from err


# What other programs were asked for: other work, or other waiting (src/nbody, src/overheads).
ASKED = ('mode', 'precision', 'wait_policy')
# Nodes that differ here are never compared ...
STRICT = (
    'program', 'language', 'kernels_set', 'element_bytes', 'compiler', 'flags', 'cpu_model',
    'test', 'environ', 'pinning', 'parameters', *ASKED,
)  # fmt: skip
# ... here only when one has no group of its own: a node that lost a DIMM differs from its peers.
MEMORY = (
    'array_size', 'threads', 'numa_nodes', 'memory_gib', 'dimms',
)  # fmt: skip


class Setting(NamedTuple):
    """What a record says of node, build and run but its figures: many have the same."""

    traits: dict
    provenance: dict
    domain: int
    sockets: int
    channels: int


SAID_BY = {
    *STRICT, *MEMORY, *provenance.FIELDS, 'runtime', 'pages', 'kernel', 'numa', 'sockets',
    'memory_channels',
} - {'threads_on'}  # fmt: skip


def _setting(data):
    """Worked out once for all records that say the same. Of the threads, which are long, and of
    the memory, which differs by some MB from node to node, the key has what is read."""
    parts = [data, data.get('facts') or {}, data.get('build') or {}]
    said, facts, build = ({k: v for k, v in p.items() if k in SAID_BY} for p in parts)
    said |= {'facts': facts, 'build': build, 'shapes': provenance.shapes(data)}
    said['threads_on'] = _threads(data)
    return _setting_of(marshal.dumps((said, _memory_gib(parts[1])), 2))


def _threads(data):
    """Where each may run, and all of the first."""
    threads = data.get('threads_on') or []
    affinities = [{'affinity': t['affinity']} for t in threads]
    return [*threads[:1], *affinities[1:]]


@lru_cache(4096)
def _setting_of(said):
    data, memory_gib = marshal.loads(said)
    facts, traits = data['facts'], _traits(data, memory_gib)
    return Setting(
        traits=traits,
        provenance=provenance.of_record(data, traits),
        domain=first_domain(data),
        sockets=int(facts.get('sockets') or count_sockets(data)),
        channels=channel_count(facts),
    )


def _hold_to_schema(data):
    """What later arithmetic and tables rely on."""
    measured = data.get('metrics') or data['kernels']
    if measured == {}:
        raise BadRecord("'kernels' is empty: nothing was measured")
    for name in measured if isinstance(measured, dict) else ():
        if not NAME.fullmatch(name):
            raise BadRecord(f'no name of a kernel: {ascii(name[:80])}')
    if 'threads' in data and data['threads'] is not None and not 0 < int(data['threads']) < 2**31:
        raise BadRecord(f"'threads' is {data['threads']}")
    for name in ('rank', 'ranks'):
        if not 0 <= int(data.get(name, 0)) < 2**31:
            raise BadRecord(f"'{name}' is {data[name]}")


def _traits(data, memory_gib):
    facts, build = data.get('facts') or {}, data.get('build') or {}
    merged = {**facts, **data, **build, 'memory_gib': memory_gib}
    merged['dimms'] = _dimms(facts)
    merged.setdefault('pinning', _pinning(data))
    merged['wait_policy'] = (data.get('runtime') or {}).get('wait_policy')
    known = {name: _plain(merged.get(name)) for name in STRICT + MEMORY}
    return {name: value for name, value in known.items() if value is not None}


def _pinning(data):
    """Whether each thread was held to one CPU, from the affinity the kernel reports."""
    threads = data.get('threads_on')
    if not threads:
        return None
    return 'one CPU a thread' if all(str(t['affinity']).isdigit() for t in threads) else 'free'


def _plain(value):
    """Lists and objects as text: traits are compared and printed."""
    return value if isinstance(value, str | int | float | None) else json.dumps(value)


def _memory_gib(facts):
    """Whole GiB: the kernel keeps a few MB more or less of it from boot to boot."""
    mib = facts.get('mem_total_mib')
    return round(mib / 1024) if mib else None


def _dimms(facts):
    """'16 x 32768 MiB at 3200 MT/s' from the modules of the record; no speed: not known."""
    sizes = Counter(map(_dimm, facts.get('dimms') or []))
    return ' + '.join(f'{n} x {size}' for size, n in sorted(sizes.items())) or None


def _dimm(dimm):
    speed = f' at {dimm["configured_mts"]} MT/s' if dimm.get('configured_mts') else ''
    return f'{dimm.get("size_mib")} MiB{speed}'


# RFC 1123, and the underscore that some sites have: what a scheduler, a shell or a node-check
# file reads as anything but one name is none
HOST = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]*')
NAME = re.compile(r'[A-Za-z0-9_.+:/@%-]+')
EVERY_NODE = 'ALL'  # scontrol's word
LATEST = 253_370_764_800  # 9999-01-01: later, a time zone leads out of the calendar


def _host(data):
    if not isinstance(data['host'], str) or not data['host'].strip():
        raise BadRecord("'host' is empty")
    host = data['host'].strip()
    if not HOST.fullmatch(host) or host.upper() == EVERY_NODE:
        raise BadRecord(f"'host' is no name of a node: {ascii(host[:80])}")
    return host


def _seconds(text):
    if not text:
        return 0.0
    seconds = datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp()
    if not 0 <= seconds < LATEST:
        raise BadRecord(f"'time' is out of range: {text}")
    return seconds


def _rate(metric, figure):
    if not 0 < figure < float('inf'):
        raise BadRecord(f"'{metric.name}' is {figure:g} {metric.unit}")
    return metric.rate(figure)


def _steadiness(row):
    """Best time / usual time; the first repetition and the worst of the others are forgiven."""
    every = row.get('times_s')
    if every and not (min(every) > 0 and math.isfinite(sum(every))):
        raise BadRecord("'times_s' holds what is no time: every one is above 0 s, and finite")
    times = sorted(every[1:])[:-1] if every else ()
    usual = statistics.fmean(times) if times else row.get('avg_s', row.get('min_s', 0))
    best = row.get('min_s', 0)
    best = min(times[0], best or times[0]) if times else best  # a long run keeps each n-th time
    if not (math.isfinite(usual) and math.isfinite(best)):
        raise BadRecord("'avg_s' or 'min_s' is no time")
    return best / usual if usual else 1.0


def _lasted(row):
    total = row.get('total_s') or sum(row.get('times_s') or [row.get('min_s', 0)])
    if not math.isfinite(total):
        raise BadRecord("'total_s' is no time")
    return float(total)


# of pingpong: what is drawn of a pair of cores, and of a message
TIMINGS = {
    'pairs': {'method': str, 'class': str, 'home': str, 'cpu_a': int, 'cpu_b': int,
              'median_ns': float},
    'messages': {'class': str, 'cpu_a': int, 'cpu_b': int, 'bytes': int, 'median_us': float},
}  # fmt: skip


def _timings(data):
    timings = {name: data[name] for name in TIMINGS if data.get(name)}
    for name, rows in timings.items():
        for row in rows:
            wrong = [k for k, kind in TIMINGS[name].items() if not _is_a(kind, row[k])]
            if wrong:
                raise BadRecord(f"'{wrong[0]}' of '{name}' is {ascii(row[wrong[0]])[:80]}")
    return timings or NOTHING


def _is_a(kind, value):
    """A time is above 0 and finite, a number of a CPU or of bytes a small whole one."""
    if kind is float:
        return isinstance(value, float | int) and 0 < value < 1e300
    return isinstance(value, kind) and (kind is str or 0 <= value < 2**63)


def _link(row):
    times = {int(m['bytes']): float(m['median_us']) for m in row['messages']}
    if not all(0 < us < math.inf for us in times.values()):
        raise BadRecord("'links' holds what is no time: every one is above 0 us, and finite")
    return _host({'host': row['node']}), row.get('reason'), times


def _invalid(data):
    if data.get('verdict') == 'VALID':
        return ()
    named = [r['reason'] for r in data.get('reasons', []) if not r.get('allowed')]
    return tuple(map(str, named)) or ('no-reason-given',)


def _findings(reasons):
    reasons = (r for r in reasons if not r.get('allowed'))
    return tuple(' '.join(filter(None, [r['reason'], _detail(r)])) for r in reasons)


def _detail(reason):
    return f'({reason["detail"]})' if reason.get('detail') else ''
