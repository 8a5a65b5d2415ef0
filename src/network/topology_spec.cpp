// Topologies made by a rule, and from a text that names the rule.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/number_from.hpp"
#include "network/topology.hpp"

namespace fabricmark::network {

namespace {

constexpr const char* kForms =
    "use pair, ring:N, torus:RxC, full-mesh:N, switch:N, leaf-spine:LxSxN, fat-tree:K, dragonfly:GxAxP or "
    "file:PATH, with *M for M parallel cables";
constexpr int kMostSize = Topology::kMostDevices;
constexpr const char* kFile = "file:";

void check_sizes(const std::string& name, std::initializer_list<int> sizes, int lanes) {
  std::int64_t product = 1;
  for (const int size : sizes) {
    product *= std::clamp(size, 0, kMostSize + 1);
    if (size < 1 || product > kMostSize) {
      throw bad_use(fmt::format("{} is no topology", name),
                    fmt::format("use sizes that make 1 to {} devices", kMostSize));
    }
  }
  constexpr int kMostLanes = 64;
  if (lanes < 1 || lanes > kMostLanes) {
    throw bad_use(fmt::format("{}: {} parallel cables", name, lanes), fmt::format("use 1 to {}", kMostLanes));
  }
}

std::string named(const std::string& name, int lanes) {
  return lanes == 1 ? name : fmt::format("{}*{}", name, lanes);
}

void connect(std::vector<Cable>& cables, Port a, Port b, int lanes) {
  for (int lane = 0; lane < lanes; ++lane) {
    cables.push_back({{a.node, a.port * lanes + lane}, {b.node, b.port * lanes + lane}});
  }
}

/// Of so many nodes of each kind, in this order.
std::vector<std::string> names(std::initializer_list<std::pair<const char*, int>> kinds) {
  std::vector<std::string> found;
  for (const auto& [kind, count] : kinds) {
    for (int i = 0; i < count; ++i) found.push_back(fmt::format("{} {}", kind, i));
  }
  return found;
}

/// A text taken apart: kind, sizes, lanes.
struct Spec {
  std::string kind;
  std::vector<int> sizes;
  int lanes = 1;
};

[[noreturn]] void refuse(const std::string& text) {
  throw bad_use(fmt::format("'{}' is no topology", text), kForms);
}

int number(std::string_view digits, const std::string& text) {
  const int found = number_from<int>(digits).value_or(-1);
  if (found < 0) refuse(text);
  return found;
}

Spec taken_apart(const std::string& text) {
  Spec found;
  std::string_view rest = text;
  if (const auto star = rest.find('*'); star != std::string_view::npos) {
    found.lanes = number(rest.substr(star + 1), text);
    rest = rest.substr(0, star);
  }
  const auto colon = rest.find(':');
  found.kind = rest.substr(0, colon);
  if (colon == std::string_view::npos) return found;
  rest = rest.substr(colon + 1);
  for (;;) {
    const auto end = rest.find('x');
    found.sizes.push_back(number(rest.substr(0, end), text));
    if (end == std::string_view::npos) return found;
    rest = rest.substr(end + 1);
  }
}

/// Sizes that a text leaves to the number of devices.
std::vector<int> sizes_for(const std::string& kind, int devices, const std::string& text) {
  if (kind == "pair") return {};
  if (devices < 1) throw bad_use(fmt::format("sizes are missing in '{}'", text), kForms);
  if (kind == "torus") {
    int rows = std::max(1, static_cast<int>(std::sqrt(static_cast<double>(devices))));
    while (devices % rows != 0) --rows;
    return {rows, devices / rows};
  }
  if (kind == "leaf-spine") throw bad_use(fmt::format("leaves and spines are missing in '{}'", text), kForms);
  if (kind == "fat-tree" || kind == "dragonfly")
    throw bad_use(fmt::format("switches are missing in '{}'", text), kForms);
  return {devices};
}

Topology made_from(Spec spec, int devices, const std::string& text) {
  if (spec.sizes.empty()) spec.sizes = sizes_for(spec.kind, devices, text);
  const auto& sizes = spec.sizes;
  if (spec.kind == "pair" && sizes.empty()) return pair(spec.lanes);
  if (spec.kind == "ring" && sizes.size() == 1) return ring(sizes[0], spec.lanes);
  if (spec.kind == "torus" && sizes.size() == 2) return torus(sizes[0], sizes[1], spec.lanes);
  if (spec.kind == "full-mesh" && sizes.size() == 1) return full_mesh(sizes[0], spec.lanes);
  if (spec.kind == "switch" && sizes.size() == 1) return leaf_spine(1, 0, sizes[0], spec.lanes);
  if (spec.kind == "leaf-spine" && sizes.size() == 3)
    return leaf_spine(sizes[0], sizes[1], sizes[2], spec.lanes);
  if (spec.kind == "fat-tree" && sizes.size() == 1) return fat_tree(sizes[0], spec.lanes);
  if (spec.kind == "dragonfly" && sizes.size() == 3)
    return dragonfly(sizes[0], sizes[1], sizes[2], spec.lanes);
  refuse(text);
}

}  // namespace

Topology pair(int lanes) {
  check_sizes("pair", {}, lanes);
  std::vector<Cable> cables;
  connect(cables, {0, 0}, {1, 0}, lanes);
  return {named("pair", lanes), 2, 0, std::move(cables)};
}

Topology ring(int devices, int lanes) {
  const std::string name = fmt::format("ring:{}", devices);
  check_sizes(name, {devices}, lanes);
  std::vector<Cable> cables;
  for (int device = 0; device < devices; ++device)
    connect(cables, {device, 0}, {(device + 1) % devices, 1}, lanes);
  return {named(name, lanes), devices, 0, std::move(cables)};
}

Topology torus(int rows, int columns, int lanes) {
  const std::string name = fmt::format("torus:{}x{}", rows, columns);
  check_sizes(name, {rows, columns}, lanes);
  std::vector<Cable> cables;
  const auto device = [&](int row, int column) { return row % rows * columns + column % columns; };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      connect(cables, {device(row, column), 0}, {device(row, column + 1), 1}, lanes);
      connect(cables, {device(row, column), 2}, {device(row + 1, column), 3}, lanes);
    }
  }
  return {named(name, lanes), rows * columns, 0, std::move(cables)};
}

Topology full_mesh(int devices, int lanes) {
  const std::string name = fmt::format("full-mesh:{}", devices);
  check_sizes(name, {devices}, lanes);
  const std::size_t cables_needed = static_cast<std::size_t>(devices) * (devices - 1) / 2 * lanes;
  if (devices < 2 || cables_needed > Topology::kMostCables) {
    throw bad_use(fmt::format("{} has {} cables", named(name, lanes), cables_needed),
                  fmt::format("use 2 devices or more, and at most {} cables", Topology::kMostCables));
  }
  std::vector<Cable> cables;
  for (int low = 0; low < devices; ++low) {
    for (int high = low + 1; high < devices; ++high) connect(cables, {low, high - 1}, {high, low}, lanes);
  }
  return {named(name, lanes), devices, 0, std::move(cables)};
}

Topology leaf_spine(int leaves, int spines, int devices_per_leaf, int lanes) {
  const std::string name = spines == 0 && leaves == 1
                               ? fmt::format("switch:{}", devices_per_leaf)
                               : fmt::format("leaf-spine:{}x{}x{}", leaves, spines, devices_per_leaf);
  check_sizes(name, {leaves, devices_per_leaf}, lanes);
  if (leaves > 1 || spines != 0) check_sizes(name, {spines}, lanes);
  const int devices = leaves * devices_per_leaf;
  std::vector<Cable> cables;
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int i = 0; i < devices_per_leaf; ++i) {
      connect(cables, {leaf * devices_per_leaf + i, 0}, {devices + leaf, i}, lanes);
    }
    for (int spine = 0; spine < spines; ++spine) {
      connect(cables, {devices + leaf, devices_per_leaf + spine}, {devices + leaves + spine, leaf}, lanes);
    }
    if (cables.size() > Topology::kMostCables) break;  // refused by the constructor
  }
  return {named(name, lanes), devices, leaves + spines, std::move(cables),
          leaves == 1 ? std::vector<std::string>{}
                      : names({{"device", devices}, {"leaf", leaves}, {"spine", spines}})};
}

Topology fat_tree(int ports, int lanes) {
  const std::string name = fmt::format("fat-tree:{}", ports);
  const int half = ports / 2;
  if (ports % 2 != 0) throw bad_use(fmt::format("{} is no topology", name), "use an even number of ports");
  check_sizes(name, {ports, half, half}, lanes);
  const int devices = ports * half * half;
  const int first_edge = devices;
  const int first_aggregation = first_edge + ports * half;
  const int first_core = first_aggregation + ports * half;
  std::vector<Cable> cables;
  for (int edge = 0; edge < ports * half; ++edge) {
    const int pod = edge / half;
    for (int i = 0; i < half; ++i) {
      connect(cables, {edge * half + i, 0}, {first_edge + edge, i}, lanes);
      connect(cables, {first_edge + edge, half + i}, {first_aggregation + pod * half + i, edge % half},
              lanes);
    }
  }
  for (int aggregation = 0; aggregation < ports * half; ++aggregation) {
    const int pod = aggregation / half;
    for (int i = 0; i < half; ++i) {
      const int core = first_core + aggregation % half * half + i;
      connect(cables, {first_aggregation + aggregation, half + i}, {core, pod}, lanes);
    }
  }
  return {named(name, lanes), devices, 2 * ports * half + half * half, std::move(cables),
          names({{"device", devices},
                 {"edge", ports * half},
                 {"aggregation", ports * half},
                 {"core", half * half}})};
}

Topology dragonfly(int groups, int routers, int devices_per_router, int lanes) {
  const std::string name = fmt::format("dragonfly:{}x{}x{}", groups, routers, devices_per_router);
  check_sizes(name, {groups, routers, devices_per_router}, lanes);
  const int all_routers = groups * routers;
  const int devices = all_routers * devices_per_router;
  std::vector<Cable> cables;
  for (int router = 0; router < all_routers; ++router) {
    for (int i = 0; i < devices_per_router; ++i)
      connect(cables, {router * devices_per_router + i, 0}, {devices + router, i}, lanes);
    for (int other = router + 1; other % routers != 0; ++other) {
      connect(cables, {devices + router, devices_per_router + other % routers - 1},
              {devices + other, devices_per_router + router % routers}, lanes);
    }
    if (cables.size() > Topology::kMostCables) break;  // refused by the constructor
  }
  // To the groups behind it a group has cables at its routers in turn, and to each one.
  const auto end = [&](int group, int other) -> Port {
    const int distance = (other - group + groups) % groups - 1;
    return {devices + group * routers + distance % routers,
            devices_per_router + routers - 1 + distance / routers};
  };
  for (int group = 0; group < groups; ++group) {
    for (int other = group + 1; other < groups; ++other)
      connect(cables, end(group, other), end(other, group), lanes);
  }
  return {named(name, lanes), devices, all_routers, std::move(cables),
          names({{"device", devices}, {"router", all_routers}})};
}

Topology make_topology(const std::string& text, int devices) {
  Topology made = text.starts_with(kFile) ? load_topology(text.substr(std::string_view(kFile).size()))
                                          : made_from(taken_apart(text), devices, text);
  if (devices != 0 && made.devices() != devices) {
    throw bad_use(fmt::format("'{}' has {} devices, not {}", text, made.devices(), devices),
                  "use sizes that make as many, or leave the sizes out");
  }
  return made;
}

}  // namespace fabricmark::network
