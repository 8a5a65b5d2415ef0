#include "benchmarks/host_transfer/marks.hpp"

#include <cstring>

namespace fabricmark::host_transfer {

void put_marks(std::byte* memory, std::size_t bytes, std::uint32_t value) {
  for (std::uint32_t page = 0; page < pages_of(bytes); ++page) {
    const std::uint32_t mark = value + page;  // its lowest byte lies first on all hosts of interest
    std::memcpy(memory + page * device::kPageBytes, &mark, mark_bytes_of(bytes));
  }
}

std::size_t count_wrong_marks(const std::byte* memory, std::size_t bytes, std::uint32_t value) {
  std::size_t wrong = 0;
  for (std::uint32_t page = 0; page < pages_of(bytes); ++page) {
    const std::uint32_t mark = value + page;
    const bool is_there = std::memcmp(memory + page * device::kPageBytes, &mark, mark_bytes_of(bytes)) == 0;
    wrong += is_there ? 0 : 1;
  }
  return wrong;
}

DeviceMarks::DeviceMarks(const runtime::Context& context, WorkItems work_items)
    : touch_(context.replications(1, kTouch)),
      count_(context.replications(1, kCountWrong)),
      wrong_(context.device(), sizeof(std::uint32_t)),
      work_items_(work_items) {}

void DeviceMarks::put(const device::Buffer& buffer, std::uint32_t value) {
  const std::uint32_t pages = pages_of(buffer.bytes());
  touch_.set(0, {{"memory", buffer},
                 {"pages", pages},
                 {"mark_bytes", mark_bytes_of(buffer.bytes())},
                 {"value", value}});
  touch_.run("touch", {geometry_of(work_items_, pages)});
}

std::size_t DeviceMarks::count_wrong(const device::Buffer& buffer, std::uint32_t value) {
  const std::uint32_t pages = pages_of(buffer.bytes());
  wrong_.fill(count_.queue(0), std::byte{0});
  count_.set(0, {{"memory", buffer},
                 {"pages", pages},
                 {"mark_bytes", mark_bytes_of(buffer.bytes())},
                 {"value", value},
                 {"wrong", wrong_}});
  count_.run("count_wrong", {geometry_of(work_items_, pages)});
  std::uint32_t found = 0;
  wrong_.read(count_.queue(0), &found, sizeof(found));
  count_.queue(0).finish();
  return found;
}

}  // namespace fabricmark::host_transfer
