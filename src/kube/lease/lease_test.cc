#include "kube/lease/lease.h"
#include "kube/lease/pause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLeaseWall = "2026-01-01T00:00:00.000000Z";

/// The Lease in a server, with requests that can be late.
struct LeaseServer {
  std::optional<yaml::Node> object;
  int version = 0;

  Result<KubeAnswer> read() const {
    return KubeAnswer{object ? 200 : 404, object ? json::text_of_node(*object) : "{}"};
  }
  WriteOutcome write(const Write& write) {
    if (write.kind == WriteKind::kCreate ? object.has_value() : !object || write.version != std::to_string(version))
      return {.fate = WriteFate::kConflict, .message = "another version"};
    yaml::Node stored = write.body;
    yaml::Node& metadata = put(stored, "metadata", map_node());
    put(metadata, "resourceVersion", text_node(std::to_string(++version)));
    put(metadata, "uid", text_node("u"));
    object = stored;
    return {.object = stored};
  }
  std::string holder() const { return std::string(json::text_at(*object, {"spec", "holderIdentity"})); }
};

struct Candidate {
  explicit Candidate(std::string name) : holder({.identity = std::move(name)}) {}

  /// Works until it waits; when it is to be called again.
  Instant work(LeaseServer& server, Instant now) {
    while (true) {
      const auto step = holder.next(now, kLeaseWall);
      if (const auto* wait = std::get_if<LeaseHolder::WaitStep>(&step)) return wait->until;
      if (std::holds_alternative<LeaseHolder::ReadStep>(step)) {
        holder.take_read(server.read(), now);
      } else {
        holder.take_write(server.write(std::get<LeaseHolder::WriteStep>(step).write), now, now);
      }
    }
  }

  LeaseHolder holder;
};

constexpr Instant at(std::int64_t second) { return Instant::at_second(second); }

TEST(Lease, TheFirstOneCreatesItAndRenewsItEachTwoSeconds) {
  LeaseServer server;
  Candidate a("a");
  EXPECT_EQ(a.work(server, at(100)), at(102));
  EXPECT_TRUE(a.holder.may_write(at(100)));
  EXPECT_EQ(a.holder.epoch(), 1);
  const std::string text = json::text_of_node(*server.object);
  EXPECT_THAT(text, HasSubstr(R"("holderIdentity":"a","leaseDurationSeconds":15,"leaseTransitions":1)"));
  EXPECT_THAT(text, HasSubstr(R"("acquireTime":"2026-01-01T00:00:00.000000Z")"));
  EXPECT_EQ(a.work(server, at(102)), at(104));
  EXPECT_EQ(server.version, 2);
  EXPECT_EQ(a.holder.epoch(), 1);
  EXPECT_TRUE(a.holder.may_write(at(111)));
  EXPECT_FALSE(a.holder.may_write(at(112)));  // ten seconds after the renewal was sent
}

TEST(Lease, AnotherWaitsUntilFifteenSecondsAfterTheLastChangeThatItSaw) {
  LeaseServer server;
  Candidate a("a");
  Candidate b("b");
  static_cast<void>(a.work(server, at(100)));
  // However old the renewal is by its own words.
  EXPECT_EQ(b.work(server, at(900)), at(901));
  EXPECT_EQ(b.holder.leader(), "a");
  for (int second = 901; second < 915; ++second) {
    EXPECT_EQ(b.work(server, at(second)), at(second + 1)) << second;
    EXPECT_FALSE(b.holder.may_write(at(second)));
  }
  EXPECT_EQ(b.work(server, at(915)), at(917));
  EXPECT_TRUE(b.holder.may_write(at(915)));
  EXPECT_EQ(b.holder.epoch(), 2);
  EXPECT_EQ(server.holder(), "b");
  // The first one wakes up: its renewal is refused, and it sees why.
  static_cast<void>(a.work(server, at(916)));
  EXPECT_FALSE(a.holder.may_write(at(916)));
  EXPECT_EQ(a.holder.leader(), "b");
  EXPECT_EQ(server.holder(), "b");
}

TEST(Lease, ARenewalThatWasSentLongAgoAllowsNothing) {
  LeaseServer server;
  Candidate a("a");
  static_cast<void>(a.work(server, at(100)));
  const auto step = a.holder.next(at(102), kLeaseWall);
  // It took nine seconds; the process slept another two before it looked at the outcome.
  a.holder.take_write(server.write(std::get<LeaseHolder::WriteStep>(step).write), at(102), at(113));
  EXPECT_FALSE(a.holder.may_write(at(113)));
  static_cast<void>(a.work(server, at(115)));
  EXPECT_TRUE(a.holder.may_write(at(115)));
  EXPECT_EQ(a.holder.epoch(), 1);
}

TEST(Lease, AReleasedOneIsTakenAtOnceInANewEpoch) {
  LeaseServer server;
  Candidate a("a");
  Candidate b("b");
  static_cast<void>(a.work(server, at(100)));
  EXPECT_EQ(b.work(server, at(100)), at(101));
  const auto release = a.holder.release(at(100), kLeaseWall);
  ASSERT_TRUE(release);
  EXPECT_EQ(server.write(*release).fate, WriteFate::kDone);
  EXPECT_FALSE(a.holder.may_write(at(100)));
  EXPECT_EQ(a.work(server, at(100)), Instant::never());
  EXPECT_THAT(json::text_of_node(*server.object),
              HasSubstr(R"("holderIdentity":"","leaseDurationSeconds":1,"leaseTransitions":1)"));
  static_cast<void>(b.work(server, at(101)));
  EXPECT_TRUE(b.holder.may_write(at(101)));
  EXPECT_EQ(b.holder.epoch(), 2);
  // A standby has nothing to release.
  EXPECT_FALSE(Candidate("c").holder.release(at(101), kLeaseWall));
}

TEST(Lease, OfTwoThatTryAtOnceOneIsRefused) {
  LeaseServer server;
  Candidate a("a");
  Candidate b("b");
  a.holder.take_read(server.read(), at(100));
  b.holder.take_read(server.read(), at(100));
  const auto of_b = b.holder.next(at(100), kLeaseWall);
  static_cast<void>(a.work(server, at(100)));
  b.holder.take_write(server.write(std::get<LeaseHolder::WriteStep>(of_b).write), at(100), at(100));
  static_cast<void>(b.work(server, at(100)));
  EXPECT_TRUE(a.holder.may_write(at(100)));
  EXPECT_FALSE(b.holder.may_write(at(100)));
  EXPECT_EQ(b.holder.leader(), "a");
}

TEST(Lease, WhileTheServerIsAwayItEndsAndComesBack) {
  LeaseServer server;
  Candidate a("a");
  static_cast<void>(a.work(server, at(100)));
  const Error away{ErrorCode::kNoServer, "away"};
  Instant now = at(102);
  const auto step = a.holder.next(now, kLeaseWall);
  a.holder.take_write(tl::unexpected(away), now, now);
  ASSERT_TRUE(std::holds_alternative<LeaseHolder::WriteStep>(step));
  for (; now < at(111); now = now + Micros::seconds(1)) {
    if (std::holds_alternative<LeaseHolder::ReadStep>(a.holder.next(now, kLeaseWall)))
      a.holder.take_read(tl::unexpected(away), now);
  }
  EXPECT_FALSE(a.holder.may_write(now));
  EXPECT_EQ(a.holder.trouble()->message, "away");
  static_cast<void>(a.work(server, at(120)));
  EXPECT_TRUE(a.holder.may_write(at(120)));
  EXPECT_EQ(a.holder.epoch(), 1);
  EXPECT_FALSE(a.holder.trouble());
}

TEST(Lease, ALostAnswerOfItsOwnRenewalIsASuccess) {
  LeaseServer server;
  Candidate a("a");
  static_cast<void>(a.work(server, at(100)));
  const auto step = a.holder.next(at(102), kLeaseWall);
  WriteOutcome outcome = server.write(std::get<LeaseHolder::WriteStep>(step).write);
  outcome.fate = WriteFate::kUnknown;
  a.holder.take_write(outcome, at(102), at(103));
  EXPECT_TRUE(a.holder.may_write(at(111)));
  EXPECT_FALSE(a.holder.may_write(at(112)));
}

TEST(Lease, OneThatWasDeletedIsCreatedAgain) {
  LeaseServer server;
  Candidate a("a");
  static_cast<void>(a.work(server, at(100)));
  server.object.reset();
  const auto step = a.holder.next(at(102), kLeaseWall);
  ASSERT_TRUE(std::holds_alternative<LeaseHolder::WriteStep>(step));
  a.holder.take_write(WriteOutcome{.fate = WriteFate::kGone, .message = "gone"}, at(102), at(102));
  static_cast<void>(a.work(server, at(102)));
  EXPECT_TRUE(a.holder.may_write(at(102)));
  EXPECT_EQ(server.holder(), "a");
}

TEST(Lease, ANamespaceThatDoesNotExistIsRefused) {
  Candidate a("a");
  a.holder.take_read(KubeAnswer{404, "{}"}, at(100));
  a.holder.take_write(WriteOutcome{.fate = WriteFate::kGone, .message = "POST: 404 NotFound: berth-system"}, at(100),
                      at(100));
  ASSERT_TRUE(a.holder.trouble());
  EXPECT_EQ(a.holder.trouble()->code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(a.holder.may_write(at(100)));
}

TEST(Pause, IsWrittenNextToTheLeaseAndReadBack) {
  const ObjectName lease{"berth-system", "berth"};
  const Write pause = pause_write(lease, "a new rack");
  EXPECT_EQ(pause.name.text(), "berth-system/berth-pause");
  EXPECT_EQ(pause_reason(pause.body), "a new rack");
  EXPECT_EQ(pause_reason(pause_write(lease, std::nullopt).body), std::nullopt);
  EXPECT_EQ(pause_reason(map_node()), std::nullopt);
}

TEST(Lease, TimesHaveAnOrder) {
  LeaseOptions options{.identity = "a"};
  EXPECT_TRUE(check_lease_options(options));
  options.renew_deadline = options.duration;
  EXPECT_FALSE(check_lease_options(options));
  options = {.identity = "a", .retry = Micros::seconds(10)};
  EXPECT_FALSE(check_lease_options(options));
  options = {.identity = "a", .duration = Micros(15'500'000)};
  EXPECT_FALSE(check_lease_options(options));
}

}  // namespace
}  // namespace berth::kube
