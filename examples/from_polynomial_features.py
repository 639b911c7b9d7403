"""
Coming from PolynomialFeatures and Ridge
========================================

`GegenbauerRegressorCV` takes the place of the pipeline of `PolynomialFeatures`, a scaler and
`RidgeCV`. There is no degree to choose, and inputs that do not matter are found out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from gegenbauer import (
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    sobol_indices,
)

X, y = make_friedman1(2400, n_features=7, noise=1.0, random_state=0)  # two do not matter
X, new, y, target = X[:400], X[400:], y[:400], y[400:]


def error(model):
    """Return the root mean squared error of new samples, of which 1.0 is noise."""
    return np.sqrt(np.mean((model.predict(new) - target) ** 2))


# %%
# The pipeline, for every degree that is affordable.

degrees = range(1, 6)
errors = []
for degree in degrees:
    pipeline = make_pipeline(
        MinMaxScaler((-1, 1)), PolynomialFeatures(degree), RidgeCV(10.0 ** np.arange(-4, 4))
    )
    errors.append(error(pipeline.fit(X, y)))
    print(f"degree {degree}: {len(pipeline[-1].coef_)} features, error {errors[-1]:.3f}")

# %%
# Everything chosen, in one line.

model = GegenbauerRegressorCV(out_of_range="clip").fit(X, y)
print(f"all polynomials: error {error(model):.3f}")
total = sobol_indices(model).total[0]
print("share of the variance:", total.round(3))

# %%
# To keep the pipeline, replace one step: `GegenbauerFeatures` is a transformer as well, with
# features that do not depend on each other as powers do. Without the step, `GegenbauerRegressor` is
# the same model, whose matrix of features is never stored.

features = GegenbauerFeatures(
    degree=3, lam=0.5, domain=(-1, 1), spectrum="orthonormal", out_of_range="clip"
)
steps = make_pipeline(features, Ridge(alpha=1.0, fit_intercept=False)).fit(X, y)
direct = GegenbauerRegressor(
    degree=3, lam=0.5, domain=(-1, 1), spectrum="orthonormal", alpha=1.0, out_of_range="clip"
).fit(X, y)
difference = np.abs(steps.predict(new) - direct.predict(new)).max()
print("predictions agree to 1e-9:", difference < 1e-9)

powers = PolynomialFeatures(3).fit_transform(MinMaxScaler((-1, 1)).fit_transform(X))
conditions = [np.linalg.cond(G) for G in (powers, features.fit_transform(X))]
print("condition numbers: powers {:.0f}, orthonormal {:.0f}".format(*conditions))

# %%
# The error by degree, and what each input contributes to the variance.

figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4), layout="constrained")
left.plot(degrees, errors, "o-", label="PolynomialFeatures, RidgeCV")
left.axhline(error(model), color="C1", label="GegenbauerRegressorCV")
left.axhline(1.0, color="k", ls=":", label="noise")
left.set(title="Error on new samples", xlabel="degree", ylabel="root mean squared error")
left.set_xticks(degrees)
left.legend()
right.bar(np.arange(7), total)
right.set(title="Share of the variance", xlabel="input", ylabel="total Sobol' index")
plt.show()
