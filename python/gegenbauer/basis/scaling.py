"""The box of the inputs and its map to the domain of the polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._dispatch import core
from gegenbauer._messages import Message
from gegenbauer._validation import as_matrix, check_flag, require_plain, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["InputScaling", "check_domain", "check_scaling"]

# Relative spacing of the coarsest numbers that are taken
_COARSEST = float(np.finfo(np.float32).eps)

# Least step of a map, whose slopes are then at most its reciprocal
_CLOSEST = 1e-9

# Entries of which a mask costs less than to go through the columns
_FEW_ENTRIES = 4096

DOMAINS = ((0.0, 1.0), (-1.0, 1.0))


class InputScaling:
    r"""Map of a box onto the domain of the polynomials, column by column.

    It is affine, :math:`x \mapsto a + (b - a) u` with the share
    :math:`u = (x - \text{lower}) / (\text{upper} - \text{lower})` of the range, and, with
    ``warping``, :math:`a + (b - a) w(u)`, where w is increasing and piecewise linear. The core
    applies it on the fly, block by block: scaled data are never stored. `transform` is the same map
    in NumPy.

    Parameters
    ----------
    lower, upper : array_like, shape (n_features,)
        The box; finite, ``lower <= upper``.
    domain : {(0, 1), (-1, 1)}
        Where the box is mapped to.
    clip : bool
        Move entries outside of the box to its nearest face.
    constant : array_like of bool, shape (n_features,), optional
        Columns to ignore. By default those whose range is at most 8 times the float64 resolution
        of their magnitude. They are mapped to 0, which lies in both domains and is a zero of every
        polynomial of odd degree, whatever values come later.
    warping : sequence of (array_like, array_like) or None, length n_features, optional
        For each column two arrays of as many numbers, which increase from 0 to 1: shares of the
        range and what they are mapped to, linear in between and on beyond the ends; steps are at
        least 1e-9. None for columns that are mapped by the box alone.
    categories : array_like of bool, shape (n_features,), optional
        Columns whose box is mapped to [-1, 1] whatever `domain` is: those of numbers of levels,
        from 0 to the last, which a basis looks for there.

    See Also
    --------
    TensorBasis : A finite set of terms.
    Levels : Inputs that are categories or have gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import InputScaling
    >>> scaling = InputScaling.fit(np.array([[1.0, 7.0], [3.0, 7.0]]), domain=(-1, 1))
    >>> scaling.transform(np.array([[2.0, 9.0], [5.0, 7.0]]))
    array([[0., 0.],
           [1., 0.]])
    """

    __slots__ = (
        "_ends", "_map", "_pieces", "_reaches", "categories", "clip", "domain", "is_constant",
        "lower", "upper", "warping",
    )  # fmt: skip

    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    domain: tuple[float, float]
    clip: bool
    is_constant: npt.NDArray[np.bool_]
    warping: tuple[tuple[Doubles, Doubles] | None, ...] | None
    categories: npt.NDArray[np.bool_] | None
    _ends: tuple[Doubles, Doubles]  # of the interval that each column is mapped to
    _reaches: dict[np.dtype[Any], tuple[Doubles, Doubles]]  # by the type of the samples

    def __init__(
        self,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        *,
        domain: tuple[float, float] = (0.0, 1.0),
        clip: bool = True,
        constant: npt.ArrayLike | None = None,
        warping: Sequence[tuple[npt.ArrayLike, npt.ArrayLike] | None] | None = None,
        categories: npt.ArrayLike | None = None,
    ) -> None:
        box = [
            as_matrix(side, name, one_dimensional=True, n_columns=1, keep_float32=False)[:, 0]
            for side, name in ((lower, "lower"), (upper, "upper"))
        ]
        self.lower, self.upper = (np.array(side) for side in box)
        if self.lower.shape != self.upper.shape:
            raise ValueError(
                Message(
                    "`lower` and `upper` must have the same length, got {} and {}",
                    self.lower.size,
                    self.upper.size,
                )
            )
        if (self.lower > self.upper).any():
            column = int((self.lower > self.upper).argmax())
            raise ValueError(
                Message("`lower` must not exceed `upper`, but does in column {}", column)
            )
        self.domain = check_domain(domain)
        self.clip = check_flag(clip, "clip")
        half_range = 0.5 * self.upper - 0.5 * self.lower
        if constant is None:
            self.is_constant = _is_constant(self.lower, self.upper, np.finfo(np.float64).eps)
        else:
            self.is_constant = _flags(constant, "constant", self.lower.size)
            self.is_constant |= half_range == 0
        self.categories = None
        if categories is not None and self.domain != (-1.0, 1.0):  # where no column differs
            found = _flags(categories, "categories", self.lower.size)
            self.categories = found if found.any() else None
        self.warping = None if warping is None else _check_warping(warping, self.lower.size)
        self._pieces = [_pieces(each) for each in self.warping or ()]
        self._reaches = {}
        for array in (self.lower, self.upper, self.is_constant):
            array.flags.writeable = False
        low, high = self._ends = self._intervals()
        self._map = core.BoxMap(
            (0.5 * self.lower).tolist(),
            np.where(self.is_constant, 1.0, half_range).tolist(),
            np.where(self.is_constant, 0.0, high - low).tolist(),
            np.where(self.is_constant, 0.0, low).tolist(),
            self.clip,
            [tuple(part.tolist() for part in each) for each in self._pieces],
        )

    def _intervals(self) -> tuple[Doubles, Doubles]:
        """Return the ends of the interval that each column is mapped to."""
        low, high = (np.full(self.lower.size, end) for end in self.domain)
        if self.categories is not None:
            low[self.categories], high[self.categories] = -1.0, 1.0
        return low, high

    @classmethod
    def fit(
        cls,
        X: npt.ArrayLike,
        *,
        domain: tuple[float, float] = (0.0, 1.0),
        clip: bool = True,
    ) -> InputScaling:
        """Take the smallest box around the rows of X.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Finite real numbers. NaN, which is missing, is left out; a column of nothing else is
            constant at 0.
        domain : {(0, 1), (-1, 1)}
            Where the box is mapped to.
        clip : bool
            Move entries outside of the box to its nearest face.

        Returns
        -------
        InputScaling
        """
        data = as_matrix(X, "X", allow_missing=True)
        lower = np.fmin.reduce(data, axis=0).astype(np.float64)
        upper = np.fmax.reduce(data, axis=0).astype(np.float64)
        gone = np.isnan(lower)
        lower[gone] = upper[gone] = 0.0
        constant = _is_constant(lower, upper, np.finfo(data.dtype).eps)
        return cls(lower, upper, domain=domain, clip=clip, constant=constant)

    def around(self, X: npt.ArrayLike) -> InputScaling:
        """Return the smallest box around the rows of X, of the same kind as this one.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            A column of which all are missing has the range that it has here.

        Returns
        -------
        InputScaling
            Of the same domain, clipping and categories.

        Raises
        ------
        ValueError
            X is no matrix of as many columns, or holds infinities.

        Examples
        --------
        >>> from gegenbauer import InputScaling
        >>> box = InputScaling([0, 0], [1, 1]).around([[2, float("nan")], [4, float("nan")]])
        >>> box.lower, box.upper
        (array([2., 0.]), array([4., 1.]))
        """
        data = self._samples(X)
        found = InputScaling.fit(data, domain=self.domain, clip=self.clip)
        gone = np.isnan(data[0])
        gone[gone] = np.isnan(data[:, gone]).all(axis=0)
        if not gone.any():
            return found if self.categories is None else found.replace(categories=self.categories)
        ends = {
            name: np.where(gone, getattr(self, name), getattr(found, name))
            for name in ("lower", "upper")
        }
        constant = np.where(gone, self.is_constant, found.is_constant)
        return found.replace(**ends, constant=constant, categories=self.categories)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.lower.size

    def replace(self, **changes: Any) -> InputScaling:
        """Return a scaling with some arguments replaced.

        Parameters
        ----------
        **changes
            Arguments of the constructor, which take the place of those of this scaling.

        Returns
        -------
        InputScaling

        Raises
        ------
        ValueError, TypeError
            As the constructor does.

        Examples
        --------
        >>> from gegenbauer import InputScaling
        >>> InputScaling([0.0], [1.0]).replace(clip=False)
        InputScaling(n_features=1, domain=(0.0, 1.0), clip=False)
        """
        return InputScaling(**{**self.__getstate__(), **changes})

    def some(self, columns: npt.NDArray[np.bool_]) -> InputScaling:
        """Return the scaling of some columns, by a flag for each."""
        flags = _flags(columns, "columns", self.n_features)
        pairs = zip(self.warping or (), flags, strict=self.warping is not None)
        return self.replace(
            lower=self.lower[flags],
            upper=self.upper[flags],
            constant=self.is_constant[flags],
            warping=None if self.warping is None else [one for one, kept in pairs if kept],
            categories=None if self.categories is None else self.categories[flags],
        )

    def transform(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Map the rows of X, shape (n_samples, n_features), to the domain; NaN stays what it is."""
        data = self._samples(X).astype(np.float64)
        unit = self._shares(data)
        for t, (starts, values, slopes) in enumerate(self._pieces):
            if starts.size:
                at = np.searchsorted(starts[1:], unit[:, t], side="right")
                unit[:, t] = values[at] + slopes[at] * (unit[:, t] - starts[at])
        if self.clip and self._pieces:  # by rounding
            unit = unit.clip(max=1.0)
        low, high = self._ends
        scaled = low + (high - low) * unit
        if self.is_constant.any():
            scaled[self.is_constant & ~np.isnan(data)] = 0.0
        return np.asarray(scaled)

    def _shares(self, data: npt.NDArray[Any]) -> Doubles:
        """Return where samples are between the ends of the range of each column, before warping."""
        half_range = np.where(self.is_constant, 1.0, 0.5 * self.upper - 0.5 * self.lower)
        unit = (0.5 * data - 0.5 * self.lower) / half_range
        return np.asarray(unit.clip(0.0, 1.0) if self.clip else unit)

    def _samples(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        return as_matrix(X, "X", n_columns=self.n_features, allow_missing=True)

    def slopes(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the derivatives of `transform` by the entries of X, (n_samples, n_features).

        They are 0 in constant columns, for NaN, and with ``clip`` outside of the box; on a face of
        it they are those of the inside.
        """
        data = self._samples(X)
        half_range = np.where(self.is_constant, np.inf, 0.5 * self.upper - 0.5 * self.lower)
        low, high = self._ends
        with np.errstate(over="ignore"):  # of a range that is nearly none
            slopes = np.tile(0.5 * (high - low) / half_range, (len(data), 1))
        if self._pieces:
            unit = self._shares(data)
            for t, (starts, _, by_share) in enumerate(self._pieces):
                if starts.size:
                    slopes[:, t] *= by_share[np.searchsorted(starts[1:], unit[:, t], side="right")]
        if self.clip:
            slopes[self.beyond(data)] = 0.0
        slopes[np.isnan(data)] = 0.0
        return slopes

    def slopes_at(self, t: int, scaled: npt.ArrayLike) -> Doubles:
        """Return the derivatives of `transform` by the entries of column t, where they map to."""
        values = np.asarray(scaled, dtype=np.float64)
        if self.is_constant[t]:
            return np.zeros_like(values)
        low, high = (np.broadcast_to(end, self.lower.shape)[t] for end in self._ends)
        with np.errstate(over="ignore"):  # of a range that is nearly none
            found = np.full_like(
                values, 0.5 * (high - low) / (0.5 * self.upper[t] - 0.5 * self.lower[t])
            )
        if self._pieces and self._pieces[t][0].size:
            _, starts, slopes = self._pieces[t]
            unit = (values - low) / (high - low)
            found *= slopes[np.searchsorted(starts[1:], unit, side="right")]
        return found

    def beyond(self, X: npt.ArrayLike, *, rounded: bool = False) -> npt.NDArray[np.bool_]:
        """Return which entries of X lie outside of the box, (n_samples, n_features).

        Constant columns have no box and nothing beyond it; NaN, a missing number, is not outside.
        `outside` is the same for whole samples, in less memory.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Samples.
        rounded : bool, default=False
            Whether an entry is inside as well that is at an end of the box once both are float32:
            samples that made the box are so when they come in the other precision.

        Returns
        -------
        ndarray of bool
        """
        return self._beyond(self._samples(X), rounded)

    def _beyond(self, data: npt.NDArray[Any], rounded: bool) -> npt.NDArray[np.bool_]:
        lower, upper = self._reach(data.dtype) if rounded else (self.lower, self.upper)
        found: npt.NDArray[np.bool_] = (data < lower) | (data > upper)
        found &= ~self.is_constant
        return found

    def outside(self, X: npt.ArrayLike, *, rounded: bool = False) -> npt.NDArray[np.bool_]:
        """Return which samples of X, shape (n_samples, n_features), lie outside of the box.

        They have an entry that is `beyond` it, where ``rounded`` is explained. Column by column: no
        mask of all entries is made.
        """
        data = self._samples(X)
        if data.size <= _FEW_ENTRIES:
            return np.asarray(self._beyond(data, rounded).any(axis=1))
        lower, upper = self._reach(data.dtype) if rounded else (self.lower, self.upper)
        out = np.zeros(data.shape[0], dtype=bool)
        for column in np.flatnonzero(~self.is_constant):
            values = data[:, column]
            out |= (values < lower[column]) | (values > upper[column])
        return out

    def _reach(self, dtype: np.dtype[Any]) -> tuple[Doubles, Doubles]:
        """Return the least and the largest numbers of a type that are not outside.

        Samples of float32 may be of a box of float64, whose ends are rounded as they are. Those of
        float64 may be of a box of float32: that is one whose ends are such numbers, and which is no
        point among them. They lie up to half a step beyond an end.
        """
        if dtype not in self._reaches:  # which takes as long as the rest of a prediction
            self._reaches[dtype] = self._find_reach(dtype)
        return self._reaches[dtype]

    def _find_reach(self, dtype: np.dtype[Any]) -> tuple[Doubles, Doubles]:
        with np.errstate(over="ignore"):
            coarse = [end.astype(np.float32) for end in (self.lower, self.upper)]
            if dtype == np.float32:
                lower, upper = (end.astype(np.float64) for end in coarse)
                return lower, upper
            narrow = _is_constant(self.lower, self.upper, _COARSEST)
            reach = []
            for end, near, way in zip((self.lower, self.upper), coarse, (-1, 1), strict=True):
                beyond = np.nextafter(near, np.float32(way * np.inf)).astype(np.float64)
                of_float32 = (near == end) & ~narrow
                reach.append(np.where(of_float32, 0.5 * end + 0.5 * beyond, end))
        return reach[0], reach[1]

    def union(self, other: InputScaling, *, resolution: float | None = None) -> InputScaling:
        """Return the smallest box around two boxes of the same domain and clipping.

        Parameters
        ----------
        other : InputScaling
            Of as many columns. If there is any ``warping``, the boxes must be the same.
        resolution : float, optional
            Relative spacing of the numbers that made the boxes, by default that of float64: columns
            are constant whose range is at most 8 times that of their magnitude, and that were
            before.

        Returns
        -------
        InputScaling
        """
        if not isinstance(other, InputScaling):
            raise TypeError(
                Message("`other` must be an InputScaling, got {}", type(other).__name__)
            )
        if self._kind() != other._kind():
            raise ValueError(
                f"boxes can be joined only if number of columns, domain and clip are the same; got "
                f"{self!r} and {other!r}"
            )
        _refuse_warping(self, other)
        lower = np.minimum(self.lower, other.lower)
        upper = np.maximum(self.upper, other.upper)
        eps = float(np.finfo(np.float64).eps) if resolution is None else resolution
        constant = self.is_constant & other.is_constant & _is_constant(lower, upper, eps)
        return self.replace(lower=lower, upper=upper, constant=constant)

    def _opened(self) -> InputScaling:
        """Return the box without the flags of columns that are narrow, but have a range.

        They are mapped like the others, exactly: entries of a column so narrow are few numbers that
        are equally spaced. Wide columns that are to be ignored stay so, wherever their entries lie.
        """
        narrow = self.is_constant & (self.lower < self.upper)
        narrow &= _is_constant(self.lower, self.upper, _COARSEST)
        if not narrow.any():
            return self
        return self.replace(constant=self.is_constant & ~narrow)

    def _require_inside(self, wider: InputScaling) -> None:
        """Refuse a box that does not contain this one."""
        _refuse_warping(self, wider)
        outside = (wider.lower > self.lower) | (wider.upper < self.upper)
        outside |= wider.is_constant & ~self.is_constant
        if outside.any():
            t = int(outside.argmax())
            raise ValueError(
                f"a box can only grow: column {t} has the range [{self.lower[t]:.6g}, "
                f"{self.upper[t]:.6g}], which [{wider.lower[t]:.6g}, {wider.upper[t]:.6g}] does "
                "not contain"
            )

    def _substitution(
        self, wider: InputScaling
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return scale and shift, column by column, from this domain to that of a wider box.

        A sample that is mapped to u by this box is mapped to ``scale u + shift`` by the other,
        which must contain this one.
        """
        low, high = wider._ends
        half = np.where(wider.is_constant, 1.0, 0.5 * wider.upper - 0.5 * wider.lower)
        own_half = 0.5 * self.upper - 0.5 * self.lower
        scale = np.where(self.is_constant, 0.0, own_half / half)
        # where the lower end of this box comes to lie, or the middle of a constant column
        end = self.lower + np.where(self.is_constant, own_half, 0.0)
        shift = low + (high - low) * ((0.5 * end - 0.5 * wider.lower) / half) - scale * low
        alike = self.is_constant & wider.is_constant
        alike |= (self.lower == wider.lower) & (self.upper == wider.upper) & (scale == 1.0)
        return np.where(alike, 1.0, scale), np.where(alike, 0.0, shift)

    def _kind(self) -> tuple[object, ...]:
        """Return what boxes have in common that can become one."""
        flags = None if self.categories is None else self.categories.tobytes()
        return (self.n_features, self.domain, self.clip, flags)

    def _key(self) -> tuple[object, ...]:
        parts = (self.lower.tobytes(), self.upper.tobytes(), self.is_constant.tobytes())
        maps = [each and tuple(part.tobytes() for part in each) for each in self.warping or ()]
        return (*parts, *self._kind(), *maps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputScaling) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> dict[str, Any]:
        """Return the arguments that make this scaling again; what the core keeps is not pickled."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "domain": self.domain,
            "clip": self.clip,
            "constant": self.is_constant,
            "warping": self.warping,
            "categories": self.categories,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        also = "" if self.warping is None else ", warping=..."
        return (
            f"InputScaling(n_features={self.n_features}, domain={self.domain}, clip={self.clip}"
            f"{also})"
        )


def _is_constant(
    lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64], resolution: float
) -> npt.NDArray[np.bool_]:
    half_range = 0.5 * upper - 0.5 * lower
    half_magnitude = 0.5 * np.maximum(np.abs(lower), np.abs(upper))
    return np.asarray(half_range <= 8 * float(resolution) * half_magnitude)


def _flags(given: npt.ArrayLike, name: str, n_columns: int) -> npt.NDArray[np.bool_]:
    """Return one flag for each column, a copy."""
    found = np.array(require_plain(given, name, wanted="one flag for each column"), dtype=bool)
    if found.shape != (n_columns,):
        raise ValueError(Message("`{}` must have one entry for each column", name))
    return found


def _refuse_warping(*boxes: InputScaling) -> None:
    """Refuse boxes of which polynomials of one are none of the other."""
    if any(box != boxes[0] for box in boxes) and any(box.warping is not None for box in boxes):
        raise ValueError(
            Message("boxes can become one only if they have no `warping`, or are the same")
        )


def _check_warping(
    warping: Any, n_features: int
) -> tuple[tuple[Doubles, Doubles] | None, ...] | None:
    """Return the maps of the columns, after checking them; None if no column has one."""
    if not hasattr(warping, "__len__") or len(warping) != n_features:
        raise ValueError(
            Message(
                "`warping` must be a sequence of one entry for each column, {}; got {}",
                n_features,
                shown(warping),
            )
        )
    found: list[tuple[Doubles, Doubles] | None] = []
    for t, each in enumerate(warping):
        if each is None:
            found.append(None)
            continue
        try:
            shares, values = (np.array(part, dtype=np.float64) for part in each)
        except (TypeError, ValueError) as error:
            raise ValueError(
                Message(
                    "`warping` must hold pairs of arrays of numbers; those of column {} are none: "
                    "{}",
                    t,
                    error,
                )
            ) from None
        right = shares.ndim == 1 and shares.shape == values.shape and shares.size >= 2
        ends = right and (shares[0], shares[-1], values[0], values[-1]) == (0, 1, 0, 1)
        if not ends or not all((np.diff(part) >= _CLOSEST).all() for part in (shares, values)):
            raise ValueError(
                Message(
                    "`warping` must hold pairs of arrays of as many numbers, two or more, which "
                    "increase from 0 to 1 by at least {:g} each; those of column {} do not",
                    _CLOSEST,
                    t,
                )
            )
        for part in (shares, values):
            part.flags.writeable = False
        found.append((shares, values))
    return tuple(found) if any(each is not None for each in found) else None


def _pieces(warping: tuple[Doubles, Doubles] | None) -> tuple[Doubles, Doubles, Doubles]:
    """Return where the pieces of a map start, its values there, and its slopes."""
    if warping is None:
        return np.empty(0), np.empty(0), np.empty(0)
    shares, values = warping
    return shares[:-1], values[:-1], np.diff(values) / np.diff(shares)


def check_domain(domain: object) -> tuple[float, float]:
    """Return the ends of a domain, of which there are two."""
    try:
        low, high = (float(edge) for edge in domain)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        low, high = np.nan, np.nan
    if (low, high) not in DOMAINS:
        raise ValueError(Message("`domain` must be (0, 1) or (-1, 1), got {}", shown(domain)))
    return low, high


def check_scaling(scaling: InputScaling | None, n_features: int, owner: str) -> Any:
    """Return the core's box of a scaling, after checking that it fits its owner."""
    if scaling is None:
        return None
    if not isinstance(scaling, InputScaling):
        raise TypeError(
            Message("`scaling` must be an InputScaling, got {}", type(scaling).__name__)
        )
    if scaling.n_features != n_features:
        raise ValueError(
            Message(
                "`scaling` is for {} inputs, but the {} has {}",
                scaling.n_features,
                owner,
                n_features,
            )
        )
    return scaling._map
