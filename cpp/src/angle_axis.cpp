#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "gegenbauer/aligned.hpp"
#include "gegenbauer/angle_grid.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

// Compiled without errno of square roots (see CMakeLists.txt), so that loops over samples are vectorised.

namespace gegenbauer {

namespace {

constexpr double kPi = std::numbers::pi;

// The window is the exponential of some forty at its middle, so that what is fixed is worked out in more digits where
// the compiler has them.
using Long = long double;
constexpr Long kLongPi = std::numbers::pi_v<Long>;

// Window of Kaiser and Bessel, as narrow in the frequencies as the taps and the oversampling allow
constexpr Long kTaps = static_cast<Long>(kAngleTaps);
constexpr Long kShape = 0.98L * kLongPi * kTaps * (1.0L - 0.5L / static_cast<Long>(kAngleOversampling));

// I_0 by its series, all of whose terms are positive
Long bessel(Long x) {
  Long sum = 1.0L;
  Long term = 1.0L;
  for (int k = 1; term > 1e-22L * sum; ++k) {
    term *= 0.25L * x * x / static_cast<Long>(k * k);
    sum += term;
  }
  return sum;
}

// at distances from -1 to 1
Long window(Long distance) {
  static const Long most = bessel(kShape);
  return bessel(kShape * std::sqrt(std::max(0.0L, (1.0L - distance) * (1.0L + distance)))) / most;
}

// The integral of the window times cos(frequency * distance); frequencies stay below the shape.
Long window_transform(Long frequency) {
  static const Long most = bessel(kShape);
  const Long root = std::sqrt((kShape - frequency) * (kShape + frequency));
  return 2.0L * std::sinh(root) / root / most;
}

struct WindowPowers {
  alignas(kAlignment) std::array<double, size_of((kAngleWindowDegree + 1) * kAngleTaps / 2)> values{};
};

WindowPowers window_powers() {
  constexpr Index n = kAngleWindowDegree + 1;
  using Powers = std::array<Long, size_of(n)>;
  WindowPowers powers;
  for (Index tap = 0; tap < kAngleTaps / 2; ++tap) {
    // interpolation at the roots of T_n, whose terms fall so fast that nothing is lost on the way to powers
    Powers sum{};
    Powers before{};  // of T_{k-1}, and of T_k
    Powers now{1.0L};
    for (Index k = 0; k < n; ++k) {
      Long share = 0.0L;
      for (Index i = 0; i < n; ++i) {
        const Long angle = kLongPi * (static_cast<Long>(i) + 0.5L) / static_cast<Long>(n);
        const Long nodes = 0.5L + 0.5L * std::cos(angle) + static_cast<Long>(kAngleMargin - tap);
        share += std::cos(static_cast<Long>(k) * angle) * window(nodes / (0.5L * kTaps));
      }
      share *= (k == 0 ? 1.0L : 2.0L) / static_cast<Long>(n);
      Powers next{};
      for (Index j = 0; j < n; ++j) {
        sum[size_of(j)] += share * now[size_of(j)];
        next[size_of(j)] = (j == 0 ? 0.0L : (k == 0 ? 1.0L : 2.0L) * now[size_of(j - 1)]) - before[size_of(j)];
      }
      before = now;
      now = next;
    }
    for (Index j = 0; j < n; ++j)
      powers.values[size_of(j * kAngleTaps / 2 + tap)] = static_cast<double>(sum[size_of(j)]);
  }
  return powers;
}

// cos(pi i / n) for i < 2 n, from the first eighth of a turn, where it is known to rounding
double cosine(Index i, Index n) {
  if (i > n) i = 2 * n - i;  // now of [0, pi]
  const bool negative = 2 * i > n;
  if (negative) i = n - i;
  const double value =
      4 * i > n ? std::sin(kPi * (0.5 * static_cast<double>(n) - static_cast<double>(i)) / static_cast<double>(n))
                : std::cos(kPi * static_cast<double>(i) / static_cast<double>(n));
  return negative ? -value : value;
}

// arccos of [0, 1] but for 5e-9, by interpolation of arccos(x) / sqrt(1 - x)
double rough_arccos(double x) {
  constexpr std::array<double, 9> powers{1.57079632264,    -0.214601160732,   0.0890301369397,
                                         -0.0505935738839, 0.0325711701741,   -0.0207276652533,
                                         0.0110283806663,  -0.00397457770382, 0.000684531816625};
  double sum = powers[8];
  for (std::size_t k = 8; k-- > 0;) sum = sum * x + powers[k];
  return sum * std::sqrt(1.0 - x);
}

// arcsin(x) / x of x^2 < 0.01: the series (1 3 5 ..) / (2 4 6 ..) x^(2n) / (2n + 1)
double arcsin_share(double square) {
  constexpr std::array<double, 8> powers{1.0,           1.0 / 6.0,     3.0 / 40.0,      5.0 / 112.0,
                                         35.0 / 1152.0, 63.0 / 2816.0, 231.0 / 13312.0, 143.0 / 10240.0};
  double sum = powers[7];
  for (std::size_t k = 7; k-- > 0;) sum = sum * square + powers[k];
  return sum;
}

Index steps_of(Index degree) {
  const auto finest = static_cast<Index>(std::lround(kAngleOversampling * static_cast<double>(degree)));
  return std::max(kAngleTaps, finest);
}

}  // namespace

Index AngleAxis::nodes_of(Index degree) { return steps_of(degree) + 1 + 2 * kAngleMargin; }

AngleAxis::AngleAxis(Index degree) {
  require(degree >= 0, "degrees must not be negative, got ", degree);
  require(degree <= Index{1} << 24, "degrees must be at most ", Index{1} << 24, ", got ", degree);
  const Index n_steps = steps_of(degree);
  for (Index i = 0; i < 2 * n_steps; ++i) turn_.push_back(cosine(i, n_steps));
  for (Index k = 0; k <= degree; ++k) {
    const Long frequency = kLongPi * 0.5L * kTaps * static_cast<Long>(k) / static_cast<Long>(n_steps);
    shares_.push_back(static_cast<double>(1.0L / (0.5L * kTaps * window_transform(frequency))));
  }
  for (Index i = 0; i < n_steps; ++i) {
    cosines_.push_back(cosine(2 * i + 1, 2 * n_steps));
    sines_.push_back(cosine(std::abs(n_steps - 2 * i - 1), 2 * n_steps));
  }
}

void AngleAxis::wave(Index k, double* values) const {
  const auto turn = static_cast<Index>(turn_.size());
  const double share = shares_[size_of(k)];
  Index at = (turn - kAngleMargin * k % turn) % turn;
  for (Index i = 0; i < n_nodes(); ++i) {
    values[i] = share * turn_[size_of(at)];
    at += k;
    if (at >= turn) at -= turn;
  }
}

double AngleAxis::place(const double* x, Index count, std::int32_t* below, double* v) const {
  // so many at once, in loops that compilers vectorise
  constexpr Index lanes = 8;
  using Lanes = std::array<double, size_of(lanes)>;
  const auto n_steps = static_cast<double>(steps());
  const double per_angle = n_steps / kPi;
  Lanes most{};
  const auto place_lanes = [&](const double* from, std::int32_t* node, double* to) {
    Lanes inside, cosine_of, sine_of;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const double size = std::abs(from[i]);
      most[i] = std::max(most[i], size);
      const double angle = rough_arccos(std::min(1.0, size));
      const double at = (from[i] < 0.0 ? kPi - angle : angle) * per_angle;
      node[i] = static_cast<std::int32_t>(std::max(0.0, std::min(n_steps - 1.0, at)));
      inside[i] = std::max(std::min(from[i], 1.0), -1.0);
    }
    for (std::size_t i = 0; i < inside.size(); ++i) {
      cosine_of[i] = cosines_[size_of(node[i])];
      sine_of[i] = sines_[size_of(node[i])];
    }
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const double sine = std::sqrt((1.0 - inside[i]) * (1.0 + inside[i]));
      const double shift = sine * cosine_of[i] - inside[i] * sine_of[i];  // its sine
      to[i] = 2.0 * per_angle * shift * arcsin_share(shift * shift);
    }
  };
  Index first = 0;
  for (; first + lanes <= count; first += lanes) place_lanes(x + first, below + first, v + first);
  if (first < count) {
    Lanes from{}, to;
    std::array<std::int32_t, size_of(lanes)> node;
    std::copy_n(x + first, count - first, from.begin());
    place_lanes(from.data(), node.data(), to.data());
    std::copy_n(node.begin(), count - first, below + first);
    std::copy_n(to.begin(), count - first, v + first);
  }
  return *std::max_element(most.begin(), most.end());
}

const double* angle_window_powers() {
  static const WindowPowers powers = window_powers();
  return powers.values.data();
}

}  // namespace gegenbauer
