"""What all estimators do with their inputs.

They check and scale them, watch for values outside of the range seen in ``fit``, and build
the :class:`~gegenbauer.TensorBasis`. Everything else is left to the functional layer.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import sys
import warnings
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite

# The one private module of scikit-learn that we use: the vocabulary in which
# ``_parameter_constraints`` is written, which has no public name yet.
# tests/python/test_architecture.py sees to it that no other follows.
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from gegenbauer._dispatch import processors
from gegenbauer._locks import exclusive
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Setting, Ways
from gegenbauer._renamed import NEW_NAMES, FormerNames
from gegenbauer._rows import row
from gegenbauer._tables import columns_of
from gegenbauer._validation import (
    MAX_INTEGER,
    MAX_THREADS,
    and_more,
    apart,
    check_integer,
    has_finite_sum,
    naming_columns,
    require_plain,
    shown,
)
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.errors import BeyondRangeError, OutlierWarning, OutOfRangeWarning, stacklevel
from gegenbauer.estimators._documentation import DocumentationLink
from gegenbauer.estimators._outliers import find_bulk, may_have_bulk
from gegenbauer.estimators._outside import Outside
from gegenbauer.estimators._sparse import in_blocks
from gegenbauer.estimators._summary import summary_html
from gegenbauer.inspection.correlation import FEWEST_LOOKED_AT, MOST_LOOKED_AT, largest_correlation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from gegenbauer.inspection.marginals import Condensed, Marginal

__all__ = [
    "FLOAT_DTYPES",
    "MAX_LISTED",
    "TARGETS_ADVICE",
    "InputEstimator",
    "Pairs",
    "Range",
    "advising",
    "box_of",
    "typed",
]

# Types that the compiled core reads as they are; every other dtype becomes the first.
FLOAT_DTYPES = [np.float64, np.float32]

# Longest list of columns or labels that an error spells out.
MAX_LISTED = 5

TARGETS_ADVICE = "the targets (or their weights) are too large, scale them down"


class Range(Interval):  # type: ignore[misc]  # scikit-learn is untyped
    """An interval in which any real number may lie.

    scikit-learn tests by NumPy whether a number is NaN, which knows no fractions.
    """

    def is_satisfied_by(self, val: Any) -> bool:
        # truth values are integers to Python, and time spans to NumPy
        if isinstance(val, bool | np.bool_ | np.timedelta64) or not isinstance(val, self.type):
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


# Values of parameters that were found valid, by class and with their types, since 1 == 1.0 == True:
# to look at them again takes longer than a prediction.
_VALID: set[tuple[type, Any]] = set()
_MOST_VALID = 1000


# What does not change
_PLAIN = {type(None), bool, int, float, str}


def typed(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values with their types, for a key; ValueError where one may change."""
    types = tuple(map(type, values))
    if not _PLAIN.issuperset(types):
        if not (_PLAIN | {tuple}).issuperset(types):
            raise ValueError
        values = tuple(typed(one) if type(one) is tuple else one for one in values)
    return types, values


@functools.cache
def _parameter_names(kind: type[InputEstimator]) -> tuple[str, ...]:
    return tuple(BaseEstimator._get_param_names.__func__(kind))


@functools.cache
def _fitted_names(kind: type[InputEstimator]) -> frozenset[str]:
    """Return the attributes that fits set: those that classes of this library declare.

    Their names begin or end with an underscore, which those of parameters do not.
    """
    ours = [base for base in kind.__mro__ if base.__module__.startswith("gegenbauer.")]
    declared = {name for base in ours for name in inspect.get_annotations(base)}
    return frozenset(name for name in declared if "_" in (name[0], name[-1]))


def _dense(X: Any) -> NDArray[Any]:
    """Return a sparse matrix as an array: every term takes all inputs of a sample."""
    require_memory(
        float(X.dtype.itemsize) * X.shape[0] * X.shape[1],
        f"X of shape {X.shape}, which is sparse and is made dense,",
        "give fewer samples at once, or fewer columns",
    )
    return np.asarray(X.toarray())


def _is_of_floats(X: Any) -> bool:
    """Return whether X is a table of pandas whose columns, if any, are one kind of floats."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return False
    dtypes = {*getattr(X, "dtypes", ())}
    return len(dtypes) <= 1 and all(dtype in FLOAT_DTYPES for dtype in dtypes)


def _is_of_plain_targets(y: Any) -> bool:
    """Return whether y is an array of text or of finite numbers, with one or two dimensions."""
    if not (type(y) is np.ndarray and y.ndim in (1, 2) and y.size > 0):
        return False
    return has_finite_sum(y) if y.dtype.kind == "f" else y.dtype.kind in "biuU"


class InputEstimator(DocumentationLink, FormerNames, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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

    # Set by the constructors and by ``_fit``. Classes declare all that their fits set, for the type
    # checker and because the next fit begins without it: see _fitted_names.
    out_of_range: str
    n_jobs: int | None
    scaling_: InputScaling
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _correlation: tuple[float, int, int] | None = None
    # Of the samples of the fit; the rules of those that are condensed are made by explanations
    _marginals: tuple[Marginal | Condensed, ...] | None = None

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as every estimator of scikit-learn does.

        Parameters
        ----------
        **params : dict
            New values by names.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            There is no such parameter; for an old name the error gives the new one.
        """
        known = self.get_params(deep=False)
        for name in params.keys() - known.keys():
            if NEW_NAMES.get(name) in known:
                raise ValueError(
                    Message(
                        "{} has no parameter {!r} any more: it is called `{}`",
                        type(self).__name__,
                        name,
                        NEW_NAMES[name],
                    )
                )
        super().set_params(**params)
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return what scikit-learn reads from the signature at each call."""
        kind: Any = cls
        return [*_parameter_names(kind)]

    def _validate_params(self) -> None:
        kind: Any = type(self)
        try:
            key = kind, typed(tuple([getattr(self, name) for name in _parameter_names(kind)]))
        except ValueError:
            super()._validate_params()
            return
        if key in _VALID:
            return
        super()._validate_params()
        if not get_config()["skip_parameter_validation"]:
            if len(_VALID) >= _MOST_VALID:
                _VALID.clear()
            _VALID.add(key)

    # ---- what notebooks show ------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram and, of a fitted estimator, what it has learned."""
        return f"{super()._repr_html_inner()}{self._summary()}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in found:
            found["text/html"] += self._summary()
        return found

    def _summary(self) -> str:
        return "" if getattr(self, "scaling_", None) is None else summary_html(self)

    # ---- fitting -----------------------------------------------------------------

    def _fit_on_copy(self, *args: Any) -> Self:
        """Run ``_fit`` on a copy and take over its state in one assignment.

        A fit that fails or is interrupted leaves the estimator as it was, fitted or not, and of an
        earlier fit nothing is left by one that succeeds.
        """
        return self._on_copy("_fit", *args, afresh=True)

    def _on_copy(self, name: str, *args: Any, afresh: bool = False) -> Self:
        """Call a method that changes a copy, and take over its state if it succeeds.

        Threads wait for each other, so that what each of them learns is kept. With ``afresh`` the
        copy is not fitted.
        """
        self._validate_params()
        with exclusive(self):
            changed = self._unfitted() if afresh else copy.copy(self)
            getattr(changed, name)(*args)
            self._become(changed)
        return self

    def _fit(self, *args: Any) -> None:
        raise NotImplementedError

    # ---- the state as a whole, which is read and replaced here alone -------------------

    def __copy__(self) -> Self:
        """Return an estimator of the same values, ten times as fast as by way of a pickle."""
        return self._without(frozenset())

    def _without(self, names: AbstractSet[str]) -> Self:
        """Return a copy that lacks these attributes."""
        result = object.__new__(type(self))
        state = self.__dict__.copy()  # at once: other threads may go on learning
        result.__dict__ = {name: value for name, value in state.items() if name not in names}
        return result

    def _unfitted(self) -> Self:
        """Return a copy without what was fitted, and with all else, as what a subclass keeps."""
        kind: Any = type(self)
        return self._without(_fitted_names(kind))

    def _become(self, other: Self) -> None:
        """Take over the state of an estimator of the same class, in one assignment."""
        self.__dict__ = other.__dict__

    def _learn_from(self, other: InputEstimator) -> None:
        """Take over what another estimator holds beside its parameters, in one assignment."""
        learned = other._without(other.get_params(deep=False).keys())
        self.__dict__ = {**self.__dict__, **learned.__dict__}

    # ---- inputs ------------------------------------------------------------------

    def _validate_inputs(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Return X (S, m) as finite float64 or float32, without a copy where possible."""
        if not reset:
            self._validate_params()  # they may have been set after the fit
        X = self._as_numbers(require_plain(X, "X"), reset=reset)
        with naming_columns(X, "X", text=self._text_advice):
            X = self._validated(X, reset=reset)
        self._require_finite(X)
        return X  # type: ignore[no-any-return]

    def _as_numbers(self, X: Any, *, reset: bool) -> Any:  # noqa: ARG002
        """Put numbers in the place of what is none, in estimators that take such columns."""
        table = columns_of(X)  # what narwhals wraps, whose names scikit-learn does not read
        table.require_distinct_names("X")
        return table.X

    @property
    def _text_advice(self) -> str | Ways | None:
        """What to do about columns of text, if there is more than to encode them."""
        return None

    @property
    def _gaps_advice(self) -> list[str | Message]:
        """What else to do where inputs are NaN than to remove it or to fill it in."""
        return []

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool, **checks: Any) -> Any:
        """Return X, and y with it, as scikit-learn's checks leave them; a sparse X is made dense.

        Of a table of which all columns are one kind of floats, these look at each column, which of
        tens of thousands takes seconds; so they get the names of such a table, and its array.
        """
        if self._is_ready(X, y, reset=reset):
            if reset:
                self.n_features_in_ = X.shape[1]
            return X if isinstance(y, str) else (X, y)
        checks = {"dtype": FLOAT_DTYPES, "ensure_all_finite": False, **checks}
        if issparse(X):
            checked = validate_data(self, X, y, reset=reset, accept_sparse="csr", **checks)
            if isinstance(y, str):
                return _dense(checked)
            return _dense(checked[0]), checked[1]
        if not _is_of_floats(X):
            return validate_data(self, X, y, reset=reset, **checks)
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        if isinstance(y, str):
            return check_array(X.to_numpy(), input_name="X", estimator=self, **checks)
        return check_X_y(X.to_numpy(), y, estimator=self, **checks)

    def _is_ready(self, X: Any, y: Any, *, reset: bool) -> bool:
        """Return whether X, and y if there is one, would come out of these checks as they are.

        Arrays of finite numbers or of text: what scikit-learn does with them in case they were
        tables of some library takes longer than all else that a small fit or a prediction is.
        """
        if not (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and X.size > 0
            and "feature_names_in_" not in vars(self)
            and (reset or X.shape[1] == vars(self).get("n_features_in_"))
        ):
            return False
        return isinstance(y, str) or (_is_of_plain_targets(y) and len(y) == len(X))

    def _require_finite(self, X: NDArray[Any]) -> None:
        """Refuse NaN and infinity with an error that names the columns."""
        try:
            # scikit-learn sums first, and finite numbers may have a sum that is none
            with np.errstate(over="ignore", invalid="ignore"):
                assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        except ValueError as error:
            bad = ~np.isfinite(X)
            columns = np.flatnonzero(bad.any(axis=0))
            listed = Message.listed(
                Message("{} (first in {})", self._column_name(j), row(int(bad[:, j].argmax())))
                for j in columns[:MAX_LISTED].tolist()
            )
            raise ValueError(
                Message(
                    "{} Found in {}{}",
                    str(error).partition("\n")[0],  # what follows advises other estimators
                    listed,
                    and_more(columns.size - MAX_LISTED),
                    ways=[
                        "remove these rows or columns",
                        "fill them in, as sklearn.impute.SimpleImputer does for NaN",
                        *([] if np.isinf(X).any() else self._gaps_advice),
                    ],
                    joint=". ",
                    end=".",
                )
            ) from None

    def _column_name(self, column: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"column {column}" if names is None else f"column {column} ({names[column]!r})"

    @property
    def _margin(self) -> float:
        """How much wider than the samples of the fit the box is, on either side."""
        return 0.0

    @property
    def _clips(self) -> bool:
        return self.out_of_range != "extrapolate"

    @property
    def _has_given_bounds(self) -> bool:
        """Whether the caller gave the box."""
        return False

    @property
    def _box_in_words(self) -> Message:
        """What samples are outside of, in words."""
        return Message("`bounds`") if self._has_given_bounds else Message("the range seen in fit")

    def _clip_advice(self) -> Message:
        """Advise on results beyond float64 of samples that are far outside."""
        return Message(
            "samples lie too far outside of {}, set `out_of_range='clip'`", self._box_in_words
        )

    def _results_advice(self) -> Ways:
        """Advise on predictions beyond float64."""
        large = Message("the coefficients are too large", ways="fit with a larger `alpha`",
                        joint=", ")  # fmt: skip
        return Ways.of([self._clip_advice(), large])

    @property
    def _seen(self) -> InputScaling:
        """The range of the samples of the fit, which values are outside of or not."""
        return self.scaling_

    def _current_scaling(self) -> InputScaling:
        """Return the fitted box with today's clipping: the policy may change after ``fit``."""
        if self.scaling_.clip == self._clips:
            return self.scaling_
        return self.scaling_.replace(clip=self._clips)

    def _apply_range_policy(self, X: NDArray[Any]) -> None:
        """Warn or raise for samples outside of the fitted box, if the policy requires it."""
        if self._has_range_policy:
            self._report_outside(self._find_outside(X))

    @property
    def _has_range_policy(self) -> bool:
        return self.out_of_range in ("warn", "error")

    def _find_outside(self, X: NDArray[Any]) -> tuple[Outside, ...]:
        """Return what the fit did not see, by kinds: here of samples outside of the box."""
        return (Outside.of(X, self._seen),)

    def _report_outside(self, found: tuple[Outside, ...]) -> None:
        """Warn or raise for what `_find_outside` has found in all samples."""
        outside, lower, upper = found[0], self._seen.lower, self._seen.upper
        if outside.n_outside == 0:
            return

        def describe(t: int, count: int, first: int, example: Any) -> Message:
            value, low, high = apart(example, lower[t], upper[t])
            return Message(
                "{} in {} of them (first in {}, where it is {} and the range is [{}, {}])",
                self._column_name(t), count, row(first), value, low, high,
            )  # fmt: skip

        report = Message(
            "{} of {} samples lie outside of {}: {}",
            outside.n_outside,
            outside.n_samples,
            self._box_in_words,
            outside.listed(describe),
        )
        if self.out_of_range == "error":
            raise ValueError(
                Message(
                    "{}",
                    report,
                    ways="set `out_of_range` to 'clip', 'warn' or 'extrapolate' to accept them",
                    joint=". ",
                    end=".",
                )
            )
        warnings.warn(
            Message(
                "{}. They are clipped to it",
                report,
                ways="`out_of_range='clip'` does so without a warning",
                joint="; ",
                end=".",
            ),
            OutOfRangeWarning,
            stacklevel=stacklevel(),
        )

    @property
    def _category_columns(self) -> Sequence[int]:
        """Columns of X that hold codes of levels."""
        return ()

    def _look_at_inputs(self, X: NDArray[Any]) -> None:
        """Warn of outliers, and keep what `sobol_indices` warns of."""
        self._warn_of_outliers(X)
        self._correlation = largest_correlation(X, self._category_columns)

    def _warn_of_outliers(self, X: NDArray[Any]) -> None:
        """Warn of inputs of which nearly all samples fill a small part of the range."""
        if len(X) < FEWEST_LOOKED_AT:
            return
        step = -(-len(X) // MOST_LOOKED_AT)
        some = np.sort(X[::step], axis=0)
        box, seen = self.scaling_, self._seen
        suspects = may_have_bulk(some, seen.lower, seen.upper) & ~box.is_constant
        found: list[str] = []
        clipped: list[str] = []
        for t in np.flatnonzero(suspects).tolist():
            lower, upper = seen.lower[t], seen.upper[t]
            bulk = find_bulk(X[:, t], some[:, t].astype(np.float64), float(lower), float(upper))
            if bulk is None:
                continue
            share, low, high = bulk
            part = (0.5 * high - 0.5 * low) / (0.5 * upper - 0.5 * lower)
            texts = apart(low, high, lower, upper)
            fenced = (box.lower[t], box.upper[t]) != (lower, upper)
            (clipped if fenced else found).append(
                f"{100 * share:.4g} per cent of the samples of {self._column_name(t)} fill "
                f"{100 * part:.2g} per cent of its range (they lie in [{texts[0]}, {texts[1]}] of "
                f"[{texts[2]}, {texts[3]}])"
            )
        if not (found or clipped):
            return
        given = [Message("pass `bounds`")] if "bounds" in self.get_params(deep=False) else []
        advice = Message(
            "The polynomials, which span the range, hardly distinguish such samples",
            ways=[
                "fill in what a code such as -999 stands for",
                "clip what lies outside",
                *given,
                "transform the column by its logarithm",
                "by scikit-learn's `QuantileTransformer()`",
            ],
            end=".",
        )
        of_clipped = (
            "The others are clipped to the box of the polynomials, and stand for what is near its "
            "end: leave them out if they are wrong, or fill in what a code such as -999 stands for."
        )
        for columns, what_to_do in ((found, advice), (clipped, of_clipped)):
            if not columns:
                continue
            more = and_more(len(columns) - MAX_LISTED, "column")
            listed = "; ".join([*columns[:MAX_LISTED], *([more.lstrip()] if more else [])])
            warnings.warn(
                Message("{}. {}", listed, what_to_do),
                OutlierWarning,
                stacklevel=stacklevel(),
            )

    def _n_threads(self) -> int | None:
        """Return the number of threads, which are ours: no backend of joblib changes it."""
        if self.n_jobs is None:
            return None
        n_jobs = check_integer(self.n_jobs, "n_jobs", minimum=-MAX_INTEGER)
        return n_jobs if n_jobs > 0 else max(1, processors() + 1 + n_jobs)

    @in_blocks(sum, reports=False)
    def count_out_of_range(self, X: Any) -> int:
        """Count the samples with at least one value outside of the range seen in ``fit``.

        Outside is also, where an estimator takes them, a level of a category that no sample of the
        fit had, and a missing number in an input that was never missing. Inputs that were constant
        in ``fit`` are ignored by the model, and here.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples to check.

        Returns
        -------
        int
            Number of samples, from 0 to ``n_samples``, whatever ``out_of_range`` is.
        """
        check_is_fitted(self)
        X = self._validate_inputs(X, reset=False)
        return int(np.count_nonzero(self._is_outside(X)))

    def _is_outside(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which samples have at least one value that is outside of what the fit saw."""
        return self._seen.outside(X, rounded=True)


def box_of(
    bounds: Any, n_features: int, *, domain: tuple[float, float], clip: bool
) -> InputScaling:
    """Return the box of bounds that a user gives."""
    bounds = require_plain(bounds, Setting("bounds"))
    try:
        ends = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        ends = np.empty(0)
    if ends.shape != (n_features, 2) or not (
        np.isfinite(ends).all() and (ends[:, 0] < ends[:, 1]).all()
    ):
        raise ValueError(
            Message(
                "`bounds` must hold a pair (lower, upper) of finite numbers for each of the "
                "{} inputs, with lower < upper; got {}",
                n_features,
                shown(bounds),
            )
        )
    return InputScaling(ends[:, 0], ends[:, 1], domain=domain, clip=clip)


@contextmanager
def advising(advice: str | Callable[[], Ways]) -> Iterator[None]:
    """Advise in the words of the estimators where a function on arrays refuses its results."""
    try:
        yield
    except BeyondRangeError as error:
        ways = advice if isinstance(advice, str) else advice()
        raise BeyondRangeError(error.found, ways, error.row) from None
