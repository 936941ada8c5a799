"""What tests change in the sources is still there: else their faults are planted nowhere."""

import ast
from collections.abc import Iterator

from places import ROOT


def planted() -> Iterator[tuple[str, str, str]]:
    """(test file, source file, text in it) of each change that stands as text in a test."""
    for path in sorted((ROOT / 'tests').rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Tuple) or len(node.elts) < 3:
                continue
            words = [e.value for e in node.elts[:2] if isinstance(e, ast.Constant)]
            if len(words) == 2 and str(words[0]).endswith(('.c', '.h')):
                yield str(path.relative_to(ROOT)), *words


def test_each_text_to_be_changed_stands_once_in_its_file() -> None:
    found = [row for row in planted() if (ROOT / 'src' / row[1]).is_file()]
    assert len(found) > 20  # or this reads the tests no more
    wrong = [row for row in found if (ROOT / 'src' / row[1]).read_text().count(row[2]) != 1]
    assert wrong == []
