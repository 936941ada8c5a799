"""Waits until a program is well under way, by what it computed, however busy the machine is."""

import os
import pathlib
import time


def until_cpu_used(process, seconds):
    """`process`: a Popen; returns too if it ends before."""
    while process.poll() is None:
        fields = pathlib.Path(f'/proc/{process.pid}/stat').read_text().rpartition(')')[2].split()
        if sum(map(int, fields[11:13])) >= seconds * os.sysconf('SC_CLK_TCK'):
            return
        time.sleep(0.05)
