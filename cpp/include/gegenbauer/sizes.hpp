#pragma once
/// Arithmetic of sizes and positions. Eigen counts with signs, the standard library without.

#include <cstddef>

#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// A number that is not negative, as the standard library counts.
[[nodiscard]] constexpr std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

/// How many units hold n things. Nothing can overflow, so n may come from a caller unchecked.
[[nodiscard]] constexpr Index divide_up(Index n, Index unit) { return n / unit + (n % unit > 0 ? 1 : 0); }

/// The smallest multiple of the unit that is at least n.
[[nodiscard]] constexpr Index round_up(Index n, Index unit) { return divide_up(n, unit) * unit; }

}  // namespace gegenbauer
