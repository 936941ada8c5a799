"""An acceptance as text: verdict first, then what it rests on."""

from membw import tables
from membw.accept.pairs import are_held, item
from membw.plural import plural
from membw.printable import printable
from membw.results.hostlist import fold
from membw.results.intervals import shown
from membw.statistics.nights import nights_of
from membw.tables import Cell, Column, Table

ONE_NIGHT = (
    'each test is of one night: what a night does to all its runs is in none of these figures, '
    'and may be most of it (runs.nights)'
)


def percent(p):
    """A probability for people; resampling cannot tell 0 from rare."""
    return '< 0.01 %' if p < 1e-4 else '> 99.99 %' if p > 1 - 1e-4 else f'{100 * p:.2f} %'


def text(acceptance):
    """The whole of it, as a file keeps it."""
    return tables.as_text(blocks(acceptance), colour=False)


def blocks(acceptance, passed=None):
    """Lines and a table for people; no more than `passed` of the nodes that passed, None: all."""
    yield f'acceptance: {acceptance["title"]}'
    agreed = ('protocol', 'contract', 'protocol_sha256', 'unsigned')
    yield from protocol_lines(*(acceptance[name] for name in agreed))
    yield from _builds(acceptance['builds'])
    yield from _nodes(acceptance, passed)
    yield from _not_counted(acceptance)
    yield from risk_lines(acceptance['risk'], acceptance['protocol'])
    if acceptance['to_do']:
        yield from ('', 'still to be run', *(f'  {line}' for line in acceptance['to_do']))
    yield from ('', f'Verdict: {acceptance["verdict"]}: {"; ".join(acceptance["why"])}')


def protocol_lines(protocol, contract, checksum, unsigned):
    runs, tested, retest = protocol['runs'], protocol['nodes'], protocol['retest']
    of = f' of {tested["of"]}' if tested.get('of') else ''
    tested_all = f'{tested["count"]}{of} nodes'
    if are_held(runs):
        tested_all = 'every pair of nodes'
    size = runs['array_size']
    yield f'  protocol   sha256 {checksum}'
    for s in protocol['signatures']:
        yield f'  signed     by {s["name"]} ({s["party"]}) on {s["date"]}'
    if unsigned:
        yield f'  signed     NOT by {", ".join(unsigned)}'
    yield f'  period     {protocol["period"]["from"]} to {protocol["period"]["to"]}'
    yield f'  contract   {", ".join(contract)}, of each {item(runs)}'
    yield (
        f'  runs       {runs["system"]}, {runs["preset"]}, pinning {runs["pinning"]}, '
        f'arrays {size if size == "auto" else f"of {size} elements"}'
    )
    kind = [str(runs[k]) for k in ('kernels_set', 'language', 'compiler', 'flags') if k in runs]
    kind += [f'elements of {runs[k]} B' for k in ('element_bytes',) if k in runs]
    if kind:
        yield f'  program    {", ".join(kind)}'
    if runs.get('allow'):
        yield f'  allowed    {", ".join(runs["allow"])}'
    yield (
        f'  rule       {tested_all}, the {runs["statistic"]} of '
        f'{plural(runs["repetitions"], "valid run")}{_nights(runs)}; '
        f'{protocol["rule"]["allowed_failures"]} may fail'
    )
    if retest['rounds']:
        rounds = plural(retest['rounds'], 'round')
        yield (
            f'  retest     {rounds} of {plural(retest["repetitions"], "run")} for a node that '
            'failed; a round that passes clears it'
        )
    else:
        yield '  retest     none'


def _nights(runs):
    return f' of {runs["nights"]} nights' if runs.get('nights', 1) > 1 else ''


def _builds(builds):
    yield ''
    yield 'binaries of the counted runs'
    for build in builds:
        yield f'  {plural(build["runs"], "run")}'
        yield from (f'    {k:14} {printable(v)}' for k, v in build.items() if k != 'runs')
    if not builds:
        yield '  none'


COLUMNS = Column('node', 'node'), Column('status', 'status'), Column('rounds', 'rounds')


def _nodes(acceptance, limit):
    yield ''
    title = f'{item(acceptance["protocol"]["runs"], 2)}: ' + ', '.join(
        f'{n} {s}' for s, n in acceptance['counts'].items() if n
    )
    passed = [n['node'] for n in acceptance['nodes'] if n['status'] == 'PASS']
    hidden = set(passed[limit:]) if limit is not None else set()
    shown = [n for n in acceptance['nodes'] if n['node'] not in hidden]
    rows = [[n['node'], n['status'], Cell(n['rounds'], _rounds(n))] for n in shown]
    if limit is not None and not are_held(acceptance['protocol']['runs']):
        rows = _folded(rows)
    yield Table(title, COLUMNS, rows) if rows else title
    if hidden:
        things = item(acceptance['protocol']['runs'], len(hidden))
        yield f'  ... and {len(hidden)} {things} PASS: a --report has them all'
    if acceptance['other_nodes']:
        yield f'  not in the protocol: {fold(acceptance["other_nodes"])}'


def _folded(rows):
    """One row for all nodes of which the same is said: those that nobody has measured yet."""
    alike = {}
    for name, status, rounds in rows:
        key = name if rounds.value else (status, rounds.text)
        alike.setdefault(key, []).append([name, status, rounds])
    return [
        [fold(row[0] for row in group) if len(group) > 1 else group[0][0], *group[0][1:]]
        for group in alike.values()
    ]


def _rounds(node):
    parts = [_round(r) for r in node['rounds']]
    if node['needs']:
        parts.append(f'{node["needs"]} more valid runs needed ({node["what_for"]})')
    return '; '.join(parts)


def _round(r):
    values = ', '.join(f'{k} {shown(v)}' for k, v in r['figures'].items())
    low = f', {" and ".join(r["below"])} missing the contract' if r['below'] else ''
    return f'{r["test"]}: {values}{low}'


def _not_counted(acceptance):
    """A line for each reason: each part of a protocol has the runs of all others outside."""
    if acceptance['not_counted']:
        yield from ('', 'runs that do not count')
    reasons = {}
    for run in acceptance['not_counted']:
        reasons.setdefault(run['counted'], []).append(run)
    for reason, runs in reasons.items():
        nodes, times = fold({run['node'] for run in runs}), [run['time'] for run in runs]
        number = f' ({len(runs)} runs)' if len(runs) > 1 else ''
        when = ' to '.join(sorted({min(times), max(times)}))
        yield f'  {nodes:16} {when}  {printable(reason)}{number}'


def risk_lines(risk, protocol):
    yield ''
    if risk is None:
        yield 'risks: not known: too few runs tell the noise, and the protocol gives no risk.noise'
        return
    spread = ', '.join(f'{k} {s:.2%}' for k, s in risk['noise']['spread'].items())
    yield f'risks (spread of runs {spread}; {risk["noise"]["from"]})'
    yield (
        f'  {"chance":>10}  {"at most":>10}  (as far as so many runs leave open how large the '
        'noise is)'
    )
    parties, node, machine = risk_tables(risk, protocol)
    yield from (f'  {chance:>10}  {most:>10}  {text}' for text, chance, most in parties[1])
    if nights_of(protocol, protocol['runs']['repetitions']) == 1:
        yield f'  {ONE_NIGHT}'
    yield f'  {node[0][0]}, and how often it fails for good'
    yield from (f'    {level:>7}  {chance:>10}' for level, chance in node[1])
    yield f'  {machine[0][0]}, and how often the machine is accepted'
    yield from (f'    {count:>7}  {chance:>10}' for count, chance in machine[1])


def risk_tables(risk, protocol):
    """[(heads, rows)] of a report's risk: of the parties, of a node, of the machine."""
    allowed, limits = protocol['rule']['allowed_failures'], risk['at_limit_of_noise']
    bad, good = f'{-risk["bad_node"]:.1%} below', f'{risk["good_node"]:.1%} above'
    runs = protocol['runs']
    texts = (
        f'accepted with {allowed + 1} {item(runs, allowed + 1)} {bad}',
        f'refused with every {item(runs)} {good}',
    )
    parties = [
        (f'{party}: {text} contract', percent(risk[party]),
         percent(limits[party]) if limits else 'not known')
        for party, text in zip(('buyer', 'vendor'), texts, strict=True)
    ]  # fmt: skip
    if risk['measured_again'] is not None:
        again = percent(risk['measured_again'])
        parties.append(('this machine, measured again, is accepted', again, ''))
    node = [(f'{r["level"]:+.1%}', percent(r['fails'])) for r in risk['node_characteristic']]
    machine = [(r['bad_nodes'], percent(r['accepted'])) for r in risk['machine_characteristic']]
    return [
        (('risk', 'probability', 'at most, by what the runs leave open'), parties),
        ((f'true figure of a {item(runs)} to the contract', 'fails for good'), node),
        ((f'bad {item(runs, 2)} ({bad}, the others {good})', 'machine accepted'), machine),
    ]


def plan_lines(protocol, risk, folder, sources):
    """What a party reads before it signs; `sources` is the checksum of the folder."""
    from membw.accept.protocol import contract_lines, unsigned
    from membw.accept.report import _risk

    yield f'protocol: {protocol["title"]}'
    contract = list(contract_lines(protocol))
    yield from protocol_lines(protocol, contract, protocol['checksum'], unsigned(protocol))
    runs = protocol['runs']['repetitions']
    if are_held(protocol['runs']):
        yield f'  to do      {runs} valid runs of every pair, each pair once in a job'
    else:
        yield f'  to do      {protocol["nodes"]["count"] * runs} valid runs, without retests'
    if sources:
        yield f'  sources    present {folder}: source_sha256 {sources}'
    yield from risk_lines(_risk(risk, protocol), protocol)
    yield ''
    yield 'to sign, each party adds to signatures:'
    yield '  - {party: PARTY, name: NAME, date: DATE,'
    yield f'     protocol_sha256: {protocol["checksum"]}}}'
