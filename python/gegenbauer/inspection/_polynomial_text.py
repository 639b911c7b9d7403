"""The polynomial of an estimator as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import check_integer, check_sequence, shortest
from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.inspection.models import terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["input_names", "polynomial_of", "polynomial_text"]


def _terms_of(estimator: Any, output: int) -> tuple[TensorBasis, Doubles, float]:
    function = terms_of(estimator)
    coef = function.coef_2d
    output = check_integer(output, "output", minimum=0)
    if output >= coef.shape[1]:
        raise ValueError(Message("`output` must be below {}, got {}", coef.shape[1], output))
    shift = 0.0 if function.intercept is None else function.intercept[output]
    return function.basis, coef[:, output], float(shift)


def input_names(estimator: Any, names: Sequence[str] | None) -> list[str]:
    """Return the names of the inputs, given or seen in ``fit``, which must differ."""
    m = estimator.n_features_in_
    if names is None:
        names = getattr(estimator, "feature_names_in_", [f"x{t}" for t in range(m)])
    names = check_sequence(names, "names", "texts")
    if len(names) != m:
        raise ValueError(Message("`names` must have {} entries, got {}", m, len(names)))
    found = [str(name) for name in names]
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise ValueError(
            Message(
                "names of inputs must differ, but {!r} names {} of them, which a polynomial could "
                "not distinguish",
                twice[0],
                found.count(twice[0]),
                ways="give `names=[...]`",
            )
        )
    return found


class _Polynomial(NamedTuple):
    """Terms of one output, the weightiest first, as products of polynomials all inputs share.

    Inputs with levels have functions of their own before these: contrasts.
    """

    indices: npt.NDArray[np.int32]  # (n_terms, n_features); 0 for inputs that are constant
    weights: Doubles  # (n_terms,)
    one: TensorBasis  # of one input: the polynomials
    raw: bool  # whether they are the raw ones, else orthonormal
    basis: TensorBasis  # that of the estimator
    contrasts: tuple[Doubles, ...]  # of each input, (n_levels, n_contrasts)

    def is_polynomial(self, t: int, n: int) -> bool:
        """Whether function n of input t is a polynomial, of degree n less the contrasts."""
        return n > len(self.contrasts[t].T)


def polynomial_of(estimator: Any, output: int) -> _Polynomial:
    """Return the polynomial of an output without terms that rounding swallows.

    The size of a term is its weight times its largest value on the domain. Terms smaller than the
    resolution of float64 times the largest one are below its rounding.
    """
    basis, coef, shift = _terms_of(estimator, output)
    scaling = estimator.scaling_
    # the raw polynomials as they are, else orthonormal ones times the weights of the spectrum:
    # those are the same for all inputs, and known without the spectrum
    raw = basis.spectrum == Spectrum.paper(basis.lam)
    rows = basis.indices
    levels = basis.spectrum.levels or (None,) * basis.n_features
    contrasts = tuple(
        np.zeros((0, 0))
        if each is None
        else each.contrasts(min(each.n_contrasts, int(column.max())) if each.category else None)
        for each, column in zip(levels, rows.T, strict=True)
    )
    n_contrasts = np.array([each.shape[1] for each in contrasts])
    category = np.array([each is not None and each.category for each in levels])
    degree = int((rows - n_contrasts)[:, ~category].max(initial=0))
    one = TensorBasis(1, degree=degree, lam=basis.lam, spectrum=None if raw else "orthonormal")
    if not raw:
        coef = coef * basis.spectrum.term_weights(rows)
    # constant inputs are scaled to 0
    at_zero = one.evaluate([[0.0]])[0]
    for t in np.flatnonzero(scaling.is_constant & ~category).tolist():
        rows, coef = _with_constant(rows, coef, t, at_zero, contrasts[t])
    rows, place = np.unique(rows, axis=0, return_inverse=True)  # the constant comes first
    merged = np.zeros(len(rows))
    np.add.at(merged, place.ravel(), coef)
    merged[0] += shift
    low, high = scaling.domain
    largest = np.abs(one.evaluate(np.linspace(low, high, 201)[:, np.newaxis])).max(axis=0)
    sizes = np.abs(merged)
    for t, values in enumerate(contrasts):
        own = np.concatenate([[1.0], np.abs(values).max(axis=0, initial=0.0), largest[1:]])
        sizes *= own[rows[:, t]]
    n_terms = max(1, np.count_nonzero(sizes > np.finfo(np.float64).eps * sizes.max()))
    order = np.argsort(-sizes, kind="stable")[:n_terms]
    return _Polynomial(rows[order], merged[order], one, raw, basis, contrasts)


def _with_constant(
    rows: npt.NDArray[np.int32], coef: Doubles, t: int, at_zero: Doubles, contrasts: Doubles
) -> tuple[npt.NDArray[np.int32], Doubles]:
    """Write terms in which input t, where it is given, is one number, without its polynomials.

    If it may be missing they are 0 then, and so a sum of the constant and the contrast.
    """
    n = contrasts.shape[1]
    at = rows[:, t]
    varies = at > n
    values = np.where(varies, at_zero[np.where(varies, at - n, 0)], 1.0)
    without = rows.copy()
    without[varies, t] = 0
    if n == 0:
        return without, coef * values
    given, missing = contrasts[:, 0]
    part = np.where(varies, -missing / (given - missing), 1.0)
    by_contrast = rows[varies].copy()
    by_contrast[:, t] = 1
    more = coef[varies] * values[varies] / (given - missing)
    return np.vstack([without, by_contrast]), np.concatenate([coef * values * part, more])


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
        Terms to write; the number of the others is reported.
    digits : int
        Significant digits of the weights.
    names : sequence of str, optional
        Names of the inputs, each once; by default those seen in ``fit``, or x0, x1, ...

    Returns
    -------
    str
        The polynomial in one line, and in two more what its ``Cn(x)`` is: which polynomial of
        `gegenbauer_vander`, and from which range each input is scaled, with all digits. With
        ``digits=17`` and all terms the text is the model, to rounding. Further lines are the values
        of contrasts of levels, where inputs are categories or may be missing: ``leveln(x)`` and
        ``missing(x)``, and how polynomials go on where x is missing. Inputs that were constant in
        ``fit`` have gone into the constant. The size of a term is its weight times its largest
        value on the domain; terms below the rounding of the largest one are left out.

    Raises
    ------
    TypeError
        For other estimators and models of infinitely many terms.
    ValueError
        For names that are not as many as the inputs or do not differ, and outputs there are not.

    See Also
    --------
    to_sympy : The polynomial of a model as an expression of SymPy.
    sobol_indices : Shares of the inputs in the variance of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor, polynomial_text
    >>> X = np.random.default_rng(0).integers(0, 11, size=(100, 2)) / 10
    >>> model = GegenbauerRegressor(degree=2, n_terms=None, lam=0.5, alpha=1e-9)
    >>> model = model.fit(X, 1 + 3 * X[:, 0] * X[:, 1])
    >>> print(polynomial_text(model, max_terms=2, digits=3))
    3 C1(x0) C1(x1) + 1 + 4 more terms
    Cn(x): raw Gegenbauer polynomial of degree n, lam = 0.5, of x scaled to [0, 1]
    from x0 in [0, 1], x1 in [0, 1]
    """
    max_terms = check_integer(max_terms, "max_terms", minimum=1)
    digits = check_integer(digits, "digits", minimum=1)
    found = polynomial_of(estimator, output)
    inputs = input_names(estimator, names)
    scaling = estimator.scaling_
    low, high = scaling.domain
    text = ""
    shown = found.indices[:max_terms]
    name_of = found.basis._function_name
    for row, weight in zip(shown, found.weights[:max_terms], strict=True):
        sign = "-" if weight < 0 else "+"
        factors = [f"{name_of(t, row[t])}({inputs[t]})" for t in np.flatnonzero(row).tolist()]
        text += f" {sign} " + " ".join([f"{abs(weight):.{digits}g}", *factors])
    text = text.removeprefix(" + ")
    if text.startswith(" - "):
        text = f"-{text[3:]}"
    more = len(found.weights) - max_terms
    if more > 0:
        text += f" + {more} more term{'s' if more > 1 else ''}"
    used = [t for t, n in enumerate(shown.max(axis=0).tolist()) if found.is_polynomial(t, n)]
    if used:
        ranges = ", ".join(
            f"{inputs[t]} in [{shortest(scaling.lower[t])}, {shortest(scaling.upper[t])}]"
            for t in used
        )
        text += (
            f"\nCn(x): {'raw' if found.raw else 'orthonormal'} Gegenbauer polynomial of degree n, "
            f"lam = {found.one.lam}, of x scaled to [{low:g}, {high:g}]\nfrom {ranges}"
        )
    return "\n".join([text, *_lines_of_levels(found, shown, inputs, estimator)])


def _lines_of_levels(
    found: _Polynomial, shown: npt.NDArray[np.int32], inputs: list[str], estimator: Any
) -> list[str]:
    """Write down the values of the contrasts in the terms that are shown."""
    lines = []
    for t, values in enumerate(found.contrasts):
        if values.shape[1] == 0:
            continue
        x, functions = inputs[t], np.unique(shown[:, t])
        levels = estimator.categories_[t]
        for n in functions[(functions > 0) & (functions <= values.shape[1])].tolist():
            name = found.basis._function_name(t, n)
            each = [shortest(float(value)) for value in values[:, n - 1]]
            if levels is None:
                lines.append(f"{name}({x}): {each[0]} where {x} is given, {each[1]} where not")
                continue
            shares = ", ".join(
                f"{value} of {'what is missing' if level is None else repr(level)}"
                for value, level in zip(each, levels, strict=True)
            )
            lines.append(f"{name}({x}): {shares}, 0 of others")
        if levels is None and found.is_polynomial(t, int(functions[-1])):
            lines.append(f"Cn({x}): 0 where {x} is missing")
    return lines
