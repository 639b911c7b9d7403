"""Peak memory of public functions beside what they announce: ``python -m bench.footprints``.

What a function announces is the largest number of bytes that it gives to `require_memory`, which
refuses what does not fit: `gegenbauer.ridge.fit_memory` for one solve. Each case runs in a process
of its own, which makes the data and whatever the call starts from, runs a small problem once, and
then measures how far the call lifts the resident memory (`bench.memory`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gegenbauer as gg
from bench.machine import git_state, usable_cores
from bench.memory import UnsupportedError, in_fresh_process, rise_of
from gegenbauer import _memory, inspection, selection
from gegenbauer.basis import SpectrumKernel
from gegenbauer.batches import ArrayBatches
from gegenbauer.ridge import predict, predict_kernel
from gegenbauer.ridge.landmarks import choose_landmarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CASES", "Case", "Footprint", "announcements", "footprint_of", "measure", "table"]

MOST = 2.0  #: times what is announced
NOTICED = 1e8  #: bytes below which `require_memory` refuses nothing, and blocks of samples stay
ALPHA = 1e-3
SMALL = 60  # samples of the first run


@dataclass(frozen=True)
class Case:
    """A call whose memory grows with its sizes."""

    name: str
    build: Callable[..., Callable[[], object]]  #: makes the call from sizes, by name
    sizes: dict[str, int]

    @property
    def small_sizes(self) -> dict[str, int]:
        """Sizes of the run that loads libraries and starts threads."""
        most = {"S": SMALL, "L": 20, "K": 3, "new": SMALL, "M": 8}
        return {name: min(size, most.get(name, size)) for name, size in self.sizes.items()}


@dataclass(frozen=True)
class Footprint:
    """What one call announces and takes."""

    name: str
    sizes: dict[str, int]
    announced: float | None  #: bytes; None where nothing is announced
    what: str  #: the announcement is for
    peak: float  #: bytes

    @property
    def ratio(self) -> float | None:
        """Peak, in units of what is announced."""
        return self.peak / self.announced if self.announced else None

    @property
    def holds(self) -> bool:
        """Whether the peak is below twice what is announced, or below what is refused at all."""
        return self.peak <= max(NOTICED, MOST * (self.announced or 0.0))


@contextmanager
def announcements() -> Iterator[list[tuple[float, str]]]:
    """Collect the bytes that the package requires meanwhile, and for what."""
    found: list[tuple[float, str]] = []
    original = _memory.require_memory

    def require_memory(n_bytes: float, what: str, advice: Any) -> None:
        found.append((float(n_bytes), str(what)))
        original(n_bytes, what, advice)

    users = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("gegenbauer") and vars(module).get("require_memory") is original
    ]
    for module in users:
        vars(module)["require_memory"] = require_memory
    try:
        yield found
    finally:
        for module in users:
            vars(module)["require_memory"] = original


# ---- calls ---------------------------------------------------------------------------


def samples(S: int, m: int, K: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return uniform inputs in [-1, 1], and smooth targets with noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (S, m))
    slopes = rng.normal(size=(min(m, 4), K))
    return X, np.sin(X[:, : min(m, 4)] @ slopes) + 0.1 * rng.normal(size=(S, K))


def kernel_of(m: int) -> SpectrumKernel:
    """Return a kernel of all terms of m inputs."""
    return SpectrumKernel(m, (1.0, 2.0))


def by_engine(engine: str, alpha: float = ALPHA) -> Callable[..., Callable[[], object]]:
    """Return the builder of a solve by one engine."""

    def build(S: int, m: int, L: int, K: int = 1) -> Callable[[], object]:
        X, Y = samples(S, m, K)
        basis = gg.TensorBasis(m, n_terms=L)
        return lambda: gg.solve_ridge(basis, X, Y, alpha, engine=engine)

    return build


def weighted(S: int, m: int, L: int, K: int) -> Callable[[], object]:
    """Solve with weights of the samples, in which targets are copied."""
    X, Y = samples(S, m, K)
    basis, weight = gg.TensorBasis(m, n_terms=L), np.linspace(1, 2, S)
    return lambda: gg.solve_ridge(basis, X, Y, ALPHA, sample_weight=weight, engine="primal")


def by_kernel(alpha: float) -> Callable[..., Callable[[], object]]:
    """Return the builder of a solve by a kernel."""

    def build(S: int, m: int, K: int = 1) -> Callable[[], object]:
        X, Y = samples(S, m, K)
        return lambda: gg.solve_kernel(kernel_of(m), X, Y, alpha)

    return build


def path_by(method: str) -> Callable[..., Callable[[], object]]:
    """Return the builder of a ridge path by one factorisation."""

    def build(S: int, m: int, L: int) -> Callable[[], object]:
        X, Y = samples(S, m)
        model = gg.TensorBasis(m, n_terms=L) if L else kernel_of(m)
        return lambda: gg.RidgePath(model, X, Y, method=method).leave_one_out([ALPHA])

    return build


def path_queries(method: str) -> Callable[..., Callable[[], object]]:
    """Return the builder of a query for twenty penalties."""

    def build(S: int, m: int, L: int, K: int) -> Callable[[], object]:
        X, Y = samples(S, m, K)
        path = gg.RidgePath(gg.TensorBasis(m, n_terms=L), X, Y, method=method)
        return lambda: path.leave_one_out(np.geomspace(1e-3, 1e3, 20))

    return build


def path_triangle(S: int, m: int, L: int) -> Callable[[], object]:
    """Query a path for a penalty that the sums do not resolve."""
    X, Y = samples(S, m)
    path = gg.RidgePath(gg.TensorBasis(m, n_terms=L), X, Y, method="primal", tolerance=0.0)
    return lambda: path.leave_one_out([ALPHA])


def left_out(S: int, m: int) -> Callable[[], object]:
    """Leave one sample out, by a kernel."""
    X, Y = samples(S, m)
    return lambda: selection.leave_one_out(kernel_of(m), X, Y, ALPHA)


def objective(S: int, m: int) -> Callable[[], object]:
    """Evaluate the objective of a spectrum, with its gradient."""
    X, Y = samples(S, m)
    return lambda: selection.spectrum_objective(kernel_of(m), X, Y, ALPHA)


def learned_spectrum(S: int, m: int) -> Callable[[], object]:
    """Learn a spectrum in three steps."""
    X, Y = samples(S, m)
    return lambda: selection.learn_spectrum(X, Y, max_iter=3)


def surface(S: int, m: int, L: int) -> Callable[[], object]:
    """Judge prefixes of a basis."""
    X, Y = samples(S, m)
    basis = gg.TensorBasis(m, n_terms=L)
    sizes = [max(1, L // 2), L]
    return lambda: selection.prefix_surface(basis, X, Y, [ALPHA, 1.0], n_terms=sizes)


def folds(S: int, m: int, L: int) -> Callable[[], object]:
    """Predict five folds by the other four."""
    X, Y = samples(S, m)
    basis = gg.TensorBasis(m, n_terms=L)
    parts = np.array_split(np.arange(S), 5)
    return lambda: selection.kfold_predictions(basis, X, Y, parts, [ALPHA, 1.0])


def evaluation(order: str, dtype: str) -> Callable[..., Callable[[], object]]:
    """Return the builder of features in one layout."""

    def build(S: int, m: int, L: int) -> Callable[[], object]:
        X, basis = samples(S, m)[0], gg.TensorBasis(m, n_terms=L)
        return lambda: basis.evaluate(X, order=order, dtype=dtype)

    return build


def kernel_matrix(S: int, m: int) -> Callable[[], object]:
    """Evaluate a kernel at all pairs."""
    X = samples(S, m)[0]
    return lambda: kernel_of(m)(X)


def predictions(S: int, m: int, L: int, K: int) -> Callable[[], object]:
    """Predict by terms."""
    X, basis = samples(S, m)[0], gg.TensorBasis(m, n_terms=L)
    weights = np.ones((L, K))
    return lambda: predict(basis, X, weights)


def kernel_predictions(S: int, m: int, new: int, K: int) -> Callable[[], object]:
    """Predict by a kernel."""
    X, Y = samples(S, m, K)
    Z = samples(new, m)[0]
    return lambda: predict_kernel(kernel_of(m), Z, X, Y)


def sums_of(kind: type) -> Callable[..., Callable[[], object]]:
    """Return the builder of sums and the solve from them."""

    def build(S: int, m: int, L: int) -> Callable[[], object]:
        X, Y = samples(S, m)
        basis = gg.TensorBasis(m, n_terms=L)

        def run() -> object:
            statistics = kind(basis)
            statistics.update(X, Y)
            return statistics.solve(ALPHA)

        return run

    return build


def landmarks(S: int, m: int, M: int) -> Callable[[], object]:
    """Choose centres among the samples."""
    X = samples(S, m)[0]
    return lambda: choose_landmarks(kernel_of(m), X, M)


def fit_of(estimator: Callable[[], Any], *, labels: bool = False) -> Callable[..., Any]:
    """Return the builder of a fit."""

    def build(S: int, m: int, K: int = 1) -> Callable[[], object]:
        X, Y = samples(S, m, K)
        y = (Y[:, 0] > 0).astype(int) if labels else Y
        return lambda: estimator().fit(X, y)

    return build


def stream_of(estimator: Callable[[], Any]) -> Callable[..., Any]:
    """Return the builder of a fit of batches."""

    def build(S: int, m: int) -> Callable[[], object]:
        X, Y = samples(S, m)
        batches = ArrayBatches(X, Y[:, 0], batch_size=10_000)
        return lambda: estimator().fit_stream(batches)

    return build


def after_fit(
    estimator: Callable[[], Any],
    use: Callable[[Any, np.ndarray], object],
    *,
    labels: bool = False,
) -> Callable[..., Callable[[], object]]:
    """Return the builder of what a fitted estimator is used for, at new samples."""

    def build(S: int, m: int, new: int) -> Callable[[], object]:
        X, Y = samples(S, m)
        model = estimator().fit(X, (Y[:, 0] > 0).astype(int) if labels else Y[:, 0])
        Z = 0.99 * samples(new, m)[0]
        return lambda: use(model, Z)

    return build


def saved(model: Any) -> Callable[[], object]:
    """Return the call that saves a model."""
    folder = tempfile.TemporaryDirectory()

    def run() -> None:
        with folder:
            gg.save(model, Path(folder.name) / "model.safetensors")

    return run


def loaded(model: Any) -> Callable[[], object]:
    """Return the call that loads a model."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "model.safetensors"
    gg.save(model, path)

    def run() -> object:
        with folder:
            return gg.load(path)

    return run


def stream_then(
    use: Callable[[Any], Callable[[], object]],
) -> Callable[..., Callable[[], object]]:
    """Return the builder of a use of a model that keeps its sums."""

    def build(S: int, m: int) -> Callable[[], object]:
        X, Y = samples(S, m)
        return use(of_terms(3000, engine="primal")().partial_fit(X, Y[:, 0]))

    return build


def of_terms(L: int = 3000, **options: Any) -> Callable[[], Any]:
    """Return a maker of a regressor with a finite set."""
    return lambda: gg.GegenbauerRegressor(L, alpha=ALPHA, n_jobs=N_THREADS, **options)


def of_all_terms() -> Any:
    """Return a regressor of all terms, with a spectrum that is given."""
    return gg.GegenbauerRegressorCV(
        (1.0, 2.0), alphas=[1e-2, 1e-1, 1.0], kernel_samples=100_000, n_jobs=N_THREADS
    )


def classes_of_all_terms() -> Any:
    """Return a classifier of all terms, with a spectrum that is given."""
    return gg.GegenbauerClassifierCV(
        (1.0, 2.0), alphas=[1e-2, 1e-1, 1.0], kernel_samples=100_000, n_jobs=N_THREADS
    )


N_THREADS = usable_cores()

CASES = [
    Case("solve_ridge, primal", by_engine("primal"), {"S": 10_000, "m": 10, "L": 3003}),
    Case("solve_ridge, primal, K = 400", by_engine("primal"),
         {"S": 40_000, "m": 6, "L": 462, "K": 400}),
    Case("solve_ridge, primal, weights, K = 10", weighted,
         {"S": 400_000, "m": 6, "L": 84, "K": 10}),
    Case("solve_ridge, moments", by_engine("moments"), {"S": 50_000, "m": 6, "L": 3003}),
    Case("solve_ridge, moments on a grid", by_engine("moments"),
         {"S": 1_000_000, "m": 2, "L": 3003}),
    Case("solve_ridge, dual", by_engine("dual"), {"S": 4000, "m": 10, "L": 8008}),
    Case("solve_ridge, kernel", by_engine("kernel"), {"S": 4000, "m": 10, "L": 8008}),
    Case("solve_ridge, alpha = 0, S > L", by_engine("auto", 0.0),
         {"S": 10_000, "m": 6, "L": 1716}),
    Case("solve_ridge, alpha = 0, S < L", by_engine("auto", 0.0),
         {"S": 1500, "m": 10, "L": 8008}),
    Case("solve_kernel", by_kernel(ALPHA), {"S": 5000, "m": 10}),
    Case("solve_kernel, alpha = 0", by_kernel(0.0), {"S": 2500, "m": 10}),
    Case("RidgePath, svd", path_by("svd"), {"S": 4000, "m": 6, "L": 1000}),
    Case("RidgePath, primal", path_by("primal"), {"S": 20_000, "m": 6, "L": 1716}),
    Case("RidgePath, primal by the triangle", path_triangle, {"S": 20_000, "m": 6, "L": 1000}),
    Case("RidgePath, dual", path_by("dual"), {"S": 3000, "m": 6, "L": 5000}),
    Case("RidgePath, dual of a kernel", path_by("dual"), {"S": 3000, "m": 6, "L": 0}),
    Case("RidgePath.leave_one_out, primal", path_queries("primal"),
         {"S": 200_000, "m": 4, "L": 70, "K": 2}),
    Case("RidgePath.leave_one_out, svd", path_queries("svd"),
         {"S": 200_000, "m": 4, "L": 35, "K": 2}),
    Case("leave_one_out of a kernel", left_out, {"S": 4000, "m": 6}),
    Case("spectrum_objective", objective, {"S": 2500, "m": 6}),
    Case("learn_spectrum", learned_spectrum, {"S": 2000, "m": 6}),
    Case("prefix_surface", surface, {"S": 10_000, "m": 6, "L": 924}),
    Case("kfold_predictions", folds, {"S": 20_000, "m": 6, "L": 924}),
    Case("TensorBasis.evaluate, C", evaluation("C", "float64"),
         {"S": 100_000, "m": 6, "L": 300}),
    Case("TensorBasis.evaluate, F", evaluation("F", "float64"),
         {"S": 100_000, "m": 6, "L": 300}),
    Case("TensorBasis.evaluate, float32", evaluation("C", "float32"),
         {"S": 100_000, "m": 6, "L": 300}),
    Case("SpectrumKernel.__call__", kernel_matrix, {"S": 5000, "m": 6}),
    Case("predict", predictions, {"S": 1_000_000, "m": 4, "L": 70, "K": 20}),
    Case("predict_kernel", kernel_predictions, {"S": 500, "m": 4, "new": 400_000, "K": 20}),
    Case("GramStatistics", sums_of(gg.GramStatistics), {"S": 10_000, "m": 10, "L": 3003}),
    Case("MomentStatistics", sums_of(gg.MomentStatistics), {"S": 50_000, "m": 6, "L": 3003}),
    Case("MomentStatistics on a grid", sums_of(gg.MomentStatistics),
         {"S": 1_000_000, "m": 2, "L": 3003}),
    Case("choose_landmarks", landmarks, {"S": 20_000, "m": 6, "M": 1000}),
    Case("GegenbauerRegressor.fit", fit_of(of_terms()), {"S": 10_000, "m": 10}),
    Case("GegenbauerClassifier.fit",
         fit_of(lambda: gg.GegenbauerClassifier(3000, n_jobs=N_THREADS), labels=True),
         {"S": 10_000, "m": 10}),
    Case("GegenbauerRegressor.fit_stream, primal", stream_of(of_terms(3000)),
         {"S": 20_000, "m": 20}),
    Case("GegenbauerRegressor.fit_stream, moments", stream_of(of_terms(3000)),
         {"S": 50_000, "m": 6}),
    Case("GegenbauerRegressorCV.fit_stream",
         stream_of(lambda: gg.GegenbauerRegressorCV(n_terms=500, cv=5, n_jobs=N_THREADS)),
         {"S": 60_000, "m": 6}),
    Case("GegenbauerRegressorCV.fit, all terms",
         fit_of(lambda: gg.GegenbauerRegressorCV(n_jobs=N_THREADS)), {"S": 3000, "m": 6}),
    Case("GegenbauerRegressorCV.fit, few samples",
         fit_of(lambda: gg.GegenbauerRegressorCV(n_jobs=N_THREADS)), {"S": 1500, "m": 6}),
    Case("GegenbauerRegressorCV.fit, landmarks",
         fit_of(lambda: gg.GegenbauerRegressorCV(kernel_samples=1000, n_jobs=N_THREADS)),
         {"S": 8000, "m": 6}),
    Case("GegenbauerRegressorCV.fit, 1000 terms",
         fit_of(lambda: gg.GegenbauerRegressorCV(n_terms=1000, n_jobs=N_THREADS)),
         {"S": 50_000, "m": 6}),
    Case("GegenbauerRegressorCV.fit, spectrum=None",
         fit_of(lambda: gg.GegenbauerRegressorCV(None, n_jobs=N_THREADS)),
         {"S": 10_000, "m": 6}),
    Case("GegenbauerClassifierCV.fit, all terms",
         fit_of(lambda: gg.GegenbauerClassifierCV(n_jobs=N_THREADS), labels=True),
         {"S": 3000, "m": 6}),
    Case("GegenbauerClassifierCV.fit, spectrum=None",
         fit_of(lambda: gg.GegenbauerClassifierCV(None, n_jobs=N_THREADS), labels=True),
         {"S": 10_000, "m": 6}),
    Case("predict of a regressor, terms", after_fit(of_terms(500), lambda e, Z: e.predict(Z)),
         {"S": 5000, "m": 6, "new": 10_000_000}),
    Case("predict of a regressor, all terms",
         after_fit(of_all_terms, lambda e, Z: e.predict(Z)),
         {"S": 200, "m": 6, "new": 10_000_000}),
    Case("predict with return_std, 1000 terms",
         after_fit(lambda: gg.GegenbauerRegressorCV((1.0, 2.0), n_terms=1000, alphas=[1e-2, 1.0]),
                   lambda e, Z: e.predict(Z, return_std=True)),
         {"S": 5000, "m": 6, "new": 40_000}),
    Case("predict with return_std, all terms",
         after_fit(of_all_terms, lambda e, Z: e.predict(Z, return_std=True)),
         {"S": 3000, "m": 6, "new": 20_000}),
    Case("predict_proba, all terms",
         after_fit(classes_of_all_terms, lambda e, Z: e.predict_proba(Z), labels=True),
         {"S": 200, "m": 6, "new": 10_000_000}),
    Case("sobol_indices, terms", after_fit(of_terms(3000), lambda e, _: gg.sobol_indices(e)),
         {"S": 4000, "m": 10, "new": 10}),
    Case("sobol_indices, all terms", after_fit(of_all_terms, lambda e, _: gg.sobol_indices(e)),
         {"S": 3000, "m": 6, "new": 10}),
    Case("derivative_sensitivity, all terms",
         after_fit(of_all_terms, lambda e, _: inspection.derivative_sensitivity(e)),
         {"S": 3000, "m": 6, "new": 10}),
    Case("shapley_values, terms", after_fit(of_terms(1000), inspection.shapley_values),
         {"S": 4000, "m": 6, "new": 2_000_000}),
    Case("shapley_values, all terms", after_fit(of_all_terms, inspection.shapley_values),
         {"S": 2000, "m": 6, "new": 5000}),
    Case("anova_components, terms", after_fit(of_terms(1000), inspection.anova_components),
         {"S": 4000, "m": 6, "new": 300_000}),
    Case("anova_components, all terms", after_fit(of_all_terms, inspection.anova_components),
         {"S": 2000, "m": 6, "new": 5000}),
    Case("partial_dependence, terms",
         after_fit(of_terms(1000), lambda e, _: inspection.partial_dependence(e, [0, 1])),
         {"S": 4000, "m": 6, "new": 10}),
    Case("partial_dependence, all terms",
         after_fit(of_all_terms, lambda e, _: inspection.partial_dependence(e, [0, 1])),
         {"S": 2000, "m": 6, "new": 10}),
    Case("gradient, terms", after_fit(of_terms(500), inspection.gradient),
         {"S": 4000, "m": 6, "new": 1_000_000}),
    Case("gradient, all terms", after_fit(of_all_terms, inspection.gradient),
         {"S": 50, "m": 6, "new": 1_000_000}),
    Case("hessian, terms", after_fit(of_terms(500), inspection.hessian),
         {"S": 4000, "m": 6, "new": 300_000}),
    Case("save, sums of 3000 terms", stream_then(saved), {"S": 5000, "m": 20}),
    Case("load, sums of 3000 terms", stream_then(loaded), {"S": 5000, "m": 20}),
]  # fmt: skip


# ---- measurement ---------------------------------------------------------------------


def footprint_of(case: Case) -> Footprint:
    """Measure a case in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.build(**case.small_sizes)()
        run = case.build(**case.sizes)
        with announcements() as found:
            peak = rise_of(run)
    announced, what = max(found, default=(None, ""))
    return Footprint(case.name, case.sizes, announced, what, peak)


def measure(case: Case) -> Footprint:
    """Do the same in a fresh process."""
    return Footprint(**in_fresh_process("bench.footprints", ["--here", case.name]))


def _megabytes(n_bytes: float | None) -> str:
    return "nothing" if n_bytes is None else f"{n_bytes / 1e6:.0f}"


def table(found: list[Footprint]) -> str:
    """Return the footprints as Markdown."""
    lines = ["| call | sizes | announced, MB | peak, MB | ratio |", "|---|---|---|---|---|"]
    for one in found:
        sizes = ", ".join(f"{name} = {size:,}" for name, size in one.sizes.items())
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        if not one.holds:
            ratio += " **over**"
        numbers = f"{_megabytes(one.announced)} | {_megabytes(one.peak)} | {ratio}"
        lines.append(f"| {one.name} | {sizes} | {numbers} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Measure the cases that are named; 1 where a call takes more than twice what it announces."""
    it = argparse.ArgumentParser(prog="python -m bench.footprints", description=__doc__)
    it.add_argument("--filter", default="", metavar="TEXT", help="cases whose name contains it")
    it.add_argument("--list", action="store_true", help="what there is")
    it.add_argument("--json", type=Path, metavar="FILE", help="keep the result as JSON")
    it.add_argument("--here", metavar="CASE", help="measure one in this process, as JSON")
    options = it.parse_args(arguments)
    cases = [case for case in CASES if options.filter in case.name]
    if options.list:
        print(*(case.name for case in cases), sep="\n")
        return 0
    if options.here is not None:
        (case,) = (case for case in CASES if case.name == options.here)
        print(json.dumps(asdict(footprint_of(case))))
        return 0
    found: list[Footprint] = []
    for case in cases:
        try:
            found.append(measure(case))
        except UnsupportedError as error:
            print(f"{case.name}: {error}", file=sys.stderr)
        else:
            print(table(found[-1:]).splitlines()[-1], file=sys.stderr)
    print(table(found))
    if options.json:
        kept = {"git": git_state(), "footprints": [asdict(one) for one in found]}
        options.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return int(len(found) < len(cases) or not all(one.holds for one in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
