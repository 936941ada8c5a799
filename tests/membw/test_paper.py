"""The reader's paper: every printed verdict of rank, history, accept and calibrate is computed
again from its own text and the sentences of docs/judging.md, by nothing of membw's."""

import re

import made_up_records as made
import pytest
from scipy.stats import t

from membw.results.hostlist import expected_nodes

NUMBER = r'([-+]?[\d.]+)'
RANK = re.compile(
    rf'^\S+ (\w+) \(\w+ (?:>=)?{NUMBER} \S+, median of its (\d+) peers? '
    rf'{NUMBER}: {NUMBER}%; (.*)\)$'
)
MEAN = re.compile(
    rf'^\S+ (\w+) \(mean of its \d+ rates to the median of (\d+) peers: {NUMBER}%; (.*)\)$'
)
SCREEN = re.compile(
    rf'low beyond {NUMBER}%, half the margin, and {NUMBER} robust deviations of {NUMBER}%; '
    'low once: measure again'
)
CONFIRM = re.compile(
    rf'measured again 3 times, compared with .*: low in (\d) of 3, (?:median )?{NUMBER}%'
    rf'(?: or worse|, the newest {NUMBER}%), limit {NUMBER}%: the larger of {NUMBER}% '
    rf'\+ d/2 and 2d, where the robust deviation d is {NUMBER}%(; .* add peers)?$'
)


def rank_verdict(line):
    """(the verdict by the line's numbers, the printed one)."""
    if of := RANK.match(line):
        word, value, peers, median, loss, rest = of.groups()
        assert 100 * (float(value) / float(median) - 1) == pytest.approx(float(loss), abs=0.06)
    else:
        word, peers, loss, rest = MEAN.match(line).groups()
    if screened := SCREEN.match(rest):
        nodes = int(peers) + 1
        margin, limit, deviation = map(float, screened.groups())
        assert limit == pytest.approx(t.isf(1 / nodes, nodes - 1), abs=0.006)
        return ('UNDECIDED' if -float(loss) > max(margin, limit * deviation) else 'PASS'), word
    low, loss, newest, *limits, insensitive = CONFIRM.match(rest).groups()
    if insensitive:
        return 'UNDECIDED', word
    limit, margin, deviation = map(float, limits)
    assert -limit == pytest.approx(max(margin + deviation / 2, 2 * deviation), abs=0.006)
    if newest is None:
        return ('FAIL' if low == '3' and float(loss) < limit else 'PASS'), word
    return ('UNDECIDED' if min(float(loss), float(newest)) < limit else 'PASS'), word


@pytest.mark.parametrize('nodes', [8, 20, 63])
@pytest.mark.parametrize('share', [0.9, 0.955, 0.965, 0.975])
def test_rank(stored, membw, nodes, share):
    rows = made.fleet(nodes, slow={2: share, 5: 0.95, 7: 0.98}, seed=nodes)
    for i in (1, 2, 3):
        again = made.fleet(4, (0.001 * i,), slow={2: share}, seed=nodes + i)
        rows += [row for row in again if row['host'] != 'n004']  # n001 and n003 are beside it
    text = membw('rank', stored(rows))[1]
    lines = [line for line in text.splitlines() if re.search('robust deviations? (of|d) ', line)]
    assert lines
    for line in lines:
        computed, printed = rank_verdict(line)
        assert computed == printed, line
    counts = dict(
        (word, int(n)) for n, word in re.findall(r'(\d+) ([A-Z]+)', text.splitlines()[0])
    )
    words = [line.split()[1] for line in lines]
    assert counts.get('FAIL', 0) == words.count('FAIL')
    weak = re.findall(
        r'^(\S+) UNDECIDED \(no loss seen, but (\d+) peers cannot show one below (\d+)%',
        text,
        re.M,
    )
    assert all(float(loss) >= 8 for _, _, loss in weak)  # of a channel of twelve
    cleared_by_few = sum(len(expected_nodes(names)) for names, _, _ in weak)
    assert counts.get('UNDECIDED', 0) == words.count('UNDECIDED') + cleared_by_few


@pytest.mark.parametrize('share', [0.9, 0.97, 1.06])
def test_history(stored, membw, share):
    rows = made.fleet(6, range(20), seed=1) + made.fleet(6, range(20, 34), slow={3: share}, seed=2)
    text = membw('history', stored(rows))[1]
    lines = [line for line in text.splitlines() if ' STEP ' in line]
    assert lines
    for line in lines:
        size = float(re.search(rf'STEP {NUMBER}%', line)[1])
        medians = rf'before {NUMBER} GB/s, of the first 7 nights {NUMBER}'
        before, after = map(float, re.search(medians, line).groups())
        limits = (
            rf'limit {NUMBER}%: the largest of the margin, 2 robust deviations of {NUMBER}%, '
            rf'4D, where D is {NUMBER}%'
        )
        limit, two, four = map(float, re.search(limits, line).groups())
        fleet = float((re.search(rf'all nodes meanwhile {NUMBER}%', line) or [0, 0])[1])
        own = after / before / (1 + fleet / 100) - 1
        assert 100 * own == pytest.approx(size, abs=0.12)
        printed = {f'{m["value"]:.5g}' for row in rows for m in row['metrics'].values()}
        assert {f'{before:.5g}', f'{after:.5g}'} <= printed
        assert limit == pytest.approx(max(2.0, 2 * two, 4 * four), abs=0.06)
        assert abs(size) > limit
    worse = sum(' STEP -' in line and 'back since' not in line for line in lines)
    said = f'{worse} change' if worse else 'nothing got worse'
    assert text.splitlines()[-1].startswith(f'Verdict: {said}')


@pytest.mark.parametrize('slow, again', [((), 0), (('n002',), 305), (('n002', 'n005'), 290)])
def test_accept(tmp_path, stored, membw, slow, again):
    protocol = tmp_path / 'protocol.yaml'
    protocol.write_text(
        'schema: membw-protocol-3\ntitle: paper\nparties: {buyer: {name: a}, vendor: {name: b}}\n'
        'period: {from: 2026-10-01, to: 2026-10-14}\ncontract: {triad: 300.0}\n'
        "nodes: {count: 6, names: 'n[001-006]'}\nruns: {test: stream, system: thin, "
        'preset: gcc-o2, pinning: likwid, repetitions: 3, statistic: median}\n'
        'rule: {allowed_failures: 1}\nretest: {repetitions: 3}\n'
    )
    levels = {f'n{i:03}': 290 if f'n{i:03}' in slow else 306 for i in range(1, 7)}
    rows = made.runs(levels, 3) + made.runs(dict.fromkeys(slow, again), 3, day='2026-10-02')
    text = membw('accept', protocol, stored(rows))[1]
    limit = float(re.search(rf'than the limit of {NUMBER} GB/s', text)[1])
    allowed = int(re.search(r'(\d+) allowed', text)[1])
    failed = 0
    nodes = re.findall(r'^  (n\d+) +(PASS|BELOW) +(.*)$', text, re.M)
    assert len(nodes) == 6
    for node, status, rounds in nodes:
        passed = [float(x) >= limit for x in re.findall(rf'triad {NUMBER}', rounds)]
        word = 'PASS' if passed[0] or passed[-1] else 'BELOW'
        assert word == status, node
        failed += word == 'BELOW'
    is_open = 'not signed by' in text
    word = 'REFUSED' if failed > allowed else 'INCOMPLETE' if is_open else 'ACCEPTED'
    assert text.startswith(f'Verdict: {word}: ')
    assert f'{failed} of 6 nodes failed, {allowed} allowed' in text


@pytest.mark.parametrize('nodes, nights, noise', [(6, 4, 0.004), (21, 3, 0.004), (21, 3, 0.01)])
def test_calibrate(stored, membw, nodes, nights, noise):
    file = stored(made.fleet(nodes, range(nights), noise=noise))
    text = membw('calibrate', '--system', 'thin', '--dry-run', file)[1]
    factor = 2 if 'are doubled' in text else 1
    runs, n, k = map(int, re.search(r'(\d+) runs, (\d+) nodes, (\d+) nights', text).groups())
    assert (factor == 2) == (n < 20 or k < 3) and runs >= n
    rows = re.findall(rf'GB/s +{NUMBER}% +{NUMBER}% +{NUMBER}%', text)
    assert len(rows) == 4
    for spread, worse, better in (map(float, row) for row in rows):
        tolerance = factor * max(2.0, 4 * spread)
        assert -worse == pytest.approx(tolerance, abs=0.1 + 0.02 * factor)
        assert better == pytest.approx(2 * tolerance, abs=0.1 + 0.04 * factor)
