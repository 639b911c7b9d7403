"""Copy the pinned headers of Eigen from an installed package into the source tree.

Usage: stage_eigen.py PYPROJECT DESTINATION

The pins are the ``build.requires`` of the overrides in PYPROJECT, and nowhere else. The first of
them that is installed is copied, unless DESTINATION already holds that version. Without any, as in
a build from the source distribution, what DESTINATION holds must be one of the pins.

Only the files that the modules of the core include are copied, in whichever branch of a condition:
a third of the headers of Eigen are of its sparse solvers, geometry and bindings of other libraries.

The package is looked up through ``importlib.metadata``, which sees the build environments of every
installer; a search of ``CMAKE_PREFIX_PATH`` does not find it under pip's build isolation.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

# Where each package keeps the folder that holds Eigen/Core, relative to site-packages.
HEADERS = {
    "eigency": "eigency/eigen",
    "cmeel-eigen": "cmeel.prefix/include/eigen3",
}
# What the sources include as <Eigen/NAME>.
MODULES = ("Core", "Householder", "LU")
STAMP = "STAGED_FROM"


def read_pins(pyproject: Path) -> dict[str, str]:
    """Return {package: version} of the Eigen packages that `pyproject` pins, in order."""
    overrides = tomllib.loads(pyproject.read_text("utf-8"))["tool"]["scikit-build"]["overrides"]
    requirements = [
        requirement.partition(";")[0].strip()
        for override in overrides
        for requirement in override.get("build", {}).get("requires", [])
    ]
    pins = dict(r.split("==") for r in requirements if r.partition("==")[0] in HEADERS)
    if not pins:
        raise SystemExit(f"{pyproject} pins none of {', '.join(HEADERS)}")
    return pins


def installed_version(package: str) -> str | None:
    """Return the version of `package` in this interpreter's path, None when it is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def included_headers(root: Path) -> set[Path]:
    """Return the files below `root`, relative to it, that `MODULES` include, and these include."""
    waiting = [Path("Eigen", module) for module in MODULES]
    found: set[Path] = set()
    while waiting:
        header = waiting.pop()
        if header in found:
            continue
        found.add(header)
        text = (root / header).read_text("utf-8")
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', text, re.MULTILINE):
            for folder in (root / header.parent, root):
                path = Path(os.path.normpath(folder / name))
                if path.is_relative_to(root) and path.is_file():
                    waiting.append(path.relative_to(root))
    return found


def copy_headers(package: str, stamp: str, destination: Path) -> None:
    """Replace `destination` by the headers and licence texts of `package`, whole or not at all."""
    source = Path(str(metadata.distribution(package).locate_file(HEADERS[package])))
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=destination.parent) as temporary:
        fresh = Path(temporary, "fresh")
        for header in sorted(included_headers(source)):
            (fresh / header).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / header, fresh / header)
        for text in source.glob("COPYING*"):
            shutil.copy2(text, fresh)
        (fresh / STAMP).write_text(stamp + "\n", "utf-8")
        if destination.exists():
            destination.rename(Path(temporary, "stale"))
        fresh.rename(destination)


def main(pyproject: Path, destination: Path) -> str:
    """Bring `destination` up to date and return the pin that it holds."""
    pins = [f"{package}=={version}" for package, version in read_pins(pyproject).items()]
    stamp_file = destination / STAMP
    staged = stamp_file.read_text("utf-8").strip() if stamp_file.exists() else None
    for pin in pins:
        package, _, version = pin.partition("==")
        if installed_version(package) == version:
            if staged != pin:
                copy_headers(package, pin, destination)
            return pin
    if staged in pins:
        return str(staged)
    raise SystemExit(
        f"none of {', '.join(pins)} is installed, and {destination} holds {staged or 'nothing'}.\n"
        f"Install one into this environment: {sys.executable} -m pip install '{pins[0]}'"
    )


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), Path(sys.argv[2])))
