"""Whole fits, from X and Y to the weights, with one size growing and the others fixed.

A point of a sweep is a case like any other: contestants in turns, after their results agreed. A
contestant takes no part where its time, as predicted from its earlier points, or its memory is
beyond the budget; the reason is kept with the point. Ours takes part everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.machine import memory_bytes
from bench.peers import ALPHA, LAM, PEERS, Linear, Problem, check
from bench.runner import Agreement, Case, CaseResult, Contest, Contestant, DeclinedError
from gegenbauer import GegenbauerRegressor, TensorBasis, solve_ridge
from gegenbauer.basis import count_terms
from gegenbauer.ridge.solve import ENGINES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bench.recorder import Recorder
    from bench.results import Run

OURS = "ours"
STEEPEST = 4.0  # exponent that a prediction may assume
ROUNDS = 3


@dataclass(frozen=True)
class Point:
    """Sizes of one fit; the terms are of complete total degree, which all can make."""

    S: int
    m: int
    degree: int
    K: int

    @property
    def L(self) -> int:  # noqa: N802  # the name of the paper
        """Number of terms."""
        return count_terms(self.m, degree=self.degree)

    @property
    def sizes(self) -> dict[str, int]:
        """By name."""
        return {"S": self.S, "m": self.m, "L": self.L, "K": self.K}


@dataclass(frozen=True)
class Sweep:
    """Points that differ in one size, upwards."""

    variable: str
    shows: str
    points: tuple[Point, ...]
    quick: tuple[Point, ...]


@dataclass(frozen=True)
class Budget:
    """What one fit of a contestant may take."""

    seconds: float = 20.0
    n_bytes: float = (memory_bytes() or 2**34) / 2


SWEEPS: tuple[Sweep, ...] = (
    Sweep(
        "S",
        "rows",
        tuple(Point(round(10 ** (e / 2)), 4, 8, 1) for e in range(6, 15)),
        tuple(Point(S, 3, 2, 1) for S in (20, 50, 120)),
    ),
    Sweep(
        "L",
        "terms, by the degree",
        tuple(Point(20_000, 4, degree, 1) for degree in range(5, 16)),
        tuple(Point(60, 3, degree, 1) for degree in (1, 2, 3)),
    ),
    Sweep(
        "m",
        "inputs, at degrees that give 210 to 252 terms",
        tuple(
            Point(20_000, m, degree, 1)
            for m, degree in ((2, 20), (3, 9), (4, 6), (5, 5), (6, 4), (9, 3), (20, 2))
        ),
        tuple(Point(60, m, degree, 1) for m, degree in ((2, 3), (3, 2), (9, 1))),
    ),
    Sweep(
        "K",
        "outputs",
        tuple(Point(20_000, 4, 8, K) for K in (1, 2, 3, 5, 10, 20, 30)),
        tuple(Point(60, 3, 2, K) for K in (1, 2, 4)),
    ),
)


def data(point: Point) -> Problem:
    """Make inputs that fill the unit box, corners included, and smooth targets with noise."""
    rng = np.random.default_rng(1)
    X = rng.random((point.S, point.m))
    X[0], X[1] = 0.0, 1.0
    Y = np.sin(X @ rng.standard_normal((point.m, point.K)))
    Y += 0.1 * rng.standard_normal(Y.shape)
    return Problem(X, Y, point.degree)


# --- Contestants ----------------------------------------------------------------------------------


def _ours(problem: Problem, engine: str, n_threads: int) -> Linear:
    basis = TensorBasis(problem.m, degree=problem.degree, lam=LAM)
    solution = solve_ridge(basis, problem.X, problem.Y, ALPHA, engine=engine, n_threads=n_threads)
    if engine not in ("auto", solution.engine):
        raise DeclinedError(f"gave way to {solution.engine!r}")
    return Linear(basis.evaluate, solution.weights)


def _estimator(problem: Problem, n_threads: int) -> GegenbauerRegressor:
    model = GegenbauerRegressor(None, problem.degree, lam=LAM, alpha=ALPHA, n_jobs=n_threads)
    return model.fit(problem.X, problem.Y)


def _predictions(result: Any, X: Any) -> Any:
    if isinstance(result, Linear):
        return result.features(X) @ result.weights
    return result.predict(X).reshape(len(X), -1)


def our_names() -> list[str]:
    """Name the ways that are ours, in the order of `contestants`."""
    engines = [OURS if engine == "auto" else f"{OURS}, {engine}" for engine in ENGINES]
    return [*engines, f"{OURS}, estimator"]


def contestants(problem: Problem, n_threads: int) -> Iterator[tuple[Contestant, float]]:
    """Name everybody, ours first, with the bytes that its features take at once."""
    *names, estimator = our_names()
    for name, engine in zip(names, ENGINES, strict=True):
        run = partial(_ours, problem, engine, n_threads)
        yield Contestant(name, f"TensorBasis and solve_ridge, engine={engine!r}", run), 0.0
    run_estimator = partial(_estimator, problem, n_threads)
    yield Contestant(estimator, "GegenbauerRegressor.fit", run_estimator), 0.0
    for peer in PEERS:
        n_bytes = peer.copies * 8.0 * len(problem.X) * problem.n_terms
        yield Contestant(peer.name, peer.does, partial(peer.fit, problem)), n_bytes


def _declining(contestant: Contestant) -> Contestant:
    """Let a refusal of ours, and whatever happens to a peer, be no fault of the point."""
    mine = contestant.name in our_names()
    caught = (ValueError, MemoryError) if mine else (Exception,)

    def run() -> Any:
        try:
            return contestant.run()
        except caught as error:
            raise DeclinedError(f"{type(error).__name__}: {error}") from None

    return replace(contestant, run=run)


# --- Points as cases ------------------------------------------------------------------------------


def predicted_seconds(earlier: Sequence[CaseResult], name: str, variable: str, size: int) -> float:
    """Go on from the last two points of a contestant; 0 while nothing is known."""
    known = [
        (point.sizes[variable], timing.best)
        for point in earlier
        for timing in point.timings
        if timing.name == name
    ]
    if not known:
        return 0.0
    (at, seconds), slope = known[-1], 1.0
    if len(known) > 1:
        before, less = known[-2]
        slope = min(max(math.log(seconds / less) / math.log(at / before), 0.0), STEEPEST)
    return seconds * (size / at) ** slope


def refusals(
    point: Point, variable: str, earlier: Sequence[CaseResult], budget: Budget, peak: float
) -> Callable[[str, float], str]:
    """Return a function that gives the reason why a contestant takes no part at a point, or ""."""
    missing = {peer.name: peer.missing for peer in PEERS}

    def reason(name: str, n_bytes: float) -> str:
        if name == OURS:
            return ""
        if missing.get(name):
            return missing[name]
        if n_bytes > budget.n_bytes:
            return (
                f"needs some {n_bytes / 1e9:.3g} GB for its features, over "
                f"{budget.n_bytes / 1e9:.3g} GB"
            )
        # The S x S system of these two costs so much at least; nothing needs to be run for it.
        bound = point.S**3 / 3 / peak if name in (f"{OURS}, dual", f"{OURS}, kernel") else 0.0
        if bound > budget.seconds:
            return f"S^3 / 3 flops take {bound:.3g} s at the peak, over {budget.seconds:g} s"
        seconds = predicted_seconds(earlier, name, variable, point.sizes[variable])
        if seconds > budget.seconds:
            return f"would take some {seconds:.3g} s, over {budget.seconds:g} s"
        return ""

    return reason


def case(sweep: Sweep, point: Point, reason: Callable[[str, float], str] = lambda *_: "") -> Case:
    """Make a point a case."""

    def build(*, n_threads: int, **sizes: int) -> Contest:
        problem = data(point)
        taking_part, absent = [], {}
        for contestant, n_bytes in contestants(problem, n_threads):
            why = reason(contestant.name, n_bytes)
            if why:
                absent[contestant.name] = why
            else:
                taking_part.append(_declining(contestant))
        compare = partial(agreements, problem)
        return Contest(sizes, taking_part, compare, absent=absent)

    shows = f"a whole fit; sweep of {sweep.variable}: {sweep.shows}"
    return Case(name_of(sweep, point), shows, build, point.sizes, point.sizes)


def name_of(sweep: Sweep, point: Point) -> str:
    """Name the case of a point."""
    return f"{sweep.variable}={point.sizes[sweep.variable]}"


def points_of(run: Run, sweep: Sweep) -> list[CaseResult]:
    """Return the results of a sweep."""
    return [case for case in run.cases if case.name.startswith(f"{sweep.variable}=")]


def agreements(problem: Problem, results: Mapping[str, Any]) -> list[Agreement]:
    """Compare all of ours and NumPy's on new rows; check each peer on its own features."""
    new = np.random.default_rng(3).random((1000, problem.m))
    expected = _predictions(results[OURS], new)
    peers = {peer.name: peer for peer in PEERS}
    found = []
    for name, result in results.items():
        if name in peers:
            found += check(name, peers[name].open(result), problem)
        if name != OURS and (name == "numpy" or name not in peers):
            difference = np.abs(_predictions(result, new) - expected).max()
            found.append(
                Agreement(
                    f"{name}: predictions of {len(new)} new rows",
                    float(difference / np.abs(expected).max()),
                    1e-8,
                )
            )
    return found


def run(sweep: Sweep, recorder: Recorder, budget: Budget) -> list[CaseResult]:
    """Run, or find in the recorder, all points of a sweep."""
    peak = max(peak["flops"] for peak in recorder.peaks)
    found: list[CaseResult] = []
    for point in sweep.quick if recorder.settings.quick else sweep.points:
        reason = refusals(point, sweep.variable, found, budget, peak)
        result = recorder.run(case(sweep, point, reason))
        if isinstance(result, CaseResult):
            found.append(result)
    return found
