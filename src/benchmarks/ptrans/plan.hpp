#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "benchmarks/ptrans/distribution.hpp"

namespace fabricmark::ptrans {

/// Place of a block in the matrix of blocks.
struct Block {
  std::size_t row = 0;
  std::size_t column = 0;
  auto operator<=>(const Block&) const = default;  ///< row by row
};

/// One block of C: block number `target` of B and C plus the transposed block number `source` of A, or of
/// the memory for what arrives. As the kernels read it.
struct Task {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
};

/// A block on its way, as one message: where it lies in A, or will lie in the memory for what arrives, and
/// the other rank.
struct Transit {
  int peer = 0;
  std::size_t place = 0;
  int tag = 0;
};

/// Blocks that are exchanged at once, and the tasks that they make possible.
struct Round {
  std::vector<Transit> sends;
  std::vector<Transit> receives;
  std::size_t first_task = 0;
  std::size_t tasks = 0;
  std::size_t slot = 0;         ///< of the memory for what arrives; free when the slot's last round is done
  std::size_t first_place = 0;  ///< in it; the blocks lie one behind the other
};

/// Blocks arrive in one slot while those of the other are transposed: so little memory that it stays in a
/// CPU's cache.
inline constexpr std::size_t kSlots = 2;

/// What one rank has, sends, receives and computes.
///
/// A rank keeps its blocks of A, B and C in one order, each contiguous: so a block is one message without
/// packing, and one burst of an FPGA's memory. First come those whose opposite has the same owner, which are
/// never sent, then the others; both row by row of the matrix of blocks. C(i, j) needs A(j, i), which is
/// somewhere else in this order or on another rank; tasks say where.
struct Plan {
  std::vector<Block> blocks;  ///< of this rank, in the order of its memory
  std::vector<Task> tasks;    ///< first those with blocks that stay, then round by round
  std::size_t staying = 0;    ///< tasks with a block of A that is here, and blocks that are not sent
  std::size_t arriving = 0;   ///< blocks that come from other ranks
  std::size_t places = 0;     ///< of blocks in the memory for what arrives
  std::vector<Round> rounds;
};

/// The blocks of A that an exchange leaves in the memory for what arrives, by their places.
std::vector<Block> left_by_exchange(const Plan& plan);

/// In each round, a rank sends at most `round_blocks` blocks to each other rank; 0: all. Both sides number
/// the blocks between them alike, so that no rank waits for a block of a round that its peer has not begun.
Plan make_plan(const Distribution& distribution, int rank, std::size_t round_blocks);

}  // namespace fabricmark::ptrans
