#include "gegenbauer/triangular.hpp"

#include <algorithm>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

void solve_group(const PackedPanels& lower, Index first, Index j, double* panel) {
  const double* right = lower.panel(first + j / kPanel) + j % kPanel;
  store_tile(solve_corner(subtract_product(panel, right, j, j), right + j * kPanel), panel, j);
}

namespace {

// Whether the last unknown is found first.
bool backward(const Triangle& t) { return t.lower == t.transposed; }

// --- Few right-hand sides: every block of the triangle is read once, for all of them ---

constexpr Index kFewColumns = 16;
constexpr Index kThinBlock = 128;

// Unknowns [first, first + size) of block i, in the order in which blocks are solved.
struct Range {
  Index first, size;
};
Range range(const Triangle& t, Index i) {
  const Index n = t.matrix.rows();
  const Index size = std::min(kThinBlock, n - i * kThinBlock);
  return {backward(t) ? n - i * kThinBlock - size : i * kThinBlock, size};
}

void solve_diagonal(const Triangle& t, const Range& at, MatrixRef b) {
  const auto block = t.matrix.block(at.first, at.first, at.size, at.size);
  for (Index k = 0; k < b.cols(); ++k) {
    auto x = b.col(k).segment(at.first, at.size);
    if (t.lower && !t.transposed) block.triangularView<Eigen::Lower>().solveInPlace(x);
    if (t.lower && t.transposed) block.transpose().triangularView<Eigen::Upper>().solveInPlace(x);
    if (!t.lower && !t.transposed) block.triangularView<Eigen::Upper>().solveInPlace(x);
    if (!t.lower && t.transposed) block.transpose().triangularView<Eigen::Lower>().solveInPlace(x);
  }
}

// takes the unknowns of one block out of the equations of another
void eliminate(const Triangle& t, const Range& solved, const Range& other, MatrixRef b) {
  for (Index k = 0; k < b.cols(); ++k) {
    const auto x = b.col(k).segment(solved.first, solved.size);
    auto y = b.col(k).segment(other.first, other.size);
    if (t.transposed) {
      y.noalias() -= t.matrix.block(solved.first, other.first, solved.size, other.size).transpose() * x;
    } else {
      y.noalias() -= t.matrix.block(other.first, solved.first, other.size, solved.size) * x;
    }
  }
}

// While the equations of later blocks are still being relieved of block i - 1, block i is solved already.
void solve_thin(const Triangle& t, MatrixRef b, Team& team, int me) {
  const Index n_blocks = divide_up(t.matrix.rows(), kThinBlock);
  for (Index i = 0; i < n_blocks; ++i) {
    team.for_each(me, i == 0 ? 1 : n_blocks - i, [&](Index item, int) {
      if (i > 0) eliminate(t, range(t, i - 1), range(t, i + item), b);
      if (item == 0) solve_diagonal(t, range(t, i), b);
    });
  }
}

// --- Many right-hand sides: X := X L'^-1 on packed panels of right-hand sides ---

constexpr Index kSolveDepth = 192;
static_assert(kSolveDepth % kPanel == 0);

// Entry (j, k) of the triangle made lower: unknowns are numbered in the order in which they are found.
StridedView<const double> made_lower(const Triangle& t) {
  const Index n = t.matrix.rows();
  const Index down = t.transposed ? t.matrix.outerStride() : 1;
  const Index across = t.transposed ? 1 : t.matrix.outerStride();
  if (!backward(t)) return {t.matrix.data(), n, n, down, across};
  return {t.matrix.data() + (n - 1) * (down + across), n, n, -down, -across};
}

// Rows row .. row + kPanel and columns first .. first + depth, continued by a unit matrix.
void pack_lower(const StridedView<const double>& lower, Index row, Index first, Index depth, double* panel) {
  const Index count = std::min<Index>(kPanel, lower.rows - row);
  for (Index k = 0; k < depth; ++k, panel += kPanel) {
    if (first + k < lower.cols) {
      const double* column = &lower(row, first + k);
      for (Index r = 0; r < count; ++r) panel[r] = column[r * lower.row_stride];
      std::fill(panel + count, panel + kPanel, 0.0);
    } else {
      for (Index r = 0; r < kPanel; ++r) panel[r] = row + r == first + k ? 1.0 : 0.0;
    }
  }
}

// move(packed, plain) for the entries of the right-hand sides p * kPanel .., rows in the order of the unknowns
template <class Move>
void for_each_entry(MatrixRef& b, bool reversed, Index p, double* panel, const Move& move) {
  const Index n = b.rows();
  const Index count = std::min<Index>(kPanel, b.cols() - p * kPanel);
  double* plain = &b(reversed ? n - 1 : 0, p * kPanel);
  for (Index j = 0; j < n; ++j, panel += kPanel, plain += reversed ? -1 : 1)
    for (Index r = 0; r < count; ++r) move(panel[r], plain[r * b.outerStride()]);
}

// x and block are space for the packed right-hand sides and for a block of columns of the triangle.
void solve_packed(const Triangle& t, MatrixRef& b, const PackedPanels& x, const PackedPanels& block, Team& team,
                  int me) {
  const StridedView<const double> lower = made_lower(t);
  const Index n = lower.rows;
  team.for_each(me, x.n_panels(), [&](Index p, int) {
    std::fill_n(x.panel(p), kPanel * round_up(n, kColumns), 0.0);
    for_each_entry(b, backward(t), p, x.panel(p), [](double& packed, double& plain) { packed = plain; });
  });
  for (Index begin = 0; begin < n; begin += kSolveDepth) {
    const Index depth = std::min(kSolveDepth, round_up(n - begin, kColumns));
    const Index home = begin / kPanel;
    team.for_each(me, block.n_panels() - home,
                  [&](Index i, int) { pack_lower(lower, (home + i) * kPanel, begin, depth, block.panel(home + i)); });
    team.for_each(me, x.n_panels(), [&](Index p, int) {
      for (Index j = 0; j < depth; j += kColumns) solve_group(block, home, j, x.panel(p) + begin * kPanel);
    });
    const Index below = home + kSolveDepth / kPanel;
    if (below >= block.n_panels()) break;
    const std::vector<Tile> tiles = rectangle_tiles(x.n_panels(), block.n_panels() - below);
    team.for_each(me, static_cast<Index>(tiles.size()), [&](Index i, int) {
      const Tile& tile = tiles[size_of(i)];
      for (Index q = below + tile.col_begin; q < below + tile.col_end; ++q)
        for (Index j = q * kPanel; j < std::min((q + 1) * kPanel, round_up(n, kColumns)); j += kColumns)
          for (Index p = tile.row_begin; p < tile.row_end; ++p) {
            double* panel = x.panel(p) + begin * kPanel;
            store_tile(subtract_product(panel, block.panel(q) + j % kPanel, depth, j - begin), panel, j - begin);
          }
    });
  }
  team.for_each(me, x.n_panels(), [&](Index p, int) {
    for_each_entry(b, backward(t), p, x.panel(p), [](double& packed, double& plain) { plain = packed; });
  });
}

}  // namespace

void solve_in_turn(std::initializer_list<Triangle> triangles, MatrixRef right, const Control& control) {
  const Index n = right.rows();
  for (const Triangle& t : triangles)
    require(t.matrix.rows() == n && t.matrix.cols() == n, "right-hand sides of shape (", n, ", ", right.cols(),
            ") do not fit a triangle of shape (", t.matrix.rows(), ", ", t.matrix.cols(), ")");
  if (right.size() == 0) return;
  const double entries = 0.5 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(triangles.size());
  if (right.cols() <= kFewColumns) {
    // an entry that comes from memory costs as much as several multiply-adds
    const double work = entries * static_cast<double>(std::max<Index>(8, right.cols()));
    Team::run(control, control.threads_for(work), [&](Team& team, int me) {
      for (const Triangle& t : triangles) solve_thin(t, right, team, me);
    });
    return;
  }
  const PackedPanels block(n, std::min(kSolveDepth, round_up(n, kColumns)));
  const PackedPanels x(right.cols(), round_up(n, kColumns));
  Team::run(control, control.threads_for(entries * static_cast<double>(right.cols())), [&](Team& team, int me) {
    for (const Triangle& t : triangles) solve_packed(t, right, x, block, team, me);
  });
}

}  // namespace gegenbauer
