#pragma once

#include <cstddef>
#include <span>

#include "codec/form.hpp"

namespace fabricmark::codec {

/// Codes all cells of a frame as blocks and returns how many bytes these take. `to` has room for
/// `most_bytes`. Throws Damage for a form that there is not, and for part of a cell or too little room.
std::size_t encode(const Form& form, std::span<const std::byte> cells, std::span<std::byte> to);

/// Decodes a frame of as many cells as `cells` has room for and returns how many bytes it took. Reads and
/// writes nothing outside, whatever the bytes are. Throws Damage where they are no such frame.
std::size_t decode(const Form& form, std::span<const std::byte> from, std::span<std::byte> cells);

}  // namespace fabricmark::codec
