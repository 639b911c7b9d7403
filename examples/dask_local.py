"""
Dask on this machine
====================

`gegenbauer.dask` has the same estimators for Dask's arrays and dataframes: each partition is
learned where it is, and sums of some kilobytes are sent instead of samples. What runs here in the
threads of one machine runs as it stands with the client of a cluster.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

import gegenbauer
from gegenbauer.dask import GegenbauerClassifier

# %%
# 200,000 samples in eight partitions, none of which exists yet.

X = da.random.default_rng(0).uniform(-1, 1, size=(200_000, 2), chunks=(25_000, 2))
radius = da.hypot(X[:, 0], X[:, 1])
angle = da.arctan2(X[:, 1], X[:, 0])
label = da.where(radius + 0.2 * da.sin(5 * angle) < 0.65, "inside", "outside")

# %%
# ``to_local`` returns the plain estimator, which needs no Dask.

settings = {"n_terms": 200, "lam": 0.5, "domain": (-1, 1), "out_of_range": "clip"}
cluster = LocalCluster(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None)
with cluster, Client(cluster):
    model = GegenbauerClassifier(**settings).fit(X, label)
    model.choose_alpha()  # of the sums: no sample is looked at again
    accuracy = model.score(X, label)
local = model.to_local()
print(f"{local.n_samples_seen_} samples, accuracy {accuracy:.3f}")

# %%
# The plain estimator fitted to the same samples in memory has the same coefficients, to rounding.

memory = gegenbauer.GegenbauerClassifier(**settings, alpha=local.alpha)
memory.fit(X.compute(), label.compute())
difference = np.abs(memory.term_coef_ - local.term_coef_).max() / np.abs(local.term_coef_).max()
print("largest relative difference below 1e-9:", difference < 1e-9)

# %%
# The decision function, and the true boundary in white.

line = np.linspace(-1, 1, 200)
grid = np.stack(np.meshgrid(line, line), axis=-1)
values = local.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
edge = np.hypot(*grid.T) + 0.2 * np.sin(5 * np.arctan2(grid[..., 1], grid[..., 0]).T) - 0.65

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
image = ax.imshow(values, origin="lower", extent=(-1, 1, -1, 1), cmap="coolwarm", vmin=-2, vmax=2)
ax.contour(line, line, values, levels=[0], colors="k")
ax.contour(line, line, edge.T, levels=[0], colors="w", linestyles="--")
ax.set(title="Learned from eight partitions", xlabel="first input", ylabel="second input")
figure.colorbar(image, label="decision function")
plt.show()
