"""The wheel also carries what a checkout has beside the library: src/membw/checkout.py."""

import hashlib
import json
import pathlib
import shutil
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
PARTS = (
    'configs',
    'ci/entries',
    'reframe-checks',
    'setup-env.sh',
    'spack-repo',
    'spack-repo-index.yaml',
    'src',
    'systems',
)
# where the shells look, below the prefix of the Python
COMPLETION = {
    'share/bash-completion/completions': ['ci/completion/membw'],
    'share/zsh/site-functions': ['ci/completion/_membw'],
    'share/fish/vendor_completions.d': ['ci/completion/membw.fish'],
}
# made in place, by Python, Spack and setuptools
LEFT_OUT = ('__pycache__', 'rows', 'spack.lock')
# of the library only what make and Spack need
OF_LIBRARY = ('src/membw/__init__.py', 'src/membw/presets/')


def carried():
    """Paths, relative to the checkout."""
    for part in PARTS:
        path = HERE / part
        for file in [path] if path.is_file() else sorted(path.rglob('*')):
            name = file.relative_to(HERE).as_posix()
            of_library = name.startswith('src/membw') and not name.startswith(OF_LIBRARY)
            made = any(p in LEFT_OUT or p.startswith('.') for p in pathlib.PurePath(name).parts)
            if file.is_file() and not of_library and not made:
                yield name


class BuildPy(build_py):
    """Adds membw/data: the files, and files.json, their checksums."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        data = pathlib.Path(self.build_lib, 'membw', 'data')
        shutil.rmtree(data, ignore_errors=True)
        checksums = {}
        for name in carried():
            (data / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / name, data / name)
            checksums[name] = hashlib.sha256((data / name).read_bytes()).hexdigest()
        (data / 'files.json').write_text(json.dumps(checksums, indent=1) + '\n')


sys.path.insert(0, str(HERE / 'src'))
from membw.presets import version  # noqa: E402

setup(version=version(), cmdclass={'build_py': BuildPy}, data_files=[*COMPLETION.items()])
