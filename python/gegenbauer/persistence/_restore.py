"""Estimators from the checked contents of a model file."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import get_scorer_names

from gegenbauer._messages import Message
from gegenbauer.basis.index_sets import count_terms
from gegenbauer.basis.kernels import SpectrumKernel
from gegenbauer.basis.scaling import InputScaling
from gegenbauer.basis.spectrum import Spectrum, as_spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.errors import ModelFileError, message_of
from gegenbauer.estimators._alternatives import Comparison
from gegenbauer.estimators._label_set import LabelSet
from gegenbauer.estimators._solution import Solution
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV
from gegenbauer.inspection.marginals import Marginal
from gegenbauer.persistence._checks import (
    build_object,
    is_double,
    is_solved,
    require_keys,
    require_valid,
    show,
)
from gegenbauer.persistence._format import (
    ALPHA_RESULTS,
    AXES,
    BASIS_ARGUMENTS,
    CLASSIFIERS,
    COMPONENT_KINDS,
    COUNT,
    ESTIMATORS,
    KINDS,
    MAX_COMPONENTS,
    MAX_GRID,
    MAX_WEIGHTS,
    NUMBER,
    OBJECT,
    OPEN_NUMBER,
    RESULTS,
    SEARCHES,
    TEXT,
    Entry,
)
from gegenbauer.persistence._inputs import restore_inputs
from gegenbauer.ridge.expansions import (
    KernelExpansion,
    KernelPosterior,
    LandmarkPosterior,
    TermExpansion,
    TermPosterior,
)
from gegenbauer.ridge.mean_expansion import MeanExpansion
from gegenbauer.selection.calibration import ProbabilityMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer.basis.levels import Levels
    from gegenbauer.persistence._format import Header

__all__ = ["from_parts"]

# Largest variance in a file; fits refuse targets long before
_MAX_VARIANCE = 1e300

# What the sum of the weights of a marginal may differ from one by
_ROUNDING = 1e-9


def from_parts(header: Header, arrays: dict[str, NDArray[Any]]) -> Any:
    """Build the estimator out of parts whose types, shapes and ranges are right."""
    name, fitted = header.estimator, header.fitted
    estimator = _restore_parameters(name, header.parameters)
    n, n_features = arrays["indices" if "basis" in fitted else "X_fit"].shape
    estimator.scaling_ = _restore_scaling(fitted, arrays)
    estimator.n_features_in_ = n_features
    inputs = restore_inputs(fitted.get("inputs"), n_features)
    estimator._levels, estimator._encoder = inputs
    flags = np.isin(np.arange(n_features), estimator._encoder.columns)
    estimator.scaling_ = estimator.scaling_.replace(categories=flags)
    basis = None
    if "basis" in fitted:
        basis = _restore_basis(
            fitted["basis"], arrays["indices"], header.n_bytes, estimator._levels
        )
        estimator.n_terms_ = n
    names = fitted["feature_names_in_"]
    if names is not None:
        if len(names) != n_features or not all(isinstance(item, str) for item in names):
            raise ModelFileError(f"feature_names_in_ must be {n_features} strings.")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if "correlation" in fitted:
        estimator._correlation = _restore_correlation(fitted["correlation"], n_features)
    if "marginal_sizes" in arrays:
        nodes, weights = _split("marginal", ("nodes", "weights"), arrays)
        if any(abs(one.sum() - 1.0) > _ROUNDING for one in weights):
            raise ModelFileError("marginal_weights must have the sum 1 for each input.")
        pairs = zip(nodes, weights, strict=True)
        estimator._marginals = tuple(Marginal(*pair) for pair in pairs)
    results: dict[str, Any] | None = None
    if f"{ALPHA_RESULTS}alpha" in arrays:
        results = {key: arrays[f"{ALPHA_RESULTS}{key}"] for key in ("alpha", "score")}
    if name in SEARCHES:
        _restore_search(estimator, basis, fitted, arrays, header.n_bytes)
        if results is not None:
            estimator.alpha_results_ = results
    else:
        assert basis is not None  # the schema requires it
        estimator.basis_ = basis
        if name != "GegenbauerFeatures" and is_solved(fitted):
            estimator._solution = Solution(
                TermExpansion.from_arrays(arrays, basis, estimator.scaling_),
                fitted["engine_"],
                fitted["solver_"],
                fitted["precision_"],
                _rcond(fitted),
                fitted["n_refinements_"],
                results,
            )
        elif name != "GegenbauerFeatures":
            estimator._solution = None
    if name in CLASSIFIERS:
        _restore_classes(estimator, fitted, arrays)
    if "statistics" in fitted:
        _restore_statistics(estimator, fitted["statistics"], arrays)
    if name == "GegenbauerClassifierCV":
        scales, biases = arrays["probability_scales"], arrays["probability_biases"]
        reaches = arrays.get("probability_reaches", np.full(len(scales), np.inf))
        estimator.probability_maps_ = [
            ProbabilityMap(float(scale), bias.copy(), float(reach))
            for scale, bias, reach in zip(scales, biases, reaches, strict=True)
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
    estimator = ESTIMATORS[name]()
    # A parameter that the file does not have is newer than the file: its default is what was
    # done before there was one.
    known = set(estimator.get_params(deep=False))
    require_keys(parameters, known & parameters.keys(), "parameters")
    values: dict[str, Any] = {}
    for key, value in parameters.items():
        if key == "class_weight" and isinstance(value, list):
            values[key] = _restore_class_weight(value)
        elif key == "bounds" and value is not None and not isinstance(value, str):
            values[key] = _restore_range(value)
        elif key == "cv":  # a list would pass for splits
            require_valid(value, Entry((int, type(None))), "parameters['cv']")
            values[key] = value
        elif key == "scoring" and value not in (None, *get_scorer_names()):
            raise ModelFileError(
                "scoring must be one of sklearn.metrics.get_scorer_names, or null; got "
                f"{show(value)}."
            )
        else:
            if key in ("alphas", "lam", "n_terms"):
                _require_few(value, MAX_GRID, key)
            values[key] = _restore_value(value, f"parameters[{key!r}]")
    estimator.set_params(**values)
    try:
        estimator._validate_params()
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(Message("parameters: {}", message_of(error))) from error
    return estimator


def _restore_value(value: Any, name: str) -> Any:
    """Return a parameter: a scalar, a spectrum for an object, or a tuple of these for a list."""
    if isinstance(value, dict):
        if "components" not in value:
            return _restore_spectrum([value], name).components[0]
        require_keys(value, {"components"}, name)
        require_valid(value["components"], Entry((list,)), name)
        return _restore_spectrum(value["components"], name)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return _restore_spectrum(value, name).components
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, (list, dict)):
            raise ModelFileError(f"{name} must not hold {show(item)}.")
    return tuple(value) if isinstance(value, list) else value


def _restore_range(pairs: Any) -> tuple[tuple[float, float], ...]:
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(map(is_double, pair)) for pair in pairs
    ):
        raise ModelFileError(f"bounds must be a list of pairs; got {show(pairs)}.")
    return tuple((float(lower), float(upper)) for lower, upper in pairs)


def _restore_class_weight(pairs: list[Any]) -> dict[Any, float]:
    for pair in pairs:
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not isinstance(pair[0], (str, int, float))
            or not is_double(pair[1])
        ):
            raise ModelFileError(
                f"class_weight must be a list of [label, weight] pairs; it holds {show(pair)}."
            )
    weights = {label: float(weight) for label, weight in pairs}
    if len(weights) < len(pairs):
        raise ModelFileError("class_weight must not hold a label twice.")
    return weights


def _split(
    name: str, columns: tuple[str, str], arrays: dict[str, NDArray[Any]]
) -> list[list[NDArray[Any]]]:
    """Return arrays of all inputs, one after another, as one for each input."""
    sizes, n = arrays[f"{name}_sizes"], arrays[f"{name}_{columns[0]}"].size
    if sizes.sum() != n:
        raise ModelFileError(
            f"{name}_sizes must have the sum {n}, the number of points there are; got "
            f"{sizes.sum()}."
        )
    ends = np.cumsum(sizes)[:-1]
    return [np.split(arrays[f"{name}_{column}"], ends) for column in columns]


def _restore_scaling(fitted: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> InputScaling:
    warping: list[Any] | None = None
    if "warping_sizes" in arrays:
        parts = _split("warping", ("shares", "values"), arrays)
        warping = [pair if pair[0].size else None for pair in zip(*parts, strict=True)]
    scaling: InputScaling = build_object(
        InputScaling,
        arrays["lower"],
        arrays["upper"],
        domain=_restore_value(fitted["domain"], "domain"),
        clip=fitted["clip"],
        constant=arrays["constant"],
        warping=warping,
    )
    return scaling


def _restore_basis(
    arguments: dict[str, Any],
    indices: NDArray[np.int32],
    n_bytes: int,
    levels: tuple[Levels | None, ...] | None,
) -> TensorBasis:
    """Build the basis anew, once its size is known to be that of the file."""
    require_keys(arguments, set(BASIS_ARGUMENTS), "fitted['basis']")
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
    if levels is not None:
        require_valid(arguments["lam"], NUMBER, "fitted['basis']['lam']")
        plain = build_object(as_spectrum, arguments["spectrum"], float(arguments["lam"]))
        arguments["spectrum"] = build_object(Spectrum, plain.components, levels)
    if arguments["index_set"] != "largest_weight":
        counted = build_object(
            count_terms,
            n_features,
            n_terms=n_terms,
            degree=arguments["degree"],
            index_set=arguments["index_set"],
            max_interaction=arguments["max_interaction"],
            levels=levels,
        )
        if counted != n_terms:
            raise ModelFileError(
                f"indices have {n_terms} rows, and the index set of fitted['basis'] has {counted}."
            )
    basis: TensorBasis = build_object(TensorBasis, n_features, **arguments)
    if not np.array_equal(basis.indices, indices):
        raise ModelFileError(
            "its terms are not those that this version of gegenbauer builds from fitted['basis']: "
            "the file is damaged, or was written by a version with another order of terms."
        )
    return basis


def _rcond(fitted: dict[str, Any]) -> float:
    return math.nan if fitted["rcond_"] is None else float(fitted["rcond_"])


def _restore_search(
    estimator: Any,
    basis: TensorBasis | None,
    fitted: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    n_bytes: int,
) -> None:
    """Restore an estimator that chose by itself, with a basis, or samples and all terms."""
    m = estimator.n_features_in_
    estimator.engine_, estimator.solver_ = fitted["engine_"], fitted["solver_"]
    estimator.rcond_ = _rcond(fitted)
    estimator._all_terms = basis is None
    several = "spectra_" in fitted
    estimator.spectra_ = _restore_spectra(fitted, m, estimator._levels, n_bytes)
    if basis is None and not estimator.spectra_:
        raise ModelFileError("spectrum_ is null, so fitted must have 'basis'.")
    estimator._weighted = bool(estimator.spectra_)
    if basis is not None:
        estimator.lam_ = basis.lam
        if estimator.spectra_ and estimator.spectrum_ != basis.spectrum:
            raise ModelFileError("spectrum_ is not that of fitted['basis'].")
        estimator.expansion_ = TermExpansion.from_arrays(arrays, basis, estimator.scaling_)
    else:
        kernels = [build_object(SpectrumKernel, m, each) for each in estimator.spectra_]
        estimator.lam_, estimator.n_terms_ = kernels[0].lam, math.inf
        if several:
            estimator.expansion_ = _restore_mean(estimator.scaling_, kernels, fitted, arrays)
        else:
            estimator.expansion_ = build_object(
                KernelExpansion.from_arrays, arrays, kernels[0], estimator.scaling_
            )
    estimator.alpha_ = float(fitted["alpha_"])
    estimator.best_score_ = float(fitted["best_score_"])
    estimator.n_search_samples_ = fitted["n_search_samples_"]
    estimator._y_was_flat = flat = fitted["y_was_flat"]
    n_outputs = estimator.expansion_.n_outputs
    if flat and n_outputs != 1:
        raise ModelFileError(f"y_was_flat is true, and there are {n_outputs} outputs.")
    estimator.loo_predictions_ = arrays["loo_predictions"]
    estimator._ordered_sums = arrays.get("ordered_sums")
    estimator.n_clipped_ = arrays.get("n_clipped", np.zeros(m, dtype=np.int64)).astype(np.intp)
    estimator.alternatives_ = {
        key: _restore_comparison(numbers, f"fitted['alternatives_'][{key!r}]")
        for key, numbers in fitted.get("alternatives_", {}).items()
    }
    estimator._range = None
    if "seen_lower" in arrays:
        seen = {"lower": arrays["seen_lower"], "upper": arrays["seen_upper"]}
        estimator._range = _restore_scaling(fitted, {"constant": arrays["constant"], **seen})
    estimator.surface_ = {}
    if f"{RESULTS}score" in arrays:
        axes = AXES[0] if estimator.spectra_ else AXES[1]
        estimator.surface_ = {key: arrays[f"{RESULTS}{key}"] for key in (*axes, "score")}
    if isinstance(estimator, GegenbauerRegressorCV):
        _restore_uncertainty(estimator, fitted, arrays)


def _restore_spectra(
    fitted: dict[str, Any], n_features: int, levels: Any, n_bytes: int
) -> tuple[Spectrum, ...]:
    """Restore the spectra of an estimator; none of the paper's basis."""
    several = "spectra_" in fitted
    if not several and fitted["spectrum_"] is None:
        return ()
    found = fitted["spectra_"] if several else [fitted["spectrum_"]]
    for each in found:
        require_valid(each, Entry((list,)), "one of spectra_")
    spectra = [_restore_spectrum(each, "spectrum_") for each in found]
    for spectrum in spectra:
        _require_few_weights(spectrum, n_features, n_bytes)
    if levels is None:
        return tuple(spectra)
    return tuple(build_object(Spectrum, one.components, levels) for one in spectra)


def _restore_comparison(numbers: Any, what: str) -> Comparison:
    n = len(Comparison._fields)
    if not isinstance(numbers, list) or len(numbers) != n:
        raise ModelFileError(f"{what} must be {n} numbers; got {show(numbers)}.")
    for each in numbers:
        require_valid(each, OPEN_NUMBER, what)
    return Comparison(*map(float, numbers))


def _restore_mean(
    scaling: InputScaling,
    kernels: list[SpectrumKernel],
    fitted: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> MeanExpansion:
    """Restore the mean of several models."""
    if arrays["left_out_by"].max() >= len(kernels):
        raise ModelFileError(
            f"left_out_by must be less than {len(kernels)}; it holds {arrays['left_out_by'].max()}."
        )
    noise = arrays["part_noise"]
    if not noise.max() <= len(noise) * (1 + 1e-9):
        raise ModelFileError(f"part_noise must have a mean of one; it holds {noise.max():g}.")
    function: MeanExpansion = build_object(
        MeanExpansion.from_arrays, arrays, kernels, scaling, free_constant=fitted["free_constant"]
    )
    if function.alpha != fitted["alpha_"]:
        raise ModelFileError(
            f"alpha_ must be the middle one of part_alphas, {function.alpha!r}; got "
            f"{show(fitted['alpha_'])}."
        )
    return function


def _restore_uncertainty(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Restore what standard deviations and intervals of a regressor are made of."""
    estimator._left_out_residuals = arrays["residuals"]
    estimator._row_weight = arrays.get("row_weight")
    estimator._left_out_share = arrays.get("left_out_share")
    estimator.noise_variance_ = noise = arrays["noise_variance"]
    # older files lack it, where it is that of the fit
    with np.errstate(over="ignore"):
        prior = arrays.get("prior_variance", noise / estimator.alpha_)
    for name, values in (("noise_variance", noise), ("prior_variance", prior)):
        # infinite where no sample was left to judge the noise by
        if (values[np.isfinite(noise)] > _MAX_VARIANCE).any():
            raise ModelFileError(
                f"{name} must be at most {_MAX_VARIANCE:g}, so that standard deviations are "
                f"numbers; it holds {values.max():g}."
            )
    estimator._prior_variance = prior
    function = estimator.expansion_
    if isinstance(function, MeanExpansion):  # whose kernels count it by their own penalties
        with np.errstate(over="ignore"):
            largest = (function.noise * function.alpha / function.alphas).max() * prior
        if (largest[np.isfinite(noise)] > _MAX_VARIANCE).any():
            raise ModelFileError(
                f"prior_variance must be at most {_MAX_VARIANCE:g} by the penalty of each part; it "
                f"is {largest.max():g}."
            )
    estimator.effective_dof_ = float(fitted["effective_dof_"])
    leverage = fitted["free_leverage"]
    factor = arrays.get("landmark_factor")
    if (leverage is None) != (estimator._all_terms and factor is None):
        raise ModelFileError(
            f"free_leverage must be null for all terms, else a number; got {show(leverage)}."
        )
    if isinstance(function, MeanExpansion):
        return
    free = fitted["free_constant"]
    posterior: TermPosterior | KernelPosterior | LandmarkPosterior
    if factor is not None:
        if not factor.diagonal().all():
            raise ModelFileError("landmark_factor must have no zero on its diagonal.")
        posterior = LandmarkPosterior(
            estimator.alpha_, factor, arrays["posterior"], arrays["mean_features"],
            float(leverage), free,
        )  # fmt: skip
    elif leverage is None:
        posterior = KernelPosterior(estimator.alpha_, estimator._row_weight, free)
    else:
        posterior = TermPosterior(
            arrays["posterior"], arrays["mean_features"], float(leverage), free
        )
    estimator.expansion_ = replace(estimator.expansion_, posterior=posterior)


def _restore_spectrum(components: list[Any], name: str) -> Spectrum:
    """Build a spectrum, which refuses numbers out of their ranges."""
    _require_few(components, MAX_COMPONENTS, name)
    spectrum: Spectrum = build_object(
        Spectrum, [_restore_component(part, name) for part in components]
    )
    return spectrum


def _require_few(values: Any, most: int, name: str) -> None:
    """Refuse a list that would take seconds, since each entry takes its time."""
    if isinstance(values, list) and len(values) > most:
        raise ModelFileError(f"{name} must hold at most {most} entries; it has {len(values)}.")


def _require_few_weights(spectrum: Any, n_features: int, n_bytes: int) -> None:
    """Refuse a spectrum whose weights would take much more than the file is long."""
    n_parts = len(spectrum.components) if isinstance(spectrum, Spectrum) else 1
    if n_parts * n_features > MAX_WEIGHTS + n_bytes // 8:
        raise ModelFileError(
            f"a spectrum of {n_parts} components for {n_features} inputs is larger than a file of "
            f"{n_bytes} bytes may make it: merge components of equal decay."
        )


def _restore_component(entry: Any, name: str) -> Any:
    require_valid(entry, OBJECT, f"a component of {name}")
    kind = COMPONENT_KINDS.get(entry["kind"]) if isinstance(entry.get("kind"), str) else None
    if kind is None:
        raise ModelFileError(
            f"a component of {name} must be one of {', '.join(COMPONENT_KINDS)}; got "
            f"{show(entry.get('kind'))}."
        )
    values = {key: value for key, value in entry.items() if key != "kind"}
    require_keys(values, {field.name for field in fields(kind)}, f"a component of {name}")
    for key, value in values.items():
        if key == "interaction" and isinstance(value, list):  # it may hold a million numbers
            value = next((q for q in value if type(q) not in (int, float)), 0.0)
        require_valid(value, NUMBER, f"{name} ({key})")
    return build_object(kind, **values)


def _restore_classes(
    estimator: Any, fitted: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    labels = fitted["classes_"]
    if labels is None:
        classes = arrays["classes"]
    else:
        dtype = object if labels["dtype"] == "object" else labels["dtype"]
        classes = np.array(labels["values"], dtype=dtype)
    if fitted["multilabel_"]:
        if labels is None and not np.array_equal(classes, np.arange(classes.size)):
            raise ModelFileError("the labels of a multilabel model must be 0, 1, 2, ... or names.")
        if len(set(classes.tolist())) < classes.size:
            raise ModelFileError("the names of the labels of a multilabel model must differ.")
        estimator._label_set = LabelSet.of_columns(classes.size, classes)
        return
    estimator._label_set = LabelSet(classes)
    if not all(first < second for first, second in itertools.pairwise(classes.tolist())):
        raise ModelFileError("the labels must be sorted and all different.")


def _restore_statistics(
    estimator: Any, entry: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Restore the sums over the samples of a model that was learned from batches."""
    if entry["kind"] not in KINDS:
        raise ModelFileError(f"the kind of its statistics, {show(entry['kind'])}, is not known.")
    position = entry["position"]
    if position is not None:
        if len(position) != 2:
            raise ModelFileError("its position must be a number of batches and a fingerprint.")
        require_valid(position[0], COUNT, "its position, a number of batches and a fingerprint,")
        require_valid(position[1], TEXT, "its position, a number of batches and a fingerprint,")
    n_outputs, n_sums = entry["n_outputs"], arrays["sums"].size
    labels = estimator._label_set
    if n_outputs > n_sums or (labels is not None and len(labels.classes) != n_outputs):
        raise ModelFileError(f"its statistics cannot have {n_outputs} outputs.")
    flat = entry["y_was_flat"]
    if (flat and n_outputs > 1) if labels is None else (flat == labels.multilabel):
        raise ModelFileError(f"y_was_flat is {flat}, which its {n_outputs} outputs are not.")
    if entry["resolution"] not in [float(np.finfo(kind).eps) for kind in (np.float32, np.float64)]:
        raise ModelFileError("the resolution of its statistics is out of range.")
    # no more is made than the file is long: its length is checked first
    kind = KINDS[entry["kind"]]
    expected = build_object(kind._n_packed, estimator.basis_, n_outputs)
    if n_sums != expected:
        raise ModelFileError(
            f"sums has {n_sums} entries, and its statistics would have {expected}."
        )
    statistics = build_object(kind, estimator.basis_, n_outputs, scaling=estimator.scaling_)
    statistics._unpack(arrays["sums"])
    statistics.n_samples = entry["n_samples"]
    statistics.weight_sum = float(entry["weight_sum"])
    statistics.resolution = entry["resolution"]
    if entry["shifted"]:
        statistics._shift = arrays["shift"]
    else:
        statistics._take_old_sums()
    estimator._statistics = statistics
    estimator.n_out_of_range_ = entry["n_out_of_range"]
    estimator._y_was_flat = entry["y_was_flat"]
    estimator._summed_with = estimator._sum_parameters()
    if position is not None:
        estimator._position = position
