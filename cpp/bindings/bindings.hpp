#pragma once
/// What the binding files share: views of NumPy arrays, and running the core without the GIL. No arithmetic.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
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

template <class Scalar>
StridedView<const Scalar> view(const Array<Scalar>& array, const char* name) {
  require(array.ndim() == 2, name, " must have two dimensions, got ", array.ndim());
  constexpr auto size = static_cast<Index>(sizeof(Scalar));
  return {array.data(), array.shape(0), array.shape(1), array.strides(0) / size, array.strides(1) / size};
}

template <class Scalar>
StridedView<Scalar> mutable_view(Array<Scalar>& array, const char* name) {
  require(array.ndim() == 2, name, " must have two dimensions, got ", array.ndim());
  constexpr auto size = static_cast<Index>(sizeof(Scalar));
  return {array.mutable_data(), array.shape(0), array.shape(1), array.strides(0) / size, array.strides(1) / size};
}

/// A column-major matrix that the caller owns and the core writes.
inline MatrixRef matrix(Array<double>& array, const char* name) {
  const auto v = mutable_view(array, name);
  require(v.row_stride == 1 || v.rows <= 1, name, " must be column-major (Fortran order)");
  return {Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(v.data, v.rows, v.cols, Eigen::OuterStride<>(v.col_stride))};
}

inline Array<double> to_numpy(const Matrix& m) {
  Array<double> out({m.rows(), m.cols()});  // C order
  auto v = out.mutable_unchecked<2>();
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j) v(i, j) = m(i, j);
  return out;
}

inline const double* optional_data(const std::optional<Array<double>>& array, Index size, const char* name) {
  if (!array) return nullptr;
  require(array->ndim() == 1 && array->shape(0) == size && (size <= 1 || array->strides(0) == sizeof(double)), name,
          " must be contiguous with ", size, " entries");
  return array->data();
}

inline Normalization normalization_from(const std::string& name) {
  if (name == "raw") return Normalization::raw;
  require(name == "orthonormal", "unknown normalization '", name, "'");
  return Normalization::orthonormal;
}

/// (kind, s or r or lam, weights q: one, or one an input)
using Component = std::tuple<std::string, double, std::vector<double>>;

inline Spectrum spectrum_from(Index n_inputs, const std::vector<Component>& components) {
  using Kind = SpectrumComponent::Kind;
  std::vector<SpectrumComponent> parts;
  for (const auto& [name, parameter, weights] : components) {
    require(name == "power" || name == "geometric" || name == "gegenbauer", "unknown kind of component '", name, "'");
    const Kind kind = name == "power" ? Kind::power : name == "geometric" ? Kind::geometric : Kind::gegenbauer;
    parts.push_back({kind, parameter, weights});
  }
  return {n_inputs, std::move(parts)};
}

/// What weighs the terms of a basis of that normalization: raw polynomials are weighed by their norms already.
inline std::optional<Spectrum> term_spectrum(Normalization normalization, const Spectrum& spectrum) {
  return normalization == Normalization::raw ? std::nullopt : std::optional(spectrum);
}

/// Runs work(control) with the GIL released. Python's signal handlers run now and then in between; when one raises (as
/// Ctrl-C does), the work is abandoned and that exception goes on.
template <class Work>
auto without_gil(int n_threads, const Work& work) {
  std::optional<py::error_already_set> pending;
  const Control control(n_threads, [&] {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    pending.emplace();
    return true;
  });
  try {
    const py::gil_scoped_release release;
    return work(control);
  } catch (const Interrupted&) {
    throw py::error_already_set(std::move(*pending));
  }
}

void bind_angle_grid(py::module_& m);
void bind_basis(py::module_& m);
void bind_kernel(py::module_& m);
void bind_moments(py::module_& m);
void bind_ridge(py::module_& m);
void bind_linear_algebra(py::module_& m);

}  // namespace gegenbauer::bindings
