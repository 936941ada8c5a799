"""The entry point: Ctrl-C while Python loads the command gives no traceback."""

import _signal  # type: ignore[import-not-found]  # `signal` loads enum first: slower


def main() -> int:
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # not where it is ignored
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    from membw import cli

    return cli.main()
