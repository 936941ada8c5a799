"""Where the command begins: Ctrl-C while Python still loads it leaves no traceback, and files are
UTF-8 whatever the locale."""

import _locale
import _signal  # `signal` loads enum first: a fifth of the time that is guarded
import os
import sys


def main():
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # not where it is ignored
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    begin_again_in_utf8()
    from membw import cli

    return cli.main()


def begin_again_in_utf8():
    """Every file of ours is; Python would read it as the locale says.  PEP 540: only at its start
    can it be told otherwise."""
    is_told = sys.flags.utf8_mode or os.environ.get('PYTHONUTF8') == '1'
    if is_told or _locale.nl_langinfo(_locale.CODESET).lower() in ('utf-8', 'utf8'):
        return
    os.environ['PYTHONUTF8'] = '1'
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
