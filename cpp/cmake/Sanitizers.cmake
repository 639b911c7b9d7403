# Target gegenbauer_sanitizers: instrumentation of the whole build, by name.
#
# GEGENBAUER_SANITIZE=address,undefined or thread; GEGENBAUER_COVERAGE=ON for gcov's counters.

set(GEGENBAUER_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
option(GEGENBAUER_COVERAGE "Count executed lines" OFF)

add_library(gegenbauer_sanitizers INTERFACE)
if(GEGENBAUER_SANITIZE)
  set(sanitize -fsanitize=${GEGENBAUER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(gegenbauer_sanitizers INTERFACE ${sanitize})
  target_link_options(gegenbauer_sanitizers INTERFACE ${sanitize})
endif()
if(GEGENBAUER_COVERAGE)
  target_compile_options(gegenbauer_sanitizers INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(gegenbauer_sanitizers INTERFACE --coverage)
endif()
