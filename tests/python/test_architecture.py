"""Who may use whom: the layers of the package and of the core, read from their sources."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "gegenbauer"
CPP = ROOT / "cpp"

# A module may use its own layer and those before it, never in a circle.
PYTHON_LAYERS = [
    ["_cpu", "_core", "_core_avx2", "_core_avx512"],
    ["_dispatch", "_locks"],
    ["_arrays"],
    ["spectrum"],
    [
        "basis",
        "_angle_grid",
        "statistics",
        "ridge",
        "kernel",
        "selection",
        "spectrum_search",
        "basis_search",
        "calibration",
        "_scores",
        "insight",
    ],
    [
        "progress",
        "_column_types",
        "_csv_text",
        "batches",
        "features",
        "targets",
        "streaming",
        "estimators",
        "model_selection",
        "explain",
    ],
    ["__init__", "__main__", "display", "persistence", "onnx", "dask", "cli"],
]
FUNCTIONAL = {module for layer in PYTHON_LAYERS[1:5] for module in layer}
LAYER = {module: rank for rank, layer in enumerate(PYTHON_LAYERS) for module in layer}

CPP_LAYERS = [
    ["types", "error", "packet"],
    [
        "parallel",
        "tiles",
        "spectrum",
        "polynomial",
        "multi_index",
        "halves",
        "samples",
        "peak",
        "angle_grid",
    ],
    ["tensor_basis"],
    ["design", "depth_first", "staircase"],
    ["normal_equations", "moments", "kernel", "predict", "extended_gradient", "leverage"],
    ["total_degree_kernel", "spectrum_kernel", "spectrum_gradient"],
]
KNOWS_NO_BASIS = {
    "triangular", "cholesky", "band_form", "spectral", "orthogonal", "refine", "dual_system",
    "prefix_path",
}  # fmt: skip
BELOW_NO_BASIS = {"types", "error", "packet", "parallel", "tiles"}
CPP_TOP = [  # join both sides
    "cost", "ridge_problem", "ridge_cholesky", "ridge_orthogonal", "ridge", "kernel_ridge",
]  # fmt: skip


def sources() -> dict[str, list[Path]]:
    """Files by module; a folder within the package is one module."""
    found: dict[str, list[Path]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        first = path.relative_to(PACKAGE).parts[0]
        found.setdefault(first.removesuffix(".py"), []).append(path)
    return found


def imports(paths: list[Path], *, top_level: bool = False) -> set[str]:
    """Name the modules that files import, inside of functions, too, unless `top_level`.

    Imports for the type checker alone count: they are dependencies of thought.
    """
    nodes: list[ast.AST] = []
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes += tree.body if top_level else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{paths[0]}: imports within the package are absolute"
            assert node.module is not None
            if node.module == "gegenbauer":
                found |= {f"gegenbauer.{alias.name}" for alias in node.names}
            else:
                found.add(node.module)
    return found


def ours(modules: set[str]) -> set[str]:
    """Those of our package, by their short names; `gegenbauer` itself is `__init__`."""
    inner = {name.split(".")[1] for name in modules if name.startswith("gegenbauer.")}
    return inner | ({"__init__"} if "gegenbauer" in modules else set())


def foreign(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] != "gegenbauer"}


class TestPython:
    def test_every_module_has_a_place(self):
        assert set(sources()) - {"reference"} <= set(LAYER)

    @pytest.mark.parametrize("name", sorted(set(sources()) - {"reference"}))
    def test_uses_only_what_stands_before_it(self, name):
        # A public name of the package itself, like __version__, may come from anywhere.
        used = ours(imports(sources()[name])) & (set(sources()) | set(LAYER)) - {"reference"}
        assert not {module for module in used if LAYER[module] > LAYER[name]}

    def test_no_circles(self):
        graph = {name: ours(imports(paths)) - {name} for name, paths in sources().items()}
        tuple(graphlib.TopologicalSorter(graph).static_order())

    def test_reference_stands_alone(self):
        # `gegenbauer demo` shows its time beside ours; for everything else it is an oracle outside.
        users = [
            path.relative_to(PACKAGE).as_posix()
            for paths in sources().values()
            for path in paths
            if "reference" in ours(imports([path]))
        ]
        assert users == ["cli/demo.py"]
        assert foreign(imports(sources()["reference"])) == imports(sources()["reference"])

    @pytest.mark.parametrize("name", sorted(FUNCTIONAL & set(sources())))
    def test_functional_layer_knows_no_scikit_learn(self, name):
        roots = {module.partition(".")[0] for module in foreign(imports(sources()[name]))}
        assert "sklearn" not in roots

    def test_package_imports_only_the_functional_layer_at_once(self):
        used = ours(imports(sources()["__init__"], top_level=True))
        assert used <= FUNCTIONAL

    def test_import_is_light(self):
        code = (
            "import gegenbauer, sys; "
            "print([m for m in ('sklearn', 'scipy', 'safetensors', 'pandas', 'typer', 'rich', "
            "'matplotlib', 'dask', 'distributed') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"

    def test_one_private_module_of_scikit_learn(self):
        """Where scikit-learn has no public name; a second entry needs a good reason."""
        private = {
            module
            for paths in sources().values()
            for module in imports(paths)
            if module.startswith("sklearn.") and "._" in module
        }
        assert private == {"sklearn.utils._param_validation"}

    def test_public_names_exist(self):
        import gegenbauer

        assert sorted(gegenbauer.__all__) == gegenbauer.__all__
        for name in gegenbauer.__all__:
            assert getattr(gegenbauer, name) is not None
            assert name in dir(gegenbauer)
        assert not hasattr(gegenbauer, "no_such_name")


def import_graph(root: Path, *packages: str) -> dict[str, set[str]]:
    """Modules of packages beside the installed one, by dotted names, with those they import.

    As in `imports`, those of functions and for the type checker alone count.
    """
    paths = {}
    for path in (path for package in packages for path in sorted((root / package).rglob("*.py"))):
        parts = path.relative_to(root).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        used = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: imports are absolute"
                # `from package import x` is an import of the module x, where there is one.
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= {one if one in paths else str(node.module) for one in full}
        graph[name] = (used & set(paths)) - {name}
    return graph


class TestBenchmarksAndExperiments:
    def test_no_circles(self):
        graph = import_graph(ROOT, "bench", "experiments")
        assert {"bench.cases.fits", "experiments.paper.trials"} <= set(graph)
        tuple(graphlib.TopologicalSorter(graph).static_order())

    def test_benchmarks_know_no_experiments(self):
        graph = import_graph(ROOT, "bench", "experiments")
        users = {name for name, used in graph.items() if any(u.startswith("exp") for u in used)}
        assert users
        assert {name.partition(".")[0] for name in users} == {"experiments"}

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            ("from pkg.b import x", "import pkg.a"),
            ("from pkg import b", "def f():\n    from pkg import a"),
            ("from pkg.b import x", "if TYPE_CHECKING:\n    from pkg.a import y"),
        ],
    )
    def test_circles_are_noticed(self, tmp_path, a, b):
        (tmp_path / "pkg").mkdir()
        for name, text in (("__init__", ""), ("a", a), ("b", b), ("c", "from pkg import a")):
            (tmp_path / "pkg" / f"{name}.py").write_text(text)
        graph = import_graph(tmp_path, "pkg")
        assert graph == {"pkg": set(), "pkg.a": {"pkg.b"}, "pkg.b": {"pkg.a"}, "pkg.c": {"pkg.a"}}
        with pytest.raises(graphlib.CycleError):
            tuple(graphlib.TopologicalSorter(graph).static_order())


def includes(path: Path) -> set[str]:
    """Name our headers that a file includes."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r'^\s*#\s*include\s*"gegenbauer/(\w+)\.hpp"', text, re.MULTILINE))


def allowed_headers(name: str) -> set[str]:
    if name in CPP_TOP:
        below = set(CPP_TOP[: CPP_TOP.index(name)])
        return {header for layer in CPP_LAYERS for header in layer} | KNOWS_NO_BASIS | below
    if name in KNOWS_NO_BASIS:
        return BELOW_NO_BASIS | KNOWS_NO_BASIS
    rank = next(rank for rank, layer in enumerate(CPP_LAYERS) if name in layer)
    return {header for layer in CPP_LAYERS[: rank + 1] for header in layer}


CORE_FILES = sorted([*(CPP / "include" / "gegenbauer").glob("*.hpp"), *(CPP / "src").glob("*.cpp")])


class TestCpp:
    def test_every_file_has_a_place(self):
        known = {*CPP_TOP} | KNOWS_NO_BASIS | {name for layer in CPP_LAYERS for name in layer}
        assert CORE_FILES
        assert {path.stem for path in CORE_FILES} <= known

    @pytest.mark.parametrize("path", CORE_FILES, ids=lambda path: path.name)
    def test_includes_only_what_stands_before_it(self, path):
        assert includes(path) - {path.stem} <= allowed_headers(path.stem)

    def test_no_circles(self):
        headers = [path for path in CORE_FILES if path.suffix == ".hpp"]
        graph = {path.stem: includes(path) for path in headers}
        tuple(graphlib.TopologicalSorter(graph).static_order())

    @pytest.mark.parametrize("path", CORE_FILES, ids=lambda path: path.name)
    def test_core_knows_no_python(self, path):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#\s*include\s*[<\"](pybind11|Python\.h)", text)

    def test_bindings_share_classes_and_the_release_of_the_gil(self):
        shared = re.compile(r"gil_scoped|call_guard|PyEval_|py::class_<[^>]*>\s*\w*\(")
        found = {
            path.name
            for path in (CPP / "bindings").glob("*.cpp")
            if shared.search(path.read_text(encoding="utf-8"))
        }
        assert found == set()
        header = (CPP / "bindings" / "bindings.hpp").read_text(encoding="utf-8")
        assert header.count("PyEval_RestoreThread") == 1
