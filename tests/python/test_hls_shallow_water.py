"""Shallow water's dataflow kernels in C simulation, as a test bench of Vitis would run them.

A square of two triangles under a tide: on one device, and a triangle on each of two, with the halo over links
and over memory that the host exchanges. As the kernels run one after another, they start anew in each step.
"""

import pytest
from conftest import REPOSITORY
from hls_support import STUB, built, run

FOLDER = REPOSITORY / "kernels" / "shallow_water"
KERNELS = (FOLDER / "dataflow.cpp").read_text()

BENCH = """\
#include "dataflow.cpp"
#include <cstdio>
#include <cstring>
namespace k = shallow_water_kernels;
const float len = 100, diagonal = 0.70710678f;
const int land = SW_LAND, sea = SW_SEA;

struct device {
  k::counts has;
  k::sw_element elements[2];
  k::sw_numbers states[4], seen[2];
  float outflow[2] = {0, 0};
  k::outer_edge edges[4];
  unsigned slots[1] = {0};
  k::neighbour other[1] = {{0, 1, 1}};
  int places[3] = {-1, -1, -1};
  int trouble = -1;
  unsigned long long sent[1] = {0}, received[1] = {0};
  k::engine_word stored[1], arrived[1];
  k::state_word halo[1];
  fm::stream<k::state_word> beyond{"beyond"}, projected{"projected"}, leaving{"leaving"};
  fm::stream<k::state_word> links[4];
  fm::stream<k::met_word> met{"met"};
  fm::stream<int> signals{"signals"};
};

k::sw_element triangle(int number, int beyond) {
  k::sw_element one;
  const float nx[2][3] = {{0, 1, -diagonal}, {diagonal, 0, -1}};
  const float ny[2][3] = {{-1, 0, diagonal}, {-diagonal, 1, 0}};
  const int codes[2][3] = {{land, sea, beyond}, {beyond, land, land}};
  for (int side = 0; side < 3; ++side) {
    const bool is_diagonal = side == (number == 0 ? 2 : 0);
    one.depth[side] = 10.0f + side;
    one.nx[side] = nx[number][side];
    one.ny[side] = ny[number][side];
    one.ratio[side] = (is_diagonal ? 1.41421356f : 1.0f) * 2 / len;
    one.code[side] = codes[number][side];
  }
  return one;
}

void set(device& on, int first, int count, int beyond_0, int beyond_1) {
  const unsigned n = unsigned(count), alone = count == 2 ? 0 : 1;
  on.has = {count == 2 ? 2u : 0u, n, 2 * n, n, alone, alone};
  int edge = 0;
  for (int i = 0; i < count; ++i) {
    on.elements[i] = triangle(first + i, first + i == 0 ? beyond_0 : beyond_1);
    for (int side = 0; side < 3; ++side) {
      const int code = on.elements[i].code[side];
      if (code < 0) on.edges[edge++] = {unsigned(i), code, on.elements[i].nx[side], on.elements[i].ny[side]};
      if (code >= 0 && alone) on.places[side] = 0;
    }
    on.states[i].of[0][0] = 0.1f * (first + i + 1);
    on.states[i].of[1][0] = 0.5f;
    on.states[i].of[2][0] = -0.25f * (first + i);
  }
}

void begin(device& on, int step) {
  k::state_word forcing = {};
  forcing.value[0] = 0.01f * step;
  for (unsigned i = 0; i < on.has.projected; ++i) on.seen[i] = on.states[i];
  edge_kernel(on.seen, on.edges, on.slots, &forcing, on.has.outer, on.has.projected, on.has.leaving, 1,
              on.projected, on.beyond, on.leaving);
}

void end(device& on, int step) {
  k::sw_stage stage = {};
  stage.dt = 0.5f;
  stage.take = 1;
  stage.gravity = 9.81f;
  stage.friction = 0.002f;
  stage.least_depth = 0.1f;
  element_kernel(on.elements, on.states, on.outflow, on.has.core, on.has.own, on.has.outer, stage.dt,
                 stage.gravity, stage.friction, stage.linear_friction, stage.coriolis, stage.least_depth,
                 unsigned(step), 1, on.beyond, on.met, on.projected, &on.trouble);
}

void show(const device& on) {
  for (unsigned i = 0; i < on.has.own; ++i) {
    for (int u = 0; u < 3; ++u) std::printf("%.9g ", double(on.states[i].of[u][0]));
    std::printf("%.9g\\n", double(on.outflow[i]));
  }
}

int main(int, char** words) {
  static device whole, half[2];
  set(whole, 0, 2, 4 * 1 + 0, 4 * 0 + 2);
  set(half[0], 0, 1, 4 * 1 + 0, 0);
  set(half[1], 1, 1, 0, 4 * 1 + 2);
  show(whole);
  const bool has_links = std::strcmp(words[1], "links") == 0;
  for (int step = 0; step < 20; ++step) {
    begin(whole, step);
    // A device without neighbours has no border either: nothing meets.
    end(whole, step);
    for (device& on : half) {
      begin(on, step);
      if (has_links) {
        send_over_links(on.other, 1, 1, on.leaving, on.links[0], on.links[1], on.links[2], on.links[3],
                        on.sent);
      } else {
        store_halo(on.other, 1, unsigned(step), on.leaving, on.stored, on.sent);
      }
    }
    for (int i = 0; i < 2; ++i) {
      device &on = half[i], &other = half[1 - i];
      if (has_links) {
        fm::stream<k::state_word> kept[4];
        keep_halo(1, other.links[0], kept[0]);
        receive_over_links(on.other, on.places, on.halo, on.has, 1, kept[0], kept[1], kept[2], kept[3],
                           on.met, on.received);
      } else {
        on.arrived[0] = other.stored[0];
        receive_from_memory(on.other, on.places, on.arrived, on.halo, on.has.neighbours,
                            on.has.own - on.has.core, unsigned(step), 1, 0, on.signals, on.met, on.received);
      }
      end(on, step);
    }
  }
  show(whole);
  show(half[0]);
  show(half[1]);
  std::printf("%d\\n", half[0].sent[0] == half[1].received[0] && half[1].sent[0] == half[0].received[0]);
}
"""


def simulated(folder, way, text=KERNELS):
    """The fields before, of one device and of two after, and whether sums of halos agree."""
    (folder / "dataflow.cpp").write_text(text)
    done = run(built(folder, BENCH, *STUB, f"-I{folder}"), way)
    assert (done.returncode, done.stderr) == (0, "")
    *lines, sums = done.stdout.splitlines()
    return lines[:2], lines[2:4], lines[4:6], sums == "1"


@pytest.mark.parametrize("way", ["links", "memory"])
def test_two_devices_make_the_field_of_one(tmp_path, way):
    before, one, two, agree = simulated(tmp_path, way)
    assert one == two and agree
    assert all(
        old.split()[i] != new.split()[i] for old, new in zip(before, one, strict=True) for i in range(3)
    )
    assert float(one[0].split()[3]) != 0 and float(one[1].split()[3]) == 0  # through the sea's edge alone


WRONG = {
    "a halo at another place": ("halo[first + i] = sw_kernels::taken(wide, i);", "halo[first] = {};"),
    "the first lane for all": ("sw_kernels::taken(wide, i)", "sw_kernels::taken(wide, i + 1)"),
    "a blank word leaves": (
        "memory[first + i / sw_kernels::in_engine_word] = wide;",
        "memory[first] = sw_kernels::engine_word();",
    ),
}


@pytest.mark.parametrize("old, new", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_found(tmp_path, old, new):
    assert old in KERNELS
    _, one, two, agree = simulated(tmp_path, "memory", KERNELS.replace(old, new))
    assert one != two or not agree
