"""units(): what the line of a preset compiles of a copy of src/stream: one file."""

from places import ROOT


def units(folder=ROOT / 'src/stream'):
    return [folder / 'stream.c']
