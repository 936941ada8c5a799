"""Plants each fault of ci/mutants.yaml in a copy of this checkout, and says which the tests miss.

usage: python ci/mutants.py [WORD ...]     WORD: only files that have it in their path, as 'rank'

A text that does not stand once in its file, and tests that fail without a fault, are errors. Exit
status: 0 if nine of ten were found, else 1; 2 of an error.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENOUGH = 0.9
LIMIT_S = 900


def copy(folder):
    """What git tracks, as it lies here, with this checkout's .venv."""
    files = subprocess.run(['git', 'ls-files', '-z'], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, files.stdout.decode().split('\0')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    (folder / '.venv').symlink_to(ROOT / '.venv')
    return folder


def environment(folder):
    """Of tests that are those of this copy."""
    found = {'PYTHONPATH': folder / 'src', 'MEMBW_ROOT': folder}
    return {name: str(path) for name, path in found.items()} | {
        'RFM_CONFIG_PATH': str(folder / 'configs')
    }


def failing(folder, tests):
    """The first test that fails there; '' of none."""
    env = {**os.environ, **environment(folder), 'PYTHONDONTWRITEBYTECODE': '1'}
    words = [folder / '.venv/bin/python', '-m', 'pytest', '-x', '-q', '-p', 'no:cacheprovider']
    try:
        done = subprocess.run(
            [*words, *shlex.split(tests)], cwd=folder, env=env, capture_output=True, text=True,
            timeout=LIMIT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f'no end within {LIMIT_S} s'
    if done.returncode == 0:
        return ''
    bad = [line for line in done.stdout.splitlines() if line.startswith(('FAILED', 'ERROR'))]
    return bad[0].partition(' - ')[0] if bad else done.stdout[-300:] + done.stderr[-300:]


def rooms(root=ROOT):
    """[(the tests, {file: rows})]; an error, before anything runs, if a text stands nowhere."""
    found = []
    for room in yaml.safe_load((root / 'ci/mutants.yaml').read_text()):
        found.append((room.pop('tests'), room))
    every = [
        (file, text) for _, files in found for file, rows in files.items() for text, _ in rows
    ]
    counts = {
        (f, text): (root / f).is_file() and (root / f).read_text().count(text) for f, text in every
    }
    if wrong := [
        f'{f}: {text!r} stands there {n} times' for (f, text), n in counts.items() if n != 1
    ]:
        raise SystemExit('\n'.join(f'mutants: {line}' for line in wrong))
    return found


def plant(path, text, instead, tests, folder):
    """What found it; '' where nothing did."""
    source = path.read_text()
    path.write_text(source.replace(text, instead))
    try:
        return failing(folder, tests)
    finally:
        path.write_text(source)


def main(words):
    found, planted, every = Counter(), Counter(), rooms()
    with tempfile.TemporaryDirectory() as name:
        folder = copy(pathlib.Path(name))
        for tests, files in every:
            files = {
                f: rows for f, rows in files.items() if not words or any(w in f for w in words)
            }
            if files and (bad := failing(folder, tests)):
                raise SystemExit(f'mutants: without any fault: {bad}')
            for file, rows in files.items():
                for text, instead in rows:
                    by = plant(folder / file, text, instead, tests, folder)
                    planted[file] += 1
                    found[file] += bool(by)
                    print(f'{by or "NOT FOUND"}: {file}: {text} -> {instead}', flush=True)
    for file, count in planted.items():
        print(f'mutants: {found[file]} of {count} found in {file}')
    print(f'mutants: {found.total()} of {planted.total()} found')
    return int(found.total() < ENOUGH * planted.total())


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            end.code = 2
        raise
