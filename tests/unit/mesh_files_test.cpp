#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <random>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "mesh/arrays.hpp"
#include "mesh/check.hpp"
#include "mesh/fort14.hpp"
#include "mesh/shapes.hpp"
#include "mesh/tides.hpp"

namespace fabricmark::mesh {

namespace {

/// Two triangles with a river, an island's type of boundary, the sea, and Fortran's ways to write numbers.
const std::string kSquare =
    "square ! a comment\n"
    "2 4 ! elements, nodes\n"
    "1 0.0 0.0 1.0\n"
    "2 1.0D+2 0 +2.5\n"
    "4 0 1e2 4 ! in any order\n"
    "3 100, 100, 3\n"
    "1 3 1 2 3\n"
    "2 3 1 3 4\n"
    "1 open\n"
    "2 nodes\n"
    "2\n1\n2\n"
    "2 land\n"
    "5 nodes\n"
    "3 20\n2\n3\n4\n"
    "2 22\n4\n1\n";

std::string with(std::string text, const std::string& old, const std::string& by) {
  const std::size_t place = text.find(old);
  EXPECT_NE(place, std::string::npos) << old;
  return text.replace(place, old.size(), by);
}

std::string refused(const std::string& text) {
  try {
    parse_fort14(text, "m.14");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadUse);
    return error.what();
  }
  return "accepted";
}

void expect_same(const Mesh& a, const Mesh& b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.depth, b.depth);
  EXPECT_EQ(a.elements, b.elements);
  const auto edges = edges_of(a);
  const auto others = edges_of(b);
  ASSERT_EQ(edges.size(), others.size());
  for (std::size_t i = 0; i < edges.size(); ++i) EXPECT_EQ(edges[i].kind, others[i].kind);
}

TEST(MeshFiles, Fort14) {
  const Mesh mesh = parse_fort14(kSquare, "m.14");
  EXPECT_EQ(mesh.title, "square");
  EXPECT_EQ(mesh.x, (std::vector<double>{0, 100, 100, 0}));
  EXPECT_EQ(mesh.depth, (std::vector<double>{1, 2.5, 3, 4}));
  std::vector<EdgeKind> kinds;
  for (const BoundaryEdge& edge : mesh.boundary) kinds.push_back(edge.kind);
  EXPECT_EQ(kinds, (std::vector{EdgeKind::kSea, EdgeKind::kLand, EdgeKind::kLand, EdgeKind::kRiver}));
  EXPECT_EQ(edges_of(mesh).size(), 5U);
  const std::string windows = std::string(kSquare).replace(kSquare.find("2 4"), 3, "2 4\r");
  EXPECT_EQ(parse_fort14(windows, "m.14").x, mesh.x);
}

TEST(MeshFiles, WhatIsWrittenReadsTheSame) {
  Mesh ring = rectangle(3, 3, 3, 3, 1, {.left = EdgeKind::kRiver, .top = EdgeKind::kSea});
  ring.elements.erase(ring.elements.begin() + 8, ring.elements.begin() + 10);  // an island in the middle
  for (const auto& [from, to] : {std::pair{5, 6}, {6, 10}, {10, 9}, {9, 5}})
    ring.boundary.push_back({{from, to}, EdgeKind::kLand});
  for (const Mesh& mesh : {parse_fort14(kSquare, "m.14"), bay(777), ring})
    expect_same(parse_fort14(fort14_text(mesh), "again"), mesh);
  const std::string text = fort14_text(ring);
  EXPECT_NE(text.find("\n4 1\n"), std::string::npos) << text;  // the island's boundary closes by itself
}

TEST(MeshFiles, BrokenMeshesAreRefusedWithElementAndLine) {
  const std::vector<std::array<std::string, 3>> cases{
      {"1 3 1 2 3", "1 3 1 3 2", "element 1 (line 7) is inverted"},
      {"1 3 1 2 3", "1 3 1 2 2", "element 1 (line 7) has node 2 twice"},
      {"1 3 1 2 3", "1 3 1 2 5", "line 7: element 1 has node 5, but there are nodes 1 to 4"},
      {"1 3 1 2 3", "1 4 1 2 3 4", "line 7: element 1 has 4 nodes"},
      {"2 3 1 3 4", "1 3 1 3 4", "line 8: element 1 stands in line 7 already"},
      {"3 100, 100, 3", "4 100, 100, 3", "line 6: node 4 stands in line 5 already"},
      {"2 3 1 3 4", "2 3 2 3 1", "node 4 (line 5) is in no element"},
      {"1 0.0 0.0 1.0", "1 0.0 0.0 0", "node 1 (line 3) has a depth of 0 m"},
      {"1 0.0 0.0 1.0", "1 0.0 0.0 -1", "node 1 (line 3) has a depth of -1 m"},
      {"1 0.0 0.0 1.0", "1 0.0 0.0 1e30", "node 1 (line 3) has a depth of 1e+30 m; give depths in metres"},
      {"1 0.0 0.0 1.0", "1 0.0 0.0 12001", "node 1 (line 3) has a depth of 12001 m"},
      {"1 0.0 0.0 1.0", "1 -2e8 0.0 1", "node 1 (line 3) lies at (-200000000, 0) m"},
      {"1 0.0 0.0 1.0", "1 0.0 0.0 nan", "node 1 (line 3) has a coordinate or depth that is no number"},
      {"1 0.0 0.0 1.0", "1 0.0 wet 1.0", "line 3: 'wet' is no number"},
      {"1 0.0 0.0 1.0", "1 0.0 0.0", "line 3: the line ends where a node: its number, x, y and depth"},
      {"2 22\n4\n1\n", "2 24\n4\n1\n", "line 20: boundaries of type 24 are not known"},
      {"2 22\n4\n1\n", "2 22\n4\n2\n", "line 22: the boundary between nodes 4 and 2, which is no edge"},
      {"2 22\n4\n1\n", "2 22\n1\n3\n", "nodes 1 and 3, which has elements on both sides"},
      {"2 22\n4\n1\n", "2 22\n3\n4\n", "the boundary between nodes 3 and 4 is named twice"},
      {"2 land\n5 nodes", "1 land\n3 nodes", "the edge of element 2 (line 8) between nodes 4 and 1"},
      {"2 4 !", "2 4000000000 !", "there cannot be 4000000000 nodes"},
      {"2 4 !", "2 4000 !", "the file is cut"},
      {"2 4 !", "0 4 !", "there cannot be 0 elements"}};
  for (const auto& [old, by, message] : cases) {
    const std::string line = refused(with(kSquare, old, by));
    EXPECT_NE(line.find(message), std::string::npos) << by << " gave: " << line;
    EXPECT_TRUE(line.starts_with("m.14")) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

/// A mesh moved, scaled and with the depth of a sea or a tank, as a fort.14.
std::string placed(Mesh mesh, double x, double y, double scale, double depth) {
  for (double& one : mesh.x) one = x + scale * one;
  for (double& one : mesh.y) one = y + scale * one;
  for (double& one : mesh.depth) one = depth;
  return fort14_text(mesh);
}

TEST(MeshFiles, DegreesAreRefusedAndMetresAreNot) {
  struct Case {
    double x, y, scale, depth;
    bool is_in_degrees;
  };
  const Mesh grid = rectangle(4, 4, 1, 1, 1);
  for (const auto& [x, y, scale, depth, is_in_degrees] : std::vector<Case>{
           {-97, 28, 0.02, 10, true},    // a harbour
           {3, 51, 8, 40, true},         // a shelf
           {262, -40, 30, 4000, true},   // an ocean, with longitudes from 0
           {-81, 26.7, 0.6, 2.7, true},  // a lake
           {-1, -1, 2, 60, true},        // around 0, 0
           {0, 0, 1, 0.5, false},        // a tank
           {0, 0, 30, 0.3, false},       // a flume
           {-5, -5, 10, 3, false},       // a pool
           {20, 20, 60, 10, false},      // a deep dock
           {0, 0, 1, 2, false},          // a box that is deeper than wide
           {5e5, 3e6, 10, 30, false},    // on a map
       }) {
    const std::string text = placed(grid, x, y, scale, depth);
    const std::string line = refused(text);
    EXPECT_EQ(line != "accepted", is_in_degrees) << scale << " at " << x << ": " << line;
    if (is_in_degrees) {
      EXPECT_NE(line.find("; take --projection cpp"), std::string::npos) << line;
    }
    EXPECT_NO_THROW(parse_fort14(text, "m.14", Projection::kMetres));
  }
}

TEST(MeshFiles, DegreesAreProjectedToMetres) {
  constexpr double kRadius = 6378206.4;
  const std::string text = placed(rectangle(2, 2, 1, 1, 1), -97, 59, 2, 10);
  const Mesh mesh = parse_fort14(text, "m.14", Projection::kCpp);
  const double degree = kRadius * std::numbers::pi / 180;
  const auto [west, east] = std::ranges::minmax(mesh.x);
  const auto [south, north] = std::ranges::minmax(mesh.y);
  EXPECT_NEAR(north - south, 2 * degree, 1e-6);
  EXPECT_NEAR(east - west, 2 * degree * 0.5, 1e-6);  // the cosine of 60 degrees
  EXPECT_NEAR(east + west, 0, 1e-6);
  const std::string far = placed(rectangle(2, 2, 1, 1, 1), 0, 0, 1000, 10);
  for (const auto& [wrong, said] :
       {std::pair{far, "node 2 (line 4) at (500, 0) has no longitude"},
        {placed(rectangle(2, 2, 1, 0.1, 1), 0, 0, 359, 10), "the 180th meridian"}}) {
    try {
      parse_fort14(wrong, "m.14", Projection::kCpp);
      ADD_FAILURE() << said;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(named_mesh("bay:100", Projection::kCpp), Error);
  EXPECT_THROW(projection_of("utm"), Error);
}

TEST(MeshFiles, ElementsThatOverlap) {
  const std::string twice = with(with(kSquare, "2 4 !", "3 4 !"), "2 3 1 3 4\n", "2 3 1 3 4\n3 3 2 3 1\n");
  EXPECT_NE(refused(twice).find("element 3 (line 9) has the same nodes as element 1 (line 7)"),
            std::string::npos);
  const std::string over = with(with(kSquare, "2 4 !", "3 4 !"), "2 3 1 3 4\n", "2 3 1 3 4\n3 3 1 2 4\n");
  EXPECT_NE(refused(over).find("element 3 (line 9) overlaps element"), std::string::npos) << refused(over);
}

TEST(MeshFiles, CutAnywhere) {
  const std::string text = fort14_text(bay(30));
  ASSERT_NO_THROW(parse_fort14(text, "m.14"));
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    if (text[length] == '\n') continue;  // after a whole number
    EXPECT_NE(refused(text.substr(0, length)), "accepted") << length;
  }
}

/// Random changes of a file: refused in one line or read as a mesh that passes its check. At least so many,
/// for at least so long.
void fuzz(int runs, std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const std::string text = fort14_text(bay(40));
  std::mt19937 random(20);
  const auto below = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most - 1)(random);
  };
  const std::string letters = "0123456789-+.eEdD \n\tnaif!\r,\0x";
  int accepted = 0;
  int run = 0;
  for (; run < runs || std::chrono::steady_clock::now() < end; ++run) {
    std::string changed = text;
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t place = below(changed.size());
      switch (below(4)) {
        case 0:
          changed[place] = letters[below(letters.size())];
          break;
        case 1:
          changed.erase(place, 1 + below(20));
          break;
        case 2:
          changed.insert(place, changed.substr(below(changed.size()), 1 + below(20)));
          break;
        default:
          changed.insert(place, 1, static_cast<char>(below(256)));
          break;
      }
    }
    const std::string line = refused(changed);
    accepted += line == "accepted" ? 1 : 0;
    ASSERT_EQ(line.find('\n'), std::string::npos) << line;
    ASSERT_LT(line.size(), 300U) << line;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, run);
}

TEST(MeshFiles, FuzzedShortly) { fuzz(3000, std::chrono::seconds(0)); }

/// A minute of it: run by `make test-full`.
TEST(MeshFiles, DISABLED_FuzzedForAMinute) { fuzz(3000, std::chrono::seconds(60)); }

/// A file whose form is right: each number is one, and some are others than they were. Half and more have to
/// be read to the end, where the mesh is checked.
TEST(MeshFiles, FuzzedWithOtherNumbers) {
  const std::string text = fort14_text(bay(40));
  const std::vector<std::string> reals{"0", "-7.5", "1e30", "1e-300", "12000", "1e8", "89.5", "2.5e4"};
  std::mt19937 random(19);
  const auto below = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most - 1)(random);
  };
  constexpr int kRuns = 2000;
  int read = 0;
  int accepted = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::string> lines;
    std::istringstream whole(text);
    for (std::string line; std::getline(whole, line);) lines.push_back(line);
    for (std::size_t change = 0; change <= below(3); ++change) {
      std::string& line = lines[2 + below(lines.size() - 2)];
      std::istringstream fields(line);
      std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
      std::string& word = words[below(words.size())];
      if (word.find('!') != std::string::npos) continue;
      if (word.find('.') != std::string::npos) {
        word = reals[below(reals.size())];
      } else if (words.size() == 5 || words.size() == 1) {  // an element's or a boundary's node
        if (word.find_first_not_of("0123456789") == std::string::npos) word = std::to_string(1 + below(30));
      }
      line.clear();
      for (const std::string& one : words) line += one + " ";
    }
    std::string changed;
    for (const std::string& line : lines) changed += line + "\n";
    const std::string line = refused(changed);
    accepted += line == "accepted" ? 1 : 0;
    read += line.starts_with("m.14: ") || line == "accepted" ? 1 : 0;  // behind the reader, which says "line"
    ASSERT_EQ(line.find('\n'), std::string::npos) << line;
    ASSERT_LT(line.size(), 300U) << line;
  }
  EXPECT_GT(2 * read, kRuns);
  EXPECT_GT(accepted, kRuns / 50);
  EXPECT_LT(accepted, kRuns);
}

std::filesystem::path written(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("mesh-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto path = folder / name;
  std::ofstream(path) << text;
  return path;
}

TEST(MeshFiles, Tides) {
  const std::string forcing = "2 ! NBFR\nM2\n0.00014 1.1 0.0\nK1\n7.3D-5 1 0\n";
  const auto whole = written("fort.15", "title\n" + forcing + "M2\n0.5 90\n0.5 90\nK1\n0.25 180\n");
  const Tides tides = read_tides(whole);
  ASSERT_EQ(tides.constituents.size(), 2U);
  EXPECT_DOUBLE_EQ(tides.constituents[0].amplitude_m, 0.55);  // by its nodal factor
  EXPECT_DOUBLE_EQ(tides.constituents[0].phase_rad, std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(tides.constituents[1].frequency_rad_per_s, 7.3e-5);
  EXPECT_DOUBLE_EQ(tides.constituents[1].amplitude_m, 0.25);
  EXPECT_THROW(read_tides(written("varies.15", forcing + "M2\n0.5 90\n0.6 90\nK1\n0.25 180\n")), Error);
  EXPECT_THROW(read_tides(written("argument.15", with(forcing, "7.3D-5 1 0", "7.3D-5 1 5"))), Error);
  const auto cut = written("cut.15", forcing);
  EXPECT_THROW(read_tides(cut), Error);
  const auto edges =
      written("cut.17", "2 ! NUMBER OF OPEN SEA EDGES\n1 3\n2 4\n.5 90\n.5 90\n.25 1\n.25 1\n");
  EXPECT_DOUBLE_EQ(read_tides(cut, edges).constituents[1].amplitude_m, 0.25);
  EXPECT_DOUBLE_EQ(read_tides(cut).constituents[0].amplitude_m, 0.55);  // it lies beside
  EXPECT_THROW(read_tides("/nowhere/fort.15"), Error);
  std::filesystem::remove_all(cut.parent_path());
}

TEST(MeshFiles, StationsLieInside) {
  const Mesh mesh = bay(500);
  const auto stations = default_stations(mesh);
  ASSERT_EQ(stations.size(), 4U);
  for (const Station& station : stations) EXPECT_TRUE(element_at(mesh, station));
  EXPECT_FALSE(element_at(mesh, {1e6, 0}));
}

}  // namespace

}  // namespace fabricmark::mesh
