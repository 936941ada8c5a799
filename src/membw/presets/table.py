"""The tables of presets and of BLAS libraries (configs/presets.yaml, blas.yaml), read and checked.

Spack's recipe reads them with a Python that has no other package than Spack.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, Dict

from membw.errors import MembwError

# typing's Dict: Spack's Python may be 3.8
Facts = Dict[str, Any]  # a mapping, as YAML has it
Table = Dict[str, Facts]  # families and presets, by their names


def find_root() -> Path:
    """The checkout that this file is in; of the installed library, what it unpacked."""
    here = Path(__file__).resolve().parents[3]
    if (here / 'configs' / 'presets.yaml').is_file():
        return here
    from membw.checkout import root

    return Path(root())


ROOT = find_root()
TABLE = ROOT / 'configs' / 'presets.yaml'
BLAS_TABLE = ROOT / 'configs' / 'blas.yaml'

FAMILY_KEYS = {*'cc language openmp spack external macros value modules'.split()}
PRESET_KEYS = {'family', 'line', 'requires', 'features', 'pages', 'source'}
OPTIONAL_KEYS = {'language', 'external', 'modules', 'pages', 'value'}
PAGES = ('thp', '2M', '1G')
MOST_VALUES, MOST_LEVELS = 100_000, 50  # of a YAML file; a hundred times what any of ours has
LISTS = ('requires', 'features', 'libraries', 'macros')
LANGUAGES = ('c', 'fortran')
PLACEHOLDERS = {'openmp', 'defs', 'libhugetlbfs'}
BLAS_KEYS = {*'compile link folder preset libraries threading variable spack source'.split()}


class PresetError(MembwError):
    """The text is the fact and, on a second line, the way out."""

    def __str__(self) -> str:
        return f'membw: {super().__str__()}\nhint: {self.hint}'


def read_yaml(yaml: ModuleType, text: str | bytes) -> Any:
    """What the text says, by libyaml, where PyYAML was built with it: it takes a tenth of the
    time. The one reader of YAML: YAMLError also of what is too large, or holds itself, of a key
    that is given twice, and of a number that Python does not take."""
    try:
        refuse_too_large(yaml, yaml.parse(text, loader(yaml)))
        return yaml.load(text, loader(yaml))
    except (ValueError, TypeError, RecursionError) as err:  # a list as a key
        raise yaml.YAMLError(str(err)) from err


@functools.lru_cache(None)
def loader(yaml: ModuleType) -> Any:
    base: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)

    class Loader(base):
        def construct_object(self, node: Any, deep: bool = False) -> Any:
            """PyYAML's own constructors fail by whatever error they meet: `!!int ""`."""
            try:
                return super().construct_object(node, deep)
            except (AttributeError, LookupError, ValueError, TypeError) as err:
                kind, line = node.tag.rpartition(':')[2], node.start_mark.line + 1
                said = f'line {line}: {kind} cannot be read: {str(err)[:60]}'
                raise yaml.YAMLError(said) from err

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            """A key that stands there twice: PyYAML would take the last, silently."""
            seen = set()
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if key.value in seen:
                    line = key.start_mark.line + 1
                    raise yaml.YAMLError(f"line {line}: '{key.value}' is given twice")
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    return Loader


def refuse_too_large(yaml: ModuleType, events: Iterable[Any]) -> None:
    """By its values, those of an alias each time: eight lines may stand for 10^8."""
    of_anchor: dict[str, int] = {}
    open_at: list[tuple[str | None, int]] = []  # anchor, values before it
    values = 0
    for event in events:
        values += 1
        if isinstance(event, yaml.CollectionStartEvent):
            open_at.append((event.anchor, values - 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_at.pop()
            of_anchor |= {anchor: values - before} if anchor else {}
        elif isinstance(event, yaml.AliasEvent) and event.anchor in {a for a, _ in open_at}:
            raise yaml.YAMLError(f"'*{event.anchor}' stands within '&{event.anchor}' itself")
        elif isinstance(event, yaml.AliasEvent):
            values += of_anchor.get(event.anchor, 0)
        if values > MOST_VALUES or len(open_at) > MOST_LEVELS:
            raise yaml.YAMLError(f'more than {MOST_VALUES} values or {MOST_LEVELS} levels')


def parse_yaml(text: str, name: str) -> Any:
    """By PyYAML; in Spack's Python by Spack's own."""
    try:
        import yaml
    except ImportError:
        try:
            from spack.util import spack_yaml
        except ImportError as err:
            raise PresetError(
                f"'{sys.executable}' has no module 'yaml'",
                "use the project's Python (`. ./setup-env.sh`), or install python3-yaml",
            ) from err
        return spack_yaml.load(text)
    try:
        return read_yaml(yaml, text)
    except yaml.YAMLError as err:
        raise PresetError(f'{name} is not YAML: {" ".join(str(err).split())}', 'fix it') from err


def checked(path: Path | str, check: Callable[[Any], list[str]]) -> Any:
    """What the file says; PresetError names all its problems."""
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding='utf-8')
    except OSError as err:
        raise PresetError(f"cannot read '{path}': {err.strerror}", 'restore it from git') from err
    except UnicodeError as err:
        raise PresetError(f"'{path}' is not UTF-8: {err}", 'save it as UTF-8') from err
    data = parse_yaml(text, name)
    if problems := check(data):
        raise PresetError(
            [f'{name}: {p}' for p in problems], f'the head of {name} says what each key means'
        )
    return data


def load(path: Path | str = TABLE) -> Table:
    """The whole table, checked: {'families': {...}, 'presets': {...}}."""
    return checked(path, check)


def load_blas(path: Path | str = BLAS_TABLE) -> Facts:
    return checked(path, check_blas)['rows']


def check(table: Any) -> list[str]:
    """All problems of a table, as one line each."""
    if not isinstance(table, dict) or set(table) != {'machines', 'families', 'presets'}:
        return ["the top-level keys are 'machines', 'families' and 'presets'"]
    if not all(isinstance(table[part], dict) and table[part] for part in ('families', 'presets')):
        return ["'families' and 'presets' hold one named row each line"]
    problems = []
    for name, row in table['families'].items():
        where = f'families.{name}'
        wrong = check_keys(where, row, FAMILY_KEYS, OPTIONAL_KEYS)
        problems += wrong or check_family(where, row)
    for name, row in table['presets'].items():
        where = f'presets.{name}'
        wrong = check_keys(where, row, PRESET_KEYS, OPTIONAL_KEYS)
        problems += wrong or check_preset(where, name, row, table['families'])
    return problems


def check_blas(table: Any) -> list[str]:
    rows = table.get('rows') if isinstance(table, dict) else None
    if not isinstance(rows, dict):
        return ["the top-level key is 'rows'"]
    each = (check_keys(f'rows.{n}', r, BLAS_KEYS, {'folder', 'preset'}) for n, r in rows.items())
    return [text for texts in each for text in texts]


def check_keys(where: str, row: Any, keys: set[str], optional: set[str]) -> list[str]:
    if not isinstance(row, dict):
        return [f'{where}: is not a mapping']
    problems = [f"{where}: unknown key '{key}'" for key in row if key not in keys]
    problems += [f"{where}: '{key}' is missing" for key in sorted(keys - optional - set(row))]
    for key in sorted(set(row) & keys):
        kind, word = (list, 'a list') if key in LISTS else (str, 'text')
        if not isinstance(row[key], kind):
            problems.append(f"{where}: '{key}' is not {word}")
    return problems


def check_family(where: str, row: Facts) -> list[str]:
    problems = []
    if language(row) not in LANGUAGES:
        problems.append(f"{where}: 'language' is one of {' '.join(LANGUAGES)}")
    if python := re.search(r'\(\?|\\[a-zA-Z]', row.get('value', '')):
        problems.append(f"{where}: 'value' has '{python[0]}', which grep -E does not know")
    return problems


def check_preset(where: str, name: str, row: Facts, families: Facts) -> list[str]:
    problems = []
    if row['family'] not in families:
        problems.append(f"{where}: unknown family '{row['family']}'")
    elif not re.fullmatch(re.escape(row['family']) + r'-[a-z0-9][a-z0-9-]*', name):
        problems.append(f"{where}: the name is not '{row['family']}-<options>'")
    if row.get('pages', PAGES[0]) not in PAGES:
        problems.append(f"{where}: 'pages' is one of {' '.join(PAGES)}")
    unknown = set(re.findall(r'{(.*?)}', row['line'])) - PLACEHOLDERS
    problems += [f"{where}: unknown placeholder '{{{word}}}'" for word in sorted(unknown)]
    return problems


def row(preset: str, table: Table | None = None) -> Facts:
    return named(preset, (table or load())['presets'], 'preset', TABLE)


def blas_row(name: str, rows: Facts | None = None) -> Facts:
    return named(name, rows or load_blas(), 'BLAS', BLAS_TABLE)


def named(name: str, rows: Facts, kind: str, file: Path) -> Facts:
    if name in rows:
        return rows[name]
    hint = f'one of {" ".join(rows)}; a new one is a row of {file.name}'
    raise PresetError(f"unknown {kind} '{name}'", hint)


def family_of(preset: str, table: Table) -> Facts:
    return table['families'][row(preset, table)['family']]


def language(family: Facts) -> str:
    """What the programs are written in that a family compiles."""
    return family.get('language', 'c')


def environ_name(toolchain: str, family: str, preset: str) -> str:
    """`gcc11-o2`: the preset's options by the compiler that the partition calls `gcc11`."""
    return toolchain + preset.removeprefix(family)


def environs_of(partition: Facts, table: Table) -> Dict[str, str]:
    """{environment: preset}, as the system file says; the presets where it says `auto`."""
    chains = partition['toolchains']
    if not isinstance(chains, dict):
        return {preset: preset for preset in table['presets']}
    return {
        environ_name(name, row['family'], preset): preset
        for name, chain in chains.items()
        for preset, row in table['presets'].items()
        if row['family'] == chain.get('family', name)
    }
