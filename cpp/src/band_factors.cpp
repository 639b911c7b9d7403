#include "band_factors.hpp"

#include <algorithm>

#include "gegenbauer/unroll.hpp"

namespace gegenbauer::band {

BandFactors::BandFactors(const std::vector<double>& band, Index size, const Row& gammas) {
  const Index n = static_cast<Index>(band.size()) / kRow;
  for (std::vector<double>& rows : rows_) rows.resize(band.size());
  constexpr Index held = 2 * kWidth;
  Row l[held][kRow];  // the last rows; their last place has the inverse of the diagonal
  for (auto& row : l)
    for (Row& entry : row) entry.setZero();
  Row smallest = Row::Ones();
  for (Index i = 0; i < n; ++i) {
    const double* b = band.data() + i * kRow;
    Row* row = l[i % held];
    Row pivot = Row::Constant(b[kWidth]);
    if (i < size) pivot += gammas;
    for (Index c = 0; c < kWidth; ++c) {  // column i - kWidth + c; before the first one all is zero
      const Row* other = l[(i + kWidth + c) % held];
      Row sum = Row::Constant(b[c]);
      for (Index e = 0; e < c; ++e) sum -= row[e] * other[kWidth - c + e];
      row[c] = sum * other[kWidth];
      pivot -= row[c].square();
    }
    smallest = (pivot > 0).select(smallest, -1.0);  // not a number counts as well
    log_determinant_ += pivot.log();
    const Row inverse = pivot.sqrt().inverse();
    row[kWidth] = inverse;
    for (Index c = 0; c <= kWidth; ++c) {
      const Row out = c < kWidth ? Row(-row[c] * inverse) : inverse;
      for (Index lane = 0; lane < kWidth; ++lane) rows_[lane][size_of(i * kRow + c)] = out(lane);
    }
  }
  for (Index lane = 0; lane < kWidth; ++lane) failed_[lane] = smallest(lane) < 0;
}

void solve_forward(const std::vector<double>& factor, double* x) {
  const Index rows = static_cast<Index>(factor.size()) / kRow;
  for (Index i = 0; i < rows; ++i) {
    const double* l = factor.data() + i * kRow;
    double sum = x[i] * l[kWidth];
    for (Index c = std::max<Index>(0, kWidth - i); c < kWidth; ++c) sum += l[c] * x[i - kWidth + c];
    x[i] = sum;
  }
}

void solve_backward(const std::vector<double>& factor, double* x) {
  for (Index i = static_cast<Index>(factor.size()) / kRow - 1; i >= 0; --i) {
    const double* l = factor.data() + i * kRow;
    for (Index c = std::max<Index>(0, kWidth - i); c < kWidth; ++c) x[i - kWidth + c] += l[c] * x[i];
    x[i] *= l[kWidth];
  }
}

Vector band_product(const std::vector<double>& band, const Vector& x) {
  Vector y = Vector::Zero(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const double* b = band.data() + i * kRow;
    y(i) += b[kWidth] * x(i);
    for (Index c = std::max<Index>(0, kWidth - i); c < kWidth; ++c) {
      y(i) += b[c] * x(i - kWidth + c);
      y(i - kWidth + c) += b[c] * x(i);
    }
  }
  return y;
}

void sum_rows(const double* q, Index rows, const double* factor, const double* right, Index n_outputs, double* squares,
              double* products) {
  constexpr Index held = 2 * kWidth;
  alignas(kAlignment) double z[held * kPanel] = {};
  for (Index begin = 0; begin < rows; begin += kColumns) {
    const double* l = factor + begin * kRow;
    RegisterTile tile;
    GEGENBAUER_UNROLL(8)
    for (int j = 0; j < kColumns; ++j) {
      const Packet inverse = packet::broadcast(l[j * kRow + kWidth]);
      GEGENBAUER_UNROLL(3)
      for (int v = 0; v < kVectors; ++v)
        tile.acc[j][v] = packet::mul(packet::load(q + (begin + j) * kPanel + v * kPacket), inverse);
    }
    GEGENBAUER_UNROLL(8)
    for (int d = 0; d < kWidth; ++d) {
      const double* old = z + (begin + kWidth + d) % held * kPanel;
      Packet before[kVectors];
      GEGENBAUER_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) before[v] = packet::load(old + v * kPacket);
      GEGENBAUER_UNROLL(8)
      for (int j = 0; j < std::min(d + 1, kColumns); ++j) {
        const Packet entry = packet::broadcast(l[j * kRow + d - j]);
        GEGENBAUER_UNROLL(3)
        for (int v = 0; v < kVectors; ++v) tile.acc[j][v] = packet::fma(entry, before[v], tile.acc[j][v]);
      }
    }
    GEGENBAUER_UNROLL(8)
    for (int j = 1; j < kColumns; ++j) {
      GEGENBAUER_UNROLL(8)
      for (int i = 0; i < j; ++i) {
        const Packet entry = packet::broadcast(l[j * kRow + kWidth + i - j]);
        GEGENBAUER_UNROLL(3)
        for (int v = 0; v < kVectors; ++v) tile.acc[j][v] = packet::fma(entry, tile.acc[i][v], tile.acc[j][v]);
      }
    }
    double* now = z + begin % held * kPanel;
    GEGENBAUER_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      Packet sum = packet::load(squares + v * kPacket);
      GEGENBAUER_UNROLL(8)
      for (int j = 0; j < kColumns; ++j) {
        packet::store(now + j * kPanel + v * kPacket, tile.acc[j][v]);
        sum = packet::fma(tile.acc[j][v], tile.acc[j][v], sum);
      }
      packet::store(squares + v * kPacket, sum);
    }
    for (Index k = 0; k < n_outputs; ++k) {
      const double* w = right + k * rows + begin;
      GEGENBAUER_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) {
        double* at = products + k * kPanel + v * kPacket;
        Packet sum = packet::load(at);
        GEGENBAUER_UNROLL(8)
        for (int j = 0; j < kColumns; ++j)
          sum = packet::fma(packet::load(now + j * kPanel + v * kPacket), packet::broadcast(w[j]), sum);
        packet::store(at, sum);
      }
    }
  }
}

}  // namespace gegenbauer::band
