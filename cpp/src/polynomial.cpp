#include "gegenbauer/polynomial.hpp"

#include <algorithm>
#include <cmath>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// Squared off-diagonal entry b_n^2 of the Jacobi matrix of the weight (1 - x^2)^(lam - 1/2). The general formula
// n (n + 2 lam - 1) / (4 (n + lam) (n + lam - 1)) is 0/0 at n = 1, lam = 0; its limit holds for every lam.
double jacobi_squared(double lam, double n) {
  if (n == 1) return 1.0 / (2.0 * (1.0 + lam));
  return n * ((n - 1.0) + 2.0 * lam) / (4.0 * (n + lam) * (n + lam - 1.0));
}

}  // namespace

Recurrence::Recurrence(double lam, Index degree, Normalization normalization, const std::vector<double>& weights) {
  require(std::isfinite(lam) && lam > -0.5, "`lam` must be a finite number greater than -1/2, got ", lam);
  require(degree >= 0, "`degree` must be at least 0, got ", degree);
  const auto size = size_of(degree) + 1;
  require(weights.empty() || weights.size() == size, "weights must have ", size, " entries, got ", weights.size());
  slope_.assign(size, 0.0);
  drop_.assign(size, 0.0);
  const bool chebyshev_limit = normalization == Normalization::raw && lam == 0.0;
  for (std::size_t i = 1; i < size; ++i) {
    const auto n = static_cast<double>(i);
    if (normalization == Normalization::orthonormal) {
      const double b = std::sqrt(jacobi_squared(lam, n));
      slope_[i] = 1.0 / b;
      drop_[i] = i == 1 ? 0.0 : std::sqrt(jacobi_squared(lam, n - 1.0)) / b;
    } else if (chebyshev_limit || normalization == Normalization::chebyshev) {
      // T_n; the factors 2/n of the limit are folded in below
      slope_[i] = i == 1 ? 1.0 : 2.0;
      drop_[i] = i == 1 ? 0.0 : 1.0;
    } else {
      // (n - 2) + 2 lam in this order: n + 2 lam - 2 would cancel at n = 2 for small lam
      slope_[i] = i == 1 ? 2.0 * lam : 2.0 * ((n - 1.0) + lam) / n;
      drop_[i] = i == 1 ? 0.0 : ((n - 2.0) + 2.0 * lam) / n;
    }
  }
  // With q_n = scale_n p_n the recurrence of q has the coefficients slope_n scale_n / scale_{n-1} and
  // drop_n scale_n / scale_{n-2}: weights cost nothing at evaluation.
  const auto scale = [&](std::size_t n) {
    if (n == 0) return 1.0;
    const double value = chebyshev_limit ? 2.0 / static_cast<double>(n) : 1.0;
    return weights.empty() ? value : value * weights[n];
  };
  // Where a weight is 0, those of all higher degrees are.
  const auto ratio = [&](std::size_t n, std::size_t to) { return scale(to) == 0.0 ? 0.0 : scale(n) / scale(to); };
  if (chebyshev_limit || !weights.empty()) {
    for (std::size_t i = 1; i < size; ++i) {
      slope_[i] *= ratio(i, i - 1);
      if (i >= 2) drop_[i] *= ratio(i, i - 2);
    }
  }
  // For lam >= 0 the maximum is at x = 1. For -1/2 < lam < 0 it may lie inside, but the polynomials stay below twice
  // the values of the even ones at 0, which a few probes bound.
  bound_.assign(size, 0.0);
  std::vector<double> values(size);
  for (const double x : {1.0, 0.0, 0.5, 0.25, 0.75, 0.9, 0.97}) {
    evaluate(&x, 1, values.data(), 1);
    for (std::size_t i = 0; i < size; ++i) {
      const double magnitude = std::isfinite(values[i]) ? std::abs(values[i]) : HUGE_VAL;
      bound_[i] = std::max(bound_[i], lam < 0 ? 2 * magnitude : magnitude);
    }
  }
  static constexpr Advice kOfWeighted{Way{"lower", {"`lam`", "`degree`", "the spectrum's q"}}};
  static constexpr Advice kOfPlain{Way{"lower", {"`lam`", "`degree`"}}, Way{"use the orthonormal normalization"}};
  for (std::size_t i = 0; i < size; ++i) {
    require(std::isfinite(bound_[i]), "`lam`, now ", lam, ", and `degree`, now ", degree,
            ", give polynomial values beyond the range of float64 (from degree ", i, " on)",
            weights.empty() ? kOfPlain : kOfWeighted);
  }
}

Matrix Recurrence::substituted(Substitution map) const {
  Matrix c = Matrix::Zero(degree() + 1, degree() + 1);
  c(0, 0) = 1.0;
  for (Index n = 1; n <= degree(); ++n) {
    const auto i = size_of(n);
    for (Index j = 0; j < n; ++j) {
      // x p_j = (p_{j+1} + drop_{j+1} p_{j-1}) / slope_{j+1}
      const auto next = size_of(j) + 1;
      const double share = slope_[i] * c(n - 1, j);
      c(n, j) += map.shift * share;
      if (slope_[next] == 0.0) continue;  // of polynomials without weight
      c(n, j + 1) += map.scale * share / slope_[next];
      if (j > 0) c(n, j - 1) += map.scale * share * drop_[next] / slope_[next];
    }
    if (n > 1) c.row(n) -= drop_[i] * c.row(n - 2);
  }
  return c;
}

void Recurrence::evaluate(const double* x, Index count, double* values, Index stride) const {
  for (Index s = 0; s < count; ++s) values[s] = 1.0;
  if (degree() > 0) evaluate_from_one(x, count, degree(), values + stride, stride);
}

void Recurrence::evaluate_from_one(const double* x, Index count, Index up_to, double* values, Index stride) const {
  for (Index n = 1; n <= up_to; ++n) {
    const double slope = slope_[size_of(n)];
    const double drop = drop_[size_of(n)];
    double* out = values + (n - 1) * stride;
    const double* previous = out - stride;
    const double* before = previous - stride;
    if (n == 1) {
      for (Index s = 0; s < count; ++s) out[s] = slope * x[s];
    } else if (n == 2) {
      for (Index s = 0; s < count; ++s) out[s] = slope * x[s] * previous[s] - drop;
    } else {
      for (Index s = 0; s < count; ++s) out[s] = slope * x[s] * previous[s] - drop * before[s];
    }
  }
}

Recurrences::Recurrences(double lam, const std::vector<Index>& degrees, Normalization normalization,
                         const std::optional<Spectrum>& spectrum) {
  const Index n_groups = spectrum ? spectrum->n_groups() : 1;
  require(!spectrum || spectrum->n_inputs() == static_cast<Index>(degrees.size()), "the spectrum has ",
          spectrum ? spectrum->n_inputs() : 0, " inputs, not ", degrees.size());
  std::vector<Index> most(size_of(n_groups), 0);
  for (std::size_t t = 0; t < degrees.size(); ++t) {
    const Index group = spectrum ? spectrum->group(static_cast<Index>(t)) : 0;
    if (n_groups > 1) group_.push_back(static_cast<std::int32_t>(group));
    Index& degree = most[size_of(group)];
    degree = std::max(degree, degrees[t]);
  }
  for (Index group = 0; group < n_groups; ++group) {
    const Index degree = most[size_of(group)];
    recurrences_.emplace_back(
        lam, degree, normalization,
        spectrum ? spectrum->weights(spectrum->representative(group), degree) : std::vector<double>());
  }
}

Matrix orthonormal_recurrence(const Vector& x, const Vector& weights, Index n, double resolution) {
  require(x.size() == weights.size() && x.size() > 0, "a distribution needs as many weights as nodes, and one node");
  Vector now = weights.cwiseSqrt();  // times the roots of the weights
  now /= now.norm();
  Vector before = Vector::Zero(x.size());
  Vector ahead(x.size());
  Matrix result(n, 2);
  double beside = 0.0;
  for (Index k = 0; k < n; ++k) {
    ahead = x.cwiseProduct(now) - beside * before;
    result(k, 0) = now.dot(ahead);
    ahead -= result(k, 0) * now;
    ahead -= now.dot(ahead) * now;  // of few nodes nothing but rounding is left
    result(k, 1) = beside = ahead.norm();
    if (!(beside > resolution)) return result.topRows(k + 1);
    before.swap(now);
    now = ahead / beside;
  }
  return result;
}

}  // namespace gegenbauer
