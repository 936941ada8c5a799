"""The text of systems/<name>.yaml, from what the scheduler and one node of each partition say."""

import re

import yaml

from membw import templates
from membw.presets.table import Facts
from membw.site.topology import bits, disjoint

COUNTS = ('num_cpus', 'num_cpus_per_core', 'num_cpus_per_socket', 'num_sockets')
MASKS = ('cores', 'numa_nodes', 'sockets')


def flow(value: object) -> str:
    """On one line, as YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix('\n').removesuffix('\n...')


def domain_sets(processor: Facts) -> list[set[int]]:
    """[CPUs] of each NUMA domain that has any."""
    masks = (processor.get('topology') or {}).get('numa_nodes', [])
    return [*disjoint(dict(enumerate(map(bits, masks)))).values()]


def is_usual(processor: Facts) -> bool:
    """First hardware threads first, domain by domain: then counts say all."""
    cores = sorted(min(bits(mask)) for mask in processor['topology'].get('cores', []))
    domains = [cpus & set(cores) for cpus in domain_sets(processor)] or [set(cores)]
    size = len(cores) // len(domains)
    ranges = [set(range(i * size, (i + 1) * size)) for i in range(len(domains))]
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
        facts['topology'] = {key: topology[key] for key in MASKS if topology.get(key)}
    return facts


def toolchain(chain: Facts, name: str) -> Facts:
    """What the file has of it; its version is a comment."""
    facts = {'family': chain['family']} if chain.get('family', name) != name else {}
    return facts | {key: chain[key] for key in ('cc', 'modules', 'mpicc') if chain.get(key)}


def not_tried(node: Facts) -> str:
    """Each toolchain is a row more with each of its presets: who wants an older one adds it."""
    names = ', '.join(node['left_out'])
    return f'not tried, as a newer version is there, or it did not load: {names}'


def limit(minutes: int) -> str:
    """The time limit of a job: an hour, or less where the partition has less."""
    return f'{minutes}m' if 0 < minutes < 60 else '1h'


def options(words: list[str]) -> list[str]:
    """['-A', 'me', '-q', 'x'] -> ['-A me', '-q x']: a line of a job script each."""
    lines: list[str] = []
    for word in words:
        if word.startswith('-') or not lines:
            lines.append(word)
        else:
            lines[-1] += f' {word}'
    return lines


def partition_name(queue: str) -> str:
    """64c512g -> p64c512g, gpu.q -> gpu_q: ReFrame takes no other."""
    name = re.sub(r'[^A-Za-z0-9_-]', '_', queue)
    return name if re.match('[A-Za-z_]', name) else f'p{name}'


def text(name: str, host: str, day: str, partitions: list[tuple]) -> str:
    """`partitions`: (name, facts of a node, minutes of a job, scheduler, access) of each."""
    environment = templates.text('membw.system')
    environment.filters |= {'processor': processor_facts}
    environment.filters |= {
        f.__name__: f for f in (flow, limit, toolchain, not_tried, domain_sets, partition_name)
    }
    return environment.get_template('system.yaml.jinja').render(
        name=name,
        day=day,
        # login3 -> login\d+: ReFrame finds the system by the host on which it is started
        host_pattern=re.sub(r'\d+$', r'\\d+', re.escape(host).replace('\\-', '-')),
        hosts=', '.join(node['host'] for _, node, *_ in partitions),
        partitions=partitions,
    )
