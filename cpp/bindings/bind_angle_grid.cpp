#include "bindings.hpp"
#include "gegenbauer/angle_grid.hpp"

namespace gegenbauer::bindings {

namespace {

template <class Scalar>
void bind_angle_grid_of(py::class_<AngleGrid>& grid) {
  grid.def(
      "evaluate",
      [](const AngleGrid& self, const Array<Scalar>& x, const BoxMap* box, Array<double> values, int n_threads) {
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
  auto grid = bind_class<AngleGrid>(m, "AngleGrid", "Polynomials of few inputs from a grid in the angles.");
  grid.def(py::init([](std::vector<Index> steps, const Array<double>& values, const Array<double>& window) {
             return AngleGrid(std::move(steps), view(values, "values"), view(window, "window"));
           }),
           py::arg("steps"), py::arg("values").noconvert(), py::arg("window").noconvert());
  bind_angle_grid_of<double>(grid);
  bind_angle_grid_of<float>(grid);
}

}  // namespace gegenbauer::bindings
