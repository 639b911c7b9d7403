#include "gegenbauer/tensor_basis.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "gegenbauer/error.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

namespace {

// Squares of terms are summed over up to 10^18 samples, so a term may not exceed sqrt(DBL_MAX) / 10^9.
constexpr double kLargestTerm = 1e145;

// Terms whose largest value lies between this and its reciprocal leave float32 room for smaller values and for sums of
// squares.
constexpr double kLargestFloatTerm = 0x1p40;

}  // namespace

TensorBasis::TensorBasis(const IndexSetSpec& spec, double lam, Normalization normalization,
                         const std::optional<Spectrum>& spectrum, const Control& control)
    : TensorBasis(MultiIndexSet(spec, control), lam, normalization, spectrum) {}

TensorBasis::TensorBasis(MultiIndexSet indices, double lam, Normalization normalization,
                         const std::optional<Spectrum>& spectrum)
    : indices_(std::move(indices)), functions_(lam, indices_.max_degrees(), normalization, spectrum), lam_(lam) {
  number_factors();
}

void TensorBasis::number_factors() {
  factor_start_.reserve(size_of(n_inputs()));
  for (Index t = 0; t < n_inputs(); ++t) {
    factor_start_.push_back(n_factors_);
    n_factors_ += indices_.max_degree(t);
  }
  const auto size = size_of(n_terms());
  parents_.resize(size);
  factors_.resize(size);
  std::vector<double> bound(size, 1.0);
  parents_[0] = 0;
  factors_[0] = -1;
  static constexpr Advice kMilder{Way{"lower", {"`lam`", "`degree`"}}, Way{"use a `spectrum` such as 'orthonormal'"}};
  for (std::size_t l = 1; l < size; ++l) {
    const auto i = static_cast<Index>(l);
    parents_[l] = indices_.parent(i);
    factors_[l] = static_cast<std::int32_t>(factor_start_[size_of(indices_.input(i))] + indices_.degree(i) - 1);
    bound[l] = bound[size_of(parents_[l])] * functions_.bound(indices_.input(i), indices_.degree(i));
    require(bound[l] < kLargestTerm, "`lam`, now ", lam_, ", and this index set give terms above ", kLargestTerm,
            " (first at term ", l, "), whose squares leave the range of float64", kMilder);
    fits_float32_ = fits_float32_ && bound[l] <= kLargestFloatTerm && bound[l] * kLargestFloatTerm >= 1.0;
  }
}

void TensorBasis::tabulate(const double* x, Index count, Index stride, double* table) const {
  for (Index t = 0; t < n_inputs(); ++t) {
    const Index most = indices_.max_degree(t);
    if (most > 0) {
      functions_.evaluate_from_one(t, x + t * stride, count, most, table + factor_start_[size_of(t)] * stride, stride);
    }
  }
}

template <class T>
void TensorBasis::evaluate_packet(const T* table, Index stride, T* terms) const {
  constexpr Index lanes = kPacketOf<T>;
  packet::store(terms, packet::broadcast(T(1)));
  const std::int32_t* parent = parents();
  const std::int32_t* factor = factors();
  for (Index l = 1; l < n_terms(); ++l) {
    packet::store(terms + l * lanes, packet::mul(packet::load(terms + Index{parent[l]} * lanes),
                                                 packet::load_unaligned(table + Index{factor[l]} * stride)));
  }
}

template <class T>
void TensorBasis::evaluate_range(const T* table, Index stride, Index first, Index last, T* out) const {
  constexpr Index lanes = kPacketOf<T>;
  const std::int32_t* parent = parents();
  const std::int32_t* factor = factors();
  const auto place = [&](Index l) { return out + (last - 1 - l) * kPanelOf<T>; };
  for (Index l = first; l < last; ++l) {
    PacketOf<T> value[kVectors];
    for (int v = 0; v < kVectors; ++v) value[v] = packet::broadcast(T(1));
    Index k = l;
    for (; k > 0 && (k == l || k < first); k = parent[k]) {
      const T* row = table + Index{factor[k]} * stride;
      for (int v = 0; v < kVectors; ++v) value[v] = packet::mul(value[v], packet::load_unaligned(row + v * lanes));
    }
    if (k > 0) {
      const T* row = place(k);
      for (int v = 0; v < kVectors; ++v) value[v] = packet::mul(value[v], packet::load(row + v * lanes));
    }
    for (int v = 0; v < kVectors; ++v) packet::store(place(l) + v * lanes, value[v]);
  }
}

template void TensorBasis::evaluate_packet(const double*, Index, double*) const;
template void TensorBasis::evaluate_packet(const float*, Index, float*) const;
template void TensorBasis::evaluate_range(const double*, Index, Index, Index, double*) const;
template void TensorBasis::evaluate_range(const float*, Index, Index, Index, float*) const;

namespace {

constexpr Index kBlock = 64;  // samples evaluated together

// out[0 .. kPacket) = the register, rounded if Scalar is float
template <class Scalar>
EIGEN_ALWAYS_INLINE void store_run(Scalar* out, const Packet& values) {
  if constexpr (std::is_same_v<Scalar, double>) {
    packet::store_unaligned(out, values);
  } else {
    alignas(kAlignment) double exact[kPacket];
    packet::store(exact, values);
    for (int i = 0; i < kPacket; ++i) out[i] = static_cast<Scalar>(exact[i]);
  }
}

struct Scratch {
  AlignedBuffer x, table, terms;
};

// Rows `first` .. first + count of the output, where rows lie contiguously or anyhow. Transposed in registers, so that
// each row is written in runs.
template <class Scalar>
void write_rows(const TensorBasis& basis, const Scratch& scratch, Index first, Index count, StridedView<Scalar> out) {
  const Index n_terms = basis.n_terms();
  const double* terms = scratch.terms.get();
  for (Index g = 0; g < count; g += kPacket) {
    basis.evaluate_packet<double>(scratch.table.get() + g, kBlock, scratch.terms.get());
    const Index rows = std::min<Index>(kPacket, count - g);
    Index l = 0;
    if (out.col_stride == 1 && rows == kPacket) {
      for (; l + kPacket <= n_terms; l += kPacket) {
        PacketSquare square;
        for (int i = 0; i < kPacket; ++i) square.packet[i] = packet::load(terms + (l + i) * kPacket);
        packet::transpose(square);
        for (int i = 0; i < kPacket; ++i) store_run(&out(first + g + i, l), square.packet[i]);
      }
    }
    for (Index s = 0; s < rows; ++s)
      for (Index j = l; j < n_terms; ++j) out(first + g + s, j) = static_cast<Scalar>(terms[j * kPacket + s]);
  }
}

// The same where columns lie contiguously: a run of kBlock samples of each term, written as it is evaluated. Terms from
// n_parents on are nobody's parents and share one place of the scratch space.
template <class Scalar>
void write_columns(const TensorBasis& basis, const Scratch& scratch, Index n_parents, Index first, Index count,
                   StridedView<Scalar> out) {
  double* terms = scratch.terms.get();
  std::fill_n(terms, kBlock, 1.0);
  for (Index l = 0; l < basis.n_terms(); ++l) {
    double* term = terms + std::min(l, n_parents) * kBlock;
    if (l > 0) {
      const double* parent = terms + Index{basis.parents()[l]} * kBlock;
      const double* factor = scratch.table.get() + Index{basis.factors()[l]} * kBlock;
      for (Index s = 0; s < kBlock; s += kPacket)
        packet::store(term + s, packet::mul(packet::load(parent + s), packet::load(factor + s)));
    }
    Scalar* column = &out(first, l);
    Index s = 0;
    for (; s + kPacket <= count; s += kPacket) store_run(column + s, packet::load(term + s));
    for (; s < count; ++s) column[s] = static_cast<Scalar>(term[s]);
  }
}

}  // namespace

template <class Scalar>
void evaluate_terms(const TensorBasis& basis, const Samples& samples, StridedView<Scalar> out, const Control& control) {
  require(samples.cols() == basis.n_inputs(), "X has ", samples.cols(), " columns but the basis has ", basis.n_inputs(),
          " inputs");
  require(out.rows == samples.rows() && out.cols == basis.n_terms(), "out must have shape (", samples.rows(), ", ",
          basis.n_terms(), "), got (", out.rows, ", ", out.cols, ")");
  const bool by_columns = out.row_stride == 1 && out.col_stride != 1;
  const Index n_parents = Index{*std::max_element(basis.parents(), basis.parents() + basis.n_terms())} + 1;
  const Index n_values = by_columns ? (n_parents + 1) * kBlock : basis.n_terms() * Index{kPacket};
  const Index n_blocks = divide_up(samples.rows(), kBlock);
  const double work = static_cast<double>(samples.rows()) * static_cast<double>(basis.n_terms());
  std::vector<Scratch> scratch;
  for (int i = 0; i < control.threads_for(work); ++i)
    scratch.push_back({make_aligned(size_of(basis.n_inputs() * kBlock)),
                       make_aligned(size_of(std::max<Index>(1, basis.n_factors()) * kBlock)),
                       make_aligned(size_of(n_values))});
  parallel_for(control, n_blocks, work, [&](Index b, int member) {
    const Scratch& mine = scratch[size_of(member)];
    const Index first = b * kBlock;
    const Index count = std::min(kBlock, samples.rows() - first);
    samples.load(first, count, kBlock, mine.x.get(), kBlock);
    basis.tabulate(mine.x.get(), kBlock, kBlock, mine.table.get());
    if (by_columns) {
      write_columns(basis, mine, n_parents, first, count, out);
    } else {
      write_rows(basis, mine, first, count, out);
    }
  });
}

template void evaluate_terms(const TensorBasis&, const Samples&, StridedView<double>, const Control&);
template void evaluate_terms(const TensorBasis&, const Samples&, StridedView<float>, const Control&);

}  // namespace gegenbauer
