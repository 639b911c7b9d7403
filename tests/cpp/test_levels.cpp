// Contrasts of levels, the functions of inputs that have levels, and the sets and sums of their products.
#include <cmath>
#include <limits>

#include "check.hpp"
#include "gegenbauer/cost.hpp"
#include "gegenbauer/input_functions.hpp"
#include "gegenbauer/levels.hpp"
#include "gegenbauer/moments.hpp"
#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/ridge.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/spectrum_kernel.hpp"
#include "gegenbauer/tensor_basis.hpp"
#include "gegenbauer/total_degree_kernel.hpp"

using namespace gegenbauer;

namespace {

using Kind = SpectrumComponent::Kind;

const double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kShares{0.1, 0.4, 0.1, 0.4, 0.0};

// sum over contrasts of c c' = kappa, whose mean is zero and whose covariance is diagonal, by falling variance
void test_contrasts() {
  for (const std::vector<double>& p : {kShares, std::vector<double>{0.5, 0.5}, std::vector<double>{0.6, 0.3, 0.1}}) {
    const Levels levels{p, false};
    const auto n = static_cast<Index>(p.size());
    CHECK(levels.n_contrasts() == n - 1);
    const Matrix c = level_contrasts(levels, n - 1);
    CHECK(c.rows() == n && c.cols() == n - 1);
    double square = 0.0;
    for (const double share : p) square += share * share;
    const Matrix products = c * c.transpose();
    for (Index a = 0; a < n; ++a)
      for (Index b = 0; b < n; ++b)
        CHECK_NEAR(products(a, b), ((a == b ? 1.0 : 0.0) - p[size_of(a)] - p[size_of(b)] + square) / (1 - square),
                   1e-14);
    const std::vector<double> variances = contrast_variances(levels, n - 1);
    CHECK(static_cast<Index>(variances.size()) == n - 1 && contrast_variances(levels, 1).front() == variances.front());
    double before = 1.0;
    for (Index j = 0; j < n - 1; ++j) {
      double mean = 0.0;
      for (Index l = 0; l < n; ++l) mean += p[size_of(l)] * c(l, j);
      CHECK_NEAR(mean, 0.0, 1e-15);
      for (Index k = 0; k <= j; ++k) {
        double sum = 0.0;
        for (Index l = 0; l < n; ++l) sum += p[size_of(l)] * c(l, j) * c(l, k);
        if (k < j) {
          CHECK_NEAR(sum, 0.0, 1e-15);
        } else {
          CHECK_NEAR(variances[size_of(j)], sum, 1e-15);
          CHECK(sum <= before + 1e-15);
          before = sum;
        }
      }
    }
    CHECK(level_contrasts(levels, 1) == c.leftCols(1));
  }
  const Levels one{{0.0, 1.0}, false};
  CHECK(one.n_contrasts() == 0 && level_contrasts(one, 0).size() == 0);
  CHECK_THROWS(level_contrasts(one, 1), std::invalid_argument, "0 contrasts, not 1");
}

void test_levels_of_inputs() {
  const Levels category{kShares, false};
  const Levels number{{0.7, 0.3}, true};
  const double places[] = {-1.0, -0.5, 0.0, 0.5, 1.0};
  for (Index l = 0; l < 5; ++l) CHECK(category.level(places[l]) == l);
  CHECK(category.level(-7.0) == 0 && category.level(7.0) == 4 && category.level(kNan) == -1);
  CHECK(number.level(0.3) == 0 && number.level(kNan) == 1);
}

Spectrum mixed() {
  return {3,
          {{Kind::power, 1.5, {0.4, 0.3, 0.2}}, {Kind::geometric, 0.3, {0.1, 0.2, 0.3}}},
          {{kShares, false}, {{}, true}, {{0.75, 0.25}, true}}};
}

Matrix mixed_samples() {
  Matrix x = check::uniform(50, 3, -1.0, 1.0);
  for (Index s = 0; s < 50; ++s) {
    x(s, 0) = s % 11 == 0 ? kNan : static_cast<double>(s % 5) / 2 - 1;
    if (s % 4 == 1) x(s, 2) = kNan;
    if (s % 13 == 2) x(s, 1) = kNan;
  }
  return x;
}

void test_functions() {
  const Spectrum spectrum = mixed();
  const InputFunctions functions(0.3, {4, 5, 6}, Normalization::orthonormal, spectrum);
  CHECK(functions.have_levels());
  CHECK(functions.n_contrasts(0) == 4 && functions.n_contrasts(1) == 0 && functions.n_contrasts(2) == 1);
  CHECK(functions.degree(0) == 4 && functions.degree(1) == 5 && functions.degree(2) == 6);
  const double x[] = {-0.5, kNan, 1.0};
  double values[6 * 4];
  functions.evaluate_from_one(0, x, 3, 4, values, 4);
  const Matrix c = level_contrasts({kShares, false}, 4);
  for (Index n = 0; n < 4; ++n) {
    CHECK_NEAR(values[n * 4], std::sqrt(0.5) * c(1, n), 1e-15);
    CHECK(values[n * 4 + 1] == 0.0);
    CHECK_NEAR(values[n * 4 + 2], std::sqrt(0.5) * c(4, n), 1e-15);
    CHECK(functions.bound(0, n + 1) == std::sqrt(0.5) * c.col(n).cwiseAbs().maxCoeff());
  }
  // of a number the contrast, then polynomials with the weights of their degrees
  functions.evaluate_from_one(2, x, 3, 6, values, 4);
  const Recurrence plain(0.3, 5, Normalization::orthonormal, spectrum.weights(2, 5));
  double expected[6 * 3];
  plain.evaluate(x, 3, expected, 3);
  CHECK_NEAR(values[0], std::sqrt(0.5 / 3), 1e-15);
  CHECK_NEAR(values[1], -std::sqrt(0.5 * 3), 1e-15);
  for (Index n = 1; n < 6; ++n) {
    CHECK(values[n * 4] == expected[n * 3] && values[n * 4 + 2] == expected[n * 3 + 2]);
    CHECK(values[n * 4 + 1] == 0.0);
    CHECK(functions.bound(2, n + 1) == plain.bound(n));
  }
  CHECK_THROWS(InputFunctions(0.3, {5, 1, 1}, Normalization::orthonormal, spectrum), std::invalid_argument,
               "input 0 has 4 functions, not 5");
  CHECK(!InputFunctions(Recurrence(0.3, 2, Normalization::raw)).have_levels());
}

TensorBasis basis_of(IndexSet kind, Index degree, std::optional<Index> n_terms = std::nullopt) {
  IndexSetSpec spec;
  spec.n_inputs = 3;
  spec.kind = kind;
  spec.degree = degree;
  spec.n_terms = n_terms;
  spec.spectrum = mixed();
  CHECK(count_terms(spec).exact == static_cast<std::uint64_t>(MultiIndexSet(spec).size()));
  return {spec, 0.3, Normalization::orthonormal, mixed()};
}

void test_all_terms_make_the_kernel() {
  const Matrix x = mixed_samples();
  const Samples samples(check::view(x));
  IndexSetSpec spec;
  spec.n_inputs = 3;
  spec.kind = IndexSet::tensor;
  spec.degrees = {4, 6, 7};
  spec.spectrum = mixed();
  const TensorBasis basis(spec, 0.3, Normalization::orthonormal, mixed());
  Matrix g(50, basis.n_terms());
  evaluate_terms(basis, samples, check::view(g), Control(2));
  Matrix kernel(50, 50);
  evaluate_symmetric(SpectrumKernel(mixed(), 0.3, 6), samples, check::view(kernel), Control(1));
  CHECK((g * g.transpose() - kernel).cwiseAbs().maxCoeff() <= 1e-13 * kernel.cwiseAbs().maxCoeff());
}

// Truncated products, features, extended precision and orthogonal solvers all read the same functions.
void test_ways_agree() {
  const Matrix x = mixed_samples();
  const Samples samples(check::view(x));
  const Matrix y = check::uniform(50, 2, -1.0, 1.0, 3);
  for (const Index degree : {Index{3}, Index{6}}) {  // up to the last contrast, and beyond
    const TensorBasis basis = basis_of(IndexSet::total_degree, degree);
    CHECK(CompletePart(basis).degree == std::min<Index>(degree, 4));
    const Design design{basis, samples, nullptr, check::view(y)};
    Matrix expected;
    for (const Engine engine : {Engine::primal, Engine::dual, Engine::kernel}) {
      for (const Solver solver : {Solver::cholesky, Solver::orthogonal}) {
        RidgeOptions options;
        options.gamma = 1e-3;
        options.engine = engine;
        options.solver = solver;
        const RidgeSolution found = solve_ridge(design, options, Control(1));
        if (expected.size() == 0) expected = found.weights;
        CHECK((found.weights - expected).cwiseAbs().maxCoeff() <= 1e-11 * expected.cwiseAbs().maxCoeff());
      }
    }
    RidgeOptions options;
    options.gamma = 1e-3;
    options.engine = Engine::moments;
    CHECK_THROWS(solve_ridge(design, options, Control(1)), std::invalid_argument, "moments are sums of Chebyshev");
    CHECK(!MomentPlan::exists(basis) && !moments_resolve(basis, 1.0, 1.0));
    CHECK(std::isinf(fit_cost(basis, 1'000'000, 1).moments));
    CHECK_THROWS(MomentPlan{basis}, std::invalid_argument, "categories");
  }
}

void test_sets() {
  for (const IndexSet kind : {IndexSet::total_degree, IndexSet::tensor, IndexSet::hyperbolic_cross}) {
    const TensorBasis basis = basis_of(kind, 6);
    CHECK(basis.indices().max_degree(0) == 4 && basis.indices().max_degree(1) == 6);
  }
  const TensorBasis basis = basis_of(IndexSet::largest_weight, 9, 60);
  CHECK(basis.n_terms() == 60 && basis.indices().max_degree(0) <= 4);
  IndexSetSpec spec;
  spec.n_inputs = 2;
  spec.degree = 2;
  spec.spectrum = mixed();
  CHECK_THROWS(count_terms(spec), std::invalid_argument, "the spectrum has 3 inputs, not 2");
}

}  // namespace

int main() {
  test_contrasts();
  test_levels_of_inputs();
  test_functions();
  test_all_terms_make_the_kernel();
  test_ways_agree();
  test_sets();
  return check::report("levels");
}
