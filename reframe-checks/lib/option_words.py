"""A command line of the given options: options without a value are left to the program."""


def option_words(given: dict[str, object]) -> list[str]:
    """['-n', '1000'] of {'-n': 1000, '--pages': None}."""
    return [word for name, value in given.items() if value for word in (name, str(value))]
