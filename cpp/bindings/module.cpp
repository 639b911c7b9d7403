#include "bindings.hpp"

// The name differs between the flavours; everything else is the same.
PYBIND11_MODULE(GEGENBAUER_MODULE_NAME, m, pybind11::mod_gil_not_used()) {
  namespace py = pybind11;
  using namespace gegenbauer::bindings;
  m.doc() = "Compiled core of gegenbauer, " GEGENBAUER_ISA_NAME " flavour. Private: use the functions of the package.";
  m.attr("isa") = GEGENBAUER_ISA_NAME;
  py::register_local_exception<gegenbauer::NotPositiveDefinite>(
      m, "NotPositiveDefinite", py::module_::import("numpy.linalg").attr("LinAlgError"));
  bind_basis(m);
  bind_kernel(m);
  bind_moments(m);
  bind_ridge(m);
  bind_linear_algebra(m);
}
