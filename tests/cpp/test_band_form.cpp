// The reduction to a band and its shifted solves against plain loops and dense inverses.
#include <Eigen/LU>
#include <limits>

#include "check.hpp"
#include "gegenbauer/band_form.hpp"
#include "gegenbauer/error.hpp"

using namespace gegenbauer;

namespace {

constexpr Index kWidth = BandForm::kWidth;

Matrix product(const Matrix& a, const Matrix& b) { return a.lazyProduct(b); }

// A A' of the given rank, the strict upper part of which nobody may read.
Matrix semidefinite(Index n, Index rank) {
  const Matrix a = check::uniform(n, rank, -1, 1, 2);
  return product(a, a.transpose());
}
Matrix lower_of(const Matrix& symmetric) {
  Matrix lower = Matrix::Constant(symmetric.rows(), symmetric.cols(), std::nan(""));
  lower.triangularView<Eigen::Lower>() = symmetric;
  return lower;
}

Matrix dense(const Matrix& band) {
  const Index n = band.cols();
  Matrix full = Matrix::Zero(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < std::min(n, j + kWidth + 1); ++i) full(i, j) = full(j, i) = band(i - j, j);
  return full;
}

void test_reduction() {
  for (const Index n : {1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 47, 48, 49, 97, 200}) {
    for (const bool complement : {false, true}) {
      if (complement && n == 1) continue;
      const Matrix k = semidefinite(n, n + 3);
      const Vector v = complement ? Vector(check::uniform(n, 1, -1, 1, 3)) : Vector();
      const BandForm form(lower_of(k), v, Control(1));
      const Matrix q = form.orthogonal();
      const Index size = complement ? n - 1 : n;
      const double tolerance = 1e-14 * std::sqrt(static_cast<double>(n));
      CHECK(q.rows() == size && q.cols() == n);
      CHECK((product(q, q.transpose()) - Matrix::Identity(size, size)).norm() <= 10 * tolerance);
      if (complement) CHECK(product(q, v).norm() <= 10 * tolerance * v.norm());
      CHECK((product(product(q, k), q.transpose()) - dense(form.band())).norm() <= tolerance * k.norm());
    }
  }
}

void test_solve() {
  for (const Index n : {1, 2, 8, 9, 24, 25, 50, 130}) {
    for (const bool complement : {false, true}) {
      if (complement && n == 1) continue;
      const Matrix k = semidefinite(n, n / 2 + 1);
      const Vector v = complement ? Vector(check::uniform(n, 1, 0.5, 1.5, 3)) : Vector();
      const Matrix right = check::uniform(n, 3, -1, 1, 4);
      const Vector gammas = (Vector(10) << 1e-3, 1e3, 1e-2, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 100.0).finished();
      const ShiftedSolutions found = BandForm(lower_of(k), v, Control(2)).solve(gammas, right, Control(2));
      CHECK(found.shift.norm() == 0.0);
      for (Index g = 0; g < gammas.size(); ++g) {
        // on the complement: P (P K P + gamma I)^-1 P, with K large along v being the same in the limit
        Matrix p = Matrix::Identity(n, n);
        if (complement) p -= v * v.transpose() / v.squaredNorm();
        const Matrix m = product(product(p, k), p) + gammas(g) * Matrix::Identity(n, n);
        const Matrix inverse = product(p, Matrix(m.inverse()));
        const Matrix expected = product(inverse, right);
        const double condition = m.norm() / gammas(g);
        CHECK((found.solutions.middleCols(3 * g, 3) - expected).norm() <= 1e-14 * condition * expected.norm());
        const Vector diagonal = inverse.diagonal();
        CHECK((found.inverse_diagonal.col(g) - diagonal).norm() <= 1e-14 * condition * diagonal.norm());
        for (Index j = 0; j < 3; ++j) {
          const double quadratic = right.col(j).dot(expected.col(j));
          CHECK_NEAR(found.quadratic(j, g), quadratic, 1e-14 * condition * quadratic);
        }
        const double log_determinant = std::log(m.determinant()) - (complement ? std::log(gammas(g)) : 0.0);
        if (n <= 50) CHECK_NEAR(found.log_determinant(g), log_determinant, 1e-13 * condition);
      }
    }
  }
}

void test_threads() {
  const Index n = 530;
  const Matrix k = semidefinite(n, 400);
  const Matrix right = check::uniform(n, 2, -1, 1, 4);
  const Vector gammas = (Vector(3) << 1e-6, 1e-2, 1.0).finished();
  const BandForm one(k, right.col(0), Control(1));
  const ShiftedSolutions expected = one.solve(gammas, right, Control(1));
  for (const int threads : {2, 5}) {
    const BandForm other(k, right.col(0), Control(threads));
    CHECK(other.band() == one.band() && other.orthogonal() == one.orthogonal());
    CHECK(other.largest() == one.largest() && other.smallest() == one.smallest());
    const ShiftedSolutions found = other.solve(gammas, right, Control(threads));
    CHECK(found.solutions == expected.solutions && found.inverse_diagonal == expected.inverse_diagonal);
    CHECK(found.quadratic == expected.quadratic && found.log_determinant == expected.log_determinant);
  }
}

// Any power of two is a factor of everything, also where squares of entries leave the range of float64.
void test_scale() {
  const Matrix k = semidefinite(40, 45);
  const Matrix right = check::uniform(40, 1, -1, 1, 4);
  const Vector gamma = Vector::Constant(1, 0.25);
  const ShiftedSolutions expected = BandForm(k, {}, Control(1)).solve(gamma, right, Control(1));
  for (const int exponent : {-600, 600}) {
    const double scale = std::scalbn(1.0, exponent);
    const ShiftedSolutions found = BandForm(scale * k, {}, Control(1)).solve(scale * gamma, right, Control(1));
    CHECK((scale * found.inverse_diagonal - expected.inverse_diagonal).norm() <= 1e-14);
    CHECK((scale * found.solutions - expected.solutions).norm() <= 1e-13);
  }
}

// Below the rounding of K, gamma is raised to it: finite numbers, and a shift that reports it.
void test_small_gammas() {
  const Matrix k = semidefinite(100, 20);
  const BandForm form(k, {}, Control(1));
  CHECK(form.largest() <= k.norm() && form.largest() >= k.norm() / 5);
  CHECK(form.smallest() >= 0.0 && form.smallest() <= 1e-14 * k.norm());
  const Vector gammas = (Vector(3) << 0.0, 1e-30, 1e-3).finished();
  const ShiftedSolutions found = form.solve(gammas, Matrix::Ones(100, 1), Control(1));
  CHECK(found.shift(0) > 0 && found.shift(1) > 0 && found.shift(2) == 0.0);
  CHECK(found.shift.maxCoeff() <= 1e-12 * k.norm());
  CHECK(found.solutions.allFinite() && found.inverse_diagonal.allFinite());
  CHECK((found.inverse_diagonal.array() > 0).all());
  const BandForm nothing(Matrix::Zero(30, 30), {}, Control(1));
  CHECK(nothing.largest() == 0.0 && nothing.smallest() == 0.0);
  const ShiftedSolutions plain = nothing.solve(Vector::Constant(1, 4.0), Matrix::Ones(30, 1), Control(1));
  CHECK((plain.inverse_diagonal.array() == 0.25).all() && (plain.solutions.array() == 0.25).all());
}

void test_refuses() {
  CHECK_THROWS(BandForm(Matrix::Ones(3, 2), {}, Control(1)), std::invalid_argument, "square");
  CHECK_THROWS(BandForm(Matrix::Ones(3, 3), Vector::Ones(2), Control(1)), std::invalid_argument, "3 entries");
  Matrix infinite = Matrix::Identity(20, 20);
  infinite(13, 2) = std::numeric_limits<double>::infinity();
  const BandForm form(infinite, {}, Control(1));
  CHECK_THROWS((void)form.solve(Vector::Ones(1), Matrix::Ones(20, 1), Control(1)), NotPositiveDefinite, "finite");
  CHECK_THROWS((void)form.solve(Vector::Ones(1), Matrix::Ones(19, 1), Control(1)), std::invalid_argument, "20 rows");
}

}  // namespace

int main() {
  test_reduction();
  test_solve();
  test_threads();
  test_scale();
  test_small_gammas();
  test_refuses();
  return check::report("band_form");
}
