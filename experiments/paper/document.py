"""A report as blocks, written as Markdown with plots beside it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.report import document as markdown
from bench.report.plots import save

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
class Plot:
    """A figure of matplotlib under a name."""

    name: str
    caption: str
    figure: Any


Block: TypeAlias = Heading | Text | Items | Table | Lines | Plot


def write(blocks: Sequence[Block], folder: Path) -> list[Path]:
    """Write report.md and the plots that it shows; return the paths, that of the text first."""
    text = folder / "report.md"
    text.write_text(as_markdown(blocks), encoding="utf-8")
    plots = [block for block in blocks if isinstance(block, Plot)]
    return [text, *(save(block.figure, folder, block.name) for block in plots)]


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
