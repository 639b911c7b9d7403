"""Sobol' indices of a function, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._html import MAX_SHOWN_INPUTS, html_table, text_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles, Places

__all__ = ["SobolIndices"]

# Outputs that are shown side by side
_MAX_SHOWN_OUTPUTS = 3


@dataclass(frozen=True, eq=False, repr=False)
class SobolIndices:
    """Parts of the variance of a function of independent inputs.

    The shapes are those of `scipy.stats.sobol_indices`. The text and, in notebooks, the table of
    it begin with the input of the largest total share.

    Attributes
    ----------
    mean, variance : ndarray, shape (n_outputs,)
        Of the function.
    first_order : ndarray, shape (n_outputs, n_features)
        Share of the variance that an input explains by itself, 0 to 1 (0 for a constant function).
    total : ndarray, shape (n_outputs, n_features)
        Share in which an input takes part, by itself or with others.
    names : ndarray of str, shape (n_features,), or None
        Of the inputs; None where they have none, as those of arrays.
    second_order : ndarray, shape (n_outputs, n_features, n_features), or None
        Share of the interaction of two inputs alone; symmetric, with zeros on the diagonal. None
        where it was not requested.
    shapley_effects : ndarray, shape (n_outputs, n_features), or None
        Shares in which each interaction belongs to its inputs in equal parts; their sum is one.
        None where they were not requested.
    groups : sequence or None
        The groups of inputs, as they were given.
    closed, group_total : ndarray, shape (n_outputs, n_groups), or None
        Share that inputs of a group explain without others, and share in which any of them takes
        part.
    error : ndarray, shape (n_outputs,), or None
        Estimate of the largest absolute error of the shares: by rounding or, where a kernel of all
        terms had to be taken by those of largest weight, by what these leave out.

    See Also
    --------
    sobol_indices : Shares of the inputs in the variance of a model.
    term_sobol_indices : The same of a basis and its coefficients.
    kernel_sobol_indices : The same of a kernel and its dual coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.inspection import SobolIndices
    >>> one = np.ones(1)
    >>> SobolIndices(one, one, np.array([[0.1, 0.7]]), np.array([[0.3, 0.9]]))
    SobolIndices of 2 inputs
    mean 1, variance 1
    input  first_order  total
    x1             0.7    0.9
    x0             0.1    0.3
    """

    mean: Doubles
    variance: Doubles
    first_order: Doubles
    total: Doubles
    names: NDArray[np.object_] | None = None
    second_order: Doubles | None = None
    shapley_effects: Doubles | None = None
    groups: Any = None
    closed: Doubles | None = None
    group_total: Doubles | None = None
    error: Doubles | None = None

    def __repr__(self) -> str:
        return "\n".join([self._title, *self._moments, text_table(*self._table())])

    def _repr_html_(self) -> str:
        """Return the same as a table of HTML, for notebooks."""
        header, rows, note = self._table()
        moments = "; ".join(self._moments)
        return html_table(f"{self._title}: {moments}", header, rows, note)

    @property
    def _n_shown(self) -> int:
        return min(self.mean.size, _MAX_SHOWN_OUTPUTS)

    @property
    def _title(self) -> str:
        n_outputs, n_features = self.total.shape
        outputs = f", {n_outputs} outputs" if n_outputs > 1 else ""
        return f"SobolIndices of {n_features} inputs{outputs}"

    @property
    def _moments(self) -> list[str]:
        several = self.mean.size > 1
        return [
            f"{f'output {k}: ' if several else ''}mean {mean:.4g}, variance {variance:.4g}"
            for k, (mean, variance) in enumerate(
                zip(self.mean[: self._n_shown], self.variance[: self._n_shown], strict=True)
            )
        ]

    def _order(self) -> Places:
        """Return the inputs from the largest share of the variance of all outputs down."""
        found: Places = np.argsort(-(self.variance @ self.total), kind="stable")
        return found

    def _table(self) -> tuple[list[str], list[list[object]], str]:
        """Return names of columns, rows, and what is left out."""
        several = self.mean.size > 1
        header, columns = ["input"], []
        for k in range(self._n_shown):
            of = f"[{k}]" if several else ""
            header += [f"first_order{of}", f"total{of}"]
            columns += [self.first_order[k], self.total[k]]
        rows: list[list[object]] = [
            [f"x{t}" if self.names is None else str(self.names[t]), *(float(c[t]) for c in columns)]
            for t in self._order()[:MAX_SHOWN_INPUTS].tolist()
        ]
        left = {
            "inputs": self.total.shape[1] - len(rows),
            "outputs": self.mean.size - self._n_shown,
        }
        return header, rows, ", ".join(f"and {n} more {what}" for what, n in left.items() if n)
