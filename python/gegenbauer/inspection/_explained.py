"""A fitted model with the distributions that it is explained under."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import as_matrix, setting, shown
from gegenbauer.inspection._decomposition import decompose
from gegenbauer.inspection.distributions import marginals_of
from gegenbauer.inspection.marginals import FIXED
from gegenbauer.inspection.models import (
    expansion_of,
    largest_indices,
    levels_of,
    spectrum_of,
)
from gegenbauer.inspection.sample_marginals import sample_marginals
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection._decomposition import Decomposition, Function
    from gegenbauer.inspection.marginals import Measure
    from gegenbauer.ridge.expansions import Expansion

__all__ = ["Explained"]

# Nodes of the marginals of a background, where functions are kernels
_N_NODES = 400


class Explained:
    """A fitted estimator under distributions of its inputs.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor or classifier of this library.
    distribution : str, distribution, mapping or sequence, optional
        As for `sobol_indices`.
    background : {array-like, table} of shape (n_samples, n_features), optional
        Samples whose marginals are taken in the place of `distribution`.
    default : str
        The distribution where neither is given.
    marginals_needed : bool
        Whether there are to be any.
    """

    def __init__(
        self,
        estimator: Any,
        distribution: Any = None,
        background: Any = None,
        *,
        default: str = "empirical",
        marginals_needed: bool = True,
    ) -> None:
        function = expansion_of(estimator)
        self.estimator = estimator
        box = estimator._current_scaling()
        if not isinstance(function, TermExpansion):  # kernels have no values outside
            box = box.replace(clip=True)
        self.function = function.with_scaling(box)
        self.n_features: int = function.scaling.n_features
        self.n_outputs: int = function.n_outputs
        self.distribution = default if distribution is None else distribution
        if background is None:
            self.marginals: Sequence[Measure] = marginals_of(
                estimator, self.function, self.distribution
            )
            return
        if distribution is not None:
            raise ValueError(
                Message(
                    "`background` and `distribution` both describe the inputs: give one of them"
                )
            )
        self.marginals = (
            self._of_samples(background) if marginals_needed else [FIXED] * self.n_features
        )

    def _of_samples(self, background: Any) -> Sequence[Measure]:
        """Return the marginals of samples."""
        codes = self.codes_of(background)
        largest = largest_indices(self.function)
        sizes = [_N_NODES] * self.n_features if largest is None else [n + 1 for n in largest]
        Z = self.function.scaling.transform(codes)
        return sample_marginals(Z, None, None, sizes)

    def codes_of(self, background: Any) -> npt.NDArray[Any]:
        """Return the samples of a background as the model takes them."""
        try:
            found: npt.NDArray[Any] = self.estimator._samples_to_explain(background)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(
                Message("`background` must hold samples like those of the fit: {}", str(error))
            ) from error
        levels = spectrum_of(self.function).levels or (None,) * self.n_features
        for t in np.flatnonzero(np.isnan(found).any(axis=0)).tolist():
            if levels[t] is None:
                raise ValueError(
                    Message(
                        "`background` lacks values of {}, which all samples of the fit have",
                        self.estimator._column_name(t),
                    )
                )
        return found

    def grid(self, t: int, given: Any, n_values: int) -> tuple[npt.NDArray[Any], Doubles]:
        """Return values of an input, as they are in X, and as the model takes them."""
        box = self.function.scaling
        categories = getattr(self.estimator, "categories_", None)
        levels = None if categories is None else categories[t]
        if levels is None:
            if given is None:
                # some boxes are wider than the samples of the fit
                extent = 1.0 / (1.0 + 2.0 * self.estimator._margin)
                middle, half = (0.5 * (box.upper[t] + way * box.lower[t]) for way in (1, -1))
                n_values = 1 if box.is_constant[t] else n_values
                found = np.linspace(middle - extent * half, middle + extent * half, n_values)
                return found, found
            found = as_matrix(given, "grid", n_columns=1, one_dimensional=True, keep_float32=False)
            return found[:, 0], found[:, 0]
        if given is None:
            return np.array(levels, dtype=object), np.arange(float(len(levels)))
        return np.asarray(given), levels_of(self.estimator, t, given, "grid")

    def levels_in(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
        """Return samples with the levels of categories; None if there are no categories."""
        categories = getattr(self.estimator, "categories_", None) or []
        if all(levels is None for levels in categories):
            return None
        found = codes.astype(object)
        for t, levels in enumerate(categories):
            if levels is not None:
                known = ["missing" if level is None else level for level in levels]
                found[:, t] = [
                    "missing" if np.isnan(code) else known[int(code)] for code in codes[:, t]
                ]
        return found

    @property
    def names(self) -> list[str]:
        """Names of the inputs."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return [f"x{t}" for t in range(self.n_features)] if names is None else [*map(str, names)]

    def decomposition(self, function: Expansion | None = None) -> Decomposition:
        """Return the decomposition of the fitted function, or of what takes missing values."""
        own = self.function if function is None else function
        return decompose(own, self.marginals, self.estimator._n_threads())

    def at(
        self, X: Any, part: Callable[[Decomposition], Function]
    ) -> tuple[npt.NDArray[Any], Doubles, Doubles]:
        """Return samples as the model takes them, a part of the function there, and its mean.

        Values are of shape (n_samples, n_values), for samples checked as by ``predict``; the mean
        is of shape (n_outputs,).
        """
        found: list[Decomposition] = []

        def make(function: Expansion) -> Function:
            found.append(self.decomposition(function))
            return part(found[0])

        codes, values = self.estimator._evaluated(X, make)
        return codes, np.asarray(values).reshape(len(codes), -1), found[0].mean

    def shaped(self, values: Doubles) -> Doubles:
        """Return values without their last axis, that of the outputs, if there is one output."""
        return values[..., 0] if self.n_outputs == 1 else values

    def places(self, features: Any, name: str = "features") -> tuple[int, ...]:
        """Return which inputs are meant by a number or name, or by several of them."""
        several = isinstance(features, Iterable) and not isinstance(features, str)
        found = [self._place(one, name) for one in (features if several else [features])]
        if len({*found}) < len(found):
            raise ValueError(
                Message("{} must hold each input once, got {!r}", setting(name), features)
            )
        if not found:
            raise ValueError(Message("{} must name an input, got none", setting(name)))
        return tuple(found)

    def _place(self, feature: Any, name: str) -> int:
        known = getattr(self.estimator, "feature_names_in_", None)
        if isinstance(feature, str):
            if known is None:
                raise ValueError(
                    Message(
                        "{} has {!r}, but the inputs of this model have no names: give numbers",
                        setting(name),
                        feature,
                    )
                )
            if feature not in known:
                raise ValueError(
                    Message(
                        "{} has {!r}, which is no input of the model; these are {}",
                        setting(name),
                        feature,
                        shown(self.names),
                    )
                )
            return self.names.index(feature)
        if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
            raise TypeError(
                Message(
                    "{} must be numbers or names of inputs, got {}", setting(name), shown(feature)
                )
            )
        if not 0 <= feature < self.n_features:
            raise ValueError(
                Message(
                    "{} has {}, but inputs are numbered from 0 to {}",
                    setting(name), feature, self.n_features - 1,
                )
            )  # fmt: skip
        return int(feature)
