// Polynomials read from a grid, and sums spread onto one, against Chebyshev polynomials by their recurrence in long
// double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "gegenbauer/angle_grid.hpp"
#include "gegenbauer/error.hpp"

using namespace gegenbauer;

namespace {

// T_k(x_s) of all inputs, products for all waves: (waves, samples)
Matrix products(const std::vector<Index>& degrees, const Matrix& x) {
  Matrix all = Matrix::Ones(1, x.rows());
  for (std::size_t t = 0; t < degrees.size(); ++t) {
    const Index n = degrees[t] + 1;
    Matrix next(all.rows() * n, x.rows());
    for (Index s = 0; s < x.rows(); ++s) {
      const auto at = static_cast<long double>(x(s, static_cast<Index>(t)));
      long double before = at;  // T_{-1}
      long double now = 1.0L;
      for (Index k = 0; k < n; ++k) {
        for (Index i = 0; i < all.rows(); ++i) next(i * n + k, s) = all(i, s) * static_cast<double>(now);
        const long double after = 2.0L * at * now - before;
        before = now;
        now = after;
      }
    }
    all = next;
  }
  return all;
}

Matrix samples_of(Index n, Index m, unsigned seed) {
  Matrix x = check::uniform(n, m, -1, 1, seed);
  for (Index t = 0; t < m; ++t) {
    x(0, t) = -1.0;
    x(1, t) = 1.0;
    x(2, t) = 0.0;
    x(3, t) = 1.0 - 1e-15;
    x(4, t) = -1.0 + 1e-9;
    x(5, t) = -0.0;
  }
  return x;
}

const std::vector<std::vector<Index>> kDegrees = {
    {0}, {1}, {5}, {40}, {700}, {0, 0}, {3, 0}, {0, 11}, {20, 7}, {106, 53}, {2, 3, 4}, {9, 0, 6}, {1, 2, 1, 2}};

// What the window and sums err by for each input, where a compiler has no long double more, and what the rounding of an
// angle does to the highest wave, which many others hide.
double allowed(const std::vector<Index>& degrees) {
  constexpr double share = std::numeric_limits<long double>::digits > 53 ? 1e-15 : 6e-15;
  const auto most = static_cast<double>(*std::max_element(degrees.begin(), degrees.end()));
  return share * static_cast<double>(degrees.size()) + 5e-17 * most;
}

// Few functions are read one after the other, many side by side.
void test_functions(Index n_functions) {
  for (const std::vector<Index>& degrees : kDegrees) {
    const auto m = static_cast<Index>(degrees.size());
    Matrix x = samples_of(300, m, 4);
    const Matrix t = products(degrees, x);
    const Matrix coefficients = check::uniform(t.rows(), n_functions, -1, 1, 2);
    const AngleFunctions functions(AngleGrid(degrees), check::view(coefficients), Control(1));
    CHECK(functions.n_functions() == n_functions && functions.n_inputs() == m);
    Matrix found(x.rows(), n_functions);
    const Matrix& inputs = x;
    CHECK(functions.evaluate(Samples(check::view(inputs)), check::view(found), Control(1)) == 1.0);
    const Matrix expected = t.transpose() * coefficients;
    for (Index f = 0; f < n_functions; ++f)
      CHECK((found.col(f) - expected.col(f)).cwiseAbs().maxCoeff() <=
            allowed(degrees) * coefficients.col(f).cwiseAbs().sum());
    x.row(0).setConstant(-1.0 - 1e-12);
    x.row(1).setConstant(1.0 + 2e-12);
    Matrix same(x.rows(), n_functions);
    CHECK(functions.evaluate(Samples(check::view(inputs)), check::view(same), Control(1)) == 1.0 + 2e-12);
    CHECK((same - found).isZero(0.0));
  }
}

SampleFactors columns(const Matrix& factors) {
  return [&](Index first, Index count, double* out, Index stride) {
    for (Index f = 0; f < factors.cols(); ++f)
      for (Index s = 0; s < count; ++s) out[f * stride + s] = factors(first + s, f);
  };
}

void test_sums() {
  for (const std::vector<Index>& degrees : kDegrees) {
    const auto m = static_cast<Index>(degrees.size());
    const Matrix x = samples_of(300, m, 5);
    const Matrix factors = check::uniform(300, 11, -1, 1, 6);  // more than one group
    const AngleGrid grid(degrees);
    const Matrix t = products(degrees, x);
    CHECK(grid.n_waves() == t.rows());
    Matrix sums = Matrix::Constant(grid.n_waves(), 11, std::numeric_limits<double>::quiet_NaN());
    CHECK(grid.accumulate(Samples(check::view(x)), 11, columns(factors), sums.data(), Control(1)));
    const Matrix expected = t * factors;
    for (Index f = 0; f < 11; ++f)
      CHECK((sums.col(f) - expected.col(f)).cwiseAbs().maxCoeff() <=
            allowed(degrees) * factors.col(f).cwiseAbs().sum());
    Matrix outside = x;
    outside(299, m - 1) = -1.0 - 1e-15;
    const Matrix& inputs = outside;
    CHECK(!grid.accumulate(Samples(check::view(inputs)), 11, columns(factors), sums.data(), Control(1)));
  }
}

void test_threads() {
  const std::vector<Index> degrees{30, 21};
  const Matrix x = check::uniform(70'000, 2, -1, 1, 4);
  const Matrix factors = check::uniform(70'000, 2, -1, 1, 6);
  const AngleGrid grid(degrees);
  const Matrix coefficients = check::uniform(grid.n_waves(), 5, -1, 1, 2);
  const AngleFunctions functions(AngleGrid(degrees), check::view(coefficients), Control(2));
  Matrix one(x.rows(), 5), three(x.rows(), 5);
  functions.evaluate(Samples(check::view(x)), check::view(one), Control(1));
  functions.evaluate(Samples(check::view(x)), check::view(three), Control(3));
  CHECK((one - three).isZero(0.0));
  Matrix sums(grid.n_waves(), 2), same(grid.n_waves(), 2);
  CHECK(grid.accumulate(Samples(check::view(x)), 2, columns(factors), sums.data(), Control(1)));
  CHECK(grid.accumulate(Samples(check::view(x)), 2, columns(factors), same.data(), Control(3)));
  CHECK((sums - same).isZero(0.0));
  const Matrix none(0, 2);
  CHECK(grid.accumulate(Samples(check::view(none)), 2, columns(none), sums.data(), Control(3)));
  CHECK(sums.isZero(0.0));
}

// A number that is none makes sums that are none, and only its own values.
void test_not_a_number() {
  Matrix x = check::uniform(50, 2, -1, 1, 4);
  x(7, 1) = std::numeric_limits<double>::quiet_NaN();
  const Matrix& inputs = x;
  const Matrix ones = Matrix::Ones(50, 1);
  const AngleGrid grid({3, 4});
  Matrix sums(grid.n_waves(), 1);
  CHECK(grid.accumulate(Samples(check::view(inputs)), 1, columns(ones), sums.data(), Control(1)));
  CHECK(sums.hasNaN());
  const Matrix coefficients = check::uniform(20, 1, -1, 1, 2);
  const AngleFunctions functions(AngleGrid({3, 4}), check::view(coefficients), Control(1));
  Matrix found(50, 1);
  functions.evaluate(Samples(check::view(inputs)), check::view(found), Control(1));
  for (Index s = 0; s < 50; ++s) CHECK(std::isnan(found(s, 0)) == (s == 7));
}

void test_refusals() {
  const Matrix coefficients = check::uniform(5, 2, 0, 1);
  const AngleFunctions functions(AngleGrid({4}), check::view(coefficients), Control(1));
  Matrix out(3, 2);
  CHECK_THROWS(functions.evaluate(Samples(check::view(check::uniform(3, 2, 0, 1))), check::view(out), Control(1)),
               std::invalid_argument, "X must have 1 columns");
  CHECK_THROWS(functions.evaluate(Samples(check::view(check::uniform(4, 1, 0, 1))), check::view(out), Control(1)),
               std::invalid_argument, "values must have shape (4, 2)");
  CHECK_THROWS(AngleFunctions(AngleGrid({5}), check::view(coefficients), Control(1)), std::invalid_argument, "6 rows");
  CHECK_THROWS(AngleGrid({-1}), std::invalid_argument, "negative");
  CHECK_THROWS(AngleGrid({1000, 1000}, 100'000), std::invalid_argument, "at most 100000 nodes");
  CHECK_THROWS(AngleGrid(std::vector<Index>{}), std::invalid_argument, "an input");
}

}  // namespace

int main() {
  for (const Index n_functions : {1, 2, 19}) test_functions(n_functions);
  test_sums();
  test_threads();
  test_not_a_number();
  test_refusals();
  return check::report("angle_grid");
}
