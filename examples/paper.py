r"""
The paper on one page
=====================

J. He, T. Chen and Z. Zhang's *Gegenbauer neural network with regularized weights direct
determination* (R-WDD): its equations in five lines of NumPy, the same by the library, and the
accuracies of two of its data sets beside the published ones. The
:doc:`replication </replication>` has all ten, with every table and figure.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split

from gegenbauer import GegenbauerClassifier, TensorBasis
from gegenbauer.plotting import BasisDisplay
from gegenbauer.reference import (
    activation_matrix,
    class_targets,
    graded_lexicographic,
    minmax_scale,
)

# %%
# Inputs are scaled to [0, 1], classes are +1 and -1, and the hidden layer is the matrix G of
# products of Gegenbauer polynomials, the first L in graded lexicographic order. Its output weights
# are :math:`W = G^T (\gamma I + G G^T)^{-1} \Phi`.

X, y = load_iris(return_X_y=True)
G = activation_matrix(minmax_scale(X, training=X), graded_lexicographic(4, 1000), lam=0.05)
Phi = class_targets(y, np.unique(y))
W = G.T @ np.linalg.solve(2**-12 * np.eye(len(G)) + G @ G.T, Phi)
print("G is", G.shape, "and W is", W.shape)

# %%
# The library's defaults are the paper's parameters. It finds the same outputs without storing G.

model = GegenbauerClassifier().fit(X, y)
print("largest difference below 1e-9:", np.abs(model.decision_function(X) - G @ W).max() < 1e-9)

# %%
# Mean accuracies of 20 splits, with the sizes, terms and penalties that the paper prints.

PAPER = {
    "Iris": (load_iris, 105, 2**-12, 96.58, 2.34),
    "Wine": (load_wine, 126, 2**-6, 98.54, 1.63),
}
found = {}
for name, (load, n_training, gamma, published, _) in PAPER.items():
    X, y = load(return_X_y=True)
    scores = []
    for trial in range(20):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=n_training, stratify=y, random_state=trial
        )
        model = GegenbauerClassifier(n_terms=1000, alpha=gamma, out_of_range="clip")
        scores.append(100 * model.fit(X_train, y_train).score(X_test, y_test))
    found[name] = np.mean(scores), np.std(scores)
    print(f"{name}: {found[name][0]:.1f}, published {published:.1f}")

# %%
# Left, the polynomials of one input; right, accuracies with their deviations over the splits.

figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4), layout="constrained")
BasisDisplay.from_basis(TensorBasis(1, degree=6), ax=left)
left.set(title="Polynomials of one input, lam = 0.05", ylim=(-0.06, 0.11))
for place, (name, (mean, deviation)) in enumerate(found.items()):
    published = PAPER[name][3:]
    right.errorbar(place - 0.1, *published, fmt="s", color="0.4", capsize=5)
    right.errorbar(place + 0.1, mean, deviation, fmt="o", color="C0", capsize=5)
right.set_xticks(range(2), list(found))
right.set(title="Squares: published, circles: here", ylabel="test accuracy, per cent")
right.set_xlim(-0.5, 1.5)
plt.show()
