"""Links of short names, as docstrings use them, to the pages of what they name.

A Sphinx extension. `RidgePath` means `gegenbauer.RidgePath` wherever it is written, and
`TensorBasis.evaluate` the method of that class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from docutils.nodes import Element, reference
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_OF_MODULES = {"class", "exception", "function"}


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: Element
) -> reference | None:
    """Return a link to the one public object that a short name means, if there is one.

    Of names that stand in several packages, as the estimators for Dask, the first level counts.
    """
    if node.get("refdomain") != "py":
        return None
    short = node["reftarget"].lstrip("~.")
    objects = env.get_domain("py").objects  # type: ignore[attr-defined]
    found = sorted(
        (
            name
            for name, entry in objects.items()
            if name.endswith(f".{short}") and (entry.objtype in _OF_MODULES or "." in short)
        ),
        key=lambda name: name.count("."),
    )
    if not found or (found[1:] and found[1].count(".") == found[0].count(".")):
        return None
    entry = objects[found[0]]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, content, found[0]
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Take what Sphinx itself does not find."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
