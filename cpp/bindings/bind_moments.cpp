#include "bindings.hpp"
#include "gegenbauer/moments.hpp"

namespace gegenbauer::bindings {

namespace {

/// Numbers in a statistic of so many targets
Index statistic_size(const TensorBasis& basis, Index n_targets, TargetProducts products) {
  constexpr Index most = Index{1} << 31;
  require(n_targets >= 0 && n_targets <= most, "a statistic must have 0 to ", most, " targets, got ", n_targets);
  const auto& plan = basis.plan<MomentPlan>();
  checked_product({n_targets, plan.size(1, TargetProducts::left_out) + n_targets}, "the statistic");
  return plan.size(n_targets, products);
}

TargetProducts products_from(bool included) { return included ? TargetProducts::included : TargetProducts::left_out; }

std::vector<Substitution> substitutions(const std::vector<double>& scales, const std::vector<double>& shifts) {
  require(scales.size() == shifts.size(), "scales and shifts must have the same length");
  std::vector<Substitution> maps;
  for (std::size_t t = 0; t < scales.size(); ++t) maps.push_back({scales[t], shifts[t]});
  return maps;
}

template <class Scalar>
void bind_moments_of(py::module_& m) {
  m.def(
      "accumulate_moments",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, const Array<double>& y,
         const std::optional<Array<double>>& row_scale, Array<double> statistic, int n_threads, bool target_products) {
        const Samples rows = samples(x, box, basis.n_inputs());
        const Design design{basis, rows, optional_entries(row_scale, rows.rows(), "row_scale"),
                            targets(y, rows.rows())};
        const TargetProducts products = products_from(target_products);
        double* out = mutable_entries(statistic, statistic_size(basis, design.targets.cols, products), "statistic");
        const auto& plan = basis.plan<MomentPlan>();
        without_gil(n_threads, [&](const Control& control) { plan.accumulate(design, out, control, products); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("Y").noconvert(),
      py::arg("row_scale").noconvert().none(true), py::arg("statistic").noconvert(), py::arg("n_threads"),
      py::arg("target_products") = true, "statistic += that of the samples; targets are scaled by the caller.");
  m.def(
      "evaluate_forms",
      [](const TensorBasis& basis, const Array<Scalar>& x, const BoxMap* box, Array<double> coefficients,
         Array<double> values, int n_threads) {
        const Samples rows = samples(x, box, basis.n_inputs());
        const auto& plan = basis.plan<MomentPlan>();
        const StridedView<double> out = mutable_view(values, "values");
        require(out.rows == rows.rows(), "values must have ", rows.rows(), " rows, got ", out.rows);
        const double* in =
            entries(coefficients, checked_product({plan.size(0), out.cols}, "the coefficients"), "coefficients");
        without_gil(n_threads, [&](const Control& control) { plan.evaluate_forms(rows, in, out, control); });
      },
      py::arg("basis"), py::arg("X").noconvert(), py::arg("box").none(true), py::arg("coefficients").noconvert(),
      py::arg("values").noconvert(), py::arg("n_threads"), "values := quadratic forms in the features, by columns.");
}

}  // namespace

void bind_moments(py::module_& m) {
  m.def(
      "count_moments",
      [](const TensorBasis& basis, Index n_targets, bool target_products) {
        const TargetProducts products = products_from(target_products);
        return without_gil(1, [&](const Control&) { return statistic_size(basis, n_targets, products); });
      },
      py::arg("basis"), py::arg("n_targets"), py::arg("target_products") = true);
  bind_moments_of<double>(m);
  bind_moments_of<float>(m);
  m.def(
      "assemble_moments",
      [](const TensorBasis& basis, Array<double> statistic, Array<double> gram, int n_threads) {
        const auto& plan = basis.plan<MomentPlan>();
        const MatrixRef target = matrix(gram, "gram");
        const Index n_targets = target.rows() - basis.n_terms();
        require(n_targets >= 0 && (target.cols() == target.rows() || target.cols() == basis.n_terms()),
                "gram must have ", basis.n_terms(), " rows or more and as many columns, or ", basis.n_terms(),
                ", got shape (", target.rows(), ", ", target.cols(), ")");
        const TargetProducts products = products_from(target.cols() == target.rows());
        const double* in = entries(statistic, statistic_size(basis, n_targets, products), "statistic");
        without_gil(n_threads, [&](const Control& control) { plan.assemble(in, target, control); });
      },
      py::arg("basis"), py::arg("statistic").noconvert(), py::arg("gram").noconvert(), py::arg("n_threads"),
      "gram := lower triangle of [G, Y]'[G, Y], or its first columns, [G, Y]'G.");
  m.def(
      "substitute_moments",
      [](const TensorBasis& basis, Array<double> statistic, Index n_targets, const std::vector<double>& scales,
         const std::vector<double>& shifts) {
        const Index size = statistic_size(basis, n_targets, TargetProducts::included);
        basis.plan<MomentPlan>().substitute(mutable_entries(statistic, size, "statistic"), n_targets,
                                            substitutions(scales, shifts));
      },
      py::arg("basis"), py::arg("statistic").noconvert(), py::arg("n_targets"), py::arg("scales"), py::arg("shifts"),
      "statistic := that of the samples scale x + shift.");
  m.def(
      "shift_targets",
      [](const TensorBasis& basis, Array<double> statistic, const std::vector<double>& shifts) {
        const Index size = statistic_size(basis, static_cast<Index>(shifts.size()), TargetProducts::included);
        basis.plan<MomentPlan>().shift_targets(mutable_entries(statistic, size, "statistic"), shifts);
      },
      py::arg("basis"), py::arg("statistic").noconvert(), py::arg("shifts"),
      "statistic := that of the targets plus a shift each.");
  m.def(
      "form_coefficients",
      [](const TensorBasis& basis, Array<double> form, Array<double> coefficients, int n_threads) {
        const auto& plan = basis.plan<MomentPlan>();
        const MatrixRef target = matrix(form, "form");
        double* out = mutable_entries(coefficients, plan.size(0), "coefficients");
        without_gil(n_threads, [&](const Control& control) { plan.form_coefficients(target, out, control); });
      },
      py::arg("basis"), py::arg("form").noconvert(), py::arg("coefficients").noconvert(), py::arg("n_threads"),
      "coefficients := those of g(x)'M g(x) for a symmetric form M, which is overwritten.");
}

}  // namespace gegenbauer::bindings
