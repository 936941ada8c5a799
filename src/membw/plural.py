"""A number and what it counts."""


def plural(number, what):
    """'1 node', '2 nodes'."""
    return f'{number} {what}{"s" * (number != 1)}'
