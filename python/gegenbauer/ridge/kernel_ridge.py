"""Ridge with kernels of all terms: dual coefficients, and predictions from them.

The solution stays as dual coefficients (eq.weights_solution1 with G G' as a kernel), so the number
of terms costs nothing; ``cpp/include/gegenbauer/kernel_ridge.hpp`` describes the solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._memory import memory_limit, require_memory
from gegenbauer._messages import Ways
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import (
    as_matrix,
    as_weights,
    check_flag,
    check_number,
    check_out,
    check_threads,
    require_finite,
)
from gegenbauer.basis.kernels import check_kernel
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.scaling import check_scaling

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["KernelSolution", "predict_kernel", "solve_kernel"]


@dataclass(frozen=True, eq=False)
class KernelSolution:
    """Dual coefficients and how they were found, after any fallback. Equal to itself alone.

    Attributes
    ----------
    dual_coef : ndarray, shape (n_samples, n_outputs)
        c in ``f(z) = sum_s c_s K(z, x_s) + intercept``.
    intercept : ndarray, shape (n_outputs,)
        Weight of the constant term beyond its part of the kernel: 0 if it is penalised.
    solver : {"cholesky", "pivoted_cholesky"}
        The factorisation that gave the coefficients.
    rcond : float
        Estimated reciprocal condition number of ``alpha I + K``; 0 when directions were dropped.
    n_refinements : int
        Steps of iterative refinement after the first solve, 0 or 1.
    correction : float
        Norm of the last refinement of dual_coef relative to the first solution (0 without one), as
        in `RidgeSolution`. It corrects the factorisation; what rounding of K does to the solution
        it cannot see.
    error : float
        Estimate, mostly too high, of the relative error of dual_coef: eps times the condition
        number of ``alpha I + K`` in the directions that were kept, or `correction` if that is
        larger. At 1 and more nothing is certain.
    rank : int
        n_samples, or the number of directions that ``"pivoted_cholesky"`` kept, the free constant
        included.

    See Also
    --------
    solve_kernel : A fit of all terms there are, by a kernel.
    predict_kernel : Evaluate a sum of kernels.

    Examples
    --------
    >>> from gegenbauer import solve_kernel
    >>> from gegenbauer.basis import TotalDegreeKernel
    >>> kernel = TotalDegreeKernel(1, 1, lam=0.5)  # 1 + x z, for two samples 2 I
    >>> found = solve_kernel(kernel, [[-1.0], [1.0]], [3.0, 6.0], alpha=1.0)
    >>> found.dual_coef.round(9).tolist(), found.solver, found.rank
    ([[1.0], [2.0]], 'cholesky', 2)
    """

    dual_coef: npt.NDArray[np.float64]
    intercept: npt.NDArray[np.float64]
    solver: str
    rcond: float
    n_refinements: int
    correction: float
    error: float
    rank: int


@refuse_old_names
def solve_kernel(
    kernel: TotalDegreeKernel | SpectrumKernel,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    alpha: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    n_threads: int | None = None,
) -> KernelSolution:
    r"""Minimise :math:`|D (f(X) - Y)|^2 + \alpha |f|^2` over all functions of the kernel's terms.

    The solution is the same as that of `solve_ridge` with the terms of the kernel, and is kept as
    :math:`f = K(\cdot, X) c + b`. Holds one matrix of shape (n_samples, n_samples).

    Parameters
    ----------
    kernel : TotalDegreeKernel or SpectrumKernel
        The terms and their weights.
    X : array_like, shape (n_samples, n_features)
        float64 or float32 in any layout is read in place.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    alpha : float
        Penalty, >= 0. 0 gives the limit of ever smaller ones: of all functions that leave the least
        residual, the one of least norm, the constant not counted if it is not penalised.
    sample_weight : array_like, shape (n_samples,), optional
        Non-negative; D is the diagonal matrix of their square roots.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    penalize_constant : bool
        Whether the constant term is penalised as well, as in the paper.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`. The result does not depend on it.

    Returns
    -------
    KernelSolution

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    TooLargeError
        When the kernel matrix cannot fit into memory, or Cholesky would lose the answer and the
        three matrices of the decomposition in its place cannot.

    See Also
    --------
    solve_ridge : The fit itself, for one penalty.
    predict_kernel : Evaluate a sum of kernels.
    leave_one_out : Each sample left out, for a kernel.

    Notes
    -----
    Entries of K are rounded, so predictions at the training samples have an error of about
    ``eps * |K| * |c|``, which grows like ``|K| / alpha`` times what is left of Y. Where a
    TotalDegreeKernel has fewer terms than there are samples, a `TensorBasis` with `solve_ridge` is
    more accurate at tiny alpha, and cheaper: for 30 samples and the 20 terms of degree 3 in 3
    inputs, predictions by the kernel are off by 1e-9 (relative) at alpha = 1e-6 and by 1e-5 at
    1e-10, those by the terms by 1e-15.

    Below ``alpha`` = 1000 eps times the largest eigenvalue of ``alpha I + K``, when Cholesky fails,
    and for alpha = 0, a pivoted Cholesky factorisation of K takes over. It drops directions that
    the rounding of K hides, where what is left of an entry of the diagonal is below
    ``n_samples * eps`` of it. Of Y it leaves out what no kept direction reaches, so predictions
    at alpha = 1e-12 are off by 1e-14 in the example above. With r directions kept it costs about
    ``5 n_samples r^2`` multiply-adds: less than Cholesky if they are few, and takes 5 to 15 times
    as long if all are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import solve_kernel
    >>> from gegenbauer.basis import SpectrumKernel
    >>> from gegenbauer.ridge import predict_kernel
    >>> X = np.linspace(-1, 1, 9)[:, np.newaxis]
    >>> kernel = SpectrumKernel(1, (1.0, 2.0))
    >>> solution = solve_kernel(kernel, X, np.abs(X), alpha=1e-6)
    >>> predict_kernel(kernel, [[0.6]], X, solution.dual_coef).round(2)
    array([[0.6]])
    """
    kernel_ = check_kernel(kernel)
    alpha = check_number(alpha, "alpha", minimum=0)
    penalize_constant = check_flag(penalize_constant, "penalize_constant")
    data = as_samples(X, "X", kernel_)
    n_samples = data.shape[0]
    targets = as_matrix(Y, "Y", n_rows=n_samples, keep_float32=False, one_dimensional=True)
    weights = as_weights(sample_weight, n_samples)
    box = check_scaling(scaling, kernel_.n_features, "kernel")
    threads = check_threads(n_threads)
    require_memory(
        kernel_._plan.solve_bytes(n_samples, targets.shape[1], alpha),
        f"the solve for {n_samples} samples and {targets.shape[1]} outputs by a kernel",
        "fit fewer samples, or use a TensorBasis of a finite set with solve_ridge",
    )
    most_bytes = kernel_._plan.solve_bytes(n_samples, targets.shape[1], 0.0)
    scale = None if weights is None else np.sqrt(weights)
    result = kernel_._plan.solve(
        data, box, targets, scale, alpha, penalize_constant, memory_limit(most_bytes), threads
    )  # fmt: skip
    require_finite(
        result["dual_coef"],
        "the dual coefficients are",
        Ways("", kernel_._remedy, "Y or sample_weight is too large", last="; or "),
    )
    return KernelSolution(**result)


def predict_kernel(
    kernel: TotalDegreeKernel | SpectrumKernel,
    X: npt.ArrayLike,
    X_train: npt.ArrayLike,
    dual_coef: npt.ArrayLike,
    *,
    intercept: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    out: Doubles | None = None,
    n_threads: int | None = None,
) -> Doubles:
    """Evaluate ``K(X, X_train) @ dual_coef + intercept`` without storing K.

    Parameters
    ----------
    kernel : TotalDegreeKernel or SpectrumKernel
        That of the solve.
    X : array_like, shape (n_samples, n_features)
        float64 or float32 in any layout is read in place.
    X_train : array_like, shape (n_train, n_features)
        The samples of the solve; those with dual coefficients of zero may be left out with them.
    dual_coef : array_like, shape (n_train,) or (n_train, n_outputs)
        From `solve_kernel`.
    intercept : array_like, shape (n_outputs,), optional
        From `solve_kernel`.
    scaling : InputScaling, optional
        Maps X and X_train to the domain of the polynomials.
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

    See Also
    --------
    solve_kernel : A fit of all terms there are, by a kernel.
    KernelExpansion : A sum of kernels at the samples.

    Examples
    --------
    >>> from gegenbauer.basis import TotalDegreeKernel
    >>> from gegenbauer.ridge import predict_kernel
    >>> kernel = TotalDegreeKernel(1, 1, lam=0.5)  # 1 + x z
    >>> predict_kernel(kernel, [[2.0], [3.0]], [[1.0], [-1.0]], [1.0, 0.5], intercept=[10.0])
    array([[12.5],
           [13. ]])
    """
    kernel_ = check_kernel(kernel)
    data = as_samples(X, "X", kernel_)
    train = as_samples(X_train, "X_train", kernel_)
    coefficients = as_matrix(
        dual_coef, "dual_coef", n_rows=train.shape[0], keep_float32=False, one_dimensional=True
    )
    shift = None
    if intercept is not None:
        shift = as_matrix(
            intercept, "intercept", n_rows=coefficients.shape[1], n_columns=1,
            keep_float32=False, one_dimensional=True,
        )[:, 0]  # fmt: skip
    box = check_scaling(scaling, kernel_.n_features, "kernel")
    threads = check_threads(n_threads)
    shape = (data.shape[0], coefficients.shape[1])
    if out is None:
        require_memory(8.0 * shape[0] * shape[1], "the result", "predict fewer samples at once")
        out = np.empty(shape)
    else:
        out = check_out(out, shape, ("float64",))
        if any(np.may_share_memory(out, other) for other in (data, train, coefficients)):
            raise ValueError("out must not share memory with X, X_train or dual_coef")
    kernel_._plan.apply(data, train, box, coefficients, out, threads)
    if shift is not None:
        out += shift
    require_finite(
        out,
        "some predictions are",
        Ways("", kernel_._remedy, "dual_coef is too large", last="; or "),
    )
    return out
