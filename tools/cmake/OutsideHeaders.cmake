cmake_minimum_required(VERSION 3.25)
# Copies HEADERS, below SOURCES, to TO, as they are named in #include, and writes DIGEST, a header with a digest of their
# names and contents, of which TO gets a copy, too.
file(REMOVE_RECURSE ${TO})
set(all "")
foreach(header IN LISTS HEADERS)
  file(RELATIVE_PATH name ${SOURCES} ${header})
  string(REGEX REPLACE "^src/" "" name ${name})
  file(SHA256 ${header} digest)
  string(APPEND all "${name} ${digest}\n")
  get_filename_component(folder ${TO}/${name} DIRECTORY)
  file(COPY ${header} DESTINATION ${folder})
endforeach()
string(SHA256 digest "${all}")
file(CONFIGURE OUTPUT ${DIGEST} CONTENT [=[
#pragma once

namespace fabricmark::board {

/// Of the headers that a transport outside of the sources is compiled with.
inline constexpr const char* kHeadersDigest = "@digest@";

}  // namespace fabricmark::board
]=] @ONLY)
file(COPY ${DIGEST} DESTINATION ${TO}/board)
