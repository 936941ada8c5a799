"""A signed protocol, and what is decided by it."""

import copy
import itertools
import shutil
import subprocess

import pytest
import yaml
from acceptances import BASE, sign
from made_up_records import changed

from membw.accept import protocol as protocols
from membw.accept.rule import Decision
from membw.accept.runs import runs_of
from membw.results.table import read_table


@pytest.fixture(scope='session')
def keys(tmp_path_factory):
    """{party: file of its private key}."""
    if not shutil.which('ssh-keygen'):
        pytest.skip('ssh-keygen is not on the PATH (apt-get install openssh-client)')
    folder = tmp_path_factory.mktemp('keys')
    for party in ('buyer', 'vendor', 'stranger'):
        words = ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', party, '-f', folder / party]
        subprocess.run(words, check=True)
    return {path.stem: path for path in folder.glob('*.pub')}


@pytest.fixture
def protocol(tmp_path, keys):
    """A function: the path of a protocol with changes to BASE, signed by `parties`."""
    number = itertools.count()

    def write(parties=('buyer', 'vendor'), **changes):
        content = changed(copy.deepcopy(BASE), **changes)
        for party in BASE['parties']:
            if party in content['parties']:
                content['parties'][party].setdefault('key', keys[party].read_text().strip())
        path = tmp_path / f'protocol-{next(number)}.yaml'
        path.write_text(yaml.safe_dump(content))
        for party in parties:
            sign(path, party, keys[party])
        return str(path)

    return write


@pytest.fixture
def judged(protocol, stored):
    """A function: the Decision on records, through a file as the command reads them."""

    def judge(records, **changes):
        table = read_table([stored(records)])
        assert table.problems == []
        agreed = protocols.load(protocol(**changes))
        return Decision(agreed, runs_of(agreed, table))

    return judge


@pytest.fixture
def accept(protocol, stored, membw):
    """A function: (exit status, standard output) of `membw accept` on records."""

    def call(records, *words, **changes):
        return membw('accept', protocol(**changes), stored(records), *words)[:2]

    return call
