"""Estimators that choose everything by themselves: spectrum, number of terms, penalty.

What is searched, and by which scores, is in :mod:`gegenbauer.spectrum_search`; here rows are
checked, scaled and chosen, scores are made of labels, and the final model is fitted. Up to some
thousand rows that model is the kernel of all terms with dual coefficients, beyond a finite set of
the terms of largest weight.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from scipy.special import ndtri, softmax
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import (
    explained_variance_score,
    get_scorer,
    get_scorer_names,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    median_absolute_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted

from gegenbauer._arrays import (
    CLIP,
    check_flag,
    check_integer,
    check_number,
    check_threads,
    require_finite,
    require_plain,
    shown,
)
from gegenbauer._dispatch import core
from gegenbauer._scores import Judged, score_at_once
from gegenbauer.basis import InputScaling, TensorBasis
from gegenbauer.basis_search import PAPER_GAMMAS, search_basis
from gegenbauer.calibration import (
    ProbabilityMap,
    best_temperatures,
    class_scores,
    fit_probabilities,
    log_loss,
)
from gegenbauer.estimators import _PAPER_LAM, _PAPER_N_TERMS
from gegenbauer.features import _CLIP, Range, _advising, _stacklevel
from gegenbauer.kernel import SpectrumKernel, predict_kernel, solve_kernel
from gegenbauer.progress import CallbackSupportMixin, Progress, with_callbacks
from gegenbauer.ridge import predict, solve_ridge
from gegenbauer.selection import RidgePath, leave_one_out
from gegenbauer.spectrum import COMPONENTS, Spectrum
from gegenbauer.spectrum_search import (
    GAMMAS,
    NO_SCORE,
    PRIOR,
    TRUSTED,
    Candidate,
    Score,
    SpectrumSearch,
    Splits,
    check_level,
    learn_spectrum,
    search_gamma,
    search_spectrum,
)
from gegenbauer.targets import (
    LightWeightsWarning,
    _checked_sample_weight,
    _ClassTargets,
    _RealTargets,
    _TargetEstimator,
    warn_of_light,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gegenbauer.spectrum import ComponentsLike

    Doubles = NDArray[np.float64]
    Rows = NDArray[np.intp]

__all__ = [
    "GegenbauerClassifierCV",
    "GegenbauerRegressorCV",
    "GridEdgeWarning",
    "LightWeightsWarning",
    "UnderfittingWarning",
]

# Terms of the finite set that is used where rows are too many for a kernel
_DEFAULT_N_TERMS = 2000

# Scale of the prior for the logarithms of inputs' weights in classification, and the steps in which
# they are learned, of which the first few do most
_SPREAD = 1.0
_STEPS = 6

# What each further weight must gain in -log p of all rows left out: having seen all of them, it
# gains about that much from noise (as Akaike's criterion has it)
_PRICE = 1.0

# Targets whose standard deviation is further from one have variances beyond float64
_MOST_EXTREME = 1e140

# What the best of some hundred models gains from noise in -log p of all samples left out, about
# the logarithm of their number, and what it gains where the penalty alone is chosen; a loss of less
# than half is never taken for that
_LUCK, _LUCK_OF_ONE = 6.0, 2.0

# Inputs of at most so many values are codes or counts, and so many samples that agree there may be
# copies of one
_FEW_VALUES, _MOST_COPIES = 32, 5.0

# A penalty so many times the trace of the kernel matrix leaves nothing of the model
_RUNAWAY = 100.0

# Leave-one-out predictions (doubles) that are held at once
_HELD = 2e7

# What scikit-learn says of the probabilities of labels, which need not sum to one
_NO_SUM_OF_ONE = r"The y_\w+ values do not sum to one"

# Scorers of scikit-learn whose metric has a value for each output, of which it takes the mean
_METRICS_BY_OUTPUT: dict[Any, Any] = {
    "explained_variance": explained_variance_score,
    "neg_mean_absolute_error": mean_absolute_error,
    "neg_mean_absolute_percentage_error": mean_absolute_percentage_error,
    "neg_mean_squared_error": mean_squared_error,
    "neg_median_absolute_error": median_absolute_error,
    "neg_root_mean_squared_error": root_mean_squared_error,
    "r2": r2_score,
}

# Samples over which the kernel, or the squared lengths of a basis, are averaged
_MOST_FOR_A_MEAN = 1000

# Points on the way from the wall of the box inwards at which the prior is asked
_N_INWARD = 32

# What only some fits leave behind: a fit with other parameters must not find it
_PASSING = (
    "X_fit_", "dual_coef_", "kernel_", "basis_", "term_coef_", "_posterior", "_mean_features",
    "_free_leverage", "_prior_variance", "_margin",
)  # fmt: skip


# Weights count samples; where the largest is smaller, what is divided by them overflows
_LEAST_WEIGHT = 1e-50


class GridEdgeWarning(UserWarning):
    """The best of three or more values given to choose from is the first or the last of them."""


class UnderfittingWarning(UserWarning):
    """The model that was chosen is no better than a constant, as far as samples left out tell."""


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows of data, with targets as the solves take them."""

    X: NDArray[Any]
    Y: Doubles  # (n, K)
    weight: Doubles | None
    back: Rows  # row of each original row
    given: Doubles | None = None  # weight of each original row, where the user gave any
    share: Doubles | None = None  # of the weight of each row that is left out with it; None: all

    @classmethod
    def merge(
        cls,
        X: NDArray[Any],
        Y: Doubles,
        weight: Doubles | None,
        given: Doubles | None = None,
        splits: Splits = None,
    ) -> tuple[_Data, Splits]:
        """Make identical rows that are in the same parts of all splits one of more weight."""
        key = np.hstack([X.astype(np.float64), Y])
        if splits is not None:
            key = np.column_stack([key, _parts(splits, len(X))])
        _, first, places, counts = np.unique(
            key, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        back = places.reshape(-1)
        if splits is not None:
            # in the order in which they came, as splits may depend on it
            order = np.argsort(first)
            first, back = first[order], np.argsort(order)[back]
            # a row that comes twice in a part does so still
            times = [[np.bincount(part, minlength=len(X))[first] for part in s] for s in splits]
            rows = np.arange(first.size)
            splits = [(np.repeat(rows, train), np.repeat(rows, test)) for train, test in times]
        total = None
        if weight is not None or (counts > 1).any():
            total = np.bincount(back, weights=weight).astype(np.float64)
        data = cls(X[first], Y[first], total, back, given)
        return data if splits is not None else data.left_out_by_sample(), splits

    def left_out_by_sample(self) -> _Data:
        """Find out what is left out with each row, see `_left_out_share`."""
        return replace(self, share=_left_out_share(self.X, self.Y, self.weight))

    @property
    def leaving_out(self) -> dict[str, Any]:
        """What the searches want to know of weights."""
        return {"sample_weight": self.weight, "left_out_share": self.share}

    @property
    def n_samples(self) -> float:
        """How many samples there are, each of which is left out by itself."""
        return float(self.n if self.share is None else (1.0 / self.share).sum())

    @property
    def unit(self) -> float:
        """Mean weight of a sample."""
        return 1.0 if self.weight is None else float(self.weight.sum()) / self.n_samples

    def take(self, rows: Rows) -> _Data:
        weight = None if self.weight is None else self.weight[rows]
        originals, at = self.originals(rows)
        given = None if self.given is None else self.given[originals]
        taken = _Data(self.X[rows], self.Y[rows], weight, at, given)
        return taken if self.share is None else taken.left_out_by_sample()

    def originals(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the original rows that some rows stand for, and the place of each among these."""
        place = np.full(self.n, -1)
        place[rows] = np.arange(rows.size)
        at = place[self.back]
        originals = np.flatnonzero(at >= 0)
        return originals, at[originals]

    @property
    def n(self) -> int:
        return int(self.X.shape[0])


def _parts(splits: Sequence[tuple[Rows, Rows]], n: int) -> Rows:
    """Return a number for each of n rows: alike for those that are in the same parts of splits."""
    kind = np.zeros(n, dtype=np.intp)
    for pair in splits:
        for part in pair:
            times = np.bincount(part, minlength=n)
            _, kind = np.unique(kind * (times.max() + 1) + times, return_inverse=True)
    return kind


def _left_out_share(X: NDArray[Any], Y: Doubles, weight: Doubles | None) -> Doubles | None:
    """Return the share of the weight of each row that is left out with it; None for all of it.

    Rows are distinct samples (x, y), and their weights count how many are equal. These may be one
    sample and its copies, or as many samples that agree, as they do where x and y have few values.
    They are taken for one, and left out together, where all samples at their x have the same y, or
    where their y occurs at this x alone; but where all inputs have few values, not more than a few
    of them, since so many copies are unlikely and nothing else may tell what y is there. Elsewhere
    one of them is left out at a time: without all that agree, only those at the same x that
    disagree would be left. Where all weights are multiples of a few, so many are one sample.
    """
    if weight is None:
        return None
    x, y = _distinct(X), _distinct(Y)
    agree = (np.bincount(x) == 1)[x] | (np.bincount(y) == 1)[y]
    few = all(np.unique(column).size <= _FEW_VALUES for column in X.T)
    sample = 1.0
    if (weight == np.round(weight)).all() and weight.max() < 2.0**53:
        sample = min(float(np.gcd.reduce(weight.astype(np.int64))), _MOST_COPIES)
    most = sample * np.where(agree, _MOST_COPIES if few else np.inf, 1.0)
    share = np.minimum(1.0, most / weight)
    return None if (share == 1).all() else share


def _noise_variance(squares: Doubles, left: float, weight: Doubles, dof: float) -> Doubles:
    """Divide squared residuals by the rows that are left, or know nothing."""
    if left > 0:
        return np.asarray(squares / left)
    total = float(weight.sum())
    if total >= 0.1 * weight.size:  # else it was said before
        warnings.warn(
            f"sample_weight counts rows, and {weight.size} rows count as {total:.3g}, of which the "
            f"model takes {dof:.3g} degrees of freedom: none is left to judge the noise by, so "
            "noise_variance_ is infinite. Scale the weights so that they average one, unless so "
            "little is known",
            LightWeightsWarning,
            stacklevel=_stacklevel(),
        )
    return np.full(squares.shape, np.inf)


def _restricted(splits: Splits, rows: Rows, n: int) -> Splits:
    """Return splits of some of n rows, by their places among these."""
    if splits is None:
        return None
    place = np.full(n, -1)
    place[rows] = np.arange(rows.size)
    pairs = [(place[train], place[test]) for train, test in splits]
    kept = [(train[train >= 0], test[test >= 0]) for train, test in pairs]
    return [(train, test) for train, test in kept if train.size and test.size]


def _listed(values: Any, name: str) -> list[Any]:
    """Return one value, or some to choose from, as a list."""
    try:
        found = list(values)
    except TypeError:  # a number
        found = [values]
    if not found:
        raise ValueError(f"{name} must not be empty: give values to choose from")
    return found


def _checked_groups(groups: Any, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    require_plain(groups, "groups", wanted="the group of each row", times=True)
    found = np.asarray(groups)
    if found.shape != (n,):
        raise ValueError(
            f"groups must have shape ({n},), one group for each row of X; got shape {found.shape}"
        )
    return found


def _checked_split(pair: Any, k: int, n: int) -> tuple[Rows, Rows]:
    """Return the rows (of n) to train on and to test in split k."""
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise TypeError(
            f"cv must yield pairs (training rows, test rows); its split {k} is {pair!r}"
        ) from None
    parts = []
    for part, name in ((train, "training"), (test, "test")):
        require_plain(part, f"split {k} of cv", wanted=f"places of {name} rows")
        rows = np.asarray(part)
        if rows.shape == (n,) and rows.dtype == bool:
            rows = np.flatnonzero(rows)
        if rows.size == 0:
            raise ValueError(f"split {k} of cv has no {name} rows: give each split some of both")
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise TypeError(
                f"split {k} of cv must hold places of {name} rows (integers), or a mask of all "
                f"{n} rows; got dtype {rows.dtype} and shape {rows.shape}"
            )
        beyond = rows[(rows < -n) | (rows >= n)]
        if beyond.size:
            raise ValueError(
                f"split {k} of cv has the {name} row {beyond[0]}, but there are {n} rows, 0 to "
                f"{n - 1}"
            )
        parts.append(rows.astype(np.intp))
    return parts[0], parts[1]


def _distinct(X: NDArray[Any]) -> Rows:
    """Return a number for each row: alike for those that are equal."""
    places: Rows = np.unique(X, axis=0, return_inverse=True)[1]
    return places.reshape(-1)


def _spread(n: int, most: int) -> Rows:
    """Return ``most`` of n places, evenly spread, or all of them."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, most).round().astype(np.intp))


class _GegenbauerCV(CallbackSupportMixin, _TargetEstimator):  # type: ignore[misc]
    """Search, final fit and output common to regression and classification."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_TargetEstimator._parameter_constraints,
        "spectrum": [StrOptions({"auto"}), tuple, list, Spectrum, *COMPONENTS, None],
        "gammas": [StrOptions({"auto"}), "array-like"],
        "n_terms": [Range(Integral, 1, None, closed="left"), "array-like", None],
        "lam": [Range(Real, -0.5, None, closed="neither"), "array-like", None],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "penalize_constant": ["boolean"],
        "search_rows": [Range(Integral, 10, None, closed="left")],
        "kernel_rows": [Range(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
    }

    # How much wider than the rows of the fit the box of the inputs is, on either side; the paper
    # has none
    _margin: float

    spectrum: str | ComponentsLike | None
    gammas: str | Sequence[float]
    n_terms: int | Sequence[int] | None
    lam: float | Sequence[float] | None
    cv: Any
    scoring: Any
    penalize_constant: bool
    search_rows: int
    kernel_rows: int
    verbose: bool | int
    best_score_: float
    term_coef_: Doubles
    cv_results_: dict[str, NDArray[Any]]
    dual_coef_: Doubles
    gamma_: float
    lam_: float
    intercept_: Doubles
    loo_predictions_: Doubles
    n_search_rows_: int
    n_terms_: float
    rcond_: float
    solver_: str
    spectrum_: Spectrum | None
    X_fit_: NDArray[Any]

    # ---- what subclasses say -----------------------------------------------------

    def _make_score(self, data: _Data) -> Score:
        """Return what is to be made small: a function of predictions and their rows."""
        raise NotImplementedError

    def _stratified(self, data: _Data, most: int) -> Rows:
        """Return at most so many rows that stand for all, the same ones each time."""
        raise NotImplementedError

    def _learn(self, data: _Data, splits: Splits, progress: Progress) -> tuple[Spectrum, float]:
        """Choose the spectrum and a first gamma for the kernel of all terms, on few rows."""
        raise NotImplementedError

    def _finish(self, data: _Data, left_out: Doubles) -> None:
        """Make what the predictions of left-out rows are good for; set ``loo_predictions_``."""
        raise NotImplementedError

    # ---- fitting -----------------------------------------------------------------

    def _validate_params(self) -> None:
        super()._validate_params()
        # scikit-learn takes True for the number 1
        check_integer(self.kernel_rows, "kernel_rows", minimum=0)
        if isinstance(self.n_terms, bool):
            check_integer(self.n_terms, "n_terms", minimum=1)
        # what these refuse would otherwise be refused when the search is over
        self._gamma_grid()
        self._basis_grid()

    @with_callbacks  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def _fit_on_copy(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Self:
        self._validate_params()
        given = {"sample_weight": sample_weight, "groups": groups}
        metadata = {name: value for name, value in given.items() if value is not None} or None
        with Progress(self, 2, verbose=self.verbose, X=X, y=y, metadata=metadata) as progress:
            return super()._fit_on_copy(X, y, sample_weight, groups, progress)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, progress: Progress) -> None:
        for name in _PASSING:
            self.__dict__.pop(name, None)
        raw_X, raw_y = X, self._prepare_y(y)
        X, targets, weight, used = self._checked_rows(X, y, sample_weight)
        n_rows = _num_samples(raw_X)
        given = _checked_sample_weight(sample_weight, n_rows)
        if given is not None:
            given = given[used]
            if given.max() < _LEAST_WEIGHT:
                raise ValueError(
                    f"sample_weight is at most {given.max():.3g}, so that squares and reciprocals "
                    "of the weights leave float64: scale the weights so that they average one"
                )
            warn_of_light(given, given.size)
        self._y_was_flat = targets.ndim == 1
        targets = targets if targets.ndim == 2 else targets[:, np.newaxis]
        if len(X) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two rows, to leave one out; got "
                f"n_samples = {len(X)}"
            )
        grid = self._basis_grid()
        splits = self._make_splits(raw_y, used, groups)
        data, splits = _Data.merge(X, targets, weight, given, splits)
        if data.n < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two different samples, to leave one "
                f"out; all {len(X)} are the same"
            )
        self.scaling_ = self._make_scaling(X)
        self._look_at_inputs(X)
        data = self._standardised(data)
        score = self._make_score(data)
        self._try_scoring(data, score)
        self._all_terms = grid is None and self.n_terms is None and data.n <= self.kernel_rows
        if self._all_terms and self.out_of_range == "extrapolate":
            raise ValueError(
                "out_of_range='extrapolate' needs a finite set of terms: give n_terms, since "
                "the sum of all terms has no value outside of the range of the inputs"
            )
        if grid is not None:
            left_out = self._fit_paper(data, grid, score, splits, progress)
        else:
            left_out = self._fit_spectrum(data, score, splits, progress)
        self._warn_of_underfitting(data, score, splits)
        self._finish(data, left_out)
        self._put_back(raw_X, used, n_rows)
        self._warn_at_edges(grid)

    def _try_scoring(self, data: _Data, score: Score) -> None:
        """Let a scorer refuse targets before the search: it must score predictions of no error."""
        if isinstance(self.scoring, str):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                score(data.Y[np.newaxis], np.arange(data.n))

    def _fit_spectrum(
        self, data: _Data, score: Score, splits: Splits, progress: Progress
    ) -> Doubles:
        """Choose a spectrum on few rows, and fit all terms or those of largest weight."""
        rows = self._search_sample(data, int(self.search_rows))
        self.n_search_rows_ = int(rows.size)
        few, few_splits = data.take(rows), _restricted(splits, rows, data.n)
        self.cv_results_, self.lam_ = {}, 0.0
        with progress.stage("spectrum", n_steps=None):
            if isinstance(self.spectrum, str):
                self.spectrum_, gamma = self._learn(few, few_splits, progress)
            else:
                self.spectrum_ = Spectrum(self.spectrum)  # type: ignore[arg-type]  # not None
                if not self.spectrum_.interactions(data.X.shape[1]).any():
                    raise ValueError(
                        "the spectrum weighs no input: give an interaction (q) above zero, got "
                        f"spectrum={self.spectrum!r}"
                    )
                gamma = self._first_gamma(few, few_splits) if self._all_terms else 0.0
        with progress.stage("gamma on all rows"):
            if self._all_terms:
                return self._fit_kernel(data, gamma, score, splits)
            basis = TensorBasis(
                data.X.shape[1],
                n_terms=_DEFAULT_N_TERMS if self.n_terms is None else int(self.n_terms),  # type: ignore[arg-type]
                lam=self.lam_,
                index_set="largest_weight",
                spectrum=self.spectrum_,
            )
            grid = self._gamma_grid()
            if grid is None:
                grid = np.array(GAMMAS) * self._level(basis, data)
            return self._fit_terms(data, basis, grid, score, splits)

    def _search_sample(self, data: _Data, most: int) -> Rows:
        """Return about so many rows that stand for all, with all rows of each distinct x.

        They are the same ones in whatever order the rows come.
        """
        if data.n <= most:
            return np.arange(data.n)
        order = np.lexsort((*data.Y.T[::-1], *data.X.T[::-1]))
        group = _distinct(data.X[order])
        _, heads = np.unique(group, return_index=True)
        share = max(2, round(most * heads.size / data.n))
        chosen = heads[self._stratified(data.take(order[heads]), share)]
        rows = np.flatnonzero(np.isin(group, group[chosen]))
        return np.sort(order[rows[_spread(rows.size, 2 * most)]])

    def _fit_paper(
        self,
        data: _Data,
        grid: tuple[list[float], list[int]],
        score: Score,
        splits: Splits,
        progress: Progress,
    ) -> Doubles:
        """Choose lam, the number of terms and gamma, all of them on all rows."""
        gammas = self._gamma_grid()
        with progress.stage("basis", n_steps=None):
            found = search_basis(
                data.X, data.Y, score, lams=grid[0], n_terms=grid[1],
                gammas=PAPER_GAMMAS if gammas is None else gammas.tolist(), widen=gammas is None,
                **data.leaving_out, splits=splits, pooled=self._pooled,
                callback=lambda k: progress.step(f"basis {k}"), **self._options(),
            )  # fmt: skip
        self.cv_results_ = {
            "lam": found.lams,
            "n_terms": found.n_terms,
            "gamma": found.gammas,
            "score": -found.scores,
        }
        self.n_search_rows_ = data.n
        self.spectrum_, self.lam_, self._margin = None, found.basis.lam, 0.0
        with progress.stage("weights"):
            return self._fit_terms(data, found.basis, np.array([found.gamma]), score, splits)

    def _put_back(self, X: Any, used: Rows, n_rows: int) -> None:
        """Give rows of weight zero, which no fit has seen, the predictions of the fit."""
        if used.size == n_rows:
            return
        unused = np.setdiff1d(np.arange(n_rows), used)
        # the policy for rows out of range is of those that are asked for, not of these
        outputs = self._evaluate(self._validate_inputs(_safe_indexing(X, unused), reset=False))
        whole = np.empty((n_rows, *self.loo_predictions_.shape[1:]))
        whole[used] = self.loo_predictions_
        whole[unused] = outputs.reshape(unused.size, *whole.shape[1:])
        self.loo_predictions_ = whole

    @property
    def _pooled(self) -> bool:
        """Whether the test rows of all splits are scored together.

        Our own scores are: a temperature for the few rows of one part would be fitted to them.
        Scorers are asked once for each part, as scikit-learn does.
        """
        return self.scoring is None

    def _warn_at_edges(self, basis_grid: tuple[list[float], list[int]] | None) -> None:
        """Say where the best value is an end of a grid that was given: of three values or more."""
        given = self._gamma_grid()
        grids: list[tuple[str, float, Sequence[float]]]
        grids = [("gammas", self.gamma_, [] if given is None else given.tolist())]
        if basis_grid is not None:
            grids += [("lam", self.lam_, basis_grid[0]), ("n_terms", self.n_terms_, basis_grid[1])]
        for name, best, values in grids:
            if len(set(values)) < 3 or best not in (min(values), max(values)):
                continue
            end, more = ("smallest", "smaller") if best == min(values) else ("largest", "larger")
            free = ", or leave gammas='auto'" if name == "gammas" else ""
            warnings.warn(
                f"{best:.6g} was the best of {name} and is the {end}: give {more} ones as well, of "
                f"which one may be better{free}",
                GridEdgeWarning,
                stacklevel=_stacklevel(),
            )

    @property
    def _on_paper(self) -> bool:
        """Whether the next fit takes the basis of the paper, its box and its penalty."""
        return self.spectrum is None

    def _basis_grid(self) -> tuple[list[float], list[int]] | None:
        """Return lams and numbers of terms to choose from with the paper's basis; None without."""
        several = self.n_terms is not None and not isinstance(self.n_terms, Integral)
        if not self._on_paper:
            if self.lam is not None:
                raise ValueError(
                    "lam is of the raw polynomials of the paper, which spectrum=None takes; got "
                    f"lam={self.lam!r} with spectrum={self.spectrum!r}, whose polynomials are "
                    "Chebyshev's: leave lam out, or set spectrum=None"
                )
            if several:
                raise ValueError(
                    f"several n_terms to choose from need the basis of the paper, spectrum=None; "
                    f"got n_terms={self.n_terms!r} with spectrum={self.spectrum!r}: give one number"
                )
            return None
        lams = _listed(_PAPER_LAM if self.lam is None else self.lam, "lam")
        sizes = _listed(_PAPER_N_TERMS if self.n_terms is None else self.n_terms, "n_terms")
        return (
            [check_number(lam, "lam", minimum=-0.5, open_below=True) for lam in lams],
            [check_integer(size, "n_terms", minimum=1) for size in sizes],
        )

    def _make_scaling(self, X: NDArray[Any]) -> InputScaling:
        clip = self.out_of_range != "extrapolate"
        domain = (0, 1) if self._on_paper else (-1, 1)
        return self._with_margin(InputScaling.fit(X, domain=domain, clip=clip))

    def _with_margin(self, tight: InputScaling) -> InputScaling:
        if self._on_paper or self._margin == 0:
            return tight
        room = self._margin * tight.upper - self._margin * tight.lower
        largest = np.finfo(np.float64).max
        return InputScaling(
            np.maximum(tight.lower, room - largest) - room,
            np.minimum(tight.upper, largest - room) + room,
            domain=tight.domain, clip=tight.clip, constant=tight.is_constant,
        )  # fmt: skip

    def _standardised(self, data: _Data) -> _Data:
        return data

    def _make_splits(self, y: Any, used: Rows, groups: Any) -> Splits:
        """Split all rows that came, of which those of no weight take no part."""
        y = np.asarray(y)
        n = len(y)
        groups = _checked_groups(groups, n)
        if self.cv is None:
            if groups is not None:
                raise ValueError(
                    "groups are rows that are left out together, but cv=None leaves out single "
                    "ones: give cv, such as GroupKFold(5)"
                )
            return None
        if isinstance(self.cv, type):
            raise TypeError(f"cv must be a splitter, not a class: write {self.cv.__name__}(...)")
        pairs = self.cv
        try:
            if isinstance(self.cv, Integral) or hasattr(self.cv, "split"):
                cv = check_cv(self.cv, y, classifier=is_classifier(self))
                pairs = cv.split(np.zeros((n, 1)), y, groups)
            pairs = [*pairs]
        except ValueError as error:
            if groups is not None or "'groups'" not in str(error):
                raise
            raise ValueError(
                f"cv={self.cv!r} splits by groups, and none came: pass the group of each row, "
                "fit(X, y, groups=...)"
            ) from error
        if not pairs:
            raise ValueError(f"cv must have at least one split, got cv={self.cv!r}")
        splits = _restricted([_checked_split(pair, k, n) for k, pair in enumerate(pairs)], used, n)
        if not splits:
            raise ValueError("cv leaves no split with rows of positive weight on both sides")
        return splits

    def _labels(self, data: _Data) -> NDArray[Any]:
        """Return the targets as scikit-learn's scorers take them."""
        raise NotImplementedError

    def _gamma_grid(self) -> Doubles | None:
        """Return the gammas asked for, absolute; None if the search is free."""
        if isinstance(self.gammas, str):
            return None
        gammas = _listed(self.gammas, "gammas")
        found = [check_number(gamma, "gammas", minimum=0, open_below=True) for gamma in gammas]
        return np.unique(found)

    def _options(self) -> dict[str, Any]:
        return {
            "scaling": self.scaling_,
            "penalize_constant": bool(self.penalize_constant),
            "n_threads": self._n_threads(),
        }

    def _kernel_of_all_terms(self, data: _Data) -> SpectrumKernel:
        assert self.spectrum_ is not None
        try:
            return SpectrumKernel(data.X.shape[1], self.spectrum_)
        except ValueError as error:
            raise ValueError(f"{error}; here, give n_terms for a finite set of terms") from None

    def _first_gamma(self, data: _Data, splits: Splits) -> float:
        """Return the best of the usual gammas for the kernel of all terms, on few rows."""
        kernel = self._kernel_of_all_terms(data)
        options = {"sample_weight": data.weight, **self._options()}
        values = kernel.diagonal(data.X, scaling=self.scaling_)
        level = float(np.average(values, weights=data.weight)) - (not self.penalize_constant)
        level = data.unit * check_level(level, f"spectrum={self.spectrum!r}")
        gammas = np.array(GAMMAS) * level
        return self._best_of(kernel, data, gammas, self._make_score(data), splits, options)[0]

    def _fit_kernel(self, data: _Data, gamma: float, score: Score, splits: Splits) -> Doubles:
        """Fit all terms with dual coefficients; return the predictions of rows left out."""
        kernel = self._kernel_of_all_terms(data)
        options = {"sample_weight": data.weight, **self._options()}
        grid = self._gamma_grid()
        if grid is None:
            gamma, best, left_out = search_gamma(
                kernel, data.X, data.Y, score, gamma, splits=splits, pooled=self._pooled,
                left_out_share=data.share, **options,
            )  # fmt: skip
        else:
            gamma, best, left_out = self._best_of(kernel, data, grid, score, splits, options)
        fit = solve_kernel(kernel, data.X, data.Y, gamma, **options)
        self.gamma_ = float(gamma)
        self.best_score_ = -float(best)
        self.kernel_ = kernel
        self.X_fit_ = data.X
        self.dual_coef_ = fit.dual_coef
        self.intercept_ = fit.intercept
        self.solver_, self.rcond_, self.engine_ = fit.solver, float(fit.rcond), "kernel"
        self.n_terms_ = np.inf
        return left_out

    def _fit_terms(
        self, data: _Data, basis: TensorBasis, gammas: Doubles, score: Score, splits: Splits
    ) -> Doubles:
        """Fit a finite set of terms; return the predictions of rows left out."""
        options = {"sample_weight": data.weight, **self._options()}
        gamma, best, left_out = self._best_of(basis, data, gammas, score, splits, options)
        fit = solve_ridge(basis, data.X, data.Y, gamma, **options)
        self.gamma_ = float(gamma)
        self.best_score_ = -float(best)
        self.basis_ = basis
        self.term_coef_ = fit.weights
        self.intercept_ = np.zeros(data.Y.shape[1])
        self.solver_, self.rcond_, self.engine_ = fit.solver, float(fit.rcond), fit.engine
        self.n_terms_ = basis.n_terms
        return left_out

    def _best_of(
        self,
        model: SpectrumKernel | TensorBasis,
        data: _Data,
        gammas: Doubles,
        score: Score,
        splits: Splits,
        options: dict[str, Any],
    ) -> tuple[float, float, Doubles]:
        """Return the best of given gammas, its score and predictions of rows left out."""
        others = {key: value for key, value in options.items() if key != "sample_weight"}
        weight = options["sample_weight"]
        candidate = Candidate(
            model, data.X, data.Y, weight, splits, left_out_share=data.share,
            pooled=self._pooled, **others,
        )  # fmt: skip
        values = candidate.scores(gammas, score)
        at = int(np.flatnonzero(values == values.min())[-1])
        if not np.isfinite(values[at]):
            raise ValueError(NO_SCORE.format("gamma"))
        return float(gammas[at]), float(values[at]), candidate.predictions(float(gammas[at]))

    def _level(self, basis: TensorBasis, data: _Data) -> float:
        """Estimate the mean squared length of the penalised terms of a sample, times its weight."""
        rows, weight = _spread(data.n, _MOST_FOR_A_MEAN), data.weight
        if weight is not None:  # as from the rows that weights count
            rows, counted = np.arange(data.n), np.cumsum(weight)
            if counted[-1] > _MOST_FOR_A_MEAN:
                places = np.linspace(0.0, counted[-1] - 1.0, _MOST_FOR_A_MEAN).round()
                rows = np.searchsorted(counted, places, side="right").clip(max=data.n - 1)
                weight = None
        squares = basis.evaluate(data.X[rows], scaling=self.scaling_) ** 2
        lengths = squares[:, 0 if self.penalize_constant else 1 :].sum(axis=1)
        level = float(np.average(lengths, weights=weight)) * data.unit
        return level if level > 0 else 1.0  # a free constant alone has no penalty

    # ---- what came of it ---------------------------------------------------------

    def _warn_of_underfitting(self, data: _Data, score: Score, splits: Splits) -> None:
        """Warn where a constant would do, by the score of samples left out that chose the model."""
        if not np.ptp(data.Y, axis=0).any():  # and it does: there is nothing to learn
            return
        constant, loss = self._score_of_constants(data, score, splits), -self.best_score_
        if not loss >= constant - self._chance(constant, data):
            return
        ran_away = ""
        if self._gamma_grid() is None and self.gamma_ >= _RUNAWAY * self._trace(data):
            ran_away = (
                f"The penalty ran away, to gamma = {self.gamma_:.3g}, which leaves less than "
                f"{1 / _RUNAWAY:g} degrees of freedom. "
            )
        warnings.warn(
            "the model is no better than a constant beyond what chance may give: of "
            f"{data.n_samples:.6g} samples left out (equal ones may count as one) "
            f"the score is {-loss:.4g}, and {-constant:.4g} that of always predicting the mean of "
            f"y. {ran_away}Check that each x belongs to its y, that inputs are coded sensibly and "
            "hold what y depends on, or give more samples",
            UnderfittingWarning,
            stacklevel=_stacklevel(),
        )

    def _score_of_constants(self, data: _Data, score: Score, splits: Splits) -> float:
        """Score the mean target, of the training part of each split; NaN if a scorer refuses it."""
        everything = np.arange(data.n)
        constants, tests = [], []
        for train, test in splits or [(everything, everything)]:
            weight = None if data.weight is None else data.weight[train]
            mean = np.average(data.Y[train], axis=0, weights=weight)
            constants.append(np.tile(mean, (1, test.size, 1)))
            tests.append(test)
        if self._pooled:
            constants, tests = [np.concatenate(constants, axis=1)], [np.concatenate(tests)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a correlation, say, warns of constants
                found = [score(c, rows)[0] for c, rows in zip(constants, tests, strict=True)]
        except Exception:  # a scorer of the user's own may need predictions that differ
            return np.nan
        return float(np.mean(found))

    @property
    def _luck(self) -> float:
        given = self.spectrum is not None and not isinstance(self.spectrum, str)
        return _LUCK_OF_ONE if given else _LUCK

    def _chance(self, constant: float, data: _Data) -> float:
        """Return by how much the best of all models tried may beat the constant by chance."""
        raise NotImplementedError

    def _trace(self, data: _Data) -> float:
        """Return the sum of the eigenvalues of the kernel matrix, of penalised terms."""
        if not hasattr(self, "kernel_"):
            return data.n_samples * self._level(self.basis_, data)
        lengths = self.kernel_.diagonal(data.X, scaling=self.scaling_)
        lengths -= not self.penalize_constant
        return float(lengths.sum() if data.weight is None else lengths @ data.weight)

    # ---- predicting --------------------------------------------------------------

    @property
    def relevances_(self) -> Doubles:
        """Sum of the weights of each input in the spectrum."""
        spectrum = getattr(self, "spectrum_", None)
        if spectrum is None:
            raise AttributeError(
                f"this {type(self).__name__} has no spectrum, of which relevances_ are the weights "
                "of the inputs: fit it, and not with spectrum=None"
            )
        return np.asarray(spectrum.interactions(self.n_features_in_).sum(axis=1))

    def _raw_outputs(self, X: Any) -> Doubles:
        """Return the outputs (S, K) of the fitted polynomial."""
        check_is_fitted(self)
        X = self._validate_inputs(X, reset=False)
        self._apply_range_policy(X)
        return self._evaluate(X)

    def _evaluate(self, X: NDArray[Any]) -> Doubles:
        """Return the outputs (S, K) at checked rows, wherever they lie."""
        with _advising(f"{_CLIP}, or the coefficients are too large, fit with a larger gamma"):
            if hasattr(self, "dual_coef_"):
                return predict_kernel(
                    self.kernel_, X, self.X_fit_, self.dual_coef_, intercept=self.intercept_,
                    scaling=self._current_scaling(), n_threads=self._n_threads(),
                )  # fmt: skip
            outputs = predict(
                self.basis_, X, self.term_coef_, scaling=self._current_scaling(),
                n_threads=self._n_threads(),
            )  # fmt: skip
            return outputs + self.intercept_


# --- Scores ---------------------------------------------------------------------------------------


class _Shell(BaseEstimator):  # type: ignore[misc]
    """What a scorer of scikit-learn sees: a fitted model whose outputs are known already."""

    def __init__(self, outputs: Any) -> None:
        self.outputs = outputs

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ARG002
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _RegressorShell(RegressorMixin, _Shell):  # type: ignore[misc]
    def predict(self, X: Any) -> Any:  # noqa: ARG002
        return self.outputs


class _ClassifierShell(ClassifierMixin, _Shell):  # type: ignore[misc]
    """Outputs (n, K), or (n,) of two classes, with classes as scikit-learn has them.

    Those of multilabel targets are a table, of a pair for each output.
    """

    def __init__(self, outputs: Any, probabilities: Callable[[], Doubles], classes: Any) -> None:
        super().__init__(outputs)
        self.probabilities = probabilities
        self.classes = classes

    @property
    def classes_(self) -> Any:
        return self.classes

    def decision_function(self, X: Any) -> Any:  # noqa: ARG002
        return self.outputs

    def predict_proba(self, X: Any) -> Any:  # noqa: ARG002
        return self.probabilities()

    def predict(self, X: Any) -> Any:  # noqa: ARG002
        if np.ndim(self.classes) == 2:
            return (self.outputs > 0).astype(np.intp)
        if self.outputs.ndim == 1:
            return self.classes[(self.outputs > 0).astype(np.intp)]
        return self.classes[self.outputs.argmax(axis=1)]


def _checked_score(value: Any, scoring: Any) -> float:
    try:
        if isinstance(value, (str, bytes)) or np.ndim(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"scoring={scoring!r} must return one number, the larger the better; got {value!r}"
        ) from None


def _advice_on_scoring(classes: Any, reason: str) -> str:
    """Name scorers that fit the targets: numbers (None), classes or labels."""
    if classes is None:
        return (
            ". For numbers take one such as 'r2' or 'neg_mean_absolute_error', or leave "
            "scoring=None"
        )
    if np.ndim(classes) == 2:
        return (
            ". For multilabel y take one that knows several labels, such as 'f1_macro', "
            "'f1_samples', 'jaccard_samples', 'accuracy', 'roc_auc', 'average_precision' or "
            "'neg_brier_score', or leave scoring=None"
        )
    if np.size(classes) > 2:
        return (
            ". For more than two classes take one that knows them, such as 'f1_macro', "
            "'balanced_accuracy', 'roc_auc_ovr' or 'neg_log_loss', or leave scoring=None"
        )
    if "pos_label" in reason:
        return (
            ". Code the positive class as 1 and the other as 0, or name it: "
            "make_scorer(f1_score, pos_label=...)"
        )
    return ""


# A score of many predictions in one call: of predictions, their rows and weights, places of the
# original rows among these, and the weights of those; more is better
_AtOnce: TypeAlias = "Callable[[Doubles, Rows, Doubles | None, Rows, Doubles | None], Any]"


def _scored_by(
    scoring: Any, shells: Any, at_once: _AtOnce | None, data: _Data, labels: NDArray[Any],
    classes: Any = None,
) -> Score:  # fmt: skip
    """Turn a scorer, of which more is better, into a score of predictions.

    It sees the original rows, equal ones as often as they came, and only weights that were given.
    ``shells`` makes an estimator of each prediction, for the scorer; ``at_once``, if there is one,
    does the same for all predictions in one call, a hundredth of the work.
    """
    by_name = isinstance(scoring, str)
    scorer = get_scorer(scoring) if by_name else scoring

    def values_of(predictions: Doubles, rows: Rows) -> Any:
        originals, at = data.originals(rows)
        weights = None if data.weight is None else data.weight[rows]
        given = None if data.given is None else data.given[originals]
        if at_once is not None:
            return at_once(predictions, rows, weights, at, given)
        merged = rows[at]
        arguments = {} if given is None else {"sample_weight": given}
        # of what a scorer of scikit-learn would check anew each time, all is known
        quick = {"assume_finite": True, "skip_parameter_validation": True}
        try:
            with config_context(**(quick if by_name else {})), warnings.catch_warnings():
                if np.ndim(classes) == 2:  # each label has a probability of its own
                    warnings.filterwarnings("ignore", _NO_SUM_OF_ONE)
                return [
                    scorer(known, data.X[merged], labels[merged], **arguments)
                    for known in shells(predictions, rows, weights, at)
                ]
        except TypeError as error:
            if not arguments or "sample_weight" not in str(error):
                raise
            raise TypeError(
                f"scoring={scoring!r} takes no sample_weight, but weights were given: choose a "
                "scorer that takes them, or fit without weights"
            ) from error

    def score(predictions: Doubles, rows: Rows) -> Doubles:
        try:
            values = values_of(predictions, rows)
        except Exception as error:
            # a scorer of the user's own has errors of its own
            if not by_name or "takes no sample_weight, but weights" in str(error):
                raise
            reason = str(error).rstrip(".")
            raise ValueError(
                f"scoring={scoring!r} cannot score these targets or their predictions: {reason}"
                f"{_advice_on_scoring(classes, reason)}"
            ) from error
        return np.array([-_checked_score(value, scoring) for value in values])

    return score


class GegenbauerRegressorCV(_RealTargets, _GegenbauerCV):
    """Regression that chooses its polynomials and its penalty by itself.

    All products of Chebyshev polynomials of the inputs there are, each with a weight that the
    data choose: every input has its own, for smooth, very smooth and nearly linear parts, so
    that inputs that do not matter fade out. The weights and the penalty are those of the
    largest marginal likelihood on some hundred rows; then the penalty is chosen again, and the
    one linear system solved, on all rows. It takes the place of a Gaussian process with
    automatic relevance determination, at a fraction of its time.

    Parameters
    ----------
    spectrum : "auto", tuple (q, s), Spectrum or what one is made from, or None, default="auto"
        "auto" learns the weights of all inputs. A spectrum that is given is fixed; (q, s) is the
        squared weight q n^(-2s) for every input that occurs with degree n. None takes the raw
        polynomials of the paper on [0, 1], in its order, and chooses ``lam``, ``n_terms`` and gamma
        on all rows.
    gammas : "auto" or array-like of positive numbers, default="auto"
        Penalties to choose from; "auto" walks to the best one, with ``spectrum=None`` from
        the paper's 2^-30 to 2^30, and beyond where the best is at an end. Where the best of
        three given ones or more is at an end (of two it always is), here as in ``lam`` and
        ``n_terms``, a `GridEdgeWarning` tells.
    n_terms : int, None, or with ``spectrum=None`` array-like of int, default=None
        Number of terms of largest weight. None uses all there are for up to ``kernel_rows``
        rows, and 2000 beyond. With ``spectrum=None`` numbers of first terms to choose from, None
        for the paper's 1000.
    lam : float, array-like of float or None, default=None
        Parameters to choose from with ``spectrum=None``; None for the paper's 0.05. Other spectra
        have Chebyshev polynomials, and no such parameter.
    cv : int, splitter, iterable or None, default=None
        How rows are left out to choose gamma: None for exact leave-one-out, which costs no
        further fits (see ``loo_predictions_`` for samples that are equal); else as in
        scikit-learn. Splitters by groups take ``groups`` of ``fit``.
    scoring : str, callable or None, default=None
        What the best gamma is the best of: a scorer of scikit-learn; None for the smallest
        mean squared error.
    search : {"marginal_likelihood", "squared_error"}, default="marginal_likelihood"
        By what the spectrum is learned: the likelihood of its rows, or their exact
        leave-one-out error, which takes more steps and is often a little better without noise.
    penalize_constant : bool, default=False
        Whether gamma also penalises the constant term.
    search_rows : int, default=500
        Rows on which the spectrum is learned, evenly spread over the range of y; all with
        ``spectrum=None``.
    kernel_rows : int, default=5000
        Most rows whose model is kept as dual coefficients of all terms.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="warn"
        What to do in prediction with values outside of the range seen in ``fit``, which is
        taken to be one per cent wider on either side: see :class:`GegenbauerRegressor`.
        "extrapolate" is for finite sets of terms only.
    verbose : bool or int, default=False
        Show progress as a line (by tqdm where it is installed). Callbacks of scikit-learn from 1.9
        on, such as ``set_callbacks(sklearn.callback.ProgressBar())``, work without it.
    n_jobs : int or None, default=None
        Number of threads, as in :class:`GegenbauerRegressor`.

    Attributes
    ----------
    spectrum_ : Spectrum or None
        The weights of the terms; None for ``spectrum=None``.
    lam_ : float
        Parameter of the polynomials; 0 (Chebyshev) but for ``spectrum=None``.
    gamma_ : float
        The penalty, for targets scaled to a variance of one.
    best_score_ : float
        Score of the chosen gamma on rows left out, the larger the better: minus the mean
        squared error in units of the targets' variance, or that of ``scoring``.
    cv_results_ : dict of ndarray
        With ``spectrum=None``, what was tried, as in :class:`GegenbauerClassifierCV`; else empty.
    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Prediction of each sample of ``fit`` by the model without it (with ``cv``, of those
        that were in a test part). Samples that are equal are left out together where all at their
        x have the same target, or where their target occurs at that x alone, as with copies; else
        one at a time, as where inputs and targets have few values. With fewer than about ten
        samples an input they are optimistic: see :meth:`predict_interval`.
    relevances_ : ndarray of shape (n_features,)
        Sum of the weights of each input; not with ``spectrum=None``.
    noise_variance_ : ndarray of shape (n_outputs,)
        Squared residuals by the degrees of freedom that are left.
    effective_dof_ : float
        Sum of the leverages: how many free parameters the model amounts to.
    kernel_, X_fit_, dual_coef_, intercept_
        With all terms: the kernel, the distinct rows, and the coefficients (n_rows, n_outputs) of
        ``kernel_(X, X_fit_, scaling=scaling_) @ dual_coef_ + intercept_``.
    basis_, term_coef_, intercept_
        With a finite set: the terms and their weights (n_terms, n_outputs), of
        ``basis_.evaluate(X, scaling=scaling_) @ term_coef_ + intercept_``.
    n_terms_ : int or infinity
        Number of terms.
    n_search_rows_ : int
        Rows on which the spectrum was learned.
    engine_, solver_, rcond_
        How the final system was solved, as in :class:`GegenbauerRegressor`.
    scaling_ : InputScaling
        The range of the inputs and its map to [-1, 1].
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    GegenbauerRegressor : With everything given, by default as in the paper.
    learn_spectrum : How the weights are found, on arrays.

    Notes
    -----
    Inputs that are constant in ``fit`` are ignored, whatever comes in them later; where all of them
    are, or the targets, the model is the mean of the targets. A single sample is an error, and so
    are samples that are all the same, since nothing is left to judge by without one of them. Of two
    samples, and of all that are fewer than an interval of the coverage needs (9 for 0.9), intervals
    are infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 3))
    >>> y = np.sin(6 * X[:, 0]) * X[:, 1]  # the third input does not matter
    >>> model = GegenbauerRegressorCV().fit(X, y)
    >>> bool(np.abs(model.loo_predictions_ - y).max() < 0.01)
    True
    >>> bool(model.relevances_[2] < model.relevances_[:2].min() / 100)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_GegenbauerCV._parameter_constraints,
        "search": [StrOptions({"marginal_likelihood", "squared_error"})],
    }
    _margin = 0.01

    search: str

    def __init__(
        self,
        spectrum: str | ComponentsLike | None = "auto",
        gammas: str | Sequence[float] = "auto",
        n_terms: int | Sequence[int] | None = None,
        *,
        lam: float | Sequence[float] | None = None,
        cv: Any = None,
        scoring: Any = None,
        search: str = "marginal_likelihood",
        penalize_constant: bool = False,
        search_rows: int = 500,
        kernel_rows: int = 5000,
        out_of_range: str = "warn",
        verbose: bool | int = False,
        n_jobs: int | None = None,
    ) -> None:
        self.spectrum = spectrum
        self.gammas = gammas
        self.n_terms = n_terms
        self.lam = lam
        self.cv = cv
        self.scoring = scoring
        self.search = search
        self.penalize_constant = penalize_constant
        self.search_rows = search_rows
        self.kernel_rows = kernel_rows
        self.out_of_range = out_of_range
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the spectrum and gamma, and learn the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, from 0 up, as in :meth:`GegenbauerRegressor.fit`. Scores of
            rows left out are weighted as well.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, for a ``cv`` that splits by groups, such as ``GroupKFold``.

        Returns
        -------
        GegenbauerRegressorCV
            The fitted estimator itself. When ``fit`` fails or is interrupted, the estimator
            stays as it was.

        Raises
        ------
        ValueError
            X, y, sample_weight, groups or a parameter is not as it has to be.

        Warns
        -----
        UnderfittingWarning
            The model that was chosen is no better than a constant, as far as samples left out tell.
        """
        self._fit_on_copy(X, y, sample_weight, groups)
        return self

    def _standardised(self, data: _Data) -> _Data:
        # by the largest first, so that no sum and no square leaves the range of float64
        size = np.abs(data.Y).max(axis=0)
        scaled = data.Y / np.where(size > 0, size, 1.0)
        center = np.average(scaled, axis=0, weights=data.weight)
        unit = np.sqrt(np.average((scaled - center) ** 2, axis=0, weights=data.weight))
        self._center, self._unit = center * size, np.where(unit * size > 0, unit * size, 1.0)
        extreme = np.maximum(self._unit, 1.0 / self._unit) * (size > 0)
        column = int(np.argmax(np.maximum(extreme, size)))
        if max(extreme[column], size[column]) > _MOST_EXTREME:
            raise ValueError(
                "y must have a standard deviation between 1e-140 and 1e140, whose square float64 "
                f"holds, and no larger values, but column {column} has one of "
                f"{self._unit[column]:.3g} and values up to {size[column]:.3g}: rescale it"
            )
        if self._on_paper and self.penalize_constant:
            # the paper's penalty is on the mean of the targets, too
            self._center = np.zeros_like(center)
        return replace(data, Y=(data.Y - self._center) / self._unit)

    def _labels(self, data: _Data) -> NDArray[Any]:
        values: Doubles = data.Y * self._unit + self._center
        return values[:, 0] if values.shape[1] == 1 else values

    def _make_score(self, data: _Data) -> Score:
        if self.scoring is None:

            def squared_error(predictions: Doubles, rows: Rows) -> Doubles:
                squares = ((predictions - data.Y[rows]) ** 2).mean(axis=2)
                weights = None if data.weight is None else data.weight[rows]
                return np.asarray(np.average(squares, axis=1, weights=weights))

            return squared_error

        def shells(
            predictions: Doubles, _: Rows, __: Doubles | None, at: Rows
        ) -> list[_RegressorShell]:
            values = (predictions * self._unit + self._center)[:, at]
            return [_RegressorShell(v[:, 0] if v.shape[1] == 1 else v) for v in values]

        metric = _METRICS_BY_OUTPUT.get(self.scoring) if isinstance(self.scoring, str) else None
        labels = self._labels(data)
        if metric is None:
            return _scored_by(self.scoring, shells, None, data, labels)
        sign = -1.0 if self.scoring.startswith("neg_") else 1.0

        def at_once(
            predictions: Doubles, rows: Rows, _: Doubles | None, at: Rows, given: Doubles | None
        ) -> Doubles:
            """Judge all predictions as further outputs, of which the metric has a value each."""
            outputs = np.moveaxis((predictions * self._unit + self._center)[:, at], 0, -1)
            y = labels[rows[at]].reshape(len(at), -1, 1)
            both = [np.broadcast_to(v, outputs.shape).reshape(len(at), -1) for v in (y, outputs)]
            values = metric(*both, sample_weight=given, multioutput="raw_values")
            found: Doubles = np.reshape(values, (-1, len(predictions))).mean(axis=0)
            return sign * found

        return _scored_by(self.scoring, shells, at_once, data, labels)

    def _chance(self, constant: float, data: _Data) -> float:
        # -log p of n samples with the likeliest noise is n / 2 log(squared error)
        share = min(0.5, -np.expm1(-2.0 * self._luck / data.n_samples))
        return 0.0 if self.scoring is not None else constant * share

    def _stratified(self, data: _Data, most: int) -> Rows:
        order = np.lexsort((*data.X.T[::-1], *data.Y.T[::-1]))
        return np.sort(order[_spread(data.n, most)])

    def _learn(
        self,
        data: _Data,
        splits: Splits,  # noqa: ARG002  # it needs none
        progress: Progress,
    ) -> tuple[Spectrum, float]:
        if data.n < 3:
            return Spectrum((1.0 / data.X.shape[1], 2.0)), 1e-3
        data, _ = _Data.merge(data.X, data.Y, data.weight)  # where splits told equal rows apart
        kernel, gamma = learn_spectrum(
            data.X, data.Y, objective=self.search, **data.leaving_out,
            callback=lambda k: progress.step(f"spectrum, step {k}"), **self._options(),
        )  # fmt: skip
        return kernel.spectrum, gamma

    def _finish(self, data: _Data, left_out: Doubles) -> None:
        if hasattr(self, "dual_coef_"):
            self.dual_coef_ = self.dual_coef_ * self._unit
        else:
            self.term_coef_ = self.term_coef_ * self._unit
        self.intercept_ = self.intercept_ * self._unit + self._center
        self._free_constant = not self.penalize_constant
        self._row_weight, self._left_out_share = data.weight, data.share
        self._left_out_residuals = (data.Y - left_out) * self._unit
        self._judge_noise(data)
        self._prior_variance = self._judge_prior(data)
        values = (left_out * self._unit + self._center)[data.back]
        self.loo_predictions_ = values[:, 0] if self._y_was_flat else values
        del self._center, self._unit

    def _judge_noise(self, data: _Data) -> None:
        """Set the variance of the noise and the degrees of freedom."""
        free = self._free_constant
        weight = np.ones(data.n) if data.weight is None else data.weight
        if hasattr(self, "dual_coef_"):
            factor, root, side = self._system()
            inverse = core.inverse_diagonal(factor, check_threads(self._n_threads()))
            left = self.gamma_ * float(inverse.sum())
            if free:
                left -= self.gamma_ * float(side @ side) / float(root @ side)
            dual = self.dual_coef_ / root[:, np.newaxis]
            squares = (self.gamma_ * dual) ** 2  # scaled residuals are gamma times dual ones
            self.effective_dof_ = data.n - left
        else:
            # few rows reach few directions, which their features tell better than all of G'G
            method = "svd" if 3 * data.n < self.basis_.n_terms else "primal"
            path = RidgePath(
                self.basis_, data.X, data.Y, sample_weight=data.weight, method=method,
                tolerance=TRUSTED, **self._options(),
            )  # fmt: skip
            self._posterior, self._mean_features, self._free_leverage = path.posterior(self.gamma_)
            self.effective_dof_ = float(path.effective_dof([self.gamma_])[0])
            left = data.n - self.effective_dof_
            fitted = path.predict(data.X, [self.gamma_])[0]
            squares = weight[:, np.newaxis] * ((data.Y - fitted) * self._unit) ** 2
        left += float(weight.sum()) - data.n  # weights are numbers of rows
        self.noise_variance_ = _noise_variance(
            squares.sum(axis=0), left, weight, self.effective_dof_
        )

    def _judge_prior(self, data: _Data) -> Doubles:
        """Return the variance of each output in units of the kernel, (n_outputs,).

        The fit takes it for that of the noise by gamma, which says too little of targets without
        noise: their prior is to vary over the samples at least as much as they do.
        """
        rows = _spread(data.n, _MOST_FOR_A_MEAN)
        weight = np.ones(rows.size) if data.weight is None else data.weight[rows]
        share = weight / weight.sum()
        if hasattr(self, "dual_coef_"):
            K = self.kernel_(data.X[rows], scaling=self.scaling_, n_threads=self._n_threads())
            spread = float(share @ K.diagonal() - share @ K @ share)
        else:
            G = self.basis_.evaluate(
                data.X[rows], scaling=self.scaling_, n_threads=self._n_threads()
            )
            spread = float((share @ (G - share @ G) ** 2).sum())
        least = self.noise_variance_ / self.gamma_
        if not spread > 0:
            return least
        signal = (self._unit**2 - self.noise_variance_).clip(min=0.0)
        return np.maximum(least, signal / spread)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        outputs = self._raw_outputs(X)
        return outputs[:, 0] if self._y_was_flat else outputs

    def predict(self, X: Any, return_std: bool = False) -> Any:
        r"""Predict the targets, and how far off they may be.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation as well,
            :math:`\sigma \sqrt{1 + h(x)}` with the leverage h that the row would have. Outside of
            the range seen in ``fit`` it grows with the distance, since a clipped prediction says
            little there: to the variance that the prior has in the inputs that are outside. Where
            rows are few for the number of inputs it is too small, since a spectrum that is learned
            has seen every row: see :meth:`predict_interval` for how much.

        Returns
        -------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        std : ndarray of the same shape
            If ``return_std``. With all terms, each call factorises the kernel matrix once more.

        Raises
        ------
        ValueError
            X does not fit the data seen in ``fit``, or lies outside of its range where
            ``out_of_range`` forbids it.
        """
        return_std = check_flag(return_std, "return_std")
        outputs = self._outputs(X)
        if not return_std:
            return outputs
        X = self._validate_inputs(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            h = self._leverages(X)
        require_finite(h, "some leverages are", CLIP)
        # roots first: their product is finite where the variances are
        inside = np.outer(np.sqrt(1.0 + h), np.sqrt(self.noise_variance_))
        std = np.hypot(inside, np.sqrt(self._variance_outside(X)))
        return outputs, std[:, 0] if self._y_was_flat else std

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        r"""Predict intervals that hold a new target with a given probability.

        By jackknife+: the interval is made of what each model without one row predicts here, plus
        and minus its error at that row. With a given spectrum and gamma at least 2 coverage - 1 of
        the targets lie inside, whatever the distribution, if rows are exchangeable; in practice
        about ``coverage`` do. A spectrum that is learned has seen every row: with ten inputs and
        coverage = 0.9, 0.88 were inside with 100 rows, 0.82 with 50, 0.61 with 20. Give the
        spectrum, or one learned on other rows, where rows are that few. With a finite set of
        terms the models without a row are taken for the one with all rows. With ``cv``, only rows
        of a test part count. Outside of the range seen in ``fit`` intervals widen with the
        distance, as standard deviations do: see :meth:`predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Infinite where the rows of ``fit`` are too few for so large a coverage.

        Raises
        ------
        ValueError
            As :meth:`predict`, and for a coverage that is not between 0 and 1.
        """
        given = coverage
        try:
            coverage = check_number(coverage, "coverage", minimum=0, open_below=True)
        except ValueError:  # the other end is to be named as well
            coverage = 1.0
        if coverage >= 1:
            raise ValueError(
                "coverage must be greater than 0 and less than 1, the share of new samples that "
                f"the intervals are to hold, such as 0.9; got {shown(given)}"
            )
        outputs = self._raw_outputs(X)
        X = self._validate_inputs(X, reset=False)
        residuals = self._left_out_residuals
        sizes = np.ones(len(residuals)) if self._row_weight is None else self._row_weight
        tested = np.isfinite(residuals).all(axis=1)
        residuals, sizes = residuals[tested], sizes[tested]
        if hasattr(self, "dual_coef_"):
            lower, upper = np.empty_like(outputs), np.empty_like(outputs)
            block = max(1, int(_HELD / len(residuals)))
            for first in range(0, len(outputs), block):
                rows = slice(first, first + block)
                shift = self._smoother(X[rows])[tested]  # (rows of the fit, rows here)
                if self._left_out_share is not None:
                    shift *= self._left_out_share[tested, np.newaxis]
                for k in range(outputs.shape[1]):
                    e = residuals[:, k : k + 1]
                    without = outputs[rows, k] - shift * e
                    lower[rows, k] = -_upper_quantile(np.abs(e) - without, sizes, coverage)
                    upper[rows, k] = _upper_quantile(np.abs(e) + without, sizes, coverage)
        else:  # the same width everywhere
            reach = _upper_quantile(np.abs(residuals), sizes, coverage)
            lower, upper = outputs - reach, outputs + reach
        beyond = self._variance_outside(X)
        out = beyond.any(axis=1)
        if out.any():
            more = np.sqrt(beyond[out]) * ndtri(0.5 + 0.5 * coverage)
            lower[out] = outputs[out] - _wider(outputs[out] - lower[out], more)
            upper[out] = outputs[out] + _wider(upper[out] - outputs[out], more)
        if self._y_was_flat:
            return lower[:, 0], upper[:, 0]
        return lower, upper

    def _system(self) -> tuple[Doubles, Doubles, Doubles]:
        """Return the factor of gamma I + D K D, D as a vector, and the solution for it."""
        root = np.ones(len(self.X_fit_)) if self._row_weight is None else np.sqrt(self._row_weight)
        threads = check_threads(self._n_threads())
        factor = np.zeros((root.size, root.size), order="F")
        self.kernel_._plan.accumulate(
            self.X_fit_, self._current_scaling()._map, root, not self._free_constant, factor,
            threads,
        )  # fmt: skip
        factor[np.diag_indices(root.size)] += self.gamma_
        core.cholesky_in_place(factor, threads)
        side = np.asfortranarray(root[:, np.newaxis].copy())
        core.solve_factored(factor, side, threads)
        return factor, root, side[:, 0]

    def _cross_kernel(self, X: NDArray[Any], root: Doubles) -> Doubles:
        """Return D k for rows X, (rows of the fit, rows of X), of the penalised terms."""
        K = self.kernel_(
            self.X_fit_, X, scaling=self._current_scaling(), n_threads=self._n_threads()
        )
        if self._free_constant:
            K -= 1.0
        K *= root[:, np.newaxis]
        return np.asfortranarray(K)

    def _smoother(self, X: NDArray[Any]) -> Doubles:
        """Return how much the prediction at each row of X moves with each target of the fit."""
        factor, root, side = self._system()
        right = self._cross_kernel(X, root)
        core.solve_factored(factor, right, check_threads(self._n_threads()))
        if self._free_constant:
            right += np.outer(side, (1.0 - root @ right) / (root @ side))
        return np.asarray(right * root[:, np.newaxis])

    def _variance_outside(self, X: NDArray[Any]) -> Doubles:
        r"""Return how much variance leaving the box adds, (n_samples, n_outputs), 0 inside of it.

        A clipped prediction is that of the wall, w, and its further error the increment of the
        function from there. Increments are known inside, by the prior: from the wall to a point r
        as far inside as x is outside, K(r, r) + K(w, w) - 2 K(r, w) in units of the prior variance,
        of which the largest up to that distance is taken. It is 0 at the wall, grows with the
        distance, is that of the inputs that are outside alone, and ends above their part of the
        prior variance K(w, w).
        """
        added = np.zeros((len(X), self._prior_variance.size))
        box = self._current_scaling()
        outside = np.flatnonzero(box.outside(X))
        if not box.clip or outside.size == 0:
            return added
        free = InputScaling(
            box.lower, box.upper, domain=box.domain, clip=False, constant=box.is_constant
        )
        low, high = box.domain
        with np.errstate(over="ignore"):  # infinitely far is far
            at = free.transform(X[outside])
        wall = at.clip(low, high)
        inward = (wall - at).clip(low - high, high - low)
        steps = np.sin(np.linspace(0.0, 0.5 * np.pi, _N_INWARD + 1)) ** 2  # dense at both ends
        for i, start, way in zip(outside.tolist(), wall, inward, strict=True):
            path = start + np.outer(steps, way)
            if hasattr(self, "dual_coef_"):
                own, with_wall = self.kernel_.diagonal(path), self.kernel_(path, path[:1])[:, 0]
                largest = float((own + own[0] - 2.0 * with_wall).max())
            else:
                G = self.basis_.evaluate(path)
                largest = float(((G - G[0]) ** 2).sum(axis=1).max())
            if largest > 0:
                added[i] = largest * self._prior_variance
        return added

    def _leverages(self, X: NDArray[Any]) -> Doubles:
        """Return the leverages that new rows of weight one would have before they are fitted."""
        if not hasattr(self, "dual_coef_"):
            G = self.basis_.evaluate(
                X, scaling=self._current_scaling(), n_threads=self._n_threads()
            )
            free = np.zeros(len(X))
            if self._free_constant:
                G, free = G[:, 1:] - self._mean_features, np.full(len(X), self._free_leverage)
            return np.asarray(((G @ self._posterior) ** 2).sum(axis=1) + free)
        factor, root, side = self._system()
        k = self._cross_kernel(X, root)
        solved = k.copy(order="F")
        core.solve_factored(factor, solved, check_threads(self._n_threads()))
        own = self.kernel_.diagonal(X, scaling=self._current_scaling())
        h = own - np.einsum("ij,ij->j", k, solved)
        if self._free_constant:
            h += (1.0 - root @ solved) ** 2 / (root @ side) - 1.0
        return np.asarray((h / self.gamma_).clip(min=0.0))


def _wider(reach: Doubles, more: Doubles) -> Doubles:
    """Return how far an interval reaches with a further, independent deviation."""
    size = np.abs(reach)
    with np.errstate(invalid="ignore"):  # of infinite intervals, which stay so
        return np.where(np.isfinite(size), reach + (np.hypot(size, more) - size), reach)


def _upper_quantile(values: Doubles, sizes: Doubles, coverage: float) -> Doubles:
    """Return the value that ``coverage`` of n + 1 rows are not above, for each column.

    Rows count by their sizes, and a further one, of size one, is infinite.
    """
    order = np.argsort(values, axis=0)
    counted = np.cumsum(sizes[order], axis=0)
    need = coverage * (sizes.sum() + 1.0)
    place = (counted < need * (1 - 1e-12)).sum(axis=0)
    columns = np.arange(values.shape[1])
    inside = np.minimum(place, len(values) - 1)
    found = values[order[inside, columns], columns]
    return np.asarray(np.where(place < len(values), found, np.inf))


class GegenbauerClassifierCV(_ClassTargets, _GegenbauerCV):
    """Classification that chooses its polynomials and its penalty by itself, with probabilities.

    All products of Chebyshev polynomials of the inputs there are, with weights of two numbers:
    what an interaction costs (q) and what a degree costs (s). They and the penalty gamma are
    those of the smallest log-loss of exact leave-one-out scores. Then a few steps give each
    input a q of its own, held together by a prior. The same scores, which every row has from a
    model that did not see it, make the probabilities: no second fit, no data held back.

    Parameters
    ----------
    spectrum : "auto", tuple (q, s), Spectrum or what one is made from, or None, default="auto"
        "auto" chooses s from 1 and 2 and q from a grid that widens where it must; where rows are
        few, a prior holds q near 1 / n_features (see `search_spectrum`). From there each input
        gets its own q (see `learn_spectrum`) where that lowers -log p of all rows by more than one
        for each further q; with ``cv`` or ``scoring`` all keep the same. A spectrum that is given
        is fixed; (q, s) is the squared weight q n^(-2s) for every input that
        occurs with degree n. None takes the raw polynomials of the paper on [0, 1], in its order,
        and chooses ``lam``, ``n_terms`` and gamma on all rows.
    gammas : "auto" or array-like of positive numbers, default="auto"
        Penalties to choose from; "auto" chooses together with the spectrum, and again on all
        rows, with ``spectrum=None`` from the paper's 2^-30 to 2^30, and beyond where the best
        is at an end. Where the best of three given ones or more is at an end (of two it always
        is), here as in ``lam`` and ``n_terms``, a `GridEdgeWarning` tells.
    n_terms : int, None, or with ``spectrum=None`` array-like of int, default=None
        Number of terms of largest weight. None uses all there are for up to ``kernel_rows``
        rows, and 2000 beyond. With ``spectrum=None`` numbers of first terms to choose from, None
        for the paper's 1000.
    lam : float, array-like of float or None, default=None
        Parameters to choose from with ``spectrum=None``; None for the paper's 0.05. Other spectra
        have Chebyshev polynomials, and no such parameter.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: None for exact leave-one-out, which costs no further fits (see
        ``loo_predictions_`` for samples that are equal); else as in scikit-learn. Splitters by
        groups take ``groups`` of ``fit``.
    scoring : str, callable or None, default=None
        What is to be the best: a scorer of scikit-learn; None for the smallest log-loss. The usual
        ones cost no more by their names than None; a callable is called for each candidate, which
        may take ten times as long. For multilabel y None is the mean log-loss of the labels, while
        scikit-learn's "neg_log_loss" counts the labels that are there alone.
    penalize_constant : bool, default=True
        Whether gamma also penalises the constant term.
    search_rows : int, default=500
        Rows on which the spectrum is chosen, of every class its share; all with
        ``spectrum=None``.
    kernel_rows : int, default=5000
        Most rows whose model is kept as dual coefficients of all terms.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="warn"
        What to do in prediction with values outside of the range seen in ``fit``: see
        :class:`GegenbauerClassifier`. "extrapolate" is for finite sets of terms only.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes: see :class:`GegenbauerClassifier`. Rows of a class of weight zero
        take no part, as with ``sample_weight`` zero, and it is not among ``classes_``.
    verbose : bool or int, default=False
        Show progress as a line (by tqdm where it is installed). Callbacks of scikit-learn from 1.9
        on, such as ``set_callbacks(sklearn.callback.ProgressBar())``, work without it.
    n_jobs : int or None, default=None
        Number of threads, as in :class:`GegenbauerClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels. For multilabel y, (n_outputs, 2): the values 0 and 1 of each label.
    label_names_ : ndarray of shape (n_outputs,)
        For multilabel y alone, names of the labels, as in :class:`GegenbauerClassifier`.
    multilabel_ : bool
        Whether y was a table of 0 and 1.
    spectrum_ : Spectrum or None
        The weights of the terms; None for ``spectrum=None``.
    lam_ : float
        Parameter of the polynomials; 0 (Chebyshev) but for ``spectrum=None``.
    gamma_ : float
        The penalty.
    best_score_ : float
        Score of the chosen gamma on rows left out, the larger the better: minus the log-loss
        at the best temperature, or that of ``scoring``. It is that of ``loo_predictions_``, the
        outputs before ``probability_maps_`` learn the bias of each class, and where inputs have
        few values up to five equal samples are left out together: with inputs that tell nothing,
        and classes of different sizes, it is below that of the probabilities.
    cv_results_ : dict of ndarray
        What was tried: "smoothness" (n_s,), "interaction" (n_q,), "relative_gamma" (n_gammas,)
        (relative to the mean diagonal of the kernel matrix, times the mean weight of a sample)
        and "score" (n_s, n_q, n_gammas), from which a choice by log-loss takes the prior,
        (ln q n_features)^2 / 32 by the number of samples of the search. The best of each s is
        where the weights of the inputs are learned from.
        With ``spectrum=None`` "lam" (n_lams,), "n_terms" (n_sizes,), "gamma" (n_gammas,) and
        "score" (n_lams, n_sizes, n_gammas). Scores are minus infinity where rounding errors would
        count, and NaN where nothing was tried. Empty for a spectrum that is given.
    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Output for each sample of ``fit`` by the model without it, before calibration (with ``cv``,
        of those that were in a test part). Samples that are equal are left out together where all
        at their x have the same label, as copies have; else one at a time, as where inputs have
        few values.
    relevances_ : ndarray of shape (n_features,)
        Sum of the weights of each input; not with ``spectrum=None``.
    probability_maps_ : list of ProbabilityMap
        What makes probabilities of outputs: one, or one for each label of a multilabel y.
    loo_probabilities_ : ndarray of shape (n_samples, n_classes)
        Probabilities of ``loo_predictions_``, to see how well they are calibrated: see
        :class:`gegenbauer.display.ReliabilityDisplay`. With fewer than about ten samples an input
        they are optimistic, since a spectrum that is learned has seen every sample: judge such a
        model by other samples, or by ``cross_val_score``.
    kernel_, X_fit_, dual_coef_, intercept_
        With all terms: the kernel, the distinct rows, and the coefficients (n_rows, n_outputs) of
        ``kernel_(X, X_fit_, scaling=scaling_) @ dual_coef_ + intercept_``.
    basis_, term_coef_, intercept_
        With a finite set: the terms and their weights (n_terms, n_outputs), of
        ``basis_.evaluate(X, scaling=scaling_) @ term_coef_ + intercept_``. These are outputs before
        calibration; ``decision_function`` is what ``probability_maps_`` make of them.
    n_terms_ : int or infinity
        Number of terms.
    n_search_rows_ : int
        Rows on which the spectrum was chosen.
    engine_, solver_, rcond_
        How the final system was solved, as in :class:`GegenbauerClassifier`.
    scaling_ : InputScaling
        The range of the inputs and its map to [-1, 1].
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    GegenbauerClassifier : With everything given, by default as in the paper.
    search_spectrum : How the spectrum is found, on arrays.

    Notes
    -----
    Inputs that are constant in ``fit`` are ignored, whatever comes in them later. A single sample,
    or samples of a single class, are an error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gegenbauer import GegenbauerClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GegenbauerClassifierCV().fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(2).tolist()
    [[0.99, 0.0, 0.01], [0.03, 0.51, 0.46]]

    The basis of the paper, with what it gives chosen as well:

    >>> model = GegenbauerClassifierCV(spectrum=None, lam=[0.05, 0.5], n_terms=[20, 100]).fit(X, y)
    >>> model.cv_results_["score"].shape  # lam, n_terms, gamma
    (2, 2, 61)
    >>> model.lam_, model.n_terms_, model.gamma_
    (0.5, 100, 0.25)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_GegenbauerCV._parameter_constraints,
        "class_weight": _ClassTargets._parameter_constraints["class_weight"],
    }
    _margin = 0.0

    probability_maps_: list[ProbabilityMap]

    def __init__(
        self,
        spectrum: str | ComponentsLike | None = "auto",
        gammas: str | Sequence[float] = "auto",
        n_terms: int | Sequence[int] | None = None,
        *,
        lam: float | Sequence[float] | None = None,
        cv: Any = None,
        scoring: Any = None,
        penalize_constant: bool = True,
        search_rows: int = 500,
        kernel_rows: int = 5000,
        out_of_range: str = "warn",
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
    ) -> None:
        self.spectrum = spectrum
        self.gammas = gammas
        self.n_terms = n_terms
        self.lam = lam
        self.cv = cv
        self.scoring = scoring
        self.penalize_constant = penalize_constant
        self.search_rows = search_rows
        self.kernel_rows = kernel_rows
        self.out_of_range = out_of_range
        self.class_weight = class_weight
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the spectrum and gamma, learn the weights, and calibrate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, at least two different ones; or a table of 0 and 1 (multilabel).
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, from 0 up, as in :meth:`GegenbauerClassifier.fit`. Scores of
            rows left out and probabilities are weighted as well.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, for a ``cv`` that splits by groups, such as ``GroupKFold``.

        Returns
        -------
        GegenbauerClassifierCV
            The fitted estimator itself. When ``fit`` fails or is interrupted, the estimator
            stays as it was.

        Raises
        ------
        ValueError
            X, y, sample_weight, groups or a parameter is not as it has to be.

        Warns
        -----
        UnderfittingWarning
            The model that was chosen is no better than a constant, as far as samples left out tell.
        """
        self._fit_on_copy(X, y, sample_weight, groups)
        return self

    def _codes(self, data: _Data) -> list[Rows]:
        """Return the class of each row; for multilabel one array a label."""
        if self.multilabel_:
            return [(column > 0).astype(np.intp) for column in data.Y.T]
        if data.Y.shape[1] == 1:
            return [(data.Y[:, 0] > 0).astype(np.intp)]
        return [data.Y.argmax(axis=1)]

    def _questions(self, outputs: Doubles) -> list[Doubles]:
        """Split outputs (..., K) into those that belong to one question."""
        if self.multilabel_:
            return [outputs[..., k : k + 1] for k in range(outputs.shape[-1])]
        return [outputs]

    def _labels(self, data: _Data) -> NDArray[Any]:
        codes = self._codes(data)
        if self.multilabel_:
            return np.column_stack(codes)
        return np.asarray(self.classes_[codes[0]])

    def _make_score(self, data: _Data) -> Score:
        codes = self._codes(data)
        if self.scoring is None:

            def log_loss(predictions: Doubles, rows: Rows) -> Doubles:
                weights = None if data.weight is None else data.weight[rows]
                losses = [
                    best_temperatures(class_scores(outputs), code[rows], weights)[1]
                    for outputs, code in zip(self._questions(predictions), codes, strict=True)
                ]
                return np.asarray(np.mean(losses, axis=0))

            return log_loss

        def probabilities_of(predictions: Doubles, rows: Rows, weights: Doubles | None) -> Doubles:
            """Return those at the best temperatures, (n_predictions, n, n_classes or labels)."""
            parts: list[Doubles] = []
            for outputs, code in zip(self._questions(predictions), codes, strict=True):
                scores = class_scores(outputs)
                beta = best_temperatures(scores, code[rows], weights)[0]
                parts.append(softmax(beta[:, np.newaxis, np.newaxis] * scores, axis=-1))
            if self.multilabel_:
                return np.stack([part[..., 1] for part in parts], axis=-1)
            return parts[0]

        def shells(
            predictions: Doubles, rows: Rows, weights: Doubles | None, at: Rows
        ) -> list[_ClassifierShell]:
            @cache  # all of them when the first one is asked for
            def probabilities() -> Doubles:
                return probabilities_of(predictions, rows, weights)

            def of(k: int) -> _ClassifierShell:
                outputs = predictions[k, at]
                flat = outputs.shape[1] == 1 and not self.multilabel_
                return _ClassifierShell(
                    outputs[:, 0] if flat else outputs,
                    lambda: probabilities()[k][at],
                    self.classes_,
                )

            return [of(k) for k in range(len(predictions))]

        kind, positive, truth = "multilabel", None, data.Y > 0
        if not self.multilabel_:
            kind = "binary" if data.Y.shape[1] == 1 else "multiclass"
            truth = codes[0][:, np.newaxis] == np.arange(self.classes_.size)
            labels = self.classes_.tolist()
            positive = labels.index(1) if 1 in labels else None
        named = isinstance(self.scoring, str)
        score = score_at_once(self.scoring, kind, positive) if named else None

        def at_once(
            predictions: Doubles, rows: Rows, weights: Doubles | None, at: Rows,
            given: Doubles | None,
        ) -> Doubles:  # fmt: skip
            assert score is not None
            counted = np.bincount(at, weights=given, minlength=rows.size).astype(np.float64)
            return score(
                Judged(
                    kind, truth[rows], counted, predictions,
                    lambda: probabilities_of(predictions, rows, weights), positive,
                )
            )  # fmt: skip

        return _scored_by(
            self.scoring, shells, None if score is None else at_once, data, self._labels(data),
            self.classes_,
        )  # fmt: skip

    def _chance(self, constant: float, data: _Data) -> float:
        return 0.0 if self.scoring is not None else min(0.5 * constant, self._luck / data.n_samples)

    def _stratified(self, data: _Data, most: int) -> Rows:
        if data.n <= most:
            return np.arange(data.n)
        codes = self._codes(data)
        strata = codes[0] if len(codes) == 1 else np.unique(
            np.column_stack(codes), axis=0, return_inverse=True
        )[1].reshape(-1)  # fmt: skip
        chosen = []
        for label in np.unique(strata):
            own = np.flatnonzero(strata == label)
            share = max(2, round(most * own.size / data.n))
            chosen.append(own[_spread(own.size, share)])
        return np.sort(np.concatenate(chosen))

    def _learn(self, data: _Data, splits: Splits, progress: Progress) -> tuple[Spectrum, float]:
        found = search_spectrum(
            data.X, data.Y, self._make_score(data), splits=splits, **data.leaving_out,
            prior=PRIOR if self.scoring is None else None, pooled=self._pooled,
            callback=lambda k: progress.step(f"spectrum {k}"), **self._options(),
        )  # fmt: skip
        self.cv_results_ = {
            "smoothness": found.smoothnesses,
            "interaction": found.interactions,
            "relative_gamma": found.gammas,
            "score": -found.scores,
        }
        if self.scoring is not None or splits is not None:
            return found.kernel.spectrum, found.gamma
        return self._weigh_inputs(data, found, progress)

    def _weigh_inputs(
        self, data: _Data, found: SpectrumSearch, progress: Progress
    ) -> tuple[Spectrum, float]:
        """Give each input a weight of its own, from the best spectrum of each smoothness on."""
        codes = self._codes(data)

        def loss(left_out: Doubles) -> tuple[float, Doubles]:
            parts = [
                log_loss(outputs, code, data.weight)
                for outputs, code in zip(self._questions(left_out), codes, strict=True)
            ]
            slopes = np.hstack([slope for _, slope in parts]) / len(parts)
            return float(np.mean([value for value, _ in parts])), slopes

        price = _PRICE * (data.X.shape[1] - 1) / data.n_samples
        score, best = self._make_score(data), (found.score - price, found.kernel, found.gamma)
        for start, relative in found.starts:
            kernel, gamma = learn_spectrum(
                data.X, data.Y, components=start.spectrum, gamma=relative, objective=loss,
                **data.leaving_out, prior=_SPREAD, max_iter=_STEPS, **self._options(),
            )  # fmt: skip
            progress.step("weights of inputs")
            try:
                left_out = leave_one_out(
                    kernel, data.X, data.Y, gamma, **data.leaving_out, **self._options()
                )
            except np.linalg.LinAlgError:
                continue
            value = float(score(left_out.predictions, np.arange(data.n))[0])
            if left_out.error[0] <= TRUSTED and value < best[0]:
                best = value, kernel, gamma
        return best[1].spectrum, best[2]

    def _finish(self, data: _Data, left_out: Doubles) -> None:
        known = np.isfinite(left_out).all(axis=1)
        weights = None if data.weight is None else data.weight[known]
        self.probability_maps_ = [
            fit_probabilities(outputs, code[known], weights)
            for outputs, code in zip(
                self._questions(left_out[known]), self._codes(data), strict=True
            )
        ]
        values = left_out[data.back]
        self.loo_predictions_ = values[:, 0] if values.shape[1] == 1 else values

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return logits: of the second class, of each class, or of each label."""
        outputs = self._raw_outputs(X)
        with np.errstate(over="ignore"):
            logits = [
                make.logits(part)
                for make, part in zip(self.probability_maps_, self._questions(outputs), strict=True)
            ]
            if self.multilabel_:
                found = np.column_stack([pair[:, 1] - pair[:, 0] for pair in logits])
            elif outputs.shape[1] == 1:
                found = logits[0][:, 1:] - logits[0][:, :1]
            else:
                found = logits[0]
        require_finite(found, "some logits are", _CLIP)
        return found[:, 0] if outputs.shape[1] == 1 and not self.multilabel_ else found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; for multilabel y the probability of each label.

        Raises
        ------
        ValueError
            As :meth:`decision_function`.
        """
        return self._probabilities(self._raw_outputs(X))

    @property
    def loo_probabilities_(self) -> Doubles:
        """Probabilities for each sample of ``fit``, of outputs by the model without it.

        With fewer than about ten samples an input they are optimistic, since a spectrum that is
        learned has seen every sample.
        """
        check_is_fitted(self)
        outputs = self.loo_predictions_
        return self._probabilities(outputs[:, np.newaxis] if outputs.ndim == 1 else outputs)

    def _probabilities(self, outputs: Doubles) -> Doubles:
        found = [
            make(part)
            for make, part in zip(self.probability_maps_, self._questions(outputs), strict=True)
        ]
        return np.column_stack([pair[:, 1] for pair in found]) if self.multilabel_ else found[0]
