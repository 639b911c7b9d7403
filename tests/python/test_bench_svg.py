"""`bench.report.svg`: fewer bytes, and all that is drawn stays where it was, as it looked."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from bench.report.plots import STYLE
from bench.report.svg import HREF, PNG, SVG, compact

DRAWN = ("path", "use", "text", "image")
ONE_STEP = 0.0051  # points; what rounding moves
ONE_LINE = 0.065  # points; what leaving out points may move besides


def by_matplotlib() -> str:
    """Draw lines with markers and bars, a curve, text at an angle, a rectangle, pixels."""
    rng, svg = np.random.default_rng(7), io.StringIO()
    with mpl.rc_context(STYLE | {"path.simplify": False}):
        figure = Figure(figsize=(5.0, 4.0), layout="constrained")
        upper, lower = figure.subplots(2)
        x = np.linspace(-2.0, 9.0, 400)
        upper.plot(x, np.sin(x), label="sine & <cosine>")
        upper.errorbar(x[::20], rng.random(20), 0.1, fmt="s--", capsize=2, label="bars")
        upper.set(ylabel="height", yscale="symlog", xlim=(-1.0, 8.0))
        upper.axvspan(1.0, 2.0, alpha=0.2)
        upper.legend()
        lower.pcolormesh(rng.random((4, 5)), rasterized=True)
        figure.savefig(svg, format="svg", metadata={"Date": None}, dpi=50)
    return svg.getvalue()


@pytest.fixture(scope="module")
def both() -> tuple[str, str]:
    drawn = by_matplotlib()
    return drawn, compact(drawn)


def drawn_by(text: str) -> list[ET.Element]:
    """Return what is drawn, in order."""
    elements = ET.fromstring(text).iter()
    return [e for e in elements if e.tag.removeprefix(SVG) in DRAWN]


def points_of(path: str) -> list[np.ndarray]:
    """Return the points of the parts of a path, those that bend its curves included."""
    parts: list[list[np.ndarray]] = []
    at = np.zeros(2)
    for letter, numbers in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", path):
        values = np.array([float(v) for v in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers)])
        origin = at * letter.islower()
        if letter in "hv":
            values = np.array([values[0], 0.0] if letter == "h" else [0.0, values[0]])
        step = {"c": 3, "q": 2}.get(letter.lower(), 1)
        for place, point in enumerate(values.reshape(-1, 2), start=1):
            if letter == "M":
                parts.append([])
            if letter == "l":
                origin = at
            parts[-1].append(origin + point)
            if place % step == 0:
                at = parts[-1][-1]
    return [np.array(part) for part in parts]


def distances(points: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Return how far points are from a line through others."""
    if len(line) == 1:
        return np.linalg.norm(points - line, axis=1)
    start, along = line[:-1], np.diff(line, axis=0)
    ways = points[:, np.newaxis] - start
    lengths = np.maximum((along**2).sum(axis=1), 1e-300)
    share = np.clip((ways * along).sum(axis=2) / lengths, 0.0, 1.0)
    return np.linalg.norm(ways - share[..., np.newaxis] * along, axis=2).min(axis=1)


def looks(text: str) -> list[dict[str, str]]:
    """Return how what is drawn looks: by its own style or class, else as what it uses."""
    rules = dict(re.findall(r"\.(\w+)\{(.*)\}", text))
    names = {e.get("id"): e for e in ET.fromstring(text).iter() if "id" in e.attrib}

    def style(element: ET.Element) -> dict[str, str]:
        given = element.get("style", rules.get(element.get("class", ""), ""))
        pairs = (part.split(":", 1) for part in given.split(";") if part)
        return {k.strip(): re.sub(r", ", ",", v.strip()) for k, v in pairs}

    return [
        style(e) | (style(names[e.attrib[HREF][1:]]) if e.tag == f"{SVG}use" else {})
        for e in drawn_by(text)
    ]


def test_half_of_the_bytes(both):
    drawn, small = both
    assert len(small) < 0.5 * len(drawn)
    assert "metadata" in drawn
    assert "metadata" not in small


def test_lines_stay_where_they_are(both):
    paths = [[e.get("d", "") for e in drawn_by(t) if e.tag == f"{SVG}path"] for t in both]
    assert len(paths[0]) > 40
    n_points = []
    for before, after in zip(*paths, strict=True):
        assert before.count("z") == after.count("z")
        for old, new in zip(points_of(before), points_of(after), strict=True):
            assert distances(old, new).max() < ONE_LINE
            assert distances(new, old).max() < 2 * ONE_STEP
            np.testing.assert_allclose(new[[0, -1]], old[[0, -1]], rtol=0, atol=ONE_STEP)
            n_points.append((len(old), len(new)))
    assert max(n_points)[1] < 0.5 * max(n_points)[0]  # the sine


def placed(text: str, tag: str) -> list[tuple[str, str, float, float, float]]:
    """Return texts, scales, angles and places."""
    found = []
    for element in drawn_by(text):
        if element.tag == f"{SVG}{tag}":
            transform = element.get("transform", "")
            scale = "".join(re.findall(r"scale\([^)]*\)", transform))
            angle = re.search(r"rotate\((\S+?)[ )]", transform)
            place = re.search(r"translate\((\S+) (\S+)\)", transform)
            x, y = place.groups() if place else (element.get("x", "0"), element.get("y", "0"))
            turned = re.search(r"rotate\(\S+ (\S+) (\S+)\)", transform)
            if turned:
                assert turned.groups() == (x, y)
            shown = " ".join("".join(element.itertext()).split())
            found.append((shown, scale, float(angle[1]) if angle else 0.0, float(x), float(y)))
    return found


@pytest.mark.parametrize("tag", ["use", "text"])
def test_markers_and_text_stay_where_they_are(both, tag):
    before, after = (placed(text, tag) for text in both)
    assert len(before) > 15
    assert [found[:3] for found in after] == [found[:3] for found in before]
    np.testing.assert_allclose(
        [found[3:] for found in after], [found[3:] for found in before], rtol=0, atol=ONE_STEP
    )
    if tag == "text":
        assert {found[:3] for found in after} > {
            ("height", "", -90.0),
            ("sine & <cosine>", "", 0.0),
        }


def test_all_look_as_they_did(both):
    before, after = map(looks, both)
    assert after == before
    clips = [["clip-path" in e.attrib for e in drawn_by(text)] for text in both]
    assert any(clips[0])
    assert clips[1] == clips[0]


def test_all_that_is_referred_to_is_there(both):
    small = both[1]
    names = re.findall(r'id="(\w+)"', small)
    assert len(set(names)) == len(names)
    assert set(re.findall(r'#(\w+)[")]', small)) == set(names)


def test_images_are_the_same(both):
    links = [[e.attrib[HREF] for e in drawn_by(t) if e.tag == f"{SVG}image"] for t in both]
    (before,), (after,) = links
    assert len(after) < len(before)
    pixels = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(link[len(PNG) :]))).convert("RGBA"))
        for link in (before, after)
    ]
    np.testing.assert_array_equal(*pixels)


def test_images_of_many_colours_stay(both):
    pixels = np.random.default_rng(3).integers(0, 256, (20, 20, 4), dtype=np.uint8)
    data = io.BytesIO()
    Image.fromarray(pixels, mode="RGBA").save(data, "PNG")
    link = PNG + base64.b64encode(data.getvalue()).decode()
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    (image,) = drawn_by(compact(f'{head}<image xlink:href="{link}"/></svg>'))
    assert image.attrib[HREF] == link
