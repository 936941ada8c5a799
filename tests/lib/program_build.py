"""One program of src, built as its one file for the compiler; the same line once per session."""

import subprocess

from places import ROOT

USUAL = ('-O2', '-fopenmp')


def one_file(program):
    return ROOT / 'src' / program / f'{program}.c'


class Builds:
    """builds('stream', '-DMEMBW_PLANT_FAULT=1,77,3'): the path of that program.

    Flags come behind the usual ones, so that a later -O counts; `usual=()` leaves those out.
    """

    def __init__(self, new_folder):
        self.new_folder, self.paths = new_folder, {}

    def __call__(self, program, *flags, cc='gcc', usual=USUAL):
        key = program, cc, *usual, *flags
        if key not in self.paths:
            path = self.new_folder(program) / program
            line = [cc, *usual, *flags, one_file(program), '-o', path]
            done = subprocess.run(line, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            self.paths[key] = path
        return self.paths[key]
