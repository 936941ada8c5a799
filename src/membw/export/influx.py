"""InfluxDB's line protocol, as Telegraf and ClusterCockpit's collectors read it.

`membw` has a line per figure, `membw_verdict` one per test case or node.
"""

from membw.printable import printable


def as_text(rows):
    return '\n'.join(line for row in rows for line in _lines(row))


def _lines(row):
    tags = row.labels | {'verdict': row.verdict}
    when = f' {int(row.time * 1e9)}' if row.time else ''
    believed = 'true' if row.figures else 'false'
    yield f'membw_verdict{_tags(tags)} believed={believed},reason={_text(row.reason)}{when}'
    for figure in row.figures:
        named = {'metric': figure.metric, 'unit': figure.unit, 'better': figure.better}
        fields = {name: getattr(figure, name) for name in ('value', 'low', 'high', 'reference',
                                                           'ratio')}  # fmt: skip
        values = ','.join(f'{k}={float(v)!r}' for k, v in fields.items() if v is not None)
        yield f'membw{_tags(tags | named)} {values}{when}'


def _tags(tags):
    return ''.join(f',{key}={_escaped(value)}' for key, value in sorted(tags.items()) if value)


def _escaped(value):
    """A tag's value: no newline, and a comma, an equals sign or a space has a backslash."""
    text = _line(value).rstrip('\\')
    for char in ',= ':
        text = text.replace(char, f'\\{char}')
    return text


def _text(value):
    """A field that is text."""
    text = _line(value).replace('\\', '\\\\').replace('"', '\\"')
    return f'"{text}"'


def _line(value):
    return printable(' '.join(str(value).split()))
