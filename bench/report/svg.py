"""Matplotlib's SVG in half of its bytes, drawn alike: what is repeated stands once."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from io import BytesIO
from itertools import count, groupby, product
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
PNG = "data:image/png;base64,"
UNITS = 100  # a point; coordinates are whole numbers of these
TOLERANCE = 5.0  # units; what a line may move where a point of it is left out

_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
_POSITIONS = ("x", "y", "width", "height", "viewBox")

ET.register_namespace("", SVG[1:-1])
ET.register_namespace("xlink", HREF.partition("}")[0][1:])


def compact(text: str) -> str:
    """Return what matplotlib wrote as SVG in fewer bytes.

    Coordinates are rounded to a hundredth of a point, points are left out where lines stay within a
    twentieth of one, styles become classes, images of few colours get a palette, and metadata,
    names that nothing refers to and groups without attributes go.
    """
    root = ET.fromstring(text)
    for metadata in root.findall(f"{SVG}metadata"):
        root.remove(metadata)
    _drop_repeated_styles(root)
    _shorten_names(root)
    _unwrap(root)
    for element in root.iter():
        _round(element)
    _styles_to_classes(root)
    for element in root.iter():
        if element.tag not in (f"{SVG}text", f"{SVG}tspan"):
            element.text = (element.text or "").strip() or None
        element.tail = "\n"
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode")


def _drop_repeated_styles(root: ET.Element) -> None:
    """Let what is used look as it is defined, where a use repeats its style."""
    styles = {f"#{e.get('id')}": e.get("style") for e in root.iter() if "id" in e.attrib}
    for use in root.iter(f"{SVG}use"):
        if use.get("style") == styles[use.attrib[HREF]]:
            use.attrib.pop("style", None)


def _names() -> Iterator[str]:
    for length in count(1):
        yield from map("".join, product(ascii_lowercase, repeat=length))


def _shorten_names(root: ET.Element) -> None:
    """Keep the names that something refers to, as short ones."""
    names = _names()
    used: dict[str, str] = {}
    for element in root.iter():
        for value in element.attrib.values():
            for name in re.findall(r"^#(.+)|url\(#(.+)\)", value):
                if "".join(name) not in used:
                    used["".join(name)] = next(names)
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id" and value not in used:
                del element.attrib[key]
            elif key == "id":
                element.set(key, used[value])
            elif key == HREF and value.startswith("#"):
                element.set(key, f"#{used[value[1:]]}")
            elif value.startswith("url(#"):
                element.set(key, f"url(#{used[value[5:-1]]})")


def _unwrap(parent: ET.Element) -> None:
    """Put what groups without attributes hold in their places."""
    found: list[ET.Element] = []
    for child in parent:
        _unwrap(child)
        if child.tag == f"{SVG}g" and not child.attrib:
            found += child
        elif len(child) or child.tag not in (f"{SVG}g", f"{SVG}defs"):
            found.append(child)
    parent[:] = found


def _units(number: str) -> int:
    return round(float(number) * UNITS)


def _text_of(units: float) -> str:
    return re.sub(r"^(-?)0\.", r"\1.", f"{units / UNITS:.15g}")


def _rounded(match: re.Match[str]) -> str:
    return _text_of(_units(match[0]))


def _round(element: ET.Element) -> None:
    if "d" in element.attrib:
        element.set("d", _path(element.attrib["d"]))
    for key in _POSITIONS:
        if key in element.attrib:
            element.set(key, re.sub(_NUMBER, _rounded, element.attrib[key]))
    if "transform" in element.attrib:
        _place(element, element.attrib.pop("transform"))
    if element.get(HREF, "").startswith(PNG):
        element.set(HREF, _image(element.attrib[HREF]))


def _place(element: ET.Element, transform: str) -> None:
    """Set a transform with rounded places, where x and y cannot take its place."""
    rounded = re.sub(
        rf"(translate\(|rotate\({_NUMBER} )({_NUMBER}) ({_NUMBER})",
        lambda m: f"{m[1]}{_text_of(_units(m[2]))} {_text_of(_units(m[3]))}",
        transform,
    )
    alone = re.fullmatch(r"translate\((\S+) (\S+)\)", rounded)
    if alone and element.tag == f"{SVG}text" and not len(element):
        element.attrib |= {"x": alone[1], "y": alone[2]}
    elif not rounded.startswith("rotate(-0 "):
        element.set("transform", rounded)


def _path(text: str) -> str:
    """Return a path by moves from point to point."""
    steps = re.findall(rf"([MLQCz])((?:\s+{_NUMBER})*)", text)
    found, at = [], np.zeros(2, dtype=int)
    for command, group in groupby(steps, lambda step: step[0]):
        points = [
            np.array([_units(number) for number in numbers.split()]).reshape(-1, 2)
            for _, numbers in group
        ]
        if command == "z":
            found.append("z")
        elif command == "L":
            for point in _thinned(np.vstack([at, *points]))[1:]:
                found.append(_line(*(point - at)))
                at = point
        else:
            for way in points:
                letter = "M" if command == "M" else command.lower()
                found.append(letter + _joined((way - at * (command != "M")).ravel()))
                at = way[-1]
    return re.sub(r"l([^a-zA-Z]+)(?:l[^a-zA-Z]+)+", _one_command, "".join(found))


def _one_command(lines: re.Match[str]) -> str:
    """Write the letter of lines one after the other once."""
    return "l" + re.sub(r"l(-?)", lambda letter: letter[1] or " ", lines[0][1:])


def _joined(units: np.ndarray) -> str:
    return " ".join(map(_text_of, units)).replace(" -", "-")


def _line(right: int, down: int) -> str:
    if not down:
        return f"h{_text_of(right)}"
    return f"l{_joined(np.array([right, down]))}" if right else f"v{_text_of(down)}"


def _thinned(points: np.ndarray) -> np.ndarray:
    """Return the points of a line without those that are close to the line of the others."""
    kept = np.zeros(len(points), dtype=bool)
    kept[[0, -1]] = True
    parts = [(0, len(points) - 1)]
    while parts:
        first, last = parts.pop()
        start, along = points[first], points[last] - points[first]
        way = points[first + 1 : last] - start
        share = np.clip(way @ along / max(along @ along, 1), 0.0, 1.0)
        distances = np.linalg.norm(way - share[:, np.newaxis] * along, axis=1)
        if distances.size and distances.max() > TOLERANCE:
            at = first + 1 + int(distances.argmax())
            kept[at] = True
            parts += [(first, at), (at, last)]
    return points[kept]


def _image(link: str) -> str:
    """Return an image with a palette, if its colours are few enough for it to be the same."""
    image = Image.open(BytesIO(base64.b64decode(link.removeprefix(PNG)))).convert("RGBA")
    pixels = np.asarray(image).reshape(-1, 4)
    colours, places = np.unique(pixels, axis=0, return_inverse=True)
    if len(colours) > 256:
        return link
    indexed = Image.fromarray(places.reshape(image.size[::-1]).astype(np.uint8), mode="P")
    indexed.putpalette(colours[:, :3].tobytes())
    data = BytesIO()
    indexed.save(data, "PNG", optimize=True, transparency=colours[:, 3].tobytes())
    return min(link, PNG + base64.b64encode(data.getvalue()).decode(), key=len)


def _styles_to_classes(root: ET.Element) -> None:
    sheet = root.find(f"{SVG}defs/{SVG}style")
    if sheet is None:
        sheet = ET.SubElement(root, f"{SVG}style")
    names = _names()
    classes: dict[str, str] = {}
    for element in root.iter():
        style = re.sub(r"([:;,]) ", r"\1", element.attrib.pop("style", ""))
        if style:
            if style not in classes:
                classes[style] = next(names)
            element.set("class", classes[style])
    rules = [f".{name}{{{style}}}" for style, name in classes.items()]
    sheet.text = "\n".join([sheet.text or "", *rules])
