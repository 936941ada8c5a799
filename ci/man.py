"""Man pages of membw's commands and of programs that were built, from what their --help says.

usage: python ci/man.py FOLDER [PROGRAM ...]    FOLDER/man1 gets the pages: man -M FOLDER membw-run
Where membw cannot be imported, as by `make install`: of the programs alone.
"""

import pathlib
import re
import subprocess
import sys

ABOUT = 'a benchmark of membw, with evidence and a verdict'


def verbatim(lines):
    """Laid out as it is there: no word of it is roff's."""
    text = '\n'.join(lines).strip('\n').replace('\\', '\\e').replace('-', '\\-')
    return '.nf\n' + re.sub(r'(?m)^(?=[.\'])', r'\\&', text) + '\n.fi\n'


def page(name, about, text, version):
    """Its usage is the synopsis, a line with a colon before lines that are indented a heading."""
    parts, lines = {'SYNOPSIS': [], 'DESCRIPTION': []}, text.splitlines()
    part, before = 'SYNOPSIS', 'usage'
    for line, after in zip(lines, [*lines[1:], ''], strict=True):
        heading = re.fullmatch(r'([A-Za-z][\w ]*):', line) if after.startswith(' ') else None
        status = re.fullmatch(r'(exit status): (.*)', line)
        if not before and line[:1].strip():  # a paragraph at the margin
            part = 'NOTES' if parts['DESCRIPTION'] else 'DESCRIPTION'
        if heading or status:
            part = (heading or status)[1].upper()
        line = re.sub(r'^usage: ', '', line, flags=re.I)
        parts.setdefault(part, []).extend([] if heading else [status[2] if status else line])
        before = line
    head = f'.TH {name.upper()} "1" "" "membw {version}"\n.SH NAME\n'
    title = f'{name} - {about}'.replace('-', '\\-') + '\n'
    return head + title + ''.join(f'.SH {p}\n{verbatim(parts[p])}' for p in parts if parts[p])


def of_commands():
    try:
        from membw.cli import COMMANDS, build_parser
        from membw.presets import version
    except ImportError:
        return {}
    parser, release = build_parser(*COMMANDS), version()
    commands = parser._subparsers._group_actions[0]
    texts = {'membw': (parser.description, parser.format_help(), release)}
    for row in commands._choices_actions:
        text = commands.choices[row.dest].format_help()
        texts[f'membw-{row.dest}'] = row.help, text, release
    return texts


def printed(program, option):
    return subprocess.run([program, option], capture_output=True, text=True, check=True).stdout


def main(folder, *programs):
    folder = pathlib.Path(folder, 'man1')
    folder.mkdir(parents=True, exist_ok=True)
    texts = of_commands()
    for program in programs:
        text, version = (printed(program, option) for option in ('--help', '--version'))
        texts[pathlib.Path(program).name] = ABOUT, text, version.split()[-1]
    for name, (about, text, version) in texts.items():
        (folder / f'{name}.1').write_text(page(name, about.rstrip('.'), text, version))
    print(f'{len(texts)} man pages in {folder}')


if __name__ == '__main__':
    main(*sys.argv[1:]) if sys.argv[1:] else sys.exit(__doc__)
