"""First and second derivatives of a fitted model by its inputs, at samples as for `predict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.inspection.models import expansion_of

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles

__all__ = ["gradient", "hessian"]


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
    hessian : The second derivatives.
    derivative_sensitivity : Mean squares of the derivatives.
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


def hessian(estimator: Any, X: Any) -> Doubles:
    r"""Return the second derivatives of a fitted model by its inputs, at some samples.

    .. math:: \frac{\partial^2 f}{\partial x_s \partial x_t}(x)

    in closed form, of the function that `gradient` differentiates.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor or classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples, as for `gradient`. A result takes n_features times the memory of that.

    Returns
    -------
    ndarray of shape (n_samples, n_features, n_features), or with n_outputs as the last
        Symmetric, in units of the output by those of two inputs; NaN and 0 where `gradient` has
        them for either input.

    Raises
    ------
    TypeError, ValueError, sklearn.exceptions.NotFittedError, BeyondRangeError
        As `gradient` raises them.
    MemoryError
        The result does not fit into memory.

    See Also
    --------
    gradient : The first derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import GegenbauerRegressor
    >>> from gegenbauer.inspection import hessian
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> model = GegenbauerRegressor(degree=2, alpha=1e-12)
    >>> model = model.fit(X, X[:, 0] ** 2 + 3 * X[:, 0] * X[:, 1])
    >>> hessian(model, X[:1]).round(4) + 0.0
    array([[[2., 3.],
            [3., 0.]]])
    """
    expansion_of(estimator)
    codes, found = estimator._derivatives(X, order=2)
    n, m = codes.shape
    found = found.reshape(n, m, m, -1)
    unknown = np.isnan(codes)
    unknown[:, estimator._category_columns] = True
    found[unknown] = np.nan
    found.swapaxes(1, 2)[unknown] = np.nan
    return np.asarray(found[..., 0] if found.shape[3] == 1 else found)
