"""Binder: systems/*.yaml x presets.yaml -> ReFrame's site_configuration."""

import argparse
import copy
import os
import platform
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import reframe.core.settings as builtin
from reframe.utility import cpuinfo

from membw import presets
from membw.checkout import root
from membw.presets.table import Facts, Table
from membw.site import machine, peak, slurm, systems, topology

# why a row is left out
CPU_LACKS = 'which the CPU does not have'
UNKNOWN = "and '/proc/cpuinfo' does not say whether the CPU has it"
# tags of the checks that ReFrame's --mode chooses as well
MODES = ('nightly', 'maintenance', 'acceptance')
# keys of a partition that go to ReFrame as they stand, in addition to systems.PASSED_THROUGH
KEPT = ('name', 'descr', 'launcher', 'access', 'time_limit', 'max_jobs', 'processor')


def give_up(lines: list[str]) -> NoReturn:
    """A wrong file stops here, in one line each; ReFrame would show a traceback."""
    print('\n'.join(lines), file=sys.stderr)
    raise SystemExit(2)


def read() -> tuple[list[Facts], Table]:
    """(systems, table of presets). A wrong file ends the sessions of its own system: the one that
    is requested, else the one of this host. Others go on without it."""
    try:
        table = presets.load()
    except presets.PresetError as err:
        give_up([str(err)])
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument('--system', default=os.environ.get('RFM_SYSTEM'))
    wanted = (parser.parse_known_args()[0].system or '').partition(':')[0]
    every, problems = systems.load(table)
    for name, (data, lines) in problems.items():
        if name == wanted or (not wanted and systems.fits_here(data)):
            give_up(lines)
        for line in lines:
            fact = line.partition('\n')[0].removeprefix('membw: ')
            print(f"WARNING: {fact}: system '{name}' is left out", file=sys.stderr)
    return every, table


def modules_system(system: Facts) -> str:
    """Only a modules system that exists: else ReFrame ends before it lists a test."""
    tcl = bool(shutil.which('modulecmd'))
    here = {'lmod': bool(os.environ.get('LMOD_CMD')), 'envmod': tcl, 'tmod4': tcl}
    wanted = [system['modules_system']] if 'modules_system' in system else ['lmod', 'envmod']
    return next((name for name in wanted if here.get(name, True)), 'nomod')


def environment(targets: list[str], name: str, chain: Facts, preset: str, table: Table) -> Facts:
    """One compiler with one set of options: `gcc-o2`, `gcc11-o2`."""
    family = table['families'][chain['family']]
    return {
        'name': presets.environ_name(name, chain['family'], preset),
        'target_systems': [*targets],
        'cc': chain.get('cc', family['cc']),
        'cxx': '',
        'ftn': chain.get('fc', ''),
        'modules': chain.get('modules', []),
        'features': ['preset', presets.language(family), *table['presets'][preset]['features']],
        'extras': {
            'preset': preset,
            'pages': table['presets'][preset].get('pages'),
            'family': chain['family'],
            'mpicc': chain.get('mpicc'),
        },
    }


def anywhere(table: Table) -> list[Facts]:
    """The presets as environments of any system: what a partition of a ReFrame configuration
    that is not ours names in its `environs`."""
    families = {preset: row['family'] for preset, row in table['presets'].items()}
    environs = [environment(['*'], f, {'family': f}, p, table) for p, f in families.items()]
    for family in table['families']:
        mark_first([e for e in environs if e['extras']['family'] == family])
    environs[0]['features'].append('scan')
    return environs


def bind(system: Facts, partition: Facts, table: Table) -> tuple[list[Facts], dict[str, str]]:
    """(environments, {preset: why it is left out}) of one partition."""
    targets = [f'{system["name"]}:{partition["name"]}']
    chains, left_out, features = partition['toolchains'], {}, partition['features']
    is_unknown = features == 'auto' and not machine.cpu_flags()
    if features == 'auto':
        features = machine.cpu_features()
    rows = table['presets'].items()
    if chains == 'auto':
        chains, absent = machine.toolchains(table)
        left_out = {p: absent[row['family']] for p, row in rows if row['family'] in absent}
    environs = []
    for name, chain in chains.items():
        chain, bound = {'family': name, **chain}, []
        for preset, row in rows:
            if row['family'] != chain['family'] or preset not in chain.get('presets', [preset]):
                continue
            lacks = [need for need in row['requires'] if need not in features]
            if lacks:
                may_have = is_unknown and platform.machine() in row['requires']
                left_out[preset] = f'needs {" ".join(lacks)}, {UNKNOWN if may_have else CPU_LACKS}'
                continue
            bound.append(environment(targets, name, chain, preset, table))
            # not by ssh: cards are reached through their host, and no MPI program is built there
            if chain.get('mpicc') and partition['scheduler'] != 'ssh':
                bound[-1]['features'].append('mpi')
        mark_first(bound)
        environs += bound
    if environs:
        environs[0]['features'].append('scan')  # what is taken where all rows would take hours
    return environs, left_out


def mark_first(environs: list[Facts]) -> None:
    """Of each compiler one row measures its OpenMP runtime, where the flags have no part in it,
    and one computes: with all registers of the node, where there is such a row."""
    in_c = [e for e in environs if 'c' in e['features'] and 'offload' not in e['features']]
    if in_c:
        in_c[0]['features'].append('runtime')
        native = [e for e in in_c if 'native' in e['features']]
        (native or in_c)[0]['features'].append('compute')


def scheduler(partition: Facts) -> str:
    """squeue: Slurm without accounting, which ReFrame's backend `slurm` cannot use."""
    if partition['scheduler'] != 'slurm':
        return partition['scheduler']
    backend = os.environ.get('MEMBW_SLURM_BACKEND')
    return backend or ('squeue' if slurm.lacks_accounting() else 'slurm')


def taken(features: list[str], system: str) -> list[str]:
    """A site's own features by names that ReFrame takes: 16_nodes as _16_nodes."""
    words = (re.sub('[^a-zA-Z0-9_-]', '_', feature) for feature in features)
    names = [re.sub('^(?![a-zA-Z_])', '_', word) for word in words]
    pairs = zip(features, names, strict=True)
    if other := [f"'{one}' is '{name}'" for one, name in pairs if one != name]:
        text = f'membw: systems/{system}.yaml: features for ReFrame: {", ".join(other)}'
        print(text, file=sys.stderr)
    return names


def reframe_partition(system: Facts, partition: Facts, table: Table) -> tuple[Facts, list[Facts]]:
    environs, left_out = bind(system, partition, table)
    features = partition['features']
    # of a CPU's hundred flags only those that a preset asks for
    features = machine.features(table) if features == 'auto' else features
    features = taken(features, system['name'])
    if partition['scheduler'] in slurm.SCHEDULERS:
        features.append('flexible')  # ReFrame can ask which nodes are idle
        if cluster := slurm.cluster_of(partition.get('access', [])):  # sacct asks this host's
            multi = {'slurm_multi_cluster_mode': [cluster], **partition.get('sched_options', {})}
            partition = {**partition, 'sched_options': multi}
    extras = {**peak.completed(partition.get('extras', {})), 'left_out': left_out}
    for facts, key in ((partition, 'max_pending_time'), (system, 'maintainers')):
        extras |= {key: facts[key]} if key in facts else {}
    if system.get('references'):
        # absolute, so that RFM_REFERENCE_PREFIX cannot lead elsewhere
        extras['references'] = os.path.join(root(), 'systems', system['references'])
    bound = {
        **{key: partition[key] for key in (*KEPT, *systems.PASSED_THROUGH) if key in partition},
        'scheduler': scheduler(partition),
        'environs': [e['name'] for e in environs],
        'features': features,
        'extras': extras,
    }
    if partition['scheduler'] == 'local' and systems.fits_here(system):
        # ReFrame keeps what it once found below results/: of whichever machine had this checkout
        bound.setdefault('processor', topology.online(cpuinfo.cpuinfo()))
    if 'hosts' in partition:
        bound.setdefault('max_jobs', 1)  # ReFrame starts a second job on a host that has one
        options = {'ssh_hosts': partition['hosts'], **partition.get('sched_options', {})}
        bound['sched_options'], extras['hosts'] = options, partition['hosts']
    return bound, environs


def reframe_system(system: Facts, table: Table) -> tuple[Facts, list[Facts]]:
    parts = [reframe_partition(system, p, table) for p in system['partitions']]
    bound = {
        'name': system['name'],
        'descr': system['descr'],
        'hostnames': system['hostnames'],
        'modules_system': modules_system(system),
        **{key: system[key] for key in systems.OF_SYSTEM if key in system},
        'prefix': str(results()),
        'partitions': [p for p, _ in parts],
    }
    environs = [e for _, environs in parts for e in environs]
    # after `--system NAME:PARTITION` ReFrame looks for the environments of NAME alone
    for environ in {e['name']: e for e in environs if e['name'] not in table['presets']}.values():
        environ['target_systems'].append(system['name'])
    return bound, environs


def results() -> Path:
    """The checkout's; where that is another's, what RFM_PREFIX names for all else, too."""
    folder, prefix = Path(root(), 'results'), os.environ.get('RFM_PREFIX')
    return folder if may_be_made(folder) or not prefix else Path(prefix).absolute()


def may_be_made(folder: Path) -> bool:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK)


def modes() -> list[Facts]:
    """`reframe --mode nightly -r --system NAME`, from any folder."""
    checks = os.path.join(root(), 'reframe-checks')
    return [{'name': tag, 'options': ['-c', checks, f'--tag={tag}']} for tag in MODES]


def logging() -> list[Facts]:
    """ReFrame's own, with the files below results/. Lines for debugging are half of what a session
    computes, also where nobody sees them: they are made where -v is given. `membw run` keeps the
    output: a file of ReFrame's for each would fill a small TMPDIR."""
    ours = copy.deepcopy(builtin.site_configuration['logging'])
    given = any(re.fullmatch('--verbose|-[a-zA-Z]*v[a-zA-Z]*', word) for word in sys.argv)
    if not given and 'RFM_VERBOSE' not in os.environ:
        ours[0]['level'] = 'info'
    if 'MEMBW_SESSION' in os.environ:
        ours[0]['handlers'] = [one for one in ours[0]['handlers'] if one['type'] != 'file']
    for handler in ours[0]['handlers_perflog']:
        handler['basedir'] = str(results() / 'perflogs')
    return ours


def configuration() -> Facts:
    every, table = read()
    bound = [reframe_system(s, table) for s in every]
    general = {
        'report_file': str(results() / 'reports' / 'run-{sessionid}.json'),
        'keep_stage_files': True,
        # a job of its own, once, where a file does not say `processor`; ReFrame's way to install
        # itself there would fetch an installer: this checkout is used instead
        'remote_detect': True,
        'remote_install': [f'. {shlex.quote(os.path.join(root(), "setup-env.sh"))}'],
    }
    kept = results() / 'topology'
    if kept.exists() or may_be_made(kept):  # another's checkout: ReFrame's, below HOME
        general['topology_prefix'] = str(kept)
    return {
        'systems': [s for s, _ in bound],
        'environments': [*anywhere(table), *(e for _, environs in bound for e in environs)],
        'modes': modes(),
        'logging': logging(),
        'storage': [{'enable': True, 'sqlite_db_file': str(results() / 'results.db')}],
        'general': [general],
    }
