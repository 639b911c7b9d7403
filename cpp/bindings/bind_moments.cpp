#include "bindings.hpp"
#include "gegenbauer/moments.hpp"

namespace gegenbauer::bindings {

namespace {

double* contiguous(Array<double>& array, Index size, const char* name) {
  require(array.ndim() == 1 && array.shape(0) == size && (size <= 1 || array.strides(0) == sizeof(double)), name,
          " must be contiguous with ", size, " entries");
  return array.mutable_data();
}

template <class Scalar>
void def_accumulate(py::class_<MomentPlan>& cls) {
  cls.def(
      "accumulate",
      [](const MomentPlan& plan, const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box,
         const Array<double>& y, const std::optional<Array<double>>& row_scale, Array<double> statistic,
         int n_threads) {
        const Samples samples(view(x, "X"), box);
        const Design design{basis, samples, optional_data(row_scale, samples.rows(), "row_scale"), view(y, "Y")};
        double* out = contiguous(statistic, plan.size(), "statistic");
        without_gil(n_threads, [&](const Control& control) { plan.accumulate(design, out, control); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("Y").noconvert(),
      py::arg("row_scale").noconvert().none(true), py::arg("statistic").noconvert(), py::arg("n_threads"),
      "statistic += that of the samples; targets are scaled by the caller.");
}

}  // namespace

void bind_moments(py::module_& m) {
  py::class_<MomentPlan> plan(m, "MomentPlan", py::module_local(), "Where the moments of a basis lie. Immutable.");
  plan.def(py::init<const TensorBasis&, Index>(), py::call_guard<py::gil_scoped_release>(), py::arg("basis"),
           py::arg("n_targets"));
  plan.def_property_readonly("size", &MomentPlan::size);
  def_accumulate<double>(plan);
  def_accumulate<float>(plan);
  plan.def(
      "assemble",
      [](const MomentPlan& p, Array<double> statistic, Array<double> gram, int n_threads) {
        const double* in = contiguous(statistic, p.size(), "statistic");
        const MatrixRef target = matrix(gram, "gram");
        without_gil(n_threads, [&](const Control& control) { p.assemble(in, target, control); });
      },
      py::arg("statistic").noconvert(), py::arg("gram").noconvert(), py::arg("n_threads"),
      "gram := lower triangle of [G, Y]'[G, Y].");
}

}  // namespace gegenbauer::bindings
