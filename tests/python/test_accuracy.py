"""Digits against exact arithmetic, and values against other software on equal samples.

NIST's sets for linear regression with exact least squares in fractions, coefficients of OpenTURNS
and chaospy, Sobol' indices of the borehole function by quadrature, leverages in fractions.
"""

from __future__ import annotations

import importlib.util
import json
from fractions import Fraction
from pathlib import Path

import nist
import numpy as np
import pytest
from numpy.testing import assert_allclose

from gegenbauer import (
    GegenbauerRegressor,
    InputScaling,
    RidgePath,
    TensorBasis,
    sobol_indices,
    solve_ridge,
)

PEERS = Path(__file__).with_name("peers")

# Digits that every variant has at least; where there are fewer than 14, the weights themselves are
# rounded, and powers of x cancel in them.
DIGITS = {
    "Norris": 12.5, "Pontius": 12.5, "NoInt1": 15, "NoInt2": 15, "Filip": 13, "Longley": 15,
    "Wampler1": 9.5, "Wampler2": 13.5, "Wampler3": 9.5, "Wampler4": 9.5, "Wampler5": 9.5,
}  # fmt: skip


@pytest.mark.parametrize("name", nist.SETS)
def test_nist(name):
    """Not fewer digits than NumPy has by more than half of one, and far more where it is hard."""
    numpy = nist.digits_of_numpy(name)
    for variant in nist.VARIANTS:
        found = nist.digits_of_ours(name, variant)
        assert found >= DIGITS[name], variant
        assert found >= min(numpy, 15) - 0.5, variant
        if name in ("Filip", "Longley"):
            assert found >= numpy + 4, variant


def test_nist_is_what_was_published():
    """Sums of squares of the exact residuals, of which NIST has 15 digits; and known slopes."""
    published = {
        "Norris": 26.6173985294224, "Pontius": 0.155761768796992e-05,
        "NoInt1": 2 * 127.272727272727, "NoInt2": 2 * 0.272727272727273,
        "Filip": 0.795851382172941e-03, "Longley": 836424.055505915, "Wampler1": 0.0,
        "Wampler3": 83554268.0, "Wampler4": 835542680000.0, "Wampler5": 8355426800000000.0,
    }  # fmt: skip
    for name, expected in published.items():
        data = nist.SETS[name]
        W, A = nist.exact(name), nist.monomials(data.X, data.degree)
        squares = sum(
            (Fraction(float(v)) - sum(w * a for w, a in zip(W, row, strict=True))) ** 2
            for row, v in zip(A, data.y, strict=True)
        )
        assert_allclose(float(squares), expected, rtol=1e-11)
    assert nist.exact("NoInt2")[1] == Fraction(8, 11)
    assert all(w == 1 for w in nist.exact("Wampler5"))


@pytest.mark.parametrize("peer", ["openturns", "chaospy"])
def test_coefficients_of_polynomial_chaos(peer):
    spec = importlib.util.spec_from_file_location("design", PEERS / "design.py")
    design = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(design)
    theirs = {
        tuple(index): value
        for *index, value in json.loads((PEERS / "coefficients.json").read_text())[peer][
            "coefficients"
        ]
    }
    basis = TensorBasis(3, degree=design.DEGREE, lam=0.5, spectrum="orthonormal")
    assert basis.n_terms == len(theirs)
    for engine in ("primal", "moments", "dual"):
        for alpha in (0.0, 1e-14):
            W = solve_ridge(basis, design.X, design.y, alpha, engine=engine).weights[:, 0]
            expected = [theirs[tuple(index)] for index in basis.indices.tolist()]
            assert_allclose(W, expected, rtol=0, atol=1e-12)


BOREHOLE = {  # the usual ranges
    "rw": (0.05, 0.15), "r": (100, 50000), "Tu": (63070, 115600), "Hu": (990, 1110),
    "Tl": (63.1, 116), "Hl": (700, 820), "L": (1120, 1680), "Kw": (9855, 12045),
}  # fmt: skip


def borehole(rw, r, Tu, head, Tl, L, Kw):
    log = np.log(r / rw)
    return 2 * np.pi * Tu * head / (log * (1 + 2 * L * Tu / (log * rw**2 * Kw) + Tu / Tl))


def borehole_indices(n):
    """First-order and total indices by Gauss's rule; Hu - Hl is a factor of the rest."""
    u, w = np.polynomial.legendre.leggauss(n)
    names = ["rw", "r", "Tu", "Tl", "L", "Kw"]
    axes = [0.5 * (b - a) * u + 0.5 * (a + b) for a, b in (BOREHOLE[k] for k in names)]
    rw, r, Tu, Tl, L, Kw = np.meshgrid(*axes, indexing="ij", sparse=True)
    rest = borehole(rw, r, Tu, 1.0, Tl, L, Kw)

    def mean(values, of):
        for axis in of:
            values = np.moveaxis(np.tensordot(values, w / 2, (axis, 0))[..., np.newaxis], -1, axis)
        return values

    every = range(6)
    f, ff = mean(rest, every).item(), mean(rest**2, every).item()
    heads = {k: np.diff(BOREHOLE[k]).item() ** 2 / 12 for k in ("Hu", "Hl")}
    h = np.mean(BOREHOLE["Hu"]) - np.mean(BOREHOLE["Hl"])
    hh = h**2 + sum(heads.values())
    variance = hh * ff - (h * f) ** 2
    first, total = {}, {}
    for k, v in heads.items():
        first[k], total[k] = v * f**2 / variance, v * ff / variance
    for i, k in enumerate(names):
        others = [j for j in every if j != i]
        first[k] = h**2 * (mean(mean(rest, others) ** 2, [i]).item() - f**2) / variance
        total[k] = hh * (ff - mean(mean(rest, [i]) ** 2, others).item()) / variance
    return tuple(np.array([part[k] for k in BOREHOLE]) for part in (first, total))


def test_sobol_indices_of_the_borehole():
    first, total = borehole_indices(8)
    assert_allclose(borehole_indices(6), (first, total), rtol=0, atol=1e-6)  # it has converged
    assert_allclose(first[[0, 3, 6]], [0.8289, 0.0414, 0.0393], atol=1e-4)  # as published
    rng = np.random.default_rng(0)
    low, high = np.array(list(BOREHOLE.values()), dtype=float).T
    X = rng.uniform(low, high, (2500, 8))
    X[0], X[1] = low, high  # so that the box of the training data is the range
    rw, r, Tu, Hu, Tl, Hl, L, Kw = X.T
    model = GegenbauerRegressor(
        lam=0.5, spectrum="orthonormal", degree=4, n_terms=None, alpha=1e-8, bounds=None
    ).fit(X, borehole(rw, r, Tu, Hu - Hl, Tl, L, Kw))
    found = sobol_indices(model)
    assert_allclose(found.first_order[0], first, atol=1e-3)
    assert_allclose(found.total[0], total, atol=1e-3)


def test_leverages_are_those_of_linear_models():
    """The diagonal of the hat matrix with an intercept, in fractions (R's hatvalues)."""
    data = nist.SETS["Longley"]
    A = nist.monomials(data.X, 1)
    n = len(A)
    hat = [
        sum(u * v for u, v in zip(a, nist.least_squares(A, unit), strict=True))
        for a, unit in zip(
            A, [[Fraction(int(i == j)) for j in range(n)] for i in range(n)], strict=True
        )
    ]
    assert sum(hat) == 7
    left_out = [
        Fraction(float(y))
        - (Fraction(float(y)) - sum(u * v for u, v in zip(a, nist.exact("Longley"), strict=True)))
        / (1 - h)
        for y, a, h in zip(data.y, A, hat, strict=True)
    ]
    scaling = InputScaling.fit(data.X, domain=(-1, 1))
    for method in ("svd", "primal"):
        path = RidgePath(
            TensorBasis(6, degree=1, lam=0.5), data.X, data.y, scaling=scaling,
            penalize_constant=False, method=method,
        )  # fmt: skip
        found = path.leave_one_out([0.0])
        assert_allclose(found.leverages[0], np.array(hat, dtype=float), rtol=1e-10)
        assert_allclose(found.predictions[0, :, 0], np.array(left_out, dtype=float), rtol=1e-10)
