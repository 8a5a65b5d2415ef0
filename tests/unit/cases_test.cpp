#include "benchmarks/host_transfer/cases.hpp"

#include <algorithm>
#include <set>

#include "support.hpp"

namespace fabricmark::host_transfer {

namespace {

using test::mentions;
using test::message_of;

/// What kernel.toml gives, for a small device.
runtime::Parameters settings() {
  runtime::Parameters parameters;
  parameters.set("smallest", std::int64_t{12});
  parameters.set("largest", std::int64_t{16});
  parameters.set("step", std::int64_t{2});
  parameters.set("buffers", std::string("1,4,16"));
  parameters.set("directions", std::string("to_device,from_device,both"));
  parameters.set("methods", std::string("queued,blocking,migrate,sub-buffer"));
  parameters.set("memories", std::string("pageable,page-aligned,pinned"));
  return parameters;
}

runtime::Parameters with(const std::string& name, const runtime::Value& value) {
  runtime::Parameters parameters = settings();
  parameters.set(name, value);
  return parameters;
}

std::set<std::string> names(const std::vector<Case>& cases) {
  std::set<std::string> all;
  for (const Case& one : cases) all.insert(one.name());
  EXPECT_EQ(all.size(), cases.size()) << "no case is there twice";
  return all;
}

TEST(Cases, KnowWhatTheyMove) {
  const Case both{"both", "queued", "pinned", 65536, 4};
  EXPECT_EQ(both.bytes_each_way(), 32768U);
  EXPECT_EQ(both.buffer_bytes(), 8192U);
  EXPECT_TRUE(both.reads() && both.writes() && !both.is_migration());
  EXPECT_EQ(both.name(), "both/queued/pinned/65536/4");
  const Case in{"to_device", "migrate", "page-aligned", 4096, 1};
  EXPECT_TRUE(in.writes() && !in.reads() && in.is_migration());
  const Case out{"from_device", "sub-buffer", "page-aligned", 4096, 1};
  EXPECT_TRUE(out.reads() && !out.writes() && out.is_migration());
  EXPECT_EQ(out.buffer_bytes(), 4096U);
}

TEST(Cases, AreAllCombinationsWithTheNumberOfBuffersVariedForOne) {
  const std::set<std::string> all = names(make_cases(settings(), false));
  for (const char* direction : {"to_device", "from_device"}) {
    const std::string start = direction;
    for (const char* memory : {"pageable", "page-aligned", "pinned"}) {
      for (const char* method : {"queued", "blocking"}) {
        EXPECT_TRUE(all.contains(start + "/" + method + "/" + memory + "/4096/1")) << memory << method;
      }
    }
    EXPECT_TRUE(all.contains(start + "/queued/page-aligned/65536/16"));
    EXPECT_FALSE(all.contains(start + "/queued/pinned/65536/4"));
    EXPECT_FALSE(all.contains(start + "/blocking/page-aligned/65536/4"));
    EXPECT_TRUE(all.contains(start + "/migrate/page-aligned/16384/1"));
    EXPECT_FALSE(all.contains(start + "/migrate/pinned/16384/1"));
  }
  // 3 sizes: of 8 cases each direction; and 4 and 16 buffers where each still has a page.
  EXPECT_EQ(all.size(), 2 * (3 * 8 + 2 + 1) + 2 * 8 + 1);
}

TEST(Cases, HaveBuffersOfAtLeastAPage) {
  for (const Case& one : make_cases(with("buffers", std::string("1,2,256")), false)) {
    EXPECT_GE(one.buffer_bytes(), 4096U) << one.name();
    EXPECT_NE(one.buffers, 256U);
  }
  const std::set<std::string> all = names(make_cases(settings(), false));
  EXPECT_FALSE(all.contains("both/queued/pinned/4096/1")) << "half a page each way";
  EXPECT_TRUE(all.contains("both/queued/page-aligned/65536/4"));
  EXPECT_FALSE(all.contains("both/queued/page-aligned/65536/16"));
}

TEST(Cases, LeaveOutMigrationsWhereDeviceAndHostShareTheirMemory) {
  const std::vector<Case> shared = make_cases(settings(), true);
  EXPECT_TRUE(std::none_of(shared.begin(), shared.end(), [](const Case& one) { return one.is_migration(); }));
  const std::vector<Case> apart = make_cases(settings(), false);
  EXPECT_EQ(std::count_if(apart.begin(), apart.end(), [](const Case& one) { return !one.is_migration(); }),
            static_cast<std::ptrdiff_t>(shared.size()));
  const std::string message =
      message_of([] { make_cases(with("methods", std::string("migrate,sub-buffer")), true); });
  EXPECT_TRUE(mentions(message, "migrations")) << message;
  EXPECT_EQ(make_cases(with("methods", std::string("migrate")), false).size(), 3U + 3U + 2U);
}

TEST(Cases, HaveSizesFromTheSmallestByStepsUpToTheLargest) {
  runtime::Parameters parameters = with("largest", std::int64_t{17});
  parameters.set("directions", std::string("to_device"));
  parameters.set("methods", std::string("blocking"));
  parameters.set("memories", std::string("pinned"));
  std::vector<std::size_t> sizes;
  for (const Case& one : make_cases(parameters, false)) sizes.push_back(one.bytes);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1 << 12, 1 << 14, 1 << 16}));
  parameters.set("step", std::int64_t{8});
  EXPECT_EQ(make_cases(parameters, false).size(), 1U);
}

TEST(Cases, RefuseWordsThatTheListsDoNotKnow) {
  for (const char* name : {"directions", "methods", "memories", "buffers"}) {
    for (const char* list :
         {"", ",", "nonsense", "Pinned", " pinned", "queued;blocking", "0", "-1", "1,,4"}) {
      const std::string message = message_of([&] { make_cases(with(name, std::string(list)), false); });
      EXPECT_TRUE(mentions(message, name)) << message;
    }
  }
  const std::string message =
      message_of([] { make_cases(with("methods", std::string("queued,fast")), false); });
  EXPECT_TRUE(mentions(message, "'fast'") && mentions(message, "sub-buffer")) << message;
}

TEST(Cases, RefuseNumbersOfBuffersThatAreNoPowersOfTwoUpTo256) {
  for (const char* list : {"3", "1,6", "512", "1.0", "1e2", "04", "+4", "4x", "99999999999999999999"}) {
    EXPECT_TRUE(mentions(message_of([&] { make_cases(with("buffers", std::string(list)), false); }), "256"))
        << list;
  }
  EXPECT_NO_THROW(make_cases(with("buffers", std::string("256,1")), false));
}

TEST(Cases, RefuseAWordThatComesTwice) {
  for (const auto& [name, list] :
       std::vector<std::pair<std::string, std::string>>{{"directions", "both,to_device,both"},
                                                        {"methods", "queued,queued"},
                                                        {"memories", "pinned,pageable,pinned"},
                                                        {"buffers", "4,1,4"}}) {
    const std::string message = message_of([&] { make_cases(with(name, list), false); });
    EXPECT_TRUE(mentions(message, "twice") && mentions(message, name)) << message;
  }
}

TEST(Cases, RefuseToMeasureNothing) {
  runtime::Parameters parameters = with("largest", std::int64_t{12});
  parameters.set("directions", std::string("both"));
  EXPECT_TRUE(mentions(message_of([&] { make_cases(parameters, false); }), "4096"));
}

}  // namespace

}  // namespace fabricmark::host_transfer
