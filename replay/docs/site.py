"""What MkDocs builds the site from: the pages under `docs/`, and what the program generates.

A hook of `mkdocs.yml`. Generated pages and parts are made as the site is built; none is in git.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from replay.docs.pages import generate, with_parts

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those that MkDocs found."""
    for path, text in generate().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(text: str, page: Page, **_: object) -> str:
    """Put the generated parts of a kept page where their marks are; list decisions last."""
    if page.file.src_uri.startswith(FOUND_LAST):
        page.meta["search"] = {"boost": 0.1}
    return with_parts(text)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the theme's search dialog for screen readers; the theme leaves it without a name."""
    del page, config
    return output.replace('data-md-component="search" role="dialog"', f'{_SEARCH} role="dialog"')


FOUND_LAST = ("adr/", "games/")
"""Pages that the search lists behind others: they have the words of every task in passing."""

_SEARCH = 'data-md-component="search" aria-label="Search"'
