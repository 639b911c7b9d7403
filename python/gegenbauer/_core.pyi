"""The compiled core, the same in every ISA variant. Arguments are taken as they are: no conversion.

Matrices that are accumulated into are float64 in Fortran order; only their lower triangle counts.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

_Doubles: TypeAlias = npt.NDArray[np.float64]
_Samples: TypeAlias = npt.NDArray[np.float64] | npt.NDArray[np.float32] | npt.NDArray[Any]
_Components: TypeAlias = tuple[tuple[str, float, tuple[float, ...]], ...]
_Levels: TypeAlias = Sequence[tuple[Sequence[float], bool]]

isa: str

class NotPositiveDefinite(np.linalg.LinAlgError): ...

class BoxMap:
    def __init__(
        self,
        half_lower: list[float],
        half_range: list[float],
        span: list[float],
        offset: list[float],
        clip: bool,
        warping: list[tuple[list[float], list[float], list[float]]] = ...,
    ) -> None: ...

class TensorBasis:
    def __init__(
        self,
        n_inputs: int,
        index_set: str,
        degree: int | None,
        degrees: list[int],
        n_terms: int | None,
        max_inputs: int | None,
        order: str,
        lam: float,
        normalization: str,
        spectrum: _Components,
        levels: _Levels,
    ) -> None: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_terms(self) -> int: ...
    @property
    def fits_float32(self) -> bool: ...
    @property
    def parents(self) -> npt.NDArray[np.int32]: ...
    @property
    def inputs(self) -> npt.NDArray[np.int32]: ...
    @property
    def degrees(self) -> npt.NDArray[np.int32]: ...
    def substitution(self, column: int, scale: float, shift: float) -> _Doubles: ...
    def evaluate(
        self, X: _Samples, box: BoxMap | None, out: npt.NDArray[Any], n_threads: int
    ) -> None: ...

def count_moments(basis: TensorBasis, n_targets: int, target_products: bool = ...) -> int: ...
def accumulate_moments(
    basis: TensorBasis,
    X: _Samples,
    box: BoxMap | None,
    Y: _Doubles,
    row_scale: _Doubles | None,
    statistic: _Doubles,
    n_threads: int,
    target_products: bool = ...,
) -> None: ...
def assemble_moments(
    basis: TensorBasis, statistic: _Doubles, gram: _Doubles, n_threads: int
) -> None: ...
def substitute_moments(
    basis: TensorBasis,
    statistic: _Doubles,
    n_targets: int,
    scales: list[float],
    shifts: list[float],
) -> None: ...
def shift_targets(basis: TensorBasis, statistic: _Doubles, shifts: list[float]) -> None: ...
def form_coefficients(
    basis: TensorBasis, form: _Doubles, coefficients: _Doubles, n_threads: int
) -> None: ...

angle_taps: int

def count_angle_nodes(degree: int) -> int: ...

class AngleFunctions:
    def __init__(self, degrees: Sequence[int], coefficients: _Doubles, n_threads: int) -> None: ...
    def evaluate(
        self, X: _Samples, box: BoxMap | None, values: _Doubles, n_threads: int
    ) -> None: ...

def evaluate_forms(
    basis: TensorBasis,
    X: _Samples,
    box: BoxMap | None,
    coefficients: _Doubles,
    values: _Doubles,
    n_threads: int,
) -> None: ...

class _KernelResult(TypedDict):
    dual_coef: _Doubles
    intercept: _Doubles
    solver: str
    rcond: float
    n_refinements: int
    correction: float
    precision: str
    rank: int

class ProductKernel:
    @property
    def n_inputs(self) -> int: ...
    def table_bytes(self, n_samples: int) -> float: ...
    def solve_bytes(self, n_samples: int, n_outputs: int, gamma: float) -> float: ...
    def evaluate_symmetric(
        self, X: _Samples, box: BoxMap | None, out: _Doubles, n_threads: int
    ) -> None: ...
    def evaluate_diagonal(self, X: _Samples, box: BoxMap | None, n_threads: int) -> _Doubles: ...
    def evaluate(
        self, X: _Samples, Z: _Samples, box: BoxMap | None, out: _Doubles, n_threads: int
    ) -> None: ...
    def accumulate(
        self,
        X: _Samples,
        box: BoxMap | None,
        row_scale: _Doubles | None,
        with_constant: bool,
        kernel: _Doubles,
        n_threads: int,
    ) -> None: ...
    def apply(
        self,
        X: _Samples,
        Z: _Samples,
        box: BoxMap | None,
        coefficients: _Doubles,
        out: _Doubles,
        n_threads: int,
    ) -> None: ...
    def solve(
        self,
        X: _Samples,
        box: BoxMap | None,
        Y: _Doubles,
        row_scale: _Doubles | None,
        gamma: float,
        penalize_constant: bool,
        max_bytes: float,
        n_threads: int,
    ) -> _KernelResult: ...

class TotalDegreeKernel(ProductKernel):
    def __init__(
        self,
        n_inputs: int,
        degree: int,
        lam: float,
        normalization: str,
        spectrum: _Components,
        max_inputs: int | None,
    ) -> None: ...

class SpectrumKernel(ProductKernel):
    def __init__(
        self,
        n_inputs: int,
        lam: float,
        spectrum: _Components,
        max_degree: int,
        levels: _Levels,
    ) -> None: ...
    @property
    def n_degrees(self) -> int: ...
    def log_gradient(
        self, X: _Samples, box: BoxMap | None, weights: _Doubles, n_threads: int
    ) -> _Doubles: ...

class SpectrumParts:
    def __init__(
        self, kernel: SpectrumKernel, X: _Samples, box: BoxMap | None, n_threads: int
    ) -> None: ...
    def evaluate(self, q: _Doubles, n_threads: int) -> _Doubles: ...
    def log_gradient(self, q: _Doubles, weights: _Doubles, n_threads: int) -> _Doubles: ...

def complete_part(basis: TensorBasis) -> tuple[int, int]: ...

class _RidgeResult(TypedDict):
    weights: _Doubles
    engine: str
    solver: str
    rcond: float
    n_refinements: int
    correction: float
    precision: str
    rank: int
    error: float

def eval_gegenbauer(x: _Doubles, degree: int, lam: float, normalization: str) -> _Doubles: ...
def count_terms(
    n_inputs: int,
    index_set: str,
    degree: int | None,
    degrees: list[int],
    n_terms: int | None,
    max_inputs: int | None,
    order: str,
    spectrum: _Components,
    levels: _Levels,
) -> tuple[int | None, float]: ...
def orthonormal_recurrence(
    x: _Doubles, weights: _Doubles, n: int, resolution: float
) -> _Doubles: ...
def squared_weights(n_inputs: int, spectrum: _Components, degree: int) -> _Doubles: ...
def level_contrasts(shares: Sequence[float], up_to: int) -> _Doubles: ...
def solve_ridge(
    basis: TensorBasis,
    X: _Samples,
    box: BoxMap | None,
    Y: _Doubles,
    row_scale: _Doubles | None,
    gamma: float,
    penalize_constant: bool,
    engine: str,
    solver: str,
    float64_products: bool,
    max_bytes: float,
    n_threads: int,
) -> _RidgeResult: ...
def solve_gram(
    gram: _Doubles, n_terms: int, gamma: float, penalize_constant: bool, n_threads: int
) -> _RidgeResult: ...
def estimate_bytes(
    basis: TensorBasis,
    n_samples: int,
    n_outputs: int,
    gamma: float,
    penalize_constant: bool,
    engine: str,
    solver: str,
) -> float: ...
def fit_cost(basis: TensorBasis, n_samples: int, n_outputs: int) -> dict[str, float]: ...
def moments_resolve(basis: TensorBasis, weight: float, penalty: float) -> bool: ...
def predict(
    basis: TensorBasis,
    X: _Samples,
    box: BoxMap | None,
    weights: _Doubles,
    out: _Doubles,
    n_threads: int,
) -> None: ...
def accumulate_gram(
    basis: TensorBasis,
    X: _Samples,
    box: BoxMap | None,
    Y: _Doubles,
    row_scale: _Doubles | None,
    gram: _Doubles,
    n_threads: int,
    precision: str = ...,
) -> None: ...
def accumulate_kernel(
    basis: TensorBasis,
    X: _Samples,
    box: BoxMap | None,
    row_scale: _Doubles | None,
    kernel: _Doubles,
    n_threads: int,
    precision: str = ...,
) -> None: ...
def accumulate_total_degree_kernel(
    basis: TensorBasis,
    X: _Samples,
    box: BoxMap | None,
    row_scale: _Doubles | None,
    kernel: _Doubles,
    n_threads: int,
) -> None: ...
def cholesky_in_place(matrix: _Doubles, n_threads: int, precision: str = ...) -> None: ...
def solve_factored(factor: _Doubles, right: _Doubles, n_threads: int) -> None: ...
def solve_lower(factor: _Doubles, right: _Doubles, n_threads: int) -> None: ...
def invert_factored(factor: _Doubles, n_threads: int) -> None: ...
def inverse_diagonal(factor: _Doubles, n_threads: int, precision: str = ...) -> _Doubles: ...

class BandForm:
    def __init__(self, matrix: _Doubles, without: _Doubles | None, n_threads: int) -> None: ...
    @property
    def largest(self) -> float: ...
    @property
    def smallest(self) -> float: ...
    def band(self) -> _Doubles: ...
    def orthogonal(self) -> _Doubles: ...
    def solve(
        self, gammas: _Doubles, right: _Doubles, n_threads: int
    ) -> tuple[_Doubles, _Doubles, _Doubles, _Doubles, _Doubles]: ...

def measure_flops(seconds: float, n_threads: int) -> float: ...
def measure_read_bandwidth(seconds: float, n_bytes: int, n_threads: int) -> float: ...
