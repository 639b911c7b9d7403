#include "gegenbauer/chebyshev_form.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gegenbauer/aligned.hpp"
#include "gegenbauer/halves.hpp"
#include "gegenbauer/packet.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/unroll.hpp"

namespace gegenbauer {

void require_polynomials(const TensorBasis& basis) {
  require(!basis.functions().have_levels(),
          "moments are sums of Chebyshev polynomials, which categories and numbers that may be missing are not",
          kFeaturesInstead);
}

ChebyshevForm::ChebyshevForm(const TensorBasis& basis) : n_terms_(basis.n_terms()) {
  require_polynomials(basis);
  const MultiIndexSet& indices = basis.indices();
  const Index degree = *std::max_element(indices.max_degrees().begin(), indices.max_degrees().end());
  // C_n = sum over i of u_i u_{n-i} T_|n-2i| with u_i = (lam)_i / i!. Only the shares are taken from it; the size comes
  // from the leading coefficients of p_n and T_n, so any normalisation is served, and any weights of the inputs, and
  // nothing overflows or cancels.
  std::vector<double> u(size_of(degree) + 1, 1.0);
  for (std::size_t i = 1; i < u.size(); ++i)
    u[i] = u[i - 1] * (basis.lam() + static_cast<double>(i) - 1.0) / static_cast<double>(i);
  connection_ = Matrix::Zero(degree + 1, degree + 1);
  for (Index n = 0; n <= degree; ++n) {
    connection_(n, n) = 1.0;
    if (basis.lam() == 0.0) continue;
    for (Index i = 1; i < n; ++i)
      connection_(n, std::abs(n - 2 * i)) += u[size_of(i)] * u[size_of(n - i)] / (2 * u[size_of(n)]);
  }
  std::vector<Exponents> terms;
  for (Index l = 0; l < n_terms_; ++l) terms.push_back(indices.exponents(l));
  const Positions position = positions(terms);
  factors_.resize(size_of(basis.n_inputs()));
  scale_.assign(size_of(n_terms_), 1.0);
  // from the highest degree down, so that a column is changed before those that it needs
  for (std::size_t t = 0; t < factors_.size(); ++t) {
    const Recurrence& recurrence = basis.functions().recurrences()[static_cast<Index>(t)];
    std::vector<double> leading{1.0};
    for (Index n = 1; n <= indices.max_degree(static_cast<Index>(t)); ++n)
      leading.push_back(leading.back() * recurrence.slope(n) * (n == 1 ? 1.0 : 0.5));
    std::vector<Index> order(size_of(n_terms_));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return terms[size_of(a)][t] > terms[size_of(b)][t]; });
    for (const Index l : order) {
      const std::int32_t n = terms[size_of(l)][t];
      if (n == 0) break;
      scale_[size_of(l)] *= leading[size_of(n)];
      if (n < 2 || basis.lam() == 0.0) continue;
      factors_[t].push_back({static_cast<std::int32_t>(l), n, static_cast<Index>(below_.size())});
      Exponents lower = terms[size_of(l)];
      for (std::int32_t j = n - 2; j >= 0; j -= 2) {
        lower[t] = j;
        below_.push_back(position.at(lower));
      }
    }
  }
  const Vector sums = connection_.cwiseAbs().rowwise().sum();
  std::vector<double> shares(size_of(n_terms_), 1.0);
  for (Index l = 0; l < n_terms_; ++l) {
    if (l > 0) shares[size_of(l)] = shares[size_of(indices.parent(l))] * sums(indices.degree(l));
    const double bound = scale_[size_of(l)] * shares[size_of(l)];
    squared_bounds_ += bound * bound;
  }
}

namespace {

// out[0 .. n) := factor in[0 .. n)
void times(double factor, const double* in, Index n, double* out) {
  const Packet by = packet::broadcast(factor);
  Index i = 0;
  for (; i + kPacket <= n; i += kPacket)
    packet::store_unaligned(out + i, packet::mul(by, packet::load_unaligned(in + i)));
  for (; i < n; ++i) out[i] = factor * in[i];
}

}  // namespace

// Columns: matrix := matrix B' for the rows [0, n_rows), input by input; a column gives to higher ones only. The
// adjoint, matrix := matrix B, takes the same steps backwards. Some rows of all columns are worked on side by side.
template <bool adjoint>
void ChebyshevForm::change(MatrixRef matrix, Index n_rows, const Control& control) const {
  constexpr int n_packets = 4;
  constexpr Index chunk = n_packets * kPacket;
  const double work = static_cast<double>(n_rows) * static_cast<double>(below_.size() + scale_.size());
  std::vector<AlignedBuffer> scratch;
  for (int i = 0; i < control.n_threads(); ++i) scratch.push_back(make_aligned(size_of(n_terms_ * chunk)));
  parallel_for(control, divide_up(n_rows, chunk), work, [&](Index item, int member) {
    const Index first = item * chunk;
    const Index count = std::min(chunk, n_rows - first);
    double* rows = scratch[size_of(member)].get();
    for (Index l = 0; l < n_terms_; ++l) {
      const double scale = adjoint ? scale_[size_of(l)] : 1.0;
      times(scale, &matrix(first, l), count, rows + l * chunk);
      std::fill(rows + l * chunk + count, rows + (l + 1) * chunk, 0.0);
    }
    const auto apply = [&](const Factor& factor) {
      double* column = rows + Index{factor.term} * chunk;
      Packet values[n_packets];
      GEGENBAUER_UNROLL(4)
      for (int i = 0; i < n_packets; ++i) values[i] = packet::load(column + i * kPacket);
      const std::int32_t* below = below_.data() + factor.below;
      for (std::int32_t j = factor.degree - 2; j >= 0; j -= 2, ++below) {
        const Packet share = packet::broadcast(connection_(factor.degree, j));
        double* lower = rows + Index{*below} * chunk;
        GEGENBAUER_UNROLL(4)
        for (int i = 0; i < n_packets; ++i) {
          const Packet old = packet::load(lower + i * kPacket);
          if (adjoint) {
            packet::store(lower + i * kPacket, packet::fma(share, values[i], old));
          } else {
            values[i] = packet::fma(share, old, values[i]);
          }
        }
      }
      if (adjoint) return;
      GEGENBAUER_UNROLL(4)
      for (int i = 0; i < n_packets; ++i) packet::store(column + i * kPacket, values[i]);
    };
    if (adjoint) {
      for (auto factors = factors_.rbegin(); factors != factors_.rend(); ++factors)
        std::for_each(factors->rbegin(), factors->rend(), apply);
    } else {
      for (const std::vector<Factor>& factors : factors_) std::for_each(factors.begin(), factors.end(), apply);
    }
    for (Index l = 0; l < n_terms_; ++l)
      times(adjoint ? 1.0 : scale_[size_of(l)], rows + l * chunk, count, &matrix(first, l));
  });
}

template void ChebyshevForm::change<false>(MatrixRef, Index, const Control&) const;
template void ChebyshevForm::change<true>(MatrixRef, Index, const Control&) const;

}  // namespace gegenbauer
