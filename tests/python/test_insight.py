"""Sobol' indices against their definition by quadrature, and polynomials as text and SymPy."""

from __future__ import annotations

import dataclasses
import itertools
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    InputScaling,
    PowerDecay,
    Spectrum,
    TensorBasis,
    polynomial_text,
    sobol_indices,
    solve_kernel,
    to_sympy,
)
from gegenbauer.basis import SpectrumKernel, gegenbauer_vander
from gegenbauer.inspection import kernel_sobol_indices, term_sobol_indices
from gegenbauer.ridge import predict_kernel


def by_definition(function, m, domain, distribution, n_nodes):
    """Mean, variance, first-order and total indices of a function on a full tensor grid."""
    if distribution == "uniform":
        nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
        weights = weights / 2
    else:
        nodes = np.cos((np.arange(n_nodes) + 0.5) * np.pi / n_nodes)
        weights = np.full(n_nodes, 1 / n_nodes)
    low, high = domain
    x = low + (high - low) * (nodes + 1) / 2
    grid = np.array(list(itertools.product(x, repeat=m)))
    f = function(grid).reshape((n_nodes,) * m)

    def mean(values, axes):
        for axis in sorted(axes, reverse=True):
            values = np.tensordot(values, weights, axes=(axis, 0))
        return values

    average = mean(f, range(m))
    variance = mean(f**2, range(m)) - average**2
    first, total = [], []
    for t in range(m):
        others = [u for u in range(m) if u != t]
        alone = mean(f, others)
        first.append((alone**2 @ weights - average**2) / variance)
        without = mean(f, [t])
        total.append(1 - (mean(without**2, range(m - 1)) - average**2) / variance)
    return average, variance, first, total


@pytest.mark.parametrize("distribution", ["uniform", "chebyshev"])
@pytest.mark.parametrize("domain", [(0, 1), (-1, 1)])
@pytest.mark.parametrize(
    "options",
    [
        {"degree": 4},
        {"degree": 3, "lam": 2.0},
        {"degree": 3, "lam": 0.0},
        {"degree": [1, 3, 2], "index_set": "tensor", "spectrum": "orthonormal"},
        {"degree": 5, "index_set": "hyperbolic_cross", "spectrum": (0.5, 1.0), "lam": 0.0},
        {"n_terms": 17, "max_interaction": 2},
        {"n_terms": 25, "index_set": "largest_weight", "spectrum": (0.7, 1.5)},
        {"degree": 0},
    ],
    ids=str,
)
def test_indices_of_terms(options, domain, distribution):
    basis = TensorBasis(3, **options)
    W = np.random.default_rng(0).normal(size=(basis.n_terms, 2))
    found = term_sobol_indices(basis, W, domain=domain, distribution=distribution)
    if basis.n_terms == 1:
        assert_allclose(found.mean, W[0])
        assert_allclose(found.variance, 0)
        assert_allclose(found.total, 0)
        return
    for k in range(2):
        mean, variance, first, total = by_definition(
            lambda x, k=k: basis.evaluate(x) @ W[:, k], 3, domain, distribution, 8
        )
        assert_allclose(found.mean[k], mean, rtol=1e-12)
        assert_allclose(found.variance[k], variance, rtol=1e-10)
        assert_allclose(found.first_order[k], first, atol=1e-10)
        assert_allclose(found.total[k], total, atol=1e-10)


def test_fixed_inputs_of_terms():
    basis = TensorBasis(2, degree=4, lam=0.5)
    W = np.random.default_rng(0).normal(size=basis.n_terms)
    found = term_sobol_indices(basis, W, domain=(-1, 1), fixed=[False, True])
    mean, variance, first, _ = by_definition(
        lambda x: basis.evaluate(np.column_stack([x, np.zeros(len(x))])) @ W, 1, (-1, 1),
        "uniform", 8,
    )  # fmt: skip
    assert_allclose(found.mean, mean, rtol=1e-12)
    assert_allclose(found.variance, variance, rtol=1e-10)
    assert_allclose(found.first_order[0], [first[0], 0], atol=1e-12)
    assert_allclose(found.total[0], [1, 0], atol=1e-12)


def test_ishigami_has_its_known_indices():
    """V = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2 with a = 7, b = 0.1."""
    rng = np.random.default_rng(0)
    u = rng.uniform(size=(3000, 3))
    x = np.pi * (2 * u - 1)
    y = np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    b, pi = 0.1, np.pi
    variance = 49 / 8 + b * pi**4 / 5 + b**2 * pi**8 / 18 + 0.5
    first = np.array([0.5 * (1 + b * pi**4 / 5) ** 2, 49 / 8, 0]) / variance
    interaction = 8 * b**2 * pi**8 / 225 / variance
    total = first + np.array([interaction, 0, interaction])
    model = GegenbauerRegressor(n_terms=None, degree=15, lam=0.5, alpha=1e-9).fit(u, y)
    for found in (
        sobol_indices(model),
        sobol_indices(GegenbauerRegressorCV().fit(u[:600], y[:600])),
    ):
        # the rows fill a little less than the whole range
        assert_allclose(found.mean, 3.5, atol=0.05)
        assert_allclose(found.variance, variance, rtol=0.02)
        assert_allclose(found.first_order[0], first, atol=0.01)
        assert_allclose(found.total[0], total, atol=0.01)


@pytest.mark.parametrize("distribution", ["uniform", "chebyshev"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_indices_of_kernels(m, distribution):
    rng = np.random.default_rng(m)
    X, Y = rng.uniform(-1, 1, (15, m)), rng.normal(size=(15, 2))
    kernel = SpectrumKernel(
        m, [PowerDecay(tuple(rng.uniform(0.1, 1, m)), 2.0), GeometricDecay(0.2, 0.3)]
    )
    fit = solve_kernel(kernel, X, Y, 0.1, penalize_constant=False)
    found = kernel_sobol_indices(
        kernel, X, fit.dual_coef, intercept=fit.intercept, distribution=distribution
    )
    for k in range(2):
        mean, variance, first, total = by_definition(
            lambda x, k=k: predict_kernel(
                kernel, x, X, fit.dual_coef[:, k], intercept=fit.intercept[k : k + 1]
            )[:, 0],
            m, (-1, 1), distribution, 40,
        )  # fmt: skip
        assert_allclose(found.mean[k], mean, rtol=1e-5)
        assert_allclose(found.variance[k], variance, rtol=1e-4)
        assert_allclose(found.first_order[k], first, atol=1e-4)
        assert_allclose(found.total[k], total, atol=1e-4)


@pytest.mark.parametrize("distribution", ["uniform", "chebyshev"])
def test_inputs_that_fill_a_part_of_the_domain(distribution):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (15, 2)), rng.normal(size=15)
    kernel = SpectrumKernel(2, (0.5, 1.0), max_degree=4)
    basis = TensorBasis(2, degree=[4, 4], index_set="tensor", spectrum=(0.5, 1.0), lam=0.0)
    fit = solve_kernel(kernel, X, y, 0.1)
    W = basis.evaluate(X).T @ fit.dual_coef
    options = {"distribution": distribution, "extent": 0.7}
    a = kernel_sobol_indices(kernel, X, fit.dual_coef, **options)
    b = term_sobol_indices(basis, W, domain=(-1, 1), **options)
    true = by_definition(lambda x: basis.evaluate(0.7 * x) @ W[:, 0], 2, (-1, 1), distribution, 12)
    for found in (a, b):
        for value, name in zip(true, ("mean", "variance", "first_order", "total"), strict=True):
            assert_allclose(np.ravel(getattr(found, name)), np.ravel(value), rtol=1e-9)


def test_a_kernel_equals_its_terms():
    """Cut at a degree, the kernel of all terms is that of a tensor set."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (20, 2)), rng.normal(size=20)
    kernel = SpectrumKernel(2, (0.5, 1.0), max_degree=4)
    basis = TensorBasis(2, degree=[4, 4], index_set="tensor", spectrum=(0.5, 1.0), lam=0.0)
    fit = solve_kernel(kernel, X, y, 0.1)
    W = basis.evaluate(X).T @ fit.dual_coef
    a = kernel_sobol_indices(kernel, X, fit.dual_coef)
    b = term_sobol_indices(basis, W, domain=(-1, 1))
    for name in ("mean", "variance", "first_order", "total"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-12)


def test_indices_of_estimators_with_a_constant_input():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(2, 5, 200), np.full(200, 3.0), rng.uniform(-1, 1, 200)])
    y = X[:, 0] * X[:, 2]
    plain = GegenbauerRegressor(n_terms=None, degree=3, lam=0.5, alpha=1e-9).fit(X, y)
    chosen = GegenbauerRegressorCV().fit(X, y)
    few = GegenbauerRegressorCV(spectrum=(1.0, 2.0), n_terms=60).fit(X, y)
    # x z with independent x in [2, 5], z in [-1, 1]: E x^2 = 13, Var z = 1/3
    for model in (plain, chosen, few):
        found = sobol_indices(model)
        assert_allclose(found.mean, 0, atol=0.05)
        assert_allclose(found.variance, 13 / 3, rtol=0.06)
        assert_allclose(found.total[0], [0.75 / 13, 0, 1], atol=0.01)
        assert_allclose(found.first_order[:, 2], 12.25 / 13, atol=0.01)


@pytest.mark.parametrize("streamed", [False, True])
def test_given_bounds_are_the_whole_range(streamed):
    """Only a box of samples is wider than they are: x + z^3 on [-1, 1] has parts of 1/3 and 1/7."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    y = X[:, 0] + X[:, 1] ** 3
    model = GegenbauerRegressorCV(bounds=[(-1, 1)] * 2, n_terms=40 if streamed else None)
    if streamed:
        model.fit_stream([(X[:150], y[:150]), (X[150:], y[150:])])
    else:
        model.fit(X, y)
    assert_allclose(sobol_indices(model).total[0], [0.7, 0.3], atol=2e-3)


def test_indices_of_classifiers():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 3))
    y = np.digitize(X[:, 1], [0.3, 0.7])
    for kind in (GegenbauerClassifier, GegenbauerClassifierCV):
        found = sobol_indices(kind().fit(X, y))
        assert found.total.shape == (3, 3)
        assert (found.total[:, 1] > 0.8).all()
        assert (found.total[:, [0, 2]] < 0.3).all()


def test_only_models_have_indices():
    features = GegenbauerFeatures().fit([[0.0], [1.0]])
    for function in (sobol_indices, polynomial_text, to_sympy):
        with pytest.raises(TypeError, match="`estimator` must be"):
            function(features)
    model = GegenbauerRegressorCV().fit(np.arange(9.0)[:, np.newaxis], np.arange(9.0))
    for function in (polynomial_text, to_sympy):
        with pytest.raises(TypeError, match="fit with `n_terms` to get one"):
            function(model)
    basis = TensorBasis(2, degree=1)
    for arguments, options, message in [
        (("basis", [1.0]), {}, "`basis` must be a TensorBasis"),
        ((basis, [1.0, 2.0]), {}, "weights must have 3 rows, got 2"),
        ((basis, [1.0, 2.0, 3.0]), {"domain": (0, 2)}, "`domain` must be"),
        ((basis, [1.0, 2.0, 3.0]), {"distribution": "normal"}, "`distribution` must be"),
        ((basis, [1.0, 2.0, 3.0]), {"fixed": [True]}, "fixed must have"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            term_sobol_indices(*arguments, **options)
    with pytest.raises(TypeError, match="`kernel` must be a SpectrumKernel"):
        kernel_sobol_indices("kernel", [[0.0]], [1.0])


class TestText:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(100, 2))
    model = GegenbauerRegressor(degree=2, n_terms=None, lam=0.5, alpha=1e-10).fit(
        InputScaling([0, 0], [1, 1]).transform(X), 5 - 3 * X[:, 0] * X[:, 1]
    )

    def test_weightiest_terms_first(self):
        text = polynomial_text(self.model, max_terms=6, digits=2)
        assert text.startswith("5 - 2.9 C1(x0) C1(x1) - 0.019 C1(x1)")
        assert "more" not in text
        first = polynomial_text(self.model, max_terms=5).splitlines()[0]
        assert first.endswith(" + 1 more term")
        named = polynomial_text(self.model, max_terms=2, names=["height", "mass"])
        assert "C1(height) C1(mass)" in named

    def test_names_of_the_fit(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(self.X, columns=["a", "b"])
        model = GegenbauerRegressor(degree=1, n_terms=None).fit(frame, frame["b"])
        assert "C1(b)" in polynomial_text(model)

    @pytest.mark.parametrize(
        "options",
        [
            {"degree": 3, "n_terms": None},
            {"degree": 3, "n_terms": None, "lam": 0.0, "domain": (-1, 1)},
            {"degree": 3, "n_terms": None, "lam": -0.3, "spectrum": "orthonormal"},
            {"degree": 2, "n_terms": None, "spectrum": Spectrum.paper(0.5)},
            {"n_terms": 12, "index_set": "largest_weight", "spectrum": (0.5, 1.0)},
            {"n_terms": 20, "spectrum": PowerDecay((0.5, 0.2, 1.0), 1.0)},
        ],
        ids=str,
    )
    def test_read_by_hand_it_is_the_model(self, options):
        """Everything that is needed stands in the text; constant inputs are in its constant."""
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.uniform(-3, 5, 60), np.full(60, 2.0), rng.uniform(0, 9, 60)])
        model = GegenbauerRegressor(alpha=1e-6, **options).fit(X, X[:, 0] ** 2 - X[:, 2] + 7)
        text = polynomial_text(model, max_terms=100, digits=17)
        polynomial, which, ranges = text.splitlines()
        assert "x1" not in text
        assert "more" not in polynomial
        kind, lam, low, high = re.fullmatch(
            r"Cn\(x\): (raw|orthonormal) Gegenbauer polynomial of degree n, lam = (\S+), "
            r"of x scaled to \[(\S+), (\S+)\]",
            which,
        ).groups()
        values = {}
        for name, first, last in re.findall(r"(x\d) in \[(\S+), (\S+)\]", ranges):
            unit = (X[:, int(name[1])] - float(first)) / (float(last) - float(first))
            u = float(low) + (float(high) - float(low)) * unit
            values[name] = gegenbauer_vander(u, 3 * 4, float(lam), normalization=kind)
        total = np.zeros(60)
        for term in re.split(r" \+ (?=\d)| (?=- \d)", polynomial):
            weight, *factors = term.replace("- ", "-").split()
            assert float(weight) != 0
            product = np.full(60, float(weight))
            for factor in factors:
                n, name = re.fullmatch(r"C(\d+)\((x\d)\)", factor).groups()
                product *= values[name][:, int(n)]
            total += product
        assert_allclose(total, model.predict(X), rtol=1e-9, atol=1e-9)

    def test_only_a_constant(self):
        model = GegenbauerRegressor(degree=2, n_terms=None).fit([[1.0], [1.0]], [-2.0, -2.0])
        text = polynomial_text(model, digits=2)
        assert float(text) == pytest.approx(model.predict([[1.0]])[0], rel=0.01)
        model.fit([[1.0], [2.0]], [0.0, 0.0])
        assert polynomial_text(model) == "0"

    def test_ranges_have_all_their_digits(self):
        """Seconds since 1970: with four digits they would all be 1.7e9, and the model lost."""
        X = 1.7e9 + np.arange(60.0)[:, np.newaxis] / 7
        model = GegenbauerRegressor(degree=4, n_terms=None, alpha=1e-9).fit(X, np.sin(X[:, 0] / 3))
        text = polynomial_text(model, digits=17)
        low, high = re.search(r"x0 in \[(\S+), (\S+)\]", text).groups()
        assert (float(low), float(high)) == (X[0, 0], X[-1, 0])
        assert polynomial_text(model).splitlines()[2] == text.splitlines()[2]
        whole = GegenbauerRegressor(degree=1, n_terms=None).fit([[1987.0], [2021.0]], [0.0, 1.0])
        assert polynomial_text(whole).endswith("from x0 in [1987, 2021]")

    def test_terms_below_the_rounding_of_the_largest_are_left_out(self):
        pytest.importorskip("sympy")
        rng = np.random.default_rng(0)
        model = GegenbauerRegressor(degree=2, n_terms=None, lam=0.5)
        model.fit(rng.uniform(size=(40, 2)), rng.normal(size=40))
        order = {tuple(k): i for i, k in enumerate(model.basis_.indices.tolist())}
        coef = np.full(6, 1e-17)
        coef[order[1, 1]] = 3.0
        function = dataclasses.replace(model.expansion_, coef=coef)
        model._solution = model._solution._replace(expansion=function)
        assert polynomial_text(model).splitlines()[0] == "3 C1(x0) C1(x1)"
        assert to_sympy(model).is_Mul
        coef[order[0, 1]] = 1e-15
        assert polynomial_text(model).splitlines()[0] == "3 C1(x0) C1(x1) + 1e-15 C1(x1)"

    def test_nothing_below_rounding(self):
        """Not in what SymPy multiplies out, nor in scaled inputs and univariate polynomials."""
        sympy = pytest.importorskip("sympy")
        x0, x1 = sympy.symbols(["x0", "x1"])
        X = np.random.default_rng(0).uniform(0, 10, (50, 2))
        model = GegenbauerRegressor(n_terms=8, alpha=0).fit(X, 3 * X[:, 0])
        assert (to_sympy(model) - 3 * x0).subs({x0: 1.0, x1: 1.0}) == pytest.approx(0, abs=1e-14)
        assert to_sympy(model).free_symbols == {x0}
        assert to_sympy(model).as_coeff_Add()[0] == 0
        X[0] = -6.9e-17  # at the lower end of the range, of no size beside it
        model = GegenbauerRegressor(n_terms=8, alpha=1e-9).fit(X, X[:, 0] * X[:, 1] + X[:, 0] ** 2)
        numbers = [abs(float(n)) for n in to_sympy(model).atoms(sympy.Float)]
        assert min(numbers) > 1e-15

    def test_arguments(self):
        for options, message in [
            ({"output": 1}, "`output` must be below 1, got 1"),
            ({"max_terms": 0}, "max_terms"),
            ({"names": ["a"]}, "`names` must have 2 entries, got 1"),
            ({"names": ["a", "a"]}, r"'a' names 2 of them, .*: give `names="),
        ]:
            with pytest.raises(ValueError, match=message):
                polynomial_text(self.model, **options)


class TestSympy:
    @pytest.mark.parametrize(
        "options",
        [
            {"degree": 3, "n_terms": None},
            {"degree": 3, "n_terms": None, "lam": 0.0, "domain": (-1, 1)},
            {"n_terms": 12, "index_set": "largest_weight", "spectrum": (0.5, 1.0)},
        ],
        ids=str,
    )
    def test_equals_the_model(self, options):
        sympy = pytest.importorskip("sympy")
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.uniform(-3, 5, 60), np.full(60, 2.0), rng.uniform(0, 9, 60)])
        Y = np.column_stack([X[:, 0] ** 2 - X[:, 2], X[:, 0] * X[:, 2]])
        model = GegenbauerRegressor(**options).fit(X, Y)
        for k in range(2):
            expression = to_sympy(model, output=k)
            symbols = sympy.symbols(["x0", "x1", "x2"])
            assert expression.free_symbols <= set(symbols)
            evaluate = sympy.lambdify(symbols, expression)
            assert_allclose(evaluate(*X.T), model.predict(X)[:, k], rtol=1e-9, atol=1e-9)

    def test_symbols_are_those_of_their_names(self):
        """No assumption makes them other symbols: derivatives and values go by the name."""
        sympy = pytest.importorskip("sympy")
        k = np.linspace(0, 1, 20)
        model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-12)
        model.fit(np.column_stack([k, (1 + k) ** 3]), 2 * k + 3 * k**2)
        expression = to_sympy(model, names=["k", "m"])
        slope = sympy.diff(expression, sympy.Symbol("k")).subs({"k": 0.25, "m": 1.25**3})
        h = 1e-4
        at = [[0.25 - h, 1.25**3], [0.25 + h, 1.25**3]]
        assert float(slope) == pytest.approx(np.diff(model.predict(at))[0] / (2 * h), rel=1e-6)
        assert not expression.subs({"k": 0.5, "m": 2.0}).free_symbols

    def test_intercepts_and_chosen_models(self):
        sympy = pytest.importorskip("sympy")
        rng = np.random.default_rng(0)
        X = rng.uniform(-3, 5, (60, 2))
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=15).fit(X, X[:, 0] * X[:, 1])
        evaluate = sympy.lambdify(sympy.symbols(["x0", "x1"]), to_sympy(model))
        assert_allclose(evaluate(*X.T), model.predict(X), rtol=1e-9, atol=1e-9)

    def test_any_text_is_a_name(self):
        sympy = pytest.importorskip("sympy")
        rng = np.random.default_rng(0)
        X = rng.uniform(-3, 5, (60, 4))
        model = GegenbauerRegressor(degree=2, n_terms=None).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
        names = ["sepal length (cm)", "a:3, b", "lambda", "2 * x"]
        expression = to_sympy(model, names=names)
        symbols = [sympy.Symbol(name) for name in names]
        assert expression.free_symbols == set(symbols)
        evaluate = sympy.lambdify(symbols, expression)
        assert_allclose(evaluate(*X.T), model.predict(X), rtol=1e-9, atol=1e-9)

    def test_names_of_a_frame(self):
        pytest.importorskip("sympy")
        X, y = load_iris(return_X_y=True, as_frame=True)
        model = GegenbauerClassifier(degree=1, n_terms=None).fit(X, y)
        symbols = to_sympy(model, output=2).free_symbols
        assert {str(symbol) for symbol in symbols} == set(X.columns)

    def test_names_must_differ(self):
        pytest.importorskip("sympy")
        model = GegenbauerRegressor(degree=1, n_terms=None).fit([[0.0, 1.0], [1.0, 0.0]], [1, 2])
        with pytest.raises(ValueError, match=r"'a' names 2 of them, .*: give `names="):
            to_sympy(model, names=["a", "a"])

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_a_classifier_calibrates_its_polynomials(self, n_classes):
        sympy = pytest.importorskip("sympy")
        X, y = load_iris(return_X_y=True)
        X, y = X[:, 1:], np.minimum(y, n_classes - 1)
        model = GegenbauerClassifierCV(spectrum=(0.5, 2.0), n_terms=15).fit(X, y)
        symbols = sympy.symbols(["x0", "x1", "x2"])
        outputs = np.column_stack(
            [
                sympy.lambdify(symbols, to_sympy(model, output=k))(*X.T)
                for k in range(1 if n_classes == 2 else 3)
            ]
        )
        terms = model.basis_.evaluate(X, scaling=model.scaling_)
        raw = terms @ model.term_coef_ + model.intercept_
        assert_allclose(outputs, raw.reshape(outputs.shape), rtol=1e-9, atol=1e-9)
        logits = model.probability_maps_[0].logits(outputs)
        expected = logits if n_classes == 3 else logits[:, 1] - logits[:, 0]
        assert_allclose(model.decision_function(X), expected, rtol=1e-7, atol=1e-7)


class TestLargeMeans:
    """A constant that is added to a function changes its mean and nothing else."""

    OFFSETS = (0.0, 1e3, 1e6, 1e8, 1e10, 1e12)

    @pytest.mark.parametrize("offset", OFFSETS)
    @pytest.mark.parametrize("lam", [0.0, 0.5, 2.0])
    def test_terms(self, offset, lam):
        """Offset + x + 2 y + 3 x y on [-1, 1]^2: parts 1/3, 4/3 and 9/9 of the variance 8/3."""
        basis = TensorBasis(2, degree=2, lam=lam)
        # the terms are multiples of x, y, x y that depend on lam
        unit = basis.evaluate([[1.0, 1.0]])[0]
        weights = np.array([offset, 1 / unit[1], 2 / unit[2], 0, 3 / unit[4], 0])
        found = term_sobol_indices(basis, weights, domain=(-1, 1))
        assert_allclose(found.mean, offset, rtol=1e-15, atol=1e-15)
        assert_allclose(found.variance, 8 / 3, rtol=1e-14)
        assert_allclose(found.first_order[0], [1 / 8, 4 / 8], rtol=1e-14)
        assert_allclose(found.total[0], [4 / 8, 7 / 8], rtol=1e-14)

    @pytest.mark.parametrize("offset", OFFSETS)
    def test_estimators(self, offset):
        """x + y^2 of uniform inputs has parts 1/12 and 4/45 on the unit square."""
        nodes, _ = np.polynomial.legendre.leggauss(5)
        x = np.concatenate([[0.0], (nodes + 1) / 2, [1.0]])  # the box is the unit square
        X = np.array(list(itertools.product(x, x, [0.0, 0.5, 1.0])))
        f = X[:, 0] + X[:, 1] ** 2
        exact = np.array([1 / 12, 4 / 45, 0.0]) / (1 / 12 + 4 / 45)
        plain = GegenbauerRegressor(
            degree=4, n_terms=None, spectrum="orthonormal", alpha=1e-10, penalize_constant=False
        )
        finite = GegenbauerRegressorCV(n_terms=60)
        models = [plain, finite, GegenbauerRegressorCV(), GegenbauerRegressorCV(cv=3, n_terms=60)]
        # what float64 has left of the function beside its mean
        left = 4 * np.finfo(float).eps * offset
        for model in models:
            found = sobol_indices(model.fit(X, f + offset))
            tolerance = max(2e-3, 10 * left)
            assert_allclose(found.total[0], exact, atol=tolerance)
            assert_allclose(found.first_order[0], exact, atol=tolerance)
            assert_allclose(found.total.sum(), 1, atol=tolerance)
            if model is plain:
                assert_allclose(found.variance, 1 / 12 + 4 / 45, atol=tolerance)


class TestImportances:
    def test_are_normalised_total_indices(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(300, 3))
        Y = np.column_stack([X[:, 0] + X[:, 1], 4 * X[:, 1]])
        model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-9).fit(X, Y)
        # variances 1/6 and 16/12, of which shares 1/2, 1/2 and 0, 1
        expected = np.array([1 / 12, 1 / 12 + 16 / 12, 0]) / (1 / 6 + 16 / 12)
        assert_allclose(model.feature_importances_, expected, atol=0.01)
        with pytest.raises(NotFittedError):
            GegenbauerRegressor().feature_importances_  # noqa: B018
        assert_array_equal(
            GegenbauerRegressorCV().fit(X, np.ones(300)).feature_importances_, np.zeros(3)
        )

    @pytest.mark.parametrize("kind", [GegenbauerClassifier, GegenbauerClassifierCV])
    def test_serve_the_selection_of_inputs(self, kind):
        rng = np.random.default_rng(1)
        X = rng.uniform(size=(200, 4))
        selector = SelectFromModel(kind(), max_features=1, threshold=-np.inf)
        assert selector.fit(X, X[:, 2] > 0.5).get_support().tolist() == [False, False, True, False]

    def test_choose_among_ten_inputs(self):
        """By as many terms as there are inputs, whose coefficients are none of inputs."""
        X = np.random.default_rng(2).uniform(size=(200, 10))
        y = X[:, 4] + 0.5 * X[:, 8]
        chosen = (
            SelectFromModel(GegenbauerRegressor(n_terms=10)).fit(X, y).get_support(indices=True)
        )
        # terms of degree 1 are those of inputs 0 to 8, and term l is of input l - 1
        assert chosen.tolist() == [4, 8]
        selector = RFE(GegenbauerRegressor(n_terms=11), n_features_to_select=2).fit(X, y)
        assert selector.get_support(indices=True).tolist() == [4, 8]

    @pytest.mark.parametrize(
        "kind", [GegenbauerRegressor, GegenbauerRegressorCV, GegenbauerClassifier]
    )
    def test_shap_takes_no_model_for_a_linear_one(self, kind):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shap = pytest.importorskip("shap")
        X = np.random.default_rng(3).uniform(size=(80, 3))
        model = kind().fit(X, np.sin(6 * X[:, 0]) > 0)
        with pytest.raises(TypeError, match="The passed model is not callable"):
            shap.Explainer(model, X)
        found = shap.Explainer(model.predict, X)(X[:5])
        whole = found.values.sum(axis=1) + found.base_values
        assert_allclose(whole, model.predict(X[:5]), atol=1e-9)
