"""Fitted models of many kinds, with samples to predict, for the tests of exports."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    PowerDecay,
)
from gegenbauer.ridge import TermExpansion

METHODS = ("predict", "decision_function", "predict_proba")

# A code that no category has
UNKNOWN = 77.0


class Case(NamedTuple):
    """A model, and samples inside and outside of what its fit saw."""

    model: Any
    X: Any  # as the model takes them
    codes: np.ndarray  # the same with codes of categories

    @property
    def methods(self) -> list[str]:
        return [name for name in METHODS if hasattr(self.model, name)]

    def expected(self, method: str) -> np.ndarray:
        return getattr(self.model, method)(self.X)

    def tolerance(self, method: str, relative: float) -> float:
        """Return what real numbers may be off by: a share of the largest one.

        Of kernels, whose coefficients are larger than their sum, it is a share of the sum of the
        sizes of their summands. That of ``sum_k w_k^2 phi_k(x) phi_k(z)`` is at most the root of
        ``K(x, x) K(z, z)``.
        """
        outputs = np.abs(self.expected(self.methods[min(1, len(self.methods) - 1)])).max()
        largest = max(float(outputs), 1.0 if method == "predict_proba" else 0.0)
        function = self.model.expansion_
        if isinstance(function, TermExpansion):
            return relative * largest
        function = function.with_missing()
        box = self.model.scaling_
        X = np.where(self.codes == UNKNOWN, np.nan, self.codes)
        sizes = 0.0
        parts = getattr(function, "parts", (function,))
        for part in parts:
            of_x, of_z = (part.kernel.diagonal(Z, scaling=box) for Z in (X, part.centres))
            coef = np.abs(part.coef.reshape(len(part.coef), -1))
            sizes += np.sqrt(of_x.max()) * (np.sqrt(of_z) @ coef).max() / len(parts)
        scale = max(
            (one.scale for one in getattr(self.model, "probability_maps_", ())), default=1.0
        )
        return relative * (scale * sizes + largest)


def is_real(method: str, model: Any) -> bool:
    """Whether a method returns real numbers, not labels."""
    return method != "predict" or not hasattr(model, "classes_")


def codes_of(model: Any, X: Any) -> np.ndarray:
    """Write samples with the places of their values in ``categories_``."""
    rows = X.to_numpy(dtype=object) if hasattr(X, "to_numpy") else X
    found = np.empty(rows.shape)
    for t, levels in enumerate(model.categories_):
        for i, value in enumerate(rows[:, t]):
            if levels is None:
                found[i, t] = np.nan if value is None else value
            else:
                value = None if value != value else value
                found[i, t] = levels.index(value) if value in levels else UNKNOWN
    return found


def _numbers(n: int, m: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2.0, 3.0, size=(n, m))


def _target(X: np.ndarray) -> np.ndarray:
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


def _frame(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    colours = np.array(["red", "it's", "blue */", None], dtype=object)
    return pd.DataFrame(
        {
            "length (cm)": rng.uniform(-2.0, 3.0, n),
            "colour": colours[rng.integers(0, 4, n)],
            "gap": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.uniform(-2.0, 3.0, n)),
            "flag": rng.uniform(size=n) < 0.5,
        }
    )


def _target_of_frame(frame: pd.DataFrame) -> np.ndarray:
    gap = frame["gap"].fillna(1.0).to_numpy()
    red = (frame["colour"] == "red").to_numpy()
    return np.sin(frame["length (cm)"].to_numpy()) * (1.0 + red) + gap * frame["flag"].to_numpy()


def _around(X: Any, model: Any, *, gaps: bool, far: bool = True) -> Case:
    """Return samples inside, outside, far outside, with gaps and with unseen levels."""
    X = X[:40].copy()
    table = hasattr(X, "iloc")
    for t in range(X.shape[1]):
        name = X.columns[t] if table else t
        numeric = not table or X[name].dtype.kind == "f"
        if not numeric:
            if X[name].dtype.kind != "b":
                X.loc[X.index[t : t + 2], name] = "never seen"
            continue
        values = X[name].to_numpy().copy() if table else X[:, t].copy()
        values[t + 2], values[t + 10] = values[t + 2] + 4.0, values[t + 10] - 5.5
        if far:
            values[t + 14 : t + 18] = (1e300, -1e308, 5e-324, -0.0)
        if gaps:
            values[[t + 22, 30]] = np.nan
        if table:
            X[name] = values
        else:
            X[:, t] = values
    return Case(model, X, codes_of(model, X))


def _raw() -> Case:
    X = np.hstack([_numbers(100, 3, 0), np.full((100, 1), 7.0)])
    return _around(X, GegenbauerRegressor(n_terms=40).fit(X, _target(X)), gaps=True)


def _raw_chebyshev() -> Case:
    X = _numbers(100, 3, 1)
    model = GegenbauerRegressor(n_terms=20, lam=0.0, missing="error", out_of_range="clip")
    return _around(X, model.fit(X, _target(X)), gaps=False)


def _extrapolating() -> Case:
    X = _numbers(100, 3, 2)
    y = _target(X)
    model = GegenbauerRegressor(
        n_terms=40, lam=-0.3, spectrum="orthonormal", domain=(-1, 1), out_of_range="extrapolate"
    )
    return _around(X, model.fit(X, np.column_stack([y, y**2])), gaps=True, far=False)


def _mixed() -> Case:
    frame = _frame(150, 3)
    y = _target_of_frame(frame)
    model = GegenbauerRegressor(n_terms=60, spectrum=(0.5, 1.0))
    return _around(frame, model.fit(frame, np.column_stack([y, -y])), gaps=True)


def _stream() -> Case:
    X = _numbers(120, 3, 4)
    model = GegenbauerRegressor(n_terms=30, spectrum=(0.5, 1.0), bounds=[(-1.5, 3.0)] * 3)
    for rows in np.split(np.arange(120), 3):
        model.partial_fit(X[rows], _target(X[rows]))
    return _around(X, model, gaps=True)


def _warped_terms() -> Case:
    X = _numbers(80, 3, 5)
    model = GegenbauerRegressorCV(n_terms=40).fit(X, _target(X))
    _warp(model)
    return _around(X, model, gaps=True)


def _warp(model: Any) -> None:
    """Give a model inputs of half ranks, which it would find with more samples."""
    knots = np.array([0.0, 0.1, 0.25, 0.7, 1.0]), np.array([0.0, 0.3, 0.5, 0.8, 1.0])
    model.scaling_ = model.scaling_.replace(warping=[knots, None, knots])


def _five_kernels() -> Case:
    X = _numbers(50, 3, 6)
    return _around(X, GegenbauerRegressorCV().fit(X, _target(X)), gaps=True)


def _mixed_kernel() -> Case:
    frame = _frame(60, 7)
    y = _target_of_frame(frame)
    model = GegenbauerRegressorCV(intervals="one_spectrum")
    return _around(frame, model.fit(frame, np.column_stack([y, y**2])), gaps=True)


def _landmarks() -> Case:
    X = _numbers(150, 3, 8)
    model = GegenbauerRegressorCV(kernel_samples=30).fit(X, _target(X))
    _warp(model)
    return _around(X, model, gaps=True)


def _other_spectrum() -> Case:
    """Of all parts that kernels have: a cubic, two that are geometric, and a sum of degrees."""
    X = _numbers(60, 3, 9)
    q = (0.2, 0.1, 0.3)
    spectrum = [
        PowerDecay(q, 1.0), PowerDecay(0.1, 2.0), PowerDecay(q, 3.0), GeometricDecay(q, 0.4),
        GeometricDecay(0.1, 0.2), PowerDecay(0.2, 5.5),
    ]  # fmt: skip
    return _around(X, GegenbauerRegressorCV(spectrum=spectrum).fit(X, _target(X)), gaps=True)


def _classes(X: np.ndarray) -> np.ndarray:
    return np.digitize(_target(X), [-0.5, 1.0])


def _three_texts() -> Case:
    X = _numbers(100, 3, 10)
    labels = np.array(["no", 'it"s', "ja\n"])[_classes(X)]
    return _around(X, GegenbauerClassifier(n_terms=20).fit(X, labels), gaps=True)


def _two_truths() -> Case:
    X = _numbers(100, 3, 11)
    return _around(X, GegenbauerClassifier(n_terms=20).fit(X, _classes(X) > 0), gaps=True)


def _calibrated_texts() -> Case:
    X = _numbers(80, 3, 12)
    labels = np.array(["a", "b", "c"], dtype=object)[_classes(X)]
    return _around(X, GegenbauerClassifierCV().fit(X, labels), gaps=True)


def _calibrated_floats() -> Case:
    frame = _frame(100, 13)
    labels = np.where(_target_of_frame(frame) > 0.5, 2.0, -1.0)
    return _around(frame, GegenbauerClassifierCV(n_terms=40).fit(frame, labels), gaps=True)


def _calibrated_labels() -> Case:
    frame = _frame(100, 14)
    y = _target_of_frame(frame)
    labels = pd.DataFrame({"high": y > 1.0, "low'": y < 0.0, "near": np.abs(y) < 1}).astype(int)
    return _around(frame, GegenbauerClassifierCV(n_terms=40).fit(frame, labels), gaps=True)


def _kernel_labels() -> Case:
    X = _numbers(60, 3, 15)
    y = _target(X)
    labels = np.column_stack([y > 0.0, y > 1.0]).astype(int)
    return _around(X, GegenbauerClassifierCV().fit(X, labels), gaps=True)


def _labels() -> Case:
    X = _numbers(80, 3, 16)
    y = _target(X)
    labels = np.column_stack([y > 0.0, y > 1.0]).astype(int)
    return _around(X, GegenbauerClassifier(n_terms=20).fit(X, labels), gaps=True)


def _one_class_so_far() -> Case:
    X = _numbers(40, 3, 17)
    model = GegenbauerClassifier(n_terms=10)
    return _around(X, model.partial_fit(X, np.full(40, 3), classes=[3, 5, 9]), gaps=True)


def _constant() -> Case:
    X = np.full((40, 2), 3.0)
    y = np.linspace(0.0, 1.0, 40)
    return _around(X, GegenbauerRegressor(n_terms=5).fit(X, y), gaps=True)


def _one_term() -> Case:
    """The constant alone, which looks at no input."""
    X = _numbers(40, 3, 18)
    return _around(X, GegenbauerRegressor(n_terms=1).fit(X, _target(X)), gaps=True)


def _constant_kernel() -> Case:
    """No centre has a coefficient."""
    X = _numbers(40, 3, 19)
    return _around(X, GegenbauerRegressorCV().fit(X, np.full(40, 2.5)), gaps=True)


def _categories_alone() -> Case:
    frame = _frame(80, 20)[["colour", "flag"]]
    y = (frame["colour"] == "red") + 0.5 * frame["flag"]
    return _around(frame, GegenbauerRegressor(n_terms=6).fit(frame, y), gaps=False)


def _long_names() -> Case:
    """More texts than a line holds, whose blanks are places to break it."""
    X = _numbers(60, 12, 21)
    frame = pd.DataFrame(X, columns=[f"it's the mean of input number {t}" for t in range(12)])
    labels = np.array([f"this is class  number {k}" for k in range(8)])
    y = labels[np.digitize(_target(X), np.linspace(-2.0, 3.0, 7))]
    return _around(frame, GegenbauerClassifier(n_terms=30).fit(frame, y), gaps=True)


_MAKERS = {
    name.removeprefix("_"): maker
    for name, maker in {
        **{f.__name__: f for f in (_raw, _raw_chebyshev, _extrapolating, _mixed, _stream)},
        **{f.__name__: f for f in (_warped_terms, _five_kernels, _mixed_kernel, _landmarks)},
        **{f.__name__: f for f in (_other_spectrum, _three_texts, _two_truths, _constant)},
        **{f.__name__: f for f in (_calibrated_texts, _calibrated_floats, _calibrated_labels)},
        **{f.__name__: f for f in (_kernel_labels, _labels, _one_class_so_far, _one_term)},
        **{f.__name__: f for f in (_constant_kernel, _categories_alone, _long_names)},
    }.items()
}

NAMES = sorted(_MAKERS)


@functools.cache
def case(name: str) -> Case:
    """Fit a model, once."""
    return _MAKERS[name]()


def short_ones() -> list[str]:
    """Names of those that are finite sums of terms."""
    kernels = ("five_kernels", "mixed_kernel", "landmarks", "other_spectrum", "calibrated_texts")
    return [name for name in NAMES if name not in (*kernels, "kernel_labels", "constant_kernel")]


def random_case(seed: int) -> Case:
    """Fit a model of random kind to random samples."""
    rng = np.random.default_rng(seed)
    frame = _frame(int(rng.integers(40, 90)), seed)
    if rng.uniform() < 0.3:
        frame["length (cm)"] = 1e-3 * frame["length (cm)"] + 1e3
    y = _target_of_frame(frame)
    spectrum = [None, "orthonormal", (0.5, 1.0), (0.3, 2.5), GeometricDecay(0.5, 0.4)]
    how = {
        "n_terms": int(rng.integers(1, 60)),
        "lam": float(rng.choice([0.05, 0.0, -0.3, 0.5, 1.5])),
        "spectrum": spectrum[rng.integers(5)],
        "domain": [(0, 1), (-1, 1)][rng.integers(2)],
        "penalize_constant": bool(rng.uniform() < 0.5),
        "out_of_range": str(rng.choice(["clip", "warn"])),
    }
    classes = rng.uniform() < 0.5
    few = int(rng.integers(2, 5))
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, few) / few))
    elif rng.uniform() < 0.3:
        y = np.column_stack([y, np.exp(y)])
    if rng.uniform() < 0.5:
        kind = GegenbauerClassifier if classes else GegenbauerRegressor
        return _around(frame, kind(**how).fit(frame, y), gaps=True)
    kind = GegenbauerClassifierCV if classes else GegenbauerRegressorCV
    model = kind(n_terms=[None, 30][rng.integers(2)]).fit(frame, y)
    return _around(frame, model, gaps=True)
