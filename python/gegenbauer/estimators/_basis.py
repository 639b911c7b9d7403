"""What the estimators of given terms share: parameters of a basis, and the basis itself."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from gegenbauer._messages import Message, Ways
from gegenbauer.basis.index_sets import MOST_TERMS, count_terms
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.basis.spectrum import COMPONENTS, Spectrum, as_spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import stacklevel
from gegenbauer.estimators._base import Pairs, Range, box_of, typed
from gegenbauer.estimators._mixed_inputs import MixedInputs, have_gaps
from gegenbauer.inspection.correlation import largest_correlation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.spectrum import SpectrumLike

__all__ = ["BasisEstimator"]


# Bases of the last few parameters in use, by these and their types; not those whose plans are large
_BASES: dict[tuple[Any, ...], TensorBasis] = {}
_MOST_BASES, _MOST_KEPT_TERMS = 8, 1000


class BasisEstimator(MixedInputs):
    """Parameters of a basis of given terms, shared by the estimators that have them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixedInputs._parameter_constraints,
        "n_terms": [Range(Integral, 1, None, closed="left"), None],
        "degree": [Range(Integral, 0, None, closed="left"), "array-like", None],
        "lam": [Range(Real, -0.5, None, closed="neither")],
        "index_set": [StrOptions({"total_degree", "tensor", "hyperbolic_cross", "largest_weight"})],
        "max_interaction": [Range(Integral, 1, None, closed="left"), None],
        "term_order": [StrOptions({"grlex", "grlex_ascending", "grevlex"})],
        "spectrum": [StrOptions({"orthonormal"}), tuple, list, Spectrum, *COMPONENTS, None],
        "domain": [Pairs(tuple, {(0, 1), (-1, 1)})],
        "bounds": ["array-like", None],
    }

    n_terms: int | None
    degree: int | Sequence[int] | None
    lam: float
    index_set: str
    max_interaction: int | None
    term_order: str
    spectrum: SpectrumLike
    domain: tuple[float, float]
    bounds: Any
    basis_: TensorBasis
    n_terms_: int

    @property
    def _takes_levels(self) -> bool:
        return True

    def _fit_inputs(self, X: NDArray[Any], weight: Doubles | None = None) -> NDArray[Any]:
        """Set levels, ``basis_``, ``n_terms_`` and ``scaling_`` from the samples X (S, m) of a fit.

        Returns
        -------
        ndarray, shape (S, m)
            The samples, without levels that none of them has.
        """
        X = self._find_levels(X, weight)
        self.basis_ = self._make_basis(X.shape[1])
        self.n_terms_ = int(self.basis_.n_terms)
        box = self._given_box(X.shape[1])
        if box is None:
            self.scaling_ = self._box_around(X)
            self._look_at_inputs(X)
        else:
            self.scaling_ = box
            self._correlation = largest_correlation(X, self._category_columns)
            self._apply_range_policy(X)
        return X

    def _box_around(self, X: NDArray[Any]) -> InputScaling:
        """Return the smallest box around samples."""
        return self._with_levels(InputScaling.fit(X, domain=self.domain, clip=self._clips))

    @property
    def _has_given_bounds(self) -> bool:
        return self.bounds is not None

    def _given_box(self, n_features: int) -> InputScaling | None:
        """Return the box of ``bounds``, None without one."""
        if self.bounds is None:
            return None
        box = box_of(self.bounds, n_features, domain=self.domain, clip=self._clips)
        return self._with_levels(box)

    def _default_degree(self) -> int:
        """Degree of the basis when neither ``n_terms`` nor ``degree`` is given."""
        raise ValueError(
            Message(
                "{} needs `n_terms` (an int, the number of terms) or `degree` "
                "(an int, the highest total degree), got None for both.",
                type(self).__name__,
            )
        )

    def _make_basis(self, n_features: int) -> TensorBasis:
        degree = self.degree
        if self.n_terms is None and degree is None:
            degree = self._default_degree()
        if self.n_terms is not None and degree is not None:
            self._warn_if_cut(n_features, self.n_terms)
        return _basis_of(
            n_features=n_features,
            n_terms=self.n_terms,
            degree=degree,
            lam=self.lam,
            index_set=self.index_set,
            max_interaction=self.max_interaction,
            term_order=self.term_order,
            spectrum=self._spectrum_with_levels(),
        )

    def _spectrum_with_levels(self) -> SpectrumLike:
        """Return the spectrum that is given, with the levels of the samples, which alone count."""
        if self.spectrum is None and (self._levels is None or self.index_set == "largest_weight"):
            return None  # with that index set, an error
        return Spectrum(as_spectrum(self.spectrum, self.lam).components, self._levels)

    def _numbers_never_missing(self, X: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return where samples miss a number that all samples of the fit had, (S, m), or None."""
        if not have_gaps(X):
            return None
        missing: NDArray[np.bool_] = np.isnan(X)
        for t, one in enumerate(self._levels or ()):
            if one is not None:
                missing[:, t] = False
        return missing if missing.any() else None

    def _with_means(
        self,
        X: NDArray[Any],
        evaluate: Callable[[NDArray[Any]], NDArray[Any]],
        average: Callable[[list[int], NDArray[Any], NDArray[Any]], NDArray[Any]],
    ) -> NDArray[Any]:
        """Evaluate samples, with means over numbers that they alone miss.

        Parameters
        ----------
        X : ndarray, shape (n_samples, n_features)
            The samples.
        evaluate : callable
            Of samples without such gaps.
        average : callable
            Of inputs, samples that miss these, with any value there, and what `evaluate` gave for
            them.
        """
        missing = self._numbers_never_missing(X)
        if missing is None:
            return evaluate(X)
        X = np.where(missing, self.scaling_.lower, X).astype(X.dtype)  # any value
        found = evaluate(X)
        for inputs in np.unique(missing[missing.any(axis=1)], axis=0):
            own = (missing == inputs).all(axis=1)
            found[own] = average(np.flatnonzero(inputs).tolist(), X[own], found[own])
        return found

    def _warn_if_cut(self, n_features: int, n_terms: int) -> None:
        """Warn when ``n_terms`` leaves terms of the requested ``degree`` out."""
        if self.index_set == "largest_weight":  # there, n_terms is what defines the set
            return
        n_complete = count_terms(
            n_features,
            degree=self.degree,
            index_set=self.index_set,
            max_interaction=self.max_interaction,
            levels=self._levels,
        )
        if n_complete > n_terms:
            all_fit, cut = n_complete <= MOST_TERMS, Message("`degree=None` if the cut is meant")
            warnings.warn(
                Message(
                    "`degree={!r}` has {} terms in {} inputs, and `n_terms={}` keeps the first {} "
                    "of them",
                    self.degree,
                    n_complete if all_fit else _rounded(n_complete),
                    n_features,
                    n_terms,
                    n_terms,
                    ways=Ways("pass", "`n_terms=None` to use them all", cut, last=", or ")
                    if all_fit
                    else Ways.of(["lower `degree` to use all of a smaller set", Ways("pass", cut)]),
                    joint=". ",
                    end=".",
                ),
                UserWarning,
                stacklevel=stacklevel(),
            )


def _basis_of(**arguments: Any) -> TensorBasis:
    """Return a basis, which does not change: of parameters in use the one that is there."""
    try:
        key = typed(tuple(arguments.values()))
    except ValueError:
        return TensorBasis(**arguments)
    basis = _BASES.get(key)
    if basis is None:
        basis = TensorBasis(**arguments)
        if basis.n_terms <= _MOST_KEPT_TERMS:
            if len(_BASES) >= _MOST_BASES:
                _BASES.clear()
            _BASES[key] = basis
    return basis


def _rounded(number: int) -> str:
    """Return a number of any size in a few digits."""
    return f"{number:.3g}" if number < 10**300 else "more than 1e+300"
