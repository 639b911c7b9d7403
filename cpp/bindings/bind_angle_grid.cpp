#include "bindings.hpp"
#include "gegenbauer/angle_grid.hpp"

namespace gegenbauer::bindings {

namespace {

template <class Scalar>
void bind_angle_functions_of(py::class_<AngleFunctions>& functions) {
  functions.def(
      "evaluate",
      [](const AngleFunctions& self, const Array<Scalar>& x, const BoxMap* box, Array<double> values, int n_threads) {
        const Samples rows = samples(x, box, self.n_inputs());
        const StridedView<double> out = mutable_view(values, "values");
        without_gil(n_threads, [&](const Control& control) { self.evaluate(rows, out, control); });
      },
      py::arg("X").noconvert(), py::arg("box").none(true), py::arg("values").noconvert(), py::arg("n_threads"),
      "values := the functions at the samples, by columns.");
}

}  // namespace

void bind_angle_grid(py::module_& m) {
  m.attr("angle_taps") = kAngleTaps;
  m.def(
      "count_angle_nodes",
      [](Index degree) {
        constexpr Index most_degree = Index{1} << 24;
        require(degree >= 0 && degree <= most_degree, "degree must lie between 0 and ", most_degree, ", got ", degree);
        return AngleAxis::nodes_of(degree);
      },
      py::arg("degree"), "Nodes of the grid of one input.");
  auto functions = bind_class<AngleFunctions>(m, "AngleFunctions", "Polynomials of few inputs, read from a grid.");
  functions.def(py::init([](const std::vector<Index>& degrees, const Array<double>& coefficients, int n_threads) {
                  const StridedView<const double> in = view(coefficients, "coefficients");
                  // before there is a grid, which may be large
                  Index n_waves = 1;
                  for (const Index degree : degrees) {
                    require(degree >= 0, "degrees must not be negative, got ", degree);
                    n_waves = degree < in.rows && n_waves <= in.rows ? n_waves * (degree + 1) : in.rows + 1;
                  }
                  require(n_waves == in.rows, "coefficients must have one row a product of Chebyshev polynomials, got ",
                          in.rows);
                  return without_gil(n_threads, [&](const Control& control) {
                    return std::make_unique<AngleFunctions>(AngleGrid(degrees), in, control);
                  });
                }),
                py::arg("degrees"), py::arg("coefficients").noconvert(), py::arg("n_threads"));
  bind_angle_functions_of<double>(functions);
  bind_angle_functions_of<float>(functions);
}

}  // namespace gegenbauer::bindings
