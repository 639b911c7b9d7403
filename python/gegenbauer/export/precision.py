"""How many digits an export has, which all targets report by one function.

The outputs are sums, whose summands may be far larger than the sum: of kernels they often are, and
then rounding of the summands, of which the target has other orders and functions than the library,
is what the two differ by. In float32 the inputs are rounded, too.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.errors import RoundingWarning, stacklevel
from gegenbauer.export.description import Category
from gegenbauer.ridge.expansions import TermExpansion

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.export.description import Model

__all__ = ["require_digits", "rounding"]

# What pages and docstrings promise, as shares of the largest output
_PROMISED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-3}

# Of more there is no digit
_MOST = 0.1

# Samples, and values of terms or kernels, by which sums are known
_N_SAMPLES, _MOST_VALUES = 500, 2**24


def require_digits(model: Model, dtype: npt.DTypeLike = np.float64) -> float:
    """Return the share of the largest output by which an export may differ from ``predict``.

    Parameters
    ----------
    model : Model
        What is exported.
    dtype : float64 or float32
        Type of inputs, tables and arithmetic.

    Returns
    -------
    float
        See `rounding`.

    Raises
    ------
    ValueError
        Inputs or coefficients are beyond the range of the type; or there would be no digit.

    Warns
    -----
    RoundingWarning
        There are fewer digits than promised: 1e-9 in float64, 1e-3 in float32.
    """
    kind = np.dtype(dtype)
    _require_range(model, kind)
    share = rounding(model, kind)
    ways: list[str] = ["export it in float64"] if kind == np.float32 else []
    if not isinstance(model.expansion, TermExpansion):
        ways.append(Message("fit with `n_terms`, whose sums have no large summands"))
    if not share < _MOST:
        raise ValueError(
            Message(
                "`model` would have no digit in {}: rounding changes outputs by some {:.0e} of the"
                " largest",
                kind,
                share,
                ways=ways,
            )
        )
    if share > _PROMISED[kind]:
        warnings.warn(
            Message(
                "`model` differs in {} from what predict returns by some {:.0e} of the largest"
                " output, by rounding",
                kind,
                share,
                ways=ways,
            ),
            RoundingWarning,
            stacklevel=stacklevel(),
        )
    return share


def rounding(model: Model, dtype: npt.DTypeLike = np.float64) -> float:
    r"""Return the share of the largest output by which an export may differ from ``predict``.

    It is :math:`\varepsilon \sum_k |c_k \phi_k(x)| / \max |f(x)|` for the outputs :math:`f = \sum_k
    c_k \phi_k` with the :math:`\varepsilon` of the type, of the worst output over samples x. In
    float32 the change of f by rounding of x is added to that.
    """
    kind = np.dtype(dtype)
    function = model.expansion.with_missing()
    X = _samples(model, function)
    values = _table(function.evaluate(X, n_threads=1))
    largest = np.abs(values).max(axis=0)
    errors = float(np.finfo(kind).eps) * _summands(function, X)
    if kind == np.float32:
        lower, upper = model.expansion.scaling.lower, model.expansion.scaling.upper
        with np.errstate(over="ignore"):
            rounded = X.astype(kind).astype(np.float64).clip(lower, upper)
        numbers = [not isinstance(one, Category) for one in model.inputs]
        rounded = np.where(numbers, rounded, X)
        errors += np.abs(_table(function.evaluate(rounded, n_threads=1)) - values).max(axis=0)
    return float(np.max(errors / np.where(errors > 0.0, np.maximum(largest, 1e-300), 1.0)))


def _table(values: Doubles) -> Doubles:
    return values.reshape(len(values), -1)


def _samples(model: Model, function: Any) -> Doubles:
    """Return some samples: centres of kernels, or points of the box."""
    lower, upper = model.expansion.scaling.lower, model.expansion.scaling.upper
    if isinstance(function, TermExpansion):
        n = max(20, min(_N_SAMPLES, _MOST_VALUES // max(1, len(function.coef_2d))))
        rng = np.random.default_rng(0)
        shares = rng.uniform(size=(n, len(model.inputs)))
        X = lower * (1.0 - shares) + upper * shares
        for t, one in enumerate(model.inputs):
            if isinstance(one, Category):
                X[:, t] = rng.integers(max(1, one.n_levels), size=n)
        return np.asarray(X)
    centres = np.asarray(function.centres, dtype=np.float64)
    n = max(20, min(_N_SAMPLES, _MOST_VALUES // len(centres)))
    X = centres[:: max(1, len(centres) // n)]
    categories = [isinstance(one, Category) for one in model.inputs]
    return np.where(np.isnan(X), np.where(categories, 0.0, 0.5 * lower + 0.5 * upper), X)


def _summands(function: Any, X: Doubles) -> Doubles:
    """Return the sum of the sizes of all summands, of each output, where it is largest."""
    if isinstance(function, TermExpansion):
        terms = np.abs(function.basis.evaluate(X, scaling=function.scaling, n_threads=1))
        found = (terms @ np.abs(function.coef_2d)).max(axis=0)
    else:
        # of kernels K(x, z) at most the root of K(x, x) K(z, z)
        parts = getattr(function, "parts", (function,))
        found = np.zeros(function.n_outputs)
        for part in parts:
            of_x, of_z = (
                np.sqrt(part.kernel.diagonal(Z, scaling=function.scaling))
                for Z in (X, part.centres)
            )
            found += of_x.max() * (of_z @ np.abs(part.coef_2d)) / len(parts)
    return np.asarray(found)


def _require_range(model: Model, kind: np.dtype[Any]) -> None:
    """Refuse numbers that the type does not hold, or that vanish in it."""
    if kind == np.float64:
        return
    least, most = float(np.finfo(kind).tiny), float(np.finfo(kind).max)
    for one in model.inputs:
        if isinstance(one, Category) or one.span == 0.0:
            continue
        lower, upper = one.half_lower, one.half_lower + one.half_range
        if max(abs(lower), abs(upper)) > 0.5 * most or one.half_range < least:
            raise ValueError(
                Message(
                    "`model` has the input {!r} from {:.3g} to {:.3g}, which {} does not hold",
                    one.name,
                    2.0 * lower,
                    2.0 * upper,
                    kind,
                    ways=["export it in float64", "scale the input"],
                )
            )
    parts = getattr(model.expansion, "parts", (model.expansion,))
    coef = np.max([np.abs(each.coef_2d).max(axis=0, initial=0.0) for each in parts], axis=0)
    bad = (coef > most) | ((coef > 0.0) & (coef < least)) | (np.abs(model.intercept) > most)
    if bad.any():
        raise ValueError(
            Message(
                "`model` has coefficients of {:.3g}, which {} does not hold",
                np.where(coef[bad] > 0.0, coef[bad], np.abs(model.intercept[bad]))[0],
                kind,
                ways=["export it in float64", "scale y"],
            )
        )
