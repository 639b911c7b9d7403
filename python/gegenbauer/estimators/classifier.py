"""The classifier of given terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils.metaestimators import available_if

from gegenbauer._renamed import refuse_old_names
from gegenbauer.estimators._ridge import PAPER_ALPHA, PAPER_LAM, PAPER_N_TERMS, GegenbauerEstimator
from gegenbauer.estimators._stream_targets import ClassStream
from gegenbauer.estimators._streaming import StreamEstimator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gegenbauer.basis.spectrum import SpectrumLike

__all__ = ["GegenbauerClassifier"]


class GegenbauerClassifier(ClassStream, GegenbauerEstimator):
    """Classification by ridge regression on tensor products of Gegenbauer polynomials.

    The network of the paper. Two classes are one output with the targets +1 (the second of
    ``classes_``) and -1 (SOGNN); K > 2 classes are K outputs, +1 in the column of the sample's
    own class and -1 elsewhere, of which the largest wins (MOGNN). A table y of K columns of
    0 and 1 is K binary targets (multilabel), one output each.

    Parameters
    ----------
    n_terms : int or None, default=1000
        Number of terms: the first ``n_terms`` of the set, in its order; all of it when it
        has fewer.
    degree : int, array-like of n_features ints, or None, default=None
        Highest degree: the total degree, or with ``index_set="tensor"`` the degree of every
        input. None takes the smallest degree that has ``n_terms`` terms.
    lam : float, default=0.05
        Gegenbauer parameter lambda > -1/2: 0 is the Chebyshev limit, 1/2 Legendre, 1
        Chebyshev of the second kind.
    alpha : float, default=2**-12
        Ridge penalty, from 0 up; 0 gives the least-squares solution of smallest norm
        (Moore-Penrose, the paper's WDD), the constant not counted if it is not penalised.
    index_set : {"total_degree", "tensor", "hyperbolic_cross", "largest_weight"}, \
            default="total_degree"
        Which multi-indices are used; "largest_weight" needs a ``spectrum`` that is given, and
        ``n_terms``.
    max_interaction : int or None, default=None
        Largest number of inputs in one term; None for no limit.
    term_order : {"grlex", "grlex_ascending", "grevlex"}, default="grlex"
        Order of the terms within a degree; "grlex" is that of PolynomialFeatures.
    spectrum : None, "orthonormal", tuple (q, s), Spectrum or what one is made from, default=None
        Weights of the terms: None for the raw polynomials of the paper, "orthonormal" for
        orthonormal ones, (q, s) for orthonormal ones of which each input of degree n >= 1
        carries the factor sqrt(q n^(-2s)); see :class:`Spectrum` for weights of each input.
    domain : {(0, 1), (-1, 1)}, default=(0, 1)
        Interval to which the inputs are scaled; a list will do.
    bounds : array-like of shape (n_features, 2) or None, default=None
        Smallest and largest value of each input, where they are known beforehand, as of a
        simulator; None for those of the samples of ``fit``. Samples beyond are treated by
        ``out_of_range``, in ``fit`` too.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which inputs are categories: those of tables whose type is one of text, truth values or
        categories; a mask, or numbers or names of columns; or none. A category of n levels has
        n - 1 functions in the place of polynomials, the contrasts of
        :meth:`~gegenbauer.basis.Levels.contrasts` with the shares of the levels in the samples: the
        one of largest variance counts as degree 1, the next one as degree 2, and so on. All of them
        have one weight, the q of ``spectrum``, which is 1 for None and "orthonormal". A level that
        no sample of the fit had counts as the mean of all.
    missing : {"indicator", "error"}, default="indicator"
        What to do with missing values: NaN, None and the like. "indicator": in a category they are
        a level; a number has a contrast of given and missing, of the same weight, which counts as
        degree 1, and its polynomials follow it and are 0 where it is missing. A number that was
        never missing in the fit, and is missing later, counts as the mean over its box. A
        column without any value in the fit is ignored, whatever comes in it later. "error" refuses
        missing values.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="warn"
        What to do in prediction with values outside of the range seen in ``fit``: clip them
        to it in silence ("clip") or with one warning ("warn"), raise an error, or evaluate the
        polynomials there, which grow fast; non-finite results are an error.
    penalize_constant : bool, default=True
        Whether alpha also penalises the constant term, as in the paper.
    engine : {"auto", "primal", "moments", "dual", "kernel"}, default="auto"
        The way to the normal equations: of the terms, from features ("primal") or from
        moments, or of the samples, from features ("dual") or from a product formula ("kernel").
        "auto" takes the one that :func:`gegenbauer.ridge.fit_cost` expects to be cheapest.
    solver : {"auto", "cholesky", "orthogonal"}, default="auto"
        How to solve. "cholesky" is fast, "orthogonal" works at any alpha; "auto" begins with
        the first and falls back to the second where it must.
    precision : {"auto", "float64"}, default="auto"
        Products of features behind a Cholesky factor. "auto" tries float32 for large sums over
        X of float32, and refines the weights to the same accuracy; "float64" never does.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which the samples' weights are multiplied: a dict {label:
        weight} (1 for labels that are not in it), or "balanced" for n_samples / (n_classes *
        count), both counted with ``sample_weight``. With multilabel y, "balanced" multiplies
        the weights of the columns, and a dict is an error.
    n_jobs : int or None, default=None
        Number of threads, 1 to 1024; None or -1 for all that joblib counts, None at most
        OMP_NUM_THREADS where that is set. The result is bitwise identical for any number.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. For multilabel y, (n_outputs, 2): the values 0 and 1 of each label,
        from which scikit-learn's scorers infer several binary targets.
    label_names_ : ndarray of shape (n_outputs,)
        For multilabel y alone, names of the labels: those of the columns of y if it is a table
        whose columns have (different) names, else 0, ..., n_outputs - 1.
    multilabel_ : bool
        Whether y was a table of 0 and 1.
    basis_ : TensorBasis
        The terms; row i of ``basis_.indices`` belongs to ``term_coef_[i]``.
    scaling_ : InputScaling
        The range of the inputs seen in ``fit`` and its map to ``domain``. A constant input
        is mapped to 0.
    categories_ : list
        For each input the values of its levels, None for numbers; the last is None where a level
        stands for what is missing.
    expansion_ : TermExpansion
        The fitted function, of which ``term_coef_`` is a part.
    term_coef_ : ndarray of shape (n_terms,) or (n_terms, n_outputs)
        Weights of the terms; one-dimensional for two classes.
    n_terms_ : int
        Number of terms in use.
    engine_, solver_ : str
        What was used: an engine as above; "cholesky", "qr", "lq" or "complete_orthogonal".
    precision_ : {"float64", "float32"} or None
        Of the products behind the factorisation; None if a file of an older version was loaded,
        which does not hold it. The weights are float64.
    rcond_ : float
        Estimate of the reciprocal condition number of the system solved.
    n_refinements_ : int
        Number of refinement steps taken.
    statistics_ : MomentStatistics or GramStatistics
        Sums over the samples, if they were learned by ``partial_fit`` or ``fit_stream``.
    n_samples_seen_, n_out_of_range_ : int
        With ``statistics_``: number of samples, and of those beyond ``bounds``.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of str
        Names of the inputs, if X had any in ``fit``.

    See Also
    --------
    GegenbauerRegressor : The same for real targets.

    Notes
    -----
    Inputs that are constant in ``fit`` are ignored, whatever comes in them later. Where all of
    them are, the model is a constant, and predicts the class of most weight. A single sample, or
    samples of a single class, are an error in ``fit``; in a stream they may be the beginning.

    An estimator may be used by several threads: calls that change it wait for each other, and
    predictions are of one state.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gegenbauer import GegenbauerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GegenbauerClassifier(n_terms=15, alpha=2**-6).fit(X, y)
    >>> int((model.predict(X) == y).sum())
    143
    >>> model.decision_function(X[:1]).round(6).tolist()
    [[0.867506, -0.7318, -1.135491]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GegenbauerEstimator._parameter_constraints,
        "class_weight": ClassStream._parameter_constraints["class_weight"],
    }

    @refuse_old_names
    def __init__(
        self,
        n_terms: int | None = PAPER_N_TERMS,
        degree: int | Sequence[int] | None = None,
        *,
        lam: float = PAPER_LAM,
        alpha: float = PAPER_ALPHA,
        index_set: str = "total_degree",
        max_interaction: int | None = None,
        term_order: str = "grlex",
        spectrum: SpectrumLike = None,
        domain: tuple[float, float] = (0, 1),
        bounds: Any = None,
        categorical_features: Any = "from_dtype",
        missing: str = "indicator",
        out_of_range: str = "warn",
        penalize_constant: bool = True,
        engine: str = "auto",
        solver: str = "auto",
        precision: str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_terms = n_terms
        self.degree = degree
        self.lam = lam
        self.alpha = alpha
        self.index_set = index_set
        self.max_interaction = max_interaction
        self.term_order = term_order
        self.spectrum = spectrum
        self.domain = domain
        self.bounds = bounds
        self.categorical_features = categorical_features
        self.missing = missing
        self.out_of_range = out_of_range
        self.penalize_constant = penalize_constant
        self.engine = engine
        self.solver = solver
        self.precision = precision
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights of the terms.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs; float64 and float32 are used as they are, other numbers become float64.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels (int, bool, str, or object of these), at least two different ones;
            or a table of 0 and 1 (multilabel).
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, from 0 up. An integer weight equals repeated samples. A sample
            of weight zero counts as removed: neither for the range of the inputs
            (``scaling_``) nor for ``classes_``, among which its label may be missing.

        Returns
        -------
        GegenbauerClassifier
            The fitted estimator itself. When ``fit`` fails or is interrupted, the estimator
            stays as it was.

        Raises
        ------
        ValueError
            X or sample_weight is empty, not numeric, not finite or of the wrong shape; y
            holds no class labels or a single class; a parameter is out of its range; the
            basis would be too large.

        Warns
        -----
        IllConditionedWarning
            The weights may be inaccurate.
        OutlierWarning
            Nearly all samples of an input fill a tiny part of its range.
        UserWarning
            ``n_terms`` leaves terms of the given ``degree`` out.
        """
        return self._fit_on_copy(X, y, sample_weight)

    @available_if(StreamEstimator._can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn a batch of samples beside those learned before.

        Any split of samples into batches, in any order, gives the model of all samples up to
        rounding, of which predictions have some 3e-18 / ``rcond_``, relative to the largest (up to
        5e-17 with orthonormal polynomials).
        No range has to be known beforehand: the box of the inputs grows with the samples, and what
        was learned is expressed in the larger one, exactly; with ``bounds`` it stays, and
        samples beyond are treated by ``out_of_range`` and counted in ``n_out_of_range_``. The
        weights are solved for when they are first needed. Partially fitted models of the same
        parameters merge with ``+``.

        Levels of categories, their shares, and which numbers may be missing are those of the first
        call, whose batch should be large; a level that comes later counts as the mean of all, with
        a warning. Models that merge must know the same levels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs of one sample or more.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels; or a table of 0 and 1 (multilabel).
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that may come, needed in the first call; a batch may lack some.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, from 0 up.

        Returns
        -------
        GegenbauerClassifier
            The estimator itself. When the call fails, it stays as it was.

        Raises
        ------
        ValueError
            The batch is not of the kind of those before, or holds a label that was not announced.
        AttributeError
            The estimator was learned by ``fit``, which keeps no sums; or ``engine``, ``solver`` or
            ``class_weight="balanced"`` need all samples at once.
        """
        return self._on_copy("_take_in_one", X, y, sample_weight, classes)

    def fit_stream(
        self,
        batches: Any,
        *,
        classes: Any = None,
        checkpoint: Any = None,
        verbose: bool | int = False,
        callback: Callable[[int, int | None], None] | None = None,
    ) -> Self:
        """Learn samples that need not fit into memory, in one pass.

        The weights are solved for when they are first needed, as after :meth:`partial_fit`; what
        is wrong with the sums as a whole, such as a single class or an alpha that is too small, is
        an error then, and nothing is lost by it. Of outliers
        (:class:`OutlierWarning`) and of correlated inputs, which only the samples themselves show,
        there is no warning.

        Levels of categories, their shares, and which numbers may be missing are those of the first
        20,000 samples of positive weight, so that it does not matter how the stream is cut. A level
        that comes first behind these counts as the mean of all levels, with a warning; a number
        that is missing there first, or given there first, is an error. A stream of no more samples
        gives the model of :meth:`fit`. Of files text is read by ``TableBatches(..., mixed=True)``.

        Parameters
        ----------
        batches : TableBatches, ArrayBatches or iterable of (X, y) or (X, y, sample_weight)
            Where the samples come from: files, memory maps or anything that yields batches, each as
            in :meth:`partial_fit`.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that may come, others being an error; None to take them as they come.
        checkpoint : Checkpoint or None, default=None
            Where to keep what was learned, to go on after an interrupt; the batches must be the
            same ones then.
        verbose : bool or int, default=False
            Show a bar with samples a second (by tqdm where it is installed, else lines).
        callback : callable or None, default=None
            Called with the number of samples so far and of all samples, None if not known, after
            each batch.

        Returns
        -------
        GegenbauerClassifier
            The fitted estimator itself. When the call fails, it stays as it was, and what was
            learned is in the checkpoint.

        Raises
        ------
        StreamError
            A batch cannot be read or learned; the message names its rows and source. It is a
            ValueError.
        ValueError
            There are no samples; the checkpoint is of something else; a parameter does not fit.

        Warns
        -----
        StreamOrderWarning
            Samples have levels of categories that none of the first 20,000 had.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from gegenbauer import GegenbauerClassifier
        >>> X, y = load_iris(return_X_y=True)  # sorted by class, so that batches lack some
        >>> batches = [(X[i : i + 40], y[i : i + 40]) for i in range(0, 150, 40)]
        >>> model = GegenbauerClassifier(n_terms=15, alpha=2**-6).fit_stream(batches)
        >>> model.classes_.tolist(), int((model.predict(X) == y).sum())
        ([0, 1, 2], 143)
        """
        return self._fit_stream(
            batches, classes=classes, checkpoint=checkpoint, verbose=verbose, callback=callback
        )
