#include "gegenbauer/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "gegenbauer/error.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

constexpr Index kBlockColumns = 96;
static_assert(kBlockColumns % kPanel == 0);

void unpack_panel(const double* panel, double* matrix, Index stride, Index n_rows, Index first_column, Index depth) {
  const Index count = std::min<Index>(kPanel, n_rows);
  for (Index k = first_column; k < depth; ++k) std::copy_n(panel + k * kPanel, count, matrix + k * stride);
}

// Columns j .. j + kColumns of a packed panel: minus what the columns before contribute.
RegisterTile left_looking_update(const double* panel, const double* right, Index j) {
  RegisterTile tile = multiply_panels(panel, right, j);
  for (int c = 0; c < kColumns; ++c)
    for (int v = 0; v < kVectors; ++v)
      tile.acc[c][v] = packet::sub(packet::load(panel + (j + c) * kPanel + v * kPacket), tile.acc[c][v]);
  return tile;
}

void store_tile(const RegisterTile& tile, double* panel, Index j) {
  for (int c = 0; c < kColumns; ++c)
    for (int v = 0; v < kVectors; ++v) packet::store(panel + (j + c) * kPanel + v * kPacket, tile.acc[c][v]);
}

// The panels hold a symmetric block of `width` columns (padded by the unit matrix); on return its factor, rows above
// the diagonal undefined but finite. Left-looking in groups of kColumns columns.
void factor_block(const PackedPanels& block, Index width, Index first_column) {
  for (Index j = 0; j < width; j += kColumns) {
    const Index home = j / kPanel;
    double* diagonal = block.panel(home);
    const double* right = diagonal + j % kPanel;
    for (Index p = home; p < block.n_panels(); ++p)
      store_tile(left_looking_update(block.panel(p), right, j), block.panel(p), j);
    const auto entry = [&](Index row, Index column) -> double& {
      return diagonal[column * kPanel + row - home * kPanel];
    };
    for (Index c = j; c < j + kColumns; ++c) {
      const double pivot = entry(c, c);
      if (!(pivot > 0) || !std::isfinite(pivot)) {
        std::ostringstream message;
        message << "the matrix is not positive definite to working precision (pivot " << pivot << " in column "
                << first_column + c << "): raise gamma";
        throw NotPositiveDefinite(message.str());
      }
      const double root = std::sqrt(pivot);
      const double inverse = 1.0 / root;
      for (Index p = home; p < block.n_panels(); ++p) {
        double* column = block.panel(p) + c * kPanel;
        for (Index r = 0; r < kPanel; ++r) column[r] *= inverse;
      }
      entry(c, c) = root;
      for (Index next = c + 1; next < j + kColumns; ++next) {
        const double factor = entry(next, c);
        for (Index p = home; p < block.n_panels(); ++p) {
          const double* column = block.panel(p) + c * kPanel;
          double* target = block.panel(p) + next * kPanel;
          for (Index r = 0; r < kPanel; ++r) target[r] -= factor * column[r];
        }
      }
    }
  }
}

// X := X R^-1 for one packed panel of rows, given the packed factor R' of the block.
void solve_panel(const PackedPanels& block, Index width, double* panel) {
  for (Index j = 0; j < width; j += kColumns) {
    const double* diagonal = block.panel(j / kPanel);
    const double* right = diagonal + j % kPanel;
    RegisterTile tile = left_looking_update(panel, right, j);
    for (int c = 0; c < kColumns; ++c) {
      const double* row = right + j * kPanel + c;  // entry (j + c, j + earlier) at row[earlier * kPanel]
      for (int earlier = 0; earlier < c; ++earlier) {
        const Packet factor = packet::broadcast(-row[earlier * kPanel]);
        for (int v = 0; v < kVectors; ++v) tile.acc[c][v] = packet::fma(factor, tile.acc[earlier][v], tile.acc[c][v]);
      }
      const Packet inverse = packet::broadcast(1.0 / row[c * kPanel]);
      for (int v = 0; v < kVectors; ++v) tile.acc[c][v] = packet::mul(tile.acc[c][v], inverse);
    }
    store_tile(tile, panel, j);
  }
}

}  // namespace

void cholesky_in_place(MatrixRef matrix, const Control& control) {
  const Index n = matrix.rows();
  require(matrix.cols() == n, "the matrix must be square, got shape (", n, ", ", matrix.cols(), ")");
  const Index stride = matrix.outerStride();
  const PackedPanels block(kBlockColumns, kBlockColumns);
  const PackedPanels rows(n, kBlockColumns);
  const double work = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 6;
  Team::run(control, control.threads_for(work), [&](Team& team, int me) {
    for (Index begin = 0; begin < n; begin += kBlockColumns) {
      const Index width = std::min(kBlockColumns, n - begin);
      double* corner = matrix.data() + begin + begin * stride;
      team.for_each(me, 1, [&](Index, int) {
        for (Index p = 0; p < block.n_panels(); ++p) {
          if (p * kPanel < width) {
            pack_panel(corner, stride, p * kPanel, width, width, block.panel(p));
          } else {
            std::fill_n(block.panel(p), width * kPanel, 0.0);
          }
          // padding: a unit matrix, so that every group of columns is full; the unread upper part: zeros
          std::fill_n(block.panel(p) + width * kPanel, (kBlockColumns - width) * kPanel, 0.0);
          for (Index r = 0; r < kPanel; ++r) {
            const Index row = p * kPanel + r;
            for (Index k = row + 1; k < width; ++k) block.panel(p)[k * kPanel + r] = 0.0;
            if (row >= width) block.panel(p)[row * kPanel + r] = 1.0;
          }
        }
        factor_block(block, width, begin);
        for (Index p = 0; p * kPanel < width; ++p)
          unpack_panel(block.panel(p), corner + p * kPanel, stride, width - p * kPanel, 0, width);
      });
      const Index rest = n - begin - width;
      if (rest == 0) return;
      double* below = corner + width;
      const Index n_panels = (rest + kPanel - 1) / kPanel;
      team.for_each(me, n_panels, [&](Index p, int) {
        double* panel = rows.panel(p);
        pack_panel(below, stride, p * kPanel, rest, width, panel);
        solve_panel(block, width, panel);
        unpack_panel(panel, below + p * kPanel, stride, rest - p * kPanel, 0, width);
      });
      const std::vector<Tile> tiles = triangle_tiles(0, n_panels);
      const ProductTarget target{below + width * stride, stride, rest, rest, true};
      team.for_each(me, static_cast<Index>(tiles.size()), [&](Index i, int) {
        accumulate_tile(rows, rows, tiles[static_cast<std::size_t>(i)], width, -1.0, target);
      });
    }
  });
}

namespace {

constexpr Index kSolveBlock = 64;

// b := R'^-1 b
void solve_lower(const ConstMatrixRef& factor, Eigen::Ref<Vector> b) {
  const Index n = factor.rows();
  for (Index begin = 0; begin < n; begin += kSolveBlock) {
    const Index end = std::min(n, begin + kSolveBlock);
    for (Index j = begin; j < end; ++j) {
      b(j) /= factor(j, j);
      b.segment(j + 1, end - j - 1).noalias() -= b(j) * factor.col(j).segment(j + 1, end - j - 1);
    }
    if (end < n)
      b.tail(n - end).noalias() -= factor.block(end, begin, n - end, end - begin) * b.segment(begin, end - begin);
  }
}

// b := R^-1 b
void solve_lower_transposed(const ConstMatrixRef& factor, Eigen::Ref<Vector> b) {
  const Index n = factor.rows();
  for (Index begin = (n - 1) / kSolveBlock * kSolveBlock; begin >= 0; begin -= kSolveBlock) {
    const Index end = std::min(n, begin + kSolveBlock);
    if (end < n)
      b.segment(begin, end - begin).noalias() -=
          factor.block(end, begin, n - end, end - begin).transpose() * b.tail(n - end);
    for (Index j = end - 1; j >= begin; --j) {
      const Index below = end - j - 1;
      b(j) = (b(j) - factor.col(j).segment(j + 1, below).dot(b.segment(j + 1, below))) / factor(j, j);
    }
  }
}

}  // namespace

void solve_factored(const ConstMatrixRef& factor, MatrixRef right, const Control& control) {
  const double work = static_cast<double>(factor.rows()) * static_cast<double>(factor.rows());
  parallel_for(control, right.cols(), work * static_cast<double>(right.cols()), [&](Index column, int) {
    solve_lower(factor, right.col(column));
    solve_lower_transposed(factor, right.col(column));
  });
}

SpectrumEstimate estimate_spectrum(const ConstMatrixRef& factor, const Control& control) {
  const Index n = factor.rows();
  constexpr int steps = 4;
  // a fixed start without structure: the fractional parts of multiples of the golden ratio, of mixed signs
  Vector start(n);
  for (Index i = 0; i < n; ++i) start(i) = std::fmod(0.618033988749895 * static_cast<double>(i + 1), 1.0) - 0.45;
  SpectrumEstimate estimate{0.0, 0.0};
  Matrix x = start.normalized();
  for (int step = 0; step < steps; ++step) {
    control.check();
    x.col(0) = factor.triangularView<Eigen::Lower>().transpose() * x.col(0);
    x.col(0) = factor.triangularView<Eigen::Lower>() * x.col(0);
    estimate.largest = x.norm();
    if (!(estimate.largest > 0) || !std::isfinite(estimate.largest)) return {0.0, 0.0};
    x /= estimate.largest;
  }
  x = start.normalized();
  for (int step = 0; step < steps; ++step) {
    solve_factored(factor, x, control);
    const double norm = x.norm();
    if (!std::isfinite(norm) || !(norm > 0)) {
      estimate.smallest = 0.0;
      return estimate;
    }
    estimate.smallest = 1.0 / norm;
    x /= norm;
  }
  return estimate;
}

}  // namespace gegenbauer
