"""Turns ReFrame's generated GitLab pipeline into one whose jobs `membw run` can run."""

import re
import shlex
import sys

import yaml

HASH = re.compile(r' -n (/\w+) ')
LISTED = re.compile(r'^- .* (/\w+)$', re.M)  # fixtures are indented, below


def tests_of(pipeline, listing):
    """The jobs of what `reframe -l` lists: the tests, without their fixtures."""
    listed = set(LISTED.findall(listing))
    jobs = {name: job for name, job in pipeline.items() if 'script' in job}
    return {n: job for n, job in jobs.items() if HASH.search(job['script'][-1])[1] in listed}


def job_of(job, options):
    named = HASH.search(job['script'][-1])
    return {
        'stage': 'test',
        # two at once would share stage folders and, on one node, the bandwidth
        'resource_group': 'membw',
        'script': [f'membw run {options} -n {named[1]}'],
        'artifacts': {'when': 'always', 'paths': ['results/reports'], 'expire_in': '60 days'},
    }


def child_of(jobs, options):
    return {
        'stages': ['test'],
        # a clean would take .venv, .spack and the results along
        'variables': {'GIT_CLEAN_FLAGS': '-ffd'},
        'default': {
            'tags': ['login-node'],
            'before_script': ['sh ci/setup.sh', '. ./setup-env.sh'],
        },
        **{name: job_of(job, options) for name, job in jobs.items()},
    }


def without_names(words):
    """The options again but for -n, in place of which each job has the hash of its test."""
    words, kept = iter(words), []
    for word in words:
        if word in ('-n', '--name'):
            next(words, None)
        elif not word.startswith(('-n', '--name=')):
            kept.append(word)
    return shlex.join(kept)


def main(path, *words):
    with open(path) as file:
        jobs = tests_of(yaml.safe_load(file) or {}, sys.stdin.read())
    if not jobs:
        print(f"membw: no test matches '{' '.join(words)}'", file=sys.stderr)
        print("hint: 'reframe -c reframe-checks -l' lists the tests", file=sys.stderr)
        return 2
    yaml.safe_dump(child_of(jobs, without_names(words)), sys.stdout, sort_keys=False, width=1000)
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
