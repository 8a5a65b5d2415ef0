// What ACCL's example kernel vadd_put does, in this project's dialect: adds 1 to each element, puts the sums
// into a stream of the next rank, and keeps what comes from the rank before (github.com/Xilinx/ACCL,
// kernels/plugins/vadd_put/vadd_put.cpp, commit 50b3b75 of 2022; nothing of its text is here). The command
// goes first, as streams here hold few words.
#include "common/dataflow.hpp"
#include "common/accl.hpp"

using accl_word = fm::words<float, 16>;

/// Of each device: what its kernel writes, and what others put there.
const int vadd_source = 0;
const int vadd_target = 9;

void vadd_put(const float* from, float* results, int count, int onward,
              fm::stream<fm::accl_command>& commands, fm::stream<fm::accl_status>& statuses,
              fm::stream<accl_word>& leaving, fm::stream<accl_word>& arriving, int* code) {
#pragma HLS interface mode = m_axi port = from bundle = from
#pragma HLS interface mode = m_axi port = results bundle = results
#pragma HLS interface mode = m_axi port = code bundle = results
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = statuses
#pragma HLS interface mode = axis port = leaving
#pragma HLS interface mode = axis port = arriving
  commands.write(fm::accl_stream_put(fm::accl_stream(vadd_source), static_cast<unsigned long long>(count),
                                     onward, vadd_target));
  for (int first = 0; first < count; first += 16) {
    accl_word word;
    for (int i = 0; i < 16; ++i) word.value[i] = first + i < count ? from[first + i] + 1 : 0;
    leaving.write(word);
  }
  for (int first = 0; first < count; first += 16) {
    const accl_word word = arriving.read();
    for (int i = 0; i < 16 && first + i < count; ++i) results[first + i] = word.value[i];
  }
  *code = statuses.read().code;
}
