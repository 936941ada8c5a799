"""Jinja's templates: of pages, and of files of text."""

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from membw.printable import printable

HTML = PackageLoader('membw.report', 'assets')


def html() -> Environment:
    """All text is escaped, unless it is Markup; what is not printable is replaced."""
    return Environment(
        loader=HTML, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_printable
    )


def text(package: str) -> Environment:
    """Of the templates in the folder of a package."""
    return Environment(
        loader=PackageLoader(package, ''), trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip


def _printable(value: object) -> object:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
