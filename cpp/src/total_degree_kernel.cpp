#include "gegenbauer/total_degree_kernel.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gegenbauer/error.hpp"
#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

TotalDegreeKernel::TotalDegreeKernel(Index n_inputs, Index degree, InputFunctions functions,
                                     std::optional<Index> max_inputs)
    : n_inputs_(n_inputs), degree_(degree), functions_(std::move(functions)), levels_(max_inputs.value_or(0)) {
  require(n_inputs >= 1, "n_inputs must be at least 1, got ", n_inputs);
  for (Index t = 0; t < n_inputs; ++t)
    require(degree >= 0 && degree <= functions_.degree(t), "degree must be between 0 and that of the recurrences (",
            functions_.degree(t), "), got ", degree);
  require(!max_inputs || *max_inputs >= 1, "max_inputs must be at least 1, got ", levels_);
  if (levels_ >= std::min(n_inputs, degree)) levels_ = 0;
}

Index TotalDegreeKernel::scratch_size() const { return (std::max<Index>(1, levels_) + 2) * (degree_ + 1) * kPanel; }

void TotalDegreeKernel::tabulate(const double* x, Index /*first_row*/, double* table) const {
  for (Index t = 0; t < n_inputs_; ++t)
    functions_.evaluate_from_one(t, x + t * kPanel, kPanel, degree_, table + t * degree_ * kPanel, kPanel);
}

namespace {

// Largest degree whose polynomial stays in registers; from kOneVector on it does so for one packet of pairs at a time.
constexpr int kMostInRegisters = 14;
constexpr int kOneVector = 8;

// The whole polynomial of n_vectors packets of one column of pairs in registers; p[0] = 1 is not stored.
template <int degree, int n_vectors>
EIGEN_ALWAYS_INLINE void evaluate_column(Index n_inputs, const double* left, const double* right, double* values) {
  Packet p[degree + 1][n_vectors];
  for (int n = 1; n <= degree; ++n)
    for (int v = 0; v < n_vectors; ++v) p[n][v] = packet::zero();
  for (Index t = 0; t < n_inputs; ++t, left += degree * kPanel, right += degree * kPanel) {
    Packet factor[degree + 1];
    GEGENBAUER_UNROLL(16)
    for (int n = 1; n <= degree; ++n) factor[n] = packet::broadcast(right[(n - 1) * kPanel]);
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < n_vectors; ++v) {
      Packet e[degree + 1];
      GEGENBAUER_UNROLL(16)
      for (int n = 1; n < degree; ++n)
        e[n] = packet::mul(packet::load(left + (n - 1) * kPanel + v * kPacket), factor[n]);
      p[degree][v] =
          packet::fma(packet::load(left + (degree - 1) * kPanel + v * kPacket), factor[degree], p[degree][v]);
      GEGENBAUER_UNROLL(16)
      for (int k = degree; k >= 1; --k) {
        if (k < degree) p[k][v] = packet::add(p[k][v], e[k]);
        GEGENBAUER_UNROLL(16)
        for (int n = k - 1; n >= 1; --n) p[k][v] = packet::fma(e[n], p[k - n][v], p[k][v]);
      }
    }
  }
  for (int v = 0; v < n_vectors; ++v) {
    Packet sum = p[degree][v];
    for (int n = degree - 1; n >= 1; --n) sum = packet::add(sum, p[n][v]);
    packet::store(values + v * kPacket, sum);
  }
}

template <int degree>
void evaluate_in_registers(Index n_inputs, const double* left, const double* right, Index n_columns, double* values) {
  constexpr int n_vectors = degree < kOneVector ? kVectors : 1;
  for (Index j = 0; j < n_columns; ++j)
    for (Index v = 0; v < kVectors; v += n_vectors)
      evaluate_column<degree, n_vectors>(n_inputs, left + v * kPacket, right + j, values + j * kPanel + v * kPacket);
}

using Evaluate = void (*)(Index, const double*, const double*, Index, double*);
constexpr auto kInRegisters = []<int... degree>(std::integer_sequence<int, degree...>) {
  return std::array<Evaluate, sizeof...(degree)>{evaluate_in_registers<degree + 1>...};
}(std::make_integer_sequence<int, kMostInRegisters>());

}  // namespace

void TotalDegreeKernel::evaluate(const double* left, const double* right, Index n_columns, double* values,
                                 double* scratch) const {
  if (degree_ == 0) {
    std::fill_n(values, n_columns * kPanel, 0.0);
  } else if (levels_ > 0 || degree_ > kMostInRegisters) {
    evaluate_any(left, right, n_columns, values, scratch);
  } else {
    kInRegisters[size_of(degree_ - 1)](n_inputs_, left, right, n_columns, values);
  }
}

double TotalDegreeKernel::pair_cost() const {
  constexpr double through_memory = 2.7;  // measured: times the cost in registers
  const auto d = static_cast<double>(degree_);
  const double products = static_cast<double>(n_inputs_) * d * (d + 3) / 2;
  const bool in_registers = levels_ == 0 && degree_ <= kMostInRegisters;
  return 1 + products * (in_registers ? 1.0 : through_memory * static_cast<double>(std::max<Index>(1, levels_)));
}

// Any degree. With a limit on the interaction there is a polynomial for each level i, the sum over terms of at most i
// inputs, and level i takes its products from level i - 1; level 0 is the constant 1. Without one, a single level takes
// them from itself. Highest first, so that nothing is read after it has changed.
void TotalDegreeKernel::evaluate_any(const double* left, const double* right, Index n_columns, double* values,
                                     double* scratch) const {
  const Index level_size = (degree_ + 1) * kPanel;
  const Index top = std::max<Index>(1, levels_);
  double* e = scratch;
  double* levels = scratch + level_size;
  for (Index j = 0; j < n_columns; ++j) {
    std::fill_n(levels, (top + 1) * level_size, 0.0);
    for (Index t = 0; t < n_inputs_; ++t) {
      const double* a = left + t * degree_ * kPanel;
      const double* b = right + t * degree_ * kPanel + j;
      for (Index n = 1; n <= degree_; ++n) {
        const Packet factor = packet::broadcast(b[(n - 1) * kPanel]);
        for (int v = 0; v < kVectors; ++v)
          packet::store(e + n * kPanel + v * kPacket,
                        packet::mul(packet::load(a + (n - 1) * kPanel + v * kPacket), factor));
      }
      for (Index level = top; level >= 1; --level) {
        double* p = levels + level * level_size;
        const double* from = levels_ == 0 ? p : p - level_size;
        for (Index k = degree_; k >= 1; --k) {
          Packet sum[kVectors];
          for (int v = 0; v < kVectors; ++v)
            sum[v] =
                packet::add(packet::load(p + k * kPanel + v * kPacket), packet::load(e + k * kPanel + v * kPacket));
          for (Index n = k - 1; n >= 1; --n)
            for (int v = 0; v < kVectors; ++v)
              sum[v] = packet::fma(packet::load(e + n * kPanel + v * kPacket),
                                   packet::load(from + (k - n) * kPanel + v * kPacket), sum[v]);
          for (int v = 0; v < kVectors; ++v) packet::store(p + k * kPanel + v * kPacket, sum[v]);
        }
      }
    }
    const double* p = levels + top * level_size;
    for (int v = 0; v < kVectors; ++v) {
      Packet sum = packet::zero();
      for (Index n = degree_; n >= 1; --n) sum = packet::add(sum, packet::load(p + n * kPanel + v * kPacket));
      packet::store(values + j * kPanel + v * kPacket, sum);
    }
  }
}

CompletePart::CompletePart(const MultiIndexSet& indices) {
  // number of terms by total degree, as long as no lower degree comes later
  std::vector<Index> total(size_of(indices.size()), 0);
  std::vector<Index> up_to{1};
  for (Index l = 1; l < indices.size(); ++l) {
    const Index sum = total[size_of(indices.parent(l))] + indices.degree(l);
    total[size_of(l)] = sum;
    if (sum < static_cast<Index>(up_to.size()) - 1) break;
    up_to.resize(size_of(sum) + 1, up_to.back());
    up_to.back() = l + 1;
  }
  IndexSetSpec spec;
  spec.n_inputs = indices.n_inputs();
  for (Index d = 1; d < static_cast<Index>(up_to.size()); ++d) {
    // distinct multi-indices of total degree <= d are all of them if they are as many
    spec.degree = d;
    const TermCount count = count_terms(spec);
    if (!count.is_exact() || count.exact != static_cast<std::uint64_t>(up_to[size_of(d)])) break;
    degree = d;
    n_terms = up_to[size_of(d)];
  }
}

void accumulate_total_degree_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control) {
  const TensorBasis& basis = design.basis;
  const auto& part = basis.plan<CompletePart>();
  require(first_term == 0 || first_term == 1, "first_term must be 0 or 1, got ", first_term);
  accumulate_product_kernel(TotalDegreeKernel(basis.n_inputs(), part.degree, basis.functions()), design.samples,
                            design.row_scale, first_term == 0 ? ConstantTerm::included : ConstantTerm::left_out, kernel,
                            control);
  if (part.n_terms < basis.n_terms()) accumulate_kernel(design, part.n_terms, kernel, control);
}

}  // namespace gegenbauer
