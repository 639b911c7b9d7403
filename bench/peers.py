"""Other libraries that fit linear models of many terms: how each is called, and what differs.

A peer is comparable when it solves one ridge problem with as many unknowns an output. Its terms,
and so what its penalty means, are its own; hence its fit is checked against the normal equations
of its own features, and not against our predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from bench.runner import Agreement
from gegenbauer import reference
from gegenbauer.basis import count_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

LAM, ALPHA = 0.05, 2.0**-12  # the paper's setting
BLOCK_BYTES = 1 << 26  # of features while a fit is checked


@dataclass(frozen=True)
class Problem:
    """Inputs in [0, 1], targets, and the total degree of the terms."""

    X: Doubles
    Y: Doubles
    degree: int

    @property
    def m(self) -> int:
        """Number of inputs."""
        return self.X.shape[1]

    @cached_property
    def n_terms(self) -> int:
        """L."""
        return count_terms(self.m, degree=self.degree)


@dataclass(frozen=True)
class Linear:
    """A fitted model as its maker sees it: a function linear in features of its own."""

    features: Callable[[Doubles], Doubles]  #: (n, m) -> (n, L)
    weights: Doubles  #: (L, K)


@dataclass(frozen=True)
class Peer:
    """A library, and how it fits."""

    name: str
    package: str  #: its distribution
    module: str  #: what is imported
    does: str  #: what is timed
    differs: str  #: in which way its model is another one than ours
    fit: Callable[[Problem], Any]
    open: Callable[[Any], Linear]  #: not timed
    copies: float  #: arrays of S x L doubles that it holds at once, as measured by `memory`

    @property
    def missing(self) -> str:
        """Why it cannot be used here; empty if it can."""
        try:
            import_module(self.module)
        except ImportError as error:
            return f"{self.package} cannot be imported ({error})"
        return ""

    @property
    def version(self) -> str:
        """What is installed."""
        return metadata.version(self.package)


def _numpy_fit(problem: Problem) -> Linear:
    indices = reference.graded_lexicographic(problem.m, problem.n_terms)

    def features(X: Doubles) -> Doubles:
        return reference.activation_matrix(X, indices, LAM)

    return Linear(features, reference.rwdd(features(problem.X), problem.Y, ALPHA))


def _ridge() -> Ridge:
    # What makes it fastest: the constant is a term, and the features may be overwritten.
    return Ridge(alpha=ALPHA, fit_intercept=False, copy_X=False)


def _terms_first(ridge: Ridge) -> Doubles:
    return np.atleast_2d(ridge.coef_).T  # (K, L), or (L,) for one output


def _sklearn_fit(problem: Problem) -> Any:
    return make_pipeline(PolynomialFeatures(problem.degree), _ridge()).fit(problem.X, problem.Y)


def _open_sklearn(model: Any) -> Linear:
    return Linear(model[0].transform, _terms_first(model[-1]))


def _himalaya_fit(problem: Problem) -> Any:
    from himalaya.ridge import Ridge as Himalaya

    ridge = Himalaya(alpha=ALPHA, solver_params={"warn": False})
    return make_pipeline(PolynomialFeatures(problem.degree), ridge).fit(problem.X, problem.Y)


def _chaospy_fit(problem: Problem) -> Linear:
    import chaospy

    inputs = chaospy.J(*(chaospy.Uniform(0, 1) for _ in range(problem.m)))
    expansion = chaospy.generate_expansion(problem.degree, inputs, normed=True)

    def features(X: Doubles) -> Doubles:
        return np.asarray(expansion(*X.T)).T

    return Linear(features, _terms_first(_ridge().fit(features(problem.X), problem.Y)))


def _hpelm_fit(problem: Problem) -> Any:
    from hpelm import ELM

    rng = np.random.default_rng(7)
    directions = rng.standard_normal((problem.m, problem.n_terms))
    elm = ELM(problem.m, problem.Y.shape[1], norm=ALPHA)
    elm.add_neurons(problem.n_terms, "tanh", directions, rng.standard_normal(problem.n_terms))
    elm.train(problem.X, problem.Y, "r")
    return elm


def _gfdl_fit(problem: Problem) -> Any:
    from gfdl.model import GFDLRegressor

    sizes = (problem.n_terms,)
    model = GFDLRegressor(sizes, "tanh", "normal", direct_links=False, seed=7, reg_alpha=ALPHA)
    return model.fit(problem.X, problem.Y)


def _open_gfdl(model: Any) -> Linear:
    return Linear(lambda X: np.tanh(X @ model.W_[0].T + model.b_[0]), model.coeff_)


_MONOMIALS = "monomials of the same span: the same penalty acts on other coefficients"
_RANDOM = "as many random features, tanh of one layer, in place of polynomials; no common function"

PEERS: tuple[Peer, ...] = (
    Peer(
        "numpy",
        "numpy",
        "numpy",
        "gegenbauer.reference: indices, activation matrix, rwdd",
        "the same model",
        _numpy_fit,
        lambda model: model,
        copies=1.2,
    ),
    Peer(
        "scikit-learn",
        "scikit-learn",
        "sklearn",
        "pipeline of PolynomialFeatures and Ridge",
        _MONOMIALS,
        _sklearn_fit,
        _open_sklearn,
        copies=1.2,
    ),
    Peer(
        "chaospy",
        "chaospy",
        "chaospy",
        "generate_expansion, its evaluation, and scikit-learn's Ridge",
        "orthonormal Legendre polynomials of the same span",
        _chaospy_fit,
        lambda model: model,
        copies=3.0,
    ),
    Peer(
        "himalaya",
        "himalaya",
        "himalaya.ridge",
        "pipeline of PolynomialFeatures and himalaya's Ridge, which decomposes by SVD",
        _MONOMIALS,
        _himalaya_fit,
        lambda model: Linear(model[0].transform, model[-1].coef_),
        copies=3.0,
    ),
    Peer(
        "hpelm",
        "hpelm",
        "hpelm",
        "ELM of L neurons, in batches of 1000 rows",
        _RANDOM,
        _hpelm_fit,
        lambda elm: Linear(elm.project, elm.nnet.get_B()),
        copies=0.0,
    ),
    Peer(
        "GFDL",
        "gfdl",
        "gfdl.model",
        "GFDLRegressor, one layer of L neurons",
        _RANDOM,
        _gfdl_fit,
        _open_gfdl,
        copies=4.0,
    ),
)


def check(name: str, linear: Linear, problem: Problem) -> list[Agreement]:
    """Check that a fit has L terms and solves the ridge problem of its own features.

    With the features A and the weights W, ``A'(Y - A W) = alpha W``; the rest is relative to
    ``|A| (|A| |W| + |Y|)``. The features are made in blocks of rows.
    """
    W = np.reshape(linear.weights, (problem.n_terms, problem.Y.shape[1]))
    gradient, square = -ALPHA * W, 0.0
    step = max(1, BLOCK_BYTES // (8 * problem.n_terms))
    for start in range(0, len(problem.X), step):
        rows = slice(start, start + step)
        A = linear.features(problem.X[rows])
        gradient += A.T @ (problem.Y[rows] - A @ W)
        square += float(np.vdot(A, A))
    scale = square * np.linalg.norm(W) + square**0.5 * np.linalg.norm(problem.Y)
    return [
        Agreement(f"{name}: terms more or less than L", abs(A.shape[1] - problem.n_terms), 0.0),
        Agreement(
            f"{name}: optimality of its fit for its own features",
            float(np.linalg.norm(gradient) / scale),
            1e-11,
        ),
    ]
