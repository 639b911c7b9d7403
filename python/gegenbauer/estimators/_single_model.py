"""The fit of one model: its spectrum is chosen on few samples, its penalty on all of them.

Up to some thousand samples that model is the kernel of all terms with dual coefficients, beyond it
is the same in the span of landmarks, and for very many samples a finite set of the terms of largest
weight. Without a spectrum it is the basis of the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.estimators._final_fit import (
    FitProblem,
    FittedModel,
    LeftOut,
    fit_again,
    fit_kernel,
    fit_landmarks,
    fit_terms,
    kernel_of_all_terms,
    landmarks_among,
)
from gegenbauer.estimators._found import FoundEstimator
from gegenbauer.estimators._grids import alpha_grid, basis_grid, given_spectrum
from gegenbauer.estimators._penalty_levels import mean_diagonal, mean_squared_length
from gegenbauer.estimators._samples import Samples, search_places
from gegenbauer.estimators._splits import restrict_splits
from gegenbauer.ridge.mean_expansion import MeanExpansion
from gegenbauer.selection.basis_search import PAPER_ALPHAS, search_basis
from gegenbauer.selection.objective import check_level
from gegenbauer.selection.spectrum_search import ALPHAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
    from gegenbauer.basis.spectrum import ComponentsLike, Spectrum
    from gegenbauer.estimators._progress import Progress
    from gegenbauer.estimators._time_budget import Choice
    from gegenbauer.ridge.landmarks import Landmarks
    from gegenbauer.selection.candidates import Loss, Splits

__all__ = ["SingleModel"]

# Terms of the finite set that is used where samples are too many for a kernel
_DEFAULT_N_TERMS = 2000


class SingleModel(FoundEstimator):
    """Chooses the spectrum and the penalty of a model, and fits it."""

    spectrum: str | ComponentsLike | None
    alphas: str | Sequence[float]
    n_terms: int | Sequence[int] | None
    lam: float | Sequence[float] | None
    scoring: Any
    penalize_constant: bool
    search_samples: int

    # ---- what subclasses define -----------------------------------------------------

    def _make_loss(self, data: Samples, splits: Splits) -> Loss:
        """Return what is to be made small: a function of predictions and their samples."""
        raise NotImplementedError

    def _stratified(self, data: Samples, most: int) -> Places:
        """Return at most so many samples that stand for all, the same ones each time."""
        raise NotImplementedError

    def _learn(self, data: Samples, splits: Splits, progress: Progress) -> tuple[Spectrum, float]:
        """Choose the spectrum and a first alpha for the kernel of all terms, on few samples."""
        raise NotImplementedError

    # ---- what is requested ----------------------------------------------------------

    @property
    def _on_paper(self) -> bool:
        """Whether the next fit takes the basis of the paper, its box and its penalty."""
        return self.spectrum is None

    def _alpha_grid(self) -> Doubles | None:
        """Return the requested alphas, absolute; None if the search is free."""
        return alpha_grid(self.alphas)

    def _basis_grid(self) -> tuple[list[float], list[int]] | None:
        """Return lams and numbers of terms to choose from with the paper's basis; None without."""
        return basis_grid(self.spectrum, self.lam, self.n_terms)

    @property
    def _pooled(self) -> bool:
        """Whether the test samples of all splits are scored together.

        Our own scores are: a temperature for the few samples of one part would be fitted to them.
        Scorers are called once for each part, as scikit-learn does.
        """
        return self.scoring is None

    def _options(self) -> dict[str, Any]:
        return {
            "scaling": self.scaling_,
            "penalize_constant": bool(self.penalize_constant),
            "n_threads": self._n_threads(),
        }

    def _default_n_terms(self, data: Samples) -> int:  # noqa: ARG002  # on clusters it counts
        return _DEFAULT_N_TERMS

    # ---- choosing and fitting ---------------------------------------------------------

    def _fit_spectrum(
        self,
        data: Samples,
        loss: Loss,
        splits: Splits,
        progress: Progress,
        choice: Choice | None = None,
    ) -> LeftOut:
        """Choose a spectrum on few samples, and fit all terms or those of largest weight."""
        n_search = int(self.search_samples) if choice is None else choice.n_search
        n_landmarks = None if choice is None else choice.n_landmarks
        rows = search_places(data, n_search, self._stratified)
        self.n_search_samples_ = int(rows.size)
        few, few_splits = data.take(rows), restrict_splits(splits, rows, data.n)
        self.surface_, self.lam_ = {}, 0.0
        with progress.stage("spectrum", n_steps=None):
            if isinstance(self.spectrum, str):
                spectrum, alpha = self._learn(few, few_splits, progress)
                self.spectra_ = (spectrum,)
            else:
                spectrum = given_spectrum(self.spectrum, data.X.shape[1], self._levels)
                self.spectra_ = (spectrum,)
                alpha = self._first_alpha(few, few_splits) if n_landmarks == 0 else 0.0
        if n_landmarks:
            with progress.stage(f"alpha by up to {min(n_landmarks, data.n)} landmarks"):
                return self._fit_landmarks(data, loss, splits, n_landmarks)
        if n_landmarks == 0:
            with progress.stage("alpha on all samples"):
                return self._fit_kernel(data, spectrum, alpha, loss, splits)
        n_terms = self._default_n_terms(data) if self.n_terms is None else int(self.n_terms)  # type: ignore[arg-type]
        with progress.stage(f"alpha of {n_terms} terms"):
            basis = TensorBasis(
                data.X.shape[1],
                n_terms=n_terms,
                lam=self.lam_,
                index_set="largest_weight",
                spectrum=spectrum,
            )
            grid = self._alpha_grid()
            if grid is None:
                grid = np.array(ALPHAS) * self._level(basis, data)
            return self._fit_terms(data, basis, grid, loss, splits)

    def _fit_paper(
        self,
        data: Samples,
        grid: tuple[list[float], list[int]],
        loss: Loss,
        splits: Splits,
        progress: Progress,
    ) -> LeftOut:
        """Choose lam, the number of terms and alpha, all of them on all samples."""
        alphas = self._alpha_grid()
        with progress.stage("basis", n_steps=None):
            found = search_basis(
                data.X, data.Y, loss, lams=grid[0], n_terms=grid[1],
                alphas=PAPER_ALPHAS if alphas is None else alphas.tolist(), widen=alphas is None,
                **data.leaving_out, cv=splits, pooled=self._pooled,
                callback=lambda k: progress.step(f"basis {k}"), **self._options(),
            )  # fmt: skip
        self.surface_ = {
            "lam": found.lams,
            "n_terms": found.n_terms,
            "alpha": found.alphas,
            "score": -found.losses,
        }
        self.n_search_samples_ = data.n
        self.spectra_, self.lam_ = (), found.basis.lam
        with progress.stage("weights"):
            return self._fit_terms(data, found.basis, np.array([found.alpha]), loss, splits)

    def _problem(self, data: Samples, loss: Loss, splits: Splits) -> FitProblem:
        return FitProblem(
            data, loss, splits, pooled=self._pooled, options=self._options(),
            has_variance=not is_classifier(self),
        )  # fmt: skip

    def _take(self, found: FittedModel) -> LeftOut:
        """Hold a fitted model; return what it finds of samples left out."""
        self.expansion_, self.alpha_, self.best_score_ = found.expansion, found.alpha, -found.loss
        self.engine_, self.solver_, self.rcond_ = found.engine, found.solver, found.rcond
        self.n_terms_ = found.n_terms
        return found.left_out

    def _first_alpha(self, data: Samples, splits: Splits) -> float:
        """Return the best of the usual alphas for the kernel of all terms, on few samples."""
        kernel = kernel_of_all_terms(data.X.shape[1], self.spectra_[0])
        alphas = np.array(ALPHAS) * self._kernel_level(kernel, data)
        problem = self._problem(data, self._make_loss(data, splits), splits)
        return problem.best_of(kernel, alphas)[0]

    def _fit_kernel(
        self, data: Samples, spectrum: Spectrum, alpha: float, loss: Loss, splits: Splits
    ) -> LeftOut:
        """Fit all terms with dual coefficients; return the predictions of samples left out."""
        kernel = kernel_of_all_terms(data.X.shape[1], spectrum)
        problem = self._problem(data, loss, splits)
        return self._take(fit_kernel(problem, kernel, alpha, self._alpha_grid()))

    def _fit_landmarks(
        self, data: Samples, loss: Loss, splits: Splits, n_landmarks: int
    ) -> LeftOut:
        """Fit all terms in the span of their kernel at few samples."""
        landmarks, places = self._landmarks_of(data, n_landmarks)
        alphas = self._alphas_of_landmarks(landmarks, data)
        problem = self._problem(data, loss, splits)
        return self._take(fit_landmarks(problem, landmarks, places, alphas))

    def _fit_terms(
        self, data: Samples, basis: TensorBasis, alphas: Doubles, loss: Loss, splits: Splits
    ) -> LeftOut:
        """Fit a finite set of terms; return the predictions of samples left out."""
        return self._take(fit_terms(self._problem(data, loss, splits), basis, alphas))

    def _refit(self, data: Samples, train: Places, test: Places) -> Doubles:
        """Return outputs for some samples, of the model that was chosen, fitted to others."""
        return fit_again(
            self.expansion_, self.alpha_, data, train, test, self._options(),
            at_landmarks=self.engine_ == "landmarks",
        )  # fmt: skip

    # ---- landmarks and penalties ------------------------------------------------------

    def _landmarks_of(self, data: Samples, n_landmarks: int) -> tuple[Landmarks, Places]:
        """Choose landmarks among samples; return which of these they are, too."""
        kernel = kernel_of_all_terms(data.X.shape[1], self.spectra_[0])
        return landmarks_among(data, kernel, n_landmarks, self.scaling_, self._n_threads())

    def _alphas_of_landmarks(self, landmarks: Landmarks, data: Samples) -> Doubles:
        """Return the alphas to choose from."""
        grid = self._alpha_grid()
        if grid is None:  # as fine as the walk of all samples: one pass is for all penalties
            level = self._kernel_level(landmarks.kernel, data)
            grid = np.outer(ALPHAS, [1.0, 2.0]).ravel() * level
        return grid

    def _kernel_level(self, kernel: SpectrumKernel | TotalDegreeKernel, data: Samples) -> float:
        """Return the mean of the diagonal of the weighted kernel matrix, of penalised terms."""
        level = mean_diagonal(kernel, data, self.scaling_, self.penalize_constant)
        return data.unit * check_level(level, f"spectrum={self.spectrum!r}")

    def _level(self, basis: TensorBasis, data: Samples) -> float:
        """Return the mean squared length of the penalised terms, times the weight of a sample."""
        level = mean_squared_length(basis, data, self.scaling_, self.penalize_constant)
        return level if level > 0 else 1.0  # a free constant alone has no penalty

    def _trace(self, data: Samples) -> float:
        """Return the sum of the eigenvalues of the kernel matrix, of penalised terms."""
        if not self._all_terms:
            return data.n_samples * self._level(self.basis_, data)
        found = self.expansion_
        kernel = found.middle.kernel if isinstance(found, MeanExpansion) else self.kernel_
        lengths = kernel.diagonal(data.X, scaling=self.scaling_)
        lengths -= not self.penalize_constant
        return float(lengths.sum() if data.weight is None else lengths @ data.weight)
