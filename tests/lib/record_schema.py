"""Every record in the tests is checked against the schema, real ones and synthetic ones."""

import json
import math

import jsonschema
import referencing
from places import ROOT

COMMON = json.loads((ROOT / 'src/harness/record.schema.json').read_text())
STREAM = json.loads((ROOT / 'src/stream/record.schema.json').read_text())
REGISTRY = referencing.Registry().with_resource(
    '../harness/record.schema.json', referencing.Resource.from_contents(COMMON)
)
VALIDATOR = jsonschema.Draft202012Validator(STREAM, registry=REGISTRY)
COMMON_VALIDATOR = jsonschema.Draft202012Validator(COMMON)
FIGURES = ('best_mbs', 'avg_s', 'min_s', 'max_s')
KNOWN = set()  # records seen to be valid, but for what differs from node to node


def check(record):
    """The record of a program; a ValidationError where it is not as in the schema."""
    stream = record.get('program', 'stream') == 'stream'
    (VALIDATOR if stream else COMMON_VALIDATOR).validate(record)
    return record


def check_all(records):
    """The same for a fleet: records that differ in name and figures alone are checked once."""
    for record in records:
        key = repr(record | {'host': 'n', 'rank': 0, 'kernels': list(record['kernels'])})
        if key not in KNOWN or not _differs_as_it_may(record):
            check(record)
            KNOWN.add(key)
    return records


def _differs_as_it_may(record):
    """Host, rank and the kernels' figures are what the schema has them be: cheaply."""
    if 'host' not in record:
        return False
    kernels = record['kernels'].values()
    figures = [kernel[name] for kernel in kernels for name in FIGURES]
    figures += [time for kernel in kernels for time in kernel['times_s']]
    named = type(record['host']) is str and type(record['rank']) is int and record['rank'] >= 0
    bytes_too = all(type(kernel['bytes_per_element']) is int for kernel in kernels)
    return named and bytes_too and all(type(x) is float and 0 < x < math.inf for x in figures)
