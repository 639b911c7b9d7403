#pragma once
/// The errors of the core. Everything else that can go wrong is a bug.

#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

namespace gegenbauer {

/// A matrix that should have been positive definite is not, to working precision.
struct NotPositiveDefinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Work that turned out to need more memory than the caller allows; nothing was returned.
struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The caller's poll requested a stop; nothing was returned and the outputs are to be thrown away.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Throws TooLarge, with the numbers, when a way that was not foreseen needs more than the caller allows.
inline void require_memory(double needed, double allowed, const char* why) {
  if (needed <= allowed) return;
  std::ostringstream message;
  message.precision(3);
  message << why << ", and an orthogonal factorisation needs " << needed / 1e9 << " GB of memory, but only "
          << allowed / 1e9 << " GB can be had: choose a larger `alpha`, fewer terms or fewer rows";
  throw TooLarge(message.str());
}

/// Throws std::invalid_argument with the concatenated parts unless the condition holds.
template <class... Parts>
inline void require(bool condition, const Parts&... parts) {
  if (condition) [[likely]]
    return;
  std::ostringstream message;
  message.precision(std::numeric_limits<double>::digits10);  // 1.000002 is not 1
  (message << ... << parts);
  throw std::invalid_argument(message.str());
}

}  // namespace gegenbauer
