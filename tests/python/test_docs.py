"""The documentation site, as far as it can be judged without Sphinx, which `.ci/run` has."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from posixpath import normpath

import pytest
from test_readme import PAGES

import gegenbauer
from gegenbauer.estimators import _documentation

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_site"))

import gallery  # noqa: E402  # both lie beside the settings of Sphinx, in no package
import stage  # noqa: E402

REFERENCE = DOCS / "reference"
PACKAGES = [
    "", "basis", "batches", "cli", "dask", "errors", "estimators", "export", "inspection",
    "persistence", "plotting", "reference", "report", "ridge", "ridge.statistics", "selection",
]  # fmt: skip


def listed(path: Path) -> list[tuple[str, bool]]:
    """Return the full names in the tables of a page, and whether they get pages by it."""
    text = path.read_text(encoding="utf-8")
    (package,) = re.findall(r"^\.\. currentmodule:: (\S+)", text, re.MULTILINE)[-1:] or re.findall(
        r"^\.\. automodule:: (\S+)", text, re.MULTILINE
    )
    found = []
    for block in re.split(r"^\.\. autosummary::$", text, flags=re.MULTILINE)[1:]:
        rows = re.split(r"^\S", block, maxsplit=1, flags=re.MULTILINE)[0]
        for name in re.findall(r"^   (\w[\w.]*)$", rows, re.MULTILINE):
            full = name if name.startswith("gegenbauer.") else f"{package}.{name}"
            found.append((full, ":toctree:" in rows))
    data = re.findall(r"^\.\. py:data:: (\S+)$", text, re.MULTILINE)
    return found + [(f"{package}.{name}", True) for name in data]


def entries(text: str) -> list[str]:
    """Return what stands in the navigation of a page."""
    tree = re.compile(r"^:::\{toctree\}\n:hidden:\n\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
    lines = "\n".join(tree.findall(text)).splitlines()
    return [re.sub(r".*<(.*)>$", r"\1", line) for line in lines if line]


def see_also(doc: str) -> list[str]:
    """Return the names in a section of a docstring, which ends where the next one begins."""
    section = re.compile(r"^See Also\n-+\n(.*?)(?=^\w[^\n]*\n-+$|\Z)", re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^([\w., ]+) :", "\n".join(section.findall(doc)), re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


def look_up(full: str) -> object:
    package, _, name = full.rpartition(".")
    return getattr(importlib.import_module(package), name)


class TestReference:
    PAGES = sorted(
        full for path in REFERENCE.glob("*.rst") for full, has_page in listed(path) if has_page
    )

    def test_each_name_has_one_page(self):
        assert len(self.PAGES) > 100
        assert len(set(self.PAGES)) == len(self.PAGES)
        kept = [look_up(full) for full in self.PAGES if full != "gegenbauer.__version__"]
        assert len({id(one) for one in kept}) == len(kept)

    @pytest.mark.parametrize("package", PACKAGES)
    def test_all_public_names_are_there(self, package):
        """With a page, under the name of the package itself or of the one that defines them."""
        if package in ("dask", "plotting", "report"):
            pytest.importorskip("dask" if package == "dask" else "matplotlib")
        module = importlib.import_module(f"gegenbauer.{package}".rstrip("."))
        pages = {id(look_up(full)): full for full in self.PAGES}
        assert module.__all__
        for name in module.__all__:
            assert id(getattr(module, name)) in pages, f"{name} of {module.__name__} has no page"

    @pytest.mark.parametrize("path", sorted(REFERENCE.glob("*.rst")), ids=lambda path: path.stem)
    def test_packages_show_all_of_theirs(self, path):
        """A reader who imports a name from a package finds it on the page of that package."""
        (name, *_) = path.read_text(encoding="utf-8").split("\n")
        module = importlib.import_module(name)
        shown = [full.rpartition(".")[2] for full, _ in listed(path)]
        assert sorted(shown) == sorted(module.__all__)

    def test_index_has_all_packages(self):
        text = (REFERENCE / "index.md").read_text(encoding="utf-8")
        linked = re.findall(r"\]\((\w+)\.rst\)", text)
        pages = sorted(path.stem for path in REFERENCE.glob("*.rst"))
        assert sorted(linked) == pages
        assert sorted(entries(text)) == pages

    def test_see_also_leads_to_public_names(self):
        """By their full names, or by short ones, which the site completes."""
        short = {full.rpartition(".")[2] for full in self.PAGES}
        seen = [
            (full, name)
            for full in self.PAGES
            for name in see_also(inspect.getdoc(look_up(full)) or "")
        ]
        unknown = [pair for pair in seen if pair[1] not in short and pair[1] not in self.PAGES]
        assert unknown == []
        without = {"gegenbauer.__version__"}
        for full in self.PAGES:
            one = look_up(full)
            if inspect.isclass(one) and issubclass(one, BaseException):  # shown side by side
                without.add(full)
        assert set(self.PAGES) - without <= {full for full, _ in seen}


class TestPages:
    PLACES = stage.pages(ROOT) | stage.gallery(ROOT)

    @pytest.mark.parametrize("path", stage.pages(ROOT))
    def test_links_resolve_on_the_site(self, path):
        text = (ROOT / path).read_text(encoding="utf-8")
        place = Path(self.PLACES[path])
        found = set(self.PLACES.values())
        staged = stage.rewrite_links(text, path, self.PLACES)
        for plot, label, target in stage.LINK.findall(staged):
            name = target.partition("#")[0]
            if plot:
                assert (ROOT / path).parent.joinpath(name).is_file(), target
            elif name and "://" not in name:
                assert normpath((place.parent / name).as_posix()) in found, (label, target)

    def test_only_files_that_are_no_pages_lose_their_links(self):
        lost = set()
        for path in stage.pages(ROOT):
            text = (ROOT / path).read_text(encoding="utf-8")
            staged = stage.rewrite_links(text, path, self.PLACES)
            labels = [label for _, label, _ in stage.LINK.findall(staged)]
            for _, label, target in stage.LINK.findall(text):
                if label in labels:
                    labels.remove(label)
                else:
                    lost.add(target.rpartition("/")[2])
        assert lost <= {"NOTICE", "CITATION.cff", "SECURITY.md"}

    def test_links_are_rewritten_outside_of_code(self):
        places = {"README.md": "start.md", "docs/a.md": "a.md", "docs/b/c.md": "b/c.md"}
        text = "[x](a.md#y) ![p](q.svg) [z](../NOTICE) [e](https://e.org)\n```\n[x](a.md)\n```\n"
        text = text.replace("a.md", "../a.md").replace("../NOTICE", "../../NOTICE")
        expected = "[x](../a.md#y) ![p](q.svg) z [e](https://e.org)\n```\n[x](../a.md)\n```\n"
        assert stage.rewrite_links(text, "docs/b/c.md", places) == expected
        assert stage.rewrite_links("[g](docs/b/c.md)", "README.md", places) == "[g](b/c.md)"

    def test_every_page_is_in_the_navigation(self):
        """Once each, from the index down."""
        reached = ["index"]
        sources = {place: path for path, place in self.PLACES.items()}
        for name in reached:
            source = sources.get(f"{name}.md")
            text = (ROOT / source).read_text(encoding="utf-8") if source else ""
            for entry in entries(text):
                child = normpath((Path(name).parent / entry).as_posix())
                assert child not in reached
                reached.append(child)
        pages = {place.rpartition(".")[0] for place in stage.pages(ROOT).values()}
        assert pages | {"gallery/index"} == set(reached)

    def test_all_code_of_pages_is_run(self):
        """By test_readme.py, which lists the pages; a page with code that is not there fails."""
        commands = {"CONTRIBUTING.md", "bench/README.md", "cpp/README.md"}
        commands |= {"experiments/paper/README.md"}  # for those who have a compiler, and hours
        for path in stage.pages(ROOT):
            text = (ROOT / path).read_text(encoding="utf-8")
            languages = set(re.findall(r"^```(\w+)", text, re.MULTILINE))
            assert languages <= ({"sh"} if path in commands else {"python", "sh"}), path
            assert not languages or path in PAGES or path in commands, path

    @pytest.mark.parametrize("path", stage.pages(ROOT))
    def test_plots_have_alternative_text(self, path):
        text = (ROOT / path).read_text(encoding="utf-8")
        for plot, label, target in stage.LINK.findall(text):
            assert not plot or len(label) > 10, f"{path}: describe {target}"
        assert "<img" not in text

    def test_gallery_has_an_order(self):
        assert sorted(gallery.ORDER) == sorted(p.stem for p in (ROOT / "examples").glob("*.py"))
        key = gallery.Place("examples")
        assert [key(f"{name}.py") for name in gallery.ORDER] == list(range(12))


class TestAddress:
    def test_it_stands_in_one_place(self):
        """What is installed has it from pyproject.toml."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        address = project.get("urls", {}).get("Documentation", "")
        assert _documentation.documentation_address() == address.rstrip("/")

    @pytest.mark.parametrize("estimator", gegenbauer.estimators.__all__)
    @pytest.mark.parametrize("package", ["gegenbauer", "gegenbauer.dask"])
    def test_diagrams_link_to_the_page_of_the_estimator(self, monkeypatch, package, estimator):
        if package == "gegenbauer.dask":
            pytest.importorskip("dask")
        model = look_up(f"{package}.{estimator}")()
        found = metadata.metadata("gegenbauer")
        del found["Project-URL"]
        monkeypatch.setattr(metadata, "metadata", lambda name: found)
        assert model._get_doc_link() == ""  # there is no address
        assert "<a class=" not in model._repr_html_()
        found["Project-URL"] = "Source, https://example.org/source"
        assert model._get_doc_link() == ""
        found["Project-URL"] = "Documentation, https://example.org/docs/"
        page = f"{package}.{estimator}"
        assert page in TestReference.PAGES
        link = f"https://example.org/docs/reference/{page}.html"
        assert model._get_doc_link() == link
        assert link in model._repr_html_()

    def test_classes_of_users_have_no_page(self, monkeypatch):
        monkeypatch.setattr(_documentation, "documentation_address", lambda: "https://e.org")

        class Mine(gegenbauer.GegenbauerRegressor):
            pass

        assert Mine()._get_doc_link() == ""
        assert gegenbauer.GegenbauerRegressor()._get_doc_link() != ""
