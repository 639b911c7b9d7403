#include "gegenbauer/angle_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "gegenbauer/error.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

constexpr int kPackets = 2;  // of functions at once
constexpr Index kGroup = Index{kPackets} * kPacket;

// Samples that are sorted by their place in the grid and go through it together, so that neighbours find their nodes in
// the first cache.
constexpr Index kRun = 16384;

constexpr Index kBlock = 32;  // samples whose values are transposed at once

constexpr Index kPadded = round_up(kAngleTaps, kPacket);

// weights[l] for one sample and input
void evaluate_window(const double* window, Index degree, double v, double* weights) {
  const Packet at = packet::broadcast(v);
  for (Index l = 0; l < kPadded; l += kPacket) {
    Packet sum = packet::load(window + degree * kPadded + l);
    for (Index k = degree; k-- > 0;) sum = packet::fma(sum, at, packet::load(window + k * kPadded + l));
    packet::store(weights + l, sum);
  }
}

// out[0..kGroup) of one sample from the nodes of one group of functions
void add_nodes(const double* nodes, const std::vector<Index>& lines, const double* line_weights, const double* weights,
               double* out) {
  Packet along[kAngleTaps];
  for (Index l = 0; l < kAngleTaps; ++l) along[l] = packet::broadcast(weights[l]);
  Packet sums[kPackets];
  std::fill_n(sums, kPackets, packet::zero());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double* line = nodes + lines[i] * kGroup;
    Packet values[kPackets];
    std::fill_n(values, kPackets, packet::zero());
    for (Index l = 0; l < kAngleTaps; ++l)
      for (int p = 0; p < kPackets; ++p)
        values[p] = packet::fma(along[l], packet::load(line + l * kGroup + p * kPacket), values[p]);
    const Packet across = packet::broadcast(line_weights[i]);
    for (int p = 0; p < kPackets; ++p) sums[p] = packet::fma(across, values[p], sums[p]);
  }
  for (int p = 0; p < kPackets; ++p) packet::store(out + p * kPacket, sums[p]);
}

}  // namespace

AngleGrid::AngleGrid(std::vector<Index> steps, StridedView<const double> values, StridedView<const double> window)
    : steps_(std::move(steps)),
      stride_(steps_.size()),
      lines_{0},
      n_functions_(values.cols),
      window_degree_(window.rows - 1) {
  require(!steps_.empty(), "a grid needs an input");
  for (std::size_t t = steps_.size(); t-- > 0;) {
    require(steps_[t] >= 1, "steps must be positive, got ", steps_[t]);
    // no product of more than there are values, so that none is beyond the range of Index
    require(steps_[t] <= values.rows && n_nodes_ <= values.rows, "values must have one row a node, got ", values.rows);
    stride_[t] = n_nodes_;
    n_nodes_ *= steps_[t] + 1 + 2 * kAngleMargin;
  }
  require(values.rows == n_nodes_, "values must have ", n_nodes_, " rows (one a node), got ", values.rows);
  require(window.cols == kAngleTaps && window_degree_ >= 0, "window must have ", kAngleTaps, " columns and a row, got ",
          window.cols, " and ", window.rows);
  for (std::size_t t = 0; t + 1 < steps_.size(); ++t) {
    std::vector<Index> longer;
    for (const Index line : lines_)
      for (Index l = 0; l < kAngleTaps; ++l) longer.push_back(line + l * stride_[t]);
    lines_ = std::move(longer);
  }
  const Index n_groups = divide_up(n_functions_, kGroup);
  nodes_ = make_aligned(size_of(n_groups * n_nodes_ * kGroup));
  double* to = nodes_.get();
  for (Index g = 0; g < n_groups; ++g)
    for (Index i = 0; i < n_nodes_; ++i)
      for (Index f = g * kGroup; f < (g + 1) * kGroup; ++f) *to++ = f < n_functions_ ? values(i, f) : 0.0;
  window_ = make_aligned(size_of(window.rows * kPadded));
  for (Index k = 0; k < window.rows; ++k)
    for (Index l = 0; l < kPadded; ++l) window_[size_of(k * kPadded + l)] = l < kAngleTaps ? window(k, l) : 0.0;
}

struct AngleGrid::Scratch {
  AlignedBuffer x;                             // [input][sample]: then v, between its nodes
  std::vector<std::pair<Index, Index>> order;  // first node and number of each sample, sorted
  AlignedBuffer weights;                       // of the last input: [sample, in order][tap]
  AlignedBuffer line_weights;                  // products of those of the other inputs: [sample, in order][line]
  AlignedBuffer values;                        // [sample][function of the group]
};

void AngleGrid::place(const Samples& samples, Index first, Index count, Scratch& scratch) const {
  samples.load(first, count, count, scratch.x.get(), kRun);
  scratch.order.clear();
  for (Index s = 0; s < count; ++s) scratch.order.emplace_back(0, s);
  for (Index t = 0; t < n_inputs(); ++t) {
    double* x = scratch.x.get() + t * kRun;
    const Index steps = steps_[size_of(t)];
    const double per_angle = static_cast<double>(steps) / std::numbers::pi;
    for (Index s = 0; s < count; ++s) {
      const double angle = std::acos(std::clamp(x[s], -1.0, 1.0)) * per_angle;
      // an angle that is no number counts as 0
      const auto below = static_cast<Index>(std::min(std::max(0.0, angle), static_cast<double>(steps - 1)));
      scratch.order[size_of(s)].first += below * stride_[size_of(t)];
      x[s] = 2.0 * (angle - static_cast<double>(below)) - 1.0;
    }
  }
  std::sort(scratch.order.begin(), scratch.order.end());
  const auto n_lines = static_cast<Index>(lines_.size());
  for (Index i = 0; i < count; ++i) {
    const double* v = scratch.x.get() + scratch.order[size_of(i)].second;
    double* lines = scratch.line_weights.get() + i * n_lines;
    lines[0] = 1.0;
    alignas(kAlignment) double weights[kPadded];
    for (Index t = 0, made = 1; t + 1 < n_inputs(); ++t, made *= kAngleTaps) {
      evaluate_window(window_.get(), window_degree_, v[t * kRun], weights);
      // from the last line down, so that each is read before it is written over
      for (Index line = made; line-- > 0;) {
        const double product = lines[line];
        for (Index l = 0; l < kAngleTaps; ++l) lines[line * kAngleTaps + l] = product * weights[l];
      }
    }
    evaluate_window(window_.get(), window_degree_, v[(n_inputs() - 1) * kRun], scratch.weights.get() + i * kPadded);
  }
}

void AngleGrid::evaluate(const Samples& samples, StridedView<double> values, const Control& control) const {
  require(samples.cols() == n_inputs(), "X must have ", n_inputs(), " columns, got ", samples.cols());
  require(values.rows == samples.rows() && values.cols == n_functions_, "values must have shape (", samples.rows(),
          ", ", n_functions_, "), got (", values.rows, ", ", values.cols, ")");
  const auto n_lines = static_cast<Index>(lines_.size());
  const Index n_groups = divide_up(n_functions_, kGroup);
  const Index n_runs = divide_up(samples.rows(), kRun);
  const double work = static_cast<double>(samples.rows()) *
                      static_cast<double>(n_groups * kGroup * n_lines * kAngleTaps + 16 * kPadded * n_inputs());
  std::vector<Scratch> scratch;
  for (Index i = 0; i < std::min<Index>(control.threads_for(work), n_runs); ++i)
    scratch.push_back({make_aligned(size_of(n_inputs() * kRun)),
                       {},
                       make_aligned(size_of(kRun * kPadded)),
                       make_aligned(size_of(kRun * n_lines)),
                       make_aligned(size_of(kRun * kGroup))});
  parallel_for(control, n_runs, work, [&](Index run, int member) {
    Scratch& mine = scratch[size_of(member)];
    const Index first = run * kRun;
    const Index count = std::min(kRun, samples.rows() - first);
    place(samples, first, count, mine);
    for (Index g = 0; g < n_groups; ++g) {
      const double* group = nodes_.get() + g * n_nodes_ * kGroup;
      for (Index i = 0; i < count; ++i) {
        const auto [node, s] = mine.order[size_of(i)];
        add_nodes(group + node * kGroup, lines_, mine.line_weights.get() + i * n_lines,
                  mine.weights.get() + i * kPadded, mine.values.get() + s * kGroup);
      }
      for (Index begin = 0; begin < count; begin += kBlock)
        for (Index f = 0; f < std::min(kGroup, n_functions_ - g * kGroup); ++f)
          for (Index s = begin; s < std::min(count, begin + kBlock); ++s)
            values(first + s, g * kGroup + f) = mine.values[size_of(s * kGroup + f)];
    }
  });
}

}  // namespace gegenbauer
