#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/accl/engine.hpp"
#include "collectives/moves.hpp"

namespace fabricmark::accl {

/// The moves of one rank's part of a collective call, by its engine.
class CallMoves final : public collectives::Moves {
 public:
  /// `header` has communicator, context, signature and compression. `coming`: the operand where a stream
  /// brings it; null where all of it is there.
  CallMoves(Engine& engine, dataflow::Kernel& kernel, const std::vector<int>& devices, int rank,
            const Header& header, Type type, collectives::Reduction reduction, std::string what,
            std::shared_ptr<Arriving> coming)
      : engine_(engine),
        kernel_(kernel),
        devices_(devices),
        rank_(rank),
        header_(header),
        type_(type),
        reduction_(reduction),
        what_(std::move(what)),
        coming_(std::move(coming)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(devices_.size()); }
  Ticket start_send(int to, const View& elements) override;
  Ticket start_receive(int from, const View& elements) override;
  void wait(Ticket ticket) override { engine_.wait(kernel_, ticket, lost_bytes_); }
  void copy(const View& from, const View& to) override;
  void combine(const View& a, const View& b, const View& result) override;
  void receive_and_combine(int from, const View& own, const View& result) override;
  View scratch(std::size_t count) override;

  /// Waits until elements of the operand have come; others are there.
  void need(const View& elements);
  [[nodiscard]] std::uint64_t lost_bytes() const { return lost_bytes_; }

 private:
  [[nodiscard]] Expected expected(int from, const View& elements) const;

  Engine& engine_;
  dataflow::Kernel& kernel_;
  const std::vector<int>& devices_;
  int rank_;
  Header header_;
  Type type_;
  collectives::Reduction reduction_;
  std::string what_;
  std::shared_ptr<Arriving> coming_;
  std::uint64_t lost_bytes_ = 0;
  std::list<std::vector<std::byte>> scratch_;
};

}  // namespace fabricmark::accl
