"""A system in a checkout of a test's own: this machine, under another name."""

import yaml

HERE = {
    'name': 'here', 'descr': 'this machine', 'scheduler': 'local', 'launcher': 'local',
    'max_jobs': 1, 'features': [], 'toolchains': {'gcc': {'cc': 'gcc', 'presets': ['gcc-o3']}},
}  # fmt: skip


def write(root, *partitions, references=None, **more):
    """systems/posed.yaml of that checkout, in this order, and its references, if any."""
    facts = {'name': 'posed', 'descr': 'posed', 'hostnames': ['posed'], 'sources': ['a test']}
    facts |= {**more, 'partitions': [HERE | one for one in partitions or [{}]]}
    if references:
        facts['references'] = 'references/posed.yaml'
        (root / 'systems/references/posed.yaml').write_text(yaml.safe_dump(references))
    (root / 'systems/posed.yaml').write_text(yaml.safe_dump(facts, sort_keys=False))
