#pragma once
/// The few lines that the tests of the core need: checks that report what failed and where, counted to the exit code.

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

#include "gegenbauer/types.hpp"

namespace check {

inline int failures = 0;

template <class... Parts>
void fail(const char* file, int line, const Parts&... parts) {
  ++failures;
  std::cerr << file << ':' << line << ": ";
  (std::cerr << ... << parts) << '\n';
}

inline int report(const char* name) {
  std::cout << name << ": " << (failures == 0 ? "passed" : "FAILED") << '\n';
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Uniform numbers on [low, high), the same everywhere.
inline gegenbauer::Matrix uniform(gegenbauer::Index rows, gegenbauer::Index cols, double low, double high,
                                  unsigned seed = 1) {
  std::mt19937_64 generator(seed);
  gegenbauer::Matrix m(rows, cols);
  for (gegenbauer::Index i = 0; i < m.size(); ++i)
    m.data()[i] = low + (high - low) * static_cast<double>(generator() >> 11U) * 0x1.0p-53;
  return m;
}

inline gegenbauer::StridedView<const double> view(const gegenbauer::Matrix& m) {
  return {m.data(), m.rows(), m.cols(), 1, m.outerStride()};
}

inline gegenbauer::StridedView<double> view(gegenbauer::Matrix& m) {
  return {m.data(), m.rows(), m.cols(), 1, m.outerStride()};
}

}  // namespace check

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) check::fail(__FILE__, __LINE__, "not true: ", #condition); \
  } while (false)

#define CHECK_NEAR(value, expected, tolerance)                                                              \
  do {                                                                                                      \
    const double got_ = (value);                                                                            \
    const double want_ = (expected);                                                                        \
    if (!(std::abs(got_ - want_) <= (tolerance)))                                                           \
      check::fail(__FILE__, __LINE__, #value, " is ", got_, ", expected ", want_, " within ", (tolerance)); \
  } while (false)

#define CHECK_THROWS(expression, exception, part)                                                      \
  do {                                                                                                 \
    try {                                                                                              \
      (void)(expression);                                                                              \
      check::fail(__FILE__, __LINE__, "nothing thrown by ", #expression);                              \
    } catch (const exception& error_) {                                                                \
      if (std::string(error_.what()).find(part) == std::string::npos)                                  \
        check::fail(__FILE__, __LINE__, "the message does not contain '", part, "': ", error_.what()); \
    }                                                                                                  \
  } while (false)
