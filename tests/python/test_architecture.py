"""Who may use whom: the layers of the package and of the core, read from their sources."""

from __future__ import annotations

import ast
import functools
import graphlib
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gegenbauer

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "gegenbauer"
CPP = ROOT / "cpp"

# The one rule of imports: a package may use those before it, and none after it.
ORDER = [
    "basis", "ridge", "selection", "inspection", "estimators", "export", "persistence", "plotting",
    "report", "dask", "cli",
]  # fmt: skip
BEFORE = {name: set(ORDER[:rank]) for rank, name in enumerate(ORDER)}
BEFORE["batches"] = set()  # which estimators, and what stands after them, may use
for name in ORDER[ORDER.index("estimators") :]:
    BEFORE[name].add("batches")
# Modules that all may use; each of them only those before it
FREE = [
    "_cpu",
    "_core",
    "_rows",
    "_messages",
    "errors",
    "_typing",
    "_dispatch",
    "_locks",
    "_memory",
    "_html",
    "_tables",
    "_tensors",
    "_validation",
    "_renamed",
]

# Who may import what is not ours, beside NumPy and the standard library
FOREIGN = {
    "sklearn": {"estimators", "export", "persistence", "plotting", "report", "dask", "cli"},
    "scipy": {
        "ridge",
        "selection",
        "inspection",
        "estimators",
        "persistence",
        "plotting",
        "report",
        "dask",
        "cli",
    },
    "pandas": {"batches", "estimators", "cli"},
    "polars": {"batches", "estimators", "cli"},
    "pyarrow": {"batches", "cli"},
    "safetensors": {"persistence"},
    "matplotlib": {"plotting", "report", "cli"},  # which puts two plots into one file
    "dask": {"dask"},
    "distributed": {"dask"},
    "typer": {"cli"},
    "rich": {"cli"},
    "sympy": {"inspection"},
    "shap": {"inspection"},
    "onnx": {"export"},
    "skl2onnx": {"export"},
    "joblib": {"_dispatch"},
    "threadpoolctl": {"_dispatch"},
    "tqdm": {"estimators"},
}

# Packages whose public names are importable from the package itself
PUBLIC = ["batches", "errors", *ORDER[:-1]]

CPP_LAYERS = [
    ["types", "error", "aligned", "packet", "sizes", "unroll", "cost_units"],
    [
        "loop_trace",
        "parallel",
        "panels",
        "tiles",
        "levels",
        "spectrum",
        "polynomial",
        "input_functions",
        "multi_index",
        "index_set_counts",
        "graded_terms",
        "terms_of_largest_weight",
        "halves",
        "samples",
        "peak",
        "angle_grid",
        "angle_axis",
    ],
    ["tensor_basis"],
    ["design", "depth_first", "staircase", "chebyshev_form"],
    ["term_grid"],
    [
        "normal_equations",
        "feature_blocks",
        "cross_of_few",
        "cross_of_many",
        "sums_over_terms",
        "moments",
        "moment_sums",
        "moment_assembly",
        "moment_maps",
        "kernel",
        "kernel_sweep",
        "kernel_products",
        "predict",
        "extended_gradient",
    ],
    ["total_degree_kernel", "spectrum_kernel", "spectrum_gradient"],
]
KNOWS_NO_BASIS = {
    "triangular", "triangular_tiles", "cholesky", "extreme_eigenvalues", "orthogonal", "refine",
    "dual_system",
    "band_form", "band_blocks", "band_reduction", "band_reflectors", "band_factors",
}  # fmt: skip
BELOW_NO_BASIS = {
    "types", "error", "aligned", "packet", "sizes", "unroll", "loop_trace", "parallel", "panels",
    "tiles",
}  # fmt: skip
CPP_TOP = [  # join both sides
    "cost", "ridge_problem", "ridge_cholesky", "ridge_orthogonal", "ridge", "kernel_ridge",
]  # fmt: skip


def room(path: Path) -> str:
    """Return the package, or the module beside the packages, that a file is in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCES
}


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree(path)))


@pytest.fixture(scope="module", autouse=True)
def trees_for_a_while():
    """Let go of a million nodes: each later garbage collection would look at them."""
    yield
    for cached in (tree, nodes):
        cached.cache_clear()


def imports(path: Path, *, top_level: bool = False) -> list[tuple[str, str]]:
    """Return the (module, name) pairs that a file imports, in functions, too, unless `top_level`.

    Imports for the type checker alone count: they are dependencies of thought.
    """
    found = []
    for node in tree(path).body if top_level else nodes(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports within the package are absolute"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.append((full, "") if full in MODULES else (node.module, alias.name))
    return found


def ours(found: list[tuple[str, str]]) -> set[str]:
    """Rooms of our package; "" is the package itself."""
    parts = (module.split(".") for module, _ in found)
    return {part[1] if len(part) > 1 else "" for part in parts if part[0] == "gegenbauer"}


class TestPython:
    def test_every_module_has_a_place(self):
        assert len(SOURCES) > 100  # of which the tests below are
        others = {"__init__", "__main__", "reference"}
        assert {room(path) for path in SOURCES} <= set(BEFORE) | set(FREE) | others

    def test_uses_only_what_stands_before_it(self):
        for path in SOURCES:
            own = room(path)
            if own in ("__init__", "__main__", "reference"):
                continue
            if own in FREE:
                # the version of the package is all that it needs of itself
                assert ours(imports(path)) - {own, ""} <= set(FREE[: FREE.index(own)]), path
            else:
                allowed = BEFORE[own] | set(FREE) | {own}
                # the demo measures the library against the paper
                allowed |= {"reference"} if path.name == "demo.py" else set()
                assert ours(imports(path)) - {""} <= allowed, path

    def test_private_names_stay_in_their_module(self):
        for path in SOURCES:
            for module, name in imports(path):
                if not module.startswith("gegenbauer"):
                    continue
                private = name.startswith("_") and not name.startswith(("__", "_core", "_cpu"))
                assert not private, (
                    f"{path}: {name} of {module} is private: give it a name without underscore"
                )

    def test_third_parties_have_their_rooms(self):
        known = {"gegenbauer", "numpy", *sys.stdlib_module_names}
        for path in SOURCES:
            foreign = {module.partition(".")[0] for module, _ in imports(path)} - known
            assert foreign <= set(FOREIGN), path
            for name in foreign:
                assert room(path) in FOREIGN[name], f"{path}: {name} is not for {room(path)}"

    def test_no_circles(self):
        graph = import_graph(PACKAGE.parent, "gegenbauer")
        # a package names what its modules hold, and imports them
        inner = {
            name: used - {"gegenbauer"} for name, used in graph.items() if name != "gegenbauer"
        }
        tuple(graphlib.TopologicalSorter(inner).static_order())

    def test_reference_stands_alone(self):
        # `gegenbauer demo` shows its time beside ours; for everything else it is an oracle outside.
        users = [path for path in SOURCES if "reference" in ours(imports(path))]
        assert [path.relative_to(PACKAGE).as_posix() for path in users] == ["cli/commands/demo.py"]
        assert ours(imports(PACKAGE / "reference.py")) == set()

    def test_state_of_estimators_is_read_as_a_whole_in_one_place(self):
        """By `_without`, `_become` and `_learn_from`; elsewhere by attributes that are declared."""
        users = set()
        for path in SOURCES:
            for node in nodes(path):
                whole = isinstance(node, ast.Attribute) and node.attr == "__dict__"
                by_call = isinstance(node, ast.Call) and ast.unparse(node.func) == "vars"
                if whole or by_call:
                    users.add(path.relative_to(PACKAGE).as_posix())
        # a client of Dask stays itself in a deep copy; sums over samples are no estimators
        others = {"dask/_base.py", "ridge/statistics/_base.py"}
        assert users == {"estimators/_base.py"} | others

    def test_what_is_fitted_is_no_matter_of_hasattr(self):
        for path in SOURCES:
            for node in nodes(path):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr":
                    name = ast.unparse(node.args[1]).strip("'")
                    allowed = not name.endswith("_") or name.startswith("__")
                    assert allowed, f"{path}: hasattr of {name}"

    def test_import_is_light(self):
        code = (
            "import gegenbauer, sys; "
            "print([m for m in ('sklearn', 'scipy', 'safetensors', 'pandas', 'typer', 'rich', "
            "'matplotlib', 'dask', 'distributed', 'pyarrow') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"

    def test_one_private_module_of_scikit_learn(self):
        """Where scikit-learn has no public name; a second entry needs a good reason."""
        private = {
            module
            for path in SOURCES
            for module, _ in imports(path)
            if module.startswith("sklearn.") and "._" in module
        }
        assert private == {"sklearn.utils._param_validation"}


class TestPublicNames:
    def test_they_exist(self):
        assert sorted(gegenbauer.__all__) == gegenbauer.__all__
        assert len(gegenbauer.__all__) <= 28
        for name in gegenbauer.__all__:
            assert getattr(gegenbauer, name) is not None
            assert name in dir(gegenbauer)
        with pytest.raises(AttributeError, match=r"no attribute 'no_such_name'$"):
            gegenbauer.no_such_name  # noqa: B018

    @pytest.mark.parametrize("package", PUBLIC)
    def test_packages_have_theirs(self, package):
        if package in ("dask", "plotting", "report"):
            pytest.importorskip("dask" if package == "dask" else "matplotlib")
        module = importlib.import_module(f"gegenbauer.{package}")
        assert sorted(module.__all__) == module.__all__
        for name in module.__all__:
            found = getattr(module, name)
            assert found.__doc__ or not callable(found)

    def test_errors_are_all_in_one_place(self):
        for path in SOURCES:
            for node in nodes(path):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    bases = {ast.unparse(base) for base in node.bases}
                    ends = ("Error", "Warning", "Exception")
                    if any(base.endswith(ends) for base in bases):
                        allowed = ("errors", "batches", "cli")
                        assert room(path) in allowed, f"{node.name} belongs into gegenbauer.errors"

    def test_names_that_live_elsewhere_name_the_place(self):
        with pytest.raises(AttributeError, match=r"it is in gegenbauer\.selection$"):
            gegenbauer.learn_spectrum  # noqa: B018
        assert not hasattr(gegenbauer, "OutOfRangeWarning")
        assert gegenbauer.errors.OutOfRangeWarning.__module__ == "gegenbauer.errors"
        for package in set(PUBLIC) - {"dask"}:
            for name in importlib.import_module(f"gegenbauer.{package}").__all__:
                if name not in gegenbauer.__all__:
                    with pytest.raises(AttributeError, match=f"no attribute '{name}': it is in "):
                        getattr(gegenbauer, name)

    def test_packages_come_when_they_are_looked_up(self):
        code = (
            "import gegenbauer, sys; "
            "found = hasattr(gegenbauer, 'no_such_name'), 'sklearn' in sys.modules; "
            "print(*found, {'errors', 'estimators', 'plotting'} <= set(dir(gegenbauer)), "
            "gegenbauer.estimators.GegenbauerRegressor is gegenbauer.GegenbauerRegressor)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "False False True True"


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
        for node in nodes(path):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: imports are absolute"
                # `from package import x` is an import of the module x, where there is one.
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= {one if one in paths else str(node.module) for one in full}
        graph[name] = (used & set(paths)) - {name}
    return graph


def shared_generators(code: ast.Module) -> list[int]:
    """Return lines of functions that draw from generators which the file or their class keeps.

    What such a function draws depends on which others ran before it in the same process.
    """
    lines = []
    for scope in [code, *(node for node in ast.walk(code) if isinstance(node, ast.ClassDef))]:
        assigned = [node for node in scope.body if isinstance(node, ast.Assign)]
        kept = {
            ast.unparse(node.targets[0])
            for node in assigned
            if isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) == "np.random.default_rng"
        }
        if isinstance(scope, ast.ClassDef):
            kept = {f"self.{name}" for name in kept}
        for function in (node for node in ast.walk(scope) if isinstance(node, ast.FunctionDef)):
            inner = [n for n in ast.walk(function) if isinstance(n, ast.Name | ast.Attribute)]
            own = {ast.unparse(n) for n in inner if isinstance(n.ctx, ast.Store)}
            lines += [n.lineno for n in inner if ast.unparse(n) in kept - own]
    return sorted(set(lines))


class TestTests:
    def test_each_draws_its_own_random_numbers(self):
        sources = {path.name: path.read_text(encoding="utf-8") for path in TESTS}
        found = {name: shared_generators(ast.parse(text)) for name, text in sources.items()}
        assert {name: lines for name, lines in found.items() if lines} == {}

    def test_shared_ones_are_noticed(self):
        code = """rng = np.random.default_rng(0)
x = rng.normal()
def f():
    return rng.normal()
def g():
    rng = other()
    return rng.normal()
class T:
    rng = np.random.default_rng(0)
    def f(self):
        return self.rng.normal()
class U:
    def f(self):
        return self.rng.normal()
"""
        assert shared_generators(ast.parse(code)) == [4, 11]


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
    """Name our headers that a file includes, those that only the core sees among them."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r'^\s*#\s*include\s*"(?:gegenbauer/)?(\w+)\.hpp"', text, re.MULTILINE))


def allowed_headers(name: str) -> set[str]:
    if name in CPP_TOP:
        below = set(CPP_TOP[: CPP_TOP.index(name)])
        return {header for layer in CPP_LAYERS for header in layer} | KNOWS_NO_BASIS | below
    if name in KNOWS_NO_BASIS:
        return BELOW_NO_BASIS | KNOWS_NO_BASIS
    rank = next(rank for rank, layer in enumerate(CPP_LAYERS) if name in layer)
    return {header for layer in CPP_LAYERS[: rank + 1] for header in layer}


PUBLIC_HEADERS = sorted((CPP / "include" / "gegenbauer").rglob("*.hpp"))
PRIVATE_HEADERS = sorted((CPP / "src").rglob("*.hpp"))
CORE_FILES = [*PUBLIC_HEADERS, *PRIVATE_HEADERS, *sorted((CPP / "src").rglob("*.cpp"))]


class TestCpp:
    def test_every_file_has_a_place(self):
        known = {*CPP_TOP} | KNOWS_NO_BASIS | {name for layer in CPP_LAYERS for name in layer}
        assert {path.stem for path in CORE_FILES} == known

    def test_names_of_headers_are_unique(self):
        names = [path.name for path in [*PUBLIC_HEADERS, *PRIVATE_HEADERS]]
        assert len(set(names)) == len(names)

    def test_private_headers_stay_in_the_core(self):
        outside = [*PUBLIC_HEADERS, *(CPP / "bindings").iterdir(), *(ROOT / "tests/cpp").iterdir()]
        private = {path.stem for path in PRIVATE_HEADERS}
        assert private
        assert {path.name for path in outside if includes(path) & private} == set()

    def test_sizes_are_converted_and_rounded_in_one_place(self):
        """By `sizes.hpp`: sums before a division overflow where `divide_up` does not."""
        written = re.compile(r"\+ (\w+(?:<\w+>)?) - 1\) / \1\b|static_cast<std::size_t>\(\w+\)\]")
        by_hand = {
            path.name for path in CORE_FILES if written.search(path.read_text(encoding="utf-8"))
        }
        assert by_hand == set()

    def test_includes_only_what_stands_before_it(self):
        assert CORE_FILES
        for path in CORE_FILES:
            assert includes(path) - {path.stem} <= allowed_headers(path.stem), path

    def test_bindings_see_nothing_that_depends_on_the_isa_variant(self):
        """They are compiled once and linked into the modules of all ISA variants."""
        graph = {path.stem: includes(path) for path in PUBLIC_HEADERS}
        seen: set[str] = set()
        waiting = {header for path in (CPP / "bindings").iterdir() for header in includes(path)}
        while waiting:
            header = waiting.pop()
            seen.add(header)
            waiting |= graph.get(header, set()) - seen
        depends = re.compile(r"GEGENBAUER_ISA_NAME|__AVX|__SSE|EIGEN_VECTORIZE")
        assert {"spectrum_kernel", "moments", "band_form"} <= seen
        for path in PUBLIC_HEADERS:
            if path.stem in seen:
                text = path.read_text(encoding="utf-8")
                assert not depends.search(text), path
                assert "packet" not in includes(path), path

    def test_no_circles(self):
        graph = {path.stem: includes(path) for path in [*PUBLIC_HEADERS, *PRIVATE_HEADERS]}
        tuple(graphlib.TopologicalSorter(graph).static_order())

    def test_core_knows_no_python(self):
        for path in CORE_FILES:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"#\s*include\s*[<\"](pybind11|Python\.h)", text), path

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
