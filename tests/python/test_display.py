"""Plots: what the artists hold, not how they look."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.calibration import calibration_curve
from sklearn.linear_model import Ridge

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    RidgePath,
    TensorBasis,
    sobol_indices,
)
from gegenbauer.basis import gegenbauer_vander
from gegenbauer.selection import prefix_surface

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from gegenbauer.plotting import (  # noqa: E402
    BasisDisplay,
    InputDisplay,
    LeverageDisplay,
    PathDisplay,
    ReliabilityDisplay,
    SensitivityDisplay,
    left_out_outcomes,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(40, 2))
Y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=40)
WEIGHTS = RNG.uniform(0.5, 2, 40)
BASIS = TensorBasis(2, degree=4, lam=0.5)
ALPHAS = 10.0 ** np.arange(-6, 3)


@pytest.fixture(autouse=True)
def closed_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_path():
    path = RidgePath(BASIS, X, Y, sample_weight=WEIGHTS)
    display = PathDisplay.from_path(path, ALPHAS[::-1])
    left_out, gcv = display.lines_
    assert left_out.get_label() == "leave-one-out"
    assert_array_equal(left_out.get_xdata(), ALPHAS)
    squares = (path.leave_one_out(ALPHAS).predictions[:, :, 0] - Y) ** 2
    errors = np.average(squares, axis=1, weights=WEIGHTS)
    assert_allclose(left_out.get_ydata(), errors)
    assert_allclose(gcv.get_ydata(), path.gcv(ALPHAS)[:, 0])
    assert display.mark_.get_xdata()[0] == ALPHAS[errors.argmin()]
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert display.ax_.get_xlabel() == "alpha"


def test_path_of_an_estimator():
    model = GegenbauerClassifierCV().fit(X, Y > 0.5)
    display = PathDisplay.from_estimator(model)
    table = model.surface_
    assert [line.get_label() for line in display.lines_] == [
        f"s = {s:g}, q = {table['interaction'][q]:.2g}"
        for s, q in zip((1, 2), np.nanmax(table["score"], axis=2).argmax(axis=1), strict=True)
    ]
    for line, scores in zip(display.lines_, table["score"], strict=True):
        assert_array_equal(line.get_xdata(), table["relative_alpha"])
        best = scores[np.unravel_index(np.nanargmax(scores), scores.shape)[0]]
        assert_allclose(line.get_ydata(), np.where(np.isfinite(best), -best, np.nan))
    place = np.unravel_index(np.nanargmax(table["score"]), table["score"].shape)[2]
    assert display.mark_.get_xdata()[0] == table["relative_alpha"][place]
    assert display.ax_.get_ylabel() == "log-loss"
    assert display.ax_.get_yscale() == "log"
    by_accuracy = GegenbauerClassifierCV(scoring="accuracy").fit(X, Y > 0.5)
    display = PathDisplay.from_estimator(by_accuracy)
    assert display.ax_.get_ylabel() == "minus accuracy"
    assert display.ax_.get_yscale() == "linear"


class TestSolvedProblems:
    """Displays of estimators that have tried no grid: of the problem that they have solved."""

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    y = 500 + 30 * np.sin(4 * X[:, 0]) + rng.normal(size=60)
    labels = np.where(y > 500, "high", "low")

    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerRegressorCV(intervals="one_spectrum"),
            GegenbauerRegressorCV(intervals="one_spectrum", penalize_constant=True),
            GegenbauerRegressorCV(spectrum=(0.5, 2.0), n_terms=30),
            GegenbauerRegressorCV(spectrum=None, n_terms=10),
            GegenbauerRegressorCV(spectrum=None, n_terms=10, penalize_constant=True),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("with_data", [False, True])
    def test_leverages_are_of_the_fit(self, model, with_data):
        model.fit(self.X, self.y)
        data = (self.X, self.y) if with_data or hasattr(model, "basis_") else ()
        display = LeverageDisplay.from_estimator(model, *data)
        order = np.argsort(display.residuals)
        expected = self.y - model.loo_predictions_
        assert_allclose(display.residuals[order], np.sort(expected), rtol=1e-6, atol=1e-8)
        assert_allclose(display.leverages.sum(), model.effective_dof_, rtol=1e-6)
        if model.surface_:
            return
        path = PathDisplay.from_estimator(model, *data)
        assert path.mark_.get_xdata()[0] == model.alpha_
        at = np.flatnonzero(path.alphas == model.alpha_)[0]
        error = np.mean(expected**2) / self.y.var()
        assert_allclose(path.errors["leave-one-out"][at], error, rtol=1e-6)
        assert path.ax_.get_ylabel() == "mean squared error / variance"

    @pytest.mark.parametrize("with_data", [False, True])
    def test_of_several_models_that_of_the_middle_penalty(self, with_data):
        model = GegenbauerRegressorCV().fit(self.X, self.y)
        data = (self.X, self.y) if with_data else ()
        penalties = [part.posterior.alpha for part in model.expansion_.parts]
        assert len(penalties) == 5
        middle = model.expansion_.parts[penalties.index(np.median(penalties))]
        one = GegenbauerRegressorCV(
            spectrum=middle.kernel.spectrum, alphas=[np.median(penalties)]
        ).fit(self.X, self.y)  # fmt: skip
        for kind, values in ((LeverageDisplay, "leverages"), (LeverageDisplay, "residuals")):
            found, expected = (
                np.sort(getattr(kind.from_estimator(each, *data), values)) for each in (model, one)
            )
            assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        path = PathDisplay.from_estimator(model, *data)
        assert path.mark_.get_xdata()[0] == model.alpha_ == np.median(penalties)

    def test_weights(self):
        weights = np.random.default_rng(1).uniform(0.5, 2.0, 60)
        model = GegenbauerRegressorCV(spectrum=(0.5, 2.0)).fit(self.X, self.y, weights)
        kept = LeverageDisplay.from_estimator(model)
        given = LeverageDisplay.from_estimator(model, self.X, self.y, sample_weight=weights)
        for name in ("residuals", "leverages"):
            assert_allclose(
                np.sort(getattr(kept, name)), np.sort(getattr(given, name)), rtol=1e-6, atol=1e-8
            )

    @pytest.mark.parametrize(
        "model",
        [
            GegenbauerClassifierCV(spectrum=(0.5, 2.0)),
            GegenbauerClassifier(n_terms=10),
            GegenbauerRegressor(n_terms=10, penalize_constant=False),
            GegenbauerRegressor(n_terms=10, alpha=0.0, penalize_constant=False),
        ],
        ids=str,
    )
    def test_other_estimators_need_their_samples(self, model):
        y = self.labels if is_classifier(model) else self.y
        model.fit(self.X, y)
        for kind in (PathDisplay, LeverageDisplay):
            with pytest.raises(TypeError, match="keeps no samples of its fit: pass X and y"):
                kind.from_estimator(model)
        codes = np.where(y == "low", 1.0, -1.0) if is_classifier(model) else y
        if hasattr(model, "loo_predictions_"):
            expected = codes - model.loo_predictions_
        else:
            expected = [
                codes[i]
                - (m.decision_function if is_classifier(model) else m.predict)(self.X[[i]])[0]
                for i in range(5)
                for m in [
                    clone(model)
                    .set_params(bounds=np.transpose([self.X.min(0), self.X.max(0)]))
                    .fit(np.delete(self.X, i, axis=0), np.delete(y, i))
                ]
            ]
        display = LeverageDisplay.from_estimator(model, self.X, y)
        assert_allclose(display.residuals[: len(expected)], expected, rtol=1e-5, atol=1e-7)
        path = PathDisplay.from_estimator(model, self.X, y)
        assert np.isfinite(path.errors["leave-one-out"]).all()

    def test_what_has_no_terms(self):
        with pytest.raises(TypeError, match="regressor or classifier of this library, got Ridge"):
            LeverageDisplay.from_estimator(Ridge().fit(self.X, self.y), self.X, self.y)


def test_bins_show_how_many_they_hold():
    """One sample far from the diagonal is no bad calibration, and the plot shows that."""
    p = np.repeat([0.05, 0.45, 0.95], [100, 1, 100])
    outcomes = np.concatenate([np.arange(100) < 5, [True], np.arange(100) < 95])
    display = ReliabilityDisplay.from_predictions(outcomes, p)
    assert [text.get_text() for text in display.labels_] == ["100", "1", "100"]
    assert_array_equal(display.counts, [100, 1, 100])
    areas = display.points_.get_sizes()
    assert_allclose(areas[1] / areas[0], 0.01)
    assert_allclose(
        display.points_.get_offsets(), np.transpose([[0.05, 0.45, 0.95], [0.05, 1, 0.95]])
    )
    gaps = np.abs(display.prob_true - display.prob_pred)
    assert_allclose(display.expected_calibration_error, gaps @ display.counts / 201)
    rng = np.random.default_rng(0)
    p = rng.uniform(size=300)
    for strategy in ("uniform", "quantile"):
        shown = ReliabilityDisplay.from_predictions(rng.uniform(size=300) < p, p, strategy=strategy)
        assert shown.counts.sum() == 300
        assert shown.counts.size == shown.prob_true.size
        assert_allclose(shown.prob_pred @ shown.counts, p.sum())


def test_plots_of_the_papers_basis():
    model = GegenbauerRegressorCV(
        spectrum=None, lam=[0.05, 0.5], n_terms=range(1, 11), alphas=ALPHAS
    ).fit(X, Y)
    table = model.surface_
    display = PathDisplay.from_estimator(model)
    for line, lam, scores in zip(display.lines_, [0.05, 0.5], table["score"], strict=True):
        size = scores.max(axis=1).argmax()
        assert line.get_label() == f"lam = {lam:g}, {size + 1} terms"
        assert_array_equal(line.get_xdata(), ALPHAS)
        assert_array_equal(line.get_ydata(), -scores[size])
    assert display.mark_.get_xdata()[0] == model.alpha_
    assert display.ax_.get_xlabel() == "alpha"
    for lam in (None, 0.05, 0.5):
        display = SensitivityDisplay.from_estimator(model, lam=lam)
        at = [0.05, 0.5].index(model.lam_ if lam is None else lam)
        surface = display.surface_.get_array().reshape(10, ALPHAS.size)
        assert_array_equal(surface, -table["score"][at])
        if lam is None:
            assert display.mark_.get_xdata()[0] == model.alpha_
            assert display.mark_.get_ydata()[0] == model.n_terms_
    assert display.colorbar_.ax.get_ylabel() == "mean squared error / variance"
    with pytest.raises(ValueError, match=r"`lam` must be one of .* \[0.05, 0.5\]; got 3"):
        SensitivityDisplay.from_estimator(model, lam=3)
    with pytest.raises(
        TypeError, match="has tried no numbers of terms: fit it with `spectrum=None`"
    ):
        SensitivityDisplay.from_estimator(GegenbauerClassifierCV().fit(X, Y > 0))


def test_widened_alphas_are_drawn_where_they_were_tried():
    model = GegenbauerRegressorCV(spectrum=None, lam=[0.05, 0.5], n_terms=[3, 6])
    model.fit(X, 1 + 0 * Y + 1e-6 * X[:, 0])  # hardly noise: the smallest penalty is the best
    other = 0.5 if model.lam_ == 0.05 else 0.05
    n_all = model.surface_["alpha"].size
    assert SensitivityDisplay.from_estimator(model).alphas.size == n_all > 61
    assert SensitivityDisplay.from_estimator(model, lam=other).alphas.size == 61


def test_sensitivity():
    surface = prefix_surface(BASIS, X, Y, ALPHAS)
    display = SensitivityDisplay(surface.alphas, np.arange(1, 16), surface.losses, label="MSE")
    display.plot()
    assert_allclose(display.surface_.get_array().reshape(15, ALPHAS.size), surface.losses.T)
    alpha, n_terms = surface.best
    assert display.mark_.get_xdata()[0] == alpha
    assert display.mark_.get_ydata()[0] == n_terms
    assert display.colorbar_.ax.get_ylabel() == "MSE"


@pytest.mark.parametrize(
    ("n_terms", "scale", "edges"),
    [
        ([10, 1000], "log", [10, 100, 1000]),
        ([1, 10, 100], "log", [1, 10**0.5, 10**1.5, 100]),
        ([10, 20, 1000], "log", [10, 200**0.5, 20000**0.5, 1000]),
        ([100, 900], "linear", [100, 500, 900]),
        ([1, 10, 20, 30], "linear", [1, 5.5, 15, 25, 30]),
        ([50], "linear", [25, 75]),
    ],
)
def test_cells_of_uneven_sizes_meet_within_their_range(n_terms, scale, edges):
    errors = np.random.default_rng(1).uniform(size=(3, len(n_terms)))
    display = SensitivityDisplay(10.0 ** np.array([-4, -2, 0]), np.array(n_terms), errors).plot()
    x, y = np.moveaxis(display.surface_.get_coordinates(), -1, 0)
    assert_allclose(x, np.broadcast_to([1e-4, 1e-3, 1e-1, 1], x.shape))
    assert_allclose(y, np.broadcast_to(np.c_[edges], y.shape))
    assert display.ax_.get_yscale() == scale
    assert_allclose(display.ax_.get_ylim(), [edges[0], edges[-1]])
    assert_allclose(display.ax_.get_xlim(), [1e-4, 1])


def test_inputs():
    model = GegenbauerRegressorCV().fit(X, Y)
    indices = sobol_indices(model)
    display = InputDisplay.from_sobol(indices, names=["a", "b"])
    assert list(display.bars_) == ["first order", "total"]
    widths = [bar.get_width() for bar in display.bars_["total"]]
    assert_allclose(widths, indices.total[0])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["a", "b"]
    display = InputDisplay.from_estimator(model)
    assert_allclose([bar.get_width() for bar in display.bars_["relevance"]], model.relevances_)
    classifier = GegenbauerClassifierCV().fit(X, Y > 0)
    display = InputDisplay.from_estimator(classifier)
    weights = [bar.get_width() for bar in display.bars_["relevance"]]
    assert_allclose(weights, classifier.spectrum_.interactions(2).sum(axis=1))
    with pytest.raises(TypeError, match="no relevances_"):
        InputDisplay.from_estimator(GegenbauerClassifierCV(spectrum=None).fit(X, Y > 0))
    with pytest.raises(ValueError, match="`output` must be below 1"):
        InputDisplay.from_sobol(indices, output=1)
    with pytest.raises(ValueError, match="`names` must have 2 entries, got 1"):
        InputDisplay.from_sobol(indices, names=["a"])


def test_sobol_indices_of_an_estimator_have_its_names():
    pd = pytest.importorskip("pandas")
    model = GegenbauerRegressorCV().fit(pd.DataFrame(X, columns=["size (cm)", "age"]), Y)
    display = InputDisplay.from_sobol(model)
    assert list(display.names) == ["size (cm)", "age"]
    assert_array_equal(display.values["total"], sobol_indices(model).total[0])
    assert InputDisplay.from_sobol(model, names=["a", "b"]).names == ["a", "b"]
    unnamed = InputDisplay.from_sobol(GegenbauerRegressorCV().fit(X, Y))
    assert unnamed.names == ["x0", "x1"]
    with pytest.raises(TypeError, match="must be a regressor or classifier"):
        InputDisplay.from_sobol(BASIS)


@pytest.mark.parametrize("n", [2, 30, 100])
def test_names_of_many_inputs_do_not_overlap(n):
    values = {"first order": np.linspace(0, 1, n), "total": np.linspace(0, 1, n)}
    display = InputDisplay([f"a long name of an input {t}" for t in range(n)], values).plot()
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert len(boxes) == n
    assert all(above.y0 > below.y1 for above, below in itertools.pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0


def test_leverages():
    path = RidgePath(BASIS, X, Y)
    display = LeverageDisplay.from_path(path, 0.1)
    found = path.leave_one_out([0.1])
    points = display.points_.get_offsets()
    assert_allclose(points[:, 0], found.leverages[0])
    assert_allclose(points[:, 1], Y - found.predictions[0, :, 0])
    mean = path.effective_dof([0.1])[0] / 40
    assert_allclose(display.mark_.get_xdata()[0], mean)
    (entry,) = display.ax_.get_legend().get_texts()
    assert entry.get_text() == f"mean leverage = {mean:.2g}"


def test_basis():
    display = BasisDisplay.from_basis(BASIS, degree=3, domain=(-1, 1))
    assert len(display.lines_) == 4
    x = display.lines_[0].get_xdata()
    for n, line in enumerate(display.lines_):
        assert_allclose(line.get_ydata(), gegenbauer_vander(x, 3, 0.5)[:, n], atol=1e-14)
        assert line.get_label() == f"degree {n}"


class TestReliability:
    LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [0, 1])]

    @staticmethod
    def by_definition(outcomes, found, edges):
        """Sum over the bins of their share of rows times the gap of frequency and probability."""
        total = 0.0
        for low, high in itertools.pairwise(edges):
            inside = (found > low) & (found <= high) | (found == low) * (low == edges[0])
            if inside.any():
                total += inside.mean() * abs(outcomes[inside].mean() - found[inside].mean())
        return total

    def test_two_classes(self):
        model = GegenbauerClassifierCV().fit(X, Y > 0.5)
        display = ReliabilityDisplay.from_estimator(model, Y > 0.5, n_bins=5)
        found = model.loo_probabilities_[:, 1]
        true, predicted = calibration_curve(Y > 0.5, found, n_bins=5)
        assert_array_equal(display.line_.get_xdata(), predicted)
        assert_array_equal(display.line_.get_ydata(), true)
        assert_array_equal(display.y_prob, found)
        expected = self.by_definition(Y > 0.5, found, np.linspace(0, 1, 6))
        assert_allclose(display.expected_calibration_error, expected)
        assert 0 < expected < 0.2
        assert display.ax_.get_xlabel() == "Mean predicted probability (Positive class: True)"
        assert display.line_.get_label() == "GegenbauerClassifierCV"
        other = ReliabilityDisplay.from_estimator(model, Y > 0.5, n_bins=5, pos_label=False)
        assert_allclose(other.y_prob, 1 - found)

    def test_probabilities_leave_rows_out(self):
        """Those of the model's map, of outputs that did not see their row."""
        model = GegenbauerClassifierCV().fit(X, self.LABELS)
        P = model.loo_probabilities_
        assert_allclose(P, model.probability_maps_[0](model.loo_predictions_))
        assert_allclose(P.sum(axis=1), 1)
        assert np.abs(P - model.predict_proba(X)).max() > 0.01

    @pytest.mark.parametrize("strategy", ["uniform", "quantile"])
    def test_more_classes_are_top_label(self, strategy):
        model = GegenbauerClassifierCV().fit(X, self.LABELS)
        P = model.loo_probabilities_
        display = ReliabilityDisplay.from_estimator(
            model, self.LABELS, n_bins=4, strategy=strategy, name="ours", color="red"
        )
        right = model.classes_[P.argmax(axis=1)] == self.LABELS
        true, predicted = calibration_curve(right, P.max(axis=1), n_bins=4, strategy=strategy)
        assert_array_equal(display.line_.get_xdata(), predicted)
        assert_array_equal(display.line_.get_ydata(), true)
        assert display.line_.get_color() == "red"
        assert display.line_.get_label() == "ours"
        assert display.ax_.get_xlabel() == "mean probability of the likeliest class"
        edges = np.linspace(0, 1, 5)
        edges = np.quantile(P.max(axis=1), edges) if strategy == "quantile" else edges
        expected = self.by_definition(right, P.max(axis=1), edges)
        assert_allclose(display.expected_calibration_error, expected)

    def test_one_class_against_the_rest(self):
        model = GegenbauerClassifierCV().fit(X, self.LABELS)
        display = ReliabilityDisplay.from_estimator(model, self.LABELS, pos_label="b")
        assert_array_equal(display.y_prob, model.loo_probabilities_[:, 1])
        true, _ = calibration_curve(self.LABELS == "b", display.y_prob, n_bins=10)
        assert_array_equal(display.line_.get_ydata(), true)

    def test_multilabel(self):
        labels = np.c_[Y > 0.5, X[:, 0] > 0.3].astype(int)
        model = GegenbauerClassifierCV().fit(X, labels)
        outcomes, found = left_out_outcomes(model, labels, pos_label=0)
        assert_array_equal(outcomes, labels[:, 0] > 0)
        assert_array_equal(found, model.loo_probabilities_[:, 0])
        with pytest.raises(ValueError, match=r"give `pos_label`, the column .* \[0, 1\]"):
            ReliabilityDisplay.from_estimator(model, labels)
        with pytest.raises(ValueError, match=r"each is one of \[0, 1\]; got 2"):
            left_out_outcomes(model, 2 * labels, pos_label=0)
        model.fit(X, pd.DataFrame(labels, columns=["big", "right"]))
        assert_array_equal(left_out_outcomes(model, labels, pos_label="big")[0], outcomes)
        with pytest.raises(ValueError, match=r"one of \['big', 'right'\]"):
            ReliabilityDisplay.from_estimator(model, labels)

    def test_rows_that_were_never_left_out_are_not_counted(self):
        splits = [(np.arange(20), np.arange(20, 40)), (np.arange(30), np.arange(30, 40))]
        model = GegenbauerClassifierCV(cv=splits).fit(X, Y > 0.5)
        outcomes, found = left_out_outcomes(model, Y > 0.5)
        assert_array_equal(outcomes, Y[20:] > 0.5)
        assert np.isfinite(found).all()

    def test_wrong_things_are_refused(self):
        model = GegenbauerClassifierCV().fit(X, self.LABELS)
        with pytest.raises(ValueError, match=r"y must be the labels of fit, of shape \(40,\)"):
            ReliabilityDisplay.from_estimator(model, self.LABELS[:-1])
        for labels, got in [(np.arange(40) % 3, "0"), (["a", "z"] * 20, "'z'")]:
            with pytest.raises(ValueError, match=rf"each is one of \['a', 'b', 'c'\]; got {got}"):
                ReliabilityDisplay.from_estimator(model, labels)
        truths = GegenbauerClassifierCV().fit(X, Y > 0.5)
        with pytest.raises(ValueError, match=r"each is one of \[False, True\]; got 'False'"):
            ReliabilityDisplay.from_estimator(truths, (Y > 0.5).astype(str))
        with pytest.raises(ValueError, match="`pos_label` must be one of the classes"):
            ReliabilityDisplay.from_estimator(model, self.LABELS, pos_label="z")
        with pytest.raises(ValueError, match="`n_bins` must be"):
            ReliabilityDisplay.from_estimator(model, self.LABELS, n_bins=0)
        with pytest.raises(ValueError, match="`strategy` must be"):
            ReliabilityDisplay.from_estimator(model, self.LABELS, strategy="some")
        plain = GegenbauerClassifier(n_terms=5).fit(X, self.LABELS)
        with pytest.raises(TypeError, match=r"leave samples out; got GegenbauerClassifier\."):
            ReliabilityDisplay.from_estimator(plain, self.LABELS)


@pytest.mark.parametrize(
    ("estimator", "response"),
    [
        (GegenbauerClassifier(n_terms=15), "predict"),
        (GegenbauerClassifier(n_terms=15), "decision_function"),
        (GegenbauerClassifierCV(), "predict"),
        (GegenbauerClassifierCV(), "decision_function"),
        (GegenbauerClassifierCV(), "predict_proba"),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decision_boundaries(estimator, response, n_classes):
    """scikit-learn's plot shows the response of our estimators at its grid."""
    from sklearn.inspection import DecisionBoundaryDisplay

    y = np.digitize(Y, [0, 1][: n_classes - 1])
    model = estimator.fit(X, y)
    by_class = response != "predict" and n_classes > 2
    display = DecisionBoundaryDisplay.from_estimator(
        model, X, response_method=response, grid_resolution=7,
        class_of_interest=2 if by_class else None,
    )  # fmt: skip
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    expected = getattr(model, response)(grid)
    if expected.ndim == 2:
        expected = expected[:, -1]
    assert_allclose(display.response, expected.reshape(7, 7), atol=1e-12)
    assert display.surface_.axes is display.ax_


def test_given_axes_and_options():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2)
    display = BasisDisplay.from_basis(BASIS, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    again = display.plot(ax=axes[0], color="red")
    assert again is display
    assert display.lines_[0].get_color() == "red"


def test_plots_of_scikit_learn():
    from sklearn.calibration import CalibrationDisplay
    from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay

    model = GegenbauerClassifierCV().fit(X, Y > 0.5)
    display = DecisionBoundaryDisplay.from_estimator(model, X, grid_resolution=10)
    assert np.isfinite(np.asarray(display.response)).all()
    reliability = CalibrationDisplay.from_estimator(model, X, Y > 0.5, n_bins=4)
    assert_allclose(reliability.y_prob, model.predict_proba(X)[:, 1])
    PartialDependenceDisplay.from_estimator(model, X, [0], grid_resolution=5)


def test_wrong_things_are_refused():
    with pytest.raises(TypeError, match="`basis` must be a TensorBasis"):
        BasisDisplay.from_basis("basis")


def test_bad_corners_do_not_flatten_the_colours():
    errors = np.linspace(1.0, 2.0, 30).reshape(6, 5)
    errors[0, :3], errors[0, 3] = 1e6, np.nan
    make = SensitivityDisplay(10.0 ** np.arange(6), np.arange(1, 6), errors)
    display = make.plot()
    low, high = display.surface_.get_clim()
    assert low == np.nanmin(errors)
    assert high == np.quantile(errors[np.isfinite(errors)], 0.8) < 2
    assert_array_equal(display.surface_.get_array().reshape(5, 6).filled(np.nan), errors.T)
    assert display.colorbar_.extend == "max"
    assert make.plot(vmin=0.5, vmax=1e6).surface_.get_clim() == (0.5, 1e6)
    assert make.colorbar_.extend == "neither"
    assert make.plot(norm=matplotlib.colors.LogNorm(1, 10)).surface_.get_clim() == (1, 10)
    same = SensitivityDisplay(10.0 ** np.arange(6), np.arange(1, 6), np.ones((6, 5))).plot()
    low, high = same.surface_.get_clim()
    assert low <= 1 <= high


def test_axes_are_one():
    import matplotlib.pyplot as plt

    path = RidgePath(BASIS, X, Y)
    model = GegenbauerClassifierCV(spectrum=None, n_terms=[3, 6]).fit(X, Y > 0.5)
    truths = GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(X, Y > 0.5)
    figure, some = plt.subplots(2)
    draw = [
        lambda ax: PathDisplay.from_path(path, ALPHAS, ax=ax),
        lambda ax: PathDisplay.from_estimator(model, ax=ax),
        lambda ax: SensitivityDisplay.from_estimator(model, ax=ax),
        lambda ax: InputDisplay.from_sobol(model, ax=ax),
        lambda ax: InputDisplay.from_estimator(truths, ax=ax),
        lambda ax: ReliabilityDisplay.from_estimator(model, Y > 0.5, ax=ax),
        lambda ax: ReliabilityDisplay.from_estimator(model, Y > 0.5).plot(ax=ax),
        lambda ax: LeverageDisplay.from_path(path, 0.1, ax=ax),
        lambda ax: BasisDisplay.from_basis(BASIS, ax=ax),
    ]
    for one in draw:
        with pytest.raises(TypeError, match=r"`ax` must be .* Axes .* shape \(2,\): pass one"):
            one(some)
        with pytest.raises(TypeError, match=r"`ax` must be .* got Figure"):
            one(figure)
