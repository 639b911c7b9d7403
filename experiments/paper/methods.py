"""The contestants: what each is trained with, and how. They know nothing of data sets or trials.

Parameters are exponents of two, as in the paper's tables. Every contestant gets scaled inputs and
names the scaling.
"""

# ruff: noqa: ARG002  # contestants have one signature, and some need no seed or threads

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.paper.baselines import (
    fit_kernel_machine,
    fit_output_weights,
    gaussian,
    gaussian_layer,
    outputs_for_costs,
    sigmoid_layer,
)
from experiments.paper.published import GRID, LAM, N_FOLDS
from gegenbauer import GegenbauerClassifierCV, RidgePath, TensorBasis, solve_ridge
from gegenbauer.ridge import predict
from gegenbauer.selection import search_basis

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.paper.baselines import Layer
    from experiments.paper.data import Codes, Doubles, Rows

ALL_GAMMAS = tuple(range(-30, 31))  # the tables have odd exponents, too


class Trained(NamedTuple):
    """What training gave."""

    codes: Callable[[Doubles], Codes]  #: of inputs, the numbers of their classes
    chosen: dict[str, float]  #: exponents that the data chose


@dataclass(frozen=True)
class Method:
    """A contestant with its parameters; its fields are what results are kept by."""

    scaling: str = "unit"  #: one of `data.SCALINGS`

    @property
    def key(self) -> dict[str, Any]:
        """Describe it in JSON."""
        return {"kind": type(self).__name__, **asdict(self)}

    def train(self, rows: Rows, seed: int, n_threads: int) -> Trained:
        """Learn from scaled rows."""
        raise NotImplementedError


def codes_of(outputs: Doubles) -> Codes:
    """Return the class of the sign of one output, or of the largest of several."""
    if outputs.shape[-1] == 1:
        return (outputs[..., 0] > 0).astype(np.intp)
    return outputs.argmax(axis=-1)


def folds(n: int, seed: int) -> list[tuple[Codes, Codes]]:
    """Split shuffled rows in the folds of the paper: training rows and test rows."""
    order = np.random.default_rng([seed, 3]).permutation(n)
    parts = np.array_split(order, N_FOLDS)
    return [(np.concatenate([*parts[:f], *parts[f + 1 :]]), parts[f]) for f in range(N_FOLDS)]


# --- GNN ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gnn(Method):
    """The paper's network with a given gamma; None is plain WDD, gamma = 0."""

    gamma: int | None = -12
    n_terms: int = 1000
    order: str = "grlex"

    def train(self, rows: Rows, seed: int, n_threads: int) -> Trained:
        basis = TensorBasis(rows.X.shape[1], n_terms=self.n_terms, lam=LAM, term_order=self.order)
        gamma = 0.0 if self.gamma is None else 2.0**self.gamma
        W = solve_ridge(basis, rows.X, rows.Y, gamma, n_threads=n_threads).weights
        return Trained(lambda Z: codes_of(predict(basis, Z, W, n_threads=n_threads)), {})


@dataclass(frozen=True)
class GnnByFolds(Method):
    """The same with the gamma of the fewest errors in 4-fold cross-validation."""

    n_terms: int = 1000
    exponents: tuple[int, ...] = GRID

    def train(self, rows: Rows, seed: int, n_threads: int) -> Trained:
        def errors(predictions: Doubles, left_out: Codes) -> Doubles:
            return np.asarray((codes_of(predictions) != rows.y[left_out]).mean(axis=1))

        found = search_basis(
            rows.X, rows.Y, errors, lams=[LAM], n_terms=[self.n_terms],
            alphas=[2.0**e for e in self.exponents], widen=False,
            cv=folds(len(rows.y), seed), n_threads=n_threads,
        )  # fmt: skip
        W = solve_ridge(found.basis, rows.X, rows.Y, found.alpha, n_threads=n_threads).weights
        return Trained(
            lambda Z: codes_of(predict(found.basis, Z, W, n_threads=n_threads)),
            {"gamma": float(np.log2(found.alpha))},
        )


@dataclass(frozen=True)
class OurCV(Method):
    """What this library recommends: its default settings."""

    def train(self, rows: Rows, seed: int, n_threads: int) -> Trained:
        model = GegenbauerClassifierCV(n_jobs=n_threads).fit(rows.X, rows.y)
        return Trained(lambda Z: np.asarray(model.predict(Z)), {})


def right_for_gammas(
    rows: Rows, test: Rows, n_terms: int, exponents: Sequence[int], n_threads: int
) -> list[int]:
    """Count the test rows that GNN has right, for every gamma, from one decomposition."""
    basis = TensorBasis(rows.X.shape[1], n_terms=n_terms, lam=LAM)
    path = RidgePath(basis, rows.X, rows.Y, n_threads=n_threads)
    outputs = path.predict(test.X, [2.0**e for e in exponents])
    return [int(n) for n in (codes_of(outputs) == test.y).sum(axis=1)]


# --- LS-SVM and ELM -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tunable(Method):
    """A contestant with C and delta."""

    cost: int = 0
    delta: int = 0

    @property
    def bias(self) -> bool:
        """Whether outputs have one."""
        return False

    def gram(self, A: Doubles, B: Doubles, delta: int, seed: int) -> Doubles:
        """Return the inner products of the rows in feature space."""
        raise NotImplementedError


@dataclass(frozen=True)
class KernelElm(Tunable):
    """ELM whose layer is given by a Gaussian kernel."""

    scaling: str = "symmetric"

    def gram(self, A: Doubles, B: Doubles, delta: int, seed: int) -> Doubles:
        return gaussian(A, B, 2.0**delta)

    def train(self, rows: Rows, seed: int, n_threads: int) -> Trained:
        machine = fit_kernel_machine(
            rows.X, rows.Y, 2.0**self.cost, 2.0**self.delta, bias=self.bias
        )
        return Trained(lambda Z: codes_of(machine(Z)), {})


@dataclass(frozen=True)
class LsSvm(KernelElm):
    """LS-SVM: the same with a bias."""

    scaling: str = "standard"

    @property
    def bias(self) -> bool:
        return True


@dataclass(frozen=True)
class Elm(Tunable):
    """ELM with Gaussians about random points, or with sigmoids, which have no delta."""

    scaling: str = "symmetric"
    n_nodes: int = 1500
    nodes: str = "gaussian"

    def layer(self, n_features: int, delta: int, seed: int) -> Layer:
        """Draw the hidden layer."""
        if self.nodes == "sigmoid":
            return sigmoid_layer(self.n_nodes, n_features, seed)
        low = 0.0 if self.scaling == "unit" else -1.0
        return gaussian_layer(self.n_nodes, n_features, 2.0**delta, seed, low=low)

    def gram(self, A: Doubles, B: Doubles, delta: int, seed: int) -> Doubles:
        layer = self.layer(A.shape[1], delta, seed)
        return layer(A) @ layer(B).T

    def train(self, rows: Rows, seed: int, n_threads: int) -> Trained:
        layer = self.layer(rows.X.shape[1], self.delta, seed)
        W = fit_output_weights(layer(rows.X), rows.Y, 2.0**self.cost)
        return Trained(lambda Z: codes_of(layer(Z) @ W), {})


@dataclass(frozen=True)
class Tuning:
    """C and delta of the fewest errors in 4-fold cross-validation, and their accuracy."""

    cost: int
    delta: int
    accuracy: float


def tune(
    method: Tunable, rows: Rows, seed: int, n_threads: int, exponents: Sequence[int] = GRID
) -> Tuning:
    """Search the paper's grid of C and delta.

    Of equal accuracies, the smallest C counts, then the largest delta: the smoothest outputs.
    """
    splits = folds(len(rows.y), seed)
    costs = [2.0**e for e in exponents]

    def right(delta: int) -> Doubles:
        K = method.gram(rows.X, rows.X, delta, seed)
        total = np.zeros(len(costs))
        for train, test in splits:
            outputs = outputs_for_costs(
                K[np.ix_(train, train)], K[np.ix_(test, train)], rows.Y[train], costs,
                bias=method.bias,
            )  # fmt: skip
            total += (codes_of(outputs) == rows.y[test]).sum(axis=1)
        return total

    # deltas side by side: eigendecompositions gain little from several threads
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        counts = np.array(list(pool.map(right, exponents)))
    at = min(
        np.argwhere(counts == counts.max()).tolist(), key=lambda place: (place[1], -place[0])
    )  # fmt: skip
    return Tuning(exponents[at[1]], exponents[at[0]], float(counts.max() / len(rows.y)))
