#include "gegenbauer/triangular.hpp"
#include "triangular_tiles.hpp"

#include <algorithm>
#include <cmath>

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

// --- One or two right-hand sides: products of blocks of the triangle with a vector ---

constexpr Index kFewColumns = 2;
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

// solve(i, g) finds the unknowns of block i for a group of right-hand sides, eliminate(i, j, g) takes them out of the
// equations of a later block. While these are still being relieved of block i - 1, block i is solved already.
template <class Solve, class Eliminate>
void by_blocks(Index n_blocks, Index n_groups, const Solve& solve, const Eliminate& eliminate, Team& team, int me) {
  for (Index i = 0; i < n_blocks; ++i) {
    team.for_each(me, (i == 0 ? 1 : n_blocks - i) * n_groups, [&](Index item, int) {
      const Index j = i + item / n_groups;
      const Index group = item % n_groups;
      if (i > 0) eliminate(i - 1, j, group);
      if (j == i) solve(i, group);
    });
  }
}

void solve_thin(const Triangle& t, MatrixRef b, Team& team, int me) {
  by_blocks(
      divide_up(t.matrix.rows(), kThinBlock), 1, [&](Index i, Index) { solve_diagonal(t, range(t, i), b); },
      [&](Index i, Index j, Index) { eliminate(t, range(t, i), range(t, j), b); }, team, me);
}

// Entry (j, k) of the triangle made lower: unknowns are numbered in the order in which they are found.
StridedView<const double> made_lower(const Triangle& t) {
  const Index n = t.matrix.rows();
  const Index down = t.transposed ? t.matrix.outerStride() : 1;
  const Index across = t.transposed ? 1 : t.matrix.outerStride();
  if (!backward(t)) return {t.matrix.data(), n, n, down, across};
  return {t.matrix.data() + (n - 1) * (down + across), n, n, -down, -across};
}

// Right-hand sides in packed panels, continued by zeros, and their way back; reversed: in the order of their unknowns
// where the last one is found first.
template <class Move>
void for_each_entry(MatrixRef& b, bool reversed, Index p, double* panel, const Move& move) {
  const Index n = b.rows();
  const Index count = std::min<Index>(kPanel, b.cols() - p * kPanel);
  double* plain = &b(reversed ? n - 1 : 0, p * kPanel);
  for (Index j = 0; j < n; ++j, panel += kPanel, plain += reversed ? -1 : 1)
    for (Index r = 0; r < count; ++r) move(panel[r], plain[r * b.outerStride()]);
}

void pack(MatrixRef& b, bool reversed, const PackedPanels& x, Team& team, int me) {
  team.for_each(me, x.n_panels(), [&](Index p, int) {
    std::fill_n(x.panel(p), kPanel * round_up(b.rows(), kColumns), 0.0);
    for_each_entry(b, reversed, p, x.panel(p), [](double& packed, double& plain) { packed = plain; });
  });
}

void unpack(const PackedPanels& x, bool reversed, MatrixRef& b, Team& team, int me) {
  team.for_each(me, x.n_panels(), [&](Index p, int) {
    for_each_entry(b, reversed, p, x.panel(p), [](double& packed, double& plain) { plain = packed; });
  });
}

// --- Some right-hand sides: packed, as the left side of the register tile; the triangle as it is ---

constexpr Index kSomeColumns = 8 * kPanel;

// Right-hand sides in panels, rows in the order of the unknowns of one triangle.
struct Rows {
  double* first;  // of the first unknown
  Index step;     // to the next one, kPanel or -kPanel
  Index vectors;  // packets that hold right-hand sides
  [[nodiscard]] double* row(Index i) const { return first + i * step; }
};

// kColumns rows of a triangle from row i on, columns from k on. Rows beyond the last one repeat it.
struct RowGroup {
  const double* row[kColumns];
  Index step;
  RowGroup(const StridedView<const double>& lower, Index i, Index k) : step(lower.col_stride) {
    for (Index j = 0; j < kColumns; ++j) row[j] = &lower(std::min(i + j, lower.rows - 1), k);
  }
};

// The product of a group of rows with the unknowns from k on, in a function of its own for each number of packets.
template <int vectors>
EIGEN_DONT_INLINE RegisterTileOf<vectors> product(const RowGroup& group, const Rows& x, Index k, Index depth) {
  const double* row[kColumns];
  std::copy_n(group.row, kColumns, row);
  const Index step = group.step;
  return multiply_rows<vectors>(x.row(k), x.step, depth, [&row, step](Index at, int j) { return row[j][at * step]; });
}

// The equations i .. i + kColumns, relieved of the unknowns k .. k + depth, and solved if `corner` is their triangle.
template <int vectors>
void relieve(const RowGroup& group, const Rows& x, Index i, Index count, Index k, Index depth, const double* corner) {
  RegisterTileOf<vectors> tile = product<vectors>(group, x, k, depth);
  for (Index j = 0; j < kColumns; ++j)
    for (int v = 0; v < vectors; ++v)
      tile.acc[j][v] =
          j < count ? packet::sub(packet::load(x.row(i + j) + v * kPacket), tile.acc[j][v]) : packet::zero<double>();
  if (corner != nullptr) tile = solve_corner<Pivots::divided>(tile, corner);
  for (Index j = 0; j < count; ++j)
    for (int v = 0; v < vectors; ++v) packet::store(x.row(i + j) + v * kPacket, tile.acc[j][v]);
}

void relieve(const StridedView<const double>& lower, const Rows& x, Index i, Index k, Index depth,
             const double* corner) {
  const RowGroup group(lower, i, k);
  const Index count = std::min<Index>(kColumns, lower.rows - i);
  if (x.vectors == kVectors) {
    relieve<kVectors>(group, x, i, count, k, depth, corner);
  } else if (x.vectors == 2) {
    relieve<2>(group, x, i, count, k, depth, corner);
  } else {
    relieve<1>(group, x, i, count, k, depth, corner);
  }
}

void solve_rows(const StridedView<const double>& lower, const Rows& x, Index begin, Index end) {
  for (Index i = begin; i < end; i += kColumns) {
    double corner[kColumns * kPanel];
    for (Index c = 0; c < kColumns; ++c)
      for (Index r = c; r < kColumns; ++r)
        corner[c * kPanel + r] = i + r < end ? lower(i + r, i + c) : (r == c ? 1.0 : 0.0);
    relieve(lower, x, i, begin, i - begin, corner);
  }
}

// The packed right-hand sides, whose rows are in the order of the matrix, := the solutions.
void solve_some(const Triangle& t, const PackedPanels& packed, Index n_right, Team& team, int me) {
  const StridedView<const double> lower = made_lower(t);
  const Index n = lower.rows;
  const auto end_of = [n](Index block) { return std::min(n, (block + 1) * kThinBlock); };
  const auto rows = [&](Index p) {
    const Index vectors = std::min<Index>(kVectors, divide_up(n_right - p * kPanel, kPacket));
    double* panel = packed.panel(p);
    return backward(t) ? Rows{panel + (n - 1) * kPanel, -kPanel, vectors} : Rows{panel, kPanel, vectors};
  };
  by_blocks(
      divide_up(n, kThinBlock), packed.n_panels(),
      [&](Index i, Index p) { solve_rows(lower, rows(p), i * kThinBlock, end_of(i)); },
      [&](Index i, Index j, Index p) {
        const Rows x = rows(p);
        for (Index row = j * kThinBlock; row < end_of(j); row += kColumns)
          relieve(lower, x, row, i * kThinBlock, kThinBlock, nullptr);
      },
      team, me);
}

// --- Many right-hand sides: X := X L'^-1 on packed panels of right-hand sides ---

constexpr Index kSolveDepth = 192;
static_assert(kSolveDepth % kPanel == 0);

// Rows row .. row + kPanel and columns first .. first + depth, continued by a unit matrix.
void pack_lower(const StridedView<const double>& lower, Index row, Index first, Index depth, double* panel) {
  const Index count = std::min<Index>(kPanel, lower.rows - row);
  for (Index k = 0; k < depth; ++k, panel += kPanel) {
    if (first + k < lower.cols) {
      const double* column = &lower(row, first + k);
      if (lower.row_stride == 1) {
        std::copy_n(column, count, panel);
      } else {
        for (Index r = 0; r < count; ++r) panel[r] = column[r * lower.row_stride];
      }
      std::fill(panel + count, panel + kPanel, 0.0);
    } else {
      for (Index r = 0; r < kPanel; ++r) panel[r] = row + r == first + k ? 1.0 : 0.0;
    }
  }
}

// Space for packed right-hand sides and blocks of columns of the triangle; with `single`, for products of floats, too.
struct Space {
  PackedPanels x, block;
  bool single;
  PanelsOf<float> solved, below;  // unknowns of a block, and the rows of the triangle below it
  PackedPanels exact;             // a panel for each thread, before it is rounded

  Space(Index n, Index n_right, Precision precision, int n_threads)
      : x(n_right, round_up(n, kColumns)),
        block(n, std::min(kSolveDepth, round_up(n, kColumns))),
        single(precision == Precision::float32),
        solved(single ? n_right : 0, kSolveDepth),
        below(single ? n : 0, kSolveDepth),
        exact(single ? n_threads * kPanel : 0, kSolveDepth) {}
};

// The equations from panel `below` on, relieved of the unknowns begin .. begin + depth.
void eliminate_block(const Space& space, Index begin, Index depth, Index below, Index n, Team& team, int me) {
  const PackedPanels& x = space.x;
  const PackedPanels& block = space.block;
  const std::vector<Tile> tiles = rectangle_tiles(x.n_panels(), panels_of(n) - below);
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

// The same by products of floats, of rows of `lower` that are packed here.
void eliminate_block_single(const Space& space, const StridedView<const double>& lower, Index begin, Index depth,
                            Index first, Team& team, int me) {
  const Index end = round_up(lower.rows, kColumns);
  const Index n_panels = divide_up(end - first, kPanelOf<float>);
  team.for_each(me, n_panels, [&](Index q, int member) {
    double* exact = space.exact.panel(member);
    for (Index h = 0; h < kSinglePanels; ++h) {
      const Index row = first + (q * kSinglePanels + h) * kPanel;
      if (row < lower.rows) {
        pack_lower(lower, row, begin, depth, exact);
      } else {
        std::fill_n(exact, depth * kPanel, 0.0);
      }
      round_panel(exact, depth, h, space.below.panel(q));
    }
  });
  const PackedPanels& x = space.x;
  team.for_each(me, space.solved.n_panels(), [&](Index p, int) {
    for (Index h = 0; h < kSinglePanels && p * kSinglePanels + h < x.n_panels(); ++h)
      round_panel(x.panel(p * kSinglePanels + h) + begin * kPanel, depth, h, space.solved.panel(p));
  });
  const std::vector<Tile> tiles = rectangle_tiles(space.solved.n_panels(), n_panels);
  team.for_each(me, static_cast<Index>(tiles.size()), [&](Index i, int) {
    const Tile& tile = tiles[size_of(i)];
    alignas(kAlignment) float values[kColumns][kPanelOf<float>];
    for (Index q = tile.col_begin; q < tile.col_end; ++q)
      for (Index g = 0; g < kPanelOf<float>; g += kColumns) {
        const Index j = first + q * kPanelOf<float> + g;
        if (j >= end) break;
        for (Index p = tile.row_begin; p < tile.row_end; ++p) {
          multiply_into<kVectors>(space.solved.panel(p), space.below.panel(q) + g, depth, &values[0][0]);
          for (Index h = 0; h < kSinglePanels && p * kSinglePanels + h < x.n_panels(); ++h) {
            double* panel = x.panel(p * kSinglePanels + h) + j * kPanel;
            for (Index c = 0; c < kColumns; ++c)
              for (Index r = 0; r < kPanel; ++r)
                panel[c * kPanel + r] -= static_cast<double>(values[c][h * kPanel + r]);
          }
        }
      }
  });
}

// The packed right-hand sides := the solutions.
void solve_packed(const StridedView<const double>& lower, const Space& space, Team& team, int me) {
  const PackedPanels& x = space.x;
  const PackedPanels& block = space.block;
  const Index n = lower.rows;
  for (Index begin = 0; begin < n; begin += kSolveDepth) {
    const Index depth = std::min(kSolveDepth, round_up(n - begin, kColumns));
    const Index home = begin / kPanel;
    const Index below = home + kSolveDepth / kPanel;
    const Index end = space.single ? std::min(below, panels_of(n)) : panels_of(n);
    team.for_each(me, end - home,
                  [&](Index i, int) { pack_lower(lower, (home + i) * kPanel, begin, depth, block.panel(home + i)); });
    team.for_each(me, x.n_panels(), [&](Index p, int) {
      for (Index j = 0; j < depth; j += kColumns) solve_group(block, home, j, x.panel(p) + begin * kPanel);
    });
    if (below >= panels_of(n)) break;
    if (space.single) {
      eliminate_block_single(space, lower, begin, depth, below * kPanel, team, me);
    } else {
      eliminate_block(space, begin, depth, below, n, team, me);
    }
  }
}

// As solve_packed(), for right-hand sides that are not packed.
void solve_many(const Triangle& t, MatrixRef& b, const Space& space, Team& team, int me) {
  pack(b, backward(t), space.x, team, me);
  solve_packed(made_lower(t), space, team, me);
  unpack(space.x, backward(t), b, team, me);
}

}  // namespace

void solve_in_turn(std::initializer_list<Triangle> triangles, MatrixRef right, const Control& control) {
  const Index n = right.rows();
  for (const Triangle& t : triangles)
    require(t.matrix.rows() == n && t.matrix.cols() == n, "right-hand sides of shape (", n, ", ", right.cols(),
            ") do not fit a triangle of shape (", t.matrix.rows(), ", ", t.matrix.cols(), ")");
  if (right.size() == 0) return;
  const double entries = 0.5 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(triangles.size());
  // an entry that comes from memory costs as much as several multiply-adds
  const double work = entries * static_cast<double>(std::max<Index>(8, right.cols()));
  if (right.cols() <= kFewColumns) {
    Team::run(control, control.threads_for(work), [&](Team& team, int me) {
      for (const Triangle& t : triangles) solve_thin(t, right, team, me);
    });
    return;
  }
  if (right.cols() <= kSomeColumns) {
    const PackedPanels x(right.cols(), round_up(n, kColumns));
    Team::run(control, control.threads_for(work), [&](Team& team, int me) {
      pack(right, false, x, team, me);
      for (const Triangle& t : triangles) solve_some(t, x, right.cols(), team, me);
      unpack(x, false, right, team, me);
    });
    return;
  }
  const Space space(n, right.cols(), Precision::float64, control.n_threads());
  Team::run(control, control.threads_for(entries * static_cast<double>(right.cols())), [&](Team& team, int me) {
    for (const Triangle& t : triangles) solve_many(t, right, space, team, me);
  });
}

namespace {

// Columns [begin, begin + width) of L^-1 from their first row on, packed in space.x: the first panel rows are these
// columns, and depth counts rows from there.
void inverse_columns(const ConstMatrixRef& lower, Index begin, Index width, const Space& space, Team& team, int me) {
  const Index rest = lower.rows() - begin;
  team.for_each(me, space.x.n_panels(), [&](Index p, int) {
    double* panel = space.x.panel(p);
    std::fill_n(panel, kPanel * round_up(rest, kColumns), 0.0);
    for (Index j = p * kPanel; j < std::min(width, (p + 1) * kPanel); ++j) panel[j * kPanel + j % kPanel] = 1.0;
  });
  solve_packed(made_lower({lower.bottomRightCorner(rest, rest), true, false}), space, team, me);
}

void require_square(const ConstMatrixRef& lower) {
  require(lower.cols() == lower.rows(), "the triangle must be square, got shape (", lower.rows(), ", ", lower.cols(),
          ")");
}

}  // namespace

Vector inverse_column_squares(const ConstMatrixRef& lower, const Control& control, Precision precision) {
  require_square(lower);
  const Index wide = precision == Precision::float32 ? 768 : 256;  // the triangle is packed anew for each block
  const Index n = lower.rows();
  Vector squares = Vector::Zero(n);
  const Space space(n, std::min(n, wide), precision, control.n_threads());
  Team::run(control, control.threads_for(std::pow(static_cast<double>(n), 3) / 6), [&](Team& team, int me) {
    for (Index begin = 0; begin < n; begin += wide) {
      const Index rest = n - begin;
      const Index width = std::min(wide, rest);
      inverse_columns(lower, begin, width, space, team, me);
      team.for_each(me, panels_of(width), [&](Index p, int) {
        const double* panel = space.x.panel(p);
        for (Index first = 0; first < rest; first += kSolveDepth) {  // in parts, so that rounding does not add up
          double part[kPanel] = {};
          for (Index j = first; j < std::min(rest, first + kSolveDepth); ++j)
            for (Index r = 0; r < kPanel; ++r) part[r] += panel[j * kPanel + r] * panel[j * kPanel + r];
          for (Index r = 0; r < std::min<Index>(kPanel, width - p * kPanel); ++r)
            squares(begin + p * kPanel + r) += part[r];
        }
      });
    }
  });
  return squares;
}

void inverse_of_product(const ConstMatrixRef& lower, MatrixRef inverse, const Control& control) {
  require_square(lower);
  const Index n = lower.rows();
  require(inverse.rows() == n && inverse.cols() == n, "inverse must have shape (", n, ", ", n, "), got (",
          inverse.rows(), ", ", inverse.cols(), ")");
  constexpr Index wide = 240;
  static_assert(wide % kPanel == 0);
  const PackedPanels columns(n, n);  // of L^-1, each from the first row of its block on
  const Space space(n, std::min(n, wide), Precision::float64, control.n_threads());
  struct Part {
    Tile tile;
    Index first;  // row of L^-1 from which on both sides have entries
  };
  std::vector<Part> parts;
  for (Index begin = 0; begin < n; begin += wide) {
    const Index end = panels_of(std::min(n, begin + wide));
    for (Index q = 0; q < end; q += kTilePanels)
      parts.push_back({{begin / kPanel, end, q, std::min(end, q + kTilePanels)}, begin});
  }
  constexpr Index side = 32;  // of squares that are mirrored
  Team::run(control, control.threads_for(std::pow(static_cast<double>(n), 3) / 3), [&](Team& team, int me) {
    for (Index begin = 0; begin < n; begin += wide) {
      const Index width = std::min(wide, n - begin);
      inverse_columns(lower, begin, width, space, team, me);
      team.for_each(me, panels_of(width), [&](Index p, int) {
        std::copy_n(space.x.panel(p), (n - begin) * kPanel, columns.panel(begin / kPanel + p) + begin * kPanel);
      });
    }
    team.for_each(me, static_cast<Index>(parts.size()), [&](Index i, int) {
      const auto& [tile, first] = parts[size_of(i)];
      const Index row = tile.row_begin * kPanel;
      const Index rows = std::min(n, tile.row_end * kPanel) - row;
      const Index cols = std::min(n, tile.col_end * kPanel) - tile.col_begin * kPanel;
      inverse.block(row, tile.col_begin * kPanel, rows, cols).setZero();
      accumulate_tile(columns, columns, tile, n, 1.0, {inverse.data(), inverse.outerStride(), n, n, true}, first);
    });
    team.for_each(me, divide_up(n, side), [&](Index strip, int) {
      const Index stop = std::min(n, (strip + 1) * side);
      for (Index begin = 0; begin < stop; begin += side)
        for (Index j = begin; j < std::min(stop, begin + side); ++j)
          for (Index i = std::max(strip * side, j + 1); i < stop; ++i) inverse(j, i) = inverse(i, j);
    });
  });
}

}  // namespace gegenbauer
