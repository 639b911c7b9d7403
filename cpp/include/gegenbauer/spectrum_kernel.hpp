#pragma once
/// The kernel of all terms of a spectrum: K(x, z) = prod over inputs t of 1 + k_t, where
/// k_t = sum over n >= 1 of v_t(n) phi_n(x_t) phi_n(z_t), with phi_n orthonormal on [-1, 1] (see polynomial.hpp) and
/// the squared weights v_t(n) of the spectrum.
///
/// For lam = 0 some components have closed forms. With phi_n phi_n = cos n(a - c) + cos n(a + c) for a = arccos x_t,
/// c = arccos z_t, a component makes b(|a - c|) + b(a + c), where b is, for y = pi - u and w = y^2,
///   n^-2: w/4 - pi^2/12;  n^-4: (-w^2 + 2 pi^2 w - 7 pi^4/15) / 48;
///   n^-6: (w^3 - 5 pi^2 w^2 + 7 pi^4 w - 31 pi^6/21) / 1440;
///   r^(n-1): (1 - r - 2 h) / ((1 - r)^2 + 4 r h) with h = sin^2(u / 2).
/// All these power components of an input are one cubic in w, and so are the squared norms of raw polynomials with
/// lam = 0, which are 2 n^-2. Other components, and other lam, are summed up to a number of
/// degrees N that is chosen such that the rest is below 1e-13 of the largest value of the sum, as one product of panels
/// an input.
///
/// Inputs may have levels, of which each sample has one: those of a category, or being missing for a number. Then k_t
/// has (sum over j of q_tj) kappa_t(l, l') more (see levels.hpp). Missing numbers are NaN and have all phi_n = 0,
/// n >= 1; NaN in a category is a level that is not known, for which kappa is 0 as well.

#include <vector>

#include "gegenbauer/kernel.hpp"
#include "gegenbauer/polynomial.hpp"
#include "gegenbauer/spectrum.hpp"

namespace gegenbauer {

class SpectrumKernel final : public ProductKernel {
 public:
  /// Most degrees that are summed without a request.
  static constexpr Index kMaxDegrees = 1000;

  /// With max_degree > 0 the spectrum itself ends at that degree, and no closed form is used. Throws
  /// std::invalid_argument when the sum diverges or needs more than kMaxDegrees degrees.
  SpectrumKernel(Spectrum spectrum, double lam, Index max_degree = 0);

  /// Numbers that such a kernel keeps of each input, for callers that reserve memory first; throws as the constructor
  /// does.
  [[nodiscard]] static Index numbers_an_input(const Spectrum& spectrum, double lam, Index max_degree);

  /// Degrees that are summed one by one; 0 when all components have closed forms.
  [[nodiscard]] Index n_degrees() const { return n_degrees_; }

  [[nodiscard]] const Spectrum& spectrum() const { return spectrum_; }
  [[nodiscard]] double lam() const { return lam_; }
  [[nodiscard]] Index max_degree() const { return max_degree_; }  ///< 0: not ended
  [[nodiscard]] const std::vector<Levels>& levels() const { return spectrum_.levels(); }

  [[nodiscard]] Index n_inputs() const override { return n_inputs_; }
  [[nodiscard]] Index table_size() const override { return n_inputs_ * rows_; }
  [[nodiscard]] double pair_cost() const override;
  /// Throws std::invalid_argument for an input outside of [-1, 1] by more than rounding, and for NaN without levels.
  void tabulate(const double* x, Index first_row, double* table) const override;
  void evaluate(const double* left, const double* right, Index n_columns, double* values,
                double* scratch) const override;

 private:
  struct Closed;  // the parts with closed forms
  struct Geometric {
    double ratio;
    std::vector<double> weights;  // of each input
  };

  void find_level_weights();
  void tabulate_levels(const double* x, Index t, double* rows) const;
  template <int power, bool geometric, bool with_levels>
  void evaluate_closed(const double* left, const double* right, Index n_columns, double* values) const;
  template <int power, bool geometric, bool with_levels>
  void evaluate_with_sums(const double* left, const double* right, Index n_columns, double* values) const;

  Spectrum spectrum_;
  Index n_inputs_;
  double lam_;
  Index max_degree_;
  int power_ = 0;              // degree in w of the closed power components; 0: there are none
  std::vector<double> cubic_;  // 4 coefficients an input, the constant one doubled
  std::vector<Geometric> geometric_;
  Index n_degrees_ = 0;
  Recurrence recurrence_;              // of the degrees that are summed
  std::vector<double> roots_;          // sqrt v_t(n), n_degrees_ an input
  std::vector<double> level_weights_;  // of each input: sum_j q_tj / (1 - sum p^2); 0 without levels
  // Rows of the table of one input: angle; sine, cosine of its half; level, whether it is known, its offset; weighted
  // phi_n
  Index first_sum_row_ = 0;
  Index rows_ = 0;
};

/// Refuses inputs of kPanel samples outside of [-1, 1]; what is a rounding error outside is let pass, and NaN where
/// numbers may be missing.
void require_inside(const double* x, Index column, Index first_row, bool may_be_missing);

}  // namespace gegenbauer
