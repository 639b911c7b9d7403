"""The classifier that selects its model automatically."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Options
from sklearn.utils.validation import check_is_fitted

from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import check_integer, require_finite
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.estimators._final_fit import kernel_of_all_terms
from gegenbauer.estimators._samples import spread_places
from gegenbauer.estimators._scores import Judged, score_at_once
from gegenbauer.estimators._scoring import IdentityClassifier, scored_by
from gegenbauer.estimators._several_spectra import N_SPECTRA, SeveralSpectraEstimator
from gegenbauer.estimators._sparse import in_blocks, joined
from gegenbauer.estimators._stream_search import StreamClassification
from gegenbauer.estimators._targets import ClassTargets
from gegenbauer.selection._learn_spectrum import learn_spectrum
from gegenbauer.selection._leave_one_out import leave_one_out
from gegenbauer.selection.calibration import (
    best_temperatures,
    calibrated_probabilities,
    class_scores,
    fit_probabilities,
    log_loss,
)
from gegenbauer.selection.candidates import TRUSTED
from gegenbauer.selection.objective import PRIOR
from gegenbauer.selection.spectrum_search import search_spectrum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.spectrum import ComponentsLike
    from gegenbauer.estimators._final_fit import LeftOut
    from gegenbauer.estimators._progress import Progress
    from gegenbauer.estimators._samples import Samples
    from gegenbauer.ridge.expansions import KernelExpansion
    from gegenbauer.selection.calibration import ProbabilityMap
    from gegenbauer.selection.candidates import Loss, Splits
    from gegenbauer.selection.spectrum_search import SpectrumSearch

__all__ = ["GegenbauerClassifierCV"]

# Scale of the prior for the logarithms of inputs' weights in classification, and the steps in which
# they are learned, of which the first few do most
_SPREAD = 1.0

_STEPS = 6

# What each further weight must gain in the sum of leave-one-out -log p: having seen all of them, it
# gains about that much from noise (as Akaike's criterion has it)
_AIC_PENALTY = 1.0


class GegenbauerClassifierCV(ClassTargets, SeveralSpectraEstimator):
    r"""Classification with automatic model selection, and with probabilities.

    All products of Chebyshev polynomials of the inputs there are, with weights of two numbers:
    what an interaction costs (q) and what a degree costs (s). They and the penalty alpha are
    those of the smallest log-loss of exact leave-one-out scores. Then a few steps give each
    input a q of its own, held together by a prior. The same scores, which every sample has from a
    model that did not see it, make the probabilities: no second fit, no data held back. With few
    samples an input, ``n_spectra=5`` leaves them out of the weights, too.

    Parameters
    ----------
    spectrum : "auto", tuple (q, s), Spectrum or what one is made from, or None, default="auto"
        "auto" chooses s from 1 and 2 and q from a grid that widens where it must; where samples are
        few, a prior holds q near 1 / n_features (see `search_spectrum`). From there each input
        gets its own q (see `learn_spectrum`) where that lowers -log p of all samples by more than
        one for each further q; with ``cv`` or ``scoring`` all keep the same. A spectrum that is
        given is fixed; (q, s) is the squared weight q n^(-2s) for every input that
        occurs with degree n. None takes the raw polynomials of the paper on [0, 1], in its order,
        and chooses ``lam``, ``n_terms`` and alpha on all samples.
    alphas : "auto" or array-like of positive numbers, default="auto"
        Penalties to choose from; "auto" chooses together with the spectrum, and again on all
        samples, with ``spectrum=None`` from the paper's 2^-30 to 2^30, and beyond where the best
        is at an end. Where the best of three given ones or more is at an end (of two it always
        is), here as in ``lam`` and ``n_terms``, a `GridEdgeWarning` reports it.
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
        How samples are left out: None for exact leave-one-out, which costs no further fits (see
        ``loo_predictions_`` for samples that are equal); else as in scikit-learn. Splitters by
        groups take ``groups`` of ``fit``.
    scoring : str, callable or None, default=None
        What is to be the best: a scorer of scikit-learn; None for the smallest log-loss. The usual
        ones cost no more by their names than None; a callable is called for each candidate, which
        may take ten times as long. For multilabel y None is the mean log-loss of the labels, while
        scikit-learn's "neg_log_loss" counts the labels that are there alone.
    n_spectra : {1, 5}, default=1
        How many spectra are learned. A single one sees all samples, so that ``loo_predictions_``,
        and with them ``loo_probabilities_``, ``probability_maps_`` and ``best_score_``, are too
        good where samples are few, fewer than about ten an input. Of 5 each is learned without a
        fifth of the samples (always the same ones, of every class its share), and all samples are
        fitted with each. The mean of the five logits predicts, and what predicts a sample that is
        left out has a spectrum that has not seen it. That takes some five times as long, and all
        terms of up to ``kernel_samples`` samples, with ``cv=None``; what does not go with it is an
        error. A given spectrum has seen no sample: it is taken as it is.
    penalize_constant : bool, default=True
        Whether alpha also penalises the constant term.
    search_samples : int, default=500
        Samples on which the spectrum is chosen, of every class its share; all with
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
        What to do in prediction with values outside of the range seen in ``fit``: see
        :class:`GegenbauerClassifier`. "extrapolate" is for finite sets of terms only.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes: see :class:`GegenbauerClassifier`. Samples of a class of weight zero
        take no part, as with ``sample_weight`` zero, and it is not among ``classes_``.
    verbose : bool or int, default=False
        Show progress as a line (by tqdm where it is installed). Callbacks of scikit-learn from 1.9
        on, such as ``set_callbacks(sklearn.callback.ProgressBar())``, work without it, and so does
        the logger "gegenbauer": stages are of the level INFO, their steps of DEBUG.
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
        The weights of the terms; None for ``spectrum=None``. Not of five.
    spectra_ : tuple of Spectrum
        All spectra, one or five; none for ``spectrum=None``.
    lam_ : float
        Parameter of the polynomials; 0 (Chebyshev) but for ``spectrum=None``.
    alpha_ : float
        The penalty. Of five, the middle one.
    best_score_ : float
        Score of the chosen alpha on samples left out, the larger the better. With ``scoring``
        that of ``loo_predictions_`` or of ``loo_probabilities_``, with ``cv`` the mean over the
        test parts. Without, minus the log-loss of ``loo_predictions_`` at the best temperature,
        before ``probability_maps_`` learn the bias of each class: with inputs that explain nothing,
        and classes of different sizes, it is below that of the probabilities. Where inputs have
        few values, up to five equal samples are left out together.
    cv_results_ : dict
        What was tried, as a table that ``pandas.DataFrame`` takes: "param_*" for the axes of
        ``surface_``, "params", "mean_test_score" and "rank_test_score", one entry a candidate.
    surface_ : dict of ndarray
        What was tried: "smoothness" (n_s,), "interaction" (n_q,), "relative_alpha" (n_alphas,)
        (relative to the mean diagonal of the kernel matrix, times the mean weight of a sample)
        and "score" (n_s, n_q, n_alphas), from which a choice by log-loss takes the prior,
        (ln q n_features)^2 / 32 by the number of samples of the search. The best of each s is
        where the weights of the inputs are learned from.
        With ``spectrum=None`` "lam" (n_lams,), "n_terms" (n_sizes,), "alpha" (n_alphas,) and
        "score" (n_lams, n_sizes, n_alphas). Scores are minus infinity where rounding errors would
        count, and NaN where nothing was tried. Empty for a spectrum that is given, and for five,
        each of which was the best of others.
    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Output for each sample of ``fit`` by the model without it, before calibration (with ``cv``,
        of those that were in a test part). Samples that are equal are left out together where all
        at their x have the same label, as copies have; else one at a time, as where inputs have
        few values. Of five spectra, by the model whose spectrum has not seen the sample, and as
        logits by what that model predicts of all samples left out. Labels are those of
        ``loo_probabilities_``, as ``predict`` returns what ``predict_proba`` finds most probable:
        where the largest of these outputs is of another class, calibration makes the difference.
    relevances_ : ndarray of shape (n_features,)
        Sum of the weights of each input, of five spectra the mean; not with ``spectrum=None``.
    probability_maps_ : list of ProbabilityMap
        What makes probabilities of outputs: one, or one for each label of a multilabel y. They are
        those of samples left out, so outputs beyond all of these count as the furthest: of two
        samples, one of each class, no probability is above 2/3.
    loo_probabilities_ : ndarray of shape (n_samples, n_classes)
        Probabilities of ``loo_predictions_``, to see how well they are calibrated: see
        :class:`gegenbauer.plotting.ReliabilityDisplay`. With fewer than about ten samples an input
        those of a single spectrum, which has seen every sample, are optimistic: take
        ``n_spectra=5``.
    expansion_ : KernelExpansion, TermExpansion or MeanExpansion
        The fitted function, of which the next attributes are parts. The mean of five has them as
        ``expansion_.parts``.
    kernel_, X_fit_, dual_coef_, intercept_
        With all terms: the kernel, the distinct samples, or those that are landmarks, and the
        coefficients (n_centres, n_outputs) of
        ``kernel_(X, X_fit_, scaling=scaling_) @ dual_coef_ + intercept_``.
    basis_, term_coef_, intercept_
        With a finite set: the terms and their weights (n_terms, n_outputs), of
        ``basis_.evaluate(X, scaling=scaling_) @ term_coef_ + intercept_``. These are outputs before
        calibration; ``decision_function`` is what ``probability_maps_`` make of them.
    n_terms_ : int or infinity
        Number of terms.
    n_search_samples_ : int
        Samples on which the spectrum was chosen.
    engine_, solver_, rcond_
        How the final system was solved: "kernel" for all terms, "landmarks" in the span of their
        kernel at ``X_fit_``, others as in :class:`GegenbauerClassifier`.
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
        Losses are -log p of the label.
    n_clipped_ : ndarray of int, shape (n_features,)
        Values of ``fit`` of each input that lie beyond the box, and were clipped to it.
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
    or samples of a single class, are an error. Few samples make no sure probabilities: those of
    samples left out are fitted to (n + 1) / (n + 2) for n samples of a class, and outputs that are
    beyond all of theirs count no more.

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
    >>> model.surface_["score"].shape  # lam, n_terms, alpha
    (2, 2, 61)
    >>> model.lam_, model.n_terms_, model.alpha_
    (0.5, 100, 0.25)

    Sixty samples of twelve inputs, one of which matters, where a single spectrum misleads: the
    log-loss of samples left out, and that of new ones.

    >>> import numpy as np
    >>> from sklearn.metrics import log_loss
    >>> rng = np.random.default_rng(9)
    >>> X = rng.uniform(-1, 1, size=(2060, 12))
    >>> y = 4 * X[:, 0] + rng.logistic(size=2060) > 0
    >>> for n_spectra in (1, 5):
    ...     model = GegenbauerClassifierCV(n_spectra=n_spectra, out_of_range="clip")
    ...     left_out = log_loss(y[:60], model.fit(X[:60], y[:60]).loo_probabilities_)
    ...     print(f"{left_out:.1f} {log_loss(y[60:], model.predict_proba(X[60:])):.1f}")
    0.3 0.9
    0.5 0.5
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SeveralSpectraEstimator._parameter_constraints,
        "class_weight": ClassTargets._parameter_constraints["class_weight"],
        "n_spectra": [Options(Integral, {1, N_SPECTRA})],
    }

    _own_loss, _miss = "the log-loss", "the share of wrong labels"
    _SEVERAL, _NOT_SEVERAL = f"n_spectra={N_SPECTRA}", "n_spectra=1"
    _ONE_SPECTRUM = _NOT_SEVERAL

    n_spectra: int
    probability_maps_: list[ProbabilityMap]

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
        n_spectra: int = 1,
        penalize_constant: bool = True,
        search_samples: int = 500,
        kernel_samples: int | str = "auto",
        categorical_features: Any = "from_dtype",
        missing: str = "indicator",
        bounds: Any = "auto",
        max_seconds: float | None = None,
        out_of_range: str = "warn",
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
    ) -> None:
        self.spectrum = spectrum
        self.alphas = alphas
        self.n_terms = n_terms
        self.lam = lam
        self.cv = cv
        self.scoring = scoring
        self.n_spectra = n_spectra
        self.penalize_constant = penalize_constant
        self.search_samples = search_samples
        self.kernel_samples = kernel_samples
        self.categorical_features = categorical_features
        self.missing = missing
        self.bounds = bounds
        self.max_seconds = max_seconds
        self.out_of_range = out_of_range
        self.class_weight = class_weight
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the spectrum and alpha, learn the weights, and calibrate.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, at least two different ones; or a table of 0 and 1 (multilabel).
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, from 0 up, as in :meth:`GegenbauerClassifier.fit`. Scores of
            samples left out and probabilities are weighted as well.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each sample, for a ``cv`` that splits by groups, such as ``GroupKFold``.

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
        classes: Any = None,
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
        draw; the number of its terms of largest weight and alpha are those of the smallest log-loss
        of the draw, each sample by the model without its fold, which is made of the sums over all
        others. These outputs make the probabilities, too: no sum holds a log-loss. The model is
        that of the same choice by refits of the samples in memory, up to rounding. There are at
        most ``n_terms`` terms; None is for the best of 2000, 1000, 500 and 250 (no more than
        samples). With ``spectrum=None`` ``lam``, ``n_terms`` and ``alphas`` are chosen alike.

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
            Where the samples come from, each batch as in :meth:`GegenbauerClassifier.fit_stream`.
        classes : array-like or None, default=None
            All labels that may come; None takes them as they come. For multilabel y, the numbers
            of its columns.
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
        GegenbauerClassifierCV
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
        >>> from gegenbauer import ArrayBatches, GegenbauerClassifierCV
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(3000, 2))
        >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
        >>> batches = ArrayBatches(X, y, batch_size=500)
        >>> model = GegenbauerClassifierCV(n_terms=100).fit_stream(batches)
        >>> model.predict_proba([[0.5, 0.5], [0.5, -0.5]]).round(1).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        return self._fit_by_stream(
            _OfStream, batches, checkpoint, classes=classes, landmarks=landmarks,
            verbose=verbose, callback=callback, announce=announce,
        )  # fmt: skip

    def _validate_params(self) -> None:
        super()._validate_params()
        check_integer(self.n_spectra, "n_spectra", minimum=1)  # scikit-learn takes True for 1

    @property
    def _wants_several(self) -> bool:
        return self.n_spectra > 1

    def _codes(self, data: Samples) -> list[Places]:
        """Return the class of each sample; for multilabel one array a label."""
        if self.multilabel_:
            return [(column > 0).astype(np.intp) for column in data.Y.T]
        if data.Y.shape[1] == 1:
            return [(data.Y[:, 0] > 0).astype(np.intp)]
        return [data.Y.argmax(axis=1)]

    def _binary_targets(self, outputs: Doubles) -> list[Doubles]:
        """Split outputs (..., K) into those that belong to one target."""
        if self.multilabel_:
            return [outputs[..., k : k + 1] for k in range(outputs.shape[-1])]
        return [outputs]

    def _labels(self, data: Samples) -> NDArray[Any]:
        codes = self._codes(data)
        if self.multilabel_:
            return np.column_stack(codes)
        return np.asarray(self.classes_[codes[0]])

    def _make_loss(self, data: Samples, splits: Splits) -> Loss:
        codes = self._codes(data)
        if self.scoring is None:

            def log_loss(predictions: Doubles, rows: Places) -> Doubles:
                weights = None if data.weight is None else data.weight[rows]
                losses = [
                    best_temperatures(class_scores(outputs), code[rows], weights)[1]
                    for outputs, code in zip(self._binary_targets(predictions), codes, strict=True)
                ]
                return np.asarray(np.mean(losses, axis=0))

            return log_loss

        def probabilities_of(
            predictions: Doubles, rows: Places, weights: Doubles | None
        ) -> Doubles:
            """Return those that the models would report, (n_predictions, n, n_classes or labels).

            As in `_finish`: one map for the samples of all test parts, which no part alone has.
            """
            parts = [
                calibrated_probabilities(outputs, code[rows], weights)
                for outputs, code in zip(self._binary_targets(predictions), codes, strict=True)
            ]
            if self.multilabel_:
                return np.stack([part[..., 1] for part in parts], axis=-1)
            return parts[0]

        def shells(
            predictions: Doubles, at: Places, probabilities: Callable[[], Doubles]
        ) -> list[IdentityClassifier]:
            def of(k: int) -> IdentityClassifier:
                outputs = predictions[k, at]
                flat = outputs.shape[1] == 1 and not self.multilabel_
                return IdentityClassifier(
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
            predictions: Doubles, rows: Places, at: Places, given: Doubles | None,
            probabilities: Callable[[], Doubles],
        ) -> Doubles:  # fmt: skip
            assert score is not None
            counted = np.bincount(at, weights=given, minlength=rows.size).astype(np.float64)
            return score(Judged(kind, truth[rows], counted, predictions, probabilities, positive))

        return scored_by(
            self.scoring, shells, None if score is None else at_once, data, self._labels(data),
            self.classes_, probabilities_of, splits,
        )  # fmt: skip

    @property
    def _pooled(self) -> bool:
        """Whether the loss takes the test samples of all splits together, as it always does here.

        Probabilities are of one map for all of them; a scorer then sees part after part.
        """
        return True

    def _chance(self, constant: float, data: Samples) -> float | None:
        # by probabilities p that vary by d, a log-loss gains the mean of d^2 / (2 p (1 - p)), and a
        # Brier score, of which p (1 - p) is that of a constant, that of d^2
        unit = {None: 1.0, "neg_log_loss": 1.0, "neg_brier_score": 2.0 * constant}
        known = self.scoring is None or isinstance(self.scoring, str)
        if not known or self.scoring not in unit:
            return None
        return min(0.5 * constant, unit[self.scoring] * self._luck / data.n_samples)

    def _misses(self, data: Samples, outputs: Doubles, rows: Places) -> Doubles:
        def labels(values: Doubles) -> Places:
            parts = self._binary_targets(values)
            found = [v.argmax(axis=1) if v.shape[1] > 1 else v[:, 0] > 0 for v in parts]
            return np.column_stack(found)

        wrong = np.asarray((labels(outputs) != labels(data.Y[rows])).mean(axis=1))
        return np.where(np.isfinite(outputs).all(axis=1), wrong, np.nan)

    def _strata(self, data: Samples) -> Places:
        """Return the class of each sample; for multilabel y a number for each set of labels."""
        codes = self._codes(data)
        if len(codes) == 1:
            return codes[0]
        sets: Places = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1]
        return sets.reshape(-1)

    def _stratified(self, data: Samples, most: int) -> Places:
        if data.n <= most:
            return np.arange(data.n)
        strata = self._strata(data)
        chosen = []
        for label in np.unique(strata):
            own = np.flatnonzero(strata == label)
            share = max(2, round(most * own.size / data.n))
            chosen.append(own[spread_places(own.size, share)])
        return np.sort(np.concatenate(chosen))

    def _learn(self, data: Samples, splits: Splits, progress: Progress) -> tuple[Spectrum, float]:
        if not np.ptp(data.Y, axis=0).any():  # without a part that has all samples of a class
            usual = Spectrum((1.0 / data.X.shape[1], 2.0), self._levels)
            return usual, self._kernel_level(kernel_of_all_terms(data.X.shape[1], usual), data)
        found = search_spectrum(
            data.X, data.Y, self._make_loss(data, splits), cv=splits, levels=self._levels,
            **data.leaving_out,
            prior=PRIOR if self.scoring is None else None, pooled=self._pooled,
            callback=lambda k: progress.step(f"spectrum {k}"), **self._options(),
        )  # fmt: skip
        self.surface_ = {
            "smoothness": found.smoothnesses,
            "interaction": found.interactions,
            "relative_alpha": found.alphas,
            "score": -found.losses,
        }
        if self.scoring is not None or splits is not None:
            return found.kernel.spectrum, found.alpha
        return self._learn_input_weights(data, found, progress)

    def _learn_input_weights(
        self, data: Samples, found: SpectrumSearch, progress: Progress
    ) -> tuple[Spectrum, float]:
        """Give each input a weight of its own, from the best spectrum of each smoothness on."""
        codes = self._codes(data)

        def loss(left_out: Doubles) -> tuple[float, Doubles]:
            parts = [
                log_loss(outputs, code, data.weight)
                for outputs, code in zip(self._binary_targets(left_out), codes, strict=True)
            ]
            slopes = np.hstack([slope for _, slope in parts]) / len(parts)
            return float(np.mean([value for value, _ in parts])), slopes

        penalty = _AIC_PENALTY * (data.X.shape[1] - 1) / data.n_samples
        judge, best = self._make_loss(data, None), (found.loss - penalty, found.kernel, found.alpha)
        for start, relative in found.starts:
            kernel, alpha = learn_spectrum(
                data.X, data.Y, components=start.spectrum, alpha=relative, objective=loss,
                **data.leaving_out, prior=_SPREAD, max_iter=_STEPS, **self._options(),
            )  # fmt: skip
            progress.step("weights of inputs")
            try:
                left_out = leave_one_out(
                    kernel, data.X, data.Y, alpha, **data.leaving_out, **self._options()
                )
            except np.linalg.LinAlgError:
                continue
            value = float(judge(left_out.predictions, np.arange(data.n))[0])
            if left_out.error[0] <= TRUSTED and value < best[0]:
                best = value, kernel, alpha
        return best[1].spectrum, best[2]

    def _in_common_units(
        self, data: Samples, part: KernelExpansion, left_out: Doubles
    ) -> tuple[KernelExpansion, Doubles]:
        """Turn outputs into logits, by the probabilities that those of samples left out make.

        What penalises more has smaller outputs, and the loss of a penalty does not see their size.
        """
        maps = [
            fit_probabilities(outputs, code, data.weight)
            for outputs, code in zip(self._binary_targets(left_out), self._codes(data), strict=True)
        ]
        if left_out.shape[1] > 1 and not self.multilabel_:
            unit, center = np.full(left_out.shape[1], maps[0].scale), maps[0].bias
        else:
            unit = np.array([each.scale for each in maps])
            center = np.array([each.bias[1] - each.bias[0] for each in maps])
        return part.with_units(unit, center), unit * left_out + center

    def _sample_losses(self, data: Samples, left_out: Doubles) -> Doubles:
        """Return -log p of the label of each sample, the mean over labels of multilabel y."""
        known = np.isfinite(left_out).all(axis=1)
        weights = None if data.weight is None else data.weight[known]
        losses = np.full(data.n, np.nan)
        losses[known] = 0.0
        codes = self._codes(data)
        for outputs, code in zip(self._binary_targets(left_out[known]), codes, strict=True):
            P = calibrated_probabilities(outputs[np.newaxis], code[known], weights)[0]
            p = P[np.arange(len(P)), code[known]]
            losses[known] -= np.log(p.clip(np.finfo(np.float64).tiny)) / len(codes)
        return losses

    def _finish(self, data: Samples, left_out: LeftOut) -> None:
        outputs_of_all = left_out.outputs
        known = np.isfinite(outputs_of_all).all(axis=1)
        weights = None if data.weight is None else data.weight[known]
        self.probability_maps_ = [
            fit_probabilities(outputs, code[known], weights)
            for outputs, code in zip(
                self._binary_targets(outputs_of_all[known]), self._codes(data), strict=True
            )
        ]
        values = outputs_of_all[data.back]
        self.loo_predictions_ = values[:, 0] if values.shape[1] == 1 else values

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return logits: of the second class, of each class, or of each label."""
        outputs = self._raw_outputs(X)
        with np.errstate(over="ignore"):
            logits = [
                make.logits(part)
                for make, part in zip(
                    self.probability_maps_, self._binary_targets(outputs), strict=True
                )
            ]
            if self.multilabel_:
                found = np.column_stack([pair[:, 1] - pair[:, 0] for pair in logits])
            elif outputs.shape[1] == 1:
                found = logits[0][:, 1:] - logits[0][:, :1]
            else:
                found = logits[0]
        require_finite(found, "some logits are", self._clip_advice())
        return found[:, 0] if outputs.shape[1] == 1 and not self.multilabel_ else found

    @in_blocks(joined)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
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

        With fewer than about ten samples an input those of a single spectrum, which has seen every
        sample, are optimistic: take ``n_spectra=5``.
        """
        check_is_fitted(self)
        outputs = self.loo_predictions_
        return self._probabilities(outputs[:, np.newaxis] if outputs.ndim == 1 else outputs)

    def _probabilities(self, outputs: Doubles) -> Doubles:
        found = [
            make(part)
            for make, part in zip(
                self.probability_maps_, self._binary_targets(outputs), strict=True
            )
        ]
        return np.column_stack([pair[:, 1] for pair in found]) if self.multilabel_ else found[0]


class _OfStream(StreamClassification, GegenbauerClassifierCV):
    """Fits itself to a stream; its state is that of the estimator that is its base."""


_OfStream.__name__ = GegenbauerClassifierCV.__name__  # which is what errors name
