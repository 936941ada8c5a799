"""Which part of the house may know which: downward only, and no circle."""

import ast
import graphlib
import re
import subprocess
import sys

import pytest
from places import ROOT

SRC = ROOT / 'src'
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
C_FILES = sorted(
    path for path in SRC.glob('*/**/*.[ch]') if path.relative_to(SRC).parts[0] != 'membw'
)


def includes(path):
    """The files of this project that a C file includes."""
    return [(path.parent / name).resolve() for name in INCLUDE.findall(path.read_text())]


# one file for the compiler includes .c files, by name: it is no part of the house
WHOLE = {file for file in C_FILES if any(target.suffix == '.c' for target in includes(file))}


def room(path):
    """A folder within a program, else the module itself: 'stream/kernels', 'harness/clock'."""
    parts = path.relative_to(SRC).with_suffix('').parts
    return '/'.join(parts[:2])


def circle(graph):
    """The parts of a circle in {part: {parts it knows}}, None where there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as err:
        return err.args[1]
    return None


def arrows(files, name, targets):
    graph = {}
    for file in files:
        known = {name(target) for target in targets(file)}
        graph.setdefault(name(file), set()).update(known - {name(file)})
    return graph


def test_c_files_include_what_is_there_and_nothing_of_another_program():
    assert len(C_FILES) > 200
    for file in C_FILES:
        home = file.relative_to(SRC).parts[0]
        for target in includes(file):
            assert target.exists(), file
            assert target.relative_to(SRC).parts[0] in {home, 'harness'}, file


def test_the_rooms_of_c_make_no_circle():
    files = [file for file in C_FILES if file not in WHOLE]
    assert circle(arrows(files, room, includes)) is None


def test_the_modules_of_c_make_no_circle():
    files = [file for file in C_FILES if file not in WHOLE]
    assert circle(arrows(files, lambda path: str(path.with_suffix('')), includes)) is None


def test_what_reads_the_machine_knows_no_evidence_no_job_and_no_record():
    files = [file for file in C_FILES if 'harness/machine' in str(file)]
    known = set().union(*arrows(files, room, includes).values())
    above = {'harness/evidence', 'harness/job', 'harness/memory', 'harness/record'}
    assert not known & (above | {'harness/options', 'harness/program', 'harness/verdict'})


def test_the_kernels_know_no_mpi_no_option_and_no_record():
    files = [file for file in C_FILES if 'stream/kernels' in str(file)]
    known = set().union(*arrows(files, room, includes).values())
    above = {'harness/job', 'harness/options', 'harness/record'}
    assert not known & above
    assert {part for part in known if part.startswith('stream/')} <= {'stream/macros'}


def test_every_c_file_is_named_in_the_one_file_for_the_compiler():
    """Forgotten there, a file would silently be part of no program."""
    assert all(whole.parent.parent == SRC for whole in WHOLE)
    named = set().union(*(includes(whole) for whole in WHOLE))
    units = {file for file in C_FILES if file.suffix == '.c'}
    assert units - WHOLE - named == set()


def test_each_static_name_of_the_harness_begins_with_the_name_of_its_file(tmp_path):
    """A program that includes the harness as one file can then use any other name."""
    files = sorted(set(SRC.glob('harness/**/*.c')) - WHOLE)
    headers = ''.join(path.read_text() for path in SRC.glob('harness/**/*.h'))
    compile_line = ['gcc', '-c', '-O0', '-w', '-fopenmp', '-DLOCAL=']
    subprocess.run([*compile_line, *files], cwd=tmp_path, check=True)
    nm = ['nm', '-A', *(f'{file.stem}.o' for file in files)]
    listing = subprocess.run(nm, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True)
    names = re.findall(r'^(\w+)\.o:.* [bdrt] (\w+)$', listing.stdout, re.M)
    assert len(names) > 100
    own = [(s, n) for s, n in names if not re.search(rf'^(static|ONE)\b.* {n}\b', headers, re.M)]
    assert [f'{s}.c: {n}' for s, n in own if not n.lower().startswith(s.rstrip('s'))] == []


def test_each_reason_stands_at_the_place_that_its_enumerator_names():
    """The enum and the table are in two files; by their order alone nothing checked them."""
    row = re.compile(
        r'\[(\w+)(?:\s*-\s*REASONS)?\] = \{\s*"([a-z-]+)",\s*(?:WRONG|IMPRECISE|UNPROVEN)'
    )
    plain = re.compile(r'^\t\{ "[a-z-]+", (?:WRONG|IMPRECISE|UNPROVEN),', re.M)
    texts = {file: file.read_text() for file in C_FILES}
    assert [str(file) for file, text in texts.items() if plain.search(text)] == []
    rows = [pair for text in texts.values() for pair in row.findall(text)]
    wrong = [pair for pair in rows if not pair[0].lower().replace('_', '-').startswith(pair[1])]
    assert len(rows) > 20 and wrong == []


# --- Python ----------------------------------------------------------------------------------

LIBRARY = SRC / 'membw'
PY_FILES = sorted(LIBRARY.rglob('*.py'))
# what works without any command: facts, builds, results, statistics
LOWER = {'site', 'presets', 'results', 'statistics'}
COMMANDS = {path.parent.name for path in LIBRARY.glob('*/command.py')}
TOP = {'start', 'cli', '__main__'}


def imports(path):
    """Names of the modules that a Python file imports, at its head or later."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: imports are absolute'
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def package(path):
    return path.relative_to(LIBRARY).with_suffix('').parts[0]


def packages_known(path):
    """The packages and modules of the library that a file imports, by their first name."""
    return {name.split('.')[1] for name in imports(path) if name.startswith('membw.')}


def test_the_library_imports_no_check_and_no_configuration():
    checks = {path.stem for path in (ROOT / 'reframe-checks').rglob('*.py')}
    folders = {'configs', 'lib'} | {
        path.stem
        for folder in ('configs', 'ci', 'tests/lib')
        for path in (ROOT / folder).glob('*.py')
    }
    foreign = (checks | folders) - set(sys.stdlib_module_names)
    assert len(PY_FILES) > 100
    for file in PY_FILES:
        assert not {name.split('.')[0] for name in imports(file)} & foreign, file


def test_facts_builds_results_and_statistics_import_no_command():
    low = [file for file in PY_FILES if package(file) in LOWER]
    assert len(low) > 20
    for file in low:
        assert not packages_known(file) & ((COMMANDS - LOWER) | TOP), file


def test_only_the_command_line_imports_itself():
    known = {package(file): packages_known(file) for file in PY_FILES if package(file) not in TOP}
    assert {name for name, packages in known.items() if packages & TOP} == set()


def test_the_packages_of_the_library_make_no_circle():
    graph = arrows(PY_FILES, package, lambda path: [LIBRARY / n for n in packages_known(path)])
    assert circle(graph) is None


NAMES_OF_BUILDS = '__init__', 'table', 'build', 'generate', 'provenance'


@pytest.mark.parametrize('name', [*NAMES_OF_BUILDS, '../errors'])
def test_what_make_and_spack_use_of_the_library_is_the_standard_library_alone(name):
    """They have a Python of their own; membw.checkout is asked in the installed library alone."""
    elsewhere = {'membw.checkout.root', 'membw.errors.MembwError'}
    modules = set(imports(LIBRARY / f'presets/{name}.py')) - elsewhere
    own = {module for module in modules if module.startswith('membw.presets.')}
    assert {module.split('.')[2] for module in own} <= set(NAMES_OF_BUILDS)
    known = {module.split('.')[0] for module in modules - own}
    assert known <= set(sys.stdlib_module_names) | {'yaml', 'spack'}


def test_a_variable_of_checks_has_one_type_in_all():
    """`-S seconds=0.01`, meant for one check, sets it in all that are loaded: another type there
    would refuse the run."""
    found = {}
    for path in sorted((ROOT / 'reframe-checks').rglob('*.py')):
        form = r'^    (\w+) = (variable\(\w+|logged_\w+)'
        for name, kind in re.findall(form, path.read_text(), re.M):
            kind = {'logged_text': 'str', 'logged_number': 'int'}.get(
                kind, kind[len('variable(') :]
            )
            found.setdefault(name, set()).add(kind)
    assert len(found) > 30
    assert {name: kinds for name, kinds in found.items() if len(kinds) > 1} == {}
