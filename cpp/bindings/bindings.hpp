#pragma once
/// What the binding files share: views of NumPy arrays, and running the core without the GIL. No arithmetic.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gegenbauer/error.hpp"
#include "gegenbauer/parallel.hpp"
#include "gegenbauer/polynomial.hpp"
#include "gegenbauer/samples.hpp"
#include "gegenbauer/spectrum.hpp"
#include "gegenbauer/types.hpp"

namespace gegenbauer::bindings {

namespace py = pybind11;

/// Any layout; the Python layer has checked what the values are.
template <class Scalar>
using Array = py::array_t<Scalar, 0>;

/// A view of the entries at `data`, which belong to that array. NumPy's strides count bytes, need not be whole entries,
/// and mean nothing along an axis of one entry.
template <class Scalar>
StridedView<Scalar> view_at(Scalar* data, const py::array& array, const char* name) {
  require(array.ndim() == 2, name, " must have two dimensions, got ", array.ndim());
  constexpr auto size = static_cast<Index>(sizeof(Scalar));
  bool aligned = reinterpret_cast<std::uintptr_t>(data) % alignof(Scalar) == 0;
  Index steps[2] = {0, 0};
  for (int axis = 0; axis < 2; ++axis) {
    if (array.shape(axis) <= 1) continue;
    aligned = aligned && array.strides(axis) % size == 0;
    steps[axis] = array.strides(axis) / size;
  }
  require(aligned, name, " must be aligned, with strides of whole entries");
  return {data, array.shape(0), array.shape(1), steps[0], steps[1]};
}

template <class Scalar>
StridedView<const Scalar> view(const Array<Scalar>& array, const char* name) {
  return view_at(array.data(), array, name);
}

template <class Scalar>
StridedView<Scalar> mutable_view(Array<Scalar>& array, const char* name) {
  return view_at(array.mutable_data(), array, name);
}

/// Samples X for something of n_inputs inputs: at least one.
template <class Scalar>
Samples samples(const Array<Scalar>& array, const BoxMap* box, Index n_inputs, const char* name = "X") {
  const auto rows = view(array, name);
  require(rows.rows >= 1 && rows.cols == n_inputs, name, " must have at least one row and ", n_inputs,
          " columns, got shape (", rows.rows, ", ", rows.cols, ")");
  return Samples(rows, box);
}

/// Targets, or what else has one row a sample.
inline StridedView<const double> targets(const Array<double>& array, Index n_samples, const char* name = "Y") {
  const auto rows = view(array, name);
  require(rows.rows == n_samples, name, " must have ", n_samples, " rows, got ", rows.rows);
  return rows;
}

/// A column-major matrix that the caller owns and the core writes.
inline MatrixRef matrix(Array<double>& array, const char* name) {
  const auto v = mutable_view(array, name);
  const Index step = v.cols > 1 ? v.col_stride : std::max<Index>(1, v.rows);
  require((v.row_stride == 1 || v.rows <= 1) && step >= v.rows, name, " must be column-major (Fortran order)");
  return {Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(v.data, v.rows, v.cols, Eigen::OuterStride<>(step))};
}

/// The product of sizes, none negative, of an array of float64: refused when no memory could hold it.
Index checked_product(std::initializer_list<Index> sizes, const char* what);

/// The same, for an array that is about to be made: refused when it does not fit into the memory that is left.
Index room_for(std::initializer_list<Index> sizes, const char* what);

inline Array<double> to_numpy(const Matrix& m) {
  Array<double> out({m.rows(), m.cols()});  // C order
  auto v = out.mutable_unchecked<2>();
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j) v(i, j) = m(i, j);
  return out;
}

/// The entries of a vector of that size.
inline const double* entries(const Array<double>& array, Index size, const char* name) {
  require(array.ndim() == 1 && array.shape(0) == size, name, " must have ", size, " entries, got ",
          array.ndim() == 1 ? array.shape(0) : -1);
  require((size <= 1 || array.strides(0) == sizeof(double)) &&
              reinterpret_cast<std::uintptr_t>(array.data()) % alignof(double) == 0,
          name, " must be contiguous and aligned");
  return array.data();
}

inline double* mutable_entries(Array<double>& array, Index size, const char* name) {
  entries(array, size, name);
  return array.mutable_data();
}

inline const double* optional_entries(const std::optional<Array<double>>& array, Index size, const char* name) {
  return array ? entries(*array, size, name) : nullptr;
}

inline Normalization normalization_from(const std::string& name) {
  if (name == "raw") return Normalization::raw;
  require(name == "orthonormal", "unknown normalization '", name, "'");
  return Normalization::orthonormal;
}

/// (kind, s or r or lam, weights q: one, or one an input)
using Component = std::tuple<std::string, double, std::vector<double>>;

/// (shares of the levels, whether the input holds numbers)
using LevelsOfInput = std::pair<std::vector<double>, bool>;

inline Spectrum spectrum_from(Index n_inputs, const std::vector<Component>& components,
                              const std::vector<LevelsOfInput>& levels = {}) {
  using Kind = SpectrumComponent::Kind;
  std::vector<SpectrumComponent> parts;
  for (const auto& [name, parameter, weights] : components) {
    require(name == "power" || name == "geometric" || name == "gegenbauer", "unknown kind of component '", name, "'");
    const Kind kind = name == "power" ? Kind::power : name == "geometric" ? Kind::geometric : Kind::gegenbauer;
    parts.push_back({kind, parameter, weights});
  }
  std::vector<Levels> of_inputs;
  of_inputs.reserve(levels.size());
  for (const auto& [shares, numeric] : levels) of_inputs.push_back({shares, numeric});
  return {n_inputs, std::move(parts), std::move(of_inputs)};
}

/// The spectrum of a basis of that normalization; none for raw polynomials, whose norms are their weights already.
inline std::optional<Spectrum> term_spectrum(Normalization normalization, const Spectrum& spectrum) {
  require(normalization != Normalization::raw || !spectrum.has_levels(), "raw polynomials have no levels beside them");
  return normalization == Normalization::raw ? std::nullopt : std::optional(spectrum);
}

/// The GIL, let go by this thread from here to the end of the scope: the one place that does so.
///
/// A thread that wants it back while the interpreter ends never gets it. Python before 3.14 then ends the thread as
/// pthread_exit() does, which unwinds the stack, and a destructor that is on the way aborts the process. So the thread
/// stays where it is until the process ends, as it does since 3.14.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;
  ~ReleasedGil() { take(); }

  /// action() with the GIL; it must not throw
  template <class Action>
  auto during(const Action& action) {
    take();
    const auto result = action();
    state_ = PyEval_SaveThread();
    return result;
  }

 private:
  void take() noexcept {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // no exception of ours: the stack is being unwound
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }

  PyThreadState* state_;
};

/// Runs work(control) with the GIL released. Python's signal handlers run now and then in between; when one raises (as
/// Ctrl-C does), the work is abandoned and that exception goes on.
template <class Work>
auto without_gil(int n_threads, const Work& work) {
  constexpr int most_threads = 1024;  // each takes memory
  require(n_threads >= 1 && n_threads <= most_threads, "n_threads must lie between 1 and ", most_threads, ", got ",
          n_threads);
  std::optional<py::error_already_set> pending;
  try {
    ReleasedGil gil;
    const Control control(n_threads, [&] {
      return gil.during([&] {
        if (PyErr_CheckSignals() == 0) return false;
        pending.emplace();
        return true;
      });
    });
    return work(control);
  } catch (const Interrupted&) {
    throw py::error_already_set(std::move(*pending));
  }
}

/// A class of the core. Its objects do not change, so that a copy is the object itself. They are not pickled: classes
/// of the Python layer are, which make the plan again in whatever variant of the core they find.
template <class T, class... Bases>
py::class_<T, Bases...> bind_class(py::module_& m, const char* name, const char* doc) {
  py::class_<T, Bases...> cls(m, name, py::module_local(), doc);
  const auto refuse = [name] {
    throw py::type_error(std::string("cannot pickle a ") + name +
                         " of the compiled core: pickle what holds it, such as a TensorBasis, an InputScaling or a "
                         "kernel of the package");
  };
  // a tp_new of its own, by which Python refuses T.__new__(T), for an object of no content, as not safe
  static const newfunc make = reinterpret_cast<PyTypeObject*>(cls.ptr())->tp_new;
  reinterpret_cast<PyTypeObject*>(cls.ptr())->tp_new = [](PyTypeObject* type, PyObject* args, PyObject* names) {
    return make(type, args, names);
  };
  // without these, Python makes a fresh object of pybind11's base class, which ends the process
  cls.def("__reduce__", [refuse](const T&) { refuse(); });
  cls.def("__reduce_ex__", [refuse](const T&, int) { refuse(); }, py::arg("protocol"));
  cls.def("__copy__", [](const py::object& self) { return self; });
  cls.def("__deepcopy__", [](const py::object& self, const py::object&) { return self; }, py::arg("memo"));
  return cls;
}

void bind_angle_grid(py::module_& m);
void bind_basis(py::module_& m);
void bind_kernel(py::module_& m);
void bind_moments(py::module_& m);
void bind_ridge(py::module_& m);
void bind_linear_algebra(py::module_& m);

inline Precision precision_from(const std::string& name) {
  if (name == "float64") return Precision::float64;
  require(name == "float32", "unknown precision '", name, "'");
  return Precision::float32;
}

}  // namespace gegenbauer::bindings
