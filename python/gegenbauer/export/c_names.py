"""Names that a function in C may have."""

from __future__ import annotations

import re
from typing import Any

from gegenbauer._messages import Message

__all__ = ["check_name"]

# Of C, of C++, which may compile it, and the macros and types of headers beside it
_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while main bool true false nullptr constexpr alignas alignof "
    "static_assert thread_local typeof typeof_unqual asm fortran "
    "and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept consteval "
    "constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export "
    "friend mutable namespace new noexcept not not_eq operator or or_eq private protected public "
    "reinterpret_cast requires static_cast template this throw try typeid typename using virtual "
    "wchar_t xor xor_eq linux unix NULL"
)

# Of math.h: what takes one or two numbers comes also with f or l at its end
_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 "
    "fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 "
    "log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo "
    "rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc"
)
_MACROS = (
    "NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL fpclassify isfinite isinf isnan isnormal signbit "
    "isgreater isgreaterequal isless islessequal islessgreater isunordered math_errhandling "
    "float_t double_t j0 j1 jn y0 y1 yn gamma drem significand scalb signgam finite pow10 exp10"
)


def check_name(name: Any) -> None:
    """Refuse what no compiler of C or C++ takes for the name of a function."""
    if not isinstance(name, str):
        raise TypeError(Message("`name` must be a text, such as 'predict'; got {!r}", name))
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or "__" in name or re.search("_t$", name):
        raise ValueError(
            Message(
                "`name` must be an identifier of C that is not reserved, such as 'predict': begin"
                " it with a letter, without __ in it or _t at its end; got {!r}",
                name,
            )
        )
    functions = {each + end for each in _MATH.split() for end in ("", "f", "l")}
    if name in {*_WORDS.split(), *_MACROS.split(), *functions}:
        raise ValueError(
            Message("`name` must be no word of C, C++ or their math.h, got {!r}", name)
        )
