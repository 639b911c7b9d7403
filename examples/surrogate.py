"""
A surrogate of a simulator, and which inputs matter
===================================================

300 runs of a simulator are enough for a polynomial that replaces it, and the shares that each input
has in the variance of the output, its Sobol' indices, follow from the coefficients: no further runs
and no sampling. The simulator is the borehole function, the flow of water through a borehole.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import qmc

from gegenbauer import GegenbauerRegressorCV, sobol_indices

# %%
# Eight inputs and their ranges.

BOUNDS = {
    "radius of borehole": (0.05, 0.15),
    "radius of influence": (100, 50_000),
    "transmissivity above": (63_070, 115_600),
    "head above": (990, 1110),
    "transmissivity below": (63.1, 116),
    "head below": (700, 820),
    "length": (1120, 1680),
    "conductivity": (9855, 12_045),
}


def borehole(X):
    """Return the flow of water in cubic metres a year."""
    rw, r, Tu, Hu, Tl, Hl, length, K = X.T
    log_ratio = np.log(r / rw)
    leak = 2 * length * Tu / (log_ratio * rw**2 * K)
    return 2 * np.pi * Tu * (Hu - Hl) / (log_ratio * (1 + leak + Tu / Tl))


bounds = np.array(list(BOUNDS.values()), dtype=float)
X = qmc.scale(qmc.LatinHypercube(8, rng=0).random(1300), *bounds.T)
runs, new = X[:300], X[300:]

# %%
# The ranges are known, so they are given as ``bounds``. The error is predicted by leave-one-out.

y = borehole(runs)
model = GegenbauerRegressorCV(bounds=bounds).fit(runs, y)
expected = np.std(model.loo_predictions_ - y) / np.std(y)
found = np.std(model.predict(new) - borehole(new)) / np.std(borehole(new))
print(f"relative error: {expected:.1e} expected from the 300 runs, {found:.1e} on new ones")

# %%
# Sobol' indices: alone, and together with other inputs.

indices = sobol_indices(model)
for name, alone, total in zip(BOUNDS, indices.first_order[0], indices.total[0], strict=True):
    print(f"{name:22s} {alone:6.3f} {total:6.3f}")

# %%
# Left, new runs beside their predictions; right, the shares in the variance.

figure, (left, right) = plt.subplots(ncols=2, figsize=(11, 4.2), layout="constrained")
left.plot(borehole(new), model.predict(new), ".", ms=4)
left.axline((0, 0), slope=1, color="k", lw=0.8)
left.set(title="1000 new runs", xlabel="simulator", ylabel="surrogate")

place = np.arange(len(BOUNDS))
right.barh(place - 0.2, indices.first_order[0], height=0.4, label="alone")
right.barh(place + 0.2, indices.total[0], height=0.4, label="with others")
right.set_yticks(place, list(BOUNDS))
right.invert_yaxis()
right.set(title="Share of the variance", xlabel="Sobol' index")
right.legend(loc="center right")
plt.show()
