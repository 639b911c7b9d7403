"""What a fitted estimator says: Sobol' indices, its polynomial as text and as SymPy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gegenbauer._arrays import check_integer
from gegenbauer.basis import TensorBasis, common_polynomials
from gegenbauer.insight import SobolIndices, kernel_sobol_indices, term_sobol_indices
from gegenbauer.spectrum import Spectrum

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

__all__ = ["polynomial_text", "sobol_indices", "to_sympy"]


def sobol_indices(estimator: Any, *, distribution: str = "uniform") -> SobolIndices:
    """Decompose the variance of the outputs of an estimator over its inputs.

    The inputs are taken as independent on the range seen in ``fit``, and constant inputs as fixed.
    For classifiers the outputs are those before calibration.

    Parameters
    ----------
    estimator : fitted estimator of this library
        A regressor or classifier.
    distribution : {"uniform", "chebyshev"}
        Of each input, see `term_sobol_indices`.

    Returns
    -------
    SobolIndices

    Raises
    ------
    TypeError
        For other estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor, sobol_indices
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = GegenbauerRegressor(degree=1, n_terms=None, gamma=1e-9)
    >>> model = model.fit(X, X[:, 0] + 2 * X[:, 1])
    >>> sobol_indices(model).total[:, 0].round(2).tolist()
    [0.2, 0.8]
    """
    check_is_fitted(estimator)
    constant = getattr(getattr(estimator, "scaling_", None), "is_constant", None)
    # some boxes are wider than the rows of the fit
    extent = 1.0 / (1.0 + 2.0 * getattr(estimator, "_margin", 0.0))
    if constant is not None and hasattr(estimator, "dual_coef_"):
        found = kernel_sobol_indices(
            estimator.kernel_, estimator.X_fit_, estimator.dual_coef_,
            intercept=estimator.intercept_, scaling=estimator.scaling_, distribution=distribution,
            extent=extent, fixed=constant,
        )  # fmt: skip
    elif constant is not None and hasattr(estimator, "term_coef_"):
        coef = estimator.term_coef_.reshape(estimator.basis_.n_terms, -1)
        found = term_sobol_indices(
            estimator.basis_, coef, domain=estimator.scaling_.domain, distribution=distribution,
            extent=extent, fixed=constant,
        )  # fmt: skip
        shift = getattr(estimator, "intercept_", 0.0)
        found = SobolIndices(found.mean + shift, found.variance, found.first_order, found.total)
    else:
        raise TypeError(
            "estimator must be a regressor or classifier of this library, got "
            f"{type(estimator).__name__}"
        )
    return found


def _terms_of(estimator: Any, output: int) -> tuple[TensorBasis, Doubles, float]:
    check_is_fitted(estimator)
    if hasattr(estimator, "dual_coef_"):
        raise TypeError(
            "this model has infinitely many terms and no finite polynomial: fit with n_terms=... "
            "to get one"
        )
    if not hasattr(estimator, "term_coef_"):
        raise TypeError(
            "estimator must be a regressor or classifier of this library, got "
            f"{type(estimator).__name__}"
        )
    coef = estimator.term_coef_.reshape(estimator.basis_.n_terms, -1)
    output = check_integer(output, "output", minimum=0)
    if output >= coef.shape[1]:
        raise ValueError(f"output must be below {coef.shape[1]}, got {output}")
    shift = np.broadcast_to(getattr(estimator, "intercept_", 0.0), coef.shape[1])[output]
    return estimator.basis_, coef[:, output], float(shift)


def _names(estimator: Any, names: Sequence[str] | None) -> list[str]:
    m = estimator.n_features_in_
    if names is None:
        names = getattr(estimator, "feature_names_in_", [f"x{t}" for t in range(m)])
    if len(names) != m:
        raise ValueError(f"names must have {m} entries, got {len(names)}")
    found = [str(name) for name in names]
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise ValueError(
            f"names of inputs must differ, but {twice[0]!r} names {found.count(twice[0])} of them, "
            "which a polynomial could not tell apart: give names=[...]"
        )
    return found


def polynomial_text(
    estimator: Any,
    *,
    output: int = 0,
    max_terms: int = 20,
    digits: int = 4,
    names: Sequence[str] | None = None,
) -> str:
    """Write the polynomial of an estimator, its weightiest terms first.

    Of a `GegenbauerClassifierCV` it is the polynomial before calibration, ``basis_ @ term_coef_ +
    intercept_``; ``decision_function`` is ``probability_maps_`` applied to its outputs.

    Parameters
    ----------
    estimator : fitted estimator of this library
        A regressor or classifier with a finite set of terms.
    output : int
        Which output; of a classifier, which class (for two classes there is one output).
    max_terms : int
        Terms to write; the number of the others is told.
    digits : int
        Significant digits of the weights.
    names : sequence of str, optional
        Names of the inputs, each once; by default those seen in ``fit``, or x0, x1, ...

    Returns
    -------
    str
        The polynomial in one line, and in two more what its ``Cn(x)`` is: which polynomial of
        `eval_gegenbauer`, and from which range each input is scaled. Inputs that were constant in
        ``fit`` have gone into the constant. A term weighs as much as its weight times its largest
        value on the domain.

    Raises
    ------
    TypeError
        For other estimators and models of infinitely many terms.
    ValueError
        For names that are not as many as the inputs or do not differ, and outputs there are not.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor, polynomial_text
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> model = GegenbauerRegressor(degree=2, n_terms=None, lam=0.5, gamma=1e-9)
    >>> model = model.fit(X, 1 + 3 * X[:, 0] * X[:, 1])
    >>> print(polynomial_text(model, max_terms=2, digits=3))
    2.95 C1(x0) C1(x1) + 1 + 4 more terms
    Cn(x): raw Gegenbauer polynomial of degree n, lam = 0.5, of x scaled to [0, 1]
    from x0 in [0.00641, 0.997], x1 in [0.00274, 0.995]
    """
    basis, coef, shift = _terms_of(estimator, output)
    max_terms = check_integer(max_terms, "max_terms", minimum=1)
    digits = check_integer(digits, "digits", minimum=1)
    inputs = _names(estimator, names)
    scaling = estimator.scaling_
    low, high = scaling.domain
    # the raw polynomials as they are, else orthonormal ones times the weights of the spectrum:
    # those are the same for all inputs, and known without the spectrum
    raw = basis.spectrum == Spectrum.paper(basis.lam)
    one = TensorBasis(
        1, degree=basis.max_degree, lam=basis.lam, spectrum=None if raw else "orthonormal"
    )
    if not raw:
        coef = coef * basis.spectrum.term_weights(basis.indices)
    # constant inputs are scaled to 0
    at_zero = one.evaluate([[0.0]])[0]
    rows = basis.indices.copy()
    coef = coef * at_zero[rows[:, scaling.is_constant]].prod(axis=1)
    rows[:, scaling.is_constant] = 0
    rows, place = np.unique(rows, axis=0, return_inverse=True)  # the constant comes first
    merged = np.zeros(len(rows))
    np.add.at(merged, place.ravel(), coef)
    merged[0] += shift
    largest = np.abs(one.evaluate(np.linspace(low, high, 201)[:, np.newaxis])).max(axis=0)
    sizes = np.abs(merged) * largest[rows].prod(axis=1)
    order = np.argsort(-sizes, kind="stable")[: max(1, np.count_nonzero(sizes))]
    text = ""
    for term in order[:max_terms]:
        sign = "-" if merged[term] < 0 else "+"
        factors = [f"C{rows[term, t]}({inputs[t]})" for t in np.flatnonzero(rows[term])]
        text += f" {sign} " + " ".join([f"{abs(merged[term]):.{digits}g}", *factors])
    text = text.removeprefix(" + ")
    if text.startswith(" - "):
        text = f"-{text[3:]}"
    more = order.size - max_terms
    if more > 0:
        text += f" + {more} more term{'s' if more > 1 else ''}"
    used = np.flatnonzero(rows[order[:max_terms]].any(axis=0))
    if used.size:
        ranges = ", ".join(
            f"{inputs[t]} in [{scaling.lower[t]:.{digits}g}, {scaling.upper[t]:.{digits}g}]"
            for t in used
        )
        text += (
            f"\nCn(x): {'raw' if raw else 'orthonormal'} Gegenbauer polynomial of degree n, "
            f"lam = {basis.lam}, of x scaled to [{low:g}, {high:g}]\nfrom {ranges}"
        )
    return text


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
        A sum of products of univariate polynomials, as in the model; ``sympy.expand`` multiplies
        it out, which loses digits for high degrees. It holds on the range seen in ``fit``: nothing
        is clipped.

    Raises
    ------
    ImportError
        When SymPy is not installed (extra ``sympy``).
    ValueError
        For names that are not as many as the inputs or do not differ, and outputs there are not.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor, to_sympy
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = GegenbauerRegressor(degree=1, n_terms=None, gamma=1e-9).fit(X, 2 * X[:, 0] + 1)
    >>> expression = to_sympy(model, names=["length (cm)"])
    >>> [str(symbol) for symbol in expression.free_symbols]
    ['length (cm)']
    """
    try:
        import sympy
    except ImportError:
        raise ImportError("to_sympy needs SymPy: run pip install 'gegenbauer[sympy]'") from None
    basis, coef, shift = _terms_of(estimator, output)
    # not sympy.symbols, which splits names at blanks and reads colons as ranges
    symbols = [sympy.Symbol(name, real=True) for name in _names(estimator, names)]
    scaling = estimator.scaling_
    low, high = scaling.domain
    one, weights = common_polynomials(basis)
    # interpolated at as many Chebyshev points as they have coefficients
    size = basis.max_degree + 1
    points = np.cos((np.arange(size) + 0.5) * np.pi / size)
    values = one.evaluate(points[:, np.newaxis])
    fitted = np.polynomial.chebyshev.chebfit(points, values, size - 1)
    univariate = [np.polynomial.chebyshev.cheb2poly(fitted[: n + 1, n]) for n in range(size)]
    factors: dict[tuple[int, int], Any] = {}
    for t, symbol in enumerate(symbols):
        if scaling.is_constant[t]:
            u: Any = sympy.Integer(0)
        else:
            span = float(scaling.upper[t] - scaling.lower[t])
            u = low + (high - low) * (symbol - float(scaling.lower[t])) / span
        for n in range(1, basis.max_degree + 1):
            factors[t, n] = sum(float(c) * u**k for k, c in enumerate(univariate[n]) if c != 0)
    total: Any = sympy.Float(shift)
    for row, weight in zip(basis.indices, weights * coef, strict=True):
        term: Any = sympy.Float(float(weight))
        for t in np.flatnonzero(row).tolist():
            term *= factors[t, int(row[t])]
        total += term
    return total
