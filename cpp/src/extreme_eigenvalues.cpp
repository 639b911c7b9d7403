#include <algorithm>
#include <cmath>

#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/error.hpp"

namespace gegenbauer {

namespace {

// L L' x; each block of columns serves L' and L while it is in the cache.
Vector product(const ConstMatrixRef& lower, const Vector& x, const Control& control) {
  constexpr Index block = 16;
  const Index n = x.size();
  Vector y = Vector::Zero(n);
  for (Index begin = 0; begin < n; begin += block) {
    control.check();
    const Index width = std::min(block, n - begin);
    const Index rest = n - begin - width;
    const auto corner = lower.block(begin, begin, width, width).triangularView<Eigen::Lower>();
    const auto below = lower.block(begin + width, begin, rest, width);
    Vector t = corner.transpose() * x.segment(begin, width);
    t.noalias() += below.transpose() * x.tail(rest);
    y.segment(begin, width) += corner * t;
    y.tail(rest).noalias() += below * t;
  }
  return y;
}

}  // namespace

SpectrumEstimate estimate_spectrum(const ConstMatrixRef& factor, const Control& control) {
  const Index n = factor.rows();
  require(factor.cols() == n, "the factor must be square, got shape (", n, ", ", factor.cols(), ")");
  constexpr int steps = 4;
  // a fixed start without structure: the fractional parts of multiples of the golden ratio, of mixed signs
  Vector start(n);
  for (Index i = 0; i < n; ++i) start(i) = std::fmod(0.618033988749895 * static_cast<double>(i + 1), 1.0) - 0.45;
  SpectrumEstimate estimate{0.0, 0.0};
  Matrix x = start.normalized();
  for (int step = 0; step < steps; ++step) {
    x = product(factor, x, control);
    estimate.largest = x.stableNorm();
    if (!(estimate.largest > 0) || !std::isfinite(estimate.largest)) return {0.0, 0.0};
    x /= estimate.largest;
  }
  x = start.normalized();
  for (int step = 0; step < steps; ++step) {
    solve_factored(factor, x, control);
    const double norm = x.stableNorm();
    if (!std::isfinite(norm) || !(norm > 0)) {
      estimate.smallest = 0.0;
      return estimate;
    }
    estimate.smallest = 1.0 / norm;
    x /= norm;
  }
  return estimate;
}

}  // namespace gegenbauer
