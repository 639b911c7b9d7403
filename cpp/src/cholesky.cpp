#include "gegenbauer/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/triangular.hpp"
#include "triangular_tiles.hpp"

namespace gegenbauer {

namespace {

// Columns of the next block when n rows are left: wide blocks visit the rest of the matrix less often, narrow ones
// leave less of the work to the factorisation of diagonal blocks.
constexpr Index kWide = 192;
constexpr Index kNarrow = 96;
static_assert(kWide <= kOverwritten && kWide % kPanelOf<float> == 0 && kNarrow % kPanelOf<float> == 0);
Index block_width(Index n) { return std::min(n, n > 2000 ? kWide : kNarrow); }

void unpack_panel(const double* panel, double* matrix, Index stride, Index n_rows, Index depth) {
  const Index count = std::min<Index>(kPanel, n_rows);
  for (Index k = 0; k < depth; ++k) std::copy_n(panel + k * kPanel, count, matrix + k * stride);
}

// The lower triangle of a square block, continued by a unit matrix so that every group of columns is full.
void pack_diagonal(const double* corner, Index stride, Index width, const PackedPanels& block) {
  const Index padded = panels_of(width) * kPanel;
  for (Index p = 0; p * kPanel < width; ++p) {
    double* panel = block.panel(p);
    pack_panel(corner, stride, p * kPanel, width, width, panel);
    std::fill(panel + width * kPanel, panel + padded * kPanel, 0.0);
    for (Index r = 0; r < kPanel; ++r) {
      const Index row = p * kPanel + r;
      for (Index k = row + 1; k < width; ++k) panel[k * kPanel + r] = 0.0;
      if (row >= width) panel[row * kPanel + r] = 1.0;
    }
  }
}

// The lower triangle at corner(i, j) = corner[j * kPanel + i], i and j < kColumns, := its factor.
void factor_corner(double* corner, Index first_column) {
  for (Index c = 0; c < kColumns; ++c) {
    double* column = corner + c * kPanel;
    const double pivot = column[c];
    if (!(pivot > 0) || !std::isfinite(pivot)) {
      std::ostringstream report;
      report << "the matrix is not positive definite to working precision (pivot " << pivot << " in column "
             << first_column + c << ")";
      throw NotPositiveDefinite(Message{report.str()}.with({Way{"raise `alpha`"}}));
    }
    column[c] = std::sqrt(pivot);
    for (Index i = c + 1; i < kColumns; ++i) column[i] /= column[c];
    for (Index next = c + 1; next < kColumns; ++next)
      for (Index i = next; i < kColumns; ++i) corner[next * kPanel + i] -= column[next] * column[i];
  }
}

// A packed diagonal block := its factor; what lies above the diagonal is finite and means nothing. Left-looking in
// groups of kColumns columns: the corner of a group by itself, the rows below as any other rows.
void factor_diagonal(const PackedPanels& block, Index width, Index first_column) {
  for (Index j = 0; j < width; j += kColumns) {
    const Index home = j / kPanel;
    double* diagonal = block.panel(home);
    double* corner = diagonal + j * kPanel + j % kPanel;
    const RegisterTile tile = subtract_product(diagonal, diagonal + j % kPanel, j, j);
    store_tile(tile, diagonal, j);
    factor_corner(corner, first_column + j);
    double factor[kColumns][kColumns];
    for (Index c = 0; c < kColumns; ++c) std::copy_n(corner + c * kPanel, kColumns, factor[c]);
    store_tile(solve_corner(tile, corner), diagonal, j);
    for (Index c = 0; c < kColumns; ++c) std::copy_n(factor[c], kColumns, corner + c * kPanel);
    for (Index p = home + 1; p * kPanel < width; ++p) solve_group(block, 0, j, block.panel(p));
  }
}

// Tiles of `side` panels that cover a lower triangle; the first is its upper left corner.
std::vector<Tile> lower_tiles(Index n_panels, Index side) {
  std::vector<Tile> tiles;
  for (Index col = 0; col < n_panels; col += side)
    for (Index row = col; row < n_panels; row += side)
      tiles.push_back({row, std::min(n_panels, row + side), col, std::min(n_panels, col + side)});
  return tiles;
}

// With products of T.
template <class T>
void factor_in_place(MatrixRef matrix, const Control& control) {
  constexpr Index parts = kPanelOf<T> / kPanel;
  const Index n = matrix.rows();
  const Index stride = matrix.outerStride();
  const Index widest = panels_of(block_width(n)) * kPanel;
  const PackedPanels block(widest, widest);
  const PanelsOf<T> rows(n, widest);  // of the last factored block of columns, below its diagonal block
  const PackedPanels exact(parts == 1 ? 0 : control.n_threads() * kPanel, widest);  // a panel before it is rounded
  const double work = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 6;
  Team::run(control, control.threads_for(work), [&](Team& team, int me) {
    Index before = 0;  // columns of that block
    for (Index begin = 0; begin < n;) {
      const Index left = n - begin;
      const Index width = block_width(left);
      double* corner = matrix.data() + begin + begin * stride;
      // What is left is updated, and the next diagonal block factored as soon as its own update is done: no thread
      // waits for the serial part.
      const std::vector<Tile> tiles = lower_tiles(divide_up(left, kPanelOf<T>), divide_up(width, kPanelOf<T>));
      team.for_each(me, before == 0 ? 1 : static_cast<Index>(tiles.size()), [&](Index i, int) {
        if (before > 0)
          accumulate_tile(rows, rows, tiles[size_of(i)], before, -1.0, {corner, stride, left, left, true});
        if (i > 0) return;
        pack_diagonal(corner, stride, width, block);
        factor_diagonal(block, width, begin);
        for (Index p = 0; p * kPanel < width; ++p)
          unpack_panel(block.panel(p), corner + p * kPanel, stride, width - p * kPanel, width);
      });
      const Index rest = left - width;
      double* below = corner + width;
      const auto solve_panel = [&](Index p, double* panel) {
        pack_panel(below, stride, p * kPanel, rest, width, panel);
        for (Index j = 0; j < width; j += kColumns) solve_group(block, 0, j, panel);
        unpack_panel(panel, below + p * kPanel, stride, rest - p * kPanel, width);
      };
      team.for_each(me, divide_up(rest, kPanelOf<T>), [&](Index p, int member) {
        if constexpr (parts == 1) {
          solve_panel(p, rows.panel(p));
        } else {
          for (Index h = 0; h < parts; ++h) {
            double* panel = exact.panel(member);
            if ((p * parts + h) * kPanel < rest) {
              solve_panel(p * parts + h, panel);
            } else {
              std::fill_n(panel, kPanel * width, 0.0);
            }
            round_panel(panel, width, h, rows.panel(p));
          }
        }
      });
      before = width;
      begin += width;
    }
  });
}

}  // namespace

void cholesky_in_place(MatrixRef matrix, const Control& control, Precision precision) {
  require(matrix.cols() == matrix.rows(), "the matrix must be square, got shape (", matrix.rows(), ", ", matrix.cols(),
          ")");
  if (precision == Precision::float32) {
    factor_in_place<float>(matrix, control);
  } else {
    factor_in_place<double>(matrix, control);
  }
}

namespace {

// Exchanges rows and columns i < j of a symmetric matrix of which the lower triangle is kept.
void exchange(MatrixRef m, Index i, Index j) {
  const Index n = m.rows();
  std::swap(m(i, i), m(j, j));
  m.row(i).head(i).swap(m.row(j).head(i));
  m.col(i).tail(n - j - 1).swap(m.col(j).tail(n - j - 1));
  for (Index k = i + 1; k < j; ++k) std::swap(m(k, i), m(j, k));
}

}  // namespace

PivotedFactor pivoted_cholesky_in_place(MatrixRef matrix, Vector rounding, const Control& control) {
  const Index n = matrix.rows();
  require(matrix.cols() == n && rounding.size() == n, "the matrix must be square and fit the size of its rounding");
  PivotedFactor result;
  for (Index i = 0; i < n; ++i) result.order.push_back(i);
  if (!matrix.diagonal().allFinite()) {  // infinite pivots would end at once, with a rank of zero
    matrix.col(0).setConstant(std::numeric_limits<double>::quiet_NaN());
    result.rank = 1;
    return result;
  }
  const PackedPanels rows(n, kNarrow);
  for (Index begin = 0; begin < n; begin += kNarrow) {
    const Index width = std::min(kNarrow, n - begin);
    Vector left = matrix.diagonal().tail(n - begin);  // of the diagonal
    for (Index j = begin; j < begin + width; ++j) {
      control.check();
      Index pivot = -1;
      double largest = 0.0;
      for (Index i = j; i < n; ++i) {
        if (left(i - begin) > std::max(largest, rounding(i))) {
          pivot = i;
          largest = left(i - begin);
        }
      }
      if (pivot < 0) return result;
      if (pivot != j) {
        exchange(matrix, j, pivot);
        std::swap(rounding(j), rounding(pivot));
        std::swap(left(j - begin), left(pivot - begin));
        std::swap(result.order[size_of(j)], result.order[size_of(pivot)]);
      }
      const Index below = n - j - 1;
      matrix(j, j) = std::sqrt(largest);
      auto column = matrix.col(j).tail(below);
      column.noalias() -=
          matrix.block(j + 1, begin, below, j - begin) * matrix.row(j).segment(begin, j - begin).transpose();
      column /= matrix(j, j);
      left.tail(below) -= column.cwiseAbs2();
      result.rank = j + 1;
    }
    const Index end = begin + width;
    const Index rest = n - end;
    double* corner = matrix.data() + end + end * matrix.outerStride();
    const double pack = static_cast<double>(rest) * static_cast<double>(width);
    parallel_for(control, panels_of(rest), pack, [&](Index p, int) {
      pack_panel(corner - width * matrix.outerStride(), matrix.outerStride(), p * kPanel, rest, width, rows.panel(p));
    });
    const std::vector<Tile> tiles = triangle_tiles(0, panels_of(rest));
    parallel_for(control, static_cast<Index>(tiles.size()), 0.5 * pack * static_cast<double>(rest), [&](Index i, int) {
      accumulate_tile(rows, rows, tiles[size_of(i)], width, -1.0, {corner, matrix.outerStride(), rest, rest, true});
    });
  }
  return result;
}

void solve_factored(const ConstMatrixRef& factor, MatrixRef right, const Control& control) {
  solve_in_turn({{factor, true, false}, {factor, true, true}}, right, control);
}

void inverse_of_factored(const ConstMatrixRef& factor, MatrixRef inverse, const Control& control) {
  inverse_of_product(factor, inverse, control);
}

Vector inverse_diagonal(const ConstMatrixRef& factor, const Control& control, Precision precision) {
  return inverse_column_squares(factor, control, precision);
}

}  // namespace gegenbauer
