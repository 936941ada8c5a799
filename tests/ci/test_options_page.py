"""docs/options.md has every option and variable that there is, and no other."""

import re
import subprocess
import sys

import pytest
from places import ROOT

HEADING = re.compile(r'^##+ (.*)$')
OPTION = re.compile(r'(?<![\w-])--?[a-zA-Z][\w-]*')
# how Python, C and the shell ask for a variable of the environment
ASKED = re.compile(r'(?:environ(?:\.get\()?\[?\'|getenv\("|\$\{?)(MEMBW_[A-Z_]+)')


def options(text):
    """{(heading, option or first cell of a row)} of a page; what it means may be worded anew."""
    found, heading = set(), ''
    for line in text.splitlines():
        if named := HEADING.match(line):
            heading = named[1]
        elif line.startswith('| `'):
            found.add((heading, line.split(' | ')[0]))
        elif line.startswith('  '):  # a program's own help
            found |= {(heading, option) for option in OPTION.findall(line.split('   ')[0])}
            found |= {(heading, option) for option in re.findall(r'^ +(?:-\w, )?(--[\w-]+)', line)}
    return found


@pytest.fixture(scope='module')
def written():
    return (ROOT / 'docs/options.md').read_text()


def test_the_page_is_what_the_programs_say(written, need):
    need('cc')
    line = [sys.executable, ROOT / 'ci/options_page.py', '--stdout']
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    now, then = options(done.stdout), options(written)
    assert len(now) > 150 and ('stream', '--at-least') in now
    assert now == then, 'python ci/options_page.py writes it anew'


def test_troubleshooting_has_every_reason_of_every_program(written):
    page = (ROOT / 'docs/troubleshooting.md').read_text()
    rows = set(re.findall(r'^\| `([\w-]+)` \|', page, re.M))
    lists = re.findall(r'REASON is one of: (.*?)\n\n', written, re.S)
    reasons = {reason for text in lists for reason in text.split()}
    assert len(lists) >= 3 and {'disturbed', 'regime-changed'} <= reasons
    assert rows == reasons


def test_every_variable_of_the_environment_is_on_it(written):
    """Those that sources, entries and set-up ask for; not the macros of C, which are options of a
    build."""
    asked = set()
    for folder in ('src', 'reframe-checks', 'ci', 'configs', 'spack-repo'):
        files = [path for path in (ROOT / folder).rglob('*') if path.is_file()]
        for path in [*files, ROOT / 'setup-env.sh']:
            if path.suffix in ('.py', '.c', '.h', '.sh', '.yml', '.nhc', ''):
                asked |= set(ASKED.findall(path.read_text(errors='replace')))
    assert asked <= set(re.findall(r'`(MEMBW_[A-Z_]+)`', written))
    assert len(asked) > 8


def test_every_variable_of_a_check_is_one(written):
    checks = '\n'.join(path.read_text() for path in (ROOT / 'reframe-checks').rglob('*.py'))
    section = written.split('## Checks')[1].split('## Environment')[0]
    names = re.findall(r'^\| `(\w+)`', section, re.M)
    assert len(names) > 12
    known = set(re.findall(r'^    (\w+) = variable\(', checks, re.M))
    assert set(names) - known == {'exclusive_access', 'maintainers'}  # of ReFrame itself
