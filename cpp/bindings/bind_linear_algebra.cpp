#include "bindings.hpp"
#include "gegenbauer/band_form.hpp"
#include "gegenbauer/cholesky.hpp"
#include "gegenbauer/peak.hpp"
#include "gegenbauer/triangular.hpp"

namespace gegenbauer::bindings {

namespace {

void require_duration(double seconds) {
  constexpr double most = 60;
  require(seconds >= 0 && seconds <= most, "seconds must lie between 0 and ", most, ", got ", seconds);
}

}  // namespace

void bind_linear_algebra(py::module_& m) {
  m.def(
      "cholesky_in_place",
      [](Array<double> a, int n_threads, const std::string& precision) {
        const Precision kind = precision_from(precision);
        const MatrixRef target = matrix(a, "matrix");
        without_gil(n_threads, [&](const Control& control) { cholesky_in_place(target, control, kind); });
      },
      py::arg("matrix").noconvert(), py::arg("n_threads"), py::arg("precision") = "float64",
      "Lower triangle := its Cholesky factor, of products in float32 if requested.");
  m.def(
      "solve_factored",
      [](Array<double> factor, Array<double> right, int n_threads) {
        const MatrixRef lower = matrix(factor, "factor");
        const MatrixRef target = matrix(right, "right");
        without_gil(n_threads, [&](const Control& control) { solve_factored(lower, target, control); });
      },
      py::arg("factor").noconvert(), py::arg("right").noconvert(), py::arg("n_threads"),
      "right := (L L')^-1 right, given L.");
  m.def(
      "solve_lower",
      [](Array<double> factor, Array<double> right, int n_threads) {
        const MatrixRef lower = matrix(factor, "factor");
        const MatrixRef target = matrix(right, "right");
        without_gil(n_threads, [&](const Control& control) { solve_in_turn({{lower, true, false}}, target, control); });
      },
      py::arg("factor").noconvert(), py::arg("right").noconvert(), py::arg("n_threads"), "right := L^-1 right.");
  m.def(
      "invert_factored",
      [](Array<double> factor, int n_threads) {
        const MatrixRef lower = matrix(factor, "factor");
        without_gil(n_threads, [&](const Control& control) { inverse_of_factored(lower, lower, control); });
      },
      py::arg("factor").noconvert(), py::arg("n_threads"), "factor := (L L')^-1, given L; both triangles.");
  m.def(
      "inverse_diagonal",
      [](Array<double> factor, int n_threads, const std::string& precision) {
        const Precision kind = precision_from(precision);
        const MatrixRef lower = matrix(factor, "factor");
        const Vector diagonal =
            without_gil(n_threads, [&](const Control& control) { return inverse_diagonal(lower, control, kind); });
        return Array<double>(diagonal.size(), diagonal.data());
      },
      py::arg("factor").noconvert(), py::arg("n_threads"), py::arg("precision") = "float64",
      "Diagonal of (L L')^-1, given L, of products in float32 if requested.");
  bind_class<BandForm>(m, "BandForm", "A symmetric matrix as Q B Q' with a band B.")
      .def(py::init([](Array<double> lower, const std::optional<Array<double>>& without, int n_threads) {
             const MatrixRef k = matrix(lower, "matrix");
             const double* v = optional_entries(without, k.rows(), "without");
             const Vector left_out = v == nullptr ? Vector() : Vector(Eigen::Map<const Vector>(v, k.rows()));
             return without_gil(n_threads, [&](const Control& control) { return BandForm(k, left_out, control); });
           }),
           py::arg("matrix").noconvert(), py::arg("without"), py::arg("n_threads"),
           "Of the lower triangle, on the complement of a vector if one is given.")
      .def_property_readonly("largest", &BandForm::largest)
      .def_property_readonly("smallest", &BandForm::smallest)
      .def("band", [](const BandForm& form) { return to_numpy(form.band()); })
      .def("orthogonal", [](const BandForm& form) { return to_numpy(form.orthogonal()); })
      .def(
          "solve",
          [](const BandForm& form, const Array<double>& gammas, Array<double> right, int n_threads) {
            const double* first = entries(gammas, gammas.size(), "gammas");
            const MatrixRef target = matrix(right, "right");
            room_for({target.rows() + 8, gammas.size(), 2 * target.cols() + 10}, "the solutions");
            const Vector values = Eigen::Map<const Vector>(first, gammas.size());
            const ShiftedSolutions found =
                without_gil(n_threads, [&](const Control& control) { return form.solve(values, target, control); });
            const auto copy = [](const Vector& v) { return Array<double>(v.size(), v.data()); };
            return std::tuple(to_numpy(found.solutions), to_numpy(found.inverse_diagonal), to_numpy(found.quadratic),
                              copy(found.log_determinant), copy(found.shift));
          },
          py::arg("gammas").noconvert(), py::arg("right").noconvert(), py::arg("n_threads"),
          "Solutions, the diagonal of the inverse, quadratic forms, log determinants and shifts.");
  m.def(
      "measure_flops",
      [](double seconds, int n_threads) {
        require_duration(seconds);
        return without_gil(n_threads, [&](const Control& control) { return measure_flops(seconds, control); });
      },
      py::arg("seconds"), py::arg("n_threads"), "Multiply-adds on registers, flops a second.");
  m.def(
      "measure_read_bandwidth",
      [](double seconds, Index n_bytes, int n_threads) {
        require_duration(seconds);
        room_for({n_bytes / 8}, "the buffer");
        return without_gil(n_threads,
                           [&](const Control& control) { return measure_read_bandwidth(seconds, n_bytes, control); });
      },
      py::arg("seconds"), py::arg("n_bytes"), py::arg("n_threads"), "Bytes a second read from memory.");
}

}  // namespace gegenbauer::bindings
