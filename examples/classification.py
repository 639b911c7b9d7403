"""
Classes with probabilities
==========================

`GegenbauerClassifierCV` with default settings: where the classes lie, how sure the model is of
them, and whether its probabilities can be trusted. All of it comes from the samples of the fit,
since leave-one-out predictions are exact and cost no refits.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, log_loss

from gegenbauer import GegenbauerClassifierCV
from gegenbauer.plotting import ReliabilityDisplay

# %%
# Tumours of two kinds, by two of thirty measurements, so that the model can be drawn.

table = load_breast_cancer(as_frame=True)
X = table.data[["mean texture", "mean concave points"]]
y = table.target_names[table.target]
model = GegenbauerClassifierCV().fit(X, y)

# %%
# Each sample below is judged by the model without it.

probabilities = model.loo_probabilities_
labels = model.classes_[probabilities.argmax(axis=1)]
print(f"leave-one-out accuracy {accuracy_score(y, labels):.3f}")
print(f"leave-one-out log-loss {log_loss(y, probabilities):.3f}")

# %%
# The colour is the probability, and the lines are those of 10, 50 and 90 per cent. Circles are
# samples that the model without them takes for the other class.

first, second = np.linspace(X.min(), X.max(), 200).T
grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
P = model.predict_proba(pd.DataFrame(grid, columns=X.columns))[:, 1].reshape(200, 200)

figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4.2), layout="constrained")
image = left.pcolormesh(first, second, P, cmap="RdBu_r", vmin=-0.3, vmax=1.3, rasterized=True)
left.contour(first, second, P, levels=[0.1, 0.5, 0.9], colors="k", linestyles=["--", "-", "--"])
for name, colour in zip(model.classes_, ("navy", "darkred"), strict=True):
    left.plot(*X[y == name].to_numpy().T, ".", color=colour, ms=4, label=name)
left.plot(*X[labels != y].to_numpy().T, "o", ms=9, mfc="none", color="k", label="wrong, left out")
left.set(title="Probability of a malignant tumour", xlabel=X.columns[0], ylabel=X.columns[1])
left.legend(fontsize="small")

ReliabilityDisplay.from_estimator(model, y, ax=right)
right.set_title("Probability and how often it came true")
plt.show()
