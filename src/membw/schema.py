"""What a JSON schema finds wrong in a file, as (place, fact, hint): each problem once."""

import re

from membw.errors import did_you_mean


def place(path):
    """partitions[0].extras of deque(['partitions', 0, 'extras'])."""
    text = ''.join(f'[{p}]' if isinstance(p, int) else f'.{p}' for p in path)
    return text.lstrip('.')


def problems(schema, data, missing, elsewhere):
    """Every problem of `data`; `missing`, `elsewhere`: hints for a key that is not there, and
    where no better one is known."""
    import jsonschema

    errors = sorted(
        jsonschema.Draft202012Validator(schema).iter_errors(data),
        key=lambda e: list(map(str, e.path)),
    )
    explained = [p for e in errors for p in _explained(e, missing, elsewhere)]
    # a misspelt key is one problem, not also the absence of the right one
    meant = {
        where.removesuffix(where.split('.')[-1]) + hint.split("'")[1]
        for where, fact, hint in explained
        if hint.startswith('did you mean')
    }
    return [p for p in explained if p[1] != 'is missing' or p[0] not in meant]


def _explained(error, missing, elsewhere):
    if error.validator == 'additionalProperties':
        yield from _unknown_keys(error)
    elif error.validator == 'required':
        key = re.match(r"'(.*?)' is", error.message).group(1)
        yield place([*error.absolute_path, key]), 'is missing', missing
    elif error.validator == 'dependentRequired':
        yield from _missing_companions(error)
    else:
        yield place(error.absolute_path), error.message, _hint(error) or elsewhere


def _unknown_keys(error):
    known = error.schema.get('properties', {})
    for key in error.instance:
        if key not in known:
            yield place([*error.absolute_path, key]), 'unknown key', did_you_mean(key, known)


def _missing_companions(error):
    for key, needed in error.validator_value.items():
        for other in needed:
            if key in error.instance and other not in error.instance:
                text = f"'{key}' needs '{other}' beside it"
                yield place(error.absolute_path), text, 'every figure carries its source'


def _hint(error):
    value = error.validator_value
    return {
        'enum': lambda: 'one of ' + ' '.join(map(str, value)),
        'const': lambda: f'here it must be {value!r}',
        'type': lambda: f'must be of type {value}',
        'pattern': lambda: f"must match '{value}'",
    }.get(error.validator, lambda: '')()
