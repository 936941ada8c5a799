"""The commands of docs/*.md run as printed: what a page says is what happens.

A page's shell blocks carry a mark after ```sh:

    ```sh test                    run it, exit status 0
    ```sh test exit=1             run it, exit status 1
    ```sh test needs=sbatch,mpirun    skipped, with the reason, where a tool is missing
    ```sh untested: reason        not run (needs a cluster, root, an hour, ...)

Blocks of a page run in order, each in a shell of its own (`sh -eu`, as after `. ./setup-env.sh`),
all in one empty folder, so files stay and variables do not. `$MEMBW_ROOT` is the checkout. A block
```text after a tested one holds lines that its output must have (`...` stands for anything).
Set-up that a reader has already (results of a fleet, say) is an HTML comment:

    <!-- test
    python "$MEMBW_ROOT/tests/some_generator.py" results
    -->
"""

import re
import shutil
import subprocess
from dataclasses import dataclass, field

import pytest
import standin_gcc
from places import ROOT

PAGES = sorted((ROOT / 'docs').glob('*.md'))
BLOCK = re.compile(r'^```(\S+)?[ \t]*(.*?)\n(.*?)^```$|^<!-- (test)\n(.*?)^-->$', re.M | re.S)
LIMIT_S = 300


@dataclass
class Block:
    """One fenced block, or a hidden one."""

    line: int
    language: str
    mark: str
    text: str
    expected: list = field(default_factory=list)

    @property
    def tested(self):
        return self.language == 'sh' and self.mark.split()[:1] == ['test']

    def option(self, name, default):
        found = re.search(rf'\b{name}=(\S+)', self.mark)
        return found.group(1) if found else default


def blocks(text):
    """Every block of a page in order; a ```text block goes to the tested one before it."""
    found = []
    for match in BLOCK.finditer(text):
        line = text.count('\n', 0, match.start()) + 1
        language, mark, body, hidden, commands = match.groups()
        if hidden:
            found.append(Block(line, 'sh', 'test', commands))
        elif language == 'text' and found and found[-1].tested:
            found[-1].expected = body.splitlines()
        else:
            found.append(Block(line, language or '', mark, body))
    return found


def unmarked(text):
    """Lines of shell blocks that are neither tested nor say why not."""
    shells = [b for b in blocks(text) if b.language in ('sh', 'bash', 'shell', 'console', '')]
    return [b.line for b in shells if not b.tested and not re.match(r'untested: \S', b.mark)]


def missing_lines(expected, output):
    """Expected lines that the output lacks; `...` within a line stands for anything. How wide a
    column is depends on what else stands in it."""

    def squeezed(line):
        return ' '.join(line.split())

    patterns = [re.escape(squeezed(line)).replace(r'\.\.\.', '.*') for line in expected]
    lines = [squeezed(line) for line in output.splitlines()]
    return [p for p in patterns if p and not any(re.fullmatch(p, line) for line in lines)]


def run_page(text, folder, environment):
    """Problems of a page, as one text each; stops at the first block that fails."""
    for block in filter(lambda b: b.tested, blocks(text)):
        lacks = [t for t in block.option('needs', '').split(',') if t and not shutil.which(t)]
        if lacks:
            pytest.skip(f"line {block.line} needs '{lacks[0]}', which is not on the PATH")
        done = subprocess.run(
            ['sh', '-euc', block.text],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        said = f'\n{block.text}\n{done.stdout}{done.stderr}'
        if done.returncode != int(block.option('exit', '0')):
            return [f'line {block.line}: exit status {done.returncode}:{said}']
        absent = missing_lines(block.expected, done.stdout + done.stderr)
        if absent:
            return [f'line {block.line}: the output lacks {absent}:{said}']
    return []


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page, tmp_path, environment):
    """The compiler does not optimize, but on the page that shows what it made of the kernels."""
    (tmp_path / 'page').mkdir()
    if page.stem != 'compilers':
        tools = standin_gcc.put_up(tmp_path / 'tools')
        environment = {**environment, 'PATH': f'{tools}:{environment["PATH"]}'}
    assert run_page(page.read_text(), tmp_path / 'page', environment) == []


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_every_shell_block_is_tested_or_says_why_not(page):
    assert unmarked(page.read_text()) == []


def test_the_readme_leads_to_every_page():
    """By links, through other pages as well."""
    waiting, reached = [ROOT / 'README.md'], set()
    while waiting:
        page = waiting.pop()
        links = re.findall(r'\]\(([\w./-]+\.md)', page.read_text())
        pages = {(page.parent / link).resolve() for link in links} & set(PAGES)
        waiting += pages - reached
        reached |= pages
    assert reached == set(PAGES)


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
