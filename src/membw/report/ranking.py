"""The section on a fleet: each node against its peers, as `membw rank` judges it."""

import math
from collections.abc import Mapping

from membw.grouped import grouped
from membw.printable import at_most, decimals, plural, signed
from membw.rank.judge import NodeVerdict
from membw.rank.ranking import Ranking
from membw.report.model import Alarm, Section
from membw.report.svg import LETTER, LINE, WIDTH, Picture, Scale, across, x_axis, y_axis
from membw.results.case import Case
from membw.results.hostlist import fold
from membw.statistics import MARGIN
from membw.tables import Column, Table
from membw.words import FAIL, GOOD, MISSING, OF, PASS, WORST_FIRST

MAPS = 4  # settings that have a picture, the largest ones
LISTED = 5000  # nodes of the table
MARKS = 2000  # nodes of a picture: of more not each one that passes is drawn
NAMED = 12  # nodes with their name in a picture
TOP, HEIGHT = 28, 240  # pixels above the plot, and of it
SHAPES = {PASS: 0, FAIL: 4}  # all else has the third
READ = (
    'One mark per node: what decided its verdict, else its headline, compared with the median of '
    'its peers. Dashed: the margin. Triangles that point down FAIL.'
)


def as_percent(loss: float) -> str:
    """'-3.1 %' of a loss of 0.031."""
    return f'{signed(-100 * loss, "+.1f")} %'


def section(ranking: Ranking) -> Section:
    """The pictures of the largest settings, and all nodes, the worst first."""
    made = Section('nodes', 'Nodes', [*ranking.notes])
    settings = grouped((v.setting, v) for v in ranking.verdicts if v.figures)
    largest = sorted(settings.items(), key=lambda item: -len(item[1]))[:MAPS]
    made.pictures = [_picture(of, at) for at, of in largest if len(of) > 1]
    made.tables = [_table(ranking)]
    return made


def who_is_slow(ranking: Ranking) -> str:
    """'2 of 64 nodes are slow: r02n05 -29.9 %, r04n02 -10.3 %': the first line of a page."""
    of = plural(len(ranking.nodes), 'node')
    known = {node.verdict for node in ranking.nodes} - {*GOOD}
    words = [word for word in (FAIL, *WORST_FIRST) if word in known]
    if not words:
        is_all = {node.verdict for node in ranking.nodes} == {PASS}
        return f'All {of} pass' if is_all else ranking.counts()
    bad = [(node.name, loss) for node, loss in _by_loss(ranking) if node.verdict == words[0]]
    named = [f'{name} {as_percent(loss)}' if loss < math.inf else name for name, loss in bad]
    verb = 'is' if len(bad) == 1 else 'are'
    what = f'{verb} slow' if words[0] == FAIL else f'{verb} {words[0]}'
    return f'{len(bad)} of {of} {what}: {", ".join(at_most(named, 3))}'


def alarms(ranking: Ranking) -> list[Alarm]:
    """A line for each reason against nodes; nodes with the same one share it."""
    bad = (node for node, _ in _by_loss(ranking) if node.verdict not in GOOD)
    alike = grouped(((node.verdict, node.reason), node.name) for node in bad)
    made = []
    for (word, why), names in alike.items():
        what = 'node' if len(names) == 1 else f'{len(names)} nodes'
        made.append(Alarm(word, f'{what} {fold(names)[:120]}', why, 'nodes'))
    return made


def _picture(verdicts: list[NodeVerdict], of: Case) -> Picture:
    names = ' '.join(filter(None, (of.test, of.preset, of.pinning)))
    title = f'{len(verdicts)} nodes, {names}: percent of the median of peers'
    slowest_first = sorted(verdicts, key=lambda v: (v.verdict == PASS, -v.loss))
    step = math.ceil(len(verdicts) / MARKS)
    shown = {
        place: one
        for place, one in enumerate(slowest_first, 1)
        if one.verdict != PASS or place % step == 0
    }
    how = READ + f' Of the nodes that pass, one in {step} is drawn.' * (step > 1)
    made = Picture(title, TOP + HEIGHT + 2 * LINE + 8, how)
    _draw(made, shown)
    return made


def _draw(made: Picture, verdicts: Mapping[int, NodeVerdict]) -> None:
    """A mark per node, by its loss; the keys are places from 1 on."""
    bottom = TOP + HEIGHT
    percent = [-100 * verdict.loss for verdict in verdicts.values()]
    up = Scale([1.08 * min(percent), *percent, -130 * MARGIN, 130 * MARGIN], bottom, TOP)
    places = across([0.0, max(verdicts) + 1.0])
    places.steps = [step for step in places.steps if 1 <= step <= max(verdicts) and step % 1 == 0]
    longest = LETTER * max(len(verdict.node) for verdict in verdicts.values()) + 8
    is_few = longest < places(2) - places(1) and len(verdicts) <= NAMED
    if is_few:
        places.steps = [*map(float, verdicts)]
    y_axis(made, up, '%')
    x_axis(
        made, places, TOP, bottom, 'nodes, what is not PASS first, then the slowest',
        lambda place: verdicts[int(place)].node if is_few else f'{place:g}',
    )  # fmt: skip
    made.across(up(-100 * MARGIN), 'muted', stroke_dasharray='5 4')
    names: list[tuple[float, float]] = []
    for place, verdict in verdicts.items():
        shape, colour = SHAPES.get(verdict.verdict, 3), OF[verdict.verdict].colour
        x, y = places(place), up(-100 * verdict.loss)
        title = f'{verdict.node}: {as_percent(verdict.loss)}, {verdict.verdict}'
        made.mark(x, y, shape, colour, title)
        room = LETTER * len(verdict.node)
        is_free = all(x > end or abs(y - at) > LINE for end, at in names)
        is_odd = not is_few and (verdict.verdict != PASS or verdict.loss > MARGIN)
        if is_odd and len(names) < NAMED and is_free and x + 8 + room < WIDTH:
            made.text(x + 8, y + 4, verdict.node)
            names.append((x + room, y))


def _by_loss(ranking: Ranking) -> list[tuple[NodeVerdict, float]]:
    """Each node with the largest loss of its settings, infinite where none is known. Those that do
    not pass are first, of these the missing last; else the largest loss is first."""
    losses: dict[str, float] = {}
    for verdict in ranking.verdicts:
        if verdict.peers:
            losses[verdict.node] = max(verdict.loss, losses.get(verdict.node, -math.inf))
    pairs = [(node, losses.get(node.name, math.inf)) for node in ranking.nodes]
    return sorted(pairs, key=lambda p: (p[0].verdict in GOOD, p[0].verdict == MISSING, -p[1]))


def _table(ranking: Ranking) -> Table:
    nodes = _by_loss(ranking)
    metrics = list(dict.fromkeys(name for node, _ in nodes for name in node.figures))
    rows = []
    for node, loss in nodes[:LISTED]:
        to_peers = as_percent(loss) if loss < math.inf else ''
        own = node.figures
        figures = [decimals(own[m].value, 1) if m in own else '' for m in metrics]
        rows.append([node.name, node.verdict, to_peers, *figures])
    columns = (
        Column('node', 'node'),
        Column('verdict', 'verdict'),
        Column('to_peers', 'to peers', True, True),
        *(Column(metric, metric, True) for metric in metrics),
    )
    more = len(nodes) - LISTED
    note = f'{more} more nodes: membw rank --limit 0' if more > 0 else ''
    return Table('Nodes, the worst first', columns, rows, note=note)
