#include "base/modelled_time.hpp"

#include <limits>

#include "support.hpp"

namespace fabricmark::modelled {

namespace {

using test::mentions;
using test::message_of;

TEST(Time, CountsFemtoseconds) {
  EXPECT_EQ(from_seconds(0), 0);
  EXPECT_EQ(from_seconds(520e-9), 520'000'000);
  EXPECT_EQ(from_seconds(0.4e-15), 0);
  EXPECT_EQ(from_seconds(0.6e-15), 1);
  EXPECT_DOUBLE_EQ(seconds(520'000'000), 520e-9);
  EXPECT_EQ(from_seconds(9223), 9'223'000'000'000'000'000);
}

TEST(Time, TellsCyclesAndTransfers) {
  EXPECT_EQ(period(156.25e6), 6'400'000);
  EXPECT_EQ(period(1e15), 1);
  EXPECT_EQ(transfer_time(1056, 5e9), 211'200'000);
  EXPECT_EQ(transfer_time(0, 5e9), 0);
}

TEST(Time, RefusesWhatItsClockCannotTell) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double wrong : {-1e-15, infinite, -infinite, std::nan(""), 9224.0, 1e300}) {
    message_of([&] { from_seconds(wrong); });
  }
  for (const double wrong : {0.0, -1.0, infinite, std::nan(""), 1e-5}) message_of([&] { period(wrong); });
  for (const double wrong : {0.0, -1.0, std::nan("")}) message_of([&] { transfer_time(1, wrong); });
}

TEST(Time, NeitherWrapsNorReachesTheEnd) {
  EXPECT_EQ(later(1, 2), 3);
  EXPECT_EQ(later(kEndOfTime - 2, 1), kEndOfTime - 1);
  EXPECT_TRUE(mentions(message_of([] { later(kEndOfTime - 1, 1); }), "9223 s"));
  message_of([] { later(kEndOfTime, 1); });
  EXPECT_EQ(times(3, 5), 15);
  message_of([] { times(1LL << 40, 1LL << 40); });
}

}  // namespace

}  // namespace fabricmark::modelled
