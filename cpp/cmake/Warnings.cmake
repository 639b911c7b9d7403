# Target gegenbauer_warnings. Eigen, pybind11 and Python are SYSTEM includes, so only our own code is judged.

add_library(gegenbauer_warnings INTERFACE)
if(MSVC) # clang-cl takes -Wall for all there are
  target_compile_options(gegenbauer_warnings INTERFACE /W4 $<$<BOOL:${GEGENBAUER_WARNINGS_AS_ERRORS}>:/WX>)
  return()
endif()

target_compile_options(
  gegenbauer_warnings
  INTERFACE
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wconversion
    -Wdouble-promotion
    -Wcast-align
    -Wcast-qual
    -Wold-style-cast
    -Wnon-virtual-dtor
    -Woverloaded-virtual
    -Wextra-semi
    -Wundef
    "$<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond;-Wduplicated-branches;-Wlogical-op>"
    # False alarms of GCC about its own AVX-512 intrinsics, and about SIMD types as template arguments.
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-ignored-attributes>"
    $<$<BOOL:${GEGENBAUER_WARNINGS_AS_ERRORS}>:-Werror>
)
