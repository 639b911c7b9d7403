"""The transformer that turns a table into the feature matrix G of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Ways
from gegenbauer._renamed import refuse_old_names
from gegenbauer.basis.averages import averaged_terms
from gegenbauer.estimators._base import advising
from gegenbauer.estimators._basis import BasisEstimator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer.basis.spectrum import SpectrumLike

__all__ = ["GegenbauerFeatures"]

# Degree of GegenbauerFeatures when neither n_terms nor degree is given.
_DEFAULT_FEATURES_DEGREE = 2


class GegenbauerFeatures(TransformerMixin, BasisEstimator):  # type: ignore[misc]
    """Expand the inputs into products of Gegenbauer polynomials.

    Column i of the result is the product over the inputs t of C_n(x_t) with
    n = ``basis_.indices[i, t]``, the hidden layer of the paper; the inputs are first scaled
    from the range seen in ``fit`` to ``domain``. Use it as
    :class:`sklearn.preprocessing.PolynomialFeatures` is used, in front of any linear model.
    :class:`GegenbauerRegressor` and :class:`GegenbauerClassifier` need no such step, and
    never hold this matrix. For output in column-major order, or into an array that exists, call
    ``basis_.evaluate(X, scaling=scaling_, out=..., order="F")``, which is
    :meth:`TensorBasis.evaluate`; ``scaling_`` clips unless ``out_of_range="extrapolate"``.

    Parameters
    ----------
    n_terms : int or None, default=None
        Number of terms (columns): the first ``n_terms`` of the set, in its order; all of it
        when it has fewer.
    degree : int, array-like of n_features ints, or None, default=None
        Highest degree: the total degree, or with ``index_set="tensor"`` the degree of every
        input. None takes the smallest degree that has ``n_terms`` terms. When both are None
        the degree is 2, as in PolynomialFeatures; a set with as many columns as the
        estimators use would be a surprise in a transformer, whose result is stored.
    lam : float, default=0.05
        Gegenbauer parameter lambda > -1/2: 0 is the Chebyshev limit, 1/2 Legendre, 1
        Chebyshev of the second kind.
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
        have one weight, the q of ``spectrum``, which is 1 for None and "orthonormal". At a level
        that no sample of the fit had they are 0.
    missing : {"indicator", "error"}, default="indicator"
        What to do with missing values: NaN, None and the like. "indicator": in a category they are
        a level; a number has a contrast of given and missing, of the same weight, which counts as
        degree 1, and its polynomials follow it and are 0 where it is missing. A number that was
        never missing in the fit, and is missing later, counts as the mean over its box. A
        column without any value in the fit is ignored, whatever comes in it later. "error" refuses
        missing values.
    out_of_range : {"clip", "warn", "error", "extrapolate"}, default="warn"
        What to do with values outside of the range seen in ``fit``: clip them to it in
        silence ("clip") or with one warning ("warn"), raise an error, or evaluate the
        polynomials there, which grow fast; non-finite results are an error.
    n_jobs : int or None, default=None
        Number of threads, 1 to 1024; None or -1 for all that joblib counts, None at most
        OMP_NUM_THREADS where that is set. The result is bitwise identical for any number.

    Attributes
    ----------
    basis_ : TensorBasis
        The terms; row i of ``basis_.indices`` belongs to column i.
    scaling_ : InputScaling
        The range of the inputs seen in ``fit`` and its map to ``domain``. A constant input
        is mapped to 0.
    categories_ : list
        For each input the values of its levels, None for numbers; the last is None where a level
        stands for what is missing.
    n_terms_ : int
        Number of columns of the result.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of str
        Names of the inputs, if X had any in ``fit``.

    See Also
    --------
    TensorBasis : The same on arrays, without scikit-learn.

    Examples
    --------
    >>> from gegenbauer import GegenbauerFeatures
    >>> X = [[0.0, 10.0], [0.5, 30.0], [1.0, 20.0]]
    >>> features = GegenbauerFeatures(degree=2, lam=0.5).fit(X)
    >>> features.get_feature_names_out(["a", "b"]).tolist()
    ['1', 'C1(a)', 'C1(b)', 'C2(a)', 'C1(a) C1(b)', 'C2(b)']
    >>> features.transform(X)[1].tolist()
    [1.0, 0.5, 1.0, -0.125, 0.5, 1.0]
    """

    @refuse_old_names
    def __init__(
        self,
        n_terms: int | None = None,
        degree: int | Sequence[int] | None = None,
        *,
        lam: float = 0.05,
        index_set: str = "total_degree",
        max_interaction: int | None = None,
        term_order: str = "grlex",
        spectrum: SpectrumLike = None,
        domain: tuple[float, float] = (0, 1),
        bounds: Any = None,
        categorical_features: Any = "from_dtype",
        missing: str = "indicator",
        out_of_range: str = "warn",
        n_jobs: int | None = None,
    ) -> None:
        self.n_terms = n_terms
        self.degree = degree
        self.lam = lam
        self.index_set = index_set
        self.max_interaction = max_interaction
        self.term_order = term_order
        self.spectrum = spectrum
        self.domain = domain
        self.bounds = bounds
        self.categorical_features = categorical_features
        self.missing = missing
        self.out_of_range = out_of_range
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # the signature of pipelines
        """Learn the range of the inputs and build the basis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs; float64 and float32 are used as they are, other numbers become float64.
        y : None
            Ignored; here for pipelines.

        Returns
        -------
        GegenbauerFeatures
            The fitted transformer itself.

        Raises
        ------
        ValueError
            X is empty, not numeric, not finite or not two-dimensional; a parameter is out of
            its range; the basis would be too large.
        """
        return self._fit_on_copy(X)

    def _fit(self, X: Any) -> None:
        self._fit_inputs(self._validate_inputs(X, reset=True))

    def transform(self, X: Any) -> NDArray[Any]:
        """Evaluate every term at every sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_terms)
            The feature matrix G; float32 if X is, else float64.

        Raises
        ------
        ValueError
            X does not fit the data seen in ``fit``, or lies outside of its range where
            ``out_of_range`` forbids it.
        """
        check_is_fitted(self)
        X = self._validate_inputs(X, reset=False)
        self._apply_range_policy(X)
        with advising(self._features_advice):
            return self._with_means(X, self._features, self._averaged)

    def _features(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.basis_.evaluate(
            X, scaling=self._current_scaling(), dtype=X.dtype, n_threads=self._n_threads()
        )

    def _averaged(self, inputs: list[int], X: NDArray[Any], G: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002
        places, factors = averaged_terms(self.basis_, self.scaling_, inputs)
        return np.asarray(G[:, places] * factors)

    def _features_advice(self) -> Ways:
        """Advise on features beyond float64."""
        lower = Ways.of(["pass X as float64", Ways("lower", "`lam`", "`degree`")])
        return Ways.of([self._clip_advice(), lower])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return readable names of the terms, such as ``"C2(x0) C1(x3)"``.

        Parameters
        ----------
        input_features : array-like of n_features str or None, default=None
            Names of the inputs; None for those seen in ``fit``, or else x0, x1, ...

        Returns
        -------
        ndarray of str objects, shape (n_terms,)
            Names in the order of the columns; the constant term is ``"1"``.

        Raises
        ------
        ValueError
            ``input_features`` has the wrong length, or differs from the names seen in
            ``fit``.
        """
        check_is_fitted(self)
        seen = getattr(self, "feature_names_in_", None)
        names = seen if input_features is None else np.asarray(input_features, dtype=object)
        if names is not None and len(names) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        if names is not None and seen is not None and not np.array_equal(names, seen):
            raise ValueError(
                f"input_features is not equal to feature_names_in_: got {names.tolist()}, "
                f"expected {seen.tolist()}"
            )
        term_names = self.basis_.term_names(None if names is None else [str(n) for n in names])
        return np.asarray(term_names, dtype=object)

    def _default_degree(self) -> int:
        return _DEFAULT_FEATURES_DEGREE

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
