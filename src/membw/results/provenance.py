"""What a figure was built and run with, and how two figures differ in it."""

from collections import Counter

# ordered from cause to consequence: the first that differs is the one to name
FIELDS = (
    'kernels_set', 'language', 'element_bytes', 'compiler', 'flags', 'compile_line', 'version',
    'source_sha256', 'code_sha256', 'spack_hash', 'built_with', 'binary_sha256', 'kernel_release',
    'microcode', 'thp', 'numa_balancing', 'governor', 'pages', 'array_size', 'bodies', 'shapes',
    'ntimes', 'threads', 'threads_on', 'cpu_model', 'memory_gib', 'dimms', 'memory_channels',
    'numa_nodes', 'ranks',
)  # fmt: skip
# these name a file, not its code: where the code is the same, anything else that differs is first
OF_FILE = ('spack_hash', 'built_with', 'binary_sha256')


def peak_of(data: dict) -> tuple[float | None, str]:
    """(theoretical peak of the node in GB/s, None: not known; where that is from); of records
    before membw 1.1 by the keys that stream had then."""
    peak, case = data.get('peak') or {}, data.get('case') or {}
    gbs = peak.get('value') if peak.get('unit') == 'GB/s' else None
    return gbs or data.get('peak_gbs'), case.get('peak_source') or data.get('peak_note') or GIVEN


def requested_pages(data: dict) -> str | None:
    """'default', 'thp', '2M', '1G'; records of membw 1.0.0 have another key."""
    pages = data.get('pages') or {}
    return pages.get('requested') or pages.get('asked')


GIVEN = 'as given'  # by --peak


def build_of(data: dict, case: dict) -> dict:
    """What a record's program knows of its build, and what its check knows (`case`) before that.

    Neither a preset nor a code_sha256: the build is not known (records before membw 1.1 that no
    check made, and those of other programs).
    """
    build = {**(data.get('build') or {}), **{k: v for k, v in case.items() if v not in ('', None)}}
    return {**build, 'preset': case.get('environ') or build.get('preset')}


def of_json(data: dict, case: dict) -> dict[str, str]:
    """{field: value} of a record's JSON object and of its `case`: what is known, as text."""
    facts = data.get('facts') or {}
    fields = {**facts, **data, **build_of(data, case)}
    fields['kernel_release'] = facts.get('kernel')
    fields['pages'] = requested_pages(data)
    threads = data.get('threads_on') or []
    fields['threads_on'] = ' '.join(str(t['affinity']) for t in threads) or None
    fields['shapes'] = shapes(data)
    # whole GiB: the kernel keeps some MB more or less from boot to boot
    mib = facts.get('mem_total_mib')
    fields['memory_gib'] = round(mib / 1024) if mib else None
    fields['dimms'] = _dimms(facts.get('dimms') or [])
    return {f: str(fields[f]) for f in FIELDS if fields.get(f) not in (None, '', 'None', [])}


def _dimms(modules: list[dict]) -> str:
    """'16 x 32768 MiB at 3200 MT/s'; without the speed where it is not known."""
    sizes = Counter(
        f'{m.get("size_mib")} MiB'
        + (f' at {m["configured_mts"]} MT/s' if m.get('configured_mts') else '')
        for m in modules
    )
    return ' + '.join(f'{n} x {size}' for size, n in sorted(sizes.items()))


def shapes(data: dict) -> str:
    """'square 4096x4096x4096, ...' of src/dgemm: another one is another figure."""
    every = (data.get('shapes') or {}).items()
    return ', '.join(f'{name} {s["m"]}x{s["n"]}x{s["k"]}' for name, s in every)


def difference(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str, str]]:
    """{field: (before, after)} of what differs, the likeliest cause first; a field unknown on one
    side does not differ."""
    code = before.get('code_sha256')
    last = OF_FILE if code is not None and code == after.get('code_sha256') else ()
    return {
        f: (before[f], after[f])
        for f in (*(f for f in FIELDS if f not in last), *last)
        if f in before and f in after and before[f] != after[f]
    }
