"""Eigenvectors of normal equations, from which a fit is had for every penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._dispatch import one_blas_thread

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["PrimalInverse", "PrimalSpectrum", "graded_svd"]


def graded_svd(A: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return U, s and V of A = U diag(s) V', of at least as many rows as columns.

    By Jacobi rotations, which know small singular values of columns of very different sizes, too.
    A rotation is of two columns, too little work for several threads of BLAS.
    """
    from scipy.linalg.lapack import dgejsv

    with one_blas_thread():
        sigma, U, V, scale, _, info = dgejsv(A, joba=0, jobu=0, jobv=0)
    if info != 0:
        raise np.linalg.LinAlgError("the singular values of the features did not converge")
    return U, sigma * (scale[0] / scale[1]), V


class PrimalInverse:
    """The inverse of normal equations with one penalty, in a tenth of the time of eigenvectors.

    Without the constant where that is free.

    Parameters
    ----------
    sums : ndarray, shape (n_terms or more, n_terms or more)
        Their lower triangle.
    n_terms : int
        Number of terms.
    alpha : float
        The penalty, well above the rounding of the sums.
    free : bool
        Whether the constant is.

    Attributes
    ----------
    root : ndarray, shape (r, r)
        ``root @ root.T`` is the inverse.
    mean_features : ndarray, shape (r,) or (0,)
        Means of the features, where the constant is free.
    dof : float
        Degrees of freedom, without a free constant.
    """

    def __init__(self, sums: Doubles, n_terms: int, alpha: float, *, free: bool) -> None:
        from scipy.linalg.lapack import dpotrf, dtrtri

        self.mean_features = np.zeros(0)
        C = np.asfortranarray(sums[:n_terms, :n_terms])
        if free:
            C, self.mean_features = _without_constant(C)
        C[np.diag_indices(len(C))] += alpha
        factor, failed = dpotrf(C, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError(f"alpha = {alpha:g} is too small for float64")
        inverse, _ = dtrtri(factor, lower=1, overwrite_c=1)
        self.root = inverse.T
        self.dof = float(len(C) - alpha * (inverse**2).sum())


def _without_constant(C: Doubles) -> tuple[Doubles, Doubles]:
    """Return the sums of features about their means, the lower triangle, and these means.

    Term 0 is the constant, so its row of the Gram matrix sums the others.
    """
    weight = C[0, 0]
    means = C[1:, 0] / weight
    return np.asfortranarray(C[1:, 1:] - weight * np.outer(means, means)), means


class PrimalSpectrum:
    """Eigenvectors of normal equations, the larger eigenvalues first.

    Without the constant where that is free: it is the mean of what the other terms leave.

    Parameters
    ----------
    sums : ndarray, shape (n_terms + n_outputs, n_terms or more)
        The first columns of their lower triangle [G, Y]'[G, Y], or all of the upper triangle R of
        `triangle_of_features`, (n_terms + n_outputs or fewer, n_terms + n_outputs).
    n_terms : int
        Number of terms.
    free : bool
        Whether the constant is.
    means : ndarray, shape (n_outputs,), optional
        What has been taken from the targets before.
    triangle : bool
        Which of both it is.
    """

    def __init__(
        self,
        sums: Doubles,
        n_terms: int,
        *,
        free: bool,
        means: Doubles | None = None,
        triangle: bool = False,
    ) -> None:
        n_outputs = sums.shape[1 if triangle else 0] - n_terms
        self.means = np.zeros(n_outputs) if means is None else means
        self.mean_features = np.zeros(0)
        self.mean_left = np.zeros(n_outputs)
        self._free = free
        self._of_mean = 0.0  # squared norm of what the mean of the features takes away
        (self._of_triangle if triangle else self._of_sums)(sums, n_terms)
        self.mean_targets = self.means + self.mean_left

    @property
    def size(self) -> float:
        """Bound of the largest eigenvalue with the mean of the features: what rounding is of."""
        return float(self.eigenvalues[:1].sum()) + self._of_mean

    def _of_sums(self, gram: Doubles, n_terms: int) -> None:
        cross = gram[n_terms:, :n_terms].T.copy()
        C = gram[:n_terms, :n_terms]
        if self._free:
            weight = C[0, 0]
            C, self.mean_features = _without_constant(C)
            self.mean_left = cross[0] / weight
            self._of_mean = float(weight * (self.mean_features @ self.mean_features))
            cross = cross[1:] - weight * np.outer(self.mean_features, self.mean_left)
        eigenvalues, V = np.linalg.eigh(C, UPLO="L")
        # a copy, since NumPy before 2.3 multiplies reversed arrays without BLAS
        self.vectors = np.asfortranarray(V[:, ::-1])
        self.eigenvalues = eigenvalues[::-1].clip(min=0.0)
        self.projected = self.vectors.T @ cross

    def _of_triangle(self, R: Doubles, n_terms: int) -> None:
        first = int(self._free)
        if self._free:
            # the first row belongs to the constant: what is below has nothing of it
            self.mean_features = R[0, 1:n_terms] / R[0, 0]
            self.mean_left = R[0, n_terms:] / R[0, 0]
            self._of_mean = float(R[0, 1:n_terms] @ R[0, 1:n_terms])
        n = n_terms - first
        A = np.zeros((max(n, R.shape[0] - first), n))
        A[: R.shape[0] - first] = R[first:, first:n_terms]
        z = np.zeros((A.shape[0], self.means.size))
        z[: R.shape[0] - first] = R[first:, n_terms:]
        U, sigma, self.vectors = graded_svd(A)
        self.eigenvalues = sigma**2
        self.projected = sigma[:, np.newaxis] * (U.T @ z)

    def coordinates(self, alphas: Doubles) -> Doubles:
        """Return the weights in the eigenvectors, shape (r, n_alphas, n_outputs).

        They fit what is left of the targets: a constant that is penalised counts as it is.
        """
        column = alphas[:, np.newaxis]
        pull = np.zeros((self.eigenvalues.size, 1, 1))
        if not self._free:
            pull = column * self.vectors[0][:, np.newaxis, np.newaxis] * self.means
        whole = self.eigenvalues[:, np.newaxis, np.newaxis] + column
        return np.asarray((self.projected[:, np.newaxis, :] - pull) / whole)

    def weights(self, alphas: Doubles) -> Doubles:
        """Return those of the fits, shape (n_terms, n_alphas * n_outputs)."""
        found = self.coordinates(alphas)
        size, *columns = found.shape  # no eigenvectors where there is but a free constant
        weights = self.vectors @ found.reshape(size, int(np.prod(columns)))
        means = np.tile(self.mean_targets, alphas.size)
        if self._free:
            return np.vstack([means - self.mean_features @ weights, weights])
        weights[0] += means
        return np.asarray(weights)
