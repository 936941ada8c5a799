"""An acceptance as one HTML file without any network: the text's sections as tables."""

import html
import json

from membw.accept.text import ONE_NIGHT, nodes, percent
from membw.printable import printable

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; display: block; overflow-x: auto }
th, td { border: 1px solid #8888; padding: .2rem .6rem; text-align: left; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
pre, code { white-space: pre-wrap; overflow-wrap: anywhere }
.verdict { font-size: 1.6rem; font-weight: 700; padding: .6rem 1rem; border: 3px solid }
.ACCEPTED { border-color: #0072b2 } .REFUSED { border-color: #d55e00 }
.INCOMPLETE { border-color: #999; border-style: dashed }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #e8e8e8 } }
@media print { table { display: table } }
"""


def page(found):
    sections = [
        _head(found),
        _section('Nodes', 'One row a node; a value is the agreed statistic of the runs of a test.',
                 _nodes(found)),
        _section('Every run', 'In order of time; what does not count says why.', _runs(found)),
        _section('Still to be run', 'Nothing.' if not found['to_do'] else 'These commands:',
                 _pre('\n'.join(found['to_do']))),
        _section('Risks', 'That a bad machine passes and a good one fails.', _risks(found)),
        _section('Binaries', 'Of the counted runs.', _table(*_builds(found['builds']))),
        _section('Protocol', f'Checksum (sha256 of the content without signatures): '
                 f'{found["protocol_sha256"]}', _pre(json.dumps(found['protocol'], indent=1))),
    ]  # fmt: skip
    title = html.escape(found['title'])
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><style>{STYLE}</style></head>\n<body>\n'
        + '\n'.join(sections)
        + '\n</body></html>\n'
    )


def _head(found):
    e, verdict = html.escape, found['verdict']
    signed = [f'{s["name"]} ({s["party"]}, {s["date"]})' for s in found['signed_by']]
    text = f'Signed by {", ".join(signed) or "nobody"}'
    text += f'; not by {", ".join(found["unsigned"])}' if found['unsigned'] else ''
    counts = ', '.join(f'{n} {s}' for s, n in found['counts'].items() if n)
    return (
        f'<h1>{e(found["title"])}</h1>\n<p class="verdict {verdict}">{verdict}</p>\n'
        f'<ul>{"".join(f"<li>{e(why)}</li>" for why in found["why"])}</ul>\n'
        f'<p>Nodes: {e(counts)}. {e(text)}. Made {found["made"]} by membw {found["membw"]}.</p>'
    )


def _section(title, line, body):
    return f'<h2>{html.escape(title)}</h2>\n<p>{html.escape(line)}</p>\n{body}'


def _pre(text):
    return f'<pre>{html.escape(text)}</pre>' if text else ''


def _table(head, rows):
    """Numbers are given as ('n', text)."""
    top = ''.join(f'<th scope="col">{html.escape(h)}</th>' for h in head)
    body = '\n'.join(f'<tr>{"".join(map(_cell, row))}</tr>' for row in rows)
    return f'<table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table>'


def _cell(cell):
    if isinstance(cell, tuple):
        return f'<td class="n">{html.escape(cell[1])}</td>'
    return f'<td>{html.escape(printable(cell))}</td>'


def _numbers(kernels, values):
    return [('n', f'{values[k]:.1f}' if k in values else '') for k in kernels]


def _heads(found):
    return [f'{name}, {unit}' for name, unit in found['units'].items()]


def _nodes(found):
    kernels = list(found['protocol']['contract'])
    rows = []
    for node in found['nodes']:
        needs = f'{node["needs"]} valid runs needed ({node["what_for"]})' if node['needs'] else ''
        for r in node['rounds'] or [{'test': '', 'figures': {}, 'below': []}]:
            low = f'below the contract: {", ".join(r["below"])}' if r['below'] else ''
            cells = _numbers(kernels, r['figures'])
            notes = '; '.join(filter(None, [low, needs]))
            rows.append([node['node'], node['status'], r['test'], *cells, notes])
    return _table(['node', 'status', 'test', *_heads(found), 'remarks'], rows)


def _runs(found):
    kernels = list(found['protocol']['contract'])
    rows = [
        [
            run['node'],
            run['time'],
            *_numbers(kernels, run['figures']),
            run['counted'],
            run['record'],
        ]
        for node in found['nodes']
        for run in node['runs']
    ]
    head = ['node', 'time', *_heads(found), 'counted', 'record']
    return _table(head, rows)


def _builds(builds):
    names = list(dict.fromkeys(name for build in builds for name in build))
    return names, [[build.get(name, '') for name in names] for build in builds]


def _risks(found):
    risk = found['risk']
    if risk is None:
        return '<p>Not known: too few runs tell the noise, and the protocol gives none.</p>'
    allowed = found['protocol']['rule']['allowed_failures']
    bad, good = f'{-risk["bad_node"]:.1%} below', f'{risk["good_node"]:.1%} above'
    spread = ', '.join(f'{k} {s:.2%}' for k, s in risk['noise']['spread'].items())
    texts = (f'accepted with {nodes(allowed + 1)} {bad}', f'refused with every node {good}')
    limits = risk['at_limit_of_noise']
    rows = [
        [
            f'{party}: {text} the contract',
            ('n', percent(risk[party])),
            ('n', limits and percent(limits[party]) or 'not known'),
        ]
        for party, text in zip(('buyer', 'vendor'), texts, strict=True)
    ]
    if risk['measured_again'] is not None:
        again = ('n', percent(risk['measured_again']))
        rows.append(['this machine, measured again, is accepted', again, ''])
    node = [
        [('n', f'{r["level"]:+.1%}'), ('n', percent(r['fails']))]
        for r in risk['node_characteristic']
    ]
    machine = [
        [('n', str(r['bad_nodes'])), ('n', percent(r['accepted']))]
        for r in risk['machine_characteristic']
    ]
    return (
        f'<p>Spread of runs: {html.escape(spread)} ({html.escape(risk["noise"]["from"])}).'
        f'{"" if limits else " In one night: " + html.escape(ONE_NIGHT) + "."}</p>'
        + _table(['risk', 'probability', 'at most, by what the runs leave open'], rows)
        + _table(['true bandwidth of a node to the contract', 'fails for good'], node)
        + _table([f'bad nodes ({bad}; the others {good})', 'machine accepted'], machine)
    )
