#include <algorithm>
#include <vector>

#include "feature_blocks.hpp"
#include "gegenbauer/normal_equations.hpp"
#include "gegenbauer/sizes.hpp"

namespace gegenbauer {

using namespace feature_blocks;

namespace {

template <class T>
void accumulate_kernel_in(const Design& design, Index first_term, MatrixRef kernel, const Control& control) {
  constexpr Index panel = kPanelOf<T>;
  const TensorBasis& basis = design.basis;
  const Index n_samples = design.samples.rows();
  const Index n_terms = basis.n_terms() - first_term;
  const Index block = block_length<T>(n_samples, n_terms);
  const Sides<T> sides[2] = {{{n_samples, block}, {}}, {{n_samples, block}, {}}};
  const Index n_panels = sides[0].left.n_panels();
  const double work =
      0.5 * static_cast<double>(n_samples) * static_cast<double>(n_samples) * static_cast<double>(n_terms);
  const int n_threads = control.threads_for(work);
  const std::vector<Scratch<T>> scratch = make_scratch<T>(design, n_threads, panel, 0);
  accumulate(
      sides, n_terms, block, triangle_tiles(0, n_panels, tile_side(n_panels, n_threads)),
      {kernel.data(), kernel.outerStride(), n_samples, n_samples, true}, n_threads, control,
      [&](Index) { return n_panels; },
      [&](Index begin, Index end, Index p, int member, const Sides<T>& to) {
        const Index first = p * panel;
        const Index count = std::min(panel, n_samples - first);
        T* out = to.left.panel(p);
        tabulate(design, first, count, panel, scratch[size_of(member)]);
        basis.evaluate_range<T>(scratch[size_of(member)].table.get(), panel, first_term + begin, first_term + end, out);
        if (design.row_scale == nullptr && count == panel) return;
        alignas(kAlignment) T scale[panel];
        for (Index i = 0; i < panel; ++i)
          scale[i] = i >= count                    ? T(0)
                     : design.row_scale == nullptr ? T(1)
                                                   : static_cast<T>(design.row_scale[first + i]);
        for (Index l = 0; l < end - begin; ++l)
          for (Index i = 0; i < panel; ++i) out[l * panel + i] *= scale[i];
      });
}

}  // namespace

void accumulate_kernel(const Design& design, Index first_term, MatrixRef kernel, const Control& control,
                       Precision precision) {
  const TensorBasis& basis = design.basis;
  const Index n_samples = design.samples.rows();
  require(design.samples.cols() == basis.n_inputs(), "X has ", design.samples.cols(), " columns but the basis has ",
          basis.n_inputs(), " inputs");
  require(kernel.rows() == n_samples && kernel.cols() == n_samples, "kernel must have shape (", n_samples, ", ",
          n_samples, ")");
  if (precision == Precision::float64 || !basis.fits_float32()) {
    accumulate_kernel_in<double>(design, first_term, kernel, control);
  } else {
    accumulate_kernel_in<float>(design, first_term, kernel, control);
  }
}

}  // namespace gegenbauer
