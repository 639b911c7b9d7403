"""
Classes with probabilities
==========================

`GegenbauerClassifierCV` with default settings: where the classes lie, how sure the model is of
them, and whether its probabilities can be trusted. All of it comes from the samples of the fit,
since leave-one-out predictions are exact and cost no refits.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, log_loss

from gegenbauer import GegenbauerClassifierCV
from gegenbauer.plotting import ReliabilityDisplay

# %%
# Three growers of wine, by two of the thirteen measurements, so that the model can be drawn.

table = load_wine(as_frame=True)
X = table.data[["flavanoids", "color_intensity"]]
y = table.target_names[table.target]
model = GegenbauerClassifierCV().fit(X, y)

# %%
# Each sample below is judged by the model without it.

probabilities = model.loo_probabilities_
labels = model.classes_[probabilities.argmax(axis=1)]
print(f"leave-one-out accuracy {accuracy_score(y, labels):.3f}")
print(f"leave-one-out log-loss {log_loss(y, probabilities):.3f}")

# %%
# The colour is the most probable class, and the stronger the surer. Circles are samples that the
# model without them takes for another class.

low, high = X.min().to_numpy(), X.max().to_numpy()
first, second = (np.linspace(low[i], high[i], 200) for i in range(2))
grid = np.stack(np.meshgrid(first, second), axis=-1)
points = type(X)(grid.reshape(-1, 2), columns=X.columns)
P = model.predict_proba(points).reshape(200, 200, 3)

colours = np.array([[0.12, 0.47, 0.71], [1.0, 0.6, 0.1], [0.17, 0.63, 0.17]])
strength = (P.max(axis=2, keepdims=True) - 1 / 3) * 1.5
image = 1 - strength * (1 - colours[P.argmax(axis=2)])

figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4.2), layout="constrained")
left.imshow(image, origin="lower", extent=(low[0], high[0], low[1], high[1]), aspect="auto")
left.scatter(*X.to_numpy().T, c=table.target, cmap=ListedColormap(colours), ec="white", s=28)
wrong = X[labels != y].to_numpy()
left.scatter(*wrong.T, s=110, fc="none", ec="black", label="wrong when left out")
left.set(title="Probabilities of three classes", xlabel="flavanoids", ylabel="colour intensity")
left.legend(loc="upper right")

ReliabilityDisplay.from_estimator(model, y, ax=right)
right.set_title("Probability and how often it came true")
plt.show()
