"""The polynomial of an estimator as a SymPy expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.inspection._polynomial_text import input_names, polynomial_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["to_sympy"]

_EPS = float(np.finfo(np.float64).eps)


def to_sympy(estimator: Any, *, output: int = 0, names: Sequence[str] | None = None) -> Any:
    """Return the polynomial of an estimator as a SymPy expression of its unscaled inputs.

    Of a `GegenbauerClassifierCV` it is the polynomial before calibration, ``basis_ @ term_coef_ +
    intercept_``; ``decision_function`` is ``probability_maps_`` applied to its outputs.

    Parameters
    ----------
    estimator : fitted estimator of this library
        A regressor or classifier with a finite set of terms.
    output : int
        Which output; of a classifier, which class (for two classes there is one output).
    names : sequence of str, optional
        Names of the symbols, any text, each once; by default those seen in ``fit``, or x0, x1, ...

    Returns
    -------
    sympy.Expr
        A sum of products of univariate polynomials, as in the model, without terms below the
        rounding of the weightiest one; ``sympy.expand`` multiplies it out, which loses digits for
        high degrees. It holds on the range seen in ``fit``: nothing is clipped. Its symbols are
        those of ``sympy.Symbol(name)``. That of a category stands for the place of its value in
        ``categories_``, from 0, and any other number for a value that is not known; those of
        numbers are taken as given, not missing.

    Raises
    ------
    ImportError
        When SymPy is not installed (extra ``sympy``).
    ValueError
        For names that are not as many as the inputs or do not differ, and outputs there are not.

    See Also
    --------
    polynomial_text : The polynomial of a model as text.

    Examples
    --------
    >>> import numpy as np
    >>> import sympy
    >>> from gegenbauer import GegenbauerRegressor, to_sympy
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = GegenbauerRegressor(degree=1, n_terms=None, alpha=1e-9).fit(X, 2 * X[:, 0] + 1)
    >>> expression = to_sympy(model, names=["length (cm)"])
    >>> float(expression.diff(sympy.Symbol("length (cm)")).round(6))
    2.0
    """
    try:
        import sympy
    except ImportError:
        raise ImportError("to_sympy needs SymPy: run pip install 'gegenbauer[sympy]'") from None
    found = polynomial_of(estimator, output)
    # not sympy.symbols, which splits names at blanks and reads colons as ranges; and without
    # assumptions, which would make another symbol than sympy.Symbol(name)
    symbols = [sympy.Symbol(name) for name in input_names(estimator, names)]
    scaling = estimator.scaling_
    low, high = scaling.domain
    # interpolated at as many Chebyshev points as they have coefficients
    size = found.one.max_degree + 1
    points = np.cos((np.arange(size) + 0.5) * np.pi / size)
    values = found.one.evaluate(points[:, np.newaxis])[:, :size]
    fitted = np.polynomial.chebyshev.chebfit(points, values, size - 1)
    univariate = [
        _without_rounding(np.polynomial.chebyshev.cheb2poly(fitted[: n + 1, n]))
        for n in range(size)
    ]
    total: Any = sympy.Integer(0)
    factors: dict[tuple[int, int], Any] = {}
    for row, weight in zip(found.indices, found.weights, strict=True):
        term: Any = sympy.Float(float(weight))
        for t in np.flatnonzero(row).tolist():
            n = int(row[t])
            values = found.contrasts[t]
            if (t, n) not in factors and not found.is_polynomial(t, n):
                own = values[:, n - 1].tolist()
                if estimator.categories_[t] is None:  # of given and missing
                    factors[t, n] = sympy.Float(own[0])
                else:
                    pieces = [(c, sympy.Eq(symbols[t], k)) for k, c in enumerate(own)]
                    factors[t, n] = sympy.Piecewise(*pieces, (0.0, True))
            if (t, n) not in factors:
                slope = float((high - low) / (scaling.upper[t] - scaling.lower[t]))
                offset = float(low - slope * scaling.lower[t])
                if abs(offset) <= _EPS * max(abs(low), abs(high)):
                    offset = 0.0
                u = slope * symbols[t] + offset
                powers = enumerate(univariate[n - values.shape[1]])
                factors[t, n] = sum(float(c) * u**k for k, c in powers if c != 0)
            term *= factors[t, n]
        total += term
    constant = total.as_coeff_Add()[0]  # SymPy multiplies a lone factor out
    return total if abs(constant) > _EPS * np.abs(found.weights).max() else total - constant


def _without_rounding(coefficients: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return them with zeros for those below the rounding of the largest."""
    sizes = np.abs(coefficients)
    return np.where(sizes > _EPS * sizes.max(), coefficients, 0.0)
