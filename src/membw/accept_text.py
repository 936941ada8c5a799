"""An acceptance as text: verdict first, then what it rests on."""


def percent(p):
    """A probability for people; resampling cannot tell 0 from rare."""
    return '< 0.01 %' if p < 1e-4 else '> 99.99 %' if p > 1 - 1e-4 else f'{100 * p:.2f} %'


def lines(found):
    yield f'acceptance: {found["title"]}'
    yield from protocol_lines(found['protocol'], found['protocol_sha256'], found['unsigned'])
    yield from _builds(found['builds'])
    yield from _nodes(found)
    yield from _not_counted(found)
    yield from risk_lines(found['risk'], found['protocol'])
    if found['to_do']:
        yield from ('', 'still to be run', *(f'  {line}' for line in found['to_do']))
    yield from ('', f'Verdict: {found["verdict"]}: {"; ".join(found["why"])}')


def protocol_lines(protocol, checksum, unsigned):
    runs, nodes, retest = protocol['runs'], protocol['nodes'], protocol['retest']
    contract = ', '.join(f'{k} {v:g} GB/s' for k, v in protocol['contract'].items())
    of = f' of {nodes["of"]}' if nodes.get('of') else ''
    size = runs['array_size']
    yield f'  protocol   sha256 {checksum}'
    for s in protocol['signatures']:
        yield f'  signed     by {s["name"]} ({s["party"]}) on {s["date"]}'
    if unsigned:
        yield f'  signed     NOT by {", ".join(unsigned)}'
    yield f'  period     {protocol["period"]["from"]} to {protocol["period"]["to"]}'
    yield f'  contract   {contract} of each node'
    yield (
        f'  runs       {runs["system"]}, {runs["preset"]}, pinning {runs["pinning"]}, '
        f'arrays {size if size == "auto" else f"of {size} elements"}'
    )
    if runs.get('allow'):
        yield f'  allowed    {", ".join(runs["allow"])}'
    yield (
        f'  rule       {nodes["count"]}{of} nodes, the {runs["statistic"]} of '
        f'{runs["repetitions"]} valid runs; {protocol["rule"]["allowed_failures"]} may fail'
    )
    if retest['rounds']:
        yield f'  retest     {retest["rounds"]} times {retest["repetitions"]} runs; one clears'
    else:
        yield '  retest     none'


def _builds(builds):
    yield ''
    yield 'binaries of the counted runs'
    for build in builds:
        yield f'  {build["runs"]} runs'
        yield from (f'    {k:14} {v}' for k, v in build.items() if k != 'runs')
    if not builds:
        yield '  none'


def _nodes(found):
    yield ''
    yield 'nodes: ' + ', '.join(f'{n} {s}' for s, n in found['counts'].items() if n)
    for node in found['nodes']:
        parts = [_round(r) for r in node['rounds']]
        if node['needs']:
            parts.append(f'{node["needs"]} more valid runs needed ({node["what_for"]})')
        yield f'  {node["node"]:16} {node["status"]:8} {"; ".join(parts)}'.rstrip()
    if found['other_nodes']:
        yield f'  not in the protocol: {", ".join(found["other_nodes"])}'


def _round(r):
    values = ', '.join(f'{k} {v:.1f}' for k, v in r['gbs'].items())
    low = f', {" and ".join(r["below"])} below the contract' if r['below'] else ''
    return f'{r["test"]}: {values}{low}'


def _not_counted(found):
    if found['not_counted']:
        yield from ('', 'runs that do not count')
    for run in found['not_counted']:
        yield f'  {run["node"]:16} {run["time"]}  {run["counted"]}'


def risk_lines(risk, protocol):
    yield ''
    if risk is None:
        yield 'risks: not known: too few runs tell the noise, and the protocol gives no risk.noise'
        return
    spread = ', '.join(f'{k} {s:.2%}' for k, s in risk['noise']['spread'].items())
    yield f'risks (spread of runs {spread}; {risk["noise"]["from"]})'
    allowed = protocol['rule']['allowed_failures']
    bad, good = f'{-risk["bad_node"]:.1%} below', f'{risk["good_node"]:.1%} above'
    too_many = f'{allowed + 1} nodes {bad} contract'
    yield f'  {percent(risk["buyer"]):>10}  buyer: accepted with {too_many}'
    yield f'  {percent(risk["vendor"]):>10}  vendor: refused with every node {good} contract'
    if risk['measured_again'] is not None:
        yield f'  {percent(risk["measured_again"]):>10}  this machine, measured again, is accepted'
    yield '  true bandwidth of a node to the contract, and how often it fails for good'
    for row in risk['node_characteristic']:
        yield f'    {row["level"]:+7.1%}  {percent(row["fails"]):>10}'
    yield f'  bad nodes ({bad}, the others {good}), and how often the machine is accepted'
    for row in risk['machine_characteristic']:
        yield f'    {row["bad_nodes"]:7}  {percent(row["accepted"]):>10}'


def plan_lines(protocol, risk, sources):
    """What a party reads before it signs."""
    from membw.accept_report import _risk
    from membw.protocol import unsigned

    yield f'protocol: {protocol["title"]}'
    yield from protocol_lines(protocol, protocol['checksum'], unsigned(protocol))
    runs = protocol['nodes']['count'] * protocol['runs']['repetitions']
    yield f'  to do      {runs} valid runs, without retests'
    if sources:
        yield f'  sources    present src/stream: source_sha256 {sources}'
    yield from risk_lines(_risk(risk, protocol), protocol)
    yield ''
    yield 'to sign, each party adds to signatures:'
    yield '  - {party: PARTY, name: NAME, date: DATE,'
    yield f'     protocol_sha256: {protocol["checksum"]}}}'
