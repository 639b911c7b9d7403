#include "gegenbauer/kernel.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "kernel_sweep.hpp"

namespace gegenbauer {

using namespace kernel_sweep;

namespace {

// out(i, j) = values of a pair, in the order in which out lies in memory
void put(const PanelPair& pair, const StridedView<double>& out) {
  if (out.row_stride <= out.col_stride) {
    for (Index j = 0; j < pair.n_cols; ++j)
      for (Index i = 0; i < pair.n_rows; ++i) out(pair.row + i, pair.col + j) = pair.values[j * kPanel + i];
  } else {
    for (Index i = 0; i < pair.n_rows; ++i)
      for (Index j = 0; j < pair.n_cols; ++j) out(pair.row + i, pair.col + j) = pair.values[j * kPanel + i];
  }
}

}  // namespace

void accumulate_product_kernel(const ProductKernel& kernel, const Samples& samples, const double* row_scale,
                               ConstantTerm constant, MatrixRef out, const Control& control) {
  const Index n = samples.rows();
  require(out.rows() == n && out.cols() == n, "kernel must have shape (", n, ", ", n, ")");
  sweep(
      kernel, samples, samples, true, constant, 0.0, control, square_tiles,
      [&](const PanelPair& pair, Index, const Tile&, int) {
        for (Index j = 0; j < pair.n_cols; ++j) {
          double* column = out.data() + pair.row + (pair.col + j) * out.outerStride();
          const double* values = pair.values + j * kPanel;
          if (row_scale == nullptr) {
            for (Index i = 0; i < pair.n_rows; ++i) column[i] += values[i];
          } else {
            const double scale = row_scale[pair.col + j];
            for (Index i = 0; i < pair.n_rows; ++i) column[i] += scale * row_scale[pair.row + i] * values[i];
          }
        }
      },
      kNoFinish);
}

void evaluate_symmetric(const ProductKernel& kernel, const Samples& samples, StridedView<double> out,
                        const Control& control) {
  const Index n = samples.rows();
  require(out.rows == n && out.cols == n, "out must have shape (", n, ", ", n, "), got (", out.rows, ", ", out.cols,
          ")");
  const StridedView<double> mirrored{out.data, n, n, out.col_stride, out.row_stride};
  sweep(
      kernel, samples, samples, true, ConstantTerm::included, 0.0, control, square_tiles,
      [&](const PanelPair& pair, Index, const Tile&, int) {
        if (pair.row != pair.col) {
          put(pair, out);
          put(pair, mirrored);
          return;
        }
        for (Index j = 0; j < pair.n_cols; ++j)
          for (Index i = j; i < pair.n_rows; ++i)
            out(pair.row + i, pair.col + j) = out(pair.col + j, pair.row + i) = pair.values[j * kPanel + i];
      },
      kNoFinish);
}

void evaluate_rectangle(const ProductKernel& kernel, const Samples& x, const Samples& z, StridedView<double> out,
                        const Control& control) {
  require(out.rows == x.rows() && out.cols == z.rows(), "out must have shape (", x.rows(), ", ", z.rows(), "), got (",
          out.rows, ", ", out.cols, ")");
  sweep(
      kernel, x, z, false, ConstantTerm::included, 0.0, control, square_tiles,
      [&](const PanelPair& pair, Index, const Tile&, int) { put(pair, out); }, kNoFinish);
}

void evaluate_diagonal(const ProductKernel& kernel, const Samples& samples, double* out, const Control& control) {
  require(samples.cols() == kernel.n_inputs(), "X has ", samples.cols(), " columns but the kernel has ",
          kernel.n_inputs(), " inputs");
  const Index n_panels = panels_of(samples.rows());
  const double cost = static_cast<double>(samples.rows()) * kPanel * kernel.pair_cost();
  struct Space {
    AlignedBuffer x, table, values, scratch;
  };
  std::vector<Space> spaces;
  for (int i = 0; i < control.threads_for(cost); ++i)
    spaces.push_back({make_aligned(size_of(kernel.n_inputs() * kPanel)),
                      make_aligned(size_of(kernel.table_size() * kPanel)), make_aligned(std::tuple_size_v<Panel>),
                      make_aligned(size_of(kernel.scratch_size()))});
  parallel_for(control, n_panels, cost, [&](Index p, int member) {
    const auto& [x, table, values, scratch] = spaces[size_of(member)];
    const Index first = p * kPanel;
    const Index count = std::min<Index>(kPanel, samples.rows() - first);
    samples.load(first, count, kPanel, x.get(), kPanel);
    kernel.tabulate(x.get(), first, table.get());
    kernel.evaluate(table.get(), table.get(), count, values.get(), scratch.get());
    for (Index i = 0; i < count; ++i) out[first + i] = 1.0 + values[size_of(i * kPanel + i)];
  });
}

double kernel_table_bytes(const ProductKernel& kernel, Index n_samples) {
  require(n_samples >= 0, "the number of samples must not be negative, got ", n_samples);
  return 16.0 * static_cast<double>(block_rows(kernel, n_samples)) * static_cast<double>(kernel.table_size());
}

}  // namespace gegenbauer
