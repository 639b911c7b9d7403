"""The solve and predictions, by the public functions of `gegenbauer.ridge`.

Bars (the size of the problem is divided out): optimality rho <= 1e-11 for every alpha >= 2^-20,
<= 1e-15 for the orthogonal solvers; weights within 1e-9 of the singular value decomposition for
alpha >= 2^-12.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import pickle
import re
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import interrupt
from numpy.testing import assert_allclose, assert_array_equal
from problems import Problem, make_problem, relative

from gegenbauer import GegenbauerRegressor, PowerDecay, reference
from gegenbauer._dispatch import core
from gegenbauer.basis import InputScaling, SpectrumKernel, TensorBasis, TotalDegreeKernel
from gegenbauer.errors import TooLargeError
from gegenbauer.ridge import (
    RidgeSolution,
    default_kernel_samples,
    fit_cost,
    predict,
    predict_kernel,
    solve_dual,
    solve_kernel,
    solve_primal,
    solve_ridge,
)

ENGINES = ["primal", "moments", "dual"]
SIZE = {"primal": 1, "moments": 1, "dual": 0}  # of the normal equations, as an axis of G
SOLVERS = ["cholesky", "orthogonal"]
ALPHAS = 2.0 ** np.arange(-30, 31, 3)


# More samples than terms, fewer, and as many; the first two are as ill-conditioned as real ones:
# the condition number of G without a penalty is above 10^15.
TALL = (400, 2, 190)
WIDE = (90, 4, 330)
SQUARE = (60, 3, 60)


# --- Right weights -----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", *ENGINES])
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_three_points_by_hand(engine, solver):
    """x = 0, 1/2, 1, Legendre, two terms, y = -1, -1, 1, alpha = 1: w = (-4/9, 14/27)."""
    X, y = np.array([[0.0], [0.5], [1.0]]), np.array([-1.0, -1.0, 1.0])
    basis = TensorBasis(1, n_terms=2, lam=0.5)
    solution = solve_ridge(basis, X, y, 1.0, engine=engine, solver=solver)
    assert solution.weights.shape == (2, 1)
    assert_allclose(solution.weights[:, 0], [-4 / 9, 14 / 27], rtol=1e-14)


@pytest.mark.parametrize("shape", [(14, 2, 9), (9, 3, 14)])
@pytest.mark.parametrize("alpha", [2.0**-12, 2.0**-3, 1.0, 2.0**20])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_against_extended_precision(shape, alpha, engine, solver):
    p = make_problem(*shape)
    expected = oracles.ridge_exact(p.G, p.Y, alpha)
    solution = solve_ridge(p.basis, p.X, p.Y, alpha, engine=engine, solver=solver)
    assert relative(solution.weights, expected) <= 1e-11


@pytest.mark.parametrize("shape", [TALL, WIDE, SQUARE])
def test_primal_is_dual_is_singular_values(shape):
    p = make_problem(*shape)
    for alpha in (2.0**-12, 2.0**-6, 1.0, 2.0**15):
        expected = oracles.ridge_svd(p.G, p.Y, alpha)
        for engine, solver in itertools.product(ENGINES, ["auto", *SOLVERS]):
            solution = solve_ridge(p.basis, p.X, p.Y, alpha, engine=engine, solver=solver)
            assert relative(solution.weights, expected) <= 1e-9, (alpha, engine, solver)


@pytest.mark.parametrize("shape", [TALL, WIDE, SQUARE])
@pytest.mark.parametrize("options", [{}, {"lam": 0.5}, {"lam": 0.0, "spectrum": "orthonormal"}])
def test_optimality_for_every_alpha(shape, options):
    p = make_problem(*shape, **options)
    rho = oracles.optimality(p.G, p.Y)
    for alpha in ALPHAS:
        solution = solve_ridge(p.basis, p.X, p.Y, alpha)
        assert rho(solution.weights, alpha) <= 1e-11, alpha


@pytest.mark.parametrize("shape", [TALL, WIDE, SQUARE])
@pytest.mark.parametrize("engine", ENGINES)
def test_optimality_of_cholesky(shape, engine):
    """Also when the larger of the two systems is requested."""
    p = make_problem(*shape)
    rho = oracles.optimality(p.G, p.Y)
    for alpha in ALPHAS[ALPHAS >= 2.0**-20]:
        solution = solve_ridge(p.basis, p.X, p.Y, alpha, engine=engine, solver="cholesky")
        assert rho(solution.weights, alpha) <= 1e-11, alpha


@pytest.mark.parametrize("shape", [TALL, WIDE, SQUARE])
@pytest.mark.parametrize("engine", ENGINES)
def test_optimality_of_the_orthogonal_solvers(shape, engine):
    p = make_problem(*shape)
    rho = oracles.optimality(p.G, p.Y)
    for alpha in ALPHAS:
        solution = solve_ridge(p.basis, p.X, p.Y, alpha, engine=engine, solver="orthogonal")
        assert rho(solution.weights, alpha) <= 1e-15, alpha


@given(
    n_samples=st.integers(1, 60),
    n_features=st.integers(1, 5),
    n_terms=st.integers(1, 60),
    n_outputs=st.integers(1, 4),
    log_alpha=st.integers(-12, 12),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_primal_is_dual_for_any_shape(n_samples, n_features, n_terms, n_outputs, log_alpha, seed):
    p = make_problem(n_samples, n_features, n_terms, n_outputs, seed=seed)
    alpha = 2.0**log_alpha
    primal = solve_primal(p.basis, p.X, p.Y, alpha)
    dual = solve_dual(p.basis, p.X, p.Y, alpha)
    assert (primal.engine, dual.engine) == ("primal", "dual")
    expected = oracles.ridge_svd(p.G, p.Y, alpha)
    assert relative(primal.weights, expected) <= 1e-9
    assert relative(dual.weights, expected) <= 1e-9


@pytest.mark.parametrize("engine", ENGINES)
def test_outputs_are_solved_as_if_alone(engine):
    p = make_problem(*TALL, n_outputs=5)
    together = solve_ridge(p.basis, p.X, p.Y, 2.0**-6, engine=engine).weights
    assert together.shape == (p.basis.n_terms, 5)
    for k in range(5):
        alone = solve_ridge(p.basis, p.X, p.Y[:, k], 2.0**-6, engine=engine).weights
        assert relative(alone[:, 0], together[:, k]) <= 1e-11


def test_many_outputs():
    p = make_problem(50, 2, 20, n_outputs=130)
    expected = oracles.ridge_svd(p.G, p.Y, 0.5)
    for engine in ENGINES:
        weights = solve_ridge(p.basis, p.X, p.Y, 0.5, engine=engine).weights
        assert relative(weights, expected) <= 1e-10


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("n_outputs", [19, 20, 95, 96, 121])
@pytest.mark.parametrize("penalize_constant", [True, False])
def test_many_outputs_of_many_samples(n_outputs, layout, penalize_constant):
    """Where residuals are made block by block: as alone, as by SVD, in any layout and thread."""
    p = make_problem(1301, 2, 30, n_outputs)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 1301)
    options = {"penalize_constant": penalize_constant, "engine": "primal"}
    Y = np.asarray(p.Y, order="F" if layout == "F" else "C")
    if layout == "strided":
        Y = np.repeat(p.Y, 2, axis=1)[::-1, ::2][::-1]
    for sample_weight in (None, weight):
        scale = np.ones(1301) if sample_weight is None else np.sqrt(weight)
        options["sample_weight"] = sample_weight
        solution = solve_ridge(p.basis, p.X, Y, 1e-6, n_threads=1, **options)
        assert solution.n_refinements >= 1
        # the constant is not penalised where its column and the targets leave it out
        G, right = scale[:, np.newaxis] * p.G, scale[:, np.newaxis] * p.Y
        if penalize_constant:
            expected = oracles.ridge_svd(G, right, 1e-6)
        else:
            unit = scale / np.linalg.norm(scale)
            rest = G[:, 1:] - np.outer(unit, unit @ G[:, 1:])
            others = oracles.ridge_svd(rest, right - np.outer(unit, unit @ right), 1e-6)
            constant = unit @ (right - G[:, 1:] @ others) / np.linalg.norm(scale)
            expected = np.vstack([constant, others])
        assert relative(solution.weights, expected) <= 1e-10
        alone = solve_ridge(p.basis, p.X, p.Y[:, -1], 1e-6, **options)
        assert relative(solution.weights[:, -1:], alone.weights) <= 1e-11
        threads = solve_ridge(p.basis, p.X, Y, 1e-6, n_threads=3, **options)
        assert_array_equal(threads.weights, solution.weights)
        assert threads.error == solution.error


def test_many_outputs_of_any_size():
    """An output's digits do not depend on others that are far larger or smaller."""
    p = make_problem(600, 2, 25, n_outputs=120)
    size = 2.0 ** np.linspace(-500, 500, 120).round()
    weights = solve_ridge(p.basis, p.X, size * p.Y, 2.0**-6).weights / size
    expected = oracles.ridge_svd(p.G, p.Y, 2.0**-6)
    for k in range(120):
        assert relative(weights[:, k], expected[:, k]) <= 1e-8


@pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("engine", ENGINES)
def test_iris(iris, domain, engine):
    scaling = InputScaling.fit(iris.X, domain=domain)
    basis = TensorBasis(4, n_terms=15, lam=0.05)
    Y = reference.class_targets(iris.y, [0, 1, 2])
    W = solve_ridge(basis, iris.X, Y, 2.0**-6, scaling=scaling, engine=engine).weights
    decisions = predict(basis, iris.X, W, scaling=scaling)
    norm, right = {(0, 1): (43.9783388964, 143), (-1, 1): (29.6643646596, 144)}[domain]
    assert abs(np.linalg.norm(W) - norm) <= 1e-10
    assert np.sum(decisions.argmax(axis=1) == iris.y) == right
    if domain == (0, 1):
        expected = [0.867506036932, -0.731799745106, -1.135491215003]
        assert_allclose(decisions[0], expected, rtol=0, atol=1e-10)


# --- What is reported --------------------------------------------------------------------------


def reciprocal_condition(p, alpha, engine):
    """Of the matrix that the engine solves with, alpha I + G'G or alpha I + GG'."""
    squares = np.linalg.svd(p.G, compute_uv=False) ** 2
    size = p.G.shape[SIZE[engine]]
    smallest = squares[-1] if len(squares) == size else 0.0
    return (smallest + alpha) / (squares[0] + alpha)


# Rows from few to many: the system of the rows, that of the terms from features, and from moments
# once the work of putting the matrix together is small beside the sums. Many inputs: no moments.
# The product formula serves sets that are complete up to a degree, and does not pay for few terms.
CHOICES = [
    ((20, 40, 100), "dual"),
    ((300, 6, 924), "kernel"),
    ((300, 3, 200), "primal"),
    ((30_000, 3, 200), "moments"),
    ((3000, 40, 100), "primal"),
]


@pytest.mark.parametrize(("shape", "engine"), CHOICES)
def test_the_cheapest_engine_is_chosen(shape, engine):
    p = make_problem(*shape)
    cost = fit_cost(p.basis, len(p.X), p.Y.shape[1])
    assert set(cost) == {"primal", "moments", "dual", "kernel"}
    assert min(cost, key=cost.get) == engine
    assert solve_ridge(p.basis, p.X, p.Y, 1.0).engine == engine


def test_costs_grow_with_the_work():
    basis = TensorBasis(4, degree=6)
    few, more, outputs = (fit_cost(basis, *sizes) for sizes in ((1000, 1), (9000, 1), (1000, 50)))
    for engine in ("primal", "dual"):
        assert few[engine] < more[engine]
        assert few[engine] < outputs[engine]


def test_a_kernel_costs_what_its_factorisation_does():
    kernel = SpectrumKernel(16, (0.5, 2.0))
    few, many, outputs = (
        fit_cost(kernel, *sizes)["kernel"] for sizes in ((1000, 1), (10_000, 1), (1000, 500))
    )
    assert 1000**3 / 6 < few < 1.1 * 1000**3 / 6
    assert 950 < many / few < 1000
    assert outputs - few == pytest.approx(499e6)
    with pytest.raises(
        TypeError,
        match="`model` must be a TensorBasis, SpectrumKernel or TotalDegreeKernel, got int",
    ):
        fit_cost(3, 1000)


@pytest.mark.parametrize(
    ("processors", "memory", "most"),
    [(2, 24e9, 15_000), (2, 1e12, 15_000), (1, 1e12, 11_900), (16, 1e12, 30_000),
     (16, 24e9, 15_100), (2, 8e9, 8_700), (2, 1e9, 3_100)],
)  # fmt: skip
def test_the_machine_limits_all_terms(monkeypatch, processors, memory, most):
    monkeypatch.setattr("gegenbauer.ridge.cost.processors", lambda: processors)
    monkeypatch.setattr("gegenbauer.ridge.cost.total_memory", lambda: memory)
    assert default_kernel_samples() == most
    assert 13 * 8.0 * most**2 <= memory


def test_an_engine_that_loses_has_a_finite_cost():
    """Infinity is left to moments whose plan would be too large."""
    cost = fit_cost(TensorBasis(3, n_terms=20), 10, 1)  # dual in any case, so no plan is made
    assert cost["dual"] == min(cost.values())
    assert cost["dual"] < cost["moments"] < math.inf
    basis = TensorBasis(60, degree=3)
    assert fit_cost(basis, 10**9)["moments"] == math.inf
    with pytest.raises(ValueError, match="too large a plan"):
        core.count_moments(basis._plan, 1)


# Features of float32 samples may be multiplied in float32, which refinement has to make up for.
LARGE = {"primal": (3000, 12, 300), "dual": (300, 12, 455)}


@pytest.mark.parametrize("engine", LARGE)
@pytest.mark.parametrize("weighted", [False, True])
def test_products_in_float32_are_refined_to_the_same_weights(engine, weighted):
    p = make_problem(*LARGE[engine])
    X = p.X.astype(np.float32)
    weight = np.random.default_rng(5).uniform(0, 2, len(X)) if weighted else None
    options = {"engine": engine, "sample_weight": weight}
    alpha = 1.0
    fast = solve_ridge(p.basis, X, p.Y, alpha, **options)
    exact = solve_ridge(p.basis, X, p.Y, alpha, precision="float64", **options)
    assert (fast.precision, exact.precision) == ("float32", "float64")
    assert (fast.engine, fast.solver) == (engine, "cholesky")
    assert fast.n_refinements >= 1
    assert fast.correction > exact.correction  # the first solve was off, and it shows
    assert relative(fast.weights, exact.weights) <= 1e-12
    assert solve_ridge(p.basis, p.X, p.Y, alpha, **options).precision == "float64"


@pytest.mark.parametrize("engine", LARGE)
def test_products_in_float32_give_way_where_refinement_does_not_converge(engine):
    n_samples, _, n_terms = LARGE[engine]
    p = make_problem(n_samples, 2, n_terms)  # high degrees in two inputs: very ill-conditioned
    X = p.X.astype(np.float32)
    alpha = 2.0**-28
    for solver in ("auto", "cholesky"):
        requested = solve_ridge(p.basis, X, p.Y, alpha, engine=engine, solver=solver)
        exact = solve_ridge(
            p.basis, X, p.Y, alpha, engine=engine, solver=solver, precision="float64"
        )
        assert requested.precision == "float64"
        assert_array_equal(requested.weights, exact.weights)


def test_small_systems_are_in_float64():
    p = make_problem(300, 3, 20)
    solution = solve_ridge(p.basis, p.X.astype(np.float32), p.Y, 1.0, engine="primal")
    assert solution.precision == "float64"


def test_unknown_precision():
    with pytest.raises(ValueError, match=r"precision.*auto.*float64"):
        solve_ridge(TensorBasis(2, n_terms=6), GOOD_X, GOOD_Y, 1.0, precision="float16")


def test_the_choice_is_cheap_for_very_many_inputs():
    """No plan of the moments is made for a thousand inputs: it would have 10^9 entries."""
    basis = TensorBasis(1000, degree=1)
    cost = fit_cost(basis, 5000)
    assert cost["moments"] == math.inf
    assert min(cost, key=cost.get) == "primal"
    with pytest.raises(ValueError, match="too large a plan"):
        core.count_moments(basis._plan, 1)


def test_costs_of_very_many_outputs():
    assert fit_cost(TensorBasis(2, degree=20), 10**9, 10**9)["moments"] > 1e18


def test_moments_give_way_where_they_are_inaccurate():
    """Legendre polynomials of degree 40 and a tiny penalty: rounding at the corners would count."""
    p = make_problem(400, 2, 190)
    tiny = 1e-12
    requested = solve_ridge(p.basis, p.X, p.Y, tiny, engine="moments", solver="cholesky")
    assert requested.engine == "primal"
    assert_array_equal(
        requested.weights,
        solve_ridge(p.basis, p.X, p.Y, tiny, engine="primal", solver="cholesky").weights,
    )


def test_next_best_way_where_moments_are_inaccurate():
    """The choice is repeated among the other ways; it need not be the primal one."""
    basis = TensorBasis(2, degree=40)
    rng = np.random.default_rng(4)
    X, Y = rng.uniform(size=(800, 2)), rng.normal(size=(800, 1))
    cost = fit_cost(basis, 800)
    assert min(cost, key=cost.get) == "moments"
    assert solve_ridge(basis, X, Y, 2.0**-6).engine == "moments"
    others = {engine: cost[engine] for engine in ("primal", "dual", "kernel")}
    best = min(others, key=others.get)
    assert best == "dual"
    assert solve_ridge(basis, X, Y, 1e-11).engine == best


@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("engine", ENGINES)
def test_report_of_an_easy_problem(shape, engine):
    p = make_problem(*shape)
    alpha = 2.0**-6
    solution = solve_ridge(p.basis, p.X, p.Y, alpha, engine=engine)
    assert isinstance(solution, RidgeSolution)
    assert solution.engine == engine
    assert solution.solver == "cholesky"
    rcond = reciprocal_condition(p, alpha, engine)
    assert rcond / 10 <= solution.rcond <= rcond * 10
    assert isinstance(solution.n_refinements, int)
    assert 0 <= solution.n_refinements <= 5
    assert solution.rank == min(p.G.shape)


@pytest.mark.parametrize("engine", ENGINES)
def test_refinement_repairs_what_is_reported(engine):
    """At 2^-24 normal equations alone lose half of the digits, as the reference shows."""
    p = make_problem(*TALL)
    alpha = 2.0**-24
    solution = solve_ridge(p.basis, p.X, p.Y, alpha, engine=engine, solver="cholesky")
    assert solution.solver == "cholesky"
    assert solution.n_refinements >= 1
    exact = oracles.ridge_lstsq(p.G, p.Y, alpha)
    plain = reference.rwdd_primal(p.G, p.Y, alpha)
    assert relative(solution.weights, exact) <= relative(plain, exact) / 10


@pytest.mark.parametrize(
    ("shape", "engine", "solver"), [(TALL, "primal", "qr"), (WIDE, "dual", "lq")]
)
def test_the_solver_that_was_used_is_reported(shape, engine, solver):
    n_samples, n_features, n_terms = shape
    X = make_problem(n_samples // 2, n_features, n_terms).X
    X = np.vstack([X, X])  # so that neither G'G nor GG' has full rank
    Y = np.random.default_rng(1).standard_normal((n_samples, 2))
    basis = TensorBasis(n_features, n_terms=n_terms)
    p = Problem(basis, X, Y, basis.evaluate(X))

    requested = solve_ridge(basis, X, Y, 1.0, solver="orthogonal")
    assert (requested.engine, requested.solver) == (engine, solver)
    tiny = 1e-17 * np.linalg.norm(p.G, 2) ** 2  # a penalty that rounding swallows
    fallen = solve_ridge(basis, X, Y, tiny)
    assert (fallen.engine, fallen.solver) == (engine, solver)
    truth = reciprocal_condition(p, tiny, engine)
    assert truth / 100 <= fallen.rcond <= 100 * truth
    assert oracles.optimality(p.G, Y)(fallen.weights, tiny) <= 1e-14
    none = solve_ridge(basis, X, Y, 0.0)
    assert none.solver == "complete_orthogonal"


def test_a_solution_is_a_frozen_record():
    p = make_problem(20, 2, 5)
    solution = solve_ridge(p.basis, p.X, p.Y, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        solution.rcond = 1.0
    twin = pickle.loads(pickle.dumps(solution))
    assert_array_equal(twin.weights, solution.weights)
    assert twin.solver == solution.solver
    assert solution == solution
    assert twin != solution
    assert len({solution, twin, solution}) == 2


# --- Tiny penalties: what is left of the digits ------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-12, 1e-14, 1e-16, 1e-18, 1e-22])
@pytest.mark.parametrize("options", [{"spectrum": "orthonormal"}, {"lam": 0.5}, {"lam": 0.05}])
def test_optimality_of_few_samples_that_repeat(options, alpha):
    """Targets of copies differ, so that r / alpha is huge where the weights are not."""
    for X, y, n_terms in (
        ([[-1.0], [-1.0], [1.0]], [-0.72450395, -0.40647018, -0.6763901], 3),
        (np.tile(make_problem(15, 6, 80).X, (2, 1)), np.random.default_rng(0).normal(size=30), 80),
    ):
        X, Y = np.asarray(X), np.asarray(y)[:, np.newaxis]
        basis = TensorBasis(X.shape[1], n_terms=n_terms, **options)
        for engine in ALL_ENGINES:
            solution = solve_ridge(basis, X, Y, alpha, engine=engine, solver="orthogonal")
            assert solution.solver == "lq"
            assert oracles.optimality(basis.evaluate(X), Y)(solution.weights, alpha) <= 5e-16


@pytest.mark.parametrize("engine", ["auto", *ENGINES])
@pytest.mark.parametrize("alpha", [1e-12, 1e-15, 1e-20])
def test_wide_problems_keep_their_digits_by_every_engine(engine, alpha):
    """QR of G above sqrt(alpha) I would lose eps |G| / sqrt(alpha) of the weights."""
    p = make_problem(12, 3, 20, lam=0.5)
    expected = oracles.ridge_exact(p.G, p.Y, alpha, digits=90)
    for solver in ("auto", "orthogonal"):
        solution = solve_ridge(p.basis, p.X, p.Y, alpha, engine=engine, solver=solver)
        assert (solution.engine, solution.solver) == ("dual", "lq")
        assert relative(solution.weights, expected) <= 1e-12


def alike(kind, n_samples, n_features, rng):
    """Samples that are nearly or wholly alike, or in which inputs are."""
    X = rng.uniform(size=(n_samples, n_features))
    half = n_samples // 2
    copies = X[rng.integers(0, half, n_samples - half)]
    if kind == "near":
        X[half:] = copies + 10.0 ** -rng.integers(3, 12) * rng.normal(size=copies.shape)
    if kind == "repeated":
        X[half:] = copies
    if kind == "equal inputs":
        X[:] = X[:, :1]
    return X


def exact_features(X, basis, spectrum=None):
    """With 60 digits, Legendre: rounded features are other ones where inputs are alike."""
    evaluate = oracles.gegenbauer if spectrum is None else oracles.orthonormal
    degree = int(basis.indices.max())
    with mpmath.workdps(60):
        tables = [[evaluate(float(v), degree, 0.5) for v in x] for x in X]
        return np.array(
            [
                [
                    mpmath.fprod(values[n] for values, n in zip(table, k, strict=True))
                    for k in basis.indices.tolist()
                ]
                for table in tables
            ]
        )


@pytest.mark.parametrize("kind", ["plain", "near", "repeated", "equal inputs"])
@pytest.mark.parametrize("penalize_constant", [True, False])
@pytest.mark.parametrize("alpha", [1e-2, 1e-8, 1e-12, 1e-14, 1e-20])
def test_the_error_is_no_smaller_than_reported(kind, penalize_constant, alpha):
    """Against 90 digits, where noise is left that no penalty reaches."""
    rng = np.random.default_rng(21)
    for n_samples, n_features, n_terms in ((6, 2, 10), (8, 1, 8), (12, 2, 6)):
        X = alike(kind, n_samples, n_features, rng)
        Y = rng.normal(size=(n_samples, 1))
        basis = TensorBasis(n_features, n_terms=n_terms, lam=0.5)
        options = {"penalize_constant": penalize_constant}
        expected = oracles.ridge_exact(exact_features(X, basis), Y, alpha, digits=90, **options)
        for engine, solver in itertools.product(ALL_ENGINES, ["auto", *SOLVERS]):
            try:
                solution = solve_ridge(basis, X, Y, alpha, engine=engine, solver=solver, **options)
            except np.linalg.LinAlgError:
                continue
            off = relative(solution.weights, expected)
            where = (engine, solver, n_samples)
            assert solution.error >= 1 or off <= 10 * solution.error, where
            if solution.solver != "cholesky" and kind in ("repeated", "equal inputs"):
                assert solution.error <= 1e-6, where  # of what samples hold by themselves


@pytest.mark.parametrize("kind", ["plain", "near", "repeated", "equal inputs"])
@pytest.mark.parametrize("penalize_constant", [True, False])
@pytest.mark.parametrize("weighted", ["none", "zeros"])
@pytest.mark.parametrize("normalization", ["raw", "orthonormal"])
def test_many_samples_have_the_weights_of_exact_features(
    kind, penalize_constant, weighted, normalization
):
    """Rounding of the features alone would cost the condition number times eps, and more."""
    rng = np.random.default_rng(22)
    X, Y = alike(kind, 14, 2, rng), rng.normal(size=(14, 1))
    weight = row_weights(weighted, 14)
    spectrum = None if normalization == "raw" else "orthonormal"
    basis = TensorBasis(2, degree=2, lam=0.5, spectrum=spectrum)
    exact = exact_features(X, basis, spectrum)
    options = {"sample_weight": weight, "penalize_constant": penalize_constant}
    for alpha in (1e-3, 1e-8, 1e-12, 1e-17):
        expected = oracles.ridge_exact(exact, Y, alpha, digits=90, **options)
        solution = solve_ridge(basis, X, Y, alpha, solver="orthogonal", **options)
        assert solution.solver == "qr"
        assert solution.correction <= 0.1
        off = relative(solution.weights, expected)
        assert off <= max(1e-15, 2 * solution.error), alpha
        assert solution.error <= (1e-15 if solution.n_refinements else 1e-8), alpha
        assert solution.n_refinements or (kind, alpha) == ("equal inputs", 1e-17)


@pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
def test_equal_inputs_share_their_weight(domain):
    """The shortest weights are symmetric, however small the penalty."""
    rng = np.random.default_rng(23)
    X = np.repeat(rng.uniform(*domain, (100, 1)), 2, axis=1)
    Y = X[:, :1] + 0.1 * rng.normal(size=(100, 1))
    basis = TensorBasis(2, degree=3, lam=0.5)
    mirrored = [basis.indices.tolist().index(k[::-1]) for k in basis.indices.tolist()]
    for alpha in (1e-8, 1e-10, 1e-12, 1e-14, 1e-17, 0.0):
        for solver in ("auto", "orthogonal"):
            solution = solve_ridge(basis, X, Y, alpha, solver=solver)
            off = relative(solution.weights[mirrored], solution.weights)
            assert off <= 10 * solution.error
            if solution.solver != "cholesky":
                assert off <= (1e-15 if alpha >= 1e-12 else 1e-11)
                assert solution.error <= 1e-9


# --- No penalty: the Moore-Penrose solution ----------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", *ENGINES])
@pytest.mark.parametrize("shape", [(60, 2, 10), (12, 3, 30), (20, 2, 20)])
def test_without_penalty_at_full_rank(shape, engine):
    p = make_problem(*shape, lam=0.5, seed=4)
    expected, rank = oracles.pseudo_inverse_solution(p.G, p.Y)
    assert rank == min(p.G.shape)
    solution = solve_ridge(p.basis, p.X, p.Y, 0.0, engine=engine)
    assert solution.rank == rank
    assert relative(solution.weights, expected) <= 1e-9
    assert relative(solution.weights, reference.wdd(p.G, p.Y)) <= 1e-9


@pytest.mark.parametrize("engine", ["auto", *ENGINES])
@pytest.mark.parametrize("n_samples", [40, 14])
def test_without_penalty_at_lower_rank(n_samples, engine):
    """An input that occurs twice and samples that occur twice."""
    rng = np.random.default_rng(8)
    X = rng.uniform(0, 1, (n_samples, 2))[:, [0, 1, 0]]
    X = np.vstack([X, X[:5]])
    Y = rng.standard_normal((len(X), 2))
    basis = TensorBasis(3, degree=3, lam=0.5)
    G = basis.evaluate(X)
    expected, rank = oracles.pseudo_inverse_solution(G, Y)
    assert rank < min(G.shape)
    solution = solve_ridge(basis, X, Y, 0.0, engine=engine)
    assert solution.rank == rank
    assert solution.solver == "complete_orthogonal"
    assert relative(solution.weights, expected) <= 1e-9


def test_without_penalty_on_constant_targets_and_inputs():
    X = np.full((6, 2), 0.5)
    solution = solve_ridge(TensorBasis(2, degree=2, lam=0.5), X, np.full(6, 3.0), 0.0)
    assert solution.rank == 1
    fitted = predict(TensorBasis(2, degree=2, lam=0.5), X, solution.weights)
    assert_allclose(fitted, 3.0, rtol=1e-14)


# --- Sample weights and the constant -----------------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", *ENGINES])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("penalize_constant", [True, False])
def test_whole_weights_are_repeated_rows_and_zero_removes(engine, solver, penalize_constant):
    p = make_problem(40, 3, 25)
    weight = np.random.default_rng(1).integers(0, 4, 40)
    assert 0 in weight
    options = {"engine": engine, "solver": solver, "penalize_constant": penalize_constant}
    weighted = solve_ridge(p.basis, p.X, p.Y, 0.01, sample_weight=weight.astype(float), **options)
    rows = np.repeat(np.arange(40), weight)
    repeated = solve_ridge(p.basis, p.X[rows], p.Y[rows], 0.01, **options)
    assert relative(weighted.weights, repeated.weights) <= 1e-10
    kept = weight > 0
    removed = solve_ridge(
        p.basis, p.X[kept], p.Y[kept], 0.01, sample_weight=weight[kept].astype(float), **options
    )
    assert relative(weighted.weights, removed.weights) <= 1e-10


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_weights_against_extended_precision(engine, alpha):
    p = make_problem(15, 2, 6, lam=0.5)
    weight = np.random.default_rng(2).uniform(0.1, 5, 15)
    expected = oracles.ridge_exact(p.G, p.Y, alpha, sample_weight=weight)
    solution = solve_ridge(p.basis, p.X, p.Y, alpha, sample_weight=weight, engine=engine)
    assert relative(solution.weights, expected) <= 1e-9


@pytest.mark.parametrize("shape", [(50, 2, 20), (20, 3, 50), (20, 2, 20)])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_without_penalty_on_the_constant(shape, engine, solver, weighted):
    p = make_problem(*shape)
    Y = p.Y + 100.0
    weight = np.random.default_rng(3).uniform(0.1, 5, shape[0]) if weighted else None
    for alpha in (2.0**-10, 1.0, 2.0**10):
        expected = oracles.ridge_lstsq(p.G, Y, alpha, sample_weight=weight, penalize_constant=False)
        solution = solve_ridge(
            p.basis,
            p.X,
            Y,
            alpha,
            sample_weight=weight,
            penalize_constant=False,
            engine=engine,
            solver=solver,
        )
        assert relative(solution.weights, expected) <= 1e-9


@pytest.mark.parametrize("engine", ENGINES)
def test_the_unpenalized_constant_shifts_with_the_targets(engine):
    p = make_problem(30, 3, 20)
    options = {"penalize_constant": False, "engine": engine}
    here = solve_ridge(p.basis, p.X, p.Y, 0.1, **options).weights
    there = solve_ridge(p.basis, p.X, p.Y + 7.0, 0.1, **options).weights
    assert_allclose(there[0], here[0] + 7.0, rtol=1e-11)
    assert_allclose(there[1:], here[1:], atol=1e-9 * np.abs(here).max())
    # and is the mean when the penalty takes all else
    heavy = solve_ridge(p.basis, p.X, p.Y, 1e12, **options).weights
    assert_allclose(heavy[0], p.Y.mean(axis=0), rtol=1e-8)
    assert np.abs(heavy[1:]).max() <= 1e-9


# --- A free constant with tiny penalties and none ----------------------------------------------

ALL_ENGINES = ["auto", *ENGINES, "kernel"]
UNPENALIZED = {"penalize_constant": False}


def row_weights(kind, n_samples, seed=12):
    rng = np.random.default_rng(seed)
    if kind == "none":
        return None
    if kind == "wide range":
        return 10.0 ** rng.uniform(-8, 8, n_samples)
    weight = rng.uniform(0.1, 3, n_samples)
    weight[[0, n_samples // 2]] = 0
    return weight


@pytest.mark.parametrize(
    ("shape", "factorization"), [((15, 3, 20), "lq"), ((12, 3, 12), "lq"), ((25, 3, 12), "qr")]
)
@pytest.mark.parametrize("alpha", [1e-20, 1e-14, 1e-8, 1.0])
@pytest.mark.parametrize("weighted", ["none", "zeros", "wide range"])
@pytest.mark.parametrize("spectrum", [None, "orthonormal"])
def test_free_constant_against_extended_precision(shape, factorization, alpha, weighted, spectrum):
    p = make_problem(*shape, spectrum=spectrum, seed=5)
    Y = p.Y + 3.0
    weight = row_weights(weighted, len(Y))
    expected = oracles.ridge_exact(p.G, Y, alpha, sample_weight=weight, digits=120, **UNPENALIZED)
    for engine, solver in itertools.product(ALL_ENGINES, ["auto", "orthogonal"]):
        options = {"sample_weight": weight, "engine": engine, "solver": solver, **UNPENALIZED}
        solution = solve_ridge(p.basis, p.X, Y, alpha, **options)
        where = (engine, solver, solution.solver)
        bar = {"lq": 1e-12, "cholesky": 1e-11, "qr": 1e-10}[solution.solver]
        if solution.solver == "qr" and weighted == "wide range":
            bar = 1e-8  # small rows may stand above large ones
        assert relative(solution.weights, expected) <= bar, where
        if solver == "orthogonal" or solution.solver != "cholesky":
            assert solution.solver == factorization, where  # the shape decides
            assert solution.engine == ("primal" if solution.solver == "qr" else "dual"), where


# Samples of which many are the same, or terms that do
DEGENERATE = {
    "none": lambda X: X,
    "repeated rows": lambda X: X[np.arange(len(X)) // 2],
    "constant input": lambda X: np.column_stack([np.full(len(X), 0.3), X[:, 1:]]),
    "equal inputs": lambda X: np.column_stack([X[:, 1], X[:, 1:]]),
    "equal rows": lambda X: np.full_like(X, 0.4),
}


def effect_of_rounding_the_kernel(G, G_new, weights, sample_weight, n_roundings):
    """Bound the relative error of predictions by K alone, that K = G G' is rounded.

    With A the terms but the constant, which is projected away, predictions are f = A_new A' c for
    the dual coefficients c = (A^+)' W, since K^+ = (A^+)' A^+. A change E of K moves f by
    A_new A' K^+ E c = (A_new A^+) E c to first order, whose norm is at most that of A_new A^+ and c
    times the largest change of an entry: `n_roundings` times half of eps, of the largest entry.
    The sums over samples that follow round once for each.
    """
    root = np.ones(len(G)) if sample_weight is None else np.sqrt(sample_weight)
    unit, size = root / np.linalg.norm(root), np.linalg.norm(root[:, np.newaxis] * G[:, 1:])
    A = root[:, np.newaxis] * G[:, 1:]
    A = A - np.outer(unit, unit @ A)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > 1e-10 * size
    inverse = (Vt[kept].T / s[kept]) @ U[:, kept].T
    largest = ((root[:, np.newaxis] * G) ** 2).sum(axis=1).max()  # on the diagonal
    moved = np.linalg.norm(G_new[:, 1:] @ inverse) * np.linalg.norm(inverse.T @ weights[1:])
    eps = np.finfo(float).eps
    found = np.linalg.norm(G_new @ weights)
    return 0.5 * n_roundings * eps * largest * moved / found + len(G) * eps


@pytest.mark.parametrize("n_samples", [12, 20, 40])
@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("weighted", ["none", "zeros"])
def test_free_constant_without_penalty(n_samples, kind, weighted):
    """Least residual first, then the least norm of what is penalised."""
    rng = np.random.default_rng(13)
    X = DEGENERATE[kind](rng.uniform(size=(n_samples, 3)))
    Y = rng.normal(size=(n_samples, 2)) + 3.0
    weight = row_weights(weighted, n_samples)
    basis = TensorBasis(3, degree=3, lam=0.5)
    expected, rank = oracles.free_constant_limit(basis.evaluate(X), Y, weight)
    new = rng.uniform(size=(30, 3))
    for engine in ALL_ENGINES:
        options = {"sample_weight": weight, "engine": engine, **UNPENALIZED}
        solution = solve_ridge(basis, X, Y, 0.0, **options)
        assert solution.solver == "complete_orthogonal"
        assert solution.rank == rank
        assert relative(solution.weights, expected) <= 1e-9, engine
    kernel = TotalDegreeKernel(3, 3, lam=0.5)
    by_kernel = solve_kernel(kernel, X, Y, 0.0, sample_weight=weight, **UNPENALIZED)
    found = predict_kernel(kernel, new, X, by_kernel.dual_coef, intercept=by_kernel.intercept)
    # an entry of K: the recurrence and the product of each degree in each input
    bar = effect_of_rounding_the_kernel(
        basis.evaluate(X), basis.evaluate(new), expected, weight, n_roundings=3 * (3 + 1)
    )
    assert relative(found, basis.evaluate(new) @ expected) <= bar


@pytest.mark.parametrize("penalize_constant", [True, False])
@pytest.mark.parametrize("shape", [(12, 3, 30), (40, 3, 20)])
def test_no_penalty_is_the_limit_of_tiny_ones(shape, penalize_constant):
    p = make_problem(*shape, spectrum="orthonormal")
    Y = p.Y + 3.0
    options = {"penalize_constant": penalize_constant}
    for engine in ALL_ENGINES:
        none = solve_ridge(p.basis, p.X, Y, 0.0, engine=engine, **options).weights
        tiny = solve_ridge(p.basis, p.X, Y, 1e-20, engine=engine, **options).weights
        assert relative(tiny, none) <= 1e-10, engine


@pytest.mark.parametrize("alpha", [0.0, 1e-14, 1e-10])
@pytest.mark.parametrize("weighted", ["none", "zeros"])
def test_free_constant_is_that_of_the_kernel(alpha, weighted):
    rng = np.random.default_rng(14)
    X, new = rng.uniform(size=(15, 4)), rng.uniform(size=(30, 4))
    Y = rng.normal(size=(15, 2)) + 3.0
    options = {"sample_weight": row_weights(weighted, 15), **UNPENALIZED}
    basis = TensorBasis(4, degree=3, lam=0.5, spectrum="orthonormal")
    kernel = TotalDegreeKernel(4, 3, lam=0.5, spectrum="orthonormal")
    expected = predict(basis, new, solve_ridge(basis, X, Y, alpha, **options).weights)
    solution = solve_kernel(kernel, X, Y, alpha, **options)
    found = predict_kernel(kernel, new, X, solution.dual_coef, intercept=solution.intercept)
    assert relative(found, expected) <= 1e-10


@pytest.mark.parametrize("alpha", [0.0, 1e-20, 1.0])
@pytest.mark.parametrize("engine", ALL_ENGINES)
@pytest.mark.parametrize("solver", ["auto", "orthogonal"])
def test_hardly_anything_beside_a_free_constant(alpha, engine, solver):
    options = {"engine": engine, "solver": solver, **UNPENALIZED}
    # one row: the constant is it
    solution = solve_ridge(TensorBasis(2, degree=2), [[0.2, 0.7]], [5.0], alpha, **options)
    assert_allclose(solution.weights[:, 0], [5.0, 0, 0, 0, 0, 0], atol=1e-14)
    assert solution.rank == 1
    # no other term: the weighted mean
    for n_samples in (1, 7):
        rng = np.random.default_rng(15)
        X, Y = rng.uniform(size=(n_samples, 2)), rng.normal(size=(n_samples, 3))
        weight = rng.uniform(0.1, 2, n_samples)
        weight[1:2] = 0
        solution = solve_ridge(
            TensorBasis(2, degree=0), X, Y, alpha, sample_weight=weight, **options
        )
        assert_allclose(solution.weights[0], np.average(Y, axis=0, weights=weight), rtol=1e-13)
        assert solution.rank == 1


def test_few_rows_need_few_rows_of_memory_and_work():
    """Also with a free constant: nothing of the size of n_terms squared, by LQ of the rows."""
    rng = np.random.default_rng(16)
    for m, degree, alpha in ((40, 3, 1e-20), (6, 14, 0.0), (6, 14, 1e-20)):
        basis = TensorBasis(m, degree=degree)
        X, y = rng.uniform(size=(20, m)), rng.normal(size=20)
        for solver in ("auto", "orthogonal"):
            arguments = (basis._plan, 20, 1, alpha, False, "auto", solver)
            assert core.estimate_bytes(*arguments) <= 1e7 + 8 * 30 * basis.n_terms
        solution = solve_ridge(basis, X, y, alpha, **UNPENALIZED)
        assert solution.engine == "dual"
        assert solution.solver == ("lq" if alpha > 0 else "complete_orthogonal")
        assert_allclose(predict(basis, X, solution.weights)[:, 0], y, rtol=1e-10)


def test_weights_scale_with_alpha():
    """Weights c w with penalty c alpha are the problem with w and alpha."""
    p = make_problem(30, 2, 15)
    weight = np.random.default_rng(5).uniform(0.5, 2, 30)
    for engine in ENGINES:
        one = solve_ridge(p.basis, p.X, p.Y, 0.1, sample_weight=weight, engine=engine)
        many = solve_ridge(p.basis, p.X, p.Y, 800.0, sample_weight=8000 * weight, engine=engine)
        assert relative(many.weights, one.weights) <= 1e-10


# --- Samples in every form ---------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_do_not_change_a_bit(engine, solver):
    p = make_problem(700, 5, 260, n_outputs=3)
    weight = np.random.default_rng(6).uniform(0, 2, 700)

    def weights(n_threads):
        return solve_ridge(
            p.basis,
            p.X,
            p.Y,
            2.0**-9,
            sample_weight=weight,
            engine=engine,
            solver=solver,
            n_threads=n_threads,
        ).weights

    expected = weights(1)
    for n_threads in (2, 3):
        assert_array_equal(weights(n_threads), expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_layouts_give_the_same_weights(engine, tmp_path):
    p = make_problem(70, 4, 30)
    expected = solve_ridge(p.basis, p.X, p.Y, 0.1, engine=engine).weights
    wide = np.zeros((140, 12))
    wide[::2, 1::3] = p.X
    np.save(tmp_path / "X.npy", p.X)
    read_only = p.X.copy()
    read_only.flags.writeable = False
    forms = [
        np.asfortranarray(p.X),
        wide[::2, 1::3],
        p.X[::-1].copy()[::-1],
        read_only,
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        p.X.tolist(),
    ]
    targets = [np.asfortranarray(p.Y), np.repeat(p.Y, 2, axis=1)[:, ::2], p.Y.tolist()]
    for X in forms:
        assert_array_equal(solve_ridge(p.basis, X, p.Y, 0.1, engine=engine).weights, expected)
    for Y in targets:
        assert_array_equal(solve_ridge(p.basis, p.X, Y, 0.1, engine=engine).weights, expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_float32_samples_are_float64_samples_of_the_same_values(engine):
    p = make_problem(300, 3, 60)
    X = p.X.astype(np.float32)
    scaling = InputScaling.fit(X)
    options = {"engine": engine, "scaling": scaling}
    single = solve_ridge(p.basis, X, p.Y, 2.0**-8, **options).weights
    double = solve_ridge(p.basis, X.astype(np.float64), p.Y, 2.0**-8, **options).weights
    assert relative(single, double) <= 1e-11
    got = predict(p.basis, X, double, scaling=scaling)
    expected = predict(p.basis, X.astype(np.float64), double, scaling=scaling)
    assert got.dtype == np.float64
    assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_a_million_float32_rows_lose_no_accuracy():
    rng = np.random.default_rng(7)
    X = rng.uniform(0, 1, (1_000_000, 2)).astype(np.float32)
    y = 1000.0 + X[:, 0].astype(np.float64)
    basis = TensorBasis(2, degree=2, lam=0.5)
    x = X.astype(np.float64)
    G = np.stack(
        [
            np.ones(len(x)),
            x[:, 0],
            x[:, 1],
            1.5 * x[:, 0] ** 2 - 0.5,
            x[:, 0] * x[:, 1],
            1.5 * x[:, 1] ** 2 - 0.5,
        ],
        axis=1,
    )
    expected = reference.rwdd_primal(G, y, 1.0)
    assert relative(solve_ridge(basis, X, y, 1.0).weights[:, 0], expected) <= 1e-10


def test_arguments_are_left_alone():
    p = make_problem(40, 3, 25)
    weight = np.linspace(0, 1, 40)
    kept = p.X.copy(), p.Y.copy(), weight.copy()
    for engine, solver in itertools.product(ENGINES, SOLVERS):
        solve_ridge(p.basis, p.X, p.Y, 0.1, sample_weight=weight, engine=engine, solver=solver)
    for array, copied in zip((p.X, p.Y, weight), kept, strict=True):
        assert_array_equal(array, copied)


# --- Predictions -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_samples", [1, 8, 63, 65, 700])
@pytest.mark.parametrize("n_outputs", [1, 2, 3, 7, 33])
def test_predictions_are_features_times_weights(n_samples, n_outputs):
    p = make_problem(n_samples, 4, 150, n_outputs)
    W = np.random.default_rng(9).standard_normal((150, n_outputs))
    expected = p.G @ W
    got = predict(p.basis, p.X, W)
    assert got.shape == (n_samples, n_outputs)
    assert_allclose(got, expected, atol=1e-12 * np.abs(expected).max())
    out = np.empty((n_outputs, n_samples)).T
    assert predict(p.basis, p.X, W, out=out) is out
    assert_array_equal(out, got)
    # any layout of the weights
    assert_array_equal(predict(p.basis, p.X, np.asfortranarray(W)), got)


def test_predictions_are_bitwise_identical_for_any_threads_and_company():
    p = make_problem(3000, 5, 300, 2)
    W = np.random.default_rng(9).standard_normal((300, 2))
    expected = predict(p.basis, p.X, W, n_threads=1)
    for n_threads in (2, 3):
        assert_array_equal(predict(p.basis, p.X, W, n_threads=n_threads), expected)
    assert_array_equal(predict(p.basis, p.X[1001:1002], W), expected[1001:1002])


def test_predictions_beyond_float64():
    basis = TensorBasis(1, degree=3)
    clip = re.escape("clip it to the domain: `scaling=InputScaling(..., clip=True)`")
    message = f"predictions .* in row 1: X lies too far out, {clip}"
    with pytest.raises(ValueError, match=message) as caught:
        predict(basis, [[0.0], [1e200]], np.ones(4))
    # errors come back from the processes of a cross-validation
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(ValueError, match="weights are too large"):
        predict(TensorBasis(1, degree=3, spectrum="orthonormal"), [[1.0]], np.full(4, 1e308))


def test_predictions_beyond_the_box_are_clipped_to_it():
    p = make_problem(50, 2, 20)
    scaling = InputScaling.fit(p.X)
    W = solve_ridge(p.basis, p.X, p.Y, 0.1, scaling=scaling).weights
    far = np.array([[1e300, -1e300]])
    edge = np.array([[scaling.upper[0], scaling.lower[1]]])
    assert_array_equal(
        predict(p.basis, far, W, scaling=scaling), predict(p.basis, edge, W, scaling=scaling)
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros((7, 2)), r"weights.*\b7\b.*\b20\b|weights.*\b20\b.*\b7\b"),
        (np.zeros((20, 2, 1)), r"weights"),
        (np.full((20, 1), math.nan), r"weights"),
        (np.zeros((20, 1), dtype=complex), r"weights"),
        ("heavy", r"weights"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    p = make_problem(10, 2, 20)
    with pytest.raises((TypeError, ValueError), match=message):
        predict(p.basis, p.X, weights)


def test_predictions_refuse_wrong_samples_and_out():
    p = make_problem(10, 2, 20)
    W = np.zeros((20, 3))
    with pytest.raises(ValueError, match=r"\bX\b.*(3.*2|2.*3)"):
        predict(p.basis, np.zeros((4, 3)), W)
    with pytest.raises(ValueError, match=r"\bX\b.*\b1\b"):
        predict(p.basis, [[0.0, math.nan]], W)
    for out in (np.zeros((10, 2)), np.zeros((10, 3), dtype=np.int64), [0.0] * 30):
        with pytest.raises((TypeError, ValueError), match=r"\bout\b"):
            predict(p.basis, p.X, W, out=out)


# --- Bad input ---------------------------------------------------------------------------------

GOOD_X = np.random.default_rng(10).uniform(0, 1, (12, 2))
GOOD_Y = np.random.default_rng(11).standard_normal((12, 2))
HOLED_X = GOOD_X.copy()
HOLED_X[5, 1] = math.nan


@pytest.mark.parametrize("solve", [solve_ridge, solve_primal, solve_dual])
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"basis": "tensor"}, "basis"),
        ({"X": GOOD_X[:, :1]}, r"\bX\b.*(1.*2|2.*1)"),
        ({"X": GOOD_X[0]}, r"\bX\b"),
        ({"X": HOLED_X}, r"\bX\b.*\b1\b"),
        ({"X": GOOD_X.astype(complex)}, r"\bX\b.*complex"),
        ({"X": np.empty((0, 2)), "Y": np.empty((0, 2))}, r"\bX\b"),
        ({"X": [["a", "b"]] * 12}, r"\bX\b"),
        ({"Y": GOOD_Y[:7]}, r"\bY\b.*(7.*12|12.*7)"),
        ({"Y": np.full((12, 1), math.inf)}, r"\bY\b"),
        ({"Y": np.full(12, math.nan)}, r"\bY\b"),
        ({"Y": np.zeros((12, 1, 1))}, r"\bY\b"),
        ({"Y": np.zeros((12, 0))}, r"\bY\b"),
        ({"Y": ["a"] * 12}, r"\bY\b"),
        ({"Y": GOOD_Y * 1j}, r"\bY\b.*complex"),
        ({"alpha": -1e-3}, r"alpha.*-0.001"),
        ({"alpha": math.nan}, r"alpha.*nan"),
        ({"alpha": math.inf}, r"alpha.*inf"),
        ({"alpha": "auto"}, r"alpha.*auto"),
        ({"sample_weight": np.ones(11)}, r"sample_weight.*(11.*12|12.*11)"),
        ({"sample_weight": -np.ones(12)}, r"sample_weight"),
        ({"sample_weight": np.full(12, math.nan)}, r"sample_weight"),
        ({"sample_weight": np.zeros(12)}, r"sample_weight"),
        ({"sample_weight": np.ones((12, 2))}, r"sample_weight"),
        ({"scaling": InputScaling.fit([[0.0], [1.0]])}, r"scaling|X"),
        ({"scaling": (0, 1)}, r"scaling"),
        ({"solver": "svd"}, r"solver.*svd"),
        ({"n_threads": 0}, r"n_threads.*0"),
    ],
)
def test_bad_arguments_are_named(solve, change, named):
    basis = TensorBasis(2, n_terms=6)
    arguments = {"basis": basis, "X": GOOD_X, "Y": GOOD_Y, "alpha": 1.0, **change}
    positional = [arguments.pop(name) for name in ("basis", "X", "Y", "alpha")]
    with pytest.raises((TypeError, ValueError), match=named):
        solve(*positional, **arguments)


def test_checked_arrays_need_no_second_look():
    p = make_problem(*TALL)
    once, twice = (solve_ridge(p.basis, p.X, p.Y, 0.1, check_finite=c) for c in (False, True))
    assert_array_equal(once.weights, twice.weights)
    with pytest.raises(TypeError, match=r"`check_finite` must be True or False"):
        solve_ridge(p.basis, p.X, p.Y, 0.1, check_finite="no")
    # what is of the wrong shape is refused all the same
    with pytest.raises(ValueError, match="Y must have 400 rows"):
        solve_ridge(p.basis, p.X, p.Y[1:], 0.1, check_finite=False)


def test_unknown_engine():
    with pytest.raises(ValueError, match=r"engine.*auto.*primal.*dual.*kernel"):
        solve_ridge(TensorBasis(2, n_terms=6), GOOD_X, GOOD_Y, 1.0, engine="svd")


@pytest.mark.parametrize("number", [10**400, 10**5000, Fraction(10**400, 3)], ids="abc")
def test_numbers_beyond_float64_are_named(number):
    basis = TensorBasis(2, n_terms=6)
    for name, call in [
        ("`alpha`", lambda: solve_ridge(basis, GOOD_X, GOOD_Y, number)),
        ("`alpha`", lambda: GegenbauerRegressor(alpha=int(number)).fit(GOOD_X, GOOD_Y)),
        ("`sample_weight`", lambda: GegenbauerRegressor().fit(GOOD_X, GOOD_Y, number)),
        ("`lam`", lambda: TensorBasis(2, n_terms=6, lam=number)),
        (r"\(q\) of `spectrum`", lambda: TensorBasis(2, n_terms=6, spectrum=(number, 1))),
        (r"\(q\) of `spectrum`", lambda: SpectrumKernel(2, (number, 1))),
        (r"`smoothness` \(s\)", lambda: SpectrumKernel(2, PowerDecay(1, number))),
    ]:
        with pytest.raises(ValueError, match=f"{name} must be within the range of float64, got"):
            call()


def test_weights_beyond_float64_have_no_row():
    """An index of a term would look like one of X."""
    basis = TensorBasis(2, n_terms=6)
    with pytest.raises(ValueError, match="the weights are beyond the range of float64: X"):
        solve_ridge(basis, GOOD_X, np.full(12, 1e300), 1e-3, sample_weight=np.full(12, 1e300))


def test_an_exact_fraction_is_a_number():
    basis = TensorBasis(2, n_terms=6)
    half = solve_ridge(basis, GOOD_X, GOOD_Y, Fraction(1, 2)).weights
    assert_array_equal(half, solve_ridge(basis, GOOD_X, GOOD_Y, 0.5).weights)


def test_cholesky_of_a_singular_matrix_is_an_error_that_teaches():
    """Four equal samples: all entries of G'G are 4, and rounding swallows alpha."""
    basis = TensorBasis(2, degree=1, lam=0.5)
    X, y = np.ones((4, 2)), np.ones(4)
    with pytest.raises(np.linalg.LinAlgError, match=r"alpha|solver"):
        solve_ridge(basis, X, y, 1e-300, engine="primal", solver="cholesky")
    with pytest.raises(ValueError, match=r"alpha.*solver|solver.*alpha"):
        solve_ridge(basis, X, y, 0.0, engine="primal", solver="cholesky")
    fallen = solve_ridge(basis, X, y, 1e-300, engine="primal")
    assert fallen.solver != "cholesky"
    assert_allclose(predict(basis, X, fallen.weights), 1.0, rtol=1e-12)


def test_a_solve_beyond_any_memory_is_refused_before_the_work():
    basis = TensorBasis(50, n_terms=1_000_000)  # G'G has 8 TB
    with pytest.raises(ValueError, match=r"memory.*n_terms"):
        solve_primal(basis, np.zeros((3, 50)), np.zeros(3), 1.0)


@pytest.mark.parametrize("shape", [(40, 3, 84), (200, 3, 84)])
def test_a_fallback_beyond_the_memory_is_refused_with_numbers(shape, monkeypatch):
    p = make_problem(*shape)
    monkeypatch.setattr("gegenbauer.ridge.solve.memory_limit", lambda _: 1e4)
    assert solve_ridge(p.basis, p.X, p.Y, 1.0).solver == "cholesky"  # nothing to refuse
    with pytest.raises(TooLargeError, match=r"alpha.*Cholesky.*GB.*1e-05 GB.*larger `alpha`"):
        solve_ridge(p.basis, p.X, p.Y, 1e-20)


LIMITED = """
import json, resource
import numpy as np
from pathlib import Path
from gegenbauer import solve_ridge, TensorBasis
from gegenbauer.errors import TooLargeError

X = np.random.default_rng(0).uniform(size=(3000, 6))
basis = TensorBasis(6, n_terms=3003)
now = resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (now + 50_000_000, now + 50_000_000))
try:
    solve_ridge(basis, X, X[:, 0], 1.0, engine="primal", n_threads=1)
    message = ""
except TooLargeError as error:
    message = str(error)
print(json.dumps({"message": message}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
def test_memory_that_another_limit_denies():
    assert "more memory than can be had" in run_python(LIMITED)["message"]


# --- The process around ------------------------------------------------------------------------


def run_python(code: str, *arguments: str, seconds: float = 60) -> dict:
    """Run code in a fresh interpreter; what it prints last is JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(sys.platform == "win32", reason="no timer signals")
@pytest.mark.parametrize(
    ("n_samples", "n_terms", "engine", "solver"),
    [
        (300_000, 3000, "primal", "cholesky"),
        (4000, 200_000, "dual", "cholesky"),
        (6000, 2000, "primal", "orthogonal"),
        (2000, 6000, "dual", "orthogonal"),
    ],
)
def test_a_long_solve_can_be_interrupted(n_samples, n_terms, engine, solver):
    X = np.random.default_rng(0).uniform(0, 1, (n_samples, 8))
    basis = TensorBasis(8, n_terms=n_terms)
    interrupt(lambda: solve_ridge(basis, X, X[:, 0], 1.0, engine=engine, solver=solver))
    line = TensorBasis(1, n_terms=2, lam=0.5)
    after = solve_ridge(line, [[0.0], [0.5], [1.0]], [-1.0, -1.0, 1.0], 1.0)
    assert_allclose(after.weights, [[-4 / 9], [14 / 27]], rtol=1e-14)


FORK = """
import json, multiprocessing, warnings
import numpy as np
from gegenbauer.basis import TensorBasis
from gegenbauer.ridge import solve_ridge

warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of threads that NumPy has
X = np.random.default_rng(0).uniform(0, 1, (2000, 4))
basis = TensorBasis(4, n_terms=300)

def digest(_=None):
    return solve_ridge(basis, X, X[:, 0], 0.1, n_threads=2).weights.tobytes().hex()

if __name__ == "__main__":
    before = digest()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        children = pool.map_async(digest, range(4)).get(timeout=30)
    same = [child == before for child in children]
    print(json.dumps({"same": same, "after": digest() == before}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_forked_processes_compute_after_a_solve():
    assert run_python(FORK) == {"same": [True] * 4, "after": True}


MEMORY = """
import json, resource, sys
import numpy as np
from gegenbauer.basis import InputScaling, TensorBasis
from gegenbauer.ridge import predict, solve_ridge

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

X = np.random.default_rng(0).uniform(0, 1, (20, 400_000)).T
y = X[:, 0].copy()
basis = TensorBasis(20, n_terms=200)
scaling = InputScaling.fit(X[:1000])
solve_ridge(basis, X[:1000], y[:1000], 1.0, scaling=scaling)
before = peak()
W = solve_ridge(basis, X, y, 1.0, scaling=scaling).weights
predict(basis, X, W, scaling=scaling)
features = 8 * len(X) * basis.n_terms
print(json.dumps({"grown": peak() - before, "features": features, "X": X.nbytes}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
def test_a_fit_holds_neither_the_features_nor_a_copy_of_the_samples():
    result = run_python(MEMORY)
    assert result["features"] == 640_000_000
    assert result["grown"] < result["X"] / 2
