"""The text of systems/<name>.yaml, from what the scheduler and one node of each partition say."""

import re

import yaml

from membw.presets.table import Facts
from membw.site.topology import bits

COUNTS = ('num_cpus', 'num_cpus_per_core', 'num_cpus_per_socket', 'num_sockets')
MASKS = ('cores', 'numa_nodes', 'sockets')


def flow(value: object) -> str:
    """On one line, as YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix('\n').removesuffix('\n...')


def domain_sets(processor: Facts) -> list[set[int]]:
    """[CPUs] of each NUMA domain that has any."""
    masks = (processor.get('topology') or {}).get('numa_nodes', [])
    return [cpus for cpus in map(bits, masks) if cpus]


def is_usual(processor: Facts) -> bool:
    """First hardware threads first, domain by domain: then counts say all."""
    cores = sorted(min(bits(mask)) for mask in processor['topology'].get('cores', []))
    count = len(domain_sets(processor)) or 1
    size = len(cores) // count
    ranges = [set(range(i * size, (i + 1) * size)) for i in range(count)]
    domains = [cpus & set(cores) for cpus in domain_sets(processor)] or [set(cores)]
    return cores == list(range(len(cores))) and all(cpus in ranges for cpus in domains)


def processor_facts(processor: Facts) -> Facts:
    """Counts, without those that do not divide the CPUs: some are offline."""
    facts = {key: processor[key] for key in COUNTS if processor.get(key)}
    sockets = facts.get('num_sockets', 1)
    if facts['num_cpus'] != sockets * facts.get('num_cpus_per_socket', 0):
        facts.pop('num_cpus_per_socket', None)
    if facts['num_cpus'] % facts.get('num_cpus_per_core', 1):
        del facts['num_cpus_per_core']
    topology = processor.get('topology')
    if topology and not is_usual(processor):
        facts['topology'] = {key: topology[key] for key in MASKS if key in topology}
    return facts


def toolchain(name: str, chain: Facts) -> str:
    facts = {'family': chain['family']} if chain.get('family', name) != name else {}
    facts |= {'cc': chain['cc']}
    facts |= {key: chain[key] for key in ('modules', 'mpicc') if chain.get(key)}
    return f'    {name}: {flow(facts)}    # {chain["version"]}'


def not_tried(node: Facts) -> str:
    """Each toolchain is a row more with each of its presets: who wants an older one adds it."""
    return f'not tried, as a newer version is there: {", ".join(node["left_out"])}'


def extras(node: Facts) -> list[str]:
    """The theoretical peak is left to a person: only root can read the memory modules."""
    domains, numa = len(domain_sets(node['processor'])), node['numa']
    return [
        *(['  extras:', f'    numa_domains: {domains}'] if domains else []),
        *(['    numa:', *(f'    - {flow(d)}' for d in numa)] if domains and len(numa) > 1 else []),
        '    # for the theoretical peak, by `dmidecode -t memory` as root on a node:',
        "    # memory: {channels: , mts: , source: 'dmidecode -t memory on ...'}",
    ]


def partition(
    name: str, node: Facts, limit_s: int, scheduler: str, access: list[str]
) -> list[str]:
    hour = 3600
    limit = '1h' if not limit_s or limit_s >= hour else f'{max(1, limit_s // 60)}m'
    lines = [
        f'- name: {name}',
        f'  descr: {flow(node["model"])}',
        f'  scheduler: {scheduler}',
        '  launcher: srun',
        f'  access: {flow([f"-p {name}", *access])}',
        f'  time_limit: {limit}',
        '  max_pending_time: 1h    # in the queue; then NOT MEASURED',
        f'  features: {flow(node["features"])}',
        f'  processor: {flow(processor_facts(node["processor"]))}',
        '  toolchains:',
        *(toolchain(*item) for item in node['toolchains'].items()),
        *([f'    # {not_tried(node)}'] if node['left_out'] else []),
        *extras(node),
    ]
    return lines


def host_pattern(host: str) -> str:
    """login3 -> login\\d+: ReFrame finds the system by the host on which it is started."""
    return re.sub(r'\d+$', r'\\d+', re.escape(host).replace('\\-', '-'))


def text(name: str, host: str, day: str, partitions: list[tuple]) -> str:
    """`partitions`: (name, facts of a node, seconds of a job, scheduler, access) of each."""
    nodes = ', '.join(node['host'] for _, node, *_ in partitions)
    lines = [
        f'# systems/{name}.yaml: by `membw system add` on {day}: check it.',
        f'name: {name}',
        f'descr: {name}',
        f'hostnames: {flow([host_pattern(host)])}',
        'sources:',
        f"- 'membw system add on {day}: sinfo; sysfs and compilers of {nodes}'",
        'partitions:',
    ]
    for facts in partitions:
        lines += partition(*facts)
    return '\n'.join(lines) + '\n'
