"""Evaluation of a sum of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import require_memory
from gegenbauer._validation import CLIP, as_matrix, check_out, check_threads, require_finite
from gegenbauer.basis.tensor_basis import check_basis

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["predict"]


def predict(
    basis: TensorBasis,
    X: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    scaling: InputScaling | None = None,
    out: npt.NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> npt.NDArray[np.float64]:
    """Evaluate Psi = G W without storing G (eq.output_of_SOGNN, eq.output_of_GOGNN).

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    X : array_like, shape (n_samples, n_features)
        float64 or float32 in any layout is read in place.
    weights : array_like, shape (n_terms,) or (n_terms, n_outputs)
        W.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    out : ndarray of float64, shape (n_samples, n_outputs), optional
        Array to write into, any layout.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`. The result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_outputs)

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.ridge import predict
    >>> predict(TensorBasis(1, degree=1, lam=0.5), [[2.0], [3.0]], [1.0, 10.0])
    array([[21.],
           [31.]])
    """
    basis = check_basis(basis)
    data = as_matrix(X, "X", n_columns=basis.n_features)
    coefficients = as_matrix(
        weights, "weights", n_rows=basis.n_terms, keep_float32=False, one_dimensional=True
    )
    box = basis._box(scaling)
    threads = check_threads(n_threads)
    shape = (data.shape[0], coefficients.shape[1])
    if out is None:
        require_memory(8.0 * shape[0] * shape[1], "the result", "predict fewer samples at once")
        out = np.empty(shape)
    else:
        out = check_out(out, shape, ("float64",))
        if np.may_share_memory(out, data) or np.may_share_memory(out, coefficients):
            raise ValueError("out must not share memory with X or weights")
    core.predict(basis._plan, data, box, coefficients, out, threads)
    require_finite(out, "some predictions are", f"{CLIP}; or weights are too large")
    return out
