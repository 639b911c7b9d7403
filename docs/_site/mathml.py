r"""Equations as MathML, which browsers draw themselves: no script, no fonts, no network.

A Sphinx extension; the translation from LaTeX is that of docutils.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils.nodes import SkipNode, math, math_block
from docutils.utils.math.latex2mathml import tex2mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


def visit_math(translator: HTML5Translator, node: math) -> None:
    """Write an equation within a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise SkipNode


def visit_math_block(translator: HTML5Translator, node: math_block) -> None:
    """Write an equation of its own, which can be scrolled where it is wider than the page."""
    label = f' id="{node["ids"][0]}"' if node["ids"] else ""
    equation = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="math"{label}>{equation}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make it a way to write equations in HTML."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
