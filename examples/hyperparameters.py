"""
Sensitivity to hyperparameters
==============================

The paper's basis has three parameters: ``lam`` of the polynomials, the number of terms and the
penalty. Leave-one-out predictions of all their combinations come from few factorisations, so that
the whole surface can be looked at before a value is trusted.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from gegenbauer import GegenbauerClassifierCV
from gegenbauer.plotting import PathDisplay, SensitivityDisplay

# %%
# Every tenth number of terms up to 400, 61 penalties, two ``lam``.

X, y = load_wine(return_X_y=True)
terms = range(10, 401, 10)
model = GegenbauerClassifierCV(spectrum=None, lam=[0.05, 0.5], n_terms=terms).fit(X, y)
print("combinations tried:", model.surface_["score"].size)
print(f"chosen: lam {model.lam_}, {model.n_terms_} terms, alpha {model.alpha_:.2g}")

# %%
# A wide valley: the choice is not critical, but for few terms with a penalty that is too small.

figure, axes = plt.subplots(ncols=2, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, lam in zip(axes, (0.05, 0.5), strict=True):
    SensitivityDisplay.from_estimator(model, lam=lam, ax=ax)
    ax.set_title(f"Leave-one-out log-loss, lam = {lam}")
plt.show()

# %%
# With a spectrum that is learned the penalty alone is left. `PathDisplay` has its curve.

automatic = GegenbauerClassifierCV().fit(X, y)
path = PathDisplay.from_estimator(automatic)
path.figure_.set_size_inches(7, 4)
path.ax_.set_title("The penalty of the learned spectrum")
plt.show()
