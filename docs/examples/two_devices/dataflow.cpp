// Two devices and a link: A reads an array, scales it and sends it; B adds an array of its own and keeps the
// sums. Each function is a kernel, its streams AXI4-Stream ports for v++. Lengths are in words.
#include "common/dataflow.hpp"

using word = fm::words<float, 16>;  // 512 bits, as wide as a port of memory

extern "C" {  // v++ looks for kernels by their plain names

/// Device A: the array, in its order.
void load_array(const word* values, fm::stream<word>& loaded, int length) {
#pragma HLS interface mode = m_axi port = values bundle = values
#pragma HLS aggregate variable = values
  for (int i = 0; i < length; ++i) {
#pragma HLS pipeline II = 1
    loaded.write(values[i]);
  }
}

/// Device A: each value times `factor`, onto the link.
void scale_and_send(fm::stream<word>& loaded, fm::stream<word>& link, float factor, int length) {
  for (int i = 0; i < length; ++i) {
#pragma HLS pipeline II = 1
    word scaled = loaded.read();
    for (int k = 0; k < 16; ++k) {
#pragma HLS unroll
      scaled.value[k] *= factor;
    }
    link.write(scaled);
  }
}

/// Device B: what comes over the link plus its own array.
void receive_and_add(fm::stream<word>& link, const word* values, word* sums, int length) {
#pragma HLS interface mode = m_axi port = values bundle = values
#pragma HLS aggregate variable = values
#pragma HLS interface mode = m_axi port = sums bundle = sums
#pragma HLS aggregate variable = sums
  for (int i = 0; i < length; ++i) {
#pragma HLS pipeline II = 1
    word sum = link.read();
    for (int k = 0; k < 16; ++k) {
#pragma HLS unroll
      sum.value[k] += values[i].value[k];
    }
    sums[i] = sum;
  }
}

}  // extern "C"
