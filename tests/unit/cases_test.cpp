#include "benchmarks/host_transfer/cases.hpp"

#include <algorithm>
#include <set>

#include "support.hpp"

namespace fabricmark::host_transfer {

namespace {

using test::mentions;
using test::message_of;

constexpr const char* kAllMethods = "queued,2-queues,4-queues,out-of-order,blocking,map,migrate,sub-buffer";

/// What kernel.toml gives, for a small device.
runtime::Parameters settings() {
  runtime::Parameters parameters;
  parameters.set("smallest", std::int64_t{12});
  parameters.set("largest", std::int64_t{16});
  parameters.set("step", std::int64_t{2});
  parameters.set("buffers", std::string("1,4,16"));
  parameters.set("directions", std::string("to_device,from_device,both"));
  parameters.set("methods", std::string(kAllMethods));
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
  EXPECT_TRUE(out.reads() && !out.writes() && out.is_migration() && out.is_part());
  EXPECT_EQ(out.buffer_bytes(), 4096U);
  const Case mapped{"both", "map", "pageable", 8, 1};
  EXPECT_TRUE(mapped.is_in_place() && mapped.is_map() && !mapped.is_migration());
  EXPECT_TRUE(in.is_in_place() && out.is_in_place() && !both.is_in_place());
  EXPECT_EQ(both.queues(), 1U);
  EXPECT_EQ((Case{"both", "2-queues", "page-aligned", 65536, 4}.queues()), 2U);
  EXPECT_EQ((Case{"both", "4-queues", "page-aligned", 65536, 4}.queues()), 4U);
  EXPECT_FALSE((Case{"both", "out-of-order", "page-aligned", 65536, 4}.is_ordered()));
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
    EXPECT_TRUE(all.contains(start + "/migrate/pageable/16384/1"));
    EXPECT_TRUE(all.contains(start + "/migrate/page-aligned/65536/16")) << "by one command";
    EXPECT_FALSE(all.contains(start + "/migrate/pageable/65536/4"));
    EXPECT_FALSE(all.contains(start + "/migrate/pinned/16384/1"));
    EXPECT_TRUE(all.contains(start + "/map/pageable/4096/1") &&
                all.contains(start + "/map/page-aligned/4096/1"));
    EXPECT_TRUE(all.contains(start + "/sub-buffer/page-aligned/4096/1"));
    EXPECT_FALSE(all.contains(start + "/sub-buffer/pageable/4096/1"));
    for (const char* method : {"2-queues", "4-queues", "out-of-order"}) {
      EXPECT_TRUE(all.contains(start + "/" + method + "/page-aligned/65536/16")) << "the most buffers";
      EXPECT_FALSE(all.contains(start + "/" + method + "/page-aligned/65536/4"));
      EXPECT_FALSE(all.contains(start + "/" + method + "/pinned/65536/16"));
    }
  }
  // Of one buffer 11 cases for each of 3 sizes and 3 directions; of page-aligned memory queued and migrated
  // also 4 and 16 buffers, and in each way of several queues 16, where each still has a page.
  EXPECT_EQ(all.size(), 3 * 3 * 11 + 2 * (2 * 2 + 2 * 1 + 3 * 1) + 2 * 1);
}

TEST(Cases, HaveSeveralBuffersOfAtLeastAPageAndOneOfAnySize) {
  runtime::Parameters from_one = with("buffers", std::string("1,2,256"));
  from_one.set("smallest", std::int64_t{0});
  std::set<std::size_t> single;
  for (const Case& one : make_cases(from_one, false)) {
    EXPECT_GE(one.buffer_bytes(), one.buffers > 1 ? 4096U : 1U) << one.name();
    EXPECT_NE(one.buffers, 256U);
    if (one.buffers == 1) single.insert(one.bytes);
  }
  EXPECT_EQ(*single.begin(), 1U);
  const std::set<std::string> all = names(make_cases(from_one, false));
  EXPECT_FALSE(all.contains("both/queued/pinned/1/1")) << "half a byte each way";
  EXPECT_TRUE(all.contains("both/queued/pinned/4/1"));
}

TEST(Cases, HaveAsManyBuffersAsFit) {
  const std::set<std::string> all = names(make_cases(settings(), false));
  EXPECT_TRUE(all.contains("both/queued/page-aligned/65536/4"));
  EXPECT_FALSE(all.contains("both/queued/page-aligned/65536/16"));
}

TEST(Cases, LeaveOutWhatIsInPlaceWhereDeviceAndHostShareTheirMemory) {
  const std::vector<Case> shared = make_cases(settings(), true);
  EXPECT_TRUE(std::none_of(shared.begin(), shared.end(), [](const Case& one) { return one.is_in_place(); }));
  const std::vector<Case> apart = make_cases(settings(), false);
  EXPECT_EQ(std::count_if(apart.begin(), apart.end(), [](const Case& one) { return !one.is_in_place(); }),
            static_cast<std::ptrdiff_t>(shared.size()));
  const std::string message =
      message_of([] { make_cases(with("methods", std::string("map,migrate,sub-buffer")), true); });
  EXPECT_TRUE(mentions(message, "migrations")) << message;
  EXPECT_EQ(make_cases(with("methods", std::string("sub-buffer")), false).size(), 3U * 3U);
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
  parameters.set("directions", std::string("to_device,both"));
  parameters.set("step", std::int64_t{2});
  EXPECT_EQ(sizes_of(make_cases(parameters, false)), sizes) << "each once";
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
  parameters.set("methods", std::string("4-queues"));
  EXPECT_TRUE(mentions(message_of([&] { make_cases(parameters, false); }), "no transfer is left"));
}

}  // namespace

}  // namespace fabricmark::host_transfer
