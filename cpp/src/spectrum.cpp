#include "gegenbauer/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// |C_1^lam|^2, and what leads from |C_{n-1}^lam|^2 to |C_n^lam|^2. The former alone vanishes at lam = 0.
double first_norm(double lam) { return (lam == 0.0 ? 2.0 : 2.0 * lam * lam) / (1.0 + lam); }
double norm_ratio(double lam, double n) { return ((n - 1.0) + 2.0 * lam) / n * ((n - 1.0) + lam) / (n + lam); }

void validate(const SpectrumComponent& c, Index n_inputs) {
  switch (c.kind) {
    case SpectrumComponent::Kind::power:
      require(std::isfinite(c.parameter) && c.parameter >= 0, "`smoothness` (s) must be finite and not negative, got ",
              c.parameter);
      break;
    case SpectrumComponent::Kind::geometric:
      require(c.parameter > 0 && c.parameter < 1, "`ratio` (r) must lie between 0 and 1, got ", c.parameter);
      break;
    case SpectrumComponent::Kind::gegenbauer:
      require(std::isfinite(c.parameter) && c.parameter > -0.5, "`lam` must be a finite number greater than -1/2, got ",
              c.parameter);
  }
  const auto size = static_cast<Index>(c.weights.size());
  require(size == 1 || size == n_inputs, "a component must have one weight for all inputs, or one an input (", n_inputs,
          "), got ", size);
  for (const double q : c.weights)
    require(std::isfinite(q) && q >= 0, "`interaction` (q) must be finite and not negative, got ", q);
}

}  // namespace

std::vector<double> SpectrumComponent::decay(Index degree, double exponent) const {
  std::vector<double> values(size_of(degree) + 1, 1.0);
  double norm = first_norm(parameter);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto n = static_cast<double>(i);
    switch (kind) {
      case Kind::power:
        values[i] = std::pow(n, -2.0 * parameter * exponent);
        break;
      case Kind::geometric:
        values[i] = std::pow(parameter, (n - 1.0) * exponent);
        break;
      case Kind::gegenbauer:
        if (i > 1) norm *= norm_ratio(parameter, n);
        values[i] = std::pow(norm, exponent);
    }
  }
  return values;
}

std::vector<double> SpectrumComponent::log_decay(Index degree) const {
  std::vector<double> values(size_of(degree) + 1, 0.0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto n = static_cast<double>(i);
    switch (kind) {
      case Kind::power:
        values[i] = -2.0 * parameter * std::log(n);
        break;
      case Kind::geometric:
        values[i] = (n - 1.0) * std::log(parameter);
        break;
      case Kind::gegenbauer:
        values[i] = i == 1 ? std::log(first_norm(parameter)) : values[i - 1] + std::log(norm_ratio(parameter, n));
    }
  }
  return values;
}

Spectrum::Spectrum(Index n_inputs, std::vector<SpectrumComponent> components, std::vector<Levels> levels)
    : n_inputs_(n_inputs), components_(std::move(components)) {
  constexpr Index most = 10'000'000;
  require(n_inputs >= 1, "`n_features` must be at least 1, got ", n_inputs);
  require(n_inputs <= most, "`n_features` must be at most ", most, ", got ", n_inputs);
  require(!components_.empty(), "a spectrum needs at least one component");
  levels_ = checked_levels(std::move(levels), n_inputs);
  for (const Levels& one : levels_) n_contrasts_.push_back(one.n_contrasts());
  bool alike = levels_.empty();
  for (const SpectrumComponent& c : components_) {
    validate(c, n_inputs);
    alike = alike && std::all_of(c.weights.begin(), c.weights.end(), [&](double q) { return q == c.weights.front(); });
  }
  if (alike) {
    representatives_.push_back(0);
    return;
  }
  const auto n_components = static_cast<Index>(components_.size());
  std::map<std::vector<double>, std::int32_t> known;
  groups_.reserve(size_of(n_inputs));
  for (Index t = 0; t < n_inputs; ++t) {
    std::vector<double> q;
    for (Index j = 0; j < n_components; ++j) q.push_back(interaction(j, t));
    if (!levels_.empty()) {
      const auto& [shares, numeric] = levels_[size_of(t)];
      q.push_back(numeric ? 1.0 : 0.0);
      q.insert(q.end(), shares.begin(), shares.end());
    }
    const auto [place, is_new] = known.try_emplace(std::move(q), static_cast<std::int32_t>(representatives_.size()));
    if (is_new) representatives_.push_back(t);
    groups_.push_back(place->second);
  }
}

std::vector<Index> Spectrum::components_of(Index input) const {
  std::vector<Index> found;
  for (Index j = 0; j < static_cast<Index>(components_.size()); ++j)
    if (interaction(j, input) > 0) found.push_back(j);
  return found;
}

double Spectrum::contrast_weight(Index input) const {
  double sum = 0.0;
  for (Index j = 0; j < static_cast<Index>(components_.size()); ++j) sum += interaction(j, input);
  return sum;
}

bool Spectrum::uses(Index input) const {
  if (n_functions(input) == 0) return false;
  for (Index j = 0; j < static_cast<Index>(components_.size()); ++j)
    if (interaction(j, input) > 0) return true;
  return false;
}

std::vector<double> Spectrum::squared_weights(Index input, Index degree) const {
  std::vector<double> values(size_of(degree) + 1, 0.0);
  for (const Index j : components_of(input)) {
    const std::vector<double> c = components_[size_of(j)].decay(degree);
    for (std::size_t n = 1; n < values.size(); ++n) values[n] += interaction(j, input) * c[n];
  }
  values[0] = 1.0;
  return values;
}

std::vector<double> Spectrum::weights(Index input, Index degree) const {
  const std::vector<Index> used = components_of(input);
  std::vector<double> values;
  if (used.size() == 1) {
    values = components_[size_of(used[0])].decay(degree, 0.5);
    const double root = std::sqrt(interaction(used[0], input));
    for (std::size_t n = 1; n < values.size(); ++n) values[n] *= root;
  } else {
    values = squared_weights(input, degree);
    for (double& value : values) value = std::sqrt(value);
  }
  return values;
}

std::vector<double> Spectrum::log_squared_weights(Index input, Index degree) const {
  std::vector<double> largest(size_of(degree) + 1, -HUGE_VAL);
  std::vector<std::vector<double>> logs;
  for (const Index j : components_of(input)) {
    logs.push_back(components_[size_of(j)].log_decay(degree));
    for (std::size_t n = 1; n < largest.size(); ++n) {
      logs.back()[n] += std::log(interaction(j, input));
      largest[n] = std::max(largest[n], logs.back()[n]);
    }
  }
  std::vector<double> values(largest.size(), 0.0);
  for (std::size_t n = 1; n < values.size(); ++n) {
    double sum = 0.0;  // relative to the largest part, so that none is out of range
    for (const std::vector<double>& log : logs) sum += std::exp(log[n] - largest[n]);
    values[n] = logs.empty() ? -HUGE_VAL : largest[n] + std::log(sum);
  }
  return values;
}

std::vector<double> Spectrum::log_function_variances(Index input, Index last) const {
  const Index n_contrasts = std::min(last, this->n_contrasts(input));
  std::vector<double> values = log_squared_weights(input, last - n_contrasts);
  if (n_contrasts == 0) return values;
  std::vector<double> contrasts = contrast_variances(levels_[size_of(input)], n_contrasts);
  for (double& value : contrasts) value = std::log(contrast_weight(input)) + std::log(value);
  values.insert(values.begin() + 1, contrasts.begin(), contrasts.end());
  return values;
}

}  // namespace gegenbauer
