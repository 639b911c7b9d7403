"""What an estimator that selects its model has found, and how it shows and evaluates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.utils.validation import check_is_fitted

from gegenbauer._messages import Message
from gegenbauer.estimators._base import advising
from gegenbauer.estimators._mixed_inputs import MixedInputs
from gegenbauer.estimators._targets import TargetEstimator
from gegenbauer.ridge.expansions import KernelExpansion, TermExpansion
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.kernels import SpectrumKernel
    from gegenbauer.basis.spectrum import Spectrum
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["FoundEstimator"]

# Samples of the fit whose values stand for what is unknown
_MOST_VALUES = 128


class FoundEstimator(MixedInputs, TargetEstimator):
    """A model that was found: its function, of finitely many terms or of all, and the search.

    Models with a spectrum take categories and missing values, the paper's basis takes neither.
    """

    # How messages write that one spectrum is requested, where there may be several
    _ONE_SPECTRUM: ClassVar[str]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixedInputs._parameter_constraints,
        **TargetEstimator._parameter_constraints,
    }

    expansion_: TermExpansion | KernelExpansion | MeanExpansion
    # Whether the fit has all terms, and weights by a spectrum; None before a fit
    _all_terms: bool | None = None
    _weighted: bool | None = None

    best_score_: float
    engine_: str
    alpha_results_: dict[str, Doubles]
    _y_was_flat: bool
    surface_: dict[str, NDArray[Any]]
    alpha_: float
    lam_: float
    loo_predictions_: Doubles
    loo_targets_: NDArray[Any]
    loo_weights_: Doubles | None
    n_samples_seen_: int
    n_search_samples_: int
    n_terms_: float
    rcond_: float
    solver_: str
    spectra_: tuple[Spectrum, ...]
    stream_results_: dict[str, NDArray[Any]]

    def _terms(self, name: str) -> TermExpansion:
        found = self.expansion_
        if isinstance(found, TermExpansion):
            return found
        why = Message(
            "it has all terms, and dual_coef_", ways="give `n_terms` for a finite set", joint="; "
        )
        raise self._lacks(name, why)

    def _kernels(self, name: str) -> KernelExpansion:
        found = self.expansion_
        if isinstance(found, KernelExpansion):
            return found
        if isinstance(found, MeanExpansion):
            raise self._of_several(name, "expansion_.parts, which have one each")
        raise self._lacks(name, "it has a finite set of terms, basis_, and term_coef_")

    def _of_several(self, name: str, instead: str) -> AttributeError:
        return self._lacks(
            name,
            Message(
                "it is the mean of {} models",
                len(self.spectra_),
                ways=[Message("see {}", instead), Message("fit with `{}`", self._ONE_SPECTRUM)],
            ),
        )

    @property
    def spectrum_(self) -> Spectrum | None:
        """Weights of the terms; None with the paper's basis."""
        check_is_fitted(self)
        if len(self.spectra_) > 1:
            raise self._of_several("spectrum_", "spectra_")
        return self.spectra_[0] if self.spectra_ else None

    @property
    def basis_(self) -> TensorBasis:
        """The terms, of a model that has finitely many."""
        return self._terms("basis_").basis

    @property
    def term_coef_(self) -> Doubles:
        """Coefficients of the terms, of a model that has finitely many."""
        return self._terms("term_coef_").coef

    @property
    def kernel_(self) -> SpectrumKernel:
        """The kernel of all terms, of a model that has them."""
        kernel: SpectrumKernel = self._kernels("kernel_").kernel  # type: ignore[assignment]
        return kernel

    @property
    def X_fit_(self) -> NDArray[Any]:  # noqa: N802  # as scikit-learn's KernelRidge calls it
        """Samples of the fit, of a model with all terms."""
        found = self.expansion_
        return (
            found.centres if isinstance(found, MeanExpansion) else self._kernels("X_fit_").centres
        )

    @property
    def dual_coef_(self) -> Doubles:
        """Coefficients of the samples, of a model with all terms."""
        return self._kernels("dual_coef_").coef

    @property
    def intercept_(self) -> Doubles:
        """What is added, (n_outputs,)."""
        found = self.expansion_
        intercept = (
            self._kernels("intercept_") if isinstance(found, MeanExpansion) else found
        ).intercept
        assert intercept is not None
        return intercept

    @property
    def relevances_(self) -> Doubles:
        """Sum of the weights of each input in the spectrum; of several spectra, their mean."""
        if not self.spectra_:
            raise self._lacks(
                "relevances_",
                Message(
                    "it has no spectrum, of which they are the weights of the inputs",
                    ways="fit it otherwise than with `spectrum=None`",
                    joint="; ",
                ),
            )
        m = self.n_features_in_
        found = np.mean([each.interactions(m).sum(axis=1) for each in self.spectra_], axis=0)
        for t, levels in enumerate(self._levels or ()):
            if levels is not None and not levels.varies:
                found[t] = 0.0
        return np.asarray(found)

    @property
    def cv_results_(self) -> dict[str, Any]:
        """What was tried, in the form of scikit-learn's searches: one entry for each candidate.

        Without any where the spectrum was learned by gradients, as regression does by default:
        there is no grid of candidates then.
        """
        check_is_fitted(self)
        axes = [name for name in self.surface_ if name != "score"]
        grids = np.meshgrid(*(self.surface_[name] for name in axes), indexing="ij")
        values = {f"param_{name}": grid.ravel() for name, grid in zip(axes, grids, strict=True)}
        score = self.surface_["score"].ravel() if axes else np.empty(0)
        rows = zip(*(grid.tolist() for grid in values.values()), strict=True)
        return {
            **values,
            "params": [dict(zip(axes, row, strict=True)) for row in rows],
            "mean_test_score": score,
            # equal ones share the best place, and what was not tried comes last
            "rank_test_score": rankdata(-np.nan_to_num(score, nan=-np.inf), method="min").astype(
                np.intp
            ),
        }

    # ---- predicting --------------------------------------------------------------

    def _raw_outputs(self, X: Any) -> Doubles:
        """Return the outputs (S, K) of the fitted polynomial."""
        return self._evaluate(self._samples_to_predict(X))

    def _samples_to_predict(self, X: Any) -> NDArray[Any]:
        """Return checked samples, once the policy for those outside of the box is kept to."""
        check_is_fitted(self)
        X = self._validate_inputs(X, reset=False)
        if not isinstance(self.expansion_, TermExpansion):  # the policy may have been set since
            self._require_a_value_outside()
        self._apply_range_policy(X)
        return np.asarray(X)

    def _derivatives(self, X: Any, order: int = 1) -> tuple[NDArray[Any], Doubles]:
        """Return checked samples (S, m), and first or second derivatives there, (S, m[, m], K)."""
        X = self._samples_to_predict(X)
        with advising(self._results_advice):
            function = self._function(X)
            method = function.gradient if order == 1 else function.hessian
            return X, method(X, n_threads=self._n_threads())

    def _evaluated(self, X: Any, make: Callable[[Any], Any]) -> tuple[NDArray[Any], Doubles]:
        """Return checked samples, and the values there of what is made of the fitted function."""
        X = self._samples_to_predict(X)
        with advising(self._results_advice):
            return X, make(self._function(X)).evaluate(X, n_threads=self._n_threads())

    def _samples_to_explain(self, X: Any) -> NDArray[Any]:
        """Return checked samples, wherever they are."""
        check_is_fitted(self)
        return np.asarray(self._validate_inputs(X, reset=False))

    def _require_a_value_outside(self) -> None:
        if self.out_of_range == "extrapolate":
            raise ValueError(
                Message(
                    "`out_of_range='extrapolate'` needs a finite set of terms, since the sum of "
                    "all has no value outside of the range of the inputs",
                    ways="give `n_terms`",
                )
            )

    def _evaluate(self, X: NDArray[Any]) -> Doubles:
        """Return the outputs (S, K) at checked samples, inside of the box or not."""
        with advising(self._results_advice):
            return self._function(X).evaluate(X, n_threads=self._n_threads())

    def _function(self, X: NDArray[Any]) -> TermExpansion | KernelExpansion | MeanExpansion:
        """Return the fitted function with today's clipping, of samples with missing values."""
        function = self.expansion_.with_scaling(self._current_scaling())
        return function.with_missing() if np.isnan(X).any() else function

    def _variance_of_unknown(self, X: NDArray[Any]) -> Doubles:
        """Return how outputs vary with inputs of which nothing is known, (n_samples, n_outputs).

        The variance over the values that samples of the fit have there, some hundred of them; of a
        finite set, which keeps no samples, over levels by their shares, and numbers over their box.
        """
        function = self._function(X)
        found = np.zeros((len(X), function.n_outputs))
        unknown = self._unknown(X)
        if not unknown.any():
            return found
        if isinstance(function, TermExpansion):
            centres = self._values_by_shares()
        else:
            centres = function.centres[:: -(-len(function.centres) // _MOST_VALUES)]
        for row in np.flatnonzero(unknown.any(axis=1)).tolist():
            filled = np.repeat(X[row : row + 1].astype(np.float64), len(centres), axis=0)
            filled[:, unknown[row]] = centres[:, unknown[row]]
            values = function.evaluate(filled, n_threads=self._n_threads())
            found[row] = np.var(values.reshape(len(centres), -1), axis=0)
        return found

    def _values_by_shares(self) -> Doubles:
        """Return values of all inputs, as samples of the fit may have them, each by itself."""
        box = self.scaling_
        rng = np.random.default_rng(0)
        places = (np.arange(_MOST_VALUES) + 0.5) / _MOST_VALUES
        values = np.empty((_MOST_VALUES, box.n_features))
        for t, one in enumerate(self._levels or (None,) * box.n_features):
            share = rng.permutation(places)  # of the samples below
            if one is not None and one.category:
                values[:, t] = np.searchsorted(np.cumsum(one.shares)[:-1], share, side="right")
            else:
                values[:, t] = box.lower[t] * (1.0 - share) + box.upper[t] * share
        return values

    def _require_numbers(self) -> None:
        """Refuse what the paper's basis does not take here."""
        if self._levels is None:
            return
        t = next(t for t, one in enumerate(self._levels) if one is not None)
        one = self._levels[t]
        what = "is a category" if one is not None and one.category else "has missing values"
        raise ValueError(
            Message(
                "`spectrum=None` takes numbers alone, but {} {}",
                self._column_name(t),
                what,
                ways=[
                    "leave `spectrum` out",
                    Message(
                        "encode the column, as sklearn.preprocessing.OneHotEncoder and "
                        "sklearn.impute.SimpleImputer do"
                    ),
                ],
            )
        )
