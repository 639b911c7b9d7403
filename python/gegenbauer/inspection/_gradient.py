"""Derivatives of a fitted model by its inputs, at samples as `predict` takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.inspection.models import expansion_of

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["gradient"]


def gradient(estimator: Any, X: Any) -> Doubles:
    r"""Return the derivatives of a fitted model by its inputs, at some samples.

    .. math:: \frac{\partial f}{\partial x_t}(x), \qquad f(x) = \sum_k w_k g_k(x)

    or the sum over all terms, in closed form. f is what a regressor predicts; of a classifier the
    outputs of ``expansion_``, of which `GegenbauerClassifierCV` makes logits by its
    ``probability_maps_``, and `GegenbauerClassifier` the values of ``decision_function``.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor or classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples, arrays or tables with categories and missing values, as for ``predict``. The
        ``out_of_range`` of the estimator is kept to.

    Returns
    -------
    ndarray of shape (n_samples, n_features), or (n_samples, n_features, n_outputs)
        In units of the output by units of the input; without the last axis if there is one output.
        NaN where there is no derivative: for categories, and in numbers that are missing, so that
        `numpy.nanmean` takes what there is. 0 for inputs that the model ignores, and where a value
        is clipped to the range of ``fit``, since nothing depends on it there.

    Raises
    ------
    TypeError
        ``estimator`` is no regressor or classifier of this library.
    sklearn.exceptions.NotFittedError
        It is not fitted.
    ValueError
        X does not fit the data seen in ``fit``, or the model has a kink at samples of the fit, as
        spectra of s = 1 have with all terms.
    BeyondRangeError
        Derivatives are beyond the range of float64.

    See Also
    --------
    sobol_indices : Shares of the inputs in the variance of a model.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.inspection import gradient
    >>> X = pd.DataFrame({"length": np.tile([0.0, 0.5, 1.0, 2.0], 2), "kind": list("aaaabbbb")})
    >>> y = X.length**2 * (X.kind == "b")
    >>> model = GegenbauerRegressor(degree=3, alpha=1e-9).fit(X, y)
    >>> gradient(model, X.loc[[2, 6]]).round(4) + 0.0
    array([[ 0., nan],
           [ 2., nan]])
    """
    expansion_of(estimator)
    codes, found = estimator._derivatives(X)
    found = found.reshape(*codes.shape, -1)
    found[np.isnan(codes)] = np.nan
    found[:, estimator._category_columns] = np.nan
    return np.asarray(found[:, :, 0] if found.shape[2] == 1 else found)
