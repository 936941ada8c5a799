"""Names what differs between two results: figures, build, run, facts, validity."""

from dataclasses import dataclass, field

from membw.errors import MembwError
from membw.results.flatten import GROUPS, fields, figures, spans
from membw.results.regimes import crossed, latencies
from membw.statistics.margin import MARGIN

# these make two builds the same one, where the binaries' checksums are not known to be equal
SAME_BUILD = ('source_sha256', 'code_sha256', 'binary_sha256', 'compile_line', 'compiler', 'flags',
              'built_in_compiler', 'openmp')  # fmt: skip


@dataclass
class Difference:
    """A compared with B; each mapping is {group: {field: value or (of A, of B)}}."""

    figures: dict  # name -> (A, B, B / A - 1, unit); None where one side has none
    same: dict = field(default_factory=dict)
    different: dict = field(default_factory=dict)
    only_a: dict = field(default_factory=dict)
    only_b: dict = field(default_factory=dict)
    margin: float = MARGIN
    spans: dict = field(default_factory=dict)  # name -> (interval of A, of B), None: it has none
    nearest: tuple = ((), ())  # ns between the nearest cores of A and B, before and after

    @property
    def apart(self):
        """Figures further apart than the margin, or measured on one side only; not those of which
        one lies in the other's interval: measured again, they might agree."""
        far = [n for n, (_, _, r, _) in self.figures.items() if r is None or abs(r) > self.margin]
        return [name for name in far if not self.agree(name)]

    @property
    def two_states(self):
        """The host of a virtual machine moved its cores: the figures do not compare."""
        return crossed(self.nearest[0] + self.nearest[1])

    def agree(self, name):
        """Whether the interval of one holds the figure of the other."""
        x, y = self.figures[name][:2]
        pairs = zip(self.spans.get(name, ()), (y, x))
        return any(span and v is not None and span[0] <= v <= span[1] for span, v in pairs)

    @property
    def build_differs(self):
        """What tells the builds apart; 'unknown' where nothing says they are the same."""
        same, different = (side.get('build', {}) for side in (self.same, self.different))
        if {'binary_sha256', 'code_sha256'} & set(same):
            return []
        fields = [f for f in SAME_BUILD if f in different]
        return fields or ([] if any(f in same for f in SAME_BUILD) else ['unknown'])

    @property
    def equal(self):
        validity = {'verdict', 'validated'} & set(self.different.get('validity', {}))
        return not (self.apart or self.build_differs or validity)


def compare(a, b, margin=MARGIN):
    """A Difference of two Results; margin is a fraction."""
    (figures_a, spans_a, of_a), (figures_b, spans_b, of_b) = _told(a), _told(b)
    difference = Difference(_figures(figures_a, figures_b), margin=margin)
    difference.spans = {
        name: (spans_a.get(name), spans_b.get(name)) for name in difference.figures
    }
    difference.nearest = latencies(a.record), latencies(b.record)
    for group in GROUPS:
        _group(difference, group, of_a[group], of_b[group])
    return difference


def _told(result):
    """Figures, their intervals and fields of a Result; one whose record is damaged is named."""
    try:
        return figures(result), spans(result), fields(result)
    except (TypeError, ValueError, AttributeError, LookupError, OverflowError) as err:
        fact = f"'{result.name}' is not as in the schema: {type(err).__name__}: {err}"
        raise MembwError(fact, "'membw rank FILE' says what is wrong with records") from err


def _figures(a, b):
    figures = {}
    for name in [*a, *(n for n in b if n not in a)]:
        (x, unit), (y, other) = a.get(name, (None, '')), b.get(name, (None, ''))
        known = x is not None and y is not None and unit == other and x
        figures[name] = (x, y, y / x - 1 if known else None, unit or other)
    return figures


def _group(difference, group, a, b):
    both = [name for name in a if name in b]
    parts = (
        (difference.same, {n: a[n] for n in both if a[n] == b[n]}),
        (difference.different, {n: (a[n], b[n]) for n in both if a[n] != b[n]}),
        (difference.only_a, {n: v for n, v in a.items() if n not in b}),
        (difference.only_b, {n: v for n, v in b.items() if n not in a}),
    )
    for place, values in parts:
        if values:
            place[group] = values
