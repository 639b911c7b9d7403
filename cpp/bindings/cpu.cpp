// The module _cpu: which ISA variant of the core this processor can run. Compiled without instruction-set flags and
// without any header of the core, so that importing it is safe everywhere.

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace {

#if defined(__x86_64__)

// The built-in checks the operating system too: it returns 0 when wide registers are not saved on a context switch.
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)

// Names that Clang before 18 does not take. Every processor with BMI2 has them.
#if !defined(__clang__) || __clang_major__ >= 18
#define HAS_REST_OF_V3 (HAS("f16c") && HAS("lzcnt") && HAS("movbe"))
#else
#define HAS_REST_OF_V3 true
#endif

const char* best_isa() {
  __builtin_cpu_init();
  const bool v2 = HAS("sse4.2") && HAS("popcnt");
  const bool v3 = v2 && HAS("avx2") && HAS("fma") && HAS("bmi") && HAS("bmi2") && HAS_REST_OF_V3;
  const bool v4 = v3 && HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl");
  if (!v2) {
    throw py::import_error("gegenbauer needs an x86-64-v2 processor (SSE4.2 and POPCNT, about 2009 or newer)");
  }
  return v4 ? "avx512" : v3 ? "avx2" : "baseline";
}

#else

const char* best_isa() { return "baseline"; }

#endif

}  // namespace

PYBIND11_MODULE(_cpu, m, py::mod_gil_not_used()) {
  m.doc() = "What the processor can run; compiled for every processor.";
  m.def("best_isa", &best_isa, "Name of the widest ISA variant that this processor and operating system can run.");
}
