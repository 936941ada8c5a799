"""The checksum of the code is of the code alone: not of the place or of the name it was given."""

import subprocess

from membw.presets import code_sha256

SOURCE = '#include <stdio.h>\nint main(void) { puts("%s"); return %d; }\n'


def built(need, folder, name, *flags, text='a', status=0):
    source = folder / f'{name}.c'
    source.write_text(SOURCE % (text, status))
    out = folder / name
    line = [need('gcc'), '-O1', *flags, '-x', 'c', '-', '-o', out]
    subprocess.run(line, input=source.read_text(), text=True, check=True, timeout=300)
    return out


def test_another_place_is_the_same_code_and_other_code_is_not(need, tmp_path):
    here = built(need, tmp_path, 'here', '-Wl,-rpath,/opt/store/gcc-runtime-6bbf45/lib')
    there = built(need, tmp_path, 'there', '-Wl,-rpath,/a/longer/store/gcc-runtime-c9ccba/lib')
    assert here.read_bytes() != there.read_bytes() and code_sha256(here) == code_sha256(there)
    others = [
        built(need, tmp_path, 'two', status=1),
        built(need, tmp_path, 'three', text='b'),
        built(need, tmp_path, 'four', '-fcf-protection=full', '-O0'),
    ]
    assert len({*map(code_sha256, [here, *others]), ''}) == 5


def test_what_is_no_program_has_no_code(tmp_path):
    (tmp_path / 'script').write_text('#!/bin/sh\n')
    assert code_sha256(tmp_path / 'script') == code_sha256(tmp_path / 'nothing') == ''
