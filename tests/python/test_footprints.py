"""Memory: what `fit_memory` announces, what calls take beside it, and blocks of samples."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from bench import footprints
from bench.footprints import Case, Footprint, announcements
from bench.memory import UnsupportedError
from gegenbauer import (
    GegenbauerRegressor,
    RidgePath,
    TensorBasis,
    _memory,
    save,
    solve_kernel,
    solve_ridge,
)
from gegenbauer._dispatch import core
from gegenbauer.basis import SpectrumKernel, TotalDegreeKernel
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.errors import TooLargeError
from gegenbauer.ridge import KernelExpansion, TermExpansion, fit_memory
from gegenbauer.ridge.expansions import KernelPosterior, TermPosterior
from gegenbauer.selection.calibration import ProbabilityMap

MB = 1_000_000
TEN = TensorBasis(2, degree=3)  # terms
KERNEL = SpectrumKernel(2, (1.0, 2.0))


class TestFitMemory:
    @pytest.mark.parametrize(
        ("engine", "sizes", "numbers"),
        [
            ("primal", (1000, 2), 12 * 10 + 4 * 1010 * 2 + MB),
            ("primal", (1000, 30), 40 * 10 + 1000 * 30 + 5 * 10 * 30 + MB),
            ("dual", (1000, 2), 1000**2 + 4 * 1010 * 2 + 1024 * 1000),
            ("kernel", (1000, 2), 1000**2 + 4 * 1010 * 2 + 1024 * 1000),
            ("dual", (100, 1), 100**2 + 4 * 110 + MB),
        ],
    )
    def test_numbers_of_an_engine(self, engine, sizes, numbers):
        assert fit_memory(TEN, *sizes)[engine] == 8 * numbers

    def test_blocks_of_many_terms(self):
        basis = TensorBasis(3, n_terms=2000)
        memory = fit_memory(basis, 10)
        assert memory["primal"] == 8 * (2001 * 2000 + 4 * 2010 + 1024 * 2001)
        assert memory["dual"] == 8 * (10 * 10 + 4 * 2010 + MB)

    def test_moments(self):
        memory = fit_memory(TEN, 1000, 2)
        n_moments = core.count_moments(TEN._plan, 2, False)
        of_plan = (memory["moments"] - memory["primal"]) / 8 - 5 * n_moments - 5 * MB
        assert 0 < of_plan < 1000

    @pytest.mark.parametrize(
        ("sizes", "numbers"),
        [
            ((1000, 2), 4 * 1010 * 2 + (4 * 12 + 512) * 12),
            ((5, 2), 4 * 15 * 2 + (10 + 4 * 5) * 5),
        ],
    )
    def test_orthogonal(self, sizes, numbers):
        memory = fit_memory(TEN, *sizes, solver="orthogonal")
        assert memory == dict.fromkeys(("primal", "moments", "dual", "kernel"), 8 * numbers)

    @pytest.mark.parametrize("kernel", [KERNEL, TotalDegreeKernel(2, 3)])
    def test_a_kernel(self, kernel):
        tables = kernel._plan.table_bytes(1000)
        assert 0 < tables < 100 * MB
        (once,) = fit_memory(kernel, 1000, 3).values()
        assert once == 8 * (1000**2 + 8 * 1000 * 3) + tables
        (thrice,) = fit_memory(kernel, 1000, 3, solver="orthogonal").values()
        assert thrice - once == 8 * 2 * 1000**2

    def test_no_plan_of_the_moments(self):
        memory = fit_memory(TensorBasis(60, degree=3), 1000)
        assert memory["moments"] == math.inf
        assert memory["primal"] < math.inf

    def test_wrong_arguments(self):
        with pytest.raises(
            TypeError,
            match="`model` must be a TensorBasis, SpectrumKernel or TotalDegreeKernel, got int",
        ):
            fit_memory(3, 1000)
        with pytest.raises(ValueError, match="`n_samples` must be at least 1"):
            fit_memory(TEN, 0)
        with pytest.raises(ValueError, match="`n_outputs` must be at least 1"):
            fit_memory(KERNEL, 10, 0)
        with pytest.raises(ValueError, match="`solver` must be one of 'auto'"):
            fit_memory(KERNEL, 10, solver="qr")

    @pytest.mark.parametrize("engine", ["primal", "moments", "dual", "kernel"])
    @pytest.mark.parametrize(("alpha", "solver"), [(1.0, "auto"), (0.0, "orthogonal")])
    def test_solves_announce_it(self, engine, alpha, solver):
        X, Y = footprints.samples(50, 2, 3)
        with announcements() as found:
            solve_ridge(TEN, X, Y, alpha, engine=engine)
        assert found[0][0] == fit_memory(TEN, 50, 3, solver=solver)[engine]
        with announcements() as found:
            solve_kernel(KERNEL, X, Y, alpha)
        assert found[0][0] == fit_memory(KERNEL, 50, 3, solver=solver)["kernel"]

    def test_less_is_refused(self, monkeypatch):
        X, Y = footprints.samples(4000, 2)
        monkeypatch.setattr(_memory, "available_memory", lambda: fit_memory(KERNEL, 4000)["kernel"])
        assert solve_kernel(KERNEL, X, Y, 1.0).solver == "cholesky"
        monkeypatch.setattr(
            _memory, "available_memory", lambda: fit_memory(KERNEL, 4000)["kernel"] - 1
        )
        with pytest.raises(TooLargeError, match="the solve for 4000 samples and 1 outputs"):
            solve_kernel(KERNEL, X, Y, 1.0)


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")


def footprint_of(case, measure=footprints.footprint_of):
    try:
        return measure(case)
    except UnsupportedError as error:
        if "clear_refs" not in str(error):
            raise
        pytest.skip(str(error))


class TestFootprints:
    @needs_linux
    @pytest.mark.parametrize(("announced", "holds"), [(80 * MB, True), (60 * MB, False)])
    def test_a_call_is_seen(self, announced, holds):
        def build(S):
            def run():
                _memory.require_memory(announced * (S / 10**6), "an array", "make less of it")
                return np.ones(19 * S)

            return run

        found = footprint_of(Case("ones", build, {"S": 10**6}))
        assert (found.announced, found.what) == (announced, "an array")
        assert found.peak == pytest.approx(152 * MB, rel=0.05)
        assert found.holds == holds
        assert ("**over**" in footprints.table([found])) != holds

    def test_what_is_small_holds(self):
        assert Footprint("", {}, None, "", 90 * MB).holds
        assert not Footprint("", {}, None, "", 110 * MB).holds
        assert Footprint("", {}, None, "", 90 * MB).ratio is None

    def test_announcements_end(self):
        with announcements() as found:
            TEN.evaluate(np.zeros((5, 2)))
            with pytest.raises(TooLargeError):
                _memory.require_memory(1e30, "it", "make less of it")
        TEN.evaluate(np.zeros((6, 2)))
        assert found == [(400.0, "a feature matrix of shape (5, 10)"), (1e30, "it")]

    def test_cases_have_names_of_their_own(self):
        names = [case.name for case in footprints.CASES]
        assert len({*names}) == len(names) > 50

    def test_the_command(self, monkeypatch, capsys, tmp_path):
        def measure(case):
            if case.name == "predict":
                raise UnsupportedError("not there")
            return Footprint(case.name, case.sizes, 100.0 * MB, "it", 190.0 * MB)

        monkeypatch.setattr(footprints, "measure", measure)
        assert footprints.main(["--filter", "solve_kernel", "--json", str(tmp_path / "a")]) == 0
        line = "| solve_kernel | S = 5,000, m = 10 | 100 | 190 | 1.90 |"
        assert line in capsys.readouterr().out.splitlines()
        assert '"peak": 190000000.0' in (tmp_path / "a").read_text(encoding="utf-8")
        assert footprints.main(["--filter", "predict"]) == 1
        assert "predict: not there" in capsys.readouterr().err
        monkeypatch.setattr(footprints, "MOST", 1.5)
        assert footprints.main(["--filter", "solve_kernel"]) == 1
        assert "1.90 **over** |" in capsys.readouterr().out
        assert footprints.main(["--list"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == len(footprints.CASES)

    @needs_linux
    @pytest.mark.slow
    @pytest.mark.parametrize("case", footprints.CASES, ids=lambda case: case.name)
    def test_no_call_takes_twice_what_it_announces(self, case):
        found = footprint_of(case, footprints.measure)
        assert found.holds, footprints.table([found])


class TestBlocks:
    """Blocks of samples, without which memory would grow with their number, change nothing."""

    X, Y = footprints.samples(70, 2, 2)
    box = InputScaling([-2.0, -2.0], [2.0, 2.0], domain=(-1, 1))

    def check(self, monkeypatch, module, name, size, call):
        whole = call()
        monkeypatch.setattr(f"{module}.{name}", size)
        np.testing.assert_allclose(call(), whole, rtol=1e-10, atol=1e-13)

    @pytest.mark.parametrize("free", [True, False])
    @pytest.mark.parametrize("method", ["variance", "gradient", "hessian"])
    def test_terms(self, monkeypatch, free, method):
        n = TEN.n_terms - free
        means = np.linspace(0.1, 0.3, n) if free else np.zeros(0)
        root = np.random.default_rng(1).normal(size=(n, n))
        posterior = TermPosterior(root, means, 0.25 * free, free)
        f = TermExpansion(TEN, np.arange(20.0).reshape(10, 2), self.box, None, posterior)
        call = lambda: getattr(f, method)(self.X)  # noqa: E731
        self.check(monkeypatch, "gegenbauer.ridge.expansions", "_BLOCK_SIZE", 64, call)

    @pytest.mark.parametrize("free", [True, False])
    @pytest.mark.parametrize("method", ["variance", "gradient", "hessian"])
    def test_kernels(self, monkeypatch, free, method):
        posterior = KernelPosterior(0.5, np.linspace(1.0, 2.0, 70), free)
        kernel = SpectrumKernel(2, (1.0, 3.0))  # without a kink
        f = KernelExpansion(kernel, self.X, self.Y, self.box, None, posterior)
        Z = np.random.default_rng(2).uniform(-2, 2, (33, 2))
        call = lambda: getattr(f, method)(Z)  # noqa: E731
        self.check(monkeypatch, "gegenbauer.ridge.expansions", "_BLOCK_SIZE", 210, call)

    @pytest.mark.parametrize("free", [True, False])
    @pytest.mark.parametrize("method", ["svd", "primal"])
    def test_leave_one_out(self, monkeypatch, free, method):
        X = np.vstack([self.X, self.X[:9]])  # of which some occur twice
        Y = np.vstack([self.Y, self.Y[:9] + 0.1])
        share = np.linspace(0.5, 1.0, 79)
        weight = np.linspace(1.0, 3.0, 79)
        path = RidgePath(TEN, X, Y, sample_weight=weight, penalize_constant=not free, method=method)

        def call():
            found = path.leave_one_out([0.1, 1.0, 10.0], left_out_share=share)
            return np.concatenate([found.predictions.ravel(), found.leverages.ravel()])

        self.check(monkeypatch, "gegenbauer.selection._features", "BLOCK_SIZE", 200, call)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_probabilities(self, monkeypatch, n_classes):
        outputs = np.random.default_rng(3).normal(size=(50, 1 if n_classes == 2 else 3))
        found = ProbabilityMap(2.0, np.linspace(0.0, 1.0, n_classes), reach=1.5)
        call = lambda: found(outputs)  # noqa: E731
        np.testing.assert_allclose(call().sum(axis=1), 1.0, rtol=1e-14)
        self.check(monkeypatch, "gegenbauer.selection.calibration", "_BLOCK_SIZE", 21, call)


def test_a_file_that_cannot_be_read_back_is_not_written(monkeypatch, tmp_path):
    model = GegenbauerRegressor(1200, engine="primal").partial_fit(*footprints.samples(60, 20))
    monkeypatch.setattr(_memory, "_WORTH_A_LOOK", 0.0)
    monkeypatch.setattr(_memory, "available_memory", lambda: 3e7)
    with pytest.raises(TooLargeError, match=r"reading back a file .* `statistics=False`"):
        save(model, tmp_path / "model.safetensors")
    assert not [*tmp_path.iterdir()]
    save(model, tmp_path / "model.safetensors", statistics=False)
    assert [*tmp_path.iterdir()]
