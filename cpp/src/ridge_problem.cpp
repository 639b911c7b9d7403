#include "gegenbauer/ridge_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "gegenbauer/cost_units.hpp"
#include "gegenbauer/extended_gradient.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/predict.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/total_degree_kernel.hpp"

namespace gegenbauer {

double rounding_of_least_squares(double rcond, double norm, double penalty, double residual, double weights) {
  if (residual == 0.0 && weights == 0.0) return 0.0;
  const double condition = 1.0 / std::sqrt(rcond);
  const double features = std::sqrt(std::max(0.0, 1.0 - penalty / (norm * norm)));
  const double of_residual = residual > 0 ? (condition + 1.0) * (residual / norm) / weights : 0.0;
  const double error = kEpsilon * condition * (1.0 + features * (1.0 + of_residual));
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

Problem::Problem(const Design& design, const RidgeOptions& options, const Control& control)
    : design_(design), options_(options), control_(control), targets_(design.targets) {
  if (design_.row_scale == nullptr) return;  // read in place
  scaled_ = targets(0, n_samples());
  targets_ = view(std::as_const(scaled_));
}

Matrix Problem::targets(Index first, Index count) const {
  Matrix values(count, n_outputs());
  // in squares, since the targets may lie row by row
  constexpr Index side = 32;
  constexpr Index strip_length = 16 * side;
  const bool scaled = scaled_.size() > 0;
  const Index n_strips = divide_up(count, strip_length);
  parallel_for(control_, n_strips, units::kNewEntry * static_cast<double>(values.size()), [&](Index strip, int) {
    const Index stop = std::min(count, (strip + 1) * strip_length);
    for (Index begin = strip * strip_length; begin < stop; begin += side) {
      const Index end = std::min(stop, begin + side);
      for (Index first_k = 0; first_k < n_outputs(); first_k += side)
        for (Index k = first_k; k < std::min(n_outputs(), first_k + side); ++k)
          for (Index s = begin; s < end; ++s) values(s, k) = (scaled ? 1.0 : scale(first + s)) * targets_(first + s, k);
    }
  });
  return values;
}

Design Problem::with_targets(StridedView<const double> targets) const {
  return {design_.basis, design_.samples, design_.row_scale, targets};
}

Precision Problem::precision(Engine engine) const {
  constexpr Index many = 256;
  const Index n = engine == Engine::dual ? n_samples() : n_terms();
  const bool by_features = engine == Engine::primal || engine == Engine::dual;
  return options_.products == Products::automatic && design_.samples.are_float32() && by_features && n >= many &&
                 design_.basis.fits_float32()
             ? Precision::float32
             : Precision::float64;
}

Matrix Problem::gram(Engine engine, Precision precision) const {
  Matrix gram = zeros(n_terms() + n_outputs(), n_terms(), control_);
  if (engine == Engine::moments) {
    // which read one target after the other
    Matrix columns;
    if (targets_.cols > 1 && targets_.row_stride != 1) columns = targets(0, n_samples());
    const Design design = with_targets(columns.size() > 0 ? view(std::as_const(columns)) : targets_);
    const auto& plan = design_.basis.plan<MomentPlan>();
    constexpr auto products = TargetProducts::left_out;
    std::vector<double> statistic(size_of(plan.size(n_outputs(), products)), 0.0);
    plan.accumulate(design, statistic.data(), control_, products);
    plan.assemble(statistic.data(), gram, control_);
  } else {
    accumulate_gram(with_targets(targets_), gram, control_, precision);
  }
  return gram;
}

Matrix Problem::kernel(Engine engine, Precision precision) const {
  Matrix kernel = zeros(n_samples(), n_samples(), control_);
  const Design design = with_targets(targets_);
  if (engine == Engine::kernel) {
    accumulate_total_degree_kernel(design, first_penalized(), kernel, control_);
  } else {
    accumulate_kernel(design, first_penalized(), kernel, control_, precision);
  }
  return kernel;
}

bool Problem::moments_are_accurate() const {
  double weight = 0.0;
  for (Index s = 0; s < n_samples(); ++s) weight += scale(s) * scale(s);
  return moments_resolve(design_.basis, weight, options_.gamma);
}

Matrix Problem::transposed_product(const Matrix& r) const {
  Matrix cross = Matrix::Zero(r.cols(), n_terms());
  accumulate_cross(with_targets(view(r)), cross, control_);
  return cross.transpose();
}

Matrix Problem::product(const Matrix& weights) const {
  Matrix r(n_samples(), weights.cols());
  predict(design_.basis, design_.samples, view(weights), view(r), control_);
  if (design_.row_scale == nullptr) return r;
  for (Index k = 0; k < r.cols(); ++k)
    for (Index s = 0; s < r.rows(); ++s) r(s, k) *= scale(s);
  return r;
}

Matrix Problem::residual(const Matrix& weights) const {
  Matrix r = targets(0, n_samples());
  r -= product(weights);
  return r;
}

Matrix Problem::gradient(const Matrix& weights, double& residual_norm) const {
  Matrix g;
  if (joins_residuals(n_outputs())) {
    Matrix cross = Matrix::Zero(n_outputs(), n_terms());
    residual_norm = accumulate_residual_cross(with_targets(targets_), weights, cross, control_);
    g = cross.transpose();
  } else {
    const Matrix residuals = residual(weights);
    residual_norm = residuals.stableNorm();
    g = transposed_product(residuals);
  }
  const Index penalized = n_terms() - first_penalized();
  g.bottomRows(penalized) -= options_.gamma * weights.bottomRows(penalized);
  return g;
}

Matrix Problem::exact_gradient(const Matrix& weights) const {
  Matrix g = extended_gradient(design_, weights, control_);
  for (Index k = 0; k < g.cols(); ++k)
    for (Index l = first_penalized(); l < g.rows(); ++l) g(l, k) = std::fma(-options_.gamma, weights(l, k), g(l, k));
  return g;
}

void Problem::features(Index first, Index count, StridedView<double> out) const {
  evaluate_terms(design_.basis, design_.samples.slice(first, count), out, control_);
  if (design_.row_scale == nullptr) return;
  for (Index l = 0; l < out.cols; ++l)
    for (Index s = 0; s < count; ++s) out(s, l) *= scale(first + s);
}

}  // namespace gegenbauer
