#include "gegenbauer/total_degree_kernel.hpp"

#include <algorithm>
#include <utility>

#include "gegenbauer/error.hpp"

namespace gegenbauer {

TotalDegreeKernel::TotalDegreeKernel(Index n_inputs, Index degree, Recurrence recurrence,
                                     std::optional<Index> max_inputs)
    : n_inputs_(n_inputs), degree_(degree), recurrence_(std::move(recurrence)), levels_(max_inputs.value_or(0)) {
  require(n_inputs >= 1, "n_inputs must be at least 1, got ", n_inputs);
  require(degree >= 0 && degree <= recurrence_.degree(), "degree must be between 0 and that of the recurrence (",
          recurrence_.degree(), "), got ", degree);
  require(!max_inputs || *max_inputs >= 1, "max_inputs must be at least 1, got ", levels_);
  if (levels_ >= std::min(n_inputs, degree)) levels_ = 0;
}

Index TotalDegreeKernel::scratch_size() const { return (std::max<Index>(1, levels_) + 2) * (degree_ + 1) * kPanel; }

double TotalDegreeKernel::pair_cost() const {
  const auto d = static_cast<double>(degree_);
  return static_cast<double>(n_inputs_) * d * (d + 3) / 2 * static_cast<double>(std::max<Index>(1, levels_)) + 1;
}

void TotalDegreeKernel::tabulate(const double* x, double* table) const {
  for (Index t = 0; t < n_inputs_; ++t)
    recurrence_.evaluate_from_one(x + t * kPanel, kPanel, degree_, table + t * degree_ * kPanel, kPanel);
}

namespace {

// The whole polynomial of one column of pairs in registers; p[0] = 1 is not stored.
template <int degree>
void evaluate_in_registers(Index n_inputs, const double* left, const double* right, Index n_columns, double* values) {
  for (Index j = 0; j < n_columns; ++j) {
    Packet p[degree + 1][kVectors];
    for (int n = 1; n <= degree; ++n)
      for (int v = 0; v < kVectors; ++v) p[n][v] = packet::zero();
    const double* a = left;
    const double* b = right + j;
    for (Index t = 0; t < n_inputs; ++t, a += degree * kPanel, b += degree * kPanel) {
      Packet factor[degree + 1];
#pragma GCC unroll 8
      for (int n = 1; n <= degree; ++n) factor[n] = packet::broadcast(b[(n - 1) * kPanel]);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        Packet e[degree + 1];
#pragma GCC unroll 8
        for (int n = 1; n < degree; ++n)
          e[n] = packet::mul(packet::load(a + (n - 1) * kPanel + v * kPacket), factor[n]);
        p[degree][v] = packet::fma(packet::load(a + (degree - 1) * kPanel + v * kPacket), factor[degree], p[degree][v]);
#pragma GCC unroll 8
        for (int k = degree; k >= 1; --k) {
          if (k < degree) p[k][v] = packet::add(p[k][v], e[k]);
#pragma GCC unroll 8
          for (int n = k - 1; n >= 1; --n) p[k][v] = packet::fma(e[n], p[k - n][v], p[k][v]);
        }
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      Packet sum = p[degree][v];
      for (int n = degree - 1; n >= 1; --n) sum = packet::add(sum, p[n][v]);
      packet::store(values + j * kPanel + v * kPacket, sum);
    }
  }
}

}  // namespace

void TotalDegreeKernel::evaluate(const double* left, const double* right, Index n_columns, double* values,
                                 double* scratch) const {
  const auto in_registers = [&]<int degree>() {
    evaluate_in_registers<degree>(n_inputs_, left, right, n_columns, values);
  };
  if (degree_ == 0) {
    std::fill_n(values, n_columns * kPanel, 0.0);
  } else if (levels_ > 0) {
    evaluate_any(left, right, n_columns, values, scratch);
  } else {
    switch (degree_) {
      case 1:
        return in_registers.operator()<1>();
      case 2:
        return in_registers.operator()<2>();
      case 3:
        return in_registers.operator()<3>();
      case 4:
        return in_registers.operator()<4>();
      case 5:
        return in_registers.operator()<5>();
      case 6:
        return in_registers.operator()<6>();
      case 7:
        return in_registers.operator()<7>();
      case 8:
        return in_registers.operator()<8>();
      default:
        return evaluate_any(left, right, n_columns, values, scratch);
    }
  }
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

std::optional<Index> complete_total_degree(const MultiIndexSet& indices) {
  std::vector<Index> total(static_cast<std::size_t>(indices.size()), 0);
  Index degree = 0;
  for (Index l = 1; l < indices.size(); ++l) {
    const Index sum = total[static_cast<std::size_t>(indices.parent(l))] + indices.degree(l);
    total[static_cast<std::size_t>(l)] = sum;
    degree = std::max(degree, sum);
  }
  // distinct multi-indices of total degree <= d are all of them if they are as many
  IndexSetSpec spec;
  spec.n_inputs = indices.n_inputs();
  spec.degree = degree;
  const TermCount count = count_terms(spec);
  const bool complete = count.is_exact() && count.exact == static_cast<std::uint64_t>(indices.size());
  return complete ? std::optional(degree) : std::nullopt;
}

void accumulate_total_degree_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control) {
  const TensorBasis& basis = design.basis;
  const std::optional<Index> degree = complete_total_degree(basis.indices());
  require(degree.has_value(), "the terms are not all those of a total degree");
  require(first_term == 0 || first_term == 1, "first_term must be 0 or 1, got ", first_term);
  accumulate_product_kernel(TotalDegreeKernel(basis.n_inputs(), *degree, basis.recurrence()), design.samples,
                            design.row_scale, first_term == 0 ? ConstantTerm::included : ConstantTerm::left_out, kernel,
                            control);
}

}  // namespace gegenbauer
