#pragma once
/// Univariate Gegenbauer polynomials C_n^lam by their three-term recurrence (paper: eq.gegenbauerrecurrence), raw or
/// orthonormal, with an optional weight a degree folded into the recurrence; and the recurrences of several inputs.

#include <cstdint>
#include <optional>
#include <vector>

#include "gegenbauer/sizes.hpp"
#include "gegenbauer/spectrum.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

enum class Normalization {
  raw,         ///< C_n^lam as in the paper; at lam = 0 the limit C_n^lam / lam, that is (2/n) T_n for n >= 1
  chebyshev,   ///< T_n, whatever lam: the basis of the moments
  orthonormal  ///< unit norm for the probability density proportional to (1 - x^2)^(lam - 1/2) on [-1, 1]
};

/// The substitution of scale x + shift for x.
struct Substitution {
  double scale = 1.0;
  double shift = 0.0;

  [[nodiscard]] bool is_identity() const { return scale == 1.0 && shift == 0.0; }
};

/// p_0 = 1, p_1 = slope[1] x, p_n = slope[n] x p_{n-1} - drop[n] p_{n-2}.
class Recurrence {
 public:
  /// lam > -1/2, finite; degree >= 0. With weights, for the degrees 0..degree, p_n comes out times weights[n]; the
  /// first is 1. Throws std::invalid_argument when a value on [-1, 1] leaves the range of float64.
  Recurrence(double lam, Index degree, Normalization normalization, const std::vector<double>& weights = {});

  [[nodiscard]] Index degree() const { return static_cast<Index>(slope_.size()) - 1; }

  /// Coefficient of x p_{n-1} in p_n, n >= 1.
  [[nodiscard]] double slope(Index n) const { return slope_[size_of(n)]; }

  /// Coefficient of p_{n-2} in p_n with the sign turned, n >= 2.
  [[nodiscard]] double drop(Index n) const { return drop_[size_of(n)]; }

  /// Largest |p_n| on [-1, 1], up to a factor of two (exactly the value at 1 for lam >= 0).
  [[nodiscard]] double bound(Index n) const { return bound_[size_of(n)]; }

  /// c with p_n(scale x + shift) = sum over j <= n of c(n, j) p_j(x), shape (degree + 1, degree + 1). Where the map
  /// takes
  /// [-1, 1] into itself, orthonormal polynomials have small coefficients, and nothing is lost. Cost O(degree^2).
  [[nodiscard]] Matrix substituted(Substitution map) const;

  /// values[n * stride + s] = p_n(x[s]) for n = 0..degree, s = 0..count-1. Cost 3 flops a value.
  void evaluate(const double* x, Index count, double* values, Index stride) const;

  /// The same for one input of a table that leaves degree 0 out: row n - 1 holds p_n, n = 1..up_to <= degree.
  void evaluate_from_one(const double* x, Index count, Index up_to, double* values, Index stride) const;

 private:
  std::vector<double> slope_;
  std::vector<double> drop_;
  std::vector<double> bound_;
};

/// The recurrence of each input, one for all inputs of equal weights.
class Recurrences {
 public:
  /// The same for all inputs.
  Recurrences(Recurrence recurrence) : recurrences_{std::move(recurrence)} {}  // NOLINT(google-explicit-constructor)

  /// Up to the degree of each input at least. A spectrum gives weights to the degrees.
  Recurrences(double lam, const std::vector<Index>& degrees, Normalization normalization,
              const std::optional<Spectrum>& spectrum);

  [[nodiscard]] const Recurrence& operator[](Index input) const {
    return recurrences_[group_.empty() ? 0 : size_of(group_[size_of(input)])];
  }

 private:
  std::vector<Recurrence> recurrences_;
  std::vector<std::int32_t> group_;  // of each input; none when all are alike
};

/// Recurrence of the polynomials that are orthonormal under a discrete distribution of nodes x, |x| <= 1, and weights
/// w > 0 of any sum: x p_k = b_k p_{k+1} + a_k p_k + b_{k-1} p_{k-1}, by Stieltjes' procedure, each polynomial made
/// orthogonal to the last one twice. Row k of the result holds (a_k, b_k), k < n; there are fewer rows where b_k falls
/// to `resolution`, for then the distribution has no further node. Cost 14 flops a node and row.
[[nodiscard]] Matrix orthonormal_recurrence(const Vector& x, const Vector& weights, Index n, double resolution);

}  // namespace gegenbauer
