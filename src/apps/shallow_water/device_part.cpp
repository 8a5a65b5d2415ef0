#include "apps/shallow_water/device_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::shallow_water {

namespace {

constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

/// Whether a message to or from one rank comes before that of another.
auto order_of(int devices, int rank) {
  return [=](int one, int other) {
    return (one - rank + devices) % devices < (other - rank + devices) % devices;
  };
}

void put_in_order(std::vector<DevicePart::Neighbour>& neighbours, int devices, int rank) {
  std::ranges::sort(neighbours, order_of(devices, rank), &DevicePart::Neighbour::rank);
}

/// Ranks that a device exchanges with in a ring of `devices`: as many on each side, and for an odd number the
/// one opposite. Ascending.
std::vector<int> ring_neighbours(int devices, int neighbours, int rank) {
  std::vector<int> found;
  for (int step = 1; step <= neighbours / 2; ++step) {
    found.push_back((rank + step) % devices);
    found.push_back((rank + devices - step) % devices);
  }
  if (neighbours % 2 == 1) {
    const int half = devices / 2;
    if (rank < half) found.push_back(rank + half);
    if (rank >= half && rank < 2 * half) found.push_back(rank - half);
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

/// Part `number` of `all` in so many parts that differ by one at most.
std::size_t even_part(std::size_t all, std::size_t parts, std::size_t number) {
  return all / parts + (number < all % parts ? 1 : 0);
}

/// What goes from one device to another of equal parts: the same, whoever asks.
std::size_t sent_between(const AlikeParts& alike, int devices, int from, int to) {
  const std::vector<int> neighbours = ring_neighbours(devices, alike.neighbours, from);
  const auto place = std::ranges::find(neighbours, to) - neighbours.begin();
  return even_part(alike.border, neighbours.size(), static_cast<std::size_t>(place));
}

}  // namespace

std::size_t DevicePart::leaving() const {
  std::size_t sum = 0;
  for (const Neighbour& neighbour : neighbours) sum += neighbour.sent;
  return sum;
}

std::size_t DevicePart::arriving() const {
  std::size_t sum = 0;
  for (const Neighbour& neighbour : neighbours) sum += neighbour.received;
  return sum;
}

DevicePart device_part(const LocalMesh& local, int devices, int rank) {
  DevicePart part;
  part.own = local.own();
  part.core = local.core;
  std::vector<std::size_t> slot_of(local.own(), kNoSlot);
  const auto code_of = [&](std::size_t place, std::size_t side) {
    return local.codes[side * local.padded + place];
  };
  for (std::size_t place = 0; place < local.own(); ++place) {
    bool is_at_edge = place >= local.core || place + 1 == local.own();
    for (std::size_t side = 0; side < LocalMesh::kSides; ++side) {
      is_at_edge = is_at_edge || code_of(place, side) < 0;
    }
    if (!is_at_edge) continue;
    slot_of[place] = part.projected.size();
    part.projected.push_back(static_cast<std::int32_t>(place));
    constexpr std::size_t kNx = 3;
    constexpr std::size_t kNy = 6;
    for (std::size_t side = 0; side < LocalMesh::kSides; ++side) {
      const std::int32_t code = code_of(place, side);
      if (code < 0) {
        part.outer_edges.push_back({slot_of[place], code, local.geometry[(kNx + side) * local.padded + place],
                                    local.geometry[(kNy + side) * local.padded + place]});
      }
      if (place < local.core) continue;
      const auto there = static_cast<std::size_t>(code >> 2);
      const bool is_elsewhere = code >= 0 && there >= local.padded;
      part.halo_places.push_back(is_elsewhere ? static_cast<std::int32_t>(there - local.padded) : -1);
    }
  }
  part.outer = part.outer_edges.size();
  std::vector<LocalMesh::Neighbour> neighbours = local.neighbours;
  std::ranges::sort(neighbours, order_of(devices, rank), &LocalMesh::Neighbour::rank);
  std::vector<std::int32_t> arrives_at(local.received);  // [place behind the own ones]
  std::int32_t arrived = 0;
  for (const LocalMesh::Neighbour& neighbour : neighbours) {
    part.neighbours.push_back({neighbour.rank, neighbour.send.size(), neighbour.receive.size()});
    for (const std::int32_t place : neighbour.send) {
      part.leaving_slots.push_back(slot_of[static_cast<std::size_t>(place)]);
    }
    for (const std::int32_t place : neighbour.receive) {
      arrives_at[static_cast<std::size_t>(place) - local.padded] = arrived++;
    }
  }
  for (std::int32_t& place : part.halo_places) {
    if (place >= 0) place = arrives_at[static_cast<std::size_t>(place)];
  }
  return part;
}

std::vector<DevicePart> device_parts(const mesh::Mesh& mesh, const std::vector<std::int32_t>& part_of,
                                     int parts) {
  std::vector<DevicePart> found(static_cast<std::size_t>(parts));
  const std::vector<mesh::PartCost> costs = mesh::part_costs(mesh, part_of, parts);
  for (std::size_t part = 0; part < found.size(); ++part) {
    found[part].core = costs[part].core();
    found[part].own = costs[part].elements;
    found[part].outer = costs[part].outer_edges;
  }
  // Which part sends which element to which other one.
  std::vector<std::array<std::int32_t, 3>> sends;
  for (const mesh::Edge& edge : mesh::edges_of(mesh)) {
    if (edge.right < 0) continue;
    const std::int32_t left = part_of[static_cast<std::size_t>(edge.left)];
    const std::int32_t right = part_of[static_cast<std::size_t>(edge.right)];
    if (left == right) continue;
    sends.push_back({left, right, edge.left});
    sends.push_back({right, left, edge.right});
  }
  std::ranges::sort(sends);
  const auto repeated = std::ranges::unique(sends);
  sends.erase(repeated.begin(), repeated.end());
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> sent;
  for (const auto& [from, to, element] : sends) ++sent[{from, to}];
  for (const auto& [way, count] : sent) {
    const auto& [from, to] = way;
    found[static_cast<std::size_t>(from)].neighbours.push_back({to, count, sent.at({to, from})});
  }
  for (int part = 0; part < parts; ++part) {
    put_in_order(found[static_cast<std::size_t>(part)].neighbours, parts, part);
  }
  return found;
}

std::optional<AlikeParts> alike_parts(const std::string& mesh, int devices) {
  constexpr std::string_view kPrefix = "parts:";
  if (!mesh.starts_with(kPrefix)) return std::nullopt;
  std::array<std::size_t, 4> numbers{};
  const char* next = mesh.data() + kPrefix.size();
  const char* const end = mesh.data() + mesh.size();
  bool is_read = true;
  for (std::size_t i = 0; i < numbers.size() && is_read; ++i) {
    const auto [behind, error] = std::from_chars(next, end, numbers[i]);
    const bool is_last = i + 1 == numbers.size();
    is_read = error == std::errc() && (is_last ? behind == end : behind != end && *behind == ',');
    next = behind + (is_read && !is_last ? 1 : 0);
  }
  if (!is_read || numbers[0] + numbers[1] == 0) {
    throw bad_use(
        fmt::format("--mesh '{}' is no partition", mesh),
        "write elements of core and border, outer edges and neighbours, as in parts:6618,148,176,2");
  }
  const AlikeParts alike{numbers[0], numbers[1], numbers[2], static_cast<int>(numbers[3])};
  if (alike.neighbours >= devices && alike.neighbours > 0) {
    throw bad_use(fmt::format("--mesh '{}' has {} neighbours of each partition, and there are {} others",
                              mesh, alike.neighbours, devices - 1),
                  "use more ranks");
  }
  if (alike.border < numbers[3] || (alike.neighbours == 0 && alike.border > 0)) {
    throw bad_use(fmt::format("--mesh '{}': {} border elements for {} neighbours", mesh, alike.border,
                              alike.neighbours),
                  "give each neighbour an element, and no neighbour none");
  }
  return alike;
}

DevicePart device_part(const AlikeParts& alike, int devices, int rank) {
  DevicePart part;
  part.core = alike.core;
  part.own = alike.core + alike.border;
  part.outer = alike.outer;
  for (const int other : ring_neighbours(devices, alike.neighbours, rank)) {
    part.neighbours.push_back(
        {other, sent_between(alike, devices, rank, other), sent_between(alike, devices, other, rank)});
  }
  put_in_order(part.neighbours, devices, rank);
  return part;
}

void require_fit(const runtime::Context& context, const DevicePart& part) {
  const std::size_t most = context.parameters().count("partition_elements");
  const std::vector<std::vector<double>> all =
      context.ranks().all_gather_numbers({static_cast<double>(part.own)});
  const auto largest = std::ranges::max_element(all);
  if (most == 0 || largest->front() <= static_cast<double>(most)) return;
  throw bad_use(
      fmt::format("the partition of device {} has {} elements, and the local memory of the design "
                  "over {} has room for {}",
                  largest - all.begin(), largest->front(), context.parameters().text("transport"), most),
      "use more ranks, or a smaller --mesh");
}

}  // namespace fabricmark::shallow_water
