// A program for mpirun: the communicator's calls over MPI. Prints what is wrong; with "large", sends 3 GiB;
// with "takes", prints of which GPUs the library says that it takes pointers.
#include <cmath>
#include <cstring>
#include <iostream>
#include <numeric>

#include "runtime/communicator.hpp"

namespace {

using namespace fabricmark;
using runtime::Communicator;
using runtime::Request;

int wrong = 0;

void expect(bool holds, const char* what, const Communicator& ranks) {
  if (holds) return;
  std::cerr << "rank " << ranks.rank() << ": " << what << '\n';
  ++wrong;
}

void check_reductions(Communicator& ranks) {
  const int last = ranks.size() - 1;
  for (int round = 0; round < 100; ++round) {
    const int turned = (ranks.rank() + round) % ranks.size();
    expect(ranks.all_reduce_max(turned) == last, "all_reduce_max", ranks);
    expect(ranks.all_reduce_min(turned - 10) == -10, "all_reduce_min", ranks);
  }
  expect(ranks.all_reduce_max(-5 - ranks.rank()) == -5, "all_reduce_max of negative numbers", ranks);
  expect(ranks.all_reduce_sum(ranks.rank() + 0.5) == 0.5 * ranks.size() * ranks.size(), "all_reduce_sum",
         ranks);
  expect(std::isnan(ranks.all_reduce_max_number(ranks.rank() == last ? NAN : 1)), "a maximum with NaN",
         ranks);
}

void check_gather(Communicator& ranks) {
  for (std::size_t unit : {0U, 1U, 5000U, 300000U}) {
    const auto length = [&](int rank) { return unit * static_cast<std::size_t>(rank + 1); };
    const std::vector<std::string> texts =
        ranks.all_gather_texts(std::string(length(ranks.rank()), static_cast<char>('a' + ranks.rank())));
    for (int rank = 0; rank < ranks.size(); ++rank) {
      expect(texts.at(static_cast<std::size_t>(rank)) ==
                 std::string(length(rank), static_cast<char>('a' + rank)),
             "all_gather_texts", ranks);
    }
  }
}

void check_ring(Communicator& ranks, int tag) {
  const int own = ranks.rank() + 100 * tag;
  const int from = (ranks.rank() + ranks.size() - 1) % ranks.size();
  const int to = (ranks.rank() + 1) % ranks.size();
  int received = -1;
  Request receive = ranks.start_receive(from, std::as_writable_bytes(std::span(&received, 1)), tag);
  Request send = ranks.start_send(to, std::as_bytes(std::span(&own, 1)), tag);
  ranks.wait(receive, from, runtime::Waiting::kSleep);
  ranks.wait(send, to, runtime::Waiting::kYield);
  expect(received == from + 100 * tag, "a ring of messages", ranks);
}

/// Looks in vain for a message that its sender sends only when it has heard so.
void check_awaited(Communicator& ranks) {
  struct : runtime::Pastime {
    void pass() override {}
    void stop() noexcept override {}
  } pastime;
  ranks.set_pastime(&pastime);
  const int from = (ranks.rank() + ranks.size() - 1) % ranks.size();
  const int to = (ranks.rank() + 1) % ranks.size();
  const int own = 5;
  int received = 0;
  Request given_up = ranks.start_receive(from, std::as_writable_bytes(std::span(&received, 1)), 9);
  ranks.cancel(given_up);
  Request receive = ranks.start_receive(from, std::as_writable_bytes(std::span(&received, 1)), 9);
  expect(!ranks.test(receive) && !ranks.test(receive), "a message before it was sent", ranks);
  const auto awaited = ranks.take_awaited();
  ranks.set_pastime(nullptr);
  expect(awaited.size() == 1 && ranks.take_awaited().empty(), "what is awaited, once", ranks);
  // Everyone says what it awaits; the one before it has sent it or not.
  const auto said = ranks.all_gather(std::as_bytes(std::span(awaited)));
  runtime::Awaited wanted;
  std::memcpy(&wanted, said.at(static_cast<std::size_t>(to)).data(), sizeof(wanted));
  expect(!ranks.has_answered(wanted), "a message that was not sent", ranks);
  Request send = ranks.start_send(to, std::as_bytes(std::span(&own, 1)), 9);
  expect(ranks.has_answered(wanted), "a message that was sent", ranks);
  expect(ranks.size() == 1 || !ranks.has_answered(awaited.front()), "a message of others", ranks);
  ranks.wait(receive, from);
  ranks.wait(send, to);
  expect(received == own, "the message itself", ranks);
}

void check_split(Communicator& ranks) {
  const auto part = ranks.split(ranks.rank() % 2, -ranks.rank());
  const int members = (ranks.size() + 1 - ranks.rank() % 2) / 2;
  expect(part->size() == members, "the size of a part", ranks);
  expect(part->rank() == members - 1 - ranks.rank() / 2, "the order of a part", ranks);
  check_awaited(*part);
  check_reductions(*part);
  check_gather(*part);
  // The same tag in both, begun in another order than ended.
  int in_all = -1;
  const int own = 7;
  Request kept = ranks.start_receive(ranks.rank(), std::as_writable_bytes(std::span(&in_all, 1)), 3);
  check_ring(*part, 3);
  Request sent = ranks.start_send(ranks.rank(), std::as_bytes(std::span(&own, 1)), 3);
  ranks.wait(kept, ranks.rank());
  ranks.wait(sent, ranks.rank());
  expect(in_all == 7, "messages of a part and of all", ranks);
  check_ring(*part->split(0, 0), 1);
}

void send_large(Communicator& ranks) {
  const std::size_t words = (std::size_t{3} << 30) / sizeof(std::uint64_t) + 1;
  std::vector<std::uint64_t> memory(words);
  if (ranks.rank() == 0) {
    std::iota(memory.begin(), memory.end(), 1);
    Request request = ranks.start_send(1, std::as_bytes(std::span(memory)), 0);
    ranks.wait(request, 1, runtime::Waiting::kYield);
  } else if (ranks.rank() == 1) {
    Request request = ranks.start_receive(0, std::as_writable_bytes(std::span(memory)), 0);
    ranks.wait(request, 0, runtime::Waiting::kYield);
    for (std::size_t i = 0; i < words; ++i) {
      if (memory[i] == i + 1) continue;
      expect(false, "a message of 3 GiB", ranks);
      break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto ranks = runtime::mpi_ranks(&argc, &argv);
  ranks->start();
  if (argc > 1 && std::strcmp(argv[1], "large") == 0) {
    send_large(*ranks);
  } else if (argc > 1 && std::strcmp(argv[1], "takes") == 0) {
    std::cout << ranks->takes(runtime::DevicePointers::kCuda) << ranks->takes(runtime::DevicePointers::kRocm)
              << ranks->takes(runtime::DevicePointers::kLevelZero) << '\n';
  } else {
    check_reductions(*ranks);
    check_gather(*ranks);
    check_ring(*ranks, 0);
    check_split(*ranks);
  }
  const runtime::Ending ending = ranks->end(std::nullopt);
  expect(ending.is_orderly && ending.message.empty(), "the end", *ranks);
  return wrong == 0 ? 0 : 1;
}
