"""Writes packages.yaml next to it: `spack python configs/spack/frontier.py`, after a new Spack.

Every provider of a compiler or an MPI, and everything those may depend on, is part of the
concretizer's problem, though none of it is ever built here: they come from the machine. Static
analysis leaves out what is `buildable: false`; it suffices to say so of the frontier: compilers
and MPIs, and what the MPIs and the compilers of our presets depend on directly.
"""

import pathlib

import spack.repo

spack.repo.PATH.get_repo('membw')  # from here on spack_repo.membw can be imported

from spack_repo.membw.clone import TABLE  # noqa: E402

HEAD = """\
# Made by `spack python configs/spack/frontier.py`; its docstring says why. Nothing here is ever
# built for membw. Compilers come from the machine: `spack compiler find` where one is missing.
packages:
"""
# what a compiler leaves behind in the packages that it builds
RUNTIME = ('compiler-wrapper', '-runtime', '-wrapper')


def compilers():
    """Names of the packages of the preset families, from '%c=name@version'."""
    families = TABLE['families'].values()
    return {f['spack'].partition('=')[2].partition('@')[0] for f in families}


def providers(*virtuals):
    return {spec.name for virtual in virtuals for spec in spack.repo.PATH.providers_for(virtual)}


def direct_dependencies(name):
    names = set()
    for dep in spack.repo.PATH.get_pkg_class(name).dependencies_by_name(when=False):
        if spack.repo.PATH.is_virtual(dep):
            names |= providers(dep)
        else:
            names.add(dep)
    return names


def frontier():
    names = set().union(*map(direct_dependencies, compilers() | providers('mpi')))
    names |= providers('c', 'cxx', 'fortran', 'mpi')
    return sorted(n for n in names - providers('libc') if not n.endswith(RUNTIME))


lines = [f'  {name}:\n    buildable: false\n' for name in frontier()]
pathlib.Path(__file__).with_name('packages.yaml').write_text(HEAD + ''.join(lines))
print(f'{len(lines)} names in configs/spack/packages.yaml')
