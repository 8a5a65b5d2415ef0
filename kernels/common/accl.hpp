// How a dataflow kernel calls the communication engine of its device, ACCL's CCLO: it writes commands to one
// stream and reads a status for each from another. The same with Vitis (streams that v++ joins to the
// engine's arbiter) and on this machine; nothing of it was tried with Vitis or ACCL's own bitstreams.
//
//     void exchange(fm::stream<fm::accl_request>& requests, fm::stream<fm::accl_word>& statuses,
//                   fm::accl_use calling, ...) {
//       fm::accl_issue(requests, fm::accl_send(calling, fm::accl_memory(address), count, right, tag));
//       fm::accl_wait(statuses);                                    // before the memory is used again
//     }
//
// Words, codes and flags are those of ACCL: accl_words.hpp has them all. The host tells physical addresses of
// memory, and `calling`.
#ifndef FABRICMARK_ACCL_HPP
#define FABRICMARK_ACCL_HPP

// Beside this one, wherever both are.
#include "accl_words.hpp"

namespace fm {

/// What of a call only its host knows: where the engine's memory describes the communicator and the type of
/// the elements (words 3 and 7), and whether float32 travels as float16 (word 8).
struct accl_use {
  unsigned int communicator;
  unsigned int datapath;
  unsigned int compression;
};

/// One operand: what begins at an address, or a stream.
struct accl_operand {
  unsigned long long address;  ///< 0: none; of a stream what the emulated engine knows it by
  int is_stream;
};

inline accl_operand accl_no_operand() {
  const accl_operand operand = {0, 0};
  return operand;
}

inline accl_operand accl_memory(unsigned long long address) {
  const accl_operand operand = {address, 0};
  return operand;
}

/// Number `stream` of those that are joined to the emulated engine. ACCL has one in each direction: what
/// leaves it goes to stream 0, or that of the tag.
inline accl_operand accl_stream(int stream) {
  const accl_operand operand = {static_cast<unsigned long long>(stream) + 1, 1};
  return operand;
}

/// What all commands are made of; `peer`: or the root.
inline accl_command accl_made(accl_use use, unsigned int function, unsigned int peer, unsigned int count,
                              accl_operand a, accl_operand result) {
  accl_command command = {};
  command.function = function;
  command.count = count;
  command.communicator = use.communicator;
  command.peer = peer;
  command.datapath = use.datapath;
  command.compression = use.compression;
  if (a.is_stream != 0) command.streams |= accl_stream_a;
  if (result.is_stream != 0) command.streams |= accl_stream_result;
  command.a = a.address;
  command.result = result.address;
  return command;
}

/// Nothing but its time.
inline accl_command accl_nop(accl_use use) {
  return accl_made(use, accl_function_nop, 0, 0, accl_no_operand(), accl_no_operand());
}

inline accl_command accl_send(accl_use use, accl_operand from, unsigned int count, int to, unsigned int tag) {
  accl_command command = accl_made(use, accl_function_send, to, count, from, accl_no_operand());
  command.tag = tag;
  return command;
}

/// The result's address is word 14, which ACCL's firmware and driver take it from; ACCLCommand::recv of
/// accl_hls.h has it in word 12 instead, and the emulated engine takes both.
inline accl_command accl_recv(accl_use use, accl_operand result, unsigned int count, int from,
                              unsigned int tag) {
  accl_command command = accl_made(use, accl_function_recv, from, count, accl_no_operand(), result);
  command.tag = tag;
  return command;
}

/// Into stream `stream` of the peer: a send whose result is a stream, with its number for a tag.
inline accl_command accl_stream_put(accl_use use, accl_operand from, unsigned int count, int to,
                                    unsigned int stream) {
  accl_command command = accl_made(use, accl_function_send, to, count, from, accl_no_operand());
  command.streams |= accl_stream_result;
  command.tag = stream;
  return command;
}

inline accl_command accl_copy(accl_use use, accl_operand from, accl_operand result, unsigned int count) {
  return accl_made(use, accl_function_copy, 0, count, from, result);
}

/// Into memory of the peer from its address `remote` on. The emulated engine alone has it, over RDMA.
inline accl_command accl_put(accl_use use, accl_operand from, unsigned int count, int to,
                             unsigned long long remote) {
  return accl_made(use, accl_function_put, to, count, from, accl_memory(remote));
}

/// `b` lies in memory.
inline accl_command accl_combine(accl_use use, unsigned int reduction, accl_operand a, accl_operand b,
                                 accl_operand result, unsigned int count) {
  accl_command command = accl_made(use, accl_function_combine, 0, count, a, result);
  command.reduction = reduction;
  command.b = b.address;
  return command;
}

/// A collective function (accl_broadcast and behind); set `reduction` of the command for another one than the
/// sum. `count`: elements of one rank. `own` and `result` are what each rank has (collectives::Call),
/// accl_no_operand() where it has none. A broadcast of ACCL has one memory, its first operand on all ranks:
/// there `own` is this, or the result where a rank has no own elements.
inline accl_command accl_collective(accl_use use, unsigned int function, int root, unsigned int count,
                                    accl_operand own, accl_operand result) {
  accl_command command = accl_made(use, function, root, count, own, result);
  if (function == accl_broadcast && own.address == 0 && result.is_stream == 0) command.a = result.address;
  return command;
}

}  // namespace fm

#endif
