"""What a fit costs by each way to it, in time and memory, and whether all terms or moments pay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gegenbauer._dispatch import core, processors
from gegenbauer._memory import total_memory
from gegenbauer._validation import check_choice, check_integer
from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
from gegenbauer.basis.tensor_basis import check_basis

if TYPE_CHECKING:
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = [
    "MANY_SAMPLES",
    "SOLVERS",
    "default_kernel_samples",
    "default_landmarks",
    "fit_cost",
    "fit_memory",
    "moments_exist",
    "moments_serve",
]

_KINDS = "a TensorBasis, SpectrumKernel or TotalDegreeKernel"


def default_kernel_samples() -> int:
    r"""Return up to how many samples an automatic estimator fits all terms, by this machine.

    :math:`15000 \sqrt[3]{p / 2}` for p processors, since the work grows with the third power of
    their number, and no more than make a kernel matrix of 1/13 of the memory (of the machine, or of
    its control group). One array of that size is all that a fit holds.

    Returns
    -------
    int
        A multiple of 100.

    See Also
    --------
    default_landmarks : Samples in whose span the others are fitted.

    Examples
    --------
    >>> from gegenbauer.ridge import default_kernel_samples
    >>> default_kernel_samples() % 100
    0
    """
    by_time = _BY_TWO * (processors() / 2) ** (1 / 3)
    by_memory = (total_memory() / (8.0 * _MATRICES)) ** 0.5
    return int(min(by_time, by_memory) / 100.0) * 100


def default_landmarks(n_samples: int) -> int:
    r"""Return how many landmarks an automatic estimator takes for more samples than that.

    With M of `default_kernel_samples`, :math:`\min(M, n) / 5`, but 500 at least, as long as n
    times the square of their number is below :math:`M^3 / 3`: that is the work. Where less than two
    thirds of M / 5 are left by it, a finite set of terms is as accurate for less.

    Parameters
    ----------
    n_samples : int
        Number of samples.

    Returns
    -------
    int
        0 for a finite set.

    See Also
    --------
    default_kernel_samples : Most samples of which each has a dual coefficient.

    Examples
    --------
    >>> from gegenbauer.ridge import default_landmarks
    >>> default_landmarks(10**9)
    0
    """
    n_samples = check_integer(n_samples, "n_samples", minimum=1)
    whole = default_kernel_samples()
    found = min(whole // 5, int((whole**3 / (3.0 * n_samples)) ** 0.5))
    return min(found, max(n_samples // 5, _FEWEST)) if 15 * found >= 2 * whole else 0


def fit_cost(
    model: TensorBasis | SpectrumKernel | TotalDegreeKernel, n_samples: int, n_outputs: int = 1
) -> dict[str, float]:
    """Estimate what a fit costs by each way to the normal equations.

    `solve_ridge` takes the cheapest for ``engine="auto"``. The model is in
    ``cpp/include/gegenbauer/cost.hpp``. A kernel of all terms has one way, ``"kernel"``; when
    everything is chosen it is gone about five times, each time with leverages, which are three
    times the work.

    Parameters
    ----------
    model : TensorBasis, SpectrumKernel or TotalDegreeKernel
        The terms.
    n_samples : int
        Number of samples.
    n_outputs : int
        Number of targets.

    Returns
    -------
    dict of str to float
        Multiply-adds at the machine's peak, by the name of the engine. Moments are counted until
        they are known to cost more than another way, so that the figure of a way that loses is a
        lower bound. Infinity has one meaning: their plan would be too large, or ``lam`` vanishes
        beside 1 and is not 0, and the engine gives way to ``"primal"`` if it is requested.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong type or range.

    See Also
    --------
    fit_memory : The bytes that the same fit takes.
    solve_ridge : The fit itself, for one penalty.
    count_terms : How many terms an index set has.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.ridge import fit_cost
    >>> cost = fit_cost(TensorBasis(2, degree=53), n_samples=1_000_000)
    >>> min(cost, key=cost.get)
    'moments'
    """
    n_samples = check_integer(n_samples, "n_samples", minimum=1)
    n_outputs = check_integer(n_outputs, "n_outputs", minimum=1)
    if isinstance(model, (SpectrumKernel, TotalDegreeKernel)):
        n = float(n_samples)
        products = n**2 / 2 * model.n_features
        return {"kernel": n**3 / 6 + products + n**2 * n_outputs}
    basis = check_basis(model, "model", kinds=_KINDS)
    cost: dict[str, float] = core.fit_cost(basis._plan, n_samples, n_outputs)
    if basis.lam != 0.0 and 1.0 + basis.lam == 1.0:  # a recurrence of coefficients ends in 0 / 0
        cost["moments"] = math.inf
    return cost


def fit_memory(
    model: TensorBasis | SpectrumKernel | TotalDegreeKernel,
    n_samples: int,
    n_outputs: int = 1,
    *,
    solver: str = "auto",
) -> dict[str, float]:
    r"""Estimate the bytes that a fit takes beside X and Y by each way to the normal equations.

    `solve_ridge` and `solve_kernel` refuse what is more than the memory that is left. The formulas
    are in ``cpp/src/ridge.cpp`` and ``cpp/src/kernel_ridge.cpp``; no fit that was
    measured takes twice as much (``python -m bench.footprints``), and those of few samples or terms
    take far less.

    Parameters
    ----------
    model : TensorBasis, SpectrumKernel or TotalDegreeKernel
        The terms.
    n_samples : int
        Number of samples.
    n_outputs : int
        Number of targets.
    solver : {"auto", "cholesky", "orthogonal"}
        As for `solve_ridge`. "auto" leaves out what follows where Cholesky would lose the answer:
        that takes as much as "orthogonal", and is refused by itself. So does ``alpha=0``.

    Returns
    -------
    dict of str to float
        Bytes, by the name of the engine. Infinity where `fit_cost` is infinite for any number of
        samples. The plan of the moments is made, if there is none yet, and kept with the basis.

    Raises
    ------
    ValueError, TypeError
        For arguments of wrong type or range.

    See Also
    --------
    fit_cost : The multiply-adds of the same fit.
    solve_ridge : The fit itself, for one penalty.
    solve_kernel : A fit of all terms there are, by a kernel.

    Notes
    -----
    With S samples, L terms, K outputs and N = L + K numbers are counted, of 8 bytes each:

    ============================== =============================================================
    "primal"                       :math:`N L + 4 (S + L) K + \max(10^6, 1024 N)`
    "primal", 20 outputs and more  :math:`N L + S K + 5 L K + \max(10^6, 2048 N)`
    "moments"                      as "primal", and :math:`5 M + 5 \cdot 10^6 + P`
    "dual", "kernel"               :math:`S^2 + 4 (S + L) K + \max(10^6, 1024 S)`
    orthogonal, S > L              :math:`4 (S + L) K + (4 N + 512) N`
    orthogonal, S <= L             :math:`4 (S + L) K + (L + 4 S) S`
    "kernel" of a kernel           :math:`S^2 + 8 S K`, and the tables of a block of samples
    the same, orthogonal           :math:`3 S^2 + 8 S K`, and these tables
    ============================== =============================================================

    The first addend is the normal matrix, the second has targets, residuals and weights, the third
    the features of blocks of samples. M is the number of moments
    (:class:`~gegenbauer.MomentStatistics`), and P the work of their plan. Beyond some 64 threads
    moments take more, M numbers for each thread.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.ridge import fit_memory
    >>> memory = fit_memory(TensorBasis(6, degree=6), n_samples=1_000_000)
    >>> f"{memory['primal'] / 1e6:.0f} MB"
    '47 MB'
    >>> f"{memory['dual'] / 1e12:.0f} TB"
    '8 TB'
    """
    n_samples = check_integer(n_samples, "n_samples", minimum=1)
    n_outputs = check_integer(n_outputs, "n_outputs", minimum=1)
    orthogonal = check_choice(solver, "solver", SOLVERS) == "orthogonal"
    if isinstance(model, (SpectrumKernel, TotalDegreeKernel)):
        alpha = 0.0 if orthogonal else 1.0
        return {"kernel": model._plan.solve_bytes(n_samples, n_outputs, alpha)}
    basis = check_basis(model, "model", kinds=_KINDS)

    def n_bytes(engine: str) -> float:
        if engine == "moments" and not orthogonal and not moments_exist(basis):
            return math.inf
        engine = "primal" if orthogonal else engine  # which needs none
        return core.estimate_bytes(basis._plan, n_samples, n_outputs, 1.0, True, engine, solver)

    return {engine: n_bytes(engine) for engine in ("dual", "kernel", "moments", "primal")}


# Factorisations that a fit may request
SOLVERS = ("auto", "cholesky", "orthogonal")

# Samples that all terms are fitted to on two processors, and kernel matrices that memory has to
# have room for: what is beside the fit wants its part
_BY_TWO, _MATRICES = 15_000, 13

# Landmarks of samples of which a fifth would be fewer
_FEWEST = 500

# Between ways of summing only, a solve costs nothing beside so many samples.
MANY_SAMPLES = 10**9


def moments_exist(basis: TensorBasis) -> bool:
    """Return whether a basis has a plan of the moments, at whatever cost."""
    return math.isfinite(fit_cost(basis, MANY_SAMPLES)["moments"])


def moments_serve(
    basis: TensorBasis,
    n_outputs: int,
    *,
    n_samples: int = MANY_SAMPLES,
    weight: float | None = None,
    penalty: float = 0.0,
) -> bool:
    """Decide whether sums that nothing refines are to come from moments, not from features.

    They must cost less, and round no worse where it matters. For 0 <= lam <= 1/2 they round as
    features do, since no term is much smaller inside of the domain than its Chebyshev coefficients.
    For other lam the penalty has to cover their rounding, which is that of the ends of the domain
    wherever the samples lie. (`solve_ridge` requires the latter in any case and refines what is
    left.)

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    n_outputs : int
        Number of targets.
    n_samples : int
        Number of samples of each sum.
    weight : float, optional
        Sum of their weights, if it is known.
    penalty : float
        The smallest that will be used, 0 if it is not known.
    """
    cost = fit_cost(basis, n_samples, n_outputs)
    if not cost["moments"] < cost["primal"]:
        return False
    if 0 <= basis.lam <= 0.5:
        return True
    return core.moments_resolve(basis._plan, float(weight or n_samples), penalty)
