"""From result files to a judged fleet: what `membw rank` and the whole-cluster check do."""

from membw.errors import MembwError
from membw.rank.fleet import Rule, judge
from membw.results.hostlist import match_expected
from membw.results.read import read_latest


def rank_results(paths, expected=(), rule=Rule(), metric=None):
    """(Fleet, problems) of the records in the paths; `metric`: one that they must hold."""
    records, problems = read_latest(paths)
    if not records:
        fact = f"no record in '{' '.join(map(str, paths))}'"
        raise MembwError('\nmembw: '.join([*problems, fact]), "'stream --json FILE' writes one")
    metrics = list(dict.fromkeys(name for record in records for name in record.rates))
    if metric and metric not in metrics:
        raise MembwError(f"no kernel '{metric}' in the records", f'one of {", ".join(metrics)}')
    fleet = judge(records, match_expected({r.host for r in records}, expected), rule=rule)
    return fleet, [*problems, *fleet.problems]
