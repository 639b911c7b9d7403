"""Models in files: numbers and a declared schema, never code.

A model file is a safetensors file. Loading one parses JSON, checks it against the schema
below, and copies arrays of numbers; it imports nothing and calls nothing that the file names.

Schema, ``format_version`` 1. The header's ``__metadata__`` has exactly these entries:

==================  ==================================================================
``format``          ``"gegenbauer-model"``
``format_version``  ``"1"``
``library_version`` version of this library that wrote the file
``estimator``       ``"GegenbauerClassifier"``, ``"GegenbauerRegressor"``,
                    ``"GegenbauerClassifierCV"``, ``"GegenbauerRegressorCV"`` or
                    ``"GegenbauerFeatures"``
``parameters``      JSON object, the estimator's ``get_params()``; whatever holds several values
                    is a list, ``class_weight`` is a list of [label, weight] pairs, a Spectrum
                    ``{"components": [...]}``, and each of these ``{"kind": "PowerDecay",
                    "interaction": ..., "smoothness": ...}`` or alike
``fitted``          JSON object, see :data:`_FITTED`
``checksum``        BLAKE2b of all else (16 bytes, hexadecimal; see :func:`_checksum`)
==================  ==================================================================

The tensors, in row-major order and no others:

============  ==================  ====================================================
``indices``   int32, (L, m)       multi-indices of the terms, ``basis_.indices`` (not for
                                  models of all terms)
``lower``     float64, (m,)       smallest value of each input, ``scaling_.lower``
``upper``     float64, (m,)       largest value of each input, ``scaling_.upper``
``constant``  bool, (m,)          inputs that are ignored, ``scaling_.is_constant``
``coef``      float64, (L,) or    weights, ``term_coef_`` (not for GegenbauerFeatures and models
              (L, K)              of all terms)
``classes``   bool, int or float, labels, ``classes_``, or ``label_names_`` of multilabel y
              (n_classes,)        (GegenbauerClassifier, unless they are str or object: those are
                                  JSON, in ``fitted``)
============  ==================  ====================================================

and for models learned from batches, unless they were saved without

============  ==================  ====================================================
``sums``      float64, (n,)       ``statistics_``: the moments, or the columns of the lower
                                  triangle of [G, Y]'[G, Y]; ``fitted`` then has the entry
                                  ``statistics``, and ``coef`` is there if it was solved for
``shift``     float64, (K,)       Y in these sums is the targets less this, and ``constant``
                                  inputs that have a range were summed like others. Missing in
                                  older files: there neither is so
============  ==================  ====================================================

and for models whose penalty was chosen by ``choose_gamma``

=======================  ====================  ========================================
``gamma_results.*``      float64, (n,)         what was tried, ``gamma_results_``:
                                               ``gamma`` and ``score``
=======================  ====================  ========================================

and for the estimators that choose by themselves

=======================  ====================  ========================================
``X_fit``                float64 or float32,   distinct rows, ``X_fit_``, and their
                         (n, m)                coefficients, ``dual_coef_``, in models of
``dual_coef``            float64, (n, K)       all terms
``intercept``            float64, (K,)         ``intercept_``
``loo_predictions``      float64, (N,) or      ``loo_predictions_``; NaN where a row was
                         (N, K)                never left out
``cv_results.*``         float64; int64 for    what was tried, ``cv_results_``: the axes of
                         numbers of terms      the grid and ``score``
``probability_scales``,  float64, (Q,),        ``probability_maps_`` (classification): one
``probability_biases``   (Q, classes)          for each of Q questions
``relevances``           float64, (m,)         ``relevances_`` (regression, and all below), if
                                               there is a spectrum
``noise_variance``       float64, (K,)         ``noise_variance_``
``residuals``            float64, (n, K)       of distinct rows, each left out
``prior_variance``       float64, (K,)         of the outputs in units of the kernel
``row_weight``           float64, (n,)         of distinct rows, if they have weights
``left_out_share``       float64, (n,)         of these weights, if not all is left out with a row
``posterior``,           float64, (p, p),      what leverages of new rows are made of, as
``mean_features``        (p,) or (0,)          `RidgePath.posterior` returns it, in models
                                               of a finite set
=======================  ====================  ========================================

Files of the same ``format_version`` may lack parameters that are newer than they are,
``precision_``, ``prior_variance``, ``correlation`` and ``checksum``.

A file is taken for hostile until it is loaded. Each number of the header has a range, and each
tensor a type, a shape and a range; headers and shapes are checked before anything is allocated or
counted. Two limits bind work and memory to the size of the file where a few bytes could ask for
much: of values in the JSON, and of the weights of a spectrum. With the index set in the file, any
program can evaluate a model. Here it also binds the memory, and finds out if the order of terms
were ever to change between versions.

Whatever a fit takes comes back, and what would not is refused before anything is written: see
:func:`save`. What is not kept: ``set_output``, metadata requests and callbacks.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import itertools
import json
import math
import os
import re
import reprlib
import secrets
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils.validation import check_is_fitted

from gegenbauer import __version__
from gegenbauer._arrays import check_flag, check_integer, check_number
from gegenbauer.basis import InputScaling, TensorBasis, count_terms
from gegenbauer.calibration import ProbabilityMap
from gegenbauer.estimators import GegenbauerClassifier, GegenbauerRegressor
from gegenbauer.features import GegenbauerFeatures, _stacklevel
from gegenbauer.kernel import SpectrumKernel
from gegenbauer.model_selection import GegenbauerClassifierCV, GegenbauerRegressorCV
from gegenbauer.spectrum import COMPONENTS, Spectrum
from gegenbauer.statistics import GramStatistics, MomentStatistics

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Checkpoint", "ModelFileError", "ModelVersionWarning", "load", "save"]

_FORMAT: Final = "gegenbauer-model"
_FORMAT_VERSION: Final = "1"

# The classes that a file may name.
_ESTIMATORS: Final[dict[str, Any]] = {
    cls.__name__: cls
    for cls in (
        GegenbauerClassifier,
        GegenbauerRegressor,
        GegenbauerClassifierCV,
        GegenbauerRegressorCV,
        GegenbauerFeatures,
    )
}
_CLASSIFIERS: Final = {"GegenbauerClassifier", "GegenbauerClassifierCV"}
_SEARCHES: Final = {"GegenbauerClassifierCV", "GegenbauerRegressorCV"}

_METADATA_KEYS: Final = {
    "format",
    "format_version",
    "library_version",
    "estimator",
    "parameters",
    "fitted",
    "checksum",
}


class _Entry(NamedTuple):
    """What an entry of the header may be: JSON types, and the range of numbers, ends included."""

    types: tuple[type, ...]
    low: float = -sys.float_info.max
    high: float = sys.float_info.max


_FLAG: Final = _Entry((bool,))
_TEXT: Final = _Entry((str,))
_OBJECT: Final = _Entry((dict,))
_NUMBER: Final = _Entry((int, float))
_COUNT: Final = _Entry((int,), 0, 2**63 - 1)
# "nan", "inf" and "-inf" stand for numbers that JSON does not have.
_OPEN_NUMBER: Final = _Entry((int, float, str))

# What ``fitted`` holds, for every estimator and beyond.
_FITTED: Final[dict[str, _Entry]] = {
    "domain": _Entry((list,)),
    "clip": _FLAG,
    "feature_names_in_": _Entry((list, type(None))),
}
# Not of models learned from batches, nor in older files.
_CORRELATION: Final[dict[str, _Entry]] = {
    "correlation": _Entry((list,)),  # the largest of two inputs, and which: [float, int, int]
}
_FITTED_BASIS: Final[dict[str, _Entry]] = {
    "basis": _OBJECT,  # the arguments of TensorBasis; missing in models of all terms
}
_FITTED_SOLUTION: Final[dict[str, _Entry]] = {
    "engine_": _TEXT,
    "solver_": _TEXT,
    "rcond_": _Entry((int, float, type(None)), 0),  # null where it is not finite
}
_FITTED_RIDGE: Final[dict[str, _Entry]] = {
    "precision_": _Entry((str, type(None))),  # null, or missing in older files, if not known
    "n_refinements_": _COUNT,
}
# Models learned from batches have it as ``statistics``.
_STATISTICS: Final[dict[str, _Entry]] = {
    "kind": _TEXT,  # "gram" or "moments"
    "n_samples": _COUNT,
    "weight_sum": _NUMBER,  # rounding may leave it below zero when all rows were forgotten
    "resolution": _Entry((float,), 0, 1),
    "n_outputs": _Entry((int,), 1, 2**31),
    "n_out_of_range": _Entry((int,), -(2**63), 2**63 - 1),
    "y_was_flat": _FLAG,
    "solved": _FLAG,
    "shifted": _FLAG,  # missing in older files: false
    "position": _Entry((list, type(None))),  # of a checkpoint: number of batches, fingerprint
}
_KINDS: Final[dict[str, Any]] = {"gram": GramStatistics, "moments": MomentStatistics}

_FITTED_SEARCH: Final[dict[str, _Entry]] = {
    "gamma_": _Entry((int, float), math.ulp(0.0)),
    "best_score_": _OPEN_NUMBER,
    "n_search_rows_": _COUNT,
    "spectrum_": _Entry((list, type(None))),  # components; null for raw polynomials
    "y_was_flat": _FLAG,
}
_FITTED_REGRESSOR_SEARCH: Final[dict[str, _Entry]] = {
    "effective_dof_": _OPEN_NUMBER,
    "free_constant": _FLAG,
    "free_leverage": _Entry((int, float, str, type(None)), 0),  # null in models of all terms
}
_FITTED_CLASSIFIER: Final[dict[str, _Entry]] = {
    "multilabel_": _FLAG,
    "classes_": _Entry((dict, type(None))),  # {"dtype": "<U3" or "object", "values": [str, ...]}
}
_BASIS_ARGUMENTS: Final = (
    "n_features",
    "n_terms",
    "degree",
    "lam",
    "index_set",
    "max_interaction",
    "order",
    "spectrum",
)

_COMPONENTS: Final[dict[str, Any]] = {cls.__name__: cls for cls in COMPONENTS}

# Most weights of a spectrum, one for each component and input, beside one for each 8 bytes of the
# file: making a kernel of them takes a second and a few hundred bytes for each.
_MAX_WEIGHTS: Final = 2**20

# The axes of ``cv_results_``, in the order in which ``score`` has them.
_AXES: Final = (("smoothness", "interaction", "relative_gamma"), ("lam", "n_terms", "gamma"))
_RESULTS: Final = "cv_results."
_GAMMA_RESULTS: Final = "gamma_results."


class _Tensor(NamedTuple):
    """What a tensor may be: types, and the range of numbers, ends included."""

    dtypes: frozenset[np.dtype[Any]]
    low: float = -sys.float_info.max
    high: float = sys.float_info.max
    unknown: bool = False  # whether NaN may stand for what is not known


def _doubles(low: float = -sys.float_info.max, high: float = sys.float_info.max) -> _Tensor:
    return _Tensor(frozenset({np.dtype("float64")}), low, high)


def _of_type(*names: str, **limits: Any) -> _Tensor:
    return _Tensor(frozenset(map(np.dtype, names)), **limits)


_MEASURED: Final = _of_type("float64", low=-math.inf, high=math.inf, unknown=True)
# Largest header that is written and read: some hundred thousand names of inputs or labels.
_MAX_HEADER_BYTES: Final = 16 * 2**20
_LENGTH_BYTES: Final = 8
# Most values in a text of JSON, each of which may take 100 bytes for its two of the file.
_MAX_VALUES: Final = 2**20
# Those of the largest float64: `gamma` may be so large an int, and a parameter anything.
_MAX_INT_DIGITS: Final = 309
# No tensor has more dimensions, and products of thousands of sizes take minutes.
_MAX_DIMENSIONS: Final = 3

_BINARY: Final[int] = getattr(os, "O_BINARY", 0)

_DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "BOOL": np.dtype("bool"),
    "I8": np.dtype("int8"),
    "I16": np.dtype("int16"),
    "I32": np.dtype("int32"),
    "I64": np.dtype("int64"),
    "U8": np.dtype("uint8"),
    "U16": np.dtype("uint16"),
    "U32": np.dtype("uint32"),
    "U64": np.dtype("uint64"),
    "F16": np.dtype("float16"),
    "F32": np.dtype("float32"),
    "F64": np.dtype("float64"),
}
_LABEL_DTYPES: Final[frozenset[np.dtype[Any]]] = frozenset(_DTYPES.values())

_TENSORS: Final[dict[str, _Tensor]] = {
    "indices": _of_type("int32"),
    "lower": _doubles(),
    "upper": _doubles(),
    "constant": _of_type("bool"),
    "coef": _doubles(),
    "classes": _Tensor(_LABEL_DTYPES),
    "sums": _doubles(),
    "shift": _doubles(),
    "X_fit": _of_type("float64", "float32"),
    "dual_coef": _doubles(),
    "intercept": _doubles(),
    "loo_predictions": _MEASURED,
    **{
        f"{_RESULTS}{axis}": _doubles(low=0.0)
        for axis in ("smoothness", "interaction", "relative_gamma", "gamma")
    },
    f"{_RESULTS}lam": _doubles(low=-0.5),
    f"{_RESULTS}n_terms": _of_type("int64", low=1, high=2**63 - 1),
    f"{_RESULTS}score": _MEASURED,
    f"{_GAMMA_RESULTS}gamma": _doubles(low=0.0),
    f"{_GAMMA_RESULTS}score": _MEASURED,
    "probability_scales": _doubles(low=math.ulp(0.0)),
    "probability_biases": _doubles(),
    "relevances": _doubles(low=0.0),
    "noise_variance": _doubles(low=0.0, high=math.inf),
    "prior_variance": _doubles(low=0.0, high=math.inf),
    "residuals": _MEASURED,
    "row_weight": _doubles(low=math.ulp(0.0)),
    "left_out_share": _doubles(low=math.ulp(0.0), high=1.0),
    "posterior": _doubles(),
    "mean_features": _doubles(),
}
# Sizes of a tensor; None stands for any from 1 up.
_Shape: TypeAlias = tuple[int | None, ...]

# Text labels come back in an array as wide as they were in if it takes at most this, and 8 times
# their characters, and else as objects: one long label makes all others as wide.
_MAX_LABEL_BYTES: Final = 2**20


class ModelFileError(ValueError):
    """A file is not a model of this library, is damaged, or holds what no model can."""


class ModelVersionWarning(UserWarning):
    """A file was written by another version of this library."""


class _Header(NamedTuple):
    """What the first bytes of a file say, checked against the schema's outline."""

    estimator: str
    parameters: dict[str, Any]
    fitted: dict[str, Any]
    tensors: dict[str, tuple[np.dtype[Any], tuple[int, ...]]]
    n_bytes: int  # length that the file must have
    entries: dict[str, str]  # of __metadata__, as they stand there


# ---- saving --------------------------------------------------------------------------


def save(estimator: Any, path: str | os.PathLike[str], *, statistics: bool = True) -> None:
    """Write a fitted estimator to a file.

    The file appears at once and whole: it is written under another name in the same folder,
    read back, and then renamed, so that an existing file stays intact if anything fails. What a
    process that was killed has left there is removed by the next `save` of the same name.

    Whatever a fit takes comes back, but for objects of other libraries (``cv`` and ``scoring``
    that are no names or numbers) and labels that are neither text nor numbers of at most 64 bits.

    Parameters
    ----------
    estimator : GegenbauerClassifier, GegenbauerRegressor, either with CV, or GegenbauerFeatures
        A fitted estimator; of a pipeline, save the last step and build the others anew.
    path : str or path-like
        File to write or replace, by custom with the suffix ``.safetensors``.
    statistics : bool, default=True
        Whether a model learned from batches keeps the sums over its rows, with which it can go
        on learning, be merged and choose its penalty. Without them the file is smaller, for
        prediction alone.

    Raises
    ------
    TypeError
        ``estimator`` is of another class, subclasses and pipelines included, or a parameter
        or label is of a type that the format has no place for: nothing is written.
    sklearn.exceptions.NotFittedError
        ``estimator`` is not fitted.
    ValueError
        The names of inputs and labels exceed 16 MiB or a million, a weight is not finite, or an
        int has more than 309 digits: nothing is written.
    OSError
        The file cannot be written.
    ImportError
        The package safetensors is missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import gegenbauer
    >>> model = gegenbauer.GegenbauerRegressor(n_terms=2).fit([[0.0], [1.0]], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gegenbauer.save(model, Path(folder) / "line.safetensors")
    ...     same = gegenbauer.load(Path(folder) / "line.safetensors")
    >>> bool((same.term_coef_ == model.term_coef_).all())
    True
    """
    _import_safetensors()
    if type(estimator) not in _ESTIMATORS.values():
        hint = ""
        if hasattr(estimator, "steps"):
            hint = " Of a pipeline, save the last step by itself and build the others anew."
        elif hasattr(estimator, "to_local"):
            hint = f" Of the {type(estimator).__name__} of gegenbauer.dask, save its to_local()."
        raise TypeError(
            f"save writes fitted {', '.join(_ESTIMATORS)}; got {type(estimator).__name__}.{hint}"
        )
    check_is_fitted(estimator)
    estimator._validate_params()  # they may have been set after the fit
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to save the model in")
    if target.exists() and not target.is_file():
        raise OSError(f"{os.fspath(path)!r} is a folder or a device; give the name of a file")
    if not check_flag(statistics, "statistics") and "statistics_" in vars(estimator):
        estimator = copy.copy(estimator)
        estimator.term_coef_  # noqa: B018  # solved for, if it was not yet
        del estimator.statistics_
    _write_atomically(target, _to_bytes(estimator), _require_same)


def _to_bytes(estimator: Any, position: list[Any] | None = None) -> bytes:
    from safetensors.numpy import save as to_safetensors

    name = type(estimator).__name__
    tensors: dict[str, NDArray[Any]] = {
        "lower": estimator.scaling_.lower,
        "upper": estimator.scaling_.upper,
        "constant": estimator.scaling_.is_constant,
    }
    fitted: dict[str, Any] = {
        "domain": [float(end) for end in estimator.scaling_.domain],
        "clip": bool(estimator.scaling_.clip),
        "feature_names_in_": _plain(
            getattr(estimator, "feature_names_in_", None), "feature_names_in_"
        ),
    }
    if hasattr(estimator, "basis_"):
        tensors["indices"] = np.asarray(estimator.basis_.indices, dtype=np.int32)
        fitted["basis"] = {
            key: _plain(getattr(estimator.basis_, key), f"basis_.{key}") for key in _BASIS_ARGUMENTS
        } | {"spectrum": _plain(estimator.basis_._spectrum_shorthand(), "basis_.spectrum")}
    if "_correlation" in vars(estimator):
        fitted["correlation"] = [*estimator._correlation]
    if "statistics_" in vars(estimator):
        _put_statistics(estimator, tensors, fitted, position)
    for key, values in vars(estimator).get("gamma_results_", {}).items():
        tensors[f"{_GAMMA_RESULTS}{key}"] = np.asarray(values)
    has_solution = name != "GegenbauerFeatures" and (
        "statistics_" not in vars(estimator) or "term_coef_" in vars(estimator)
    )
    if has_solution and hasattr(estimator, "term_coef_"):
        tensors["coef"] = np.asarray(estimator.term_coef_)
    if has_solution:
        rcond = float(estimator.rcond_)
        fitted |= {
            "engine_": str(estimator.engine_),
            "solver_": str(estimator.solver_),
            "rcond_": rcond if math.isfinite(rcond) else None,
        }
    if name in _SEARCHES:
        _put_search(estimator, tensors, fitted)
    elif has_solution:
        fitted["precision_"] = estimator.precision_
        fitted["n_refinements_"] = int(estimator.n_refinements_)
    if name in _CLASSIFIERS:
        _put_classes(estimator, tensors, fitted)
    for key, array in tensors.items():
        wrong = _wrong_number(key, array)
        if wrong is not None:
            attribute = "term_coef_" if key == "coef" else f"{key}_"
            raise ValueError(f"{attribute} must be {wrong}: it cannot be saved.")
    parameters = {
        key: _plain_parameter(key, value) for key, value in estimator.get_params(deep=False).items()
    }
    entries = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "library_version": __version__,
        "estimator": name,
        "parameters": _to_json(parameters),
        "fitted": _to_json(fitted),
    }
    # safetensors reads the memory of an array as it lies there, whatever its strides are.
    tensors = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
    entries["checksum"] = _checksum(entries, tensors)
    data = _with_sorted_header(to_safetensors(tensors, metadata=entries))
    n_header = int.from_bytes(data[:_LENGTH_BYTES], "little")
    n_values = max(map(_count_values, (entries["parameters"], entries["fitted"])))
    if n_header > _MAX_HEADER_BYTES or n_values > _MAX_VALUES:
        raise ValueError(
            "the names of the inputs, the labels and the parameters take more than "
            f"{_MAX_HEADER_BYTES // 2**20} MiB, or are more than {_MAX_VALUES}; a model file has "
            "no room for them."
        )
    return data


def _plain_parameter(name: str, value: Any) -> Any:
    """Turn a parameter of an estimator into what a file has for it."""
    if name in ("cv", "scoring") and not isinstance(value, (str, Integral, type(None))):
        raise TypeError(
            f"{name} is {value!r}, for which a model file has no place; what was fitted does "
            f"not need it any more: save model.set_params({name}=None)"
        )
    if name == "class_weight" and isinstance(value, dict):
        return [
            [_plain_label(label), float(_plain(weight, f"class_weight of {label!r}"))]
            for label, weight in value.items()
        ]
    if name == "feature_range" and value is not None:
        try:
            return np.asarray(value, dtype=np.float64).tolist()
        except (TypeError, ValueError, OverflowError):
            raise TypeError(
                "feature_range must hold a pair of numbers for each input to be saved; got "
                f"{_show(value)}."
            ) from None
    return _plain(value, name)


def _checksum(entries: dict[str, str], tensors: dict[str, NDArray[Any]]) -> str:
    """Return the digest of a file's entries but this one, and of its tensors, in order of names."""
    digest = hashlib.blake2b(digest_size=16)
    for key in sorted(entries.keys() - {"checksum"}):
        digest.update(f"{key}={entries[key]}\n".encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name}: {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _put_statistics(
    estimator: Any,
    tensors: dict[str, NDArray[Any]],
    fitted: dict[str, Any],
    position: list[Any] | None,
) -> None:
    """Describe the sums over the rows of a model that was learned from batches."""
    statistics = estimator.statistics_
    tensors["sums"] = statistics._packed()
    tensors["shift"] = statistics._shift
    fitted["statistics"] = {
        "kind": next(kind for kind, cls in _KINDS.items() if type(statistics) is cls),
        "n_samples": int(statistics.n_samples),
        "weight_sum": float(statistics.weight_sum),
        "resolution": float(statistics.resolution),
        "n_outputs": int(statistics.n_outputs),
        "n_out_of_range": int(estimator.n_out_of_range_),
        "y_was_flat": bool(estimator._y_was_flat),
        "solved": "term_coef_" in vars(estimator),
        "shifted": True,
        "position": position,
    }


def _put_search(estimator: Any, tensors: dict[str, NDArray[Any]], fitted: dict[str, Any]) -> None:
    """Describe what an estimator that chooses by itself has beyond the others."""
    fitted |= {
        "gamma_": float(estimator.gamma_),
        "best_score_": _open_number(estimator.best_score_),
        "n_search_rows_": int(estimator.n_search_rows_),
        "spectrum_": None
        if estimator.spectrum_ is None
        else _plain(estimator.spectrum_.components, "spectrum_"),
        "y_was_flat": bool(estimator._y_was_flat),
    }
    tensors["intercept"] = estimator.intercept_
    tensors["loo_predictions"] = estimator.loo_predictions_
    for key, values in estimator.cv_results_.items():
        tensors[f"{_RESULTS}{key}"] = values
    if hasattr(estimator, "dual_coef_"):
        tensors["X_fit"], tensors["dual_coef"] = estimator.X_fit_, estimator.dual_coef_
    if isinstance(estimator, GegenbauerClassifierCV):
        maps = estimator.probability_maps_
        tensors["probability_scales"] = np.array([each.scale for each in maps], dtype=np.float64)
        tensors["probability_biases"] = np.array([each.bias for each in maps])
        return
    if estimator.spectrum_ is not None:
        tensors["relevances"] = estimator.relevances_
    tensors["noise_variance"] = estimator.noise_variance_
    tensors["prior_variance"] = estimator._prior_variance
    tensors["residuals"] = estimator._left_out_residuals
    if estimator._row_weight is not None:
        tensors["row_weight"] = estimator._row_weight
    if estimator._left_out_share is not None:
        tensors["left_out_share"] = estimator._left_out_share
    fitted |= {
        "effective_dof_": _open_number(estimator.effective_dof_),
        "free_constant": bool(estimator._free_constant),
        "free_leverage": None,
    }
    if not hasattr(estimator, "dual_coef_"):
        fitted["free_leverage"] = _open_number(estimator._free_leverage)
        tensors["posterior"] = estimator._posterior
        tensors["mean_features"] = estimator._mean_features


def _put_classes(estimator: Any, tensors: dict[str, NDArray[Any]], fitted: dict[str, Any]) -> None:
    classes = np.asarray(estimator._answers)
    classes = classes.astype(classes.dtype.newbyteorder("<"), copy=False)
    fitted["multilabel_"] = bool(estimator.multilabel_)
    fitted["classes_"] = None
    if classes.dtype in _LABEL_DTYPES:
        tensors["classes"] = classes
    elif classes.dtype.kind in "UO":
        values = classes.tolist()
        if not all(isinstance(label, str) for label in values):
            raise TypeError(f"classes_ of dtype object must be str to be saved; got {values}.")
        text = classes.dtype.kind == "U" and classes.nbytes <= _most_label_bytes(values)
        fitted["classes_"] = {"dtype": classes.dtype.str if text else "object", "values": values}
    else:
        raise TypeError(
            f"classes_ has dtype {classes.dtype}; save keeps labels that are bool, int, "
            "float (of at most 64 bits), str, or object of str: fit others as one of these, such "
            "as y.astype(str)."
        )


def _most_label_bytes(values: list[str]) -> int:
    """Return how large an array of text labels may be."""
    return _MAX_LABEL_BYTES + 8 * sum(map(len, values))


def _open_number(value: Any) -> float | str:
    """Return a number as JSON has it, or its name if JSON does not."""
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def _with_sorted_header(data: bytes) -> bytes:
    """Write the header in sorted order: safetensors' own differs from call to call."""
    end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    header = _to_json(json.loads(data[_LENGTH_BYTES:end])).encode()
    header += b" " * (-len(header) % _LENGTH_BYTES)  # the arrays start at a multiple of 8 bytes
    return len(header).to_bytes(_LENGTH_BYTES, "little") + header + data[end:]


def _to_json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"), sort_keys=True)


def _plain(value: Any, name: str) -> Any:
    """Turn a parameter into what JSON has: null, bool, int, finite float, str, lists of these.

    Whatever holds several values becomes a list, a spectrum and a component of one an object.
    """
    if value is None or isinstance(value, (bool, str)):
        # str() because numpy.str_ is a str, too.
        return str(value) if isinstance(value, str) else value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        if abs(int(value)) >= 10**_MAX_INT_DIGITS:
            raise ValueError(
                f"{name} is an int of more than {_MAX_INT_DIGITS} digits, for which a model file "
                "has no place: set a smaller one."
            )
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    if isinstance(value, Spectrum):
        return {"components": _plain(value.components, name)}
    if isinstance(value, COMPONENTS):
        parts = {key: _plain(part, f"{name} ({key})") for key, part in vars(value).items()}
        return {"kind": type(value).__name__} | parts
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()  # of an array without dimensions its one value
        if not isinstance(value, list):
            return _plain(value, name)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [_plain(item, name) for item in value]
    raise TypeError(
        f"{name} must be None, a bool, a finite number, a str, a Spectrum, or a list, array, "
        f"range or other sequence of these to be saved; it holds {_show(value)} of type "
        f"{type(value).__name__}."
    )


def _plain_label(label: Any) -> Any:
    if not isinstance(label, (str, Real, np.bool_)):
        raise TypeError(
            "the labels of class_weight must be str, int, float or bool to be saved; got "
            f"{_show(label)} of type {type(label).__name__}."
        )
    return _plain(label, "a label of class_weight")


def _write_atomically(
    path: Path, data: bytes, check: Callable[[Path, bytes], None] = lambda *_: None
) -> None:
    """Write a file under a passing name beside ``path``, check it, then give it that name."""
    _remove_leftovers(path)
    passing, descriptor = _open_passing(path)
    try:
        with os.fdopen(descriptor, "wb") as file:  # open, and so locked, until it has its name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            check(passing, data)
            if path.exists():
                shutil.copymode(path, passing)
            if sys.platform == "win32":  # where a file that is open cannot be renamed
                file.close()
            passing.replace(path)
    except BaseException:
        passing.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _require_same(passing: Path, data: bytes) -> None:
    """Refuse a file that does not give back the model that was written into it."""
    header, found = _read(passing)
    if found != data:
        raise OSError(f"{str(passing)!r} does not hold what was written into it")
    model = _from_parts(header, _read_tensors(header, found))
    if _to_bytes(model, getattr(model, "_position", None)) != data:
        raise ModelFileError("the model would come back changed; nothing was written.")


def _passing_prefix(path: Path) -> str:
    # no name may have more than 255 bytes
    return f".{os.fsencode(path.name)[:64].decode(errors='ignore')}."


def _open_passing(path: Path) -> tuple[Path, int]:
    """Make and lock a new file beside ``path``."""
    while True:
        passing = path.with_name(f"{_passing_prefix(path)}{secrets.token_hex(8)}.tmp")
        # Not tempfile: its files are for the owner alone, and would stay so after the renaming.
        descriptor = os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o666)
        if sys.platform == "win32":
            return passing, descriptor
        with contextlib.suppress(OSError):  # not all file systems have locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink > 0:
            return passing, descriptor
        os.close(descriptor)  # removed as a leftover before it was locked


def _remove_leftovers(path: Path) -> None:
    """Remove passing files of this name that nobody holds: those of processes that were killed."""
    if sys.platform == "win32":
        return
    name = re.compile(re.escape(_passing_prefix(path)) + r"[0-9a-f]{16}\.tmp")
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for leftover in [Path(entry.path) for entry in entries if name.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):  # it is held, or somebody else's
                descriptor = os.open(leftover, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    leftover.unlink()
                finally:
                    os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can do that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some file systems cannot; the file itself is safe
        pass
    finally:
        os.close(descriptor)


# ---- checkpoints -------


class Checkpoint:
    """A file in which ``fit_stream`` keeps what it has learned, to go on after an interrupt.

    It is a model file, which `load` reads as well. It is written anew now and then, whole or not at
    all, and also when the stream fails or is interrupted (by Ctrl-C; SIGTERM ends Python at once,
    unless the program turns it into an exception). A later ``fit_stream`` with the
    same parameters, batches and checkpoint goes on behind the last batch in it, and comes to the
    same bits. When all batches are learned it stays, and new ones may follow.

    Parameters
    ----------
    path : str or path-like
        The file, by custom with the suffix ``.safetensors``.
    every_rows : int, default=10_000_000
        Most rows between two writings.
    every_seconds : float, default=60
        Most seconds between two writings, of which a batch may take longer.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from gegenbauer import Checkpoint, GegenbauerRegressor
    >>> x = np.linspace(0, 1, 40)[:, np.newaxis]
    >>> batches = [(x[i : i + 10], x[i : i + 10, 0] ** 2) for i in range(0, 40, 10)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(Path(folder) / "run.safetensors")
    ...     half = GegenbauerRegressor(n_terms=5).fit_stream(batches[:2], checkpoint=checkpoint)
    ...     model = GegenbauerRegressor(n_terms=5).fit_stream(batches, checkpoint=checkpoint)
    >>> half.n_samples_seen_, model.n_samples_seen_
    (20, 40)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every_rows: int = 10_000_000,
        every_seconds: float = 60.0,
    ) -> None:
        _import_safetensors()
        self.path = Path(os.path.realpath(path))
        self.every_rows = check_integer(every_rows, "every_rows", minimum=1)
        self.every_seconds = check_number(every_seconds, "every_seconds", minimum=0)
        self._rows, self._time = 0, time.monotonic()  # of what is in the file
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {str(self.path.parent)!r} to write into")
        if self.path.exists() and not self.path.is_file():
            raise OSError(f"{os.fspath(path)!r} is a folder or a device; give the name of a file")

    def read(self, blank: Any) -> tuple[Any, int, str] | None:
        """Return the model in the file, its number of batches and their fingerprint.

        Parameters
        ----------
        blank : GegenbauerClassifier or GegenbauerRegressor
            The estimator that is to go on, whose parameters must be those in the file but for
            those of the solve.

        Returns
        -------
        (estimator, n_batches, fingerprint) or None
            None if there is no file.

        Raises
        ------
        ModelFileError
            The file is no checkpoint.
        ValueError
            It is of another estimator, or of other parameters.
        """
        self._rows, self._time = 0, time.monotonic()
        if not self.path.exists():
            return None
        model = load(self.path)
        position = getattr(model, "_position", None)
        if position is None:
            raise ModelFileError(
                f"{self.path} is a model, but no checkpoint of a stream: give another name"
            )
        if type(model) is not type(blank):
            raise ValueError(
                f"{self.path} is the checkpoint of a {type(model).__name__}, not of a "
                f"{type(blank).__name__}"
            )
        kept = set(model._sum_parameters()) | {"engine"}
        differ = [
            name
            for name, value in blank.get_params(deep=False).items()
            if name in kept
            and _plain_parameter(name, value) != _plain_parameter(name, getattr(model, name))
        ]
        if differ:
            name = differ[0]
            raise ValueError(
                f"{self.path} is the checkpoint of a model with {name}="
                f"{getattr(model, name)!r}, and here it is {getattr(blank, name)!r}: give the "
                "same, or remove the file to begin anew"
            )
        del model._position
        model.set_params(**blank.get_params(deep=False))
        model._summed_with = model._sum_parameters()
        model._forget_solution()
        self._rows = model.n_samples_seen_
        return model, int(position[0]), str(position[1])

    def is_due(self, model: Any) -> bool:
        """Whether enough rows came, or time passed, since the file was written."""
        new = getattr(model, "n_samples_seen_", 0) - self._rows
        return new >= self.every_rows or time.monotonic() - self._time >= self.every_seconds

    def write(self, model: Any, n_batches: int, fingerprint: str) -> None:
        """Replace the file by one of the present state."""
        if "statistics_" not in vars(model):  # nothing has been learned yet
            return
        bare = copy.copy(model)
        bare._forget_solution()
        try:
            data = _to_bytes(bare, [int(n_batches), fingerprint])
            _write_atomically(self.path, data, _require_same)
        except OSError as error:
            raise OSError(
                error.errno, f"the checkpoint cannot be written: {error.strerror}", str(self.path)
            ) from error
        self._rows, self._time = model.n_samples_seen_, time.monotonic()


# ---- loading -------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that :func:`save` wrote.

    Nothing in the file is executed: it is numbers, and names from closed lists.

    Parameters
    ----------
    path : str or path-like
        File to read.

    Returns
    -------
    GegenbauerClassifier, GegenbauerRegressor, either with CV, or GegenbauerFeatures
        The fitted estimator.

    Raises
    ------
    ModelFileError
        The file is no model file, is truncated or damaged, is written in a newer format, or
        holds something that the schema does not allow. It is a ValueError.
    OSError
        The file cannot be read.
    ImportError
        The package safetensors is missing.

    Warns
    -----
    ModelVersionWarning
        The file was written by another version of this library.
    """
    _import_safetensors()
    path = Path(path)
    try:
        header, data = _read(path)
        return _from_parts(header, _read_tensors(header, data))
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error.__cause__


def _read(path: Path) -> tuple[_Header, bytes]:
    """Read a file whose header, and then whose length, are right."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("not a regular file.")
        start = file.read(_LENGTH_BYTES)
        n_header = int.from_bytes(start, "little")
        if len(start) < _LENGTH_BYTES or n_header > status.st_size - _LENGTH_BYTES:
            raise ModelFileError("not a model file, or a truncated one.")
        if n_header > _MAX_HEADER_BYTES:
            raise ModelFileError(
                f"the header claims {n_header} bytes; no model has more than {_MAX_HEADER_BYTES}."
            )
        text = file.read(n_header)
        header = _parse_header(text)
        if status.st_size != header.n_bytes:
            raise ModelFileError(
                f"the file has {status.st_size} bytes where its header describes "
                f"{header.n_bytes}; it is truncated or damaged."
            )
        data = start + text + file.read(header.n_bytes - _LENGTH_BYTES - n_header)
    if len(data) != header.n_bytes:
        raise ModelFileError("the file became shorter while it was read.")
    return header, data


def _open_without_waiting(path: str, flags: int) -> int:
    # A named pipe without a writer would block for ever in open() itself.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _parse_header(text: bytes) -> _Header:
    header = _parse_json(text, "the header")
    if not isinstance(header, dict):
        raise ModelFileError("not a model file: its header is no JSON object.")
    entries = header.pop("__metadata__", None)
    if not isinstance(entries, dict) or entries.get("format") != _FORMAT:
        raise ModelFileError(
            f"not a model file: its header does not have the format {_FORMAT!r}. "
            "gegenbauer.save writes such files."
        )
    version = entries.get("format_version")
    if version != _FORMAT_VERSION:
        raise ModelFileError(
            f"its format_version is {_show(version)}, and this version of gegenbauer, "
            f"{__version__}, reads {_FORMAT_VERSION!r}. It may come from a "
            f"newer one: its library_version is {_show(entries.get('library_version'))}."
        )
    _require_keys({"checksum": None, **entries}, _METADATA_KEYS, "__metadata__")
    if not all(isinstance(value, str) and _is_unicode(value) for value in entries.values()):
        raise ModelFileError("__metadata__ must hold strings only.")
    name = entries["estimator"]
    if name not in _ESTIMATORS:
        raise ModelFileError(
            f"estimator must be one of {', '.join(_ESTIMATORS)}; got {_show(name)}."
        )
    _compare_versions(entries["library_version"])
    parameters = _parse_json(entries["parameters"], "parameters")
    fitted = _parse_json(entries["fitted"], "fitted")
    for key, value in (("parameters", parameters), ("fitted", fitted)):
        if not isinstance(value, dict):
            raise ModelFileError(f"{key} must be a JSON object; got {_show(value)}.")
    tensors, n_bytes = _parse_tensors(header)
    end = _LENGTH_BYTES + len(text) + n_bytes
    parsed = _Header(name, parameters, fitted, tensors, end, entries)
    _check_fitted(parsed)
    _check_tensors(parsed)
    return parsed


def _parse_tensors(
    header: dict[str, Any],
) -> tuple[dict[str, tuple[np.dtype[Any], tuple[int, ...]]], int]:
    """Return dtypes and shapes by name, and the number of bytes of all tensors."""
    tensors = {}
    ranges = []
    for name, entry in header.items():
        shown = f"tensor {_show(name)}"
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise ModelFileError(
                f"{shown} must have dtype, shape and data_offsets, and nothing else."
            )
        dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if dtype is None:
            raise ModelFileError(
                f"{shown} has the dtype {_show(entry['dtype'])}; expected one of "
                f"{', '.join(_DTYPES)}."
            )
        shape = _sizes(entry["shape"], f"the shape of {shown}")
        offsets = _sizes(entry["data_offsets"], f"data_offsets of {shown}")
        if len(shape) > _MAX_DIMENSIONS:
            raise ModelFileError(
                f"{shown} has {len(shape)} dimensions; no tensor of a model has more than "
                f"{_MAX_DIMENSIONS}."
            )
        n_bytes = math.prod(shape) * dtype.itemsize
        if len(offsets) != 2 or offsets[1] - offsets[0] != n_bytes:
            raise ModelFileError(
                f"{shown} of shape {_show(list(shape))} takes {_show(n_bytes)} bytes; its "
                f"data_offsets are {_show(list(offsets))}."
            )
        tensors[name] = (dtype, shape)
        ranges.append(offsets)
    end = 0
    for begin, stop in sorted(ranges):
        if begin != end:
            raise ModelFileError("the tensors overlap or leave gaps in the file.")
        end = stop
    return tensors, end


def _sizes(value: Any, name: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(
        _is_int(item) and 0 <= item < 2**63 for item in value
    ):
        raise ModelFileError(f"{name} must be a list of non-negative ints; got {_show(value)}.")
    return tuple(value)


def _check_fitted(header: _Header) -> None:
    """Check names, types and ranges of what ``fitted`` holds."""
    name, fitted = header.estimator, header.fitted
    schema = dict(_FITTED)
    if "correlation" in fitted:
        schema |= _CORRELATION
    if name not in _SEARCHES or "basis" in fitted:
        schema |= _FITTED_BASIS
    if name in _SEARCHES:
        schema |= _FITTED_SOLUTION | _FITTED_SEARCH
    elif name != "GegenbauerFeatures":
        if "statistics" in fitted:
            schema["statistics"] = _OBJECT
        if _is_solved(fitted):
            schema |= _FITTED_SOLUTION | _FITTED_RIDGE
            fitted.setdefault("precision_", None)
    if name == "GegenbauerRegressorCV":
        schema |= _FITTED_REGRESSOR_SEARCH
    if name in _CLASSIFIERS:
        schema |= _FITTED_CLASSIFIER
    _require_entries(fitted, schema, "fitted")
    if "statistics" in fitted:
        fitted["statistics"].setdefault("shifted", False)
        _require_entries(fitted["statistics"], _STATISTICS, "fitted['statistics']")
    if fitted.get("classes_") is not None:
        _check_labels(fitted["classes_"])


def _check_tensors(header: _Header) -> None:
    """Check names, types and shapes of the tensors, before there are any."""
    expected = _expected_shapes(header)
    _require_keys(header.tensors, set(expected), "the list of tensors")
    for name, shape in expected.items():
        dtype, found = header.tensors[name]
        dtypes = _TENSORS[name].dtypes
        right = len(found) == len(shape) and all(
            size >= 1 if wanted is None else size == wanted
            for size, wanted in zip(found, shape, strict=True)
        )
        if dtype not in dtypes or not right:
            wanted = " or ".join(sorted(dtype.name for dtype in dtypes))
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            raise ModelFileError(
                f"tensor {name!r} must be {wanted} of shape ({sizes}); got {dtype} of shape "
                f"{found}."
            )


def _expected_shapes(header: _Header) -> dict[str, _Shape]:
    """Return the tensors that a file must have, and their shapes, by what its header says it is."""
    name, fitted = header.estimator, header.fitted
    given = {key: shape for key, (_, shape) in header.tensors.items()}

    def size(key: str, axis: int) -> int | None:
        """Return a size that others must have, too; None where it is missing."""
        return dict(enumerate(given.get(key, ()))).get(axis)

    m = size("lower", 0)
    shapes: dict[str, _Shape] = {"lower": (None,), "upper": (m,), "constant": (m,)}
    finite = "basis" in fitted or name not in _SEARCHES
    if finite:
        shapes["indices"] = (None, m)
    else:
        shapes["X_fit"] = (None, m)
    n = size("indices" if finite else "X_fit", 0)  # terms, or samples
    if name not in _SEARCHES and name != "GegenbauerFeatures" and _is_solved(fitted):
        shapes["coef"] = (n,) if len(given.get("coef", ())) == 1 else (n, None)
    if f"{_GAMMA_RESULTS}gamma" in given and name != "GegenbauerFeatures":
        shapes[f"{_GAMMA_RESULTS}gamma"] = (None,)
        shapes[f"{_GAMMA_RESULTS}score"] = (size(f"{_GAMMA_RESULTS}gamma", 0),)
    if "statistics" in fitted:
        shapes["sums"] = (None,)
        if fitted["statistics"]["shifted"]:
            shapes["shift"] = (fitted["statistics"]["n_outputs"],)
    if name in _CLASSIFIERS and fitted["classes_"] is None:
        shapes["classes"] = (None,)
    if name in _SEARCHES:
        shapes |= _expected_of_search(header, given, n)
    if name in _CLASSIFIERS:
        _check_class_count(header, given)
    return shapes


def _expected_of_search(
    header: _Header, given: dict[str, tuple[int, ...]], n: int | None
) -> dict[str, _Shape]:
    """Return the same for what only estimators that choose by themselves have."""
    fitted, finite = header.fitted, "basis" in header.fitted
    weights = "coef" if finite else "dual_coef"
    n_outputs = dict(enumerate(given.get(weights, ()))).get(1)
    classifies = header.estimator in _CLASSIFIERS
    single = n_outputs == 1 if classifies else fitted["y_was_flat"]
    shapes: dict[str, _Shape] = {
        weights: (n, None),
        "intercept": (n_outputs,),
        "loo_predictions": (None,) if single else (None, n_outputs),
    }
    raw = fitted["spectrum_"] is None
    # with a spectrum that was given or learned there was no grid
    if raw or f"{_RESULTS}score" in given:
        axes = [f"{_RESULTS}{axis}" for axis in (_AXES[1] if raw else _AXES[0])]
        shapes |= dict.fromkeys(axes, (None,))
        shapes[f"{_RESULTS}score"] = tuple(given.get(axis, (None,))[0] for axis in axes)
    if classifies:
        n_classes = _count_classes(header, given)
        shapes["probability_scales"] = (n_classes if fitted["multilabel_"] else 1,)
        shapes["probability_biases"] = (n_classes, 2) if fitted["multilabel_"] else (1, n_classes)
        return shapes
    shapes["noise_variance"] = (n_outputs,)
    shapes["residuals"] = (None if finite else n, n_outputs)
    if not raw:
        shapes["relevances"] = (given.get("lower", (None,))[0],)
    for key in {"row_weight", "left_out_share"} & given.keys():
        shapes[key] = (given.get("residuals", (None,))[0],)
    if "prior_variance" in given:
        shapes["prior_variance"] = (n_outputs,)
    if finite and n is not None:
        rest = n - fitted["free_constant"]
        shapes["posterior"] = (rest, rest)
        shapes["mean_features"] = (rest if fitted["free_constant"] else 0,)
    return shapes


def _count_classes(header: _Header, given: dict[str, tuple[int, ...]]) -> int | None:
    labels = header.fitted["classes_"]
    if labels is not None:
        return len(labels["values"])
    shape = given.get("classes", ())
    return shape[0] if len(shape) == 1 else None


def _check_class_count(header: _Header, given: dict[str, tuple[int, ...]]) -> None:
    """Check that there are as many classes as the outputs need."""
    name = "coef" if "coef" in given else "dual_coef"
    n_classes, multilabel = _count_classes(header, given), header.fitted["multilabel_"]
    if name not in given or n_classes is None:  # of a model that has not been solved for
        return
    shape = given[name]
    n_outputs = shape[1] if len(shape) > 1 else 1
    expected = n_classes if multilabel or n_classes != 2 else 1
    if n_classes < (1 if multilabel else 2) or n_outputs != expected:
        raise ModelFileError(
            f"{n_classes} classes and a {name} of shape {shape} do not belong together."
        )
    flat = n_outputs == 1 and not multilabel and header.estimator not in _SEARCHES
    if (len(shape) == 1) != flat:
        raise ModelFileError(f"{name} has the wrong number of dimensions, {len(shape)}.")


def _check_labels(entry: dict[str, Any]) -> None:
    """Check labels that are text: their array may be far larger than the file."""
    _require_keys(entry, {"dtype", "values"}, "fitted['classes_']")
    values, dtype = entry["values"], entry["dtype"]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ModelFileError("the labels in fitted['classes_'] must be a list of strings.")
    if dtype == "object":
        return
    wide = re.fullmatch("<U([1-9][0-9]{0,8})", dtype) if isinstance(dtype, str) else None
    width = int(wide[1]) if wide else 0  # "<U3": text of up to three characters
    if width < max([1, *map(len, values)]) or 4 * width * len(values) > _most_label_bytes(values):
        raise ModelFileError(f"the labels do not have the dtype {_show(dtype)}.")


def _read_tensors(header: _Header, data: bytes) -> dict[str, NDArray[Any]]:
    """Copy the arrays out of the file, by safetensors, which checks its part once more."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_safetensors

    try:
        read = from_safetensors(data)
    except SafetensorError as error:
        raise ModelFileError(f"safetensors cannot read it: {error}") from error
    arrays = {}
    for name, (dtype, shape) in header.tensors.items():
        if read[name].dtype != dtype or read[name].shape != shape:
            raise ModelFileError(f"tensor {name!r} differs from its description.")
        arrays[name] = read[name].copy()  # owns its memory, aligned and writeable
    checksum = header.entries.get("checksum")
    if checksum is not None and checksum != _checksum(header.entries, arrays):
        raise ModelFileError("it is damaged: its contents do not have its checksum.")
    for name, array in arrays.items():
        wrong = _wrong_number(name, array)
        if wrong is not None:
            raise ModelFileError(f"tensor {name!r} must be {wrong}.")
    return arrays


def _wrong_number(name: str, array: NDArray[Any]) -> str | None:
    """Say what the numbers of a tensor must be, and what is there; None if they are."""
    limits = _TENSORS[name]
    if array.dtype.kind not in "iuf":
        return None
    if (limits.low, limits.high) == (_NUMBER.low, _NUMBER.high):
        wrong = ~np.isfinite(array)
    else:
        wrong = ~((array >= limits.low) & (array <= limits.high))  # NaN is wrong, too
    if limits.unknown:
        wrong &= ~np.isnan(array)
    if not wrong.any():
        return None
    wanted = ["finite"] if limits.high < math.inf else []
    if limits.low > _NUMBER.low:
        positive = limits.low == math.ulp(0.0)
        wanted.append("positive" if positive else f"of at least {limits.low:g}")
    return f"{' and '.join(wanted)}; it holds {array[wrong][0]}"


def _is_solved(fitted: dict[str, Any]) -> bool:
    """Whether the file holds weights; those of models learned from batches may be found later."""
    statistics = fitted.get("statistics")
    return not isinstance(statistics, dict) or statistics.get("solved") is not False


def _from_parts(header: _Header, arrays: dict[str, NDArray[Any]]) -> Any:
    """Build the estimator out of parts whose types, shapes and ranges are right."""
    name, fitted = header.estimator, header.fitted
    estimator = _restore_parameters(name, header.parameters)
    n, n_features = arrays["indices" if "basis" in fitted else "X_fit"].shape
    estimator.scaling_ = _restore_scaling(fitted, arrays)
    estimator.n_features_in_ = n_features
    if "basis" in fitted:
        estimator.basis_ = _restore_basis(fitted["basis"], arrays["indices"], header.n_bytes)
        estimator.n_terms_ = n
    names = fitted["feature_names_in_"]
    if names is not None:
        if len(names) != n_features or not all(isinstance(item, str) for item in names):
            raise ModelFileError(f"feature_names_in_ must be {n_features} strings.")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if "correlation" in fitted:
        estimator._correlation = _restore_correlation(fitted["correlation"], n_features)
    if name != "GegenbauerFeatures" and _is_solved(fitted):
        estimator.engine_ = fitted["engine_"]
        estimator.solver_ = fitted["solver_"]
        estimator.rcond_ = math.nan if fitted["rcond_"] is None else float(fitted["rcond_"])
    if name in _SEARCHES:
        _restore_search(estimator, fitted, arrays, header.n_bytes)
    elif "coef" in arrays:
        estimator.term_coef_ = arrays["coef"]
        estimator.precision_ = fitted["precision_"]
        estimator.n_refinements_ = fitted["n_refinements_"]
    if f"{_GAMMA_RESULTS}gamma" in arrays:
        estimator.gamma_results_ = {
            key: arrays[f"{_GAMMA_RESULTS}{key}"] for key in ("gamma", "score")
        }
    if name in _CLASSIFIERS:
        _restore_classes(estimator, fitted, arrays)
    if "statistics" in fitted:
        _restore_statistics(estimator, fitted["statistics"], arrays)
    if name == "GegenbauerClassifierCV":
        estimator.probability_maps_ = [
            ProbabilityMap(float(scale), bias.copy())
            for scale, bias in zip(
                arrays["probability_scales"], arrays["probability_biases"], strict=True
            )
        ]
    return estimator


def _restore_correlation(found: list[Any], n_features: int) -> tuple[float, int, int]:
    """Return the largest correlation of two inputs, and which these are."""
    if len(found) != 3 or any(isinstance(part, bool) for part in found):
        raise ModelFileError("correlation must be a number and two inputs.")
    value, *inputs = found
    if not (
        isinstance(value, (float, int))
        and abs(value) <= 1
        and all(isinstance(t, int) and 0 <= t < n_features for t in inputs)
    ):
        raise ModelFileError(
            f"correlation must be a number from -1 to 1 and two of {n_features} inputs."
        )
    return float(value), inputs[0], inputs[1]


def _restore_parameters(name: str, parameters: dict[str, Any]) -> Any:
    estimator = _ESTIMATORS[name]()
    # A parameter that the file does not have is newer than the file: its default is what was
    # done before there was one.
    known = set(estimator.get_params(deep=False))
    _require_keys(parameters, known & parameters.keys(), "parameters")
    values: dict[str, Any] = {}
    for key, value in parameters.items():
        if key == "class_weight" and isinstance(value, list):
            values[key] = _restore_class_weight(value)
        elif key == "feature_range" and value is not None:
            values[key] = _restore_range(value)
        elif key == "cv":  # a list would pass for splits
            _require(value, _Entry((int, type(None))), "parameters['cv']")
            values[key] = value
        elif key == "scoring" and value not in (None, *get_scorer_names()):
            raise ModelFileError(
                "scoring must be one of sklearn.metrics.get_scorer_names, or null; got "
                f"{_show(value)}."
            )
        else:
            values[key] = _restore_value(value, f"parameters[{key!r}]")
    estimator.set_params(**values)
    try:
        estimator._validate_params()
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"parameters: {error}") from error
    return estimator


def _restore_value(value: Any, name: str) -> Any:
    """Return a parameter: a scalar, a spectrum for an object, or a tuple of these for a list."""
    if isinstance(value, dict):
        if "components" not in value:
            return _restore_component(value, name)
        _require_keys(value, {"components"}, name)
        _require(value["components"], _Entry((list,)), name)
        return _restore_spectrum(value["components"], name)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return _restore_spectrum(value, name).components
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, (list, dict)):
            raise ModelFileError(f"{name} must not hold {_show(item)}.")
    return tuple(value) if isinstance(value, list) else value


def _restore_range(pairs: Any) -> tuple[tuple[float, float], ...]:
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_double, pair)) for pair in pairs
    ):
        raise ModelFileError(f"feature_range must be a list of pairs; got {_show(pairs)}.")
    return tuple((float(lower), float(upper)) for lower, upper in pairs)


def _restore_class_weight(pairs: list[Any]) -> dict[Any, float]:
    for pair in pairs:
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not isinstance(pair[0], (str, int, float))
            or not _is_double(pair[1])
        ):
            raise ModelFileError(
                f"class_weight must be a list of [label, weight] pairs; it holds {_show(pair)}."
            )
    weights = {label: float(weight) for label, weight in pairs}
    if len(weights) < len(pairs):
        raise ModelFileError("class_weight must not hold a label twice.")
    return weights


def _restore_scaling(fitted: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> InputScaling:
    scaling: InputScaling = _build(
        InputScaling,
        arrays["lower"],
        arrays["upper"],
        domain=_restore_value(fitted["domain"], "domain"),
        clip=fitted["clip"],
        constant=arrays["constant"],
    )
    return scaling


def _restore_basis(
    arguments: dict[str, Any], indices: NDArray[np.int32], n_bytes: int
) -> TensorBasis:
    """Build the basis anew, once it is known to be as large as the file says."""
    _require_keys(arguments, set(_BASIS_ARGUMENTS), "fitted['basis']")
    arguments = {
        key: _restore_value(value, f"fitted['basis'][{key!r}]") for key, value in arguments.items()
    }
    n_terms, n_features = indices.shape
    if arguments["n_features"] != n_features or arguments["n_terms"] != n_terms:
        raise ModelFileError(
            f"indices have the shape {indices.shape}, and fitted['basis'] has n_terms="
            f"{arguments['n_terms']!r} and n_features={arguments['n_features']!r}."
        )
    n_features = arguments.pop("n_features")
    _require_few_weights(arguments["spectrum"], n_features, n_bytes)
    if arguments["index_set"] != "largest_weight":
        counted = _build(
            count_terms,
            n_features,
            n_terms=n_terms,
            degree=arguments["degree"],
            index_set=arguments["index_set"],
            max_interaction=arguments["max_interaction"],
        )
        if counted != n_terms:
            raise ModelFileError(
                f"indices have {n_terms} rows, and the index set of fitted['basis'] has {counted}."
            )
    basis: TensorBasis = _build(TensorBasis, n_features, **arguments)
    if not np.array_equal(basis.indices, indices):
        raise ModelFileError(
            "its terms are not those that this version of gegenbauer builds from fitted['basis']: "
            "the file is damaged, or was written by a version with another order of terms."
        )
    return basis


def _restore_search(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]], n_bytes: int
) -> None:
    """Restore an estimator that chose by itself, with a basis, or samples and all terms."""
    finite = "basis" in fitted
    m = estimator.n_features_in_
    weights = arrays["coef" if finite else "dual_coef"]
    setattr(estimator, "term_coef_" if finite else "dual_coef_", weights)
    estimator.intercept_ = arrays["intercept"]
    estimator._all_terms = not finite
    if fitted["spectrum_"] is None:
        if not finite:
            raise ModelFileError("spectrum_ is null, so fitted must have 'basis'.")
        estimator.spectrum_, estimator._margin = None, 0.0
    else:
        estimator.spectrum_ = _restore_spectrum(fitted["spectrum_"], "spectrum_")
        _require_few_weights(estimator.spectrum_, m, n_bytes)
    if finite:
        estimator.lam_ = estimator.basis_.lam
        if estimator.spectrum_ is not None and estimator.spectrum_ != estimator.basis_.spectrum:
            raise ModelFileError("spectrum_ is not that of fitted['basis'].")
    else:
        estimator.kernel_ = _build(SpectrumKernel, m, estimator.spectrum_)
        estimator.lam_, estimator.n_terms_ = estimator.kernel_.lam, math.inf
        estimator.X_fit_ = arrays["X_fit"]
    estimator.gamma_ = float(fitted["gamma_"])
    estimator.best_score_ = float(fitted["best_score_"])
    estimator.n_search_rows_ = fitted["n_search_rows_"]
    estimator._y_was_flat = flat = fitted["y_was_flat"]
    if flat and weights.shape[1] != 1:
        raise ModelFileError(f"y_was_flat is true, and there are {weights.shape[1]} outputs.")
    estimator.loo_predictions_ = arrays["loo_predictions"]
    estimator.cv_results_ = {}
    if f"{_RESULTS}score" in arrays:
        axes = _AXES[1] if estimator.spectrum_ is None else _AXES[0]
        estimator.cv_results_ = {key: arrays[f"{_RESULTS}{key}"] for key in (*axes, "score")}
    if isinstance(estimator, GegenbauerRegressorCV):
        _restore_uncertainty(estimator, fitted, arrays)


def _restore_uncertainty(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Restore what standard deviations and intervals of a regressor are made of."""
    estimator._left_out_residuals = arrays["residuals"]
    estimator._row_weight = arrays.get("row_weight")
    estimator._left_out_share = arrays.get("left_out_share")
    estimator.noise_variance_ = noise = arrays["noise_variance"]
    # older files lack it, where it is that of the fit
    estimator._prior_variance = arrays.get("prior_variance", noise / estimator.gamma_)
    estimator.effective_dof_ = float(fitted["effective_dof_"])
    estimator._free_constant = fitted["free_constant"]
    leverage = fitted["free_leverage"]
    if (leverage is None) != estimator._all_terms:
        raise ModelFileError(
            f"free_leverage must be null for all terms, else a number; got {_show(leverage)}."
        )
    if leverage is not None:
        estimator._posterior = arrays["posterior"]
        estimator._mean_features = arrays["mean_features"]
        estimator._free_leverage = float(leverage)


def _restore_spectrum(components: list[Any], name: str) -> Spectrum:
    """Build a spectrum, and so check it."""
    spectrum: Spectrum = _build(Spectrum, [_restore_component(part, name) for part in components])
    return spectrum


def _require_few_weights(spectrum: Any, n_features: int, n_bytes: int) -> None:
    """Refuse a spectrum whose weights would take much more than the file is long."""
    n_parts = len(spectrum.components) if isinstance(spectrum, Spectrum) else 1
    if n_parts * n_features > _MAX_WEIGHTS + n_bytes // 8:
        raise ModelFileError(
            f"a spectrum of {n_parts} components for {n_features} inputs is larger than a file of "
            f"{n_bytes} bytes may make it: merge components of equal decay."
        )


def _restore_component(entry: Any, name: str) -> Any:
    _require(entry, _OBJECT, f"a component of {name}")
    kind = _COMPONENTS.get(entry["kind"]) if isinstance(entry.get("kind"), str) else None
    if kind is None:
        raise ModelFileError(
            f"a component of {name} must be one of {', '.join(_COMPONENTS)}; got "
            f"{_show(entry.get('kind'))}."
        )
    values = {key: value for key, value in entry.items() if key != "kind"}
    _require_keys(values, {field.name for field in fields(kind)}, f"a component of {name}")
    for key, value in values.items():
        for number in value if key == "interaction" and isinstance(value, list) else [value]:
            _require(number, _NUMBER, f"{name} ({key})")
    component = kind(**values)
    _build(Spectrum, component)  # refuses numbers out of their ranges
    return component


def _restore_classes(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    labels = fitted["classes_"]
    if labels is None:
        classes = arrays["classes"]
    else:
        dtype = object if labels["dtype"] == "object" else labels["dtype"]
        classes = np.array(labels["values"], dtype=dtype)
    estimator.multilabel_ = fitted["multilabel_"]
    if estimator.multilabel_:
        if labels is None and not np.array_equal(classes, np.arange(classes.size)):
            raise ModelFileError("the labels of a multilabel model must be 0, 1, 2, ... or names.")
        if len(set(classes.tolist())) < classes.size:
            raise ModelFileError("the names of the labels of a multilabel model must differ.")
        estimator._become_multilabel(classes)
        return
    estimator.classes_ = classes
    if not all(first < second for first, second in itertools.pairwise(classes.tolist())):
        raise ModelFileError("the labels must be sorted and all different.")


def _restore_statistics(
    estimator: Any, entry: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Restore the sums over the rows of a model that was learned from batches."""
    if entry["kind"] not in _KINDS:
        raise ModelFileError(f"the kind of its statistics, {_show(entry['kind'])}, is not known.")
    position = entry["position"]
    if position is not None:
        if len(position) != 2:
            raise ModelFileError("its position must be a number of batches and a fingerprint.")
        _require(position[0], _COUNT, "its position, a number of batches and a fingerprint,")
        _require(position[1], _TEXT, "its position, a number of batches and a fingerprint,")
    n_outputs, n_sums = entry["n_outputs"], arrays["sums"].size
    classes = getattr(estimator, "classes_", None)
    if n_outputs > n_sums or (classes is not None and len(classes) != n_outputs):
        raise ModelFileError(f"its statistics cannot have {n_outputs} outputs.")
    flat = entry["y_was_flat"]
    if (flat and n_outputs > 1) if classes is None else (flat == estimator.multilabel_):
        raise ModelFileError(f"y_was_flat is {flat}, which its {n_outputs} outputs are not.")
    if entry["resolution"] not in [float(np.finfo(kind).eps) for kind in (np.float32, np.float64)]:
        raise ModelFileError("the resolution of its statistics is out of range.")
    # no more is made than the file is long: its length is asked first
    kind = _KINDS[entry["kind"]]
    expected = _build(kind._n_packed, estimator.basis_, n_outputs)
    if n_sums != expected:
        raise ModelFileError(
            f"sums has {n_sums} entries, and its statistics would have {expected}."
        )
    statistics = _build(kind, estimator.basis_, n_outputs, scaling=estimator.scaling_)
    statistics._unpack(arrays["sums"])
    statistics.n_samples = entry["n_samples"]
    statistics.weight_sum = float(entry["weight_sum"])
    statistics.resolution = entry["resolution"]
    if entry["shifted"]:
        statistics._shift = arrays["shift"]
    else:
        statistics._take_old_sums()
    estimator.statistics_ = statistics
    estimator.n_samples_seen_ = entry["n_samples"]
    estimator.n_out_of_range_ = entry["n_out_of_range"]
    estimator._y_was_flat = entry["y_was_flat"]
    estimator._summed_with = estimator._sum_parameters()
    if position is not None:
        estimator._position = position


# ---- checks --------------------------------------------------------------------------


def _import_safetensors() -> None:
    try:
        import safetensors.numpy  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            "save and load need the package safetensors: pip install 'gegenbauer[io]'"
        ) from error


def _compare_versions(written_by: str) -> None:
    if not re.fullmatch(r"[0-9A-Za-z.+_-]{1,64}", written_by):  # it is shown as it is
        raise ModelFileError(f"library_version must be one; got {_show(written_by)}.")
    ours = __version__
    if written_by != ours:
        warnings.warn(
            f"the model was written by gegenbauer {written_by} and is read by {ours}; check "
            "its predictions before you rely on them.",
            ModelVersionWarning,
            stacklevel=_stacklevel(),
        )


def _parse_json(text: str | bytes, name: str) -> Any:
    """Parse JSON in the strict sense: UTF-8, no NaN, no key twice, no deep nesting, not much."""
    if _count_values(text) > _MAX_VALUES:
        raise ModelFileError(f"{name} holds more than {_MAX_VALUES} values.")
    try:
        return json.loads(
            text if isinstance(text, str) else text.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            parse_int=_small_int,
            object_pairs_hook=_object_without_twins,
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise ModelFileError(f"{name} is not the JSON of a model file: {error}") from error


def _count_values(text: str | bytes) -> int:
    """Return at least the number of values, and of keys, in a text of JSON."""
    if isinstance(text, bytes):
        return sum(map(text.count, (b",", b":", b"[", b"{")))
    return sum(map(text.count, (",", ":", "[", "{")))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, as "\\ud800" makes it
        return False
    return True


def _refuse_constant(text: str) -> None:
    raise ModelFileError(f"it holds the number {text}; all numbers must be finite.")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(f"it holds the number {text[:32]}, which is beyond float64.")
    return value


def _small_int(text: str) -> int:
    # Before int(): a sum over the number of terms, say, must not begin with a million digits.
    if len(text.lstrip("-")) > _MAX_INT_DIGITS:
        raise ModelFileError(f"it holds the number {text[:32]}..., which is beyond float64.")
    return int(text)


def _object_without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ModelFileError("a JSON object in it has the same key twice.")
    return result


def _build(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the constructor of one of our own objects; its refusal is the file's fault."""
    try:
        return function(*args, **kwargs)
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{function.__name__} refuses what it holds: {error}") from error


def _require_keys(mapping: dict[str, Any], expected: set[str], name: str) -> None:
    missing = sorted(expected - mapping.keys())
    extra = sorted(mapping.keys() - expected)
    if missing or extra:
        raise ModelFileError(f"{name} lacks {_show(missing)} and has unknown {_show(extra)}.")


def _require_entries(mapping: dict[str, Any], schema: dict[str, _Entry], name: str) -> None:
    _require_keys(mapping, set(schema), name)
    for key, entry in schema.items():
        _require(mapping[key], entry, f"{name}[{key!r}]")


def _require(value: Any, entry: _Entry, name: str) -> None:
    """Check type and range of an entry of the header."""
    # bool is an int to Python, but not to the schema.
    types = entry.types
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        expected = ", ".join("null" if kind is type(None) else kind.__name__ for kind in types)
        raise ModelFileError(f"{name} must be one of: {expected}; got {_show(value)}.")
    if isinstance(value, str) and float in types and value not in ("nan", "inf", "-inf"):
        raise ModelFileError(f"{name} must be a number; got {_show(value)}.")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < entry.low:
            wanted = "positive" if entry.low == math.ulp(0.0) else f"at least {entry.low:g}"
        elif value > entry.high:
            wanted = f"at most {entry.high:g}"
        else:
            return
        raise ModelFileError(f"{name} must be {wanted}; got {_show(value)}.")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_double(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and _NUMBER.low <= value <= _NUMBER.high


# Not repr, which follows the deepest nesting and spells the longest list.
_SHORT: Final = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 3, 80, 80, 80


def _show(value: Any) -> str:
    """Return a value for an error, cut short: it comes from a stranger."""
    text = _SHORT.repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
