r"""
Coming from LS-SVM or ELM
=========================

A least-squares support vector machine and an extreme learning machine are one linear solve, as the
models here are. What differs is the features, and who chooses the parameters:

================  ==================  =====================  ==============================
\                 LS-SVM              ELM                    `GegenbauerClassifierCV`
================  ==================  =====================  ==============================
features          a Gaussian kernel   random neurons         all polynomials, weighted
to choose         width               number, range, seed    nothing: weights are learned
regularisation    ``C``               ``C``                  ``alpha``, which is ``1 / C``
chosen by         K-fold fits         K-fold fits            leave-one-out without refits
probabilities     no                  no                     ``predict_proba``
================  ==================  =====================  ==============================
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import KFold

from gegenbauer import GegenbauerClassifierCV

X, y = make_moons(1200, noise=0.3, random_state=0)
X, new, y, expected = X[:200], X[200:], 2 * y[:200] - 1, 2 * y[200:] - 1

# %%
# An LS-SVM in NumPy: one solve for the bias and the dual weights, and a grid of two parameters.


def gaussian(A, B, width):
    """Return the kernel matrix."""
    return np.exp(-((A[:, np.newaxis] - B) ** 2).sum(axis=2) / width**2)


def lssvm(X, y, C, width):
    """Return the decision function of the samples."""
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[0, 1:] = system[1:, 0] = 1
    system[1:, 1:] = gaussian(X, X, width) + np.eye(n) / C
    bias, *weights = np.linalg.solve(system, np.append(0, y))
    return lambda Z: bias + gaussian(Z, X, width) @ weights


def mean_accuracy(C, width):
    """Return the accuracy of samples held out in five folds."""
    found = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        outputs = lssvm(X[train], y[train], C, width)(X[test])
        found.append(np.mean(np.sign(outputs) == y[test]))
    return np.mean(found)


grid = [(C, width) for C in (0.1, 1.0, 10.0, 100.0) for width in (0.25, 0.5, 1.0, 2.0)]
best = max(grid, key=lambda pair: mean_accuracy(*pair))
svm = lssvm(X, y, *best)
print("LS-SVM: C and width", best, "after", 5 * len(grid), "fits")

# %%
# An ELM in NumPy: random neurons, and a ridge solve. Another seed is another model.


def elm(X, y, seed, n_neurons=100, C=10.0):
    """Return the decision function of a random layer."""
    rng = np.random.default_rng(seed)
    directions, shifts = rng.uniform(-3, 3, (2, n_neurons)), rng.uniform(-3, 3, n_neurons)

    def hidden(Z):
        return np.tanh(Z @ directions + shifts)

    H = hidden(X)
    weights = np.linalg.solve(H.T @ H + np.eye(n_neurons) / C, H.T @ y)
    return lambda Z: hidden(Z) @ weights


machines = [elm(X, y, seed) for seed in range(10)]
accuracies = [np.mean(np.sign(machine(new)) == expected) for machine in machines]
print(f"ELM: accuracy {min(accuracies):.3f} to {max(accuracies):.3f} by the seed")

# %%
# Here there is nothing to choose, and every run gives the same model.

model = GegenbauerClassifierCV(out_of_range="clip").fit(X, y)
print(f"LS-SVM: accuracy {np.mean(np.sign(svm(new)) == expected):.3f}")
print(f"gegenbauer: accuracy {model.score(new, expected):.3f}, alpha {model.alpha_:.2g}")

# %%
# The boundaries, of the ELM for ten seeds. Weights that are learned allow a rough boundary where
# that predicts better.

horizontal, vertical = np.linspace(X.min(axis=0), X.max(axis=0), 120).T
points = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
functions = {
    "LS-SVM, after a grid search": [svm],
    "ELM, ten seeds": machines,
    "GegenbauerClassifierCV": [lambda Z: model.predict_proba(Z)[:, 1] - 0.5],
}
figure, axes = plt.subplots(ncols=3, figsize=(12, 4), layout="constrained", sharey=True)
for ax, (title, found) in zip(axes, functions.items(), strict=True):
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=14)
    for function in found:
        values = function(points).reshape(120, 120)
        ax.contour(horizontal, vertical, values, levels=[0], colors="k", linewidths=1)
    ax.set(title=title, xlabel="first input")
axes[0].set_ylabel("second input")
plt.show()
