"""Settings of Sphinx for the documentation site; ``docs/build.py`` lays out the pages it reads."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_site"))

project = "gegenbauer"
author = "The gegenbauer developers"
project_copyright = author
version = release = metadata.version("gegenbauer")

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "short_names",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "thumbnails",
]
root_doc = "index"
exclude_patterns = ["gallery/sg_execution_times.rst", "sg_execution_times.rst"]
nitpicky = True
# names in single backticks link to what they name where that is public, else they are code
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", r".*"), ("py:.*", r"(numpy|pandas|scipy|sklearn)\..*")]
highlight_language = "none"
html_math_renderer = "mathml"

# Pages
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Reference
templates_path = [str(ROOT / "docs" / "_site")]
autodoc_typehints = "none"  # docstrings name types, shapes and ranges
autodoc_member_order = "bysource"
autosummary_generate = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "within_subsection_order": "gallery.Place",
    "filename_pattern": r"\.py$",
    "backreferences_dir": "reference/examples",
    "doc_module": ("gegenbauer",),
    "reference_url": {"gegenbauer": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "matplotlib_animations": False,
}

# Appearance: nothing comes from elsewhere
html_theme = "pydata_sphinx_theme"
html_title = "gegenbauer"
html_static_path = ["_site/site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _skip_foreign(app, what, name, obj, skip, options):
    """Leave away what classes inherit from other packages, which document it themselves."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    function = getattr(function, "__func__", function)
    if isinstance(function, property) or not callable(function):
        return None
    ours = (getattr(function, "__module__", None) or "").startswith("gegenbauer")
    return None if ours else True


def setup(app):
    """Add to Sphinx what its settings cannot express."""
    app.connect("autodoc-skip-member", _skip_foreign)
