#include "gegenbauer/band_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/triangular.hpp"

namespace gegenbauer {

namespace {

constexpr Index kWidth = BandForm::kWidth;
constexpr Index kRow = kWidth + 1;  // entries of a row of the band
constexpr Index kLanes = kWidth / kPacket;
static_assert(kWidth % kColumns == 0 && kWidth % kPacket == 0);

// Blocks of reflectors that are joined for Q, and reflectors of a group of them.
constexpr Index kJoined = 4;
constexpr Index kGroup = kJoined * kWidth;

// Columns of a panel that are updated and multiplied while they are in the first-level cache.
constexpr Index kStretch = 4 * kPanel;

// Parts of a product with the lower triangle, each of which sums to its own memory, in an order that threads do not
// change.
constexpr Index kParts = 8;

using Row = Eigen::Array<double, kWidth, 1>;
using Square = Eigen::Array<double, kWidth, kWidth>;  // column t: a row of the transposed
using RowMap = Eigen::Map<Row, Eigen::Aligned64>;
using ConstRowMap = Eigen::Map<const Row, Eigen::Aligned64>;

Index padded(Index n) { return round_up(round_up(n, kWidth), kPanel); }

AlignedBuffer zeroed(Index count) {
  AlignedBuffer buffer = make_aligned(size_of(count));
  std::fill_n(buffer.get(), count, 0.0);
  return buffer;
}

// Joined blocks of reflectors: Q' of them is I - V T' V', where column 8 b + t of V is reflector t of block b.
struct Group {
  Index rows;       // not zero in V
  AlignedBuffer v;  // row-major, kGroup numbers a row
  AlignedBuffer t;  // T, column-major
};

// sum over rows of l r' for two blocks of reflectors; column q holds row q of it
Square product_of_blocks(const double* left, const double* right, Index rows) {
  Square sum = Square::Zero();
  for (Index c = 0; c < rows; ++c) {
    const ConstRowMap row(right + c * kGroup);
#pragma GCC unroll 8
    for (Index q = 0; q < kWidth; ++q) sum.col(q) += left[c * kGroup + q] * row;
  }
  return sum;
}

// --- Reduction: A := H'A H with H = I - V T V' is A - V W' - W V', W = A V T - V (T'V'A V T) / 2 ---

class Reduction {
 public:
  Reduction(PackedPanels& a, Index padded, Index size)
      : size_(size),
        padded_(padded),
        a_(a),
        pending_(zeroed(padded_ * 2 * kWidth)),
        y_(zeroed(padded_ * kWidth)),
        parts_(zeroed(kParts * padded_ * kWidth)) {}

  void pack(const ConstMatrixRef& lower, double scale, Index p);
  void begin(const Vector& v, std::vector<Group>& groups, Team& team, int me);
  void run(std::vector<Group>& groups, std::vector<double>& band, Team& team, int me);

 private:
  struct Step {
    Index rows;  // that the reflectors act on
    double* v;   // row-major, kGroup numbers a row
    Square t;    // T, by columns
  };

  Step new_step(Index rows, std::vector<Group>& groups);
  void take_rows(Index first, const Step& step, std::vector<double>& band);
  void reflect(Index first, const Step& step, std::vector<double>& band);
  void find_t(Step& step);
  void multiply(const Step& step, Team& team, int me);
  void multiply_part(const Step& step, Index part);
  void finish(const Step& step);

  Index size_;
  Index padded_;
  PackedPanels& a_;        // lower triangle, its diagonal blocks whole
  AlignedBuffer pending_;  // [W V], row-major: the update that a_ has not seen
  AlignedBuffer y_;        // A V, row-major
  AlignedBuffer parts_;    // of it
  bool has_pending_ = false;
  Index n_steps_ = 0;
  Step step_{};
};

void Reduction::pack(const ConstMatrixRef& lower, double scale, Index p) {
  const Index n = lower.rows();
  double* panel = a_.panel(p);
  const Index begin = p * kPanel;
  const Index count = std::clamp<Index>(n - begin, 0, kPanel);
  std::fill_n(panel, (begin + kPanel) * kPanel, 0.0);
  for (Index c = 0; c < begin + count; ++c) {
    double* out = panel + c * kPanel;
    for (Index r = std::max<Index>(0, c - begin); r < count; ++r) out[r] = scale * lower(begin + r, c);
    for (Index r = 0; r < std::min(count, c - begin); ++r) out[r] = scale * lower(c, begin + r);
  }
}

Reduction::Step Reduction::new_step(Index rows, std::vector<Group>& groups) {
  const Index place = n_steps_ % kJoined;
  if (place == 0) groups.push_back({rows, zeroed(round_up(rows, kPanel) * kGroup), {}});
  ++n_steps_;
  return {rows, groups.back().v.get() + place * kWidth, Square::Zero()};
}

// Rows first .. first + kWidth of A, the last one first, become columns of step.v; their diagonal block goes into the
// band.
void Reduction::take_rows(Index first, const Step& step, std::vector<double>& band) {
  const double* u = pending_.get();
  Square w_here;
  Square v_here;
  const double* source[kWidth];
  for (Index t = 0; t < kWidth; ++t) {
    const Index i = first + kWidth - 1 - t;
    source[t] = a_.panel(i / kPanel) + i % kPanel;
    for (Index q = 0; q < kWidth; ++q) {
      w_here(t, q) = u[i * 2 * kWidth + q];
      v_here(t, q) = u[i * 2 * kWidth + kWidth + q];
    }
  }
  const auto updated = [&](Index c) {
    Row row;
    for (Index t = 0; t < kWidth; ++t) row(t) = source[t][c * kPanel];
    const double* other = u + c * 2 * kWidth;
#pragma GCC unroll 8
    for (Index q = 0; q < kWidth; ++q) row -= v_here.col(q) * other[q] + w_here.col(q) * other[kWidth + q];
    return row;
  };
  const Index last = std::min(size_, first + kWidth);
  for (Index c = first; c < last; ++c) {
    const Row row = updated(c);
    for (Index i = c; i < last; ++i) band[size_of(i * kRow + kWidth - i + c)] = row(first + kWidth - 1 - i);
  }
  const Index missing = first + kWidth - last;  // beyond the matrix
  for (Index c = 0; c < step.rows; ++c) {
    RowMap out(step.v + c * kGroup);
    out = updated(c);
    for (Index t = 0; t < missing; ++t) out(t) = 0.0;
  }
}

// Columns of step.v := reflectors that leave column t nothing above row rows - 1 - t; what is left goes into the band.
void Reduction::reflect(Index first, const Step& step, std::vector<double>& band) {
  const Index rows = step.rows;
  Row factor = Row::Zero();
  double inverse = 0.0;
  for (Index t = 0; t < kWidth; ++t) {
    const Index pivot = rows - 1 - t;
    Row sums[4] = {Row::Zero(), Row::Zero(), Row::Zero(), Row::Zero()};
    // applies the reflector before and sums what this one needs
    const auto visit = [&](Index c, Row& sum) {
      RowMap row(step.v + c * kGroup);
      if (t > 0) {
        const double v = row(t - 1) * inverse;
        row -= v * factor;
        row(t - 1) = v;
      }
      sum += row(t) * row;
    };
    Index c = 0;
    for (; c + 4 <= pivot; c += 4)
      for (Index k = 0; k < 4; ++k) visit(c + k, sums[k]);
    for (; c < pivot; ++c) visit(c, sums[0]);
    Row unused = Row::Zero();
    visit(pivot, unused);
    RowMap at(step.v + pivot * kGroup);
    const Row tail = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const double x = at(t);
    double left = x;
    factor.setZero();
    inverse = 0.0;
    if (tail(t) > std::numeric_limits<double>::min()) {
      left = -std::copysign(std::sqrt(tail(t) + x * x), x);
      inverse = 1.0 / (x - left);
      const Row product = tail * inverse + at;  // v'column, v being one at the pivot
      for (Index k = t + 1; k < kWidth; ++k) factor(k) = (left - x) / left * product(k);
    }
    at -= factor;
    at(t) = left;
    for (Index k = t; k < kWidth; ++k) {
      const Index i = first + kWidth - 1 - k;
      if (i < size_) band[size_of(i * kRow + kWidth - i + pivot)] = at(k);
      at(k) = 0.0;
    }
    if (inverse != 0.0) at(t) = 1.0;
  }
  // the last reflector
  for (Index c = 0; c < rows - kWidth; ++c) step.v[c * kGroup + kWidth - 1] *= inverse;
}

// T^-1 + T'^-1 = V'V
void Reduction::find_t(Step& step) {
  const Square gram = product_of_blocks(step.v, step.v, step.rows);
  step.t.setZero();
  for (Index j = 0; j < kWidth; ++j) {
    if (!(gram(j, j) > 0)) continue;
    step.t(j, j) = 2.0 / gram(j, j);
    for (Index i = 0; i < j; ++i) {
      double sum = 0.0;
      for (Index k = i; k < j; ++k) sum += step.t(i, k) * gram(k, j);
      step.t(i, j) = -sum * step.t(j, j);
    }
  }
}

// Columns j .. j + kColumns of a packed panel += or -= tile.
template <bool subtract>
EIGEN_ALWAYS_INLINE void update_panel(const RegisterTile& tile, double* panel, Index j) {
#pragma GCC unroll 8
  for (int c = 0; c < kColumns; ++c)
#pragma GCC unroll 3
    for (int l = 0; l < kVectors; ++l) {
      double* at = panel + (j + c) * kPanel + l * kPacket;
      const Packet old = packet::load(at);
      packet::store(at, subtract ? packet::sub(old, tile.acc[c][l]) : packet::add(old, tile.acc[c][l]));
    }
}

// sums[c] += A(rows, c) v for the rows of one panel and kColumns columns c
EIGEN_ALWAYS_INLINE void multiply_transposed(const double* a, const double* v, double* sums) {
  Packet acc[kColumns][kLanes];
#pragma GCC unroll 8
  for (Index c = 0; c < kColumns; ++c)
#pragma GCC unroll 4
    for (Index l = 0; l < kLanes; ++l) acc[c][l] = packet::load(sums + c * kWidth + l * kPacket);
#pragma GCC unroll 2
  for (Index r = 0; r < kPanel; ++r) {
    Packet row[kLanes];
#pragma GCC unroll 4
    for (Index l = 0; l < kLanes; ++l) row[l] = packet::load(v + r * kGroup + l * kPacket);
#pragma GCC unroll 8
    for (Index c = 0; c < kColumns; ++c) {
      const Packet entry = packet::broadcast(a[c * kPanel + r]);
#pragma GCC unroll 4
      for (Index l = 0; l < kLanes; ++l) acc[c][l] = packet::fma(entry, row[l], acc[c][l]);
    }
  }
#pragma GCC unroll 8
  for (Index c = 0; c < kColumns; ++c)
#pragma GCC unroll 4
    for (Index l = 0; l < kLanes; ++l) packet::store(sums + c * kWidth + l * kPacket, acc[c][l]);
}

// A v after the pending update, what one part of the panels adds to it. Parts take the panels, which grow, back and
// forth, so that they have like areas.
void Reduction::multiply_part(const Step& step, Index part) {
  const Index panels = panels_of(step.rows);
  double* sums = parts_.get() + part * padded_ * kWidth;
  std::fill_n(sums, panels * kPanel * kWidth, 0.0);
  alignas(kAlignment) double left[2 * kWidth * kPanel];
  alignas(kAlignment) double direct[kWidth * kPanel];
  for (Index turn = 0; turn * kParts < panels; ++turn) {
    const Index p = turn * kParts + (turn % 2 == 0 ? part : kParts - 1 - part);
    if (p >= panels) continue;
    double* a = a_.panel(p);
    const double* here = step.v + p * kPanel * kGroup;
    if (has_pending_) {
      for (Index r = 0; r < kPanel; ++r) {
        const double* u = pending_.get() + (p * kPanel + r) * 2 * kWidth;
        for (Index q = 0; q < kWidth; ++q) {
          left[q * kPanel + r] = u[kWidth + q];
          left[(kWidth + q) * kPanel + r] = u[q];
        }
      }
    }
    std::fill_n(direct, kWidth * kPanel, 0.0);
    const Index diagonal = p * kPanel;
    const Index end = diagonal + kPanel;
    for (Index begin = 0; begin < end; begin += kStretch) {
      const Index stop = std::min(end, begin + kStretch);
      if (has_pending_) {
        for (Index j = begin; j < stop; j += kColumns) {
          const RegisterTile tile =
              multiply_panels<kVectors, 1, 2 * kWidth>(left, pending_.get() + j * 2 * kWidth, 2 * kWidth);
          update_panel<true>(tile, a, j);
        }
      }
      for (Index j = 0; j < kWidth; j += kColumns) {
        const RegisterTile tile =
            multiply_panels<kVectors, kGroup, 1>(a + begin * kPanel, step.v + begin * kGroup + j, stop - begin);
        update_panel<false>(tile, direct, j);
      }
      for (Index j = begin; j < std::min(stop, diagonal); j += kColumns)
        multiply_transposed(a + j * kPanel, here, sums + j * kWidth);
    }
    for (Index r = 0; r < kPanel; ++r)
      for (Index q = 0; q < kWidth; ++q) sums[(diagonal + r) * kWidth + q] += direct[q * kPanel + r];
  }
}

// pending_ := the update by this step
void Reduction::finish(const Step& step) {
  Square inner = Square::Zero();  // column q: row q of V'A V
  for (Index c = 0; c < step.rows; ++c) {
    Row y = Row::Zero();
#pragma GCC unroll 8
    for (Index part = 0; part < kParts; ++part) y += ConstRowMap(parts_.get() + (part * padded_ + c) * kWidth);
    RowMap(y_.get() + c * kWidth) = y;
#pragma GCC unroll 8
    for (Index q = 0; q < kWidth; ++q) inner.col(q) += step.v[c * kGroup + q] * y;
  }
  // half = T'(V'A V) T / 2; inner(., q) holds row q of V'AV
  const Eigen::Matrix<double, kWidth, kWidth> t = step.t.matrix();
  const Eigen::Matrix<double, kWidth, kWidth> gram = inner.matrix().transpose();
  const Eigen::Matrix<double, kWidth, kWidth> half = 0.5 * (t.transpose() * gram * t);
  Square t_rows = t.transpose().array();  // column q: row q of T
  Square half_rows = half.transpose().array();
  for (Index c = 0; c < step.rows; ++c) {
    const double* y = y_.get() + c * kWidth;
    const double* v = step.v + c * kGroup;
    Row w = Row::Zero();
    Row less = Row::Zero();
#pragma GCC unroll 8
    for (Index q = 0; q < kWidth; ++q) {
      w += y[q] * t_rows.col(q);
      less += v[q] * half_rows.col(q);
    }
    RowMap(pending_.get() + c * 2 * kWidth) = w - less;
    RowMap(pending_.get() + c * 2 * kWidth + kWidth) = ConstRowMap(v);
  }
  std::fill_n(pending_.get() + step.rows * 2 * kWidth, std::min(padded_ - step.rows, kPanel + kWidth) * 2 * kWidth,
              0.0);
  has_pending_ = true;
}

void Reduction::multiply(const Step& step, Team& team, int me) {
  team.for_each(me, kParts, [&](Index part, int) { multiply_part(step, part); });
}

// One reflector that takes v to the last axis, before all others.
void Reduction::begin(const Vector& v, std::vector<Group>& groups, Team& team, int me) {
  team.for_each(me, 1, [&](Index, int) {
    step_ = new_step(v.size(), groups);
    const Vector unit = v / v.norm();
    for (Index c = 0; c < v.size(); ++c) step_.v[c * kGroup] = unit(c);
    step_.v[(v.size() - 1) * kGroup] += std::copysign(1.0, unit(v.size() - 1));
    find_t(step_);
  });
  multiply(step_, team, me);
}

void Reduction::run(std::vector<Group>& groups, std::vector<double>& band, Team& team, int me) {
  const Index blocks = divide_up(size_, kWidth);
  for (Index block = blocks - 1; block >= 0; --block) {
    const Index first = block * kWidth;
    team.for_each(me, 1, [&](Index, int) {
      if (n_steps_ > 0) finish(step_);
      if (block == 0) {
        step_.rows = 0;
        take_rows(0, step_, band);
        return;
      }
      step_ = new_step(first, groups);
      take_rows(first, step_, band);
      reflect(first, step_, band);
      find_t(step_);
    });
    if (block > 0) multiply(step_, team, me);
  }
}

// --- Q', row by row of it: the reflectors from the last to the first, each longer than the one before ---

// T of the group, the inverse of the upper triangle of V'V with half of its diagonal
void join(Group& group) {
  using Triangle = Eigen::Matrix<double, kGroup, kGroup>;
  Triangle inverse = Triangle::Zero();
  for (Index i = 0; i < kGroup; i += kWidth)
    for (Index j = i; j < kGroup; j += kWidth)
      inverse.block<kWidth, kWidth>(i, j) =
          product_of_blocks(group.v.get() + i, group.v.get() + j, group.rows).matrix().transpose();
  for (Index j = 0; j < kGroup; ++j) inverse(j, j) = inverse(j, j) > 0 ? 0.5 * inverse(j, j) : 1.0;
  group.t = make_aligned(kGroup * kGroup);
  Eigen::Map<Triangle> t(group.t.get());
  t.setIdentity();
  inverse.triangularView<Eigen::Upper>().solveInPlace(t);
}

// Rows first .. first + kPanel of Q', those of `size` rows that there are, into a panel of `columns` columns
void form_rows(const std::vector<Group>& groups, Index first, Index size, Index columns, double* panel) {
  alignas(kAlignment) double product[kGroup * kPanel];
  alignas(kAlignment) double times_t[kGroup * kPanel];
  constexpr Index chunk = 4 * kPanel;  // columns of the panel that stay in the first-level cache
  std::fill_n(panel, columns * kPanel, 0.0);
  for (Index r = 0; r < kPanel && first + r < size; ++r) panel[(first + r) * kPanel + r] = 1.0;
  Index filled = first + kPanel;  // columns that are not zero
  for (Index g = static_cast<Index>(groups.size()) - 1; g >= 0; --g) {
    const Group& group = groups[size_of(g)];
    if (group.rows <= first) continue;
    const Index end = round_up(group.rows, kPanel);
    std::fill_n(product, kGroup * kPanel, 0.0);
    const Index depth = std::min(end, filled);
    for (Index k = 0; k < depth; k += chunk) {
      for (Index j = 0; j < kGroup; j += kColumns) {
        const RegisterTile tile = multiply_panels<kVectors, kGroup, 1>(
            panel + k * kPanel, group.v.get() + k * kGroup + j, std::min(chunk, depth - k));
        update_panel<false>(tile, product, j);
      }
    }
    for (Index j = 0; j < kGroup; j += kColumns)
      store_tile(multiply_panels<kVectors, kGroup, 1>(product, group.t.get() + j, kGroup), times_t, j);
    for (Index j = 0; j < end; j += kColumns) {
      const RegisterTile tile = multiply_panels<kVectors, 1, kGroup>(times_t, group.v.get() + j * kGroup, kGroup);
      update_panel<true>(tile, panel, j);
    }
    filled = std::max(filled, end);
  }
}

void transpose_into(const double* panel, Index p, const PackedPanels& rows) {
  for (Index q = 0; q < rows.n_panels(); ++q) {
    const double* in = panel + q * kPanel * kPanel;
    double* out = rows.panel(q) + p * kPanel * kPanel;
    for (Index i = 0; i < kPanel; i += kPacket)
      for (Index j = 0; j < kPanel; j += kPacket) {
        PacketSquare square;
        for (Index k = 0; k < kPacket; ++k) square.packet[k] = packet::load(in + (i + k) * kPanel + j);
        packet::transpose(square);
        for (Index k = 0; k < kPacket; ++k) packet::store(out + (j + k) * kPanel + i, square.packet[k]);
      }
  }
}

// --- Shifts ---

// Factors B + gamma I = L L' of kWidth gammas at once, one a lane.
class BandFactors {
 public:
  BandFactors(const std::vector<double>& band, Index size, const Row& gammas);

  [[nodiscard]] bool failed(Index lane) const { return failed_[lane]; }
  [[nodiscard]] double log_determinant(Index lane) const { return log_determinant_(lane); }

  /// Minus the rows of L divided by its diagonal, the inverse of which takes the last place.
  [[nodiscard]] std::vector<double>& rows(Index lane) { return rows_[lane]; }

 private:
  std::vector<double> rows_[kWidth];
  Row log_determinant_ = Row::Zero();
  bool failed_[kWidth] = {};
};

BandFactors::BandFactors(const std::vector<double>& band, Index size, const Row& gammas) {
  const Index n = static_cast<Index>(band.size()) / kRow;
  for (std::vector<double>& rows : rows_) rows.resize(band.size());
  constexpr Index held = 2 * kWidth;
  Row l[held][kRow];  // the last rows; their last place has the inverse of the diagonal
  for (auto& row : l)
    for (Row& entry : row) entry.setZero();
  Row smallest = Row::Ones();
  for (Index i = 0; i < n; ++i) {
    const double* b = band.data() + i * kRow;
    Row* row = l[i % held];
    Row pivot = Row::Constant(b[kWidth]);
    if (i < size) pivot += gammas;
    for (Index c = 0; c < kWidth; ++c) {  // column i - kWidth + c; before the first one all is zero
      const Row* other = l[(i + kWidth + c) % held];
      Row sum = Row::Constant(b[c]);
      for (Index e = 0; e < c; ++e) sum -= row[e] * other[kWidth - c + e];
      row[c] = sum * other[kWidth];
      pivot -= row[c].square();
    }
    smallest = (pivot > 0).select(smallest, -1.0);  // not a number counts as well
    log_determinant_ += pivot.log();
    const Row inverse = pivot.sqrt().inverse();
    row[kWidth] = inverse;
    for (Index c = 0; c <= kWidth; ++c) {
      const Row out = c < kWidth ? Row(-row[c] * inverse) : inverse;
      for (Index lane = 0; lane < kWidth; ++lane) rows_[lane][size_of(i * kRow + c)] = out(lane);
    }
  }
  for (Index lane = 0; lane < kWidth; ++lane) failed_[lane] = smallest(lane) < 0;
}

void solve_forward(const std::vector<double>& factor, double* x) {
  const Index rows = static_cast<Index>(factor.size()) / kRow;
  for (Index i = 0; i < rows; ++i) {
    const double* l = factor.data() + i * kRow;
    double sum = x[i] * l[kWidth];
    for (Index c = std::max<Index>(0, kWidth - i); c < kWidth; ++c) sum += l[c] * x[i - kWidth + c];
    x[i] = sum;
  }
}

void solve_backward(const std::vector<double>& factor, double* x) {
  for (Index i = static_cast<Index>(factor.size()) / kRow - 1; i >= 0; --i) {
    const double* l = factor.data() + i * kRow;
    for (Index c = std::max<Index>(0, kWidth - i); c < kWidth; ++c) x[i - kWidth + c] += l[c] * x[i];
    x[i] *= l[kWidth];
  }
}

Vector band_product(const std::vector<double>& band, const Vector& x) {
  Vector y = Vector::Zero(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const double* b = band.data() + i * kRow;
    y(i) += b[kWidth] * x(i);
    for (Index c = std::max<Index>(0, kWidth - i); c < kWidth; ++c) {
      y(i) += b[c] * x(i - kWidth + c);
      y(i - kWidth + c) += b[c] * x(i);
    }
  }
  return y;
}

// sums of squares and products of z = L^-1 Q'e_i with the columns of `right`, for a panel of rows i
void sum_rows(const double* q, Index rows, const double* factor, const double* right, Index n_outputs, double* squares,
              double* products) {
  constexpr Index held = 2 * kWidth;
  alignas(kAlignment) double z[held * kPanel] = {};
  for (Index begin = 0; begin < rows; begin += kColumns) {
    const double* l = factor + begin * kRow;
    RegisterTile tile;
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const Packet inverse = packet::broadcast(l[j * kRow + kWidth]);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v)
        tile.acc[j][v] = packet::mul(packet::load(q + (begin + j) * kPanel + v * kPacket), inverse);
    }
#pragma GCC unroll 8
    for (int d = 0; d < kWidth; ++d) {
      const double* old = z + (begin + kWidth + d) % held * kPanel;
      Packet before[kVectors];
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) before[v] = packet::load(old + v * kPacket);
#pragma GCC unroll 8
      for (int j = 0; j < std::min(d + 1, kColumns); ++j) {
        const Packet entry = packet::broadcast(l[j * kRow + d - j]);
#pragma GCC unroll 3
        for (int v = 0; v < kVectors; ++v) tile.acc[j][v] = packet::fma(entry, before[v], tile.acc[j][v]);
      }
    }
#pragma GCC unroll 8
    for (int j = 1; j < kColumns; ++j)
#pragma GCC unroll 8
      for (int i = 0; i < j; ++i) {
        const Packet entry = packet::broadcast(l[j * kRow + kWidth + i - j]);
#pragma GCC unroll 3
        for (int v = 0; v < kVectors; ++v) tile.acc[j][v] = packet::fma(entry, tile.acc[i][v], tile.acc[j][v]);
      }
    double* now = z + begin % held * kPanel;
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      Packet sum = packet::load(squares + v * kPacket);
#pragma GCC unroll 8
      for (int j = 0; j < kColumns; ++j) {
        packet::store(now + j * kPanel + v * kPacket, tile.acc[j][v]);
        sum = packet::fma(tile.acc[j][v], tile.acc[j][v], sum);
      }
      packet::store(squares + v * kPacket, sum);
    }
    for (Index k = 0; k < n_outputs; ++k) {
      const double* w = right + k * rows + begin;
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        double* at = products + k * kPanel + v * kPacket;
        Packet sum = packet::load(at);
#pragma GCC unroll 8
        for (int j = 0; j < kColumns; ++j)
          sum = packet::fma(packet::load(now + j * kPanel + v * kPacket), packet::broadcast(w[j]), sum);
        packet::store(at, sum);
      }
    }
  }
}

}  // namespace

BandForm::BandForm(const ConstMatrixRef& lower, const Vector& v, const Control& control)
    : n_(lower.rows()),
      size_(v.size() > 0 ? n_ - 1 : n_),
      band_(size_of(round_up(size_, kWidth) * kRow), 0.0),
      rows_(padded(n_), padded(n_)) {
  require(n_ >= 1, "the matrix must not be empty");
  require(lower.cols() == n_, "the matrix must be square, got shape (", n_, ", ", lower.cols(), ")");
  require(v.size() == 0 || (v.size() == n_ && n_ > 1), "a vector to leave out must have ", n_, " entries, got ",
          v.size());
  // Squares of entries must neither overflow nor vanish; a power of two costs no bit.
  const double size = lower.diagonal().cwiseAbs().maxCoeff();
  const int exponent = size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
  std::vector<Group> groups;
  const Index columns = padded(n_);
  const double n = static_cast<double>(n_);
  {
    Reduction reduction(rows_, padded(n_), size_);  // the memory of K is then that of Q
    Team::run(control, control.threads_for(n * n * n * 2 / 3), [&](Team& team, int me) {
      team.for_each(me, columns / kPanel, [&](Index p, int) { reduction.pack(lower, std::scalbn(1.0, -exponent), p); });
      if (v.size() > 0) reduction.begin(v, groups, team, me);
      reduction.run(groups, band_, team, me);
    });
  }
  for (double& entry : band_) entry = std::scalbn(entry, exponent);
  for (Index i = size_; i < round_up(size_, kWidth); ++i) band_[size_of(i * kRow + kWidth)] = 1.0;
  std::vector<AlignedBuffer> scratch(size_of(control.n_threads()));
  Team::run(control, control.threads_for(n * n * n * 2 / 3), [&](Team& team, int me) {
    team.for_each(me, static_cast<Index>(groups.size()) + 1, [&](Index g, int) {
      if (g == 0) {
        estimate_extremes();
      } else {
        join(groups[size_of(g - 1)]);
      }
    });
    AlignedBuffer& panel = scratch[size_of(me)];
    team.for_each(me, columns / kPanel, [&](Index p, int) {
      if (!panel) panel = make_aligned(size_of(columns * kPanel));
      form_rows(groups, p * kPanel, size_, columns, panel.get());
      transpose_into(panel.get(), p, rows_);
    });
  });
}

void BandForm::estimate_extremes() {
  constexpr int steps = 16;
  const Index rows = static_cast<Index>(band_.size()) / kRow;
  Vector start(rows);  // without structure: fractional parts of multiples of the golden ratio, of mixed signs
  for (Index i = 0; i < rows; ++i)
    start(i) = i < size_ ? std::fmod(0.618033988749895 * static_cast<double>(i + 1), 1.0) - 0.45 : 0.0;
  Vector x = start.normalized();
  for (int step = 0; step < steps; ++step) {
    x = band_product(band_, x);
    largest_ = x.stableNorm();
    if (!(largest_ > 0) || !std::isfinite(largest_)) return;
    x /= largest_;
  }
  // What lies below the rounding of K is not told from zero.
  const double shift = rounding();
  BandFactors factor(band_, size_, Row::Constant(shift));
  if (factor.failed(0)) return;
  x = start.normalized();
  double norm = 0.0;
  for (int step = 0; step < steps; ++step) {
    solve_forward(factor.rows(0), x.data());
    solve_backward(factor.rows(0), x.data());
    norm = x.stableNorm();
    if (!(norm > 0) || !std::isfinite(norm)) return;
    x /= norm;
  }
  smallest_ = std::max(0.0, 1.0 / norm - shift);
}

double BandForm::rounding() const {
  return 4 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(size_)) * largest_;
}

Matrix BandForm::band() const {
  Matrix band = Matrix::Zero(kRow, size_);
  for (Index j = 0; j < size_; ++j)
    for (Index i = j; i < std::min(size_, j + kRow); ++i) band(i - j, j) = band_[size_of(i * kRow + kWidth - i + j)];
  return band;
}

Matrix BandForm::orthogonal() const {
  Matrix q(size_, n_);
  for (Index i = 0; i < n_; ++i)
    for (Index k = 0; k < size_; ++k) q(k, i) = rows_.panel(i / kPanel)[k * kPanel + i % kPanel];
  return q;
}

ShiftedSolutions BandForm::solve(const Vector& gammas, const ConstMatrixRef& right, const Control& control) const {
  require(right.rows() == n_, "right-hand sides must have ", n_, " rows, got ", right.rows());
  const Index n_gammas = gammas.size();
  const Index n_outputs = right.cols();
  const Index rows = static_cast<Index>(band_.size()) / kRow;
  const Index panels = panels_of(n_);
  ShiftedSolutions result{Matrix(n_, n_gammas * n_outputs), Matrix(n_, n_gammas), Matrix(n_outputs, n_gammas),
                          Vector(n_gammas), Vector::Zero(n_gammas)};
  Matrix projected = Matrix::Zero(rows, n_outputs);  // Q'Y
  Matrix forward(rows, n_gammas * n_outputs);        // L^-1 Q'Y
  std::vector<std::vector<double>> factors(size_of(n_gammas));
  const double n = static_cast<double>(n_);
  const double work = n * n * static_cast<double>((kWidth + 2 + n_outputs) * n_gammas);
  Team::run(control, control.threads_for(work), [&](Team& team, int me) {
    constexpr Index chunk = 64;
    team.for_each(me, divide_up(rows, chunk), [&](Index part, int) {
      for (Index p = 0; p < panels; ++p) {
        const Index count = std::min<Index>(kPanel, n_ - p * kPanel);
        for (Index k = part * chunk; k < std::min(size_, (part + 1) * chunk); ++k) {
          const Eigen::Map<const Vector> q(rows_.panel(p) + k * kPanel, count);
          for (Index j = 0; j < n_outputs; ++j) projected(k, j) += q.dot(right.col(j).segment(p * kPanel, count));
        }
      }
    });
    team.for_each(me, divide_up(n_gammas, kWidth), [&](Index lanes, int) {
      const Index first = lanes * kWidth;
      const Index count = std::min(kWidth, n_gammas - first);
      Row shift = Row::Zero();
      for (Index to_do = count; to_do > 0;) {
        Row shifted = shift;
        for (Index lane = 0; lane < kWidth; ++lane) shifted(lane) += gammas(first + std::min(lane, count - 1));
        BandFactors found(band_, size_, shifted);
        for (Index lane = 0; lane < count; ++lane) {
          const Index g = first + lane;
          std::vector<double>& factor = factors[size_of(g)];
          if (!factor.empty()) continue;
          if (found.failed(lane)) {
            shift(lane) = std::max({2 * shift(lane), rounding(), std::numeric_limits<double>::min()});
            if (!std::isfinite(shift(lane))) throw NotPositiveDefinite("the matrix is not finite to working precision");
            continue;
          }
          factor.swap(found.rows(lane));
          result.log_determinant(g) = found.log_determinant(lane);
          result.shift(g) = shift(lane);
          --to_do;
          for (Index j = 0; j < n_outputs; ++j) {
            auto column = forward.col(g * n_outputs + j);
            column = projected.col(j);
            solve_forward(factor, column.data());
            result.quadratic(j, g) = column.squaredNorm();
          }
        }
      }
    });
    team.for_each(me, panels, [&](Index p, int) {
      const Index count = std::min<Index>(kPanel, n_ - p * kPanel);
      alignas(kAlignment) double squares[kPanel];
      const AlignedBuffer products = make_aligned(size_of(n_outputs * kPanel));
      for (Index g = 0; g < n_gammas; ++g) {
        std::fill_n(squares, kPanel, 0.0);
        std::fill_n(products.get(), n_outputs * kPanel, 0.0);
        sum_rows(rows_.panel(p), rows, factors[size_of(g)].data(), forward.data() + g * n_outputs * rows, n_outputs,
                 squares, products.get());
        std::copy_n(squares, count, &result.inverse_diagonal(p * kPanel, g));
        for (Index j = 0; j < n_outputs; ++j)
          std::copy_n(products.get() + j * kPanel, count, &result.solutions(p * kPanel, g * n_outputs + j));
      }
    });
  });
  return result;
}

}  // namespace gegenbauer
