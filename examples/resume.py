"""
Resume after an interrupt
=========================

With a `Checkpoint` the same call continues where the last one ended, whether that was an error,
Ctrl-C or the end of a night. The result is bitwise identical to that of an uninterrupted run.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from gegenbauer import Checkpoint, GegenbauerRegressor, load

# %%
# Forty batches of a stream. The first run is interrupted after twelve.


def batches(interrupt_at=None):
    """Yield batches, the same ones in each run."""
    for number in range(40):
        if number == interrupt_at:
            raise KeyboardInterrupt
        rng = np.random.default_rng(number)
        x = number / 10 + rng.uniform(0, 3, size=(1000, 1))  # inputs that drift
        yield x, np.sin(2 * x[:, 0]) + rng.normal(scale=0.3, size=1000)


temporary = tempfile.TemporaryDirectory()
path = Path(temporary.name) / "run.safetensors"
settings = {"n_terms": 25, "lam": 0.5, "domain": (-1, 1), "alpha": 1e-2, "out_of_range": "clip"}
try:
    GegenbauerRegressor(**settings).fit_stream(batches(12), checkpoint=Checkpoint(path))
except KeyboardInterrupt:
    print(f"interrupted; the checkpoint has {path.stat().st_size} bytes")

# %%
# A checkpoint is a model file as well. What it holds can predict already.

half = load(path)
print(half.n_samples_seen_, "samples are learned")

# %%
# The same call again, later or in another process, goes on behind them.

model = GegenbauerRegressor(**settings).fit_stream(batches(), checkpoint=Checkpoint(path))
whole = GegenbauerRegressor(**settings).fit_stream(batches())
identical = np.array_equal(model.term_coef_, whole.term_coef_)
print(model.n_samples_seen_, "samples; bitwise identical to a run without interrupt:", identical)

# %%
# The interrupted fit knows the inputs that had come by then; beyond, it is clipped.

x = np.linspace(0, 6.8, 400)[:, np.newaxis]
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(x, half.predict(x), label="at the interrupt, 12,000 samples")
ax.plot(x, model.predict(x), label="resumed, 40,000 samples")
ax.plot(x, np.sin(2 * x), "k--", lw=1, label="truth")
ax.set(title="A stream, interrupted and resumed", xlabel="x", ylabel="y")
ax.legend(loc="lower left")
plt.show()
temporary.cleanup()
