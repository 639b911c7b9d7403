"""
Coming from chaospy or OpenTURNS
================================

A polynomial chaos expansion with uniform inputs is a sum of orthonormal Legendre polynomials, which
are Gegenbauer polynomials with ``lam=0.5``. So it can be had exactly as it is there, or with terms
and a penalty that the runs choose. The words:

===========================================  ====================================================
chaospy, OpenTURNS                           here
===========================================  ====================================================
joint distribution of uniform inputs         ``bounds`` of an estimator, `InputScaling`
``generate_expansion(order, joint)``         ``TensorBasis(m, degree=order, lam=0.5)``
total degree, hyperbolic truncation          ``index_set``, or the terms of largest weight
``fit_regression``, least squares            `solve_ridge` with ``alpha=0``
sparse expansions (LARS, LASSO)              `GegenbauerRegressorCV`: weights that are learned
``Sens_m``, ``Sens_t``                       `sobol_indices`: ``first_order``, ``total``
corrected leave-one-out error, cross checks  ``loo_predictions_``, exact
===========================================  ====================================================
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.stats import qmc

from gegenbauer import (
    GegenbauerRegressorCV,
    InputScaling,
    TensorBasis,
    sobol_indices,
    solve_ridge,
)
from gegenbauer.inspection import term_sobol_indices

# %%
# Ishigami's function, whose indices are known.

bounds = np.full((3, 2), [-np.pi, np.pi])


def ishigami(X):
    """Return the outputs of the usual benchmark."""
    return np.sin(X[:, 0]) * (1 + 0.1 * X[:, 2] ** 4) + 7 * np.sin(X[:, 1]) ** 2


both = 0.1 * np.pi**4 / 5
parts = np.array([0.5 * (1 + both) ** 2, 7**2 / 8, 8 * 0.1**2 * np.pi**8 / 225])
exact = (parts + np.array([parts[2], 0, 0])) / parts.sum()
print("exact total indices    ", exact.round(4))

# %%
# An expansion of total degree 8, by least squares on 600 runs.

X = qmc.scale(qmc.Sobol(3, rng=0).random(1024)[:600], *bounds.T)
y = ishigami(X)
basis = TensorBasis(3, degree=8, lam=0.5, spectrum="orthonormal")
scaling = InputScaling(*bounds.T, domain=(-1, 1))
expansion = solve_ridge(basis, X, y, alpha=0.0, scaling=scaling)
indices = term_sobol_indices(basis, expansion.weights, domain=(-1, 1))
print(f"{basis.n_terms} terms, total indices", indices.total[0].round(4))

# %%
# The same in plain NumPy: coefficients agree but for rounding.

norms = np.sqrt(2 * np.arange(9) + 1)
one = [legvander(X[:, t] / np.pi, 8) * norms for t in range(3)]
places = [index for index in product(range(9), repeat=3) if sum(index) <= 8]
G = np.column_stack([one[0][:, i] * one[1][:, j] * one[2][:, k] for i, j, k in places])
by_place = dict(zip(places, np.linalg.lstsq(G, y)[0], strict=True))
plain = np.array([by_place[tuple(index)] for index in basis.indices.tolist()])
print("largest difference below 1e-11:", np.abs(plain - expansion.weights.ravel()).max() < 1e-11)

# %%
# With fewer runs a full expansion has too many terms. Weights that are learned give each input, and
# each degree, what it needs.

runs = [100, 150, 200, 300, 400]
new = qmc.scale(qmc.Sobol(3, rng=1).random(2048), *bounds.T)
errors = {"least squares, degree 6": [], "least squares, degree 8": [], "learned weights": []}
for n in runs:
    found = []
    for degree in (6, 8):
        basis = TensorBasis(3, degree=degree, lam=0.5, spectrum="orthonormal")
        solution = solve_ridge(basis, X[:n], y[:n], alpha=0.0, scaling=scaling)
        found.append(basis.evaluate(new, scaling=scaling) @ solution.weights.ravel())
    model = GegenbauerRegressorCV(bounds=bounds).fit(X[:n], y[:n])
    found.append(model.predict(new))
    for values, prediction in zip(errors.values(), found, strict=True):
        values.append(np.std(prediction - ishigami(new)) / np.std(ishigami(new)))
print("learned, total indices ", sobol_indices(model).total[0].round(4))

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, values in errors.items():
    ax.loglog(runs, values, "o-", label=name)
ax.set_xticks(runs, [str(n) for n in runs])
ax.minorticks_off()
ax.set(title="Ishigami's function", xlabel="runs", ylabel="error over standard deviation")
ax.legend()
plt.show()
