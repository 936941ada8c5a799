"""What ReFrame asks of a test each time something is logged, without what takes long to ask."""


class quick_log:
    """For every test class: `variables` is deprecated since ReFrame 4.0, and to read it unwinds
    the whole stack for a warning that nobody sees, 20 ms per line of the log, debug lines too:
    two thirds of what a session computes. It is `env_vars` under its old name."""

    @classmethod
    def loggable_attrs(cls):
        return [attr for attr in type(cls).loggable_attrs(cls) if attr[0] != 'variables']
