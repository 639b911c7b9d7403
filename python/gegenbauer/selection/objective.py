"""Which spectrum: objectives for the kernel of all terms with their gradients, and searches.

Everything is in closed form for a given spectrum and alpha; what is searched are the few (or, with
a weight for each input, some dozens of) numbers that describe them. With C = D K D + alpha I,
A = C^-1 D Y and the residuals left out e = A / diag(C^-1):

- the log marginal likelihood, with the likeliest noise variance of each output, falls with
  ``n / 2 log(y'C^-1 y) + log det(C) / 2``, whose derivative by C is
  ``C^-1 / 2 - n / 2 A A' / (y'A)``;
- a loss of the residuals left out has, with H = dLoss/de, U = H / diag(C^-1) and
  v_i = sum_k H_ik e_ik / diag(C^-1)_i, the derivative ``C^-1 diag(v) C^-1 - sym(C^-1 U A')``.

Where a share s_i of a sample's weight is left out, c_i = (1 - s_i) / alpha + s_i diag(C^-1)_i takes
the place of diag(C^-1)_i, and v_i s_i that of v_i; alpha has sum_i v_i (1 - s_i) / alpha^2 more.
Such a sample stands for 1 / s_i samples that agree. So the likelihood has their number N in the
place of n, and falls with ``(N - n) / 2 log(alpha)`` as well.

With a free constant, K leaves it out and ``B = C^-1 - C^-1 u u' C^-1 / (u' C^-1 u)``, where u is
the diagonal of D, takes the place of C^-1; its derivative is the same, -B dC B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import (
    as_matrix,
    as_weights,
    check_choice,
    check_flag,
    check_number,
    check_threads,
)
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.scaling import check_scaling
from gegenbauer.selection._leave_one_out import check_share, without_share
from gegenbauer.selection._spectrum_matrices import SpectrumMatrices, WeightedSamples

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = [
    "PRIOR",
    "Loss",
    "SpectrumObjective",
    "SpectrumProblem",
    "check_level",
    "spectrum_objective",
]

OBJECTIVES = ("marginal_likelihood", "squared_error")

# Standard deviation of the logarithm of q, the interaction, that is believed in before seeing data:
# a factor of 55. It settles what some hundred samples cannot decide, and no more.
PRIOR = 4.0

# What the mean of ones may differ from one by rounding
_LEAST_LEVEL = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class SpectrumObjective:
    """A value to be made small, and how it changes.

    Attributes
    ----------
    value : float
        Of the objective; infinity where C is not positive definite in float64.
    by_log_interaction : ndarray, shape (n_features, number of components)
        Derivatives by ``log q_tj``.
    by_log_alpha : float
        Derivative by ``log alpha``.

    See Also
    --------
    spectrum_objective : How good a spectrum is, and its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.selection import spectrum_objective
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(20, 2))
    >>> found = spectrum_objective(SpectrumKernel(2, (0.5, 2.0)), X, X[:, 0] ** 2, 1e-3)
    >>> found.by_log_interaction.shape, bool(found.by_log_interaction[0, 0] < 0)  # more
    ((2, 1), True)
    """

    value: float
    by_log_interaction: Doubles
    by_log_alpha: float


@refuse_old_names
def spectrum_objective(
    kernel: SpectrumKernel,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    alpha: float,
    *,
    objective: str | Loss = "marginal_likelihood",
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    n_threads: int | None = None,
) -> SpectrumObjective:
    r"""Judge a spectrum and alpha by the data, with all derivatives.

    Parameters
    ----------
    kernel : SpectrumKernel
        The spectrum.
    X : array_like, shape (n_samples, n_features)
        Inputs.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    alpha : float
        Penalty, > 0.
    objective : {"marginal_likelihood", "squared_error"} or callable
        The negative log marginal likelihood per sample and output (up to a constant), or half the
        logarithm of the mean squared leave-one-out residual, the mean over the outputs of either;
        or a function of leave-one-out predictions (n_samples, n_outputs) that returns a value and
        its derivatives (n_samples, n_outputs). It gets samples of positive weight alone.
    sample_weight : array_like, shape (n_samples,), optional
        Positive.
    left_out_share : array_like, shape (n_samples,), optional
        As for `RidgePath.leave_one_out`. For the likelihood, row i is the mean of
        ``1 / left_out_share[i]`` samples that agree.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    penalize_constant : bool
        Whether the constant term is penalised as well. If not, the likelihood is that of the
        contrasts without it.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`.

    Returns
    -------
    SpectrumObjective

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    See Also
    --------
    learn_spectrum : Weights of the inputs, by gradients.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.selection import spectrum_objective
    >>> X = np.linspace(-1, 1, 20)[:, np.newaxis]
    >>> rough, smooth = SpectrumKernel(1, (1.0, 1.0)), SpectrumKernel(1, (1.0, 3.0))
    >>> values = [spectrum_objective(k, X, np.sin(2 * X), 1e-6).value for k in (rough, smooth)]
    >>> values[1] < values[0]
    True
    """
    if not isinstance(kernel, SpectrumKernel):
        raise TypeError(Message("`kernel` must be a SpectrumKernel, got {}", type(kernel).__name__))
    alpha = check_number(alpha, "alpha", minimum=0, open_below=True)
    problem = SpectrumProblem(
        X, Y, kernel.n_features, kernel.spectrum.levels is not None, objective, sample_weight,
        left_out_share, scaling, penalize_constant, n_threads,
    )  # fmt: skip
    q = kernel.spectrum.interactions(kernel.n_features)
    return problem.judge(SpectrumMatrices(problem.samples, lambda _: kernel), q, alpha)


class SpectrumProblem:
    """Samples, targets and what is to be made small."""

    def __init__(
        self,
        X: npt.ArrayLike,
        Y: npt.ArrayLike,
        n_features: int | None,
        missing: bool,
        objective: str | Loss,
        sample_weight: npt.ArrayLike | None,
        left_out_share: npt.ArrayLike | None,
        scaling: InputScaling | None,
        penalize_constant: bool,
        n_threads: int | None,
    ) -> None:
        self.objective = (
            objective if callable(objective) else check_choice(objective, "objective", OBJECTIVES)
        )
        self.free = not check_flag(penalize_constant, "penalize_constant")
        self.threads = check_threads(n_threads)
        data = as_matrix(X, "X", n_columns=n_features, allow_missing=missing)
        targets = as_matrix(
            Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True
        )  # fmt: skip
        weights = as_weights(sample_weight, data.shape[0])
        share = check_share(left_out_share, data.shape[0])
        if weights is not None and not weights.all():
            used = weights > 0
            data, targets, weights = data[used], targets[used], weights[used]
            share = None if share is None else share[used]
        self.X, self.Y, self.weights, self.left_out = data, targets, weights, share
        self.n_features = data.shape[1]
        self.box = check_scaling(scaling, self.n_features, "kernel")
        self.n = data.shape[0]
        if self.n < 1 + self.free:
            raise ValueError(
                "a free constant needs two samples of positive weight or more, got one"
            )
        require_memory(32.0 * self.n**2, f"the matrices of {self.n} samples", "use fewer samples")
        self.root = np.ones(self.n) if weights is None else np.sqrt(weights)
        # how many samples there are, each of which is left out by itself, and their mean weight
        self.n_samples = float(self.n if share is None else (1.0 / share).sum())
        self.unit = float((self.root**2).sum()) / self.n_samples
        self.scaled_Y = self.root[:, np.newaxis] * targets
        self.samples = WeightedSamples(data, self.box, self.root, not self.free, self.threads)

    def level(self, matrix: Doubles) -> float:
        """Mean diagonal of D K D for each sample, of the penalised terms alone."""
        return float(np.trace(matrix)) / self.n_samples

    @refuse_old_names
    def judge(
        self, matrices: SpectrumMatrices, q: Doubles, alpha: float, *, relative: bool = False
    ) -> SpectrumObjective:
        """Evaluate the objective and its derivatives; `relative`: alpha is so many levels."""
        n, n_outputs = self.scaled_Y.shape
        n_samples = self.n_samples
        factor = matrices.matrix(q)
        level = self.level(factor) if relative else 1.0
        alpha = alpha * level
        factor[np.diag_indices(n)] += alpha
        failed = SpectrumObjective(np.inf, np.zeros(q.shape), 0.0)
        try:
            core.cholesky_in_place(factor, self.threads)
        except np.linalg.LinAlgError:
            return failed
        log_det = 2 * np.log(factor.diagonal()).sum()
        core.invert_factored(factor, self.threads)
        B = factor
        if self.free:
            side = B @ self.root
            along = self.root @ side
            if not along > 0:
                return failed
            B = _plus_product(B, -1.0 / float(along), side[:, np.newaxis], side[:, np.newaxis])
            log_det += np.log(along)
            n_samples -= 1
        A = B @ self.scaled_Y
        by_alpha = 0.0  # beside what goes by C
        if self.objective == "marginal_likelihood":
            quadratic = np.einsum("ik,ik->k", self.scaled_Y, A)
            if not (quadratic > 0).all():
                return failed
            # samples that agree differ in nothing but the noise
            by_alpha = 0.5 * (1.0 - (n - self.free) / n_samples) / alpha
            value = 0.5 * np.log(quadratic / n_samples).mean() + 0.5 * log_det / n_samples
            value += by_alpha * alpha * np.log(alpha)
            M = B
            M *= 0.5 / n_samples
            M = _plus_product(M, -0.5 / n_outputs, A / quadratic, A)
        else:
            share = np.ones(n) if self.left_out is None else self.left_out
            diagonal = without_share(B.diagonal(), 1.0 / alpha, share)[:, np.newaxis]
            if not (diagonal > 0).all():
                return failed
            e = A / diagonal  # times the root of the weight
            if callable(self.objective):
                root = self.root[:, np.newaxis]
                value, slope = self.objective(self.Y - e / root)
                H = -slope / root
            else:
                total = np.einsum("ik,ik->k", e, e)
                if not (total > 0).all():
                    return failed
                value = 0.5 * np.log(total / (self.root**2).sum()).mean()
                H = e / (total * n_outputs)
            v = (H * e).sum(axis=1) / diagonal[:, 0]
            side = B @ (H / diagonal)
            M = np.asfortranarray((B * (share * v)) @ B)
            M = _plus_product(_plus_product(M, -0.5, side, A), -0.5, A, side)
            by_alpha = float(v @ (1.0 - share)) / alpha**2
        by_log_alpha = alpha * (float(np.trace(M)) + by_alpha)
        if relative:  # alpha moves with the mean of the diagonal
            M[np.diag_indices(n)] += by_log_alpha / (level * self.n_samples)
        return SpectrumObjective(float(value), matrices.log_gradient(q, M), by_log_alpha)


def _plus_product(matrix: Doubles, scale: float, left: Doubles, right: Doubles) -> Doubles:
    """Return a matrix plus a scale times left right', in its place if it is column-major."""
    from scipy.linalg.blas import dgemm

    return np.asarray(dgemm(scale, left, right, 1.0, matrix, trans_b=True, overwrite_c=True))


# (predictions (rows, n_outputs)) -> score and its derivatives (rows, n_outputs)
Loss: TypeAlias = "Callable[[Doubles], tuple[float, Doubles]]"


def check_level(level: float, what: str) -> float:
    """Return the mean diagonal of a kernel matrix; refuse a spectrum of which nothing is left."""
    if not level > _LEAST_LEVEL:
        raise ValueError(
            Message(
                "{} gives the inputs such small weights that float64 loses them beside the "
                "constant term",
                what,
                ways="give a larger `interaction` (q)",
            )
        )
    return level
