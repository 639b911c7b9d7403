"""
A folder of files, one pass
===========================

A fit depends on its samples through sums alone, so that files of any size need no more memory than
one batch. `TableBatches` reads CSV and Parquet; ``fit_stream`` learns what it reads.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from gegenbauer import GegenbauerRegressor, GegenbauerRegressorCV, TableBatches

# %%
# Ten files of 4000 rows. Yours are there already.


def demand(hour, warmth):
    """Return the load of a grid without noise."""
    return 50 + 12 * np.sin(2 * np.pi * (hour - 9) / 24) + 0.04 * (warmth - 16) ** 2


rng = np.random.default_rng(0)
temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
for month in range(10):
    table = pd.DataFrame(
        {"hour": rng.uniform(0, 24, 4000), "warmth": rng.uniform(-5, 15, 4000) + 2 * month}
    )
    table["load"] = demand(table.hour, table.warmth) + rng.normal(scale=3, size=4000)
    table.to_parquet(folder / f"month{month}.parquet")

# %%
# One pass over all files. The penalty is chosen afterwards, from the sums.

model = GegenbauerRegressor(n_terms=60, lam=0.5, domain=(-1, 1), out_of_range="clip")
model.fit_stream(TableBatches(folder, target="load")).choose_alpha()
print(f"{model.n_samples_seen_} samples in {model.statistics_.size} numbers")

# %%
# `GegenbauerRegressorCV` also selects the spectrum, in the same one pass.

chosen = GegenbauerRegressorCV(n_terms=60, out_of_range="clip")
chosen.fit_stream(TableBatches(folder, target="load"))
print(f"noise {chosen.noise_variance_[0] ** 0.5:.2f}, true 3.00")

# %%
# Fitted models add, whatever the ranges of their inputs are: learn each file where it is, and sum.
# The sum of the first files is tried on the warmth of the whole year.

year = pd.DataFrame({"hour": rng.uniform(0, 24, 4000), "warmth": rng.uniform(-5, 33, 4000)})
truth = demand(year.hour, year.warmth)
settings = {"n_terms": 60, "lam": 0.5, "domain": (-1, 1), "alpha": 1e-3, "out_of_range": "clip"}
parts = [
    GegenbauerRegressor(**settings).fit_stream(TableBatches(file, target="load"))
    for file in sorted(folder.glob("*.parquet"))
]
errors = []
for k in range(1, 11):
    predicted = sum(parts[:k]).predict(year)
    errors.append(np.sqrt(np.mean((predicted - truth) ** 2)))

figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4), layout="constrained")
left.semilogy(range(1, 11), errors, "o-")
left.set(
    title="Error on a whole year", xlabel="months that were added", ylabel="root mean squared error"
)
hours = np.linspace(0, 24, 100)
for warmth in (0, 10, 20, 30):
    points = pd.DataFrame({"hour": hours, "warmth": float(warmth)})
    right.plot(hours, model.predict(points), label=f"{warmth} degrees")
    right.plot(hours, demand(hours, warmth), "k:", lw=1)
right.set(title="The fit of all files, dotted the truth", xlabel="hour", ylabel="load")
right.legend()
plt.show()
temporary.cleanup()
