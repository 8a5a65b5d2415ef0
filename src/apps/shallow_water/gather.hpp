#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "apps/shallow_water/field.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::shallow_water {

/// Numbers of the elements of all ranks, by rank and place. Collective.
inline std::vector<std::vector<std::int32_t>> all_elements(runtime::Communicator& ranks,
                                                           const std::vector<std::int32_t>& own) {
  std::vector<std::vector<std::int32_t>> all;
  for (const std::vector<std::byte>& bytes : ranks.all_gather(std::as_bytes(std::span(own)))) {
    std::vector<std::int32_t>& elements = all.emplace_back(bytes.size() / sizeof(std::int32_t));
    if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
  }
  return all;
}

/// The field of the whole mesh, by number, from what the ranks have. Collective.
inline Field gathered(runtime::Communicator& ranks, const std::vector<std::vector<std::int32_t>>& elements,
                      const Field& own) {
  std::size_t count = 0;
  for (const std::vector<std::int32_t>& of_rank : elements) count += of_rank.size();
  Field whole(own.modes, count);
  const std::vector<std::vector<double>> all = ranks.all_gather_numbers(own.values);
  const auto numbers = own.numbers();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::vector<std::int32_t>& places = elements[rank];
    for (std::size_t number = 0; number < numbers; ++number) {
      for (std::size_t place = 0; place < places.size(); ++place) {
        whole.values[number * count + static_cast<std::size_t>(places[place])] =
            all[rank][number * places.size() + place];
      }
    }
  }
  return whole;
}

/// What a rank has of that field.
inline Field part_of(const Field& whole, const std::vector<std::int32_t>& elements) {
  Field own(whole.modes, elements.size());
  const auto numbers = whole.numbers();
  for (std::size_t number = 0; number < numbers; ++number) {
    for (std::size_t place = 0; place < elements.size(); ++place) {
      own.values[number * elements.size() + place] =
          whole.values[number * whole.elements + static_cast<std::size_t>(elements[place])];
    }
  }
  return own;
}

}  // namespace fabricmark::shallow_water
