// Kernels that enumerate no terms, against the terms.
#include <utility>

#include "check.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/kernel_ridge.hpp"
#include "gegenbauer/ridge.hpp"
#include "gegenbauer/spectrum_kernel.hpp"
#include "gegenbauer/total_degree_kernel.hpp"

using namespace gegenbauer;

namespace {

Matrix product(const Matrix& a, const Matrix& b) { return a.lazyProduct(b); }
Matrix lower(const Matrix& m) { return m.triangularView<Eigen::Lower>(); }
double largest(const Matrix& m) { return m.cwiseAbs().maxCoeff(); }

Matrix features(const TensorBasis& basis, const Matrix& x) {
  Matrix g(x.rows(), basis.n_terms());
  evaluate_terms(basis, Samples(check::view(x)), check::view(g), Control(1));
  return g;
}

const auto kPower = SpectrumComponent::Kind::power;
const auto kGeometric = SpectrumComponent::Kind::geometric;

// Different for each input.
Spectrum make_spectrum(Index n_inputs) {
  std::vector<double> q;
  for (Index t = 0; t < n_inputs; ++t) q.push_back(0.4 / static_cast<double>(t + 1));
  return {n_inputs, {{kPower, 1.0, q}, {kGeometric, 0.5, {0.1}}}};
}

TensorBasis make_basis(Index n_inputs, Index degree, std::optional<Index> max_inputs = std::nullopt) {
  IndexSetSpec spec;
  spec.n_inputs = n_inputs;
  spec.degree = degree;
  spec.max_inputs = max_inputs;
  return TensorBasis(spec, 0.3, Normalization::orthonormal, make_spectrum(n_inputs));
}

TotalDegreeKernel make_kernel(Index n_inputs, Index degree, std::optional<Index> max_inputs = std::nullopt) {
  const std::vector<Index> degrees(static_cast<std::size_t>(n_inputs), degree);
  return TotalDegreeKernel(n_inputs, degree,
                           Recurrences(0.3, degrees, Normalization::orthonormal, make_spectrum(n_inputs)), max_inputs);
}

// Every operation of a kernel whose features are known.
void check_operations(const ProductKernel& kernel, const Matrix& x, const Matrix& z, const Matrix& gx,
                      const Matrix& gz) {
  const Index n = x.rows();
  const Samples left(check::view(x));
  const Samples right(check::view(z));
  const Matrix square = product(gx, gx.transpose());
  const Matrix rectangle = product(gx, gz.transpose());
  const double tolerance = 1e-13 * std::max(largest(square), largest(rectangle));
  const Matrix scale = check::uniform(n, 1, 0, 2, 3);
  for (const bool constant : {false, true}) {
    const auto term = constant ? ConstantTerm::included : ConstantTerm::left_out;
    const double less = constant ? 0.0 : 1.0;
    Matrix k = Matrix::Constant(n, n, 2.0);
    accumulate_product_kernel(kernel, left, nullptr, term, k, Control(2));
    CHECK(largest(lower((k.array() - 2.0 - square.array() + less).matrix())) <= tolerance);
    k.setZero();
    accumulate_product_kernel(kernel, left, scale.data(), term, k, Control(1));
    const Matrix weighted = scale.col(0).asDiagonal() * (square.array() - less).matrix() * scale.col(0).asDiagonal();
    CHECK(largest(lower(k - weighted)) <= 4 * tolerance);
    for (const Index n_outputs : {1, 3, 9}) {
      const Matrix cz = check::uniform(z.rows(), n_outputs, -1, 1, 4);
      Matrix out(n, n_outputs);
      apply_kernel(kernel, left, right, term, check::view(cz), check::view(out), Control(2));
      CHECK(largest(out - product((rectangle.array() - less).matrix(), cz)) <=
            tolerance * static_cast<double>(z.rows()));
      const Matrix cx = check::uniform(n, n_outputs, -1, 1, 5);
      Matrix one(n, n_outputs);
      apply_symmetric(kernel, left, term, check::view(cx), check::view(one), Control(1));
      CHECK(largest(one - product((square.array() - less).matrix(), cx)) <= tolerance * static_cast<double>(n));
      apply_symmetric(kernel, left, term, check::view(cx), check::view(out), Control(3));
      CHECK(one == out);
    }
  }
  Matrix k(n, n);
  evaluate_symmetric(kernel, left, check::view(k), Control(2));
  CHECK(largest(k - square) <= tolerance);
  CHECK(k == k.transpose());
  Matrix r(n, z.rows());
  evaluate_rectangle(kernel, left, right, check::view(r), Control(2));
  CHECK(largest(r - rectangle) <= tolerance);
  Vector diagonal(n);
  evaluate_diagonal(kernel, left, diagonal.data(), Control(1));
  CHECK(largest(diagonal - square.diagonal()) <= tolerance);
}

void test_total_degree() {
  for (const Index n_inputs : {1, 3}) {
    const Matrix x = check::uniform(230, n_inputs, -1, 1);
    const Matrix z = check::uniform(61, n_inputs, -1, 1, 2);
    for (Index degree = 0; degree <= 10; ++degree) {
      const TensorBasis basis = make_basis(n_inputs, degree);
      check_operations(make_kernel(n_inputs, degree), x, z, features(basis, x), features(basis, z));
      const TensorBasis limited = make_basis(n_inputs, degree, 2);
      check_operations(make_kernel(n_inputs, degree, 2), x, z, features(limited, x), features(limited, z));
    }
  }
}

// A spectrum that ends at degree 3 is the full tensor set.
void test_spectrum() {
  IndexSetSpec spec;
  spec.n_inputs = 3;
  spec.kind = IndexSet::tensor;
  spec.degrees = {3, 3, 3};
  for (const double lam : {0.0, 0.5}) {
    const TensorBasis basis(spec, lam, Normalization::orthonormal, make_spectrum(3));
    const SpectrumKernel kernel(make_spectrum(3), lam, 3);
    const Matrix x = check::uniform(230, 3, -1, 1);
    const Matrix z = check::uniform(61, 3, -1, 1, 2);
    check_operations(kernel, x, z, features(basis, x), features(basis, z));
  }
}

// Closed forms against sums of so many degrees that the rest is below the tolerance.
void test_closed_forms() {
  struct Case {
    std::vector<SpectrumComponent> components;
    Index n_degrees;
    double tolerance;
  };
  const Case cases[] = {{{{kPower, 3.0, {0.4, 0.0}}}, 500, 1e-13},
                        {{{kPower, 2.0, {0.4, 2.0}}}, 3000, 1e-9},
                        {{{kPower, 1.0, {0.4, 2.0}}}, 10000, 2e-3},
                        {{{SpectrumComponent::Kind::gegenbauer, 0.0, {0.2, 1.0}}}, 10000, 2e-3},
                        {{{kGeometric, 0.7, {0.4, 1.0}}}, 120, 1e-13},
                        {{{kGeometric, 0.2, {0.4, 1.0}}, {kPower, 3.0, {1.0, 0.5}}}, 500, 1e-13}};
  Matrix x = check::uniform(30, 2, -1, 1);
  x.row(0).setOnes();
  x.row(1).setConstant(-1);
  const Samples samples(check::view(std::as_const(x)));
  for (const Case& c : cases) {
    const Spectrum spectrum(2, c.components);
    const SpectrumKernel closed(spectrum, 0.0);
    CHECK(closed.n_degrees() == 0);
    Matrix k(30, 30);
    Matrix sums(30, 30);
    evaluate_symmetric(closed, samples, check::view(k), Control(1));
    evaluate_symmetric(SpectrumKernel(spectrum, 0.0, c.n_degrees), samples, check::view(sums), Control(1));
    CHECK(largest(k - sums) <= c.tolerance * largest(k));
  }
}

// Categories, missing numbers and both at once, pair by pair from their definition.
void test_levels() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> p{0.5, 0.3, 0.2};
  const std::vector<double> missing{0.75, 0.25};
  const double squares = 0.38;
  const double of_two = 0.625;
  // levels at -1, 0, 1; a number; a number that is missing in some
  Matrix x(6, 3);
  x << -1, 0.3, nan, 0, -0.7, 0.2, 1, 0.1, -0.4, 0, 0.9, nan, nan, 0.2, 0.6, 1, -0.2, nan;
  const auto kappa = [](const std::vector<double>& share, double sum, Index a, Index b) {
    return ((a == b ? 1.0 : 0.0) - share[size_of(a)] - share[size_of(b)] + sum) / (1 - sum);
  };
  for (const Index max_degree : {Index{0}, Index{40}}) {
    const Spectrum spectrum(3, {{kPower, 2.0, {0.4, 0.3, 0.2}}, {kGeometric, 0.3, {0.1, 0.2, 0.3}}},
                            {{p, false}, {{}, true}, {missing, true}});
    const SpectrumKernel kernel(spectrum, 0.0, max_degree);
    const Samples samples(check::view(std::as_const(x)));
    Matrix k(6, 6);
    evaluate_symmetric(kernel, samples, check::view(k), Control(1));
    for (Index a = 0; a < 6; ++a) {
      for (Index b = 0; b < 6; ++b) {
        double expected = 1.0;
        if (!std::isnan(x(a, 0)) && !std::isnan(x(b, 0)))
          expected += 0.5 * kappa(p, squares, std::lround(x(a, 0)) + 1, std::lround(x(b, 0)) + 1);
        for (const Index t : {Index{1}, Index{2}}) {
          double factor = 1.0;
          if (!std::isnan(x(a, t)) && !std::isnan(x(b, t))) {
            const Spectrum own(1, {{kPower, 2.0, {t == 1 ? 0.3 : 0.2}}, {kGeometric, 0.3, {t == 1 ? 0.2 : 0.3}}});
            Matrix pair(1, 1);
            const Matrix left = x.block(a, t, 1, 1);
            const Matrix right = x.block(b, t, 1, 1);
            evaluate_rectangle(SpectrumKernel(own, 0.0, max_degree), Samples(check::view(left)),
                               Samples(check::view(right)), check::view(pair), Control(1));
            factor = pair(0, 0);
          }
          if (t == 2) factor += 0.5 * kappa(missing, of_two, std::isnan(x(a, t)) ? 1 : 0, std::isnan(x(b, t)) ? 1 : 0);
          expected *= factor;
        }
        CHECK(std::abs(k(a, b) - expected) <= 1e-14);
      }
    }
  }
  const std::vector<SpectrumComponent> power{{kPower, 2.0, {0.4}}};
  const Spectrum one(1, power);
  CHECK_THROWS(Spectrum(1, power, {{}, {}}), std::invalid_argument, "one entry an input (1), got 2");
  CHECK_THROWS(Spectrum(1, power, {{{}, false}}), std::invalid_argument, "a category needs levels");
  CHECK_THROWS(Spectrum(1, power, {{{0.5, -0.5}, false}}), std::invalid_argument, "not negative, got -0.5");
  CHECK_THROWS(Spectrum(1, power, {{{0.0}, false}}), std::invalid_argument, "positive finite sum, got 0");
  CHECK_THROWS(Spectrum(1, power, {{p, true}}), std::invalid_argument, "given and missing");
  const Matrix gone = Matrix::Constant(1, 1, nan);
  Matrix k(1, 1);
  CHECK_THROWS(evaluate_symmetric(SpectrumKernel(one, 0.0), Samples(check::view(gone)), check::view(k), Control(1)),
               std::invalid_argument, "column 0 holds nan in row 0");
}

void test_refusals() {
  const auto kernel_of = [](SpectrumComponent::Kind kind, double parameter, double lam) {
    return SpectrumKernel({1, {{kind, parameter, {1.0}}}}, lam);
  };
  CHECK_THROWS(kernel_of(kPower, 1.0, 0.5), std::invalid_argument, "no finite kernel");
  CHECK_THROWS(kernel_of(kPower, 1.5, 0.0), std::invalid_argument, "needs more than 1000 degrees");
  CHECK_THROWS(kernel_of(SpectrumComponent::Kind::gegenbauer, 0.5, 0.5), std::invalid_argument, "no finite kernel");
  CHECK_THROWS(kernel_of(SpectrumComponent::Kind::gegenbauer, 0.05, 0.05), std::invalid_argument,
               "needs more than 1000 degrees");
  const Recurrence raw(0.3, 2, Normalization::raw);
  CHECK_THROWS(TotalDegreeKernel(0, 1, raw), std::invalid_argument, "n_inputs");
  CHECK_THROWS(TotalDegreeKernel(2, 3, raw), std::invalid_argument, "that of the recurrences (2), got 3");
  const SpectrumKernel kernel({1, {{kPower, 1.0, {1.0}}}}, 0.0);
  Matrix x = Matrix::Constant(600, 1, 0.5);
  x(599, 0) = 1.000002;
  Matrix k(600, 600);
  for (const int n_threads : {1, 2})
    CHECK_THROWS(evaluate_symmetric(kernel, Samples(check::view(std::as_const(x))), check::view(k), Control(n_threads)),
                 std::invalid_argument, "column 0 holds 1.000002 in row 599,");
  const Matrix wide = Matrix::Zero(600, 2);
  CHECK_THROWS(evaluate_symmetric(kernel, Samples(check::view(wide)), check::view(k), Control(1)),
               std::invalid_argument, "X has 2 columns");
}

// The ordinary dual's kernel from the truncated product.
void test_as_accumulate_kernel() {
  const Matrix x = check::uniform(150, 3, 0, 1);
  const Matrix scale = check::uniform(150, 1, 0, 2, 3);
  const Samples samples(check::view(x));
  CHECK(CompletePart(make_basis(3, 4)).degree == 4);
  CHECK(CompletePart(make_basis(3, 4, 2)).degree == 2);
  // complete, and with terms beyond the complete part
  for (const TensorBasis& basis : {make_basis(3, 4), make_basis(3, 4, 2)}) {
    const Design design{basis, samples, scale.data(), {}};
    for (const Index first_term : {0, 1}) {
      Matrix a = Matrix::Constant(150, 150, 1.0);
      Matrix b = a;
      accumulate_kernel(design, first_term, a, Control(1));
      accumulate_total_degree_kernel(design, first_term, b, Control(2));
      CHECK(largest(lower(a - b)) <= 1e-13 * largest(lower(a)));
    }
  }
}

void test_solve() {
  const Matrix x = check::uniform(120, 3, 0, 1);
  const Matrix y = check::uniform(120, 2, -1, 1, 2);
  const Matrix scale = check::uniform(120, 1, 0, 2, 3);
  const Samples samples(check::view(x));
  const TensorBasis basis = make_basis(3, 6);
  const Matrix g = features(basis, x);
  for (const bool penalize : {true, false}) {
    const Design design{basis, samples, scale.data(), check::view(y)};
    RidgeOptions options;
    options.gamma = 0.25;
    options.penalize_constant = penalize;
    const Matrix expected = product(g, solve_ridge(design, options, Control(1)).weights);
    const KernelRidgeSolution solution =
        solve_kernel_ridge(make_kernel(3, 6), samples, scale.data(), check::view(y), {0.25, penalize}, Control(2));
    const Matrix found =
        product(product(g, g.transpose()), solution.coefficients).rowwise() + solution.constants.transpose();
    CHECK(solution.solver == "cholesky");
    CHECK(largest(found - expected) <= 1e-11);
    CHECK((largest(solution.constants) == 0.0) == penalize);
  }
  const KernelRidgeSolution exact =
      solve_kernel_ridge(make_kernel(3, 6), samples, nullptr, check::view(y), {0.0, true}, Control(1));
  CHECK(exact.solver == "pivoted_cholesky");
  CHECK(exact.rank == 84);
  CHECK(estimate_kernel_ridge_bytes(make_kernel(3, 6), 1000, 1, 1.0) > 8e6);
  CHECK(estimate_kernel_ridge_bytes(make_kernel(3, 6), 1000, 1, 0.0) > 16e6);
}

void test_interrupt() {
  const Matrix x = check::uniform(3000, 4, 0, 1);
  const Samples samples(check::view(x));
  Matrix k(3000, 3000);
  CHECK_THROWS(evaluate_symmetric(make_kernel(4, 30), samples, check::view(k), Control(2, [] { return true; })),
               Interrupted, "interrupted");
}

}  // namespace

int main() {
  test_total_degree();
  test_spectrum();
  test_closed_forms();
  test_levels();
  test_refusals();
  test_as_accumulate_kernel();
  test_solve();
  test_interrupt();
  return check::report("kernel");
}
