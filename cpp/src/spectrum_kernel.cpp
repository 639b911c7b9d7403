#include "gegenbauer/spectrum_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kCut = 1e-13;             // what is left out, relative to the largest value of the sum
constexpr Index kLevelRows = 3;            // of an input's table: level, whether it is known, offset
constexpr double kRoundingOutside = 1e-6;  // inputs are moved to +-1 from this far outside: float32 rounds by 6e-8

// b(w) of n^-2s for s = 1, 2, 3, from the constant coefficient on.
constexpr double kClosed[3][4] = {
    {-kPi * kPi / 12, 1.0 / 4, 0, 0},
    {-7 * kPi * kPi * kPi * kPi / 720, kPi * kPi / 24, -1.0 / 48, 0},
    {-31 * kPi * kPi * kPi * kPi * kPi * kPi / 30240, 7 * kPi * kPi * kPi * kPi / 1440, -kPi * kPi / 288, 1.0 / 1440}};

using Kind = SpectrumComponent::Kind;

// The s of a component that is a multiple of n^-2s with a closed form, else 0.
int closed_power(const SpectrumComponent& c) {
  if (c.kind == Kind::gegenbauer) return c.parameter == 0.0 ? 1 : 0;
  if (c.kind != Kind::power) return 0;
  return c.parameter == 1.0 ? 1 : c.parameter == 2.0 ? 2 : c.parameter == 3.0 ? 3 : 0;
}

// The least N such that the sum of c(n) |phi_n|^2 over n > N is below kCut of the whole. The squares of the bounds grow
// like n^max(2 lam, 0), which gives the sum beyond the last bound at hand; |C_n^a|^2 falls like n^-(2 - 2a).
Index degrees_needed(const SpectrumComponent& c, double lam) {
  constexpr Index most = SpectrumKernel::kMaxDegrees;
  const double growth = std::max(2 * lam, 0.0);
  const double fall = c.kind == Kind::power ? 2 * c.parameter : 2 - 2 * c.parameter;
  if (c.kind == Kind::power) {
    require(fall > growth + 1, "the spectrum n^(-2s) with a smoothness of s = ", c.parameter,
            " has no finite kernel for lam = ", lam, ": s must be greater than ", (growth + 1) / 2,
            ", or `max_degree` must be given");
  } else if (c.kind == Kind::gegenbauer) {
    require(fall > growth + 1, "the spectrum of raw polynomials with lam = ", c.parameter,
            " has no finite kernel on orthonormal ones with lam = ", lam, ": the former must be below ",
            (1 - growth) / 2, ", or `max_degree` must be given");
  }
  const Recurrence bounds(lam, most, Normalization::orthonormal);
  const std::vector<double> decay = c.decay(most);
  std::vector<double> part;
  double total = 0.0;
  for (Index n = 1; n <= most; ++n) {
    part.push_back(decay[size_of(n)] * bounds.bound(n) * bounds.bound(n));
    total += part.back();
  }
  const double last = static_cast<double>(most);
  const double ratio = c.parameter * std::exp(growth / last);
  double rest = c.kind != Kind::geometric ? part.back() * last / (fall - growth - 1)
                : ratio < 1               ? part.back() * ratio / (1 - ratio)
                                          : HUGE_VAL;
  const char* name = c.kind == Kind::power       ? "smoothness"
                     : c.kind == Kind::geometric ? "ratio"
                                                 : "raw polynomials' lam";
  const char* remedy = c.kind == Kind::power
                           ? "a smoothness of 1, 2 or 3 with `lam=0`, whose sums are known, or a larger one"
                       : c.kind == Kind::geometric ? "`lam=0`, whose sum is known, or a smaller ratio"
                                                   : "`lam=0` for both, whose sum is known";
  require(rest <= kCut * total, name, " = ", c.parameter, " with lam = ", lam, " needs more than ", most,
          " degrees to be summed: use ", remedy, ", or end the spectrum with `max_degree`");
  Index n = most;
  while (n > 1 && rest + part[size_of(n - 1)] <= kCut * total) rest += part[size_of(--n)];
  return n;
}

// Whether a component needs no sum.
bool is_closed(const SpectrumComponent& c, double lam, Index max_degree) {
  return lam == 0.0 && max_degree == 0 && (closed_power(c) > 0 || c.kind == Kind::geometric);
}

}  // namespace

Index SpectrumKernel::numbers_an_input(const Spectrum& spectrum, double lam, Index max_degree) {
  Index degrees = 0;
  for (const SpectrumComponent& c : spectrum.components())
    if (!is_closed(c, lam, max_degree))
      degrees = std::max(degrees, max_degree > 0 ? max_degree : degrees_needed(c, lam));
  return 8 + static_cast<Index>(spectrum.components().size()) + degrees;
}

SpectrumKernel::SpectrumKernel(Spectrum spectrum, double lam, Index max_degree)
    : spectrum_(std::move(spectrum)),
      n_inputs_(spectrum_.n_inputs()),
      lam_(lam),
      max_degree_(max_degree),
      recurrence_(lam, 0, Normalization::orthonormal) {
  require(max_degree >= 0, "`max_degree` must not be negative, got ", max_degree);
  if (spectrum_.has_levels()) find_level_weights();
  std::vector<Index> summed;
  cubic_.assign(size_of(4 * n_inputs_), 0.0);
  const std::vector<SpectrumComponent>& components = spectrum_.components();
  for (Index j = 0; j < static_cast<Index>(components.size()); ++j) {
    const SpectrumComponent& c = components[size_of(j)];
    const bool closed = is_closed(c, lam, max_degree);
    if (const int s = closed_power(c); closed && s > 0) {
      power_ = std::max(power_, s);
      const double multiple = c.decay(1)[1];
      for (Index t = 0; t < n_inputs_; ++t)
        for (Index i = 0; i < 4; ++i)
          cubic_[size_of(4 * t + i)] += spectrum_.interaction(j, t) * multiple * kClosed[s - 1][i] * (i == 0 ? 2 : 1);
    } else if (closed) {
      geometric_.push_back({c.parameter, {}});
      for (Index t = 0; t < n_inputs_; ++t) geometric_.back().weights.push_back(spectrum_.interaction(j, t));
    } else {
      n_degrees_ = std::max(n_degrees_, max_degree > 0 ? max_degree : degrees_needed(c, lam));
      summed.push_back(j);
    }
  }
  first_sum_row_ = (power_ > 0 ? 1 : 0) + (geometric_.empty() ? 0 : 2) + (!spectrum_.has_levels() ? 0 : kLevelRows);
  rows_ = first_sum_row_ + n_degrees_;
  if (n_degrees_ == 0) return;
  recurrence_ = Recurrence(lam, n_degrees_, Normalization::orthonormal);
  std::vector<std::vector<double>> decays;
  for (const Index j : summed) decays.push_back(components[size_of(j)].decay(n_degrees_));
  for (Index t = 0; t < n_inputs_; ++t) {
    for (Index n = 1; n <= n_degrees_; ++n) {
      double v = 0.0;
      for (std::size_t i = 0; i < summed.size(); ++i) v += spectrum_.interaction(summed[i], t) * decays[i][size_of(n)];
      roots_.push_back(std::sqrt(v));
    }
  }
}

// Finds the weight of kappa of each input.
void SpectrumKernel::find_level_weights() {
  for (Index t = 0; t < n_inputs_; ++t) {
    const double spread = levels()[size_of(t)].spread();
    level_weights_.push_back(0.0);
    if (spread <= 0) continue;  // one level alone
    for (Index j = 0; j < static_cast<Index>(spectrum_.components().size()); ++j)
      level_weights_.back() += spectrum_.interaction(j, t) / spread;
  }
}

double SpectrumKernel::pair_cost() const {
  const double closed =
      6.0 + 2.0 * power_ + 20.0 * static_cast<double>(geometric_.size()) + (!spectrum_.has_levels() ? 0.0 : 6.0);
  return static_cast<double>(n_inputs_) * (closed + static_cast<double>(n_degrees_));
}

void require_inside(const double* x, Index column, Index first_row, bool may_be_missing) {
  for (Index s = 0; s < kPanel; ++s)
    require(std::abs(x[s]) <= 1 + kRoundingOutside || (may_be_missing && std::isnan(x[s])), "column ", column,
            " holds ", x[s], " in row ", first_row + s,
            ", but the spectrum lives on [-1, 1]: give a scaling that clips, or clip the inputs");
}

// The level of each sample, NaN where it is not known; 1 where it is known, else 0; sum p^2 / 2 - p_l, or 0.
void SpectrumKernel::tabulate_levels(const double* x, Index t, double* rows) const {
  const Levels& input = levels()[size_of(t)];
  double half = 0.0;
  for (const double p : input.shares) half += 0.5 * p * p;
  for (Index s = 0; s < kPanel; ++s) {
    const Index level = level_weights_[size_of(t)] > 0 ? input.level(x[s]) : -1;
    const bool known = level >= 0;
    const double offset = known ? half - input.shares[size_of(level)] : 0.0;
    rows[s] = known ? static_cast<double>(level) : std::numeric_limits<double>::quiet_NaN();
    rows[kPanel + s] = known ? 1.0 : 0.0;
    rows[2 * kPanel + s] = offset;
  }
}

void SpectrumKernel::tabulate(const double* x, Index first_row, double* table) const {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  for (Index t = 0; t < n_inputs_; ++t) {
    require_inside(x + t * kPanel, t, first_row, spectrum_.has_levels());
    const bool numeric = !spectrum_.has_levels() || levels()[size_of(t)].numeric;
    alignas(kAlignment) double inside[kPanel];
    for (Index s = 0; s < kPanel; ++s) inside[s] = numeric ? std::clamp(x[t * kPanel + s], -1.0, 1.0) : missing;
    double* row = table + t * rows_ * kPanel;
    if (power_ > 0) {
      // the angle from pi / 2, whose differences are the same
      for (Index s = 0; s < kPanel; ++s) row[s] = std::asin(inside[s]);
      row += kPanel;
    }
    if (!geometric_.empty()) {
      for (Index s = 0; s < kPanel; ++s) row[s] = std::sqrt((1 - inside[s]) / 2);
      for (Index s = 0; s < kPanel; ++s) row[kPanel + s] = std::sqrt((1 + inside[s]) / 2);
      row += 2 * kPanel;
    }
    if (spectrum_.has_levels()) {
      tabulate_levels(x + t * kPanel, t, row);
      row += kLevelRows * kPanel;
    }
    if (n_degrees_ > 0) {
      recurrence_.evaluate_from_one(inside, kPanel, n_degrees_, row, kPanel);
      for (Index n = 0; n < n_degrees_; ++n) {
        const double root = roots_[size_of(t * n_degrees_ + n)];
        for (Index s = 0; s < kPanel; ++s) row[n * kPanel + s] *= root;
      }
      if (!spectrum_.has_levels()) continue;
      for (Index i = 0; i < n_degrees_ * kPanel; ++i)
        if (std::isnan(inside[i % kPanel])) row[i] = 0.0;
    }
  }
}

namespace {

// k for a closed polynomial: b(w1) + b(w2) with w1 = (pi - |a - c|)^2 and w2 = (pi - a - c)^2, from angles a, c that
// count from pi / 2.
template <int power>
EIGEN_ALWAYS_INLINE Packet closed_polynomial(const Packet& a, const Packet& c, const double* cubic) {
  const Packet difference = packet::sub(packet::broadcast(kPi), packet::abs(packet::sub(a, c)));
  const Packet sum = packet::add(a, c);
  const Packet w1 = packet::mul(difference, difference);
  const Packet constant = packet::broadcast(cubic[0]);
  const Packet linear = packet::broadcast(cubic[1]);
  if constexpr (power == 1) {
    return packet::fma(linear, packet::fma(sum, sum, w1), constant);
  } else {
    const Packet w2 = packet::mul(sum, sum);
    Packet high1 = packet::broadcast(cubic[2]);
    Packet high2 = high1;
    if constexpr (power == 3) {
      const Packet highest = packet::broadcast(cubic[3]);
      high1 = packet::fma(highest, w1, high1);
      high2 = packet::fma(highest, w2, high2);
    }
    high1 = packet::fma(high1, w1, linear);
    high2 = packet::fma(high2, w2, linear);
    return packet::fma(high1, w1, packet::fma(high2, w2, constant));
  }
}

// k for r^(n-1), from sines and cosines of the half angles: both fractions over one denominator.
EIGEN_ALWAYS_INLINE Packet closed_geometric(const Packet& sine_a, const Packet& cosine_a, const Packet& sine_c,
                                            const Packet& cosine_c, double r, double weight) {
  const Packet one = packet::mul(sine_a, cosine_c);
  const Packet other = packet::mul(cosine_a, sine_c);
  const Packet minus = packet::sub(one, other);
  const Packet plus = packet::add(one, other);
  const Packet h1 = packet::mul(minus, minus);
  const Packet h2 = packet::mul(plus, plus);
  const Packet base = packet::broadcast((1 - r) * (1 - r));
  const Packet slope = packet::broadcast(4 * r);
  const Packet d1 = packet::fma(slope, h1, base);
  const Packet d2 = packet::fma(slope, h2, base);
  const Packet top = packet::broadcast(weight * (1 - r));
  const Packet drop = packet::broadcast(-2 * weight);
  const Packet n1 = packet::fma(drop, h1, top);
  const Packet n2 = packet::fma(drop, h2, top);
  return packet::div(packet::fma(n1, d2, packet::mul(n2, d1)), packet::mul(d1, d2));
}

// value + k + value k: from (product so far) - 1 to the same with the factor 1 + k
EIGEN_ALWAYS_INLINE Packet times_one_plus(const Packet& value, const Packet& k) {
  return packet::fma(value, k, packet::add(value, k));
}

}  // namespace

struct SpectrumKernel::Closed {
  // The part of k_t for a packet of samples against one sample: pointers into their tables of input t.
  template <int power, bool geometric, bool with_levels>
  static Packet part(const SpectrumKernel& kernel, const double* a, const double* c, Index t) {
    Packet k = packet::zero();
    if constexpr (power > 0) {
      k = closed_polynomial<power>(packet::load(a), packet::broadcast(*c), kernel.cubic_.data() + 4 * t);
      a += kPanel;
      c += kPanel;
    }
    if constexpr (geometric) {
      for (const Geometric& g : kernel.geometric_)
        k = packet::add(k, closed_geometric(packet::load(a), packet::load(a + kPanel), packet::broadcast(c[0]),
                                            packet::broadcast(c[kPanel]), g.ratio, g.weights[size_of(t)]));
      a += 2 * kPanel;
      c += 2 * kPanel;
    }
    if constexpr (with_levels) {
      const Packet equal = packet::one_where_equal(packet::load(a), packet::broadcast(c[0]));
      const Packet left = packet::mul(packet::load(a + 2 * kPanel), packet::broadcast(c[kPanel]));
      const Packet right = packet::mul(packet::load(a + kPanel), packet::broadcast(c[2 * kPanel]));
      const Packet kappa = packet::add(equal, packet::add(left, right));
      k = packet::fma(packet::broadcast(kernel.level_weights_[size_of(t)]), kappa, packet::zero_where_nan(k));
    }
    return k;
  }
};

// Column by column, the product over the inputs in registers.
template <int power, bool geometric, bool with_levels>
void SpectrumKernel::evaluate_closed(const double* left, const double* right, Index n_columns, double* values) const {
  const Index step = rows_ * kPanel;
  for (Index j = 0; j < n_columns; ++j) {
    Packet product[kVectors];
    for (int v = 0; v < kVectors; ++v) product[v] = packet::zero();
    for (Index t = 0; t < n_inputs_; ++t) {
      GEGENBAUER_UNROLL(3)
      for (int v = 0; v < kVectors; ++v)
        product[v] = times_one_plus(product[v], Closed::part<power, geometric, with_levels>(
                                                    *this, left + t * step + v * kPacket, right + t * step + j, t));
    }
    for (int v = 0; v < kVectors; ++v) packet::store(values + j * kPanel + v * kPacket, product[v]);
  }
}

// A product of panels for each input; the product over the inputs grows in `values`.
template <int power, bool geometric, bool with_levels>
void SpectrumKernel::evaluate_with_sums(const double* left, const double* right, Index n_columns,
                                        double* values) const {
  const Index step = rows_ * kPanel;
  const Index sums = first_sum_row_ * kPanel;
  for (Index group = 0; group < n_columns; group += kColumns) {
    double* out = values + group * kPanel;
    std::fill_n(out, kColumns * kPanel, 0.0);
    for (Index t = 0; t < n_inputs_; ++t) {
      const double* a = left + t * step;
      const double* c = right + t * step + group;
      const RegisterTile tile = multiply_panels(a + sums, c + sums, n_degrees_);
      for (int j = 0; j < kColumns; ++j) {
        for (int v = 0; v < kVectors; ++v) {
          double* value = out + j * kPanel + v * kPacket;
          const Packet k = packet::add(tile.acc[j][v],
                                       Closed::part<power, geometric, with_levels>(*this, a + v * kPacket, c + j, t));
          packet::store(value, times_one_plus(packet::load(value), k));
        }
      }
    }
  }
}

void SpectrumKernel::evaluate(const double* left, const double* right, Index n_columns, double* values,
                              double* /*scratch*/) const {
  const auto with = [&]<int power, bool geometric, bool with_levels>() {
    if (n_degrees_ > 0) {
      evaluate_with_sums<power, geometric, with_levels>(left, right, n_columns, values);
    } else {
      evaluate_closed<power, geometric, with_levels>(left, right, n_columns, values);
    }
  };
  const auto with_closed = [&]<int power, bool geometric>() {
    return !spectrum_.has_levels() ? with.template operator()<power, geometric, false>()
                                   : with.template operator()<power, geometric, true>();
  };
  const auto with_power = [&]<int power>() {
    return geometric_.empty() ? with_closed.template operator()<power, false>()
                              : with_closed.template operator()<power, true>();
  };
  switch (power_) {
    case 0:
      return with_power.operator()<0>();
    case 1:
      return with_power.operator()<1>();
    case 2:
      return with_power.operator()<2>();
    default:
      return with_power.operator()<3>();
  }
}

}  // namespace gegenbauer
