"""Types of options that several commands have, for argparse."""

import argparse
import os
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from membw.errors import MembwError

# the way out of results without a figure
MEASURE = "'membw run' measures; of its runs, and of plain ReFrame's, give the folder 'records'"
FORMS = "records, ReFrame's report, perflogs or results.db, logs of stream.c; folders; - (stdin)"


def add_node(add: Callable[..., object], what: str) -> None:
    """--node, which means the same in every command; --expected those that must have come."""
    add('--node', metavar='FILE|LIST', help=f'{what} of these nodes only: n1,n7 or n[001-128]')


def add_site_tests(parser: argparse.ArgumentParser, *own: str) -> None:
    """Which results are read, and what those of other tests need (results/site_tests.py); `own`:
    options that the command has itself."""
    add = parser.add_argument_group('which tests: ours, or those of the site').add_argument
    if '-n' not in own:
        add('-n', '--test', default='', metavar='TEST', help="this test only; 'osu_*' too")
    if '--since' not in own:
        about = 'from then on: 2026-11-21, 14d'
        add('--since', type=begin, default=0.0, metavar='DAY', help=about)
    if '--system' not in own:
        add('--system', default='', metavar='SYSTEM', help='this system only')
    about = 'of which node the output of stream.c in FILE is'
    add('--as', dest='nodes_of', action='append', default=[], metavar='NODE=FILE', help=about)
    for name, about in (('--lower', 'less is better'), ('--higher', 'more is better')):
        add(name, action='append', default=[], metavar='METRIC', help=f'of a metric, {about}')


def wanted_of(args: argparse.Namespace, since: float) -> Any:
    from membw.results.site_tests import Wanted

    if both := {*args.lower} & {*args.higher}:
        raise MembwError(f"'{min(both)}': --lower and --higher", 'give one of them')
    pairs = [text.partition('=')[::2] for text in args.nodes_of]
    for node, file in pairs:
        if not node or not os.path.isfile(file):
            raise MembwError(
                f"--as '{node}={file}': no such file", 'as in --as n001=slurm-4711.out'
            )
    nodes = tuple((file, node) for node, file in pairs)
    system = args.system or ''
    return Wanted(args.test, since, tuple(args.lower), tuple(args.higher), system, nodes)


def fraction(text: str) -> float:
    """A float between 0 and 1, given in percent; 0 is allowed."""
    value = float(text)
    if not 0 <= value < 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 100")
    return value / 100


def count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def begin(text: str) -> float:
    """Seconds since 1970, from '2026-11-21' (its midnight here; 2026-11-21T22:00 is a moment) or
    '14d' (so many days ago)."""
    try:
        if text.endswith('d'):
            return time.time() - 86_400 * count(text[:-1])
        return datetime.fromisoformat(text).timestamp()
    except ValueError as err:
        raise argparse.ArgumentTypeError(f"'{text}' is neither 2026-11-21 nor 14d") from err


def whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)
