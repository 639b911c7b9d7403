#include "gegenbauer/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gegenbauer/cost_units.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/total_degree_kernel.hpp"

namespace gegenbauer {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Reciprocal shares of the peak
constexpr double kProduct = 1.2;        // tiles of a product
constexpr double kFactorization = 1.4;  // Cholesky
constexpr double kPairProduct = 0.9;    // truncated products

// Multiply-adds at peak that one unit of other work is worth
constexpr double kAssembledEntry = 150;   // an entry of G'G from moments, and
constexpr double kAssembledDegree = 2.3;  // more of it for each degree of the basis
constexpr double kStoredPair = 30;        // a pair of samples in the kernel matrix: tables, reading, writing
constexpr double kPlanWork = 275;         // a unit of BasisHalves::plan_work, half of it since plans are kept
constexpr double kPlannedTerm = 1'500;    // a term in that plan, half

double largest_degree(const TensorBasis& basis) {
  const std::vector<Index>& degrees = basis.indices().max_degrees();
  return static_cast<double>(*std::max_element(degrees.begin(), degrees.end()));
}

// One refinement: Y - G W and G'R, each with one multiplication a term and as many multiply-adds as outputs
double refinement(const TensorBasis& basis, double s, double k) {
  return 2 * units::kTermPass * s * static_cast<double>(basis.n_terms()) * (1.0 + k);
}

// The sums alone, without factorisation and refinement; a part of it as soon as that exceeds the limit.
double moments_cost(const TensorBasis& basis, double s, double l, double k, double limit) {
  if (basis.functions().have_levels()) return kInfinite;
  double fixed = kPlannedTerm * l + l * l * (kAssembledEntry + kAssembledDegree * largest_degree(basis));
  if (fixed >= limit) return fixed;
  if (!MomentPlan::exists(basis)) return kInfinite;
  fixed += kPlanWork * basis.plan<BasisHalves>().plan_work();
  if (fixed >= limit) return fixed;
  return fixed + basis.plan<MomentPlan>().sums_cost(s, k);
}

// Entries of the first columns of the lower triangle of an (n, n) matrix as they are computed: whole panels against
// panels
double triangle(double n, double n_cols) {
  const double panels = std::ceil(n / kPanel);
  const double left_out = panels - std::ceil(n_cols / kPanel);
  return (panels * (panels + 1) - left_out * (left_out + 1)) / 2 * kPanel * kPanel;
}

double triangle(double n) { return triangle(n, n); }

// GG' of l terms from features
double kernel_cost(double s, double l) { return triangle(s) * l * kProduct + s * l * units::kTableEntry; }

}  // namespace

FitCost fit_cost(const TensorBasis& basis, Index n_samples, Index n_outputs) {
  require(n_samples >= 0 && n_outputs >= 0, "numbers of samples and outputs must not be negative, got ", n_samples,
          " and ", n_outputs);
  const auto s = static_cast<double>(n_samples);
  const auto l = static_cast<double>(basis.n_terms());
  const auto k = static_cast<double>(n_outputs);
  FitCost cost{};
  const double refine = refinement(basis, s, k);
  const double primal_rest = kFactorization * l * l * l / 6 + 10 * l * l * (k + 4) + refine;
  const double tables = static_cast<double>(basis.n_factors()) * units::kTableEntry;
  cost.primal = s * (triangle(l + k, l) * kProduct + l * units::kPackedTerm + tables);
  const double dual_rest = kFactorization * s * s * s / 6 + 10 * s * s * (k + 4) + 2 * refine;
  cost.dual = kernel_cost(s, l) + dual_rest;
  cost.moments = moments_cost(basis, s, l, k, std::min(cost.primal, cost.dual)) + primal_rest;
  cost.primal += primal_rest;
  const auto& part = basis.plan<CompletePart>();
  const TotalDegreeKernel kernel(basis.n_inputs(), part.degree, basis.functions());
  cost.kernel = triangle(s) * kPairProduct * (kernel.pair_cost() + kStoredPair) +
                kernel_cost(s, static_cast<double>(basis.n_terms() - part.n_terms)) + dual_rest;
  return cost;
}

bool moments_resolve(const TensorBasis& basis, double weight, double penalty) {
  if (!MomentPlan::exists(basis)) return false;
  const double error = kEpsilon * weight * basis.plan<MomentPlan>().squared_bounds();
  return penalty >= 1000 * error;
}

Engine FitCost::cheapest() const {
  const double least = std::min({primal, moments, dual, kernel});
  if (dual == least) return Engine::dual;
  if (primal == least) return Engine::primal;
  return moments == least ? Engine::moments : Engine::kernel;
}

}  // namespace gegenbauer
