"""Which node is this: names with and without a domain, of one machine and of two."""

import made_up_records as made
import pytest

from membw.results.figure import measurement
from membw.results.node_names import alike, doubtful, match_expected, without_domain
from membw.results.record import evidence_of


@pytest.mark.parametrize('name, host', [
    ('n1', 'n1'), ('N1.site.org', 'N1'), ('10.0.0.7', '10.0.0.7'), ('fe80::1', 'fe80::1'),
    ('10.0.0.example', '10'), ('r03c2n07.a.b.c', 'r03c2n07'), ('', ''),
])  # fmt: skip
def test_an_address_has_no_domain(name, host):
    assert without_domain(name) == host


@pytest.mark.parametrize('one, other, are', [
    ('n1', 'N1.site.org', True), ('n1.a', 'n1.b', False), ('n1.a', 'N1.A', True),
    ('10.0.0.1', '10.0.0.2', False), ('10.0.0.1', '10', False), ('n1', 'n10', False),
])  # fmt: skip
def test_two_names_are_alike(one, other, are):
    assert alike(one, other) is alike(other, one) is are
    assert (match_expected([one], [other]) == [one]) is (are or one == other)


def runs(*rows):
    """(node, boot, CPU) of runs in order of time."""
    return [
        measurement(evidence_of(made.record(node, facts={'boot_id': boot, 'cpu_model': cpu})), i)
        for i, (node, boot, cpu) in enumerate(rows)
    ]


@pytest.mark.parametrize('rows, nodes', [
    ([('n1', 'a', 'X'), ('n1', 'b', 'X'), ('n1', 'c', 'X')], set()),  # booted twice
    ([('n1', 'a', 'X'), ('n1', 'b', 'Y')], set()),  # replaced
    ([('n1', 'a', 'X'), ('n1', 'b', 'X'), ('n1', 'a', 'X')], {'n1'}),
    ([('n1', 'a', 'X'), ('n1', 'b', 'Y'), ('n1', 'c', 'X')], set()),  # an update, and back
    ([('n1', 'a', 'X'), ('n2', 'a', 'X')], {'n1', 'n2'}),  # two pods
    ([('n1', 'a', 'X'), ('N1.site', 'b', 'X')], {'n1', 'N1.site'}),
    ([('n1.a', 'a', 'X'), ('n1.b', 'b', 'X')], set()),
    ([('10.0.0.1', 'a', 'X'), ('10.0.0.2', 'b', 'X')], set()),
    ([('n1', None, None), ('n2', None, None)], set()),
])  # fmt: skip
def test_one_name_of_two_machines_and_two_names_of_one_are_known(rows, nodes):
    assert doubtful(runs(*rows)).keys() == nodes


def boots(share=1.0, **boot_of):
    """A fleet, and further records of n001 on a machine of another boot."""
    every = [*made.fleet(12), *(made.record('n001', 0.001 * i, made.stream(share=share))
                                for i in range(1, 5))]  # fmt: skip
    for i, record in enumerate(every):
        record['facts'] = record['facts'] | {'boot_id': boot_of.get(f'r{i}', record['host'])}
    return every


@pytest.mark.parametrize('boot, word, said', [
    ({}, 'FAIL', 'measured again'),
    ({'r13': 'other'}, 'UNDECIDED', "two machines have this name: boot_id 'n001' and 'other'"),
    ({f'r{i}': 'n002' for i in (0, 12, 13, 14, 15)}, 'UNDECIDED', 'under two names, also n002'),
])  # fmt: skip
def test_a_name_that_is_not_one_machine_is_not_drained(tmp_path, membw, boot, word, said):
    every = boots(0.8, **boot)
    every[0]['metrics'] = made.stream(share=0.8)
    file = made.write(tmp_path / 'r.jsonl', every)
    status, out, _ = membw('rank', file)
    assert status == 1 and f'n001 {word} (' in out and said in out
    assert ('NodeName=n001' in membw('rank', '--drain', file)[1]) is (word == 'FAIL')
