"""What a JSON schema finds wrong in a file, as (place, fact, hint): each problem once."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from membw.errors import did_you_mean

Problem = tuple[str, str, str]  # place, fact, hint
MOST = 200  # characters of a message: it quotes what may be a megabyte


def place(path: Iterable[str | int]) -> str:
    """partitions[0].extras of deque(['partitions', 0, 'extras'])."""
    text = ''.join(f'[{p}]' if isinstance(p, int) else f'.{p}' for p in path)
    return text.lstrip('.')


def problems(schema: dict, data: object, missing: str, elsewhere: str) -> list[Problem]:
    """Every problem of `data`; `missing`, `elsewhere`: hints for a key that is not there, and
    where no better one is known."""
    import jsonschema

    every = jsonschema.Draft202012Validator(schema).iter_errors(data)
    errors = sorted(every, key=lambda e: [*map(str, e.path)])
    explained = [p for e in errors for p in _explained(e, missing, elsewhere)]
    # a misspelt key is one problem, not also the absence of the right one
    meant = {
        where.removesuffix(where.split('.')[-1]) + hint.split("'")[1]
        for where, fact, hint in explained
        if hint.startswith('did you mean')
    }
    own = [p for p in explained if p[1] != 'is missing' or p[0] not in meant]
    return [*own, *_no_numbers(data, [])]


def _no_numbers(data: Any, path: list[str | int]) -> Iterator[Problem]:
    """Figures that are .nan or .inf: a schema takes them for numbers."""
    if isinstance(data, float) and not math.isfinite(data):
        yield place(path), f'is {data}', 'give a finite number, or leave the key out'
    pairs = enumerate(data) if isinstance(data, list) else ()
    for key, value in data.items() if isinstance(data, dict) else pairs:
        yield from _no_numbers(value, [*path, key])


def _explained(error: Any, missing: str, elsewhere: str) -> Iterator[Problem]:
    at, value = place(error.absolute_path), error.validator_value
    if error.validator == 'additionalProperties':
        known = error.schema.get('properties', {})
        for key in (key for key in error.instance if key not in known):
            yield place([*error.absolute_path, key]), 'unknown key', did_you_mean(key, known)
    elif error.validator == 'required':
        key = re.split(r"' is", error.message)[0].lstrip("'")
        yield place([*error.absolute_path, key]), 'is missing', missing
    elif error.validator == 'dependentRequired':
        pairs = ((key, other) for key, needed in value.items() for other in needed)
        for key, other in pairs:
            if key in error.instance and other not in error.instance:
                yield at, f"'{key}' needs '{other}', too", 'every figure carries its source'
    elif 'hint' in error.schema:
        yield at, shortened(f'{error.instance!r} cannot be used'), error.schema['hint']
    else:
        hint = {
            'enum': lambda: 'one of ' + ' '.join(map(str, value)),
            'const': lambda: f'here it must be {value!r}',
            'type': lambda: f'must be of type {value}',
            'pattern': lambda: f"must match '{value}'",
        }.get(error.validator, lambda: elsewhere)()
        yield at, shortened(error.message), hint


def shortened(text: str) -> str:
    return text if len(text) <= MOST else f'{text[:MOST]}...'
