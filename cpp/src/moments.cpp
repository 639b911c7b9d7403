#include "gegenbauer/moments.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "gegenbauer/error.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

std::int32_t total_of(const Exponents& k) { return std::accumulate(k.begin(), k.end(), std::int32_t{0}); }

// graded, larger degrees of earlier inputs first
struct Graded {
  bool operator()(const Exponents& a, const Exponents& b) const {
    const std::int32_t x = total_of(a);
    const std::int32_t y = total_of(b);
    return x != y ? x < y : a > b;
  }
};

MomentHalf make_half(const TensorBasis& basis, Index first, Index last) {
  MomentHalf half;
  half.first_input = first;
  std::map<Exponents, std::int32_t> part_index;
  std::vector<Exponents> parts;
  for (Index l = 0; l < basis.n_terms(); ++l) {
    const Exponents whole = basis.indices().exponents(l);
    const Exponents part(whole.begin() + first, whole.begin() + last);
    const auto [place, is_new] = part_index.try_emplace(part, static_cast<std::int32_t>(parts.size()));
    if (is_new) parts.push_back(part);
    half.part_of_term.push_back(place->second);
  }
  // The parts are downward closed, so their sums are as well.
  std::map<Exponents, std::int32_t, Graded> sum_index;
  Exponents sum(size_of(last - first));
  for (std::size_t a = 0; a < parts.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      std::transform(parts[a].begin(), parts[a].end(), parts[b].begin(), sum.begin(), std::plus<>());
      sum_index.try_emplace(sum, 0);
    }
  }
  for (auto& [k, position] : sum_index) {
    position = static_cast<std::int32_t>(half.sums.size());
    half.sums.push_back(k);
  }
  for (const Exponents& part : parts) half.part_sum.push_back(sum_index.at(part));
  // T_a T_b in each input: a + b and |a - b|, which are one when either is 0
  half.pair_start.push_back(0);
  for (const Exponents& a : parts) {
    for (const Exponents& b : parts) {
      std::vector<Exponents> found{Exponents(a.size(), 0)};
      for (std::size_t t = 0; t < a.size(); ++t) {
        const std::size_t n = found.size();
        for (std::size_t i = 0; i < n; ++i) {
          found[i][t] = a[t] + b[t];
          if (a[t] > 0 && b[t] > 0) {
            found.push_back(found[i]);
            found.back()[t] = std::abs(a[t] - b[t]);
          }
        }
      }
      for (const Exponents& k : found) half.pair_sum.push_back(sum_index.at(k));
      half.pair_start.push_back(static_cast<std::int32_t>(half.pair_sum.size()));
    }
  }
  return half;
}

Index split(const TensorBasis& basis) { return std::max<Index>(1, basis.n_inputs() / 2); }

// One input has no right half: the constant of that input stands in for it.
MomentHalf make_right(const TensorBasis& basis) {
  if (basis.n_inputs() > 1) return make_half(basis, split(basis), basis.n_inputs());
  MomentHalf half{0, {{0}}, {0}, std::vector<std::int32_t>(size_of(basis.n_terms()), 0), {0, 1}, {0}};
  return half;
}

TensorBasis chebyshev(const MomentHalf& half) {
  return {MultiIndexSet(static_cast<Index>(half.sums.front().size()), half.sums), 0.0, Normalization::chebyshev};
}

}  // namespace

MomentPlan::MomentPlan(const TensorBasis& basis, Index n_targets)
    : n_terms_(basis.n_terms()),
      n_targets_(n_targets),
      left_(make_half(basis, 0, split(basis))),
      right_(make_right(basis)),
      left_basis_(chebyshev(left_)),
      right_basis_(chebyshev(right_)) {
  make_staircase();
  make_connection(basis);
}

void MomentPlan::make_staircase() {
  // Largest total degree on the right that goes with each part on the left; what a pair of parts needs is the sum, and
  // what a sum needs its differences need as well.
  const auto right_total = [&](Index l) {
    return total_of(right_.sums[size_of(right_.part_sum[size_of(right_.part_of_term[size_of(l)])])]);
  };
  std::vector<std::int32_t> reach(size_of(left_.n_parts()), 0);
  for (Index l = 0; l < n_terms_; ++l) {
    auto& most = reach[size_of(left_.part_of_term[size_of(l)])];
    most = std::max(most, right_total(l));
  }
  std::vector<std::int32_t> sum_reach(size_of(left_.n_sums()), 0);
  const Index n = left_.n_parts();
  for (Index a = 0; a < n; ++a) {
    for (Index b = 0; b < n; ++b) {
      const std::int32_t total = reach[size_of(a)] + reach[size_of(b)];
      for (std::int32_t i = left_.pair_start[size_of(a * n + b)]; i < left_.pair_start[size_of(a * n + b + 1)]; ++i) {
        auto& most = sum_reach[size_of(left_.pair_sum[size_of(i)])];
        most = std::max(most, total);
      }
    }
  }
  std::vector<std::int32_t> up_to;  // right sums of total degree <= d
  for (const Exponents& k : right_.sums) {
    const auto total = size_of(total_of(k));
    if (up_to.size() <= total) up_to.resize(total + 1, up_to.empty() ? 0 : up_to.back());
    ++up_to[total];
  }
  const auto prefix = [&](std::int32_t total) { return up_to[std::min(size_of(total), up_to.size() - 1)]; };
  for (const std::int32_t total : sum_reach) need_.push_back(prefix(total));
  for (Index k = 0; k < n_targets_; ++k)
    for (const std::int32_t total : reach) need_.push_back(prefix(total));
  row_start_.push_back(0);
  for (const std::int32_t count : need_) row_start_.push_back(row_start_.back() + count);
}

void MomentPlan::make_connection(const TensorBasis& basis) {
  const Recurrence& recurrence = basis.recurrence();
  const Index degree = recurrence.degree();
  // C_n = sum over i of u_i u_{n-i} T_|n-2i| with u_i = (lam)_i / i!. Only the shares are taken from it; the size comes
  // from the value at 1, where every T is 1, so any normalisation is served and nothing overflows.
  std::vector<double> u(size_of(degree) + 1, 1.0);
  for (std::size_t i = 1; i < u.size(); ++i)
    u[i] = u[i - 1] * (basis.lam() + static_cast<double>(i) - 1.0) / static_cast<double>(i);
  std::vector<double> at_one(size_of(degree) + 1);
  const double one = 1.0;
  recurrence.evaluate(&one, 1, at_one.data(), 1);
  connection_ = Matrix::Zero(degree + 1, degree + 1);
  for (Index n = 0; n <= degree; ++n) {
    if (basis.lam() == 0.0) {
      connection_(n, n) = at_one[size_of(n)];
      continue;
    }
    double sum = 0.0;
    for (Index i = 0; i <= n; ++i) {
      const double share = u[size_of(i)] * u[size_of(n - i)];
      connection_(n, std::abs(n - 2 * i)) += share;
      sum += share;
    }
    connection_.row(n) *= at_one[size_of(n)] / sum;
  }
  const MultiIndexSet& indices = basis.indices();
  std::map<Exponents, std::int32_t> position;
  std::vector<Exponents> terms;
  for (Index l = 0; l < n_terms_; ++l) {
    terms.push_back(indices.exponents(l));
    position.emplace(terms.back(), static_cast<std::int32_t>(l));
  }
  factors_.resize(size_of(basis.n_inputs()));
  scale_.assign(size_of(n_terms_), 1.0);
  // from the highest degree down, so that a column is changed before those that it needs
  for (std::size_t t = 0; t < factors_.size(); ++t) {
    std::vector<Index> order(size_of(n_terms_));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return terms[size_of(a)][t] > terms[size_of(b)][t]; });
    for (const Index l : order) {
      const std::int32_t n = terms[size_of(l)][t];
      if (n == 0) break;
      scale_[size_of(l)] *= connection_(n, n);
      if (n < 2 || basis.lam() == 0.0) continue;
      factors_[t].push_back({static_cast<std::int32_t>(l), n, static_cast<Index>(below_.size())});
      Exponents lower = terms[size_of(l)];
      for (std::int32_t j = n - 2; j >= 0; j -= 2) {
        lower[t] = j;
        below_.push_back(position.at(lower));
      }
    }
  }
}

namespace {

constexpr Index kSubBlock = 64;

// Samples a block: enough work between two meeting points, within the last-level cache.
Index block_of(Index n_rows) {
  const Index fitting = 4'000'000 / (8 * std::max<Index>(1, n_rows));
  return std::clamp<Index>(fitting / kSubBlock * kSubBlock, 256, 4096);
}

}  // namespace

void MomentPlan::accumulate(const Design& design, double* statistic, const Control& control) const {
  const Samples& samples = design.samples;
  require(samples.cols() == design.basis.n_inputs() && design.basis.n_terms() == n_terms_,
          "the design does not fit the plan of the moments");
  require(design.targets.cols == n_targets_ && (n_targets_ == 0 || design.targets.rows == samples.rows()),
          "Y must have shape (", samples.rows(), ", ", n_targets_, ")");
  const Index n_left = static_cast<Index>(need_.size());
  const Index n_right = right_.n_sums();
  const Index n_sums = left_.n_sums();
  const Index n_parts = left_.n_parts();
  const Index block = block_of(n_left + n_right);
  const PackedPanels left(n_left, block);
  const PackedPanels right(n_right, block);
  // The staircase while it grows, in register tiles: panel p has need groups of kColumns columns, each kPanel rows
  // long.
  std::vector<Index> tile_start{0};
  std::vector<Index> panel_need;
  for (Index p = 0; p < left.n_panels(); ++p) {
    const auto begin = need_.begin() + p * kPanel;
    const auto end = need_.begin() + std::min(n_left, (p + 1) * kPanel);
    const Index groups = (*std::max_element(begin, end) + kColumns - 1) / kColumns;
    panel_need.push_back(groups);
    tile_start.push_back(tile_start.back() + groups * kColumns * kPanel);
  }
  const AlignedBuffer sums = make_aligned(size_of(tile_start.back()));
  std::fill_n(sums.get(), tile_start.back(), 0.0);
  // items: some left panels against some right panels
  std::vector<Tile> tiles;
  const Index step = left.n_panels() * right.n_panels() > 64 ? kTilePanels : 1;
  for (Index q = 0; q < right.n_panels(); q += step)
    for (Index p = 0; p < left.n_panels(); p += step) {
      const Index p_end = std::min(left.n_panels(), p + step);
      Index most = 0;
      for (Index i = p; i < p_end; ++i) most = std::max(most, panel_need[size_of(i)]);
      if (most * kColumns > q * kPanel) tiles.push_back({p, p_end, q, std::min(right.n_panels(), q + step)});
    }

  struct Scratch {
    AlignedBuffer x, left_table, right_table, left_terms, right_terms;
  };
  const double work = static_cast<double>(samples.rows()) * static_cast<double>(row_start_.back());
  const int size = control.threads_for(work);
  std::vector<Scratch> scratch;
  for (int i = 0; i < size; ++i)
    scratch.push_back({make_aligned(size_of(samples.cols() * kSubBlock)),
                       make_aligned(size_of(std::max<Index>(1, left_basis_.n_factors()) * kSubBlock)),
                       make_aligned(size_of(std::max<Index>(1, right_basis_.n_factors()) * kSubBlock)),
                       make_aligned(size_of(left.n_panels() * kPanel * kPacket)),
                       make_aligned(size_of(right.n_panels() * kPanel * kPacket))});

  const auto transpose_into = [](const double* terms, const PackedPanels& panels, Index depth) {
    for (Index l = 0; l < panels.n_panels() * kPanel; l += kPacket) {
      PacketSquare square;
      for (int i = 0; i < kPacket; ++i) square.packet[i] = packet::load(terms + (l + i) * kPacket);
      packet::transpose(square);
      double* out = panels.panel(l / kPanel) + depth * kPanel + l % kPanel;
      for (int i = 0; i < kPacket; ++i) packet::store(out + i * kPanel, square.packet[i]);
    }
  };
  const auto pack = [&](Index first, Index depth, const Scratch& s) {
    const Index count = std::min(kSubBlock, samples.rows() - first);
    samples.load(first, count, kSubBlock, s.x.get(), kSubBlock);
    left_basis_.tabulate(s.x.get(), kSubBlock, kSubBlock, s.left_table.get());
    right_basis_.tabulate(s.x.get() + right_.first_input * kSubBlock, kSubBlock, kSubBlock, s.right_table.get());
    double* rows = s.left_terms.get();
    for (Index group = 0; group < kSubBlock; group += kPacket) {
      left_basis_.evaluate_packet(s.left_table.get() + group, kSubBlock, rows);
      right_basis_.evaluate_packet(s.right_table.get() + group, kSubBlock, s.right_terms.get());
      std::fill(s.right_terms.get() + n_right * kPacket, s.right_terms.get() + right.n_panels() * kPanel * kPacket,
                0.0);
      alignas(kAlignment) double weight[kPacket];
      alignas(kAlignment) double target[kPacket];
      const auto scale = [&](Index s_index) {
        return s_index >= count ? 0.0 : design.row_scale == nullptr ? 1.0 : design.row_scale[first + s_index];
      };
      for (Index i = 0; i < kPacket; ++i) weight[i] = scale(group + i) * scale(group + i);
      for (Index k = 0; k < n_targets_; ++k) {
        for (Index i = 0; i < kPacket; ++i)
          target[i] = group + i < count ? scale(group + i) * design.targets(first + group + i, k) : 0.0;
        const Packet factor = packet::load(target);
        double* out = rows + (n_sums + k * n_parts) * kPacket;
        for (Index a = 0; a < n_parts; ++a)
          packet::store(out + a * kPacket,
                        packet::mul(factor, packet::load(rows + Index{left_.part_sum[size_of(a)]} * kPacket)));
      }
      if (design.row_scale != nullptr || group + kPacket > count) {
        const Packet factor = packet::load(weight);
        for (Index l = 0; l < n_sums; ++l)
          packet::store(rows + l * kPacket, packet::mul(factor, packet::load(rows + l * kPacket)));
      }
      std::fill(rows + n_left * kPacket, rows + left.n_panels() * kPanel * kPacket, 0.0);
      transpose_into(rows, left, depth + group);
      transpose_into(s.right_terms.get(), right, depth + group);
    }
  };
  const auto multiply = [&](const Tile& tile, Index depth) {
    for (Index begin = 0; begin < depth; begin += kDepth) {
      const Index part = std::min(kDepth, depth - begin);
      for (Index q = tile.col_begin; q < tile.col_end; ++q) {
        for (Index group = 0; group < kPanel; group += kColumns) {
          const Index g = (q * kPanel + group) / kColumns;
          const double* b = right.panel(q) + begin * kPanel + group;
          for (Index p = tile.row_begin; p < tile.row_end; ++p) {
            if (g >= panel_need[size_of(p)]) continue;
            const RegisterTile product = multiply_panels(left.panel(p) + begin * kPanel, b, part);
            double* out = sums.get() + tile_start[size_of(p)] + g * kColumns * kPanel;
#pragma GCC unroll 8
            for (int j = 0; j < kColumns; ++j)
#pragma GCC unroll 3
              for (int v = 0; v < kVectors; ++v) {
                double* at = out + j * kPanel + v * kPacket;
                packet::store(at, packet::add(packet::load(at), product.acc[j][v]));
              }
          }
        }
      }
    }
  };
  Team::run(control, size, [&](Team& team, int me) {
    for (Index start = 0; start < samples.rows(); start += block) {
      const Index count = std::min(block, samples.rows() - start);
      const Index n_sub = (count + kSubBlock - 1) / kSubBlock;
      team.for_each(me, n_sub,
                    [&](Index i, int member) { pack(start + i * kSubBlock, i * kSubBlock, scratch[size_of(member)]); });
      team.for_each(me, static_cast<Index>(tiles.size()),
                    [&](Index i, int) { multiply(tiles[size_of(i)], n_sub * kSubBlock); });
    }
  });
  for (Index i = 0; i < n_left; ++i) {
    const double* panel = sums.get() + tile_start[size_of(i / kPanel)] + i % kPanel;
    double* out = statistic + row_start_[size_of(i)];
    for (Index j = 0; j < need_[size_of(i)]; ++j) out[j] += panel[j * kPanel];
  }
  double* target_gram = statistic + row_start_.back();
  for (Index k = 0; k < n_targets_; ++k)
    for (Index j = 0; j < n_targets_; ++j) {
      double sum = 0.0;
      for (Index s = 0; s < samples.rows(); ++s) sum += design.targets(s, k) * design.targets(s, j);
      target_gram[k * n_targets_ + j] += sum;
    }
}

// Columns: matrix := matrix B' for the rows [0, n_rows), input by input; a column gives to higher ones only.
void MomentPlan::change_basis(MatrixRef matrix, Index n_rows, const Control& control) const {
  constexpr Index chunk = 64;
  const double work = static_cast<double>(n_rows) * static_cast<double>(below_.size() + scale_.size());
  parallel_for(control, (n_rows + chunk - 1) / chunk, work, [&](Index item, int) {
    const Index first = item * chunk;
    const Index count = std::min(chunk, n_rows - first);
    const auto column = [&](Index l) { return matrix.col(l).segment(first, count); };
    for (const std::vector<Factor>& factors : factors_) {
      for (const Factor& factor : factors) {
        const double top = connection_(factor.degree, factor.degree);
        Index below = factor.below;
        for (std::int32_t j = factor.degree - 2; j >= 0; j -= 2, ++below)
          column(factor.term).noalias() += connection_(factor.degree, j) / top * column(below_[size_of(below)]);
      }
    }
    for (Index l = 0; l < n_terms_; ++l) column(l) *= scale_[size_of(l)];
  });
}

void MomentPlan::assemble(const double* statistic, MatrixRef gram, const Control& control) const {
  const Index n = n_terms_ + n_targets_;
  require(gram.rows() == n && gram.cols() == n, "gram must have shape (", n, ", ", n, ")");
  const Index n_left = left_.n_parts();
  const Index n_right = right_.n_parts();
  const double work = 4.0 * static_cast<double>(n) * static_cast<double>(n);
  parallel_for(control, n_terms_, work, [&](Index b, int) {
    const Index left_b = left_.part_of_term[size_of(b)];
    const Index right_b = right_.part_of_term[size_of(b)];
    for (Index a = b; a < n_terms_; ++a) {
      const Index left_pair = left_.part_of_term[size_of(a)] * n_left + left_b;
      const Index right_pair = right_.part_of_term[size_of(a)] * n_right + right_b;
      const std::int32_t* left_begin = left_.pair_sum.data() + left_.pair_start[size_of(left_pair)];
      const std::int32_t* left_end = left_.pair_sum.data() + left_.pair_start[size_of(left_pair) + 1];
      const std::int32_t* right_begin = right_.pair_sum.data() + right_.pair_start[size_of(right_pair)];
      const std::int32_t* right_end = right_.pair_sum.data() + right_.pair_start[size_of(right_pair) + 1];
      double sum = 0.0;
      for (const std::int32_t* i = left_begin; i < left_end; ++i) {
        const double* row = statistic + row_start_[size_of(*i)];
        for (const std::int32_t* j = right_begin; j < right_end; ++j) sum += row[*j];
      }
      gram(a, b) = sum / static_cast<double>((left_end - left_begin) * (right_end - right_begin));
    }
    for (Index k = 0; k < n_targets_; ++k) {
      const Index row = left_.n_sums() + k * n_left + left_b;
      gram(n_terms_ + k, b) = statistic[row_start_[size_of(row)] + right_.part_sum[size_of(right_b)]];
    }
  });
  // [C; Y'T] B', then (C B')' B' = B C B'
  constexpr Index chunk = 64;
  const auto mirror = [&] {
    parallel_for(control, (n_terms_ + chunk - 1) / chunk, work, [&](Index item, int) {
      const Index last = std::min(n_terms_, (item + 1) * chunk);
      for (Index b = item * chunk; b < last; ++b)
        for (Index a = b + 1; a < n_terms_; ++a) gram(b, a) = gram(a, b);
    });
  };
  mirror();
  change_basis(gram, n, control);
  gram.topLeftCorner(n_terms_, n_terms_).transposeInPlace();
  change_basis(gram, n_terms_, control);
  const double* target_gram = statistic + row_start_.back();
  for (Index k = 0; k < n_targets_; ++k)
    for (Index j = 0; j < n_targets_; ++j) gram(n_terms_ + k, n_terms_ + j) = target_gram[k * n_targets_ + j];
}

}  // namespace gegenbauer
