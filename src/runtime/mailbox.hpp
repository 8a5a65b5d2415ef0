#pragma once

#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::runtime {

/// Messages to one rank of this process. A message is copied once, from the sender's memory to the
/// receiver's, by the receiver.
class Mailbox {
 public:
  /// By the sender: posts a message to the rank that this mailbox belongs to.
  Request send(int from, std::span<const std::byte> bytes, int tag);
  /// By the owner: says what it waits for.
  Request receive(int from, std::span<std::byte> bytes, int tag);
  /// By the owner for what it receives; by any rank for what it has sent. See Communicator::test. Messages of
  /// one sender and tag go to its receives in the order in which these began, whichever is tested first.
  bool test(Request& request);
  /// By the same. The memory behind the message is free when this returns.
  void cancel(Request& request);

 private:
  struct Message;
  Message* oldest_wanted(const Message& like) const;
  Message* take_posted(const Message& like);

  std::mutex mutex_;
  std::list<Message*> posted_;
  std::vector<Message*> wanted_;  // the owner's alone
};

}  // namespace fabricmark::runtime
