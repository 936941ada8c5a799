"""Jinja2 templates of pages that load nothing: their style, and what a browser may do."""

import base64
import hashlib

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from membw.printable import printable
from membw.report import theme


def render(package: str, name: str, **values: object) -> str:
    """The page of a template, which has `style` and `content_policy` in addition to the values.

    All text is escaped, unless it is Markup; what is not printable is replaced.
    """
    css, _, _ = PackageLoader('membw.report', 'assets').get_source(Environment(), 'report.css')
    style = f'{theme.page_css()}\n{theme.picture_css()}\n{css}'
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    environment = Environment(
        loader=ChoiceLoader([PackageLoader('membw.report', 'assets'), PackageLoader(package, '')]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters['slug'] = lambda word: word.lower().replace(' ', '-')
    template = environment.get_template(name)
    return template.render(style=Markup(style), content_policy=Markup(policy), **values)


def _printable(value: object) -> object:
    """Text without control characters; markup is ours."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
