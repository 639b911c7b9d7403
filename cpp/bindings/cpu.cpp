// The module _cpu: which ISA variant of the core this processor can run. Compiled without instruction-set flags and
// without any header of the core, so that importing it is safe everywhere. One function needs no pybind11, of which
// each module holds a copy: it would be nine tenths of this one.

#include <Python.h>

#include <array>

#include "cpu_features.hpp"

namespace {

PyObject* best_isa(PyObject* /*module*/, PyObject* /*no arguments*/) {
#ifdef GEGENBAUER_X86_64
  const int level = gegenbauer::cpu::level();
  if (level < 2) {
    PyErr_SetString(PyExc_ImportError,
                    "gegenbauer needs an x86-64-v2 processor (SSE4.2 and POPCNT, about 2009 or newer)");
    return nullptr;
  }
  if (level >= 3) return PyUnicode_FromString(level == 4 ? "avx512" : "avx2");
#endif
  return PyUnicode_FromString("baseline");
}

// Each of these tables ends with an entry of zeros.
std::array functions{
    PyMethodDef{"best_isa", best_isa, METH_NOARGS,
                "best_isa()\n--\n\n"
                "Name of the widest ISA variant that this processor and operating system can run."},
    PyMethodDef{},
};

std::array slots{
#ifdef Py_mod_gil
    PyModuleDef_Slot{Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    PyModuleDef_Slot{},
};

PyModuleDef definition{
    PyModuleDef_HEAD_INIT,
    "_cpu",
    "What the processor can run; compiled for every processor.",
    0,
    functions.data(),
    slots.data(),
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the name that Python looks for
PyMODINIT_FUNC PyInit__cpu() { return PyModuleDef_Init(&definition); }
