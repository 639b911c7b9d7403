"""Automatic model selection: spectrum, number of terms and penalty.

What is searched, and by which scores, is in :mod:`gegenbauer.selection`; here samples are
checked and scaled, the best model is fitted (`BestModel`), and what makes it worse than it may be
is reported.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer_names
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples

from gegenbauer._locks import exclusive
from gegenbauer._messages import Message
from gegenbauer._validation import check_integer, check_number, shown
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.basis.spectrum import COMPONENTS, Spectrum
from gegenbauer.errors import NoFiniteLossError
from gegenbauer.estimators._base import Range, box_of
from gegenbauer.estimators._best_model import BestModel
from gegenbauer.estimators._input_box import with_fences, with_margin
from gegenbauer.estimators._near_copies import (
    equal_but_for_one,
    hold_out,
    near_in_box,
    worth_a_look,
)
from gegenbauer.estimators._progress import CallbackSupportMixin, Progress, with_callbacks
from gegenbauer.estimators._samples import Samples, ordered_sums
from gegenbauer.estimators._scoring import DEFAULT_SCORING
from gegenbauer.estimators._search_warnings import (
    RUNAWAY,
    chance_of_scorer,
    loss_of_constants,
    may_be_copies,
    warn_at_edges,
    warn_of_copies,
    warn_of_near_copies,
    warn_of_underfitting,
)
from gegenbauer.estimators._splits import make_splits
from gegenbauer.estimators._targets import checked_sample_weight, warn_of_light
from gegenbauer.inspection.sample_marginals import nodes_of
from gegenbauer.ridge.cost import default_landmarks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.estimators._final_fit import LeftOut
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["SearchEstimator"]

# What the best of some hundred models gains from noise in -log p of all samples left out, about
# the logarithm of their number, and what it gains where the penalty alone is chosen; a loss of less
# than half is never taken for that
_LUCK, _LUCK_OF_ONE = 6.0, 2.0

# Weights count samples; where the largest is beyond these, products of them, or what is divided by
# them, overflow
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-50, 1e50


class SearchEstimator(CallbackSupportMixin, BestModel):  # type: ignore[misc]
    """Search, final fit and output common to regression and classification."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BestModel._parameter_constraints,
        "spectrum": [StrOptions({"auto"}), tuple, list, Spectrum, *COMPONENTS, None],
        "alphas": [StrOptions({"auto"}), "array-like"],
        "n_terms": [Range(Integral, 1, None, closed="left"), "array-like", None],
        "lam": [Range(Real, -0.5, None, closed="neither"), "array-like", None],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "penalize_constant": ["boolean"],
        "search_samples": [Range(Integral, 10, None, closed="left")],
        "kernel_samples": [StrOptions({"auto"}), Range(Integral, 0, None, closed="left")],
        "bounds": [StrOptions({"auto"}), "array-like", None],
        "max_seconds": [Range(Real, 0, None, closed="neither"), None],
        "verbose": ["verbose"],
    }

    n_clipped_: NDArray[np.intp]
    _range: InputScaling | None = None
    _ordered_sums: Doubles | None = None  # by which the samples of a fit are recognised

    # How much wider than the samples of the fit the box of the inputs is, on either side; the
    # paper has none
    _MARGIN: ClassVar[float] = 0.0

    # What chooses a model without ``scoring``, and what `_misses` gives the mean of, for messages
    _own_loss: ClassVar[str]
    _miss: ClassVar[str]

    cv: Any
    verbose: bool | int

    # ---- what subclasses define -----------------------------------------------------

    def _finish(self, data: Samples, left_out: LeftOut) -> None:
        """Make what the predictions of left-out samples are good for; set ``loo_predictions_``."""
        raise NotImplementedError

    def _complete(self, data: Samples, left_out: LeftOut) -> None:
        """Finish a fit; keep the marginals of its samples, unless the model keeps all of these."""
        self._finish(data, left_out)
        n_nodes = nodes_of(self.expansion_)
        if n_nodes is not None:
            self._keep_marginals(data.X, data.weight, n_nodes)

    # ---- fitting -----------------------------------------------------------------

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.max_seconds is not None:  # which may be beyond float64
            check_number(self.max_seconds, "max_seconds", minimum=0.0, open_below=True)
        # scikit-learn takes True for the number 1
        if not isinstance(self.kernel_samples, str):
            check_integer(self.kernel_samples, "kernel_samples", minimum=0)
        if isinstance(self.n_terms, bool):
            check_integer(self.n_terms, "n_terms", minimum=1)
        # what these refuse would otherwise be refused when the search is over
        self._alpha_grid()
        self._basis_grid()

    @with_callbacks  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def _fit_on_copy(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Self:
        self._validate_params()
        given = {"sample_weight": sample_weight, "groups": groups}
        metadata = {name: value for name, value in given.items() if value is not None} or None
        # of many samples other models are tried as well, and how many is not known yet
        n_stages = None if self._may_have_alternatives else 2
        more = {"verbose": self.verbose, "X": X, "y": y, "metadata": metadata}
        with Progress(self, n_stages, **more) as progress:
            return super()._fit_on_copy(X, y, sample_weight, groups, progress)

    def _fit_by_stream(self, kind: type[Any], batches: Any, checkpoint: Any, **how: Any) -> Self:
        """Take over the state of an estimator that is fitted to a stream."""
        self._validate_params()
        if checkpoint is not None:
            raise ValueError(
                Message(
                    "`checkpoint` must be None where the model is chosen automatically, since sums "
                    "over folds and the draw of samples are not written to files. To go on after "
                    "an interrupt, choose on a part of the stream, and give what was chosen to {}; "
                    "got {}",
                    type(self).__name__.removesuffix("CV"),
                    shown(checkpoint),
                )
            )
        given = self.get_params(deep=False)
        names = kind._get_param_names()
        search = kind(**{name: given[name] for name in names if name in given})
        search.search_stream(batches, **how)
        found = self._unfitted()
        found._learn_from(search)
        with exclusive(self):
            self._become(found)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, progress: Progress) -> None:
        raw_X, raw_y = X, self._prepare_y(y)
        X, targets, weight, used = self._checked_rows(X, y, sample_weight)
        n_rows = _num_samples(raw_X)
        given = checked_sample_weight(sample_weight, n_rows)
        if given is not None:
            given = given[used]
            self._look_at_weights(given)
        X = self._find_levels(X, weight)
        self._ordered_sums = ordered_sums(X)
        self._y_was_flat = targets.ndim == 1
        targets = targets if targets.ndim == 2 else targets[:, np.newaxis]
        if len(X) < 2:
            raise ValueError(
                f"the choice of a model needs at least two samples, to leave one out; got "
                f"n_samples = {len(X)}"
            )
        grid = self._basis_grid()
        splits = make_splits(self.cv, raw_X, raw_y, used, groups, classifier=is_classifier(self))
        data, splits = Samples.merge(X, targets, weight, given, splits)
        if data.n < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two different samples, to leave one "
                f"out; all {len(X)} are the same"
            )
        has_copies = warn_of_copies(data, splits)
        self.scaling_ = self._make_scaling(X, data)
        if self._has_given_bounds:
            self._apply_range_policy(X)
        self._look_at_inputs(X)
        data = self._standardised(data)
        self._try_scoring(data)
        loss = self._make_loss(data, splits)
        self.alternatives_, n_landmarks = {}, None
        if grid is None and self.n_terms is None:
            n_landmarks = self._n_landmarks(data)
        self._all_terms, self._weighted = n_landmarks is not None, grid is None
        if self._all_terms:
            self._require_a_value_outside()
        with self._scoring_to_blame():
            if grid is not None:
                self._require_numbers()
                left_out = self._fit_paper(data, grid, loss, splits, progress)
            else:
                left_out = self._fit_best(data, loss, splits, progress, n_landmarks)
        self._warn_of_choice(data, loss, splits, left_out.outputs, grid)
        if not has_copies:
            self._warn_of_near_copies(data, splits, left_out.outputs)
        self._complete(data, left_out)
        self._put_back(raw_X, used, n_rows)

    @contextmanager
    def _scoring_to_blame(self) -> Iterator[None]:
        """Let the error that no model has a score name the scorer, where one is given."""
        try:
            yield
        except NoFiniteLossError as error:
            if self.scoring is None:
                raise
            raise NoFiniteLossError(
                Message(
                    "`scoring={!r}` gives no model a score that is a finite number, as the "
                    "predictions of samples left out must have",
                    self.scoring,
                    ways=["give one that does", DEFAULT_SCORING],
                )
            ) from error

    def _warn_of_choice(
        self,
        data: Samples,
        loss: Loss,
        splits: Splits,
        left_out: Doubles,
        basis_grid: tuple[list[float], list[int]] | None,
    ) -> None:
        """Warn of what makes the model worse than it may be: of its cause alone, if that is known.

        Where the constant term is dear, always predicting the same is better, and penalties seem
        too large.
        """
        if not self._warn_of_constant(data):
            self._warn_of_underfitting(data, loss, splits, left_out)
            self._warn_at_edges(basis_grid)

    def _warn_of_constant(self, data: Samples) -> bool:  # noqa: ARG002  # labels have no mean
        """Warn where the penalty on the constant term costs much; return whether it does."""
        return False

    @staticmethod
    def _look_at_weights(given: Doubles) -> None:
        """Refuse weights that are tiny or huge, and warn of light ones."""
        if not _LEAST_WEIGHT <= given.max() <= _MOST_WEIGHT:
            bound = "at most" if given.max() < 1.0 else "as large as"
            raise ValueError(
                f"sample_weight is {bound} {given.max():.3g}, so that products and reciprocals "
                "of the weights leave float64: scale the weights so that they average one"
            )
        warn_of_light(given, given.size)

    def _n_landmarks(self, data: Samples) -> int | None:
        """Return at how many samples the kernel of all terms is taken.

        0 for all of them, None where a finite set of terms is better.
        """
        if data.n <= self._most_for_kernel:
            return 0
        return default_landmarks(data.n) or None

    def _try_scoring(self, data: Samples) -> None:
        """Let a scorer refuse targets before the search: it must score predictions of no error."""
        if isinstance(self.scoring, str):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._make_loss(data, None)(data.Y[np.newaxis], np.arange(data.n))

    def _put_back(self, X: Any, used: Places, n_rows: int) -> None:
        """Give samples of weight zero, which no fit has seen, the predictions of the fit."""
        if used.size == n_rows:
            return
        unused = np.setdiff1d(np.arange(n_rows), used)
        # the policy for samples out of range is of those that are predicted, not of these
        outputs = self._evaluate(self._validate_inputs(_safe_indexing(X, unused), reset=False))
        whole = np.empty((n_rows, *self.loo_predictions_.shape[1:]))
        whole[used] = self.loo_predictions_
        whole[unused] = outputs.reshape(unused.size, *whole.shape[1:])
        self.loo_predictions_ = whole

    def _warn_at_edges(self, basis_grid: tuple[list[float], list[int]] | None) -> None:
        """Warn where the best value is an end of a grid that was given: of three values or more."""
        given = self._alpha_grid()
        grids: list[tuple[str, float, Sequence[float]]]
        grids = [("alphas", self.alpha_, [] if given is None else given.tolist())]
        if basis_grid is not None:
            grids += [("lam", self.lam_, basis_grid[0]), ("n_terms", self.n_terms_, basis_grid[1])]
        warn_at_edges(grids)

    def _make_scaling(self, X: NDArray[Any], data: Samples) -> InputScaling:
        """Return the box of the inputs, and keep the range of the samples if it is wider."""
        clip = self.out_of_range != "extrapolate"
        domain = (0, 1) if self._on_paper else (-1, 1)
        self._range = None
        if self._has_given_bounds:
            box = self._with_levels(box_of(self.bounds, X.shape[1], domain=domain, clip=clip))
        else:
            whole = tight = InputScaling.fit(X, domain=domain, clip=clip)
            if isinstance(self.bounds, str) and not self._on_paper and clip:
                tight = with_fences(whole, data.X, data.weight, self._category_columns)
            box = self._with_levels(self._with_margin(tight))
            if tight is not whole:
                self._range = self._with_levels(self._with_margin(whole))
        self.n_clipped_ = np.count_nonzero(box.beyond(X, rounded=True), axis=0)
        return box

    @property
    def _has_given_bounds(self) -> bool:
        return self.bounds is not None and not isinstance(self.bounds, str)

    @property
    def _seen(self) -> InputScaling:
        return self.scaling_ if self._range is None else self._range

    def _with_margin(self, tight: InputScaling) -> InputScaling:
        return with_margin(tight, 0.0 if self._on_paper else self._MARGIN)

    @property
    def _may_have_all_terms(self) -> bool:
        """Whether parameters allow the kernel of all terms."""
        return not self._on_paper and self.n_terms is None

    @property
    def _takes_levels(self) -> bool:
        return not self._on_paper if self._weighted is None else self._weighted

    @property
    def _way_to_levels(self) -> Message | None:
        if self._takes_levels:
            return None
        return Message("leave `spectrum=None` out, which takes complete numbers alone")

    @property
    def _margin(self) -> float:
        return self._MARGIN if self.spectra_ and not self._has_given_bounds else 0.0

    def _standardised(self, data: Samples) -> Samples:
        return data

    def _labels(self, data: Samples) -> NDArray[Any]:
        """Return the targets as scikit-learn's scorers take them."""
        raise NotImplementedError

    # ---- what came of it ---------------------------------------------------------

    def _warn_of_underfitting(
        self, data: Samples, loss: Loss, splits: Splits, left_out: Doubles
    ) -> None:
        """Warn where a constant would do, by the score of samples left out that chose the model."""
        if not np.ptp(data.Y, axis=0).any():  # and it does: there is nothing to learn
            return
        constant = loss_of_constants(data, loss, splits, pooled=self._pooled)
        best, chance = -self.best_score_, self._chance(constant, data)
        if chance is None:
            judged, outputs = data, left_out
            if data.share is not None or splits is not None:  # equal ones are left out apart
                judged, outputs = data.apart(), left_out[data.back]
                loss = self._make_loss(judged, None)
            chance = chance_of_scorer(judged, loss, outputs, constant - best)
        if not best >= constant - chance:
            return
        ran_away = self._alpha_grid() is None and self.alpha_ >= RUNAWAY * self._trace(data)
        measure, sign = self._own_loss, 1.0
        if self.scoring is not None:
            name = getattr(self.scoring, "__name__", self.scoring)  # of a function, or a scorer
            measure, sign = Message("the score by `scoring={!r}`", name), -1.0
        warn_of_underfitting(
            sign * best, sign * constant, data.n_samples, self.alpha_ if ran_away else None, measure
        )

    def _warn_of_near_copies(self, data: Samples, splits: Splits, left_out: Doubles) -> None:
        """Warn where samples agree with others far better than a model that has seen neither."""
        if not worth_a_look(data.X) or not np.ptp(data.Y, axis=0).any():
            return
        copies = equal_but_for_one(data.X) or near_in_box(data.X, self.scaling_)
        if not copies.are_many:
            return
        agree = self._misses(data, data.Y[copies.second], copies.first)
        if not may_be_copies(agree):  # which takes no further fit
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has warned
            try:
                outputs = hold_out(copies, data.n, lambda *parts: self._refit(data, *parts))
            except np.linalg.LinAlgError:  # of the others, a penalty is too small
                return
        apart = self._misses(data, outputs, copies.first)
        alone = self._misses(data, left_out[copies.first], copies.first)
        warn_of_near_copies(
            copies.share, agree, alone, apart, self._miss,
            [self._column_name(t) for t in copies.differ_in(data.X)], by_cv=splits is not None,
            # the likelihood, by which regression learns a spectrum, knows no parts
            has_groups=is_classifier(self) or not isinstance(self.spectrum, str),
        )  # fmt: skip

    def _misses(self, data: Samples, outputs: Doubles, rows: Places) -> Doubles:
        """Return by how much outputs miss some samples; a constant by one at most."""
        raise NotImplementedError

    @property
    def _luck(self) -> float:
        given = self.spectrum is not None and not isinstance(self.spectrum, str)
        # of several spectra, none has seen the samples that it is judged by
        return _LUCK_OF_ONE if given or len(self.spectra_) > 1 else _LUCK

    def _chance(self, constant: float, data: Samples) -> float | None:
        """Return by how much the best of all models tried may beat the constant by chance.

        None where the score has no such measure of its own.
        """
        raise NotImplementedError
