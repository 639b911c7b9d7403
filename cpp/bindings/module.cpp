#include <exception>
#include <limits>
#include <new>

#include <pybind11/gil_safe_call_once.h>

#include "bindings.hpp"
#include "gegenbauer/peak.hpp"

namespace py = pybind11;

namespace {

// Raises an error of Python whose message has the same parts.
void raise(const py::handle& type, const gegenbauer::Message& message) {
  py::list ways;
  for (const gegenbauer::Way& way : message.ways) ways.append(py::make_tuple(way.action, way.things));
  py::set_error(type, py::module_::import("gegenbauer._messages").attr("of_core")(message.report, ways));
}

py::object too_large() { return py::module_::import("gegenbauer.errors").attr("TooLargeError"); }

// The class of Python for NotPositiveDefinite
PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<py::object> not_positive_definite;

// Most work is refused before it begins; what is too large here was not foreseen.
void translate(std::exception_ptr pending) {
  try {
    std::rethrow_exception(std::move(pending));
  } catch (const gegenbauer::TooLarge& error) {
    raise(too_large(), error.message);
  } catch (const gegenbauer::NotPositiveDefinite& error) {
    raise(not_positive_definite.get_stored(), error.message);
  } catch (const gegenbauer::InvalidArgument& error) {
    raise(PyExc_ValueError, error.message);
  } catch (const std::bad_alloc&) {
    raise(too_large(), {"the work needs more memory than can be had: fewer terms, rows or outputs need less"});
  }
}

}  // namespace

namespace gegenbauer::bindings {

Index checked_product(std::initializer_list<Index> sizes, const char* what) {
  Index bytes = sizeof(double);
  bool fits = true;
  for (const Index size : sizes) {
    require(size >= 0, what, ": a size must not be negative, got ", size);
    if (size == 0) return 0;
    fits = fits && size <= std::numeric_limits<Index>::max() / bytes;
    if (fits) bytes *= size;
  }
  if (!fits) throw TooLarge(Message{std::string(what) + " would be larger than any memory: request less"});
  return bytes / Index{sizeof(double)};
}

Index room_for(std::initializer_list<Index> sizes, const char* what) {
  constexpr Index worth_a_look = 10'000'000;
  const Index size = checked_product(sizes, what);
  if (size >= worth_a_look)
    py::module_::import("gegenbauer._memory")
        .attr("require_memory")(static_cast<double>(sizeof(double)) * static_cast<double>(size), what, "request less");
  return size;
}

}  // namespace gegenbauer::bindings

namespace {

void bind_all(py::module_& m) {
  using namespace gegenbauer::bindings;
  const std::string isa = gegenbauer::isa_name();
  m.doc() = "Compiled core of gegenbauer, " + isa + " variant. Private: use the functions of the package.";
  m.attr("isa") = isa;
  not_positive_definite.call_once_and_store_result([&]() -> py::object {
    return py::exception<gegenbauer::NotPositiveDefinite>(m, "NotPositiveDefinite",
                                                          py::module_::import("numpy.linalg").attr("LinAlgError"));
  });
  py::register_local_exception_translator(translate);
  bind_angle_grid(m);
  bind_basis(m);
  bind_kernel(m);
  bind_moments(m);
  bind_ridge(m);
  bind_linear_algebra(m);
}

}  // namespace

// The bindings are compiled once and linked into a module for each ISA variant, so they answer to the name of each.
PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) { bind_all(m); }
PYBIND11_MODULE(_core_avx2, m, py::mod_gil_not_used()) { bind_all(m); }
PYBIND11_MODULE(_core_avx512, m, py::mod_gil_not_used()) { bind_all(m); }
