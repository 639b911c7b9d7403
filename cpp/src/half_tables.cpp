#include "gegenbauer/half_tables.hpp"

#include <algorithm>
#include <numeric>

#include "gegenbauer/error.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

constexpr Index kPanels = 4;  // panels of samples that share a univariate table
constexpr Index kSub = kPanels * kPanel;

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

MultiIndexSet indices_of(const Half& half) { return {static_cast<Index>(half.parts.front().size()), half.parts}; }

}  // namespace

HalfTables::HalfTables(const TensorBasis& basis) : HalfTables(basis, split_in_halves(basis.indices())) {}

HalfTables::HalfTables(const TensorBasis& basis, const Halves& halves)
    : left_(indices_of(halves.left), basis),
      right_(indices_of(halves.right), basis),
      right_input_(halves.right.first_input),
      n_terms_(basis.n_terms()),
      need_(size_of(halves.left.size()), 0),
      left_of_(halves.left.of_term),
      right_of_(halves.right.of_term) {
  for (Index l = 0; l < n_terms_; ++l) {
    std::int32_t& need = need_[size_of(left_of_[size_of(l)])];
    need = std::max(need, right_of_[size_of(l)] + 1);
  }
  std::vector<std::int32_t> order(need_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return need_[size_of(a)] > need_[size_of(b)]; });
  std::vector<Index> start(need_.size());  // of the left function's column among the packed weights
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t j = i % kColumns;
    if (j == 0) groups_.push_back({{}, need_[size_of(order[i])], packed_size_ / kColumns});
    if (j == 0) packed_size_ += groups_.back().depth * kColumns;
    groups_.back().function[j] = order[i];  // missing ones stay the constant, with weights of zero
    start[size_of(order[i])] = groups_.back().start * kColumns + static_cast<Index>(j);
  }
  for (Index l = 0; l < n_terms_; ++l)
    place_.push_back(start[size_of(left_of_[size_of(l)])] + Index{right_of_[size_of(l)]} * kColumns);
}

bool HalfTables::pay(Index n_outputs) const {
  // In cycles for a packet of samples. Term by term: a multiplication with two loads and a store, and a multiply-add
  // for each output. Here: multiply-adds with the border of the staircase, and the tables.
  const auto outputs = static_cast<double>(n_outputs);
  const double by_terms = static_cast<double>(n_terms_) * (2.0 + outputs);
  const double by_halves =
      outputs * static_cast<double>(packed_size_ + 2 * kColumns * static_cast<Index>(groups_.size())) +
      6.0 * static_cast<double>(left_.n_terms() + right_.n_terms());
  return by_halves < by_terms;
}

void HalfTables::predict(const Samples& samples, StridedView<const double> weights, StridedView<double> out,
                         const Control& control) const {
  const Index n_samples = samples.rows();
  const Index n_outputs = weights.cols;
  const AlignedBuffer packed = make_aligned(size_of(n_outputs * packed_size_));
  std::fill_n(packed.get(), n_outputs * packed_size_, 0.0);
  for (Index k = 0; k < n_outputs; ++k)
    for (Index l = 0; l < n_terms_; ++l) packed[size_of(k * packed_size_ + place_[size_of(l)])] = weights(l, k);
  struct Scratch {
    AlignedBuffer x, left_table, right_table, left, right;
  };
  const double work = static_cast<double>(n_samples) * static_cast<double>(packed_size_ * n_outputs);
  std::vector<Scratch> scratch;
  for (int i = 0; i < control.threads_for(work); ++i)
    scratch.push_back({make_aligned(size_of(samples.cols() * kSub)),
                       make_aligned(size_of(std::max<Index>(1, left_.n_factors()) * kSub)),
                       make_aligned(size_of(std::max<Index>(1, right_.n_factors()) * kSub)),
                       make_aligned(size_of(left_.n_terms() * kPanel)),
                       make_aligned(size_of(right_.n_terms() * kPanel))});
  const auto predict_panel = [&](Index first, Index count, const double* left, const double* right) {
    for (Index k = 0; k < n_outputs; ++k) {
      const double* w = packed.get() + k * packed_size_;
      Packet sum[kVectors];
      for (int v = 0; v < kVectors; ++v) sum[v] = packet::zero();
      for (const Group& group : groups_) {
        const RegisterTile tile =
            multiply_panels<kVectors, kColumns>(right, w + group.start * kColumns, Index{group.depth});
        for (int j = 0; j < kColumns; ++j) {
          const double* p = left + Index{group.function[j]} * kPanel;
          for (int v = 0; v < kVectors; ++v)
            sum[v] = packet::fma(packet::load(p + v * kPacket), tile.acc[j][v], sum[v]);
        }
      }
      alignas(kAlignment) double values[kPanel];
      for (int v = 0; v < kVectors; ++v) packet::store(values + v * kPacket, sum[v]);
      for (Index s = 0; s < count; ++s) out(first + s, k) = values[s];
    }
  };
  constexpr Index chunk = 4 * kSub;  // samples an item
  parallel_for(control, (n_samples + chunk - 1) / chunk, work, [&](Index item, int member) {
    const auto& [x, left_table, right_table, left, right] = scratch[size_of(member)];
    const Index stop = std::min(n_samples, (item + 1) * chunk);
    for (Index first = item * chunk; first < stop; first += kSub) {
      const Index count = std::min(kSub, stop - first);
      samples.load(first, count, kSub, x.get(), kSub);
      left_.tabulate(x.get(), kSub, kSub, left_table.get());
      right_.tabulate(x.get() + right_input_ * kSub, kSub, kSub, right_table.get());
      for (Index at = 0; at < count; at += kPanel) {
        left_.evaluate_block<kPanel>(left_table.get() + at, kSub, left.get());
        right_.evaluate_block<kPanel>(right_table.get() + at, kSub, right.get());
        predict_panel(first + at, std::min<Index>(kPanel, count - at), left.get(), right.get());
      }
    }
  });
}

void HalfTables::accumulate_cross(const Design& design, MatrixRef cross, const Control& control) const {
  const Index n_targets = design.targets.cols;
  std::vector<StaircaseRow> rows;
  for (Index k = 0; k < n_targets; ++k)
    for (std::size_t a = 0; a < need_.size(); ++a)
      rows.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(k), need_[a]});
  const Staircase staircase(left_, right_, right_input_, std::move(rows));
  std::vector<double> sums(size_of(staircase.size()), 0.0);
  staircase.accumulate(
      design.samples, n_targets,
      [&](Index first, Index count, double* out, Index stride) {
        for (Index k = 0; k < n_targets; ++k)
          for (Index s = 0; s < count; ++s)
            out[k * stride + s] =
                design.targets(first + s, k) * (design.row_scale == nullptr ? 1.0 : design.row_scale[first + s]);
      },
      sums.data(), control);
  const auto n_left = static_cast<Index>(need_.size());
  for (Index l = 0; l < n_terms_; ++l)
    for (Index k = 0; k < n_targets; ++k)
      cross(k, l) += sums[size_of(staircase.row_start(k * n_left + left_of_[size_of(l)]) + right_of_[size_of(l)])];
}

}  // namespace gegenbauer
