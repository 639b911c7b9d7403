"""
Regression with intervals
=========================

`GegenbauerRegressorCV` with default settings finds the smooth function behind noisy samples, the
size of the noise, and intervals for new targets. They widen where samples are rare.
"""

import matplotlib.pyplot as plt
import numpy as np

from gegenbauer import GegenbauerRegressorCV

# %%
# A wave with normal noise of 0.1, and no samples between 0.5 and 0.7.


def truth(x):
    """Return the function without noise."""
    return np.sin(12 * x) * np.exp(-x) + x


rng = np.random.default_rng(1)
x = rng.uniform(size=80)
x = x[(x < 0.5) | (x > 0.7)]
y = truth(x) + rng.normal(scale=0.1, size=x.size)

model = GegenbauerRegressorCV().fit(x[:, np.newaxis], y)
print(f"noise: estimated {model.noise_variance_[0] ** 0.5:.3f}, true 0.100")

# %%
# Intervals of 90 per cent contain about 90 per cent of new targets.

new = rng.uniform(x.min(), x.max(), size=4000)
new = new[(new < 0.5) | (new > 0.7)]
lower, upper = model.predict_interval(new[:, np.newaxis], coverage=0.9)
target = truth(new) + rng.normal(scale=0.1, size=new.size)
inside = (lower < target) & (target < upper)
print(f"new targets within the interval: {inside.mean():.3f}")

# %%
# The standard deviation of ``predict`` is that of new targets. Without the noise that is in them it
# is that of the function itself: see how it grows where there are no samples.

line = np.linspace(x.min(), x.max(), 400)
mean, std = model.predict(line[:, np.newaxis], return_std=True)
std = np.sqrt(std**2 - model.noise_variance_[0])
lower, upper = model.predict_interval(line[:, np.newaxis], coverage=0.9)

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.fill_between(line, lower, upper, alpha=0.2, label="90 per cent of new targets")
ax.fill_between(
    line,
    mean - 2 * std,
    mean + 2 * std,
    alpha=0.4,
    label="twice the standard deviation of the function",
)
ax.plot(line, mean, label="prediction")
ax.plot(line, truth(line), "k--", lw=1, label="truth")
ax.plot(x, y, ".", color="0.4", label="samples")
ax.set(title="A regression, what it knows of itself, and of new targets", xlabel="x", ylabel="y")
ax.legend(loc="lower right", fontsize="small")
plt.show()
