"""What every subcommand raises in place of a traceback."""


class MembwError(Exception):
    """Asked wrongly: a fact, and the way out."""

    def __init__(self, fact, hint=''):
        super().__init__(fact)
        self.hint = hint
