"""Estimators on Dask collections that select their model automatically."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gegenbauer import estimators
from gegenbauer._messages import Message
from gegenbauer._validation import check_flag
from gegenbauer.dask._base import Classes, with_client
from gegenbauer.dask.first_pass import ClassCoding, RealCoding
from gegenbauer.dask.partitions import is_ours
from gegenbauer.dask.search import SearchOnDask
from gegenbauer.estimators._base import Range
from gegenbauer.estimators._label_set import LabelSet
from gegenbauer.estimators._labels import class_factors, describe_labels
from gegenbauer.estimators._sums_search import SumsRegression

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.dask.first_pass import FirstPass

__all__ = ["GegenbauerClassifierCV", "GegenbauerRegressorCV"]

# What nobody chooses on clusters: the kernel of all samples is out of reach, the sums of the folds
# know squared errors alone, and the box of the inputs is their range
_FIXED = {
    "scoring": None,
    "kernel_samples": "auto",
    "bounds": None,
    "max_seconds": None,
}

_CV: dict[str, list[Any]] = {"cv": [Range(Integral, 2, None, closed="left")]}


class GegenbauerRegressorCV(  # type: ignore[misc]  # fit takes no groups
    SearchOnDask, SumsRegression, estimators.GegenbauerRegressorCV
):
    """Regression on Dask collections that chooses its polynomials and its penalty by itself.

    As :class:`gegenbauer.GegenbauerRegressorCV`, with K-fold instead of leave-one-out: the sums
    without a fold are the total minus its own. There are two passes over the samples. About 20 000
    of them, evenly drawn, come here, and landmarks are chosen among them; the others stay where
    they are.

    Parameters
    ----------
    spectrum, alphas, search, penalize_constant, search_samples, out_of_range, verbose
        As in :class:`gegenbauer.GegenbauerRegressorCV`.
    n_terms : int or None, default=None
        Number of terms of largest weight. None for all terms in the span of
        :func:`gegenbauer.ridge.default_landmarks` samples, and where that gives none, or 2000 terms
        hold 99 per cent of the weight of all, for these 2000, or as many as there are samples; with
        ``spectrum=None`` for the paper's 1000. What is sent, ``cv`` times for each partition, has
        about n^2 / 2 numbers of n terms or landmarks, less of terms if inputs are few.
    lam : float or None, default=None
        With ``spectrum=None``, the parameter of the polynomials; None for the paper's 0.05.
    cv : int, default=5
        Number of folds. The samples of a partition are dealt to them one after another.
    categorical_features, missing : default="from_dtype", default="error"
        As in :class:`gegenbauer.GegenbauerRegressorCV`. Levels are those of all samples, by their
        weights without those of classes: where types or ``categorical_features`` name categories,
        or with ``missing="indicator"``, one more pass over the samples counts them first.
    n_jobs : int or None, default=None
        Number of threads of a task. Dask takes each task for one thread, which is what None means;
        for the search and the solve, None means all there are here.
    client : distributed.Client or None, default=None
        Who computes; None for the current client, or without one the threads of this process. It
        is not pickled with the estimator.

    Attributes
    ----------
    alpha_results_ : dict of ndarray
        Penalties that were tried ("alpha") and minus the mean squared error of all samples held out
        ("score"), in units of the targets' variance.
    loo_predictions_, loo_targets_ : ndarray of shape (n_sampled,) or (n_sampled, n_outputs)
        Predictions of the drawn samples by the model without their fold, and their targets.
    loo_weights_ : ndarray of shape (n_sampled,) or None
        Their weights; None without weights.
    spectrum_, alpha_, best_score_, relevances_, noise_variance_, effective_dof_, basis_, ...
        As in :class:`gegenbauer.GegenbauerRegressorCV`.

    See Also
    --------
    gegenbauer.GegenbauerRegressorCV : The same for samples in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from gegenbauer.dask import GegenbauerRegressorCV
    >>> X = da.random.default_rng(0).uniform(size=(1000, 3), chunks=(300, 3))
    >>> y = da.sin(6 * X[:, 0]) * X[:, 1]  # the third input does not matter
    >>> model = GegenbauerRegressorCV(n_terms=100).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    >>> bool(model.relevances_[2] < model.relevances_[:2].min() / 100)
    True
    """

    _plain = estimators.GegenbauerRegressorCV
    __init__ = with_client(
        estimators.GegenbauerRegressorCV,
        {**_FIXED, "intervals": "one_spectrum"},
        cv=5,
        missing="error",
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **estimators.GegenbauerRegressorCV._parameter_constraints,
        **_CV,
    }

    def _keep_kind(self, found: FirstPass) -> None:
        self._y_was_flat = found.shape == ()
        K = 1 if self._y_was_flat else found.shape[0]
        self._center, self._unit = np.zeros(K), np.ones(K)

    def _coding(self) -> RealCoding:
        return RealCoding(self._center, self._unit)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the targets, and how far off they may be.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation as well.

        Returns
        -------
        prediction, and std if requested
            Each a Dask array, series or dataframe that is not yet computed, in the partitions of
            X; NumPy arrays if X is in memory.
        """
        if not is_ours(X):
            return self._plain.predict(self, X, return_std)
        return_std = check_flag(return_std, "return_std")
        found = self._lazily("predict", X)
        if not return_std:
            return found
        return found, self._lazily("predict", X, needs=("posterior",), return_std=True)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Predict intervals that hold a new target with a given probability.

        Their width comes from the errors of the drawn samples, held out.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        lower, upper
            Each a Dask array, series or dataframe that is not yet computed, in the partitions of
            X; NumPy arrays if X is in memory.
        """
        if not is_ours(X):
            return self._plain.predict_interval(self, X, coverage)
        needs = ("_left_out_residuals", "_row_weight", "_left_out_share")
        return tuple(
            self._lazily("predict_interval", X, needs=needs, part=part, coverage=coverage)
            for part in (0, 1)
        )


class GegenbauerClassifierCV(  # type: ignore[misc]  # fit takes no groups
    Classes, SearchOnDask, estimators.GegenbauerClassifierCV
):
    """Classification on Dask collections that chooses its polynomials and its penalty by itself.

    As :class:`gegenbauer.GegenbauerClassifierCV`, with K-fold instead of leave-one-out: the sums
    without a fold are the total minus its own. There are two passes over the samples. About 20 000
    of them, evenly drawn, come here, and landmarks are chosen among them; the others stay where
    they are.

    Parameters
    ----------
    spectrum, alphas, penalize_constant, search_samples, out_of_range, class_weight, verbose
        As in :class:`gegenbauer.GegenbauerClassifierCV`.
    n_terms : int or None, default=None
        Number of terms of largest weight. None for all terms in the span of
        :func:`gegenbauer.ridge.default_landmarks` samples, and where that gives none, or 2000 terms
        hold 99 per cent of the weight of all, for these 2000, or as many as there are samples; with
        ``spectrum=None`` for the paper's 1000. What is sent, ``cv`` times for each partition, has
        about n^2 / 2 numbers of n terms or landmarks, less of terms if inputs are few.
    lam : float or None, default=None
        With ``spectrum=None``, the parameter of the polynomials; None for the paper's 0.05.
    cv : int, default=5
        Number of folds. The samples of a partition are dealt to them one after another.
    categorical_features, missing : default="from_dtype", default="error"
        As in :class:`gegenbauer.GegenbauerClassifierCV`. Levels are those of all samples, by their
        weights without those of classes: where types or ``categorical_features`` name categories,
        or with ``missing="indicator"``, one more pass over the samples counts them first.
    n_jobs : int or None, default=None
        Number of threads of a task. Dask takes each task for one thread, which is what None means;
        for the search and the solve, None means all there are here.
    client : distributed.Client or None, default=None
        Who computes; None for the current client, or without one the threads of this process. It
        is not pickled with the estimator.

    Attributes
    ----------
    alpha_results_ : dict of ndarray
        Penalties that were tried ("alpha") and minus the log-loss of the drawn samples, held out,
        at the best temperature ("score").
    loo_predictions_, loo_targets_ : ndarray of shape (n_sampled,) or (n_sampled, n_outputs)
        Outputs for the drawn samples by the model without their fold, before calibration, and their
        labels. The probabilities come from these.
    loo_weights_ : ndarray of shape (n_sampled,) or None
        Their weights; None without weights.
    classes_, spectrum_, alpha_, best_score_, probability_maps_, basis_, term_coef_, ...
        As in :class:`gegenbauer.GegenbauerClassifierCV`.

    See Also
    --------
    gegenbauer.GegenbauerClassifierCV : The same for samples in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from gegenbauer.dask import GegenbauerClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(40, 4)), da.from_array(y, chunks=40)
    >>> model = GegenbauerClassifierCV(n_terms=50).fit(X, y)
    >>> model.predict_proba(X)[[0, 140]].compute().round(1).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """

    _plain = estimators.GegenbauerClassifierCV
    __init__ = with_client(
        estimators.GegenbauerClassifierCV, {**_FIXED, "n_spectra": 1}, cv=5, missing="error"
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **estimators.GegenbauerClassifierCV._parameter_constraints,
        **_CV,
    }

    _factors: Doubles | None

    def _keep_kind(self, found: FirstPass) -> None:
        name = type(self).__name__
        counts = found.counts
        multilabel, n_labels = counts.ndim == 2, found.labels.size
        self._label_set = (
            LabelSet.of_columns(n_labels, found.labels) if multilabel else LabelSet(found.labels)
        )
        self._y_was_flat = not multilabel and n_labels == 2
        self._factors = None
        if not multilabel and n_labels < 2:
            raise ValueError(
                f"{name} needs at least two classes, but y has 1 class in the samples "
                f"of positive weight: {describe_labels(found.sample.y)}."
            )
        if isinstance(self.class_weight, dict):
            if multilabel:
                raise ValueError(
                    Message(
                        "`class_weight` of {} must be None or 'balanced' for multilabel y, got a "
                        "dict. Pass sample_weight instead.",
                        name,
                    )
                )
            self._factors = class_factors(self._class_weight_of_rows, self.classes_)
        elif self.class_weight is not None:
            table = np.atleast_2d(counts)
            present = (table > 0).sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                factors = table.sum(axis=1, keepdims=True) / (present * table)
            self._factors = np.where(table > 0, factors, 0.0).reshape(counts.shape)

    def _coding(self) -> ClassCoding:
        return ClassCoding(self.classes_, self.multilabel_, self._factors)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : Dask array or dataframe, or array-like, of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array or dataframe of shape (n_samples, n_classes)
            Not yet computed, in the partitions of X; a NumPy array if X is in memory. Columns are
            named by the classes.
        """
        if not is_ours(X):
            return self._plain.predict_proba(self, X)
        return self._lazily("predict_proba", X, names=self._answers)
