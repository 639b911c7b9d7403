#pragma once
/// The spectrum: the weight of every degree of every input. Input t and degree n >= 1 have the squared weight
///     v_t(n) = sum over components j of q_tj c_j(n),   v_t(0) = 1,
/// and the term k has the squared weight prod over t of v_t(k_t) on products of orthonormal polynomials. The weights of
/// finite sets, the sets of largest weight and the kernel of all terms follow from it.
///
/// Inputs may have levels beside the polynomials, or in their place. Their contrasts all have the squared weight
/// q_t = sum over j of q_tj: one weight for a whole category. The functions f_1, f_2, ... of an input are its contrasts
/// and then its polynomials from degree 1 on, if it is a number.

#include <cstdint>
#include <limits>
#include <vector>

#include "gegenbauer/levels.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

struct SpectrumComponent {
  enum class Kind {
    power,      ///< c(n) = n^-2s, s >= 0
    geometric,  ///< c(n) = r^(n-1), 0 < r < 1
    gegenbauer  ///< c(n) = |C_n^lam|^2, so that raw polynomials are the orthonormal ones with q = 1; lam > -1/2
  };
  Kind kind = Kind::power;
  double parameter = 1.0;       ///< s, r or lam
  std::vector<double> weights;  ///< q >= 0, one an input or one for all of them

  /// c(n)^exponent for n = 0..degree, with 1 for n = 0. |C_n^lam|^2 is that for the probability density proportional to
  /// (1 - x^2)^(lam - 1/2), at lam = 0 that of the limit C_n^lam / lam, which is 2 / n^2.
  [[nodiscard]] std::vector<double> decay(Index degree, double exponent = 1.0) const;

  /// log c(n) for n = 0..degree.
  [[nodiscard]] std::vector<double> log_decay(Index degree) const;
};

class Spectrum {
 public:
  /// Throws std::invalid_argument for numbers out of their ranges, and for other numbers of weights than 1 or n_inputs.
  /// Without levels (one entry an input) numbers may not be missing.
  Spectrum(Index n_inputs, std::vector<SpectrumComponent> components, std::vector<Levels> levels = {});

  [[nodiscard]] Index n_inputs() const { return n_inputs_; }
  [[nodiscard]] const std::vector<SpectrumComponent>& components() const { return components_; }

  /// q_tj.
  [[nodiscard]] double interaction(Index component, Index input) const {
    const std::vector<double>& q = components_[size_of(component)].weights;
    return q[q.size() == 1 ? 0 : size_of(input)];
  }

  [[nodiscard]] bool has_levels() const { return !levels_.empty(); }
  [[nodiscard]] const std::vector<Levels>& levels() const { return levels_; }

  /// Contrasts among the functions of an input, before the polynomials; and the squared weight of each.
  [[nodiscard]] Index n_contrasts(Index input) const { return levels_.empty() ? 0 : n_contrasts_[size_of(input)]; }
  [[nodiscard]] double contrast_weight(Index input) const;

  /// Functions of an input.
  [[nodiscard]] Index n_functions(Index input) const {
    if (levels_.empty() || levels_[size_of(input)].numeric) return std::numeric_limits<Index>::max();
    return n_contrasts(input);
  }

  /// Inputs of equal weights and levels are of one group and share what is made of these. Groups are numbered as they
  /// come.
  [[nodiscard]] Index n_groups() const { return static_cast<Index>(representatives_.size()); }
  [[nodiscard]] Index group(Index input) const { return groups_.empty() ? 0 : groups_[size_of(input)]; }

  /// The first input of a group.
  [[nodiscard]] Index representative(Index group) const { return representatives_[size_of(group)]; }

  /// Whether any function of an input has a weight.
  [[nodiscard]] bool uses(Index input) const;

  /// v_t(n) for n = 0..degree.
  [[nodiscard]] std::vector<double> squared_weights(Index input, Index degree) const;

  /// Their square roots, also where v_t(n) itself is below the range of float64 if there is one component.
  [[nodiscard]] std::vector<double> weights(Index input, Index degree) const;

  /// log v_t(n), of any size; -infinity where v_t(n) is 0.
  [[nodiscard]] std::vector<double> log_squared_weights(Index input, Index degree) const;

  /// The same for the functions f_n, n = 0..last <= n_functions(input), times the variance of a contrast over the
  /// samples, where that of a polynomial is one: by how much each is expected to matter.
  [[nodiscard]] std::vector<double> log_function_variances(Index input, Index last) const;

 private:
  [[nodiscard]] std::vector<Index> components_of(Index input) const;

  Index n_inputs_;
  std::vector<SpectrumComponent> components_;
  std::vector<Levels> levels_;        // of each input, or none
  std::vector<Index> n_contrasts_;    // theirs
  std::vector<std::int32_t> groups_;  // of each input; none when all are alike
  std::vector<Index> representatives_;
};

}  // namespace gegenbauer
