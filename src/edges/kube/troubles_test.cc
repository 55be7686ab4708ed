// What a real server does not do on demand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/json/node_text.h"
#include "edges/kube/follower.h"
#include "edges/kube/test_servers.h"
#include "kube/client/write.h"

namespace berth::edges {
namespace {

using kube::Write;
using kube::WriteFate;
using kube::WriteKind;
using testing::Trouble;
using testing::TroubleKind;

constexpr std::chrono::seconds kPatience(20);

class Troubles : public ::testing::Test {
 protected:
  Troubles() : client_(identity(), pace_, {.patience = Micros::seconds(10)}) {}

  std::shared_ptr<KubeIdentity> identity() {
    kube::Access access;
    access.server = server_.url();
    return std::make_shared<KubeIdentity>(access, files_);
  }
  Write write_of(WriteKind kind, const std::string& name, const std::string& value = "1") {
    Write write{.kind = kind, .resource = kube::kPods, .name = {"n", name}, .body = kube::map_node()};
    kube::put(kube::put(write.body, "spec", kube::map_node()), "value", kube::text_node(value));
    return write;
  }
  kube::WriteOutcome carry_out(const Write& write) {
    const auto outcome = kube::write_carefully(client_, write);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(kube::WriteOutcome{.fate = WriteFate::kRefused});
  }
  void create(const std::string& name, const std::string& value = "1") {
    ASSERT_EQ(carry_out(write_of(WriteKind::kApply, name, value)).fate, WriteFate::kDone);
  }
  void remove(const std::string& name) {
    Write removal = write_of(WriteKind::kDelete, name);
    removal.uid = json::text_at(carry_out(write_of(WriteKind::kApply, name)).object, {"metadata", "uid"});
    ASSERT_EQ(carry_out(removal).fate, WriteFate::kDone);
  }

  void follow(const kube::ReflectorOptions& options = {}) {
    follower_ = std::make_unique<KubeFollower>(kube::kPods, identity(), pace_, queue_, options);
  }
  /// Reads news until the pods are these, as "name=value".
  ::testing::AssertionResult sees(const std::string& wanted) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    std::string found;
    while (std::chrono::steady_clock::now() < end) {
      for (const KubeNews& news : queue_.take(std::chrono::milliseconds(20))) take(news);
      found.clear();
      for (const auto& [name, value] : seen_) found += fmt::format("{}{}={}", found.empty() ? "" : " ", name, value);
      if (found == wanted) return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "wanted " << wanted << ", found " << found;
  }
  void take(const KubeNews& news) {
    for (const kube::Change& change : news.changes) {
      if (change.kind == kube::ChangeKind::kDeleted) {
        EXPECT_EQ(seen_.erase(change.identity.name.name), 1U) << change.identity.name.name;
      } else {
        seen_[change.identity.name.name] = json::text_at(change.object, {"spec", "value"});
      }
    }
  }
  ~Troubles() override { queue_.close(); }

  DiskFiles files_;
  testing::FakeApiServer server_;
  std::shared_ptr<SharedPace> pace_ = std::make_shared<SharedPace>(10'000, 10'000);
  KubeClient client_;
  ChangeQueue queue_;
  std::map<std::string, std::string> seen_;
  std::unique_ptr<KubeFollower> follower_;
};

TEST_F(Troubles, After410DeletionsThatWereMissedAreReported) {
  create("a");
  create("b");
  follow();
  ASSERT_TRUE(sees("a=1 b=1"));
  server_.silence_watches(true);
  remove("a");
  create("c");
  create("b", "2");
  server_.compact();
  server_.silence_watches(false);
  EXPECT_TRUE(sees("b=2 c=1"));
  EXPECT_GE(server_.count_requests("GET", "pods?limit="), 2);
}

TEST_F(Troubles, FramesMayBeSplitAnywhereAndJoined) {
  create("a");
  server_.split_frames(3);
  follow();
  ASSERT_TRUE(sees("a=1"));
  create("b");
  create("a", "2");
  ASSERT_TRUE(sees("a=2 b=1"));
  server_.split_frames(0);
  server_.silence_watches(true);
  for (int i = 0; i < 10; ++i) create("a", fmt::format("{}", i + 10));
  remove("b");
  server_.silence_watches(false);  // eleven frames in one piece
  EXPECT_TRUE(sees("a=19"));
}

TEST_F(Troubles, ErrorFramesEndAWatchAndItGoesOn) {
  create("a");
  follow();
  ASSERT_TRUE(sees("a=1"));
  for (const int code : {410, 500, 504}) {
    server_.break_watches(fmt::format(R"({{"type":"ERROR","object":{{"kind":"Status","code":{}}}}})", code));
    create("a", fmt::format("{}", code));
    EXPECT_TRUE(sees(fmt::format("a={}", code)));
  }
  server_.break_watches("{\"type\":");
  create("b");
  EXPECT_TRUE(sees("a=504 b=1"));
}

TEST_F(Troubles, WatchesThatAreClosedGoOnFromTheLastVersion) {
  create("a");
  follow();
  ASSERT_TRUE(sees("a=1"));
  server_.send_bookmarks();
  for (int i = 0; i < 5; ++i) {
    server_.break_watches();
    create("a", fmt::format("{}", i));
    EXPECT_TRUE(sees(fmt::format("a={}", i)));
  }
  EXPECT_EQ(server_.count_requests("GET", "pods?limit="), 1);
}

TEST_F(Troubles, ASilentWatchIsGivenUpAndResumed) {
  create("a");
  follow({.silence_max = Micros(300'000)});
  ASSERT_TRUE(sees("a=1"));
  server_.silence_watches(true);
  create("a", "2");
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  EXPECT_GE(server_.count_requests("GET", "watch=true"), 2);
  server_.silence_watches(false);
  EXPECT_TRUE(sees("a=2"));
}

TEST_F(Troubles, ListsAreReadInPagesAndBegunAnewIfTheyExpire) {
  for (int i = 0; i < 7; ++i) create(fmt::format("p{}", i));
  server_.add({.kind = TroubleKind::kStatus, .target_part = "continue=", .status = 410});
  server_.add({.kind = TroubleKind::kStatus, .target_part = "continue=", .status = 503});
  follow({.page_size = 3});
  EXPECT_TRUE(sees("p0=1 p1=1 p2=1 p3=1 p4=1 p5=1 p6=1"));
}

TEST_F(Troubles, AnswersThatAreLostAfterTheWriteAreNotWrittenTwice) {
  server_.add({.kind = TroubleKind::kLostAfterWrite, .method = "POST"});
  const auto created = carry_out(write_of(WriteKind::kCreate, "a"));
  EXPECT_EQ(created.fate, WriteFate::kUnknown);
  EXPECT_EQ(json::text_at(created.object, {"metadata", "name"}), "a");
  EXPECT_EQ(server_.count_requests("POST", ""), 1);
  Write patch = write_of(WriteKind::kPatch, "a", "2");
  patch.version = json::text_at(created.object, {"metadata", "resourceVersion"});
  server_.add({.kind = TroubleKind::kLostAfterWrite, .method = "PATCH"});
  const auto patched = carry_out(patch);
  EXPECT_EQ(patched.fate, WriteFate::kUnknown);
  EXPECT_EQ(json::text_at(patched.object, {"spec", "value"}), "2");
  EXPECT_EQ(server_.count_requests("PATCH", ""), 1);
}

TEST_F(Troubles, WritesThatWereNotCarriedOutAreRepeatedAfterAReading) {
  create("a");
  for (const TroubleKind kind : {TroubleKind::kLostBefore, TroubleKind::kStatus}) {
    Write patch = write_of(WriteKind::kPatch, "a", kind == TroubleKind::kStatus ? "status" : "lost");
    const int readings = server_.count_requests("GET", "pods/a");
    patch.version =
        std::string(json::text_at(carry_out(write_of(WriteKind::kApply, "a")).object, {"metadata", "resourceVersion"}));
    server_.add({.kind = kind, .method = "PATCH", .target_part = "pods/a", .status = 500});
    EXPECT_EQ(carry_out(patch).fate, WriteFate::kDone);
    EXPECT_EQ(server_.count_requests("GET", "pods/a"), readings + 1);
  }
}

TEST_F(Troubles, AStormOf429IsWaitedOutAndRetryAfterIsObeyed) {
  server_.add({.kind = TroubleKind::kStatus, .method = "PATCH", .count = 3, .status = 429});
  server_.add({.kind = TroubleKind::kStatus, .method = "PATCH", .status = 429, .retry_after = 1});
  const auto begun = std::chrono::steady_clock::now();
  create("a");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
  EXPECT_EQ(server_.count_requests("PATCH", ""), 5);
}

TEST_F(Troubles, AStormOf409IsReportedEachTime) {
  create("a");
  server_.add({.kind = TroubleKind::kStatus, .method = "PATCH", .count = 10, .status = 409});
  Write patch = write_of(WriteKind::kPatch, "a", "2");
  patch.version = "1";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(carry_out(patch).fate, WriteFate::kConflict);
}

TEST_F(Troubles, AServerThatNeverAnswersIsTimedOut) {
  server_.add({.kind = TroubleKind::kSilent});
  KubeClient hasty(identity(), pace_, {.patience = Micros(0)});
  const auto answer = hasty.ask({.target = "/api/v1/pods?limit=1", .timeout = Micros(300'000)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimedOut);
}

TEST_F(Troubles, RequestsKeepTheirPace) {
  const auto slow = std::make_shared<SharedPace>(20, 1);
  KubeClient client(identity(), slow, {});
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.ask({.target = "/api/v1/pods?limit=1"}));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(200));
}

}  // namespace
}  // namespace berth::edges
