#pragma once
/// Kernels that are sums over very many terms, or all of them, and whose terms are never enumerated:
/// K(x, z) = 1 + sum of w_k^2 phi_k(x) phi_k(z) over the terms k that are not constant. Each sample is tabulated once,
/// and a kernel defines what a panel of samples against another panel makes of two such tables. Nothing here knows a
/// penalty or a solve.
///
/// Operations go over blocks of samples whose tables are held together, tile by tile and shared between threads; a part
/// of the output has one owner, so bits do not depend on the number of threads.

#include "gegenbauer/parallel.hpp"
#include "gegenbauer/samples.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer {

class ProductKernel {
 public:
  virtual ~ProductKernel() = default;

  [[nodiscard]] virtual Index n_inputs() const = 0;

  /// Numbers that the table of one sample holds.
  [[nodiscard]] virtual Index table_size() const = 0;

  /// Doubles of scratch space that evaluate() needs.
  [[nodiscard]] virtual Index scratch_size() const { return 0; }

  /// Multiply-adds a pair, about.
  [[nodiscard]] virtual double pair_cost() const = 0;

  /// table[k * kPanel + s] for kPanel samples, from their inputs x[t * kPanel + s]. All pointers are aligned. Messages
  /// call the samples first_row, first_row + 1, ..
  virtual void tabulate(const double* x, Index first_row, double* table) const = 0;

  /// values[j * kPanel + i] = K(x_i, z_j) - 1 for the samples of two tables, i = 0..kPanel-1, j = 0..n_columns-1.
  virtual void evaluate(const double* left, const double* right, Index n_columns, double* values,
                        double* scratch) const = 0;

 protected:
  ProductKernel() = default;
  ProductKernel(const ProductKernel&) = default;
  ProductKernel(ProductKernel&&) = default;
  ProductKernel& operator=(const ProductKernel&) = default;
  ProductKernel& operator=(ProductKernel&&) = default;
};

/// Whether the 1 of the constant term is part of a result.
enum class ConstantTerm { included, left_out };

/// out += lower triangle of D K D with D = diag(row_scale), or K without row_scale: (S, S), column-major. The strict
/// upper part is undefined afterwards, as with accumulate_kernel. Cost S^2 / 2 pairs.
void accumulate_product_kernel(const ProductKernel& kernel, const Samples& samples, const double* row_scale,
                               ConstantTerm constant, MatrixRef out, const Control& control);

/// out = K(X, X) with both triangles: (S, S) of any layout. Cost S^2 / 2 pairs.
void evaluate_symmetric(const ProductKernel& kernel, const Samples& samples, StridedView<double> out,
                        const Control& control);

/// out = K(X, Z): (rows of X, rows of Z) of any layout.
void evaluate_rectangle(const ProductKernel& kernel, const Samples& x, const Samples& z, StridedView<double> out,
                        const Control& control);

/// out[s] = K(x_s, x_s). Cost kPanel pairs a sample.
void evaluate_diagonal(const ProductKernel& kernel, const Samples& samples, double* out, const Control& control);

/// out = K(X, Z) coefficients: coefficients (rows of Z, n), out (rows of X, n), both of any layout. No more than a
/// panel of K against a panel is held. Cost one pair and n multiply-adds for each entry of K.
void apply_kernel(const ProductKernel& kernel, const Samples& x, const Samples& z, ConstantTerm constant,
                  StridedView<const double> coefficients, StridedView<double> out, const Control& control);

/// out = K(X, X) coefficients, with half of the pairs: each serves a row and a column.
void apply_symmetric(const ProductKernel& kernel, const Samples& samples, ConstantTerm constant,
                     StridedView<const double> coefficients, StridedView<double> out, const Control& control);

/// Bytes that the operations hold beside their arguments: the tables of two blocks of samples.
[[nodiscard]] double kernel_table_bytes(const ProductKernel& kernel, Index n_samples);

}  // namespace gegenbauer
