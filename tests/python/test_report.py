"""Reports of models: what a page holds, against scikit-learn's scores and our numbers."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    load,
    polynomial_text,
    save,
    sobol_indices,
)
from gegenbauer.cli import main
from gegenbauer.inspection import shapley_values

pytest.importorskip("matplotlib")

from gegenbauer.report import html_report

HOSTILE = "</text><script>alert('$x^2$')</script> & \"size\""
LEVEL = "<img src=x onerror=alert(1)>"

MODELS = Path(__file__).parent / "models" / "0.1.0"

VOID = {"meta", "img", "br"}


class Parsed(HTMLParser):
    """Tags, attributes and text of a page whose tags are closed in their order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.rows, self.text = [], [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1].append(data)
        if self.open and self.open[-1] not in ("style", "title"):
            self.text.append(data.strip())

    def row(self, name):
        """Return the numbers or texts of the first row of a name."""
        found = next(row for row in self.rows if row[:1] == [name])
        return found[1:]


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(11)
    X = pd.DataFrame(
        {
            HOSTILE: rng.uniform(1, 3, 90),
            "kind": rng.choice([LEVEL, "plain"], 90),
            "other": rng.normal(size=90),
        }
    )
    y = X[HOSTILE] ** 2 * (X.kind == LEVEL) + X.other + 0.1 * rng.normal(size=90)
    return GegenbauerRegressorCV().fit(X, y), X, y


@pytest.fixture(scope="module")
def page(mixed):
    return Parsed(html_report(*mixed, target="<b>lift</b>"))


def own_scores(page, *names):
    return [[float(cell) for cell in page.row(name)] for name in names]


class TestPage:
    def test_loads_and_runs_nothing(self, page):
        assert not {"script", "link", "iframe", "object", "foreignobject"} & {*page.tags}
        for name, value in page.attributes:
            assert not name.startswith("on")
            if name in ("src", "href", "xlink:href", "action", "data"):
                assert value.startswith(("#", "data:image/png"))
            elif name == "style" or name == "clip-path":
                assert "url(" not in value or "url(#" in value
        policy = dict(page.attributes)["content"]
        assert policy.startswith("width=device-width")
        (first,) = (v for n, v in page.attributes if n == "content" and "default-src" in v)
        assert "default-src 'none'" in first

    def test_names_and_levels_are_text(self, page):
        assert "A model of <b>lift</b>" in page.text
        assert HOSTILE in page.text
        assert "img" not in page.tags
        assert "b" not in page.tags
        labels = [value for name, value in page.attributes if name == "aria-label"]
        assert f"mean output by {HOSTILE}" in labels

    def test_plots_are_inline(self, page):
        labels = [value for name, value in page.attributes if name == "aria-label"]
        assert page.tags.count("svg") == len(labels)
        inputs = [HOSTILE, "kind", "other"]
        assert {f"mean output by {name}" for name in inputs} <= {*labels}
        assert sum(label.startswith("Sample ") for label in labels) == 5
        assert sum(" and " in label.replace(HOSTILE, "") for label in labels) >= 1

    def test_same_model_same_page(self, mixed):
        assert html_report(*mixed) == html_report(*mixed)

    def test_title(self, mixed):
        model, X, _ = mixed
        found = Parsed(html_report(model, X, title="Wings & more"))
        assert found.text.count("Wings & more") == 1


class TestScores:
    def test_of_the_fit_are_of_samples_left_out(self, mixed, page):
        model, _, y = mixed
        r2, error = own_scores(page, "R2", "mean absolute error")
        assert r2 == [pytest.approx(r2_score(y, model.loo_predictions_), rel=1e-3), 0.0]
        assert error[0] == pytest.approx(mean_absolute_error(y, model.loo_predictions_), rel=1e-3)
        assert error[1] == pytest.approx(np.abs(y - y.mean()).mean(), rel=1e-3)
        assert any("without it" in text for text in page.text)

    def test_of_others_are_of_predictions(self, mixed):
        model, X, y = mixed
        some, targets = X[::2], y[::2] + 0.3
        page = Parsed(html_report(model, some, targets))
        (r2,) = own_scores(page, "R2")
        assert r2[0] == pytest.approx(r2_score(targets, model.predict(some)), rel=1e-3)
        assert not any("without it" in text for text in page.text)
        lower, upper = model.predict_interval(some, 0.9)
        held, width = (float(cell) for cell in page.row("90%"))
        assert held == pytest.approx(np.mean((lower <= targets) & (targets <= upper)), rel=1e-3)
        assert width == pytest.approx(np.mean(upper - lower), rel=1e-3)

    def test_other_targets_in_the_order_of_the_fit_are_noticed(self, mixed):
        model, X, y = mixed
        page = Parsed(html_report(model, X, y.to_numpy()[::-1]))
        (r2,) = own_scores(page, "R2")
        assert r2[0] == pytest.approx(r2_score(y[::-1], model.predict(X)), rel=1e-3)

    @pytest.mark.parametrize("file", [pytest.param(False, marks=pytest.mark.slow), True])
    def test_other_samples_of_the_same_means_are_noticed(self, mixed, file, tmp_path):
        """Targets are those of the fit, and so are all values of each column, in other places."""
        model, X, y = mixed
        if file:
            save(model, tmp_path / "model.safetensors")
            model = load(tmp_path / "model.safetensors")
        assert any("without it" in text for text in Parsed(html_report(model, X, y)).text)
        for name in X.columns:
            other = X.assign(**{name: X[name].to_numpy()[::-1]})
            page = Parsed(html_report(model, other, y))
            assert not any("without it" in text for text in page.text)
            (r2,) = own_scores(page, "R2")
            assert r2[0] == pytest.approx(r2_score(y, model.predict(other)), rel=1e-3)

    def test_intervals_of_samples_left_out(self, mixed, page):
        model, X, y = mixed
        _, std = model.predict(X, return_std=True)
        noise = model.noise_variance_[0]
        spread = np.sqrt(noise / (1 - (std**2 / noise - 1)))
        inside = np.abs(y - model.loo_predictions_) <= 1.2815515655 * spread
        assert float(page.row("80%")[0]) == pytest.approx(inside.mean(), rel=1e-3)

    def test_of_classes(self):
        X, y = load_iris(return_X_y=True, as_frame=True)
        labels = np.array(["a", "b", "c"])[y]
        model = GegenbauerClassifierCV(n_terms=20).fit(X[::2], labels[::2])
        page = Parsed(html_report(model, X[1::2], labels[1::2]))
        accuracy, loss = own_scores(page, "accuracy", "log-loss")
        P = model.predict_proba(X[1::2])
        assert accuracy == [pytest.approx(accuracy_score(labels[1::2], model.predict(X[1::2])),
                                          rel=1e-3), pytest.approx(1 / 3, rel=1e-3)]  # fmt: skip
        assert loss == [
            pytest.approx(log_loss(labels[1::2], P), rel=1e-3),
            pytest.approx(np.log(3), rel=1e-3),
        ]
        assert any(text.startswith("Expected calibration error") for text in page.text)
        fitted = Parsed(html_report(model, X[::2], labels[::2]))
        assert own_scores(fitted, "log-loss")[0][0] == pytest.approx(
            log_loss(labels[::2], model.loo_probabilities_), rel=1e-3
        )
        assert {"Output for a", "Output for b", "Output for c"} <= {*fitted.text}

    def test_of_a_classifier_without_probabilities(self):
        rng = np.random.default_rng(2)
        X = rng.uniform(size=(50, 2))
        model = GegenbauerClassifier(degree=2).fit(X, X[:, 0] > 0.6)
        page = Parsed(html_report(model, X, X[:, 0] > 0.6))
        share = np.mean(X[:, 0] <= 0.6)
        found = accuracy_score(X[:, 0] > 0.6, model.predict(X))
        assert own_scores(page, "accuracy") == [[pytest.approx(found), pytest.approx(share)]]

    def test_of_labels(self):
        rng = np.random.default_rng(3)
        X = rng.uniform(size=(60, 2))
        Y = (X > 0.5).astype(int)
        model = GegenbauerClassifierCV(n_terms=10).fit(X, Y)
        page = Parsed(html_report(model, X[:30], Y[:30]))
        right = model.predict(X[:30]) == Y[:30]
        found = own_scores(page, "all labels right", "labels right")
        assert [each[0] for each in found] == [
            pytest.approx(right.all(axis=1).mean(), rel=1e-3),
            pytest.approx(right.mean(), rel=1e-3),
        ]

    def test_of_several_outputs(self):
        rng = np.random.default_rng(4)
        X = rng.uniform(size=(60, 2))
        Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1]])
        model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-6).fit(X, Y)
        page = Parsed(html_report(model, X, Y))
        expected = r2_score(Y, model.predict(X), multioutput="raw_values")
        for k in range(2):
            found = own_scores(page, f"R2 of output {k}")[0][0]
            assert found == pytest.approx(expected[k], rel=1e-3)
        equations = [polynomial_text(model, output=k, max_terms=30) for k in range(2)]
        assert all(equation in page.text for equation in equations)

    def test_none_without_targets(self, mixed):
        model, X, _ = mixed
        page = Parsed(html_report(model, X))
        assert "No targets were given, so there are no scores." in page.text
        assert not [row for row in page.rows if row[:1] == ["R2"]]


class TestExplanations:
    def test_five_predictions_from_the_smallest(self, mixed, page):
        model, X, y = mixed
        found = [re.match(r"Sample (\d+): predicted (\S+), actual (\S+)", t) for t in page.text]
        found = [match for match in found if match]
        assert len(found) == 5
        predicted = model.predict(X)
        places = [int(match[1]) - 1 for match in found]
        assert places[0] == predicted.argmin()
        assert places[-1] == predicted.argmax()
        for place, match in zip(places, found, strict=True):
            assert float(match[2]) == pytest.approx(predicted[place], rel=1e-3)
            assert float(match[3]) == pytest.approx(y[place], rel=1e-3)
        values = shapley_values(model, X.iloc[places[:1]]).values[0]
        assert {f"{value:+.3g}" for value in values} <= {*page.text}

    def test_forty_inputs(self):
        rng = np.random.default_rng(6)
        names = [f"measurement_of_station_{k:02d}_in_the_northern_district" for k in range(40)]
        X = pd.DataFrame(rng.uniform(size=(200, 40)), columns=names)
        y = 9 * X[names[3]] + 5 * X[names[7]] * X[names[8]]
        model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-2).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            page = Parsed(html_report(model, X, y))
        assert "and 20 more inputs of smaller shares" in page.text
        assert names[3] in page.text
        assert sum(text == "32 other inputs" for text in page.text) == 5

    def test_one_pair_is_a_sentence(self):
        X = np.random.default_rng(6).uniform(-1, 1, size=(80, 3))
        y = X[:, 2] + X[:, 0] * X[:, 1]
        model = GegenbauerRegressor(degree=2, n_terms=None, alpha=1e-9).fit(X, y)
        page = Parsed(html_report(model, X, y))
        share = sobol_indices(model, distribution="empirical").second_order[0, 0, 1]
        assert f"There is one: x0 and x1 add {share:.1%}." in page.text

    def test_a_constant_model(self):
        X = np.random.default_rng(0).uniform(size=(20, 2))
        model = GegenbauerRegressor(degree=0, n_terms=None, penalize_constant=False)
        model = model.fit(X, np.full(20, 2.0))
        page = Parsed(html_report(model, X, np.full(20, 2.0)))
        assert "The model is constant: it depends on no input." in page.text

    def test_warnings_are_notes(self, mixed):
        model, X, y = mixed
        beyond = X.assign(other=99.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            page = Parsed(html_report(model, beyond, y))
        assert any("outside of the range seen in fit" in text for text in page.text)

    def test_a_model_of_a_file(self, mixed, tmp_path):
        model, X, y = mixed
        save(model, tmp_path / "model.safetensors")
        assert html_report(load(tmp_path / "model.safetensors"), X, y) == html_report(model, X, y)

    def test_a_model_of_an_older_file_takes_the_marginals_of_the_samples(self):
        model = load(MODELS / "classifier-named-columns.safetensors")
        rng = np.random.default_rng(13)
        box = model.scaling_
        X = pd.DataFrame(
            rng.uniform(box.lower, box.upper, (40, 3)), columns=model.feature_names_in_
        )
        page = Parsed(html_report(model, X, model.predict(X)))
        assert own_scores(page, "accuracy")[0][0] == 1.0
        assert any("each distributed as in these samples." in text for text in page.text)
        values = shapley_values(model, X, background=X).values.reshape(40, 3, -1)
        shown = {f"{value:+.3g}" for value in values.ravel()}
        drawn = [text for text in page.text if re.fullmatch(r"[+-][\d.]+(e-\d+)?", text)]
        assert len(drawn) == 15
        assert {*drawn} <= shown


class TestFiles:
    def test_written_whole(self, mixed, tmp_path):
        model, X, y = mixed
        out = tmp_path / "report.html"
        page = html_report(model, X, y, out=out)
        assert out.read_text(encoding="utf-8") == page
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]

    def test_an_old_file_stays_if_a_report_fails(self, mixed, tmp_path):
        model, X, y = mixed
        out = tmp_path / "report.html"
        out.write_text("old")
        with pytest.raises(ValueError, match="a target for each sample"):
            html_report(model, X, y[:5], out=out)
        assert out.read_text() == "old"
        with pytest.raises(OSError, match="No such file"):
            html_report(model, X, y, out=tmp_path / "nowhere" / "report.html")
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


class TestRefusals:
    def test_no_models(self):
        X = np.random.default_rng(0).uniform(size=(20, 2))
        with pytest.raises(TypeError, match="regressor or classifier of this library"):
            html_report(GegenbauerFeatures().fit(X), X)
        with pytest.raises(NotFittedError):
            html_report(GegenbauerRegressor(), X)

    def test_targets(self, mixed):
        model, X, y = mixed
        with pytest.raises(ValueError, match=r"of shape \(90,\); got \(90, 2\)"):
            html_report(model, X, np.column_stack([y, y]))
        with pytest.raises(ValueError, match="must be finite"):
            html_report(model, X, np.full(90, np.nan))
        rng = np.random.default_rng(1)
        inputs = rng.uniform(size=(30, 2))
        classes = GegenbauerClassifier(degree=1).fit(inputs, np.where(inputs[:, 0] > 0.5, "a", "b"))
        with pytest.raises(ValueError, match="has 'c', which is no class of the model"):
            html_report(classes, inputs, np.full(30, "c"))


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path, mixed):
        model, X, y = mixed
        save(model, tmp_path / "model.safetensors")
        X.assign(lift=y).to_csv(tmp_path / "table.csv", index=False)
        return tmp_path

    def run(self, capsys, folder, *options, table="table.csv", out="report.html"):
        code = main(
            ["report", str(folder / "model.safetensors"), str(folder / table), "--out",
             str(folder / out), *options]
        )  # fmt: skip
        return code, capsys.readouterr()

    def test_page(self, capsys, files, mixed):
        code, printed = self.run(capsys, files, "--target", "lift")
        assert (code, printed.err) == (0, "")
        assert printed.out.split() == [
            "report", "on", "90", "rows,", "written", "to", str(files / "report.html"),
        ]  # fmt: skip
        model, X, y = mixed
        page = (files / "report.html").read_text(encoding="utf-8")
        assert page == html_report(model, X, y, target="lift")

    def test_no_target(self, capsys, files):
        code, _ = self.run(capsys, files)
        assert code == 0
        assert "there are no scores" in (files / "report.html").read_text(encoding="utf-8")

    def test_separator_and_labels_of_digits(self, capsys, tmp_path):
        rng = np.random.default_rng(9)
        X = pd.DataFrame({"a": rng.uniform(size=60)})
        labels = np.where(X.a > 0.5, "1", "x")
        save(GegenbauerClassifierCV(n_terms=5).fit(X, labels), tmp_path / "model.safetensors")
        table = X.assign(class_=labels)[labels == "1"]  # numbers alone, which stand for text
        table.to_csv(tmp_path / "t.csv", sep=";", index=False)
        code, printed = self.run(
            capsys, tmp_path, "--target", "class_", "--separator", ";", table="t.csv"
        )
        assert (code, printed.err) == (0, "")
        assert own_scores(
            Parsed((tmp_path / "report.html").read_text(encoding="utf-8")), "accuracy"
        )[0][1] == pytest.approx(1.0)

    @pytest.mark.parametrize(
        ("options", "message", "expected"),
        [
            (["--target", "drag"], "there is no column 'drag'", 3),
            (["--target", "kind"], "--target 'kind' is an input of the model", 2),
        ],
    )
    def test_targets_that_are_none(self, capsys, files, options, message, expected):
        code, printed = self.run(capsys, files, *options)
        assert code == expected
        assert message in printed.err
        assert not (files / "report.html").exists()

    def test_places_that_are_none(self, capsys, files):
        code, printed = self.run(capsys, files, out="report.pdf")
        assert code == 2
        assert "ends in '.pdf'; give a file that ends in .html or .htm" in printed.err
        code, printed = self.run(capsys, files, out="nowhere/report.html")
        assert code == 2
        assert "does not exist" in printed.err

    def test_features_are_refused(self, capsys, files):
        X = np.random.default_rng(0).uniform(size=(20, 2))
        save(GegenbauerFeatures().fit(X), files / "model.safetensors")
        code, printed = self.run(capsys, files)
        assert code == 2
        assert "holds features, which predict nothing" in printed.err
