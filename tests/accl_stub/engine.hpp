// In the place of ACCL's engine on an emulated card: it takes the same words of commands and data, and has a
// cable to one other card in the place of the network. Addresses are physical ones, as hosts give them. It
// knows sends, receives and broadcasts of elements of 4 bytes.
#ifndef FABRICMARK_STUB_ENGINE_HPP
#define FABRICMARK_STUB_ENGINE_HPP

#include <unistd.h>

#include <cstring>
#include <deque>

#include "common/accl.hpp"
#include "common/dataflow.hpp"

#include "card_memory.hpp"

#ifndef STATUS
#define STATUS 0
#endif
// Added to each address, for tests of what the card does then.
#ifndef ASTRAY
#define ASTRAY 0
#endif

namespace stand_in {

typedef fm::stream<fm::accl_request> requests;
typedef fm::stream<fm::accl_word> statuses;
typedef fm::stream<fm::accl_data> data;

const unsigned int in_word = fm::accl_bytes_of_data / 4;

struct call {
  unsigned int words[fm::accl_words_of_command];
  unsigned int count() const { return words[1]; }
  unsigned char* at(int place) const {
    const unsigned long long high = words[place + 1];
    return static_cast<unsigned char*>(
        fabricmark_card_memory->place((words[place] | high << 32) + ASTRAY, 4 * count()));
  }
  unsigned char* from() const { return at(9); }
  unsigned char* to() const { return at(words[0] == fm::accl_broadcast ? 9 : 13); }
  // As the stub of ACCL's driver tells it (accl.hpp).
  unsigned int rank() const { return words[2] >> 28; }
  unsigned int ranks() const { return words[2] >> 24 & 15; }
  bool receives() const {
    return words[0] == fm::accl_function_recv || (words[0] == fm::accl_broadcast && words[3] != rank());
  }
};

inline void rest_of(requests& calls, call& one) {
  for (int i = 1; i < fm::accl_words_of_command; ++i)
    one.words[i] = static_cast<unsigned int>(calls.read().data);
}

inline bool is_there(requests& calls, call& one) {
  fm::accl_request first;
  if (!calls.read_nb(first)) return false;
  one.words[0] = static_cast<unsigned int>(first.data);
  rest_of(calls, one);
  return true;
}

inline void end(statuses& ended) {
  fm::accl_word status = {};
  status.data = STATUS;
  ended.write(status);
}

inline void leave(const call& one, data& wire) {
  for (unsigned int first = 0; first < one.count(); first += in_word) {
    unsigned int values[in_word] = {};
    const unsigned int left = one.count() - first;
    std::memcpy(values, one.from() + 4 * first, 4 * (left < in_word ? left : in_word));
    wire.write(fm::accl_packed(values, 0));
  }
}

inline void pass_on(const call& one, data& made, data& wire) {
  for (unsigned int first = 0; first < one.count(); first += in_word) {
    fm::accl_data word = made.read();
    word.dest = one.words[5];
    wire.write(word);
  }
}

inline void land(const call& one, data& landed) {
  for (unsigned int first = 0; first < one.count(); first += in_word) {
    unsigned int values[in_word];
    fm::accl_unpack(landed.read(), values);
    const unsigned int left = one.count() - first;
    std::memcpy(one.to() + 4 * first, values, 4 * (left < in_word ? left : in_word));
  }
}

inline void rest() { usleep(200); }

}  // namespace stand_in

extern "C" {

const fabricmark_card::Memory* fabricmark_card_memory = nullptr;

/// From streams to streams.
void ccl_offload(stand_in::requests& calls, stand_in::statuses& ended, stand_in::data& made,
                 stand_in::data& wire) {
#pragma HLS interface mode = ap_ctrl_none port = return
  stand_in::call one;
  one.words[0] = static_cast<unsigned int>(calls.read().data);
  stand_in::rest_of(calls, one);
  stand_in::pass_on(one, made, wire);
  stand_in::end(ended);
}

/// From memory to memory.
void ccl_offload_of_memories(stand_in::requests& calls, stand_in::statuses& ended, stand_in::data& wire,
                             stand_in::data& landed) {
#pragma HLS interface mode = ap_ctrl_none port = return
  static std::deque<stand_in::call> waiting;
  stand_in::call one;
  if (stand_in::is_there(calls, one)) {
    if (one.receives()) {
      waiting.push_back(one);
    } else {
      if (one.ranks() > 1) stand_in::leave(one, wire);
      stand_in::end(ended);
    }
  } else if (!waiting.empty() && !landed.empty()) {
    stand_in::land(waiting.front(), landed);
    waiting.pop_front();
    stand_in::end(ended);
  } else {
    stand_in::rest();
  }
}

/// From a stream to memory, called by two ports.
void ccl_offload_of_halos(stand_in::requests& sends, stand_in::statuses& sent, stand_in::requests& receives,
                          stand_in::statuses& received, stand_in::data& made, stand_in::data& wire,
                          stand_in::data& landed) {
#pragma HLS interface mode = ap_ctrl_none port = return
  static std::deque<stand_in::call> waiting;
  stand_in::call one;
  if (stand_in::is_there(sends, one)) {
    stand_in::pass_on(one, made, wire);
    stand_in::end(sent);
  } else if (stand_in::is_there(receives, one)) {
    waiting.push_back(one);
  } else if (!waiting.empty() && !landed.empty()) {
    stand_in::land(waiting.front(), landed);
    waiting.pop_front();
    stand_in::end(received);
  } else {
    stand_in::rest();
  }
}

void arrive(stand_in::data& wire, stand_in::data& to_kernels) {
#pragma HLS interface mode = ap_ctrl_none port = return
  to_kernels.write(wire.read());
}

}  // extern "C"

#endif
