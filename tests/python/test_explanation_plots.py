"""Plots of what models have learned: what the artists hold, against the numbers they stand for."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.inspection import partial_dependence as by_predictions

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    sobol_indices,
)
from gegenbauer.inspection import shapley_values

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from gegenbauer.plotting import (  # noqa: E402
    ContributionDisplay,
    DependenceDisplay,
    InputDisplay,
    InteractionDisplay,
)
from gegenbauer.plotting._axes import label_of, labels_of  # noqa: E402

LONG = [f"measurement_of_station_{k:02d}_in_the_northern_district" for k in range(40)]
HOSTILE = "cost in $ of \\frac{a}{$} & <b>bold</b>\n\x1b[31m"


@pytest.fixture(autouse=True)
def closed_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def mixed():
    """A model of a number, a category and another number, and its samples."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(
        {
            "size": rng.uniform(1, 3, 120),
            "kind": rng.choice(["red", "green", "blue"], 120),
            HOSTILE: rng.normal(size=120),
        }
    )
    y = X["size"] ** 2 * (X.kind == "red") + np.sin(X[HOSTILE]) * X["size"]
    return GegenbauerRegressorCV(n_terms=40).fit(X, y), X


@pytest.fixture(scope="module")
def wide():
    """A model of forty inputs of long names, and its samples."""
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.uniform(size=(300, 40)), columns=LONG)
    y = 90 * (X[LONG[3]] - 0.5) * (X[LONG[30]] - 0.5) + X[LONG[7:15]] @ np.arange(1.0, 9.0)
    model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-3)
    return model.fit(X, y), X


def drawn(display):
    """Draw the figure, with every warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display.figure_.canvas.draw()


def tick_labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


class TestNames:
    def test_long_names_stay_different(self):
        found = labels_of(LONG)
        assert len({*found}) == 40
        assert max(map(len, found)) <= 36
        assert found[7] == "measurement_of_station_07..."

    def test_so_do_those_whose_difference_is_far_inside(self):
        names = [f"{'a' * 50}{k}{'b' * 50}" for k in range(3)]
        assert labels_of(names) == [f"aaaaaaaaaa...{k}..." for k in range(3)]

    def test_equal_ones_get_their_places(self):
        assert labels_of(["a", "a", "b"]) == ["a (0)", "a (1)", "b"]

    def test_dollars_and_control_characters(self):
        assert label_of("a $x$\nb\x1b") == r"a \$x\$ b?"
        assert label_of("x" * 50, 12) == "xxxxx...xxxx"


class TestDependence:
    def test_a_line_has_the_means_over_the_background(self, mixed):
        model, X = mixed
        display = DependenceDisplay.from_estimator(
            model, ["size"], background=X, grid_resolution=7, ax=None
        )
        (line,) = display.artists_
        grid = np.linspace(X["size"].min(), X["size"].max(), 7)
        expected = [model.predict(X.assign(size=value)).mean() for value in grid]
        assert_allclose(line.get_xdata(), grid)
        assert_allclose(line.get_ydata(), expected, rtol=1e-9, atol=1e-9)
        assert display.axes_[0].get_xlabel() == "size"
        assert display.axes_[0].get_ylabel() == "mean output"
        drawn(display)

    def test_means_of_scikit_learn(self):
        rng = np.random.default_rng(3)
        X = rng.uniform(size=(60, 3))
        model = GegenbauerRegressor(degree=4, alpha=1e-6).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
        display = DependenceDisplay.from_estimator(model, [1, (0, 1)], background=X)
        expected = by_predictions(
            model, X, [1], method="brute", custom_values={1: display.artists_[0].get_xdata()}
        )
        assert_allclose(display.artists_[0].get_ydata(), expected["average"][0], atol=1e-9)

    def test_points_over_levels(self, mixed):
        model, X = mixed
        display = DependenceDisplay.from_estimator(model, ["kind"], background=X)
        (line,) = display.artists_
        expected = [model.predict(X.assign(kind=kind)).mean() for kind in ("blue", "green", "red")]
        assert_allclose(line.get_ydata(), expected, rtol=1e-9, atol=1e-9)
        assert line.get_linestyle() == "None"
        assert tick_labels(display.axes_[0].xaxis) == ["blue", "green", "red"]

    def test_two_numbers_are_colours(self, mixed):
        model, X = mixed
        display = DependenceDisplay.from_estimator(
            model, [("size", HOSTILE)], background=X, grid_resolution=5
        )
        (mesh,) = display.artists_
        one, other = (np.linspace(X[n].min(), X[n].max(), 5) for n in ("size", HOSTILE))
        found = np.asarray(mesh.get_array()).reshape(5, 5)
        expected = model.predict(X.assign(**{"size": one[3], HOSTILE: other[1]})).mean()
        assert_allclose(found[1, 3], expected, rtol=1e-9)
        drawn(display)

    @pytest.mark.parametrize("pair", [("size", "kind"), ("kind", "size")])
    def test_a_number_and_levels_are_lines(self, mixed, pair):
        model, X = mixed
        display = DependenceDisplay.from_estimator(model, [pair], background=X, grid_resolution=3)
        (lines,) = display.artists_
        assert [line.get_label() for line in lines] == ["blue", "green", "red"]
        at = lines[2].get_xdata()[1]
        expected = model.predict(X.assign(size=at, kind="red")).mean()
        assert_allclose(lines[2].get_ydata()[1], expected, rtol=1e-9)
        assert display.axes_[0].get_xlabel() == "size"
        drawn(display)

    def test_one_scale_of_single_inputs(self, mixed):
        display = DependenceDisplay.from_estimator(mixed[0], [0, 1, 2, (0, 2)])
        assert len({ax.get_ylim() for ax in display.axes_[:3]}) == 1
        values = [line.get_ydata() for line in display.artists_[:3]]
        low, high = display.axes_[0].get_ylim()
        assert low <= min(map(np.min, values)) <= max(map(np.max, values)) <= high

    def test_of_forty_inputs_the_nine_largest(self, wide):
        model, _ = wide
        display = DependenceDisplay.from_estimator(model)
        total = sobol_indices(model, distribution="empirical").total[0]
        expected = np.argsort(-total)[:9].tolist()
        assert [part.features for part in display.parts] == [(t,) for t in expected]
        labels = [ax.get_xlabel() for ax in display.axes_]
        assert len({*labels}) == 9
        assert max(map(len, labels)) <= 36
        drawn(display)

    def test_outputs_and_classes(self):
        rng = np.random.default_rng(4)
        X = rng.uniform(size=(60, 2))
        several = GegenbauerRegressor(degree=3, alpha=1e-9).fit(
            X, np.stack([X[:, 0], 3 - X[:, 0]]).T
        )
        display = DependenceDisplay.from_estimator(several, 0, output=1)
        (line,) = display.artists_
        assert_allclose(line.get_ydata(), 3 - line.get_xdata(), atol=1e-4)
        assert display.axes_[0].get_ylabel() == "mean output 1"
        labels = np.array(["a", "b", "c"])[(3 * X[:, 0]).astype(int)]
        classes = GegenbauerClassifier(degree=3).fit(X, labels)
        display = DependenceDisplay.from_estimator(classes, 0, output=2)
        assert display.axes_[0].get_ylabel() == "mean output for c"
        two = GegenbauerClassifierCV(n_terms=10).fit(X, labels == "a")
        display = DependenceDisplay.from_estimator(two, 0)
        assert display.axes_[0].get_ylabel() == "mean output for True"

    def test_given_axes(self, mixed):
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(1, 2)
        display = DependenceDisplay.from_estimator(mixed[0], [0, 2], ax=axes)
        assert display.axes_ == [*axes]
        with pytest.raises(ValueError, match="an Axes for each of 3 panels, got 2"):
            DependenceDisplay.from_estimator(mixed[0], [0, 1, 2], ax=axes)
        with pytest.raises(TypeError, match="matplotlib Axes"):
            DependenceDisplay.from_estimator(mixed[0], [0], ax="left")

    def test_refusals(self, mixed):
        model, _ = mixed
        with pytest.raises(ValueError, match="inputs and pairs of inputs"):
            DependenceDisplay.from_estimator(model, [(0, 1, 2)])
        with pytest.raises(ValueError, match="no input of the model"):
            DependenceDisplay.from_estimator(model, ["colour"])
        with pytest.raises(ValueError, match="`output` must be below 1"):
            DependenceDisplay.from_estimator(model, [0], output=1)
        with pytest.raises(ValueError, match="must name an input"):
            DependenceDisplay.from_estimator(model, [])


class TestInteractions:
    def test_cells_are_the_indices(self, mixed):
        model, _ = mixed
        indices = sobol_indices(model, distribution="empirical")
        display = InteractionDisplay.from_sobol(indices)
        second = indices.second_order[0]
        cells = np.ma.asarray(display.cells_.get_array()).reshape(2, 2)
        assert_allclose(cells.compressed(), [second[1, 0], second[2, 0], second[2, 1]])
        assert_array_equal(cells.mask, [[False, True], [False, False]])
        found = [text.get_text() for text in display.texts_]
        assert found == [f"{second[i, j]:.3f}" for i, j in ((1, 0), (2, 0), (2, 1))]
        assert tick_labels(display.ax_.xaxis) == ["size", "kind"]
        assert tick_labels(display.ax_.yaxis)[0] == "kind"
        drawn(display)
        again = InteractionDisplay.from_sobol(model)
        assert_allclose(again.values, display.values)

    def test_of_forty_inputs_those_of_largest_share(self, wide):
        indices = sobol_indices(wide[0], distribution="empirical")
        display = InteractionDisplay.from_sobol(indices)
        order = np.argsort(-indices.total[0])[:20]
        assert display.names == [LONG[t] for t in order]
        assert_allclose(display.values, indices.second_order[0][np.ix_(order, order)])
        assert display.texts_ == []
        assert len({*tick_labels(display.ax_.yaxis)}) == 19
        drawn(display)
        every = InteractionDisplay.from_sobol(indices, n_inputs=40)
        assert every.names == LONG
        strongest = np.unravel_index(every.values.argmax(), (40, 40))
        assert sorted(strongest) == [3, 30]
        width, height = every.figure_.get_size_inches()
        assert min(width, height) > 10  # inches, which forty names need
        drawn(every)

    def test_refusals(self, mixed):
        model, X = mixed
        first = sobol_indices(model, order=1)
        with pytest.raises(ValueError, match="no second order"):
            InteractionDisplay.from_sobol(first)
        with pytest.raises(ValueError, match="`output` must be below 1, got 2"):
            InteractionDisplay.from_sobol(model, output=2)
        with pytest.raises(ValueError, match="`names` must have 3 entries, got 1"):
            InteractionDisplay.from_sobol(model, names=["a"])
        one = GegenbauerRegressor(degree=2).fit(X[["size"]], X["size"])
        with pytest.raises(ValueError, match="at least two inputs"):
            InteractionDisplay.from_sobol(one)


class TestContributions:
    def test_bars_lead_from_the_mean_to_the_prediction(self, mixed):
        model, X = mixed
        display = ContributionDisplay.from_estimator(model, X[:9], sample=4)
        found = shapley_values(model, X[4:5])
        order = np.argsort(-np.abs(found.values[0]))
        widths = np.array([bar.get_width() for bar in display.bars_])
        starts = np.array([bar.get_x() for bar in display.bars_])
        assert_allclose(widths, found.values[0][order])
        assert_allclose(starts[0], found.base_values[0])
        assert_allclose(starts[1:], (starts + widths)[:-1])
        assert_allclose(starts[-1] + widths[-1], model.predict(X[4:5])[0], rtol=1e-9)
        assert display.output == pytest.approx(model.predict(X[4:5])[0])
        assert [text.get_text() for text in display.labels_] == [f"{w:+.3g}" for w in widths]
        drawn(display)

    def test_names_have_values(self, mixed):
        model, X = mixed
        display = ContributionDisplay.from_estimator(model, X, sample=2)
        expected = {f"size = {X['size'][2]:.4g}", f"kind = {X.kind[2]}"}
        assert expected <= {*display.names}
        hostile = next(name for name in display.names if name.startswith("cost"))
        assert r"\$" in hostile
        assert "\n" not in hostile

    def test_missing_values(self):
        a, kinds = np.random.default_rng(8).uniform(size=60), ["x", "y", None] * 20
        a[::4] = np.nan
        X = pd.DataFrame({"a": a, "b": kinds})
        y = np.where(np.isnan(a), 3.0, a) + (X.b == "x")
        model = GegenbauerRegressorCV().fit(X, y)
        display = ContributionDisplay.from_estimator(model, X, sample=8)
        assert {*display.names} == {"a = missing", "b = missing"}

    def test_of_forty_inputs_others_are_one_bar(self, wide):
        model, X = wide
        display = ContributionDisplay.from_estimator(model, X, sample=1, n_inputs=5)
        values = shapley_values(model, X[1:2]).values[0]
        order = np.argsort(-np.abs(values))
        assert display.names[-1] == "35 other inputs"
        assert_allclose(display.values[:-1], values[order[:5]])
        assert_allclose(display.values[-1], values[order[5:]].sum())
        assert display.output == pytest.approx(model.predict(X[1:2])[0])
        drawn(display)
        every = ContributionDisplay.from_estimator(model, X, n_inputs=40)
        assert len({*every.names}) == len(every.names) == 40
        drawn(every)

    def test_classes_and_values_found_before(self):
        rng = np.random.default_rng(7)
        X = rng.uniform(size=(60, 2))
        labels = np.array(["a", "b", "c"])[(3 * X[:, 0]).astype(int)]
        model = GegenbauerClassifierCV(n_terms=20).fit(X, labels)
        display = ContributionDisplay.from_estimator(model, X, sample=5, output=1)
        outputs = model.expansion_.evaluate(X[5:6])[0]
        assert display.output == pytest.approx(outputs[1])
        assert display.ax_.get_xlabel() == "output for b"
        again = ContributionDisplay.from_shapley(shapley_values(model, X), sample=5, output=1)
        assert_allclose(again.values, display.values)
        assert again.ax_.get_xlabel() == "output 1"

    def test_refusals(self, mixed):
        model, X = mixed
        with pytest.raises(ValueError, match="`sample` must be below 120, got 120"):
            ContributionDisplay.from_estimator(model, X, sample=120)
        with pytest.raises(TypeError, match="must be ShapleyValues, got int"):
            ContributionDisplay.from_shapley(3)
        with pytest.raises(ValueError, match="`output` must be below 1"):
            ContributionDisplay.from_estimator(model, X, output=1)


def test_bars_of_inputs_take_hostile_names():
    values = {"total": np.array([0.5, 0.25])}
    display = InputDisplay([HOSTILE, "b"], values).plot()
    assert tick_labels(display.ax_.yaxis)[0].startswith(r"cost in \$")
    drawn(display)
