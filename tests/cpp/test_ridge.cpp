// From samples to weights and predictions, against the matrix G made whole.
#include "check.hpp"
#include "gegenbauer/cost.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/extended_gradient.hpp"
#include "gegenbauer/predict.hpp"
#include "gegenbauer/ridge.hpp"

using namespace gegenbauer;

namespace {

Matrix product(const Matrix& a, const Matrix& b) { return a.lazyProduct(b); }

struct Case {
  Index n_samples;
  Index n_inputs;
  Index n_terms;
  Index n_outputs;
};

const Case kCases[] = {{1, 1, 1, 1},    {70, 2, 15, 1},  {600, 3, 33, 2},
                       {37, 4, 101, 3}, {130, 6, 28, 5}, {90, 2, 20, 11}};
const Case kManySamples{5000, 2, 10, 8};  // several runs of samples; for the products alone

TensorBasis make_basis(const Case& c) {
  IndexSetSpec spec;
  spec.n_inputs = c.n_inputs;
  spec.n_terms = c.n_terms;
  return TensorBasis(spec, 0.05, Normalization::raw);
}

Matrix lower(const Matrix& m) { return m.triangularView<Eigen::Lower>(); }

void test_products() {
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  cases.push_back(kManySamples);
  for (const Case& c : cases) {
    const TensorBasis basis = make_basis(c);
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, 0, 1);
    const Matrix y = check::uniform(c.n_samples, c.n_outputs, -1, 1, 2);
    const Matrix scale = check::uniform(c.n_samples, 1, 0, 2, 3);
    const Samples samples(check::view(x));
    // entries are sums over the samples; the plain loops that judge them round as well
    const double tolerance = 1e-11 * std::max(1.0, static_cast<double>(c.n_samples) / 1000);
    for (const bool scaled : {false, true}) {
      Matrix g(c.n_samples, c.n_terms);
      evaluate_terms(basis, samples, check::view(g), Control(2));
      if (scaled) g = (scale.col(0).asDiagonal() * g).eval();
      Matrix both(c.n_samples, c.n_terms + c.n_outputs);
      both << g, y;
      const Design design{basis, samples, scaled ? scale.data() : nullptr, check::view(y)};
      Matrix gram = Matrix::Zero(both.cols(), both.cols());
      accumulate_gram(design, gram, Control(1));
      CHECK((lower(gram) - lower(product(both.transpose(), both))).cwiseAbs().maxCoeff() < tolerance);
      Matrix cross = Matrix::Zero(c.n_outputs, c.n_terms);
      accumulate_cross(design, cross, Control(1));
      CHECK((cross - product(y.transpose(), g)).cwiseAbs().maxCoeff() < tolerance);
      Matrix kernel = Matrix::Zero(c.n_samples, c.n_samples);
      accumulate_kernel(design, 0, kernel, Control(1));
      CHECK((lower(kernel) - lower(product(g, g.transpose()))).cwiseAbs().maxCoeff() < 1e-12);
    }
    const Matrix weights = check::uniform(c.n_terms, c.n_outputs, -1, 1, 4);
    Matrix g(c.n_samples, c.n_terms);
    evaluate_terms(basis, samples, check::view(g), Control(1));
    Matrix psi(c.n_samples, c.n_outputs);
    predict(basis, samples, check::view(static_cast<const Matrix&>(weights)), check::view(psi), Control(2));
    CHECK((psi - product(g, weights)).cwiseAbs().maxCoeff() < 1e-12);
  }
}

void test_layouts_and_boxes() {
  const Case c{90, 3, 20, 1};
  const TensorBasis basis = make_basis(c);
  const Matrix x = check::uniform(c.n_samples, c.n_inputs, -3, 5);
  const Matrix turned = x.transpose();  // the same samples, row after row
  BoxMap box{{-1.5, -1.5, -1.5}, {4, 4, 4}, {1, 1, 0}, {0, 0, 0}, true};
  Matrix mapped = ((0.5 * x.array() + 1.5) / 4).cwiseMax(0.0).cwiseMin(1.0);
  mapped.col(2).setZero();
  Matrix expected(c.n_samples, c.n_terms);
  evaluate_terms(basis, Samples(check::view(static_cast<const Matrix&>(mapped))), check::view(expected), Control(1));
  Matrix got(c.n_samples, c.n_terms);
  evaluate_terms(basis, Samples(check::view(x), &box), check::view(got), Control(1));
  CHECK((got.array() == expected.array()).all());
  Matrix rows(c.n_terms, c.n_samples);
  const StridedView<const double> by_rows{turned.data(), c.n_samples, c.n_inputs, turned.outerStride(), 1};
  evaluate_terms(basis, Samples(by_rows, &box),
                 StridedView<double>{rows.data(), c.n_samples, c.n_terms, rows.outerStride(), 1}, Control(1));
  CHECK((rows.transpose().array() == expected.array()).all());
  // a map within [0, 1], which the last input does not need
  box.warping = {{{0.0, 0.25, 0.5}, {0.0, 0.5, 0.625}, {2.0, 0.5, 0.75}}, {}, {{0.0}, {0.0}, {1.0}}};
  for (double& u : mapped.col(0)) u = u < 0.25 ? 2 * u : u < 0.5 ? 0.5 + 0.5 * (u - 0.25) : 0.625 + 0.75 * (u - 0.5);
  evaluate_terms(basis, Samples(check::view(static_cast<const Matrix&>(mapped))), check::view(expected), Control(1));
  evaluate_terms(basis, Samples(check::view(x), &box), check::view(got), Control(1));
  CHECK((got - expected).cwiseAbs().maxCoeff() < 1e-14);
  box.warping.pop_back();
  CHECK_THROWS(Samples(check::view(x), &box), std::invalid_argument, "maps");
  box.span.pop_back();
  CHECK_THROWS(Samples(check::view(x), &box), std::invalid_argument, "columns");
}

// The gradient of the objective vanishes, whatever the engine, the solver and the number of threads.
void test_solutions() {
  for (const Case& c : kCases) {
    const TensorBasis basis = make_basis(c);
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, 0, 1);
    const Matrix y = check::uniform(c.n_samples, c.n_outputs, -1, 1, 2);
    const Samples samples(check::view(x));
    const Design design{basis, samples, nullptr, check::view(y)};
    Matrix g(c.n_samples, c.n_terms);
    evaluate_terms(basis, samples, check::view(g), Control(1));
    for (const double gamma : {1e-6, 1e-3, 1.0, 1e3}) {
      for (const bool penalize : {true, false}) {
        for (const Engine engine : {Engine::primal, Engine::dual}) {
          for (const Solver solver : {Solver::cholesky, Solver::orthogonal}) {
            const RidgeOptions options{gamma, penalize, engine, solver};
            const RidgeSolution solution = solve_ridge(design, options, Control(1));
            const Matrix& w = solution.weights;
            Matrix penalty = gamma * w;
            if (!penalize) penalty.row(0).setZero();
            const double size = g.squaredNorm() * w.norm() + g.norm() * y.norm();
            CHECK((product(g.transpose(), y - product(g, w)) - penalty).norm() <= 1e-14 * size);
            const RidgeSolution threaded = solve_ridge(design, options, Control(3));
            CHECK((threaded.weights.array() == w.array()).all());
          }
        }
      }
    }
    CHECK_THROWS(solve_ridge(design, {-1.0, true, Engine::primal, Solver::automatic}, Control(1)),
                 std::invalid_argument, "alpha");
    CHECK_THROWS(solve_ridge(design, {0.0, true, Engine::primal, Solver::cholesky}, Control(1)), std::invalid_argument,
                 "orthogonal");
  }
}

// A penalty that Cholesky cannot carry, for more samples than terms and fewer, and a free constant.
void test_fallbacks() {
  for (const Case& c : kCases) {
    const TensorBasis basis = make_basis(c);
    const Matrix x = check::uniform(c.n_samples, c.n_inputs, 0, 1);
    const Matrix y = check::uniform(c.n_samples, c.n_outputs, -1, 1, 2);
    const Matrix scale = check::uniform(c.n_samples, 1, 0.5, 2, 3);
    const Samples samples(check::view(x));
    const Design design{basis, samples, scale.data(), check::view(y)};
    const bool wide = c.n_samples <= c.n_terms;
    for (const double gamma : {0.0, 1e-20}) {
      RidgeOptions options{gamma, false, Engine::automatic, Solver::automatic};
      const RidgeSolution solution = solve_ridge(design, options, Control(1));
      if (c.n_terms == 1) continue;  // nothing is penalised
      CHECK(solution.report.engine == (wide ? Engine::dual : Engine::primal));
      CHECK(solution.report.solver == (gamma == 0.0 ? "complete_orthogonal" : wide ? "lq" : "qr"));
      CHECK(solution.report.rank == std::min(c.n_samples, c.n_terms));
      Matrix residual(c.n_samples, c.n_outputs);
      predict(basis, samples, check::view(solution.weights), check::view(residual), Control(1));
      residual = (scale.col(0).asDiagonal() * (y - residual)).eval();
      if (wide) CHECK(residual.norm() < 1e-10);
      CHECK((scale.transpose() * residual).norm() < 1e-10);  // a free constant leaves no mean
      const RidgeSolution threaded = solve_ridge(design, options, Control(3));
      CHECK((threaded.weights.array() == solution.weights.array()).all());
      options.max_bytes = 100;
      if (gamma > 0) CHECK_THROWS(solve_ridge(design, options, Control(1)), TooLarge, "Cholesky");
    }
  }
  // weights of nothing: no weights
  const TensorBasis basis = make_basis(kCases[3]);
  const Matrix x = check::uniform(20, 4, 0, 1);
  const Matrix zero = Matrix::Zero(20, 1);
  const Samples samples(check::view(x));
  const Design design{basis, samples, zero.data(), check::view(x)};
  const RidgeSolution solution = solve_ridge(design, {1.0, false, Engine::dual, Solver::orthogonal}, Control(1));
  CHECK(solution.weights.norm() == 0.0);
}

// Sums that cancel to 1e-20 of their terms, with exact numbers: Y - G W is 2^-70 at x = 1, where G = (1, 1, 1).
void test_extended_gradient() {
  IndexSetSpec spec;
  spec.n_terms = 3;
  const TensorBasis basis(spec, 0.5, Normalization::raw);
  const Index n = 20;  // no multiple of the lanes
  Matrix x(n, 1);
  Matrix y(n, 2);
  Matrix scale(n, 1);
  for (Index s = 0; s < n; ++s) {
    x(s, 0) = s % 2 == 0 ? 1.0 : -0.5;  // G = (1, -1/2, -1/8) at the latter
    y(s, 0) = s % 2 == 0 ? 1.0 : 0.0;
    y(s, 1) = 3.0;
    scale(s, 0) = s % 2 == 0 ? 2.0 : 0.0;
  }
  Matrix w(3, 2);
  w << 1.0, 1.0, -0x1p-70, 1.0, 0.0, 1.0;
  const Samples samples(check::view(static_cast<const Matrix&>(x)));
  const Design design{basis, samples, scale.data(), check::view(static_cast<const Matrix&>(y))};
  for (const int threads : {1, 3}) {
    const Matrix g = extended_gradient(design, w, Control(threads));
    CHECK((g.col(0).array() == 40 * 0x1p-70).all());
    CHECK((g.col(1).array() == 0.0).all());
  }
  // behind a box: 1/3 and its two thirds are not rounded, so that 3 x is one
  const BoxMap box{{0.0}, {1.5}, {1.0}, {0.0}, true};
  x.setOnes();
  scale.setOnes();
  y.setOnes();
  w << 0.0, 0.0, 3.0, 3.0, 0.0, 0.0;
  const Samples boxed(check::view(static_cast<const Matrix&>(x)), &box);
  const Design thirds{basis, boxed, nullptr, check::view(static_cast<const Matrix&>(y))};
  CHECK(extended_gradient(thirds, w, Control(1)).cwiseAbs().maxCoeff() < 1e-29);
  // and behind a map that takes 1/3 to 5/8
  BoxMap bent = box;
  bent.warping = {{{0.0, 0.25, 0.5}, {0.0, 0.5, 0.875}, {2.0, 1.5, 0.25}}};
  const Samples warped(check::view(static_cast<const Matrix&>(x)), &bent);
  const Design eighths{basis, warped, nullptr, check::view(static_cast<const Matrix&>(y))};
  y.setConstant(5.0);
  w << 0.0, 0.0, 8.0, 8.0, 0.0, 0.0;
  CHECK(extended_gradient(eighths, w, Control(1)).cwiseAbs().maxCoeff() < 1e-29);
}

void test_by_hand() {
  IndexSetSpec spec;
  spec.n_terms = 2;
  const TensorBasis basis(spec, 0.5, Normalization::raw);
  Matrix x(3, 1);
  x << 0, 0.5, 1;
  Matrix y(3, 1);
  y << -1, -1, 1;
  const Samples samples(check::view(static_cast<const Matrix&>(x)));
  const Design design{basis, samples, nullptr, check::view(static_cast<const Matrix&>(y))};
  const RidgeSolution solution = solve_ridge(design, {1.0, true, Engine::automatic, Solver::automatic}, Control(1));
  CHECK_NEAR(solution.weights(0, 0), -4.0 / 9, 1e-15);
  CHECK_NEAR(solution.weights(1, 0), 14.0 / 27, 1e-15);
  CHECK(solution.report.engine == fit_cost(basis, 3, 1).cheapest() && solution.report.solver == "cholesky");
}

}  // namespace

int main() {
  test_products();
  test_layouts_and_boxes();
  test_solutions();
  test_fallbacks();
  test_extended_gradient();
  test_by_hand();
  return check::report("ridge");
}
