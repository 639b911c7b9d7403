# How the compiler is given options. MSVC has words of its own; clang-cl, Clang's driver for Windows, takes those of
# Clang behind /clang:. Both are MSVC to CMake.

set(GEGENBAUER_CLANG_PREFIX "")
if(MSVC)
  set(GEGENBAUER_CLANG_PREFIX "/clang:")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
  # It contracts when it is given /fp:contract, which no option takes back for one file; so it never does.
  set(GEGENBAUER_CONTRACT "")
  set(GEGENBAUER_NO_CONTRACT "")
else()
  set(GEGENBAUER_CONTRACT ${GEGENBAUER_CLANG_PREFIX}-ffp-contract=fast)
  set(GEGENBAUER_NO_CONTRACT ${GEGENBAUER_CLANG_PREFIX}-ffp-contract=off)
endif()
