// fabricmark-mesh: meshes for the command `fabricmark mesh`, which draws and converts them. Answers are JSON.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/version.hpp"
#include "mesh/arrays.hpp"
#include "mesh/fort14.hpp"
#include "mesh/order.hpp"
#include "mesh/partition.hpp"
#include "mesh/quality.hpp"
#include "mesh/refine.hpp"
#include "mesh/shapes.hpp"
#include "mesh/tides.hpp"

namespace {

using fabricmark::bad_use;
using namespace fabricmark::mesh;
using Json = nlohmann::ordered_json;

/// What stands on the command line.
struct Wanted {
  std::string mesh;
  std::string output;
  int times = 0;
  bool halve = false;
  std::int64_t elements = 0;
  int parts = 1;
  std::string amplitudes;
  bool in_order = false;
  std::string projection = "auto";
};

Json quality_json(const Mesh& mesh) {
  const Quality found = quality(mesh);
  return {{"elements", found.elements},
          {"nodes", found.nodes},
          {"interior_edges", found.edges[static_cast<std::size_t>(EdgeKind::kInterior)]},
          {"land_edges", found.edges[static_cast<std::size_t>(EdgeKind::kLand)]},
          {"sea_edges", found.edges[static_cast<std::size_t>(EdgeKind::kSea)]},
          {"river_edges", found.edges[static_cast<std::size_t>(EdgeKind::kRiver)]},
          {"pieces", found.pieces},
          {"area_m2", found.area_m2},
          {"smallest_area_m2", found.smallest_area_m2},
          {"largest_area_m2", found.largest_area_m2},
          {"shortest_edge_m", found.shortest_edge_m},
          {"longest_edge_m", found.longest_edge_m},
          {"smallest_angle_degrees", found.smallest_angle_degrees},
          {"mean_smallest_angle_degrees", found.mean_smallest_angle_degrees},
          {"worst_aspect", found.worst_aspect},
          {"worst_element", found.worst_element + 1},
          {"least_depth_m", found.least_depth_m},
          {"largest_depth_m", found.largest_depth_m},
          {"step_at_rest_s", found.step_at_rest_s}};
}

Json parts_json(const std::vector<PartCost>& costs) {
  Json list = Json::array();
  for (const PartCost& cost : costs) {
    list.push_back({{"elements", cost.elements},
                    {"e_core", cost.core()},
                    {"e_send_plus_e_recv", cost.border},
                    {"d_ext", cost.outer_edges},
                    {"neighbours", cost.neighbours}});
  }
  return list;
}

Mesh refined(const Mesh& mesh, const Wanted& wanted) {
  const auto elements = static_cast<std::int64_t>(mesh.element_count());
  if ((wanted.times > 0) + wanted.halve + (wanted.elements > 0) != 1)
    throw bad_use("refining needs one of --times, --bisect and --elements", "name one");
  if (wanted.times > 0) return subdivided(mesh, wanted.times);
  return bisected(mesh, wanted.halve ? 2 * elements : wanted.elements);
}

Json tides_json(const Wanted& wanted) {
  std::optional<std::filesystem::path> amplitudes;
  if (!wanted.amplitudes.empty()) amplitudes = wanted.amplitudes;
  Json list = Json::array();
  for (const Constituent& tide : read_tides(wanted.mesh, amplitudes).constituents) {
    list.push_back({{"name", tide.name},
                    {"amplitude_m", tide.amplitude_m},
                    {"phase_rad", tide.phase_rad},
                    {"frequency_rad_per_s", tide.frequency_rad_per_s}});
  }
  return {{"tides", list}};
}

Json answer(const CLI::App& command, const Wanted& wanted) {
  if (command.get_name() == "tides") return tides_json(wanted);
  Mesh mesh = named_mesh(wanted.mesh, projection_of(wanted.projection));
  const std::string& name = command.get_name();
  if (name == "refine") mesh = refined(mesh, wanted);
  if (wanted.in_order) mesh = ordered(mesh);
  Json found{{"title", mesh.title}, {"quality", quality_json(mesh)}};
  if (name == "partition") {
    const auto part_of = partition(mesh, wanted.parts);
    found["parts"] = parts_json(part_costs(mesh, part_of, wanted.parts));
    if (!wanted.output.empty())
      fabricmark::write_atomically(wanted.output, npy(std::span<const std::int32_t>(part_of)));
  } else if (name == "arrays") {
    write_arrays(mesh, wanted.output);
    for (const Station& station : default_stations(mesh)) found["stations"].push_back(station);
  } else if (!wanted.output.empty()) {
    fabricmark::write_atomically(wanted.output, fort14_text(mesh));
  }
  return found;
}

CLI::App& add_command(CLI::App& app, Wanted& wanted, const char* name, const char* meaning) {
  CLI::App& command = *app.add_subcommand(name, meaning);
  command.add_option("mesh", wanted.mesh, "a fort.14, or bay:N")->required();
  command.add_option(
      "--projection", wanted.projection,
      "of a file: cpp where coordinates are longitude and latitude in degrees, none where they "
      "are metres although they look like degrees");
  command.add_flag("--ordered", wanted.in_order, "elements along a curve, for caches");
  return command;
}

void add_commands(CLI::App& app, Wanted& wanted) {
  app.require_subcommand(1);
  add_command(app, wanted, "check", "read a mesh and tell its quality");
  add_command(app, wanted, "generate", "write a mesh")
      .add_option("output", wanted.output, "the fort.14 to be written")
      ->required();
  CLI::App& refine = add_command(app, wanted, "refine", "write a finer mesh");
  refine.add_option("output", wanted.output, "the fort.14 to be written")->required();
  refine.add_option("--times", wanted.times, "cut each edge into so many, each element into their square");
  refine.add_flag("--bisect", wanted.halve, "halve the elements: twice as many");
  refine.add_option("--elements", wanted.elements, "halve elements until there are so many");
  CLI::App& partition = add_command(app, wanted, "partition", "cut a mesh into parts");
  partition.add_option("--parts", wanted.parts, "how many")->required();
  partition.add_option("--output", wanted.output, "the .npy with the part of each element");
  CLI::App& tides = *app.add_subcommand("tides", "tell the tides of a fort.15");
  tides.add_option("file", wanted.mesh, "the fort.15")->required();
  tides.add_option("amplitudes", wanted.amplitudes, "a fort.17 that has them; default: the one beside it");
  add_command(app, wanted, "arrays", "write a mesh as arrays of NumPy")
      .add_option("output", wanted.output, "the folder to be written")
      ->required();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Meshes of triangles: read, made, refined and cut into parts; see docs/mesh.md",
                 "fabricmark-mesh");
    app.set_version_flag("--version", "fabricmark-mesh " + fabricmark::version());
    Wanted wanted;
    add_commands(app, wanted);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app.exit(error);
      throw bad_use(error.what(), "see --help");
    }
    const Json found = answer(*app.get_subcommands().front(), wanted);
    fabricmark::write_standard_output(found.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return 0;
  } catch (const fabricmark::Error& error) {
    std::cerr << "fabricmark-mesh: error: " << error.what() << '\n';
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::cerr << "fabricmark-mesh: error: not enough memory for this mesh; take a smaller one\n";
    return static_cast<int>(fabricmark::ExitCode::kEnvironment);
  }
}
