"""What the paper compares with, in NumPy and SciPy: LS-SVM, ELM and ELM with a kernel.

Each is a ridge regression on targets of +1 and -1. With the cost C of the paper the penalty is
1 / C. Two classes take one output, K classes K of them; for LS-SVM these are the K binary machines,
which share their matrix, so that one factorisation serves all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.spatial.distance import cdist
from scipy.special import expit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]
    Layer = Callable[[Doubles], Doubles]  # from inputs to the values of all nodes, (n, L)


def gaussian(A: Doubles, B: Doubles, delta: float) -> Doubles:
    """Evaluate exp(-|a - b|^2 / delta) for all pairs of rows."""
    squares = cdist(A, B, "sqeuclidean")
    squares /= -delta
    return np.exp(squares, out=squares)


# With two threads, the dpotrf of OpenBLAS 0.3.30 and 0.3.31 (AVX-512 kernels) writes beyond its
# buffers at 20,000 columns and ends the process; see its issues 352 and 2562.
_MOST_COLUMNS = 12_000


def _solve(matrix: Doubles, penalty: float, right: Doubles) -> Doubles:
    """Solve with the penalty on the diagonal; the matrix is overwritten."""
    matrix[np.diag_indices_from(matrix)] += penalty
    return _solve_definite(matrix, right)


def _solve_definite(matrix: Doubles, right: Doubles) -> Doubles:
    """Solve by Cholesky, of two halves one after the other where the matrix is large."""
    if len(matrix) <= _MOST_COLUMNS:
        # LAPACK wants columns, and the rows of a symmetric matrix are its columns
        factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, right, check_finite=False))
    half = len(matrix) // 2
    triangle = cholesky(matrix[:half, :half], lower=True, check_finite=False)
    W = solve_triangular(triangle, matrix[:half, half:], lower=True, check_finite=False)
    z = solve_triangular(triangle, right[:half], lower=True, check_finite=False)
    second = _solve_definite(matrix[half:, half:] - W.T @ W, right[half:] - W.T @ z)
    first = solve_triangular(triangle, z - W @ second, lower=True, trans=1, check_finite=False)
    return np.vstack([first, second])


# --- Kernels: LS-SVM with a bias, kernel ELM without --------------------------------------------


@dataclass(frozen=True)
class KernelMachine:
    """Outputs are sums of kernels at the training rows, and a bias."""

    X: Doubles
    delta: float
    coefficients: Doubles
    bias: Doubles  #: zero for kernel ELM

    def __call__(self, Z: Doubles) -> Doubles:
        """Return the outputs, (n, K)."""
        return gaussian(Z, self.X, self.delta) @ self.coefficients + self.bias


def fit_kernel_machine(
    X: Doubles, Y: Doubles, cost: float, delta: float, *, bias: bool
) -> KernelMachine:
    """Train LS-SVMs, one an output, or without the bias a kernel ELM.

    With a bias, (K + I / C) a + b = y and the coefficients a sum to zero.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
        Scaled inputs.
    Y : ndarray, shape (n_samples, n_outputs)
        Targets of +1 and -1.
    cost, delta : float
        C, and the width of the kernel.
    bias : bool
        Whether there is one.
    """
    right = np.column_stack([Y, np.ones(len(X))]) if bias else Y
    solution = _solve(gaussian(X, X, delta), 1.0 / cost, right)
    if not bias:
        return KernelMachine(X, delta, solution, np.zeros(Y.shape[1]))
    A, ones = solution[:, :-1], solution[:, -1:]
    b = A.sum(axis=0) / ones.sum()
    return KernelMachine(X, delta, A - ones * b, b)


# --- ELM: a hidden layer at random ------------------------------------------------------------


def gaussian_layer(
    n_nodes: int, n_features: int, delta: float, seed: int, *,
    low: Doubles | float = -1.0, high: Doubles | float = 1.0,
) -> Layer:  # fmt: skip
    """Make Gaussians of one width about points drawn uniformly from a box.

    The first nodes do not depend on how many there are.
    """
    centers = np.random.default_rng([seed, 2]).uniform(low, high, (n_nodes, n_features))
    return lambda X: gaussian(X, centers, delta)


def sigmoid_layer(n_nodes: int, n_features: int, seed: int) -> Layer:
    """Make logistic functions with weights drawn from [-1, 1] and thresholds from [0, 1]."""
    rng = np.random.default_rng([seed, 2])
    weights, thresholds = rng.uniform(-1.0, 1.0, (n_features, n_nodes)), rng.uniform(size=n_nodes)
    return lambda X: np.asarray(expit(X @ weights + thresholds))


def fit_output_weights(H: Doubles, Y: Doubles, cost: float) -> Doubles:
    """Solve for the output weights of a layer with values H, by the smaller of two systems.

    Parameters
    ----------
    H : ndarray, shape (n_samples, n_nodes)
        Values of the nodes.
    Y : ndarray, shape (n_samples, n_outputs)
        Targets.
    cost : float
        C.

    Returns
    -------
    ndarray, shape (n_nodes, n_outputs)
    """
    n_samples, n_nodes = H.shape
    if n_samples <= n_nodes:
        return np.asarray(H.T @ _solve(H @ H.T, 1.0 / cost, Y))
    return _solve(H.T @ H, 1.0 / cost, H.T @ Y)


def first_nodes_outputs(
    H: Doubles, Y: Doubles, cost: float, Z: Doubles, sizes: Sequence[int]
) -> Doubles:
    """Return what the first nodes alone would give, for several numbers of them.

    With H'H + I / C = R'R, predictions are the running sums of the columns of Z R^-1 times
    R^-T H'Y, since the factor of a leading block is the leading block of the factor.

    Parameters
    ----------
    H, Y, cost
        As for `fit_output_weights`.
    Z : ndarray, shape (n, n_nodes)
        Values of the nodes at other rows.
    sizes : sequence of int
        Numbers of nodes.

    Returns
    -------
    ndarray, shape (n_sizes, n, n_outputs)
    """
    gram = H.T @ H
    gram[np.diag_indices_from(gram)] += 1.0 / cost
    R = cholesky(gram, overwrite_a=True, check_finite=False)
    right = np.column_stack([H.T @ Y, Z.T])
    both = solve_triangular(R, right, trans="T", overwrite_b=True, check_finite=False)
    z, Q = both[:, : Y.shape[1]], both[:, Y.shape[1] :]
    found, outputs, last = [], np.zeros((len(Z), Y.shape[1])), 0
    for size in sizes:
        outputs = outputs + Q[last:size].T @ z[last:size]
        found.append(outputs)
        last = size
    return np.stack(found)


# --- All costs at once ----------------------------------------------------------------------------


def outputs_for_costs(
    gram: Doubles, cross: Doubles, Y: Doubles, costs: Sequence[float], *, bias: bool
) -> Doubles:
    """Return the outputs at other rows for every C, from one eigendecomposition.

    Parameters
    ----------
    gram : ndarray, shape (n_samples, n_samples)
        Kernel of the training rows, or H H'.
    cross : ndarray, shape (n, n_samples)
        Kernel of other rows with them.
    Y : ndarray, shape (n_samples, n_outputs)
        Targets.
    costs : sequence of float
        Values of C.
    bias : bool
        Whether there is one.

    Returns
    -------
    ndarray, shape (n_costs, n, n_outputs)
    """
    eigenvalues, V = np.linalg.eigh(gram)
    right = V.T @ (np.column_stack([Y, np.ones(len(gram))]) if bias else Y)
    penalties = 1.0 / np.asarray(costs)
    # an eigenvalue below zero is one of zero with a rounding error
    inverse = 1.0 / (eigenvalues.clip(min=0.0) + penalties[:, np.newaxis])
    solutions = inverse[:, :, np.newaxis] * right
    offsets: Doubles | float = 0.0
    if bias:
        A, ones = solutions[:, :, :-1], solutions[:, :, -1:]
        weights = right[:, -1]  # sums over rows, in the eigenvectors
        b = (weights @ A) / (weights @ ones)
        solutions, offsets = A - ones * b[:, np.newaxis, :], b[:, np.newaxis, :]
    return np.asarray((cross @ V) @ solutions + offsets)
