// How a dataflow kernel calls the communication engine of its device: it writes commands to one stream and
// reads a status for each from another. The same with Vitis (streams that v++ joins to the engine's arbiter)
// and on this machine; nothing of it was tried with Vitis or ACCL's own bitstreams.
//
//     void exchange(fm::stream<fm::accl_command>& commands, fm::stream<fm::accl_status>& statuses) {
//       commands.write(fm::accl_send(memory, count, right, tag));
//       statuses.read();                                            // before the memory is used again
//     }
//
// Memory is named by the number that its host got for it (register_memory), streams by theirs.
#ifndef FABRICMARK_ACCL_HPP
#define FABRICMARK_ACCL_HPP

namespace fm {

enum accl_kind {
  accl_kind_nop,
  accl_kind_send,
  accl_kind_recv,
  accl_kind_put,
  accl_kind_stream_put,
  accl_kind_copy,
  accl_kind_combine,
  accl_kind_collective
};

/// Numbers of collectives::Operation.
enum accl_operation {
  accl_broadcast,
  accl_scatter,
  accl_gather,
  accl_all_gather,
  accl_reduce,
  accl_all_reduce,
  accl_reduce_scatter,
  accl_all_to_all,
  accl_barrier
};

/// Of operands that a command does not have.
const int accl_none = -1;
const int accl_any_tag = -1;

/// One operand: `first` and the elements behind it in a memory, or a stream.
struct accl_operand {
  int memory;
  int stream;
  unsigned long long first;
};

struct accl_command {
  int kind;
  int communicator;
  int peer;  ///< or the root
  int tag;
  unsigned long long count;  ///< elements, of collective operations those of one rank
  int type;       ///< number of collectives::Type: 0 int32, 1 int64, 2 float16, 3 float32, 4 float64, 5 int8
  int reduction;  ///< 0 sum, 1 min, 2 max
  int operation;  ///< number of collectives::Operation
  int remote;     ///< memory or stream of the peer, for put and stream_put
  unsigned long long remote_first;
  int compress;  ///< float32 travels as float16
  accl_operand a;
  accl_operand b;
  accl_operand result;
};

struct accl_status {
  int code;  ///< 0: done; else number of accl::Code
  unsigned long long lost_bytes;
};

inline accl_operand accl_no_operand() {
  const accl_operand operand = {accl_none, accl_none, 0};
  return operand;
}

inline accl_operand accl_memory(int memory, unsigned long long first) {
  const accl_operand operand = {memory, accl_none, first};
  return operand;
}

inline accl_operand accl_stream(int stream) {
  const accl_operand operand = {accl_none, stream, 0};
  return operand;
}

/// What all commands are made of, of float32 unless the caller changes `type`; `peer`: or the root.
inline accl_command accl_made(accl_kind kind, int peer, unsigned long long count, accl_operand a,
                              accl_operand result) {
  accl_command command = {kind, 0, peer, accl_any_tag, count, 3, 0, 0, accl_none, 0, 0, a, {}, result};
  command.b = accl_no_operand();
  return command;
}

/// Nothing but its time.
inline accl_command accl_nop() {
  return accl_made(accl_kind_nop, 0, 0, accl_no_operand(), accl_no_operand());
}

inline accl_command accl_send(accl_operand from, unsigned long long count, int to, int tag) {
  accl_command command = accl_made(accl_kind_send, to, count, from, accl_no_operand());
  command.tag = tag;
  return command;
}

inline accl_command accl_recv(accl_operand result, unsigned long long count, int from, int tag) {
  accl_command command = accl_made(accl_kind_recv, from, count, accl_no_operand(), result);
  command.tag = tag;
  return command;
}

inline accl_command accl_stream_put(accl_operand from, unsigned long long count, int to, int stream) {
  accl_command command = accl_made(accl_kind_stream_put, to, count, from, accl_no_operand());
  command.remote = stream;
  return command;
}

inline accl_command accl_copy(accl_operand from, accl_operand result, unsigned long long count) {
  return accl_made(accl_kind_copy, 0, count, from, result);
}

/// Into memory `remote` of the peer from its element `first` on: RDMA only.
inline accl_command accl_put(accl_operand from, unsigned long long count, int to, int remote,
                             unsigned long long first) {
  accl_command command = accl_made(accl_kind_put, to, count, from, accl_no_operand());
  command.remote = remote;
  command.remote_first = first;
  return command;
}

inline accl_command accl_combine(int reduction, accl_operand a, accl_operand b, accl_operand result,
                                 unsigned long long count) {
  accl_command command = accl_made(accl_kind_combine, 0, count, a, result);
  command.reduction = reduction;
  command.b = b;
  return command;
}

/// One of accl_operation, of float32; set `type`, `reduction` (the sum) and `communicator` of the command for
/// others. `own` and `result` are what each rank has (collectives::Call), accl_no_operand() where it has
/// none.
inline accl_command accl_collective(int operation, int root, unsigned long long count, accl_operand own,
                                    accl_operand result) {
  accl_command command = accl_made(accl_kind_collective, root, count, own, result);
  command.operation = operation;
  return command;
}

}  // namespace fm

#endif
