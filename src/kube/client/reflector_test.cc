#include "kube/client/reflector.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string item(std::string_view name, int version, std::string_view uid = "u") {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"n","uid":"{}","resourceVersion":"{}"}}}})", name, uid,
                     version);
}
KubeAnswer page_of(const std::vector<std::string>& items, int version, std::string_view continuation = "") {
  return {200, fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", version,
                           continuation, fmt::join(items, ","))};
}
std::string line_of(std::string_view type, const std::string& object) {
  return fmt::format(R"({{"type":"{}","object":{}}})", type, object);
}
std::string error_line(int code) { return line_of("ERROR", fmt::format(R"({{"code":{}}})", code)); }

/// A reflector with a clock of its own; changes as texts such as "+a" (added), "*a" (modified), "-a" (removed).
struct Driven {
  Reflector reflector = Reflector(kPods, {.page_size = 2});
  Rng rng = Rng(1);
  Instant now = Instant::at_second(1'000);

  static std::vector<std::string> texts(const std::vector<Change>& changes) {
    std::vector<std::string> texts;
    for (const Change& change : changes) {
      const char sign = change.kind == ChangeKind::kAdded ? '+' : change.kind == ChangeKind::kModified ? '*' : '-';
      texts.push_back(sign + change.identity.name.name);
    }
    return texts;
  }
  std::string list_target() {
    const auto step = reflector.next(now);
    const auto* list = std::get_if<Reflector::ListStep>(&step);
    return list == nullptr ? "not a list" : list->target;
  }
  std::string watch_target() {
    const auto step = reflector.next(now);
    const auto* watch = std::get_if<Reflector::WatchStep>(&step);
    return watch == nullptr ? "not a watch" : watch->target;
  }
  bool waits() { return std::holds_alternative<Reflector::WaitStep>(reflector.next(now)); }
  void pass_wait() {
    const auto step = reflector.next(now);
    if (const auto* wait = std::get_if<Reflector::WaitStep>(&step)) now = wait->until;
  }
  std::vector<std::string> page(const Result<KubeAnswer>& answer) {
    return texts(reflector.take_page(answer, now, rng));
  }
  std::vector<std::string> line(const std::string& text, bool goes_on = true) {
    std::vector<Change> changes;
    EXPECT_EQ(reflector.take_line(text, now, rng, changes), goes_on) << text;
    return texts(changes);
  }
  void end(const Result<KubeAnswer>& outcome = KubeAnswer{200, ""}) { reflector.take_end(outcome, now, rng); }
  void sync() { EXPECT_THAT(page(page_of({item("a", 1), item("b", 2)}, 10)), ElementsAre("+a", "+b")); }
};

TEST(Reflector, ListsPageByPageThenWatchesFromTheVersionOfTheList) {
  Driven driven;
  EXPECT_EQ(driven.list_target(), "/api/v1/pods?limit=2");
  EXPECT_THAT(driven.page(page_of({item("a", 1), item("b", 2)}, 10, "more/")), ElementsAre("+a", "+b"));
  EXPECT_FALSE(driven.reflector.is_synced());
  EXPECT_THAT(driven.list_target(), EndsWith("&continue=more%2F"));
  EXPECT_THAT(driven.page(page_of({item("c", 3)}, 10)), ElementsAre("+c"));
  EXPECT_TRUE(driven.reflector.is_synced());
  EXPECT_THAT(driven.watch_target(), EndsWith("&resourceVersion=10"));
  EXPECT_THAT(driven.line(line_of("ADDED", item("d", 11))), ElementsAre("+d"));
  EXPECT_THAT(driven.line(line_of("MODIFIED", item("a", 12))), ElementsAre("*a"));
  EXPECT_THAT(driven.line(line_of("MODIFIED", item("a", 12))), IsEmpty());  // the same again
  EXPECT_THAT(driven.line(line_of("DELETED", item("b", 13))), ElementsAre("-b"));
  EXPECT_THAT(driven.line(line_of("DELETED", item("b", 13))), IsEmpty());
  EXPECT_THAT(driven.line(line_of("BOOKMARK", R"({"metadata":{"resourceVersion":"20"}})")), IsEmpty());
  driven.end();
  EXPECT_THAT(driven.watch_target(), EndsWith("&resourceVersion=20"));
}

TEST(Reflector, After410ItListsAnewAndReportsWhatItMissed) {
  for (const bool is_frame : {true, false}) {
    Driven driven;
    driven.sync();
    if (is_frame) {
      EXPECT_THAT(driven.line(error_line(410), false), IsEmpty());
      driven.end();
    } else {
      driven.end(KubeAnswer{410, R"({"kind":"Status","code":410})"});
    }
    EXPECT_EQ(driven.list_target(), "/api/v1/pods?limit=2");
    // a is gone, b is another object of that name, c is new.
    EXPECT_THAT(driven.page(page_of({item("b", 21, "v"), item("c", 22)}, 30)), ElementsAre("-b", "+b", "+c", "-a"));
    // The version that was just given is too old again: now it waits.
    static_cast<void>(driven.line(error_line(410), false));
    EXPECT_TRUE(driven.waits());
    driven.pass_wait();
    EXPECT_EQ(driven.list_target(), "/api/v1/pods?limit=2");
  }
}

TEST(Reflector, AContinuationThatExpiredBeginsTheListAnew) {
  Driven driven;
  EXPECT_THAT(driven.page(page_of({item("a", 1), item("b", 2)}, 10, "more")), ElementsAre("+a", "+b"));
  EXPECT_THAT(driven.page(KubeAnswer{410, "{}"}), IsEmpty());
  EXPECT_TRUE(driven.waits());
  driven.pass_wait();
  EXPECT_EQ(driven.list_target(), "/api/v1/pods?limit=2");
  // What the first part of the broken list had, and this one has not, is removed.
  EXPECT_THAT(driven.page(page_of({item("b", 2)}, 20)), ElementsAre("-a"));
}

TEST(Reflector, FailuresOfListsAreWaitedForAndTheSamePartIsAskedAgain) {
  Driven driven;
  static_cast<void>(driven.page(page_of({item("a", 1)}, 10, "more")));
  for (const Result<KubeAnswer>& outcome :
       {Result<KubeAnswer>(fail(ErrorCode::kNoServer, "none")), Result<KubeAnswer>(KubeAnswer{503, "busy"}),
        Result<KubeAnswer>(KubeAnswer{200, "{"})}) {
    EXPECT_THAT(driven.page(outcome), IsEmpty());
    EXPECT_TRUE(driven.waits());
    EXPECT_TRUE(driven.reflector.trouble());
    driven.pass_wait();
    EXPECT_THAT(driven.list_target(), HasSubstr("continue=more"));
  }
  EXPECT_THAT(driven.page(page_of({}, 10)), IsEmpty());
  EXPECT_FALSE(driven.reflector.trouble());
}

TEST(Reflector, AWatchThatBreaksGoesOnFromTheLastVersion) {
  Driven driven;
  driven.sync();
  static_cast<void>(driven.line(line_of("MODIFIED", item("a", 15))));
  driven.end(fail(ErrorCode::kUnavailable, "reset"));
  EXPECT_THAT(driven.watch_target(), EndsWith("=15"));
  driven.end(fail(ErrorCode::kTimedOut, "silent"));
  EXPECT_THAT(driven.watch_target(), EndsWith("=15"));
  // Ended at once, without anything: that may go on for ever, so it waits.
  driven.end();
  EXPECT_TRUE(driven.waits());
  driven.pass_wait();
  EXPECT_THAT(driven.watch_target(), EndsWith("=15"));
  EXPECT_THAT(driven.line(error_line(500), false), IsEmpty());
  driven.end();
  EXPECT_TRUE(driven.waits());
  driven.pass_wait();
  EXPECT_THAT(driven.watch_target(), EndsWith("=15"));
}

TEST(Reflector, ABrokenFrameMeansANewList) {
  Driven driven;
  driven.sync();
  EXPECT_THAT(driven.line("{\"type\":", false), IsEmpty());
  driven.end();
  EXPECT_TRUE(driven.waits());
  driven.pass_wait();
  EXPECT_EQ(driven.list_target(), "/api/v1/pods?limit=2");
  EXPECT_THAT(driven.page(page_of({item("a", 1), item("b", 2)}, 11)), IsEmpty());
}

}  // namespace
}  // namespace berth::kube
