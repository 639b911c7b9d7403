from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

import gegenbauer

ROOT = Path(__file__).parents[2]
EIGEN_PACKAGES = {"eigency", "cmeel-eigen"}
MODULES = ("Core", "Householder", "LU")  # of Eigen, that the core uses


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def stage() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "stage_eigen", ROOT / "cpp" / "cmake" / "stage_eigen.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_files() -> list[Path]:
    """Everything but pyproject.toml that a version number could have been copied to."""
    return [
        ROOT / "CMakeLists.txt",
        ROOT / "CMakePresets.json",
        ROOT / "CITATION.cff",
        *(path for path in (ROOT / ".ci" / "run",) if path.exists()),
        *(path for path in (ROOT / "cpp" / "cmake").iterdir() if path.is_file()),
        *(ROOT / "cpp" / "bindings").glob("*.cpp"),
        *(ROOT / "python" / "gegenbauer").rglob("*.py"),
    ]


class TestVersion:
    def test_installed_version_is_that_of_pyproject(self, pyproject):
        version = pyproject["project"]["version"]
        assert metadata.version("gegenbauer") == version
        assert gegenbauer.__version__ == version

    def test_stands_nowhere_else(self, pyproject):
        number = re.compile(rf"(?<![\d.]){re.escape(pyproject['project']['version'])}(?![\d.])")
        assert [p.name for p in build_files() if number.search(p.read_text("utf-8"))] == []

    def test_changelog_knows_it(self, pyproject):
        assert pyproject["project"]["version"] in (ROOT / "CHANGELOG.md").read_text("utf-8")


class TestWheel:
    def test_needs_only_scikit_learn_and_what_that_needs(self):
        requirements = map(Requirement, metadata.requires("gegenbauer") or [])
        needed = {r.name for r in requirements if "extra" not in str(r.marker)}
        assert needed == {"joblib", "numpy", "scikit-learn", "scipy"}
        theirs = {Requirement(text).name for text in metadata.requires("scikit-learn") or []}
        assert needed - {"scikit-learn"} <= theirs

    def test_extras_are_those_that_users_need(self, pyproject):
        """What only a checkout needs is a dependency group, which no wheel carries."""
        extras = set(pyproject["project"]["optional-dependencies"])
        assert {"cli", "dask", "io", "plot", "sympy", "table"} <= extras
        assert extras.isdisjoint(pyproject["dependency-groups"])
        assert {"test", "bench", "lint", "dev"} <= set(pyproject["dependency-groups"])

    def test_command_is_registered(self):
        (script,) = metadata.distribution("gegenbauer").entry_points.select(group="console_scripts")
        assert (script.name, script.value) == ("gegenbauer", "gegenbauer.cli:main")

    @pytest.mark.parametrize("name", ["py.typed", "_core.pyi", "_cpu.pyi"])
    def test_ships_types(self, name):
        assert resources.files("gegenbauer").joinpath(name).is_file()

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("LICENSE", "BSD 3-Clause"),
            ("NOTICE", "Eigen"),
            ("LICENSES/MPL-2.0.txt", "Mozilla Public License"),
            ("LICENSES/Apache-2.0.txt", "Apache License"),
            ("LICENSES/pybind11.txt", "Wenzel Jakob"),
        ],
    )
    def test_ships_licence_texts(self, name, text):
        distribution = metadata.distribution("gegenbauer")
        assert name in distribution.metadata.get_all("License-File", [])
        assert text in (distribution.read_text(f"licenses/{name}") or "")

    def test_import_brings_no_optional_package(self):
        optional = ["matplotlib", "pandas", "pyarrow", "rich", "safetensors", "typer"]
        code = f"import gegenbauer, sys; print([m for m in {optional} if m in sys.modules])"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


class TestRelease:
    def test_wheels_are_built_for_every_python_that_is_declared(self, pyproject):
        project = pyproject["project"]
        declared = {
            name.rpartition(" ")[2]
            for name in project["classifiers"]
            if re.fullmatch(r".*Python :: 3\.\d+", name)
        }
        built = {f"3.{name[3:5]}" for name in pyproject["tool"]["cibuildwheel"]["build"]}
        assert built == declared
        assert f">={min(declared)}" == project["requires-python"]

    def test_workflows_run_nothing_that_can_move(self):
        """Actions are pinned by hashes; the tag beside them is for the reader."""
        for workflow in (ROOT / ".github" / "workflows").iterdir():
            used = re.findall(r"uses: (.*)", workflow.read_text("utf-8"))
            assert used
            assert [u for u in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", u)] == []

    def test_tests_of_free_threaded_python_need_what_their_group_holds(self, pyproject):
        """Their packages, and those that ours needs, have wheels for it."""
        workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
        files = re.findall(r"tests/python/(test_\w+)\.py", workflow)
        group = [Requirement(text).name for text in pyproject["dependency-groups"]["numerical"]]
        needed = [Requirement(text).name for text in pyproject["project"]["dependencies"]]
        known = {name.replace("scikit-learn", "sklearn") for name in (*group, *needed)}
        known |= {"gegenbauer", "xdist", "threadpoolctl", *sys.stdlib_module_names}
        assert len(files) > 5
        seen, left = set(), ["conftest", *files]
        while left:
            name = left.pop()
            tree = ast.parse((ROOT / "tests" / "python" / f"{name}.py").read_text("utf-8"))
            nodes = list(ast.walk(tree))
            found = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
            found |= {
                one.name for node in nodes if isinstance(node, ast.Import) for one in node.names
            }
            tops = {module.partition(".")[0] for module in found}
            own = {top for top in tops if (ROOT / "tests" / "python" / f"{top}.py").exists()}
            assert tops - own <= known, name
            left += own - seen
            seen |= own

    def test_development_has_what_the_words_of_make_need(self, pyproject):
        included = [
            one["include-group"]
            for one in pyproject["dependency-groups"]["dev"]
            if isinstance(one, dict)
        ]
        assert sorted(included) == ["docs", "lint", "test"]

    def test_make_knows_the_words_that_contributors_are_given(self):
        text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
        words = re.findall(r"^\| `make (\w+)` \|", text, re.MULTILINE)
        assert len(words) == 5
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert targets == words


class TestEigenPin:
    """The pins stand in pyproject.toml alone, and one of them applies to every environment."""

    def test_every_override_pins_exactly(self, pyproject, stage):
        pins = stage.read_pins(ROOT / "pyproject.toml")
        assert set(pins) == EIGEN_PACKAGES
        for override in pyproject["tool"]["scikit-build"]["overrides"]:
            assert override["if"]["from-sdist"] is False
            for text in override["build"]["requires"]:
                requirement = Requirement(text)
                assert str(requirement.specifier) == f"=={pins[requirement.name]}"

    def test_stands_nowhere_else(self, stage):
        for package, version in stage.read_pins(ROOT / "pyproject.toml").items():
            copies = [p.name for p in build_files() if version in p.read_text("utf-8")]
            assert copies == [], f"{package}=={version}"

    @pytest.mark.parametrize("abi_flags", ["", "t"])
    @pytest.mark.parametrize(
        ("platform", "machine", "package"),
        [
            ("linux", "x86_64", "eigency"),
            ("linux", "aarch64", "cmeel-eigen"),
            ("darwin", "arm64", "eigency"),
            ("darwin", "x86_64", "cmeel-eigen"),
            ("win32", "AMD64", "eigency"),
            ("win32", "ARM64", "cmeel-eigen"),
        ],
    )
    def test_one_package_serves(self, pyproject, platform, machine, package, abi_flags):
        environment = default_environment() | {
            "sys_platform": platform,
            "platform_machine": machine,
        }
        chosen = [
            requirement.name
            for override in pyproject["tool"]["scikit-build"]["overrides"]
            if re.search(override["if"]["abi-flags"], abi_flags)
            for requirement in map(Requirement, override["build"]["requires"])
            if requirement.marker is None or requirement.marker.evaluate(environment)
        ]
        assert chosen == ["cmeel-eigen" if abi_flags else package]

    def test_is_not_committed(self):
        assert "/cpp/third_party/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
        git = shutil.which("git")
        if git is not None and (ROOT / ".git").exists():
            listed = subprocess.run(
                [git, "ls-files", "cpp/third_party"],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            )
            assert listed.stdout == ""

    def test_licence_texts_are_those_of_the_staged_headers(self):
        staged = ROOT / "cpp" / "third_party" / "eigen"
        for theirs, ours in [("COPYING.MPL2", "MPL-2.0.txt"), ("COPYING.APACHE", "Apache-2.0.txt")]:
            if (staged / theirs).exists():  # cmeel-eigen ships none
                assert (staged / theirs).read_bytes() == (ROOT / "LICENSES" / ours).read_bytes()


class TestStaging:
    @pytest.fixture
    def site(self, tmp_path, monkeypatch):
        """A site-packages that goes before all others, with a function that installs into it."""
        site = tmp_path / "site"
        site.mkdir()
        monkeypatch.syspath_prepend(site)

        def install(package, version, headers, text):
            for old in site.iterdir():
                shutil.rmtree(old)
            info = site / f"{package.replace('-', '_')}-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
            )
            folder = site / headers
            (folder / "Eigen" / "src").mkdir(parents=True)
            for module in MODULES:
                (folder / "Eigen" / module).write_text("")
            (folder / "Eigen" / "Core").write_text(text)
            (folder / "COPYING.MPL2").write_text("terms")
            return folder

        return install

    @pytest.fixture
    def project(self, tmp_path):
        """A pyproject.toml with the given pins, of versions that nobody has installed."""

        def write(*pins):
            path = tmp_path / "pyproject.toml"
            path.write_text(
                "[[tool.scikit-build.overrides]]\nif.from-sdist = false\n"
                f"build.requires = {list(pins)}\n"
            )
            return path

        return write

    def test_copies_headers_and_licence(self, stage, site, project, tmp_path):
        site("eigency", "0.0.1", "eigency/eigen", "one")
        target = tmp_path / "third_party" / "eigen"
        assert stage.main(project("eigency==0.0.1"), target) == "eigency==0.0.1"
        assert (target / "Eigen" / "Core").read_text() == "one"
        assert (target / "COPYING.MPL2").read_text() == "terms"
        assert sorted(p.name for p in target.parent.iterdir()) == ["eigen"]

    def test_copies_once(self, stage, site, project, tmp_path):
        site("eigency", "0.0.1", "eigency/eigen", "one")
        pyproject, target = project("eigency==0.0.1"), tmp_path / "eigen"
        stage.main(pyproject, target)
        (target / "Eigen" / "Core").write_text("untouched")
        stage.main(pyproject, target)
        assert (target / "Eigen" / "Core").read_text() == "untouched"

    def test_changed_pin_replaces_all(self, stage, site, project, tmp_path):
        target = tmp_path / "eigen"
        site("eigency", "0.0.1", "eigency/eigen", "one")
        stage.main(project("eigency==0.0.1"), target)
        (target / "Eigen" / "Leftover").write_text("")
        site("eigency", "0.0.2", "eigency/eigen", "two")
        assert stage.main(project("eigency==0.0.2"), target) == "eigency==0.0.2"
        assert {p.name for p in (target / "Eigen").iterdir()} == set(MODULES)
        assert (target / "Eigen" / "Core").read_text() == "two"

    def test_copies_what_is_included_and_nothing_else(self, stage, site, project, tmp_path):
        text = '#include "src/used.h"\n#include <cmath>'
        source = site("eigency", "0.0.1", "eigency/eigen", text)
        (source / "Eigen" / "src" / "used.h").write_text('#ifdef X\n# include "./deeper.h"\n#endif')
        for name in ("deeper", "unused"):
            (source / "Eigen" / "src" / f"{name}.h").write_text("// #include <Eigen/Other>")
        (source / "Eigen" / "Other").write_text("")
        target = tmp_path / "eigen"
        stage.main(project("eigency==0.0.1"), target)
        files = {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()}
        assert files == {
            "COPYING.MPL2",
            "STAGED_FROM",
            "Eigen/src/deeper.h",
            "Eigen/src/used.h",
            *(f"Eigen/{module}" for module in MODULES),
        }

    def test_modules_are_those_that_the_sources_include(self):
        sources = [*(ROOT / "cpp").glob("[!t]*/**/*.?pp"), *(ROOT / "tests" / "cpp").glob("*.?pp")]
        included = {
            module
            for source in sources
            for module in re.findall(r"#include <Eigen/(\w+)>", source.read_text("utf-8"))
        }
        assert included == set(MODULES)

    def test_other_package_serves(self, stage, site, project, tmp_path):
        site("cmeel-eigen", "0.0.3", "cmeel.prefix/include/eigen3", "three")
        pins = project("eigency==0.0.1; sys_platform == 'linux'", "cmeel-eigen==0.0.3")
        assert stage.main(pins, tmp_path / "eigen") == "cmeel-eigen==0.0.3"

    def test_staged_headers_need_no_package(self, stage, project, tmp_path):
        target = tmp_path / "eigen"
        target.mkdir()
        (target / "STAGED_FROM").write_text("eigency==0.0.1\n")
        assert stage.main(project("eigency==0.0.1"), target) == "eigency==0.0.1"

    @pytest.mark.parametrize("staged", [None, "eigency==0.0.0"])
    def test_explains_what_to_install(self, stage, project, tmp_path, staged):
        target = tmp_path / "eigen"
        if staged is not None:
            target.mkdir()
            (target / "STAGED_FROM").write_text(staged)
        with pytest.raises(SystemExit, match=r"pip install 'eigency==0\.0\.1'"):
            stage.main(project("eigency==0.0.1"), target)

    def test_pins_must_exist(self, stage, project, tmp_path):
        with pytest.raises(SystemExit, match="pins none of eigency, cmeel-eigen"):
            stage.main(project("numpy==1.0"), tmp_path / "eigen")
