"""Whether the parties signed a file: by ssh-keygen, with the keys that the protocol names."""

import base64
import hashlib
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from membw.errors import MembwError

NAMESPACE = 'membw'  # of `ssh-keygen -Y sign`: a signature of something else does not count


def file_of(path: str, party: str) -> str:
    return f'{path}.{party}.sig'


def command(path: str, party: str) -> str:
    """By which a party signs a file."""
    own, sig = shlex.quote(path), shlex.quote(file_of(path, party))
    return f'ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n {NAMESPACE} <{own} >{sig}'


def missing(path: str, text: bytes, parties: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """{party: why it did not sign}. Raises MembwError for a signature that is not of this text by
    the key of the party."""
    lacking = {}
    for party, about in parties.items():
        sig = Path(file_of(path, party))
        if 'key' not in about:
            lacking[party] = f'the protocol names no key of the {party}'
        elif not sig.is_file():
            lacking[party] = f'no {sig.name} beside it'
        elif not _is_by(about['key'], sig, text):
            raise MembwError(
                f"{path}: '{sig.name}' is not the signature of this text by the key of {party}",
                'restore the text that was signed, or sign this one',
            )
    return lacking


def _is_by(key: str, sig: Path, text: bytes) -> bool:
    with tempfile.NamedTemporaryFile('w', prefix='membw-') as signers:
        signers.write(f'party {key}\n')
        signers.flush()
        words = ['ssh-keygen', '-Y', 'verify', '-f', signers.name, '-I', 'party']
        words += ['-n', NAMESPACE, '-s', str(sig)]
        try:
            return not subprocess.run(words, input=text, capture_output=True).returncode
        except OSError as err:
            fact = f'signatures cannot be checked: ssh-keygen: {err.strerror}'
            raise MembwError(fact, "install OpenSSH's client, 8.1 or later") from err


def is_key(key: str) -> bool:
    """Whether the bytes of a public key begin with its kind."""
    kind, data, *_ = key.split()
    try:
        return base64.b64decode(data, validate=True)[4:].startswith(kind.encode())
    except ValueError:
        return False


def fingerprint(key: str) -> str:
    """'SHA256:...', as a party can read it to the other one by telephone."""
    digest = hashlib.sha256(base64.b64decode(key.split()[1])).digest()
    return f'SHA256:{base64.b64encode(digest).decode().rstrip("=")}'
