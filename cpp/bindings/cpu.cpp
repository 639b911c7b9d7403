// The module _cpu: which ISA variant of the core this processor can run. Compiled without instruction-set flags and
// without any header of the core, so that importing it is safe everywhere.

#include <pybind11/pybind11.h>

#include "cpu_features.hpp"

namespace py = pybind11;

namespace {

const char* best_isa() {
#ifdef GEGENBAUER_X86_64
  const int level = gegenbauer::cpu::level();
  if (level < 2) {
    throw py::import_error("gegenbauer needs an x86-64-v2 processor (SSE4.2 and POPCNT, about 2009 or newer)");
  }
  if (level >= 3) return level == 4 ? "avx512" : "avx2";
#endif
  return "baseline";
}

}  // namespace

PYBIND11_MODULE(_cpu, m, py::mod_gil_not_used()) {
  m.doc() = "What the processor can run; compiled for every processor.";
  m.def("best_isa", &best_isa, "Name of the widest ISA variant that this processor and operating system can run.");
}
