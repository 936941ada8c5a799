"""Of a record of `membw node`: its word with the evidence, and a section per question."""

from membw.node.battery import BATTERY
from membw.report import record_pictures
from membw.report.model import Section
from membw.results import table
from membw.results.record import evidence_of
from membw.tables import Cell, Column, Table

COLUMNS = (Column('figure', 'figure'), Column('value', 'value', True), Column('unit', ''))


def sections(record: dict) -> list[Section]:
    word = Section('word', ': '.join(filter(None, (record.get('word'), record.get('why')))))
    for cause in record.get('causes') or ():
        word.notes.append(f'{cause["sentence"]}: {"; ".join(cause["evidence"])}.')
        word.notes.append(f'Known from: {cause["source"]}. Next: {cause["next"]}.')
    return [word, *map(_part, record.get('parts') or ())]


def _part(part: dict) -> Section:
    record, name = part.get('record') or {}, part['name']
    asks = next((one.asks for one in BATTERY if one.name == name), '')
    reasons = ', '.join(reason['reason'] for reason in record.get('reasons') or ())
    said = part['why'] or ' '.join(filter(None, (record.get('verdict'), reasons)))
    figures = table.figures_of(evidence_of(record)) if record.get('metrics') else {}
    rows = [[n, Cell(f.value, f'{f.sign}{f.value:.4g}'), f.unit] for n, f in figures.items()]
    return Section(
        f'part-{name}',
        f'{name}: {asks}',
        [f'{part["command"]}: {said}.'],
        record_pictures.pictures(record),
        [
            *record_pictures.tables(record),
            *[Table('Figures', COLUMNS, rows, is_folded=True)] * bool(rows),
        ],
    )
