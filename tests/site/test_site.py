"""The site that ``docs/build.py`` made, in the folder of the environment variable GEGENBAUER_SITE.

No part of a plain ``python -m pytest``; ``.ci/run`` builds the site and runs these.
"""

from __future__ import annotations

import functools
import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import gegenbauer

SITE = Path(os.environ.get("GEGENBAUER_SITE", "build/site")) / "html"


class Page(HTMLParser):
    """What a page links to, loads, shows, and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.anchors: set[str | None] = set()
        self.equations = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {found.get("id"), found.get("name")}
        self.equations += tag == "math"
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in ("script", "img", "iframe", "source") and found.get("src"):
            self.loaded.append(str(found["src"]))
        if tag == "link" and found.get("href"):
            self.loaded.append(str(found["href"]))
        if tag == "img":
            self.images.append(found)


read = functools.cache(Page)


@pytest.fixture(scope="module")
def pages() -> list[Path]:
    found = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
    assert len(found) > 150, f"no site in {SITE}: run python docs/build.py"
    return found


def test_links_resolve(pages):
    """To files that are there, and to places that these have."""
    broken = []
    for path in pages:
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme == "https", link
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            there = target.is_file()
            if there and parts.fragment and target.suffix == ".html":
                there = unquote(parts.fragment) in read(target.resolve()).anchors
            if not there:
                broken.append((path.name, link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(pages):
    """A reader without a network sees all of it."""
    for path in pages:
        for target in read(path).loaded:
            parts = urlsplit(target)
            assert not parts.scheme or parts.scheme == "data", (path.name, target)
            assert not parts.netloc, (path.name, target)
            local = path.parent / unquote(parts.path) if parts.path else path
            assert parts.scheme or local.is_file(), target
    for path in SITE.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert "url(http" not in text.replace('"', "").replace("'", ""), path.name


def test_images_have_alternative_text(pages):
    shown = [(path.name, image) for path in pages for image in read(path).images]
    assert len(shown) > 40
    assert [one for one in shown if not (one[1].get("alt") or "").strip()] == []


def test_every_example_has_run_and_has_a_plot():
    examples = Path(__file__).parents[2] / "examples"
    names = sorted(path.stem for path in examples.glob("*.py"))
    assert len(names) == 12
    index = read(SITE / "gallery" / "index.html")
    for name in names:
        page = read(SITE / "gallery" / f"{name}.html")
        assert any(f"sphx_glr_{name}_001" in str(one["src"]) for one in page.images), name
        assert any(link.startswith(f"{name}.html") for link in index.links), name
        (small,) = (one for one in index.images if f"sphx_glr_{name}_thumb" in str(one["src"]))
        assert str(small["alt"]).startswith("Plot of the example: "), name


def test_reference_has_every_name_of_the_package():
    page = read(SITE / "reference" / "gegenbauer.html")
    for name in gegenbauer.__all__:
        own = SITE / "reference" / f"gegenbauer.{name}.html"
        place = read(own) if own.is_file() else page
        assert f"gegenbauer.{name}" in place.anchors, name


def test_methods_are_documented():
    """Those of this library, inherited ones as well; not those of scikit-learn."""
    anchors = read(SITE / "reference" / "gegenbauer.GegenbauerRegressorCV.html").anchors
    owner = "gegenbauer.GegenbauerRegressorCV"
    assert {f"{owner}.{name}" for name in ("fit", "fit_stream", "predict_interval")} <= anchors
    assert f"{owner}.get_params" not in anchors


def test_equations_are_drawn_by_the_browser():
    assert read(SITE / "mathematics.html").equations > 20
    assert read(SITE / "reference" / "gegenbauer.basis.SpectrumKernel.html").equations > 0
