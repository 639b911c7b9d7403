#include "band_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gegenbauer/unroll.hpp"

namespace gegenbauer::band {

namespace {

constexpr Index kLanes = kWidth / kPacket;

// Columns of a panel that are updated and multiplied while they are in the first-level cache.
constexpr Index kStretch = 4 * kPanel;

// Parts of a product with the lower triangle, each of which sums to its own memory, in an order that threads do not
// change.
constexpr Index kParts = 8;

// sums[c] += A(rows, c) v for the rows of one panel and kColumns columns c
EIGEN_ALWAYS_INLINE void multiply_transposed(const double* a, const double* v, double* sums) {
  Packet acc[kColumns][kLanes];
  GEGENBAUER_UNROLL(8)
  for (Index c = 0; c < kColumns; ++c) {
    GEGENBAUER_UNROLL(4)
    for (Index l = 0; l < kLanes; ++l) acc[c][l] = packet::load(sums + c * kWidth + l * kPacket);
  }
  GEGENBAUER_UNROLL(2)
  for (Index r = 0; r < kPanel; ++r) {
    Packet row[kLanes];
    GEGENBAUER_UNROLL(4)
    for (Index l = 0; l < kLanes; ++l) row[l] = packet::load(v + r * kGroup + l * kPacket);
    GEGENBAUER_UNROLL(8)
    for (Index c = 0; c < kColumns; ++c) {
      const Packet entry = packet::broadcast(a[c * kPanel + r]);
      GEGENBAUER_UNROLL(4)
      for (Index l = 0; l < kLanes; ++l) acc[c][l] = packet::fma(entry, row[l], acc[c][l]);
    }
  }
  GEGENBAUER_UNROLL(8)
  for (Index c = 0; c < kColumns; ++c) {
    GEGENBAUER_UNROLL(4)
    for (Index l = 0; l < kLanes; ++l) packet::store(sums + c * kWidth + l * kPacket, acc[c][l]);
  }
}

}  // namespace

Reduction::Reduction(PackedPanels& a, Index padded, Index size)
    : size_(size),
      padded_(padded),
      a_(a),
      pending_(zeroed(padded_ * 2 * kWidth)),
      y_(zeroed(padded_ * kWidth)),
      parts_(zeroed(kParts * padded_ * kWidth)) {}

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
    GEGENBAUER_UNROLL(8)
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
    GEGENBAUER_UNROLL(8)
    for (Index part = 0; part < kParts; ++part) y += ConstRowMap(parts_.get() + (part * padded_ + c) * kWidth);
    RowMap(y_.get() + c * kWidth) = y;
    GEGENBAUER_UNROLL(8)
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
    GEGENBAUER_UNROLL(8)
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

}  // namespace gegenbauer::band
