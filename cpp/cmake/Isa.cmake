# The ISA variants: the same sources compiled for several levels of instruction sets. On x86-64 they are the levels of
# the psABI; elsewhere there is only "baseline", compiled without flags of ours.
#
# Never -march=native: a wheel must run on other machines than the one that built it.

include(CheckCXXSourceCompiles)
include(CheckCXXSourceRuns)

set(GEGENBAUER_ISA "all" CACHE STRING "ISA variants to build: all, or a list of baseline, avx2, avx512")

# The compiler knows the target; CMAKE_SYSTEM_PROCESSOR only the host.
check_cxx_source_compiles("int main() { return __x86_64__; }" GEGENBAUER_IS_X86_64)

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
  if(GEGENBAUER_IS_X86_64)
    if(isa STREQUAL "baseline")
      set(flags -march=x86-64-v2)
    elseif(isa STREQUAL "avx2")
      set(flags -march=x86-64-v3)
    elseif(isa STREQUAL "avx512")
      # Without the width, compilers vectorise for 256 bits only.
      set(flags -march=x86-64-v4 -mprefer-vector-width=512)
    endif()
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
    # One late feature stands for the level.
    set(feature_of_avx2 bmi2)
    set(feature_of_avx512 avx512vl)
    check_cxx_source_runs(
      "int main() { return !__builtin_cpu_supports(\"${feature_of_${isa}}\"); }"
      GEGENBAUER_HOST_RUNS_${isa}
    )
    set(${result} ${GEGENBAUER_HOST_RUNS_${isa}} PARENT_SCOPE)
  endif()
endfunction()
