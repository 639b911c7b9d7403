"""Everything that the core exports, called with arguments that may or may not fit.

A call returns or raises an ordinary error: the process goes on, and inputs stay as they are. Run
under the address sanitizer (see CONTRIBUTING.md), the same shows that no memory is read or written
but that of the arguments.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gegenbauer._dispatch import core

if TYPE_CHECKING:
    from collections.abc import Callable

ORDINARY = (ValueError, TypeError, MemoryError, np.linalg.LinAlgError)
HOSTILE = (-1, 0, 1, 2, 7, 2**31 - 1, 2**31, 2**53, 2**62, 2**63 - 1, 2**63, -(2**63))


class Arguments:
    """Draws the arguments of one call: mostly what fits, now and then what does not."""

    def __init__(self, data: st.DataObject) -> None:
        self._draw = data.draw
        self._given: list[tuple[np.ndarray, np.ndarray]] = []
        # 0: all arguments fit; otherwise one in so many does not
        self._odd = self._draw(st.sampled_from((0, 0, 3, 10)))

    def pick(self, *choices: Any) -> Any:
        return self._draw(st.sampled_from(choices))

    def between(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def wrong(self) -> bool:
        return self._odd > 0 and self._draw(st.integers(0, self._odd - 1)) == 0

    def count(self, right: int | None) -> Any:
        return self.pick(*HOSTILE, None) if self.wrong() else right

    def number(self, right: float) -> float:
        if self.wrong():
            return self.pick(-1.0, 0.0, 1e-300, 1e308, float("inf"), float("nan"), -0.5)
        return right

    def threads(self) -> Any:
        return self.count(self.pick(1, 2, 3))

    def text(self, *choices: str) -> str:
        return "something" if self.wrong() else self.pick(*choices)

    def array(
        self, *shape: int, dtype: str = "f8", out: bool = False, fortran: bool = False
    ) -> Any:
        """Draw an array that the call reads, or one that it writes."""
        if self.wrong():
            return None if self.wrong() else np.zeros(shape, self.pick("f4", ">f8", "i8", "O"))
        if self.wrong():
            at = self.between(0, len(shape) - 1)
            size = self.pick(0, 1, shape[at] + 1, max(0, shape[at] - 1), 2 * shape[at])
            shape = (*shape[:at], size, *shape[at + 1 :])
        if self.wrong():
            shape = (*shape, 1) if self.wrong() else shape[1:]
        rng = np.random.default_rng(self.between(0, 2**20))
        values = rng.uniform(-1, 1, shape)
        if values.size and self.wrong():
            values.flat[rng.integers(values.size)] = self.number(np.nan)
        plain = "F" if fortran else self.pick("C", "F")
        array = self._laid_out(values.astype(dtype), plain)
        if out and self.wrong():
            array.flags.writeable = False
        if not out:
            self._given.append((array, array.copy()))
        return array

    def _laid_out(self, values: np.ndarray, plain: str) -> np.ndarray:
        layout = (
            self.pick("steps", "back", "broadcast", "offset", "field", "gap")
            if self.wrong()
            else plain
        )
        if values.ndim == 0 or layout in "CF":
            return np.array(values, order=plain if layout in "CF" else "C")
        if layout == "offset":
            raw = bytearray(values.nbytes + 1)
            array = np.frombuffer(raw, np.uint8, offset=1, count=values.nbytes)
            array = array.view(values.dtype).reshape(values.shape)
        elif layout == "field":
            array = np.zeros(values.shape, [("a", values.dtype), ("b", "i4")])["a"]
        elif layout == "broadcast":
            base = np.array(values[:1])
            strides = (0, *base.strides[1:])
            return (
                np.lib.stride_tricks.as_strided(base, values.shape, strides)
                if len(values)
                else values
            )
        elif layout == "gap":
            array = np.zeros((values.shape[0] + 3, *values.shape[1:]), values.dtype, order="F")
            array = array[: values.shape[0]]
        elif layout == "back":
            array = np.zeros(values.shape, values.dtype)[::-1]
        else:
            array = np.zeros((2 * values.shape[0], *values.shape[1:]), values.dtype)[::2]
        array[...] = values
        return array

    def check_inputs(self) -> None:
        for array, before in self._given:
            np.testing.assert_array_equal(array, before)


def spectrum(a: Arguments, m: int) -> tuple[Any, ...]:
    def one() -> tuple[str, float, tuple[float, ...]]:
        kind = a.text("power", "geometric", "gegenbauer")
        parameter = {"power": 2.0, "geometric": 0.3}.get(kind, 0.05)
        n = a.pick(1, m) if not a.wrong() else a.between(0, 3)
        return kind, a.number(parameter), tuple(a.number(0.5 / (t + 1)) for t in range(n))

    return tuple(one() for _ in range(a.pick(1, 1, 2)))


def levels(a: Arguments, m: int) -> list[tuple[list[float], bool]]:
    """None, or for each input: none, those of a number, or of a category."""
    if a.pick(True, False):
        return []
    one = lambda: a.pick(([], True), ([a.number(0.7), 0.3], True), ([a.number(0.5)] * 3, False))  # noqa: E731
    return [one() for _ in range(a.count(m))]


def set_arguments(a: Arguments, m: int) -> dict[str, Any]:
    kind = a.text("total_degree", "tensor", "hyperbolic_cross", "largest_weight")
    n_terms = a.between(1, 40) if kind == "largest_weight" else a.pick(None, 5)
    return {
        "n_inputs": a.count(m),
        "index_set": kind,
        "degree": a.count(a.between(0, 4)),
        "degrees": [a.count(2) for _ in range(m)] if a.wrong() else [],
        "n_terms": a.count(n_terms),
        "max_inputs": a.count(a.pick(None, 1, 2)),
        "order": a.text("grlex", "grlex_ascending", "grevlex"),
        "spectrum": spectrum(a, m),
        "levels": levels(a, m),
    }


def basis_of(a: Arguments) -> core.TensorBasis:
    m, degree = a.between(1, 3), a.between(0, 5)
    parts = (("power", 1.0, tuple(1.0 / (t + 1) for t in range(m))),)
    kind = a.pick("raw", "orthonormal")
    of_inputs = levels(a, m) if kind == "orthonormal" and a.pick(True, False) else []
    return core.TensorBasis(
        m, a.pick("total_degree", "tensor"), degree, [], None, None, "grlex",
        a.pick(0.0, 0.05, 1.5), kind, parts, of_inputs,
    )  # fmt: skip


def kernel_of(a: Arguments) -> Any:
    m = a.between(1, 3)
    if a.pick(True, False):
        parts = (("power", 0.0, (1.0,)),)
        return core.TotalDegreeKernel(
            m, a.between(0, 9), 0.5, "orthonormal", parts, a.pick(None, 1, 2)
        )
    parts = (("power", a.pick(1.0, 2.0, 3.0), (0.5,)), ("geometric", 0.3, (0.5,) * m))
    return core.SpectrumKernel(m, a.pick(0.0, 0.5), parts, a.pick(3, 9), levels(a, m))


def box(a: Arguments, m: int) -> Any:
    if a.pick(True, False):
        return None
    m = m + 1 if a.wrong() else m
    warping = []
    if a.pick(True, False):
        starts, values = [0.0, a.number(0.5)], [0.0, a.number(0.7)]
        slopes = [1.0] * (a.between(1, 3) if a.wrong() else 2)
        warping = [a.pick((starts, values, slopes), ([], [], []))] * (m + int(a.wrong()))
    return core.BoxMap(
        [-0.5] * m, [a.number(1.0)] * m, [2.0] * m, [-1.0] * m, a.pick(True, False), warping
    )


class Problem:
    """Numbers of samples, and what comes with them."""

    def __init__(self, a: Arguments, m: int) -> None:
        self.n = a.pick(1, 2, 3, 24, 25, 65, 200)
        self.k = a.pick(0, 1, 2, 9, 30)
        self.X = a.array(self.n, m, dtype=a.pick("f8", "f4"))
        self.box = box(a, m)
        self.Y = a.array(self.n, self.k)
        self.scale = a.pick(None, "some") and a.array(self.n)


def ridge(a: Arguments) -> None:
    b = basis_of(a)
    p = Problem(a, b.n_inputs)
    core.solve_ridge(
        b, p.X, p.box, p.Y, p.scale, a.number(0.1), a.pick(True, False),
        a.text("auto", "primal", "moments", "dual", "kernel"),
        a.text("auto", "cholesky", "orthogonal"), a.pick(True, False), 1e9, a.threads(),
    )  # fmt: skip


def predict(a: Arguments) -> None:
    b = basis_of(a)
    p = Problem(a, b.n_inputs)
    core.predict(b, p.X, p.box, a.array(b.n_terms, p.k), a.array(p.n, p.k, out=True), a.threads())


def accumulate_gram(a: Arguments) -> None:
    b = basis_of(a)
    p = Problem(a, b.n_inputs)
    size = b.n_terms + p.k
    gram = a.array(size, a.pick(size, b.n_terms), out=True, fortran=True)
    core.accumulate_gram(
        b, p.X, p.box, p.Y, p.scale, gram, a.threads(), a.text("float64", "float32")
    )


def accumulate_kernel(a: Arguments) -> None:
    b = basis_of(a)
    p = Problem(a, b.n_inputs)
    out = a.array(p.n, p.n, out=True, fortran=True)
    core.accumulate_kernel(b, p.X, p.box, p.scale, out, a.threads(), a.text("float64", "float32"))


def accumulate_total_degree_kernel(a: Arguments) -> None:
    b = basis_of(a)
    p = Problem(a, b.n_inputs)
    out = a.array(p.n, p.n, out=True, fortran=True)
    core.accumulate_total_degree_kernel(b, p.X, p.box, p.scale, out, a.threads())


def accumulate_moments(a: Arguments) -> None:
    b = basis_of(a)
    p = Problem(a, b.n_inputs)
    whole = a.pick(True, False)
    sums = a.array(core.count_moments(b, p.k, whole), out=True)
    core.accumulate_moments(b, p.X, p.box, p.Y, p.scale, sums, a.threads(), whole)


def assemble_moments(a: Arguments) -> None:
    b, k, whole = basis_of(a), a.between(0, 3), a.pick(True, False)
    size = b.n_terms + k
    gram = a.array(size, size if whole else b.n_terms, out=True, fortran=True)
    core.assemble_moments(b, a.array(core.count_moments(b, k, whole)), gram, a.threads())


def substitute_moments(a: Arguments) -> None:
    b, k = basis_of(a), a.between(0, 3)
    maps = [[a.number(0.5) for _ in range(b.n_inputs + a.wrong())] for _ in range(2)]
    core.substitute_moments(b, a.array(core.count_moments(b, k), out=True), a.count(k), *maps)


def shift_targets(a: Arguments) -> None:
    b, k = basis_of(a), a.between(0, 3)
    shifts = [a.number(1.0) for _ in range(k + a.wrong())]
    core.shift_targets(b, a.array(core.count_moments(b, k), out=True), shifts)


def form_coefficients(a: Arguments) -> None:
    b = basis_of(a)
    form = a.array(b.n_terms, b.n_terms, out=True, fortran=True)
    core.form_coefficients(b, form, a.array(core.count_moments(b, 0), out=True), a.threads())


def evaluate_forms(a: Arguments) -> None:
    b, k = basis_of(a), a.between(0, 3)
    p = Problem(a, b.n_inputs)
    coefficients = a.array(k * core.count_moments(b, 0), out=True)
    core.evaluate_forms(b, p.X, p.box, coefficients, a.array(p.n, k, out=True), a.threads())


def angle_grid(a: Arguments) -> None:
    m, f = a.between(1, 2), a.pick(0, 1, 5, 17)
    degrees = [a.pick(0, 3, 7) for _ in range(m)]
    if a.wrong():
        degrees[0] = a.pick(*HOSTILE)
    core.count_angle_nodes(degrees[0])
    waves = int(np.prod([d + 1 for d in degrees])) if max(degrees) < 100 else 9
    grid = core.AngleFunctions(degrees, a.array(waves, f), a.threads())
    p = Problem(a, m)
    grid.evaluate(p.X, p.box, a.array(p.n, f, out=True), a.threads())


def square(a: Arguments, n: int, *, out: bool = True) -> Any:
    """Draw a lower triangle that is positive definite, unless it is something else."""
    matrix = a.array(n, n, out=out, fortran=True)
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2 and matrix.flags.writeable:
        np.fill_diagonal(matrix, float(2 * n))
    return matrix


def factor_and_right(a: Arguments) -> tuple[Any, Any]:
    n = a.pick(1, 2, 24, 33, 200)
    return square(a, n), a.array(n, a.pick(0, 1, 3, 40), out=True, fortran=True)


def band_form(a: Arguments) -> None:
    n = a.pick(1, 2, 9, 33, 70)
    without = a.pick(None, "some") and a.array(n)
    form = core.BandForm(square(a, n), without, a.threads())
    largest = form.largest  # either is rounded by itself
    assert form.smallest <= largest + 1e-12 * abs(largest) or not np.isfinite(largest)
    form.band()
    form.orthogonal()
    right = a.array(n, a.pick(0, 1, 5), out=True, fortran=True)
    form.solve(a.array(a.pick(0, 1, 9)), right, a.threads())


def tensor_basis(a: Arguments) -> None:
    m = a.between(1, 3)
    arguments = set_arguments(a, m)
    core.count_terms(**arguments)
    b = core.TensorBasis(
        **arguments, lam=a.number(0.5), normalization=a.text("raw", "orthonormal")
    )  # fmt: skip
    tables = (b.parents, b.inputs, b.degrees)
    assert {len(table) for table in tables} == {b.n_terms}
    assert b.fits_float32 in (True, False)
    if b.n_terms > 2000:
        return
    b.substitution(a.count(0), a.number(0.5), a.number(0.25))
    p = Problem(a, b.n_inputs)
    b.evaluate(p.X, p.box, a.array(p.n, b.n_terms, out=True, dtype=a.pick("f8", "f4")), a.threads())
    core.complete_part(b)


def counts(a: Arguments) -> None:
    b = basis_of(a)
    n, k = a.count(a.between(0, 300)), a.count(a.between(0, 30))
    engine = a.text("auto", "primal", "moments", "dual", "kernel")
    solver = a.text("auto", "cholesky", "orthogonal")
    core.estimate_bytes(b, n, k, a.number(0.1), a.pick(True, False), engine, solver)
    core.fit_cost(b, n, k)
    core.count_moments(b, k, a.pick(True, False))
    core.moments_resolve(b, a.number(1.0), a.number(0.1))


def kernels(a: Arguments) -> None:
    kernel = kernel_of(a)
    p = Problem(a, kernel.n_inputs)
    Z = a.array(a.pick(1, 30), kernel.n_inputs, dtype=a.pick("f8", "f4"))
    rows = len(Z) if isinstance(Z, np.ndarray) and Z.ndim else 1
    kernel.evaluate(p.X, Z, p.box, a.array(p.n, rows, out=True), a.threads())
    c, out = a.array(rows, p.k), a.array(p.n, p.k, out=True)
    kernel.apply(p.X, Z, p.box, c, out, a.threads())


def kernels_of_one_sample(a: Arguments) -> None:
    kernel = kernel_of(a)
    p = Problem(a, kernel.n_inputs)
    kernel.evaluate_diagonal(p.X, p.box, a.threads())
    kernel.evaluate_symmetric(p.X, p.box, a.array(p.n, p.n, out=True), a.threads())
    out = a.array(p.n, p.n, out=True, fortran=True)
    kernel.accumulate(p.X, p.box, p.scale, a.pick(True, False), out, a.threads())
    if isinstance(kernel, core.SpectrumKernel):
        assert kernel.n_degrees >= 0
        M = a.array(p.n, p.n, out=True, fortran=True)
        kernel.log_gradient(p.X, p.box, M, a.threads())


def spectrum_parts(a: Arguments) -> None:
    m = a.between(1, 3)
    components = (("power", a.pick(2.0, 3.0), (0.5,)), ("geometric", 0.3, (0.5,) * m))
    kernel = core.SpectrumKernel(m, a.pick(0.0, 0.5), components, a.pick(3, 9), levels(a, m))
    p = Problem(a, m)
    parts = core.SpectrumParts(kernel, p.X, p.box, a.threads())
    q = a.array(2 * m)
    parts.evaluate(q, a.threads())
    parts.log_gradient(q, a.array(p.n * (p.n + 1) // 2), a.threads())


def kernel_solve(a: Arguments) -> None:
    kernel = kernel_of(a)
    p = Problem(a, kernel.n_inputs)
    kernel.table_bytes(a.count(p.n))
    kernel.solve_bytes(a.count(p.n), a.count(p.k), a.number(0.1))
    gamma, penalized = a.number(0.1), a.pick(True, False)
    kernel.solve(p.X, p.box, p.Y, p.scale, gamma, penalized, 1e9, a.threads())


def make_kernels(a: Arguments) -> None:
    m = a.between(1, 3)
    core.SpectrumKernel(
        a.count(m), a.number(0.0), spectrum(a, m), a.count(a.pick(0, 3)), levels(a, m)
    )
    core.TotalDegreeKernel(
        a.count(m), a.count(3), a.number(0.5), a.text("raw", "orthonormal"), spectrum(a, m),
        a.count(a.pick(None, 2)),
    )  # fmt: skip


def solve_gram(a: Arguments) -> None:
    terms, k = a.pick(1, 5, 30), a.pick(0, 1, 9)
    gram = square(a, terms + k)
    core.solve_gram(gram, a.count(terms), a.number(0.1), a.pick(True, False), a.threads())


def eval_gegenbauer(a: Arguments) -> None:
    x = a.array(a.pick(0, 1, 63, 64, 65))
    core.eval_gegenbauer(x, a.count(a.between(0, 9)), a.number(0.5), a.text("raw", "orthonormal"))


def level_contrasts(a: Arguments) -> None:
    shares = [a.number(0.5) for _ in range(a.pick(1, 2, 5, 30))]
    found = core.level_contrasts(shares, a.count(a.between(0, 40)))
    assert found.shape[0] == len(shares)
    assert found.shape[1] < len(shares)


def squared_weights(a: Arguments) -> None:
    m = a.between(1, 3)
    core.squared_weights(a.count(m), spectrum(a, m), a.count(a.between(0, 9)))


def orthonormal_recurrence(a: Arguments) -> None:
    size, n = a.pick(1, 2, 63, 64, 65), a.between(1, 20)
    x, weights = a.array(size), a.array(size)
    found = core.orthonormal_recurrence(x, weights, a.count(n), a.number(1e-13))
    assert found.shape[1] == 2


def measures(a: Arguments) -> None:
    core.measure_flops(a.number(0.0), a.threads())
    core.measure_read_bandwidth(a.number(0.0), a.count(10_000), a.threads())


CALLS: dict[Callable[[Arguments], Any], str] = {
    ridge: "solve_ridge",
    predict: "predict",
    accumulate_gram: "accumulate_gram",
    accumulate_kernel: "accumulate_kernel",
    accumulate_total_degree_kernel: "accumulate_total_degree_kernel",
    accumulate_moments: "accumulate_moments",
    assemble_moments: "assemble_moments",
    substitute_moments: "substitute_moments",
    shift_targets: "shift_targets",
    form_coefficients: "form_coefficients",
    evaluate_forms: "evaluate_forms",
    angle_grid: "AngleFunctions AngleFunctions.evaluate BoxMap count_angle_nodes",
    band_form: (
        "BandForm BandForm.largest BandForm.smallest BandForm.band BandForm.orthogonal "
        "BandForm.solve"
    ),
    tensor_basis: (
        "TensorBasis TensorBasis.n_inputs TensorBasis.n_terms TensorBasis.fits_float32 "
        "TensorBasis.parents TensorBasis.inputs TensorBasis.degrees TensorBasis.substitution "
        "TensorBasis.evaluate count_terms complete_part"
    ),
    counts: "estimate_bytes fit_cost count_moments moments_resolve",
    kernels: "ProductKernel.n_inputs ProductKernel.evaluate ProductKernel.apply",
    kernels_of_one_sample: (
        "ProductKernel.evaluate_diagonal ProductKernel.evaluate_symmetric ProductKernel.accumulate "
        "SpectrumKernel.n_degrees SpectrumKernel.log_gradient"
    ),
    spectrum_parts: "SpectrumParts SpectrumParts.evaluate SpectrumParts.log_gradient",
    kernel_solve: "ProductKernel.table_bytes ProductKernel.solve_bytes ProductKernel.solve",
    make_kernels: "ProductKernel SpectrumKernel TotalDegreeKernel",
    lambda a: core.cholesky_in_place(factor_and_right(a)[0], a.threads()): "cholesky_in_place",
    lambda a: core.solve_factored(*factor_and_right(a), a.threads()): "solve_factored",
    lambda a: core.solve_lower(*factor_and_right(a), a.threads()): "solve_lower",
    lambda a: core.invert_factored(factor_and_right(a)[0], a.threads()): "invert_factored",
    lambda a: core.inverse_diagonal(factor_and_right(a)[0], a.threads()): "inverse_diagonal",
    solve_gram: "solve_gram",
    eval_gegenbauer: "eval_gegenbauer",
    level_contrasts: "level_contrasts",
    squared_weights: "squared_weights",
    orthonormal_recurrence: "orthonormal_recurrence",
    measures: "measure_flops measure_read_bandwidth",
}


def exported() -> set[str]:
    found = set()
    for name, value in vars(core).items():
        if inspect.isclass(value):
            if not issubclass(value, Exception):
                found.add(name)
                found |= {f"{name}.{member}" for member in vars(value) if member[0] != "_"}
        elif callable(value):
            found.add(name)
    return found


def test_everything_is_called():
    assert exported() == {name for names in CALLS.values() for name in names.split()}


@pytest.mark.parametrize("call", CALLS, ids=[names.split()[0] for names in CALLS.values()])
@settings(suppress_health_check=list(HealthCheck), max_examples=settings().max_examples // 5)
@given(data=st.data())
def test_calls_return_or_raise(call, data):
    arguments = Arguments(data)
    try:
        with np.errstate(all="ignore"):
            call(arguments)
    except ORDINARY:
        pass
    arguments.check_inputs()
