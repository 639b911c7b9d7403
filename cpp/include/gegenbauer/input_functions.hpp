#pragma once
/// The univariate functions f_1, f_2, ... of each input, of which terms are products: the polynomials of a number; the
/// contrasts of the levels of a category; of a number that may be missing first the contrast of given and missing, then
/// its polynomials, which are 0 where it is missing. Weights of the spectrum are folded in.

#include <memory>
#include <optional>
#include <vector>

#include "gegenbauer/levels.hpp"
#include "gegenbauer/polynomial.hpp"
#include "gegenbauer/spectrum.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

class InputFunctions {
 public:
  /// Polynomials alone.
  InputFunctions(Recurrences recurrences)
      : recurrences_(std::move(recurrences)) {}                                   // NOLINT(google-explicit-constructor)
  InputFunctions(Recurrence recurrence) : recurrences_(std::move(recurrence)) {}  // NOLINT(google-explicit-constructor)

  /// Up to f_n of each input with n as given, at least. Levels are those of the spectrum, whose contrasts have
  /// the squared weight Spectrum::contrast_weight. Throws std::invalid_argument when an input has not so many
  /// functions.
  InputFunctions(double lam, const std::vector<Index>& degrees, Normalization normalization,
                 const std::optional<Spectrum>& spectrum);

  [[nodiscard]] const Recurrences& recurrences() const { return recurrences_; }

  /// Whether any input has levels. Else f_n is the polynomial of degree n.
  [[nodiscard]] bool have_levels() const { return !contrasts_.empty(); }

  /// Contrasts among the functions of an input, which come before its polynomials.
  [[nodiscard]] Index n_contrasts(Index input) const {
    return have_levels() ? static_cast<Index>(table(input).values.rows()) : 0;
  }

  /// Largest n there is of an input.
  [[nodiscard]] Index degree(Index input) const;

  /// Largest |f_n| on [-1, 1], up to a factor of two for polynomials.
  [[nodiscard]] double bound(Index input, Index n) const;

  /// values[(n - 1) * stride + s] = f_n(x[s]) for n = 1..up_to, s = 0..count-1. Cost 3 flops a value of a polynomial,
  /// one read for that of a contrast. With levels, NaN is a number that is missing, or a level that is not known.
  void evaluate_from_one(Index input, const double* x, Index count, Index up_to, double* values, Index stride) const {
    if (have_levels()) {
      evaluate_with_levels(input, x, count, up_to, values, stride);
    } else {
      recurrences_[input].evaluate_from_one(x, count, up_to, values, stride);
    }
  }

  /// f_n(x) for n = 1..n_contrasts(input), or null where all are 0: a level that is not known. Of a basis with levels.
  [[nodiscard]] const double* contrasts(Index input, double x) const {
    const Contrasts& own = table(input);
    if (own.values.rows() == 0) return nullptr;
    const Index level = own.levels.level(x);
    return level < 0 ? nullptr : own.values.data() + level * own.values.rows();
  }

 private:
  struct Contrasts {
    Levels levels;
    Matrix values;  // (n_contrasts, n_levels), with weights
  };

  [[nodiscard]] const Contrasts& table(Index input) const { return *contrasts_[size_of(group_[size_of(input)])]; }
  void evaluate_with_levels(Index input, const double* x, Index count, Index up_to, double* values, Index stride) const;

  Recurrences recurrences_;
  std::vector<std::shared_ptr<const Contrasts>> contrasts_;  // of each group of the spectrum; none without levels
  std::vector<Index> group_;                                 // of each input
};

}  // namespace gegenbauer
