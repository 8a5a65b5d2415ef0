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

/// As there, the host tells the addresses of communicator and datapath (`calling`). `status`: of the call.
void vadd_put(const float* from, float* results, int count, int onward, fm::accl_use calling,
              fm::stream<fm::accl_request>& commands, fm::stream<fm::accl_word>& statuses,
              fm::stream<fm::accl_data>& leaving, fm::stream<fm::accl_data>& arriving, unsigned int* status) {
#pragma HLS interface mode = m_axi port = from bundle = from
#pragma HLS interface mode = m_axi port = results bundle = results
#pragma HLS interface mode = m_axi port = status bundle = results
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = statuses
#pragma HLS interface mode = axis port = leaving
#pragma HLS interface mode = axis port = arriving
  fm::accl_issue(commands, fm::accl_stream_put(calling, fm::accl_stream(vadd_source),
                                               static_cast<unsigned int>(count), onward, vadd_target));
  for (int first = 0; first < count; first += 16) {
    accl_word word;
    for (int i = 0; i < 16; ++i) word.value[i] = first + i < count ? from[first + i] + 1 : 0;
    leaving.write(fm::accl_packed(word.value, 0));
  }
  for (int first = 0; first < count; first += 16) {
    accl_word word;
    fm::accl_unpack(arriving.read(), word.value);
    for (int i = 0; i < 16 && first + i < count; ++i) results[first + i] = word.value[i];
  }
  *status = fm::accl_wait(statuses);
}
