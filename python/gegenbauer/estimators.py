"""The scikit-learn estimators: ridge solutions on a Gegenbauer tensor basis.

A thin layer. It checks what comes in, turns labels into targets, calls
:func:`~gegenbauer.solve_ridge` and :func:`~gegenbauer.predict`, and turns outputs into
labels. Equation labels refer to the paper: the weights are ``eq.weights_solution1``, the
output is ``eq.network_output_equation``.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_array, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from gegenbauer._arrays import require_memory
from gegenbauer.features import (
    _CLIP,
    _FLOAT_DTYPES,
    _advising,
    _BasisEstimator,
    _refuse_dates,
    _stacklevel,
)
from gegenbauer.ridge import predict, solve_ridge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer.basis import Spectrum

__all__ = ["GegenbauerClassifier", "GegenbauerRegressor", "IllConditionedWarning"]

# Longest list of labels that an error spells out.
_MAX_LISTED = 5

# The estimators' own defaults: the setting of the paper.
_PAPER_N_TERMS = 1000
_PAPER_LAM = 0.05
_PAPER_GAMMA = 2.0**-12


class IllConditionedWarning(UserWarning):
    """The linear system of a fit is so ill-conditioned that its weights may be inaccurate."""


class _GegenbauerEstimator(_BasisEstimator):
    """Fit and output common to regression and classification.

    Subclasses turn y into targets (S, K) in ``_encode_targets``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_BasisEstimator._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="left")],
        "penalize_constant": ["boolean"],
        "engine": [StrOptions({"auto", "primal", "moments", "dual", "kernel"})],
        "solver": [StrOptions({"auto", "cholesky", "orthogonal"})],
        "precision": [StrOptions({"auto", "float64"})],
    }

    _y_is_numeric: ClassVar[bool]

    gamma: float
    penalize_constant: bool
    engine: str
    solver: str
    precision: str
    coef_: NDArray[np.float64]
    engine_: str
    solver_: str
    precision_: str | None
    rcond_: float
    n_refinements_: int

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        _refuse_dates(X)
        X, y = validate_data(
            self,
            X,
            self._prepare_y(y),
            dtype=_FLOAT_DTYPES,
            ensure_all_finite=False,
            multi_output=True,
            y_numeric=self._y_is_numeric,
        )
        self._require_finite(X)
        weight = _checked_sample_weight(sample_weight, X.shape[0])
        if weight is not None and not weight.all():
            # Rows of no weight are no rows: they may not even add a class or widen the box.
            used = weight > 0
            if not used.any():
                raise ValueError(
                    f"sample_weight is zero in all {weight.size} rows; at least one row must "
                    "have a positive weight."
                )
            X, y, weight = X[used], y[used], weight[used]
        targets, weight = self._encode_targets(y, weight)
        self._fit_inputs(X)
        with _advising("y or sample_weight is too large, scale it down"):
            solution = solve_ridge(
                self.basis_,
                X,
                targets if targets.ndim == 2 else targets[:, np.newaxis],
                float(self.gamma),
                sample_weight=weight,
                scaling=self.scaling_,
                penalize_constant=bool(self.penalize_constant),
                engine=self.engine,
                solver=self.solver,
                precision=self.precision,
                n_threads=self._n_threads(),
            )
        self.coef_ = solution.weights if targets.ndim == 2 else solution.weights[:, 0]
        self.engine_ = solution.engine
        self.solver_ = solution.solver
        self.precision_ = solution.precision
        self.rcond_ = float(solution.rcond)
        self.n_refinements_ = int(solution.n_refinements)
        self._warn_if_ill_conditioned()

    def _prepare_y(self, y: Any) -> Any:
        """Bring y into a form that ``validate_data`` treats well."""
        return y

    def _encode_targets(
        self, y: Any, weight: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return targets, (S, K) or (S,) for a single output, and the final row weights."""
        raise NotImplementedError

    def _warn_if_ill_conditioned(self) -> None:
        if self.solver_ == "cholesky" and self.rcond_ < np.finfo(np.float64).eps:
            warnings.warn(
                f"The linear system of this fit is ill-conditioned: its reciprocal condition "
                f"number is about {self.rcond_:.1e}, and the weights may be inaccurate. Use a "
                f"larger gamma (now {self.gamma:g}), fewer terms (now {self.n_terms_}), or "
                'solver="orthogonal".',
                IllConditionedWarning,
                stacklevel=_stacklevel(),
            )

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs (S, K), or (S,) where ``coef_`` is one-dimensional."""
        check_is_fitted(self)
        X = self._validate_inputs(X, reset=False)
        self._apply_range_policy(X)
        single = self.coef_.ndim == 1
        with _advising(f"{_CLIP}, or coef_ is too large, fit with a larger gamma"):
            outputs = predict(
                self.basis_,
                X,
                self.coef_[:, np.newaxis] if single else self.coef_,
                scaling=self._current_scaling(),
                n_threads=self._n_threads(),
            )
        return outputs[:, 0] if single else outputs


class GegenbauerRegressor(MultiOutputMixin, RegressorMixin, _GegenbauerEstimator):  # type: ignore[misc]
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
        (Moore-Penrose).
    index_set : {"total_degree", "tensor", "hyperbolic_cross", "largest_weight"}, \
            default="total_degree"
        Which multi-indices are used; "largest_weight" needs ``spectrum=(q, s)`` and
        ``n_terms``.
    max_interaction : int or None, default=None
        Largest number of inputs in one term; None for no limit.
    order : {"grlex", "grlex_ascending", "grevlex"}, default="grlex"
        Order of the terms within a degree; "grlex" is that of PolynomialFeatures.
    spectrum : None, "orthonormal" or tuple (q, s), default=None
        Weights of the terms: None for the raw polynomials of the paper, "orthonormal" for
        orthonormal ones, (q, s) for orthonormal ones of which each input of degree n >= 1
        carries the factor sqrt(q n^(-2s)).
    domain : {(0, 1), (-1, 1)}, default=(0, 1)
        Interval to which the inputs are scaled.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="clip"
        What to do in prediction with values outside of the range seen in ``fit``: clip them
        to it, clip and give one warning, raise an error, or evaluate the polynomials there,
        which grow fast; non-finite results are an error.
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
    n_jobs : int or None, default=None
        Number of threads, 1 to 1024; None or -1 for all that joblib counts, None at most
        OMP_NUM_THREADS where that is set. The result has the same bits for any number.

    Attributes
    ----------
    basis_ : TensorBasis
        The terms; row i of ``basis_.indices`` belongs to ``coef_[i]``.
    scaling_ : InputScaling
        The range of the inputs seen in ``fit`` and its map to ``domain``. A constant input
        is mapped to 0.
    coef_ : ndarray of shape (n_terms_,) or (n_terms_, n_outputs)
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
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of str
        Names of the inputs, if X had any in ``fit``.

    See Also
    --------
    GegenbauerClassifier : The same for class labels.
    solve_ridge : The same on arrays, without scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> x = np.linspace(-1, 1, 50)[:, np.newaxis]
    >>> model = GegenbauerRegressor(n_terms=20, gamma=1e-8).fit(x, np.sin(3 * x[:, 0]))
    >>> float(model.predict([[0.5]])[0].round(3)), float(np.sin(1.5).round(3))
    (0.997, 0.997)
    """

    _y_is_numeric = True

    def _prepare_y(self, y: Any) -> Any:
        if issparse(y):
            raise TypeError("y must be dense, got a sparse matrix: pass y.toarray()")
        values = np.asarray(y) if y is not None else np.empty(0)
        if values.dtype.kind in "OUSmM":
            try:
                if values.dtype.kind in "mM":
                    raise TypeError
                values.astype(np.float64)
            except (TypeError, ValueError, OverflowError):
                raise ValueError(
                    f"y must hold real numbers for a regressor, got dtype {values.dtype} with "
                    f"{_describe_labels(values)}; GegenbauerClassifier takes labels"
                ) from None
        return y

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
        spectrum: Spectrum = None,
        domain: tuple[float, float] = (0, 1),
        out_of_range: str = "clip",
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
            Weights of the rows, from 0 up. An integer weight equals repeated rows, a zero
            weight a removed row.

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
        UserWarning
            ``n_terms`` leaves terms of the given ``degree`` out.
        """
        return self._fit_on_copy(X, y, sample_weight)

    def _encode_targets(
        self, y: Any, weight: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        return np.asarray(y, dtype=np.float64), weight

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the targets (``eq.network_output_equation``).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions; one-dimensional if y was in ``fit``.

        Raises
        ------
        ValueError
            X does not fit the data seen in ``fit``, or lies outside of its range where
            ``out_of_range`` forbids it.
        """
        return self._outputs(X)


class GegenbauerClassifier(ClassifierMixin, _GegenbauerEstimator):  # type: ignore[misc]
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
        (Moore-Penrose, the paper's WDD).
    index_set : {"total_degree", "tensor", "hyperbolic_cross", "largest_weight"}, \
            default="total_degree"
        Which multi-indices are used; "largest_weight" needs ``spectrum=(q, s)`` and
        ``n_terms``.
    max_interaction : int or None, default=None
        Largest number of inputs in one term; None for no limit.
    order : {"grlex", "grlex_ascending", "grevlex"}, default="grlex"
        Order of the terms within a degree; "grlex" is that of PolynomialFeatures.
    spectrum : None, "orthonormal" or tuple (q, s), default=None
        Weights of the terms: None for the raw polynomials of the paper, "orthonormal" for
        orthonormal ones, (q, s) for orthonormal ones of which each input of degree n >= 1
        carries the factor sqrt(q n^(-2s)).
    domain : {(0, 1), (-1, 1)}, default=(0, 1)
        Interval to which the inputs are scaled.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="clip"
        What to do in prediction with values outside of the range seen in ``fit``: clip them
        to it, clip and give one warning, raise an error, or evaluate the polynomials there,
        which grow fast; non-finite results are an error.
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
        The labels, sorted; 0, ..., n_outputs - 1 for multilabel y.
    multilabel_ : bool
        Whether y was a table of 0 and 1.
    basis_ : TensorBasis
        The terms; row i of ``basis_.indices`` belongs to ``coef_[i]``.
    scaling_ : InputScaling
        The range of the inputs seen in ``fit`` and its map to ``domain``. A constant input
        is mapped to 0.
    coef_ : ndarray of shape (n_terms_,) or (n_terms_, n_outputs)
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
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of str
        Names of the inputs, if X had any in ``fit``.

    See Also
    --------
    GegenbauerRegressor : The same for real targets.

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
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    _y_is_numeric = False

    class_weight: dict[Any, float] | str | None
    classes_: NDArray[Any]
    multilabel_: bool

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
        spectrum: Spectrum = None,
        domain: tuple[float, float] = (0, 1),
        out_of_range: str = "clip",
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
            Weights of the rows, from 0 up. An integer weight equals repeated rows, a zero
            weight a removed row, whose label may then not be among ``classes_``.

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
        UserWarning
            ``n_terms`` leaves terms of the given ``degree`` out.
        """
        return self._fit_on_copy(X, y, sample_weight)

    def _prepare_y(self, y: Any) -> Any:
        return y if y is None or issparse(y) else _plain_labels(np.asarray(y), type(self).__name__)

    def _encode_targets(
        self, y: Any, weight: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        name = type(self).__name__
        y = y.toarray() if issparse(y) else y
        kind = _label_kind(y, name)
        self.multilabel_ = kind == "multilabel-indicator"
        if self.multilabel_:
            columns = _indicator_columns(y, name)
            self.classes_ = np.arange(columns.shape[1])
            if isinstance(self.class_weight, dict):
                raise ValueError(
                    f"class_weight of {name} must be None or 'balanced' for multilabel y, "
                    "whose columns share the weights of the rows; got a dict. Pass "
                    "sample_weight instead."
                )
            targets = np.where(columns, 1.0, -1.0)
            coded = list(columns.T.astype(np.intp))
        else:
            labels = LabelEncoder()
            codes = labels.fit_transform(y if y.ndim == 1 else column_or_1d(y, warn=True))
            self.classes_ = labels.classes_
            if self.classes_.size < 2:
                raise ValueError(
                    f"{name} needs at least two classes to tell apart, but y has 1 class in "
                    f"the rows of positive weight: {_describe_labels(y)}."
                )
            require_memory(
                8.0 * codes.size * self.classes_.size,
                f"coding {self.classes_.size} classes in {codes.size} rows",
                "are the labels of y really classes? A regressor takes numbers",
            )
            if self.classes_.size == 2:
                targets = np.where(codes == 1, 1.0, -1.0)
            else:
                targets = np.where(codes[:, np.newaxis] == np.arange(self.classes_.size), 1.0, -1.0)
            coded = [codes]
        if self.class_weight is not None:
            weight = _apply_class_weight(self.class_weight, self.classes_, coded, weight)
        return targets, weight

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs of the network (``eq.network_output_equation``).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            For two classes, positive for the second of ``classes_``; for more, the largest
            output names the class; for multilabel y, positive outputs are the labels given.

        Raises
        ------
        ValueError
            X does not fit the data seen in ``fit``, or lies outside of its range where
            ``out_of_range`` forbids it.
        """
        return self._outputs(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels from ``classes_``; a table of 0 and 1 for multilabel y. Between two
            classes, an output of exactly 0 counts for the first.

        Raises
        ------
        ValueError
            As :meth:`decision_function`.
        """
        outputs = self._outputs(X)
        if self.multilabel_:
            return (outputs > 0).astype(int)
        codes = (outputs > 0).astype(np.intp) if outputs.ndim == 1 else outputs.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _checked_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return the weights as finite float64 (S,) of at least 0; None stays None."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, float(sample_weight))
    weight: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have shape ({n_samples},), one weight for each row of X; got "
            f"shape {weight.shape}."
        )
    if (weight < 0).any():
        row = int((weight < 0).argmax())
        raise ValueError(f"sample_weight must not be negative; got {weight[row]:g} in row {row}.")
    return weight


def _plain_labels(y: NDArray[Any], name: str) -> NDArray[Any]:
    """Return labels of dtype object as str objects, ints, bools or floats; others as they are.

    scikit-learn takes such an array for labels only if it holds str.
    """
    if y.dtype.kind == "S":
        raise ValueError(f"Unknown label type: bytes. {_expected_labels(y, name)}")
    if y.dtype.kind not in "OT":  # object, and NumPy's variable-width strings
        return y
    values = y.ravel().tolist()
    if any(_is_missing(value) for value in values):
        raise ValueError(f"Unknown label type: missing labels. {_expected_labels(y, name)}")
    if all(isinstance(value, str) for value in values):
        return y.astype(object)
    if all(isinstance(value, (Real, np.bool_)) for value in values):
        plain = np.array(values).reshape(y.shape)
        if plain.dtype.kind in "biuf":
            return plain
    types = ", ".join(sorted({type(value).__name__ for value in values}))
    raise ValueError(
        f"Unknown label type: objects of the types {types}. {_expected_labels(y, name)}"
    )


def _is_missing(value: Any) -> bool:
    # Neither pandas.NA nor NaT can be asked whether it equals itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(value != value)


def _label_kind(y: NDArray[Any], name: str) -> str:
    """Return "binary", "multiclass" or "multilabel-indicator"; refuse everything else."""
    try:
        kind: str = type_of_target(y, input_name="y")
    except (TypeError, ValueError) as error:
        raise ValueError(f"Unknown label type: {error} {_expected_labels(y, name)}") from error
    if kind not in ("binary", "multiclass", "multilabel-indicator"):
        advice = " Use GegenbauerRegressor for real targets." if "continuous" in kind else ""
        raise ValueError(f"Unknown label type: {kind}. {_expected_labels(y, name)}{advice}")
    return kind


def _expected_labels(y: NDArray[Any], name: str) -> str:
    return (
        f"{name} expects class labels (int, bool, str, or object of these) or a table of 0 and "
        f"1 (multilabel); got {_describe_labels(y)}."
    )


def _indicator_columns(y: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """Return a multilabel y (S, K) as booleans; refuse other values than 0 and 1."""
    if not np.isin(y, (0, 1)).all():
        raise ValueError(
            f"{name} takes a y of several columns as multilabel, whose values must be 0 and 1; "
            f"got {_describe_labels(y)}."
        )
    return np.asarray(y, dtype=bool)


def _describe_labels(y: NDArray[Any]) -> str:
    """Say which dtype and which values y has, for an error."""
    seen = dict.fromkeys(np.asarray(y).ravel().tolist())
    listed = ", ".join(repr(value) for value in list(seen)[:_MAX_LISTED])
    more = "" if len(seen) <= _MAX_LISTED else f", ... ({len(seen)} different values)"
    return f"y of dtype {y.dtype} and shape {y.shape} with the values {listed}{more}"


def _apply_class_weight(
    class_weight: dict[Any, float] | str,
    classes: NDArray[Any],
    coded: list[NDArray[np.intp]],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Multiply the row weights (S,) by those of the classes.

    Parameters
    ----------
    class_weight : dict or "balanced"
        As in GegenbauerClassifier.
    classes : ndarray of shape (n_classes,)
        The labels, for a dict.
    coded : list of ndarray of shape (n_samples,)
        Positions of the rows' labels in ``classes``; one array for each column of y.
    weight : ndarray of shape (n_samples,) or None
        Weights of the rows so far.

    Returns
    -------
    ndarray of shape (n_samples,)
        Weights of the rows. scikit-learn's ``compute_sample_weight`` counts rows, not their
        weights, and takes the labels "0" and 0 for the same, so it is not used here.
    """
    rows = np.ones(coded[0].size) if weight is None else weight
    if isinstance(class_weight, dict):
        labels = classes.tolist()
        unknown = [label for label in class_weight if label not in labels]
        without = [label for label in labels if label not in class_weight]
        # A fold of a cross-validation may lack a class that the dict names; then it names
        # all others, too. A key that stands for no label and labels without a key is a slip.
        if unknown and without:
            raise ValueError(
                f"class_weight has the keys {unknown[:_MAX_LISTED]}, which are not among the "
                f"classes of y, {labels[:_MAX_LISTED]}"
                f"{'' if len(labels) <= _MAX_LISTED else ', ...'} of dtype {classes.dtype}."
            )
        given: dict[Any, Any] = class_weight
        for label, value in given.items():
            if not isinstance(value, Real):
                raise TypeError(f"class_weight must hold numbers, got {value!r} for {label!r}")
        factors = np.array([class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
        if not (np.isfinite(factors).all() and (factors >= 0).all() and factors.any()):
            raise ValueError(
                "class_weight must have finite weights of at least 0, not all of them 0; got "
                f"{class_weight}."
            )
        return rows * factors[coded[0]]
    balanced = rows
    for codes in coded:
        counts = np.bincount(codes, weights=rows)
        present = counts > 0
        factors = np.zeros(counts.size)
        factors[present] = rows.sum() / (present.sum() * counts[present])
        balanced = balanced * factors[codes]
    return balanced
