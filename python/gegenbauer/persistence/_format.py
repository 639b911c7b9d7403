"""Models in files: numbers and a declared schema, never code.

A model file is a safetensors file. Loading one parses JSON, checks it against the schema
below, and copies arrays of numbers; it imports nothing and calls nothing that the file names.

Schema, ``format_version`` 2. The header's ``__metadata__`` has exactly these entries:

==================  ==================================================================
``format``          ``"gegenbauer-model"``
``format_version``  ``"2"``
``library_version`` version of this library that wrote the file
``estimator``       ``"GegenbauerClassifier"``, ``"GegenbauerRegressor"``,
                    ``"GegenbauerClassifierCV"``, ``"GegenbauerRegressorCV"`` or
                    ``"GegenbauerFeatures"``
``parameters``      JSON object, the estimator's ``get_params()``; whatever holds several values
                    is a list, ``class_weight`` is a list of [label, weight] pairs, a Spectrum
                    ``{"components": [...]}``, and each of these ``{"kind": "PowerDecay",
                    "interaction": ..., "smoothness": ...}`` or alike
``fitted``          JSON object, see :data:`FITTED`
``checksum``        BLAKE2b of all else (16 bytes, hexadecimal; see :func:`checksum_of`)
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

and for models whose penalty was chosen by ``choose_alpha``

=======================  ====================  ========================================
``alpha_results.*``      float64, (n,)         what was tried, ``alpha_results_``:
                                               ``alpha`` and ``score``
=======================  ====================  ========================================

and for the estimators that choose by themselves

=======================  ====================  ========================================
``X_fit``                float64 or float32,   distinct samples, ``X_fit_``, and their
                         (n, m)                coefficients, ``dual_coef_``, in models of
``dual_coef``            float64, (n, K)       all terms; NaN where an input is missing, and
                                               numbers of levels of categories
``intercept``            float64, (K,)         ``intercept_``
``part_alphas``,         float64, (P,)         of models that are the mean of P: penalties of
``part_noise``           float64, (P,)         these, their noise beside its mean, and which
``left_out_by``          int64, (n,)           of them each sample is left out of.
                                               ``dual_coef`` is (P, n, K) then, ``intercept``
                                               (P, K), and ``fitted`` has ``spectra_`` in the
                                               place of ``spectrum_``, and ``free_constant``
``loo_predictions``      float64, (N,) or      ``loo_predictions_``; NaN where a sample was
                         (N, K)                never left out
``ordered_sums``         float64, (m,)         by which samples of a fit are recognised
``surface.*``            float64; int64 for    what was tried, ``surface_``: the axes of
                         numbers of terms      the grid and ``score``
``probability_scales``,  float64, (Q,),        ``probability_maps_`` (classification): one
``probability_biases``,  (Q, classes), (Q,)    for each of Q targets
``probability_reaches``
``relevances``           float64, (m,)         ``relevances_`` (regression, and all below), if
                                               there is a spectrum
``noise_variance``       float64, (K,)         ``noise_variance_``
``residuals``            float64, (n, K)       of distinct samples, each left out
``prior_variance``       float64, (K,)         of the outputs in units of the kernel
``row_weight``           float64, (n,)         of distinct samples, if they have weights; also
                                               in classification, of the mean of P
``left_out_share``       float64, (n,)         of these weights, if not all is left out with a row
``posterior``,           float64, (p, p),      what leverages of new samples are made of, as
``mean_features``        (p,) or (0,)          `RidgePath.posterior` returns it, in models
                                               of a finite set or of landmarks
``landmark_factor``      float64, (n, n)       L of the features of landmarks, in their models
``n_clipped``            int64, (m,)           ``n_clipped_``, if any value was
``seen_lower``,          float64, (m,)         the range of the samples, if the box has fences
``seen_upper``                                 within
``warping_sizes``,       int64, (m,)           ``scaling_.warping``, if there is any: how many
``warping_shares``,      float64, (M,)         points each input has, 0 for none, and those of
``warping_values``       float64, (M,)         all inputs, one after another
``marginal_sizes``,      int64, (m,)           marginals of the samples of a fit, if the model
``marginal_nodes``,      float64, (N,)         has neither these nor sums: how many nodes each
``marginal_weights``     float64, (N,)         input has, and those of all inputs; NaN for a
                                               number that is missing
=======================  ====================  ========================================

Version 1 has other names (:mod:`gegenbauer._renamed`) and is read as well. Files of the same
``format_version`` may lack parameters that are newer than they are,
``precision_``, ``prior_variance``, ``probability_reaches``, ``correlation``, ``inputs``,
``checksum``, ``ordered_sums`` and marginals.

A file is taken for hostile until it is loaded. Each number of the header has a range, and each
tensor a type, a shape and a range; headers and shapes are checked before anything is allocated or
counted. Two limits bind work and memory to the size of the file where a few bytes could claim
much: of values in the JSON, and of the weights of a spectrum. With the index set in the file, any
program can evaluate a model. Here it also binds the memory, and finds out if the order of terms
were ever to change between versions.

Whatever a fit takes comes back, and what would not is refused before anything is written: see
:func:`save`. What is not kept: ``set_output``, metadata requests and callbacks.
"""

from __future__ import annotations

import hashlib
import math
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from gegenbauer.basis.spectrum import COMPONENTS
from gegenbauer.estimators.classifier import GegenbauerClassifier
from gegenbauer.estimators.classifier_cv import GegenbauerClassifierCV
from gegenbauer.estimators.regressor import GegenbauerRegressor
from gegenbauer.estimators.regressor_cv import GegenbauerRegressorCV
from gegenbauer.estimators.transformer import GegenbauerFeatures
from gegenbauer.ridge.statistics.gram import GramStatistics
from gegenbauer.ridge.statistics.moments import MomentStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ALPHA_RESULTS",
    "ALTERNATIVES",
    "AXES",
    "BASIS_ARGUMENTS",
    "CLASSIFIERS",
    "COMPONENT_KINDS",
    "CORRELATION",
    "COUNT",
    "DTYPES",
    "ESTIMATORS",
    "FITTED",
    "FITTED_BASIS",
    "FITTED_CLASSIFIER",
    "FITTED_REGRESSOR_SEARCH",
    "FITTED_RIDGE",
    "FITTED_SEARCH",
    "FITTED_SEVERAL",
    "FITTED_SOLUTION",
    "FORMAT",
    "FORMAT_VERSION",
    "INPUTS",
    "KINDS",
    "LABEL_DTYPES",
    "LENGTH_BYTES",
    "MAX_DIMENSIONS",
    "MAX_HEADER_BYTES",
    "MAX_INT_DIGITS",
    "MAX_SPECTRA",
    "MAX_VALUES",
    "MAX_WEIGHTS",
    "METADATA_KEYS",
    "NUMBER",
    "OBJECT",
    "OPEN_NUMBER",
    "RESULTS",
    "SEARCHES",
    "STATISTICS",
    "TENSORS",
    "TEXT",
    "Entry",
    "Header",
    "checksum_of",
    "count_values",
    "import_safetensors",
    "most_label_bytes",
]

FORMAT: Final = "gegenbauer-model"

FORMAT_VERSION: Final = "2"

# The classes that a file may name.
ESTIMATORS: Final[dict[str, Any]] = {
    cls.__name__: cls
    for cls in (
        GegenbauerClassifier,
        GegenbauerRegressor,
        GegenbauerClassifierCV,
        GegenbauerRegressorCV,
        GegenbauerFeatures,
    )
}

CLASSIFIERS: Final = {"GegenbauerClassifier", "GegenbauerClassifierCV"}

SEARCHES: Final = {"GegenbauerClassifierCV", "GegenbauerRegressorCV"}

METADATA_KEYS: Final = {
    "format",
    "format_version",
    "library_version",
    "estimator",
    "parameters",
    "fitted",
    "checksum",
}


class Entry(NamedTuple):
    """What an entry of the header may be: JSON types, and the range of numbers, ends included."""

    types: tuple[type, ...]
    low: float = -sys.float_info.max
    high: float = sys.float_info.max


_FLAG: Final = Entry((bool,))

TEXT: Final = Entry((str,))

OBJECT: Final = Entry((dict,))

NUMBER: Final = Entry((int, float))

COUNT: Final = Entry((int,), 0, 2**63 - 1)

# "nan", "inf" and "-inf" stand for numbers that JSON does not have.
OPEN_NUMBER: Final = Entry((int, float, str))

# What ``fitted`` holds, for every estimator and beyond.
FITTED: Final[dict[str, Entry]] = {
    "domain": Entry((list,)),
    "clip": _FLAG,
    "feature_names_in_": Entry((list, type(None))),
}

# Not of models learned from batches, nor in older files.
CORRELATION: Final[dict[str, Entry]] = {
    "correlation": Entry((list,)),  # the largest of two inputs, and which: [float, int, int]
}

# Of models of which inputs have levels: one entry an input, null or {"shares":
# [float, ...], "values": [str, ...] or [int or float, ...] or [bool, ...] of a category or null of
# a number, "missing": whether some are}
INPUTS: Final[dict[str, Entry]] = {
    "inputs": Entry((list,)),
}

# Of searches that tried other models: {name: [gain, usual gain, standard error]}
ALTERNATIVES: Final[dict[str, Entry]] = {
    "alternatives_": OBJECT,
}

FITTED_BASIS: Final[dict[str, Entry]] = {
    "basis": OBJECT,  # the arguments of TensorBasis; missing in models of all terms
}

FITTED_SOLUTION: Final[dict[str, Entry]] = {
    "engine_": TEXT,
    "solver_": TEXT,
    "rcond_": Entry((int, float, type(None)), 0),  # null where it is not finite
}

FITTED_RIDGE: Final[dict[str, Entry]] = {
    "precision_": Entry((str, type(None))),  # null, or missing in older files, if not known
    "n_refinements_": COUNT,
}

# Models learned from batches have it as ``statistics``.
STATISTICS: Final[dict[str, Entry]] = {
    "kind": TEXT,  # "gram" or "moments"
    "n_samples": COUNT,
    "weight_sum": NUMBER,  # rounding may leave it below zero when all samples were forgotten
    "resolution": Entry((float,), 0, 1),
    "n_outputs": Entry((int,), 1, 2**31),
    "n_out_of_range": Entry((int,), -(2**63), 2**63 - 1),
    "y_was_flat": _FLAG,
    "solved": _FLAG,
    "shifted": _FLAG,  # missing in older files: false
    "position": Entry((list, type(None))),  # of a checkpoint: number of batches, fingerprint
}

KINDS: Final[dict[str, Any]] = {"gram": GramStatistics, "moments": MomentStatistics}

FITTED_SEARCH: Final[dict[str, Entry]] = {
    "alpha_": Entry((int, float), math.ulp(0.0)),
    "best_score_": OPEN_NUMBER,
    "n_search_samples_": COUNT,
    "spectrum_": Entry((list, type(None))),  # components; null for raw polynomials
    "y_was_flat": _FLAG,
}

FITTED_REGRESSOR_SEARCH: Final[dict[str, Entry]] = {
    "effective_dof_": OPEN_NUMBER,
    "free_constant": _FLAG,
    "free_leverage": Entry((int, float, str, type(None)), 0),  # null in models of all terms
}

# Of the mean of several models, in the place of ``spectrum_``: the components of each.
FITTED_SEVERAL: Final[dict[str, Entry]] = {"spectra_": Entry((list,)), "free_constant": _FLAG}

FITTED_CLASSIFIER: Final[dict[str, Entry]] = {
    "multilabel_": _FLAG,
    "classes_": Entry((dict, type(None))),  # {"dtype": "<U3" or "object", "values": [str, ...]}
}

BASIS_ARGUMENTS: Final = (
    "n_features",
    "n_terms",
    "degree",
    "lam",
    "index_set",
    "max_interaction",
    "term_order",
    "spectrum",
)

COMPONENT_KINDS: Final[dict[str, Any]] = {cls.__name__: cls for cls in COMPONENTS}

# Most weights of a spectrum, one for each component and input, beside one for each 8 bytes of the
# file: making a kernel of them takes a second and a few hundred bytes for each.
MAX_WEIGHTS: Final = 2**20

# Most components of a spectrum, of which a kernel takes 0.1 ms each, and values of a grid, each of
# which is looked at by itself.
MAX_COMPONENTS: Final = 2**12

MAX_GRID: Final = 2**16

# Most models of which one is the mean: fits make five.
MAX_SPECTRA: Final = 2**4

# The axes of ``surface_``, in the order in which ``score`` has them.
AXES: Final = (("smoothness", "interaction", "relative_alpha"), ("lam", "n_terms", "alpha"))

RESULTS: Final = "surface."

ALPHA_RESULTS: Final = "alpha_results."


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
MAX_HEADER_BYTES: Final = 16 * 2**20

LENGTH_BYTES: Final = 8

# Most values in a text of JSON, each of which may take 100 bytes for its two of the file.
MAX_VALUES: Final = 2**20

# Those of the largest float64: `alpha` may be so large an int, and a parameter anything.
MAX_INT_DIGITS: Final = 309

# No tensor has more dimensions, and products of thousands of sizes take minutes.
MAX_DIMENSIONS: Final = 3

DTYPES: Final[dict[str, np.dtype[Any]]] = {
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

LABEL_DTYPES: Final[frozenset[np.dtype[Any]]] = frozenset(DTYPES.values())

TENSORS: Final[dict[str, _Tensor]] = {
    "indices": _of_type("int32"),
    "lower": _doubles(),
    "upper": _doubles(),
    "constant": _of_type("bool"),
    "coef": _doubles(),
    "classes": _Tensor(LABEL_DTYPES),
    "sums": _doubles(),
    "shift": _doubles(),
    "X_fit": _of_type("float64", "float32", unknown=True),  # NaN of inputs that may be missing
    "dual_coef": _doubles(),
    "intercept": _doubles(),
    "loo_predictions": _MEASURED,
    **{
        f"{RESULTS}{axis}": _doubles(low=0.0)
        for axis in ("smoothness", "interaction", "relative_alpha", "alpha")
    },
    f"{RESULTS}lam": _doubles(low=-0.5),
    f"{RESULTS}n_terms": _of_type("int64", low=1, high=2**63 - 1),
    f"{RESULTS}score": _MEASURED,
    f"{ALPHA_RESULTS}alpha": _doubles(low=0.0),
    f"{ALPHA_RESULTS}score": _MEASURED,
    "probability_scales": _doubles(low=math.ulp(0.0)),
    "probability_biases": _doubles(),
    "probability_reaches": _doubles(low=0.0, high=math.inf),
    "part_alphas": _doubles(low=math.ulp(0.0)),
    "part_noise": _doubles(low=math.ulp(0.0)),
    "left_out_by": _of_type("int64", low=0, high=MAX_SPECTRA - 1),
    "relevances": _doubles(low=0.0),
    "noise_variance": _doubles(low=0.0, high=math.inf),
    "prior_variance": _doubles(low=0.0, high=math.inf),
    "residuals": _MEASURED,
    "row_weight": _doubles(low=math.ulp(0.0)),
    "left_out_share": _doubles(low=math.ulp(0.0), high=1.0),
    "posterior": _doubles(),
    "mean_features": _doubles(),
    "landmark_factor": _doubles(),
    "n_clipped": _of_type("int64", low=0, high=2**63 - 1),
    "seen_lower": _doubles(),
    "seen_upper": _doubles(),
    "warping_sizes": _of_type("int64", low=0, high=2**31),
    "warping_shares": _doubles(low=0.0, high=1.0),
    "warping_values": _doubles(low=0.0, high=1.0),
    "ordered_sums": _MEASURED,
    "marginal_sizes": _of_type("int64", low=1, high=2**31),
    "marginal_nodes": _of_type("float64", unknown=True),
    "marginal_weights": _doubles(low=0.0, high=1.0 + 1e-9),  # one is more by its rounding
}

# Text labels come back in an array as wide as they were in if it takes at most this, and 8 times
# their characters, and else as objects: one long label makes all others as wide.
_MAX_LABEL_BYTES: Final = 2**20


class Header(NamedTuple):
    """What the first bytes of a file contain, checked against the schema's outline."""

    estimator: str
    parameters: dict[str, Any]
    fitted: dict[str, Any]
    tensors: dict[str, tuple[np.dtype[Any], tuple[int, ...]]]
    n_bytes: int  # length that the file must have
    entries: dict[str, str]  # of __metadata__, as they stand there
    old_names: dict[str, str]  # of tensors, in the file, where it has other ones


def checksum_of(entries: dict[str, str], tensors: dict[str, NDArray[Any]]) -> str:
    """Return the digest of a file's entries but this one, and of its tensors, in order of names."""
    digest = hashlib.blake2b(digest_size=16)
    for key in sorted(entries.keys() - {"checksum"}):
        digest.update(f"{key}={entries[key]}\n".encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name}: {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def most_label_bytes(values: list[str]) -> int:
    """Return how large an array of text labels may be."""
    return _MAX_LABEL_BYTES + 8 * sum(map(len, values))


def import_safetensors() -> None:
    try:
        import safetensors.numpy  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            "save and load need the package safetensors: pip install 'gegenbauer[io]'"
        ) from error


def count_values(text: str | bytes) -> int:
    """Return at least the number of values, and of keys, in a text of JSON."""
    if isinstance(text, bytes):
        return sum(map(text.count, (b",", b":", b"[", b"{")))
    return sum(map(text.count, (",", ":", "[", "{")))
