"""Every reference is a published figure with its source; some follow from published outputs."""

import re
import statistics

import pytest
import stream_table
import yaml
from places import ROOT

DATA = ROOT / 'tests/data'

FILES = sorted((ROOT / 'systems' / 'references').glob('*.yaml'))
INDEX = ['$partition', '$environ', 'pinning']
KERNELS = ('copy', 'scale', 'add', 'triad')

# What was published, GB/s, and by whom; (partition, environment, pinning) -> kernels.
# [orfeo] STREAM tutorial, THIN node, printed in MB/s
# [phi] "Stream on Intel Xeon Phi Coprocessors", K. Raman, Intel, 2013, printed in GB/s
# [cea] MPI_STREAM, CEA/DAM, 2022, average of four nodes, printed in MB/s
PUBLISHED = {
    ('thin:thin', 'gcc-o2', 'none'): dict(copy=86.9721, scale=87.0952, add=99.2012, triad=98.6455),
    ('thin:thin', 'gcc-o2', 'likwid'):
        dict(copy=160.3644, scale=159.3132, add=166.6517, triad=166.6391),
    ('phi:knc-5110p', 'icc13-knc', 'kmp'): dict(triad=150),
    ('phi:knc-5110p', 'icc13-knc-huge', 'kmp'): dict(triad=159),
    ('phi:knc-5110p-ecc-off', 'icc13-knc', 'kmp'): dict(triad=168),
    ('phi:knc-5110p-ecc-off', 'icc13-knc-huge', 'kmp'): dict(triad=171),
    ('phi:knc-7110p', 'icc13-knc', 'kmp'): dict(triad=164),
    ('phi:knc-7110p', 'icc13-knc-huge', 'kmp'): dict(triad=174),
    ('phi:knc-7110p-ecc-off', 'icc13-knc', 'kmp'): dict(triad=178),
    ('phi:knc-7110p-ecc-off', 'icc13-knc-huge', 'kmp'): dict(triad=181),
    ('phi:knc-7110p-thp', 'icc13-knc', 'kmp'): dict(triad=174),
    ('phi:knc-7110p-thp-ecc-off', 'icc13-knc', 'kmp'): dict(triad=181),
    ('phi:knc-7120p', 'icc13-knc', 'kmp'): dict(triad=177),
    ('phi:knc-7120p-ecc-off', 'icc13-knc', 'kmp'): dict(triad=192),
    ('cea:node', 'gcc-.*', 'none'): dict(triad=336.851901133),
    ('cea:one-core', 'gcc-.*', 'none'):
        dict(copy=42.2992351, scale=42.5124562, add=42.3768484, triad=42.4403442),
}  # fmt: skip


def entries():
    """{(partition, environment, pinning): {kernel: [value, low, high, unit]}} of all files."""
    found = {}
    for path in FILES:
        table = yaml.safe_load(path.read_text()).get('stream', {'$index': INDEX})
        assert table.pop('$index') == INDEX
        for partition, environs in table.items():
            assert partition.split(':')[0] == path.stem
            for environ, pinnings in environs.items():
                for pinning, kernels in pinnings.items():
                    key = partition, environ, pinning
                    ours = calibrated(path, key)
                    kept = {k: row for k, row in kernels.items() if k not in ours}
                    if kept:
                        found[key] = kept
    return found


def calibrated(path, key):
    """Kernels that this checkout's own `membw calibrate` put in force: published by nobody."""
    found = yaml.safe_load(path.read_text()).get('calibration') or {}
    for part in key:
        found = found.get(part) or {}
    return found.get('in_force') or []


def test_references_are_the_published_figures_alone():
    values = {key: {k: ref[0] for k, ref in kernels.items()} for key, kernels in entries().items()}
    assert values == PUBLISHED
    for kernels in entries().values():
        for kernel, (_, low, high, unit) in kernels.items():
            assert kernel in KERNELS and unit == 'GB/s' and -1 < low < 0 < high


@pytest.mark.parametrize('path', FILES, ids=lambda p: p.stem)
def test_a_reference_file_names_its_source_and_that_of_its_tolerance(path):
    head = ' '.join(re.findall(r'^# ?(.*)$', path.read_text(), re.M))
    assert re.search(r'source: \[[a-z]+\]', head)
    assert re.search("tolerances? (is|are) this project's policy", head)


def test_every_reference_file_belongs_to_a_system_that_names_it():
    named = {}
    for path in (ROOT / 'systems').glob('*.yaml'):
        system = yaml.safe_load(path.read_text())
        if 'references' in system:
            named[system['references']] = {
                f'{system["name"]}:{p["name"]}' for p in system['partitions']
            }
    assert set(named) == {f'references/{p.name}' for p in FILES}
    for partition, _, _ in entries():
        assert partition in named[f'references/{partition.split(":")[0]}.yaml']


def test_the_upper_bound_of_unpinned_thin_is_its_peak():
    """Unpinned runs fluctuate; a lucky placement is not wrong, but nothing beats 256 GB/s."""
    for value, _, high, _ in entries()['thin:thin', 'gcc-o2', 'none'].values():
        assert 250 < value * (1 + high) <= 256.1


@pytest.mark.parametrize('file', ['thin-likwid.txt', 'thin-naive.txt'])
def test_the_published_rates_follow_from_their_times(file):
    """88,000,000 elements, 16 or 24 bytes: the counting rules are the ones that were used."""
    rows = stream_table.rows((DATA / file).read_text())
    assert [*rows] == [*KERNELS]
    for name, row in rows.items():
        bytes_moved = 88_000_000 * (24 if name in ('add', 'triad') else 16)
        assert bytes_moved / row['min_s'] / 1e6 == pytest.approx(row['best_mbs'], rel=1e-4)


def test_the_nodes_of_cea_give_the_published_average():
    lines = (DATA / 'cea-nodes.txt').read_text().splitlines()
    found = [float(line.split()[1]) for line in lines if line[:1] != '#']
    average = statistics.mean(found)
    assert average == pytest.approx(336851.901133, abs=1e-5)
    assert statistics.stdev(found) == pytest.approx(40.422064, abs=1e-3)  # of the sample
    published = entries()['cea:node', 'gcc-.*', 'none']['triad'][0]
    assert published == pytest.approx(average / 1000, abs=1e-8)
