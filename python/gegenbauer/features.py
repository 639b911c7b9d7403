"""The scikit-learn transformer, and what it shares with the estimators.

:class:`GegenbauerFeatures` turns a table into the feature matrix G of the paper. The
private base class :class:`_BasisEstimator` holds what every estimator of this library does
with its inputs: check them, scale them to the domain, watch for values outside of the
range seen in ``fit``, and build the :class:`~gegenbauer.TensorBasis`. Everything else is
left to the functional layer.
"""

from __future__ import annotations

import copy
import math
import sys
import warnings
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import assert_all_finite

# The one private module of scikit-learn that we use: the vocabulary in which
# ``_parameter_constraints`` is written, which has no public name yet.
# tests/python/test_architecture.py sees to it that no other follows.
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from gegenbauer._arrays import (
    MAX_INTEGER,
    MAX_THREADS,
    BeyondRangeError,
    apart,
    check_integer,
    naming_columns,
    require_plain,
    shown,
)
from gegenbauer._dispatch import processors
from gegenbauer._locks import exclusive
from gegenbauer.basis import InputScaling, TensorBasis, count_terms
from gegenbauer.spectrum import COMPONENTS, Spectrum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gegenbauer.spectrum import SpectrumLike

__all__ = ["GegenbauerFeatures", "OutOfRangeWarning", "OutlierWarning"]

# Types that the compiled core reads as they are; every other dtype becomes the first.
_FLOAT_DTYPES = [np.float64, np.float32]

# Degree of GegenbauerFeatures when neither n_terms nor degree is given.
_DEFAULT_FEATURES_DEGREE = 2

# Longest list of columns that an error spells out.
_MAX_LISTED = 5

# An input has outliers if all samples but this share fill no larger part of its range ...
_BULKS = ((0.01, 0.01), (0.1, 0.001))
# ... or if all but so many, and no larger share, end in a gap so many times as wide as they lie
_MOST_APART, _SHARE_APART, _LEAST_GAP = 20, 0.01, 4.0

# Samples that are looked at first, evenly spread, and how many it takes
_MOST_LOOKED_AT, _FEWEST_LOOKED_AT = 2000, 20

# Inputs of which all pairs are looked at for correlation
_MOST_CORRELATED = 2000

_CLIP = "X lies too far outside of the range seen in fit, set out_of_range='clip'"


class Range(Interval):  # type: ignore[misc]  # scikit-learn is untyped
    """An interval in which any real number may lie.

    scikit-learn asks NumPy whether a number is NaN, which knows no fractions.
    """

    def is_satisfied_by(self, val: Any) -> bool:
        if isinstance(val, np.timedelta64) or not isinstance(val, self.type):  # to NumPy an integer
            return False
        if self.type is Integral:
            return bool(super().is_satisfied_by(val))
        try:
            number = float(val)
        except OverflowError:  # the functions on arrays refuse it in better words
            sign = 1 if val > 0 else -1
            number = math.copysign(sys.float_info.max, sign)
        return bool(super().is_satisfied_by(number))


class Pairs(Options):  # type: ignore[misc]
    """Pairs of numbers, also as lists, as JSON and YAML give them."""

    def is_satisfied_by(self, val: Any) -> bool:
        pair = tuple(val) if isinstance(val, list) else val
        numbers = isinstance(pair, tuple) and all(isinstance(edge, Real) for edge in pair)
        return numbers and pair in self.options


class OutOfRangeWarning(UserWarning):
    """Samples lie outside of the range of the inputs seen in ``fit`` (``out_of_range="warn"``)."""


class OutlierWarning(UserWarning):
    """Nearly all samples of an input fill a tiny part of its range, which is scaled to the domain.

    The polynomials hardly tell such samples apart. Clip the outliers, or transform the input.
    Where ``feature_range`` is given, and of samples that come in batches, whose sums do not tell,
    there is no such warning.
    """


class _InputEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Handling of the inputs, shared by all estimators.

    Subclasses implement ``_fit``, which works on a copy of the estimator: see
    :meth:`_fit_on_copy`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "out_of_range": [StrOptions({"clip", "warn", "error", "extrapolate"})],
        "n_jobs": [
            Range(Integral, None, -1, closed="right"),
            Range(Integral, 1, MAX_THREADS, closed="both"),
            None,
        ],
    }

    # Declared for the type checker; set by the constructors and by ``_fit``.
    out_of_range: str
    n_jobs: int | None
    scaling_: InputScaling
    n_features_in_: int
    _correlation: tuple[float, int, int]

    # ---- fitting -----------------------------------------------------------------

    def _fit_on_copy(self, *args: Any) -> Self:
        """Run ``_fit`` on a copy and take over its state in one assignment.

        A fit that fails or is interrupted leaves the estimator as it was, fitted or not.
        """
        return self._on_copy("_fit", *args)

    def _on_copy(self, name: str, *args: Any) -> Self:
        """Call a method that changes a copy, and take over its state if it succeeds.

        Threads wait for each other, so that what each of them learns is kept.
        """
        self._validate_params()
        with exclusive(self):
            changed = copy.copy(self)
            getattr(changed, name)(*args)
            self.__dict__ = changed.__dict__
        return self

    def _fit(self, *args: Any) -> None:
        raise NotImplementedError

    # ---- inputs ------------------------------------------------------------------

    def _validate_inputs(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Return X (S, m) as finite float64 or float32, without a copy where possible."""
        if not reset:
            self._validate_params()  # they may have been set after the fit
        require_plain(X, "X")
        with naming_columns(X, "X"):
            X = validate_data(self, X, reset=reset, dtype=_FLOAT_DTYPES, ensure_all_finite=False)
        self._require_finite(X)
        return X  # type: ignore[no-any-return]

    def _require_finite(self, X: NDArray[Any]) -> None:
        """Refuse NaN and infinity with an error that names the columns."""
        try:
            # scikit-learn sums first, and finite numbers may have a sum that is none
            with np.errstate(over="ignore", invalid="ignore"):
                assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        except ValueError as error:
            bad = ~np.isfinite(X)
            columns = np.flatnonzero(bad.any(axis=0))
            listed = ", ".join(
                f"{self._column_name(j)} (first in row {int(bad[:, j].argmax())})"
                for j in columns[:_MAX_LISTED].tolist()
            )
            more = "" if columns.size <= _MAX_LISTED else f" and {columns.size - _MAX_LISTED} more"
            what = str(error).partition("\n")[0]  # what follows advises other estimators
            raise ValueError(
                f"{what} Found in {listed}{more}. Remove these rows or columns, or fill them in, "
                "as sklearn.impute.SimpleImputer does for NaN."
            ) from None

    def _column_name(self, column: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"column {column}" if names is None else f"column {column} ({names[column]!r})"

    @property
    def _clips(self) -> bool:
        return self.out_of_range != "extrapolate"

    def _current_scaling(self) -> InputScaling:
        """Return the fitted box with today's clipping: the policy may change after ``fit``."""
        if self.scaling_.clip == self._clips:
            return self.scaling_
        return InputScaling(
            self.scaling_.lower,
            self.scaling_.upper,
            domain=self.scaling_.domain,
            clip=self._clips,
            constant=self.scaling_.is_constant,
        )

    def _apply_range_policy(self, X: NDArray[Any]) -> None:
        """Warn or raise for rows outside of the fitted box, if the policy asks for it."""
        if self.out_of_range not in ("warn", "error"):
            return
        outside = self.scaling_.outside(X)
        n_outside = int(np.count_nonzero(outside))
        if n_outside == 0:
            return
        message = (
            f"{n_outside} of {len(X)} samples lie outside of the range seen in fit: "
            f"{self._describe_outside(X, outside)}."
        )
        if self.out_of_range == "error":
            raise ValueError(
                f"{message} Set out_of_range to 'clip', 'warn' or 'extrapolate' to accept them."
            )
        warnings.warn(
            f"{message} They are clipped to it; out_of_range='clip' does so without a warning.",
            OutOfRangeWarning,
            stacklevel=_stacklevel(),
        )

    def _describe_outside(self, X: NDArray[Any], outside: NDArray[np.bool_]) -> str:
        """Name the columns of samples outside of the box, with one example each."""
        places = np.flatnonzero(outside)
        lower, upper = self.scaling_.lower, self.scaling_.upper
        beyond = (X[places] < lower) | (X[places] > upper)
        beyond &= ~self.scaling_.is_constant
        columns = np.flatnonzero(beyond.any(axis=0))
        parts = []
        for column in columns[:_MAX_LISTED].tolist():
            first = int(places[int(beyond[:, column].argmax())])
            value, low, high = apart(X[first, column], lower[column], upper[column])
            n = np.count_nonzero(beyond[:, column])
            parts.append(
                f"{self._column_name(column)} in {n} of them (first in row {first}, where it is "
                f"{value} and the range is [{low}, {high}])"
            )
        more = columns.size - _MAX_LISTED
        return ", ".join(parts) + (f" and {more} more columns" if more > 0 else "")

    def _look_at_inputs(self, X: NDArray[Any]) -> None:
        """Warn of outliers, and keep what `sobol_indices` warns of."""
        self._warn_of_outliers(X)
        self._correlation = largest_correlation(X)

    def _warn_of_outliers(self, X: NDArray[Any]) -> None:
        """Warn of inputs of which nearly all samples fill a small part of the fitted box."""
        if len(X) < _FEWEST_LOOKED_AT:
            return
        step = -(-len(X) // _MOST_LOOKED_AT)
        some = np.sort(X[::step], axis=0)
        found = []
        for t in np.flatnonzero(~self.scaling_.is_constant).tolist():
            lower, upper = self.scaling_.lower[t], self.scaling_.upper[t]
            bulk = _bulk(X[:, t], some[:, t].astype(np.float64), float(lower), float(upper))
            if bulk is None:
                continue
            share, low, high = bulk
            part = (0.5 * high - 0.5 * low) / (0.5 * upper - 0.5 * lower)
            texts = apart(low, high, lower, upper)
            found.append(
                f"{100 * share:.4g} per cent of the samples of {self._column_name(t)} fill "
                f"{100 * part:.2g} per cent of its range (they lie in [{texts[0]}, {texts[1]}] of "
                f"[{texts[2]}, {texts[3]}])"
            )
        if not found:
            return
        more = len(found) - _MAX_LISTED
        given = ", pass feature_range" if hasattr(self, "feature_range") else ""
        warnings.warn(
            f"{'; '.join(found[:_MAX_LISTED])}{f'; and {more} more columns' if more > 0 else ''}. "
            "The polynomials, which span the range, hardly tell such samples apart: clip the few "
            f"that lie outside{given}, or transform the column (its logarithm, or scikit-learn's "
            "QuantileTransformer).",
            OutlierWarning,
            stacklevel=_stacklevel(),
        )

    def _n_threads(self) -> int | None:
        """Return the number of threads, which are ours: no backend of joblib has a say in it."""
        if self.n_jobs is None:
            return None
        n_jobs = check_integer(self.n_jobs, "n_jobs", minimum=-MAX_INTEGER)
        return n_jobs if n_jobs > 0 else max(1, processors() + 1 + n_jobs)

    def count_out_of_range(self, X: Any) -> int:
        """Count the rows with at least one value outside of the range seen in ``fit``.

        Inputs that were constant in ``fit`` are ignored by the model, and here.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to check.

        Returns
        -------
        int
            Number of rows, from 0 to ``n_samples``, whatever ``out_of_range`` is.
        """
        check_is_fitted(self)
        X = self._validate_inputs(X, reset=False)
        return int(np.count_nonzero(self.scaling_.outside(X)))


class _BasisEstimator(_InputEstimator):
    """Parameters of a basis of given terms, shared by the estimators that have them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_InputEstimator._parameter_constraints,
        "n_terms": [Range(Integral, 1, None, closed="left"), None],
        "degree": [Range(Integral, 0, None, closed="left"), "array-like", None],
        "lam": [Range(Real, -0.5, None, closed="neither")],
        "index_set": [StrOptions({"total_degree", "tensor", "hyperbolic_cross", "largest_weight"})],
        "max_interaction": [Range(Integral, 1, None, closed="left"), None],
        "order": [StrOptions({"grlex", "grlex_ascending", "grevlex"})],
        "spectrum": [StrOptions({"orthonormal"}), tuple, list, Spectrum, *COMPONENTS, None],
        "domain": [Pairs(tuple, {(0, 1), (-1, 1)})],
        "feature_range": ["array-like", None],
    }

    n_terms: int | None
    degree: int | Sequence[int] | None
    lam: float
    index_set: str
    max_interaction: int | None
    order: str
    spectrum: SpectrumLike
    domain: tuple[float, float]
    feature_range: Any
    basis_: TensorBasis
    n_terms_: int

    def _fit_inputs(self, X: NDArray[Any]) -> None:
        """Set ``basis_``, ``n_terms_`` and ``scaling_`` from the validated rows X (S, m)."""
        self.basis_ = self._make_basis(X.shape[1])
        self.n_terms_ = int(self.basis_.n_terms)
        box = self._given_box(X.shape[1])
        if box is None:
            self.scaling_ = InputScaling.fit(X, domain=self.domain, clip=self._clips)
            self._look_at_inputs(X)
            return
        self.scaling_ = box
        self._correlation = largest_correlation(X)
        self._apply_range_policy(X)

    def _given_box(self, n_features: int) -> InputScaling | None:
        """Return the box of ``feature_range``, None without one."""
        if self.feature_range is None:
            return None
        require_plain(self.feature_range, "feature_range")
        try:
            ends = np.asarray(self.feature_range, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            ends = np.empty(0)
        if ends.shape != (n_features, 2) or not (
            np.isfinite(ends).all() and (ends[:, 0] < ends[:, 1]).all()
        ):
            raise ValueError(
                f"feature_range must hold a pair (lower, upper) of finite numbers for each of the "
                f"{n_features} inputs, with lower < upper; got {shown(self.feature_range)}"
            )
        return InputScaling(ends[:, 0], ends[:, 1], domain=self.domain, clip=self._clips)

    def _default_degree(self) -> int:
        """Degree of the basis when neither ``n_terms`` nor ``degree`` is given."""
        raise ValueError(
            f"{type(self).__name__} needs n_terms (an int, the number of terms) or degree "
            "(an int, the highest total degree), got None for both."
        )

    def _make_basis(self, n_features: int) -> TensorBasis:
        degree = self.degree
        if self.n_terms is None and degree is None:
            degree = self._default_degree()
        if self.n_terms is not None and degree is not None:
            self._warn_if_cut(n_features, self.n_terms)
        return TensorBasis(
            n_features,
            n_terms=self.n_terms,
            degree=degree,
            lam=self.lam,
            index_set=self.index_set,
            max_interaction=self.max_interaction,
            order=self.order,
            spectrum=self.spectrum,
        )

    def _warn_if_cut(self, n_features: int, n_terms: int) -> None:
        """Warn when ``n_terms`` leaves terms of the requested ``degree`` out."""
        if self.index_set == "largest_weight":  # there, n_terms is what defines the set
            return
        n_complete = count_terms(
            n_features,
            degree=self.degree,
            index_set=self.index_set,
            max_interaction=self.max_interaction,
        )
        if n_complete > n_terms:
            warnings.warn(
                f"degree={self.degree!r} has {n_complete} terms in {n_features} inputs, and "
                f"n_terms={n_terms} keeps the first {n_terms} of them. Pass n_terms=None to "
                "use them all, or degree=None if the cut is meant.",
                UserWarning,
                stacklevel=_stacklevel(),
            )


@contextmanager
def _advising(advice: str) -> Iterator[None]:
    """Advise in the words of the estimators where a function on arrays refuses its results."""
    try:
        yield
    except BeyondRangeError as error:
        raise BeyondRangeError(error.found, advice) from None


def largest_correlation(X: NDArray[Any]) -> tuple[float, int, int]:
    """Return the correlation of largest absolute value between two inputs, and which these are.

    Of many samples, some are looked at; beyond some thousand inputs nothing is, and the answer 0.
    """
    m = X.shape[1]
    if m < 2 or m > _MOST_CORRELATED or len(X) < 3:
        return 0.0, 0, 0
    values = X[:: -(-len(X) // _MOST_LOOKED_AT)].astype(np.float64)
    values /= np.maximum(np.abs(values).max(axis=0), np.finfo(np.float64).tiny)
    values -= values.mean(axis=0)
    lengths = np.sqrt((values**2).sum(axis=0))
    moving = lengths > np.finfo(X.dtype).eps * np.sqrt(len(values))
    values[:, moving] /= lengths[moving]
    values[:, ~moving] = 0.0
    found = values.T @ values
    np.fill_diagonal(found, 0.0)
    i, j = sorted(divmod(int(np.abs(found).argmax()), m))
    return float(found[i, j].clip(-1.0, 1.0)), i, j


def _bulk(
    column: NDArray[Any], some: NDArray[np.float64], lower: float, upper: float
) -> tuple[float, float, float] | None:
    """Return the share of nearly all samples of an input, and where they lie, if it has outliers.

    That is if they fill a tiny part of the range, or a small one beyond which there is nothing but
    a wide gap before the outliers; a tail that thins out needs more to be one. Samples that are
    nearly all equal have none: they are told apart from the others.

    Parameters
    ----------
    column : ndarray, shape (n_samples,)
        All samples.
    some : ndarray, shape (n_some,)
        Some of them, sorted.
    lower, upper : float
        The range.
    """
    half = 0.5 * upper - 0.5 * lower  # a range may be beyond float64, its half is not

    def narrowest(values: NDArray[np.float64], left: int) -> tuple[float, float]:
        at = int((0.5 * values[left - 1 :] - 0.5 * values[: values.size - left + 1]).argmin())
        return float(values[at]), float(values[at + left - 1])

    for share, part in _BULKS:
        left = some.size - max(1, int(share * some.size))
        low, high = narrowest(some, left)
        if 0 < 0.5 * high - 0.5 * low < part * half:
            return left / some.size, low, high
    # no gap is so wide where the usual samples fill more than its counterpart
    left = some.size - max(1, int(_SHARE_APART * some.size))
    low, high = narrowest(some, left)
    if (1.0 + _LEAST_GAP) * (0.5 * high - 0.5 * low) > half:
        return None
    most = min(_MOST_APART, max(1, int(_SHARE_APART * column.size)))
    last = column.size - most - 1
    low_ends = 0.5 * np.sort(np.partition(column, most)[: most + 1]).astype(np.float64)
    high_ends = 0.5 * np.sort(np.partition(column, last)[last:]).astype(np.float64)
    for n_low in range(most + 1):
        for n_high in range(most + 1 - n_low):
            low, high = low_ends[n_low], high_ends[most - n_high]
            gaps = []
            if n_low:
                gaps.append(low - low_ends[n_low - 1])
            if n_high:
                gaps.append(high_ends[most - n_high + 1] - high)
            if gaps and high > low and min(gaps) >= 2.0 * _LEAST_GAP * 0.5 * (high - low):
                share = 1.0 - (n_low + n_high) / column.size
                return share, float(2.0 * low), float(2.0 * high)
    return None


def _stacklevel() -> int:
    """Return the stack level, for the function that warns, of the caller's own code.

    scikit-learn stands between it and us: it wraps ``transform``, and calls us in pipelines.
    """
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_library(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    return level


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in ("gegenbauer", "sklearn")


class GegenbauerFeatures(TransformerMixin, _BasisEstimator):  # type: ignore[misc]
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
        What to do with values outside of the range seen in ``fit``: clip them to it in
        silence ("clip") or with one warning ("warn"), raise an error, or evaluate the
        polynomials there, which grow fast; non-finite results are an error.
    n_jobs : int or None, default=None
        Number of threads, 1 to 1024; None or -1 for all that joblib counts, None at most
        OMP_NUM_THREADS where that is set. The result has the same bits for any number.

    Attributes
    ----------
    basis_ : TensorBasis
        The terms; row i of ``basis_.indices`` belongs to column i.
    scaling_ : InputScaling
        The range of the inputs seen in ``fit`` and its map to ``domain``. A constant input
        is mapped to 0.
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

    def __init__(
        self,
        n_terms: int | None = None,
        degree: int | Sequence[int] | None = None,
        *,
        lam: float = 0.05,
        index_set: str = "total_degree",
        max_interaction: int | None = None,
        order: str = "grlex",
        spectrum: SpectrumLike = None,
        domain: tuple[float, float] = (0, 1),
        feature_range: Any = None,
        out_of_range: str = "warn",
        n_jobs: int | None = None,
    ) -> None:
        self.n_terms = n_terms
        self.degree = degree
        self.lam = lam
        self.index_set = index_set
        self.max_interaction = max_interaction
        self.order = order
        self.spectrum = spectrum
        self.domain = domain
        self.feature_range = feature_range
        self.out_of_range = out_of_range
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  # the signature of pipelines
        """Learn the range of the inputs and build the basis.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        """Evaluate every term at every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_terms_)
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
        with _advising(f"{_CLIP}, or pass X as float64, or lower lam or degree"):
            return self.basis_.evaluate(
                X, scaling=self._current_scaling(), dtype=X.dtype, n_threads=self._n_threads()
            )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return readable names of the terms, such as ``"C2(x0) C1(x3)"``.

        Parameters
        ----------
        input_features : array-like of n_features str or None, default=None
            Names of the inputs; None for those seen in ``fit``, or else x0, x1, ...

        Returns
        -------
        ndarray of str objects, shape (n_terms_,)
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
