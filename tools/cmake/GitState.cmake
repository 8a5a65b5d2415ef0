cmake_minimum_required(VERSION 3.25)
# Writes the state of the sources to OUTPUT, only when it has changed, so that an unchanged tree builds nothing anew.
execute_process(
  COMMAND git describe --always --dirty --exclude=*
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE state
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET
  RESULT_VARIABLE failed)
if(failed OR state STREQUAL "")
  set(state "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n\ninline constexpr const char* kGitState = \"@state@\";\n" @ONLY)
