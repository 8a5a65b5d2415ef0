# Part of the install step: the command `fabricmark`, the Python packages it needs, and man pages from the help texts.
# Set before: sources, python (may be empty), with_packages.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
if(NOT python)
  unset(python)
  # The packages lie in the clone's own environment after `make setup`.
  find_program(python NAMES python3 PATHS "${sources}/.venv/bin" NO_DEFAULT_PATH)
  find_program(python NAMES python3 REQUIRED)
endif()
set(options "")
if(with_packages)
  list(APPEND options --packages)
endif()
execute_process(COMMAND "${python}" "${sources}/tools/install_command.py" "${prefix}" ${options}
  COMMAND_ERROR_IS_FATAL ANY)
