"""Lay out the pages of the site, with links between them as they stand there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Pages that stand beside what they describe, and their places on the site
ELSEWHERE = {
    "README.md": "start.md",
    "CHANGELOG.md": "developers/changes.md",
    "CONTRIBUTING.md": "developers/contributing.md",
    "bench/README.md": "developers/benchmarks.md",
    "cpp/README.md": "developers/core.md",
    "experiments/paper/README.md": "developers/experiments.md",
}
FENCE = re.compile(r"^( *(?:```|:::).*?^ *(?:```|:::)$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def pages(root: Path) -> dict[str, str]:
    """Return the places of all pages that are laid out, by their paths in the repository."""
    found = [*(root / "docs").rglob("*.md"), *(root / "docs" / "reference").glob("*.rst")]
    docs = (path.relative_to(root).as_posix() for path in sorted(found))
    return {path: path.removeprefix("docs/") for path in docs} | ELSEWHERE


def gallery(root: Path) -> dict[str, str]:
    """Return the places of the pages that sphinx-gallery makes of the examples."""
    examples = {f"examples/{path.name}": path.stem for path in (root / "examples").glob("*.py")}
    names = {"examples": "index"} | examples
    return {path: f"gallery/{name}.rst" for path, name in names.items()}


def rewrite_links(text: str, path: str, places: dict[str, str]) -> str:
    """Return the text of a page with the links that it has on the site.

    Parameters
    ----------
    text : str
        The page as it stands in the repository.
    path : str
        Where that is.
    places : dict
        The places of all pages.

    Returns
    -------
    str
        The same with links from its place to those of others. Links to files that are no pages,
        such as a licence, become their names; plots keep theirs, since they lie beside the page.
    """
    here = PurePosixPath(places[path]).parent

    def rewrite(match: re.Match[str]) -> str:
        plot, label, target = match.groups()
        name, hash_sign, anchor = target.partition("#")
        if plot or not name or "://" in name:
            return match[0]
        place = places.get(normpath(PurePosixPath(path).parent / name))
        return f"[{label}]({relpath(place, here)}{hash_sign}{anchor})" if place else label

    return outside_of_code(text, lambda part: LINK.sub(rewrite, part))


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """Return a page with all changed that is no block of code."""
    parts = FENCE.split(text)  # of which each second is a block
    parts[::2] = [change(part) for part in parts[::2]]
    return "".join(parts)


def stage(root: Path, source: Path) -> None:
    """Write all pages of the repository at `root`, and what they show, to a new folder."""
    staged = pages(root)
    places = staged | gallery(root)
    shutil.copytree(
        root / "docs", source, ignore=shutil.ignore_patterns("*.md", "*.py", "__pycache__", "_site")
    )
    for path, place in staged.items():
        text = (root / path).read_text(encoding="utf-8")
        target = source / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rewrite_links(text, path, places), encoding="utf-8")
