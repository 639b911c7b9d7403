#pragma once
/// B + gamma I for many shifts gamma: its Cholesky factors, solves with them, and the forward substitution of all rows
/// of Q at once.

#include <vector>

#include "band_blocks.hpp"

namespace gegenbauer::band {

/// Factors B + gamma I = L L' of kWidth gammas at once, one a lane.
class BandFactors {
 public:
  BandFactors(const std::vector<double>& band, Index size, const Row& gammas);

  [[nodiscard]] bool failed(Index lane) const { return failed_[lane]; }
  [[nodiscard]] double log_determinant(Index lane) const { return log_determinant_(lane); }

  /// Minus the rows of L divided by its diagonal, the inverse of which takes the last place.
  [[nodiscard]] std::vector<double>& rows(Index lane) { return rows_[lane]; }

 private:
  std::vector<double> rows_[kWidth];
  Row log_determinant_ = Row::Zero();
  bool failed_[kWidth] = {};
};

/// x := L^-1 x and x := L'^-1 x, of the rows of one factor.
void solve_forward(const std::vector<double>& factor, double* x);
void solve_backward(const std::vector<double>& factor, double* x);

/// B x
[[nodiscard]] Vector band_product(const std::vector<double>& band, const Vector& x);

/// Sums of squares and products of z = L^-1 Q'e_i with the columns of `right`, for a panel of rows i.
void sum_rows(const double* q, Index rows, const double* factor, const double* right, Index n_outputs, double* squares,
              double* products);

}  // namespace gegenbauer::band
