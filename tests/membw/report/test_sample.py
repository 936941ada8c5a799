"""The sample page of the docs: what the commands that it names write."""

import re
import runpy

from places import ROOT

SAMPLE = ROOT / 'docs/sample.html'


def test_the_sample_is_what_the_command_writes_and_says_that_it_is_made_up(
    tmp_path, monkeypatch, membw
):
    """By: python docs/fleets.py node; membw report node.jsonl -o docs/sample.html"""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr('sys.argv', ['fleets.py', 'node'])
    runpy.run_path(str(ROOT / 'docs/fleets.py'))
    assert membw('report', 'node.jsonl', '-o', 'sample.html')[0] == 0
    version = re.compile(r'Written by membw [\w.-]+')
    written, kept = (
        version.sub('', path.read_text()) for path in (tmp_path / 'sample.html', SAMPLE)
    )
    assert written == kept
    assert 'Memory bandwidth of made-up-node' in kept and SAMPLE.stat().st_size < 60_000
