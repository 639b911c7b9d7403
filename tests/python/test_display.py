"""Pictures: what the artists hold, not how they look."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressorCV,
    RidgePath,
    TensorBasis,
    eval_gegenbauer,
    prefix_surface,
    sobol_indices,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from gegenbauer.display import (  # noqa: E402
    BasisDisplay,
    InputDisplay,
    LeverageDisplay,
    PathDisplay,
    SensitivityDisplay,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(40, 2))
Y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=40)
WEIGHTS = RNG.uniform(0.5, 2, 40)
BASIS = TensorBasis(2, degree=4, lam=0.5)
GAMMAS = 10.0 ** np.arange(-6, 3)


@pytest.fixture(autouse=True)
def closed_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_path():
    path = RidgePath(BASIS, X, Y, sample_weight=WEIGHTS)
    display = PathDisplay.from_path(path, GAMMAS[::-1])
    left_out, gcv = display.lines_
    assert left_out.get_label() == "leave-one-out"
    assert_array_equal(left_out.get_xdata(), GAMMAS)
    squares = (path.leave_one_out(GAMMAS).predictions[:, :, 0] - Y) ** 2
    errors = np.average(squares, axis=1, weights=WEIGHTS)
    assert_allclose(left_out.get_ydata(), errors)
    assert_allclose(gcv.get_ydata(), path.gcv(GAMMAS)[:, 0])
    assert display.mark_.get_xdata()[0] == GAMMAS[errors.argmin()]
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert display.ax_.get_xlabel() == "gamma"


def test_sensitivity():
    surface = prefix_surface(BASIS, X, Y, GAMMAS)
    display = SensitivityDisplay(surface.gammas, np.arange(1, 16), surface.scores, label="MSE")
    display.plot()
    assert_allclose(display.surface_.get_array().reshape(15, GAMMAS.size), surface.scores.T)
    gamma, n_terms = surface.best
    assert display.mark_.get_xdata()[0] == gamma
    assert display.mark_.get_ydata()[0] == n_terms
    assert display.colorbar_.ax.get_ylabel() == "MSE"


def test_inputs():
    model = GegenbauerRegressorCV().fit(X, Y)
    indices = sobol_indices(model)
    display = InputDisplay.from_sobol(indices, names=["a", "b"])
    assert list(display.bars_) == ["first order", "total"]
    widths = [bar.get_width() for bar in display.bars_["total"]]
    assert_allclose(widths, indices.total[:, 0])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["a", "b"]
    display = InputDisplay.from_estimator(model)
    assert_allclose([bar.get_width() for bar in display.bars_["relevance"]], model.relevances_)
    with pytest.raises(TypeError, match="no relevances_"):
        InputDisplay.from_estimator(GegenbauerClassifierCV().fit(X, Y > 0))
    with pytest.raises(ValueError, match="output must be below 1"):
        InputDisplay.from_sobol(indices, output=1)


def test_leverages():
    path = RidgePath(BASIS, X, Y)
    display = LeverageDisplay.from_path(path, 0.1)
    found = path.leave_one_out([0.1])
    points = display.points_.get_offsets()
    assert_allclose(points[:, 0], found.leverages[0])
    assert_allclose(points[:, 1], Y - found.predictions[0, :, 0])
    assert_allclose(display.mark_.get_xdata()[0], path.effective_dof([0.1])[0] / 40)


def test_basis():
    display = BasisDisplay.from_basis(BASIS, degree=3, domain=(-1, 1))
    assert len(display.lines_) == 4
    x = display.lines_[0].get_xdata()
    for n, line in enumerate(display.lines_):
        assert_allclose(line.get_ydata(), eval_gegenbauer(x, 3, 0.5)[:, n], atol=1e-14)
        assert line.get_label() == f"degree {n}"


def test_given_axes_and_options():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2)
    display = BasisDisplay.from_basis(BASIS, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    again = display.plot(ax=axes[0], color="red")
    assert again is display
    assert display.lines_[0].get_color() == "red"


def test_pictures_of_scikit_learn():
    from sklearn.calibration import CalibrationDisplay
    from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay

    model = GegenbauerClassifierCV().fit(X, Y > 0.5)
    display = DecisionBoundaryDisplay.from_estimator(model, X, grid_resolution=10)
    assert np.isfinite(np.asarray(display.response)).all()
    reliability = CalibrationDisplay.from_estimator(model, X, Y > 0.5, n_bins=4)
    assert_allclose(reliability.y_prob, model.predict_proba(X)[:, 1])
    PartialDependenceDisplay.from_estimator(model, X, [0], grid_resolution=5)


def test_wrong_things_are_refused():
    with pytest.raises(TypeError, match="basis must be a TensorBasis"):
        BasisDisplay.from_basis("basis")
