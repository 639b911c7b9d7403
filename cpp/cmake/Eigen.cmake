# Target gegenbauer_eigen: the headers of Eigen, copied ("staged") from a package of the Python index into the
# git-ignored cpp/third_party/eigen. They are copied because pip deletes its build environment, and the source
# distribution carries the copy. The pins stand in pyproject.toml.
#
# GEGENBAUER_EIGEN_DIR uses the headers of a folder instead, GEGENBAUER_SYSTEM_EIGEN those that find_package(Eigen3)
# finds, as distributions want it. Neither is used unless it is set: what happens to lie on a machine changes no build.

set(GEGENBAUER_EIGEN_DIR "" CACHE PATH "Folder that holds Eigen/Core; empty: the staged headers")
option(GEGENBAUER_SYSTEM_EIGEN "Use the Eigen that CMake finds, 3.4 or newer" OFF)

if(GEGENBAUER_EIGEN_DIR)
  set(eigen_dir ${GEGENBAUER_EIGEN_DIR})
elseif(GEGENBAUER_SYSTEM_EIGEN)
  find_package(Eigen3 CONFIG REQUIRED)
  if(Eigen3_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "Eigen 3.4 or newer is needed, found ${Eigen3_VERSION} in ${Eigen3_DIR}")
  endif()
  get_target_property(eigen_dir Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
  message(STATUS "Eigen: ${Eigen3_VERSION} in ${eigen_dir}")
else()
  set(eigen_dir ${PROJECT_SOURCE_DIR}/cpp/third_party/eigen)
  set(stage_script ${CMAKE_CURRENT_LIST_DIR}/stage_eigen.py)
  set_property(
    DIRECTORY ${PROJECT_SOURCE_DIR}
    APPEND
    PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/pyproject.toml ${stage_script}
  )
  execute_process(
    COMMAND ${Python_EXECUTABLE} ${stage_script} ${PROJECT_SOURCE_DIR}/pyproject.toml ${eigen_dir}
    OUTPUT_VARIABLE stage_output
    ERROR_VARIABLE stage_error
    OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE stage_result
  )
  if(NOT stage_result EQUAL 0)
    message(FATAL_ERROR "Eigen could not be staged:\n${stage_error}")
  endif()
  message(STATUS "Eigen: ${stage_output}")
endif()

if(NOT EXISTS ${eigen_dir}/Eigen/Core)
  message(FATAL_ERROR "${eigen_dir} holds no Eigen/Core")
endif()

add_library(gegenbauer_eigen INTERFACE)
target_include_directories(gegenbauer_eigen SYSTEM INTERFACE ${eigen_dir})
# Eigen's products and solves are in no hot path, and its kernels for AVX-512 alone would be a tenth of a module. The
# bindings and the cores of all ISA variants free each other's matrices, so that all allocate them in the same way.
target_compile_definitions(
  gegenbauer_eigen
  INTERFACE
    EIGEN_MPL2_ONLY
    EIGEN_USE_AVX512_GEMM_KERNELS=0
    EIGEN_USE_AVX512_TRSM_KERNELS=0
    EIGEN_MALLOC_ALREADY_ALIGNED=0
)
