"""Functions of an exported Python module, as text with places for what a model has."""

from __future__ import annotations

__all__ = [
    "CALIBRATION",
    "CHECK",
    "ENCODE",
    "OF_CLASSES",
    "OF_KERNELS",
    "OF_LABELS",
    "OF_TERMS",
    "OF_TWO",
    "OUTPUTS",
    "POLICIES",
    "SCALE",
]

ENCODE = '''

def encode(rows):
    """Return rows of values, or a table, as the array that the other functions take."""
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else list(rows)
    X = np.empty((len(rows), len(INPUTS)))
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes, dict)) or not hasattr(row, "__len__"):
            raise TypeError(f"row {i} must be a list of values, one an input, got {row!r}")
        if len(row) != len(INPUTS):
            raise ValueError(f"row {i} must have {len(INPUTS)} values, got {len(row)}")
        for t, value in enumerate(row):
            X[i, t] = _code(CATEGORIES.get(t), value)
    return X


def _code(values, value):
    try:
        missing = value is None or bool(value != value)
    except TypeError:  # as of pandas' NA, which is neither
        missing = True
    if values is None:
        return nan if missing else value
    value = None if missing else value
    return values.index(value) if value in values else nan
'''

CHECK = (
    '''
def _checked(X):
    """Return X as floats, with NaN for what is missing or not known."""
    try:
        X = np.array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers alone, see encode(): {error}") from None
    if X.ndim != 2 or X.shape[1] != len(INPUTS):
        raise ValueError(f"X must have shape (n_samples, {len(INPUTS)}), got {X.shape}")
    for t, values in CATEGORIES.items():
        X[~np.isin(X[:, t], np.arange(len(values))), t] = nan
    refused = np.isinf(X) | (np.isnan(X) & ~TAKES_GAPS)
''',
    """    if refused.any():
        row, column = np.argwhere(refused)[0]
        raise ValueError(
            f"the model refuses {X[row, column]} in {INPUTS[column]}, first in row {row}"
        )
    return X
""",
)

POLICIES = {
    "error": """    refused |= (X < SEEN_FROM) | (X > SEEN_TO)
""",
    "warn": """    beyond = (X < SEEN_FROM) | (X > SEEN_TO) | (np.isnan(X) & NEW_GAPS)
    if beyond.any() and not refused.any():
        warnings.warn(
            f"{beyond.any(axis=1).sum()} of {len(X)} samples lie outside of what the fit saw; "
            "they are clipped to it, and levels that are not known count as the mean",
            UserWarning, stacklevel=4,
        )
""",
}

SCALE = '''
def _scaled(X):
    """Return numbers in the domain of the polynomials."""
    U = ((0.5 * X - HALF_LOWER) / HALF_RANGE){clip}
    for t, (starts, values, slopes) in PIECES.items():
        at = np.searchsorted(starts[1:], U[:, t], side="right")
        U[:, t] = values[at] + slopes[at] * (U[:, t] - starts[at]){least}
    return OFFSET + SPAN * U
'''

OF_TERMS = """
BLOCK = max(1, 2**22 // len(COEF))


def _sums(X):
    Z, F = _scaled(X), np.zeros((len(X), N_FUNCTIONS))
    F[:, 0] = 1.0
    for t, (start, contrasts, absent) in FUNCTIONS.items():
        gone = np.isnan(X[:, t])
        if contrasts.size:
            known = X[:, t] if t in CATEGORIES else gone
            levels = np.where(gone & (t in CATEGORIES), 0.0, known).astype(np.intp)
            own = contrasts[levels]
            own[gone & (t in CATEGORIES)] = 0.0
            F[:, start : start + own.shape[1]] = own
            start += own.shape[1]
        p, q = np.ones(len(X)), np.zeros(len(X))
        for n in range(len(absent)):
            p, q = A[n + 1] * Z[:, t] * p - B[n + 1] * q, p
            F[:, start + n] = np.where(gone, absent[n], p)
    G = F[:, TERMS[:, 0]]
    for factors in TERMS.T[1:]:
        G *= F[:, factors]
    return G @ COEF
"""

OF_KERNELS = """
BLOCK = max(1, 2**20 // len(CENTRES))


def _sums(X):
    Z, total = _scaled(X), 0.0
    kernels = np.ones((len(PARTS), len(X), len(CENTRES)))
    for t in range(len(INPUTS)):
        x, z = X[:, t, np.newaxis], CENTRES[:, t]
        apart = np.isnan(x) | np.isnan(z)
        known = ~apart
        levels = LEVELS.get(t)
        same = 0.0
        if levels is not None and t in CATEGORIES:
            i, j = (np.where(np.isnan(v), 0, v).astype(np.intp) for v in (x, z))
            same = np.where(known, (i == j) + levels[i] + levels[j], 0.0)
        elif levels is not None:
            i, j = (np.isnan(v).astype(np.intp) for v in (x, z))
            same = (i == j) + levels[i] + levels[j]
        if t in CATEGORIES:
            for kernel, (_, _, _, _, factors) in zip(kernels, PARTS):
                kernel *= 1.0 + factors[t] * same
            continue
        x = np.where(np.isnan(x), 0.0, Z[:, t, np.newaxis]).clip(-1.0, 1.0)
        z = np.where(np.isnan(z), 0.0, z)
{angles}
        for kernel, (_, cubic, geometric, sums, factors) in zip(kernels, PARTS):
            k = np.zeros(kernel.shape)
            if cubic[t].any():
                first, second, third, last = cubic[t]
                k += first
                for v in w:
                    k += ((last * v + third) * v + second) * v
            for ratio, share in geometric:
                for v in h:
                    below = (1.0 - ratio) ** 2 + 4.0 * ratio * v
                    k += share[t] * (1.0 - ratio - 2.0 * v) / below
            p, r = (np.ones(x.shape), np.ones(z.shape)), (0.0, 0.0)
            for n, share in enumerate(sums[t], 1):
                p, r = tuple(
                    A[n] * u * one - B[n] * other for u, one, other in zip((x, z), p, r)
                ), p
                k += share * p[0] * p[1]
            kernel *= 1.0 + np.where(known, k, 0.0) + factors[t] * same
    for kernel, (coef, *_) in zip(kernels, PARTS):
        total = total + kernel @ coef
    return total
"""

OUTPUTS = """
def _outputs(X):
    X = _checked(X)
    found = np.empty((len(X), len(INTERCEPT)))
    for first in range(0, len(X), BLOCK):
        found[first : first + BLOCK] = _sums(X[first : first + BLOCK])
    return found + INTERCEPT
"""

CALIBRATION = '''
def _scores(outputs, reach):
    """Return scores of classes, of which none is further below the largest than reach."""
    if outputs.shape[1] == 1:
        outputs = np.hstack([-0.5 * outputs, 0.5 * outputs])
    below = outputs.max(axis=1, keepdims=True) - outputs
    far = below > reach
    limit = reach * (1.0 + {order!r} * (1.0 - reach / np.where(far, below, inf)))
    near = 0.5 * reach - np.where(far, limit, below)
    return np.where(far.any(axis=1, keepdims=True), near, outputs)


def _logits(outputs, scale, bias, reach):
    return scale * _scores(outputs, reach) + bias


def _probabilities(outputs, scale, bias, reach):
    scores = _scores(outputs, reach)
    z = scale * (scores - scores.max(axis=1, keepdims=True)) + bias
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)
'''

OF_LABELS = """
def decision_function(X):
    pairs = [_logits(F[:, np.newaxis], *own) for F, own in zip(_outputs(X).T, MAPS)]
    return np.column_stack([pair[:, 1] - pair[:, 0] for pair in pairs])


def predict_proba(X):
    pairs = [_probabilities(F[:, np.newaxis], *own) for F, own in zip(_outputs(X).T, MAPS)]
    return np.column_stack([pair[:, 1] for pair in pairs])
"""

OF_TWO = """
def decision_function(X):
    pair = _logits(_outputs(X), *MAPS[0])
    return pair[:, 1] - pair[:, 0]


def predict_proba(X):
    return _probabilities(_outputs(X), *MAPS[0])
"""

OF_CLASSES = """
def decision_function(X):
    return _logits(_outputs(X), *MAPS[0])


def predict_proba(X):
    return _probabilities(_outputs(X), *MAPS[0])
"""
