"""The commands of docs/*.md run as printed: what a page says is what happens.

A page's shell blocks carry a mark after ```sh:

    ```sh test                    run it, exit status 0
    ```sh test exit=1             run it, exit status 1
    ```sh test needs=sbatch,mpirun    skipped, with the reason, where a tool is missing
    ```sh untested: reason        not run (needs a cluster, root, an hour, ...)

Blocks of a page run in order, each in a shell of its own (`sh -eu`, as after `. ./setup-env.sh`),
all in one empty folder, so files stay and variables do not. `$MEMBW_ROOT` is the checkout. A block
```text after a tested one holds lines that its output must have (`...` stands for anything).
Set-up that a reader has already is an HTML comment, `<!-- test`, commands, `-->`.
"""

import re
import shutil
import subprocess
import sys
import textwrap
from typing import NamedTuple

import pytest
import standin_gcc
from places import ROOT

from membw.cli import main

sys.path.insert(0, str(ROOT / 'tests/evidence'))
import page as evidence  # noqa: E402

PAGES = sorted((ROOT / 'docs').glob('*.md'))
BLOCK = re.compile(r'^```(\S+)?[ \t]*(.*?)\n(.*?)^```$|^<!-- test\n(.*?)^-->$', re.M | re.S)
LIMIT_S = 300


class Block(NamedTuple):
    """A fenced block, or a hidden one."""

    line: int
    language: str
    mark: str
    text: str
    expected: list

    def option(self, name, default):
        value = re.search(rf'\b{name}=(\S+)', self.mark)
        return value[1] if value else default


def shell_blocks(text):
    """In order; a ```text block goes to the tested one before it."""
    blocks = []
    for match in BLOCK.finditer(text):
        language, mark, body, hidden = match.groups()
        if language == 'text' and blocks and blocks[-1].mark[:4] == 'test':
            blocks[-1].expected.extend(body.splitlines())
        line = text.count('\n', 0, match.start()) + 1
        own = ('sh', 'test', hidden) if hidden else (language or '', mark, body)
        blocks.append(Block(line, *own, []))
    return [b for b in blocks if b.language in ('sh', 'bash', 'shell', 'console', '')]


def missing_lines(expected, output):
    """Expected lines that the output lacks; how wide a column is depends on what else stands in
    it."""

    def squeezed(text):
        return [' '.join(line.split()) for line in text]

    patterns = [re.escape(line).replace(r'\.\.\.', '.*') for line in squeezed(expected)]
    lines = squeezed(output.splitlines())
    return [p for p in patterns if p and not any(re.fullmatch(p, line) for line in lines)]


def problem(block, folder, environment):
    """What is wrong with a block, or nothing."""
    if lacks := [t for t in block.option('needs', '').split(',') if t and not shutil.which(t)]:
        pytest.skip(f"line {block.line} needs '{lacks[0]}', which is not on the PATH")
    done = subprocess.run(
        ['sh', '-euc', block.text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    output = done.stdout + done.stderr
    if done.returncode != int(block.option('exit', '0')):
        return f'line {block.line}: exit status {done.returncode}:\n{block.text}\n{output}'
    absent = missing_lines(block.expected, output)
    return absent and f'line {block.line}: the output lacks {absent}:\n{block.text}\n{output}'


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page, tmp_path, environment):
    """Each shell block is tested, or says why not. The compiler does not optimize, but on the page
    that shows what it made of the kernels."""
    (tmp_path / 'page').mkdir()
    if page.stem != 'compilers':
        tools = standin_gcc.put_up(tmp_path / 'tools')
        environment = {**environment, 'PATH': f'{tools}:{environment["PATH"]}'}
    for block in shell_blocks(page.read_text()):
        assert re.match(r'test\b|untested: \S', block.mark), block
        if block.mark[:4] == 'test':
            assert not problem(block, tmp_path / 'page', environment)


def anchors(page):
    """As GitHub and GitLab name a page's headings."""
    text = re.sub(r'^```.*?^```', '', page.read_text(), flags=re.M | re.S)
    titles = re.findall(r'^#+ (.*)', text, re.M)
    return {re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-') for title in titles}


def dead_links(page):
    """Targets that are not there; of other sites nothing is asked."""
    text = re.sub(r'^```.*?^```', '', page.read_text(), flags=re.M | re.S)
    for target in re.findall(r'\]\(([^)\s]+)\)', text):
        name, _, anchor = target.partition('#')
        file = page.parent / name if name else page
        if re.match(r'\w+:', target):
            continue
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target


def test_every_link_leads_somewhere():
    tracked = subprocess.check_output(['git', 'ls-files', '*.md'], cwd=ROOT, text=True)
    pages = [ROOT / name for name in tracked.split()]
    assert len(pages) > len(PAGES)
    assert {str(p): dead for p in pages if (dead := list(dead_links(p)))} == {}


def test_all_pages_together_stay_below_14_000_words():
    pages = [*PAGES, ROOT / 'README.md', ROOT / 'CONTRIBUTING.md']
    assert sum(len(page.read_text().split()) for page in pages) < 14_000


# Of a student, support, a manager, and a centre with a ReFrame of its own.
QUESTIONS = """
which of these numbers is mine?  reading the-signs
what do PASS, UNDECIDED and the others mean?  reading the-words
is that good?  published is-that-good-what-to-expect
what should this CPU reach?  published is-that-good-what-to-expect
does my memory lack a channel?  published what-a-figure-proves-by-itself
why is it not the peak?  compilers what-makes-the-difference
why does another tool read less?  faq why-do-two-tools-differ
is n117 slow, and why?  slow-node why
since when?  slow-node since-when
may it be drained, or come back?  slow-node before-you-drain-it
what do I do about INVALID?  troubleshooting every-reason-of-invalid
who disturbs my run?  troubleshooting only-lower-bounds-
how is a machine accepted?  accept 3-measure-and-judge
what do both parties sign?  accept 4-sign-the-sheet
who bears which risk?  accept the-risks
what can I ask for, of a machine that is not there?  accept 1-write-the-protocol
how often is a verdict wrong?  judging how-often-they-err
when does a node FAIL?  judging a-node-compared-with-its-peers
how do our checks run in my ReFrame?  bring-up with-a-reframe-configuration-of-your-own
how do I describe my nodes?  bring-up 2-say-what-the-nodes-are
where do references come from?  nightly references-of-your-own
how do Prometheus and SQL get the figures?  nightly figures-for-your-monitoring
how do I get the same binary next year?  compilers the-same-binary-again
"""


def test_the_readme_leads_to_every_page_and_each_answer_is_two_clicks_away():
    linked = set(re.findall(r'\]\(docs/([\w-]+)\.md', (ROOT / 'README.md').read_text()))
    assert linked == {page.stem for page in PAGES}
    for line in QUESTIONS.strip().splitlines():
        page, anchor = line.split()[-2:]
        assert anchor in anchors(ROOT / f'docs/{page}.md'), line


def test_the_screens_of_the_readme_are_those_that_the_program_prints(capsys):
    """The one of a run is the first of those that tests/membw/summary writes."""
    readme = (ROOT / 'README.md').read_text()
    first = (ROOT / 'tests/data/screens.txt').read_text().partition('\n\n')[0]
    assert main('expect 9654 --sockets 2 --dimms 24x64G-4800'.split()) == 0
    said = capsys.readouterr().out
    for screen in (first.partition('\n')[2], said.partition('\n\nPublished')[0]):
        assert textwrap.indent(screen.strip(), '    ') in readme, screen


@pytest.mark.parametrize('page', evidence.PAGES, ids=lambda page: page.stem)
def test_the_tables_of_evidence_are_drawn_from_its_data(page):
    assert evidence.drawn(page.read_text()) == page.read_text()
