// The float32 form of the products, against the float64 form and the bound that normal_equations.hpp states.
#include "check.hpp"
#include "gegenbauer/normal_equations.hpp"

using namespace gegenbauer;

namespace {

TensorBasis make_basis(Index n_inputs, Index degree, double lam = 0.05,
                       Normalization normalization = Normalization::raw) {
  IndexSetSpec spec;
  spec.n_inputs = n_inputs;
  spec.degree = degree;
  return TensorBasis(spec, lam, normalization);
}

// The largest error of the lower triangle, relative to the square root of the diagonal entries of its row and column.
double largest_error(const Matrix& got, const Matrix& expected) {
  double worst = 0;
  for (Index j = 0; j < got.cols(); ++j)
    for (Index i = j; i < got.rows(); ++i)
      worst = std::max(worst, std::abs(got(i, j) - expected(i, j)) / std::sqrt(expected(i, i) * expected(j, j)));
  return worst;
}

double bound(Index n_factors) { return static_cast<double>(256 + 4 * n_factors + 2) * 0x1p-24; }

void test_against_float64() {
  struct Case {
    Index n_samples, n_inputs, degree, n_outputs;
  };
  for (const Case& c : {Case{1, 1, 0, 1}, Case{77, 2, 9, 0}, Case{333, 6, 4, 3}, Case{1403, 3, 5, 9}}) {
    for (const double low : {0.0, -1.0}) {
      for (const auto normalization : {Normalization::raw, Normalization::orthonormal}) {
        const TensorBasis basis = make_basis(c.n_inputs, c.degree, 0.05, normalization);
        const Matrix x = check::uniform(c.n_samples, c.n_inputs, low, 1);
        const Matrix y = check::uniform(c.n_samples, c.n_outputs, -1, 1, 2);
        const Matrix scale = check::uniform(c.n_samples, 1, 0.1, 2, 3);
        const Index n_terms = basis.n_terms();
        const Index n = n_terms + c.n_outputs;
        const double most = bound(std::min(c.n_inputs, c.degree));
        for (const double* row_scale : {static_cast<const double*>(nullptr), scale.data()}) {
          const Samples samples(check::view(x));
          const Design design{basis, samples, row_scale, check::view(y)};
          Matrix expected = Matrix::Zero(n, n);
          Matrix got = expected;
          accumulate_gram(design, expected, Control(1));
          accumulate_gram(design, got, Control(1), Precision::float32);
          CHECK(largest_error(got.topLeftCorner(n_terms, n_terms), expected.topLeftCorner(n_terms, n_terms)) <= most);
          if (n_terms > 1) CHECK((got - expected).cwiseAbs().maxCoeff() > 0);  // it is another computation
          for (Index j = 0; j < n; ++j)
            for (Index i = std::max(j, n_terms); i < n; ++i)
              CHECK_NEAR(got(i, j), expected(i, j), 1e-13 * std::sqrt(expected(i, i) * expected(j, j)));
          Matrix threaded = Matrix::Zero(n, n);
          accumulate_gram(design, threaded, Control(3), Precision::float32);
          for (Index j = 0; j < n; ++j)
            CHECK((threaded.col(j).tail(n - j).array() == got.col(j).tail(n - j).array()).all());

          expected = got = Matrix::Zero(c.n_samples, c.n_samples);
          accumulate_kernel(design, 0, expected, Control(1));
          accumulate_kernel(design, 0, got, Control(2), Precision::float32);
          CHECK(largest_error(got, expected) <= most);
        }
      }
    }
  }
}

// Sums of float are short, so a million samples are as accurate as a thousand.
void test_many_samples() {
  const TensorBasis basis = make_basis(2, 3);
  const Matrix x = check::uniform(1'000'003, 2, 0, 1);
  const Samples samples(check::view(x));
  for (const Index n_samples : {Index{1003}, x.rows()}) {
    const Samples part = samples.slice(0, n_samples);
    const Design design{basis, part, nullptr, {}};
    Matrix expected = Matrix::Zero(basis.n_terms(), basis.n_terms());
    Matrix got = expected;
    accumulate_gram(design, expected, Control(2));
    accumulate_gram(design, got, Control(2), Precision::float32);
    CHECK(largest_error(got, expected) < 1e-6);
  }
}

// Terms beyond the comfortable range of float32 are computed in float64, bit by bit.
void test_range() {
  const Matrix x = check::uniform(50, 2, 0, 1);
  const Samples samples(check::view(x));
  for (const double lam : {1e-8, 500.0}) {
    const TensorBasis basis = make_basis(2, 12, lam);
    CHECK(!basis.fits_float32());
    const Design design{basis, samples, nullptr, {}};
    Matrix expected = Matrix::Zero(basis.n_terms(), basis.n_terms());
    Matrix got = expected;
    accumulate_gram(design, expected, Control(1));
    accumulate_gram(design, got, Control(1), Precision::float32);
    CHECK((got.array() == expected.array()).all());
    expected = got = Matrix::Zero(50, 50);
    accumulate_kernel(design, 1, expected, Control(1));
    accumulate_kernel(design, 1, got, Control(1), Precision::float32);
    CHECK((got.array() == expected.array()).all());
  }
  CHECK(make_basis(6, 6).fits_float32());
}

}  // namespace

int main() {
  test_against_float64();
  test_many_samples();
  test_range();
  return check::report("precision");
}
