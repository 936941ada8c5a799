"""ReFrame's log of a test, without a variable that is slow to read."""

from lib.refusal import wrong_type_is_refused


class quick_log(wrong_type_is_refused):
    """For every test class: `variables`, deprecated since ReFrame 4.0, unwinds the stack each time
    it is read; all variables are read for each line of the log. It is `env_vars`, which stays."""

    @classmethod
    def loggable_attrs(cls) -> list[tuple]:
        return [attr for attr in type(cls).loggable_attrs(cls) if attr[0] != 'variables']
