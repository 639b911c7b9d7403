"""The regressor that selects its model automatically."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import ndtri
from sklearn.metrics import (
    explained_variance_score,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    median_absolute_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.utils._param_validation import StrOptions

from gegenbauer._messages import Message
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import (
    CLIP,
    check_flag,
    check_number,
    require_finite,
    shown,
)
from gegenbauer.basis.spectrum import PowerDecay, Spectrum
from gegenbauer.estimators._beyond_box import variance_beyond
from gegenbauer.estimators._constant import warn_if_constant_is_dear
from gegenbauer.estimators._intervals import left_out_intervals
from gegenbauer.estimators._penalty_levels import MOST_FOR_A_MEAN
from gegenbauer.estimators._samples import Samples, spread_places
from gegenbauer.estimators._scoring import IdentityRegressor, scored_by
from gegenbauer.estimators._several_spectra import SeveralSpectraEstimator, relative_noise
from gegenbauer.estimators._sparse import in_blocks, joined
from gegenbauer.estimators._stream_search import StreamRegression
from gegenbauer.estimators._targets import RealTargets
from gegenbauer.estimators._time_budget import MOST_INPUTS
from gegenbauer.estimators._uncertainty import estimate_noise_variance
from gegenbauer.ridge.expansions import (
    KernelExpansion,
    KernelPosterior,
    LandmarkPosterior,
    TermPosterior,
)
from gegenbauer.ridge.mean_expansion import MeanExpansion
from gegenbauer.selection._learn_spectrum import first_spectrum, learn_spectrum
from gegenbauer.selection.candidates import TRUSTED
from gegenbauer.selection.ridge_path import RidgePath

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.spectrum import ComponentsLike
    from gegenbauer.estimators._final_fit import LeftOut
    from gegenbauer.estimators._progress import Progress
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["GegenbauerRegressorCV"]

# Targets whose standard deviation is further from one have variances beyond float64
_MOST_EXTREME = 1e140

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

# Smoothness of the component that alternatives have for what is rough, and what it begins with,
# as a share of the weights of each input; less than the last is none
_ROUGH, _ROUGH_SHARE, _LEAST_ROUGH = 1.0, 0.1, 1e-3

# Most steps of the search for a spectrum, and from one that was learned on
_STEPS, _STEPS_OF_ROUGH = 100, 30


class GegenbauerRegressorCV(RealTargets, SeveralSpectraEstimator):
    r"""Regression with automatic model selection.

    All products of Chebyshev polynomials of the inputs there are, each with a weight that the
    data choose: every input has its own, for smooth, very smooth and nearly linear parts, so
    that inputs that do not matter fade out. The weights and the penalty are those of the
    largest marginal likelihood on some hundred samples; then the penalty is chosen again, and the
    one linear system solved, on all samples. It takes the place of a Gaussian process with
    automatic relevance determination, at a fraction of its time. Of few samples, five such models
    are learned, each with weights from other four fifths of the samples, and their mean is taken.

    Parameters
    ----------
    spectrum : "auto", tuple (q, s), Spectrum or what one is made from, or None, default="auto"
        "auto" learns the weights of all inputs. A spectrum that is given is fixed; (q, s) is the
        squared weight q n^(-2s) for every input that occurs with degree n. None takes the raw
        polynomials of the paper on [0, 1], in its order, and chooses ``lam``, ``n_terms`` and alpha
        on all samples.
    alphas : "auto" or array-like of positive numbers, default="auto"
        Penalties to choose from; "auto" walks to the best one, with ``spectrum=None`` from
        the paper's 2^-30 to 2^30, and beyond where the best is at an end. Where the best of
        three given ones or more is at an end (of two it always is), here as in ``lam`` and
        ``n_terms``, a `GridEdgeWarning` reports it.
    n_terms : int, None, or with ``spectrum=None`` array-like of int, default=None
        Number of terms of largest weight. None uses all there are: for up to ``kernel_samples``
        samples exactly, then in the span of their kernel at
        :func:`gegenbauer.ridge.default_landmarks` samples, and 2000 where that gives none (some
        280,000 samples). With ``spectrum=None`` numbers of first terms to choose from, None
        for the paper's 1000.
    lam : float, array-like of float or None, default=None
        Parameters to choose from with ``spectrum=None``; None for the paper's 0.05. Other spectra
        have Chebyshev polynomials, and no such parameter.
    cv : int, splitter, iterable or None, default=None
        How samples are left out to choose alpha: None for exact leave-one-out, which costs no
        further fits (see ``loo_predictions_`` for samples that are equal); else as in
        scikit-learn. Splitters by groups take ``groups`` of ``fit``.
    scoring : str, callable or None, default=None
        What the best alpha is the best of: a scorer of scikit-learn; None for the smallest
        mean squared error.
    search : {"marginal_likelihood", "squared_error"}, default="marginal_likelihood"
        By what the spectrum is learned: the likelihood of its samples, or their exact
        leave-one-out error, which takes more steps and is often a little better without noise.
    intervals : {"auto", "five_spectra", "one_spectrum"}, default="auto"
        Whether leave-one-out predictions, and with them intervals, standard deviations and
        ``best_score_``, are of models whose spectrum has not seen the sample either.
        "five_spectra" learns five, each without a fifth of the samples (always the same ones), and
        fits all samples with each; the mean of the five predicts. That takes some three to five
        times as long, and all terms of up to ``kernel_samples`` samples, with ``cv=None``; what
        does not go with it is an error. "one_spectrum" learns one on all samples, which makes all
        of these too good where samples are few. "auto" takes five for up to 300 distinct samples,
        with the other parameters permitting. A given spectrum has seen no sample: it is taken as it
        is.
    penalize_constant : bool, default=False
        Whether alpha also penalises the constant term.
    search_samples : int, default=500
        Samples on which the spectrum is learned, evenly spread over the range of y; all with
        ``spectrum=None``.
    kernel_samples : int or "auto", default="auto"
        Most samples of which each has a dual coefficient. "auto" takes
        :func:`gegenbauer.ridge.default_kernel_samples`, about 15,000 on two processors with 24 GB:
        give a number for a choice that does not depend on the machine.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which inputs are categories: "from_dtype" those of tables of pandas, polars or Arrow whose
        type is one of categories, text or truth values; else a mask, or numbers or names of
        columns. Each is one input with one weight, whatever its number of levels: see
        :class:`basis.Levels`. Values that were not in ``fit`` count as the mean of all, as
        ``out_of_range`` has it.
    missing : {"indicator", "error"}, default="indicator"
        What to do with values that are missing (NaN, None, NA). "indicator" learns what it means
        that a value is missing, and where it is nothing else from that input: in numbers it is a
        level beside the polynomials, in categories one level more. What is missing in prediction,
        but never was in ``fit``, counts as the mean. A column without any value in ``fit`` is
        ignored, whatever comes in it later. The raw polynomials of ``spectrum=None`` take neither
        categories nor missing values.
    bounds : "auto", array-like of shape (n_features, 2) or None, default="auto"
        The box of the inputs, (lower, upper) of each, which is mapped to [-1, 1]; values beyond it
        are clipped to it. What is given for a category counts for nothing, but has to be such a
        pair. None takes the range of the samples. "auto" does, too, but puts fences where a few
        samples far from all others would set it: on either side of the median, three times as far
        as the quantile of 0.99 is; ``n_clipped_`` reports how many are beyond. Only where values
        are clipped, and not with ``spectrum=None``. From 1,000 samples on each input may be
        replaced by the mean of its place in the box and its rank (half ranks), see
        ``alternatives_``.
    max_seconds : float or None, default=None
        A time budget of ``fit``, in seconds, for models of all terms. Where the choice would take
        longer, by a short measurement, other models are not tried, landmarks take the place of all
        samples, and, where that is not enough, spectra are learned on fewer; with more than 1,000
        inputs one spectrum takes the place of five, and its search may end early. A warning reports
        it. It is soft: nothing else is cut short, and what is expected is right to a factor of two.
        What is chosen then depends on the speed of the machine. Nothing changes with ``n_terms``
        and ``spectrum=None``; ``fit_stream``, which takes one pass over the batches, refuses it.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="warn"
        What to do in prediction with values outside of the range seen in ``fit``, which is
        taken to be one per cent wider on either side: see :class:`GegenbauerRegressor`.
        "extrapolate" is for finite sets of terms only.
    verbose : bool or int, default=False
        Show progress as a line (by tqdm where it is installed). Callbacks of scikit-learn from 1.9
        on, such as ``set_callbacks(sklearn.callback.ProgressBar())``, work without it, and so does
        the logger "gegenbauer": stages are of the level INFO, their steps of DEBUG.
    n_jobs : int or None, default=None
        Number of threads, as in :class:`GegenbauerRegressor`.

    Attributes
    ----------
    spectrum_ : Spectrum or None
        The weights of the terms; None for ``spectrum=None``. Not of five.
    spectra_ : tuple of Spectrum
        All spectra, one or five; none for ``spectrum=None``.
    lam_ : float
        Parameter of the polynomials; 0 (Chebyshev) but for ``spectrum=None``.
    alpha_ : float
        The penalty, for targets scaled to a variance of one. Of five, the middle one.
    best_score_ : float
        Score of the chosen alpha on samples left out, the larger the better: minus the mean
        squared error in units of the targets' variance, or that of ``scoring``.
    cv_results_ : dict
        What was tried, as a table that ``pandas.DataFrame`` takes: "param_*" for the axes of
        ``surface_``, "params", "mean_test_score" and "rank_test_score", one entry a candidate.
    surface_ : dict of ndarray
        With ``spectrum=None``, what was tried, as in :class:`GegenbauerClassifierCV`; else empty.
    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Prediction of each sample of ``fit`` by the model without it (with ``cv``, of those
        that were in a test part). Samples that are equal are left out together where all at their
        x have the same target, or where their target occurs at that x alone, as with copies; else
        one at a time, as where inputs and targets have few values. Of five spectra, by the model
        whose spectrum has not seen the sample; those of one, with fewer than about ten samples an
        input, are optimistic.
    relevances_ : ndarray of shape (n_features,)
        Sum of the weights of each input, of five spectra the mean; not with ``spectrum=None``.
    noise_variance_ : ndarray of shape (n_outputs,)
        Squared residuals by the degrees of freedom that are left; of five spectra, those of each
        sample by the model whose spectrum has not seen it. Infinite, and standard deviations with
        it, where they cannot be judged: where none is left, or less than one of fewer than ten
        samples, which some spectrum meets with next to no noise whatever they are.
    effective_dof_ : float
        Sum of the leverages: how many free parameters the model amounts to.
    expansion_ : KernelExpansion, TermExpansion or MeanExpansion
        The fitted function, of which the next attributes are parts. The mean of five has them as
        ``expansion_.parts``.
    kernel_, X_fit_, dual_coef_, intercept_
        With all terms: the kernel, the distinct samples, or those that are landmarks, and the
        coefficients (n_centres, n_outputs) of
        ``kernel_(X, X_fit_, scaling=scaling_) @ dual_coef_ + intercept_``.
    basis_, term_coef_, intercept_
        With a finite set: the terms and their weights (n_terms, n_outputs), of
        ``basis_.evaluate(X, scaling=scaling_) @ term_coef_ + intercept_``.
    n_terms_ : int or infinity
        Number of terms.
    n_search_samples_ : int
        Samples on which the spectrum was learned.
    engine_, solver_, rcond_
        How the final system was solved: "kernel" for all terms, "landmarks" in the span of their
        kernel at ``X_fit_``, others as in :class:`GegenbauerRegressor`.
    alternatives_ : dict
        Models that were tried beside the first one, from 1,000 distinct samples on (of which
        ``kernel_samples`` allows as many), where ``spectrum`` is "auto" and ``n_terms`` and
        ``scoring`` are not given. By name: the ``gain``, the mean over samples left out of how much
        smaller its loss is; the ``usual_gain``, in which the largest half per cent on either side
        count as the next ones, and its ``standard_error``. If the former is positive and the latter
        beyond two standard errors, it ``is_clear``: the model was taken, and what follows was tried
        on it. Of more than 5,000 samples so many are judged. "half_ranks" spreads inputs more
        evenly, ``scaling_.warping`` has the maps; it is not tried where that would move no sample
        by more than a twentieth of the box, nor where ``bounds`` are given.
        "rough_part" is a further component of the spectrum, with s = 1, whose kernel has no
        derivatives. Losses are squared errors in units of the targets' variance.
    n_clipped_ : ndarray of int, shape (n_features,)
        Values of ``fit`` of each input that lie beyond the box, and were clipped to it.
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
        **SeveralSpectraEstimator._parameter_constraints,
        "search": [StrOptions({"marginal_likelihood", "squared_error"})],
        "intervals": [StrOptions({"auto", "one_spectrum", "five_spectra"})],
    }
    _MARGIN = 0.01
    _SEVERAL, _NOT_SEVERAL = "intervals='five_spectra'", "intervals='auto'"
    _ONE_SPECTRUM = "intervals='one_spectrum'"

    # During the fit: the spectrum that was learned without a rough component, and its alpha
    _smooth: tuple[Spectrum, float] | None
    _is_rough: bool  # and whether the spectrum that is learned has a rough component

    _own_loss = _miss = "the mean squared error, in units of the targets' variance,"

    search: str
    intervals: str
    noise_variance_: Doubles
    effective_dof_: float
    _left_out_residuals: Doubles
    _left_out_share: Doubles | None
    _row_weight: Doubles | None
    _prior_variance: Doubles

    @refuse_old_names
    def __init__(
        self,
        spectrum: str | ComponentsLike | None = "auto",
        alphas: str | Sequence[float] = "auto",
        n_terms: int | Sequence[int] | None = None,
        *,
        lam: float | Sequence[float] | None = None,
        cv: Any = None,
        scoring: Any = None,
        search: str = "marginal_likelihood",
        intervals: str = "auto",
        penalize_constant: bool = False,
        search_samples: int = 500,
        kernel_samples: int | str = "auto",
        categorical_features: Any = "from_dtype",
        missing: str = "indicator",
        bounds: Any = "auto",
        max_seconds: float | None = None,
        out_of_range: str = "warn",
        verbose: bool | int = False,
        n_jobs: int | None = None,
    ) -> None:
        self.spectrum = spectrum
        self.alphas = alphas
        self.n_terms = n_terms
        self.lam = lam
        self.cv = cv
        self.scoring = scoring
        self.search = search
        self.intervals = intervals
        self.penalize_constant = penalize_constant
        self.search_samples = search_samples
        self.kernel_samples = kernel_samples
        self.categorical_features = categorical_features
        self.missing = missing
        self.bounds = bounds
        self.max_seconds = max_seconds
        self.out_of_range = out_of_range
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the spectrum and alpha, and learn the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, from 0 up, as in :meth:`GegenbauerRegressor.fit`. Scores of
            samples left out are weighted as well.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each sample, for a ``cv`` that splits by groups, such as ``GroupKFold``.

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
        RepeatedSamplesWarning
            A tenth or more of the samples that ``cv`` holds out have an equal one among the others;
            or as many have near copies (inputs moved a little, targets rounded, an input that
            numbers the samples), and are predicted far better with these than without.
        TimeBudgetWarning
            ``max_seconds`` made the fit cheaper.
        UnderfittingWarning
            The model that was chosen is no better than a constant, by its held-out predictions.
        """
        self._fit_on_copy(X, y, sample_weight, groups)
        return self

    @refuse_old_names
    def fit_stream(
        self,
        batches: Any,
        *,
        landmarks: bool = False,
        checkpoint: None = None,
        verbose: bool | int = False,
        callback: Callable[[int, int | None], None] | None = None,
        announce: Callable[[str], None] | None = None,
    ) -> Self:
        """Choose everything by one pass over samples that need not fit into memory.

        The pass keeps the sums over each of ``cv`` folds (5 for None) and an even draw of at most
        20,000 samples; folds and draw go by a hash of the place of a sample in the stream, so that
        neither depends on how the stream is cut into batches. The first 20,000 samples show which
        terms are worth a sum. After the pass the spectrum is learned on ``search_samples`` of the
        draw; the number of its terms of largest weight and alpha are those of the smallest squared
        error of all samples, each held out, by subtraction of sums. The model is that of the same
        choice by refits of the samples in memory, up to rounding. There are at most ``n_terms``
        terms; None is for the best of 2000, 1000, 500 and 250 (no more than samples). With
        ``spectrum=None`` the best of ``lam``, ``n_terms`` and ``alphas`` is that on all samples.

        Where inputs are few, sums are moments, of which those of twice as many terms are kept, and
        ``lam`` costs nothing. Elsewhere they are products of features: then each ``lam`` needs sums
        of its own, and terms that the first samples gave no weight to are lacking. Where the terms
        of largest weight on the draw are not all there, there are fewer terms, and the spectrum of
        the first samples is judged beside it; of a stream that is sorted there is a warning.
        There are no fences: unless ``bounds`` are given, the box grows with the samples. The first
        20,000 samples show what levels categories have and which numbers may be missing, as in
        :meth:`GegenbauerRegressor.fit_stream`.

        With ``landmarks=True`` all terms are taken, in the span of their kernel at up to
        :func:`gegenbauer.ridge.default_landmarks` of the first 20,000 samples, of which the
        spectrum is learned, too: for rough functions of several inputs, where a finite set holds
        too little. Then the box is ``bounds`` or the range of these first samples; values beyond
        count as its nearest end, and as ``n_clipped_``. Shuffle a stream that is sorted.

        Parameters
        ----------
        batches : TableBatches, ArrayBatches or iterable of (X, y) or (X, y, sample_weight)
            Where the samples come from, each batch as in :meth:`GegenbauerRegressor.fit_stream`.
        landmarks : bool, default=False
            Take all terms in the span of landmarks; without ``n_terms`` and ``spectrum=None``.
        checkpoint : None
            Not available: sums over folds are not written to files.
        verbose : bool or int, default=False
            Show a bar with samples a second, and what ``announce`` is called with.
        callback : callable or None, default=None
            Called with the number of samples so far and of all samples, None if not known, after
            each batch.
        announce : callable or None, default=None
            Called with one line on how many numbers are summed and how much memory they take, and
            the choice behind them, before the sums begin.

        Returns
        -------
        GegenbauerRegressorCV
            The fitted estimator itself. When the call fails or is interrupted, the estimator stays
            as it was. Beside what ``fit`` sets it has ``stream_results_``, a table of the bases
            that were judged: "lam", "n_terms", "of_first" (whether the spectrum is that of the
            first samples), and the best "alpha" of each and its "score"; ``alpha_results_`` of the
            best basis ("alpha", "score"); ``loo_predictions_`` of the draw, each sample left out
            with its fold, ``loo_targets_`` and ``loo_weights_`` (None without weights); and
            ``n_samples_seen_``.

        Raises
        ------
        StreamError
            A batch cannot be read or learned; the message names its rows and source. It is a
            ValueError.
        ValueError
            There are fewer samples than folds; a parameter needs all samples at once, such as
            ``scoring``, or has no part in it, as ``max_seconds``.
        TooLargeError
            The sums of all folds do not fit into memory; it is raised before they begin.

        Warns
        -----
        StreamOrderWarning
            The first samples, by which terms were chosen to be summed, are unlike the others; with
            landmarks, one per cent or more of the values of an input lie beyond their range. Or
            some have levels that none of the first samples had.
        UnderfittingWarning
            The model that was chosen is no better than a constant, by its held-out predictions.

        Notes
        -----
        Copies of a sample fall into different folds, and make the penalty too small if there are
        many: give them as one with its weight.

        Examples
        --------
        >>> import numpy as np
        >>> from gegenbauer import ArrayBatches, GegenbauerRegressorCV
        >>> X = np.random.default_rng(0).uniform(size=(3000, 3))
        >>> y = np.sin(6 * X[:, 0]) * X[:, 1]  # the third input does not matter
        >>> batches = ArrayBatches(X, y, batch_size=500)
        >>> model = GegenbauerRegressorCV(n_terms=100).fit_stream(batches)
        >>> model.n_samples_seen_, bool(np.abs(model.loo_predictions_ - y).max() < 0.01)
        (3000, True)
        """
        return self._fit_by_stream(
            _OfStream, batches, checkpoint, landmarks=landmarks, verbose=verbose,
            callback=callback, announce=announce,
        )  # fmt: skip

    def _standardised(self, data: Samples) -> Samples:
        # by the largest first, so that no sum and no square leaves the range of float64
        size = np.abs(data.Y).max(axis=0)
        scaled = data.Y / np.where(size > 0, size, 1.0)
        center = np.average(scaled, axis=0, weights=data.weight)
        unit = np.sqrt(np.average((scaled - center) ** 2, axis=0, weights=data.weight))
        self._center, self._unit = center * size, np.where(unit * size > 0, unit * size, 1.0)
        extreme = np.maximum(self._unit, 1.0 / self._unit) * (size > 0)
        column = int(np.argmax(np.maximum(extreme, size)))
        if max(extreme[column], size[column]) > _MOST_EXTREME:
            where = f" in column {column}" if data.Y.shape[1] > 1 else ""
            raise ValueError(
                "targets must have a standard deviation between 1e-140 and 1e140, whose square "
                f"float64 holds, and no larger values, but it is {self._unit[column]:.3g} and they "
                f"reach {size[column]:.3g}{where}: rescale them"
            )
        if self._on_paper and self.penalize_constant:
            # the paper's penalty is on the mean of the targets, too
            self._center = np.zeros_like(center)
        self._is_rough, self._smooth = False, None
        return replace(data, Y=(data.Y - self._center) / self._unit)

    def _labels(self, data: Samples) -> NDArray[Any]:
        values: Doubles = data.Y * self._unit + self._center
        return values[:, 0] if values.shape[1] == 1 else values

    def _make_loss(self, data: Samples, splits: Splits) -> Loss:  # noqa: ARG002
        if self.scoring is None:

            def squared_error(predictions: Doubles, rows: Places) -> Doubles:
                squares = ((predictions - data.Y[rows]) ** 2).mean(axis=2)
                weights = None if data.weight is None else data.weight[rows]
                return np.asarray(np.average(squares, axis=1, weights=weights))

            return squared_error

        def shells(
            predictions: Doubles, at: Places, _: Callable[[], Doubles]
        ) -> list[IdentityRegressor]:
            values = (predictions * self._unit + self._center)[:, at]
            return [IdentityRegressor(v[:, 0] if v.shape[1] == 1 else v) for v in values]

        metric = _METRICS_BY_OUTPUT.get(self.scoring) if isinstance(self.scoring, str) else None
        labels = self._labels(data)
        if metric is None:
            return scored_by(self.scoring, shells, None, data, labels)
        sign = -1.0 if self.scoring.startswith("neg_") else 1.0

        def at_once(
            predictions: Doubles, rows: Places, at: Places, given: Doubles | None,
            _: Callable[[], Doubles],
        ) -> Doubles:  # fmt: skip
            """Judge all predictions as further outputs, of which the metric has a value each."""
            outputs = np.moveaxis((predictions * self._unit + self._center)[:, at], 0, -1)
            y = labels[rows[at]].reshape(len(at), -1, 1)
            both = [np.broadcast_to(v, outputs.shape).reshape(len(at), -1) for v in (y, outputs)]
            values = metric(*both, sample_weight=given, multioutput="raw_values")
            found: Doubles = np.reshape(values, (-1, len(predictions))).mean(axis=0)
            return sign * found

        return scored_by(self.scoring, shells, at_once, data, labels)

    def _chance(self, constant: float, data: Samples) -> float | None:
        if self.scoring is not None:
            return None
        # -log p of n samples with the likeliest noise is n / 2 log(squared error)
        return constant * min(0.5, -float(np.expm1(-2.0 * self._luck / data.n_samples)))

    def _warn_of_constant(self, data: Samples) -> bool:
        if not (self._on_paper and self.penalize_constant):  # elsewhere the mean is subtracted
            return False
        return warn_if_constant_is_dear(
            self.basis_, data.X, data.Y, data.weight, self.alpha_, flat=self._y_was_flat,
            scaling=self.scaling_, n_threads=self._n_threads(), total=self._weight_of_all(data),
            unit=self._unit,
        )  # fmt: skip

    def _misses(self, data: Samples, outputs: Doubles, rows: Places) -> Doubles:
        return np.asarray(((outputs - data.Y[rows]) ** 2).mean(axis=1))

    def _stratified(self, data: Samples, most: int) -> Places:
        order = np.lexsort((*data.X.T[::-1], *data.Y.T[::-1]))
        return np.sort(order[spread_places(data.n, most)])

    def _learn(
        self,
        data: Samples,
        splits: Splits,  # noqa: ARG002  # it needs none
        progress: Progress,
    ) -> tuple[Spectrum, float]:
        if data.n < 3:
            return Spectrum((1.0 / data.X.shape[1], 2.0), self._levels), 1e-3
        data, _ = Samples.merge(data.X, data.Y, data.weight)  # where splits parted equal samples
        m = data.X.shape[1]

        def step(k: int) -> None:
            progress.step(f"spectrum, step {k}")
            if self._clock is not None:
                self._clock.check()

        def learn(first: Spectrum, n_steps: int) -> tuple[Spectrum, float]:
            kernel, alpha = learn_spectrum(
                data.X, data.Y, components=first, objective=self.search, **data.leaving_out,
                max_iter=n_steps, n_inputs=MOST_INPUTS, callback=step, **self._options(),
            )  # fmt: skip
            return kernel.spectrum, alpha

        if self._smooth is None or not self._is_rough:
            self._smooth = learn(first_spectrum(m, self._levels), _STEPS)
        if not self._is_rough:
            return self._smooth
        # from the one without on, of which every input gives a part
        smooth = self._smooth[0]
        q = _ROUGH_SHARE * smooth.interactions(m).sum(axis=1)
        parts = [*smooth.components, PowerDecay(q.tolist(), _ROUGH)]
        rough, alpha = learn(Spectrum(parts, self._levels), _STEPS_OF_ROUGH)
        q = rough.interactions(m)
        q[q[:, -1] < _LEAST_ROUGH * q.sum(axis=1), -1] = 0.0  # whose derivatives would be lost
        if not q[:, -1].any():
            return self._smooth
        parts = [*rough.components[:-1], PowerDecay(q[:, -1].tolist(), _ROUGH)]
        return Spectrum(parts, self._levels), alpha

    @property
    def _wants_several(self) -> bool | None:
        return None if self.intervals == "auto" else self.intervals == "five_spectra"

    def _forget_spectrum(self) -> None:
        self._smooth = None

    def _alternatives(self, data: Samples) -> dict[str, Callable[[Self], None]]:
        def take_rough_part(trial: Self) -> None:
            trial._is_rough = True

        return {**super()._alternatives(data), "rough_part": take_rough_part}

    def _sample_losses(self, data: Samples, left_out: Doubles) -> Doubles:
        return np.asarray(((left_out - data.Y) ** 2).mean(axis=1))

    def _finish(self, data: Samples, left_out: LeftOut) -> None:
        self.expansion_ = self.expansion_.with_units(self._unit, self._center)
        self._row_weight, self._left_out_share = data.weight, data.share
        self._left_out_residuals = (data.Y - left_out.outputs) * self._unit
        self._judge_noise(data, left_out.residual_dof)
        self._prior_variance = self._judge_prior(data)
        values = (left_out.outputs * self._unit + self._center)[data.back]
        self.loo_predictions_ = values[:, 0] if self._y_was_flat else values
        del self._center, self._unit, self._is_rough, self._smooth

    def _weight_of_all(self, data: Samples) -> float:
        """Return the weight of the samples of the fit."""
        return float(data.n if data.weight is None else data.weight.sum())

    def _judge_noise(self, data: Samples, left: float | None) -> None:
        """Set the variance of the noise and the degrees of freedom.

        ``left`` are those of the residuals, if they are known.
        """
        free, function = not self.penalize_constant, self.expansion_
        weight = np.ones(data.n) if data.weight is None else data.weight
        if isinstance(function, MeanExpansion):
            # of each sample what the model shows whose spectrum has not seen it
            parts, own = function.parts, (function.left_out_by, np.arange(data.n))
            freedom = np.array([part.freedom(n_threads=self._n_threads()) for part in parts])
            found = np.array([_weighted_squares(part, weight) for part in parts])
            self.expansion_ = replace(function, noise=relative_noise(found, freedom))
            squares = found[own] / self.expansion_.noise[function.left_out_by, np.newaxis]
            left = float(freedom[own].sum())
            self.effective_dof_ = data.n - left
        elif isinstance(function.posterior, LandmarkPosterior):
            assert left is not None
            self.effective_dof_ = data.n - left
            fitted = function.evaluate(data.X, n_threads=self._n_threads())
            squares = weight[:, np.newaxis] * (data.Y * self._unit + self._center - fitted) ** 2
        elif isinstance(function, KernelExpansion):
            if left is None:
                left = float(function.freedom(n_threads=self._n_threads()).sum())
            squares = _weighted_squares(function, weight)
            self.effective_dof_ = data.n - left
        else:
            # few samples reach few directions, which their features show better than all of G'G
            method = "svd" if 3 * data.n < function.basis.n_terms else "primal"
            path = RidgePath(
                function.basis, data.X, data.Y, sample_weight=data.weight, method=method,
                tolerance=TRUSTED, **self._options(),
            )  # fmt: skip
            self.expansion_ = replace(
                function, posterior=TermPosterior(*path.posterior(self.alpha_), free)
            )
            self.effective_dof_ = float(path.effective_dof([self.alpha_])[0])
            left = data.n - self.effective_dof_
            fitted = path.predict(data.X, [self.alpha_])[0]
            squares = weight[:, np.newaxis] * ((data.Y - fitted) * self._unit) ** 2
        left += float(weight.sum()) - data.n  # weights are numbers of samples
        self.noise_variance_ = estimate_noise_variance(
            squares.sum(axis=0), left, float(weight.sum()), data.n, self.effective_dof_
        )

    def _judge_prior(self, data: Samples) -> Doubles:
        """Return the variance of each output in units of the kernel, (n_outputs,).

        The fit takes it for that of the noise by alpha, which means too little for targets without
        noise: their prior is to vary over the samples at least as much as they do.
        """
        rows = spread_places(data.n, MOST_FOR_A_MEAN)
        weight = np.ones(rows.size) if data.weight is None else data.weight[rows]
        share = weight / weight.sum()
        spread = self.expansion_.prior_spread(data.X[rows], share, n_threads=self._n_threads())
        least = self.noise_variance_ / self.alpha_
        if not spread > 0:
            return least
        signal = (self._unit**2 - self.noise_variance_).clip(min=0.0)
        return np.maximum(least, signal / spread)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        outputs = self._raw_outputs(X)
        return outputs[:, 0] if self._y_was_flat else outputs

    @in_blocks(joined)
    def predict(self, X: Any, return_std: bool = False) -> Any:
        r"""Predict the targets, and how far off they may be.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation as well,
            :math:`\sigma \sqrt{1 + h(x)}` with the leverage h that the sample would have. Outside
            of the range seen in ``fit`` it grows with the distance, since a clipped prediction
            means little there: to the variance that the prior has in the inputs that are outside.
            Of five spectra, the variance is the mean of the five and the variance between them.
            Of one that was learned it is too small where samples are few for the number of inputs:
            see :meth:`predict_interval` for how much.

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
        function = self._function(X)
        with np.errstate(over="ignore", invalid="ignore"):
            h = function.variance(X, n_threads=self._n_threads())
            require_finite(h, "some leverages are", CLIP)
            # roots first: their product is finite where the variances are
            std = np.outer(np.sqrt(1.0 + h), np.sqrt(self.noise_variance_))
            if isinstance(function, MeanExpansion):
                std = np.hypot(std, function.disagreement(X, n_threads=self._n_threads()))
            std = np.hypot(std, np.sqrt(self._variance_outside(X)))
        # infinite are those of a noise that no sample was left to judge
        require_finite(
            std[:, np.isfinite(self.noise_variance_)],
            "some standard deviations are",
            self._results_advice(),
        )
        return outputs, std[:, 0] if self._y_was_flat else std

    @in_blocks(joined)
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        r"""Predict intervals that hold a new target with a given probability.

        By jackknife+: the interval is made of what each model without one sample predicts here,
        plus and minus its error at that sample. With a given spectrum and alpha at least
        ``2 * coverage - 1`` of the targets lie inside, whatever the distribution, if samples are
        exchangeable; in practice about ``coverage`` do. For few samples each model without a sample
        has a spectrum that was learned without it, too (see ``intervals``): with ten inputs, one of
        which matters, and coverage = 0.9, 0.93 were inside with 20 samples, 0.91 with 50, 0.90 with
        100. A single spectrum that is learned has seen every sample: there 0.65, 0.74 and 0.86.
        With a finite set of terms, or landmarks, the models without a sample are taken for the
        one with all samples. With ``cv``, only samples of a test part count. Outside of the range
        seen in ``fit`` intervals widen with the distance, as standard deviations do: see
        :meth:`predict`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The lower ends, -inf where the samples of ``fit`` are too few for so large a coverage.
        upper : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The upper ends, inf there.

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
                Message(
                    "`coverage` must be greater than 0 and less than 1, the share of new samples "
                    "that the intervals are to hold, such as 0.9; got {}",
                    shown(given),
                )
            )
        outputs = self._raw_outputs(X)
        X = self._validate_inputs(X, reset=False)
        lower, upper = left_out_intervals(
            self._function(X), X, outputs, self._left_out_residuals, self._row_weight,
            self._left_out_share, coverage, n_threads=self._n_threads(),
        )  # fmt: skip
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = self._variance_outside(X)
        require_finite(
            beyond[:, np.isfinite(self.noise_variance_)],
            "the variances of some samples are",
            self._results_advice(),
        )
        out = beyond.any(axis=1)
        if out.any():
            more = np.sqrt(beyond[out]) * ndtri(0.5 + 0.5 * coverage)
            lower[out] = outputs[out] - _wider(outputs[out] - lower[out], more)
            upper[out] = outputs[out] + _wider(upper[out] - outputs[out], more)
        if self._y_was_flat:
            return lower[:, 0], upper[:, 0]
        return lower, upper

    def _variance_outside(self, X: NDArray[Any]) -> Doubles:
        """Return how much variance leaving the box adds, (n_samples, n_outputs), 0 inside of it.

        Inputs of which nothing is known add what outputs vary with them over samples of the fit.
        """
        added = self._variance_of_unknown(X)
        box = self._current_scaling()
        outside = np.flatnonzero(self._seen.outside(X, rounded=True))
        if not box.clip or outside.size == 0:
            return added
        function = self._function(X).with_scaling(self.expansion_.scaling)
        added[outside] += variance_beyond(
            function, box, X[outside], self._prior_variance, self.noise_variance_
        )
        return added


class _OfStream(StreamRegression, GegenbauerRegressorCV):
    """Fits itself to a stream; its state is that of the estimator that is its base."""


_OfStream.__name__ = GegenbauerRegressorCV.__name__  # which is what errors name


def _weighted_squares(function: KernelExpansion, weight: Doubles) -> Doubles:
    """Return the squared residuals of the samples of a fit, times their weights."""
    posterior = function.posterior
    assert isinstance(posterior, KernelPosterior)
    # scaled residuals are alpha times dual coefficients
    return np.asarray((posterior.alpha * function.coef / np.sqrt(weight)[:, np.newaxis]) ** 2)


def _wider(reach: Doubles, more: Doubles) -> Doubles:
    """Return how far an interval reaches with a further, independent deviation."""
    size = np.abs(reach)
    with np.errstate(invalid="ignore"):  # of infinite intervals, which stay so
        return np.where(np.isfinite(size), reach + (np.hypot(size, more) - size), reach)
