"""Inputs that are categories, and numbers that are missing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from gegenbauer._messages import Message, Ways
from gegenbauer._rows import row
from gegenbauer._validation import TEXT_ADVICE, has_finite_sum
from gegenbauer.basis.levels import Levels
from gegenbauer.errors import OutOfRangeWarning, stacklevel
from gegenbauer.estimators._base import InputEstimator
from gegenbauer.estimators._categories import (
    CategoryEncoder,
    find_categories,
    without_missing_objects,
    without_types,
)
from gegenbauer.estimators._outside import Outside
from gegenbauer.inspection.sample_marginals import kept_marginals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.inspection.marginals import Condensed, Marginal

__all__ = ["MixedInputs", "have_gaps"]

# Entries of columns that are scaled at once
_MOST_ENTRIES = 100_000


def have_gaps(X: NDArray[Any]) -> bool:
    """Whether samples miss anything: mostly they do not, which a sum shows without a mask.

    Of finite numbers it may be NaN as well, by infinite parts of it: then nothing is lost but time.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum()))


_ADVICE_ON_TEXT = Ways.of(
    [
        Message(
            "list the column in `categorical_features` (columns of text of pandas, polars and "
            "Arrow are categories by default)"
        ),
        "leave it out",
    ]
)


class MixedInputs(InputEstimator):
    """Columns of categories become numbers of levels, and missing numbers are NaN, in the core.

    Models take both by the levels of a spectrum.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **InputEstimator._parameter_constraints,
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "missing": [StrOptions({"indicator", "error"})],
    }

    # Parameters of those that take them; on clusters there are none
    categorical_features: Any = None
    missing: str = "error"

    _encoder: CategoryEncoder = CategoryEncoder()
    _levels: tuple[Levels | None, ...] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.categorical = self._takes_categories
        return tags

    @property
    def _category_columns(self) -> Sequence[int]:
        """Columns of X that hold codes of levels."""
        found: list[int] = self._encoder.columns.tolist()
        return found

    @property
    def _never_given(self) -> list[int]:
        """Columns without any value in the fit: they are ignored, and have no type yet."""
        levels = enumerate(self._levels or ())
        return [t for t, one in levels if one is not None and not (one.category or one.varies)]

    @property
    def _takes_levels(self) -> bool:
        """Whether inputs may have levels: by the fit, or else by the parameters."""
        return False

    # ---- reading inputs ----------------------------------------------------------

    def _as_numbers(self, X: Any, *, reset: bool) -> Any:
        """Return X with numbers of levels in the place of categories."""
        if type(X) is np.ndarray and X.dtype.kind in "biuf":  # whose columns have no types or names
            if reset:
                self._fit_encoder(X)
            if not self._encoder.categories:
                return X
        X = super()._as_numbers(X, reset=reset)
        if reset:
            self._fit_encoder(X)
        elif self._encoder.categories:
            if issparse(X):
                raise TypeError(
                    "X must be a table as in fit, which had categories; got a sparse matrix"
                )
            validate_data(self, X, reset=False, skip_check_array=True)  # the columns are the same
        if not reset and not issparse(X):
            X = without_types(X, self._never_given)
        allowed = self.missing == "indicator"
        return without_missing_objects(self._encoder.encode(X, allow_missing=allowed))

    def _fit_encoder(self, X: Any) -> None:
        """Find the categories of a table, unless others have shown them before."""
        if self._encoder.categories:
            return
        given = self.categorical_features
        if isinstance(given, str) and not self._takes_levels:
            given = None  # raw polynomials take truth values as numbers
        self._encoder = CategoryEncoder.fit(X, find_categories(X, given))

    @property
    def _way_to_levels(self) -> Message | None:
        """What to do for inputs that have levels, where a parameter forbids any."""
        return None

    @property
    def _text_advice(self) -> Ways | None:
        if self._way_to_levels is not None:
            return Ways.of([self._way_to_levels, *TEXT_ADVICE])
        return _ADVICE_ON_TEXT if self._takes_categories else None

    @property
    def _gaps_advice(self) -> list[str | Message]:
        if self._way_to_levels is not None:
            return [self._way_to_levels]
        if self.missing == "error" and self._takes_levels:
            return [Message("set `missing='indicator'`")]
        return []

    @property
    def _takes_categories(self) -> bool:
        return self.categorical_features is not None and self._takes_levels

    @property
    def _takes_missing(self) -> bool:
        return self.missing == "indicator" and self._takes_levels

    def _require_finite(self, X: NDArray[Any]) -> None:
        """Refuse infinity, and NaN in numbers unless they may be missing."""
        if has_finite_sum(X):  # then there is none, and no need of a mask
            return
        if self._takes_missing:
            X = np.where(np.isnan(X), 0.0, X)
        elif self._encoder.categories:  # NaN is a level that is not known
            X = X.copy()
            X[:, self._encoder.columns] = 0.0
        super()._require_finite(X)

    def _find_levels(self, X: NDArray[Any], weight: Doubles | None) -> NDArray[Any]:
        """Find the levels of the samples of a fit and their shares; return the samples."""
        self._encoder, X = self._encoder.compact(X)
        levels: list[Levels | None] = [None] * X.shape[1]
        if have_gaps(X):
            for t in np.flatnonzero(np.isnan(X).any(axis=0)).tolist():
                levels[t] = Levels.of_missing(np.isnan(X[:, t]), weight)
        for t, category in self._encoder.categories:
            levels[t] = Levels.of_codes(X[:, t], category.n_levels, weight)
        found = any(one is not None for one in levels)
        self._levels = tuple(levels) if found else None
        return X

    # ---- the box -----------------------------------------------------------------

    def _keep_marginals(
        self, X: NDArray[Any], weight: Doubles | None, n_nodes: Sequence[int]
    ) -> None:
        """Keep the marginals of the samples of a fit, by Gauss rules of so many nodes an input."""
        found: list[Marginal | Condensed] = []
        step = max(1, _MOST_ENTRIES // len(X))  # samples may fill the memory
        if step >= X.shape[1]:
            Z = self.scaling_.transform(X)
            self._marginals = kept_marginals(Z, weight, self._levels, n_nodes)
            return
        for first in range(0, X.shape[1], step):
            some = slice(first, first + step)
            own = np.zeros(X.shape[1], dtype=bool)
            own[some] = True
            levels = None if self._levels is None else self._levels[some]
            Z = self.scaling_.some(own).transform(X[:, some])
            found += kept_marginals(Z, weight, levels, n_nodes[some])
        self._marginals = tuple(found)

    def _with_levels(self, box: InputScaling) -> InputScaling:
        """Return a box in which the levels of categories lie from end to end."""
        return self._encoder.box_around_levels(box)

    def _warn_of_outliers(self, X: NDArray[Any]) -> None:
        if self._levels is not None:
            X = X.astype(np.float64)
            for t, one in enumerate(self._levels):
                if one is not None and one.category:
                    X[:, t] = 0.0
                elif one is not None:
                    gone = np.isnan(X[:, t])
                    X[gone, t] = 0.0 if gone.all() else np.median(X[~gone, t])
        super()._warn_of_outliers(X)

    def _find_outside(self, X: NDArray[Any]) -> tuple[Outside, ...]:
        """Return what is outside of the box, and values that no sample of the fit had."""
        unknown = self._unknown(X)
        places: NDArray[np.bool_] = np.asarray(unknown.any(axis=1))
        return (*super()._find_outside(X), Outside.where(X, places, lambda _: unknown[places]))

    def _report_outside(self, found: tuple[Outside, ...]) -> None:
        """Warn or raise for all samples that have what the fit did not see."""
        super()._report_outside(found)
        unknown = found[1]
        if unknown.n_outside == 0:
            return
        categories = {int(t) for t in self._encoder.columns}

        def describe(t: int, count: int, first: int, _: Any) -> Message:
            return Message(
                "{} has {} in {} of them (first in {})",
                self._column_name(t),
                "a level that is not known" if t in categories else "no value",
                count,
                row(first),
            )

        report = Message(
            "{} of {} samples have what no sample of fit had: {}",
            unknown.n_outside,
            unknown.n_samples,
            unknown.listed(describe),
        )
        if self.out_of_range == "error":
            raise ValueError(
                Message(
                    "{}",
                    report,
                    ways="set `out_of_range` to 'clip' or 'warn' to accept them",
                    joint=". ",
                    end=".",
                )
            )
        warnings.warn(
            Message(
                "{}. They count as the mean there",
                report,
                ways="`out_of_range='clip'` does so without a warning",
                joint="; ",
                end=".",
            ),
            OutOfRangeWarning,
            stacklevel=stacklevel(),
        )

    def _unknown(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return where samples have what no sample of the fit had, (n_samples, n_features).

        Inputs that are ignored, since they had one level alone, have nothing unknown.
        """
        unknown: NDArray[np.bool_] = np.isnan(X)
        for t, one in enumerate(self._levels or ()):
            if one is not None and not (one.category and one.varies):
                unknown[:, t] = False
        return unknown

    def _is_outside(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        outside: NDArray[np.bool_] = super()._is_outside(X) | self._unknown(X).any(axis=1)
        return outside

    @property
    def categories_(self) -> list[Any]:
        """Values of the categories of each input, None for numbers.

        The last of a column in which some are missing is None.
        """
        found: list[Any] = [None] * self.n_features_in_
        for t, category in self._encoder.categories:
            found[t] = [*category.values, *([None] if category.has_missing else [])]
        return found
