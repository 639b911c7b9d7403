#pragma once
/// Sets of multi-indices k = (k_1, ..., k_m) in a named order. No floating-point values of functions here.
///
/// A set is stored as a table of parents: term l is its parent times one univariate factor (input, degree), and the
/// parent comes earlier. All sets are downward closed, so parents exist; memory is 12 bytes a term whatever m is.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "gegenbauer/parallel.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/spectrum.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

enum class IndexSet {
  total_degree,      ///< sum of k_t <= degree
  tensor,            ///< k_t <= degrees[t]
  hyperbolic_cross,  ///< product of (k_t + 1) <= degree + 1
  largest_weight     ///< the n_terms of largest weight in a spectrum
};

/// Within one total degree. All orders are graded: lower total degrees first.
enum class TermOrder {
  grlex,            ///< 20 11 02: larger degrees of earlier inputs first, as in scikit-learn's PolynomialFeatures
  grlex_ascending,  ///< 02 11 20: the reverse
  grevlex           ///< smaller degrees of later inputs first: 200 110 020 101 011 002
};

struct IndexSetSpec {
  Index n_inputs = 1;
  IndexSet kind = IndexSet::total_degree;
  std::optional<Index> degree;      ///< none: the smallest that has n_terms terms
  std::vector<Index> degrees;       ///< tensor, largest_weight: instead of degree, one an input
  std::optional<Index> n_terms;     ///< keep the first n_terms
  std::optional<Index> max_inputs;  ///< at most this many inputs interact in a term
  TermOrder order = TermOrder::grlex;
  /// Its levels bound the degrees of inputs, which count functions there, in every set: no category has more than its
  /// contrasts. Of largest_weight it is the weights, times the variance of a contrast over the samples. In choosing
  /// that set no factor v_t(n) counts as more than one or than that of a lower degree, so that the set is downward
  /// closed. Inputs without weights do not occur.
  std::optional<Spectrum> spectrum;
};

/// A number of terms: exact below 2^63, then the nearest double.
struct TermCount {
  std::uint64_t exact = 0;
  double approximate = 0;
  [[nodiscard]] bool is_exact() const { return exact < (std::uint64_t{1} << 63U); }
};

/// Counts the terms of a set without making it. Throws std::invalid_argument for an inconsistent specification.
[[nodiscard]] TermCount count_terms(const IndexSetSpec& spec);

class MultiIndexSet {
 public:
  /// Most terms that a set may hold; larger requests are refused by number before anything is allocated.
  static constexpr Index kMaxTerms = 100'000'000;

  explicit MultiIndexSet(const IndexSetSpec& spec, const Control& control = Control());

  /// A downward closed set given term by term, each after the terms below it; the first is the constant.
  MultiIndexSet(Index n_inputs, const std::vector<std::vector<std::int32_t>>& terms);

  [[nodiscard]] Index n_inputs() const { return n_inputs_; }
  [[nodiscard]] Index size() const { return static_cast<Index>(parent_.size()); }

  /// Term l >= 1 is term parent(l) times the univariate polynomial of degree(l) in input(l); term 0 is the constant.
  [[nodiscard]] std::int32_t parent(Index l) const { return parent_[size_of(l)]; }
  [[nodiscard]] std::int32_t input(Index l) const { return input_[size_of(l)]; }
  [[nodiscard]] std::int32_t degree(Index l) const { return degree_[size_of(l)]; }

  /// The multi-index of term l, one degree an input.
  [[nodiscard]] std::vector<std::int32_t> exponents(Index l) const;

  /// Largest univariate degree that occurs in input t; in each input.
  [[nodiscard]] Index max_degree(Index t) const { return max_degree_[size_of(t)]; }
  [[nodiscard]] const std::vector<Index>& max_degrees() const { return max_degree_; }

 private:
  void generate_graded(const IndexSetSpec& spec, Index degree, const Control& control);
  void generate_largest_weight(const IndexSetSpec& spec, const Control& control);
  void append(Index parent, Index input, Index degree) {
    parent_.push_back(static_cast<std::int32_t>(parent));
    input_.push_back(static_cast<std::int32_t>(input));
    degree_.push_back(static_cast<std::int32_t>(degree));
    if (parent < 0) return;
    Index& most = max_degree_[size_of(input)];
    most = std::max(most, degree);
  }

  Index n_inputs_;
  std::vector<std::int32_t> parent_;
  std::vector<std::int32_t> input_;
  std::vector<std::int32_t> degree_;
  std::vector<Index> max_degree_;
};

}  // namespace gegenbauer
