"""A page of HTML that needs nothing else: sections, tables, and plots as inline SVG."""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from typing import TYPE_CHECKING, Any

from gegenbauer._html import html_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Page", "draw", "draw_each"]

# Browsers load and run nothing that is not on the page itself
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 0 auto;
  max-width: 1180px; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.6rem; padding-bottom: 0.2rem;
  border-bottom: 1px solid #ddd; }
h3 { font-size: 1.02rem; margin: 1.2rem 0 0.3rem; }
p { max-width: 46rem; }
.note { color: #555; font-size: 0.92rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.4rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.2rem 0; }
th, td { padding: 0.25rem 0.9rem 0.25rem 0; border-bottom: 1px solid #eee; vertical-align: top;
  text-align: left; overflow-wrap: normal; }
td { min-width: 4rem; }
tbody th { font-weight: 400; }
caption:empty { display: none; }
thead th:empty { padding: 0; border: 0; }
.plots { display: grid; gap: 1rem 1.5rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 330px), 1fr)); }
figure { margin: 0; min-width: 0; }
figcaption { font-size: 0.92rem; }
svg { width: 100%; height: auto; display: block; }
pre { overflow-x: auto; background: #f6f6f6; padding: 0.7rem; font-size: 0.85rem; }
details { margin: 0.6rem 0; }
summary { cursor: pointer; }
"""

# Most pixels of an inch, which is 96 of them
_ENLARGED = 110

_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text, which can be searched and read aloud
    "svg.hashsalt": "gegenbauer",  # the same page for the same model
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(plot: Callable[[Any], Any], label: str, *, width: float = 4.4, height: float = 3.2) -> str:
    """Return what a function draws into axes as SVG: see `draw_each`."""
    return draw_each(lambda axes: plot(axes[0]), [label], width=width, height=height)[0]


def draw_each(
    plot: Callable[[list[Any]], Any],
    labels: Sequence[str],
    *,
    width: float = 4.4,
    height: float = 3.2,
) -> list[str]:
    """Return what a function draws into axes, each of a figure of its own, as SVG.

    Parameters
    ----------
    plot : callable
        Is given the axes, one for each label.
    labels : sequence of str
        What the plots show, for those who do not see them.
    width, height : float
        Of each, in inches.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS), warnings.catch_warnings():
        # the browser has letters that the font of measures has not
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figures = [Figure(figsize=(width, height), layout="constrained") for _ in labels]
        plot([figure.subplots() for figure in figures])
        return [_svg(figure, label) for figure, label in zip(figures, labels, strict=True)]


def _svg(figure: Any, label: str) -> str:
    """Return a figure as an element of a page, which is as wide as there is room."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=_METADATA, dpi=100)
    text = file.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    head, _, rest = text.partition(">")
    head = re.sub(r'\s(width|height|version)="[^"]*"', "", head)
    style = f"max-width: {_ENLARGED * figure.get_figwidth():.0f}px"
    return f'{head} style="{style}" role="img" aria-label="{escape(label)}">{rest.strip()}'


class Page:
    """A page that grows from its top.

    Parameters
    ----------
    title : str
        Its title.

    Examples
    --------
    >>> page = Page("of <a>")
    >>> page.heading("Scores")
    >>> "<h1>of &lt;a&gt;</h1>" in page.html()
    True
    """

    def __init__(self, title: str) -> None:
        self._title = escape(title)
        self._parts: list[str] = []

    def heading(self, text: str, *, level: int = 2) -> None:
        """Add a heading."""
        self._parts.append(f"<h{level}>{escape(text)}</h{level}>")

    def paragraph(self, text: str, *, note: bool = False) -> None:
        """Add a paragraph; notes are less prominent."""
        kind = ' class="note"' if note else ""
        self._parts.append(f"<p{kind}>{escape(text)}</p>")

    def table(self, title: str, header: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
        """Add a table; numbers have four digits."""
        self._parts.append(f'<div class="scroll">{html_table(title, header, rows)}</div>')

    def folded(self, summary: str, html: str) -> None:
        """Add what a reader may open; ``html`` is not escaped."""
        self._parts.append(
            f"<details><summary>{escape(summary)}</summary>"
            f'<div class="scroll">{html}</div></details>'
        )

    def text(self, text: str) -> None:
        """Add text as it is, in lines."""
        self._parts.append(f"<pre>{escape(text)}</pre>")

    def plot(self, svg: str) -> None:
        """Add a plot of its own."""
        self._parts.append(f"<figure>{svg}</figure>")

    def plots(self, captioned: Iterable[tuple[str, str]]) -> None:
        """Add plots beside each other, as many as there is room for: captions and SVG."""
        found = "".join(
            f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"
            for caption, svg in captioned
        )
        self._parts.append(f'<div class="plots">{found}</div>')

    def html(self) -> str:
        """Return the page."""
        body = "\n".join(self._parts)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{self._title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            f"<h1>{self._title}</h1>\n{body}\n</body>\n</html>\n"
        )
