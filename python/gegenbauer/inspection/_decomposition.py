"""A fitted function under distributions of its inputs: parts of it as functions again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gegenbauer._memory import require_memory
from gegenbauer.basis.levels import as_samples
from gegenbauer.inspection._centred_terms import CentredTerms
from gegenbauer.inspection._products import KernelProducts
from gegenbauer.ridge.expansions import TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection.marginals import Measure
    from gegenbauer.ridge.expansions import Expansion, KernelExpansion

# Values of terms that are held at once
_MOST_VALUES = 2**22

__all__ = ["Decomposition", "Function", "decompose"]


class Function(Protocol):
    """What can be evaluated at samples."""

    def evaluate(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:
        """Return the values at X, (n_samples, n_values)."""


class Decomposition(ABC):
    r"""The functional ANOVA decomposition of a fitted function.

    f is the sum of one part for each set u of inputs,
    :math:`f_u(x) = \sum_{v \subseteq u} (-1)^{|u| - |v|} E[f \mid x_v]`, and the mean of a part
    over any of its inputs is 0.
    """

    n_features: int
    n_outputs: int

    @property
    @abstractmethod
    def mean(self) -> Doubles:
        """The mean of the function, (n_outputs,)."""

    @abstractmethod
    def shapley(self) -> Function:
        """Return the Shapley values, (n_samples, n_features * n_outputs), inputs first."""

    @abstractmethod
    def components(self, sets: Sequence[Sequence[int]]) -> Function:
        """Return the parts of sets of inputs, and as the last the sum of the parts of all sets.

        (n_samples, (n_sets + 1) * n_outputs), sets first.
        """

    @abstractmethod
    def conditional_mean(self, inputs: Sequence[int]) -> Function:
        """Return the mean given some inputs, (n_samples, n_outputs)."""

    @abstractmethod
    def over_samples(self, inputs: Sequence[int], samples: npt.NDArray[Any]) -> Function:
        """Return the same of other inputs that are, jointly, those of some samples."""


def decompose(
    function: Expansion, marginals: Sequence[Measure], n_threads: int | None = None
) -> Decomposition:
    """Return the decomposition of a fitted function under distributions of its inputs.

    Parameters
    ----------
    function : TermExpansion, KernelExpansion or MeanExpansion
        The function.
    marginals : sequence of Measure
        Of all inputs, which are taken as independent.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`.
    """
    if isinstance(function, TermExpansion):
        return _OfTerms(function, marginals)
    return _OfKernels(function, marginals, n_threads)  # type: ignore[arg-type]


class _OfTerms(Decomposition):
    def __init__(self, function: TermExpansion, marginals: Sequence[Measure]) -> None:
        self.n_features = function.basis.n_features
        self.n_outputs = function.n_outputs
        self._function = function
        self._terms = CentredTerms(function.basis, marginals)

    @cached_property
    def _centred(self) -> Doubles:
        return self._terms.centre(self._function.coef_2d)

    @property
    def _shift(self) -> Doubles:
        shift = self._function.intercept
        return np.zeros(self.n_outputs) if shift is None else shift

    @property
    def mean(self) -> Doubles:
        constant = self._terms.n_inputs == 0
        return np.asarray(self._centred[constant].sum(axis=0) + self._shift)

    def _with(self, coef: Doubles, intercept: Doubles | None = None) -> TermExpansion:
        return replace(self._function, coef=coef, intercept=intercept, posterior=None)

    def shapley(self) -> Function:
        terms = self._terms
        self._require_room(self.n_features, "the coefficients of Shapley values")
        shares = terms.active / np.maximum(terms.n_inputs, 1)[:, np.newaxis]
        parts = shares[:, :, np.newaxis] * self._centred[:, np.newaxis]
        return self._with(terms.uncentre(parts.reshape(len(parts), -1)))

    def components(self, sets: Sequence[Sequence[int]]) -> Function:
        active = self._terms.active
        self._require_room(len(sets) + 1, "the coefficients of the parts")
        parts = []
        for one in sets:
            own = np.zeros(self.n_features, dtype=bool)
            own[[*one]] = True
            parts.append((active == own).all(axis=1)[:, np.newaxis] * self._centred)
        parts.append((self._terms.n_inputs > 0)[:, np.newaxis] * self._centred)
        return self._with(self._terms.uncentre(np.hstack(parts)))

    def conditional_mean(self, inputs: Sequence[int]) -> Function:
        others = [t for t in range(self.n_features) if t not in {*inputs}]
        return self._with(self._terms.averaged(self._function.coef_2d, others), self._shift)

    def over_samples(self, inputs: Sequence[int], samples: npt.NDArray[Any]) -> Function:
        function = self._function
        n_terms = function.basis.n_terms
        total, step = np.zeros(n_terms), max(1, _MOST_VALUES // n_terms)
        for first in range(0, len(samples), step):
            rows = samples[first : first + step]
            total += function.basis.evaluate(rows, scaling=function.scaling).sum(axis=0)
        others = [t for t in range(self.n_features) if t not in {*inputs}]
        coef = self._terms.over_samples(function.coef_2d, total / len(samples), others)
        return self._with(coef, self._shift)

    def _require_room(self, n_parts: int, what: str) -> None:
        require_memory(8.0 * n_parts * self._centred.size, what, "fit with fewer terms")


@dataclass(frozen=True, eq=False)
class _KernelFunction:
    """A function of scaled samples, as one of unscaled samples."""

    products: KernelProducts
    kernel: Any
    of_scaled: Callable[[Doubles], Doubles]

    def evaluate(self, X: npt.ArrayLike, *, n_threads: int | None = None) -> Doubles:  # noqa: ARG002
        data = as_samples(X, "X", self.kernel)
        found = self.of_scaled(self.products.scaling.transform(data).clip(-1.0, 1.0))
        return found.reshape(len(data), -1)


class _OfKernels(Decomposition):
    def __init__(
        self,
        function: KernelExpansion | MeanExpansion,
        marginals: Sequence[Measure],
        n_threads: int | None,
    ) -> None:
        self._products = KernelProducts(function, marginals, n_threads)
        first = function.parts[0] if isinstance(function, MeanExpansion) else function
        self._kernel = first.kernel
        self.n_features, self.n_outputs = function.scaling.n_features, function.n_outputs

    @property
    def mean(self) -> Doubles:
        return self._products.mean

    def _function(self, of_scaled: Callable[[Doubles], Doubles]) -> Function:
        return _KernelFunction(self._products, self._kernel, of_scaled)

    def shapley(self) -> Function:
        return self._function(self._products.shapley)

    def components(self, sets: Sequence[Sequence[int]]) -> Function:
        return self._function(lambda Z: self._products.components(Z, sets))

    def conditional_mean(self, inputs: Sequence[int]) -> Function:
        return self._function(lambda Z: self._products.conditional_mean(Z, inputs))

    def over_samples(self, inputs: Sequence[int], samples: npt.NDArray[Any]) -> Function:
        scaled = self._products.scaling.transform(samples).clip(-1.0, 1.0)
        return self._function(lambda Z: self._products.over_samples(Z, inputs, scaled))
