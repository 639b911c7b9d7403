#include <exception>
#include <new>

#include "bindings.hpp"

namespace {

void raise_too_large(const char* message) {
  namespace py = pybind11;
  py::set_error(py::module_::import("gegenbauer._arrays").attr("TooLargeError"), message);
}

// Most work is refused before it begins; these are what was not foreseen.
void translate(std::exception_ptr pending) {
  try {
    std::rethrow_exception(std::move(pending));
  } catch (const gegenbauer::TooLarge& error) {
    raise_too_large(error.what());
  } catch (const std::bad_alloc&) {
    raise_too_large("the work needs more memory than can be had: fewer terms, rows or outputs need less");
  }
}

}  // namespace

// The name differs between the flavours; everything else is the same.
PYBIND11_MODULE(GEGENBAUER_MODULE_NAME, m, pybind11::mod_gil_not_used()) {
  namespace py = pybind11;
  using namespace gegenbauer::bindings;
  m.doc() = "Compiled core of gegenbauer, " GEGENBAUER_ISA_NAME " flavour. Private: use the functions of the package.";
  m.attr("isa") = GEGENBAUER_ISA_NAME;
  py::register_local_exception<gegenbauer::NotPositiveDefinite>(
      m, "NotPositiveDefinite", py::module_::import("numpy.linalg").attr("LinAlgError"));
  py::register_local_exception_translator(translate);
  bind_angle_grid(m);
  bind_basis(m);
  bind_kernel(m);
  bind_moments(m);
  bind_ridge(m);
  bind_linear_algebra(m);
}
