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
``parameters``      JSON object, the estimator's ``get_params()``; tuples and arrays are
                    lists, ``class_weight`` is a list of [label, weight] pairs, a Spectrum
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
``classes``   bool, int or float, labels, ``classes_`` (GegenbauerClassifier, unless they
              (n_classes,)        are str or object: those are JSON, in ``fitted``)
============  ==================  ====================================================

and for models learned from batches, unless they were saved without

============  ==================  ====================================================
``sums``      float64, (n,)       ``statistics_``: the moments, or the columns of the lower
                                  triangle of [G, Y]'[G, Y]; ``fitted`` then has the entry
                                  ``statistics``, and ``coef`` is there if it was solved for
============  ==================  ====================================================

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
``posterior``,           float64, (p, p),      what leverages of new rows are made of, as
``mean_features``        (p,) or (0,)          `RidgePath.posterior` returns it, in models
                                               of a finite set
=======================  ====================  ========================================

Files of the same ``format_version`` may lack parameters that are newer than they are,
``precision_``, ``prior_variance``, ``correlation`` and ``checksum``.

With the index set in the file, any program can evaluate a model. Here it also binds the
memory that a file can ask for to its own size, and finds out if the order of terms were ever
to change between versions. What is not kept: ``set_output``, metadata requests and callbacks.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
import secrets
import shutil
import stat
import time
import warnings
from dataclasses import fields
from importlib import metadata
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils.validation import check_is_fitted

from gegenbauer._arrays import check_flag, check_integer, check_number
from gegenbauer.basis import InputScaling, TensorBasis, count_terms
from gegenbauer.calibration import ProbabilityMap
from gegenbauer.estimators import GegenbauerClassifier, GegenbauerRegressor
from gegenbauer.features import GegenbauerFeatures, _stacklevel
from gegenbauer.kernel import SpectrumKernel
from gegenbauer.model_selection import GegenbauerClassifierCV, GegenbauerRegressorCV
from gegenbauer.spectrum import COMPONENTS, Spectrum
from gegenbauer.statistics import GramStatistics, MomentStatistics

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

# Names and JSON types of what ``fitted`` holds, for every estimator and beyond.
_FITTED: Final[dict[str, tuple[type, ...]]] = {
    "domain": (list,),
    "clip": (bool,),
    "feature_names_in_": (list, type(None)),
}
# Not of models learned from batches, nor in older files.
_CORRELATION: Final[dict[str, tuple[type, ...]]] = {
    "correlation": (list,),  # the largest of two inputs, and which: [float, int, int]
}
_FITTED_BASIS: Final[dict[str, tuple[type, ...]]] = {
    "basis": (dict,),  # the arguments of TensorBasis; missing in models of all terms
}
_FITTED_SOLUTION: Final[dict[str, tuple[type, ...]]] = {
    "engine_": (str,),
    "solver_": (str,),
    "rcond_": (float, int, type(None)),  # null where it is not finite
}
_FITTED_RIDGE: Final[dict[str, tuple[type, ...]]] = {
    "precision_": (str, type(None)),  # null, or missing in older files, where it is not known
    "n_refinements_": (int,),
}
# Models learned from batches have it as ``statistics``.
_STATISTICS: Final[dict[str, tuple[type, ...]]] = {
    "kind": (str,),  # "gram" or "moments"
    "n_samples": (int,),
    "weight_sum": (float, int),
    "resolution": (float,),
    "n_outputs": (int,),
    "n_out_of_range": (int,),
    "y_was_flat": (bool,),
    "solved": (bool,),
    "position": (list, type(None)),  # of a checkpoint: number of batches, their fingerprint
}
_KINDS: Final[dict[str, Any]] = {"gram": GramStatistics, "moments": MomentStatistics}

_FITTED_SEARCH: Final[dict[str, tuple[type, ...]]] = {
    "gamma_": (float, int),
    "best_score_": (float, int),
    "n_search_rows_": (int,),
    "spectrum_": (list, type(None)),  # components; null for raw polynomials
    "y_was_flat": (bool,),
}
_FITTED_REGRESSOR_SEARCH: Final[dict[str, tuple[type, ...]]] = {
    "effective_dof_": (float, int),
    "free_constant": (bool,),
    "free_leverage": (float, int, type(None)),  # null in models of all terms
}
_FITTED_CLASSIFIER: Final[dict[str, tuple[type, ...]]] = {
    "multilabel_": (bool,),
    "classes_": (dict, type(None)),  # {"dtype": "<U3" or "object", "values": [str, ...]}
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
_MAX_COMPONENTS: Final = 16

# The axes of ``cv_results_``, in the order in which ``score`` has them.
_AXES: Final = (("smoothness", "interaction", "relative_gamma"), ("lam", "n_terms", "gamma"))
_RESULTS: Final = "cv_results."

# Tensors that may hold infinity or NaN, since what they stand for may be unknown.
_OPEN: Final = {
    "loo_predictions", "residuals", "noise_variance", "prior_variance", f"{_RESULTS}score"
}  # fmt: skip

# Largest header that is written and read: some hundred thousand names of inputs or labels.
_MAX_HEADER_BYTES: Final = 16 * 2**20
_LENGTH_BYTES: Final = 8
_MAX_INT_DIGITS: Final = 18

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

    The file appears at once and whole: it is written under another name in the same folder
    and then renamed, so that an existing file stays intact if anything fails.

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
        or label is of a type that the format has no place for.
    sklearn.exceptions.NotFittedError
        ``estimator`` is not fitted.
    ValueError
        The names of inputs and labels exceed 16 MiB, or a weight is not finite.
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
    _write_atomically(target, _to_bytes(estimator))


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
        if key not in _OPEN and array.dtype.kind == "f" and not np.isfinite(array).all():
            attribute = "term_coef_" if key == "coef" else f"{key}_"
            raise ValueError(f"{attribute} must be finite to be saved; it holds NaN or infinity.")
    parameters = {}
    for key, value in estimator.get_params(deep=False).items():
        if key in ("cv", "scoring") and not isinstance(value, (str, Integral, type(None))):
            raise TypeError(
                f"{key} is {value!r}, for which a model file has no place; what was fitted does "
                f"not need it any more: save model.set_params({key}=None)"
            )
        if key == "class_weight" and isinstance(value, dict):
            parameters[key] = [
                [_plain_label(label), float(weight)] for label, weight in value.items()
            ]
        elif key == "feature_range" and value is not None:
            parameters[key] = np.asarray(value, dtype=np.float64).tolist()
        else:
            parameters[key] = _plain(value, key)
    entries = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "library_version": metadata.version("gegenbauer"),
        "estimator": name,
        "parameters": _to_json(parameters),
        "fitted": _to_json(fitted),
    }
    # safetensors reads the memory of an array as it lies there, whatever its strides are.
    tensors = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
    entries["checksum"] = _checksum(entries, tensors)
    data = _with_sorted_header(to_safetensors(tensors, metadata=entries))
    if int.from_bytes(data[:_LENGTH_BYTES], "little") > _MAX_HEADER_BYTES:
        raise ValueError(
            "the names of the inputs and the labels take more than "
            f"{_MAX_HEADER_BYTES // 2**20} MiB; a model file has no room for them."
        )
    return data


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
    fitted["statistics"] = {
        "kind": next(kind for kind, cls in _KINDS.items() if type(statistics) is cls),
        "n_samples": int(statistics.n_samples),
        "weight_sum": float(statistics.weight_sum),
        "resolution": float(statistics.resolution),
        "n_outputs": int(statistics.n_outputs),
        "n_out_of_range": int(estimator.n_out_of_range_),
        "y_was_flat": bool(estimator._y_was_flat),
        "solved": "term_coef_" in vars(estimator),
        "position": position,
    }


def _put_search(estimator: Any, tensors: dict[str, NDArray[Any]], fitted: dict[str, Any]) -> None:
    """Describe what an estimator that chooses by itself has beyond the others."""
    fitted |= {
        "gamma_": float(estimator.gamma_),
        "best_score_": float(estimator.best_score_),
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
    fitted |= {
        "effective_dof_": float(estimator.effective_dof_),
        "free_constant": bool(estimator._free_constant),
        "free_leverage": None,
    }
    if not hasattr(estimator, "dual_coef_"):
        fitted["free_leverage"] = float(estimator._free_leverage)
        tensors["posterior"] = estimator._posterior
        tensors["mean_features"] = estimator._mean_features


def _put_classes(estimator: Any, tensors: dict[str, NDArray[Any]], fitted: dict[str, Any]) -> None:
    classes = np.asarray(estimator.classes_)
    fitted["multilabel_"] = bool(estimator.multilabel_)
    fitted["classes_"] = None
    if classes.dtype in _LABEL_DTYPES:
        tensors["classes"] = classes
    elif classes.dtype.kind in "UO":
        dtype = "object" if classes.dtype.kind == "O" else classes.dtype.str
        values = classes.tolist()
        if not all(isinstance(label, str) for label in values):
            raise TypeError(f"classes_ of dtype object must be str to be saved; got {values}.")
        fitted["classes_"] = {"dtype": dtype, "values": values}
    else:
        raise TypeError(
            f"classes_ has dtype {classes.dtype}; save keeps labels that are bool, int, "
            "float, str, or object of str."
        )


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

    A spectrum, and a component of one, become an object.
    """
    if value is None or isinstance(value, (bool, str)):
        # str() because numpy.str_ is a str, too.
        return str(value) if isinstance(value, str) else value
    if isinstance(value, (np.ndarray, list, tuple)):
        return [_plain(item, name) for item in value]
    if isinstance(value, Spectrum):
        return {"components": _plain(value.components, name)}
    if isinstance(value, COMPONENTS):
        parts = {key: _plain(part, f"{name} ({key})") for key, part in vars(value).items()}
        return {"kind": type(value).__name__} | parts
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise TypeError(
        f"{name} must be None, a bool, a finite number, a str, a Spectrum, or a list, tuple or "
        f"array of these to be saved; it holds {value!r} of type {type(value).__name__}."
    )


def _plain_label(label: Any) -> Any:
    if isinstance(label, (list, tuple, np.ndarray)) or label is None:
        raise TypeError(
            f"labels must be str, int, float or bool to be saved; got {label!r} of type "
            f"{type(label).__name__}."
        )
    return _plain(label, "a label")


def _write_atomically(path: Path, data: bytes) -> None:
    """Write a file under a passing name beside ``path``, then give it that name."""
    passing = path.with_name(f".{path.name[:64]}.{secrets.token_hex(8)}.tmp")
    # Not tempfile: its files are for the owner alone, and would stay so after the renaming.
    descriptor = os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, passing)
        passing.replace(path)
    except BaseException:
        passing.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


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
        differ = model._differing_parameters(blank)
        if model.engine != blank.engine:
            differ.append("engine")
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
            _write_atomically(self.path, _to_bytes(bare, [int(n_batches), fingerprint]))
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
            f"its format_version is {version!r}, and this version of gegenbauer, "
            f"{metadata.version('gegenbauer')}, reads {_FORMAT_VERSION!r}. It may come from a "
            f"newer one: its library_version is {entries.get('library_version')!r}."
        )
    _require_keys({"checksum": None, **entries}, _METADATA_KEYS, "__metadata__")
    if not all(isinstance(value, str) for value in entries.values()):
        raise ModelFileError("__metadata__ must hold strings only.")
    name = entries["estimator"]
    if name not in _ESTIMATORS:
        raise ModelFileError(f"estimator must be one of {', '.join(_ESTIMATORS)}; got {name!r}.")
    _compare_versions(entries["library_version"])
    parameters = _parse_json(entries["parameters"], "parameters")
    fitted = _parse_json(entries["fitted"], "fitted")
    for key, value in (("parameters", parameters), ("fitted", fitted)):
        if not isinstance(value, dict):
            raise ModelFileError(f"{key} must be a JSON object; got {_show(value)}.")
    tensors, n_bytes = _parse_tensors(header)
    end = _LENGTH_BYTES + len(text) + n_bytes
    return _Header(name, parameters, fitted, tensors, end, entries)


def _parse_tensors(
    header: dict[str, Any],
) -> tuple[dict[str, tuple[np.dtype[Any], tuple[int, ...]]], int]:
    """Return dtypes and shapes by name, and the number of bytes of all tensors."""
    tensors = {}
    ranges = []
    for name, entry in header.items():
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise ModelFileError(
                f"tensor {name!r} must have dtype, shape and data_offsets, and nothing else."
            )
        dtype = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if dtype is None:
            raise ModelFileError(
                f"tensor {name!r} has the dtype {_show(entry['dtype'])}; expected one of "
                f"{', '.join(_DTYPES)}."
            )
        shape = _sizes(entry["shape"], f"the shape of tensor {name!r}")
        offsets = _sizes(entry["data_offsets"], f"data_offsets of tensor {name!r}")
        n_bytes = math.prod(shape) * dtype.itemsize
        if len(offsets) != 2 or offsets[1] - offsets[0] != n_bytes:
            raise ModelFileError(
                f"tensor {name!r} of shape {shape} takes {n_bytes} bytes; its data_offsets are "
                f"{_show(list(offsets))}."
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
    if not isinstance(value, list) or not all(_is_int(item) and item >= 0 for item in value):
        raise ModelFileError(f"{name} must be a list of non-negative ints; got {_show(value)}.")
    return tuple(value)


def _read_tensors(header: _Header, data: bytes) -> dict[str, NDArray[Any]]:
    """Copy the arrays out of the file, by safetensors, which checks its part once more."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_safetensors

    _require_keys(header.tensors, _expected_tensors(header), "the list of tensors")
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
    return arrays


def _expected_tensors(header: _Header) -> set[str]:
    """Name the tensors that a file must have, by what its header says it is."""
    name, fitted = header.estimator, header.fitted
    expected = {"lower", "upper", "constant"}
    finite = "basis" in fitted or name not in _SEARCHES
    if finite:
        expected.add("indices")
        if name != "GegenbauerFeatures" and _is_solved(fitted):
            expected.add("coef")
    if "statistics" in fitted:
        expected.add("sums")
    if name in _CLASSIFIERS and fitted.get("classes_") is None:
        expected.add("classes")
    if name not in _SEARCHES:
        return expected
    expected |= {"intercept", "loo_predictions"}
    raw = fitted.get("spectrum_") is None
    axes = _AXES[1] if raw else _AXES[0]
    # with a spectrum that was given or learned there was no grid
    if raw or f"{_RESULTS}score" in header.tensors:
        expected |= {f"{_RESULTS}{key}" for key in (*axes, "score")}
    if not finite:
        expected |= {"X_fit", "dual_coef"}
    if name in _CLASSIFIERS:
        return expected | {"probability_scales", "probability_biases"}
    expected |= {"noise_variance", "residuals"} | (set() if raw else {"relevances"})
    if finite:
        expected |= {"posterior", "mean_features"}
    return expected | ({"row_weight", "prior_variance"} & header.tensors.keys())


def _is_solved(fitted: dict[str, Any]) -> bool:
    """Whether the file holds weights; those of models learned from batches may be found later."""
    statistics = fitted.get("statistics")
    return not isinstance(statistics, dict) or statistics.get("solved") is not False


def _from_parts(header: _Header, arrays: dict[str, NDArray[Any]]) -> Any:
    """Build the estimator out of parts that are checked here, one against the other."""
    name, fitted = header.estimator, header.fitted
    schema = dict(_FITTED)
    if "correlation" in fitted:
        schema |= _CORRELATION
    if name not in _SEARCHES or "basis" in fitted:
        schema |= _FITTED_BASIS
    if name in _SEARCHES:
        schema |= _FITTED_SOLUTION | _FITTED_SEARCH
    elif name != "GegenbauerFeatures":
        if _is_solved(fitted):
            schema |= _FITTED_SOLUTION | _FITTED_RIDGE
            fitted.setdefault("precision_", None)
        if "statistics" in fitted:
            schema["statistics"] = (dict,)
    if name == "GegenbauerRegressorCV":
        schema |= _FITTED_REGRESSOR_SEARCH
    if name in _CLASSIFIERS:
        schema |= _FITTED_CLASSIFIER
    _require_keys(fitted, set(schema), "fitted")
    for key, types in schema.items():
        _require_type(fitted[key], types, f"fitted[{key!r}]")

    estimator = _restore_parameters(name, header.parameters)
    rows = "indices" if "basis" in fitted else "X_fit"
    names = ("int32",) if "basis" in fitted else ("float64", "float32")
    n, n_features = _require_array(arrays, rows, set(map(np.dtype, names)), (None, None))
    estimator.scaling_ = _restore_scaling(fitted, arrays, n_features)
    estimator.n_features_in_ = n_features
    if "basis" in fitted:
        estimator.basis_ = _restore_basis(fitted["basis"], arrays["indices"])
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
        _restore_search(estimator, fitted, arrays, n)
    elif "coef" in arrays:
        _restore_ridge(estimator, fitted, arrays, n)
    if name in _CLASSIFIERS:
        _restore_classes(estimator, fitted, arrays)
    if "statistics" in fitted:
        _restore_statistics(estimator, fitted["statistics"], arrays)
    if name == "GegenbauerClassifierCV":
        _restore_probabilities(estimator, arrays)
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
            _require_type(value, (int, type(None)), "parameters['cv']")
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
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"parameters: {error}") from error
    return estimator


def _restore_value(value: Any, name: str) -> Any:
    """Return a parameter: a scalar, a spectrum for an object, or a tuple of these for a list."""
    if isinstance(value, dict):
        if "components" not in value:
            return _restore_component(value, name)
        _require_keys(value, {"components"}, name)
        _require_type(value["components"], (list,), name)
        return _restore_spectrum(value["components"], name)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return _restore_spectrum(value, name).components
    for item in value if isinstance(value, list) else [value]:
        _require_type(item, (bool, int, float, str, type(None)), name)
    return tuple(value) if isinstance(value, list) else value


def _restore_range(pairs: Any) -> tuple[tuple[float, float], ...]:
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair)) for pair in pairs
    ):
        raise ModelFileError(f"feature_range must be a list of pairs; got {_show(pairs)}.")
    return tuple((float(lower), float(upper)) for lower, upper in pairs)


def _restore_class_weight(pairs: list[Any]) -> dict[Any, float]:
    for pair in pairs:
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not isinstance(pair[0], (str, int, float))
            or not _is_number(pair[1])
        ):
            raise ModelFileError(
                f"class_weight must be a list of [label, weight] pairs; it holds {_show(pair)}."
            )
    return {label: float(weight) for label, weight in pairs}


def _restore_scaling(
    fitted: dict[str, Any], arrays: dict[str, NDArray[Any]], n_features: int
) -> InputScaling:
    for key, dtype in (("lower", "float64"), ("upper", "float64"), ("constant", "bool")):
        _require_array(arrays, key, {np.dtype(dtype)}, (n_features,))
    scaling: InputScaling = _build(
        InputScaling,
        arrays["lower"],
        arrays["upper"],
        domain=_restore_value(fitted["domain"], "domain"),
        clip=fitted["clip"],
        constant=arrays["constant"],
    )
    return scaling


def _restore_basis(arguments: dict[str, Any], indices: NDArray[np.int32]) -> TensorBasis:
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


def _restore_ridge(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]], n_terms: int
) -> None:
    n_dims = arrays["coef"].ndim
    shape = (n_terms,) if n_dims == 1 else (n_terms, None)
    _require_array(arrays, "coef", {np.dtype("float64")}, shape)
    estimator.term_coef_ = arrays["coef"]
    estimator.precision_ = fitted["precision_"]
    estimator.n_refinements_ = fitted["n_refinements_"]


def _restore_search(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]], n: int
) -> None:
    """Restore an estimator that chose by itself, with n terms, or n rows and all terms."""
    finite = "basis" in fitted
    m = estimator.n_features_in_
    weights = "coef" if finite else "dual_coef"
    _, n_outputs = _require_doubles(arrays, weights, (n, None))
    _require_doubles(arrays, "intercept", (n_outputs,))
    setattr(estimator, "term_coef_" if finite else "dual_coef_", arrays[weights])
    estimator.intercept_ = arrays["intercept"]
    estimator._all_terms = not finite
    if fitted["spectrum_"] is None:
        if not finite:
            raise ModelFileError("spectrum_ is null, so fitted must have 'basis'.")
        estimator.spectrum_, estimator._margin = None, 0.0
    else:
        estimator.spectrum_ = _restore_spectrum(fitted["spectrum_"], "spectrum_")
    if finite:
        estimator.lam_ = estimator.basis_.lam
        if estimator.spectrum_ is not None and estimator.spectrum_ != estimator.basis_.spectrum:
            raise ModelFileError("spectrum_ is not that of fitted['basis'].")
    else:
        estimator.kernel_ = _build(SpectrumKernel, m, estimator.spectrum_)
        estimator.lam_, estimator.n_terms_ = estimator.kernel_.lam, math.inf
        estimator.X_fit_ = arrays["X_fit"]
    estimator.gamma_ = float(fitted["gamma_"])
    if estimator.gamma_ <= 0:
        raise ModelFileError(f"gamma_ must be positive; got {estimator.gamma_}.")
    estimator.best_score_ = float(fitted["best_score_"])
    estimator.n_search_rows_ = fitted["n_search_rows_"]
    estimator._y_was_flat = flat = fitted["y_was_flat"]
    if flat and n_outputs != 1:
        raise ModelFileError(f"y_was_flat is true, and there are {n_outputs} outputs.")
    single = n_outputs == 1 if isinstance(estimator, GegenbauerClassifierCV) else flat
    _require_doubles(arrays, "loo_predictions", (None,) if single else (None, n_outputs))
    estimator.loo_predictions_ = arrays["loo_predictions"]
    estimator.cv_results_ = {}
    if f"{_RESULTS}score" in arrays:
        axes = _AXES[1] if estimator.spectrum_ is None else _AXES[0]
        whole = {np.dtype("int64")}
        sizes = tuple(
            _require_array(arrays, name, whole, (None,))[0]
            if name == f"{_RESULTS}n_terms"
            else _require_doubles(arrays, name, (None,))[0]
            for name in (f"{_RESULTS}{axis}" for axis in axes)
        )
        _require_doubles(arrays, f"{_RESULTS}score", sizes)
        estimator.cv_results_ = {key: arrays[f"{_RESULTS}{key}"] for key in (*axes, "score")}
    if isinstance(estimator, GegenbauerRegressorCV):
        _restore_uncertainty(estimator, fitted, arrays, None if finite else n, n_outputs)


def _restore_uncertainty(
    estimator: Any,
    fitted: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    n_rows: int | None,
    n_outputs: int,
) -> None:
    """Restore what standard deviations and intervals of a regressor are made of."""
    n_rows, _ = _require_doubles(arrays, "residuals", (n_rows, n_outputs))
    estimator._left_out_residuals = arrays["residuals"]
    estimator._row_weight = arrays.get("row_weight")
    if estimator._row_weight is not None:
        _require_doubles(arrays, "row_weight", (n_rows,))
        if not (estimator._row_weight > 0).all():
            raise ModelFileError("tensor 'row_weight' must be positive.")
    if estimator.spectrum_ is not None:
        _require_doubles(arrays, "relevances", (estimator.n_features_in_,))
    _require_doubles(arrays, "noise_variance", (n_outputs,))
    estimator.noise_variance_ = arrays["noise_variance"]
    if not (estimator.noise_variance_ >= 0).all():
        raise ModelFileError("tensor 'noise_variance' must not be negative or NaN.")
    # older files lack it, where it is that of the fit
    prior = arrays.get("prior_variance", estimator.noise_variance_ / estimator.gamma_)
    _require_doubles({"prior_variance": prior}, "prior_variance", (n_outputs,))
    if not (prior >= 0).all():
        raise ModelFileError("tensor 'prior_variance' must not be negative or NaN.")
    estimator._prior_variance = prior
    estimator.effective_dof_ = float(fitted["effective_dof_"])
    estimator._free_constant = free = fitted["free_constant"]
    leverage = fitted["free_leverage"]
    if (leverage is None) != estimator._all_terms or (leverage is not None and leverage < 0):
        raise ModelFileError(
            f"free_leverage must be null for all terms, else a number from 0 up; got {leverage}."
        )
    if leverage is not None:
        size = estimator.n_terms_ - free
        _require_doubles(arrays, "posterior", (size, size))
        _require_doubles(arrays, "mean_features", (size if free else 0,))
        estimator._posterior = arrays["posterior"]
        estimator._mean_features = arrays["mean_features"]
        estimator._free_leverage = float(leverage)


def _restore_spectrum(components: list[Any], name: str) -> Spectrum:
    """Build a spectrum, and so check it."""
    if not 1 <= len(components) <= _MAX_COMPONENTS:
        raise ModelFileError(f"{name} must have 1 to {_MAX_COMPONENTS} components.")
    spectrum: Spectrum = _build(Spectrum, [_restore_component(part, name) for part in components])
    return spectrum


def _restore_component(entry: Any, name: str) -> Any:
    _require_type(entry, (dict,), f"a component of {name}")
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
            _require_type(number, (int, float), f"{name} ({key})")
    component = kind(**values)
    _build(Spectrum, component)  # refuses numbers out of their ranges
    return component


def _restore_probabilities(estimator: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Restore what makes probabilities of outputs, once the classes are known."""
    multilabel, n_classes = estimator.multilabel_, estimator.classes_.size
    shape = (n_classes, 2) if multilabel else (1, n_classes)
    _require_doubles(arrays, "probability_scales", shape[:1])
    _require_doubles(arrays, "probability_biases", shape)
    scales, biases = arrays["probability_scales"], arrays["probability_biases"]
    if not (scales > 0).all():
        raise ModelFileError("tensor 'probability_scales' must be positive.")
    estimator.probability_maps_ = [
        ProbabilityMap(float(scale), bias.copy())
        for scale, bias in zip(scales, biases, strict=True)
    ]


def _restore_classes(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    if fitted["classes_"] is None:
        _require_array(arrays, "classes", _LABEL_DTYPES, (None,))
        classes = arrays["classes"]
    else:
        classes = _restore_labels(fitted["classes_"])
    multilabel = estimator.multilabel_ = fitted["multilabel_"]
    estimator.classes_ = classes
    name = "coef" if "coef" in arrays else "dual_coef"
    if name not in arrays:  # of a model that has not been solved for
        return
    weights = arrays[name]
    n_outputs = 1 if weights.ndim == 1 else weights.shape[1]
    expected = classes.size if multilabel or classes.size != 2 else 1
    if classes.size < (1 if multilabel else 2) or n_outputs != expected:
        raise ModelFileError(
            f"{classes.size} classes and a {name} of shape {weights.shape} do not belong together."
        )
    flat = n_outputs == 1 and not multilabel and not isinstance(estimator, GegenbauerClassifierCV)
    if (weights.ndim == 1) != flat:
        raise ModelFileError(f"{name} has the wrong number of dimensions, {weights.ndim}.")


def _restore_statistics(
    estimator: Any, entry: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Restore the sums over the rows of a model that was learned from batches."""
    _require_keys(entry, set(_STATISTICS), "fitted['statistics']")
    for key, types in _STATISTICS.items():
        _require_type(entry[key], types, f"fitted['statistics'][{key!r}]")
    if entry["kind"] not in _KINDS:
        raise ModelFileError(f"the kind of its statistics, {_show(entry['kind'])}, is not known.")
    position = entry["position"]
    if position is not None and not (
        len(position) == 2 and _is_int(position[0]) and isinstance(position[1], str)
    ):
        raise ModelFileError("its position must be a number of batches and a fingerprint.")
    n_outputs = entry["n_outputs"]
    classes = getattr(estimator, "classes_", None)
    if n_outputs < 1 or (classes is not None and classes.size != n_outputs):
        raise ModelFileError(f"its statistics cannot have {n_outputs} outputs.")
    n_samples, weight_sum = entry["n_samples"], float(entry["weight_sum"])
    eps = [float(np.finfo(kind).eps) for kind in (np.float32, np.float64)]
    if n_samples < 1 or not 0 < weight_sum < np.inf or entry["resolution"] not in eps:
        raise ModelFileError("the numbers of its statistics are out of range.")
    _require_array(arrays, "sums", {np.dtype("float64")}, (None,))
    # no more is made than the file is long: its length is asked first
    kind = _KINDS[entry["kind"]]
    expected = _build(kind._n_packed, estimator.basis_, n_outputs)
    if arrays["sums"].size != expected:
        raise ModelFileError(
            f"sums has {arrays['sums'].size} entries, and its statistics would have {expected}."
        )
    statistics = _build(kind, estimator.basis_, n_outputs, scaling=estimator.scaling_)
    statistics._unpack(arrays["sums"])
    statistics.n_samples, statistics.weight_sum = n_samples, weight_sum
    statistics.resolution = entry["resolution"]
    estimator.statistics_ = statistics
    estimator.n_samples_seen_ = n_samples
    estimator.n_out_of_range_ = entry["n_out_of_range"]
    estimator._y_was_flat = entry["y_was_flat"]
    estimator._summed_with = estimator._sum_parameters()
    if position is not None:
        estimator._position = position


def _restore_labels(entry: dict[str, Any]) -> NDArray[Any]:
    _require_keys(entry, {"dtype", "values"}, "fitted['classes_']")
    values, dtype = entry["values"], entry["dtype"]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ModelFileError("the labels in fitted['classes_'] must be a list of strings.")
    if len(set(values)) != len(values):
        raise ModelFileError("the labels are not all different.")
    # "<U3": text of up to three characters. Wider than its longest label is never written.
    width = max([1, *map(len, values)])
    if dtype not in ("object", f"<U{width}"):
        raise ModelFileError(f"the labels do not have the dtype {_show(dtype)}.")
    return np.array(values, dtype=object if dtype == "object" else dtype)


# ---- checks --------------------------------------------------------------------------


def _import_safetensors() -> None:
    try:
        import safetensors.numpy  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            "save and load need the package safetensors: pip install 'gegenbauer[io]'"
        ) from error


def _compare_versions(written_by: str) -> None:
    ours = metadata.version("gegenbauer")
    if written_by != ours:
        warnings.warn(
            f"the model was written by gegenbauer {written_by[:32]} and is read by {ours}; check "
            "its predictions before you rely on them.",
            ModelVersionWarning,
            stacklevel=_stacklevel(),
        )


def _parse_json(text: str | bytes, name: str) -> Any:
    """Parse JSON in the strict sense: UTF-8, no NaN, no key twice, no deep nesting."""
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


def _refuse_constant(text: str) -> None:
    raise ModelFileError(f"it holds the number {text}; all numbers must be finite.")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(f"it holds the number {text[:32]}, which is beyond float64.")
    return value


def _small_int(text: str) -> int:
    # Before int(): a sum over the number of terms, say, must not begin with a million digits.
    if len(text) > _MAX_INT_DIGITS:
        raise ModelFileError(f"it holds the number {text[:32]}..., which is beyond int64.")
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
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"{function.__name__} refuses what it holds: {error}") from error


def _require_keys(mapping: dict[str, Any], expected: set[str], name: str) -> None:
    missing = sorted(expected - mapping.keys())
    extra = sorted(mapping.keys() - expected)
    if missing or extra:
        raise ModelFileError(f"{name} lacks {_show(missing)} and has unknown {_show(extra)}.")


def _require_type(value: Any, types: tuple[type, ...], name: str) -> None:
    # bool is an int to Python, but not to the schema.
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        expected = ", ".join("null" if kind is type(None) else kind.__name__ for kind in types)
        raise ModelFileError(f"{name} must be one of: {expected}; got {_show(value)}.")


def _require_array(
    arrays: dict[str, NDArray[Any]],
    name: str,
    dtypes: set[np.dtype[Any]] | frozenset[np.dtype[Any]],
    shape: tuple[int | None, ...],
) -> tuple[int, ...]:
    """Check an array, None in ``shape`` being any size of at least 1; return its shape."""
    array = arrays[name]
    right_shape = array.ndim == len(shape) and all(
        size >= 1 if expected is None else size == expected
        for size, expected in zip(array.shape, shape, strict=True)
    )
    if array.dtype not in dtypes or not right_shape:
        wanted = " or ".join(sorted(dtype.name for dtype in dtypes))
        sizes = ", ".join("any" if size is None else str(size) for size in shape)
        raise ModelFileError(
            f"tensor {name!r} must be {wanted} of shape ({sizes}); got {array.dtype} of shape "
            f"{array.shape}."
        )
    if name not in _OPEN and array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(f"tensor {name!r} holds NaN or infinity.")
    return array.shape


def _require_doubles(
    arrays: dict[str, NDArray[Any]], name: str, shape: tuple[int | None, ...]
) -> tuple[int, ...]:
    return _require_array(arrays, name, {np.dtype("float64")}, shape)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _show(value: Any) -> str:
    """Return a value for an error, cut short: it comes from a stranger."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
