"""Writing of model files."""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Iterable
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gegenbauer import __version__
from gegenbauer._memory import require_memory
from gegenbauer._messages import Message, Ways
from gegenbauer._validation import check_flag
from gegenbauer.basis.spectrum import COMPONENTS, Spectrum
from gegenbauer.errors import ModelFileError
from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor import GegenbauerRegressor
from gegenbauer.inspection.marginals import worked_out
from gegenbauer.persistence._checks import show, wrong_number
from gegenbauer.persistence._format import (
    ALPHA_RESULTS,
    BASIS_ARGUMENTS,
    CLASSIFIERS,
    ESTIMATORS,
    FORMAT,
    FORMAT_VERSION,
    KINDS,
    LABEL_DTYPES,
    LENGTH_BYTES,
    MAX_HEADER_BYTES,
    MAX_INT_DIGITS,
    MAX_VALUES,
    RESULTS,
    SEARCHES,
    checksum_of,
    count_values,
    import_safetensors,
    most_label_bytes,
)
from gegenbauer.persistence._read import read_file, read_tensors
from gegenbauer.persistence._restore import from_parts
from gegenbauer.persistence.atomic import as_path, write_atomically
from gegenbauer.ridge.expansions import KernelExpansion, KernelPosterior
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer.estimators._categories import Category

__all__ = ["plain_parameter", "require_same", "save", "to_bytes"]


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
        Whether a model learned from batches keeps the sums over its samples, with which it can go
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

    See Also
    --------
    load : Read a model from a file.
    Checkpoint : Go on after an interrupt.

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
    import_safetensors()
    if type(estimator) not in ESTIMATORS.values():
        hint = ""
        if hasattr(estimator, "steps"):
            hint = " Of a pipeline, save the last step by itself and build the others anew."
        elif hasattr(estimator, "to_local"):
            hint = f" Of the {type(estimator).__name__} of gegenbauer.dask, save its to_local()."
        raise TypeError(
            f"save writes fitted {', '.join(ESTIMATORS)}; got {type(estimator).__name__}.{hint}"
        )
    check_is_fitted(estimator)
    estimator = copy.copy(estimator)  # as it is now, whatever other threads learn
    estimator._validate_params()  # they may have been set after the fit
    target = Path(os.path.realpath(as_path(path)))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to save the model in")
    if target.exists() and not target.is_file():
        raise OSError(f"{os.fspath(path)!r} is a folder or a device; give the name of a file")
    if not check_flag(statistics, "statistics") and _learns_by_sums(estimator):
        estimator._solved()  # if it was not yet
        estimator._statistics = None
    data = to_bytes(estimator)
    require_memory(
        # the file, the model of it and the file of that one; sums are triangles in files
        (6.0 if _learns_by_sums(estimator) else 3.0) * len(data),
        f"reading back a file of {len(data)} bytes",
        Ways.of([Ways("leave the sums out by", "`statistics=False`"), "fit with fewer terms"]),
    )
    write_atomically(target, data, require_same)


def _is_plain(estimator: Any) -> bool:
    """Whether it is a classifier or regressor of given terms."""
    return isinstance(estimator, (GegenbauerClassifier, GegenbauerRegressor))


def _learns_by_sums(estimator: Any) -> bool:
    return _is_plain(estimator) and estimator._statistics is not None


def to_bytes(estimator: Any, position: list[Any] | None = None) -> bytes:
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
    solved = name in SEARCHES or (_is_plain(estimator) and estimator._solution is not None)
    function = estimator.expansion_ if solved else None
    if function is not None:
        tensors |= function.to_arrays()
    if not isinstance(function, (KernelExpansion, MeanExpansion)):
        tensors["indices"] = np.asarray(estimator.basis_.indices, dtype=np.int32)
        fitted["basis"] = {
            key: _plain(getattr(estimator.basis_, key), f"basis_.{key}") for key in BASIS_ARGUMENTS
        } | {
            "spectrum": _plain(  # whose levels stand among the inputs
                estimator.basis_._spectrum_shorthand(without_levels=True), "basis_.spectrum"
            )
        }
    if estimator._levels is not None:
        fitted["inputs"] = _inputs(estimator._levels, dict(estimator._encoder.categories))
    if estimator._correlation is not None:
        fitted["correlation"] = [*estimator._correlation]
    if estimator._marginals is not None:
        marginals = worked_out(estimator._marginals)
        tensors["marginal_sizes"] = np.array([one.nodes.size for one in marginals], np.int64)
        tensors["marginal_nodes"] = np.concatenate([one.nodes for one in marginals])
        tensors["marginal_weights"] = np.concatenate([one.weights for one in marginals])
    if _learns_by_sums(estimator):
        _put_statistics(estimator, tensors, fitted, position)
    for key, values in (getattr(estimator, "alpha_results_", None) or {}).items():
        tensors[f"{ALPHA_RESULTS}{key}"] = np.asarray(values)
    if solved:
        rcond = float(estimator.rcond_)
        fitted |= {
            "engine_": str(estimator.engine_),
            "solver_": str(estimator.solver_),
            "rcond_": rcond if math.isfinite(rcond) else None,
        }
    if name in SEARCHES:
        _put_search(estimator, tensors, fitted)
    elif solved:
        fitted["precision_"] = estimator.precision_
        fitted["n_refinements_"] = int(estimator.n_refinements_)
    if name in CLASSIFIERS:
        _put_classes(estimator, tensors, fitted)
    for key, array in tensors.items():
        wrong = wrong_number(key, array)
        if wrong is not None:
            attribute = "term_coef_" if key == "coef" else f"{key}_"
            raise ValueError(f"{attribute} must be {wrong}: it cannot be saved.")
    return _pack(estimator, tensors, fitted)


def _pack(estimator: Any, tensors: dict[str, NDArray[Any]], fitted: dict[str, Any]) -> bytes:
    """Return the bytes of a file that holds an estimator's parameters and what it has learned."""
    from safetensors.numpy import save as to_safetensors

    parameters = {
        key: plain_parameter(key, value) for key, value in estimator.get_params(deep=False).items()
    }
    entries = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "estimator": type(estimator).__name__,
        "parameters": _to_json(parameters),
        "fitted": _to_json(fitted),
    }
    # safetensors reads the memory of an array as it lies there, whatever its strides are.
    tensors = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
    entries["checksum"] = checksum_of(entries, tensors)
    data = _with_sorted_header(to_safetensors(tensors, metadata=entries))
    n_header = int.from_bytes(data[:LENGTH_BYTES], "little")
    n_values = max(map(count_values, (entries["parameters"], entries["fitted"])))
    if n_header > MAX_HEADER_BYTES or n_values > MAX_VALUES:
        raise ValueError(
            "the names of the inputs, the labels and the parameters take more than "
            f"{MAX_HEADER_BYTES // 2**20} MiB, or are more than {MAX_VALUES}; a model file has "
            "no room for them."
        )
    return data


def plain_parameter(name: str, value: Any) -> Any:
    """Turn a parameter of an estimator into what a file has for it."""
    if name in ("cv", "scoring") and not isinstance(value, (str, Integral, type(None))):
        raise TypeError(
            Message(
                "`{}` is {!r}, for which a model file has no place; what was fitted does not need "
                "it any more: save model.set_params({}=None)",
                name,
                value,
                name,
            )
        )
    if name == "class_weight" and isinstance(value, dict):
        return [
            [_plain_label(label), float(_plain(weight, f"class_weight of {label!r}"))]
            for label, weight in value.items()
        ]
    if name == "bounds" and value is not None and not isinstance(value, str):
        try:
            return np.asarray(value, dtype=np.float64).tolist()
        except (TypeError, ValueError, OverflowError):
            raise TypeError(
                Message(
                    "`bounds` must hold a pair of numbers for each input to be saved; got {}.",
                    show(value),
                )
            ) from None
    return _plain(value, name)


def _put_statistics(
    estimator: Any,
    tensors: dict[str, NDArray[Any]],
    fitted: dict[str, Any],
    position: list[Any] | None,
) -> None:
    """Describe the sums over the samples of a model that was learned from batches."""
    statistics = estimator.statistics_
    tensors["sums"] = statistics._packed()
    tensors["shift"] = statistics._shift
    fitted["statistics"] = {
        "kind": next(kind for kind, cls in KINDS.items() if type(statistics) is cls),
        "n_samples": int(statistics.n_samples),
        "weight_sum": float(statistics.weight_sum),
        "resolution": float(statistics.resolution),
        "n_outputs": int(statistics.n_outputs),
        "n_out_of_range": int(estimator.n_out_of_range_),
        "y_was_flat": bool(estimator._y_was_flat),
        "solved": estimator._solution is not None,
        "shifted": True,
        "position": position,
    }


def _put_search(estimator: Any, tensors: dict[str, NDArray[Any]], fitted: dict[str, Any]) -> None:
    """Describe what an estimator that chooses by itself has beyond the others."""
    fitted |= {
        "alpha_": float(estimator.alpha_),
        "best_score_": _open_number(estimator.best_score_),
        "n_search_samples_": int(estimator.n_search_samples_),
        "y_was_flat": bool(estimator._y_was_flat),
    }
    if estimator.n_clipped_.any():
        tensors["n_clipped"] = estimator.n_clipped_.astype(np.int64)
    warping = estimator.scaling_.warping
    if warping is not None:
        sizes = [0 if each is None else each[0].size for each in warping]
        tensors["warping_sizes"] = np.array(sizes, dtype=np.int64)
        for k, name in enumerate(("shares", "values")):
            parts = [each[k] for each in warping if each is not None]
            tensors[f"warping_{name}"] = np.concatenate(parts)
    if estimator.alternatives_:
        fitted["alternatives_"] = {
            name: [_open_number(number) for number in each]
            for name, each in estimator.alternatives_.items()
        }
    if estimator._range is not None:
        tensors["seen_lower"] = estimator._range.lower
        tensors["seen_upper"] = estimator._range.upper
    spectra = [_plain(each.components, "spectrum_") for each in estimator.spectra_]
    if len(spectra) > 1:
        fitted["spectra_"] = spectra
    else:
        fitted["spectrum_"] = spectra[0] if spectra else None
    tensors["loo_predictions"] = estimator.loo_predictions_
    if estimator._ordered_sums is not None:
        tensors["ordered_sums"] = estimator._ordered_sums
    for key, values in estimator.surface_.items():
        tensors[f"{RESULTS}{key}"] = values
    function: Any = estimator.expansion_
    if isinstance(function, MeanExpansion):
        fitted["free_constant"] = bool(function.middle.samples_posterior.free_constant)
    if isinstance(estimator, GegenbauerClassifierCV):
        maps = estimator.probability_maps_
        tensors["probability_scales"] = np.array([each.scale for each in maps], dtype=np.float64)
        tensors["probability_biases"] = np.array([each.bias for each in maps])
        tensors["probability_reaches"] = np.array([each.reach for each in maps], dtype=np.float64)
        return
    if spectra:
        tensors["relevances"] = estimator.relevances_
    tensors["noise_variance"] = estimator.noise_variance_
    tensors["prior_variance"] = estimator._prior_variance
    tensors["residuals"] = estimator._left_out_residuals
    if estimator._row_weight is not None:
        tensors["row_weight"] = estimator._row_weight
    if estimator._left_out_share is not None:
        tensors["left_out_share"] = estimator._left_out_share
    posterior: Any = (
        function.middle if isinstance(function, MeanExpansion) else function
    ).posterior
    fitted |= {
        "effective_dof_": _open_number(estimator.effective_dof_),
        "free_constant": bool(posterior.free_constant),
        "free_leverage": None
        if isinstance(posterior, KernelPosterior)
        else _open_number(posterior.free_leverage),
    }


def _inputs(levels: Any, categories: dict[int, Category]) -> list[Any]:
    """Describe the levels of inputs, with the values of categories."""
    found: list[Any] = []
    for t, one in enumerate(levels):
        if one is None:
            found.append(None)
            continue
        category = categories.get(t)
        found.append(
            {
                "shares": [float(p) for p in one.shares],
                "values": None
                if category is None
                else _plain(category.values, f"categories_[{t}]"),
                "missing": category is None or category.has_missing,
            }
        )
    return found


def _put_classes(estimator: Any, tensors: dict[str, NDArray[Any]], fitted: dict[str, Any]) -> None:
    classes = np.asarray(estimator._answers)
    classes = classes.astype(classes.dtype.newbyteorder("<"), copy=False)
    fitted["multilabel_"] = bool(estimator.multilabel_)
    fitted["classes_"] = None
    if classes.dtype in LABEL_DTYPES:
        tensors["classes"] = classes
    elif classes.dtype.kind in "UO":
        values = classes.tolist()
        if not all(isinstance(label, str) for label in values):
            raise TypeError(f"classes_ of dtype object must be str to be saved; got {values}.")
        text = classes.dtype.kind == "U" and classes.nbytes <= most_label_bytes(values)
        fitted["classes_"] = {"dtype": classes.dtype.str if text else "object", "values": values}
    else:
        raise TypeError(
            f"classes_ has dtype {classes.dtype}; save keeps labels that are bool, int, "
            "float (of at most 64 bits), str, or object of str: fit others as one of these, such "
            "as y.astype(str)."
        )


def _open_number(value: Any) -> float | str:
    """Return a number as JSON has it, or its name if JSON does not."""
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def _with_sorted_header(data: bytes) -> bytes:
    """Write the header in sorted order: safetensors' own differs from call to call."""
    end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    header = _to_json(json.loads(data[LENGTH_BYTES:end])).encode()
    header += b" " * (-len(header) % LENGTH_BYTES)  # the arrays start at a multiple of 8 bytes
    return len(header).to_bytes(LENGTH_BYTES, "little") + header + data[end:]


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
        if abs(int(value)) >= 10**MAX_INT_DIGITS:
            raise ValueError(
                f"{name} is an int of more than {MAX_INT_DIGITS} digits, for which a model file "
                "has no place: set a smaller one."
            )
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    if isinstance(value, Spectrum):
        return {"components": _plain(value.components, name)}
    if isinstance(value, COMPONENTS):
        parts = {
            part.name: _plain(getattr(value, part.name), f"{name} ({part.name})")
            for part in fields(value)
        }
        return {"kind": type(value).__name__} | parts
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()  # of an array without dimensions its one value
        if not isinstance(value, list):
            return _plain(value, name)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [_plain(item, name) for item in value]
    raise TypeError(
        f"{name} must be None, a bool, a finite number, a str, a Spectrum, or a list, array, "
        f"range or other sequence of these to be saved; it holds {show(value)} of type "
        f"{type(value).__name__}."
    )


def _plain_label(label: Any) -> Any:
    if not isinstance(label, (str, Real, np.bool_)):
        raise TypeError(
            "the labels of class_weight must be str, int, float or bool to be saved; got "
            f"{show(label)} of type {type(label).__name__}."
        )
    return _plain(label, "a label of class_weight")


def require_same(passing: Path, data: bytes) -> None:
    """Refuse a file that does not give back the model that was written into it."""
    header, found = read_file(passing)
    if found != data:
        raise OSError(f"{str(passing)!r} does not hold what was written into it")
    model = from_parts(header, read_tensors(header, found))
    if to_bytes(model, model._position if _is_plain(model) else None) != data:
        raise ModelFileError("the model would come back changed; nothing was written.")
