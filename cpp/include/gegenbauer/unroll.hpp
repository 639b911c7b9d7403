#pragma once
/// The one thing that each compiler has another word for: a loop over registers is to be unrolled, so that arrays of
/// registers are registers.

#define GEGENBAUER_PRAGMA(text) _Pragma(#text)

/// Before a loop: unroll it this many times. A compiler without such a word decides by itself.
#if defined(__clang__)
#define GEGENBAUER_UNROLL(count) GEGENBAUER_PRAGMA(clang loop unroll_count(count))
#elif defined(__GNUC__)
#define GEGENBAUER_UNROLL(count) GEGENBAUER_PRAGMA(GCC unroll count)
#else
#define GEGENBAUER_UNROLL(count)
#endif
