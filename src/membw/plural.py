"""A number and what it counts."""


def plural(number: int, what: str) -> str:
    """'1 node', '2 nodes'."""
    return f'{number} {what}{"s" * (number != 1)}'
