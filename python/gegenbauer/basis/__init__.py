"""Univariate polynomials, index sets, tensor features, spectra and kernels, on arrays."""

from __future__ import annotations

from gegenbauer._renamed import former_names_of
from gegenbauer.basis.index_sets import count_terms
from gegenbauer.basis.kernels import SpectrumKernel, TotalDegreeKernel
from gegenbauer.basis.levels import Levels
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.basis.spectrum import GegenbauerDecay, GeometricDecay, PowerDecay, Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.basis.univariate import gegenbauer_vander

__all__ = [
    "GegenbauerDecay",
    "GeometricDecay",
    "InputScaling",
    "Levels",
    "PowerDecay",
    "Spectrum",
    "SpectrumKernel",
    "TensorBasis",
    "TotalDegreeKernel",
    "count_terms",
    "gegenbauer_vander",
]

__getattr__ = former_names_of(__name__)
