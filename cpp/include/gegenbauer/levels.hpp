#pragma once
/// Levels of an input: those of a category, of which each sample has one, or being given and missing for a number.
///
/// With shares p of the samples, levels enter a kernel by
///   kappa(l, l') = ([l = l'] - p_l - p_l' + sum p^2) / (1 - sum p^2),
/// [l = l'] with its mean taken out on both sides, divided by its mean on the diagonal. It is the sum over contrasts
///   kappa(l, l') = sum over k of c_k(l) c_k(l'),   c_k(l) = h_k'(e_l - p) / sqrt(1 - sum p^2),
/// for any orthonormal basis h_k of the vectors with a sum of zero. Here these are the eigenvectors of the covariance
/// diag(p) - p p' of e_l among such vectors, by falling variance: contrasts have a mean of zero and are uncorrelated,
/// and the first ones carry most.

#include <vector>

#include "gegenbauer/sizes.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

/// What an input has beside numbers, or in their place.
struct Levels {
  /// Shares of the samples, one a level, at least two of them positive; none: the input has no levels.
  std::vector<double> shares;
  /// Whether the input holds numbers, whose two levels are: given, missing. Else x is a level: those of n levels lie at
  /// equal distances from -1 to 1.
  bool numeric = true;

  /// 1 - sum p^2, without cancellation; 0 where there is one level alone, or none.
  [[nodiscard]] double spread() const;

  /// Contrasts that there are: one less than levels, and none without a spread.
  [[nodiscard]] Index n_contrasts() const { return spread() > 0 ? static_cast<Index>(shares.size()) - 1 : 0; }

  /// The level of an input x, or -1 for NaN in a category: a level that is not known. Of an input with levels.
  [[nodiscard]] Index level(double x) const;
};

/// Levels of inputs, none or one entry an input, with shares that are divided by their sum. Throws
/// std::invalid_argument for what describes no levels.
[[nodiscard]] std::vector<Levels> checked_levels(std::vector<Levels> levels, Index n_inputs);

/// c(l, k) = c_{k+1}(l), shape (n_levels, up_to), of the first contrasts; up_to <= n_contrasts(). Levels with a larger
/// share have a positive value in the contrast that sets them apart from the rest, of equal shares the later one. The
/// eigenvectors have closed forms but for the roots of a secular equation: levels with equal shares p have contrasts
/// among themselves, of the eigenvalue p, and between neighbouring shares lies the root s of sum over l of
/// p_l / (p_l - s), with the eigenvector p_l / (p_l - s). So nothing depends on the rounding of an eigensolver, not
/// even for shares that are equal or nearly so. Cost O(n_levels) a contrast, some 60 times that for those of roots.
[[nodiscard]] Matrix level_contrasts(const Levels& levels, Index up_to);

/// The variances of these contrasts over the samples, falling; those of all sum to one. Cost as above.
[[nodiscard]] std::vector<double> contrast_variances(const Levels& levels, Index up_to);

}  // namespace gegenbauer
