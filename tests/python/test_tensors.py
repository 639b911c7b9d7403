"""Tensors of PyTorch, arrays of CuPy and of the array API: from any device to the CPU, or refused.

None of the first two is needed: classes with their interface and their refusals stand for them.
"""

from __future__ import annotations

import copy

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import test_gate as gate

from gegenbauer import GegenbauerClassifierCV, GegenbauerFeatures, GegenbauerRegressor, RidgePath
from gegenbauer._tensors import on_cpu
from gegenbauer.errors import StreamError
from gegenbauer.plotting import ReliabilityDisplay

pytestmark = gate.pytestmark
originals = gate.fitted  # a fixture: estimators by names


@pytest.fixture
def fitted(originals):
    """Copies: samples are forgotten in place."""
    return {name: copy.deepcopy(model) for name, model in originals.items() if name != "path"}


class Held:
    """What arrays of all libraries have."""

    def __init__(self, array, **state):
        self._array = np.asarray(array)
        self.__dict__.update(state)

    shape = property(lambda self: self._array.shape)
    ndim = property(lambda self: self._array.ndim)
    dtype = property(lambda self: f"torch.{self._array.dtype}")  # of no kind that NumPy knows

    def __len__(self):
        return len(self._array)

    def __getitem__(self, key):
        return type(self)(
            self._array[key], **{k: v for k, v in vars(self).items() if k != "_array"}
        )


class Tensor(Held):
    """As PyTorch's: NumPy gets it from the CPU alone, and not while it requires gradients."""

    where, grad = "cpu", False
    requires_grad = property(lambda self: self.grad)

    def detach(self):
        return Tensor(self._array, where=self.where)

    def numpy(self, *, force=False):
        if force:
            return self._array
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.where != "cpu":
            raise TypeError(f"can't convert {self.where} device type tensor to numpy.")
        return self._array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.numpy(), dtype=dtype)


class CuPyArray(Held):
    """As CuPy's: it comes by `get`, and by nothing else."""

    device = "<CUDA Device 0>"
    __cuda_array_interface__ = property(lambda self: {"shape": self.shape})

    def get(self):
        return self._array

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


class Standard(Held):
    """As the array API has it, on a device that NumPy does not reach."""

    device = "tpu:3"

    def __array_namespace__(self, *, api_version=None):
        return np

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("this array is on another device")


def strict(array):
    """Return an array of the strict array API, on a device of which it gives nothing by itself."""
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(array, device=xp.Device("device1"))


KINDS = {
    "tensor": Tensor,
    "tensor on a device": lambda array: Tensor(array, where="cuda:0"),
    "CuPy": CuPyArray,
    "array API": strict,
}
GRAD = r"must not require gradients, got a Tensor that does: .*; pass \w+\.detach\(\)$"


def result(found):
    """Return numbers of what an entry point returns, which are equal where that is."""
    if hasattr(found, "n_samples_seen_") and not found.n_samples_seen_:  # all were forgotten
        return found.n_samples_seen_
    if isinstance(found, RidgePath):
        return found.predict(gate.X, [1.0])
    for name in ("predict", "transform", "evaluate"):
        if hasattr(found, name):
            return np.asarray(getattr(found, name)(gate.X))
    if hasattr(found, "update"):
        return found._packed()
    found = next((getattr(found, name) for name in ("weights", "dual_coef", "total", "predictions")
                  if hasattr(found, name)), found)  # fmt: skip
    return found


def check(fitted, call, kind, array):
    """An entry point makes the same of an array and of the tensor of it."""
    expected = result(call(copy.deepcopy(fitted), array))
    found = result(call(fitted, KINDS[kind](array)))
    if isinstance(expected, np.ndarray | float | int | tuple | np.floating):
        np.testing.assert_array_equal(found, expected)
    else:  # of other kinds it is enough that they come
        assert type(found) is type(expected)


def cases(table):
    """Return entry points, without one that cuts what it is given, and one that has no loss."""
    return [name for name in table if name not in ("Dask's predict", "search_alpha")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", cases(gate.TAKES_X))
def test_inputs(fitted, kind, entry):
    check(fitted, gate.TAKES_X[entry], kind, gate.X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", ["fit", "partial_fit", "fit_stream", "ArrayBatches", "score",
                                   "score CV", "regression CV", "Dask, y in memory", "solve_ridge",
                                   "GramStatistics", "leave_one_out", "RidgePath"])  # fmt: skip
def test_targets(fitted, kind, entry):
    check(fitted, gate.TAKES_TARGETS[entry], kind, gate.PLAIN)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", ["fit", "partial_fit", "fit_stream", "ArrayBatches", "score",
                                   "score CV", "CV", "Dask, y in memory"])  # fmt: skip
def test_labels(fitted, kind, entry):
    check(fitted, gate.TAKES_LABELS[entry], kind, gate.LABELS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", cases(gate.TAKES_WEIGHTS))
def test_weights(fitted, kind, entry):
    check(fitted, gate.TAKES_WEIGHTS[entry], kind, 0.5 + gate.PLAIN)


@pytest.mark.parametrize("where", ["cpu", "cuda:0"])
class TestGradients:
    """They are refused before anything is learned, with what to do."""

    @pytest.mark.parametrize("entry", cases(gate.TAKES_X))
    def test_inputs(self, fitted, where, entry):
        with pytest.raises((TypeError, StreamError), match=GRAD):
            gate.TAKES_X[entry](fitted, Tensor(gate.X, where=where, grad=True))

    @pytest.mark.parametrize("entry", ["fit", "partial_fit", "fit_stream", "ArrayBatches", "score"])
    def test_targets(self, fitted, where, entry):
        with pytest.raises((TypeError, StreamError), match=GRAD):
            gate.TAKES_TARGETS[entry](fitted, Tensor(gate.PLAIN, where=where, grad=True))

    @pytest.mark.parametrize("entry", cases(gate.TAKES_WEIGHTS))
    def test_weights(self, fitted, where, entry):
        with pytest.raises((TypeError, StreamError), match=GRAD):
            gate.TAKES_WEIGHTS[entry](fitted, Tensor(gate.PLAIN + 1, where=where, grad=True))

    def test_the_advice_helps(self, where):
        tensor = Tensor(gate.X, where=where, grad=True).detach()
        expected = gate.regressor().fit(gate.X, gate.PLAIN).predict(gate.X)
        found = gate.regressor().fit(tensor, gate.PLAIN).predict(tensor)
        np.testing.assert_array_equal(found, expected)


def test_a_device_that_is_out_of_reach(fitted):
    with pytest.raises(
        TypeError, match=r"^X must be .* got a Standard: this array is on another device$"
    ):
        fitted["regressor"].predict(Standard(gate.X))


def test_batches_of_a_loader_of_tensors():
    """As PyTorch's loaders yield them: lists of tensors, and errors that name the batch."""
    rows = [slice(0, 5), slice(5, 12)]
    batches = [[Tensor(gate.X[part], where="cuda:0"), Tensor(gate.PLAIN[part])] for part in rows]
    expected = gate.regressor().fit_stream([(gate.X[part], gate.PLAIN[part]) for part in rows])
    found = gate.regressor().fit_stream(batches)
    np.testing.assert_array_equal(found.predict(gate.X), expected.predict(gate.X))
    batches[1][1] = Tensor(gate.PLAIN[rows[1]], grad=True)
    with pytest.raises(StreamError, match=rf"^batch 1: y {GRAD}"):
        gate.regressor().fit_stream(batches)


def test_float32_stays():
    X = np.linspace(0, 1, 12, dtype=np.float32)[:, np.newaxis]
    found = GegenbauerFeatures(degree=2).fit_transform(CuPyArray(X))
    assert (type(found), found.dtype) == (np.ndarray, np.float32)


def test_labels_of_a_plot_and_announced_classes(fitted):
    model = GegenbauerClassifierCV(spectrum=(0.5, 2.0)).fit(gate.X, CuPyArray(gate.LABELS))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    mpl.use("Agg")
    pair = gate.LABELS, gate.PLAIN
    expected, found = (
        ReliabilityDisplay.from_predictions(*values, n_bins=3)
        for values in (pair, map(CuPyArray, pair))
    )
    np.testing.assert_array_equal(found.prob_true, expected.prob_true)
    announced = gate.classifier().partial_fit(gate.X, gate.LABELS, classes=CuPyArray([0, 1, 2]))
    np.testing.assert_array_equal(announced.classes_, [0, 1, 2])


def test_on_the_cpu_nothing_is_copied():
    array = np.zeros((3, 2))
    assert np.shares_memory(on_cpu(Tensor(array), "X"), array)
    xp = pytest.importorskip("array_api_strict")
    mine = xp.asarray(array)
    assert np.shares_memory(on_cpu(mine, "X"), np.asarray(mine))


def test_tables_and_lists_are_left_as_they_are():
    """Tables, too, whose columns have names of what tensors have."""
    frame = pd.DataFrame({"requires_grad": [1.0], "numpy": [2.0], "get": [3.0]})
    for value in (frame, [[1.0]], "text", None, 3.0, np.ma.array([1.0])):
        assert on_cpu(value, "X") is value
    three = pd.concat([frame, 2 * frame, 3 * frame])
    model = GegenbauerRegressor(n_terms=2).fit(three, [1.0, 2.0, 3.0])
    assert model.feature_names_in_.tolist() == ["requires_grad", "numpy", "get"]
