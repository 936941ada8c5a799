"""A YAML file that somebody else wrote stands for no more than it may, and says so at once."""

import time

import pytest
import yaml

from membw import presets
from membw.accept import protocol as protocols
from membw.calibrate.reference_file import ReferenceFile
from membw.errors import MembwError
from membw.site import references, systems

BOMB = '\n'.join(
    ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    + [f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * 10)}]' for n in range(1, 9)]
)
TOO_LARGE = {
    'aliases of aliases': BOMB, 'a list in itself': 'hostnames: &h [*h]',
    'a mapping in itself': 'a: &a {b: *a}', 'through another': 'a: &a {b: &b [*a]}',
    'brackets': 'hostnames: ' + '[' * 20_000, 'braces': '{a: ' * 20_000,
    'closed brackets': 'hostnames: ' + '[' * 20_000 + ']' * 20_000,
    'a long list': 'a: [' + 'x,' * 200_000 + ']', 'dashes': '- ' * 20_000,
    'a list as a key': '? [a, b]\n: c', 'a mapping as a key': '{{a: b}: c}',
    'a number without end': 'a: 0b' + '1' * 60_000 + '\nb: ' + '9' * 5_000,
    'an int of nothing': 'a: !!int ""', 'an int by sign alone': 'a: !!int "-"',
    'no truth': 'a: !!bool maybe', 'no time': 'a: !!timestamp noon',
    'a 13th month': 'a: 2026-13-45',
    'no float': 'a: !!float x', 'a set of a text': 'a: !!set x', 'a tag': 'a: !!python/tuple [b]',
    'an anchor that is none': 'a: *b', 'a merge of itself': 'a: &a {<<: *a}',
}  # fmt: skip


@pytest.mark.parametrize('what', TOO_LARGE)
def test_what_is_too_large_is_refused_at_once(own_root, tmp_path, what):
    began = time.process_time()
    with pytest.raises(yaml.YAMLError):
        presets.read_yaml(yaml, TOO_LARGE[what])
    (tmp_path / 'zz.yaml').write_text(TOO_LARGE[what])
    with pytest.raises(MembwError) as caught:
        protocols.load(str(tmp_path / 'zz.yaml'))
    assert '\n' not in str(caught.value) and len(str(caught.value)) < 400
    _, problems = systems.load_file(tmp_path / 'zz.yaml', presets.load())
    _, again = references.parsed(TOO_LARGE[what])
    assert len(problems) == len(again) == 1 and '\n' not in ''.join(problems[0])
    with pytest.raises(presets.PresetError):
        presets.load(tmp_path / 'zz.yaml')
    (own_root / 'systems/references').mkdir()
    for name in 'zz.yaml', 'references/zz.yaml':
        (own_root / 'systems' / name).write_text(TOO_LARGE[what])
    with pytest.raises(MembwError) as caught:
        ReferenceFile('zz')
    assert len(caught.value.facts) == 1 and '\n' not in str(caught.value)
    assert time.process_time() - began < 2  # five readers of it


def test_aliases_that_people_write_are_read():
    text = 'node: &node {cores: 8, extras: &extras {llc: 1}}\nall:\n- <<: *node\n- {<<: *extras}\n'
    assert presets.read_yaml(yaml, text)['all'] == [
        {'cores': 8, 'extras': {'llc': 1}}, {'llc': 1},
    ]  # fmt: skip
