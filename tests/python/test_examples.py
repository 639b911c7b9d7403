"""The programs of the gallery run as they stand, and find what is known of their problems."""

from __future__ import annotations

import contextlib
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

matplotlib = pytest.importorskip("matplotlib")
FOLDER = Path(__file__).parents[2] / "examples"


def classification(names):
    """The linear classifier is the reference: it sees the same two inputs."""
    X, y = names["X"].to_numpy(), names["y"]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    linear = cross_val_predict(LogisticRegression(), X, y, cv=10)
    assert np.mean(names["labels"] == y) > np.mean(linear == y) - 0.005
    assert names["log_loss"](y, names["probabilities"]) < 0.2


def regression(names):
    assert abs(names["model"].noise_variance_[0] ** 0.5 - 0.1) < 0.02
    assert abs(names["inside"].mean() - 0.9) < 0.04
    line, std = names["line"], names["std"]  # of the function: widest where samples lack
    gap = (line > 0.5) & (line < 0.7)
    assert std[gap].max() > 2 * np.median(std[~gap])


def surrogate(names):
    assert names["found"] < 2e-3
    assert 0.5 < names["expected"] / names["found"] < 2
    # by Jansen's estimate from pairs of runs of the simulator itself
    rng = np.random.default_rng(0)
    A, B = (rng.uniform(*names["bounds"].T, size=(40_000, 8)) for _ in range(2))
    y = names["borehole"](A)
    for t in range(8):
        C = A.copy()
        C[:, t] = B[:, t]
        total = np.mean((y - names["borehole"](C)) ** 2) / 2 / y.var()
        assert abs(names["indices"].total[0, t] - total) < 0.02


def response_surface(names):
    points = np.stack([names["T"].ravel(), names["t"].ravel()], axis=1)
    truth = names["reaction"](points)
    assert np.sqrt(np.mean((names["Z"].ravel() - truth) ** 2)) < 0.8  # the noise
    assert names["reaction"](names["best"][np.newaxis])[0] > truth.max() - 0.5
    values = names["powers"].subs(dict(zip(["T", "t"], names["best"], strict=True)))
    assert abs(float(values) - names["model"].predict(names["best"][np.newaxis])[0]) < 0.01


def stream_folder(names):
    assert names["model"].n_samples_seen_ == 40_000
    assert abs(names["chosen"].noise_variance_[0] ** 0.5 - 3) < 0.1
    assert names["errors"][-1] < 0.3
    assert names["errors"][-1] < names["errors"][0] / 5


def resume(names):
    assert names["half"].n_samples_seen_ == 12_000
    assert names["model"].n_samples_seen_ == 40_000
    assert names["identical"]


def dask_local(names):
    assert names["accuracy"] > 0.98
    assert names["difference"] < 1e-9


def from_lssvm_and_elm(names):
    accuracy = np.mean(np.sign(names["svm"](names["new"])) == names["expected"])
    assert accuracy > 0.9
    assert names["model"].score(names["new"], names["expected"]) > accuracy - 0.01
    assert min(names["accuracies"]) < max(names["accuracies"])


def from_polynomial_features(names):
    assert names["error"](names["model"]) < min(names["errors"]) - 0.1
    assert names["difference"] < 1e-9
    assert names["total"][5:].max() < 0.01
    assert names["conditions"][1] < names["conditions"][0] / 3


def from_chaospy_and_openturns(names):
    assert np.abs(names["exact"] - [0.5576, 0.4424, 0.2437]).max() < 1e-4  # as published
    assert np.abs(names["indices"].total[0] - names["exact"]).max() < 2e-3
    assert np.abs(names["plain"] - names["expansion"].weights.ravel()).max() < 1e-11
    *others, learned = (np.array(values) for values in names["errors"].values())
    assert (learned < np.minimum(*others)).all()


def hyperparameters(names):
    """Every number of terms and penalty was judged, and the best was taken."""
    model, surface = names["model"], names["model"].surface_
    assert surface["score"].shape == (2, 30, 61)
    lam, n_terms, alpha = np.unravel_index(np.nanargmax(surface["score"]), (2, 30, 61))
    best = surface["lam"][lam], surface["n_terms"][n_terms], surface["alpha"][alpha]
    assert best == (model.lam_, model.n_terms_, model.alpha_)


def paper(names):
    assert np.abs(names["model"].term_coef_).max() > 0
    for name, (mean, _) in names["found"].items():
        assert abs(mean - names["PAPER"][name][3]) < 1.5  # the published accuracy


EXPECTED = [
    classification, regression, surrogate, response_surface, stream_folder, resume, dask_local,
    from_lssvm_and_elm, from_polynomial_features, from_chaospy_and_openturns, hyperparameters,
    paper,
]  # fmt: skip


def test_all_examples_are_run():
    assert sorted(check.__name__ for check in EXPECTED) == sorted(
        path.stem for path in FOLDER.glob("*.py")
    )


SLOW = (surrogate, from_chaospy_and_openturns)  # the site runs all of them as well


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=check.__name__, marks=[pytest.mark.slow] * (check in SLOW))
        for check in EXPECTED
    ],
)
def test_example_runs(check, tmp_path, monkeypatch, capsys):
    """As a script, without a window and without a warning; it prints, and all plots have titles."""
    if check is dask_local:
        pytest.importorskip("distributed")
    from matplotlib import pyplot as plt

    matplotlib.use("Agg")
    plt.close("all")
    with contextlib.chdir(tmp_path), warnings.catch_warnings():
        warnings.simplefilter("error")
        # a figure that is shown is a figure of the page; Agg has no window to show it in
        monkeypatch.setattr(plt, "show", lambda: None)
        names = runpy.run_path(str(FOLDER / f"{check.__name__}.py"), run_name="__main__")
    assert capsys.readouterr().out.count("\n") >= 2
    assert plt.get_fignums()
    for number in plt.get_fignums():
        axes = plt.figure(number).axes
        titled = [ax for ax in axes if ax.get_label() != "<colorbar>"]
        assert titled
        assert all(ax.get_title() for ax in titled)  # of which the gallery makes the alt text
    plt.close("all")
    assert not list(tmp_path.iterdir())
    check(names)
