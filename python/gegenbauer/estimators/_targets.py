"""Targets of the estimators: labels or numbers turned into columns and back.

Equation labels refer to the paper. :class:`RealTargets` and :class:`ClassTargets` are what
regressors and classifiers share, whatever it is that they fit.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_array
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted

from gegenbauer._memory import require_memory
from gegenbauer._messages import Message
from gegenbauer._rows import row
from gegenbauer._validation import (
    check_number,
    naming_columns,
    require_no_text,
    require_plain,
    shown,
)
from gegenbauer.errors import LightWeightsWarning, stacklevel
from gegenbauer.estimators._base import InputEstimator
from gegenbauer.estimators._label_set import LabelSet
from gegenbauer.estimators._labels import (
    apply_class_weight,
    class_factors,
    column_names,
    counterpart,
    describe_labels,
    distinct_labels,
    flat_labels,
    indicator_columns,
    label_kind,
    places_of,
    plain_labels,
)
from gegenbauer.estimators._sparse import in_blocks, joined
from gegenbauer.inspection import sobol_indices
from gegenbauer.inspection.models import expansion_of
from gegenbauer.inspection.sample_marginals import known_marginals

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ClassTargets",
    "RealTargets",
    "TargetEstimator",
    "checked_sample_weight",
    "warn_of_light",
]

# What estimators are expected to have and do not, and where it is.
_ELSEWHERE = {
    "coef_": "scikit-learn's selectors take it for one number for each input: term_coef_ holds one "
    "for each term, the row of basis_.indices; feature_importances_ holds one for each input",
    "gamma_": "GegenbauerRegressorCV and GegenbauerClassifierCV, which choose the penalty, have it "
    "as alpha_; here it is the parameter alpha",
    "predict_proba": "GegenbauerClassifierCV has it, whose probabilities are fitted to "
    "leave-one-out outputs",
    "predict_interval": "GegenbauerRegressorCV has it, whose intervals are those of leave-one-out "
    "residuals",
}


def warn_of_light(weights: NDArray[np.float64] | float, n_rows: int) -> None:
    """Warn where the weights of samples count as less than a tenth of their number."""
    with np.errstate(over="ignore"):
        weight = float(np.sum(weights))
    if weight < 0.1 * n_rows:
        warnings.warn(
            f"sample_weight counts samples, and {n_rows} samples count as {weight:.3g} only: scale "
            "the weights so that they average one, unless so little is known",
            LightWeightsWarning,
            stacklevel=stacklevel(),
        )


class TargetEstimator(InputEstimator):
    """Checking of the samples. Subclasses turn y into targets (S, K) in ``_encode_targets``."""

    _y_is_numeric: ClassVar[bool]

    _label_set: LabelSet | None = None  # what is known of them, in classification

    def _hint(self, name: str) -> str:
        hint = super()._hint(name)
        if not hint and name in _ELSEWHERE:
            return f"; {_ELSEWHERE[name]}"
        if not hint and name.endswith("_") and not name.startswith("_"):
            check_is_fitted(self)  # raises a kind of AttributeError
        return hint

    def _lacks(self, name: str, why: str) -> AttributeError:
        """Return the error of an attribute that this model does not have, once it is fitted."""
        check_is_fitted(self)  # raises a kind of AttributeError, too
        return AttributeError(
            Message("this {} has no {}: {}", type(self).__name__, name, why), name=name, obj=self
        )

    @property
    def _class_weight_of_rows(self) -> Any:
        """What the weights of samples are multiplied by, in classification."""
        return None

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Shares of the inputs in the variance, (n_features,): their total Sobol' indices.

        Of several outputs they are weighted by the variances, and they are divided by their sum, as
        scikit-learn has it. They are zero for a constant model. Inputs are taken as independent,
        each as in the samples of the fit (in models of older files, which do not know these,
        uniform over the box); `sobol_indices` is called at each access.
        """
        known = known_marginals(self, expansion_of(self)) is not None
        found = sobol_indices(self, distribution="empirical" if known else "uniform", order=1)
        shares = found.variance @ found.total
        whole = float(shares.sum())
        return np.asarray(shares / whole if whole > 0 else np.zeros(shares.size))

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64] | None, NDArray[np.intp]]:
        """Return X, targets, (S, K) or (S,) for one output, weights and places of the samples."""
        raw_X, names = X, column_names(y)
        X, y, weight, places = self._rows_that_count(X, y, sample_weight, reset=True, complete=True)
        if places.size == 0:
            raise ValueError(
                f"sample_weight is zero in all {_num_samples(raw_X)} samples; at least one must "
                "have a positive weight."
            )
        targets, weight = self._encode_targets(y, weight, names)
        return X, targets, weight, places

    def _rows_of_weight(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None, NDArray[np.intp]]:
        """Return X and y, checked, weights and places of the samples of positive weight."""
        X = require_plain(X, "X")
        y = self._prepare_y(y)
        X = self._as_numbers(X, reset=reset)
        try:
            # scikit-learn sums y first, and finite numbers may have a sum that is none
            with (
                naming_columns(X, "X", text=self._text_advice),
                np.errstate(over="ignore", invalid="ignore"),
            ):
                X, y = self._validated(
                    X, y, reset=reset, multi_output=True, y_numeric=self._y_is_numeric
                )
        except (TypeError, ValueError):
            _require_shape_of_targets(X, y)  # in better words, and before X
            _require_present(y, "y")
            raise
        self._require_finite(X)
        weight = checked_sample_weight(sample_weight, X.shape[0])
        places = np.arange(X.shape[0])
        if weight is not None and not weight.all():
            # Samples of no weight are no samples: they may not even add a class or widen the box.
            used = weight > 0
            X, y, weight, places = X[used], y[used], weight[used], places[used]
        return X, y, weight, places

    def _rows_that_count(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, complete: bool
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None, NDArray[np.intp]]:
        """Return the samples of positive weight that are of no class of weight zero either.

        ``complete``: these are all samples there are.
        """
        X, y, weight, places = self._rows_of_weight(X, y, sample_weight, reset=reset)
        used = self._rows_of_weighted_classes(y, complete=complete)
        if used is None:
            return X, y, weight, places
        return X[used], y[used], None if weight is None else weight[used], places[used]

    def _rows_of_weighted_classes(
        self,
        y: Any,  # noqa: ARG002
        *,
        complete: bool,  # noqa: ARG002
    ) -> NDArray[np.bool_] | None:
        """Return which samples are of a class that is not left out; None if all are."""
        return None

    def _prepare_y(self, y: Any) -> Any:
        """Bring y into a form that ``validate_data`` treats well."""
        return y

    def _encode_targets(
        self, y: Any, weight: NDArray[np.float64] | None, names: NDArray[Any] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return targets, (S, K) or (S,) for a single output, and the final sample weights.

        ``names`` are those of the columns of y, if it came with some.
        """
        raise NotImplementedError

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs (S, K), or (S,) for a single one."""
        raise NotImplementedError

    def _checked_for_score(
        self, X: Any, y: Any, sample_weight: Any, wanted: str = "real numbers"
    ) -> tuple[Any, NDArray[np.float64] | None]:
        """Return y and the weights of a score, which scikit-learn takes as they come."""
        check_is_fitted(self)
        y = require_plain(y, "y", wanted=wanted)
        X = require_plain(X, "X")
        _require_shape_of_targets(X, y)
        return y, checked_sample_weight(sample_weight, _num_samples(X))


class RealTargets(MultiOutputMixin, RegressorMixin, TargetEstimator):  # type: ignore[misc]
    """Real targets, as they are."""

    _y_is_numeric = True

    def _prepare_y(self, y: Any) -> Any:
        if issparse(y):
            raise TypeError("y must be dense, got a sparse matrix: pass y.toarray()")
        y = require_plain(y, "y")
        values = np.asarray(y) if y is not None else np.empty(0)
        if values.dtype.kind in "OUSTmM":
            try:
                if values.dtype.kind != "O":
                    raise TypeError
                require_no_text(values, "y")  # that of digits is text all the same
                values = values.astype(np.float64)
            except (TypeError, ValueError, OverflowError):
                raise ValueError(
                    f"y must hold real numbers for a regressor, got "
                    f"{describe_labels(values)}: turn text that stands for numbers into them "
                    f"(y.astype(float)); {counterpart(type(self).__name__, 'Classifier')} takes "
                    "labels"
                ) from None
        elif values.dtype.kind == "f" and values.dtype.itemsize > 8:
            with np.errstate(over="ignore"):
                values = values.astype(np.float64)
        else:
            return y if y is None else values
        _require_present(values, "y")  # numbers beyond float64 are infinite now
        return values

    def _encode_targets(
        self,
        y: Any,
        weight: NDArray[np.float64] | None,
        names: NDArray[Any] | None,  # noqa: ARG002
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        return np.asarray(y, dtype=np.float64), weight

    @in_blocks(joined)
    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the targets (``eq.network_output_equation``).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions; one-dimensional if y was in ``fit``.

        Raises
        ------
        ValueError
            X does not fit the data seen in ``fit``, or lies outside of its range where
            ``out_of_range`` forbids it.
        """
        return self._outputs(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the share of the variance of y that is explained.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples.

        Returns
        -------
        float
            At most 1, and 0 for the mean of y; averaged over the outputs if there are several.

        Raises
        ------
        ValueError
            As :meth:`predict`; or y or sample_weight holds masked entries, dates or times.
        """
        y, weight = self._checked_for_score(X, y, sample_weight)
        return float(super().score(X, y, weight))


class ClassTargets(ClassifierMixin, TargetEstimator):  # type: ignore[misc]
    """Classes, coded as +1 and -1.

    Two classes are one output with the targets +1 (the second of ``classes_``) and -1 (SOGNN);
    K > 2 classes are K outputs, +1 in the column of the sample's own class and -1 elsewhere, of
    which the largest wins (MOGNN). A table y of K columns of 0 and 1 is K binary targets
    (multilabel), one output each.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TargetEstimator._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    _y_is_numeric = False

    class_weight: dict[Any, float] | str | None

    def _known(self, name: str) -> LabelSet:
        """Return the labels; of a model that knows none, refuse the attribute of this name."""
        if self._label_set is None:
            raise self._lacks(name, "it has seen no labels")
        return self._label_set

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, (n_classes,); of a multilabel y 0 and 1 for each label, (n_outputs, 2)."""
        return self._known("classes_").classes

    @property
    def label_names_(self) -> NDArray[Any]:
        """Names of the labels of a multilabel y, (n_outputs,)."""
        names = self._known("label_names_").names
        if names is None:
            raise self._lacks("label_names_", "it has classes, whose labels are in classes_")
        return names

    @property
    def multilabel_(self) -> bool:
        """Whether y was a table of 0 and 1."""
        return self._known("multilabel_").multilabel

    @property
    def _answers(self) -> NDArray[Any]:
        """What the columns of decisions and probabilities stand for: classes, or labels."""
        return self._known("classes_").answers

    def _prepare_y(self, y: Any) -> Any:
        if y is None or issparse(y):
            return y
        y = require_plain(y, "y", wanted="labels (int, bool or str)")
        return plain_labels(np.asarray(y), type(self).__name__)

    def _encode_targets(
        self, y: Any, weight: NDArray[np.float64] | None, names: NDArray[Any] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        name = type(self).__name__
        y = y.toarray() if issparse(y) else y
        plain = distinct_labels(y)  # a tenth of the time of what follows
        if plain is None and label_kind(y, name) == "multilabel-indicator":
            columns = indicator_columns(y, name)
            known = LabelSet.of_columns(columns.shape[1], names)
            if isinstance(self.class_weight, dict):
                raise ValueError(
                    Message(
                        "`class_weight` of {} must be None or 'balanced' for multilabel y, "
                        "whose columns share the weights of the samples; got a dict. Pass "
                        "sample_weight instead.",
                        name,
                    )
                )
            targets = np.where(columns, 1.0, -1.0)
            coded = list(columns.T.astype(np.intp))
        else:
            if plain is None:
                labels = LabelEncoder()
                codes = labels.fit_transform(flat_labels(y))
                known = LabelSet(labels.classes_)
            else:
                known, codes = LabelSet(plain[0]), plain[1]
            n_classes = known.classes.size
            if n_classes < 2:
                raise ValueError(
                    f"{name} needs at least two classes, but y has 1 class in "
                    f"the samples of positive weight: {describe_labels(y)}."
                )
            require_memory(
                8.0 * codes.size * n_classes,
                f"coding {n_classes} classes in {codes.size} samples",
                "are the labels of y really classes? A regressor takes numbers",
            )
            if n_classes == 2:
                targets = np.where(codes == 1, 1.0, -1.0)
            else:
                targets = np.where(codes[:, np.newaxis] == np.arange(n_classes), 1.0, -1.0)
            coded = [codes]
        self._label_set = known
        class_weight = self._class_weight_of_rows
        if class_weight is not None:
            weight = apply_class_weight(class_weight, known.classes, coded, weight)
        return targets, weight

    def _rows_of_weighted_classes(self, y: Any, *, complete: bool) -> NDArray[np.bool_] | None:
        if not isinstance(self.class_weight, dict) or not all(np.shape(y)):
            return None
        if label_kind(y, type(self).__name__) == "multilabel-indicator":
            return None
        classes, codes = np.unique(y, return_inverse=True)
        weighted = class_factors(self.class_weight, classes, complete=complete) > 0
        return None if weighted.all() else weighted[codes.reshape(-1)]

    @property
    def _class_weight_of_rows(self) -> Any:
        """Return ``class_weight`` without classes of weight zero, whose samples are gone."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {label: value for label, value in self.class_weight.items() if value != 0}

    @in_blocks(joined)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the outputs of the network (``eq.network_output_equation``).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            For two classes, positive for the second of ``classes_``; for more, the largest
            output names the class; for multilabel y, positive outputs are the labels given.

        Raises
        ------
        ValueError
            X does not fit the data seen in ``fit``, or lies outside of its range where
            ``out_of_range`` forbids it.
        """
        return self._outputs(X)

    @in_blocks(joined)
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels from ``classes_``; a table of 0 and 1 for multilabel y, its columns in the order
            of ``label_names_``. Between two
            classes, an output of exactly 0 counts for the first.

        Raises
        ------
        ValueError
            As :meth:`decision_function`.
        """
        outputs = self._outputs(X)
        if self.multilabel_:
            return (outputs > 0).astype(int)
        codes = (outputs > 0).astype(np.intp) if outputs.ndim == 1 else outputs.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, the share of the samples whose label is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples.

        Returns
        -------
        float
            Between 0 and 1. For multilabel y, a sample counts if all of its labels are predicted.

        Raises
        ------
        ValueError
            As :meth:`predict`; or y or sample_weight holds masked entries, dates or times.
        """
        y, weight = self._checked_for_score(X, y, sample_weight, "labels (int, bool or str)")
        return float(super().score(X, y, weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def checked_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return the weights as finite float64 (S,) of at least 0; None stays None."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        weight_of_all = check_number(sample_weight, "sample_weight", minimum=0)
        sample_weight = np.full(n_samples, weight_of_all)
    sample_weight = require_plain(sample_weight, "sample_weight")
    require_no_text(np.asarray(sample_weight), "sample_weight")
    try:
        sample_weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"sample_weight must hold numbers, one for each of the {n_samples} rows of X, or be "
            f"one number; got {shown(sample_weight)}"
        ) from None
    _require_present(sample_weight, "sample_weight")
    weight: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have shape ({n_samples},), one weight for each row of X; got "
            f"shape {weight.shape}."
        )
    if (weight < 0).any():
        at = int((weight < 0).argmax())
        raise ValueError(
            Message("sample_weight must not be negative; got {:g} in {}.", weight[at], row(at))
        )
    return weight


def _require_shape_of_targets(X: Any, y: Any) -> None:
    """Refuse a y that has not one entry, or one row, for each sample of X."""
    if y is None:
        return  # which scikit-learn refuses
    try:
        shape, of_X = np.shape(y), np.shape(X)
    except ValueError:  # ragged
        return
    if len(of_X) != 2 or not all(isinstance(n, Integral) for n in (*shape, *of_X)):
        return  # reported in scikit-learn's words, or not known, as of a collection of Dask
    if len(shape) not in (1, 2):
        raise ValueError(
            "y must have shape (n_samples,) or (n_samples, n_outputs), got "
            f"{f'shape {shape}' if shape else shown(np.asarray(y).tolist())}"
        )
    if of_X[0] not in (0, shape[0]):
        raise ValueError(f"X and y have inconsistent numbers of samples: {of_X[0]} and {shape[0]}")


def _require_present(values: Any, name: str) -> None:
    """Refuse NaN and infinity in numbers, by the place of the first one."""
    if values is None or issparse(values):
        return
    values = np.asarray(values)
    if values.dtype.kind != "f" or values.ndim not in (1, 2):
        return  # others are refused by what they are
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    what = "NaN" if np.isnan(values[bad][0]) else "infinity"
    raise ValueError(
        Message(
            "Input {} contains {}, {} are not finite. Remove these samples, or fill them in.",
            name,
            what,
            places_of(bad),
        )
    )
