"""Recipe of the programs of membw; Spack's builtin `stream` is another program."""

import json
import os
import pathlib

from spack.package import *

from spack_repo.membw.clone import COMPILERS, ELSEWHERE, FORTRAN, HUGE_PAGES, WorkingTree, address

# what a tiny run on a shared machine cannot be: only the values are tested here
TINY = "--allow too-short,too-good,wrong-pinning,oversubscribed,disturbed,unstable"
# program, a folder of src: options of a run that takes seconds anywhere, what it prints
PROGRAMS = {
    "stream": (f"-n 200000 -t 3 {TINY},array-too-small,wrong-placement", ["the expected bits"]),
    "ladder": ("--help", ["--quick"]),
    "loaded": ("--help", ["--mixes"]),
    "tiers": ("--help", ["--rounds"]),
    "nbody": (f"--threads 1 --bodies 256 --rounds 6 {TINY}", ["Verdict: VALID"]),
    "overheads": (f"--threads 1 --constructs parallel --pairs 6 {TINY}", ["Verdict: VALID"]),
    "pingpong": ("--seconds 0.01 --allow disturbed,unstable", ["Verdict: VALID"]),
    "device": ("--help", ["--no-transfers"]),
    "dgemm": (f"-n 200 -t 1 {TINY},threads-idle,forced-kernels", ["Verdict: VALID"]),
}


def natural_or_none(value):
    return value == "none" or (value.isdigit() and value[0] != "0")


class Membw(WorkingTree, Package):
    """Memory bandwidth and latency of a node: a STREAM-compatible benchmark and its companions.
    Every element is validated, and each run ends with a JSON record and a verdict."""

    git = address()
    license("BSD-3-Clause")

    # releases: ci/release.sh adds them here

    variant(
        "programs",
        default=",".join(name for name in PROGRAMS if name != "dgemm"),
        values=tuple(PROGRAMS),
        multi=True,
        description="Folders of src; dgemm needs a BLAS and is not built by default",
    )
    # gcc-o2 is for x86-64 alone; where both definitions hold, the later one counts
    for _default, _target in (("gcc-o3", None), ("gcc-o2", "target=x86_64:")):
        variant(
            "preset",
            default=_default,
            values=tuple(COMPILERS),
            multi=False,
            description="Row of configs/presets.yaml: the compile line, to the letter",
            when=_target,
        )
    variant("openmp", default=True, description="OpenMP threads")
    variant("mpi", default=False, description="stream and pingpong as one job of many nodes")
    variant("fortran", default=False, description="stream_f, too: the kernels in Fortran")
    variant("array_size", default="none", values=natural_or_none, description="STREAM_ARRAY_SIZE")
    variant("ntimes", default="none", values=natural_or_none, description="NTIMES")
    variant(
        "libhugetlbfs",
        default="none",
        values=lambda path: path == "none" or path.startswith("/"),
        description="Folder with its ldscripts and obj64, for the presets that link it",
    )

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("mpi", when="+mpi")
    depends_on("blas", when="programs=dgemm")

    for _preset, _compiler in COMPILERS.items():
        requires(
            _compiler,
            when=f"preset={_preset}",
            msg=f"preset={_preset} is a line of {_compiler}: take another preset "
            "(membw presets list), or put that compiler last in the spec",
        )
        for _target in ELSEWHERE.get(_preset, ()):
            conflicts(
                f"target={_target}:",
                when=f"preset={_preset}",
                msg=f"{_preset} is not for {_target}: preset=gcc-o3 is for any machine",
            )
        if _preset in FORTRAN:
            requires(
                *FORTRAN[_preset].values(),
                policy="any_of",
                when=f"+fortran preset={_preset}",
                msg="no row of configs/presets.yaml for this Fortran compiler: put "
                f"{' or '.join(FORTRAN[_preset].values())} in the spec, or ~fortran",
            )
        else:
            conflicts(
                "+fortran",
                when=f"preset={_preset}",
                msg=f"no Fortran compiler has the options of {_preset} in configs/presets.yaml: "
                "~fortran, or another preset",
            )

    for _preset in HUGE_PAGES:
        conflicts(
            "libhugetlbfs=none",
            when=f"preset={_preset}",
            msg=f"{_preset} links libhugetlbfs: add libhugetlbfs=/folder/with/ldscripts",
        )

    for _program in ("loaded", "overheads"):
        conflicts(
            "~openmp",
            when=f"programs={_program}",
            msg=f"{_program} needs several threads: +openmp, or programs=stream",
        )

    # what all of them are unless a spec says otherwise: one core of a node
    for _blas in (
        "intel-oneapi-mkl",
        "openblas",
        "blis",
        "amdblis",
        "acfl",
        "armpl-gcc",
        "nvpl-blas",
    ):
        conflicts(
            f"^{_blas} threads=none",
            when="programs=dgemm",
            msg=f"dgemm measures a node, and this {_blas} has no threads: add "
            f"^{_blas} threads=openmp",
        )

    @property
    def preset(self):
        return self.spec.variants["preset"].value

    def given(self, name):
        value = self.spec.variants[name].value
        return "" if value == "none" else value

    def make_run_paths_relative(self):
        """The wrapper of `ld` writes these into the binary: from where it lies, so that the same
        sources, compiler and line give the same bytes in every store."""
        store = pathlib.Path(self.prefix).parent
        for name in ("SPACK_RPATH_DIRS", "SPACK_STORE_RPATH_DIRS"):
            paths = [path for path in os.environ.get(name, "").split(":") if os.path.isdir(path)]
            os.environ[name] = ":".join(
                "$ORIGIN/" + os.path.relpath(path, self.prefix.bin)
                if store in pathlib.Path(path).parents
                else path
                for path in paths
            )

    def install(self, spec, prefix):
        self.refuse_stale()
        self.make_run_paths_relative()
        mkdirp(prefix.bin, prefix.share.membw)
        if spec.satisfies("+fortran"):  # first: make calls it stream, too
            rows = FORTRAN[self.preset].items()
            preset = next(name for name, compiler in rows if spec.satisfies(compiler))
            words = [f"EXTRA={' '.join(spec.compiler_flags.get('fflags', []))}"]
            self.make("stream", "stream_f", preset, self["fortran"].fortran, words)
        for program in spec.variants["programs"].values:
            words = [f"EXTRA={' '.join(spec.compiler_flags.get('cflags', []))}"]
            if program == "stream":
                words += [f"{n.upper()}={self.given(n)}" for n in ("array_size", "ntimes")]
            if program == "dgemm":
                words += ["BLAS=", f"LIBS={spec['blas'].libs.ld_flags}"]
            if program in ("stream", "pingpong") and spec.satisfies("+mpi"):
                words += ["MPI=1", f"MPICC={spec['mpi'].mpicc}"]
            self.make(program, program, self.preset, self["c"].cc, words)

    def make(self, program, name, preset, compiler, words):
        """The real compiler, not Spack's wrapper, which would add -march=<target>: the line is the
        preset's. Run paths still come in, through the `ld` wrapper first in PATH."""
        source, folder = os.path.join(self.folder, "src"), self.prefix.bin
        words = [*words, f"PROGRAM={program}", f"PRESET={preset}", f"CC={compiler}"]
        words += [f"OPENMP={int(self.spec.satisfies('+openmp'))}"]
        words += [f"LIBHUGETLBFS={self.given('libhugetlbfs')}"]
        words += [f"BUILD={folder}"]
        which("make", required=True)("-C", source, *words)
        os.remove(folder.join(f"{program}.mk"))
        os.rename(folder.join(program), folder.join(f"membw-{name}"))  # `stream` is ImageMagick's
        self.record(folder.join(f"{program}.json"), f"membw-{name}")

    def record(self, path, name):
        """As make wrote it, with the spec; without the binary's checksum: Spack mends its run
        paths later."""
        record = json.loads(pathlib.Path(path).read_text())
        os.remove(path)
        del record["binary_sha256"]
        record["built_with"] = "spack"
        record["spec"] = self.spec.format("{name}{@version}{variants}{compiler_flags} ")
        record["spec"] += self["c"].spec.format("%c={name}{@version}")
        record["dag_hash"] = self.spec.dag_hash()
        path = pathlib.Path(self.prefix.share.membw) / f"{name}.json"
        path.write_text(json.dumps(record, indent=1) + "\n")

    def test_validates(self):
        """a tiny run of each program computes the right answer"""
        names = {name: name for name in self.spec.variants["programs"].values}
        names.update({"stream_f": "stream"} if self.spec.satisfies("+fortran") else {})
        if self.preset.startswith("icc13-"):
            raise SkipTest("Knights Corner binaries run on the card, not on this host")
        for name, program in names.items():
            options, said = PROGRAMS[program]
            with test_part(self, f"test_validates_{name}", purpose=f"{name} {options}"):
                run = which(self.prefix.bin.join(f"membw-{name}"), required=True)
                check_outputs(said, run(*options.split(), output=str.split))

    def test_refuses_bad_input(self):
        """an unknown option is refused with exit status 2"""
        for name in self.spec.variants["programs"].values:
            run = which(self.prefix.bin.join(f"membw-{name}"), required=True)
            run("--no-such-option", fail_on_error=False, output=str.split, error=str.split)
            assert run.returncode == 2, f"{name}: exit status {run.returncode}, not 2"
