"""A checkout of its own, to plant things in: what is read of this one, copied."""

import shutil

from places import ROOT

# what reframe, make and Spack read
PARTS = ('configs', 'systems', 'reframe-checks', 'spack-repo', 'spack-repo-index.yaml', 'src')
NOT = shutil.ignore_patterns('__pycache__', '*.egg-info', 'rows', 'spack.lock', '.spack-env')


def copy_checkout(folder, parts=PARTS):
    """The copy in that folder, which is returned."""
    for part in parts:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=NOT)
        else:
            shutil.copy(ROOT / part, folder / part)
    return folder


def variables(folder):
    """What setup-env.sh would set there; the Python environment is this checkout's."""
    return {
        'MEMBW_ROOT': str(folder),
        'RFM_CONFIG_PATH': str(folder / 'configs'),
        'PYTHONPATH': str(folder / 'src'),
    }
