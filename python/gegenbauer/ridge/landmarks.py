"""Features of a kernel of all terms at few of its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer._validation import check_integer, require_finite
from gegenbauer.basis.levels import as_samples

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.spectrum import Spectrum

__all__ = ["Landmarks", "choose_landmarks"]

# Candidates that one step draws: a share of the centres, so many at least and at most. They are
# drawn without knowledge of each other, each step passes over all samples.
_SHARE, _FEWEST, _MOST = 10, 5, 100

# What is left of the largest entry of the diagonal where rounding is all there is
_NOTHING_LEFT = 1e-13

# Doubles of features that are held at once
_BLOCK_SIZE = 4e6


class Landmarks:
    r"""Features of a kernel k at centres Z: the constant, and L^{-1} (k(Z, x) - 1).

    With :math:`k(Z, Z) - 1 = L L'`. The constant term of the kernel is the first feature, as of a
    `TensorBasis`, and the others are those of the rest of the kernel. A ridge solution with these
    is the one with the kernel among all functions :math:`c_0 + \sum_j c_j k(z_j, \cdot)` of the
    centres: of all terms, in the span of their values there (Nystroem's method).

    Parameters
    ----------
    kernel : SpectrumKernel or TotalDegreeKernel
        Of all terms.
    centres : ndarray, shape (n_centres, n_features)
        In the domain of the polynomials.
    factor : ndarray, shape (n_centres, n_centres)
        L, lower triangular.
    """

    def __init__(
        self,
        kernel: SpectrumKernel | TotalDegreeKernel,
        centres: Doubles,
        factor: Doubles,
    ) -> None:
        self.kernel, self.centres, self.factor = kernel, centres, factor

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return self.kernel.n_features

    @property
    def spectrum(self) -> Spectrum:
        """That of the kernel."""
        return self.kernel.spectrum

    @property
    def lam(self) -> float:
        """That of the kernel's polynomials."""
        return self.kernel.lam

    @property
    def n_terms(self) -> int:
        """Number of features, the constant included."""
        return len(self.centres) + 1

    def __eq__(self, other: object) -> bool:
        """Compare kernels and centres."""
        if not isinstance(other, Landmarks):
            return False
        return (
            self.kernel == other.kernel
            and np.array_equal(self.centres, other.centres)
            and np.array_equal(self.factor, other.factor)
        )

    def __hash__(self) -> int:
        return hash(self.centres.shape)

    def __repr__(self) -> str:
        return f"<{len(self.centres)} landmarks of {self.kernel!r}>"

    def evaluate(
        self,
        X: npt.ArrayLike,
        *,
        scaling: InputScaling | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        """Evaluate the features, with the constant first.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Inputs.
        scaling : InputScaling, optional
            Maps X to the domain of the polynomials.
        n_threads : int, optional
            By default `gegenbauer.default_threads()`.

        Returns
        -------
        ndarray of float64, shape (n_samples, n_terms)
        """
        from scipy.linalg import solve_triangular

        data = as_samples(X, "X", self.kernel)
        if scaling is not None:
            data = scaling.transform(data)
        features = np.empty((self.n_terms, len(data)))
        values = self.kernel(self.centres, data, n_threads=n_threads) - 1.0
        features[0] = 1.0
        features[1:] = solve_triangular(
            self.factor, values, lower=True, overwrite_b=True, check_finite=False
        )
        return features.T

    def products(
        self,
        X: npt.NDArray[Any],
        scaled_Y: Doubles,
        scale: Doubles | None,
        scaling: InputScaling | None,
        n_threads: int,
    ) -> Doubles:
        """Sum [G, Y]'G over samples, G and Y scaled, some thousand samples at a time.

        Costs n_samples n_terms (n_terms + n_outputs) multiply-adds beside the features.

        Parameters
        ----------
        X : ndarray, shape (n_samples, n_features)
            Inputs.
        scaled_Y : ndarray, shape (n_samples, n_outputs)
            Targets, scaled.
        scale : ndarray, shape (n_samples,), or None
            Of each sample; None for one.
        scaling : InputScaling or None
            Maps X to the domain of the polynomials.
        n_threads : int
            Of the kernel; the products have those of NumPy.

        Returns
        -------
        ndarray, shape (n_terms + n_outputs, n_terms)
            It may hold infinity.
        """
        size = self.n_terms
        sums = np.zeros((size + scaled_Y.shape[1], size))
        step = max(1, int(_BLOCK_SIZE / size))
        for first in range(0, len(X), step):
            rows = slice(first, first + step)
            G = self.evaluate(X[rows], scaling=scaling, n_threads=n_threads)
            if scale is not None:
                G *= scale[rows, np.newaxis]
            with np.errstate(over="ignore", invalid="ignore"):
                sums[:size] += G.T @ G
                sums[size:] += scaled_Y[rows].T @ G
        return sums

    def coefficients(self, weights: Doubles) -> tuple[Doubles, Doubles]:
        """Return those of the kernel at the centres, and what is added, from weights of features.

        Parameters
        ----------
        weights : ndarray, shape (n_terms, n_outputs)
            Of the features.

        Returns
        -------
        coef : ndarray, shape (n_centres, n_outputs)
            c in ``f(x) = sum_j c_j k(z_j, x) + intercept``.
        intercept : ndarray, shape (n_outputs,)
        """
        from scipy.linalg import solve_triangular

        coef = solve_triangular(self.factor, weights[1:], lower=True, trans="T")
        return coef, weights[0] - coef.sum(axis=0)


def choose_landmarks(
    kernel: SpectrumKernel | TotalDegreeKernel,
    X: npt.ArrayLike,
    n_centres: int,
    *,
    sample_weight: Doubles | None = None,
    scaling: InputScaling | None = None,
    n_threads: int | None = None,
) -> tuple[Landmarks, Places]:
    r"""Choose centres among samples by randomly pivoted Cholesky: the same ones each time.

    A sample is drawn with a probability proportional to the square of what centres before it leave
    of its feature vector, :math:`k(x, x) - |\phi(x)|^2`. Costs n_samples n_centres^2 multiply-adds.

    Parameters
    ----------
    kernel : SpectrumKernel or TotalDegreeKernel
        Of all terms.
    X : array_like, shape (n_samples, n_features)
        Inputs.
    n_centres : int
        At most; fewer where they span all samples up to rounding.
    sample_weight : ndarray, shape (n_samples,), optional
        Positive; a sample of weight two is drawn as two would be.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`.

    Returns
    -------
    landmarks : Landmarks
    places : ndarray of int, shape (n_centres,)
        Which samples they are.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    BeyondRangeError
        When values of the kernel are beyond the range of float64.
    TooLargeError
        When a matrix of n_samples x n_centres cannot fit into memory.

    References
    ----------
    Chen, Y., Epperly, E. N., Tropp, J. A., Webber, R. J. (2024): Randomly pivoted Cholesky:
    Practical approximation of a kernel matrix with few entry evaluations. Communications on Pure
    and Applied Mathematics 78, 995-1041.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    data = as_samples(X, "X", kernel)
    if scaling is not None:
        data = scaling.transform(data)
    n = data.shape[0]
    most = min(check_integer(n_centres, "n_centres", minimum=1), n)
    require_memory(8.0 * n * most, f"{most} landmarks of {n} samples", "take fewer samples")
    left = kernel.diagonal(data, n_threads=n_threads) - 1.0
    require_finite(left[:, np.newaxis], "some values of the kernel are", "")
    resolved = _NOTHING_LEFT * float(left.max(initial=0.0))
    weight = np.ones(n) if sample_weight is None else sample_weight
    factor = np.zeros((n, most))  # rows of L for all samples
    places = np.zeros(0, dtype=np.intp)
    rng = np.random.default_rng(0)
    n_drawn = min(max(most // _SHARE, _FEWEST), _MOST)
    while places.size < most:
        chances = weight * left
        total = float(chances.sum())
        if not total > 0:
            break
        drawn = np.unique(rng.choice(n, size=n_drawn, p=chances / total))
        k = places.size
        columns = kernel(data, data[drawn], n_threads=n_threads) - 1.0
        columns -= factor[:, :k] @ factor[drawn, :k].T
        # those that depend on others of the same step are dropped, and what is above the number
        block, order, rank, _ = dpstrf(columns[drawn], lower=1, tol=resolved)
        kept = order[: min(rank, most - k)] - 1
        if kept.size == 0:
            break
        own = np.tril(block[: kept.size, : kept.size])
        new = solve_triangular(own, columns[:, kept].T, lower=True, check_finite=False).T
        at = drawn[kept]
        new[at] = own
        factor[:, k : k + kept.size] = new
        places = np.append(places, at)
        left = (left - (new * new).sum(axis=1)).clip(min=0.0)
        left[left <= resolved] = 0.0
        left[places] = 0.0
    L = np.tril(factor[places, : places.size])
    return Landmarks(kernel, data[places], L), places
