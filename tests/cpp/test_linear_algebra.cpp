// Products on tiles, Cholesky, orthogonal factorisations and refinement against plain loops.
#include "check.hpp"
#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/error.hpp"
#include "gegenbauer/orthogonal.hpp"
#include "gegenbauer/refine.hpp"
#include "gegenbauer/tiles.hpp"
#include "gegenbauer/triangular.hpp"

using namespace gegenbauer;

namespace {

Matrix product(const Matrix& a, const Matrix& b) { return a.lazyProduct(b); }

Matrix positive_definite(Index n) {
  const Matrix a = check::uniform(n, n + 5, -1, 1);
  Matrix m = product(a, a.transpose());
  m.diagonal().array() += 0.1;
  return m;
}

void test_tiles() {
  for (const Index rows : {Index{1}, Index{kPanel - 1}, Index{kPanel}, Index{3 * kPanel + 1}, Index{230}}) {
    for (const Index depth : {Index{1}, Index{7}, Index{300}}) {
      const Matrix a = check::uniform(rows, depth, -1, 1, 2);
      const Matrix b = check::uniform(rows + 5, depth, -1, 1, 3);
      const PackedPanels left(a.rows(), depth);
      const PackedPanels right(b.rows(), depth);
      for (Index p = 0; p < left.n_panels(); ++p)
        pack_panel(a.data(), a.outerStride(), p * kPanel, a.rows(), depth, left.panel(p));
      for (Index p = 0; p < right.n_panels(); ++p)
        pack_panel(b.data(), b.outerStride(), p * kPanel, b.rows(), depth, right.panel(p));
      // a frame around the target must stay as it is
      Matrix framed = Matrix::Constant(a.rows() + 2, b.rows() + 2, 7.0);
      const ProductTarget target{&framed(1, 1), framed.outerStride(), a.rows(), b.rows(), false};
      for (const Tile& tile : rectangle_tiles(left.n_panels(), right.n_panels()))
        accumulate_tile(left, right, tile, depth, -1.0, target);
      const Matrix expected = Matrix::Constant(a.rows(), b.rows(), 7.0) - product(a, b.transpose());
      CHECK((framed.block(1, 1, a.rows(), b.rows()) - expected).cwiseAbs().maxCoeff() < 1e-12);
      framed.block(1, 1, a.rows(), b.rows()).setConstant(7.0);
      CHECK((framed.array() == 7.0).all());
    }
  }
}

void test_cholesky() {
  for (const Index n : {1, 2, 7, 8, 9, 23, 24, 25, 95, 96, 97, 191, 200, 301, 700}) {
    const Matrix m = positive_definite(n);
    Matrix factor = m;
    cholesky_in_place(factor, Control(1));
    const Matrix lower = factor.triangularView<Eigen::Lower>();
    CHECK((product(lower, lower.transpose()) - m).norm() <= 1e-14 * static_cast<double>(n) * m.norm());
    const Matrix right = check::uniform(n, 3, -1, 1, 4);
    Matrix solution = right;
    solve_factored(factor, solution, Control(2));
    CHECK((product(m, solution) - right).norm() <= 1e-11 * right.norm() * static_cast<double>(n));
    for (const int threads : {2, 3}) {
      Matrix again = m;
      cholesky_in_place(again, Control(threads));
      const Matrix other = again.triangularView<Eigen::Lower>();
      CHECK((other.array() == lower.array()).all());
    }
  }
}

// Large enough for both widths of blocks.
void test_cholesky_of_many_columns() {
  const Index n = 2120;
  Matrix m = check::uniform(n, n, -1, 1, 13);
  m.triangularView<Eigen::StrictlyUpper>() = m.transpose();
  m.diagonal().array() += 100.0;
  const Matrix right = check::uniform(n, 2, -1, 1, 14);
  Matrix factor = m;
  cholesky_in_place(factor, Control(1));
  Matrix again = m;
  cholesky_in_place(again, Control(3));
  CHECK(((factor - again).triangularView<Eigen::Lower>().toDenseMatrix().array() == 0.0).all());
  Matrix x = right;
  solve_factored(factor, x, Control(2));
  CHECK((product(m, x) - right).cwiseAbs().maxCoeff() <= 1e-12);
}

// Products in float32: the factor of a matrix that is off by its rounding, whatever the number of threads, and the
// diagonal of its inverse by solves that round as much.
void test_float32() {
  for (const Index n : {1, 24, 49, 97, 193, 200, 385, 700, 2120}) {
    Matrix m = check::uniform(n, n, -1, 1, 15);
    m.triangularView<Eigen::StrictlyUpper>() = m.transpose();
    m.diagonal().array() += 2.0 * std::sqrt(static_cast<double>(n)) + 1.0;
    Matrix single = m;
    cholesky_in_place(single, Control(1), Precision::float32);
    for (Index j = kOverwritten + 1; j < n; ++j)  // what lies far enough above the diagonal is kept
      CHECK((single.col(j).head(j - kOverwritten).array() == m.col(j).head(j - kOverwritten).array()).all());
    const Matrix lower = single.triangularView<Eigen::Lower>();
    Matrix again = m;
    cholesky_in_place(again, Control(3), Precision::float32);
    CHECK((again.triangularView<Eigen::Lower>().toDenseMatrix().array() == lower.array()).all());
    const Matrix rebuilt = n > 1000 ? Matrix(lower * lower.transpose()) : product(lower, lower.transpose());
    const double largest = m.diagonal().maxCoeff();
    CHECK((rebuilt - m).triangularView<Eigen::Lower>().toDenseMatrix().cwiseAbs().maxCoeff() <= 2e-6 * largest);
    Matrix exact = m;
    cholesky_in_place(exact, Control(2));
    if (n > 300) CHECK((rebuilt - m).cwiseAbs().maxCoeff() > 1e-9 * largest);  // it is another computation
    const Vector expected = inverse_diagonal(exact, Control(2));
    const Vector got = inverse_diagonal(single, Control(2), Precision::float32);
    CHECK(((got - expected).array() / expected.array()).abs().maxCoeff() <= 1e-5);
    CHECK((inverse_diagonal(single, Control(1), Precision::float32).array() == got.array()).all());
    // of the same factor, the solves alone
    const Vector of_exact = inverse_diagonal(exact, Control(2), Precision::float32);
    CHECK(((of_exact - expected).array() / expected.array()).abs().maxCoeff() <= 1e-5);
  }
}

void test_cholesky_refuses() {
  for (const Index n : {1, 9, 130}) {
    Matrix m = positive_definite(n);
    m(n - 1, n - 1) = -1.0;
    CHECK_THROWS(cholesky_in_place(m, Control(2)), NotPositiveDefinite, "alpha");
    CHECK_THROWS(cholesky_in_place(m, Control(2), Precision::float32), NotPositiveDefinite, "alpha");
    m(n - 1, n - 1) = std::nan("");
    CHECK_THROWS(cholesky_in_place(m, Control(2)), NotPositiveDefinite, "alpha");
  }
}

// All four kinds, on all three paths, against a product; what lies in the other half must not matter.
void test_triangular() {
  for (const Index n : {1, 7, 24, 127, 128, 129, 192, 193, 400}) {
    Matrix dense = check::uniform(n, n, -1, 1, 10);
    dense.diagonal().array() += 2.0 * std::sqrt(static_cast<double>(n));
    for (const Index n_columns : {1, 2, 9, 17, 24, 60, 200}) {
      const Matrix right = check::uniform(n, n_columns, -1, 1, 11);
      for (const bool lower : {false, true}) {
        Matrix triangle = Matrix::Zero(n, n);
        Matrix stored = Matrix::Constant(n, n, std::nan(""));
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < n; ++i)
            if (lower ? i >= j : i <= j) triangle(i, j) = stored(i, j) = dense(i, j);
        for (const bool transposed : {false, true}) {
          Matrix x = right;
          solve_in_turn({{stored, lower, transposed}}, x, Control(1));
          const Matrix rebuilt = transposed ? product(triangle.transpose(), x) : product(triangle, x);
          CHECK((rebuilt - right).cwiseAbs().maxCoeff() <= 1e-13);
          Matrix other = right;
          solve_in_turn({{stored, lower, transposed}}, other, Control(3));
          CHECK((other.array() == x.array()).all());
        }
      }
    }
  }
  // large enough for threads: the factor and its transpose in turn, few and many columns, a part of an array
  const Matrix m = positive_definite(700);
  Matrix factor = m;
  cholesky_in_place(factor, Control(1));
  for (const Index n_columns : {8, 100}) {
    Matrix framed = check::uniform(702, n_columns + 2, -1, 1, 12);
    const Matrix before = framed;
    Matrix alone = framed.block(1, 1, 700, n_columns);
    solve_factored(factor, framed.block(1, 1, 700, n_columns), Control(3));
    const Matrix rebuilt = product(m, framed.block(1, 1, 700, n_columns));
    CHECK((rebuilt - alone).norm() <= 1e-10 * alone.norm());
    solve_factored(factor, alone, Control(1));
    CHECK((framed.block(1, 1, 700, n_columns).array() == alone.array()).all());
    framed.block(1, 1, 700, n_columns) = before.block(1, 1, 700, n_columns);
    CHECK((framed.array() == before.array()).all());
  }
  Matrix nothing(700, 0);
  solve_factored(factor, nothing, Control(2));
  Matrix short_one = Matrix::Ones(3, 2);
  CHECK_THROWS(solve_factored(factor, short_one, Control(2)), std::invalid_argument, "do not fit");
}

void test_condition() {
  Matrix m = Matrix::Zero(50, 50);
  for (Index i = 0; i < 50; ++i) m(i, i) = std::pow(10.0, -static_cast<double>(i) / 7.0);
  Matrix factor = m;
  cholesky_in_place(factor, Control(1));
  const double rcond = estimate_spectrum(factor, Control(1)).reciprocal_condition();
  CHECK(rcond >= 0.99e-7 && rcond <= 1e-6);
}

void test_householder() {
  for (const Index n : {1, 5, 48, 49, 150}) {
    const Matrix a = check::uniform(n + 70, n, -1, 1, 5);
    const HouseholderQr qr(a, Control(2));
    Matrix rebuilt = Matrix::Zero(a.rows(), n);
    rebuilt.topRows(n) = qr.upper();
    qr.apply(rebuilt, Control(2));
    CHECK((rebuilt - a).norm() <= 1e-13 * a.norm());
    qr.apply_transposed(rebuilt, Control(2));
    CHECK((rebuilt.topRows(n) - qr.upper()).norm() + rebuilt.bottomRows(70).norm() <= 1e-13 * a.norm());
    CHECK(Matrix(qr.triangle().triangularView<Eigen::Upper>()) == qr.upper());
    Matrix b = check::uniform(n, 2, -1, 1, 6);
    const Matrix right = b;
    solve_upper(qr.upper(), b, Control(1));
    CHECK((product(qr.upper(), b) - right).norm() <= 1e-10 * right.norm());
    b = right;
    solve_upper_transposed(qr.upper(), b, Control(1));
    CHECK((product(qr.upper().transpose(), b) - right).norm() <= 1e-10 * right.norm());
  }
}

// Rank 6 of 10: the four conditions of Moore and Penrose, column by column of the unit matrix.
void test_minimum_norm() {
  const Matrix a = product(check::uniform(10, 6, -1, 1, 7), check::uniform(6, 10, -1, 1, 8));
  const MinimumNormSolution found = minimum_norm_solution(a, Matrix::Identity(10, 10), 1e-14, Control(1));
  CHECK(found.rank == 6);
  const Matrix& p = found.solution;
  CHECK((product(product(a, p), a) - a).norm() < 1e-12);
  CHECK((product(product(p, a), p) - p).norm() < 1e-10);
  CHECK((product(a, p) - product(a, p).transpose()).norm() < 1e-12);
  CHECK((product(p, a) - product(p, a).transpose()).norm() < 1e-12);
  Matrix normal = Matrix::Identity(10, 10);
  found.solve_normal(normal, Control(1));
  CHECK((normal - product(p, p.transpose())).norm() < 1e-10 * normal.norm());
  const Matrix whole = positive_definite(8);
  normal = product(whole.transpose(), whole);
  minimum_norm_solution(whole, whole, 1e-14, Control(1)).solve_normal(normal, Control(1));
  CHECK((normal - Matrix::Identity(8, 8)).norm() < 1e-10);
  CHECK(minimum_norm_solution(Matrix::Zero(4, 4), Matrix::Ones(4, 1), 1e-14, Control(1)).solution.norm() == 0.0);
  // what is small beside what it was computed from counts as nothing
  const Matrix noise = 1e-15 * Matrix::Identity(4, 4);
  CHECK(minimum_norm_solution(noise, Matrix::Ones(4, 1), 1e-14, Control(1)).rank == 4);
  const MinimumNormSolution none = minimum_norm_solution(noise, Matrix::Ones(4, 1), 1e-14, Control(1), 1.0);
  CHECK(none.rank == 0 && none.solution.norm() == 0.0);
  const Matrix large = 1e200 * Matrix::Identity(4, 4);  // norms overflow, which must not look like a matrix of zeros
  CHECK(minimum_norm_solution(large, Matrix::Ones(4, 1), 1e-14, Control(1)).solution.array().isNaN().all());
}

// Rank 5, 100, 250 of 250 rows of very different scale: L L' is the matrix, row by row.
void test_pivoted_cholesky() {
  for (const Index rank : {5, 100, 250}) {
    Matrix half = check::uniform(250, rank, -1, 1, 7);
    for (Index i = 0; i < 250; ++i) half.row(i) *= std::pow(10.0, static_cast<double>(i % 7) * 20.0 - 60.0);
    const Matrix m = product(half, half.transpose());
    const Vector rounding = 1e-13 * m.diagonal();
    Matrix one = m.triangularView<Eigen::Lower>();
    Matrix two = one;
    const PivotedFactor found = pivoted_cholesky_in_place(one, rounding, Control(1));
    CHECK(found.rank == rank);
    CHECK(pivoted_cholesky_in_place(two, rounding, Control(2)).order == found.order);
    CHECK(one == two);
    const Matrix l = one.leftCols(rank).triangularView<Eigen::Lower>();
    const Matrix rebuilt = product(l, l.transpose());
    double worst = 0.0;
    for (Index i = 0; i < 250; ++i) {
      for (Index j = 0; j < 250; ++j) {
        const Index a = found.order[static_cast<std::size_t>(i)];
        const Index b = found.order[static_cast<std::size_t>(j)];
        worst = std::max(worst, std::abs(rebuilt(i, j) - m(a, b)) / std::sqrt(m(a, a) * m(b, b)));
      }
    }
    CHECK(worst <= 1e-12);
  }
  Matrix none = Matrix::Zero(3, 3);
  CHECK(pivoted_cholesky_in_place(none, Vector::Zero(3), Control(1)).rank == 0);
  Matrix infinite = Matrix::Constant(3, 3, std::numeric_limits<double>::infinity());
  CHECK(pivoted_cholesky_in_place(infinite, Vector::Zero(3), Control(1)).rank == 1);
  CHECK(infinite.col(0).array().isNaN().all());
}

void test_refinement() {
  const Matrix m = positive_definite(30);
  Matrix perturbed = m + 1e-4 * m.norm() * Matrix::Identity(30, 30);
  cholesky_in_place(perturbed, Control(1));
  const Matrix right = check::uniform(30, 1, -1, 1, 9);
  Matrix x = Matrix::Zero(30, 1);
  const auto report =
      refine([&] { return Matrix(right - product(m, x)); },
             [&](Matrix& r) { solve_factored(perturbed, r, Control(1)); }, [&](const Matrix& c) { x += c; }, 60, 1e-13);
  // it stops as soon as the rate promises 1e-13, not one correction later
  CHECK(report.n_steps > 1 && report.last_correction > 1e-13 && report.last_correction <= 1e-9);
  Matrix exact = right;
  Matrix factor = m;
  cholesky_in_place(factor, Control(1));
  solve_factored(factor, exact, Control(1));
  CHECK((x - exact).norm() <= 1e-12 * exact.norm());
}

// (L L')^-1, both triangles, in place and beside the factor.
void test_inverse() {
  for (const Index n : {1, 2, 5, 23, 24, 25, 239, 240, 241, 500, 777}) {
    const Matrix a = check::uniform(n, n + 3, -1, 1, static_cast<unsigned>(n));
    const Matrix whole = a * a.transpose() + 0.1 * static_cast<double>(n) * Matrix::Identity(n, n);
    Matrix factor = whole;
    factor.triangularView<Eigen::StrictlyUpper>().setConstant(std::numeric_limits<double>::quiet_NaN());
    cholesky_in_place(factor, Control(1));
    Matrix found = Matrix::Constant(n, n, 1e300);
    inverse_of_factored(factor, found, Control(1));
    const Matrix rest = found * whole - Matrix::Identity(n, n);
    CHECK(rest.cwiseAbs().maxCoeff() <= 1e-13);
    CHECK((found - found.transpose()).isZero(0.0));
    Matrix threaded = Matrix::Constant(n, n, -1e300);
    inverse_of_factored(factor, threaded, Control(3));
    CHECK((threaded - found).isZero(0.0));
    inverse_of_factored(factor, factor, Control(2));
    CHECK((factor - found).isZero(0.0));
  }
  Matrix narrow(3, 2);
  CHECK_THROWS(inverse_of_factored(narrow, narrow, Control(1)), std::invalid_argument, "square");
  Matrix square = Matrix::Identity(3, 3);
  CHECK_THROWS(inverse_of_factored(square, narrow, Control(1)), std::invalid_argument,
               "inverse must have shape (3, 3)");
}

}  // namespace

int main() {
  test_inverse();
  test_tiles();
  test_cholesky();
  test_cholesky_of_many_columns();
  test_float32();
  test_cholesky_refuses();
  test_triangular();
  test_condition();
  test_householder();
  test_minimum_norm();
  test_pivoted_cholesky();
  test_refinement();
  return check::report("linear_algebra");
}
