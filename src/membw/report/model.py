"""What a page consists of: sections with pictures and tables."""

from dataclasses import dataclass, field
from typing import NamedTuple

from membw.report.svg import Picture
from membw.tables import Table

Entry = tuple[str, str, list[tuple[str, str]]]  # id, title, [(name, text)]


@dataclass
class Section:
    id: str
    title: str
    notes: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    conditions: str = ''  # array size, threads, stores


class Alarm(NamedTuple):
    """One line of what needs attention; `link` is an id of the page."""

    verdict: str
    what: str
    why: str = ''
    link: str = ''


@dataclass
class Page:
    title: str
    subtitle: str
    headline: str
    verdict: str  # of the headline's row; '' where it is a median of nodes
    counts: str  # of nodes, or of rows
    provenance: list[Entry]
    problems: list[str]
    version: str
    words: set[str]  # that are on it: they are explained
    standing: list[str] = field(default_factory=list)  # share of peak, reference
    picture: Picture | None = None
    attention: list[Alarm] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
