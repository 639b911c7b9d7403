"""The final fit of a search: all terms, their span at landmarks, or a finite set of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.errors import message_of
from gegenbauer.estimators._samples import spread_places
from gegenbauer.ridge.expansions import (
    KernelExpansion,
    KernelPosterior,
    LandmarkPosterior,
    TermExpansion,
    predict,
)
from gegenbauer.ridge.kernel_ridge import predict_kernel, solve_kernel
from gegenbauer.ridge.landmarks import choose_landmarks
from gegenbauer.ridge.mean_expansion import MeanExpansion
from gegenbauer.ridge.solve import solve_ridge
from gegenbauer.selection.candidates import Candidate, no_finite_loss
from gegenbauer.selection.penalty import search_alpha
from gegenbauer.selection.ridge_path import RidgePath

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.spectrum import Spectrum
    from gegenbauer.basis.tensor_basis import TensorBasis
    from gegenbauer.estimators._samples import Samples
    from gegenbauer.ridge.landmarks import Landmarks
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = [
    "FitProblem",
    "FittedModel",
    "LeftOut",
    "fit_again",
    "fit_kernel",
    "fit_landmarks",
    "fit_terms",
    "kernel_of_all_terms",
    "landmarks_among",
]

# Samples of which landmarks are chosen
_MOST_TO_CHOOSE_FROM = 20_000


class LeftOut(NamedTuple):
    """What a final fit finds of samples left out.

    Attributes
    ----------
    outputs : ndarray, shape (n_samples, n_outputs)
        Their predictions, NaN for those that no split tests.
    residual_dof : float or None
        Sum of one minus the leverages, where the fit has found it.
    """

    outputs: Doubles
    residual_dof: float | None = None


class FittedModel(NamedTuple):
    """A model with the best of some penalties.

    Attributes
    ----------
    expansion : KernelExpansion or TermExpansion
        The fitted function.
    alpha, loss : float
        The penalty, and its loss of samples left out.
    left_out : LeftOut
        What it finds of these.
    n_terms : float
        Number of terms, infinite for all.
    engine, solver : str
        How sums were made, and how the system was solved.
    rcond : float
        Reciprocal condition number of the system, NaN if it is not known.
    """

    expansion: KernelExpansion | TermExpansion
    alpha: float
    loss: float
    left_out: LeftOut
    n_terms: float
    engine: str
    solver: str
    rcond: float


@dataclass(frozen=True, eq=False)
class FitProblem:
    """What is fitted, by which loss of samples left out a penalty is chosen, and how."""

    data: Samples
    loss: Loss
    splits: Splits
    pooled: bool  # whether the test samples of all splits are judged together
    options: dict[str, Any]  # scaling, penalize_constant and n_threads of all fits
    has_variance: bool  # whether the function is to have standard deviations

    @property
    def weighted(self) -> dict[str, Any]:
        """Options of a solve."""
        return {"sample_weight": self.data.weight, **self.options}

    @property
    def free_constant(self) -> bool:
        """Whether the constant term has no penalty."""
        return not self.options["penalize_constant"]

    def candidate(self, model: SpectrumKernel | TensorBasis | Landmarks) -> Candidate:
        """Return a model to be judged by samples left out."""
        data = self.data
        return Candidate(
            model, data.X, data.Y, data.weight, self.splits, left_out_share=data.share,
            pooled=self.pooled, **self.options,
        )  # fmt: skip

    def best_alpha(self, candidate: Candidate, alphas: Doubles) -> tuple[float, float]:
        """Return the best of given alphas, of equal ones the largest, and its loss."""
        values = candidate.losses(alphas, self.loss)
        at = int(np.flatnonzero(values == values.min())[-1])
        if not np.isfinite(values[at]):
            raise no_finite_loss("alpha")
        return float(alphas[at]), float(values[at])

    def best_of(
        self, model: SpectrumKernel | TensorBasis, alphas: Doubles
    ) -> tuple[float, float, Doubles]:
        """Return the best of given alphas, its loss and predictions of samples left out."""
        candidate = self.candidate(model)
        alpha, value = self.best_alpha(candidate, alphas)
        return alpha, value, candidate.predictions(alpha)


def kernel_of_all_terms(n_features: int, spectrum: Spectrum) -> SpectrumKernel:
    """Return the kernel of a spectrum; an error advises what to do where it has none."""
    try:
        return SpectrumKernel(n_features, spectrum)
    except ValueError as error:
        raise ValueError(
            Message(
                "{}",
                message_of(error),
                ways="here, give `n_terms` for a finite set of terms",
                joint="; ",
            )
        ) from None


def landmarks_among(
    data: Samples,
    kernel: SpectrumKernel,
    n_landmarks: int,
    scaling: InputScaling,
    n_threads: int | None,
) -> tuple[Landmarks, Places]:
    """Choose landmarks among samples; return which of these they are, too."""
    some = spread_places(data.n, _MOST_TO_CHOOSE_FROM)
    landmarks, places = choose_landmarks(
        kernel, data.X[some], n_landmarks,
        sample_weight=None if data.weight is None else data.weight[some],
        scaling=scaling, n_threads=n_threads,
    )  # fmt: skip
    return landmarks, some[places]


def fit_kernel(
    problem: FitProblem, kernel: SpectrumKernel, alpha: float, alphas: Doubles | None
) -> FittedModel:
    """Fit all terms with dual coefficients.

    Parameters
    ----------
    problem : FitProblem
        The samples, and how penalties are judged.
    kernel : SpectrumKernel
        That of all terms.
    alpha : float
        Where the search of the penalty begins.
    alphas : ndarray or None
        Penalties to choose from instead; None searches freely.
    """
    data = problem.data
    if alphas is None:
        alpha, best, predictions, residual_dof = search_alpha(
            kernel, data.X, data.Y, problem.loss, alpha, cv=problem.splits,
            pooled=problem.pooled, left_out_share=data.share, **problem.weighted,
        )  # fmt: skip
        left_out = LeftOut(predictions, residual_dof)
    else:
        alpha, best, predictions = problem.best_of(kernel, alphas)
        left_out = LeftOut(predictions)
    alpha = float(alpha)
    fit = solve_kernel(kernel, data.X, data.Y, alpha, **problem.weighted)
    posterior = None
    if problem.has_variance:
        posterior = KernelPosterior(alpha, data.weight, free_constant=problem.free_constant)
    expansion = KernelExpansion(
        kernel, data.X, fit.dual_coef, problem.options["scaling"], fit.intercept, posterior
    )
    return FittedModel(
        expansion, alpha, float(best), left_out, np.inf, "kernel", fit.solver, float(fit.rcond)
    )


def fit_landmarks(
    problem: FitProblem, landmarks: Landmarks, places: Places, alphas: Doubles
) -> FittedModel:
    """Fit all terms in the span of their kernel at few samples, which are at some places."""
    data, candidate = problem.data, problem.candidate(landmarks)
    alpha, best = problem.best_alpha(candidate, alphas)
    path = candidate.path()
    coef, intercept = landmarks.coefficients(path.weights([alpha])[0])
    posterior = None
    if problem.has_variance:
        posterior = LandmarkPosterior(
            alpha, landmarks.factor, *path.posterior(alpha), free_constant=problem.free_constant
        )
    expansion = KernelExpansion(
        landmarks.kernel, data.X[places], coef, problem.options["scaling"], intercept, posterior
    )
    left = data.n - float(path.effective_dof([alpha])[0])
    left_out = LeftOut(candidate.predictions(alpha), left)
    return FittedModel(
        expansion, alpha, best, left_out, np.inf, "landmarks", "eigenvectors", np.nan
    )


def fit_terms(problem: FitProblem, basis: TensorBasis, alphas: Doubles) -> FittedModel:
    """Fit a finite set of terms."""
    data = problem.data
    alpha, best, predictions = problem.best_of(basis, alphas)
    fit = solve_ridge(basis, data.X, data.Y, alpha, **problem.weighted)
    expansion = TermExpansion(
        basis, fit.weights, problem.options["scaling"], np.zeros(data.Y.shape[1])
    )
    return FittedModel(
        expansion, alpha, best, LeftOut(predictions), basis.n_terms, fit.engine, fit.solver,
        float(fit.rcond),
    )  # fmt: skip


def fit_again(
    function: TermExpansion | KernelExpansion | MeanExpansion,
    alpha: float,
    data: Samples,
    train: Places,
    test: Places,
    options: dict[str, Any],
    *,
    at_landmarks: bool,
) -> Doubles:
    """Fit a model that was chosen to some samples, and return its outputs for others.

    Parameters
    ----------
    function, alpha
        The model with all samples, and its penalty; of the mean of several the first is fitted.
    data : Samples
        All samples.
    train, test : ndarray of int
        Places of those to fit, and of those to predict.
    options : dict
        ``scaling``, ``penalize_constant`` and ``n_threads``.
    at_landmarks : bool
        Whether it is in the span of landmarks, which are chosen anew.
    """
    weighted = dict(options)
    if data.weight is not None:
        weighted["sample_weight"] = data.weight[train]
    few = data.X[train], data.Y[train]
    how: dict[str, Any] = {name: options[name] for name in ("scaling", "n_threads")}
    if isinstance(function, TermExpansion):
        fit = solve_ridge(function.basis, *few, alpha, **weighted)
        return predict(function.basis, data.X[test], fit.weights, **how)
    if isinstance(function, MeanExpansion):
        alpha, function = float(function.alphas[0]), function.parts[0]
    kernel: SpectrumKernel = function.kernel  # type: ignore[assignment]
    if at_landmarks:
        landmarks, _ = landmarks_among(data, kernel, len(function.centres), **how)
        path = RidgePath(landmarks, *few, **weighted)
        return np.asarray(path.predict(data.X[test], [alpha])[0])
    dual = solve_kernel(kernel, *few, alpha, **weighted)
    return predict_kernel(
        kernel, data.X[test], data.X[train], dual.dual_coef, intercept=dual.intercept, **how
    )
