"""
A response surface with its equation
====================================

A finite polynomial can be written down, evaluated elsewhere, and searched for its optimum with
exact gradients. Here it is fitted to 40 noisy measurements of the yield of a reaction.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from gegenbauer import GegenbauerRegressorCV, polynomial_text, to_sympy

# %%
# Temperature in degrees, time in minutes, yield in per cent.


def reaction(X):
    """Return the yield without noise."""
    u, v = (X[:, 0] - 72) / 20, (X[:, 1] - 38) / 20
    return 85 - 12 * u**2 - 9 * v**2 - 7 * u * v + 2 * u**3


rng = np.random.default_rng(3)
bounds = np.array([[50.0, 90.0], [10.0, 60.0]])
X = rng.uniform(*bounds.T, size=(40, 2))
y = reaction(X) + rng.normal(scale=0.8, size=40)

model = GegenbauerRegressorCV(n_terms=10, bounds=bounds).fit(X, y)

# %%
# The equation in orthonormal polynomials, with the ranges that they need, and in powers.

print(polynomial_text(model, names=["temperature", "time"], digits=3))
powers = to_sympy(model, names=["T", "t"]).expand().evalf(6)
print("yield =", powers)

# %%
# The best settings: the gradient is that of the polynomial, not a difference.

best = minimize(
    lambda point: -model.predict(point[np.newaxis])[0],
    x0=bounds.mean(axis=1),
    jac=lambda point: -model.expansion_.gradient(point[np.newaxis]).ravel(),
    bounds=bounds,
).x
print(f"best yield {model.predict(best[np.newaxis])[0]:.1f} at {best.round(1)}")

# %%
# The surface with the measurements, and the best settings.

T, t = np.meshgrid(*(np.linspace(*pair, 60) for pair in bounds))
Z = model.predict(np.column_stack([T.ravel(), t.ravel()])).reshape(T.shape)

figure = plt.figure(figsize=(8, 6), layout="constrained")
ax = figure.add_subplot(projection="3d", computed_zorder=False)
ax.plot_surface(T, t, Z, cmap="viridis", alpha=0.9, lw=0, zorder=1)
ax.scatter(*X.T, y, color="k", s=14, depthshade=False, zorder=2, label="measurements")
ax.scatter(
    *best, model.predict(best[np.newaxis]), color="r", s=120, marker="*", zorder=3, label="optimum"
)
ax.set(xlabel="temperature T", ylabel="time t", zlabel="yield")
ax.set_title("Response surface of ten terms")
ax.legend()
ax.view_init(elev=28, azim=-128)
plt.show()
