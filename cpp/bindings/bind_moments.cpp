#include "bindings.hpp"
#include "gegenbauer/moments.hpp"

namespace gegenbauer::bindings {

namespace {

double* contiguous(Array<double>& array, Index size, const char* name) {
  require(array.ndim() == 1 && array.shape(0) == size && (size <= 1 || array.strides(0) == sizeof(double)), name,
          " must be contiguous with ", size, " entries, got ", array.ndim() == 1 ? array.shape(0) : -1);
  return array.mutable_data();
}

std::vector<Substitution> substitutions(const std::vector<double>& scales, const std::vector<double>& shifts) {
  require(scales.size() == shifts.size(), "scales and shifts must have the same length");
  std::vector<Substitution> maps;
  for (std::size_t t = 0; t < scales.size(); ++t) maps.push_back({scales[t], shifts[t]});
  return maps;
}

template <class Scalar>
void bind_for(py::module_& m) {
  m.def(
      "accumulate_moments",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, const Array<double>& y,
         const std::optional<Array<double>>& row_scale, Array<double> statistic, int n_threads) {
        const Samples samples(view(x, "X"), box);
        const Design design{basis, samples, optional_data(row_scale, samples.rows(), "row_scale"), view(y, "Y")};
        const auto& plan = basis.plan<MomentPlan>();
        double* out = contiguous(statistic, plan.size(design.targets.cols), "statistic");
        without_gil(n_threads, [&](const Control& control) { plan.accumulate(design, out, control); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("Y").noconvert(),
      py::arg("row_scale").noconvert().none(true), py::arg("statistic").noconvert(), py::arg("n_threads"),
      "statistic += that of the samples; targets are scaled by the caller.");
  m.def(
      "evaluate_forms",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, Array<double> coefficients,
         Array<double> values, int n_threads) {
        const Samples samples(view(x, "X"), box);
        const auto& plan = basis.plan<MomentPlan>();
        const StridedView<double> out = mutable_view(values, "values");
        require(samples.cols() == basis.n_inputs(), "X must have ", basis.n_inputs(), " columns");
        const double* in = contiguous(coefficients, plan.size(0) * out.cols, "coefficients");
        without_gil(n_threads, [&](const Control& control) { plan.evaluate_forms(samples, in, out, control); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("coefficients").noconvert(),
      py::arg("values").noconvert(), py::arg("n_threads"), "values := quadratic forms in the features, by columns.");
}

}  // namespace

void bind_moments(py::module_& m) {
  m.def(
      "count_moments",
      [](const TensorBasis& basis, Index n_targets) { return basis.plan<MomentPlan>().size(n_targets); },
      py::call_guard<py::gil_scoped_release>(), py::arg("basis"), py::arg("n_targets"));
  bind_for<double>(m);
  bind_for<float>(m);
  m.def(
      "assemble_moments",
      [](const TensorBasis& basis, Array<double> statistic, Array<double> gram, int n_threads) {
        const auto& plan = basis.plan<MomentPlan>();
        const MatrixRef target = matrix(gram, "gram");
        const double* in = contiguous(statistic, plan.size(target.rows() - basis.n_terms()), "statistic");
        without_gil(n_threads, [&](const Control& control) { plan.assemble(in, target, control); });
      },
      py::arg("basis"), py::arg("statistic").noconvert(), py::arg("gram").noconvert(), py::arg("n_threads"),
      "gram := lower triangle of [G, Y]'[G, Y].");
  m.def(
      "substitute_moments",
      [](const TensorBasis& basis, Array<double> statistic, Index n_targets, const std::vector<double>& scales,
         const std::vector<double>& shifts) {
        const auto& plan = basis.plan<MomentPlan>();
        double* out = contiguous(statistic, plan.size(n_targets), "statistic");
        plan.substitute(out, n_targets, substitutions(scales, shifts));
      },
      py::arg("basis"), py::arg("statistic").noconvert(), py::arg("n_targets"), py::arg("scales"), py::arg("shifts"),
      "statistic := that of the samples scale x + shift.");
  m.def(
      "shift_targets",
      [](const TensorBasis& basis, Array<double> statistic, const std::vector<double>& shifts) {
        const auto& plan = basis.plan<MomentPlan>();
        plan.shift_targets(contiguous(statistic, plan.size(static_cast<Index>(shifts.size())), "statistic"), shifts);
      },
      py::arg("basis"), py::arg("statistic").noconvert(), py::arg("shifts"),
      "statistic := that of the targets plus a shift each.");
  m.def(
      "form_coefficients",
      [](const TensorBasis& basis, Array<double> form, Array<double> coefficients, int n_threads) {
        const auto& plan = basis.plan<MomentPlan>();
        const MatrixRef target = matrix(form, "form");
        double* out = contiguous(coefficients, plan.size(0), "coefficients");
        without_gil(n_threads, [&](const Control& control) { plan.form_coefficients(target, out, control); });
      },
      py::arg("basis"), py::arg("form").noconvert(), py::arg("coefficients").noconvert(), py::arg("n_threads"),
      "coefficients := those of g(x)'M g(x) for a symmetric form M, which is overwritten.");
}

}  // namespace gegenbauer::bindings
