#include "gegenbauer/input_functions.hpp"

#include <algorithm>
#include <cmath>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// Degrees of the polynomials among the functions of each input
std::vector<Index> polynomial_degrees(std::vector<Index> degrees, const std::optional<Spectrum>& spectrum) {
  if (!spectrum || !spectrum->has_levels()) return degrees;
  const auto n_inputs = static_cast<Index>(degrees.size());
  require(spectrum->n_inputs() == n_inputs, "the spectrum has ", spectrum->n_inputs(), " inputs, not ", n_inputs);
  for (Index t = 0; t < n_inputs; ++t) {
    Index& degree = degrees[size_of(t)];
    require(degree <= spectrum->n_functions(t), "input ", t, " has ", spectrum->n_functions(t), " functions, not ",
            degree);
    degree = std::max<Index>(0, degree - spectrum->n_contrasts(t));
  }
  return degrees;
}

}  // namespace

InputFunctions::InputFunctions(double lam, const std::vector<Index>& degrees, Normalization normalization,
                               const std::optional<Spectrum>& spectrum)
    : recurrences_(lam, polynomial_degrees(degrees, spectrum), normalization, spectrum) {
  if (!spectrum || !spectrum->has_levels()) return;
  std::vector<Index> most(size_of(spectrum->n_groups()), 0);
  for (Index t = 0; t < static_cast<Index>(degrees.size()); ++t) {
    group_.push_back(spectrum->group(t));
    Index& degree = most[size_of(group_.back())];
    degree = std::max(degree, degrees[size_of(t)]);
  }
  for (Index group = 0; group < spectrum->n_groups(); ++group) {
    const Index input = spectrum->representative(group);
    Contrasts own{spectrum->levels()[size_of(input)], {}};
    const Index n_contrasts = spectrum->n_contrasts(input);
    // those of a number come before its polynomials
    const Index used = own.levels.numeric ? n_contrasts : std::min(most[size_of(group)], n_contrasts);
    own.values = std::sqrt(spectrum->contrast_weight(input)) * level_contrasts(own.levels, used).transpose();
    contrasts_.push_back(std::make_shared<const Contrasts>(std::move(own)));
  }
}

Index InputFunctions::degree(Index input) const {
  const Index n_polynomials = have_levels() && !table(input).levels.numeric ? 0 : recurrences_[input].degree();
  return n_contrasts(input) + n_polynomials;
}

double InputFunctions::bound(Index input, Index n) const {
  const Index n_contrasts = this->n_contrasts(input);
  if (n == 0 || n > n_contrasts) return recurrences_[input].bound(n == 0 ? 0 : n - n_contrasts);
  return table(input).values.row(n - 1).cwiseAbs().maxCoeff();
}

void InputFunctions::evaluate_with_levels(Index input, const double* x, Index count, Index up_to, double* values,
                                          Index stride) const {
  const Index n_contrasts = std::min(up_to, this->n_contrasts(input));
  if (n_contrasts > 0) {
    for (Index s = 0; s < count; ++s) {
      const double* own = contrasts(input, x[s]);
      for (Index n = 0; n < n_contrasts; ++n) values[n * stride + s] = own == nullptr ? 0.0 : own[n];
    }
  }
  const Index n_polynomials = up_to - n_contrasts;
  if (n_polynomials == 0) return;
  double* polynomials = values + n_contrasts * stride;
  recurrences_[input].evaluate_from_one(x, count, n_polynomials, polynomials, stride);
  for (Index n = 0; n < n_polynomials; ++n)
    for (Index s = 0; s < count; ++s)
      if (std::isnan(x[s])) polynomials[n * stride + s] = 0.0;
}

}  // namespace gegenbauer
