#include <algorithm>
#include <utility>

#include "bindings.hpp"
#include "gegenbauer/kernel_ridge.hpp"
#include "gegenbauer/sizes.hpp"
#include "gegenbauer/spectrum_gradient.hpp"
#include "gegenbauer/spectrum_kernel.hpp"
#include "gegenbauer/total_degree_kernel.hpp"

namespace gegenbauer::bindings {

namespace {

template <class Scalar>
void def_operations(py::class_<ProductKernel>& cls) {
  cls.def(
      "evaluate_symmetric",
      [](const ProductKernel& kernel, const Array<Scalar>& x, const BoxMap* box, Array<double> out, int n_threads) {
        const Samples rows = samples(x, box, kernel.n_inputs());
        const auto target = mutable_view(out, "out");
        without_gil(n_threads, [&](const Control& control) { evaluate_symmetric(kernel, rows, target, control); });
      },
      py::arg("X").noconvert(), py::arg("box").none(true), py::arg("out").noconvert(), py::arg("n_threads"));
  cls.def(
      "evaluate_diagonal",
      [](const ProductKernel& kernel, const Array<Scalar>& x, const BoxMap* box, int n_threads) {
        const Samples rows = samples(x, box, kernel.n_inputs());
        Array<double> out(room_for({rows.rows()}, "the diagonal"));
        double* target = out.mutable_data();
        without_gil(n_threads, [&](const Control& control) { evaluate_diagonal(kernel, rows, target, control); });
        return out;
      },
      py::arg("X").noconvert(), py::arg("box").none(true), py::arg("n_threads"));
  cls.def(
      "accumulate",
      [](const ProductKernel& kernel, const Array<Scalar>& x, const BoxMap* box,
         const std::optional<Array<double>>& row_scale, bool with_constant, Array<double> out, int n_threads) {
        const Samples rows = samples(x, box, kernel.n_inputs());
        const double* scale = optional_entries(row_scale, rows.rows(), "row_scale");
        MatrixRef target = matrix(out, "kernel");
        without_gil(n_threads, [&](const Control& control) {
          accumulate_product_kernel(kernel, rows, scale,
                                    with_constant ? ConstantTerm::included : ConstantTerm::left_out, target, control);
        });
      },
      py::arg("X").noconvert(), py::arg("box").none(true), py::arg("row_scale").noconvert().none(true),
      py::arg("with_constant"), py::arg("kernel").noconvert(), py::arg("n_threads"),
      "kernel += lower triangle of D K D.");
  cls.def(
      "solve",
      [](const ProductKernel& kernel, const Array<Scalar>& x, const BoxMap* box, const Array<double>& y,
         const std::optional<Array<double>>& row_scale, double gamma, bool penalize_constant, double max_bytes,
         int n_threads) {
        const Samples rows = samples(x, box, kernel.n_inputs());
        const double* scale = optional_entries(row_scale, rows.rows(), "row_scale");
        const auto wanted = targets(y, rows.rows());
        const KernelRidgeSolution solution = without_gil(n_threads, [&](const Control& control) {
          return solve_kernel_ridge(kernel, rows, scale, wanted, {gamma, penalize_constant, max_bytes}, control);
        });
        py::dict out;
        out["dual_coef"] = to_numpy(solution.coefficients);
        out["intercept"] = Array<double>(solution.constants.size(), solution.constants.data());
        out["solver"] = solution.solver;
        out["rcond"] = solution.rcond;
        out["n_refinements"] = solution.n_refinements;
        out["correction"] = solution.correction;
        out["error"] = solution.error;
        out["rank"] = solution.rank;
        return out;
      },
      py::arg("X").noconvert(), py::arg("box").none(true), py::arg("Y").noconvert(),
      py::arg("row_scale").noconvert().none(true), py::arg("gamma"), py::arg("penalize_constant"), py::arg("max_bytes"),
      py::arg("n_threads"));
}

template <class Scalar>
Array<double> log_gradient(const SpectrumKernel& kernel, const Array<Scalar>& x, const BoxMap* box,
                           Array<double> weights, int n_threads) {
  const Samples rows = samples(x, box, kernel.n_inputs());
  const MatrixRef m = matrix(weights, "weights");
  const auto n_components = static_cast<Index>(kernel.spectrum().components().size());
  room_for({2, kernel.n_inputs(), n_components}, "the gradient");
  Matrix gradient(kernel.n_inputs(), n_components);
  without_gil(n_threads, [&](const Control& control) { spectrum_log_gradient(kernel, rows, m, gradient, control); });
  return to_numpy(gradient);
}

// Entries of q, (n_inputs, n_parts) in C order.
const double* interactions(const SpectrumParts& parts, const Array<double>& q) {
  return entries(q, parts.n_inputs() * parts.n_parts(), "q");
}

template <class Scalar>
SpectrumParts make_parts(const SpectrumKernel& kernel, const Array<Scalar>& x, const BoxMap* box, int n_threads) {
  const Samples rows = samples(x, box, kernel.n_inputs());
  const auto n_parts = static_cast<Index>(kernel.spectrum().components().size());
  room_for({rows.rows() + 1, rows.rows() / 2 + 16, kernel.n_inputs(), n_parts}, "the parts of the kernel");
  return without_gil(n_threads, [&](const Control& control) { return SpectrumParts(kernel, rows, control); });
}

template <class Left, class Right>
void def_pairs(py::class_<ProductKernel>& cls) {
  cls.def(
      "evaluate",
      [](const ProductKernel& kernel, const Array<Left>& x, const Array<Right>& z, const BoxMap* box, Array<double> out,
         int n_threads) {
        const Samples left = samples(x, box, kernel.n_inputs());
        const Samples right = samples(z, box, kernel.n_inputs(), "Z");
        const auto target = mutable_view(out, "out");
        without_gil(n_threads,
                    [&](const Control& control) { evaluate_rectangle(kernel, left, right, target, control); });
      },
      py::arg("X").noconvert(), py::arg("Z").noconvert(), py::arg("box").none(true), py::arg("out").noconvert(),
      py::arg("n_threads"));
  cls.def(
      "apply",
      [](const ProductKernel& kernel, const Array<Left>& x, const Array<Right>& z, const BoxMap* box,
         const Array<double>& coefficients, Array<double> out, int n_threads) {
        const Samples left = samples(x, box, kernel.n_inputs());
        const Samples right = samples(z, box, kernel.n_inputs(), "Z");
        const auto c = targets(coefficients, right.rows(), "coefficients");
        const auto target = mutable_view(out, "out");
        without_gil(n_threads, [&](const Control& control) {
          apply_kernel(kernel, left, right, ConstantTerm::included, c, target, control);
        });
      },
      py::arg("X").noconvert(), py::arg("Z").noconvert(), py::arg("box").none(true),
      py::arg("coefficients").noconvert(), py::arg("out").noconvert(), py::arg("n_threads"),
      "out = K(X, Z) coefficients.");
}

}  // namespace

void bind_kernel(py::module_& m) {
  auto kernel = bind_class<ProductKernel>(m, "ProductKernel", "Sum over terms that are not enumerated.");
  kernel.def_property_readonly("n_inputs", &ProductKernel::n_inputs);
  kernel.def("table_bytes", &kernel_table_bytes, py::arg("n_samples"));
  kernel.def("solve_bytes", &estimate_kernel_ridge_bytes, py::arg("n_samples"), py::arg("n_outputs"), py::arg("gamma"));
  def_operations<double>(kernel);
  def_operations<float>(kernel);
  def_pairs<double, double>(kernel);
  def_pairs<double, float>(kernel);
  def_pairs<float, double>(kernel);
  def_pairs<float, float>(kernel);

  bind_class<TotalDegreeKernel, ProductKernel>(m, "TotalDegreeKernel", "Truncated product.")
      .def(py::init([](Index n_inputs, Index degree, double lam, const std::string& normalization,
                       const std::vector<Component>& spectrum, std::optional<Index> max_inputs) {
             constexpr Index most_degrees = 1000;
             require(degree >= 0 && degree <= most_degrees, "degree must lie between 0 and ", most_degrees, ", got ",
                     degree);
             const Normalization kind = normalization_from(normalization);
             const Spectrum weights = spectrum_from(n_inputs, spectrum);
             room_for({4, weights.n_groups(), degree + 1}, "the recurrences of the kernel");
             const std::vector<Index> degrees(size_of(n_inputs), degree);
             return TotalDegreeKernel(n_inputs, degree, Recurrences(lam, degrees, kind, term_spectrum(kind, weights)),
                                      max_inputs);
           }),
           py::arg("n_inputs"), py::arg("degree"), py::arg("lam"), py::arg("normalization"), py::arg("spectrum"),
           py::arg("max_inputs"));

  bind_class<SpectrumKernel, ProductKernel>(m, "SpectrumKernel", "All terms of a spectrum.")
      .def(py::init([](Index n_inputs, double lam, const std::vector<Component>& spectrum, Index max_degree,
                       const std::vector<LevelsOfInput>& levels) {
             constexpr Index most_degrees = 10'000;
             require(max_degree >= 0 && max_degree <= most_degrees, "max_degree must lie between 0 (none) and ",
                     most_degrees, ", got ", max_degree);
             Spectrum weights = spectrum_from(n_inputs, spectrum, levels);
             room_for({n_inputs, SpectrumKernel::numbers_an_input(weights, lam, max_degree)}, "the kernel");
             return SpectrumKernel(std::move(weights), lam, max_degree);
           }),
           py::arg("n_inputs"), py::arg("lam"), py::arg("spectrum"), py::arg("max_degree"), py::arg("levels"))
      .def_property_readonly("n_degrees", &SpectrumKernel::n_degrees)
      .def("log_gradient", &log_gradient<double>, py::arg("X").noconvert(), py::arg("box").none(true),
           py::arg("weights").noconvert(), py::arg("n_threads"), "Sums of M_ab dK_ab / dlog q_tj.")
      .def("log_gradient", &log_gradient<float>, py::arg("X").noconvert(), py::arg("box").none(true),
           py::arg("weights").noconvert(), py::arg("n_threads"));

  bind_class<SpectrumParts>(m, "SpectrumParts", "The components of a kernel for all pairs of some samples.")
      .def(py::init(&make_parts<double>), py::arg("kernel"), py::arg("X").noconvert(), py::arg("box").none(true),
           py::arg("n_threads"))
      .def(py::init(&make_parts<float>), py::arg("kernel"), py::arg("X").noconvert(), py::arg("box").none(true),
           py::arg("n_threads"))
      .def(
          "evaluate",
          [](const SpectrumParts& parts, const Array<double>& q, int n_threads) {
            const double* interaction = interactions(parts, q);
            Array<double> out(room_for({parts.n_pairs()}, "the pairs"));
            double* target = out.mutable_data();
            without_gil(n_threads, [&](const Control& control) { parts.evaluate(interaction, target, control); });
            return out;
          },
          py::arg("q").noconvert(), py::arg("n_threads"), "K - 1 of the lower triangle, row by row.")
      .def(
          "log_gradient",
          [](const SpectrumParts& parts, const Array<double>& q, const Array<double>& weights, int n_threads) {
            const double* interaction = interactions(parts, q);
            const double* of_pairs = entries(weights, parts.n_pairs(), "weights");
            Matrix gradient(parts.n_inputs(), parts.n_parts());
            without_gil(n_threads,
                        [&](const Control& control) { parts.log_gradient(interaction, of_pairs, gradient, control); });
            return to_numpy(gradient);
          },
          py::arg("q").noconvert(), py::arg("weights").noconvert(), py::arg("n_threads"),
          "Sums of weights dK / dlog q_tj.");

  m.def(
      "complete_part",
      [](const TensorBasis& basis) {
        const CompletePart part(basis);
        return std::pair(part.degree, part.n_terms);
      },
      py::arg("basis"), "Largest degree up to which all terms come first, and their number.");
}

}  // namespace gegenbauer::bindings
