#pragma once
/// Aliases and views shared by every layer. Nothing here computes.

#include <Eigen/Core>
#include <cstddef>
#include <limits>

namespace gegenbauer {

using Index = Eigen::Index;

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Dense column-major matrix of float64, the type of every statistic, factor and weight matrix.
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using MatrixRef = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixRef = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

/// What products are computed in. float32 means: both sides rounded to float, sums of at most 256 products in float,
/// everything above in double.
enum class Precision { float64, float32 };

/// A matrix of any layout that somebody else owns: element (i, j) lies at data[i * row_stride + j * col_stride].
template <class Scalar>
struct StridedView {
  Scalar* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index row_stride = 0;
  Index col_stride = 0;

  [[nodiscard]] Scalar& operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
};

[[nodiscard]] inline StridedView<double> view(Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), 1, matrix.outerStride()};
}
[[nodiscard]] inline StridedView<const double> view(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), 1, matrix.outerStride()};
}

}  // namespace gegenbauer
