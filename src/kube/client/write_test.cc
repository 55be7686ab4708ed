#include "kube/client/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/json/node_text.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;

/// Answers what it is given, and notes what it is asked.
class ScriptedApi : public KubeApi {
 public:
  explicit ScriptedApi(std::deque<Result<KubeAnswer>> answers) : answers_(std::move(answers)) {}
  [[nodiscard]] Result<KubeAnswer> ask(const KubeCall& call) override {
    methods.push_back(call.method);
    if (answers_.empty()) return fail(ErrorCode::kNoServer, "no more answers");
    auto answer = answers_.front();
    answers_.pop_front();
    return answer;
  }
  [[nodiscard]] Result<KubeAnswer> watch(const KubeCall&, const KubeReading&) override {
    return fail(ErrorCode::kNoServer, "no watch");
  }
  std::vector<std::string> methods;

 private:
  std::deque<Result<KubeAnswer>> answers_;
};

const Result<KubeAnswer> kLost = fail(ErrorCode::kUnavailable, "lost");
KubeAnswer object_at(const std::string& version, const std::string& uid = "u", const std::string& rest = "") {
  return {200, R"({"metadata":{"name":"c","uid":")" + uid + R"(","resourceVersion":")" + version + "\"" + rest + "}}"};
}

Write patch() {
  Write write{.kind = WriteKind::kPatch,
              .resource = kResourceClaims,
              .name = {"n", "c"},
              .uid = "u",
              .version = "7",
              .body = map_node()};
  put(write.body, "x", number_node(1));
  return write;
}

TEST(CallOf, NamesTheVersionTheUidAndTheManager) {
  const KubeCall call = call_of(patch());
  EXPECT_EQ(call.method, "PATCH");
  EXPECT_EQ(call.target, "/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c?fieldManager=berth");
  EXPECT_EQ(call.content_type, "application/merge-patch+json");
  EXPECT_EQ(call.body, R"({"x":1,"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",)"
                       R"("metadata":{"name":"c","namespace":"n","uid":"u","resourceVersion":"7"}})");
  Write removal = patch();
  removal.kind = WriteKind::kDelete;
  EXPECT_EQ(call_of(removal).body, R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"}})");
}

TEST(WriteCarefully, AnAnswerIsItsFate) {
  for (const auto& [status, fate] : std::vector<std::pair<int, WriteFate>>{
           {200, WriteFate::kDone}, {409, WriteFate::kConflict}, {404, WriteFate::kGone}, {422, WriteFate::kRefused}}) {
    ScriptedApi api({KubeAnswer{status, "{}"}});
    const auto outcome = write_carefully(api, patch());
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->fate, fate) << status;
    EXPECT_THAT(api.methods, ElementsAre("PATCH"));
  }
}

TEST(WriteCarefully, AnotherUidIsAConflict) {
  ScriptedApi api({KubeAnswer{422, R"({"details":{"causes":[{"field":"data"},{"field":"metadata.uid"}]}})"}});
  EXPECT_EQ(write_carefully(api, patch())->fate, WriteFate::kConflict);
  ScriptedApi invalid({KubeAnswer{422, R"({"details":{"causes":[{"field":"data"}]}})"}});
  EXPECT_EQ(write_carefully(invalid, patch())->fate, WriteFate::kRefused);
}

TEST(WriteCarefully, AfterALostAnswerTheObjectIsReadBeforeAnythingIsRepeated) {
  ScriptedApi not_done({kLost, object_at("7"), object_at("8")});
  EXPECT_EQ(write_carefully(not_done, patch())->fate, WriteFate::kDone);
  EXPECT_THAT(not_done.methods, ElementsAre("PATCH", "GET", "PATCH"));
  ScriptedApi done({kLost, object_at("8")});
  const auto outcome = write_carefully(done, patch());
  EXPECT_EQ(outcome->fate, WriteFate::kUnknown);
  EXPECT_EQ(json::text_at(outcome->object, {"metadata", "resourceVersion"}), "8");
  ScriptedApi failed({KubeAnswer{500, "{}"}, object_at("7"), KubeAnswer{200, "{}"}});
  EXPECT_EQ(write_carefully(failed, patch())->fate, WriteFate::kDone);
  ScriptedApi other({kLost, object_at("7", "v")});
  EXPECT_EQ(write_carefully(other, patch())->fate, WriteFate::kConflict);
  ScriptedApi gone({kLost, KubeAnswer{404, "{}"}});
  EXPECT_EQ(write_carefully(gone, patch())->fate, WriteFate::kGone);
  ScriptedApi away({kLost, fail(ErrorCode::kNoServer, "away")});
  EXPECT_FALSE(write_carefully(away, patch()));
}

TEST(WriteCarefully, ADeletionIsRepeatedOnlyForTheSameObject) {
  Write removal = patch();
  removal.kind = WriteKind::kDelete;
  for (const auto& answer :
       {object_at("8", "v"), KubeAnswer{404, "{}"}, object_at("8", "u", R"(,"deletionTimestamp":"t")")}) {
    ScriptedApi api({kLost, answer});
    EXPECT_EQ(write_carefully(api, removal)->fate, WriteFate::kDone);
    EXPECT_THAT(api.methods, ElementsAre("DELETE", "GET"));
  }
  ScriptedApi again({kLost, object_at("8"), KubeAnswer{200, "{}"}});
  EXPECT_EQ(write_carefully(again, removal)->fate, WriteFate::kDone);
  EXPECT_THAT(again.methods, ElementsAre("DELETE", "GET", "DELETE"));
}

TEST(WriteCarefully, RepeatsEnd) {
  ScriptedApi api({kLost, object_at("7"), kLost, object_at("7"), kLost, object_at("7"), kLost, object_at("7"), kLost,
                   object_at("7")});
  EXPECT_FALSE(write_carefully(api, patch()));
  EXPECT_EQ(api.methods.size(), 8U);
}

}  // namespace
}  // namespace berth::kube
