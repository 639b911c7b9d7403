#include "gegenbauer/term_grid.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "gegenbauer/chebyshev_form.hpp"
#include "gegenbauer/cost_units.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

bool GridOfFew::exists(const std::vector<Index>& degrees) {
  constexpr Index most = Index{1} << 22;  // nodes, 32 MB a factor
  if (static_cast<Index>(degrees.size()) > kMostInputs) return false;
  Index n_nodes = 1;
  for (const Index degree : degrees) {
    if (degree >= most) return false;
    n_nodes *= AngleAxis::nodes_of(degree);
    if (n_nodes > most) return false;
  }
  return true;
}

double GridOfFew::sums_cost(double n_samples, double n_factors) const {
  constexpr double most_factors = 64;  // which are held for a run of samples
  if (n_factors > most_factors) return std::numeric_limits<double>::infinity();
  const auto nodes = static_cast<double>(grid_.n_nodes());
  return n_samples * (units::kAngle * static_cast<double>(grid_.n_inputs()) +
                      units::kSpreadNode * n_factors * static_cast<double>(grid_.n_taps())) +
         n_factors * (units::kWaveProduct * grid_.waves_cost() +
                      units::kPassedNode * nodes * (1.0 + static_cast<double>(grid_.n_chunks(n_samples))));
}

double GridOfFew::values_cost(double n_samples, double n_functions) const {
  constexpr double most_numbers = 1 << 23;  // 64 MB
  if (n_functions * static_cast<double>(grid_.n_nodes()) > most_numbers) return std::numeric_limits<double>::infinity();
  return n_samples * (units::kAngle * static_cast<double>(grid_.n_inputs()) +
                      units::kReadNode * n_functions * static_cast<double>(grid_.n_taps())) +
         n_functions * units::kWaveProduct * grid_.waves_cost();
}

namespace {

// The waves of the terms of a basis, kept with it.
struct TermGrid {
  explicit TermGrid(const TensorBasis& basis) {
    const MultiIndexSet& indices = basis.indices();
    if (basis.functions().have_levels() || !GridOfFew::exists(indices.max_degrees())) return;
    few.emplace(indices.max_degrees());
    for (Index l = 0; l < basis.n_terms(); ++l) wave.push_back(few->grid().wave_of(indices.exponents(l)));
  }

  std::optional<GridOfFew> few;
  std::vector<Index> wave;  // of each term
};

// Fewer terms and samples than a grid is ever worth need no plan.
bool is_large(const TensorBasis& basis, Index n_samples) {
  return basis.n_inputs() <= GridOfFew::kMostInputs && basis.n_terms() >= 64 && n_samples >= 1024;
}

// Univariate values, then one pass of a term over the samples for each output, and one to evaluate it
double features_cost(const TensorBasis& basis, double n_samples, double n_outputs) {
  return n_samples * (units::kTableEntry * static_cast<double>(basis.n_factors()) +
                      units::kTermPass * static_cast<double>(basis.n_terms()) * (1.0 + n_outputs));
}

}  // namespace

bool predict_from_grid(const TensorBasis& basis, const Samples& samples, StridedView<const double> weights,
                       StridedView<double> out, const Control& control) {
  const Index n_outputs = weights.cols;
  if (n_outputs == 0 || !is_large(basis, samples.rows()) || !may_be_inside(samples)) return false;
  const auto& [few, wave] = basis.plan<TermGrid>();
  const auto k = static_cast<double>(n_outputs);
  const auto n_samples = static_cast<double>(samples.rows());
  if (!few || few->values_cost(n_samples, k) >= features_cost(basis, n_samples, k)) return false;
  Matrix terms(n_outputs, basis.n_terms());
  for (Index l = 0; l < basis.n_terms(); ++l)
    for (Index j = 0; j < n_outputs; ++j) terms(j, l) = weights(l, j);
  basis.plan<ChebyshevForm>().to_chebyshev(terms, n_outputs, control);
  Matrix coefficients = Matrix::Zero(few->grid().n_waves(), n_outputs);
  for (Index l = 0; l < basis.n_terms(); ++l) coefficients.row(wave[size_of(l)]) = terms.col(l).transpose();
  const AngleFunctions functions(few->grid(), view(std::as_const(coefficients)), control);
  return functions.evaluate(samples, out, control) <= 1.0;
}

bool accumulate_cross_on_grid(const Design& design, MatrixRef cross, const Control& control) {
  const TensorBasis& basis = design.basis;
  const Index n_targets = design.targets.cols;
  if (n_targets == 0 || !is_large(basis, design.samples.rows()) || !may_be_inside(design.samples)) return false;
  const auto& [few, wave] = basis.plan<TermGrid>();
  const auto k = static_cast<double>(n_targets);
  const auto n_samples = static_cast<double>(design.samples.rows());
  if (!few || few->sums_cost(n_samples, k) >= features_cost(basis, n_samples, k)) return false;
  const Index n_waves = few->grid().n_waves();
  Matrix sums(n_waves, n_targets);
  const bool inside = few->grid().accumulate(
      design.samples, n_targets,
      [&](Index first, Index count, double* to, Index stride) {
        for (Index j = 0; j < n_targets; ++j)
          for (Index s = 0; s < count; ++s)
            to[j * stride + s] =
                design.targets(first + s, j) * (design.row_scale == nullptr ? 1.0 : design.row_scale[first + s]);
      },
      sums.data(), control);
  if (!inside) return false;
  Matrix terms(n_targets, basis.n_terms());
  for (Index l = 0; l < basis.n_terms(); ++l) terms.col(l) = sums.row(wave[size_of(l)]).transpose();
  basis.plan<ChebyshevForm>().to_terms(terms, n_targets, control);
  cross += terms;
  return true;
}

}  // namespace gegenbauer
