"""Each figure, as it is measured, by HTTP to what takes JSON: Elasticsearch, VictoriaLogs, Vector.

usage: MEMBW_HTTPJSON=http://host:9200/membw/_doc reframe -C THIS -c "$(membw checks)" -r ...
       MEMBW_HTTPJSON=... membw run -C THIS

ReFrame takes the last configuration of logging that fits a system: this one is membw's own with
one handler more, so that results/perflogs, ReFrame's own log, goes on.
"""

import os

from membw.site.binder import logging

ours = logging()
ours[0]['handlers_perflog'].append(
    {
        'type': 'httpjson',
        'url': os.environ['MEMBW_HTTPJSON'],
        'level': 'info',
        'extra_headers': {'Content-Type': 'application/json'},
    }
)
site_configuration = {'logging': ours}
