"""A sheet for paper, A4: sections of sentences and tables, a line for each signature. It loads
nothing, and is equal for equal contents: it can be signed byte by byte."""

from collections.abc import Sequence
from typing import NamedTuple

from membw import templates
from membw.tables import JUDGED, Table


class Part(NamedTuple):
    """A section: sentences, then a table."""

    title: str
    lines: Sequence[str] = ()
    table: Table | None = None
    is_numbered: bool = False
    is_sum: bool = False  # checksums, commands


def render(
    title: str,
    subtitle: str,
    word: str,
    parts: Sequence[Part],
    signers: Sequence[tuple[str, str]] = (),
) -> str:
    """The HTML; what is in it is text. `signers`: (name, what is below the line)."""
    known = [part for part in parts if part.lines or part.table]
    return (
        templates.html()
        .get_template('sheet.html')
        .render(
            title=title, subtitle=subtitle, word=word, parts=known, signers=signers, judged=JUDGED
        )
    )
