"""
Sensitivity to hyperparameters
==============================

The paper's basis has three parameters: ``lam`` of the polynomials, the number of terms and the
penalty. Leave-one-out predictions of all their combinations come from few factorisations, so that
the whole surface can be looked at before a value is trusted.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from gegenbauer import GegenbauerClassifierCV
from gegenbauer.plotting import PathDisplay, SensitivityDisplay

# %%
# Every tenth number of terms up to 300, 61 penalties, two ``lam``.

X, y = load_iris(return_X_y=True)
terms = range(10, 301, 10)
model = GegenbauerClassifierCV(spectrum=None, lam=[0.05, 0.5], n_terms=terms).fit(X, y)
print("combinations tried:", model.surface_["score"].size)
print(f"chosen: lam {model.lam_}, {model.n_terms_} terms, alpha {model.alpha_:.2g}")

# %%
# A wide valley runs through both surfaces: within it the choice is not critical.

figure, axes = plt.subplots(ncols=2, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, lam in zip(axes, (0.05, 0.5), strict=True):
    SensitivityDisplay.from_estimator(model, lam=lam, ax=ax)
    ax.set_title(f"Leave-one-out log-loss, lam = {lam}")
plt.show()

# %%
# The best curve for each ``lam``, at the number of terms that suits it best.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
PathDisplay.from_estimator(model, ax=ax)
ax.set_title("The penalty at the best number of terms")
plt.show()
