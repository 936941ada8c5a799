"""What a report consists of: sections of pictures and tables, verdicts, provenance."""

from dataclasses import dataclass, field


@dataclass
class Cell:
    """One cell of a table: what is shown, what it is sorted by, what stands behind it."""

    text: str
    sort: float | str = ''
    provenance: str = ''  # id of an entry of Report.provenance
    verdict: str = ''  # drawn as a badge

    @property
    def key(self):
        return self.text if self.sort == '' else self.sort

    @property
    def is_number(self):
        return not isinstance(self.sort, str)


def number(value, form='', provenance=''):
    """The Cell of a number."""
    return Cell(format(value, form), float(value), provenance)


NONE = Cell('-', -1)  # where a column of numbers has none


@dataclass
class Table:
    """The rows have a Cell for each title."""

    titles: list
    rows: list
    caption: str = ''

    @property
    def heads(self):
        """[(title, whether its cells are numbers)]"""
        cells = zip(*self.rows, strict=True) if self.rows else [()] * len(self.titles)
        return [
            (t, any(c.is_number for c in of)) for t, of in zip(self.titles, cells, strict=True)
        ]

    def slim(self, *titles):
        """Without those of the columns that say the same in every row."""
        told = [len({row[i].text for row in self.rows}) > 1 for i in range(len(self.titles))]
        shown = [i for i, t in enumerate(self.titles) if t not in titles or told[i]]
        rows = [[row[i] for i in shown] for row in self.rows]
        return Table([self.titles[i] for i in shown], rows, self.caption)


@dataclass
class Picture:
    """A Vega-Lite chart: `draw()` gives it with all its data, for paper and for PNG and SVG."""

    name: str  # of the file, and of the element in the page
    title: str
    how_to_read: str
    chart: dict
    table: Table = None  # the same figures in words
    live: dict = None  # the chart for the page, where that differs
    wide: bool = False
    group: int = 0  # of the ranking: the page brings the nodes itself


@dataclass
class Section:
    """`empty` says why there is nothing to see."""

    id: str
    title: str
    lead: str = ''
    pictures: list = field(default_factory=list)
    folded: list = field(default_factory=list)  # pictures of what did not change
    tables: list = field(default_factory=list)
    empty: str = ''
    notes: list = field(default_factory=list)


@dataclass
class Report:
    """All that the page shows; `provenance` is id -> {name: text}."""

    title: str
    verdict: str
    headline: str
    counts: list  # (what, how many, verdict)
    attention: list  # verdicts.Alarm
    facts: list  # (name, text) of the run
    sections: list
    provenance: dict
    fleet: dict  # what the page's node table and rankings are made of
    problems: list

    def pictures(self):
        return [p for section in self.sections for p in (*section.pictures, *section.folded)]
