"""The Jinja2 template of a page that loads nothing: style, script, what a browser may do."""

import base64
import hashlib

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from membw.printable import printable
from membw.report import svg
from membw.report.model import Page


def render(page: Page) -> str:
    """The HTML of a page. All text is escaped, unless it is Markup; what is not printable is
    replaced."""
    files = PackageLoader('membw.report', 'assets')
    page_html = Environment(
        loader=files, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_printable
    )
    page_html.filters['slug'] = lambda word: word.lower().replace(' ', '-')
    css, script = (files.get_source(page_html, f'report.{kind}')[0] for kind in ('css', 'js'))
    style = f'{svg.page_css()}\n{svg.picture_css()}\n{css}'
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return page_html.get_template('report.html').render(
        style=Markup(style), script=Markup(script), content_policy=Markup(policy), page=page
    )


def _hash(text: str) -> str:
    return f'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'


def _printable(value: object) -> object:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
