# Every file of programs/ is a program: its function <name>::make, and fm_<name>, a link to this one, which does what
# it is called. Nothing else lists them.
file(GLOB program_sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/microbench/omb CONFIGURE_DEPENDS microbench/omb/programs/*.cpp)
set(makers "")
set(entries "")
foreach(source IN LISTS program_sources)
  get_filename_component(called ${source} NAME_WE)
  string(APPEND makers "namespace program::${called} {\nProgram make();\n}\n")
  string(APPEND entries "    program::${called}::make,\n")
  add_custom_command(TARGET fm_omb POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink fm_omb fm_${called}
    WORKING_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/fm_${called} TYPE BIN)
endforeach()
file(CONFIGURE OUTPUT generated/microbench/omb/program_makers.hpp CONTENT [=[
#pragma once

#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb {

@makers@
inline constexpr Program (*kProgramMakers[])() = {
@entries@};

}  // namespace fabricmark::microbench::omb
]=] @ONLY)

# All but main.cpp, for the tests too.
file(GLOB omb_sources CONFIGURE_DEPENDS microbench/omb/*.cpp microbench/omb/programs/*.cpp)
list(FILTER omb_sources EXCLUDE REGEX "/main\\.cpp$")
add_library(fabricmark_omb STATIC ${omb_sources})
target_include_directories(fabricmark_omb PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
target_link_libraries(fabricmark_omb PUBLIC fabricmark_calls PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(fabricmark_omb REUSE_FROM fabricmark_device)
set_property(TARGET fm_omb PROPERTY SOURCES microbench/omb/main.cpp)
target_link_libraries(fm_omb PRIVATE fabricmark_omb)
describe_micro_benchmarks(fm_omb)
