"""Checks of a model file: its header, its shapes and its values."""

from __future__ import annotations

import json
import math
import re
import reprlib
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.errors import ModelFileError, message_of
from gegenbauer.persistence._format import (
    ALPHA_RESULTS,
    ALTERNATIVES,
    AXES,
    CLASSIFIERS,
    CORRELATION,
    FITTED,
    FITTED_BASIS,
    FITTED_CLASSIFIER,
    FITTED_REGRESSOR_SEARCH,
    FITTED_RIDGE,
    FITTED_SEARCH,
    FITTED_SEVERAL,
    FITTED_SOLUTION,
    INPUTS,
    MAX_INT_DIGITS,
    MAX_SPECTRA,
    MAX_VALUES,
    NUMBER,
    OBJECT,
    RESULTS,
    SEARCHES,
    STATISTICS,
    TENSORS,
    count_values,
    most_label_bytes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer.persistence._format import Entry, Header

__all__ = [
    "build_object",
    "check_fitted",
    "check_tensors",
    "is_double",
    "is_int",
    "is_solved",
    "parse_json",
    "require_keys",
    "require_valid",
    "show",
    "wrong_number",
]

# Sizes of a tensor; None stands for any from 1 up.
_Shape: TypeAlias = tuple[int | None, ...]


def check_fitted(header: Header) -> None:
    """Check names, types and ranges of what ``fitted`` holds."""
    name, fitted = header.estimator, header.fitted
    schema = dict(FITTED)
    if "correlation" in fitted:
        schema |= CORRELATION
    if "inputs" in fitted:
        schema |= INPUTS
    if name in SEARCHES and "alternatives_" in fitted:
        schema |= ALTERNATIVES
    if name not in SEARCHES or "basis" in fitted:
        schema |= FITTED_BASIS
    if name in SEARCHES:
        schema |= FITTED_SOLUTION | FITTED_SEARCH
    elif name != "GegenbauerFeatures":
        if "statistics" in fitted:
            schema["statistics"] = OBJECT
        if is_solved(fitted):
            schema |= FITTED_SOLUTION | FITTED_RIDGE
            fitted.setdefault("precision_", None)
    if name == "GegenbauerRegressorCV":
        schema |= FITTED_REGRESSOR_SEARCH
    if name in SEARCHES and "spectra_" in fitted and "basis" not in fitted:
        schema |= FITTED_SEVERAL
        del schema["spectrum_"]
    if name in CLASSIFIERS:
        schema |= FITTED_CLASSIFIER
    _require_entries(fitted, schema, "fitted")
    if "spectra_" in fitted and not 2 <= len(fitted["spectra_"]) <= MAX_SPECTRA:
        raise ModelFileError(
            f"spectra_ must be 2 to {MAX_SPECTRA}; got {len(fitted['spectra_'])} of them."
        )
    if "statistics" in fitted:
        fitted["statistics"].setdefault("shifted", False)
        _require_entries(fitted["statistics"], STATISTICS, "fitted['statistics']")
    if fitted.get("classes_") is not None:
        _check_labels(fitted["classes_"])


def check_tensors(header: Header) -> None:
    """Check names, types and shapes of the tensors, before there are any."""
    expected = _expected_shapes(header)
    require_keys(header.tensors, set(expected), "the list of tensors")
    for name, shape in expected.items():
        dtype, found = header.tensors[name]
        dtypes = TENSORS[name].dtypes
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


def _expected_shapes(header: Header) -> dict[str, _Shape]:
    """Return the tensors that a file must have, and their shapes, by the kind in its header."""
    name, fitted = header.estimator, header.fitted
    given = {key: shape for key, (_, shape) in header.tensors.items()}

    def size(key: str, axis: int) -> int | None:
        """Return a size that others must have, too; None where it is missing."""
        return dict(enumerate(given.get(key, ()))).get(axis)

    m = size("lower", 0)
    shapes: dict[str, _Shape] = {"lower": (None,), "upper": (m,), "constant": (m,)}
    finite = "basis" in fitted or name not in SEARCHES
    if finite:
        shapes["indices"] = (None, m)
    else:
        shapes["X_fit"] = (None, m)
    n = size("indices" if finite else "X_fit", 0)  # terms, or samples
    if name not in SEARCHES and name != "GegenbauerFeatures" and is_solved(fitted):
        shapes["coef"] = (n,) if len(given.get("coef", ())) == 1 else (n, None)
    if f"{ALPHA_RESULTS}alpha" in given and name != "GegenbauerFeatures":
        shapes[f"{ALPHA_RESULTS}alpha"] = (None,)
        shapes[f"{ALPHA_RESULTS}score"] = (size(f"{ALPHA_RESULTS}alpha", 0),)
    if "marginal_sizes" in given and name != "GegenbauerFeatures":
        shapes["marginal_sizes"] = (m,)
        shapes["marginal_nodes"] = (None,)
        shapes["marginal_weights"] = given.get("marginal_nodes", (None,))
    if "statistics" in fitted:
        shapes["sums"] = (None,)
        if fitted["statistics"]["shifted"]:
            shapes["shift"] = (fitted["statistics"]["n_outputs"],)
    if name in CLASSIFIERS and fitted["classes_"] is None:
        shapes["classes"] = (None,)
    if name in SEARCHES:
        shapes |= _expected_of_search(header, given, n)
    if name in CLASSIFIERS:
        _check_class_count(header, given)
    return shapes


def _expected_of_search(
    header: Header, given: dict[str, tuple[int, ...]], n: int | None
) -> dict[str, _Shape]:
    """Return the same for what only estimators that choose by themselves have."""
    fitted, finite = header.fitted, "basis" in header.fitted
    weights = "coef" if finite else "dual_coef"
    # of the mean of several models, there is one of each
    each = (len(fitted["spectra_"]),) if "spectra_" in fitted else ()
    n_outputs = dict(enumerate(given.get(weights, ()))).get(len(each) + 1)
    classifies = header.estimator in CLASSIFIERS
    single = n_outputs == 1 if classifies else fitted["y_was_flat"]
    shapes: dict[str, _Shape] = {
        weights: (*each, n, None),
        "intercept": (*each, n_outputs),
        "loo_predictions": (None,) if single else (None, n_outputs),
    }
    if each:
        shapes |= {"part_alphas": each, "part_noise": each, "left_out_by": (n,)}
        if "row_weight" in given:
            shapes["row_weight"] = (n,)
    for key in {"n_clipped", "seen_lower", "seen_upper", "ordered_sums"} & given.keys():
        shapes[key] = given.get("lower", (None,))
    if "seen_lower" in given:
        shapes["seen_upper"] = given.get("lower", (None,))
    if "warping_sizes" in given:
        shapes["warping_sizes"] = given.get("lower", (None,))
        shapes["warping_shares"] = (None,)
        shapes["warping_values"] = given.get("warping_shares", (None,))
    raw = fitted.get("spectrum_", each) is None
    # with a spectrum that was given or learned there was no grid
    if raw or f"{RESULTS}score" in given:
        axes = [f"{RESULTS}{axis}" for axis in (AXES[1] if raw else AXES[0])]
        shapes |= dict.fromkeys(axes, (None,))
        shapes[f"{RESULTS}score"] = tuple(given.get(axis, (None,))[0] for axis in axes)
    if classifies:
        n_classes = _count_classes(header, given)
        shapes["probability_scales"] = (n_classes if fitted["multilabel_"] else 1,)
        shapes["probability_biases"] = (n_classes, 2) if fitted["multilabel_"] else (1, n_classes)
        if "probability_reaches" in given:  # newer than other parts of such files
            shapes["probability_reaches"] = shapes["probability_scales"]
        return shapes
    shapes["noise_variance"] = (n_outputs,)
    by_landmarks = "landmark_factor" in given
    shapes["residuals"] = (None if finite or by_landmarks else n, n_outputs)
    if not raw:
        shapes["relevances"] = (given.get("lower", (None,))[0],)
    for key in {"row_weight", "left_out_share"} & given.keys():
        shapes[key] = (given.get("residuals", (None,))[0],)
    if "prior_variance" in given:
        shapes["prior_variance"] = (n_outputs,)
    if (finite or by_landmarks) and n is not None:
        rest = n + by_landmarks - fitted["free_constant"]
        if by_landmarks:
            shapes["landmark_factor"] = (n, n)
        shapes["posterior"] = (rest, rest)
        shapes["mean_features"] = (rest if fitted["free_constant"] else 0,)
    return shapes


def _count_classes(header: Header, given: dict[str, tuple[int, ...]]) -> int | None:
    labels = header.fitted["classes_"]
    if labels is not None:
        return len(labels["values"])
    shape = given.get("classes", ())
    return shape[0] if len(shape) == 1 else None


def _check_class_count(header: Header, given: dict[str, tuple[int, ...]]) -> None:
    """Check that there are as many classes as the outputs need."""
    name = "coef" if "coef" in given else "dual_coef"
    n_classes, multilabel = _count_classes(header, given), header.fitted["multilabel_"]
    if name not in given or n_classes is None:  # of a model that has not been solved for
        return
    shape = given[name]
    n_outputs = shape[-1] if len(shape) > 1 else 1
    expected = n_classes if multilabel or n_classes != 2 else 1
    if n_classes < (1 if multilabel else 2) or n_outputs != expected:
        raise ModelFileError(
            f"{n_classes} classes and a {name} of shape {shape} do not belong together."
        )
    flat = n_outputs == 1 and not multilabel and header.estimator not in SEARCHES
    if (len(shape) == 1) != flat:
        raise ModelFileError(f"{name} has the wrong number of dimensions, {len(shape)}.")


def _check_labels(entry: dict[str, Any]) -> None:
    """Check labels that are text: their array may be far larger than the file."""
    require_keys(entry, {"dtype", "values"}, "fitted['classes_']")
    values, dtype = entry["values"], entry["dtype"]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ModelFileError("the labels in fitted['classes_'] must be a list of strings.")
    if dtype == "object":
        return
    wide = re.fullmatch("<U([1-9][0-9]{0,8})", dtype) if isinstance(dtype, str) else None
    width = int(wide[1]) if wide else 0  # "<U3": text of up to three characters
    if width < max([1, *map(len, values)]) or 4 * width * len(values) > most_label_bytes(values):
        raise ModelFileError(f"the labels do not have the dtype {show(dtype)}.")


def wrong_number(name: str, array: NDArray[Any]) -> str | None:
    """Describe what the numbers of a tensor must be, and what is there; None if they are."""
    limits = TENSORS[name]
    if array.dtype.kind not in "iuf":
        return None
    if (limits.low, limits.high) == (NUMBER.low, NUMBER.high):
        wrong = ~np.isfinite(array)
    else:
        wrong = ~((array >= limits.low) & (array <= limits.high))  # NaN is wrong, too
    if limits.unknown:
        wrong &= ~np.isnan(array)
    if not wrong.any():
        return None
    wanted = ["finite"] if limits.high < math.inf else []
    if limits.low > NUMBER.low:
        positive = limits.low == math.ulp(0.0)
        wanted.append("positive" if positive else f"of at least {limits.low:g}")
    return f"{' and '.join(wanted)}; it holds {array[wrong][0]}"


def is_solved(fitted: dict[str, Any]) -> bool:
    """Whether the file holds weights; those of models learned from batches may be found later."""
    statistics = fitted.get("statistics")
    return not isinstance(statistics, dict) or statistics.get("solved") is not False


def parse_json(text: str | bytes, name: str) -> Any:
    """Parse JSON in the strict sense: UTF-8, no NaN, no key twice, no deep nesting, not much."""
    if count_values(text) > MAX_VALUES:
        raise ModelFileError(f"{name} holds more than {MAX_VALUES} values.")
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
    # Before int(): a sum over numbers of terms, or another, must not begin with a million digits.
    if len(text) > MAX_INT_DIGITS and len(text.lstrip("-")) > MAX_INT_DIGITS:
        raise ModelFileError(f"it holds the number {text[:32]}..., which is beyond float64.")
    return int(text)


def _object_without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ModelFileError("a JSON object in it has the same key twice.")
    return result


def build_object(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the constructor of one of our own objects; its refusal is the file's fault."""
    try:
        return function(*args, **kwargs)
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        text = Message("{} refuses what it holds: {}", function.__name__, message_of(error))
        raise ModelFileError(text) from error


def require_keys(mapping: dict[str, Any], expected: set[str], name: str) -> None:
    missing = sorted(expected - mapping.keys())
    extra = sorted(mapping.keys() - expected)
    if missing or extra:
        raise ModelFileError(f"{name} lacks {show(missing)} and has unknown {show(extra)}.")


def _require_entries(mapping: dict[str, Any], schema: dict[str, Entry], name: str) -> None:
    require_keys(mapping, set(schema), name)
    for key, entry in schema.items():
        require_valid(mapping[key], entry, f"{name}[{key!r}]")


def require_valid(value: Any, entry: Entry, name: str) -> None:
    """Check type and range of an entry of the header."""
    # bool is an int to Python, but not to the schema.
    types = entry.types
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        expected = ", ".join("null" if kind is type(None) else kind.__name__ for kind in types)
        raise ModelFileError(f"{name} must be one of: {expected}; got {show(value)}.")
    if isinstance(value, str) and float in types and value not in ("nan", "inf", "-inf"):
        raise ModelFileError(f"{name} must be a number; got {show(value)}.")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < entry.low:
            wanted = "positive" if entry.low == math.ulp(0.0) else f"at least {entry.low:g}"
        elif value > entry.high:
            wanted = f"at most {entry.high:g}"
        else:
            return
        raise ModelFileError(f"{name} must be {wanted}; got {show(value)}.")


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_double(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and NUMBER.low <= value <= NUMBER.high


# Not repr, which follows the deepest nesting and spells the longest list.
_SHORT: Final = reprlib.Repr()

_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 3, 80, 80, 80


def show(value: Any) -> str:
    """Return a value for an error, cut short: it comes from a stranger."""
    text = _SHORT.repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
