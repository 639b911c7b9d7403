"""Search of a spectrum over smoothness, interaction and penalty."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import as_matrix, as_weights, check_number
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.spectrum import PowerDecay, Spectrum
from gegenbauer.selection._leave_one_out import check_loss, check_share
from gegenbauer.selection.candidates import Candidate, no_finite_loss, widened
from gegenbauer.selection.objective import check_level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["ALPHAS", "SpectrumSearch", "search_spectrum"]

# What a search looks at by itself: smoothness s, interaction q times the number of inputs, and
# alpha relative to the mean diagonal of the kernel matrix
SMOOTHNESSES = (1.0, 2.0)

INTERACTIONS = tuple(4.0 ** np.arange(-6, 3))

ALPHAS = tuple(4.0 ** np.arange(-12, 7))

# Steps by which the best value may run beyond the end of a grid
_MOST_WIDENING = 4


@dataclass(frozen=True, eq=False)
class SpectrumSearch(FormerNames):
    """The best of a grid of spectra (q, s) and alphas, and all losses.

    Attributes
    ----------
    kernel : SpectrumKernel
        With the best spectrum.
    alpha : float
        The best alpha, absolute.
    loss : float
        That of the best: the smaller the better.
    smoothnesses : ndarray, shape (n_s,)
        s.
    interactions : ndarray, shape (n_q,)
        q, ascending; wider than requested where the best was at an end.
    alphas : ndarray, shape (n_alphas,)
        Ascending, relative to the mean diagonal of the kernel matrix.
    losses : ndarray, shape (n_s, n_q, n_alphas)
        Without the prior. Infinity where rounding errors would count, NaN where nothing was tried.
    on_edge : tuple of str
        Which of "interactions" and "alphas" have their best value at an end even so.
    starts : tuple of (SpectrumKernel, float)
        The best spectrum of each s that has a finite loss, and its alpha, relative.

    See Also
    --------
    search_spectrum : The best of a grid of spectra.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.selection import search_spectrum
    >>> X = np.random.default_rng(0).uniform(-1, 1, (30, 1))
    >>> squared_error = lambda left_out, rows: ((left_out - X[rows]) ** 2).mean(axis=(1, 2))
    >>> found = search_spectrum(X, X, squared_error, smoothnesses=[2.0])
    >>> found.losses.shape[:2] == (found.smoothnesses.size, found.interactions.size)
    True
    >>> bool(found.loss == np.nanmin(found.losses)), len(found.starts)
    (True, 1)
    """

    kernel: SpectrumKernel
    alpha: float
    loss: float
    smoothnesses: Doubles
    interactions: Doubles
    alphas: Doubles
    losses: Doubles
    on_edge: tuple[str, ...]
    starts: tuple[tuple[SpectrumKernel, float], ...]


@refuse_old_names
def search_spectrum(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    loss: Loss,
    *,
    smoothnesses: Sequence[float] = SMOOTHNESSES,
    interactions: Sequence[float] | None = None,
    alphas: Sequence[float] = ALPHAS,
    levels: Sequence[Levels | None] | None = None,
    widen: bool = True,
    prior: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    left_out_share: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    cv: Splits = None,
    pooled: bool = False,
    callback: Callable[[int], None] | None = None,
    n_threads: int | None = None,
) -> SpectrumSearch:
    r"""Find q (one for all inputs), s and alpha by a loss of predictions of samples left out.

    Exact leave-one-out, with one eigendecomposition for each spectrum, or given splits of the
    samples, with one for each split.

    Parameters
    ----------
    X : array_like, shape (n_samples, n_features)
        Inputs; some hundred samples are a good number.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    loss : callable
        Takes predictions (n, n_rows, n_outputs) of n alphas and the indices of their rows, and
        returns n losses; the smaller the better.
    smoothnesses : sequence of float
        The s to try.
    interactions : sequence of float, optional
        The q to try; by default 4^-6 to 4^2, divided by the number of inputs.
    alphas : sequence of float
        The penalties to try, relative to the mean diagonal of the kernel matrix times the mean
        weight of a sample.
    levels : sequence of Levels or None, optional
        Those of the inputs, see `Spectrum`.
    widen : bool
        Go on beyond the ends of the grids of q and alpha, by their last step and at most 4 times,
        while the best value is at an end.
    prior : float, optional
        For losses that are means of -log p: a log-normal prior of q around 1 / n_features, whose
        logarithm has this standard deviation. Its -log p, divided by the number of samples, is
        added where losses are compared. By default there is none.
    sample_weight, scaling, penalize_constant, n_threads
        As for `RidgePath`.
    left_out_share : array_like, shape (n_samples,), optional
        As for `RidgePath.leave_one_out`; without `cv`.
    cv : sequence of (train, test), optional
        Indices of samples. The loss is then the mean of those of the test samples of each split.
    pooled : bool
        Judge the test samples of all splits together instead.
    callback : callable, optional
        Called with the number of spectra done.

    Returns
    -------
    SpectrumSearch

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content, and when no loss is finite.

    See Also
    --------
    learn_spectrum : Weights of the inputs, by gradients.
    search_basis : The best of the paper's bases.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.selection import search_spectrum
    >>> X = np.random.default_rng(0).uniform(-1, 1, (80, 2))
    >>> y = np.abs(X[:, 0]) + X[:, 1]
    >>> squared_error = lambda left_out, rows: ((left_out[:, :, 0] - y[rows]) ** 2).mean(axis=1)
    >>> found = search_spectrum(X, y, squared_error)
    >>> bool(found.loss < 0.01)
    True
    """
    check_loss(loss)
    data = as_matrix(X, "X", allow_missing=levels is not None)
    m = data.shape[1]
    s_grid = np.unique(_grid(smoothnesses, "smoothnesses"))
    q_grid = (
        np.array(INTERACTIONS) / m
        if interactions is None
        else np.unique(_grid(interactions, "interactions"))
    )
    g_grid = np.unique(_grid(alphas, "alphas"))
    targets = as_matrix(Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, data.shape[0])
    tried: dict[tuple[float, float], tuple[Candidate, float, dict[float, float]]] = {}
    done = itertools.count(1)
    if prior is not None:
        prior = check_number(prior, "prior", minimum=0, open_below=True)
    share = check_share(left_out_share, data.shape[0])
    n_samples = float(data.shape[0] if share is None else (1.0 / share).sum())
    unit = 1.0 if weights is None else float(weights.sum()) / n_samples

    def penalised() -> Doubles:
        if prior is None:
            return losses
        penalty = np.log(q_grid * m) ** 2 / (2 * prior**2 * n_samples)
        return np.asarray(losses + penalty[:, np.newaxis])

    def of(s: float, q: float) -> tuple[Candidate, float, dict[float, float]]:
        """Return a spectrum, the unit of its penalties, and losses of those that were tried."""
        if (s, q) not in tried:
            kernel = SpectrumKernel(m, Spectrum(PowerDecay(q, s), levels))
            diagonal = kernel.diagonal(data, scaling=scaling, n_threads=n_threads)
            level = float(np.average(diagonal, weights=weights)) - (not penalize_constant)
            level = unit * check_level(level, f"interaction {q:g}")
            candidate = Candidate(
                kernel, data, targets, weights, cv, left_out_share=share, pooled=pooled,
                scaling=scaling, penalize_constant=penalize_constant, n_threads=n_threads,
            )  # fmt: skip
            tried[s, q] = (candidate, level, {})
            if callback is not None:
                callback(next(done))
        return tried[s, q]

    def judge() -> Doubles:
        table = np.full((s_grid.size, q_grid.size, g_grid.size), np.nan)
        for (i, s), (j, q) in itertools.product(
            enumerate(s_grid.tolist()), enumerate(q_grid.tolist())
        ):
            candidate, level, known = of(s, q)
            new = np.array([g for g in g_grid.tolist() if g not in known])
            known.update(zip(new.tolist(), candidate.losses(new * level, loss), strict=True))
            table[i, j] = [known[g] for g in g_grid.tolist()]
        return table

    losses = judge()
    for _ in range(_MOST_WIDENING if widen else 0):
        _, j, g = _best(penalised())
        wider_q, wider_g = widened(q_grid, j), widened(g_grid, g)
        if wider_q.size == q_grid.size and wider_g.size == g_grid.size:
            break
        q_grid, g_grid = wider_q, wider_g
        losses = judge()
    i, j, g = _best(penalised())
    ends = {"interactions": (j, q_grid), "alphas": (g, g_grid)}
    on_edge = tuple(
        name for name, (at, grid) in ends.items() if grid.size > 1 and at in (0, grid.size - 1)
    )
    starts = []
    for s, of_s in zip(s_grid.tolist(), penalised(), strict=True):
        if np.isfinite(of_s).any():
            j_s, g_s = _best(of_s)
            spectrum = Spectrum(PowerDecay(float(q_grid[j_s]), s), levels)
            starts.append((SpectrumKernel(m, spectrum), float(g_grid[g_s])))
    candidate, level, _ = of(float(s_grid[i]), float(q_grid[j]))
    assert isinstance(candidate.model, SpectrumKernel)
    return SpectrumSearch(
        candidate.model, float(g_grid[g]) * level, float(losses[i, j, g]), s_grid, q_grid, g_grid,
        losses, on_edge, tuple(starts),
    )  # fmt: skip


def _grid(values: Sequence[float], name: str) -> Doubles:
    grid = as_matrix(values, name, n_columns=1, keep_float32=False, one_dimensional=True)[:, 0]
    if grid.min() <= 0:
        raise ValueError(Message("`{}` must be positive, got {}", name, grid.min()))
    return grid


def _best(losses: Doubles) -> tuple[int, ...]:
    """Return the place of the smallest loss: with equal ones, of the larger alpha."""
    best = np.nanmin(losses)
    if not np.isfinite(best):
        raise ValueError(no_finite_loss("candidate"))
    place = np.argwhere(losses == best)[-1]
    return tuple(int(at) for at in place)
