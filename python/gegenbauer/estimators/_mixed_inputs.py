"""Inputs that are categories, and numbers that are missing."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.levels import Levels
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.errors import OutOfRangeWarning, stacklevel
from gegenbauer.estimators._base import MAX_LISTED
from gegenbauer.estimators._categories import CategoryEncoder, find_categories
from gegenbauer.estimators._targets import TargetEstimator
from gegenbauer.ridge.expansions import KernelExpansion, TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["MixedInputs"]

# Nodes of Chebyshev's measure over which a factor of the kernel is averaged
_N_NODES = 64


class MixedInputs(TargetEstimator):
    """Columns of categories become numbers of levels, and missing numbers are NaN, in the core.

    A kernel of all terms takes both, by the levels of its spectrum; a finite set of terms takes
    neither.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TargetEstimator._parameter_constraints,
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "missing": [StrOptions({"indicator", "error"})],
    }

    # Parameters of those that take them; on clusters there are none
    categorical_features: Any = None
    missing: str = "error"

    expansion_: TermExpansion | KernelExpansion | MeanExpansion
    _all_terms: bool = True  # until a fit finds otherwise
    _encoder: CategoryEncoder = CategoryEncoder()
    _levels: tuple[Levels | None, ...] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "indicator" and self._may_have_all_terms
        tags.input_tags.categorical = self.categorical_features is not None
        return tags

    @property
    def _may_have_all_terms(self) -> bool:
        """Whether parameters allow the kernel of all terms."""
        return False

    # ---- reading inputs ----------------------------------------------------------

    def _as_numbers(self, X: Any, *, reset: bool) -> Any:
        """Return X with numbers of levels in the place of categories."""
        if reset:
            columns = find_categories(X, self.categorical_features)
            self._encoder = CategoryEncoder.fit(X, columns)
        elif self._encoder.categories:
            validate_data(self, X, reset=False, skip_check_array=True)  # the columns are the same
        if self.missing == "error":
            gone = self._encoder.missing_in(X)
            if gone is not None:
                raise ValueError(
                    f"X must hold no missing values, but column {gone[0]} has one, first in row "
                    f"{gone[1]}: fill them in, or set `missing='indicator'`"
                )
        return self._encoder.encode(X)

    @property
    def _text_advice(self) -> str | None:
        if "categorical_features" not in self.get_params(deep=False):
            return None
        return (
            "name the column in `categorical_features`, which a table of pandas or polars needs "
            "not, or leave it out"
        )

    @property
    def _takes_missing(self) -> bool:
        return self.missing == "indicator" and self._all_terms

    def _require_finite(self, X: NDArray[Any]) -> None:
        """Refuse infinity, and NaN in numbers unless they may be missing."""
        if self._takes_missing:
            if np.isnan(X).any():
                X = np.where(np.isnan(X), 0.0, X)
        elif self._encoder.categories:  # NaN is a level that is not known
            X = X.copy()
            X[:, self._encoder.columns] = 0.0
        super()._require_finite(X)

    def _find_levels(self, X: NDArray[Any], weight: Doubles | None) -> NDArray[Any]:
        """Find the levels of the samples of a fit and their shares; return the samples."""
        self._encoder, X = self._encoder.compact(X)
        levels: list[Levels | None] = [None] * X.shape[1]
        for t in np.flatnonzero(np.isnan(X).any(axis=0)).tolist():
            levels[t] = Levels.of_missing(np.isnan(X[:, t]), weight)
        for t, category in self._encoder.categories:
            levels[t] = Levels.of_codes(X[:, t], category.n_levels, weight)
        found = any(one is not None for one in levels)
        self._levels = tuple(levels) if found else None
        return X

    def _require_numbers(self) -> None:
        """Refuse what a finite set of terms does not take."""
        if self._levels is None:
            return
        t = next(t for t, one in enumerate(self._levels) if one is not None)
        one = self._levels[t]
        what = "is a category" if one is not None and one.category else "has missing values"
        raise ValueError(
            f"a finite set of terms takes numbers alone, but {self._column_name(t)} {what}: leave "
            "`n_terms` out for all terms, or encode the column, as "
            "sklearn.preprocessing.OneHotEncoder and sklearn.impute.SimpleImputer do"
        )

    # ---- the box -----------------------------------------------------------------

    def _with_levels(self, box: InputScaling) -> InputScaling:
        """Return a box in which the levels of categories lie from end to end."""
        if not self._encoder.categories:
            return box
        lower, upper = box.lower.copy(), box.upper.copy()
        for t, category in self._encoder.categories:
            lower[t], upper[t] = 0.0, max(category.n_levels - 1, 0)
        return InputScaling(
            lower, upper, domain=box.domain, clip=box.clip, constant=box.is_constant
        )

    def _look_at_inputs(self, X: NDArray[Any]) -> None:
        if self._levels is not None:
            X = X.astype(np.float64)
            for t, one in enumerate(self._levels):
                if one is not None and one.category:
                    X[:, t] = 0.0
                elif one is not None:
                    gone = np.isnan(X[:, t])
                    X[gone, t] = 0.0 if gone.all() else np.median(X[~gone, t])
        super()._look_at_inputs(X)

    def _apply_range_policy(self, X: NDArray[Any]) -> None:
        """Warn or raise for values that no sample of the fit had, if the policy requires it."""
        super()._apply_range_policy(X)
        if self.out_of_range not in ("warn", "error"):
            return
        unknown = self._unknown(X)
        columns = np.flatnonzero(unknown.any(axis=0))
        if columns.size == 0:
            return
        categories = {int(t) for t in self._encoder.columns}
        parts = []
        for t in columns[:MAX_LISTED].tolist():
            what = "a level that is not known" if t in categories else "no value"
            count, first = np.count_nonzero(unknown[:, t]), int(unknown[:, t].argmax())
            parts.append(
                f"{self._column_name(t)} has {what} in {count} of them (first in row {first})"
            )
        more = columns.size - MAX_LISTED
        message = (
            f"{np.count_nonzero(unknown.any(axis=1))} of {len(X)} samples have what no sample of "
            f"fit had: {', '.join(parts)}{f' and {more} more columns' if more > 0 else ''}."
        )
        if self.out_of_range == "error":
            raise ValueError(f"{message} Set `out_of_range` to 'clip' or 'warn' to accept them.")
        warnings.warn(
            f"{message} They count as the mean there; `out_of_range='clip'` does so without a "
            "warning.",
            OutOfRangeWarning,
            stacklevel=stacklevel(),
        )

    # ---- the function ------------------------------------------------------------

    def _function(self, X: NDArray[Any]) -> TermExpansion | KernelExpansion | MeanExpansion:
        """Return the fitted function with today's clipping, of samples with missing values."""
        function = self.expansion_.with_scaling(self._current_scaling())
        if isinstance(function, TermExpansion) or not np.isnan(X).any():
            return function
        if isinstance(function, MeanExpansion):
            return replace(function, parts=tuple(map(_of_missing, function.parts)))
        return _of_missing(function)

    def _unknown(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return where samples have what no sample of the fit had, (n_samples, n_features)."""
        unknown: NDArray[np.bool_] = np.isnan(X)
        for t, one in enumerate(self._levels or ()):
            if one is not None and not one.category:
                unknown[:, t] = False  # missing in some samples of the fit
        return unknown

    def _prior_of_unknown(self, X: NDArray[Any]) -> Doubles:
        """Return the prior variance that unknown inputs have beside their mean, (n_samples,).

        The mean of the diagonal of the kernel over these inputs, less the diagonal at their mean;
        each factor averages over the polynomials' own measure, or the shares of levels.
        """
        found = np.zeros(len(X))
        unknown = self._unknown(X)
        rows = np.flatnonzero(unknown.any(axis=1))
        function = self._function(X)
        if rows.size == 0 or isinstance(function, TermExpansion):
            return found
        if isinstance(function, MeanExpansion):
            parts = [_prior_of(part, X[rows], unknown[rows]) for part in function.parts]
            found[rows] = function.in_units_of_middle(parts)
        else:
            found[rows] = _prior_of(function, X[rows], unknown[rows])
        return found

    @property
    def categories_(self) -> list[Any]:
        """Values of the categories of each input, None for numbers.

        The last of a column in which some are missing is None.
        """
        found: list[Any] = [None] * self.n_features_in_
        for t, category in self._encoder.categories:
            found[t] = [*category.values, *([None] if category.has_missing else [])]
        return found


def _of_missing(function: KernelExpansion) -> KernelExpansion:
    """Return a function that takes missing values, where no sample of the fit had any."""
    kernel = function.kernel
    if not isinstance(kernel, SpectrumKernel) or kernel.spectrum.levels is not None:
        return function
    # their factor is 1
    spectrum = Spectrum(kernel.spectrum, [None] * kernel.n_features)
    return replace(function, kernel=SpectrumKernel(kernel.n_features, spectrum))


def _prior_of(function: KernelExpansion, X: NDArray[Any], unknown: NDArray[np.bool_]) -> Doubles:
    """Return the mean of the diagonal of the kernel over unknown inputs, less that at the mean."""
    kernel = function.kernel
    nodes = np.cos((np.arange(_N_NODES) + 0.5) * np.pi / _N_NODES)[:, np.newaxis]
    growth = np.ones(len(X))
    for t in np.flatnonzero(unknown.any(axis=0)).tolist():
        one = kernel.spectrum._of_input(t)
        if one.levels is not None and one.levels[0] is not None:
            mean = 1.0 + float(one.interactions(1).sum())
        else:
            mean = float(SpectrumKernel(1, one).diagonal(nodes).mean())
        growth[unknown[:, t]] *= mean
    return np.asarray(kernel.diagonal(X, scaling=function.scaling) * (growth - 1.0))
