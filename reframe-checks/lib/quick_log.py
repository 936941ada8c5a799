"""What ReFrame asks of a test as it makes it and logs of it, without what takes long to ask.

`variables` is deprecated since ReFrame 4.0, and whoever touches it unwinds the whole stack, 5 to
20 ms, for a warning that nobody sees. It is `env_vars` under its old name.
"""

from reframe.core import fields, variables
from reframe.core.warnings import suppress_deprecations, user_deprecation_warning

from lib.refusal import wrong_type_is_told


class unwinds_nothing(suppress_deprecations):
    """Each test is made with its deprecations suppressed: to look for them all the same takes
    two fifths of what a session computes until its tests are listed."""

    def __enter__(self):
        fields.user_deprecation_warning = variables.user_deprecation_warning = lambda *_: None
        return super().__enter__()

    def __exit__(self, *args):
        fields.user_deprecation_warning = user_deprecation_warning
        variables.user_deprecation_warning = user_deprecation_warning
        return super().__exit__(*args)


variables.suppress_deprecations = unwinds_nothing


class quick_log(wrong_type_is_told):
    """For every test class: all variables are asked for each line of the log, debug lines too:
    two thirds of what a session computes."""

    @classmethod
    def loggable_attrs(cls):
        return [attr for attr in type(cls).loggable_attrs(cls) if attr[0] != 'variables']
