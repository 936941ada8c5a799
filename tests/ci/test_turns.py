"""ci/turns.py: what a night leaves is when each test was last green, and no red one is."""

import subprocess
import sys

from places import ROOT

JUNIT = """<testsuites><testsuite>
<testcase classname="tests.machines.test_a" name="test_x[arm]" time="{seconds}">{arm}</testcase>
<testcase classname="tests.machines.test_a" name="test_x[power]" time="9.2">{power}</testcase>
</testsuite></testsuites>"""


def test_a_red_or_skipped_test_keeps_the_line_of_when_it_was_green(tmp_path):
    (tmp_path / 'tests/machines').mkdir(parents=True)

    def kept(subject, **how):
        git = ['git', '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '--allow-empty']
        subprocess.run([*git, '-qm', subject], cwd=tmp_path, check=True)
        (tmp_path / 'j.xml').write_text(JUNIT.format(**how))
        words = [sys.executable, ROOT / 'ci/turns.py', '--keep', 'j.xml']
        subprocess.run(words, cwd=tmp_path, check=True)
        lines = (tmp_path / 'tests/machines/green.csv').read_text().splitlines()[1:]
        return [line.split(',') for line in lines]

    subprocess.run(['git', 'init', '-q'], cwd=tmp_path, check=True)
    (first,) = kept('one', seconds='7.4', arm='<system-out/>', power='<skipped/>')
    assert first[0] == 'tests/machines/test_a.py::test_x[arm]' and first[3] == '7'
    again, power = kept('two', seconds='8', arm='<failure message="no"/>', power='')
    assert again == first and power[0].endswith('[power]') and power[2] != first[2]
