#include "runtime/outside_transports.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

class OutsideTransports : public ::testing::Test {
 protected:
  OutsideTransports() = default;
  ~OutsideTransports() override { unsetenv(kTransportFolders); }
  OutsideTransports(const OutsideTransports&) = delete;
  OutsideTransports& operator=(const OutsideTransports&) = delete;

  /// An empty transport.toml in a folder of this name.
  [[nodiscard]] std::filesystem::path add(const std::string& name) const {
    return root_ / folder_.write(name + "/transport.toml", "").lexically_relative(folder_.path());
  }
  static void use(const std::string& folders) { setenv(kTransportFolders, folders.c_str(), 1); }
  /// The folder's path from the root of the test.
  [[nodiscard]] std::string place(const std::string& name) const { return (root_ / name).string(); }

 private:
  test::TemporaryFolder folder_;
  std::filesystem::path root_ = std::filesystem::canonical(folder_.path());
};

TEST_F(OutsideTransports, AreInNamedFoldersAndRightBelowThem) {
  EXPECT_TRUE(outside_transports().empty());
  const auto first = add("site/b_link");
  const auto second = add("site/a");
  const auto own = add("own");
  static_cast<void>(add("own/below"));        // belongs to the transport
  static_cast<void>(add("site/far/deeper"));  // is too deep
  use(":" + place("own/") + "::" + place("site") + ":");
  EXPECT_EQ(outside_transports(), (std::vector{own, second, first}));
  EXPECT_EQ(outside_library(first), place("site/b_link/libb_link.so"));
}

TEST_F(OutsideTransports, OfAnotherNameOrInNoFolderAreRefused) {
  for (const char* name : {"Cable", "9cables", "_cable", "my-cable", "none"}) {
    static_cast<void>(add(name));
    use(place(name));
    EXPECT_TRUE(mentions(message_of([] { outside_transports(); }), place(name) + "/transport.toml")) << name;
  }
  for (const char* name : {"gone", "empty"}) {
    if (name == std::string("empty")) std::filesystem::create_directories(place(name));
    use(place(name));
    EXPECT_TRUE(mentions(message_of([] { outside_transports(); }), "is in '" + place(name) + "' or right"))
        << name;
  }
}

}  // namespace

}  // namespace fabricmark::runtime
