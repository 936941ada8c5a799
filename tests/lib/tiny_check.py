"""A check that measures nothing: `echo figure 3.0`, read as triad 3 GB/s."""

CHECK = """\
import reframe as rfm
from reframe.core.builtins import (
    sanity_function, performance_function, run_after, variable)
import reframe.utility.sanity as sn

@rfm.simple_test
class tiny(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['gcc-o2']
    executable = 'echo'
    executable_opts = ['figure 3.0']
    {more}

    @sanity_function
    def validate(self):
        return sn.assert_found({pattern!r}, self.stdout, msg={message!r})

    @performance_function('GB/s')
    def triad(self):
        return sn.extractsingle(r'figure (\\S+)', self.stdout, 1, float)
"""


def text(more='', pattern='figure', message='no figure'):
    """Its file; `more` goes into the class, `pattern` is what its output must have."""
    return CHECK.format(more=more, pattern=pattern, message=message)
