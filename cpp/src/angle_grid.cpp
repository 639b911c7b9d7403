#include "gegenbauer/angle_grid.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "gegenbauer/error.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// Samples that are sorted by their place in the grid and go through it together, so that neighbours find their nodes in
// the first cache.
constexpr Index kRun = 16384;

// Samples of a run whose weights are worked out at once, for many functions.
constexpr Index kBlock = 128;

// Many functions lie side by side at each node, so many in two registers; fewer than a third of them one after the
// other.
constexpr int kSide = 2;
constexpr Index kGroup = Index{kSide} * kPacket;

// Sides of the patches by which they are sorted, in nodes.
constexpr Index kPatch = 8;

// Factors whose grids are summed at once, at most, and the numbers of such grids: fewer where they are large. As many
// wait to be added, where threads do not need more.
constexpr Index kFactors = 8;
constexpr Index kMostSums = 1'000'000;

constexpr Index kPackets = kAngleTaps / kPacket;
static_assert(kAngleTaps / 2 % kPacket == 0 && kAngleWindowDegree % 2 == 0);

// Registers that hold the taps wherever they begin in the first of them: stores across cache lines take half as long
// again.
constexpr Index kWide = kPackets + 1;

// Samples that are summed on one grid, whatever the number of threads. Clearing and adding a grid is as much work as a
// fourth as many samples as it has nodes.
Index chunk_of(Index n_nodes) { return std::max(kRun, round_up(n_nodes / 4, kRun)); }

// weights[0 .. kAngleTaps) of the nodes around an angle. The window is even: tap 15 - l is tap l at -v.
void evaluate_window(const double* powers, double v, double* weights) {
  constexpr Index half = kAngleTaps / 2;
  constexpr Index packets = half / kPacket;
  const Packet at = packet::broadcast(v);
  const Packet square = packet::broadcast(v * v);
  Packet even[packets];
  Packet odd[packets];
  const auto power = [&](Index k, Index p) { return packet::load(powers + k * half + p * kPacket); };
  for (Index p = 0; p < packets; ++p) {
    even[p] = power(kAngleWindowDegree, p);
    odd[p] = power(kAngleWindowDegree - 1, p);
  }
  for (Index k = kAngleWindowDegree - 2; k >= 0; k -= 2)
    for (Index p = 0; p < packets; ++p) {
      even[p] = packet::fma(even[p], square, power(k, p));
      if (k > 0) odd[p] = packet::fma(odd[p], square, power(k - 1, p));
    }
  alignas(kAlignment) double mirrored[half];
  for (Index p = 0; p < packets; ++p) {
    odd[p] = packet::mul(odd[p], at);
    packet::store(weights + p * kPacket, packet::add(even[p], odd[p]));
    packet::store(mirrored + p * kPacket, packet::sub(even[p], odd[p]));
  }
  for (Index l = 0; l < half; ++l) weights[half + l] = mirrored[half - 1 - l];
}

// out[0 .. n) += share * in[0 .. n)
void add(double share, const double* in, Index n, double* out) {
  for (Index i = 0; i < n; ++i) out[i] += share * in[i];
}

double total(const double* values, Index n) {
  Packet sums[4] = {packet::zero(), packet::zero(), packet::zero(), packet::zero()};
  Index i = 0;
  for (; i + 4 * kPacket <= n; i += 4 * kPacket)
    for (Index p = 0; p < 4; ++p) sums[p] = packet::add(sums[p], packet::load_unaligned(values + i + p * kPacket));
  double sum = packet::sum(packet::add(packet::add(sums[0], sums[1]), packet::add(sums[2], sums[3])));
  for (; i < n; ++i) sum += values[i];
  return sum;
}

double dot(const double* a, const double* b, Index n) {
  Packet sums[2] = {packet::zero(), packet::zero()};
  Index i = 0;
  for (; i + 2 * kPacket <= n; i += 2 * kPacket)
    for (Index p = 0; p < 2; ++p)
      sums[p] = packet::fma(packet::load_unaligned(a + i + p * kPacket), packet::load_unaligned(b + i + p * kPacket),
                            sums[p]);
  double sum = packet::sum(packet::add(sums[0], sums[1]));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The nodes around a sample of one function, by their weights
double read_one(const double* around, const std::vector<Index>& lines, const double* line_weights, const double* last) {
  Packet sums[kPackets];
  for (Index p = 0; p < kPackets; ++p) sums[p] = packet::zero();
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const Packet share = packet::broadcast(line_weights[l]);
    const double* line = around + lines[l];
    for (Index p = 0; p < kPackets; ++p)
      sums[p] = packet::fma(share, packet::load_unaligned(line + p * kPacket), sums[p]);
  }
  alignas(kAlignment) double parts[kPacket];
  Packet sum = packet::mul(packet::load(last), sums[0]);
  for (Index p = 1; p < kPackets; ++p) sum = packet::fma(packet::load(last + p * kPacket), sums[p], sum);
  packet::store(parts, sum);
  return std::accumulate(parts, parts + kPacket, 0.0);
}

// out[0 .. kGroup): of a group of functions
void read_group(const double* around, const std::vector<Index>& lines, const double* line_weights, const double* last,
                double* out) {
  Packet along[kAngleTaps];
  for (Index l = 0; l < kAngleTaps; ++l) along[l] = packet::broadcast(last[l]);
  Packet sums[kSide];
  for (int p = 0; p < kSide; ++p) sums[p] = packet::zero();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double* line = around + lines[i] * kGroup;
    Packet values[kSide];
    for (int p = 0; p < kSide; ++p) values[p] = packet::zero();
    for (Index l = 0; l < kAngleTaps; ++l)
      for (int p = 0; p < kSide; ++p)
        values[p] = packet::fma(along[l], packet::load(line + l * kGroup + p * kPacket), values[p]);
    const Packet across = packet::broadcast(line_weights[i]);
    for (int p = 0; p < kSide; ++p) sums[p] = packet::fma(across, values[p], sums[p]);
  }
  for (int p = 0; p < kSide; ++p) packet::store(out + p * kPacket, sums[p]);
}

}  // namespace

AngleGrid::AngleGrid(const std::vector<Index>& degrees, Index most_nodes)
    : stride_(degrees.size()), extent_(degrees.size()), wave_stride_(degrees.size()), lines_{0} {
  require(!degrees.empty(), "a grid needs an input");
  for (const Index degree : degrees) axes_.emplace_back(degree);
  for (std::size_t t = axes_.size(); t-- > 0;) {
    stride_[t] = n_nodes_;
    wave_stride_[t] = n_waves_;
    extent_[t] = axes_[t].n_nodes();
    // lines begin, and taps end, with whole registers
    if (t + 1 == axes_.size()) extent_[t] = round_up(extent_[t], kPacket) + kPacket;
    require(extent_[t] <= most_nodes / n_nodes_, "a grid must have at most ", most_nodes,
            " nodes, and these degrees need more");
    n_nodes_ *= extent_[t];
    n_waves_ *= axes_[t].n_waves();
  }
  for (std::size_t t = 0; t + 1 < axes_.size(); ++t) {
    std::vector<Index> longer;
    for (const Index line : lines_)
      for (Index l = 0; l < kAngleTaps; ++l) longer.push_back(line + l * stride_[t]);
    lines_ = std::move(longer);
  }
  // A line of nodes is in the first cache anyway.
  for (const AngleAxis& axis : axes_) bins_.push_back(axes_.size() == 1 ? 1 : divide_up(axis.steps(), kPatch));
  for (const Index n : bins_) n_bins_ *= n;
}

struct AngleGrid::Places {
  AlignedBuffer x;                   // [input][sample]
  AlignedBuffer v;                   // [input][sample]
  AlignedArray<std::int32_t> below;  // [input][sample]
  AlignedArray<std::int32_t> first;  // of the nodes around each sample
  AlignedArray<std::int32_t> order;  // samples by their patches
  std::vector<std::int32_t> start;   // of the patches in `order`
};

AngleGrid::Places AngleGrid::make_places() const {
  const std::size_t n = size_of(n_inputs() * kRun);
  return {make_aligned(n),
          make_aligned(n),
          make_aligned<std::int32_t>(n),
          make_aligned<std::int32_t>(size_of(kRun)),
          make_aligned<std::int32_t>(size_of(kRun)),
          std::vector<std::int32_t>(size_of(n_bins_ + 1))};
}

double AngleGrid::place(const Samples& samples, Index first, Index count, Places& places) const {
  samples.load(first, count, count, places.x.get(), kRun);
  double most = 0.0;
  std::fill_n(places.first.get(), count, 0);
  std::int32_t* patch = places.order.get();  // until samples are counted
  std::fill_n(patch, count, 0);
  for (Index t = 0; t < n_inputs(); ++t) {
    std::int32_t* below = places.below.get() + t * kRun;
    most = std::max(most, axes_[size_of(t)].place(places.x.get() + t * kRun, count, below, places.v.get() + t * kRun));
    const auto stride = static_cast<std::int32_t>(stride_[size_of(t)]);
    const auto n_bins = static_cast<std::int32_t>(bins_[size_of(t)]);
    for (Index s = 0; s < count; ++s) {
      places.first[size_of(s)] += below[s] * stride;
      patch[s] = patch[s] * n_bins + (n_bins == 1 ? 0 : below[s] / static_cast<std::int32_t>(kPatch));
    }
  }
  if (n_bins_ == 1) {
    for (Index s = 0; s < count; ++s) places.order[size_of(s)] = static_cast<std::int32_t>(s);
    return most;
  }
  std::vector<std::int32_t>& start = places.start;
  std::fill(start.begin(), start.end(), 0);
  for (Index s = 0; s < count; ++s) ++start[size_of(patch[s] + 1)];
  for (std::size_t b = 1; b < start.size(); ++b) start[b] += start[b - 1];
  std::int32_t* patches = places.below.get();  // whose steps are in `first` by now
  std::copy_n(patch, count, patches);
  for (Index s = 0; s < count; ++s) places.order[size_of(start[size_of(patches[s])]++)] = static_cast<std::int32_t>(s);
  return most;
}

void AngleGrid::weights_around(const Places& places, Index s, double* lines, double* last) const {
  const double* powers = angle_window_powers();
  const double* v = places.v.get() + s;
  lines[0] = 1.0;
  if (n_inputs() > 1) evaluate_window(powers, v[0], lines);
  alignas(kAlignment) double weights[kAngleTaps];
  Index made = kAngleTaps;
  for (Index t = 1; t + 1 < n_inputs(); ++t, made *= kAngleTaps) {
    evaluate_window(powers, v[t * kRun], weights);
    // from the last line down, so that each is read before it is written over
    for (Index line = made; line-- > 0;) {
      const Packet product = packet::broadcast(lines[line]);
      for (Index l = 0; l < kAngleTaps; l += kPacket)
        packet::store(lines + line * kAngleTaps + l, packet::mul(product, packet::load(weights + l)));
    }
  }
  evaluate_window(powers, v[(n_inputs() - 1) * kRun], last);
}

// grids[f] += factor f of each sample times the weights of the nodes around it; totals[f] += the factors themselves.
void AngleGrid::spread(const Places& places, Index count, Index n_factors, const double* factors, double* lines,
                       double* grids, double* totals) const {
  const auto n_lines = static_cast<Index>(lines_.size());
  for (Index f = 0; f < n_factors; ++f) totals[f] += total(factors + f * kRun, count);
  for (Index i = 0; i < count; ++i) {
    const Index s = places.order[size_of(i)];
    const Index first = places.first[size_of(s)];
    const Index shift = first % kPacket;
    alignas(kAlignment) double weights[kAngleTaps];
    weights_around(places, s, lines, weights);
    alignas(kAlignment) double wide[kWide * kPacket];
    packet::store(wide, packet::zero());
    packet::store(wide + kAngleTaps, packet::zero());
    for (Index p = 0; p < kPackets; ++p)
      packet::store_unaligned(wide + shift + p * kPacket, packet::load(weights + p * kPacket));
    Packet along[kWide];
    for (Index p = 0; p < kWide; ++p) along[p] = packet::load(wide + p * kPacket);
    for (Index f = 0; f < n_factors; ++f) {
      const double factor = factors[f * kRun + s];
      double* nodes = grids + f * n_nodes_ + first - shift;
      for (Index l = 0; l < n_lines; ++l) {
        const Packet share = packet::broadcast(factor * lines[l]);
        double* line = nodes + lines_[size_of(l)];
        for (Index p = 0; p < kWide; ++p)
          packet::store(line + p * kPacket, packet::fma(share, along[p], packet::load(line + p * kPacket)));
      }
    }
  }
}

bool AngleGrid::accumulate(const Samples& samples, Index n_factors, const SampleFactors& factors, double* sums,
                           const Control& control) const {
  require(samples.cols() == n_inputs(), "X must have ", n_inputs(), " columns, got ", samples.cols());
  const Index chunk = chunk_of(n_nodes_);
  const Index n_chunks = divide_up(samples.rows(), chunk);
  if (n_factors == 0) return true;
  const Index n_grids = std::min(n_factors, std::clamp<Index>(kMostSums / n_nodes_, 1, kFactors));
  const double work = static_cast<double>(samples.rows()) *
                      static_cast<double>((2 * n_grids + 2) * n_taps() + 64 * kAngleTaps * n_inputs());
  const Index n_threads = std::max<Index>(1, std::min<Index>(control.threads_for(work), n_chunks));
  // Grids of a chunk each, as many as threads need and some more where they are small
  const Index size = n_grids * n_nodes_;
  const Index wave = std::max(n_threads, std::min<Index>(n_chunks, kMostSums / size));
  struct Scratch {
    Places places;
    AlignedBuffer factors;  // [factor][sample]
    AlignedBuffer lines;    // weights
  };
  std::vector<Scratch> scratch;
  for (Index i = 0; i < n_threads; ++i)
    scratch.push_back({make_places(), make_aligned(size_of(n_factors * kRun)), make_aligned(lines_.size())});
  const AlignedBuffer grids = make_aligned(size_of(wave * size));
  const AlignedBuffer all = make_aligned(size_of(size));
  std::vector<double> totals(size_of(wave * n_grids));
  std::atomic<bool> inside{true};
  for (Index group = 0; group < n_factors; group += n_grids) {
    const Index n = std::min(n_grids, n_factors - group);
    std::fill_n(all.get(), n * n_nodes_, 0.0);
    std::vector<double> sum(size_of(n), 0.0);
    for (Index begin = 0; begin < n_chunks && inside; begin += wave) {
      const Index count = std::min(wave, n_chunks - begin);
      const double share = static_cast<double>(count) / static_cast<double>(n_chunks);
      parallel_for(control, count, share * work, [&](Index item, int member) {
        auto& [places, values, lines] = scratch[size_of(member)];
        double* own = grids.get() + item * size;
        double* own_totals = totals.data() + item * n_grids;
        std::fill_n(own, n * n_nodes_, 0.0);
        std::fill_n(own_totals, n, 0.0);
        const Index stop = std::min(samples.rows(), (begin + item + 1) * chunk);
        for (Index first = (begin + item) * chunk; first < stop && inside; first += kRun) {
          const Index in_run = std::min(kRun, stop - first);
          if (place(samples, first, in_run, places) > 1.0) inside = false;
          factors(first, in_run, values.get(), kRun);
          spread(places, in_run, n, values.get() + group * kRun, lines.get(), own, own_totals);
        }
      });
      for (Index item = 0; item < count; ++item) {
        add(1.0, grids.get() + item * size, n * n_nodes_, all.get());
        for (Index f = 0; f < n; ++f) sum[size_of(f)] += totals[size_of(item * n_grids + f)];
      }
    }
    if (!inside) return false;
    parallel_for(control, n, waves_cost() * static_cast<double>(n), [&](Index f, int) {
      double* waves = sums + (group + f) * n_waves_;
      to_waves(all.get() + f * n_nodes_, waves);
      waves[0] = sum[size_of(f)];  // which the grid knows but for rounding
    });
  }
  return true;
}

Index AngleGrid::wave_of(const std::vector<std::int32_t>& degrees, Index first_input) const {
  Index wave = 0;
  for (std::size_t t = 0; t < degrees.size(); ++t) wave += wave_stride_[size_of(first_input) + t] * degrees[t];
  return wave;
}

Index AngleGrid::n_chunks(double n_samples) const {
  return static_cast<Index>(std::ceil(n_samples / static_cast<double>(chunk_of(n_nodes_))));
}

double AngleGrid::waves_cost() const {
  double cost = 0.0;
  auto size = static_cast<double>(n_nodes_);
  for (const AngleAxis& axis : axes_) {
    cost += size * static_cast<double>(axis.n_waves());
    size *= static_cast<double>(axis.n_waves()) / static_cast<double>(axis.n_nodes());
  }
  return cost;
}

// One input after the other, the first first, whose lines are long.
void AngleGrid::to_waves(const double* grid, double* sums) const {
  std::vector<double> from(grid, grid + n_nodes_);
  std::vector<double> to;
  std::vector<double> wave;
  Index before = 1;
  for (Index t = 0; t < n_inputs(); ++t) {
    const AngleAxis& axis = axes_[size_of(t)];
    const Index after = stride_[size_of(t)];
    to.assign(size_of(before * axis.n_waves() * after), 0.0);
    wave.resize(size_of(axis.n_nodes()));
    for (Index k = 0; k < axis.n_waves(); ++k) {
      axis.wave(k, wave.data());
      for (Index b = 0; b < before; ++b) {
        double* out = to.data() + (b * axis.n_waves() + k) * after;
        const double* in = from.data() + b * extent_[size_of(t)] * after;
        if (after == 1) {
          *out = dot(wave.data(), in, axis.n_nodes());
        } else {
          for (Index i = 0; i < axis.n_nodes(); ++i) add(wave[size_of(i)], in + i * after, after, out);
        }
      }
    }
    std::swap(from, to);
    before *= axis.n_waves();
  }
  std::copy_n(from.data(), n_waves_, sums);
}

// The last input first, so that the lines of the first are long.
void AngleGrid::to_nodes(const double* coefficients, double* grid) const {
  std::vector<double> from(coefficients, coefficients + n_waves_);
  std::vector<double> to;
  std::vector<double> wave;
  for (Index t = n_inputs(); t-- > 0;) {
    const AngleAxis& axis = axes_[size_of(t)];
    const Index after = stride_[size_of(t)];
    const Index before = n_waves_ / (wave_stride_[size_of(t)] * axis.n_waves());
    to.assign(size_of(before * extent_[size_of(t)] * after), 0.0);
    wave.resize(size_of(axis.n_nodes()));
    for (Index k = 0; k < axis.n_waves(); ++k) {
      axis.wave(k, wave.data());
      for (Index b = 0; b < before; ++b) {
        const double* in = from.data() + (b * axis.n_waves() + k) * after;
        double* out = to.data() + b * extent_[size_of(t)] * after;
        if (after == 1) {
          add(*in, wave.data(), axis.n_nodes(), out);
        } else {
          for (Index i = 0; i < axis.n_nodes(); ++i) add(wave[size_of(i)], in, after, out + i * after);
        }
      }
    }
    std::swap(from, to);
  }
  std::copy_n(from.data(), n_nodes_, grid);
}

AngleFunctions::AngleFunctions(const AngleGrid& grid, StridedView<const double> coefficients, const Control& control)
    : grid_(grid), n_functions_(coefficients.cols), side_(3 * n_functions_ < kGroup ? 1 : kGroup) {
  require(coefficients.rows == grid_.n_waves(), "coefficients must have ", grid_.n_waves(),
          " rows (one a product of Chebyshev polynomials), got ", coefficients.rows);
  const Index n_nodes = grid_.n_nodes();
  nodes_ = make_aligned(size_of(round_up(n_functions_, side_) * n_nodes));
  const double work = grid_.waves_cost() * static_cast<double>(n_functions_);
  parallel_for(control, divide_up(n_functions_, side_), work, [&](Index g, int) {
    std::vector<double> waves(size_of(grid_.n_waves()));
    std::vector<double> values(size_of(n_nodes));
    double* group = nodes_.get() + g * n_nodes * side_;
    std::fill_n(group, n_nodes * side_, 0.0);
    for (Index f = g * side_; f < std::min(n_functions_, (g + 1) * side_); ++f) {
      for (Index k = 0; k < grid_.n_waves(); ++k) waves[size_of(k)] = coefficients(k, f);
      grid_.to_nodes(waves.data(), values.data());
      for (Index i = 0; i < n_nodes; ++i) group[i * side_ + f - g * side_] = values[size_of(i)];
    }
  });
}

double AngleFunctions::evaluate(const Samples& samples, StridedView<double> values, const Control& control) const {
  require(samples.cols() == n_inputs(), "X must have ", n_inputs(), " columns, got ", samples.cols());
  require(values.rows == samples.rows() && values.cols == n_functions_, "values must have shape (", samples.rows(),
          ", ", n_functions_, "), got (", values.rows, ", ", values.cols, ")");
  const std::vector<Index>& lines = grid_.lines_;
  const auto n_lines = static_cast<Index>(lines.size());
  const Index n_runs = divide_up(samples.rows(), kRun);
  const double work = static_cast<double>(samples.rows()) *
                      static_cast<double>(n_functions_ * grid_.n_taps() + 64 * kAngleTaps * n_inputs());
  struct Scratch {
    AngleGrid::Places places;
    AlignedBuffer lines;   // weights: [sample of a block][line]
    AlignedBuffer last;    // those along the lines: [sample of a block][tap]
    AlignedBuffer values;  // [sample][function of a group]: samples come in the order of their patches
    double most = 0.0;
  };
  const Index per_pass = side_ == 1 ? n_functions_ : side_;
  std::vector<Scratch> scratch;
  for (Index i = 0; i < std::max<Index>(1, std::min<Index>(control.threads_for(work), n_runs)); ++i)
    scratch.push_back({grid_.make_places(), make_aligned(size_of(kBlock * n_lines)),
                       make_aligned(size_of(kBlock * kAngleTaps)), make_aligned(size_of(kRun * per_pass))});
  parallel_for(control, n_runs, work, [&](Index run, int member) {
    Scratch& mine = scratch[size_of(member)];
    const Index first = run * kRun;
    const Index count = std::min(kRun, samples.rows() - first);
    mine.most = std::max(mine.most, grid_.place(samples, first, count, mine.places));
    for (Index pass = 0; pass < n_functions_; pass += per_pass) {
      const double* group = nodes_.get() + pass * grid_.n_nodes();
      for (Index begin = 0; begin < count; begin += kBlock) {
        const Index n = std::min(kBlock, count - begin);
        const std::int32_t* order = mine.places.order.get() + begin;
        for (Index i = 0; i < n; ++i)
          grid_.weights_around(mine.places, order[i], mine.lines.get() + i * n_lines, mine.last.get() + i * kAngleTaps);
        for (Index i = 0; i < n; ++i) {
          const double* around = group + Index{mine.places.first[size_of(order[i])]} * side_;
          const double* line_weights = mine.lines.get() + i * n_lines;
          const double* last = mine.last.get() + i * kAngleTaps;
          double* out = mine.values.get() + order[i] * per_pass;
          if (side_ > 1) {
            read_group(around, lines, line_weights, last, out);
            continue;
          }
          for (Index f = 0; f < per_pass; ++f)
            out[f] = read_one(around + f * grid_.n_nodes(), lines, line_weights, last);
        }
      }
      for (Index begin = 0; begin < count; begin += kBlock)
        for (Index f = 0; f < std::min(per_pass, n_functions_ - pass); ++f)
          for (Index s = begin; s < std::min(count, begin + kBlock); ++s)
            values(first + s, pass + f) = mine.values[size_of(s * per_pass + f)];
    }
  });
  double most = 0.0;
  for (const Scratch& mine : scratch) most = std::max(most, mine.most);
  return most;
}

}  // namespace gegenbauer
