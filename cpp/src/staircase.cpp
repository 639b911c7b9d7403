#include "gegenbauer/staircase.hpp"

#include <algorithm>
#include <numeric>

#include "gegenbauer/error.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/tiles.hpp"

namespace gegenbauer {

namespace {

constexpr Index kBlock = 64;  // samples that are evaluated and multiplied in one go

// Samples whose sums are found in one go by one thread. Sums of runs are added in their order, so that the threads do
// not change a bit.
constexpr Index kRun = 2048;

// terms[l * kBlock + i] for a block of samples, from the table of their univariate values.
void evaluate_block(const TensorBasis& basis, const double* table, double* terms) {
  for (Index i = 0; i < kBlock; i += kPacket) packet::store(terms + i, packet::broadcast(1.0));
  for (Index l = 1; l < basis.n_terms(); ++l) {
    const double* from = terms + Index{basis.parents()[l]} * kBlock;
    const double* by = table + Index{basis.factors()[l]} * kBlock;
    for (Index i = 0; i < kBlock; i += kPacket)
      packet::store(terms + l * kBlock + i, packet::mul(packet::load(from + i), packet::load(by + i)));
  }
}

}  // namespace

Staircase::Staircase(const TensorBasis& left, const TensorBasis& right, Index right_input,
                     std::vector<StaircaseRow> rows)
    : left_(left), right_(right), right_input_(right_input), rows_(std::move(rows)), order_(rows_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  const auto need = [&](std::int32_t i) { return rows_[size_of(i)].need; };
  std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) { return need(a) > need(b); });
  row_start_.push_back(0);
  for (const StaircaseRow& row : rows_) row_start_.push_back(row_start_.back() + row.need);
  group_start_.push_back(0);
  auto end = order_.end();
  for (Index column = 0; end != order_.begin(); column += kColumns) {
    while (end != order_.begin() && need(*(end - 1)) <= column) --end;
    if (end == order_.begin()) break;
    group_rows_.push_back(round_up(end - order_.begin(), kPacket));
    group_start_.push_back(group_start_.back() + group_rows_.back() * kColumns);
  }
}

struct Staircase::Scratch {
  AlignedBuffer x, left_table, right_table, left_terms, factors;
  AlignedBuffer left;   // [panel][sample][row of the panel]
  AlignedBuffer right;  // [column][sample]
};

// Made by the member that uses it, with its first item.
void Staircase::make_scratch(const Samples& samples, Index n_factors, Scratch& scratch) const {
  if (scratch.left) return;
  require(samples.cols() >= std::max(left_.n_inputs(), right_input_ + right_.n_inputs()), "X has too few columns");
  const Index n_left = round_up(static_cast<Index>(order_.size()), kPanel);
  const Index n_right = std::max(right_.n_terms(), static_cast<Index>(group_rows_.size()) * kColumns);
  scratch = {make_aligned(size_of(samples.cols() * kBlock)),
             make_aligned(size_of(std::max<Index>(1, left_.n_factors()) * kBlock)),
             make_aligned(size_of(std::max<Index>(1, right_.n_factors()) * kBlock)),
             make_aligned(size_of(left_.n_terms() * kPacket)),
             make_aligned(size_of(n_factors * kBlock)),
             make_aligned(size_of(n_left * kBlock)),
             make_aligned(size_of(n_right * kBlock))};
  // rows and columns beyond the last are never used, but they are multiplied
  std::fill_n(scratch.left.get(), n_left * kBlock, 0.0);
  std::fill_n(scratch.right.get(), n_right * kBlock, 0.0);
}

void Staircase::pack(const Samples& samples, Index first, Index count, Index n_factors, const SampleFactors& factors,
                     const Scratch& scratch) const {
  samples.load(first, count, kBlock, scratch.x.get(), kBlock);
  left_.tabulate(scratch.x.get(), kBlock, kBlock, scratch.left_table.get());
  right_.tabulate(scratch.x.get() + right_input_ * kBlock, kBlock, kBlock, scratch.right_table.get());
  evaluate_block(right_, scratch.right_table.get(), scratch.right.get());
  double* factor = scratch.factors.get();
  factors(first, count, factor, kBlock);
  for (Index f = 0; f < n_factors; ++f) std::fill(factor + f * kBlock + count, factor + (f + 1) * kBlock, 0.0);
  const auto n_rows = static_cast<Index>(order_.size());
  for (Index at = 0; at < kBlock; at += kPacket) {
    const double* left = scratch.left_terms.get();
    left_.evaluate_packet(scratch.left_table.get() + at, kBlock, scratch.left_terms.get());
    for (Index r = 0; r < n_rows; r += kPacket) {
      PacketSquare square;
      for (int i = 0; i < kPacket; ++i) {
        if (r + i >= n_rows) {
          square.packet[i] = packet::zero();
          continue;
        }
        const StaircaseRow& row = rows_[size_of(order_[size_of(r + i)])];
        square.packet[i] = packet::mul(packet::load(left + Index{row.function} * kPacket),
                                       packet::load(factor + Index{row.factor} * kBlock + at));
      }
      packet::transpose(square);
      double* out = scratch.left.get() + (r / kPanel * kBlock + at) * kPanel + r % kPanel;
      for (int i = 0; i < kPacket; ++i) packet::store(out + i * kPanel, square.packet[i]);
    }
  }
}

namespace {

// out(rows, columns) += left * right' for the first n_vectors packets of the rows of a panel
template <int n_vectors>
void add_product(const double* left, const double* right, double* out) {
  const auto tile = multiply_panels<n_vectors, 1, kBlock>(left, right, kBlock);
  for (int j = 0; j < kColumns; ++j)
    for (int v = 0; v < n_vectors; ++v) {
      double* at = out + (j * n_vectors + v) * kPacket;
      packet::store(at, packet::add(packet::load(at), tile.acc[j][v]));
    }
}

}  // namespace

void Staircase::multiply(const Scratch& scratch, double* sums) const {
  const auto n_groups = static_cast<Index>(group_rows_.size());
  for (Index row = 0; n_groups > 0 && row < group_rows_[0]; row += kPanel) {
    const double* left = scratch.left.get() + row * kBlock;
    for (Index g = 0; g < n_groups && group_rows_[size_of(g)] > row; ++g) {
      const double* right = scratch.right.get() + g * kColumns * kBlock;
      double* out = sums + group_start_[size_of(g)] + row * kColumns;
      const Index n_vectors = std::min<Index>(kVectors, (group_rows_[size_of(g)] - row) / kPacket);
      if (n_vectors == kVectors) {
        add_product<kVectors>(left, right, out);
      } else if (kVectors > 2 && n_vectors == 2) {
        add_product<std::min(2, kVectors)>(left, right, out);
      } else {
        add_product<1>(left, right, out);
      }
    }
  }
}

void Staircase::accumulate(const Samples& samples, Index n_factors, const SampleFactors& factors, double* sums,
                           const Control& control) const {
  static_assert(kVectors <= 3);
  if (rows_.empty()) return;
  const Index n_samples = samples.rows();
  const Index n_runs = divide_up(n_samples, kRun);
  const Index padded = group_start_.back();
  const double work = static_cast<double>(n_samples) *
                      static_cast<double>(padded + 4 * (static_cast<Index>(order_.size()) + right_.n_terms()));
  const Index n_threads = std::min<Index>(control.threads_for(work), n_runs);
  const Index wave = std::max(n_threads, std::min<Index>(4'000'000 / std::max<Index>(1, padded), 16));
  std::vector<Scratch> scratch(size_of(n_threads));
  const AlignedBuffer partial = make_aligned(size_of(wave * padded));
  const AlignedBuffer total = make_aligned(size_of(padded));
  std::fill_n(total.get(), padded, 0.0);
  constexpr Index chunk = 4096;  // of the sums that are added up at once
  Team::run(control, static_cast<int>(n_threads), [&](Team& team, int me) {
    for (Index begin = 0; begin < n_runs; begin += wave) {
      const Index count = std::min(wave, n_runs - begin);
      team.for_each(me, count, [&](Index item, int member) {
        make_scratch(samples, n_factors, scratch[size_of(member)]);
        double* mine = partial.get() + item * padded;
        std::fill_n(mine, padded, 0.0);
        const Index stop = std::min(n_samples, (begin + item + 1) * kRun);
        for (Index first = (begin + item) * kRun; first < stop; first += kBlock) {
          pack(samples, first, std::min(kBlock, stop - first), n_factors, factors, scratch[size_of(member)]);
          multiply(scratch[size_of(member)], mine);
        }
      });
      team.for_each(me, divide_up(padded, chunk), [&](Index part, int) {
        const Index stop = std::min(padded, (part + 1) * chunk);
        for (Index item = 0; item < count; ++item)
          for (Index i = part * chunk; i < stop; ++i) total[size_of(i)] += partial[size_of(item * padded + i)];
      });
    }
  });
  for (std::size_t r = 0; r < order_.size(); ++r) {
    const Index panel = static_cast<Index>(r) / kPanel * kPanel;
    double* out = sums + row_start(order_[r]);
    for (Index j = 0; j < rows_[size_of(order_[r])].need; ++j) {
      const Index g = j / kColumns;
      const Index height = std::min<Index>(kPanel, group_rows_[size_of(g)] - panel);
      out[j] += total[size_of(group_start_[size_of(g)] + panel * kColumns + j % kColumns * height +
                              static_cast<Index>(r) - panel)];
    }
  }
}

void Staircase::evaluate(const Samples& samples, const double* coefficients, StridedView<double> values,
                         const Control& control) const {
  require(values.rows == samples.rows(), "values must have ", samples.rows(), " rows, got ", values.rows);
  // Panels of rows by falling need, each as deep as that of its first row.
  const auto n_rows = static_cast<Index>(order_.size());
  const Index n_panels = panels_of(n_rows);
  std::vector<Index> depth, start{0};
  for (Index p = 0; p < n_panels; ++p) {
    depth.push_back(rows_[size_of(order_[size_of(p * kPanel)])].need);
    start.push_back(start.back() + depth.back() * kPanel);
  }
  const AlignedBuffer packed = make_aligned(size_of(values.cols * start.back()));
  std::fill_n(packed.get(), values.cols * start.back(), 0.0);
  for (Index f = 0; f < values.cols; ++f)
    for (Index r = 0; r < n_rows; ++r) {
      const std::int32_t row = order_[size_of(r)];
      const double* from = coefficients + f * size() + row_start(row);
      double* to = packed.get() + f * start.back() + start[size_of(r / kPanel)] + r % kPanel;
      for (Index j = 0; j < rows_[size_of(row)].need; ++j) to[j * kPanel] = from[j];
    }
  const auto n_forms = static_cast<double>(values.cols);
  const double work = static_cast<double>(samples.rows()) * n_forms * static_cast<double>(start.back());
  const Index n_blocks = divide_up(samples.rows(), kBlock);
  std::vector<Scratch> scratch(size_of(std::min<Index>(control.threads_for(work), n_blocks)));
  const SampleFactors ones = [](Index, Index count, double* out, Index) { std::fill_n(out, count, 1.0); };
  parallel_for(control, n_blocks, work, [&](Index block, int member) {
    Scratch& mine = scratch[size_of(member)];
    make_scratch(samples, 1, mine);
    const Index first = block * kBlock;
    const Index count = std::min(kBlock, samples.rows() - first);
    pack(samples, first, count, 1, ones, mine);
    for (Index f = 0; f < values.cols; ++f) {
      Packet sums[kBlock];
      std::fill_n(sums, kBlock, packet::zero());
      for (Index p = 0; p < n_panels; ++p) {
        const double* rows = packed.get() + f * start.back() + start[size_of(p)];
        const double* left = mine.left.get() + p * kBlock * kPanel;
        for (Index s = 0; s < kBlock; s += kColumns) {
          const auto tile = multiply_panels<kVectors, kBlock>(rows, mine.right.get() + s, depth[size_of(p)]);
          for (int j = 0; j < kColumns; ++j)
            for (int v = 0; v < kVectors; ++v)
              sums[s + j] =
                  packet::fma(tile.acc[j][v], packet::load(left + (s + j) * kPanel + v * kPacket), sums[s + j]);
        }
      }
      for (Index s = 0; s < count; ++s) values(first + s, f) = packet::sum(sums[s]);
    }
  });
}

}  // namespace gegenbauer
