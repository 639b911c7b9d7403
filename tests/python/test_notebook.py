"""What objects show of themselves: texts, and tables of HTML for notebooks."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from math import comb

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    PowerDecay,
    Spectrum,
    TensorBasis,
    sobol_indices,
)
from gegenbauer.basis import Levels
from gegenbauer.inspection import SobolIndices, term_sobol_indices


class Table(HTMLParser):
    """Text of the cells of a table, by rows; open tags must be closed in their order."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.text, self.open = [], {}, []
        self.feed(html)
        assert self.open == []
        self.header, *self.body = self.rows

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data
        else:
            self.text[self.open[-1]] = data


class TestSobolIndices:
    @pytest.fixture
    def found(self):
        """Of f = 3 + a + 2 b in uniform inputs on (-1, 1): variances 1/3 and 4/3."""
        basis = TensorBasis(2, degree=1, lam=0.5)
        return term_sobol_indices(basis, [3.0, 1.0, 2.0], domain=(-1, 1))

    def test_text_begins_with_the_largest_share(self, found):
        lines = repr(found).splitlines()
        assert lines[:2] == ["SobolIndices of 2 inputs", "mean 3, variance 1.667"]
        table = [line.split() for line in lines[2:]]
        assert table == [["input", "first_order", "total"],
                         ["x1", "0.8", "0.8"], ["x0", "0.2", "0.2"]]  # fmt: skip
        assert len({len(line) for line in lines[2:]}) == 1  # columns are flush

    def test_table_is_the_same(self, found):
        table = Table(found._repr_html_())
        assert table.rows == [line.split() for line in repr(found).splitlines()[2:]]
        assert table.text["caption"] == "SobolIndices of 2 inputs: mean 3, variance 1.667"

    def test_names_are_those_of_the_fit(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["a", "<b>"])
        found = sobol_indices(GegenbauerRegressor(n_terms=6).fit(X, X["a"]))
        assert_array_equal(found.names, ["a", "<b>"])
        assert [row[0] for row in Table(found._repr_html_()).body] == ["a", "<b>"]
        assert "<b>" not in found._repr_html_()
        assert sobol_indices(GegenbauerRegressor(n_terms=6).fit(X.to_numpy(), X["a"])).names is None

    def test_many_inputs_and_outputs(self):
        rng = np.random.default_rng(0)
        total = rng.uniform(size=(5, 30))
        found = SobolIndices(np.zeros(5), np.arange(5.0), total / 2, total)
        table = Table(found._repr_html_())
        order = np.argsort(-(np.arange(5.0) @ total))[:20]
        assert [row[0] for row in table.body] == [f"x{t}" for t in order]
        shown = np.array([row[1:] for row in table.body], dtype=float)
        assert_allclose(shown[:, 1::2], total[:3, order].T, rtol=1e-3)
        assert_allclose(shown[:, ::2], total[:3, order].T / 2, rtol=1e-3)
        assert table.header[1:3] == ["first_order[0]", "total[0]"]
        assert table.text["p"] == "and 10 more inputs, and 2 more outputs"
        assert repr(found).endswith("\nand 10 more inputs, and 2 more outputs")
        assert repr(found).count("output ") == 3

    def test_of_a_constant(self):
        X = np.random.default_rng(0).uniform(size=(30, 2))
        model = GegenbauerClassifier(n_terms=1).fit(X, X[:, 0] > 0.5)
        table = Table(sobol_indices(model)._repr_html_())
        assert table.body == [["x0", "0", "0"], ["x1", "0", "0"]]

    def test_of_an_older_version(self, found):
        """Which had no names, and may have been pickled."""
        old = replace(found)
        del vars(old)["names"]
        assert repr(old) == repr(found)


class TestSpectrum:
    def test_weights_of_each_input(self):
        q, s, p, r = [0.5, 0.25], 2.0, [0.125, 0.0], 0.3
        spectrum = Spectrum([PowerDecay(q, s), GeometricDecay(p, r)])
        table = Table(spectrum._repr_html_())
        assert table.text["caption"] == "Spectrum of 2 inputs"
        assert table.header[1:3] == [
            "q of PowerDecay, smoothness=2",
            "q of GeometricDecay, ratio=0.3",
        ]
        assert [row[0] for row in table.body] == ["x0", "x1"]
        shown = np.array([row[1:] for row in table.body], dtype=float)
        degrees = np.arange(1, 4)
        expected = [
            [a, b, *(a * degrees ** (-2 * s) + b * r ** (degrees - 1.0))]
            for a, b in zip(q, p, strict=True)
        ]
        assert_allclose(shown, expected, rtol=1e-3)

    def test_one_weight_for_all_inputs(self):
        table = Table(Spectrum.paper(lam=1.0)._repr_html_())
        assert table.text["caption"] == "Spectrum of any number of inputs"
        # the norms of Chebyshev polynomials of the second kind are one
        assert table.body == [["each", "1", "1", "1", "1"]]

    def test_levels(self):
        levels = [Levels((0.5, 0.25, 0.25)), Levels((0.9, 0.1), category=False), None]
        table = Table(Spectrum(PowerDecay(0.5, 1), levels=levels)._repr_html_())
        assert [row[-1] for row in table.body] == ["3 of a category", "missing in 10 per cent", ""]
        assert table.body[0][1:-1] == ["0.5", "", "", ""]  # which has no polynomials
        assert table.body[1][1:-1] == ["0.5", "0.5", "0.125", "0.05556"]

    def test_many_inputs(self):
        table = Table(Spectrum(PowerDecay([0.5] * 100, 1))._repr_html_())
        assert len(table.body) == 20
        assert table.text["p"] == "and 80 more inputs"


class TestTensorBasis:
    @pytest.mark.parametrize("max_interaction", [None, 2])
    def test_counts_are_those_of_combinations(self, max_interaction):
        """Choose i of m inputs, and i degrees from 1 up that sum to d."""
        m, degree = 5, 6
        basis = TensorBasis(m, degree=degree, max_interaction=max_interaction)
        counts = basis.count_by_degree()
        most = min(max_interaction or m, degree)
        expected = [
            [comb(m, i) * comb(d - 1, i - 1) if d and i else int(d == i) for i in range(most + 1)]
            for d in range(degree + 1)
        ]
        assert_array_equal(counts, expected)
        table = Table(basis._repr_html_())
        assert table.text["caption"] == repr(basis)
        shown = np.array(table.body, dtype=int)
        assert_array_equal(shown[:, 0], np.arange(degree + 1))
        assert_array_equal(shown[:, 1:-1], expected)
        assert_array_equal(shown[:, -1], np.sum(expected, axis=1))

    @pytest.mark.parametrize("index_set", ["total_degree", "tensor", "hyperbolic_cross"])
    def test_counts_are_those_of_the_indices(self, index_set):
        basis = TensorBasis(3, degree=4, index_set=index_set)
        counts = np.zeros_like(basis.count_by_degree())
        for k in basis.indices:
            counts[k.sum(), np.count_nonzero(k)] += 1
        assert_array_equal(basis.count_by_degree(), counts)

    def test_high_degrees_are_counted_together(self):
        table = Table(TensorBasis(2, degree=40)._repr_html_())
        assert [row[0] for row in table.body] == [*map(str, range(11)), "11 to 40"]
        assert int(table.body[-1][-1]) == comb(42, 2) - comb(12, 2)

    def test_first_terms_are_named(self):
        basis = TensorBasis(2, n_terms=10)
        names = basis.term_names()
        assert Table(basis._repr_html_()).text["p"] == f"Terms: {', '.join(names[:8])} and 2 more"
        assert Table(TensorBasis(1, degree=1)._repr_html_()).text["p"] == "Terms: 1, C1(x0)"

    def test_large_sets_are_not_counted(self, monkeypatch):
        monkeypatch.setattr("gegenbauer.basis.notebook._MOST_COUNTED", 9)
        assert Table(TensorBasis(2, n_terms=10)._repr_html_()).body == [["all", "10"]]


class TestEstimators:
    """scikit-learn's diagram, and below it what was fitted."""

    rng = np.random.default_rng(12)
    X = rng.uniform(size=(60, 2))
    y = np.sin(5 * X[:, 0]) + 0.1 * rng.normal(size=60)

    @staticmethod
    def summary(model):
        html = model._repr_html_()
        start = html.index("<table><caption>Fitted ")
        assert "sk-top-container" in html[:start]
        assert model._repr_mimebundle_()["text/html"].endswith(html[start:])
        table = Table(html[start:])
        assert table.text["caption"] == f"Fitted {type(model).__name__}"
        return dict(table.body)

    def test_not_fitted(self):
        assert "<caption>Fitted" not in GegenbauerRegressorCV()._repr_html_()

    def test_of_a_choice(self):
        model = GegenbauerRegressorCV(n_terms=12).fit(self.X, self.y)
        found = self.summary(model)
        left_out = ((self.y - model.loo_predictions_) ** 2).mean() / self.y.var()
        assert found["R2 of samples left out"] == f"{1 - left_out:.4f}"
        assert float(found["alpha"]) == pytest.approx(model.alpha_, rel=1e-5)
        assert found["inputs"] == "2"
        assert found["terms"].startswith("12 (largest weight")
        assert found["spectrum"].startswith("of each input its own")

    def test_of_classes(self):
        labels = np.where(self.y > 0, "<i>", "b")
        found = self.summary(GegenbauerClassifierCV().fit(self.X, labels))
        assert found["classes"] == "2: <i>, b"
        assert found["terms"] == "all there are"
        assert float(found["log-loss of samples left out, before calibration"]) > 0
        judged = self.summary(GegenbauerClassifierCV(scoring="accuracy").fit(self.X, labels))
        assert 0.5 < float(judged["accuracy of samples left out"]) <= 1

    def test_of_the_setting_of_the_paper(self):
        found = self.summary(GegenbauerRegressor(degree=2, alpha=0.25).fit(self.X, self.y))
        assert found == {
            "inputs": "2",
            "terms": "6: all of total degree up to 2",
            "alpha": "2^-2",
            "lam": "0.05",
        }
        features = GegenbauerFeatures(degree=2, spectrum=(0.5, 2.0)).fit(self.X)
        assert self.summary(features)["spectrum"] == "q 2^-1, s 2"
