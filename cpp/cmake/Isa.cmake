# The ISA variants: the same sources compiled for several levels of instruction sets. On x86-64 they are the levels of
# the psABI; elsewhere there is only "baseline", compiled without flags of ours.
#
# Never -march=native: a wheel must run on other machines than the one that built it.

include(CheckCXXSourceCompiles)
include(CheckCXXSourceRuns)

set(GEGENBAUER_ISA "all" CACHE STRING "ISA variants to build: all, or a list of baseline, avx2, avx512")

# The compiler knows the target; CMAKE_SYSTEM_PROCESSOR only the host.
check_cxx_source_compiles(
  "#if !defined(__x86_64__) && !defined(_M_X64)\n#error\n#endif\nint main() { return 0; }"
  GEGENBAUER_IS_X86_64
)

set(known baseline)
if(GEGENBAUER_IS_X86_64)
  list(APPEND known avx2 avx512)
endif()

if(GEGENBAUER_ISA STREQUAL "all")
  set(GEGENBAUER_ISA_VARIANTS ${known})
else()
  string(REPLACE "," ";" GEGENBAUER_ISA_VARIANTS "${GEGENBAUER_ISA}")
  foreach(isa IN LISTS GEGENBAUER_ISA_VARIANTS)
    if(NOT isa IN_LIST known)
      string(REPLACE ";" ", " known "${known}")
      message(FATAL_ERROR "GEGENBAUER_ISA must be all or a list of ${known}; got \"${GEGENBAUER_ISA}\"")
    endif()
  endforeach()
endif()
message(STATUS "ISA variants: ${GEGENBAUER_ISA_VARIANTS}")

# Compiler flags of one ISA variant.
function(gegenbauer_isa_flags isa result)
  set(flags "")
  if(NOT GEGENBAUER_IS_X86_64)
    # one variant, without flags
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
    # It has no word for v2 that all of its releases know, and compiles the baseline for SSE2.
    set(flags_of_avx2 /arch:AVX2)
    set(flags_of_avx512 /arch:AVX512)
    set(flags ${flags_of_${isa}})
  else()
    set(flags_of_baseline -march=x86-64-v2)
    set(flags_of_avx2 -march=x86-64-v3)
    # Without the width, compilers vectorise for 256 bits only.
    set(flags_of_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
    set(flags ${flags_of_${isa}})
    list(TRANSFORM flags PREPEND "${GEGENBAUER_CLANG_PREFIX}")
  endif()
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

# Whether this machine can run an ISA variant, needed only for the C++ tests; at run time the module _cpu answers.
function(gegenbauer_host_runs isa result)
  if(isa STREQUAL "baseline")
    set(${result} TRUE PARENT_SCOPE)
  elseif(CMAKE_CROSSCOMPILING)
    set(${result} FALSE PARENT_SCOPE)
  else()
    set(level_of_avx2 3)
    set(level_of_avx512 4)
    set(CMAKE_REQUIRED_INCLUDES ${PROJECT_SOURCE_DIR}/cpp/bindings)
    check_cxx_source_runs(
      "#include \"cpu_features.hpp\"\nint main() { return gegenbauer::cpu::level() < ${level_of_${isa}}; }"
      GEGENBAUER_HOST_RUNS_${isa}
    )
    set(${result} ${GEGENBAUER_HOST_RUNS_${isa}} PARENT_SCOPE)
  endif()
endfunction()
