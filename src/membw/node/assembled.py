"""The record of a battery, which is one of a program, too: its metrics are the quantities that are
compared, its facts and its build those of stream; what its parts lack is missing."""

from pathlib import Path
from typing import Any

import msgspec

from membw.checkout import root
from membw.files import write_whole
from membw.node.quantities import HEADLINE, bound_of, metrics_of
from membw.results.ledger import Missing
from membw.results.record import SCHEMA, Part, evidence_of, sealed
from membw.words import VALID

PROGRAM = 'node'
STOPPING = ('quota_throttles',)  # counted meanwhile: of all parts the figures are bounds


def folder() -> Path:
    return Path(root(), 'results', 'nodes')


def assembled(own: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """`own`: host, time, version, seconds, facts, counted; `parts`: as results/record.py has them,
    with the records' JSON objects."""
    typed = tuple(
        Part(p['name'], evidence_of(p['record']) if p['record'] else None, p['why'], p['died'])
        for p in parts
    )
    objects = {part['name']: part['record'] or {} for part in parts}
    metrics = metrics_of(typed, objects)
    if any(own.get('counted', {}).get(name) for name in STOPPING):
        metrics = {name: bound_of(metric) for name, metric in metrics.items()}
    stream = next((one for one in objects.values() if one), {})
    missing = [vars(one) for part in typed if (one := _lacks(part))]
    if not metrics and not missing:
        missing = [vars(Missing('no figure', False, 'stream'))]
    return own | {
        'schema': SCHEMA,
        'program': PROGRAM,
        'verdict': VALID,
        'reasons': [],
        'headline': HEADLINE,
        'metrics': {name: msgspec.to_builtins(metric) for name, metric in metrics.items()},
        'threads': stream.get('threads'),
        'facts': (stream.get('facts') or {}) | own.get('facts', {}),
        'build': stream.get('build') or {},
        'missing': missing,
        'parts': parts,
    }


def _lacks(part: Part) -> Missing | None:
    """Of a part that was not measured to a valid end."""
    why, record = part.why, part.record
    if not why and record and record.verdict != VALID:
        why = ' '.join(r.reason for r in record.reasons if not r.allowed) or record.verdict
    return Missing(why, part.died, part.name) if why else None


def name_of(node: dict[str, Any]) -> str:
    return f'{node["host"]}-{node["time"].replace(":", "")}.json'


def write(node: dict[str, Any], into: Path) -> Path:
    """One line, in a file of its own."""
    into.mkdir(parents=True, exist_ok=True)
    path = into / name_of(node)
    write_whole(path, sealed(node))
    return path
