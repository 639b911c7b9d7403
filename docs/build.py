"""Build the documentation site: ``python docs/build.py [FOLDER]``, by default ``build/site``.

The pages are laid out in ``FOLDER/source``, so that nothing is written beside their sources, and
the site is made in ``FOLDER/html``. It needs the dependency group ``docs`` and no network; a
warning of Sphinx is an error.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_site"))

from stage import stage  # noqa: E402  # it lies beside this program, in no package


def main() -> int:
    """Build the site; return the exit code of Sphinx."""
    from sphinx.cmd.build import main as sphinx

    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    folder = parser.parse_args().folder.resolve()
    source, html = folder / "source", folder / "html"
    for old in (source, html):
        shutil.rmtree(old, ignore_errors=True)
    stage(ROOT, source)
    print(f"Sources in {source}")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-c", str(ROOT / "docs")]
    code = sphinx([*options, "-d", str(folder / "doctrees"), str(source), str(html)])
    print(f"{html / 'index.html'}" if code == 0 else "the site has faults: see above")
    return code


if __name__ == "__main__":
    sys.exit(main())
