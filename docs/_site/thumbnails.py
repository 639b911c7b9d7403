"""Alternative texts of the small plots of the gallery, which sphinx-gallery leaves empty.

A Sphinx extension. Each gets the title of its example, which stands beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils.nodes import image

if TYPE_CHECKING:
    from docutils.nodes import document
    from sphinx.application import Sphinx


def describe(app: Sphinx, doctree: document, docname: str) -> None:
    """Write the titles into a page whose links are resolved."""
    for node in doctree.findall(image):
        beside = node.next_node(siblings=True)
        if node.get("alt") == "" and beside is not None:
            node["alt"] = f"Plot of the example: {beside.astext()}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register it."""
    app.connect("doctree-resolved", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
