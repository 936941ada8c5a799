"""Latency of one node's memory while its other cores move memory."""

import reframe as rfm
from lib.binaries import built
from lib.logged import logged_number, logged_text
from lib.pinned_run import pinned_run
from reframe.core.builtins import parameter


@rfm.simple_test
class loaded(pinned_run):
    """One core chases dependent loads, all other cores keep a constant rate of traffic; by
    mixes of reads and writes: latency without load, at half of the highest rate, and where it
    doubles."""

    descr = 'latency of memory under load on one node'
    binary = built('loaded')
    # one environment: the chain waits for memory, not for the compiler
    valid_prog_environs = ['+scan']
    # Knights Corner executes in order, so a chase adds nothing to Triad
    valid_systems = ['-mic']
    pinning = parameter(['omp'], loggable=True)
    peak_key = 'peak_gbs'
    # by -S: '1r0w,2r1w'; how often each curve is measured
    mixes = logged_text()
    curves = logged_number()
    options = {'--mixes': 'mixes', '--rounds': 'curves'}
