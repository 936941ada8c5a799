"""What was measured as fields: the keys that are made of them, and ReFrame's names."""

import itertools
import re

import made_up_records as made
import pytest
from places import ROOT

from membw.results.case import BELONGS, EVERY, Case, of_display_name
from membw.results.figure import measurement
from membw.results.record import evidence_of


def test_the_page_and_the_table_say_the_same_of_each_field():
    text = (ROOT / 'docs/judging.md').read_text()
    rows = re.findall(r'^\| ([\w, ]+) \| (yes|no) \| (yes|no) \| (yes|no|hosts) \|$', text, re.M)
    page = {
        field: tuple(
            key for key, word in zip(EVERY, [*words, words[2]], strict=True)
            if word == 'yes' or (key, word) == ('setting', 'hosts')
        )
        for fields, *words in rows for field in fields.split(', ')
    }  # fmt: skip
    assert page == BELONGS and [*page] == [*Case._fields]


OTHER = {'parameters': (('size', '2'),)}


def test_a_key_changes_with_its_fields_alone():
    one = Case(*[f'{name} 1' if name != 'parameters' else () for name in Case._fields])
    for field, key in itertools.product(Case._fields, EVERY):
        other = one._replace(**{field: OTHER.get(field, 'other')})
        is_same = getattr(one, key) == getattr(other, key)
        assert is_same is (key not in BELONGS[field]), (field, key)


@pytest.mark.parametrize('given', [{'size': '4', 'mode': 'a b'}, '%size=4 %mode=a b'])
def test_parameters_are_a_mapping_whichever_release_wrote_them(given):
    of = measurement(evidence_of(made.record(case={'parameters': given})), 0.0)
    assert of.setting.parameters == (('mode', 'a b'), ('size', '4'))
    assert of.setting.texts['parameters'] == of.setting.more == 'mode=a b size=4'
    assert of.row == Case('thin', 'node', 'stream', of.setting.parameters, 'gcc-o2', 'omp', 'n1')


@pytest.mark.parametrize('text, test, pairs, node', [
    ('stream %round=2 %pinning=omp', 'stream', {'round': '2', 'pinning': 'omp'}, ''),
    ('stream %pinning=omp %.part=cpu %.nid=n011', 'stream', {'pinning': 'omp'}, 'n011'),
    ('hpl %nb=192 %$x=1 %n=3 /ab12cd34', 'hpl', {'nb': '192', 'n': '3'}, ''),
    ('osu %size=1 MiB %a=', 'osu', {'size': '1 MiB', 'a': ''}, ''),
    ('t %a=100% %b=/x /y', 't', {'a': '100%', 'b': '/x /y'}, ''),
    ('hpl@gpu:a100+gnu', 'hpl', {}, ''),
    ('%mode=read', '', {'mode': 'read'}, ''),
    ('', '', {}, ''),
])  # fmt: skip
def test_a_name_of_reframe(text, test, pairs, node):
    assert of_display_name(text) == (test, pairs, node)
