"""Which spectrum: objectives for the kernel of all terms with their gradients, and searches.

Everything is in closed form for a given spectrum and gamma; what is searched are the few (or, with
a weight for each input, some dozens of) numbers that describe them. With C = D K D + gamma I,
A = C^-1 D Y and the residuals left out e = A / diag(C^-1):

- the log marginal likelihood, with the likeliest noise variance of each output, falls with
  ``n / 2 log(y'C^-1 y) + log det(C) / 2``, whose derivative by C is
  ``C^-1 / 2 - n / 2 A A' / (y'A)``;
- a loss of the residuals left out has, with H = dLoss/de, U = H / diag(C^-1) and
  v_i = sum_k H_ik e_ik / diag(C^-1)_i, the derivative ``C^-1 diag(v) C^-1 - sym(C^-1 U A')``.

Where a share s_i of a row's weight is left out, c_i = (1 - s_i) / gamma + s_i diag(C^-1)_i takes
the place of diag(C^-1)_i, and v_i s_i that of v_i; gamma has sum_i v_i (1 - s_i) / gamma^2 more.
Such a row stands for 1 / s_i samples that agree. So the likelihood has their number N in the place
of n, and falls with ``(N - n) / 2 log(gamma)`` as well.

With a free constant, K leaves it out and ``B = C^-1 - C^-1 u u' C^-1 / (u' C^-1 u)``, where u is
the diagonal of D, takes the place of C^-1; its derivative is the same, -B dC B.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gegenbauer._arrays import (
    as_matrix,
    as_weights,
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_threads,
    require_memory,
)
from gegenbauer._dispatch import core
from gegenbauer.basis import TensorBasis, check_scaling
from gegenbauer.kernel import SpectrumKernel, predict_kernel, solve_kernel
from gegenbauer.selection import (
    RidgePath,
    cheapest_method,
    check_share,
    kfold_predictions,
    leave_one_out,
)
from gegenbauer.spectrum import GeometricDecay, PowerDecay, Spectrum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from gegenbauer.basis import InputScaling
    from gegenbauer.spectrum import ComponentsLike

    Doubles: TypeAlias = npt.NDArray[np.float64]

__all__ = [
    "SpectrumObjective",
    "SpectrumSearch",
    "learn_spectrum",
    "search_gamma",
    "search_spectrum",
    "spectrum_objective",
]

OBJECTIVES = ("marginal_likelihood", "squared_error")

# What a search looks at by itself: smoothness s, interaction q times the number of inputs, and
# gamma relative to the mean diagonal of the kernel matrix
SMOOTHNESSES = (1.0, 2.0)
INTERACTIONS = tuple(4.0 ** np.arange(-6, 3))
GAMMAS = tuple(4.0 ** np.arange(-12, 7))

# Standard deviation of the logarithm of q, the interaction, that is believed in before seeing data:
# a factor of 55. It settles what some hundred rows cannot tell apart, and no more.
PRIOR = 4.0

# Degrees of freedom of the prior that holds the weights of the inputs together
_PRIOR_FREEDOM = 4.0

NO_SCORE = (
    "no {} has a finite score: does the scorer return NaN, are gammas or sample_weight extreme, or "
    "the targets of no reasonable size?"
)

# Steps by which the best value may run beyond the end of a grid
_MOST_WIDENING = 4

# Predictions whose estimated relative error is above this are not trusted; the estimate is a bound
# that is mostly some hundred times too high
TRUSTED = 0.1

# Predictions (doubles) that are held at once
_HELD = 2e7

# Relative error of predictions, by the trace of the kernel matrix over gamma
_ROUNDING = 4 * float(np.finfo(np.float64).eps)

# What the mean of ones may differ from one by rounding
_LEAST_LEVEL = 8 * float(np.finfo(np.float64).eps)

# gamma stays so far above the resolution of the kernel matrix that Cholesky keeps its digits
_LEAST_GAMMA = 100 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class SpectrumObjective:
    """A value to be made small, and how it changes.

    Attributes
    ----------
    value : float
        Of the objective; infinity where C is not positive definite in float64.
    by_log_interaction : ndarray, shape (n_features, number of components)
        Derivatives by ``log q_tj``.
    by_log_gamma : float
        Derivative by ``log gamma``.
    """

    value: float
    by_log_interaction: Doubles
    by_log_gamma: float


def spectrum_objective(
    kernel: SpectrumKernel,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    gamma: float,
    *,
    objective: str | Loss = "marginal_likelihood",
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    n_threads: int | None = None,
) -> SpectrumObjective:
    r"""Judge a spectrum and gamma by the data, with all derivatives.

    Parameters
    ----------
    kernel : SpectrumKernel
        The spectrum.
    X : array_like, shape (n_samples, n_features)
        Inputs.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    gamma : float
        Penalty, > 0.
    objective : {"marginal_likelihood", "squared_error"} or callable
        The negative log marginal likelihood a row and output (up to a constant), or half the
        logarithm of the mean squared leave-one-out residual, the mean over the outputs of either;
        or a function of predictions (n_samples, n_outputs), each by the fit without its row, that
        returns a value and its derivatives (n_samples, n_outputs). It gets rows of positive weight
        alone.
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
        By default what `gegenbauer.default_threads` says.

    Returns
    -------
    SpectrumObjective

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import SpectrumKernel, spectrum_objective
    >>> X = np.linspace(-1, 1, 20)[:, np.newaxis]
    >>> rough, smooth = SpectrumKernel(1, (1.0, 1.0)), SpectrumKernel(1, (1.0, 3.0))
    >>> values = [spectrum_objective(k, X, np.sin(2 * X), 1e-6).value for k in (rough, smooth)]
    >>> values[1] < values[0]
    True
    """
    if not isinstance(kernel, SpectrumKernel):
        raise TypeError(f"kernel must be a SpectrumKernel, got {type(kernel).__name__}")
    gamma = check_number(gamma, "gamma", minimum=0, open_below=True)
    problem = _Problem(
        X, Y, kernel.n_features, objective, sample_weight, left_out_share, scaling,
        penalize_constant, n_threads,
    )  # fmt: skip
    return problem.judge(kernel, gamma)


class _Problem:
    """Rows, targets and what is to be made small."""

    def __init__(
        self,
        X: npt.ArrayLike,
        Y: npt.ArrayLike,
        n_features: int | None,
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
        data = as_matrix(X, "X", n_columns=n_features)
        targets = as_matrix(
            Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True
        )  # fmt: skip
        weights = as_weights(sample_weight, data.shape[0])
        share = check_share(left_out_share, data.shape[0])
        if weights is not None and not weights.all():
            used = weights > 0
            data, targets, weights = data[used], targets[used], weights[used]
            share = None if share is None else share[used]
        self.X, self.Y, self.left_out = data, targets, share
        self.n_features = data.shape[1]
        self.box = check_scaling(scaling, self.n_features, "kernel")
        self.n = data.shape[0]
        if self.n < 1 + self.free:
            raise ValueError("a free constant needs at least two rows of positive weight, got one")
        require_memory(32.0 * self.n**2, f"the matrices of {self.n} rows", "use fewer rows")
        self.root = np.ones(self.n) if weights is None else np.sqrt(weights)
        self.share = self.root**2 / (self.root**2).sum()
        # how many samples there are, each of which is left out by itself, and their mean weight
        self.n_samples = float(self.n if share is None else (1.0 / share).sum())
        self.unit = float((self.root**2).sum()) / self.n_samples
        self.scaled_Y = self.root[:, np.newaxis] * targets
        self._diagonal = np.asfortranarray(np.diag(self.share))

    def level(self, kernel: SpectrumKernel) -> float:
        """Mean diagonal of D K D for each sample, of the penalised terms alone."""
        values = kernel._plan.evaluate_diagonal(self.X, self.box, self.threads)
        return (float(self.share @ values) - self.free) * self.unit

    def level_gradient(self, kernel: SpectrumKernel) -> Doubles:
        """Differentiate the level by log q."""
        found: Doubles = kernel._plan.log_gradient(self.X, self.box, self._diagonal, self.threads)
        return found * self.unit

    def judge(self, kernel: SpectrumKernel, gamma: float) -> SpectrumObjective:
        """Evaluate the objective and its derivatives."""
        n, n_outputs = self.scaled_Y.shape
        n_samples = self.n_samples
        factor = np.zeros((n, n), order="F")
        kernel._plan.accumulate(
            self.X, self.box, self.root, not self.free, factor, self.threads
        )  # fmt: skip
        factor[np.diag_indices(n)] += gamma
        failed = SpectrumObjective(
            np.inf, np.zeros((self.n_features, len(kernel.spectrum.components))), 0.0
        )  # fmt: skip
        try:
            core.cholesky_in_place(factor, self.threads)
        except np.linalg.LinAlgError:
            return failed
        B = np.eye(n, order="F")
        core.solve_factored(factor, B, self.threads)
        log_det = 2 * np.log(factor.diagonal()).sum()
        if self.free:
            side = B @ self.root
            along = self.root @ side
            if not along > 0:
                return failed
            B -= np.outer(side / along, side)
            log_det += np.log(along)
            n_samples -= 1
        A = B @ self.scaled_Y
        by_gamma = 0.0  # beside what goes by C
        if self.objective == "marginal_likelihood":
            quadratic = np.einsum("ik,ik->k", self.scaled_Y, A)
            if not (quadratic > 0).all():
                return failed
            # samples that agree differ in nothing but the noise
            by_gamma = 0.5 * (1.0 - (n - self.free) / n_samples) / gamma
            value = 0.5 * np.log(quadratic / n_samples).mean() + 0.5 * log_det / n_samples
            value += by_gamma * gamma * np.log(gamma)
            M = (0.5 / n_samples) * B - (0.5 / n_outputs) * (A / quadratic) @ A.T
        else:
            share = np.ones(n) if self.left_out is None else self.left_out
            diagonal = ((1.0 - share) / gamma + share * B.diagonal())[:, np.newaxis]
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
            M = (B * (share * v)) @ B - 0.5 * (side @ A.T + A @ side.T)
            by_gamma = float(v @ (1.0 - share)) / gamma**2
        by_log_gamma = gamma * (float(np.trace(M)) + by_gamma)
        M *= self.root[:, np.newaxis]
        M *= self.root
        gradient = kernel._plan.log_gradient(
            self.X, self.box, np.asfortranarray(M), self.threads
        )  # fmt: skip
        return SpectrumObjective(float(value), gradient, by_log_gamma)


def learn_spectrum(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    components: ComponentsLike | None = None,
    gamma: float | None = None,
    objective: str | Loss = "marginal_likelihood",
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    prior: float | None = None,
    max_iter: int = 100,
    callback: Callable[[int], None] | None = None,
    n_threads: int | None = None,
) -> tuple[SpectrumKernel, float]:
    r"""Find the weight of every input and component, and gamma, that the data make likeliest.

    By L-BFGS on the logarithms, from one start. Inputs that matter little end with small weights:
    automatic relevance determination.

    Parameters
    ----------
    X : array_like, shape (n_samples, n_features)
        Inputs; the cost of a step is that of a few factorisations of n_samples, so some hundred
        rows are a good number.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets, best with a mean of zero.
    components : Spectrum or what one is made from, optional
        Start of the search, and the kinds of the components; by default s = 2, s = 5 and r = 0.1,
        which share 1 / n_features.
    gamma : float, optional
        Start of the search, relative to the mean diagonal of the kernel matrix (of its penalised
        terms) times the mean weight of a sample; by default the best of a few for the first
        spectrum.
    objective : {"marginal_likelihood", "squared_error"} or callable
        See `spectrum_objective`.
    sample_weight, left_out_share, scaling, penalize_constant, n_threads
        As for `spectrum_objective`.
    prior : float, optional
        For objectives that are means of -log p over the rows: holds the logarithms of all q
        together at their start, by a multivariate t distribution of this scale, and that of
        gamma, weakly. Many small departures, of which some would be noise, cost much, and the
        further the weights are spread already, the less it costs to go on. Its -log p, divided by
        the number of rows, is added to the objective. By default there is none.
    max_iter : int
        Most steps of L-BFGS.
    callback : callable, optional
        Called with the number of each step.

    Returns
    -------
    kernel : SpectrumKernel
        With the best spectrum.
    gamma : float
        The best gamma, absolute.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import learn_spectrum
    >>> X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    >>> kernel, gamma = learn_spectrum(X, np.sin(3 * X[:, 1]))
    >>> weights = kernel.spectrum.interactions(2).sum(axis=1)
    >>> bool(weights[1] > 100 * weights[0])
    True
    """
    from scipy.optimize import minimize

    max_iter = check_integer(max_iter, "max_iter", minimum=1)
    problem = _Problem(
        X, Y, None, objective, sample_weight, left_out_share, scaling, penalize_constant, n_threads
    )
    m = problem.n_features
    if components is None:
        share = 1.0 / (3 * m)
        components = (PowerDecay(share, 2.0), PowerDecay(share, 5.0), GeometricDecay(share, 0.1))
    first = SpectrumKernel(m, components)
    kinds = first.spectrum.components
    start = first.spectrum.interactions(m)
    if (start <= 0).any():
        raise ValueError("components must start with positive interactions (q)")
    log_start = np.log(start)
    check_level(problem.level(first) / problem.unit, f"components={components!r}")
    if gamma is not None:
        gamma = check_number(gamma, "gamma", minimum=0, open_below=True)
    if prior is not None:
        prior = check_number(prior, "prior", minimum=0, open_below=True)
    moving = np.ptp(problem.Y, axis=0) > 0
    if problem.n < 3 or not moving.any():
        return first, problem.level(first) * (1.0 if gamma is None else gamma)
    if not callable(problem.objective):  # outputs of no variance have nothing to say
        problem.scaled_Y = np.ascontiguousarray(problem.scaled_Y[:, moving])

    def make(log_q: Doubles) -> SpectrumKernel:
        q = np.exp(log_q.reshape(log_start.shape))
        parts = [replace(part, interaction=q[:, j].tolist()) for j, part in enumerate(kinds)]
        return SpectrumKernel(m, Spectrum(parts))

    least = _LEAST_GAMMA * problem.n
    if gamma is None:
        trials = [relative for relative in 10.0 ** np.arange(-9, 2, 2) if relative >= least]
        level = problem.level(first)
        values = [problem.judge(first, relative * level).value for relative in trials]
        gamma = trials[int(np.argmin(values))]

    p_start = np.append(log_start.ravel(), np.log(max(gamma, least)))

    # The unknowns are log q and the log of gamma relative to the level of K: so gamma keeps its
    # meaning, and its distance from rounding, while the spectrum grows and shrinks.
    def judge(p: Doubles) -> tuple[float, Doubles]:
        kernel = make(p[:-1])
        level = problem.level(kernel)
        found = problem.judge(kernel, float(np.exp(p[-1])) * level)
        if not np.isfinite(found.value):
            return 1e10, np.zeros_like(p)
        by_level = problem.level_gradient(kernel) / level
        by_q = found.by_log_interaction + found.by_log_gamma * by_level
        slope = np.append(by_q.ravel(), found.by_log_gamma)
        if prior is None:
            return found.value, slope
        price, by_p = _price(p - p_start, prior)
        return found.value + price / problem.n_samples, slope + by_p / problem.n_samples

    steps = itertools.count(1)
    result = minimize(
        judge,
        p_start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(v - 12.0, v + 6.0) for v in log_start.ravel()] + [(np.log(least), np.log(1e4))],
        callback=None if callback is None else lambda _: callback(next(steps)),
        options={"maxiter": max_iter, "maxcor": 20},
    )
    kernel = make(result.x[:-1])
    return kernel, float(np.exp(result.x[-1])) * problem.level(kernel)


def _price(departure: Doubles, prior: float) -> tuple[float, Doubles]:
    """Return -log p of departures of log q and, at the end, of log gamma; and its derivatives."""
    *by_q, by_gamma = departure.tolist()
    q = np.array(by_q)
    freedom = _PRIOR_FREEDOM * prior**2
    reach, power = 1.0 + float(q @ q) / freedom, _PRIOR_FREEDOM + q.size
    price = 0.5 * power * np.log(reach) + 0.5 * (by_gamma / PRIOR) ** 2
    return float(price), np.append(power * q / (freedom * reach), by_gamma / PRIOR**2)


@dataclass(frozen=True, eq=False)
class SpectrumSearch:
    """The best of a grid of spectra (q, s) and gammas, and all scores.

    Attributes
    ----------
    kernel : SpectrumKernel
        With the best spectrum.
    gamma : float
        The best gamma, absolute.
    score : float
        That of the best: the smaller the better.
    smoothnesses : ndarray, shape (n_s,)
        s.
    interactions : ndarray, shape (n_q,)
        q, ascending; wider than asked for where the best was at an end.
    gammas : ndarray, shape (n_gammas,)
        Ascending, relative to the mean diagonal of the kernel matrix.
    scores : ndarray, shape (n_s, n_q, n_gammas)
        Without the prior. Infinity where rounding errors would count, NaN where nothing was tried.
    on_edge : tuple of str
        Which of "interactions" and "gammas" have their best value at an end even so.
    starts : tuple of (SpectrumKernel, float)
        The best spectrum of each s that has a finite score, and its gamma, relative.
    """

    kernel: SpectrumKernel
    gamma: float
    score: float
    smoothnesses: Doubles
    interactions: Doubles
    gammas: Doubles
    scores: Doubles
    on_edge: tuple[str, ...]
    starts: tuple[tuple[SpectrumKernel, float], ...]


# (predictions (n, rows, n_outputs) of n gammas, indices of the rows) -> n scores
Score: TypeAlias = "Callable[[Doubles, npt.NDArray[np.intp]], Doubles]"
# (predictions (rows, n_outputs)) -> score and its derivatives (rows, n_outputs)
Loss: TypeAlias = "Callable[[Doubles], tuple[float, Doubles]]"
Splits: TypeAlias = "Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] | None"


def search_spectrum(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    score: Score,
    *,
    smoothnesses: Sequence[float] = SMOOTHNESSES,
    interactions: Sequence[float] | None = None,
    gammas: Sequence[float] = GAMMAS,
    widen: bool = True,
    prior: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    splits: Splits = None,
    pooled: bool = False,
    callback: Callable[[int], None] | None = None,
    n_threads: int | None = None,
) -> SpectrumSearch:
    r"""Find q (one for all inputs), s and gamma by a score of predictions of rows left out.

    Exact leave-one-out, with one eigendecomposition for each spectrum, or given splits of the rows,
    with one for each split.

    Parameters
    ----------
    X : array_like, shape (n_samples, n_features)
        Inputs; some hundred rows are a good number.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    score : callable
        Takes predictions (n, n_rows, n_outputs) of n gammas and the indices of their rows, and
        returns n scores; the smaller the better.
    smoothnesses : sequence of float
        The s to try.
    interactions : sequence of float, optional
        The q to try; by default 4^-6 to 4^2, divided by the number of inputs.
    gammas : sequence of float
        The penalties to try, relative to the mean diagonal of the kernel matrix times the mean
        weight of a sample.
    widen : bool
        Go on beyond the ends of the grids of q and gamma, by their last step and at most 4 times,
        while the best value is at an end.
    prior : float, optional
        For scores that are means of -log p: a log-normal prior of q around 1 / n_features, whose
        logarithm has this standard deviation. Its -log p, divided by the number of rows, is added
        where scores are compared. By default there is none.
    sample_weight, scaling, penalize_constant, n_threads
        As for `RidgePath`.
    left_out_share : array_like, shape (n_samples,), optional
        As for `RidgePath.leave_one_out`; without splits.
    splits : sequence of (train, test), optional
        Indices of rows. The score is then the mean of those of the test rows of each split.
    pooled : bool
        Score the test rows of all splits together instead.
    callback : callable, optional
        Called with the number of spectra done.

    Returns
    -------
    SpectrumSearch

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content, and when no score is finite.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import search_spectrum
    >>> X = np.random.default_rng(0).uniform(-1, 1, (80, 2))
    >>> y = np.abs(X[:, 0]) + X[:, 1]
    >>> squared_error = lambda left_out, rows: ((left_out[:, :, 0] - y[rows]) ** 2).mean(axis=1)
    >>> found = search_spectrum(X, y, squared_error)
    >>> bool(found.score < 0.01)
    True
    """
    data = as_matrix(X, "X")
    m = data.shape[1]
    s_grid = np.unique(_grid(smoothnesses, "smoothnesses"))
    q_grid = (
        4.0 ** np.arange(-6, 3) / m
        if interactions is None
        else np.unique(_grid(interactions, "interactions"))
    )
    g_grid = np.unique(_grid(gammas, "gammas"))
    targets = as_matrix(Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, data.shape[0])
    tried: dict[tuple[float, float], tuple[Candidate, float, dict[float, float]]] = {}
    done = itertools.count(1)
    if prior is not None:
        prior = check_number(prior, "prior", minimum=0, open_below=True)
    share = check_share(left_out_share, data.shape[0])
    n_samples = float(data.shape[0] if share is None else (1.0 / share).sum())
    unit = 1.0 if weights is None else float(weights.sum()) / n_samples

    def priced() -> Doubles:
        if prior is None:
            return scores
        price = np.log(q_grid * m) ** 2 / (2 * prior**2 * n_samples)
        return np.asarray(scores + price[:, np.newaxis])

    def judge() -> Doubles:
        table = np.full((s_grid.size, q_grid.size, g_grid.size), np.nan)
        for i, s in enumerate(s_grid):
            for j, q in enumerate(q_grid):
                key = (float(s), float(q))
                if key not in tried:
                    kernel = SpectrumKernel(m, PowerDecay(float(q), float(s)))
                    diagonal = kernel.diagonal(data, scaling=scaling, n_threads=n_threads)
                    level = float(np.average(diagonal, weights=weights)) - (not penalize_constant)
                    level = unit * check_level(level, f"interaction {q:g}")
                    candidate = Candidate(
                        kernel, data, targets, weights, splits, left_out_share=share,
                        pooled=pooled, scaling=scaling, penalize_constant=penalize_constant,
                        n_threads=n_threads,
                    )  # fmt: skip
                    tried[key] = (candidate, level, {})
                    if callback is not None:
                        callback(next(done))
                candidate, level, known = tried[key]
                new = np.array([g for g in g_grid.tolist() if g not in known])
                known.update(zip(new.tolist(), candidate.scores(new * level, score), strict=True))
                table[i, j] = [known[g] for g in g_grid.tolist()]
        return table

    scores = judge()
    for _ in range(_MOST_WIDENING if widen else 0):
        _, j, g = _best(priced())
        wider_q, wider_g = widened(q_grid, j), widened(g_grid, g)
        if wider_q.size == q_grid.size and wider_g.size == g_grid.size:
            break
        q_grid, g_grid = wider_q, wider_g
        scores = judge()
    i, j, g = _best(priced())
    ends = {"interactions": (j, q_grid), "gammas": (g, g_grid)}
    on_edge = tuple(
        name for name, (at, grid) in ends.items() if grid.size > 1 and at in (0, grid.size - 1)
    )
    starts = []
    for s, of_s in zip(s_grid, priced(), strict=True):
        if np.isfinite(of_s).any():
            j_s, g_s = _best(of_s)
            q = float(q_grid[j_s])
            starts.append((SpectrumKernel(m, PowerDecay(q, float(s))), float(g_grid[g_s])))
    candidate, level, _ = tried[(float(s_grid[i]), float(q_grid[j]))]
    assert isinstance(candidate.model, SpectrumKernel)
    return SpectrumSearch(
        candidate.model, float(g_grid[g]) * level, float(scores[i, j, g]), s_grid, q_grid, g_grid,
        scores, on_edge, tuple(starts),
    )  # fmt: skip


def _grid(values: Sequence[float], name: str) -> Doubles:
    grid = as_matrix(values, name, n_columns=1, keep_float32=False, one_dimensional=True)[:, 0]
    if grid.min() <= 0:
        raise ValueError(f"{name} must be positive, got {grid.min()}")
    return grid


def check_level(level: float, what: str) -> float:
    """Return the mean diagonal of a kernel matrix; refuse a spectrum of which nothing is left."""
    if not level > _LEAST_LEVEL:
        raise ValueError(
            f"{what} weighs the inputs so little that float64 has nothing of them beside the "
            "constant term: give larger interactions (q)"
        )
    return level


class Candidate:
    """A basis or spectrum, factorised for all gammas: for all rows, or the training rows of splits.

    Parameters
    ----------
    model : TensorBasis or SpectrumKernel
        The terms.
    X, Y, weights
        Rows, targets (n_samples, n_outputs) and weights or None, as arrays.
    splits : sequence of (training rows, test rows) or None
        None for leave-one-out. Splits whose training rows are all but their test rows, of a basis
        with fewer terms than rows, take one sum over the rows (`kfold_predictions`).
    left_out_share : ndarray, shape (n_samples,), or None
        As for `RidgePath.leave_one_out`; without splits.
    pooled : bool
        Score the predictions of all test rows together, not those of each part, of which the mean
        is taken.
    **options
        As for `RidgePath`.

    Attributes
    ----------
    model : TensorBasis or SpectrumKernel
        As given.
    """

    def __init__(
        self,
        model: TensorBasis | SpectrumKernel,
        X: Doubles,
        Y: Doubles,
        weights: Doubles | None,
        splits: Splits,
        *,
        left_out_share: npt.ArrayLike | None = None,
        pooled: bool = False,
        **options: Any,
    ) -> None:
        self.model = model
        self._share = left_out_share
        self._pooled = pooled
        self._X, self._Y, self._weights, self._options = X, Y, weights, options
        self._chunk = max(1, int(_HELD / Y.size))
        pairs: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp] | None]]
        self._tolerance = np.inf  # sums, as long as they tell anything
        pairs = [(np.arange(X.shape[0]), None)] if splits is None else [*splits]
        self._folds = self._find_folds(splits)
        self._paths = [] if self._folds else [
            (
                RidgePath(
                    model, X[train], Y[train],
                    sample_weight=None if weights is None else weights[train],
                    tolerance=self._tolerance, **options,
                ),
                test,
            )
            for train, test in pairs
        ]  # fmt: skip

    def _find_folds(self, splits: Splits) -> list[npt.NDArray[np.intp]]:
        """Return the folds if one sum over all rows serves every split, else nothing."""
        n = self._X.shape[0]
        if splits is None or len(splits) < 2 or not isinstance(self.model, TensorBasis):
            return []
        largest = max(test.size for _, test in splits)
        tested = np.concatenate([test for _, test in splits])
        whole = all(
            train.size + test.size == n and np.unique(np.append(train, test)).size == n
            for train, test in splits
        )
        apart = np.unique(tested).size == tested.size
        primal = cheapest_method(n - largest, self.model.n_terms) == "primal"
        return [test for _, test in splits] if whole and apart and primal else []

    def _left_out(self, gammas: Doubles) -> Iterator[tuple[Doubles, Doubles, npt.NDArray[np.intp]]]:
        """Yield predictions (n_gammas, n_rows, n_outputs), their errors, and the rows."""
        if self._folds:
            assert isinstance(self.model, TensorBasis)
            folds = kfold_predictions(
                self.model, self._X, self._Y, self._folds, gammas,
                sample_weight=self._weights, tolerance=self._tolerance, **self._options,
            )  # fmt: skip
            for rows in self._folds:
                yield folds.predictions[:, rows], folds.error, rows
        for path, test in self._paths:
            if test is None:
                found = path.leave_one_out(gammas, left_out_share=self._share)
                yield found.predictions, found.error, np.arange(self._X.shape[0])
            else:
                yield path.predict(self._X[test], gammas), path.rounding(gammas), test

    def scores(self, gammas: Doubles, score: Score) -> Doubles:
        """Return the score, infinity where float64 does not carry it.

        Where the sums of features carry none of them, the features themselves are asked, and from
        then on.
        """
        found = self._scores(gammas, score)
        if self._tolerance > TRUSTED and not np.isfinite(found).any():
            self._tolerance = TRUSTED
            for path, _ in self._paths:
                path.tolerance = TRUSTED
            found = self._scores(gammas, score)
        return found

    def _scores(self, gammas: Doubles, score: Score) -> Doubles:
        found = np.zeros(gammas.size)
        for first in range(0, gammas.size, self._chunk):
            some = slice(first, first + self._chunk)
            parts = [*self._left_out(gammas[some])]
            if self._pooled:
                whole = np.concatenate([predictions for predictions, _, _ in parts], axis=1)
                error = np.max([error for _, error, _ in parts], axis=0)
                parts = [(whole, error, np.concatenate([rows for _, _, rows in parts]))]
            values = []
            for predictions, error, rows in parts:
                value = np.array(score(predictions, rows), dtype=np.float64)
                value[(error > TRUSTED) | np.isnan(value)] = np.inf
                values.append(value)
            found[some] = np.mean(values, axis=0)
        return found

    def predictions(self, gamma: float) -> Doubles:
        """Return those of all rows, each left out; NaN in rows that are in no test part."""
        whole = np.full(self._Y.shape, np.nan)
        for predictions, _, rows in self._left_out(np.array([gamma])):
            whole[rows] = predictions[0]
        return whole


def _best(scores: Doubles) -> tuple[int, ...]:
    """Return the place of the smallest score: with equal ones, of the larger gamma."""
    best = np.nanmin(scores)
    if not np.isfinite(best):
        raise ValueError(NO_SCORE.format("candidate"))
    place = np.argwhere(scores == best)[-1]
    return tuple(int(at) for at in place)


def widened(grid: Doubles, at: int) -> Doubles:
    """Add a value beyond the end of an ascending grid at which the best one is."""
    if grid.size < 2:
        return grid
    if at == 0:
        return np.append(grid[0] * grid[0] / grid[1], grid)
    if at == grid.size - 1:
        return np.append(grid, grid[-1] * grid[-1] / grid[-2])
    return grid


def search_gamma(
    kernel: SpectrumKernel,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    score: Score,
    start: float,
    *,
    step: float = 2.0,
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    splits: Splits = None,
    pooled: bool = False,
    n_threads: int | None = None,
) -> tuple[float, float, Doubles]:
    """Walk from one gamma to the next while the score of rows left out gets better.

    One Cholesky factorisation for each gamma (and split), by `leave_one_out` or `solve_kernel`.

    Parameters
    ----------
    kernel, X, Y, sample_weight, left_out_share, scaling, penalize_constant, n_threads
        As for `leave_one_out`; left_out_share without splits.
    score, splits, pooled
        As for `search_spectrum`.
    start : float
        Where to begin, absolute.
    step : float
        Factor between gammas, > 1.

    Returns
    -------
    gamma : float
        The best; its neighbours are worse.
    score : float
        Its score.
    predictions : ndarray, shape (n_samples, n_outputs)
        Its predictions of rows left out; with splits, NaN in rows that are in no test part.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content, and when no score is finite.
    """
    step = check_number(step, "step", minimum=1, open_below=True)
    start = check_number(start, "start", minimum=0, open_below=True)
    data = as_matrix(X, "X", n_columns=kernel.n_features)
    targets = as_matrix(Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, data.shape[0])
    options: dict[str, Any] = {
        "scaling": scaling, "penalize_constant": penalize_constant, "n_threads": n_threads
    }  # fmt: skip
    everything = np.arange(data.shape[0])
    squares = kernel.diagonal(data, scaling=scaling, n_threads=n_threads) - (not penalize_constant)
    trace = float(squares.sum() if weights is None else squares @ weights)
    least = _ROUNDING * trace / TRUSTED  # as leave-one-out estimates its error
    known: dict[int, tuple[float, Doubles]] = {}

    def left_out(gamma: float) -> tuple[float, Doubles]:
        if splits is None:
            found = leave_one_out(
                kernel, data, targets, gamma, sample_weight=weights,
                left_out_share=left_out_share, **options,
            )  # fmt: skip
            return float(score(found.predictions, everything)[0]), found.predictions[0]
        predictions = np.full(targets.shape, np.nan)
        values = []
        for train, test in splits:
            fit = solve_kernel(
                kernel, data[train], targets[train], gamma,
                sample_weight=None if weights is None else weights[train], **options,
            )  # fmt: skip
            predictions[test] = predict_kernel(
                kernel, data[test], data[train], fit.dual_coef, intercept=fit.intercept,
                scaling=scaling, n_threads=n_threads,
            )  # fmt: skip
            values.append(predictions[test])
        tests = [test for _, test in splits]
        if pooled:
            values, tests = [np.concatenate(values)], [np.concatenate(tests)]
        scores = [score(v[np.newaxis], rows)[0] for v, rows in zip(values, tests, strict=True)]
        return float(np.mean(scores)), predictions

    def judge(k: int) -> float:
        if k not in known:
            value, predictions = np.inf, np.empty(0)
            if start * step**k >= least:
                with suppress(np.linalg.LinAlgError):
                    value, predictions = left_out(start * step**k)
            known[k] = (np.inf if np.isnan(value) else value, predictions)
        return known[k][0]

    at = 0
    while not np.isfinite(judge(at)) and at < 60:  # too small for float64
        at += 4
    for direction in (1, -1):
        while judge(at + direction) < judge(at) and abs(at) < 100:
            at += direction
    value, predictions = known[at]
    if not np.isfinite(value):
        raise ValueError(NO_SCORE.format("gamma"))
    return start * step**at, value, predictions
