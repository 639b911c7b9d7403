# A software bill of materials (CycloneDX) of what is compiled into the extension modules and is not ours, for
# .dist-info/sboms of the wheel (PEP 770). Metadata of wheels name only what is installed beside them.

file(STRINGS ${eigen_dir}/Eigen/src/Core/util/Macros.h eigen_lines REGEX "define EIGEN_[A-Z]+_VERSION [0-9]+")
if(EXISTS ${eigen_dir}/Eigen/Version) # from Eigen 5 on
  file(STRINGS ${eigen_dir}/Eigen/Version eigen_lines REGEX "define EIGEN_[A-Z]+_VERSION [0-9]+")
endif()
foreach(line IN LISTS eigen_lines)
  if(line MATCHES "EIGEN_([A-Z]+)_VERSION ([0-9]+)")
    set(eigen_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endif()
endforeach()
if(DEFINED eigen_PATCH)
  set(eigen_version ${eigen_MAJOR}.${eigen_MINOR}.${eigen_PATCH})
else() # before, world, major and minor were the version
  set(eigen_version ${eigen_WORLD}.${eigen_MAJOR}.${eigen_MINOR})
endif()

configure_file(${CMAKE_CURRENT_LIST_DIR}/sbom.cdx.json.in ${PROJECT_BINARY_DIR}/sboms/gegenbauer.cdx.json @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sboms/gegenbauer.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms)
