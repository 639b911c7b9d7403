"""Shapley values of a model: what each input adds to a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._html import html_table, text_table
from gegenbauer.inspection._explained import Explained

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["ShapleyValues", "shapley_values"]

# Samples that the text of a result shows
_MOST_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues:
    """Shapley values of some samples.

    The attributes are those of `shap.Explanation`, which `to_shap` makes of it.

    Attributes
    ----------
    values : ndarray, shape (n_samples, n_features) or (n_samples, n_features, n_outputs)
        What each input adds, in units of the output; without the last axis if there is one output.
    base_values : ndarray, shape (n_samples,) or (n_samples, n_outputs)
        The mean of the function, the same for all samples.
    data : ndarray, shape (n_samples, n_features)
        The samples: numbers, and of categories the numbers of their levels.
    feature_names : list of str
        Names of the inputs, x0, x1, ... where they have none.
    display_data : ndarray of object, shape (n_samples, n_features), or None
        The samples with the levels of categories themselves; None if there are no categories.

    See Also
    --------
    shapley_values : Shapley values of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.inspection import ShapleyValues
    >>> ShapleyValues(np.array([[1.0, -2.0]]), np.array([5.0]), np.ones((1, 2)), ["a", "b"])
    ShapleyValues of 1 sample and 2 inputs
    sample  mean  a   b  output
    0          5  1  -2       4
    """

    values: Doubles
    base_values: Doubles
    data: npt.NDArray[Any]
    feature_names: list[str]
    display_data: npt.NDArray[Any] | None = None

    def to_shap(self) -> Any:
        """Return a `shap.Explanation`, which all of `shap.plots` draw.

        Raises
        ------
        ImportError
            shap is not installed.
        """
        try:
            from shap import Explanation  # type: ignore[import-not-found]
        except ImportError:
            raise ImportError("to_shap needs shap: run pip install shap") from None
        return Explanation(
            self.values,
            base_values=self.base_values,
            data=self.data,
            display_data=self.display_data,
            feature_names=self.feature_names,
        )

    @property
    def _title(self) -> str:
        n, m, *outputs = self.values.shape
        parts = [f"{n} sample{'s' * (n != 1)}", f"{m} input{'s' * (m != 1)}"]
        parts += [f"{k} outputs" for k in outputs]
        return f"ShapleyValues of {', '.join(parts[:-1])} and {parts[-1]}"

    def _table(self) -> tuple[list[str], list[list[object]], str]:
        """Return names of columns, rows, and what is left out; of the first output."""
        values = self.values.reshape(*self.values.shape[:2], -1)[:, :, 0]
        base = self.base_values.reshape(len(values), -1)[:, 0]
        rows: list[list[object]] = [
            [str(k), float(base[k]), *values[k].tolist(), float(base[k] + values[k].sum())]
            for k in range(min(len(values), _MOST_SHOWN))
        ]
        outputs = self.values.shape[2] if self.values.ndim == 3 else 1
        more = {"sample": len(values) - len(rows), "output": outputs - 1}
        left = ", ".join(f"{n} more {what}{'s' * (n > 1)}" for what, n in more.items() if n)
        note = f"and {left}" if left else ""
        return ["sample", "mean", *self.feature_names, "output"], rows, note

    def __repr__(self) -> str:
        if self.values.shape[1] > 10:
            return self._title
        return f"{self._title}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        """Return the same as a table of HTML, for notebooks."""
        return html_table(self._title, *self._table())


def shapley_values(
    estimator: Any,
    X: Any,
    *,
    background: Any = None,
    distribution: Any = None,
) -> ShapleyValues:
    r"""Return the exact Shapley values of a model at some samples.

    The value of input t is its mean contribution to the prediction over all orders in which the
    inputs may become known,

    .. math::
        \varphi_t(x) = \sum_{u \ni t} \frac{f_u(x)}{|u|}, \qquad
        \sum_t \varphi_t(x) = f(x) - E f,

    where :math:`f_u` are the parts of the functional ANOVA decomposition for independent inputs: of
    the game :math:`v(u) = E[f \mid x_u]` [1]_. All means are exact: each part of a sum of terms is
    a sum of the same terms, and in a sum of kernels each centre has a product over the inputs, of
    which a Gauss rule of half as many nodes as inputs integrates all subsets at once. Kernels see
    distributions of more than some hundred values by Gauss rules of as many nodes, which is exact
    for polynomials; it moved values by some 1e-8 of the output with s = 2, and 1e-5 with s = 1.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor or classifier of this library. Of a regressor its predictions are
        explained, of a classifier the outputs of ``expansion_``: for `GegenbauerClassifier` the
        values of ``decision_function``, for `GegenbauerClassifierCV` those before calibration.
    X : {array-like, table, sparse matrix} of shape (n_samples, n_features)
        Samples, as for ``predict``; ``out_of_range`` is kept to.
    background : {array-like, table} of shape (n_background, n_features), optional
        Samples whose marginals are the distributions of the inputs.
    distribution : str, distribution, mapping or sequence, optional
        Distributions of the inputs in place of a background, as for `sobol_indices`: by default
        "empirical", the marginals of the samples of the fit.

    Returns
    -------
    ShapleyValues

    Raises
    ------
    TypeError
        ``estimator`` is no regressor or classifier of this library, or ``distribution`` none.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        X or ``background`` does not fit the data seen in ``fit``; the model does not know the
        marginals of its samples (as one of an older file does not).

    See Also
    --------
    sobol_indices : Shares of the inputs in the variance of a model.
    anova_components : Main effects and interactions.
    partial_dependence : Means given some inputs.
    ContributionDisplay : One prediction, from the mean to the output.
    html_report : All explanations of a model on one page.

    References
    ----------
    .. [1] A. B. Owen, "Sobol' indices and Shapley value", SIAM/ASA J. Uncertainty Quantification 2,
       2014, https://doi.org/10.1137/130936233

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.inspection import shapley_values
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> model = GegenbauerRegressor(degree=1, n_terms=None, alpha=1e-12)
    >>> model = model.fit(X, 2 * X[:, 0] + X[:, 1])
    >>> shapley_values(model, X[3:]).values.round(6)
    array([[1. , 0.5]])
    """
    explained = Explained(estimator, distribution, background)
    codes, values, mean = explained.at(X, lambda parts: parts.shapley())
    n, m, n_outputs = len(codes), explained.n_features, explained.n_outputs
    base = np.tile(mean, (n, 1))
    values = explained.shaped(values.reshape(n, m, n_outputs))
    return ShapleyValues(
        values, explained.shaped(base), codes, explained.names, explained.levels_in(codes)
    )
