"""Of a record of `membw node`: its word with the evidence, and a section per question."""

from membw.node.battery import BATTERY
from membw.report import record_pictures
from membw.report.model import Section
from membw.results import table
from membw.results.record import evidence_of
from membw.tables import Cell, Column, Table

COLUMNS = (Column('figure', 'figure'), Column('value', 'value', True), Column('unit', ''))


def sections(record: dict) -> list[Section]:
    return [_word(record), *map(_part, record.get('parts') or ())]


def _word(record: dict) -> Section:
    why = record.get('why') or ''
    made = Section('word', f'{record.get("word")}{": " * bool(why)}{why}')
    for cause in record.get('causes') or ():
        made.notes.append(f'{cause["sentence"]}: {"; ".join(cause["evidence"])}.')
        made.notes.append(f'Known from: {cause["source"]}. Next: {cause["next"]}.')
    return made


def _part(part: dict) -> Section:
    asks = {one.name: one.asks for one in BATTERY}
    record, name = part.get('record') or {}, part['name']
    made = Section(f'part-{name}', f'{name}: {asks.get(name, "")}')
    reasons = ', '.join(reason['reason'] for reason in record.get('reasons') or ())
    said = part['why'] or ' '.join(filter(None, (record.get('verdict'), reasons)))
    made.notes = [f'{part["command"]}: {said}.']
    figures_of = table.figures_of(evidence_of(record)) if record.get('metrics') else {}
    rows = [
        [name, Cell(f.value, f'{f.sign}{f.value:.4g}'), f.unit] for name, f in figures_of.items()
    ]
    figures = [Table('Figures', COLUMNS, rows, is_folded=True)] * bool(rows)
    made.tables = [*record_pictures.tables(record), *figures]
    made.pictures = record_pictures.pictures(record)
    return made
