target_link_libraries(fm_tsunami PRIVATE fabricmark_mesh)
# Made of other cells than the program's other sources.
set_source_files_properties(
  ${CMAKE_CURRENT_SOURCE_DIR}/apps/tsunami/finite_volume_row.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/apps/tsunami/sphere_row.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/apps/tsunami/sphere_cascade.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
