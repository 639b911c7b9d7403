"""The regularised solve and the prediction, on arrays.

R-WDD of the paper: ``W = (alpha I + G'G)^-1 G'Phi`` (eq.weights_solution) or, with few samples,
``W = G'(alpha I + GG')^-1 Phi`` (eq.weights_solution1). The algorithms are described in
``cpp/include/gegenbauer/ridge.hpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._memory import memory_limit, require_memory
from gegenbauer._messages import Ways
from gegenbauer._renamed import refuse_old_names
from gegenbauer._validation import (
    as_matrix,
    as_weights,
    check_choice,
    check_flag,
    check_number,
    check_threads,
    require_finite,
)
from gegenbauer.basis.levels import as_samples
from gegenbauer.basis.tensor_basis import check_basis
from gegenbauer.ridge.cost import SOLVERS

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["RidgeSolution", "solve_dual", "solve_primal", "solve_ridge"]

ENGINES = ("auto", "primal", "moments", "dual", "kernel")


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    r"""Weights and how they were found, after any fallback. Equal to itself alone.

    Attributes
    ----------
    weights : ndarray, shape (n_terms, n_outputs)
        W.
    engine : {"primal", "moments", "dual", "kernel"}
        How the normal equations were found. ``"primal"`` and ``"moments"`` are of size n_terms,
        from features or from Chebyshev moments; ``"dual"`` and ``"kernel"`` of size n_samples, from
        features or from a product formula for the kernel.
    solver : {"cholesky", "qr", "lq", "complete_orthogonal"}
        The factorisation that gave the weights.
    rcond : float
        Estimated reciprocal condition number of the regularised normal matrix.
    n_refinements : int
        Steps of iterative refinement after the first solve.
    correction : float
        Norm of the last refinement relative to the first solution: about the error before that
        refinement, not after it. 0 where `n_refinements` is 0, which is no estimate of the error.
    precision : {"float64", "float32"}
        Of the products of features behind the factorisation. The weights are float64 in either
        case, refined to the same accuracy.
    rank : int
        min(n_samples, n_terms), or the numerical rank that alpha = 0 found.
    error : float
        Estimate, mostly too high, of the relative error of the weights by rounding of the features
        and of what follows, to first order
        :math:`\epsilon \kappa (2 + (\kappa + 1) |r| / (|G| |W|))` with the square root of
        1 / `rcond` as :math:`\kappa` and what is left of Y as r; less where QR was refined by exact
        features. At 1 and more nothing is certain. Predictions near the samples may be far
        more accurate than weights.

    See Also
    --------
    solve_ridge : The fit itself, for one penalty.
    predict : Evaluate a sum of terms.

    Examples
    --------
    >>> from gegenbauer import TensorBasis, solve_ridge
    >>> basis = TensorBasis(1, n_terms=2, lam=0.5)  # 1, x
    >>> found = solve_ridge(basis, [[-1.0], [1.0]], [1.0, 5.0], alpha=2.0)
    >>> found.weights.round(9).tolist(), found.solver, found.rank
    ([[1.5], [1.0]], 'cholesky', 2)
    >>> found.error < 1e-14
    True
    """

    weights: npt.NDArray[np.float64]
    engine: str
    solver: str
    rcond: float
    n_refinements: int
    correction: float
    precision: str
    rank: int
    error: float


@refuse_old_names
def solve_ridge(
    basis: TensorBasis,
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    alpha: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
    scaling: InputScaling | None = None,
    penalize_constant: bool = True,
    engine: str = "auto",
    solver: str = "auto",
    precision: str = "auto",
    check_finite: bool = True,
    n_threads: int | None = None,
) -> RidgeSolution:
    r"""Minimise :math:`|D (G W - Y)|^2 + \alpha |W|^2` over the weights W.

    G, the matrix of all terms at all samples, is never stored.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    X : array_like, shape (n_samples, n_features)
        float64 or float32 in any layout is read in place.
    Y : array_like, shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    alpha : float
        Penalty, >= 0. 0 gives the limit of ever smaller ones: of all weights that leave the least
        residual, the shortest, the constant not counted if it is not penalised. With it that is the
        Moore-Penrose solution (the paper's plain WDD, eq.original_WDD).
    sample_weight : array_like, shape (n_samples,), optional
        Non-negative; D is the diagonal matrix of their square roots.
    scaling : InputScaling, optional
        Maps X to the domain of the polynomials.
    penalize_constant : bool
        Whether the constant term is penalised as well, as in the paper.
    engine : {"auto", "primal", "moments", "dual", "kernel"}
        The way to the normal equations (see `RidgeSolution`). ``"auto"`` is the cheapest by
        `fit_cost`. ``"moments"`` gives way to ``"primal"`` where its rounding errors are not far
        below `alpha`, or where inputs and degree are so many that its plan would be too large.
        Orthogonal solvers know two ways only, and the shape decides: LQ (``"dual"``) for
        n_samples <= n_terms, else QR (``"primal"``).
    solver : {"auto", "cholesky", "orthogonal"}
        ``"auto"`` is Cholesky with refinement, or an orthogonal factorisation when Cholesky fails,
        alpha is below 1000 times the resolution of the largest eigenvalue, or alpha is 0. QR is
        refined by gradients of features in twice the precision, where its factor can carry that.
    precision : {"auto", "float64"}
        Products of features behind a Cholesky factor. ``"auto"`` tries float32 for large sums over
        X of float32, and does them again in float64 where refinement from the data does not make
        up for it.
    check_finite : bool
        Whether to look for NaN and infinity in X and Y, a pass over each. False is for arrays that
        have been checked: of others the weights may be anything.
    n_threads : int, optional
        By default `gegenbauer.default_threads()`. The result does not depend on it.

    Returns
    -------
    RidgeSolution

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong shape, type or content.
    TooLargeError
        When the normal equations cannot fit into memory, or Cholesky would lose the answer and the
        orthogonal factorisation in its place cannot.
    numpy.linalg.LinAlgError
        When ``solver="cholesky"`` was requested and fails.

    See Also
    --------
    RidgePath : One factorisation for every penalty.
    solve_kernel : A fit of all terms there are, by a kernel.
    solve_primal : By the normal equations of the terms.
    solve_dual : By those of the samples.
    GramStatistics : Sums of which a fit is computed, for any number of inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import solve_ridge, TensorBasis
    >>> basis = TensorBasis(1, n_terms=2, lam=0.5)
    >>> solution = solve_ridge(basis, [[0.0], [0.5], [1.0]], [-1.0, -1.0, 1.0], alpha=1.0)
    >>> np.allclose(solution.weights[:, 0], [-4 / 9, 14 / 27])
    True
    """
    basis = check_basis(basis)
    alpha = check_number(alpha, "alpha", minimum=0)
    check_choice(engine, "engine", ENGINES)
    check_choice(solver, "solver", SOLVERS)
    check_choice(precision, "precision", ("auto", "float64"))
    penalize_constant = check_flag(penalize_constant, "penalize_constant")
    check_finite = check_flag(check_finite, "check_finite")
    data = as_samples(X, "X", basis, check_finite=check_finite)
    targets = as_matrix(
        Y, "Y", n_rows=data.shape[0], keep_float32=False, one_dimensional=True,
        check_finite=check_finite,
    )  # fmt: skip
    weights = as_weights(sample_weight, data.shape[0])
    box = basis._box(scaling)
    threads = check_threads(n_threads)
    n_samples, n_terms, n_outputs = data.shape[0], basis.n_terms, targets.shape[1]
    require_memory(
        core.estimate_bytes(
            basis._plan, n_samples, n_outputs, alpha, penalize_constant, engine, solver
        ),
        f"the solve for {n_samples} samples, {n_terms} terms and {n_outputs} outputs",
        Ways.of(
            [
                Ways("lower", "`n_terms`", "`degree`"),
                "fit fewer samples or outputs at once",
                "choose another `engine`",
            ]
        ),
    )
    # no orthogonal factorisation needs more
    most_bytes = 32.0 * (n_samples + n_terms + n_outputs) ** 2
    scale = None if weights is None else np.sqrt(weights)
    result = core.solve_ridge(
        basis._plan, data, box, targets, scale, alpha, penalize_constant, engine, solver,
        precision == "float64", memory_limit(most_bytes), threads,
    )  # fmt: skip
    require_finite(
        result["weights"],
        "the weights are",
        "X (without scaling), Y or sample_weight is too large",
        name_row=False,
    )
    return RidgeSolution(**result)


@refuse_old_names
def solve_primal(
    basis: TensorBasis, X: npt.ArrayLike, Y: npt.ArrayLike, alpha: float, **options: Any
) -> RidgeSolution:
    """Solve with the normal equations of size n_terms (eq.weights_solution).

    Parameters
    ----------
    basis, X, Y, alpha, **options
        As for `solve_ridge`, without `engine`.

    Returns
    -------
    RidgeSolution

    See Also
    --------
    solve_ridge : The fit itself, for one penalty.
    solve_dual : By those of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.ridge import solve_primal
    >>> x = np.linspace(-1, 1, 9)[:, np.newaxis]
    >>> solve_primal(TensorBasis(1, degree=2, lam=0.5), x, x, 1e-9).weights.round(6) + 0.0
    array([[0.],
           [1.],
           [0.]])
    """
    return solve_ridge(basis, X, Y, alpha, engine="primal", **options)


@refuse_old_names
def solve_dual(
    basis: TensorBasis, X: npt.ArrayLike, Y: npt.ArrayLike, alpha: float, **options: Any
) -> RidgeSolution:
    """Solve with the normal equations of size n_samples (eq.weights_solution1).

    Parameters
    ----------
    basis, X, Y, alpha, **options
        As for `solve_ridge`, without `engine`.

    Returns
    -------
    RidgeSolution

    See Also
    --------
    solve_ridge : The fit itself, for one penalty.
    solve_primal : By the normal equations of the terms.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.ridge import solve_dual
    >>> x = np.linspace(-1, 1, 3)[:, np.newaxis]
    >>> solve_dual(TensorBasis(1, degree=2, lam=0.5), x, x, 1e-9).weights.shape
    (3, 1)
    """
    return solve_ridge(basis, X, Y, alpha, engine="dual", **options)
