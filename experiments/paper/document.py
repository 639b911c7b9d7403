"""A report as blocks, written as Markdown with pictures beside it and as one HTML file."""

from __future__ import annotations

import base64
import html
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.report import document as markdown
from bench.report.pictures import save

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Heading:
    """A title of level 1, 2 or 3."""

    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph; may hold **bold**, *italics* and `code`."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table; cells are texts."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Lines:
    """Text as it is."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Picture:
    """A figure of matplotlib under a name."""

    name: str
    caption: str
    figure: Any


Block: TypeAlias = Heading | Text | Items | Table | Lines | Picture


def write(blocks: Sequence[Block], folder: Path) -> list[Path]:
    """Write report.md, the pictures it shows as SVG and PNG, and report.html, which holds all."""
    paths = []
    for block in blocks:
        if isinstance(block, Picture):
            paths += save(block.figure, folder, block.name)
    for name, text in (
        ("report.md", as_markdown(blocks)),
        ("report.html", as_html(blocks, folder)),
    ):
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8")
    return paths


# --- Markdown -------------------------------------------------------------------------------------


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return the text of report.md."""
    return "\n".join(line for block in blocks for line in [*_markdown(block), ""]).rstrip() + "\n"


def _markdown(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {block.text}"
    elif isinstance(block, Text):
        yield from textwrap.wrap(" ".join(block.text.split()), 120, break_on_hyphens=False)
    elif isinstance(block, Items):
        yield from (f"- {' '.join(item.split())}" for item in block.items)
    elif isinstance(block, Table):
        yield from markdown.heading(*block.header)
        yield from (markdown.row(*cells) for cells in block.rows)
    elif isinstance(block, Lines):
        yield from ("```", *block.lines, "```")
    else:
        yield f"![{block.caption}]({block.name}.svg)"


# --- HTML -----------------------------------------------------------------------------------------

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; display: block;
        overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left;
         font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #888; }
img { max-width: 100%; }
figcaption { color: #555; font-size: 13px; }
pre { background: #f6f6f6; padding: .6rem; overflow-x: auto; font-size: 12px; }
"""


def as_html(blocks: Sequence[Block], folder: Path) -> str:
    """Return the text of report.html; the pictures are read from the folder and put inside."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "Report")
    body = "\n".join(line for block in blocks for line in _html(block, folder))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{html.escape(title)}</title>'
        f"\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _inline(text: str) -> str:
    text = html.escape(" ".join(text.split()), quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"\*(\w.*?)\*", r"<em>\1</em>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)


def _html(block: Block, folder: Path) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"<h{block.level}>{_inline(block.text)}</h{block.level}>"
    elif isinstance(block, Text):
        yield f"<p>{_inline(block.text)}</p>"
    elif isinstance(block, Items):
        yield from ("<ul>", *(f"<li>{_inline(item)}</li>" for item in block.items), "</ul>")
    elif isinstance(block, Table):
        yield "<table>"
        yield _cells("th", block.header)
        yield from (_cells("td", cells) for cells in block.rows)
        yield "</table>"
    elif isinstance(block, Lines):
        yield f"<pre>{html.escape(chr(10).join(block.lines), quote=False)}</pre>"
    else:
        # as images of their own, since the names inside of several SVGs would meet
        code = base64.b64encode((folder / f"{block.name}.svg").read_bytes()).decode("ascii")
        caption = _inline(block.caption)
        yield (
            f'<figure><img alt="{html.escape(block.caption)}" '
            f'src="data:image/svg+xml;base64,{code}"><figcaption>{caption}</figcaption></figure>'
        )


def _cells(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) + "</tr>"
