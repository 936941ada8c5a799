"""What the recipe has of the clone in which it stands; ci/collection.py writes one without."""

import hashlib
import pathlib
import subprocess
import sys

from spack.package import *

# <root>/spack-repo/spack_repo/membw/clone.py
ROOT = pathlib.Path(__file__).resolve().parents[3]
# the part of the library that needs the standard library alone
sys.path.insert(0, str(ROOT / "src"))
from membw import presets  # noqa: E402

sys.path.pop(0)
TABLE = presets.load()
# THE place for the address of the public repository, once there is one: releases come from there
# where the recipe stands in no clone
PUBLIC = ""


def presets_of(language):
    """{preset: constraint on the compiler} of a language."""
    families = {name: presets.family_of(name, TABLE) for name in TABLE["presets"]}
    return {n: row["spack"] for n, row in families.items() if presets.language(row) == language}


def same_options(preset):
    """{preset of Fortran: compiler} with the options of one of C: gfortran-o2 of gcc-o2."""
    options = preset[len(TABLE["presets"][preset]["family"]) :]
    rows = presets_of("fortran").items()
    return {n: spec for n, spec in rows if n == TABLE["presets"][n]["family"] + options}


COMPILERS = presets_of("c")
FORTRAN = {preset: same_options(preset) for preset in COMPILERS if same_options(preset)}
MACHINES = set(TABLE["machines"])  # which Spack calls by the same names
# {preset: the machines that it is not for}, of those that are for one
ELSEWHERE = {
    name: sorted(MACHINES - {*TABLE["presets"][name]["requires"]})
    for name in COMPILERS
    if MACHINES & {*TABLE["presets"][name]["requires"]}
}
HUGE_PAGES = [n for n in COMPILERS if "{libhugetlbfs}" in TABLE["presets"][n]["line"]]


def address():
    """Of the git that has the releases: this clone; one of few commits has only its origin's."""
    words = ["git", "-C", str(ROOT), "config", "--get", "remote.origin.url"]
    origin = ""
    if (ROOT / ".git" / "shallow").exists():
        origin = subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip()
    return origin or (not (ROOT / ".git").exists() and PUBLIC) or ROOT.as_uri()


class WorkingTree(PackageBase):
    """Mixin: version `develop` is built from the files as they lie in this clone. An edit of them,
    of a preset or of this recipe gives another hash; `spack develop` has its own folder."""

    version("develop")

    @property
    def is_working_tree(self):
        return self.spec.satisfies("@=develop") and "dev_path" not in self.spec.variants

    @property
    def has_code(self):
        """Whether there is something to fetch."""
        return not self.is_working_tree

    def _make_root_stage(self, fetcher):
        """A mirror has a commit at one place, wherever the clone lies that it came from."""
        commit = getattr(fetcher, "commit", None)
        if commit:
            fetcher.mirror_id = lambda: f"git/membw/{commit}"
        return super()._make_root_stage(fetcher)

    @property
    def folder(self):
        return str(ROOT) if self.is_working_tree else self.stage.source_path

    def content_hash(self, content=None):
        parts = [super().content_hash(content)]
        if self.is_working_tree:
            src = ROOT / "src"
            programs = [src / name for name in self.spec.variants["programs"].values]
            parts += map(presets.source_sha256, programs)
            files = [presets.TABLE, *src.glob("*.mk"), src / "build.sh"]
            files += [path for folder in (src, *programs) for path in folder.glob("Makefile")]
            parts += [presets.sha256(path) for path in sorted(map(str, files))]
            preset = self.spec.variants["preset"].value
            # -march=native is another CPU on each node of a shared store
            parts += [presets.cpu()] * ("native" in TABLE["presets"][preset]["features"])
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def refuse_stale(self):
        if self.is_working_tree and self.spec._package_hash != self.content_hash():
            raise InstallError(
                "membw: src, the presets or the recipe changed since this spec was concretized: "
                "the lock is stale\nhint: spack concretize --force"
            )
