# fm_<name> for each row of the table of programs: a link to fm_omb, which does what it is called.
file(STRINGS microbench/omb/programs.cpp rows REGEX "{\\.name = \"")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS microbench/omb/programs.cpp)
foreach(row IN LISTS rows)
  string(REGEX REPLACE ".*{\\.name = \"([a-z_]+)\".*" "\\1" called "${row}")
  add_custom_command(TARGET fm_omb POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink fm_omb fm_${called}
    WORKING_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/fm_${called} TYPE BIN)
endforeach()

# All but main.cpp, for the tests too.
file(GLOB omb_sources CONFIGURE_DEPENDS microbench/omb/*.cpp)
list(FILTER omb_sources EXCLUDE REGEX "/main\\.cpp$")
add_library(fabricmark_omb STATIC ${omb_sources})
target_link_libraries(fabricmark_omb PUBLIC fabricmark_calls PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(fabricmark_omb REUSE_FROM fabricmark_device)
set_property(TARGET fm_omb PROPERTY SOURCES microbench/omb/main.cpp)
target_link_libraries(fm_omb PRIVATE fabricmark_omb)
describe_micro_benchmarks(fm_omb)
