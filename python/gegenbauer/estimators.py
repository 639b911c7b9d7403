"""The scikit-learn estimators: ridge solutions on a Gegenbauer tensor basis.

A thin layer: rows are checked and targets coded by :mod:`gegenbauer.targets`; here
:func:`~gegenbauer.solve_ridge` and :func:`~gegenbauer.predict` are called. Equation labels
refer to the paper: the weights are ``eq.weights_solution1``, the output is
``eq.network_output_equation``.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from gegenbauer._locks import exclusive
from gegenbauer.features import _CLIP, Range, _advising, _stacklevel
from gegenbauer.ridge import predict, solve_ridge
from gegenbauer.statistics import LEAST_RCOND
from gegenbauer.streaming import _ClassStream, _RealStream, _StreamEstimator
from gegenbauer.targets import _checked_sample_weight, warn_of_light

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gegenbauer.ridge import RidgeSolution
    from gegenbauer.spectrum import SpectrumLike

__all__ = [
    "GegenbauerClassifier",
    "GegenbauerRegressor",
    "IllConditionedWarning",
    "PenalizedConstantWarning",
]

# The estimators' own defaults: the setting of the paper.
_PAPER_N_TERMS = 1000
_PAPER_LAM = 0.05
_PAPER_GAMMA = 2.0**-12

_EPS = float(np.finfo(np.float64).eps)

# Reciprocal condition numbers from which on rounding changes predictions by less than 1e-8 of the
# largest target
_LEAST_ILL_CONDITIONED = _EPS**0.5

# Estimated relative error of the weights from which on a fit warns: two to three digits are left
_LARGEST_ERROR = _EPS / LEAST_RCOND


class IllConditionedWarning(UserWarning):
    """The linear system of a fit is so ill-conditioned that its weights may be inaccurate."""


class PenalizedConstantWarning(UserWarning):
    """The penalty on the constant term spoils the predictions of targets far from zero.

    Of samples that come in batches it is said from their sums at the solve, where they are at least
    twice as many as the terms; fewer are gone when what happens between them would be measured.
    """


# Means so many standard deviations from zero are looked into, and what the penalty on the constant
# may cost, in standard deviations
_FAR_FROM_ZERO, _MOST_LOST = 10.0, 0.1

# So many samples tell what the penalty costs, or twice as many as there are terms
_FEW = 1000


def _may_be_far(
    Y: NDArray[np.float64], weight: NDArray[np.float64] | None, total: float, least: float
) -> NDArray[np.bool_]:
    """Leave out the columns whose means are certainly less than `least` deviations from zero.

    One pass without copies. The variance is what is left of the mean square, which has digits
    enough of it where it is not much smaller; for others, and beyond the range of squares, a
    column may be far.
    """
    n_samples, n_outputs = Y.shape
    mean, square = np.zeros(n_outputs), np.zeros(n_outputs)
    by_rows = abs(Y.strides[0]) >= abs(Y.strides[1])
    step = max(1, 2**15 // (n_outputs if by_rows else n_samples))  # what a cache holds
    with np.errstate(all="ignore"):
        for start in range(0, n_samples if by_rows else n_outputs, step):
            part = slice(start, start + step)
            rows, columns = (part, slice(None)) if by_rows else (slice(None), part)
            values = Y[rows, columns]
            weighed = values if weight is None else weight[rows, np.newaxis] * values
            mean[columns] += weighed.sum(axis=0)
            square[columns] += np.einsum("ij,ij->j", weighed, values)
        mean /= total
        square /= total
        limit = min(least, 1e3) / 2
        near = (mean**2 <= limit**2 * (square - mean**2)) & (square > np.finfo(float).tiny / _EPS)
    return ~near


class _GegenbauerEstimator(_StreamEstimator):
    """Fit and output common to regression and classification."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_StreamEstimator._parameter_constraints,
        "gamma": [Range(Real, 0, None, closed="left")],
        "penalize_constant": ["boolean"],
        "engine": [StrOptions({"auto", "primal", "moments", "dual", "kernel"})],
        "solver": [StrOptions({"auto", "cholesky", "orthogonal"})],
        "precision": [StrOptions({"auto", "float64"})],
    }

    precision: str
    term_coef_: NDArray[np.float64]
    engine_: str
    solver_: str
    precision_: str | None
    rcond_: float
    n_refinements_: int

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._forget_fit()
        given = _checked_sample_weight(sample_weight, _num_samples(X))
        X, targets, weight, used = self._checked_rows(X, y, sample_weight)
        if given is not None:
            warn_of_light(given[used], used.size)
        self._fit_inputs(X)
        with _advising("y or sample_weight is too large, scale it down"):
            solution = solve_ridge(
                self.basis_,
                X,
                targets if targets.ndim == 2 else targets[:, np.newaxis],
                self.gamma,
                sample_weight=weight,
                scaling=self.scaling_,
                penalize_constant=bool(self.penalize_constant),
                engine=self.engine,
                solver=self.solver,
                precision=self.precision,
                n_threads=self._n_threads(),
            )
        self._keep_solution(solution, flat=targets.ndim == 1)
        if self.penalize_constant and is_regressor(self):
            self._warn_if_constant_is_dear(X, targets.reshape(len(X), -1), weight)

    def _warn_if_constant_is_dear(
        self, X: NDArray[Any], Y: NDArray[np.float64], weight: NDArray[np.float64] | None
    ) -> None:
        """Warn where the penalty on the constant costs more than a tenth of the targets' spread.

        A fit is linear in its targets: what it makes of Y beyond a fit with a free constant is the
        mean times what it makes of targets of 1. How far that is from 1 between the samples is seen
        by a fit to every other one, or to twice the terms where samples are many, with the share
        of gamma that is theirs; only targets whose mean is far from zero are worth it.
        """
        flat = Y.shape[1] == 1
        n = len(X)
        total = n if weight is None else float(weight.sum())
        least = _FAR_FROM_ZERO
        if n >= 4 * self.n_terms_:
            # of many samples, targets of 1 are missed by no more: the weight 1 of the constant
            # alone would be penalised by gamma
            lost_of_mean = np.sqrt(float(self.gamma) / total)
            least = max(least, _MOST_LOST / lost_of_mean) if lost_of_mean > 0 else np.inf
        columns = np.flatnonzero(_may_be_far(Y, weight, total, least))
        if n < 4 or columns.size == 0:
            return
        Y = Y[:, columns]
        size = np.abs(Y).max(axis=0)
        scaled = Y / np.where(size > 0, size, 1.0)
        mean = np.average(scaled, axis=0, weights=weight)
        spread = np.sqrt(np.average((scaled - mean) ** 2, axis=0, weights=weight))
        far = np.where(spread > _EPS, np.abs(mean) / np.where(spread > 0, spread, 1.0), 0.0)
        column = int(far.argmax())
        if far[column] < least:
            return
        step = max(2, n // max(2 * self.n_terms_, _FEW))
        some, others = slice(0, None, step), slice(step // 2, None, step)
        weight_of_some = None if weight is None else weight[some]
        share = (len(X[some]) if weight is None else float(weight[some].sum())) / total
        if not share > 0:
            return
        options: dict[str, Any] = {"scaling": self.scaling_, "n_threads": self._n_threads()}
        # by whatever engine and solver: it is not the fit, and must not fail where that does not
        ones = solve_ridge(
            self.basis_, X[some], np.ones((len(X[some]), 1)), self.gamma * share,
            sample_weight=weight_of_some, **options,
        )  # fmt: skip
        missed = 1.0 - predict(self.basis_, X[others], ones.weights, **options)
        lost = float(far[column] * np.median(np.abs(missed)))
        self._warn_of_constant(far[column], None if flat else int(columns[column]), lost)

    def _constant_is_cheap(self, far: float, weight: float) -> bool:
        """Tell whether the penalty on the constant costs next to nothing, whatever the inputs.

        Of many samples, targets of 1 are missed by no more: the weight 1 of the constant alone
        would be penalised by gamma.
        """
        return bool(far * np.sqrt(float(self.gamma) / weight) < _MOST_LOST)

    def _look_at_sums(self) -> None:
        """Warn as `_warn_if_constant_is_dear` does, from sums, which know no single sample.

        A fit to targets of 1 misses them in the samples by what the sums say, and between them by
        no more than n / (n - n_terms) times that, as far as samples outnumber the terms.
        """
        sums = self.statistics_
        n = sums.n_samples
        if getattr(self, "class_weight", None) is None:  # else weights are not those of samples
            warn_of_light(float(sums.weight_sum), n)
        if not (self.penalize_constant and is_regressor(self)) or n < max(4, 2 * self.n_terms_):
            return
        mean, spread = sums._mean_and_spread()
        far = np.where(
            spread > _EPS * np.abs(mean), np.abs(mean) / np.where(spread > 0, spread, 1.0), 0.0
        )
        column = int(far.argmax())
        weight = float(sums.weight_sum)
        if far[column] < _FAR_FROM_ZERO or self._constant_is_cheap(float(far[column]), weight):
            return
        coding = np.zeros((mean.size, 1)), np.ones(1)
        ones = sums._solve(self.gamma, coding, penalize_constant=True, n_threads=self._n_threads())
        square = float(sums._squared_errors(ones.weights, coding)[0, 0]) / weight
        missed = np.sqrt(min(square, float(self.gamma) / weight)) * n / (n - self.n_terms_)
        of = None if mean.size == 1 else column
        self._warn_of_constant(far[column], of, float(far[column] * missed))

    def _warn_of_constant(self, far: float, column: int | None, lost: float) -> None:
        if lost < _MOST_LOST:
            return
        which = "" if column is None else f" in column {column}"
        warnings.warn(
            f"The mean of y{which} is {far:.3g} times its standard deviation, and the "
            "constant term that has to carry it is penalised: for this alone predictions are off "
            f"by some {lost:.2g} standard deviations. Set penalize_constant=False, or subtract the "
            "mean from y.",
            PenalizedConstantWarning,
            stacklevel=_stacklevel(),
        )

    def _keep_solution(self, solution: RidgeSolution, *, flat: bool) -> None:
        self.term_coef_ = solution.weights[:, 0] if flat else solution.weights
        self.engine_ = solution.engine
        self.solver_ = solution.solver
        self.precision_ = solution.precision
        self.rcond_ = float(solution.rcond)
        self.n_refinements_ = int(solution.n_refinements)
        self._warn_if_ill_conditioned(solution.error)

    def _warn_if_ill_conditioned(self, error: float) -> None:
        # weights that cancel may be off by all of themselves, and by next to nothing of the targets
        if error <= _LARGEST_ERROR or self.rcond_ >= _LEAST_ILL_CONDITIONED:
            return
        if "statistics_" in vars(self):
            way_out = "fit, which refines from the rows"
        elif self.solver == "cholesky":
            way_out = 'solver="auto", which goes on where Cholesky loses digits'
        else:
            way_out = "leave out inputs that repeat others"
        warnings.warn(
            f"The linear system of this fit is ill-conditioned: its reciprocal condition number is "
            f"about {self.rcond_:.1e}, and rounding may change the weights by {min(error, 1):.0e} "
            f"of their size. Use a larger gamma (now {float(self.gamma):g}), fewer terms "
            f"(now {self.n_terms_}), or {way_out}.",
            IllConditionedWarning,
            stacklevel=_stacklevel(),
        )

    def _as_it_is(self) -> Self:
        """Return a copy with its weights: another thread may go on learning meanwhile."""
        model = object.__new__(type(self))  # copy.copy takes ten times as long
        model.__dict__.update(self.__dict__)
        if "term_coef_" in vars(model):
            return model
        with exclusive(self):
            self.term_coef_  # noqa: B018  # solved for here, so that they are solved for once
            model.__dict__.update(self.__dict__)
        return model

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs (S, K), or (S,) where ``term_coef_`` is one-dimensional."""
        check_is_fitted(self)
        model = self._as_it_is()
        X = model._validate_inputs(X, reset=False)
        model._apply_range_policy(X)
        single = model.term_coef_.ndim == 1
        with _advising(f"{_CLIP}, or term_coef_ is too large, fit with a larger gamma"):
            outputs = predict(
                model.basis_,
                X,
                model.term_coef_[:, np.newaxis] if single else model.term_coef_,
                scaling=model._current_scaling(),
                n_threads=model._n_threads(),
            )
        return outputs[:, 0] if single else outputs


class GegenbauerRegressor(_RealStream, _GegenbauerEstimator):
    """Ridge regression on tensor products of Gegenbauer polynomials.

    The network of the paper with real targets: a fixed hidden layer G of products of
    Gegenbauer polynomials of the scaled inputs, and output weights
    W = (gamma I + G'G)^-1 G'Y (``eq.weights_solution1``), found without ever holding G.

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
    gamma : float, default=2**-12
        Ridge penalty, from 0 up; 0 gives the least-squares solution of smallest norm
        (Moore-Penrose), the constant not counted if it is not penalised.
    index_set : {"total_degree", "tensor", "hyperbolic_cross", "largest_weight"}, \
            default="total_degree"
        Which multi-indices are used; "largest_weight" needs a ``spectrum`` that is given, and
        ``n_terms``.
    max_interaction : int or None, default=None
        Largest number of inputs in one term; None for no limit.
    order : {"grlex", "grlex_ascending", "grevlex"}, default="grlex"
        Order of the terms within a degree; "grlex" is that of PolynomialFeatures.
    spectrum : None, "orthonormal", tuple (q, s), Spectrum or what one is made from, default=None
        Weights of the terms: None for the raw polynomials of the paper, "orthonormal" for
        orthonormal ones, (q, s) for orthonormal ones of which each input of degree n >= 1
        carries the factor sqrt(q n^(-2s)); see :class:`Spectrum` for weights of each input.
    domain : {(0, 1), (-1, 1)}, default=(0, 1)
        Interval to which the inputs are scaled; a list will do.
    feature_range : array-like of shape (n_features, 2) or None, default=None
        Smallest and largest value of each input, where they are known beforehand, as of a
        simulator; None for those of the rows of ``fit``. Rows beyond are treated as
        ``out_of_range`` says, in ``fit`` too.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="warn"
        What to do in prediction with values outside of the range seen in ``fit``: clip them
        to it in silence ("clip") or with one warning ("warn"), raise an error, or evaluate the
        polynomials there, which grow fast; non-finite results are an error.
    penalize_constant : bool, default=True
        Whether gamma also penalises the constant term, as in the paper. False is better for targets
        whose mean is far from zero: see `PenalizedConstantWarning`.
    engine : {"auto", "primal", "moments", "dual", "kernel"}, default="auto"
        The way to the normal equations: of the terms, from features ("primal") or from
        moments, or of the rows, from features ("dual") or from a product formula ("kernel").
        "auto" takes the one that :func:`fit_cost` expects to be cheapest.
    solver : {"auto", "cholesky", "orthogonal"}, default="auto"
        How to solve. "cholesky" is fast, "orthogonal" works at any gamma; "auto" begins with
        the first and falls back to the second where it must.
    precision : {"auto", "float64"}, default="auto"
        Products of features behind a Cholesky factor. "auto" tries float32 for large sums over
        X of float32, and refines the weights to the same accuracy; "float64" never does.
    n_jobs : int or None, default=None
        Number of threads, 1 to 1024; None or -1 for all that joblib counts, None at most
        OMP_NUM_THREADS where that is set. The result has the same bits for any number.

    Attributes
    ----------
    basis_ : TensorBasis
        The terms; row i of ``basis_.indices`` belongs to ``term_coef_[i]``.
    scaling_ : InputScaling
        The range of the inputs seen in ``fit`` and its map to ``domain``. A constant input
        is mapped to 0.
    term_coef_ : ndarray of shape (n_terms_,) or (n_terms_, n_outputs)
        Weights of the terms; one-dimensional if y was.
    n_terms_ : int
        Number of terms in use.
    engine_, solver_ : str
        What was used: an engine as above; "cholesky", "qr", "lq" or "complete_orthogonal".
    precision_ : {"float64", "float32"} or None
        Of the products behind the factorisation; None if a file of an older version was loaded,
        which does not say. The weights are float64.
    rcond_ : float
        Estimate of the reciprocal condition number of the system solved.
    n_refinements_ : int
        Number of refinement steps taken.
    statistics_ : MomentStatistics or GramStatistics
        Sums over the rows, if they were learned by ``partial_fit`` or ``fit_stream``.
    n_samples_seen_, n_out_of_range_ : int
        With ``statistics_``: number of rows, and of those beyond ``feature_range``.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of str
        Names of the inputs, if X had any in ``fit``.

    See Also
    --------
    GegenbauerClassifier : The same for class labels.
    solve_ridge : The same on arrays, without scikit-learn.

    Notes
    -----
    Inputs that are constant in ``fit`` are ignored, whatever comes in them later. Where all of
    them are, as with a single sample, the model is a constant: the mean of the targets, shrunk by
    ``gamma`` unless ``penalize_constant=False``. Two samples are the corners of the box.

    An estimator may be used by several threads: calls that change it wait for each other, and
    predictions are of one state.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> x = np.linspace(-1, 1, 50)[:, np.newaxis]
    >>> model = GegenbauerRegressor(n_terms=20, gamma=1e-8).fit(x, np.sin(3 * x[:, 0]))
    >>> float(model.predict([[0.5]])[0].round(3)), float(np.sin(1.5).round(3))
    (0.997, 0.997)
    """

    def __init__(
        self,
        n_terms: int | None = _PAPER_N_TERMS,
        degree: int | Sequence[int] | None = None,
        *,
        lam: float = _PAPER_LAM,
        gamma: float = _PAPER_GAMMA,
        index_set: str = "total_degree",
        max_interaction: int | None = None,
        order: str = "grlex",
        spectrum: SpectrumLike = None,
        domain: tuple[float, float] = (0, 1),
        feature_range: Any = None,
        out_of_range: str = "warn",
        penalize_constant: bool = True,
        engine: str = "auto",
        solver: str = "auto",
        precision: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_terms = n_terms
        self.degree = degree
        self.lam = lam
        self.gamma = gamma
        self.index_set = index_set
        self.max_interaction = max_interaction
        self.order = order
        self.spectrum = spectrum
        self.domain = domain
        self.feature_range = feature_range
        self.out_of_range = out_of_range
        self.penalize_constant = penalize_constant
        self.engine = engine
        self.solver = solver
        self.precision = precision
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights of the terms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs; float64 and float32 are used as they are, other numbers become float64.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, from 0 up. An integer weight equals repeated rows. A row of
            weight zero counts as removed: not for the range of the inputs (``scaling_``)
            either, so that it may lie outside of it.

        Returns
        -------
        GegenbauerRegressor
            The fitted estimator itself. When ``fit`` fails or is interrupted, the estimator
            stays as it was.

        Raises
        ------
        ValueError
            X, y or sample_weight is empty, not numeric, not finite or of the wrong shape; a
            parameter is out of its range; the basis would be too large.

        Warns
        -----
        IllConditionedWarning
            The weights may be inaccurate.
        OutlierWarning
            Nearly all samples of an input fill a tiny part of its range.
        PenalizedConstantWarning
            The mean of y is so large that the penalty on the constant term spoils predictions.
        UserWarning
            ``n_terms`` leaves terms of the given ``degree`` out.
        """
        return self._fit_on_copy(X, y, sample_weight)

    @available_if(_StreamEstimator._can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a batch of rows beside those learned before.

        Any split of rows into batches, in any order, gives the model of all rows up to rounding,
        of which predictions have some 3e-18 / ``rcond_``, relative to the largest (up to 5e-17
        with orthonormal polynomials).
        No range has to be known beforehand: the box of the inputs grows with the rows, and what
        was learned is expressed in the larger one, exactly; with ``feature_range`` it stays, and
        rows beyond are treated as ``out_of_range`` says and counted in ``n_out_of_range_``. The
        weights are solved for when they are first needed. Half-fitted models of the same
        parameters merge with ``+``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of one row or more.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, from 0 up.

        Returns
        -------
        GegenbauerRegressor
            The estimator itself. When the call fails, it stays as it was.

        Raises
        ------
        ValueError
            The batch is not of the kind of those before.
        AttributeError
            The estimator was learned by ``fit``, which keeps no sums; or ``engine`` or ``solver``
            need all rows at once.

        Examples
        --------
        >>> import numpy as np
        >>> from gegenbauer import GegenbauerRegressor
        >>> x = np.linspace(-1, 1, 50)[:, np.newaxis]
        >>> y = np.sin(3 * x[:, 0])
        >>> model = GegenbauerRegressor(n_terms=20, gamma=1e-8)
        >>> for rows in (slice(0, 1), slice(1, 30), slice(30, 50)):
        ...     model = model.partial_fit(x[rows], y[rows])
        >>> model.n_samples_seen_, float(model.predict([[0.5]])[0].round(3))
        (50, 0.997)
        """
        return self._on_copy("_take_in", X, y, sample_weight, None)

    def fit_stream(
        self,
        batches: Any,
        *,
        checkpoint: Any = None,
        verbose: bool | int = False,
        callback: Callable[[int, int | None], None] | None = None,
    ) -> Self:
        """Learn rows that need not fit into memory, in one pass.

        The weights are solved for when they are first needed, as after :meth:`partial_fit`; what
        is wrong with the sums as a whole, such as a single class or a gamma that is too small, is
        an error then, and nothing is lost by it. So is a
        :class:`PenalizedConstantWarning` given then, where samples are twice as many as terms. What
        only the samples themselves tell is not told: of outliers (:class:`OutlierWarning`) and of
        correlated inputs there is no warning.

        Parameters
        ----------
        batches : TableBatches, ArrayBatches or iterable of (X, y) or (X, y, sample_weight)
            Where the rows come from: files, memory maps or anything that yields batches, each as
            in :meth:`partial_fit`.
        checkpoint : Checkpoint or None, default=None
            Where to keep what was learned, to go on after an interrupt; the batches must be the
            same ones then.
        verbose : bool or int, default=False
            Show a bar with rows a second (by tqdm where it is installed, else lines).
        callback : callable or None, default=None
            Called with the number of rows so far and of all rows, None if not known, after each
            batch.

        Returns
        -------
        GegenbauerRegressor
            The fitted estimator itself. When the call fails, it stays as it was, and what was
            learned is in the checkpoint.

        Raises
        ------
        StreamError
            A batch cannot be read or learned; the message says which rows of what it is. It is a
            ValueError.
        ValueError
            There are no rows; the checkpoint is of something else; a parameter does not fit.

        Examples
        --------
        >>> import numpy as np
        >>> from gegenbauer import ArrayBatches, GegenbauerRegressor
        >>> X = np.random.default_rng(0).uniform(size=(1000, 2))
        >>> batches = ArrayBatches(X, X[:, 0] * X[:, 1], batch_rows=300)
        >>> model = GegenbauerRegressor(degree=2, n_terms=None, gamma=1e-9).fit_stream(batches)
        >>> float(model.predict([[0.5, 0.5]])[0].round(6))
        0.25
        """
        return self._fit_stream(batches, checkpoint=checkpoint, verbose=verbose, callback=callback)


class GegenbauerClassifier(_ClassStream, _GegenbauerEstimator):
    """Classification by ridge regression on tensor products of Gegenbauer polynomials.

    The network of the paper. Two classes are one output with the targets +1 (the second of
    ``classes_``) and -1 (SOGNN); K > 2 classes are K outputs, +1 in the column of the row's
    own class and -1 elsewhere, of which the largest wins (MOGNN). A table y of K columns of
    0 and 1 is K questions at once (multilabel), one output each.

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
    gamma : float, default=2**-12
        Ridge penalty, from 0 up; 0 gives the least-squares solution of smallest norm
        (Moore-Penrose, the paper's WDD), the constant not counted if it is not penalised.
    index_set : {"total_degree", "tensor", "hyperbolic_cross", "largest_weight"}, \
            default="total_degree"
        Which multi-indices are used; "largest_weight" needs a ``spectrum`` that is given, and
        ``n_terms``.
    max_interaction : int or None, default=None
        Largest number of inputs in one term; None for no limit.
    order : {"grlex", "grlex_ascending", "grevlex"}, default="grlex"
        Order of the terms within a degree; "grlex" is that of PolynomialFeatures.
    spectrum : None, "orthonormal", tuple (q, s), Spectrum or what one is made from, default=None
        Weights of the terms: None for the raw polynomials of the paper, "orthonormal" for
        orthonormal ones, (q, s) for orthonormal ones of which each input of degree n >= 1
        carries the factor sqrt(q n^(-2s)); see :class:`Spectrum` for weights of each input.
    domain : {(0, 1), (-1, 1)}, default=(0, 1)
        Interval to which the inputs are scaled; a list will do.
    feature_range : array-like of shape (n_features, 2) or None, default=None
        Smallest and largest value of each input, where they are known beforehand, as of a
        simulator; None for those of the rows of ``fit``. Rows beyond are treated as
        ``out_of_range`` says, in ``fit`` too.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="warn"
        What to do in prediction with values outside of the range seen in ``fit``: clip them
        to it in silence ("clip") or with one warning ("warn"), raise an error, or evaluate the
        polynomials there, which grow fast; non-finite results are an error.
    penalize_constant : bool, default=True
        Whether gamma also penalises the constant term, as in the paper.
    engine : {"auto", "primal", "moments", "dual", "kernel"}, default="auto"
        The way to the normal equations: of the terms, from features ("primal") or from
        moments, or of the rows, from features ("dual") or from a product formula ("kernel").
        "auto" takes the one that :func:`fit_cost` expects to be cheapest.
    solver : {"auto", "cholesky", "orthogonal"}, default="auto"
        How to solve. "cholesky" is fast, "orthogonal" works at any gamma; "auto" begins with
        the first and falls back to the second where it must.
    precision : {"auto", "float64"}, default="auto"
        Products of features behind a Cholesky factor. "auto" tries float32 for large sums over
        X of float32, and refines the weights to the same accuracy; "float64" never does.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which the rows' weights are multiplied: a dict {label:
        weight} (1 for labels that are not in it), or "balanced" for n_samples / (n_classes *
        count), both counted with ``sample_weight``. With multilabel y, "balanced" multiplies
        the weights of the columns, and a dict is an error.
    n_jobs : int or None, default=None
        Number of threads, 1 to 1024; None or -1 for all that joblib counts, None at most
        OMP_NUM_THREADS where that is set. The result has the same bits for any number.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. For multilabel y, (n_outputs, 2): the values 0 and 1 of each label,
        by which scikit-learn's scorers tell that labels are several questions.
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
    term_coef_ : ndarray of shape (n_terms_,) or (n_terms_, n_outputs)
        Weights of the terms; one-dimensional for two classes.
    n_terms_ : int
        Number of terms in use.
    engine_, solver_ : str
        What was used: an engine as above; "cholesky", "qr", "lq" or "complete_orthogonal".
    precision_ : {"float64", "float32"} or None
        Of the products behind the factorisation; None if a file of an older version was loaded,
        which does not say. The weights are float64.
    rcond_ : float
        Estimate of the reciprocal condition number of the system solved.
    n_refinements_ : int
        Number of refinement steps taken.
    statistics_ : MomentStatistics or GramStatistics
        Sums over the rows, if they were learned by ``partial_fit`` or ``fit_stream``.
    n_samples_seen_, n_out_of_range_ : int
        With ``statistics_``: number of rows, and of those beyond ``feature_range``.
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
    >>> model = GegenbauerClassifier(n_terms=15, gamma=2**-6).fit(X, y)
    >>> int((model.predict(X) == y).sum())
    143
    >>> model.decision_function(X[:1]).round(6).tolist()
    [[0.867506, -0.7318, -1.135491]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_GegenbauerEstimator._parameter_constraints,
        "class_weight": _ClassStream._parameter_constraints["class_weight"],
    }

    def __init__(
        self,
        n_terms: int | None = _PAPER_N_TERMS,
        degree: int | Sequence[int] | None = None,
        *,
        lam: float = _PAPER_LAM,
        gamma: float = _PAPER_GAMMA,
        index_set: str = "total_degree",
        max_interaction: int | None = None,
        order: str = "grlex",
        spectrum: SpectrumLike = None,
        domain: tuple[float, float] = (0, 1),
        feature_range: Any = None,
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
        self.gamma = gamma
        self.index_set = index_set
        self.max_interaction = max_interaction
        self.order = order
        self.spectrum = spectrum
        self.domain = domain
        self.feature_range = feature_range
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
        X : array-like of shape (n_samples, n_features)
            Inputs; float64 and float32 are used as they are, other numbers become float64.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels (int, bool, str, or object of these), at least two different ones;
            or a table of 0 and 1 (multilabel).
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, from 0 up. An integer weight equals repeated rows. A row of
            weight zero counts as removed: neither for the range of the inputs
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

    @available_if(_StreamEstimator._can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn a batch of rows beside those learned before.

        Any split of rows into batches, in any order, gives the model of all rows up to rounding,
        of which predictions have some 3e-18 / ``rcond_``, relative to the largest (up to 5e-17
        with orthonormal polynomials).
        No range has to be known beforehand: the box of the inputs grows with the rows, and what
        was learned is expressed in the larger one, exactly; with ``feature_range`` it stays, and
        rows beyond are treated as ``out_of_range`` says and counted in ``n_out_of_range_``. The
        weights are solved for when they are first needed. Half-fitted models of the same
        parameters merge with ``+``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of one row or more.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels; or a table of 0 and 1 (multilabel).
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that may come, needed in the first call; a batch may lack some.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, from 0 up.

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
            ``class_weight="balanced"`` need all rows at once.
        """
        return self._on_copy("_take_in", X, y, sample_weight, classes)

    def fit_stream(
        self,
        batches: Any,
        *,
        classes: Any = None,
        checkpoint: Any = None,
        verbose: bool | int = False,
        callback: Callable[[int, int | None], None] | None = None,
    ) -> Self:
        """Learn rows that need not fit into memory, in one pass.

        The weights are solved for when they are first needed, as after :meth:`partial_fit`; what
        is wrong with the sums as a whole, such as a single class or a gamma that is too small, is
        an error then, and nothing is lost by it. Of outliers
        (:class:`OutlierWarning`) and of correlated inputs, which only the samples themselves tell,
        there is no warning.

        Parameters
        ----------
        batches : TableBatches, ArrayBatches or iterable of (X, y) or (X, y, sample_weight)
            Where the rows come from: files, memory maps or anything that yields batches, each as
            in :meth:`partial_fit`.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that may come, others being an error; None to take them as they come.
        checkpoint : Checkpoint or None, default=None
            Where to keep what was learned, to go on after an interrupt; the batches must be the
            same ones then.
        verbose : bool or int, default=False
            Show a bar with rows a second (by tqdm where it is installed, else lines).
        callback : callable or None, default=None
            Called with the number of rows so far and of all rows, None if not known, after each
            batch.

        Returns
        -------
        GegenbauerClassifier
            The fitted estimator itself. When the call fails, it stays as it was, and what was
            learned is in the checkpoint.

        Raises
        ------
        StreamError
            A batch cannot be read or learned; the message says which rows of what it is. It is a
            ValueError.
        ValueError
            There are no rows; the checkpoint is of something else; a parameter does not fit.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from gegenbauer import GegenbauerClassifier
        >>> X, y = load_iris(return_X_y=True)  # sorted by class, so that batches lack some
        >>> batches = [(X[i : i + 40], y[i : i + 40]) for i in range(0, 150, 40)]
        >>> model = GegenbauerClassifier(n_terms=15, gamma=2**-6).fit_stream(batches)
        >>> model.classes_.tolist(), int((model.predict(X) == y).sum())
        ([0, 1, 2], 143)
        """
        return self._fit_stream(
            batches, classes=classes, checkpoint=checkpoint, verbose=verbose, callback=callback
        )
