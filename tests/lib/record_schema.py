"""Every record in the tests is checked against the schema, real ones and synthetic ones."""

import json

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


def check(record):
    """The record of a program; a ValidationError where it is not as in the schema."""
    stream = record.get('program', 'stream') == 'stream'
    (VALIDATOR if stream else COMMON_VALIDATOR).validate(record)
    return record


def check_all(records):
    """Each of the records, checked."""
    return [check(record) for record in records]
