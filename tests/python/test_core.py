"""The compiled core called directly: copies, pickles, counts, and the end of the interpreter."""

from __future__ import annotations

import copy
import copyreg
import inspect
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gegenbauer import (
    GegenbauerClassifier,
    GegenbauerClassifierCV,
    GegenbauerDecay,
    GegenbauerFeatures,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    GeometricDecay,
    InputScaling,
    PowerDecay,
    Spectrum,
    TensorBasis,
)
from gegenbauer._dispatch import available_isas, core
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.errors import TooLargeError

FLAT = (("power", 0.0, (1.0,)),)
RAW = (("gegenbauer", 0.05, (1.0,)),)


def plan(m: int = 2, degree: int = 2) -> core.TensorBasis:
    return core.TensorBasis(
        m, "total_degree", degree, [], None, None, "grlex", 0.05, "raw", RAW, []
    )  # fmt: skip


def made() -> dict[str, object]:
    """Return an object of every class of the core."""
    kernel = core.SpectrumKernel(2, 0.0, (("power", 1.0, (1.0,)),), 0, [])
    return {
        "AngleFunctions": core.AngleFunctions([3], np.zeros((4, 1)), 1),
        "BandForm": core.BandForm(np.eye(40, order="F"), None, 1),
        "BoxMap": core.BoxMap([0.0], [0.5], [1.0], [0.0], True),
        "SpectrumKernel": kernel,
        "SpectrumParts": core.SpectrumParts(kernel, np.zeros((3, 2)), None, 1),
        "TensorBasis": plan(),
        "TotalDegreeKernel": core.TotalDegreeKernel(2, 3, 0.5, "orthonormal", FLAT, None),
    }


def classes() -> set[str]:
    return {
        name
        for name, value in vars(core).items()
        if inspect.isclass(value) and not issubclass(value, Exception)
    }


def values() -> list[object]:
    """Return objects of the package that hold objects of the core, or are their parameters."""
    components = [PowerDecay((0.5, 0.25), 2), GeometricDecay(0.1, 0.3), GegenbauerDecay(0.2, 0.1)]
    return [
        *components,
        Spectrum(components),
        InputScaling([0.0, 1.0, 5.0], [1.0, 1.0, 9.0], domain=(-1, 1), clip=False),
        InputScaling([0.0, 1.0], [1.0, 2.0], constant=[True, False]),
        TensorBasis(2, degree=3, lam=0.5, term_order="grevlex", max_interaction=1),
        TensorBasis(2, degree=(2, 3), index_set="tensor", spectrum="orthonormal"),
        TensorBasis(2, n_terms=7, index_set="largest_weight", spectrum=Spectrum(components)),
        TensorBasis(2, n_terms=4, index_set="largest_weight", spectrum=Spectrum.paper()),
        TotalDegreeKernel(2, 3, spectrum=(0.5, 1.0), max_interaction=1),
        SpectrumKernel(2, (0.5, 1.0)),
        SpectrumKernel(2, Spectrum(components[:1]), lam=0.5, max_degree=4),
    ]


class TestCopies:
    def test_every_class_is_tried(self):
        assert classes() - {"ProductKernel"} == set(made())  # of which two others are made

    @pytest.mark.parametrize("name", sorted(made()))
    def test_objects_of_the_core_are_not_pickled(self, name):
        thing = made()[name]
        for reduce in (thing.__reduce__, *(lambda p=p: thing.__reduce_ex__(p) for p in range(6))):
            with pytest.raises(TypeError, match=f"cannot pickle a {name}.*TensorBasis"):
                reduce()
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match=f"cannot pickle a {name}"):
                pickle.dumps(thing, protocol)

    @pytest.mark.parametrize("name", sorted(classes()))
    def test_objects_of_no_content_are_not_made(self, name):
        kind = getattr(core, name)
        for arguments in ((), (1,), (2, "total_degree")):
            with pytest.raises(TypeError, match="is not safe"):
                kind.__new__(kind, *arguments)
        with pytest.raises(TypeError):
            copyreg.__newobj__(kind)
        with pytest.raises(TypeError):
            object.__new__(kind)

    @pytest.mark.parametrize("name", sorted(made()))
    def test_objects_of_the_core_do_not_change_so_that_they_are_their_copies(self, name):
        thing = made()[name]
        assert copy.copy(thing) is thing
        assert copy.deepcopy([thing])[0] is thing

    @pytest.mark.parametrize("value", values(), ids=repr)
    def test_values_of_the_package_come_back_equal(self, value):
        others = [copy.copy(value), copy.deepcopy(value)]
        others += [pickle.loads(pickle.dumps(value, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
        for other in others:
            assert type(other) is type(value)
            assert other == value
            assert hash(other) == hash(value)
            assert repr(other) == repr(value)
        for protocol in range(6):
            assert value.__reduce_ex__(protocol)

    @pytest.mark.parametrize("value", values(), ids=repr)
    def test_pickles_hold_no_object_of_the_core(self, value):
        assert b"gegenbauer._core" not in pickle.dumps(value)

    def test_a_complete_value_takes_no_other_state(self):
        basis = TensorBasis(2, degree=3)
        with pytest.raises(AttributeError, match="does not change"):
            basis.__setstate__(TensorBasis(2, degree=1).__getstate__())
        assert basis == TensorBasis(2, degree=3)

    @pytest.mark.thread_unsafe(reason="it starts processes of its own")
    def test_pickles_do_not_depend_on_the_instruction_set(self):
        program = (
            "import pickle, sys; from gegenbauer._dispatch import isa; assert isa == sys.argv[1];"
            "sys.path.insert(0, sys.argv[2]); from test_core import values;"
            "got = pickle.load(sys.stdin.buffer); assert got == values() or sys.exit('differ');"
            "sys.stdout.buffer.write(pickle.dumps(got))"
        )
        text = pickle.dumps(values())
        for isa in available_isas():
            done = subprocess.run(
                [sys.executable, "-c", program, isa, str(Path(__file__).parent)],
                input=text,
                capture_output=True,
                env={**os.environ, "GEGENBAUER_ISA": isa},
                check=False,
            )
            assert done.returncode == 0, done.stderr.decode()
            text = done.stdout
        assert pickle.loads(text) == values()


def fitted() -> dict[str, object]:
    X = np.random.default_rng(0).uniform(size=(60, 2))
    y, labels = X[:, 0] - X[:, 1] ** 2, np.where(X[:, 0] > X[:, 1], "yes", "no")
    return {
        "features": GegenbauerFeatures(degree=3).fit(X),
        "regressor": GegenbauerRegressor(n_terms=10).fit(X, np.column_stack([y, -y])),
        "classifier": GegenbauerClassifier(n_terms=10).fit(X, labels),
        "stream": GegenbauerClassifier(n_terms=6).partial_fit(X, labels, classes=["no", "yes"]),
        "regressor_cv": GegenbauerRegressorCV().fit(X, y),
        "paper_cv": GegenbauerRegressorCV(spectrum=None, n_terms=[3, 6]).fit(X, y),
        "classifier_cv": GegenbauerClassifierCV().fit(X, labels),
    }


def outputs(model: object) -> np.ndarray:
    X = np.random.default_rng(1).uniform(size=(20, 2))
    for name in ("predict_proba", "predict", "transform"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    raise AssertionError(model)


@pytest.mark.parametrize("name", ["features", "regressor", "classifier", "stream",
                                  "regressor_cv", "paper_cv", "classifier_cv"])  # fmt: skip
def test_skops_takes_estimators(name):
    skops_io = pytest.importorskip("skops.io")
    model = fitted()[name]
    data = skops_io.dumps(model)
    trusted = skops_io.get_untrusted_types(data=data)
    assert not any("gegenbauer._core" in kind for kind in trusted)
    other = skops_io.loads(data, trusted=trusted)
    np.testing.assert_array_equal(outputs(other), outputs(model))


DAEMON = """
import sys, threading
import numpy as np
import gegenbauer as g
from gegenbauer._dispatch import core

rng = np.random.default_rng(0)
X = rng.uniform(size=(3000, 3))
y = X.sum(1)
model = g.GegenbauerRegressor(n_terms=200).fit(X, y)
basis = g.TensorBasis(3, n_terms=60)
kernel = g.basis.SpectrumKernel(3, (0.5, 1.0))
scaling = g.InputScaling([0.0] * 3, [1.0] * 3)
jobs = {{
    "fit": lambda: g.GegenbauerRegressor(n_terms=200, engine="primal").fit(X, y),
    "predict": lambda: model.predict(X),
    "choose": lambda: g.GegenbauerRegressorCV(n_terms=20).fit(X[:100], y[:100]),
    "evaluate": lambda: basis.evaluate(X[:64]),
    "kernel": lambda: kernel(X[:200], scaling=scaling),
    "fit_cost": lambda: core.fit_cost(basis._plan, 1000, 1),
    "count_moments": lambda: core.count_moments(basis._plan, 1),
    "eval": lambda: g.basis.gegenbauer_vander(X[:, 0], 20, 0.5),
    "cholesky": lambda: core.cholesky_in_place(np.eye(150, order="F"), 2),
}}
rounds = dict.fromkeys("{names}".split(), 0)

def work(name):
    while True:
        jobs[name]()
        rounds[name] += 1

threads = [threading.Thread(target=work, args=[name], daemon=True) for name in [*rounds, *rounds]]
for thread in threads:
    thread.start()
while min(rounds.values()) < 4 and all(thread.is_alive() for thread in threads):
    threads[0].join(0.01)
"""


@pytest.mark.parametrize(
    "names",
    [
        "fit predict kernel",
        "choose",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("evaluate", "fit_cost", "count_moments", "eval", "cholesky")
        ),
    ],
)
@pytest.mark.thread_unsafe(reason="it starts processes of its own")
def test_interpreter_ends_while_a_daemon_thread_works(names):
    done = subprocess.run(
        [sys.executable, "-c", DAEMON.format(names=names)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


HUGE = [2**31, 10**12, 2**62, 2**63 - 1]


class TestCounts:
    """No count that comes from a user wraps, allocates without a check or ends the process."""

    @pytest.mark.parametrize("count", [-1, 0, 10**8, *HUGE])
    def test_inputs(self, count):
        for make in (
            lambda: SpectrumKernel(count, (1.0, 1.0)),
            lambda: SpectrumKernel(count, (1.0, 2.0), max_degree=3),
            lambda: TotalDegreeKernel(count, 2),
            lambda: TensorBasis(count, n_terms=2),
            lambda: TensorBasis(count, degree=1, index_set="tensor", max_interaction=1),
        ):
            with pytest.raises(ValueError, match="n_features"):
                make()
        with pytest.raises(ValueError, match=r"n_features|the weights"):
            Spectrum((1.0, 1.0)).squared_weights(count, 2)

    def test_memory_is_checked_before_it_is_taken(self, monkeypatch):
        monkeypatch.setattr("gegenbauer._memory.available_memory", lambda: 5e7)
        for make in (
            lambda: SpectrumKernel(10**7, (1.0, 1.0)),
            lambda: SpectrumKernel(10**4, (1.0, 1.0), max_degree=10**4),
            lambda: TotalDegreeKernel(10**4, 1000, spectrum=PowerDecay(list(range(10**4)))),
            lambda: TensorBasis(10, n_terms=10**7),
            lambda: core.squared_weights(10**4, FLAT, 10**4),
            lambda: core.eval_gegenbauer(np.zeros(10**4), 10**4, 0.5, "orthonormal"),
            lambda: core.BandForm(np.eye(3, order="F"), None, 1).solve(
                np.ones(10**4), np.zeros((3, 10**4), order="F"), 1
            ),
            lambda: core.measure_read_bandwidth(0.0, 10**9, 1),
        ):
            with pytest.raises(TooLargeError, match=r"needs .* of memory"):
                make()

    @pytest.mark.parametrize("count", [-1, *HUGE])
    def test_degrees(self, count):
        for make in (
            lambda: core.eval_gegenbauer(np.zeros(3), count, 0.5, "orthonormal"),
            lambda: core.squared_weights(2, FLAT, count),
            lambda: core.TotalDegreeKernel(2, count, 0.5, "orthonormal", FLAT, None),
            lambda: core.SpectrumKernel(2, 0.0, FLAT, count, []),
            lambda: plan(degree=count),
        ):
            with pytest.raises(ValueError, match=r"degree|larger than any memory"):
                make()

    @pytest.mark.parametrize("count", [-1, *HUGE])
    def test_targets(self, count):
        basis = plan()
        sums = np.zeros(core.count_moments(basis, 1))
        for call in (
            lambda: core.count_moments(basis, count),
            lambda: core.substitute_moments(basis, sums, count, [1.0, 1.0], [0.0, 0.0]),
        ):
            with pytest.raises(ValueError, match="statistic"):
                call()
        if count < 0:
            kernel = core.SpectrumKernel(2, 0.0, (("power", 1.0, (1.0,)),), 0, [])
            for call in (
                lambda: core.fit_cost(basis, 10, count),
                lambda: core.fit_cost(basis, count, 1),
                lambda: core.estimate_bytes(basis, 10, count, 1.0, True, "auto", "auto"),
                lambda: kernel.solve_bytes(10, count, 1.0),
                lambda: kernel.solve_bytes(count, 1, 1.0),
                lambda: kernel.table_bytes(count),
            ):
                with pytest.raises(ValueError, match="must not be negative"):
                    call()

    @pytest.mark.parametrize("count", [-1, 0, 1025, 2**31 - 1])
    def test_threads(self, count):
        for call in (
            lambda: core.cholesky_in_place(np.eye(3, order="F"), count),
            lambda: core.measure_flops(0.0, count),
        ):
            with pytest.raises(ValueError, match="n_threads"):
                call()

    def test_many_inputs_of_a_tensor_set_are_counted_at_once(self):
        with pytest.raises(ValueError, match="at most"):
            TensorBasis(200_000, degree=[1] * 200_000, index_set="tensor", max_interaction=100_000)


class TestShapes:
    """Arrays of wrong shape, layout or size are refused, whoever calls."""

    def test_factor_that_is_not_square(self):
        with pytest.raises(ValueError, match="square"):
            core.inverse_diagonal(np.asfortranarray(np.eye(33, 32)), 1)

    def test_empty_matrix(self):
        with pytest.raises(ValueError, match="empty"):
            core.BandForm(np.zeros((0, 0), order="F"), None, 1)

    def test_no_samples(self):
        gram = np.zeros((7, 7), order="F")
        with pytest.raises(ValueError, match="at least one row and 2 columns"):
            core.accumulate_gram(plan(), np.zeros((0, 2)), None, np.zeros((0, 1)), None, gram, 1)

    def test_columns_that_overlap(self):
        overlapping = np.lib.stride_tricks.as_strided(np.zeros(64), (8, 4), (8, 8))
        with pytest.raises(ValueError, match="column-major"):
            core.cholesky_in_place(overlapping[:4], 1)

    def test_entries_between_entries(self):
        offset = np.frombuffer(bytearray(8 * 6 + 1), np.float64, offset=1, count=6).reshape(3, 2)
        stride = np.zeros((3, 2), dtype=[("a", "f8"), ("b", "i4")])["a"]
        for X in (offset, stride):
            with pytest.raises(ValueError, match="aligned"):
                plan().evaluate(X, None, np.zeros((3, 6)), 1)

    def test_grid_whose_number_of_nodes_would_wrap(self):
        with pytest.raises(ValueError, match="one row a product"):
            core.AngleFunctions([2**62, 3], np.zeros((3, 1)), 1)
        with pytest.raises(ValueError, match="between 0 and 16777216, got 16777217"):
            core.count_angle_nodes(2**24 + 1)

    def test_gram_without_products_of_targets_equals_the_whole(self, rng):
        basis, X = plan(2, 8), rng.uniform(-1, 1, (300, 2))
        terms = basis.n_terms
        for k in (1, 3, 40):
            Y = rng.normal(size=(300, k))
            whole = np.zeros((terms + k, terms + k), order="F")
            core.accumulate_gram(basis, X, None, Y, None, whole, 2)
            for precision in ("float64", "float32"):
                part = np.zeros((terms + k, terms), order="F")
                core.accumulate_gram(basis, X, None, Y, None, part, 2, precision)
                same = np.zeros_like(whole)
                core.accumulate_gram(basis, X, None, Y, None, same, 2, precision)
                np.testing.assert_array_equal(np.tril(part), np.tril(same[:, :terms]))
            np.testing.assert_allclose(np.tril(part), np.tril(whole[:, :terms]), atol=1e-3)
            np.testing.assert_allclose(np.tril(whole[terms:, terms:]), np.tril(Y.T @ Y), atol=1e-9)

            sums = np.zeros(core.count_moments(basis, k))
            core.accumulate_moments(basis, X, None, Y, None, sums, 2)
            core.assemble_moments(basis, sums, whole, 2)
            fewer = np.zeros(core.count_moments(basis, k, False))
            assert fewer.size == sums.size - k * k
            core.accumulate_moments(basis, X, None, Y, None, fewer, 2, False)
            np.testing.assert_array_equal(fewer, sums[: fewer.size])
            core.assemble_moments(basis, fewer, part, 2)
            np.testing.assert_array_equal(np.tril(part), np.tril(whole[:, :terms]))


class TestManyOutputs:
    def test_cost_of_outputs_is_linear(self):
        basis = TensorBasis(2, n_terms=100)
        cost = [core.fit_cost(basis._plan, 4000, k) for k in (1000, 2000, 3000)]
        for engine in ("primal", "moments", "dual", "kernel"):
            low, middle, high = (c[engine] for c in cost)
            assert abs(low + high - 2 * middle) <= 0.05 * (high - low), engine

    def test_memory_of_outputs_is_linear(self):
        plan = TensorBasis(2, n_terms=100)._plan
        for engine in ("primal", "moments", "auto"):
            low, middle, high = (
                core.estimate_bytes(plan, 4000, k, 1.0, True, engine, "cholesky")
                for k in (100_000, 200_000, 300_000)
            )
            assert abs(low + high - 2 * middle) <= 0.01 * (high - low), engine

    @pytest.mark.parametrize("engine", ["primal", "moments", "dual", "kernel"])
    def test_each_of_many_outputs_is_fitted_as_if_alone(self, engine, rng):
        X, Y = rng.uniform(size=(150, 2)), rng.normal(size=(150, 130))
        together = GegenbauerRegressor(n_terms=20, engine=engine).fit(X, Y)
        for k in (0, 7, 129):
            alone = GegenbauerRegressor(n_terms=20, engine=engine).fit(X, Y[:, k])
            np.testing.assert_allclose(
                together.term_coef_[:, k], alone.term_coef_.ravel(), rtol=1e-9, atol=1e-9
            )

    @pytest.mark.filterwarnings("ignore::gegenbauer.errors.PenalizedConstantWarning")
    def test_a_thousand_outputs_do_not_need_their_products(self):
        # of 30,000 outputs Y'Y alone would take 7 GB
        X = np.linspace(0, 1, 4)[:, np.newaxis]
        Y = np.ones((4, 30_000))
        for engine in ("primal", "moments"):
            basis = TensorBasis(1, n_terms=3)
            needed = core.estimate_bytes(basis._plan, 4, 30_000, 1.0, True, engine, "cholesky")
            assert needed < 1e9
            model = GegenbauerRegressor(n_terms=3, engine=engine, alpha=1e-3).fit(X, Y)
            np.testing.assert_allclose(model.predict(X), 1.0, atol=1e-2)


def test_saved_by_buffer_protocol_of_pickle_5():
    basis = TensorBasis(2, degree=3)
    file = io.BytesIO()
    pickle.Pickler(file, 5).dump({"a": basis, "b": basis})
    back = pickle.loads(file.getvalue())
    assert back["a"] is back["b"] == basis
