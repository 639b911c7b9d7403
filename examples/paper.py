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

from gegenbauer import GegenbauerClassifier, RidgePath
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
# Mean accuracies of ten splits, with the sizes, terms and penalties that the paper prints.

PAPER = {
    "Iris": (load_iris, 105, 1000, 2**-12, 96.58, 2.34),
    "Wine": (load_wine, 126, 1000, 2**-6, 98.54, 1.63),
}
gammas = 2.0 ** np.arange(-24, 7, 3)
found, curves = {}, {}
for name, (load, n_training, n_terms, gamma, *_) in PAPER.items():
    X, y = load(return_X_y=True)
    scores, curve = [], []
    for trial in range(10):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=n_training, stratify=y, random_state=trial
        )
        model = GegenbauerClassifier(n_terms=n_terms, alpha=gamma, out_of_range="clip")
        scores.append(100 * model.fit(X_train, y_train).score(X_test, y_test))
        # one factorisation for every penalty
        targets = class_targets(y_train, model.classes_)
        path = RidgePath(model.basis_, X_train, targets, scaling=model.scaling_)
        inside = np.clip(X_test, X_train.min(axis=0), X_train.max(axis=0))
        labels = model.classes_[path.predict(inside, gammas).argmax(axis=2)]
        curve.append(100 * np.mean(labels == y_test, axis=1))
    found[name], curves[name] = (np.mean(scores), np.std(scores)), np.mean(curve, axis=0)
    print(f"{name}: {found[name][0]:.1f}, published {PAPER[name][4]:.1f}")

# %%
# Left, accuracies with their deviations over the splits; right, for every penalty.

figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4), layout="constrained")
for place, (name, (mean, deviation)) in enumerate(found.items()):
    published = PAPER[name][4:]
    left.errorbar(place - 0.1, published[0], published[1], fmt="s", color="0.4", capsize=5)
    left.errorbar(place + 0.1, mean, deviation, fmt="o", color="C0", capsize=5)
left.set_xticks(range(2), list(found))
left.set(title="Squares: published, circles: here", ylabel="test accuracy, per cent", xlim=(-1, 2))
for name, curve in curves.items():
    right.semilogx(gammas, curve, label=name)
    right.axvline(PAPER[name][3], ls=":", color=right.lines[-1].get_color())
right.set(title="Every penalty, dotted the paper's", xlabel="gamma", ylabel="test accuracy")
right.legend()
plt.show()
