#include "kube/services/service_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/services/custom_resources.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ObjectName kDetector{"vision", "detector"};
constexpr const char* kSpec = R"({"slo":{"latency_ms":100},"pod":{"spec":{"containers":[]}}})";
constexpr const char* kWall = "2026-11-30T10:00:00.000000Z";

yaml::Node parsed(const std::string& text) { return json::parse_document(text, "test").value(); }

struct Stated {
  std::string uid = "u1";
  std::string version = "10";
  int generation = 1;
  std::string rest = {};  ///< of the metadata
  std::string status = "{}";
};

Change service(const std::string& spec, const Stated& stated = {}, const ObjectName& name = kDetector) {
  return {ChangeKind::kModified,
          {name, stated.uid, stated.version},
          parsed(R"({"metadata":{"generation":)" + std::to_string(stated.generation) + stated.rest + R"(},"spec":)" +
                 spec + R"(,"status":)" + stated.status + "}")};
}
Change tenant(const std::string& name, const std::string& labels = "{}") {
  return {ChangeKind::kAdded,
          {{"", name}, "t-" + name, "5"},
          parsed(R"({"metadata":{"generation":1,"labels":)" + labels + "},\"spec\":{}}")};
}
Change gone(const ObjectName& name) { return {ChangeKind::kDeleted, {name, "u1", "99"}, {}}; }

std::string line_of(const SpecWrite& write) { return std::string(write.method()) + " " + write.path(); }

/// A session that accepts what is not in `refused`, and the objects of a cluster.
class ServiceObjectsTest : public ::testing::Test {
 protected:
  ServiceObjectsTest() {
    objects_.note_listed("tenants");
    objects_.note_listed("gpuservices");
  }
  std::vector<std::string> settle() {
    std::vector<std::string> lines;
    for (const SpecWrite& write : objects_.decide(held_, now_)) {
      lines.push_back(line_of(write));
      bodies_.push_back(write.body);
      const SpecAnswer answer = refused_.contains(write.service) ? refused_.at(write.service) : SpecAnswer{};
      objects_.take_answer(write, answer, now_, wall_);
      if (answer.verdict != SpecVerdict::kAccepted) continue;
      const ObjectName name{write.tenant, write.service};
      if (write.kind == SpecWriteKind::kPutTenant) held_.tenants.insert(write.tenant);
      if (write.kind == SpecWriteKind::kPutService) held_.services.insert(name);
      if (write.kind == SpecWriteKind::kDeleteTenant) held_.tenants.erase(write.tenant);
      if (write.kind == SpecWriteKind::kDeleteService) held_.services.erase(name);
    }
    return lines;
  }
  std::vector<std::string> written() {
    std::vector<std::string> lines;
    for (const StatusWrite& each : objects_.statuses([this](const ObjectName&) { return view_; }, now_)) {
      lines.push_back(json::text_of_node(each.write.body));
      last_ = each;
      const std::string body = R"({"metadata":{"resourceVersion":")" + std::to_string(++version_) + R"("},"status":)" +
                               json::text_of_node(*json::find_member(each.write.body, "status")) + "}";
      objects_.take_outcome(each, WriteOutcome{.fate = WriteFate::kDone, .object = parsed(body)}, now_);
    }
    return lines;
  }
  void pass(Micros time) { now_ = now_ + time; }

  ServiceObjects objects_;
  HeldSpecs held_;
  std::map<std::string, SpecAnswer> refused_;
  std::optional<ServiceView> view_ = ServiceView{
      .phase = "Running",
      .conditions = {{"Placed", "True", "HasSlices", "", kWall}},
      .slices = {{"gpu-0", "1g.10gb", 4, "inference", "serving"}, {"gpu-1", "2g.20gb", 0, "inference", "creating"}}};
  std::vector<std::string> bodies_;
  StatusWrite last_;
  Instant now_ = Instant(1'000'000'000);
  std::string wall_ = kWall;
  int version_ = 1'000;
};

TEST_F(ServiceObjectsTest, NothingIsDecidedBeforeBothKindsAreListed) {
  ServiceObjects objects;
  objects.take("gpuservices", service(kSpec));
  objects.note_listed("gpuservices");
  EXPECT_THAT(objects.decide({.tenants = {"old"}, .services = {}}, now_), IsEmpty());
  EXPECT_THAT(objects.statuses([](const ObjectName&) { return std::nullopt; }, now_), IsEmpty());
}

TEST_F(ServiceObjectsTest, ANamespaceIsATenantWithDefaultsUntilThereIsATenant) {
  objects_.take("gpuservices", service(kSpec));
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision", "PUT /v1/tenants/vision/services/detector"));
  EXPECT_EQ(bodies_[1], R"({"metadata":{"labels":{}},"spec":)" + std::string(kSpec) + "}");
  EXPECT_THAT(settle(), IsEmpty());
  objects_.take("tenants", tenant("vision", R"({"team":"seven"})"));
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision"));
  EXPECT_EQ(bodies_[2], R"({"metadata":{"labels":{"team":"seven"}},"spec":{}})");
  objects_.take("tenants", gone({"", "vision"}));
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision"));
  EXPECT_EQ(bodies_[3], R"({"metadata":{"labels":{}},"spec":{}})");
  ASSERT_NE(objects_.pod_of(kDetector), nullptr);
  EXPECT_EQ(objects_.pod_of({"vision", "other"}), nullptr);
}

TEST_F(ServiceObjectsTest, WhatNoObjectStatesIsRemovedServicesFirst) {
  held_ = {.tenants = {"old", "vision"}, .services = {{"old", "a"}, {"vision", "b"}}};
  objects_.take("gpuservices", service(kSpec));
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision", "PUT /v1/tenants/vision/services/detector",
                                    "DELETE /v1/tenants/old/services/a", "DELETE /v1/tenants/vision/services/b",
                                    "DELETE /v1/tenants/old"));
  objects_.take("gpuservices", gone(kDetector));
  EXPECT_THAT(settle(), ElementsAre("DELETE /v1/tenants/vision/services/detector", "DELETE /v1/tenants/vision"));
  EXPECT_THAT(settle(), IsEmpty());
}

TEST_F(ServiceObjectsTest, AnObjectThatIsBeingDeletedIsGone) {
  objects_.take("gpuservices", service(kSpec));
  settle();
  objects_.take("gpuservices",
                service(kSpec, {.version = "11", .rest = R"(,"deletionTimestamp":"2026-11-30T10:00:00Z")"}));
  EXPECT_THAT(settle(), ElementsAre("DELETE /v1/tenants/vision/services/detector", "DELETE /v1/tenants/vision"));
}

TEST_F(ServiceObjectsTest, OnlyAChangeOfSpecOrLabelsIsGivenAgain) {
  objects_.take("gpuservices", service(kSpec));
  settle();
  objects_.take("gpuservices", service(kSpec, {.version = "11", .status = R"({"phase":"Running"})"}));
  EXPECT_THAT(settle(), IsEmpty());
  objects_.take("gpuservices", service(kSpec, {.version = "12", .rest = R"(,"labels":{"a":"b"})"}));
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision/services/detector"));
  objects_.take("gpuservices", service("{}", {.version = "9"}));  // an older state that comes late
  EXPECT_THAT(settle(), IsEmpty());
}

TEST_F(ServiceObjectsTest, ARefusalIsACondition) {
  const std::string error =
      R"({"error":{"code":"invalid","message":"body: spec.tier.gpu: wanted one of the fleet: A30-24GB, found \"X\"",)"
      R"("field":"spec.tier.gpu","wanted":"one of the fleet: A30-24GB","found":"\"X\""}})";
  refused_["detector"] = answer_of_api({.kind = SpecWriteKind::kPutService, .tenant = "vision"}, 422, error);
  EXPECT_EQ(refused_["detector"].field, "spec.tier.gpu");
  objects_.take("gpuservices", service(kSpec, {.generation = 3}));
  settle();
  view_ = std::nullopt;
  EXPECT_THAT(written(),
              ElementsAre(R"({"status":{"observedGeneration":3,"phase":"Refused","slice_count":0,)"
                          R"("serving_slice_count":0,"slices":[],"conditions":[{"type":"Accepted","status":"False",)"
                          R"("reason":"Invalid","message":"spec.tier.gpu: wanted one of the fleet: A30-24GB, )"
                          R"(found \"X\"","lastTransitionTime":"2026-11-30T10:00:00.000000Z"}]}})"));
  EXPECT_EQ(last_.write.uid, "u1");
  EXPECT_EQ(last_.write.subresource, "status");
  pass(Micros::seconds(29));
  EXPECT_THAT(settle(), IsEmpty());
  pass(Micros::seconds(1));
  wall_ = "2026-11-30T10:00:30.000000Z";
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision/services/detector"));
  EXPECT_THAT(written(), IsEmpty());  // the same refusal
  refused_.clear();
  pass(kRefusedSpecAgain);
  settle();
  EXPECT_THAT(written(), ElementsAre(HasSubstr(R"("status":"True","reason":"Accepted","message":"",)"
                                               R"("lastTransitionTime":"2026-11-30T10:00:30.000000Z")")));
}

TEST_F(ServiceObjectsTest, TheMessageOfARefusalHasItsField) {
  refused_["detector"] = {
      .verdict = SpecVerdict::kRefused, .field = "spec.pins", .message = "the slices of a and b overlap"};
  objects_.take("gpuservices", service(kSpec));
  settle();
  EXPECT_THAT(written(), ElementsAre(HasSubstr(R"("message":"spec.pins: the slices of a and b overlap")")));
}

TEST_F(ServiceObjectsTest, ARefusedSpecLeavesTheEarlierOneUnlessItsObjectIsGone) {
  objects_.take("gpuservices", service(kSpec));
  settle();
  refused_["detector"] = {.verdict = SpecVerdict::kRefused, .message = "no"};
  objects_.take("gpuservices", service("{}", {.version = "11", .generation = 2}));
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision/services/detector"));
  EXPECT_THAT(settle(), IsEmpty());
  EXPECT_THAT(written(), ElementsAre(HasSubstr(R"("phase":"Running")")));
  objects_.take("gpuservices", service("{}", {.uid = "u2", .version = "12"}));
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision/services/detector"));
  EXPECT_THAT(settle(), ElementsAre("DELETE /v1/tenants/vision/services/detector"));
  EXPECT_THAT(settle(), IsEmpty());
}

TEST_F(ServiceObjectsTest, AFailedWriteIsTriedAgainAfterASecond) {
  refused_["detector"] = answer_of_api({.kind = SpecWriteKind::kPutService, .tenant = "vision"}, 503, "{}");
  objects_.take("gpuservices", service(kSpec));
  settle();
  EXPECT_THAT(settle(), IsEmpty());
  EXPECT_THAT(written(), ElementsAre(HasSubstr(R"("status":"Unknown","reason":"NotRecorded")")));
  refused_.clear();
  pass(kFailedSpecAgain);
  EXPECT_THAT(settle(), ElementsAre("PUT /v1/tenants/vision/services/detector"));
}

TEST_F(ServiceObjectsTest, AStatusIsWrittenOnChangeAtMostOncePerSecond) {
  objects_.take("gpuservices", service(kSpec));
  objects_.take("tenants", tenant("vision"));
  settle();
  const auto first = written();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_THAT(first[0], HasSubstr(R"({"status":{"observedGeneration":1,"conditions":[{"type":"Accepted")"));
  EXPECT_THAT(first[1], HasSubstr(R"("slice_count":2,"serving_slice_count":1,"slices":[{"gpu":"gpu-0",)"
                                  R"("profile":"1g.10gb","start":4,"role":"inference","state":"serving"})"));
  EXPECT_THAT(first[1], HasSubstr(R"({"type":"Placed","status":"True","reason":"HasSlices")"));
  EXPECT_EQ(last_.text, "status of gpuservices vision/detector: Running");
  view_->phase = "Draining";
  pass(Micros(999'999));
  EXPECT_THAT(written(), IsEmpty());
  pass(Micros(1));
  EXPECT_EQ(written().size(), 1U);
  for (int i = 0; i < 120; ++i) {
    pass(Micros::seconds(1));
    EXPECT_THAT(written(), IsEmpty());
  }
}

TEST_F(ServiceObjectsTest, ARestartDoesNotWriteWhatTheObjectShows) {
  objects_.take("gpuservices", service(kSpec));
  settle();
  written();
  const std::string status = json::text_of_node(*json::find_member(last_.write.body, "status"));
  ServiceObjects after;
  after.note_listed("tenants");
  after.note_listed("gpuservices");
  after.take("gpuservices", service(kSpec, {.status = status}));
  for (const SpecWrite& write : after.decide(held_, now_)) after.take_answer(write, {}, now_, "2027-01-01T00:00:00Z");
  EXPECT_THAT(after.statuses([this](const ObjectName&) { return view_; }, now_), IsEmpty());
}

TEST_F(ServiceObjectsTest, AStatusThatSomebodyChangedIsWrittenAgain) {
  objects_.take("gpuservices", service(kSpec));
  settle();
  written();
  objects_.take("gpuservices", service(kSpec, {.version = "1002", .status = R"({"phase":"Waiting"})"}));
  pass(Micros::seconds(1));
  EXPECT_THAT(written(), IsEmpty());
  pass(kStatusEchoMax);
  EXPECT_EQ(written().size(), 1U);
}

TEST_F(ServiceObjectsTest, AStatusThatWasNotTakenIsTriedLater) {
  objects_.take("gpuservices", service(kSpec));
  settle();
  const auto find_view = [this](const ObjectName&) { return view_; };
  const auto writes = objects_.statuses(find_view, now_);
  ASSERT_EQ(writes.size(), 1U);
  objects_.take_outcome(writes[0], WriteOutcome{.fate = WriteFate::kRefused, .message = "no"}, now_);
  pass(Micros::seconds(1));
  EXPECT_THAT(objects_.statuses(find_view, now_), IsEmpty());
  pass(kStatusEchoMax);
  EXPECT_EQ(objects_.statuses(find_view, now_).size(), 1U);
}

TEST(ServiceView, ReadsTheObjectOfTheApi) {
  const auto view = view_of_api_object(
      parsed(R"({"status":{"phase":"Running","conditions":[{"type":"Placed","status":"True","reason":"HasSlices",)"
             R"("message":"m","since":"2026-01-01T00:00:00Z"}],"slices":[{"gpu":"gpu-3","profile":"1g.10gb","start":6,)"
             R"("role":"inference","state":"serving"}],"last_minute":null}})"));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->phase, "Running");
  EXPECT_THAT(view->conditions, ElementsAre(ConditionView{"Placed", "True", "HasSlices", "m", "2026-01-01T00:00:00Z"}));
  EXPECT_THAT(view->slices, ElementsAre(SliceView{"gpu-3", "1g.10gb", 6, "inference", "serving"}));
  EXPECT_FALSE(view_of_api_object(parsed("{}")).has_value());
}

}  // namespace
}  // namespace berth::kube
