"""A fitted model with the distributions that it is explained under."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.inspection._decomposition import decompose
from gegenbauer.inspection.distributions import marginals_of
from gegenbauer.inspection.marginals import sample_marginals
from gegenbauer.inspection.models import expansion_of, largest_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection._decomposition import Decomposition, Function
    from gegenbauer.inspection.marginals import Marginal
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
    distribution : str, distribution, mapping or sequence
        As for `sobol_indices`.
    background : {array-like, table} of shape (n_samples, n_features), optional
        Samples whose marginals are taken in the place of `distribution`.
    """

    def __init__(
        self, estimator: Any, distribution: Any = "empirical", background: Any = None
    ) -> None:
        function = expansion_of(estimator)
        self.estimator = estimator
        self.function = function.with_scaling(estimator._current_scaling())
        self.n_features: int = function.scaling.n_features
        self.n_outputs: int = function.n_outputs
        if background is None:
            self.marginals: Sequence[Marginal] = marginals_of(
                estimator, self.function, distribution
            )
        else:
            self._require_one(distribution)
            self.marginals = self._of_samples(background)

    @staticmethod
    def _require_one(distribution: Any) -> None:
        if not (isinstance(distribution, str) and distribution == "empirical"):
            raise ValueError(
                Message(
                    "`background` and `distribution` both say what the inputs are like: give one "
                    "of them"
                )
            )

    def _of_samples(self, background: Any) -> Sequence[Marginal]:
        """Return the marginals of samples."""
        codes = self.estimator._samples_to_explain(background)
        if len(codes) == 0:
            raise ValueError(Message("`background` must have at least one sample"))
        largest = largest_indices(self.function)
        sizes = [_N_NODES] * self.n_features if largest is None else [n + 1 for n in largest]
        Z = self.function.scaling.transform(codes)
        return sample_marginals(Z, None, None, sizes)

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
    ) -> tuple[npt.NDArray[Any], Doubles]:
        """Return samples as the model takes them, and a part of the function there.

        Values are of shape (n_samples, n_values), for samples checked as by ``predict``.
        """
        codes, values = self.estimator._evaluated(
            X, lambda function: part(self.decomposition(function))
        )
        return codes, np.asarray(values)
