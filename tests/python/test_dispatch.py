from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from contextlib import ExitStack

import joblib
import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from gegenbauer import _cpu, _dispatch
from gegenbauer.ridge._eigen import graded_svd
from gegenbauer.selection import learn_spectrum

ISA_VARIANTS = ["baseline", "avx2", "avx512"]


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a new interpreter, without GEGENBAUER_ISA unless `variables` have it."""
    environment = {k: v for k, v in os.environ.items() if k != "GEGENBAUER_ISA"} | variables
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


class TestIsaVariant:
    def test_processor_is_named(self):
        assert _cpu.best_isa() in ISA_VARIANTS

    def test_available_from_narrow_to_wide(self):
        available = _dispatch.available_isas()
        assert list(available) == [name for name in ISA_VARIANTS if name in available]
        assert _dispatch.isa in available

    def test_widest_is_the_default(self):
        done = run("from gegenbauer._dispatch import isa; print(isa)")
        assert done.stdout.strip() == _dispatch.available_isas()[-1], done.stderr

    @pytest.mark.parametrize("isa", _dispatch.available_isas())
    def test_variable_overrides(self, isa):
        code = "from gegenbauer._dispatch import core, isa; print(isa, core.__name__)"
        done = run(code, GEGENBAUER_ISA=isa)
        module = "_core" if isa == "baseline" else f"_core_{isa}"
        assert done.stdout.split() == [isa, f"gegenbauer.{module}"], done.stderr

    def test_all_isa_variants_have_the_same_names(self):
        code = "from gegenbauer._dispatch import core; print(sorted(vars(core)))"
        names = {run(code, GEGENBAUER_ISA=isa).stdout for isa in _dispatch.available_isas()}
        assert len(names) == 1
        assert names != {""}

    def test_only_one_core_is_loaded(self):
        code = "import gegenbauer, sys; print(sum('gegenbauer._core' in m for m in sys.modules))"
        assert run(code).stdout.strip() == "1"

    def test_unknown_value_is_refused(self):
        done = run("import gegenbauer", GEGENBAUER_ISA="sse9")
        assert done.returncode != 0
        assert (
            "ImportError: GEGENBAUER_ISA must be one of baseline, avx2, avx512; got 'sse9'. "
            "Unset it for the best choice, or set it to one of: "
            f"{', '.join(_dispatch.available_isas())}"
        ) in done.stderr

    def test_failing_core_is_heard(self):
        code = """
import sys
from importlib.abc import MetaPathFinder
class Broken(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("gegenbauer._core") and sys._getframe(1).f_code.co_name == "_find_spec":
            raise ImportError("undefined symbol: broken")
sys.meta_path.insert(0, Broken())
import gegenbauer
"""
        done = run(code)
        assert done.returncode != 0
        assert "ImportError: undefined symbol: broken" in done.stderr


class TestChoose:
    def test_wide_before_narrow(self):
        assert _dispatch._choose(None, ["baseline", "avx2"], "avx512") == "avx2"
        assert _dispatch._choose("", ["baseline", "avx2"], "avx512") == "avx2"
        assert _dispatch._choose("baseline", ["baseline", "avx2"], "avx512") == "baseline"

    @pytest.mark.parametrize(
        ("requested", "available", "best", "message"),
        [
            ("AVX2", ["baseline", "avx2"], "avx2", "must be one of baseline, avx2, avx512; got 'A"),
            ("avx512", ["baseline", "avx2"], "avx2", "lacks .it runs up to avx2.; got 'avx512'"),
            ("avx2", ["baseline"], "avx512", "built without; got 'avx2'"),
            (None, [], "baseline", "holds no core that the processor can run .up to 'baseline'."),
        ],
    )
    def test_impossible_choice_teaches(self, requested, available, best, message):
        with pytest.raises(ImportError, match=message):
            _dispatch._choose(requested, available, best)

    def test_narrow_processor(self, monkeypatch):
        monkeypatch.setattr(_cpu, "best_isa", lambda: "baseline")
        assert set(_dispatch.available_isas()) <= {"baseline"}

    def test_isa_variant_that_was_not_built(self, monkeypatch):
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(_cpu, "best_isa", lambda: "avx512")
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name: find_spec("gegenbauer._cpu") if name.endswith("_avx2") else None,
        )
        assert _dispatch.available_isas() == ("avx2",)


class TestThreads:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (None, 4),
            ("", 4),
            ("3", 3),
            (" 2 ", 2),
            ("1,2", 1),
            ("64", 4),
            ("0", 4),
            ("-1", 4),
            ("two", 4),
            ("²", 4),
        ],
    )
    def test_limit(self, monkeypatch, value, expected):
        monkeypatch.setattr(_dispatch, "_counted", lambda *_: 4)
        if value is None:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert _dispatch.default_threads() == expected

    def test_what_changes_is_counted_again(self, monkeypatch):
        counted = joblib.cpu_count()
        monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
        assert _dispatch.processors() == _dispatch.processors() == counted
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
        assert _dispatch.processors() == 1
        monkeypatch.delenv("LOKY_MAX_CPU_COUNT")
        assert _dispatch.processors() == counted
        if hasattr(os, "sched_setaffinity"):
            before = os.sched_getaffinity(0)
            try:
                os.sched_setaffinity(0, {min(before)})
                assert _dispatch.processors() == 1
            finally:
                os.sched_setaffinity(0, before)
            assert _dispatch.processors() == counted

    def test_workers_of_joblib_share_the_processors(self):
        in_workers = joblib.Parallel(n_jobs=2)(
            joblib.delayed(_dispatch.default_threads)() for _ in range(4)
        )
        assert all(2 * n <= max(2, joblib.cpu_count()) for n in in_workers)


class TestOneBlasThread:
    @staticmethod
    def numbers():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    def test_for_a_while(self):
        before = self.numbers()
        assert before  # NumPy's and SciPy's
        with _dispatch.one_blas_thread():
            assert set(self.numbers()) == {1}
            with pytest.raises(KeyError), _dispatch.one_blas_thread():
                raise KeyError
            assert set(self.numbers()) == {1}
        assert self.numbers() == before

    def test_the_last_of_several_threads_lifts_it(self):
        """Each restoring what it has found would leave what the second has found: one thread."""
        before, first, second = self.numbers(), ExitStack(), ExitStack()
        first.enter_context(_dispatch.one_blas_thread())
        second.enter_context(_dispatch.one_blas_thread())
        first.close()
        assert set(self.numbers()) == {1}
        second.close()
        assert self.numbers() == before

    def test_in_any_thread(self):
        """The first may be one and the next another; and who lifts it need not have taken it.

        In a process of its own: here a limit that holds for all tests is in control.
        """
        program = """
import threading
import scipy.linalg
from contextlib import ExitStack
from threadpoolctl import threadpool_info, threadpool_limits
from gegenbauer._dispatch import one_blas_thread

def numbers():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()

def limited():
    with one_blas_thread():
        print(numbers(), end=" ")

with threadpool_limits(2, user_api="blas"):
    pass
before = numbers()
limited()
in_thread(limited)
limited()
stack = ExitStack()
in_thread(lambda: stack.enter_context(one_blas_thread()))
print(numbers(), end=" ")
stack.close()
print(numbers() == before)
"""
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stderr == ""
        assert done.stdout == "{1} {1} {1} {1} True\n"

    def test_while_a_spectrum_is_learned(self, monkeypatch):
        seen, before = [], self.numbers()
        minimize = scipy.optimize.minimize

        def watched(*args, **kwargs):
            seen.extend(self.numbers())
            return minimize(*args, **kwargs)

        monkeypatch.setattr(scipy.optimize, "minimize", watched)
        X = np.random.default_rng(0).uniform(-1, 1, size=(20, 2))
        learn_spectrum(X, X[:, :1] ** 2)
        assert set(seen) == {1}
        assert self.numbers() == before

    def test_while_columns_are_rotated(self):
        """Bitwise identical for any number of threads, and as fast beside other work."""
        A = np.random.default_rng(0).normal(size=(300, 200)) * 10.0 ** np.linspace(-6, 6, 200)
        with threadpool_limits(1, user_api="blas"):
            expected = graded_svd(A)
        with threadpool_limits(2, user_api="blas"):
            found = graded_svd(A)
            assert set(self.numbers()) == {2}
        for one, other in zip(found, expected, strict=True):
            assert_array_equal(one, other)


class TestShowVersions:
    def test_names_what_a_report_needs(self, capsys):
        assert _dispatch.show_versions() is None
        rows = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
        assert rows["instruction set"].startswith(_dispatch.isa)
        assert {"gegenbauer", "threads", "python", "platform", "numpy", "scikit-learn"} <= set(rows)

    def test_missing_package_is_reported(self, capsys, monkeypatch):
        version = _dispatch.metadata.version

        def without_safetensors(package):
            if package == "safetensors":
                raise _dispatch.metadata.PackageNotFoundError(package)
            return version(package)

        monkeypatch.setattr(_dispatch.metadata, "version", without_safetensors)
        _dispatch.show_versions()
        assert "safetensors: not installed" in capsys.readouterr().out.splitlines()
