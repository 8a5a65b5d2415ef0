#include "apps/shallow_water/execution.hpp"

namespace fabricmark::shallow_water {

const std::vector<Stage>& stages_of(int order) {
  static const std::vector<std::vector<Stage>> all{
      {{}},
      {{.weight = 0.5}, {.shift = 1, .keep = 0.5, .take = 0.5, .weight = 0.5}},
      {{.weight = 1.0 / 6},
       {.shift = 1, .keep = 0.75, .take = 0.25, .weight = 1.0 / 6},
       {.shift = 0.5, .keep = 1.0 / 3, .take = 2.0 / 3, .weight = 2.0 / 3}}};
  return all[static_cast<std::size_t>(order)];
}

}  // namespace fabricmark::shallow_water
