"""Automatic model selection: spectrum, number of terms and penalty.

What is searched, and by which scores, is in :mod:`gegenbauer.selection`; here samples are
checked, scaled and chosen, scores are made of labels, and the final model is fitted. Up to some
thousand samples that model is the kernel of all terms with dual coefficients, beyond it is the same
in the span of landmarks, and for very many samples a finite set of the terms of largest weight.
"""

from __future__ import annotations

import warnings
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
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import message_of
from gegenbauer.estimators._base import Range, box_of
from gegenbauer.estimators._best_model import BestModel
from gegenbauer.estimators._final_fit import (
    FitProblem,
    FittedModel,
    LeftOut,
    fit_again,
    fit_kernel,
    fit_landmarks,
    fit_terms,
    kernel_of_all_terms,
    landmarks_among,
)
from gegenbauer.estimators._grids import alpha_grid, basis_grid, given_spectrum
from gegenbauer.estimators._input_box import with_fences, with_margin
from gegenbauer.estimators._near_copies import (
    equal_but_for_one,
    hold_out,
    near_in_box,
    worth_a_look,
)
from gegenbauer.estimators._penalty_levels import mean_diagonal, mean_squared_length
from gegenbauer.estimators._progress import CallbackSupportMixin, Progress, with_callbacks
from gegenbauer.estimators._samples import Samples, search_places
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
from gegenbauer.estimators._splits import make_splits, restrict_splits
from gegenbauer.estimators._targets import checked_sample_weight, warn_of_light
from gegenbauer.ridge.cost import default_landmarks
from gegenbauer.ridge.mean_expansion import MeanExpansion
from gegenbauer.selection.basis_search import PAPER_ALPHAS, search_basis
from gegenbauer.selection.objective import check_level
from gegenbauer.selection.spectrum_search import ALPHAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
    from gegenbauer.basis.spectrum import ComponentsLike
    from gegenbauer.estimators._time_budget import Choice
    from gegenbauer.ridge.landmarks import Landmarks
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["SearchEstimator"]

# Terms of the finite set that is used where samples are too many for a kernel
_DEFAULT_N_TERMS = 2000

# What the best of some hundred models gains from noise in -log p of all samples left out, about
# the logarithm of their number, and what it gains where the penalty alone is chosen; a loss of less
# than half is never taken for that
_LUCK, _LUCK_OF_ONE = 6.0, 2.0

# Weights count samples; where the largest is smaller, what is divided by them overflows
_LEAST_WEIGHT = 1e-50


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

    # How much wider than the samples of the fit the box of the inputs is, on either side; the
    # paper has none
    _MARGIN: ClassVar[float] = 0.0

    # What chooses a model without ``scoring``, and what `_misses` gives the mean of, for messages
    _own_loss: ClassVar[str]
    _miss: ClassVar[str]

    spectrum: str | ComponentsLike | None
    alphas: str | Sequence[float]
    n_terms: int | Sequence[int] | None
    lam: float | Sequence[float] | None
    cv: Any
    scoring: Any
    penalize_constant: bool
    search_samples: int
    kernel_samples: int | str
    verbose: bool | int
    # ---- what subclasses define -----------------------------------------------------

    def _learn(self, data: Samples, splits: Splits, progress: Progress) -> tuple[Spectrum, float]:
        """Choose the spectrum and a first alpha for the kernel of all terms, on few samples."""
        raise NotImplementedError

    def _finish(self, data: Samples, left_out: LeftOut) -> None:
        """Make what the predictions of left-out samples are good for; set ``loo_predictions_``."""
        raise NotImplementedError

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
        if grid is not None:
            self._require_numbers()
            left_out = self._fit_paper(data, grid, loss, splits, progress)
        else:
            left_out = self._fit_best(data, loss, splits, progress, n_landmarks)
        self._warn_of_choice(data, loss, splits, left_out.outputs, grid)
        if not has_copies:
            self._warn_of_near_copies(data, splits, left_out.outputs)
        self._finish(data, left_out)
        self._put_back(raw_X, used, n_rows)

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
        """Refuse weights that are tiny, and warn of light ones."""
        if given.max() < _LEAST_WEIGHT:
            raise ValueError(
                f"sample_weight is at most {given.max():.3g}, so that squares and reciprocals "
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

    def _default_n_terms(self, data: Samples) -> int:  # noqa: ARG002  # on clusters it counts
        return _DEFAULT_N_TERMS

    def _fit_spectrum(
        self,
        data: Samples,
        loss: Loss,
        splits: Splits,
        progress: Progress,
        choice: Choice | None = None,
    ) -> LeftOut:
        """Choose a spectrum on few samples, and fit all terms or those of largest weight."""
        n_search = int(self.search_samples) if choice is None else choice.n_search
        n_landmarks = None if choice is None else choice.n_landmarks
        rows = search_places(data, n_search, self._stratified)
        self.n_search_samples_ = int(rows.size)
        few, few_splits = data.take(rows), restrict_splits(splits, rows, data.n)
        self.surface_, self.lam_ = {}, 0.0
        with progress.stage("spectrum", n_steps=None):
            if isinstance(self.spectrum, str):
                spectrum, alpha = self._learn(few, few_splits, progress)
                self.spectra_ = (spectrum,)
            else:
                spectrum = given_spectrum(self.spectrum, data.X.shape[1], self._levels)
                self.spectra_ = (spectrum,)
                alpha = self._first_alpha(few, few_splits) if n_landmarks == 0 else 0.0
        if n_landmarks:
            with progress.stage(f"alpha by up to {min(n_landmarks, data.n)} landmarks"):
                return self._fit_landmarks(data, loss, splits, n_landmarks)
        if n_landmarks == 0:
            with progress.stage("alpha on all samples"):
                return self._fit_kernel(data, spectrum, alpha, loss, splits)
        n_terms = self._default_n_terms(data) if self.n_terms is None else int(self.n_terms)  # type: ignore[arg-type]
        with progress.stage(f"alpha of {n_terms} terms"):
            basis = TensorBasis(
                data.X.shape[1],
                n_terms=n_terms,
                lam=self.lam_,
                index_set="largest_weight",
                spectrum=spectrum,
            )
            grid = self._alpha_grid()
            if grid is None:
                grid = np.array(ALPHAS) * self._level(basis, data)
            return self._fit_terms(data, basis, grid, loss, splits)

    def _fit_paper(
        self,
        data: Samples,
        grid: tuple[list[float], list[int]],
        loss: Loss,
        splits: Splits,
        progress: Progress,
    ) -> LeftOut:
        """Choose lam, the number of terms and alpha, all of them on all samples."""
        alphas = self._alpha_grid()
        with progress.stage("basis", n_steps=None):
            found = search_basis(
                data.X, data.Y, loss, lams=grid[0], n_terms=grid[1],
                alphas=PAPER_ALPHAS if alphas is None else alphas.tolist(), widen=alphas is None,
                **data.leaving_out, cv=splits, pooled=self._pooled,
                callback=lambda k: progress.step(f"basis {k}"), **self._options(),
            )  # fmt: skip
        self.surface_ = {
            "lam": found.lams,
            "n_terms": found.n_terms,
            "alpha": found.alphas,
            "score": -found.losses,
        }
        self.n_search_samples_ = data.n
        self.spectra_, self.lam_ = (), found.basis.lam
        with progress.stage("weights"):
            return self._fit_terms(data, found.basis, np.array([found.alpha]), loss, splits)

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

    @property
    def _pooled(self) -> bool:
        """Whether the test samples of all splits are scored together.

        Our own scores are: a temperature for the few samples of one part would be fitted to them.
        Scorers are called once for each part, as scikit-learn does.
        """
        return self.scoring is None

    def _warn_at_edges(self, basis_grid: tuple[list[float], list[int]] | None) -> None:
        """Warn where the best value is an end of a grid that was given: of three values or more."""
        given = self._alpha_grid()
        grids: list[tuple[str, float, Sequence[float]]]
        grids = [("alphas", self.alpha_, [] if given is None else given.tolist())]
        if basis_grid is not None:
            grids += [("lam", self.lam_, basis_grid[0]), ("n_terms", self.n_terms_, basis_grid[1])]
        warn_at_edges(grids)

    @property
    def _on_paper(self) -> bool:
        """Whether the next fit takes the basis of the paper, its box and its penalty."""
        return self.spectrum is None

    def _basis_grid(self) -> tuple[list[float], list[int]] | None:
        """Return lams and numbers of terms to choose from with the paper's basis; None without."""
        return basis_grid(self.spectrum, self.lam, self.n_terms)

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
        self.n_clipped_ = np.count_nonzero(box.beyond(X), axis=0)
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
    def _margin(self) -> float:
        return self._MARGIN if self.spectra_ and not self._has_given_bounds else 0.0

    def _standardised(self, data: Samples) -> Samples:
        return data

    def _labels(self, data: Samples) -> NDArray[Any]:
        """Return the targets as scikit-learn's scorers take them."""
        raise NotImplementedError

    def _alpha_grid(self) -> Doubles | None:
        """Return the requested alphas, absolute; None if the search is free."""
        return alpha_grid(self.alphas)

    def _options(self) -> dict[str, Any]:
        return {
            "scaling": self.scaling_,
            "penalize_constant": bool(self.penalize_constant),
            "n_threads": self._n_threads(),
        }

    def _kernel_level(self, kernel: SpectrumKernel | TotalDegreeKernel, data: Samples) -> float:
        """Return the mean of the diagonal of the weighted kernel matrix, of penalised terms."""
        level = mean_diagonal(kernel, data, self.scaling_, self.penalize_constant)
        return data.unit * check_level(level, f"spectrum={self.spectrum!r}")

    def _level(self, basis: TensorBasis, data: Samples) -> float:
        """Return the mean squared length of the penalised terms, times the weight of a sample."""
        level = mean_squared_length(basis, data, self.scaling_, self.penalize_constant)
        return level if level > 0 else 1.0  # a free constant alone has no penalty

    def _problem(self, data: Samples, loss: Loss, splits: Splits) -> FitProblem:
        return FitProblem(
            data, loss, splits, pooled=self._pooled, options=self._options(),
            has_variance=not is_classifier(self),
        )  # fmt: skip

    def _take(self, found: FittedModel) -> LeftOut:
        """Hold a fitted model; return what it finds of samples left out."""
        self.expansion_, self.alpha_, self.best_score_ = found.expansion, found.alpha, -found.loss
        self.engine_, self.solver_, self.rcond_ = found.engine, found.solver, found.rcond
        self.n_terms_ = found.n_terms
        return found.left_out

    def _first_alpha(self, data: Samples, splits: Splits) -> float:
        """Return the best of the usual alphas for the kernel of all terms, on few samples."""
        kernel = kernel_of_all_terms(data.X.shape[1], self.spectra_[0])
        alphas = np.array(ALPHAS) * self._kernel_level(kernel, data)
        problem = self._problem(data, self._make_loss(data, splits), splits)
        return problem.best_of(kernel, alphas)[0]

    def _fit_kernel(
        self, data: Samples, spectrum: Spectrum, alpha: float, loss: Loss, splits: Splits
    ) -> LeftOut:
        """Fit all terms with dual coefficients; return the predictions of samples left out."""
        kernel = kernel_of_all_terms(data.X.shape[1], spectrum)
        problem = self._problem(data, loss, splits)
        return self._take(fit_kernel(problem, kernel, alpha, self._alpha_grid()))

    def _fit_landmarks(
        self, data: Samples, loss: Loss, splits: Splits, n_landmarks: int
    ) -> LeftOut:
        """Fit all terms in the span of their kernel at few samples."""
        landmarks, places = self._landmarks_of(data, n_landmarks)
        alphas = self._alphas_of_landmarks(landmarks, data)
        problem = self._problem(data, loss, splits)
        return self._take(fit_landmarks(problem, landmarks, places, alphas))

    def _fit_terms(
        self, data: Samples, basis: TensorBasis, alphas: Doubles, loss: Loss, splits: Splits
    ) -> LeftOut:
        """Fit a finite set of terms; return the predictions of samples left out."""
        return self._take(fit_terms(self._problem(data, loss, splits), basis, alphas))

    def _landmarks_of(self, data: Samples, n_landmarks: int) -> tuple[Landmarks, Places]:
        """Choose landmarks among samples; return which of these they are, too."""
        kernel = kernel_of_all_terms(data.X.shape[1], self.spectra_[0])
        return landmarks_among(data, kernel, n_landmarks, self.scaling_, self._n_threads())

    def _alphas_of_landmarks(self, landmarks: Landmarks, data: Samples) -> Doubles:
        """Return the alphas to choose from."""
        grid = self._alpha_grid()
        if grid is None:  # as fine as the walk of all samples: one pass is for all penalties
            level = self._kernel_level(landmarks.kernel, data)
            grid = np.outer(ALPHAS, [1.0, 2.0]).ravel() * level
        return grid

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

    def _refit(self, data: Samples, train: Places, test: Places) -> Doubles:
        """Return outputs for some samples, of the model that was chosen, fitted to others."""
        return fit_again(
            self.expansion_, self.alpha_, data, train, test, self._options(),
            at_landmarks=self.engine_ == "landmarks",
        )  # fmt: skip

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

    def _trace(self, data: Samples) -> float:
        """Return the sum of the eigenvalues of the kernel matrix, of penalised terms."""
        if not self._all_terms:
            return data.n_samples * self._level(self.basis_, data)
        found = self.expansion_
        kernel = found.middle.kernel if isinstance(found, MeanExpansion) else self.kernel_
        lengths = kernel.diagonal(data.X, scaling=self.scaling_)
        lengths -= not self.penalize_constant
        return float(lengths.sum() if data.weight is None else lengths @ data.weight)
