"""References of a system, in ReFrame's own format, written so that a person's words survive."""

import copy
import io
import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from membw import presets
from membw.calibrate.rule import Reference
from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError
from membw.files import write_whole
from membw.site.references import INDEX, NOTES, STREAM, entry_of, figures_of, parsed, problems_of

HEAD = """\
# References of {system}; source: [measured] on the system itself by `membw calibrate`, the
# details of each figure are below `calibration`. The tolerances are this project's policy.
"""
SECTION = '{test}:\n  $index: [{index}]\n'
METHOD = "median of the nodes' medians; max(2 %, 4 robust standard deviations of all runs)"
HINT = "'df' shows the free space, 'ls -ld' the owner"
NOTE = 'what membw calibrate measured; ReFrame does not read it'
Key = tuple[str, ...]  # (system:partition, preset, pinning, a value of each parameter)


class ReferenceFile:
    """systems/references/<system>.yaml, the part of one test; nothing is written before `write`.
    The notes of `stream` are directly below `calibration`, of another test below its name there.
    Raises MembwError for an unknown system and a file that has no references."""

    def __init__(self, system: str, test: str = STREAM) -> None:
        refuse_unknown_system(system)
        self.test, self.is_touched = test, False
        self.path = Path(root(), 'systems', 'references', f'{system}.yaml')
        self.facts = Path(root(), 'systems', f'{system}.yaml')
        section = SECTION.format(test=test, index=', '.join(INDEX))
        try:
            old = self.path.read_text(encoding='utf-8') if self.path.exists() else ''
            for _, fact, hint in parsed(old)[1]:  # ruamel ends by any exception
                raise MembwError(f"'{self.path}': {fact}", hint)
            self.data = _yaml().load(old or HEAD.format(system=system) + section)
            if old and test != STREAM and test not in self.data:
                self.data[test] = _yaml().load(section)[test]
            self.table = self.data[test]
            tuple(self.table['$index'])
        except (OSError, UnicodeDecodeError, YAMLError, KeyError, TypeError) as err:
            fact = f"no references of ReFrame in '{self.path}': {' '.join(str(err).split())}"
            begin = f"'{test}:' and '$index: [{', '.join(INDEX)}]' begin such a file"
            raise MembwError(fact, begin) from err

    def require_index(self, parameters: Iterable[str]) -> None:
        """Index the table by a check's own parameters, too. Raises MembwError where figures are
        indexed in another way already."""
        wanted, index = [*INDEX, *parameters], list(self.table['$index'])
        if index == INDEX and len(self.table) == 1:
            self.table['$index'] = _flow(wanted)
        elif index != wanted:
            fact = f"'{self.path}': '{self.test}' is indexed by {', '.join(index)}"
            how = f'its runs differ in {", ".join(wanted)}: index its figures by these'
            raise MembwError(fact, how)

    def existing(self, key: Key) -> dict[str, Any]:
        """{metric: [value, low, high, unit]} that ReFrame compares runs of this key with now."""
        return figures_of(self.table, key)

    def put(
        self, key: Key, new: Mapping[str, Reference], about: Mapping[str, Any], expires: int
    ) -> None:
        """Put {metric: Reference} in force; `about`: facts of the runs, `expires`: days."""
        if not new:
            return
        today, self.is_touched = date.today(), True
        entry, notes = _own_entry(self.table, key), self._notes(key)
        for metric, row in new.items():
            entry[metric] = _flow([row.value, row.low, row.high, row.unit])
            origin = f'{today}: median of {about["runs"]} runs of {about["nodes"]} nodes'
            entry.yaml_add_eol_comment(origin, metric)
        notes['date'], notes['expires'] = str(today), str(today + timedelta(days=expires))
        notes.update(about)
        notes['method'] = METHOD
        notes['in_force'] = _flow(dict.fromkeys([*notes.get('in_force', ()), *new]))

    def _notes(self, key: Key) -> CommentedMap:
        if NOTES not in self.data:
            self.data[NOTES] = CommentedMap()
            self.data.yaml_set_comment_before_after_key(NOTES, before='\n' + NOTE)
        table = self.data[NOTES]
        for part in key if self.test == STREAM else (self.test, *key):
            table = table.setdefault(part, CommentedMap())
        return table

    def write(self) -> list[Path]:
        """The paths that were written, each in one step: the references, then the facts that name
        them. Raises MembwError where a run would refuse the file."""
        if not self.is_touched:
            return []
        out, facts = io.StringIO(), self.facts.read_text()
        _yaml().dump(self.data, out)
        system = dict(_yaml().load(facts))
        for place, fact, hint in problems_of(out.getvalue(), True, system, presets.load()):
            raise MembwError(f"not written, '{self.path}' would be wrong: {place}: {fact}", hint)
        write_whole(self.path, out.getvalue(), HINT)
        if re.search(r'^references:', facts, re.M):
            return [self.path]
        line = f'references: references/{self.path.name}\n'
        named = re.sub(r'^partitions:', line + r'\g<0>', facts, count=1, flags=re.M)
        write_whole(self.facts, named, HINT)
        return [self.path, self.facts]


def _yaml() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096  # a line of a person stays one line
    return yaml


def _own_entry(table: CommentedMap, key: Key) -> CommentedMap:
    """The entry of exactly this key; what a pattern gave it before is copied, not lost."""
    for part in key:
        if part not in table:
            table[part] = copy.deepcopy(entry_of(table, part)) or CommentedMap()
            table[part].fa.set_block_style()
        table = table[part]
    return table


def _flow(values: Iterable[Any]) -> CommentedSeq:
    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence
