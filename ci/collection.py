"""Writes the recipe of membw for a package collection: one file, which needs no clone of membw.

usage: spack python ci/collection.py FOLDER URL SHA256      (of the archive of a release)

FOLDER/membw/package.py has the presets as they are now, and that release as its version.
"""

import pathlib
import re
import sys

import spack.repo

RECIPE = pathlib.Path(spack.repo.PATH.filename_for_package_name('membw.membw'))
from spack_repo.membw import clone  # noqa: E402 (known from here on)

HEAD = """\
# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)
"""


def table(name):
    """NAME = its value in the clone, as Spack formats it."""
    value = getattr(clone, name)
    rows = (
        [f'    {key!r}: {row!r},\n' for key, row in value.items()]
        if isinstance(value, dict)
        else ()
    )
    text = ''.join(['{\n', *rows, '}']) if rows else repr(value)
    return f'{name} = {text}\n'.replace("'", '"')


def recipe(url, sha256):
    home = url.rpartition('/')[0]
    version = re.search(r'-(\d[\d.]*\d)\.tar', url)[1]
    release = f'    version("{version}", sha256="{sha256}")\n'
    tables = ''.join(map(table, ('COMPILERS', 'ELSEWHERE', 'FORTRAN', 'HUGE_PAGES')))
    text = RECIPE.read_text()
    for old, new in (
        (r'\A""".*?"""\n', HEAD),
        (
            r'from spack.package import \*\n\nfrom spack_repo.*?\n(?=\n)',
            'from spack_repo.builtin.build_systems.generic import Package\n\n'
            'from spack.package import *\n\n# what compiles a row of configs/presets.yaml\n'
            f'{tables}',
        ),
        (r'\(WorkingTree, Package\)', '(Package)'),
        (r'    git = address\(\)\n', f'    homepage = "{home}"\n    url = "{url}"\n\n'),
        (r'    # releases: .*\n(    version\(.*\n)*', release),
        (r'        self.refuse_stale\(\)\n', ''),
        (r'self\.folder', 'self.stage.source_path'),
    ):  # fmt: skip
        text, times = re.subn(old, lambda _, new=new: new, text, flags=re.S if '.*?' in old else 0)
        assert times, f'the recipe has changed: {old}'
    return text


folder = pathlib.Path(sys.argv[1], 'membw')
folder.mkdir(parents=True, exist_ok=True)
(folder / 'package.py').write_text(recipe(*sys.argv[2:]))
print(f'{folder}/package.py')
