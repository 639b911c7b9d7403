#include "gegenbauer/band_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "band_factors.hpp"
#include "band_reduction.hpp"
#include "band_reflectors.hpp"
#include "gegenbauer/error.hpp"

namespace gegenbauer {

using namespace band;

namespace {

Index padded(Index n) { return round_up(round_up(n, kWidth), kPanel); }

}  // namespace

BandForm::BandForm(const ConstMatrixRef& lower, const Vector& v, const Control& control)
    : n_(lower.rows()),
      size_(v.size() > 0 ? n_ - 1 : n_),
      band_(size_of(round_up(size_, kWidth) * kRow), 0.0),
      rows_(padded(n_), padded(n_)) {
  require(n_ >= 1, "the matrix must not be empty");
  require(lower.cols() == n_, "the matrix must be square, got shape (", n_, ", ", lower.cols(), ")");
  require(v.size() == 0 || (v.size() == n_ && n_ > 1), "a vector to leave out must have ", n_, " entries, got ",
          v.size());
  // Squares of entries must neither overflow nor vanish; a power of two costs no bit.
  const double size = lower.diagonal().cwiseAbs().maxCoeff();
  const int exponent = size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
  std::vector<Group> groups;
  const Index columns = padded(n_);
  const double n = static_cast<double>(n_);
  {
    Reduction reduction(rows_, padded(n_), size_);  // the memory of K is then that of Q
    Team::run(control, control.threads_for(n * n * n * 2 / 3), [&](Team& team, int me) {
      team.for_each(me, columns / kPanel, [&](Index p, int) { reduction.pack(lower, std::scalbn(1.0, -exponent), p); });
      if (v.size() > 0) reduction.begin(v, groups, team, me);
      reduction.run(groups, band_, team, me);
    });
  }
  for (double& entry : band_) entry = std::scalbn(entry, exponent);
  for (Index i = size_; i < round_up(size_, kWidth); ++i) band_[size_of(i * kRow + kWidth)] = 1.0;
  std::vector<AlignedBuffer> scratch(size_of(control.n_threads()));
  Team::run(control, control.threads_for(n * n * n * 2 / 3), [&](Team& team, int me) {
    team.for_each(me, static_cast<Index>(groups.size()) + 1, [&](Index g, int) {
      if (g == 0) {
        estimate_extremes();
      } else {
        join(groups[size_of(g - 1)]);
      }
    });
    AlignedBuffer& panel = scratch[size_of(me)];
    team.for_each(me, columns / kPanel, [&](Index p, int) {
      if (!panel) panel = make_aligned(size_of(columns * kPanel));
      form_rows(groups, p * kPanel, size_, columns, panel.get());
      transpose_into(panel.get(), p, rows_);
    });
  });
}

void BandForm::estimate_extremes() {
  constexpr int steps = 16;
  const Index rows = static_cast<Index>(band_.size()) / kRow;
  Vector start(rows);  // without structure: fractional parts of multiples of the golden ratio, of mixed signs
  for (Index i = 0; i < rows; ++i)
    start(i) = i < size_ ? std::fmod(0.618033988749895 * static_cast<double>(i + 1), 1.0) - 0.45 : 0.0;
  Vector x = start.normalized();
  for (int step = 0; step < steps; ++step) {
    x = band_product(band_, x);
    largest_ = x.stableNorm();
    if (!(largest_ > 0) || !std::isfinite(largest_)) return;
    x /= largest_;
  }
  // What lies below the rounding of K is not distinguished from zero.
  const double shift = rounding();
  BandFactors factor(band_, size_, Row::Constant(shift));
  if (factor.failed(0)) return;
  x = start.normalized();
  double norm = 0.0;
  for (int step = 0; step < steps; ++step) {
    solve_forward(factor.rows(0), x.data());
    solve_backward(factor.rows(0), x.data());
    norm = x.stableNorm();
    if (!(norm > 0) || !std::isfinite(norm)) return;
    x /= norm;
  }
  smallest_ = std::max(0.0, 1.0 / norm - shift);
}

double BandForm::rounding() const { return 4 * kEpsilon * std::sqrt(static_cast<double>(size_)) * largest_; }

Matrix BandForm::band() const {
  Matrix band = Matrix::Zero(kRow, size_);
  for (Index j = 0; j < size_; ++j)
    for (Index i = j; i < std::min(size_, j + kRow); ++i) band(i - j, j) = band_[size_of(i * kRow + kWidth - i + j)];
  return band;
}

Matrix BandForm::orthogonal() const {
  Matrix q(size_, n_);
  for (Index i = 0; i < n_; ++i)
    for (Index k = 0; k < size_; ++k) q(k, i) = rows_.panel(i / kPanel)[k * kPanel + i % kPanel];
  return q;
}

ShiftedSolutions BandForm::solve(const Vector& gammas, const ConstMatrixRef& right, const Control& control) const {
  require(right.rows() == n_, "right-hand sides must have ", n_, " rows, got ", right.rows());
  const Index n_gammas = gammas.size();
  const Index n_outputs = right.cols();
  const Index rows = static_cast<Index>(band_.size()) / kRow;
  const Index panels = panels_of(n_);
  ShiftedSolutions result{Matrix(n_, n_gammas * n_outputs), Matrix(n_, n_gammas), Matrix(n_outputs, n_gammas),
                          Vector(n_gammas), Vector::Zero(n_gammas)};
  Matrix projected = Matrix::Zero(rows, n_outputs);  // Q'Y
  Matrix forward(rows, n_gammas * n_outputs);        // L^-1 Q'Y
  std::vector<std::vector<double>> factors(size_of(n_gammas));
  const double n = static_cast<double>(n_);
  const double work = n * n * static_cast<double>((kWidth + 2 + n_outputs) * n_gammas);
  Team::run(control, control.threads_for(work), [&](Team& team, int me) {
    constexpr Index chunk = 64;
    team.for_each(me, divide_up(rows, chunk), [&](Index part, int) {
      for (Index p = 0; p < panels; ++p) {
        const Index count = std::min<Index>(kPanel, n_ - p * kPanel);
        for (Index k = part * chunk; k < std::min(size_, (part + 1) * chunk); ++k) {
          const Eigen::Map<const Vector> q(rows_.panel(p) + k * kPanel, count);
          for (Index j = 0; j < n_outputs; ++j) projected(k, j) += q.dot(right.col(j).segment(p * kPanel, count));
        }
      }
    });
    team.for_each(me, divide_up(n_gammas, kWidth), [&](Index lanes, int) {
      const Index first = lanes * kWidth;
      const Index count = std::min(kWidth, n_gammas - first);
      Row shift = Row::Zero();
      for (Index to_do = count; to_do > 0;) {
        Row shifted = shift;
        for (Index lane = 0; lane < kWidth; ++lane) shifted(lane) += gammas(first + std::min(lane, count - 1));
        BandFactors found(band_, size_, shifted);
        for (Index lane = 0; lane < count; ++lane) {
          const Index g = first + lane;
          std::vector<double>& factor = factors[size_of(g)];
          if (!factor.empty()) continue;
          if (found.failed(lane)) {
            shift(lane) = std::max({2 * shift(lane), rounding(), std::numeric_limits<double>::min()});
            if (!std::isfinite(shift(lane)))
              throw NotPositiveDefinite(Message{"the matrix is not finite to working precision"});
            continue;
          }
          factor.swap(found.rows(lane));
          result.log_determinant(g) = found.log_determinant(lane);
          result.shift(g) = shift(lane);
          --to_do;
          for (Index j = 0; j < n_outputs; ++j) {
            auto column = forward.col(g * n_outputs + j);
            column = projected.col(j);
            solve_forward(factor, column.data());
            result.quadratic(j, g) = column.squaredNorm();
          }
        }
      }
    });
    team.for_each(me, panels, [&](Index p, int) {
      const Index count = std::min<Index>(kPanel, n_ - p * kPanel);
      alignas(kAlignment) double squares[kPanel];
      const AlignedBuffer products = make_aligned(size_of(n_outputs * kPanel));
      for (Index g = 0; g < n_gammas; ++g) {
        std::fill_n(squares, kPanel, 0.0);
        std::fill_n(products.get(), n_outputs * kPanel, 0.0);
        sum_rows(rows_.panel(p), rows, factors[size_of(g)].data(), forward.data() + g * n_outputs * rows, n_outputs,
                 squares, products.get());
        std::copy_n(squares, count, &result.inverse_diagonal(p * kPanel, g));
        for (Index j = 0; j < n_outputs; ++j)
          std::copy_n(products.get() + j * kPanel, count, &result.solutions(p * kPanel, g * n_outputs + j));
      }
    });
  });
  return result;
}

}  // namespace gegenbauer
