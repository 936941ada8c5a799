"""Each figure, as it is measured, by HTTP to what takes JSON: Elasticsearch, VictoriaLogs, Vector.

usage: MEMBW_HTTPJSON=http://host:9200/membw/_doc reframe -C THIS -c "$(membw checks)" -r ...
       MEMBW_HTTPJSON=... membw run -C THIS

ReFrame takes the last configuration of logging that fits a system: this one is membw's own with
one handler more, so that results/perflogs, ReFrame's own log, goes on. A lower bound is no figure:
it is `check_perf_triad_lower_bound`, in place of `..._value`. What was compared with no reference
has no `..._ref`, and builds are not sent.
"""

import json
import os
import re

from membw.results.table import read_table
from membw.site.binder import logging


def event(record, extras, ignored):
    """ReFrame's own fields of a test case, as JSON; None: nothing is sent."""
    if ' ~' in record.check_display_name:  # a fixture: a build
        return None
    path = getattr(record, 'check_record', '')
    figures = read_table([path]).figures if path and os.path.isfile(path) else []
    words = {'≤ ': 'upper_bound', '≥ ': 'lower_bound', '~ ': 'unknown_bound'}
    bounds = {f.metric: (words[f.sign], f.value) for f in figures if f.is_bound}
    sent = {k: v for k, v in vars(record).items() if k not in ignored and k[:1] != '_'}
    values = sent.pop('check_perfvalues', None) or {}
    for variable, (value, ref, low, high, unit, result) in values.items():
        metric = variable.split(':')[-1]
        name = f'check_perf_{re.sub(r"[^A-Za-z0-9_]", "_", metric)}'
        kind, value = bounds.get(metric, ('value', value))
        sent[f'{name}_{kind}'] = value
        sent |= {f'{name}_unit': unit, f'{name}_result': result}
        if (low, high) != (None, None):
            sent |= {f'{name}_ref': ref, f'{name}_lower_thres': low, f'{name}_upper_thres': high}
    return json.dumps({**sent, **(extras or {})}, default=str)


ours = logging()
ours[0]['handlers_perflog'].append(
    {
        'type': 'httpjson',
        'url': os.environ['MEMBW_HTTPJSON'],
        'level': 'info',
        'json_formatter': event,
        'extra_headers': {'Content-Type': 'application/json'},
    }
)
site_configuration = {'logging': ours}
