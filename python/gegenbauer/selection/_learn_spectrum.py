"""Weights of the inputs, learned by the gradient of an objective."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._dispatch import one_blas_thread
from gegenbauer._messages import Message
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import check_integer, check_number
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.spectrum import GeometricDecay, PowerDecay, Spectrum
from gegenbauer.selection._spectrum_matrices import KeptSpectrumMatrices, SpectrumMatrices
from gegenbauer.selection.objective import PRIOR, SpectrumProblem, check_level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.spectrum import ComponentsLike
    from gegenbauer.selection.objective import Loss

__all__ = ["first_spectrum", "learn_spectrum"]

# Degrees of freedom of the prior that holds the weights of the inputs together
_PRIOR_FREEDOM = 4.0

# alpha stays so far above the resolution of the kernel matrix that Cholesky keeps its digits
_LEAST_ALPHA = 100 * float(np.finfo(np.float64).eps)


# Of so many samples the matrices of the optimiser are small, and those of the samples not large
_FEW_SAMPLES = 1000

# The parts of a kernel are kept from step to step if they take no more bytes, and if inputs are so
# many that computing them again costs more than to pass through all pairs of samples in NumPy
_MOST_KEPT, _MANY_INPUTS = 2.0**28, 32


def first_spectrum(n_features: int, levels: Sequence[Levels | None] | None = None) -> Spectrum:
    """Return the spectrum from which `learn_spectrum` starts by default.

    Parameters
    ----------
    n_features : int
        Number of inputs.
    levels : sequence of Levels or None, optional
        Of the inputs.

    Returns
    -------
    Spectrum
    """
    share = 1.0 / (3 * n_features)
    return Spectrum(
        (PowerDecay(share, 2.0), PowerDecay(share, 5.0), GeometricDecay(share, 0.1)), levels
    )


@refuse_old_names
def learn_spectrum(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    components: ComponentsLike | None = None,
    alpha: float | None = None,
    objective: str | Loss = "marginal_likelihood",
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    prior: float | None = None,
    max_iter: int = 100,
    n_inputs: int | None = None,
    callback: Callable[[int], None] | None = None,
    n_threads: int | None = None,
) -> tuple[SpectrumKernel, float]:
    r"""Find the weight of every input and component, and alpha, that the data make likeliest.

    By L-BFGS on the logarithms, from one start. Inputs that matter little end with small weights:
    automatic relevance determination.

    Parameters
    ----------
    X : array_like, shape (n_samples, n_features)
        Inputs; the cost of a step is that of a few factorisations of n_samples, so some hundred
        samples are a good number.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets, best with a mean of zero.
    components : Spectrum or what one is made from, optional
        Start of the search, and the kinds of the components; by default s = 2, s = 5 and r = 0.1,
        which share 1 / n_features. The levels of a Spectrum are kept.
    alpha : float, optional
        Start of the search, relative to the mean diagonal of the kernel matrix (of its penalised
        terms) times the mean weight of a sample; by default the best of a few for the first
        spectrum.
    objective : {"marginal_likelihood", "squared_error"} or callable
        See `spectrum_objective`.
    sample_weight, left_out_share, scaling, penalize_constant, n_threads
        As for `spectrum_objective`.
    prior : float, optional
        For objectives that are means of -log p over the samples: holds the logarithms of all q
        together at their start, by a multivariate t distribution of this scale, and that of
        alpha, weakly. Many small departures, of which some would be noise, cost much, and the
        further the weights are spread already, the less it costs to go on. Its -log p, divided by
        the number of samples, is added to the objective. By default there is none.
    max_iter : int
        Most steps of L-BFGS.
    n_inputs : int, optional
        Most inputs that get a weight: those whose weights, at the start, change the objective most
        for the better. Others have none, and take part in nothing but this look at them. By default
        all have one. Inputs that have none in `components` keep none.
    callback : callable, optional
        Called with the number of each step; it may end the search by a StopIteration.

    Returns
    -------
    kernel : SpectrumKernel
        With the best spectrum.
    alpha : float
        The best alpha, absolute.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    See Also
    --------
    spectrum_objective : How good a spectrum is, and its gradient.
    search_spectrum : The best of a grid of spectra.
    Spectrum : The weights of all degrees of all inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.selection import learn_spectrum
    >>> X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    >>> kernel, alpha = learn_spectrum(X, np.sin(3 * X[:, 1]))
    >>> weights = kernel.spectrum.interactions(2).sum(axis=1)
    >>> bool(weights[1] > 100 * weights[0])
    True
    """
    from scipy.optimize import minimize

    max_iter = check_integer(max_iter, "max_iter", minimum=1)
    levels = components.levels if isinstance(components, Spectrum) else None
    problem = SpectrumProblem(
        X, Y, None, levels is not None, objective, sample_weight, left_out_share, scaling,
        penalize_constant, n_threads,
    )  # fmt: skip
    m = problem.n_features
    if components is None:
        components = first_spectrum(m)
    first = SpectrumKernel(m, components)
    kinds = first.spectrum.components
    start = first.spectrum.interactions(m)
    used: npt.NDArray[np.bool_] = np.asarray(start.any(axis=1))
    if (start[used] <= 0).any() or not used.any():
        raise ValueError(Message("`components` must start with positive interactions (q)"))
    most = m if n_inputs is None else check_integer(n_inputs, "n_inputs", minimum=1)
    if np.count_nonzero(used) > most:
        used = _most_promising(problem, first, used, most)
    if not used.all():
        # as much weight in all, which decides on interactions
        start[used] *= start.sum() / start[used].sum()
        parts = [replace(part, interaction=start[used, j].tolist()) for j, part in enumerate(kinds)]
        kernel, best_alpha = learn_spectrum(
            problem.X[:, used], problem.Y,
            components=Spectrum(parts, None if levels is None else _some(levels, used)),
            alpha=alpha, objective=objective, sample_weight=problem.weights,
            left_out_share=problem.left_out, penalize_constant=penalize_constant, prior=prior,
            scaling=None if scaling is None else scaling.some(used), max_iter=max_iter,
            callback=callback, n_threads=n_threads,
        )  # fmt: skip
        start[:] = 0.0
        start[used] = kernel.spectrum.interactions(int(np.count_nonzero(used)))
        parts = [replace(part, interaction=start[:, j].tolist()) for j, part in enumerate(kinds)]
        return SpectrumKernel(m, Spectrum(parts, levels)), best_alpha
    log_start = np.log(start)

    def make(q: Doubles) -> SpectrumKernel:
        parts = [replace(part, interaction=q[:, j].tolist()) for j, part in enumerate(kinds)]
        return SpectrumKernel(m, Spectrum(parts, levels))

    matrices = (
        KeptSpectrumMatrices(problem.samples, first)
        if m >= _MANY_INPUTS and KeptSpectrumMatrices.bytes_of(problem.n, first) <= _MOST_KEPT
        else SpectrumMatrices(problem.samples, make)
    )
    level = problem.level(matrices.matrix(start))
    if level == 0 and levels is not None:  # all inputs are of one level, or always missing
        return first, 1.0
    check_level(level / problem.unit, f"components={components!r}")
    if alpha is not None:
        alpha = check_number(alpha, "alpha", minimum=0, open_below=True)
    if prior is not None:
        prior = check_number(prior, "prior", minimum=0, open_below=True)
    moving = np.ptp(problem.Y, axis=0) > 0
    if problem.n < 3 or not moving.any():
        return first, level * (1.0 if alpha is None else alpha)
    if not callable(problem.objective):  # outputs of no variance have nothing to give
        problem.scaled_Y = np.ascontiguousarray(problem.scaled_Y[:, moving])

    least = _LEAST_ALPHA * problem.n
    if alpha is None:
        alpha = _first_alpha(problem, matrices, start, least)
    p_start = np.append(log_start.ravel(), np.log(max(alpha, least)))

    # The unknowns are log q and the log of alpha relative to the level of K: so alpha keeps its
    # meaning, and its distance from rounding, while the spectrum grows and shrinks.
    def judge(p: Doubles) -> tuple[float, Doubles]:
        q = np.exp(p[:-1].reshape(log_start.shape))
        found = problem.judge(matrices, q, float(np.exp(p[-1])), relative=True)
        if not np.isfinite(found.value):
            return 1e10, np.zeros_like(p)
        slope = np.append(found.by_log_interaction.ravel(), found.by_log_alpha)
        if prior is None:
            return found.value, slope
        penalty, by_p = _penalty(p - p_start, prior)
        return found.value + penalty / problem.n_samples, slope + by_p / problem.n_samples

    steps = itertools.count(1)
    with one_blas_thread() if problem.n <= _FEW_SAMPLES else contextlib.nullcontext():
        result = minimize(
            judge,
            p_start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(v - 12.0, v + 6.0) for v in log_start.ravel()]
            + [(np.log(least), np.log(1e4))],
            callback=None if callback is None else lambda _: callback(next(steps)),
            options={"maxiter": max_iter, "maxcor": 20},
        )
    q = np.exp(result.x[:-1].reshape(log_start.shape))
    return make(q), float(np.exp(result.x[-1])) * problem.level(matrices.matrix(q))


def _some(levels: Sequence[Levels | None], used: npt.NDArray[np.bool_]) -> list[Levels | None]:
    """Return the levels of some inputs."""
    return [one for one, there in zip(levels, used, strict=True) if there]


def _most_promising(
    problem: SpectrumProblem, first: SpectrumKernel, used: npt.NDArray[np.bool_], most: int
) -> npt.NDArray[np.bool_]:
    """Return which inputs' weights change the objective most for the better, at the start."""
    start = first.spectrum.interactions(problem.n_features)
    matrices = SpectrumMatrices(problem.samples, lambda _: first)
    known = _OneMatrix(matrices, start)
    least = _LEAST_ALPHA * problem.n
    alpha = _first_alpha(problem, known, start, least)
    known.with_gradient = True
    by_weight = problem.judge(known, start, alpha, relative=True).by_log_interaction
    slopes = np.where(used, by_weight.min(axis=1), np.inf)
    found = np.zeros(slopes.size, dtype=bool)
    found[np.argsort(slopes, kind="stable")[:most]] = True
    return found


class _OneMatrix(SpectrumMatrices):
    """The matrix of a single spectrum, which several penalties have in common."""

    def __init__(self, matrices: SpectrumMatrices, q: Doubles) -> None:
        self._matrices, self._matrix = matrices, matrices.matrix(q)
        self.with_gradient = False

    def matrix(self, q: Doubles) -> Doubles:  # noqa: ARG002  # it is the same
        return self._matrix.copy(order="F")

    def log_gradient(self, q: Doubles, M: Doubles) -> Doubles:
        """Return the derivatives, where they are wanted."""
        return self._matrices.log_gradient(q, M) if self.with_gradient else np.zeros(q.shape)


def _first_alpha(
    problem: SpectrumProblem, matrices: SpectrumMatrices, start: Doubles, least: float
) -> float:
    """Return the best of a few penalties, relative, for the first spectrum."""
    trials = [relative for relative in 10.0 ** np.arange(-9, 2, 2) if relative >= least]
    values = [problem.judge(matrices, start, t, relative=True).value for t in trials]
    return float(trials[int(np.argmin(values))])


def _penalty(departure: Doubles, prior: float) -> tuple[float, Doubles]:
    """Return -log p of departures of log q and, at the end, of log alpha; and its derivatives."""
    *by_q, by_alpha = departure.tolist()
    q = np.array(by_q)
    freedom = _PRIOR_FREEDOM * prior**2
    reach, power = 1.0 + float(q @ q) / freedom, _PRIOR_FREEDOM + q.size
    penalty = 0.5 * power * np.log(reach) + 0.5 * (by_alpha / PRIOR) ** 2
    return float(penalty), np.append(power * q / (freedom * reach), by_alpha / PRIOR**2)
