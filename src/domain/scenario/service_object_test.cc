#include "domain/scenario/service_object.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml/document.h"
#include "domain/mig/catalogue.h"

namespace berth::scenario {
namespace {

/// Three GPUs: two of A100-80GB, one of A30-24GB.
Scenario fleet() {
  Scenario scenario;
  scenario.fleet = {{.model = mig::find_gpu_model("A100-80GB").value(), .count = 2, .usd_per_gpu_hour = {}},
                    {.model = mig::find_gpu_model("A30").value(), .count = 1, .usd_per_gpu_hour = {}}};
  return scenario;
}

constexpr std::string_view kSpec = R"({
  "profile": {"format": "csv", "model": "m", "rows": [
    {"model": "m", "gpu": "A100-80GB", "profile": "2g.20gb", "batch": 8, "processes": 1, "requests_per_second": 300.5,
     "latency_ms": 20},
    {"model": "n", "gpu": "A30", "profile": "full", "batch": 1, "processes": 1, "requests_per_second": 1,
     "latency_ms": 1},
    {"model": "m", "gpu": "A100-80GB", "profile": "1g.10gb", "batch": 4, "processes": 2, "requests_per_second": 100,
     "latency_ms": 30}]},
  "slo": {"latency_ms": 100},
  "arrivals": {"format": "csv", "rows": [{"second": 1, "requests": 10}, {"second": 3, "requests": 20}]}
})";

/// The spec with each `from` replaced by `to`.
std::string changed_spec(const std::vector<std::pair<std::string_view, std::string_view>>& changes) {
  std::string text(kSpec);
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

struct Outcome {
  ServiceSpec service;
  std::optional<yaml::Failure> failure;
};

Outcome read(const std::string& spec, const Scenario& scenario, const std::vector<Pin>& pins_of_others = {}) {
  const auto root = yaml::parse_document("{spec: " + spec + "}", "body");
  EXPECT_TRUE(root.has_value()) << root.error().message;
  if (!root) return {};
  yaml::Report report("body");
  const ServiceSpec service = read_service_object(yaml::Value(*root, report).at("spec"), scenario, pins_of_others);
  return {service, report.has_failed() ? std::optional(report.parts()) : std::nullopt};
}

ServiceSpec accepted(const std::string& spec, const Scenario& scenario = fleet()) {
  const Outcome outcome = read(spec, scenario);
  EXPECT_FALSE(outcome.failure.has_value()) << outcome.failure->field() << ": " << outcome.failure->message;
  return outcome.service;
}

TEST(ServiceObject, HasItsRowsWithinItself) {
  const ServiceSpec service = accepted(std::string(kSpec));
  EXPECT_EQ(service.name + service.tenant, "");
  EXPECT_EQ(service.target, Micros(100'000));
  EXPECT_EQ(service.arrivals, (Arrivals{CountTrace{{0, 10, 0, 20}}, 0, 4, Decimal(1), 60}));
  EXPECT_EQ(service.table.model, "m");
  ASSERT_EQ(service.table.points.size(), 2U);  // of its model, sorted
  EXPECT_EQ(service.table.points[0], (PerformancePoint{"A100-80GB", "1g.10gb", 4, 2, Decimal(100), Decimal(30)}));
  EXPECT_EQ(service.table.points[1].requests_per_second, Decimal(601, 2));
}

std::string with_pod(const std::string& pod) {
  const std::string keys = "\"pod\": " + pod + ", \"slo\":";
  return changed_spec({{"\"slo\":", keys}});
}

TEST(ServiceObject, ChecksWhatAPodOfASliceNeedsAndDoesNotKeepIt) {
  EXPECT_EQ(accepted(with_pod(R"({"metadata": {"labels": {"a": "b"}, "creationTimestamp": null},
                                  "spec": {"containers": [{"name": "c", "image": "i"}]}})")),
            accepted(std::string(kSpec)));
  const std::vector<std::pair<std::string, std::string>> refused = {
      {R"("p")", "spec.pod"},
      {"{}", "spec.pod.spec"},
      {R"({"spec": {}})", "spec.pod.spec.containers"},
      {R"({"spec": {"containers": []}})", "spec.pod.spec.containers"},
      {R"({"spec": {"containers": [{}], "nodeName": "a"}})", "spec.pod.spec.nodeName"},
      {R"({"spec": {"containers": [{}], "schedulingGates": [{}]}})", "spec.pod.spec.schedulingGates"},
      {R"({"spec": {"containers": [{}]}, "metadata": {"name": "x"}})", "spec.pod.metadata.name"},
      {R"({"spec": {"containers": [{}]}, "status": {}})", "spec.pod.status"}};
  for (const auto& [pod, field] : refused) {
    const Outcome outcome = read(with_pod(pod), fleet());
    EXPECT_EQ(outcome.failure ? outcome.failure->field() : "accepted", field) << pod;
  }
}

TEST(ServiceObject, TakesTheOtherFieldsOfAFile) {
  const ServiceSpec service = accepted(changed_spec({
      {"\"slo\"",
       "drop: never, floor: {attainment: 0.9}, pins: [{gpu: 2, profile: 1g.6gb, start: 3}], isolation: gpu,"
       "expects: {requests_per_second: 5}, retraining: {every_seconds: 9, seconds_on: {1g: 3}},"
       "variants: [{name: v, accuracy: 0.5, profile: {format: csv, model: x, rows: [{model: x, gpu: A30, profile: "
       "full, batch: 1, processes: 1, requests_per_second: 1, latency_ms: 1}]}}], \"slo\""},
      {"\"csv\", \"rows\": [{\"second\": 1, \"requests\": 10}, {\"second\": 3, \"requests\": 20}]",
       "poisson, requests_per_second: 2, seconds: 9, repeat: true"},
  }));
  EXPECT_FALSE(service.agreed.attainment);
  EXPECT_EQ(service.drop, DropRule::kNever);
  EXPECT_EQ(service.expects, Decimal(5));
  EXPECT_EQ(service.pins.at(0).slice.gpu, GpuId{2});
  EXPECT_EQ(service.variants.at(0).table.points.at(0).gpu, "A30-24GB");
  EXPECT_EQ(service.retraining->time_on, (std::map<int, Micros>{{1, Micros::seconds(3)}}));
  EXPECT_EQ(service.arrivals, (Arrivals{Generator{Generator::Kind::kPoisson, Decimal(2)}, 0, 9, Decimal(1), 60, true}));
}

TEST(ServiceObject, MayStateTheAgreedShareInTime) {
  const auto with = [](std::string_view attainment) { return changed_spec({{R"({"latency_ms": 100})", attainment}}); };
  EXPECT_EQ(accepted(with(R"({"latency_ms": 100, "attainment": 0.995})")).agreed.attainment, Decimal(995, 1000));
  EXPECT_FALSE(accepted(with(R"({"latency_ms": 100, "attainment": null})")).agreed.attainment);
  for (const char* bad : {"0", "1", "-0.5", "99", "true", "[]"}) {
    const auto failure = read(with(fmt::format(R"({{"latency_ms": 100, "attainment": {}}})", bad)), fleet()).failure;
    ASSERT_TRUE(failure) << bad;
    EXPECT_EQ(failure->field(), "spec.slo.attainment") << bad;
    EXPECT_EQ(failure->wanted, "a number above 0, below 1") << bad;
  }
}

TEST(ServiceObject, MayHaveNoArrivals) {
  const std::string without = std::string(kSpec.substr(0, kSpec.find(",\n  \"arrivals\""))) + "}";
  EXPECT_FALSE(accepted(without).arrivals.is_given());
  EXPECT_EQ(accepted(without).arrivals, Arrivals{});
  EXPECT_FALSE(accepted(without.substr(0, without.size() - 1) + ", arrivals: null}").arrivals.is_given());
}

TEST(ServiceObject, NeedNotFitTheFleet) { EXPECT_EQ(accepted(std::string(kSpec), Scenario{}).table.points.size(), 2U); }

struct BadService {
  std::vector<std::pair<std::string_view, std::string_view>> changes;
  std::string field;
  std::string wanted;
  std::string found;
};

TEST(ServiceObject, MistakesHaveFieldWantedAndFound) {
  const std::vector<BadService> cases = {
      {{{"\"slo\"", "name: x, \"slo\""}},
       "spec.name",
       "one of the keys profile, slo, batching, drop, arrivals, start_seconds, accuracy, retraining, variants, weight, "
       "floor, pins, changes_per_hour, isolation, trust_domain, expects, tier, known_on, "
       "warm_pool, answer_seconds, run, replicas, pod",
       "\"name\""},
      {{{"\"slo\": {\"latency_ms\": 100}", "\"slo\": {\"latency_ms\": 0}"}},
       "spec.slo.latency_ms",
       "a number above 0, at most 1000000000",
       "\"0\""},
      {{{"\"batch\": 4", "\"batch\": 0"}}, "spec.profile.rows[2].batch", "a whole number from 1 to 65536", "\"0\""},
      {{{"\"latency_ms\": 1}", "\"latency_ms\": 0}"}},
       "spec.profile.rows[1].latency_ms",
       "a number above 0, at most 1000000000",
       "\"0\""},
      {{{"\"A30\"", "\"A9\""}}, "spec.profile.rows[1].gpu", "", ""},
      {{{"\"1g.10gb\"", "\"1g.6gb\""}}, "spec.profile.rows[2].profile", "a profile of A100-80GB", "\"1g.6gb\""},
      {{{"\"processes\": 1, ", ""}}, "spec.profile.rows[0].processes", "a whole number from 1 to 1024", "nothing"},
      {{{"\"latency_ms\": 30", "\"latency\": 30"}},
       "spec.profile.rows[2].latency",
       "one of the keys model, gpu, profile, batch, processes, requests_per_second, latency_ms",
       "\"latency\""},
      {{{"1g.10gb\", \"batch\": 4, \"processes\": 2", "2g.20gb\", \"batch\": 8, \"processes\": 1"}},
       "spec.profile.rows[2]",
       "each point once",
       "a second row of model \"m\", A100-80GB, 2g.20gb, batch 8, processes 1"},
      {{{"\"csv\", \"model\": \"m\"", "\"csv\", \"model\": \"o\""}},
       "spec.profile.model",
       "the model of at least one row",
       "\"o\""},
      {{{"\"rows\": [", "\"path\": p.csv, \"rows\": ["}},
       "spec.profile.path",
       "no path (an object has its rows within itself)",
       "\"p.csv\""},
      {{{"\"csv\", \"model\"", "\"parvagpu\", \"model\""}}, "spec.profile.format", "csv", "\"parvagpu\""},
      {{{"\"csv\", \"rows\": [{\"second\"", "\"rps-text\", \"path\": r.txt, \"rows\": [{\"second\""}},
       "spec.arrivals.path",
       "no path (an object has its rows within itself)",
       "\"r.txt\""},
      {{{"\"csv\", \"rows\": [{\"second\"", "\"azure-llm\", \"rows\": [{\"second\""}},
       "spec.arrivals.format",
       "csv, constant, poisson, bursty or diurnal",
       "\"azure-llm\""},
      {{{"\"second\": 3", "\"second\": 1"}},
       "spec.arrivals.rows[1].second",
       "a whole number from 2 to 2591999",
       "\"1\""},
      {{{"\"second\": 3", "\"second\": 2592000"}},
       "spec.arrivals.rows[1].second",
       "a whole number from 2 to 2591999",
       "\"2592000\""},
      {{{"\"requests\": 20", "\"requests\": 10000001"}},
       "spec.arrivals.rows[1].requests",
       "a whole number from 0 to 10000000",
       "\"10000001\""},
      {{{"\"rows\": [{\"second\": 1, \"requests\": 10}, {\"second\": 3, \"requests\": 20}]", "\"rows\": []"}},
       "spec.arrivals.rows",
       "a list of at least one row",
       "an empty list"},
      {{{"\"csv\", \"rows\": [{\"second\"", "\"csv\", from_second: 4, \"rows\": [{\"second\""}},
       "spec.arrivals.from_second",
       "a second of the trace, below 4",
       "4"},
      {{{"\"slo\"", "retraining: {every_seconds: 9, seconds_on: {format: miso, path: m.csv}}, \"slo\""}},
       "spec.retraining.seconds_on.path",
       "no path (an object has its rows within itself)",
       "\"m.csv\""},
      {{{"\"slo\"", "retraining: {every_seconds: 0.999999, seconds_on: {1g: 3}}, \"slo\""}},
       "spec.retraining.every_seconds",
       "a number of at least 1",
       "\"0.999999\""},
      {{{"\"slo\"", "pins: [{gpu: 3, profile: full, start: 0}], \"slo\""}},
       "spec.pins[0].gpu",
       "a whole number from 0 to 2",
       "\"3\""},
  };
  for (const BadService& bad : cases) {
    const Outcome outcome = read(changed_spec(bad.changes), fleet());
    ASSERT_TRUE(outcome.failure.has_value()) << bad.field;
    EXPECT_EQ(outcome.failure->field(), bad.field);
    if (bad.wanted.empty()) continue;  // the wording is the catalogue's
    EXPECT_EQ(outcome.failure->wanted, bad.wanted);
    EXPECT_EQ(outcome.failure->found, bad.found);
  }
}

TEST(ServiceObject, PinsMustNotClashWithThoseOfOthers) {
  const std::string spec = changed_spec({{"\"slo\"", "pins: [{gpu: 0, profile: 3g.40gb, start: 4}], \"slo\""}});
  const Scenario scenario = fleet();
  const auto pin = [&](std::string_view profile, int start) {
    return Pin{Slice{GpuId{0}, start, mig::find_profile(scenario.model_of(GpuId{0}), profile).value()}};
  };
  EXPECT_FALSE(read(spec, scenario, {pin("1g.10gb", 3), pin("2g.20gb", 0)}).failure.has_value());
  const Outcome clash = read(spec, scenario, {pin("1g.10gb", 3), pin("1g.10gb", 4)});
  ASSERT_TRUE(clash.failure.has_value());
  EXPECT_EQ(clash.failure->field(), "spec.pins[0]");
  EXPECT_EQ(clash.failure->message.substr(0, 6), "gpu-0:");
  const Outcome empty = read(spec, Scenario{});
  ASSERT_TRUE(empty.failure.has_value());
  EXPECT_EQ(empty.failure->wanted, "the number of a GPU of the fleet, which is empty");
}

// ---- blobs

const std::string kArrivalsBlob(64, 'a');
const std::string kProfileBlob(64, 'b');
const std::string kListBlob(64, 'c');
const std::string kBrokenBlob(64, 'd');
const std::string kLongBlob(64, 'f');
const std::string kExcessiveBlob(64, '1');

Result<std::optional<BlobRows>> find_rows(const std::string& name) {
  using Rows = std::optional<BlobRows>;
  if (name == kArrivalsBlob) return Rows({.csv = "second,requests\n1,10\n3,20\n"});
  if (name == kProfileBlob) {
    return Rows({.csv = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                        "m,A100-80GB,2g.20gb,8,1,300.5,20\nn,A30,full,1,1,1,1\nm,A100-80GB,1g.10gb,4,2,100,30\n"});
  }
  if (name == kExcessiveBlob) {
    return Rows({.csv = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                        "m,A100-80GB,2g.20gb,1,1,500,10\n"});
  }
  if (name == kListBlob) {
    return Rows({.csv = "",
                 .list = yaml::parse_document("[{second: 1, requests: 10}, {second: 3, requests: 20}]", "l").value()});
  }
  if (name == kLongBlob) return Rows({.csv = std::string(999'996, '\n')});
  if (name == kBrokenBlob) return invalid("wanted rows, found none");
  return Rows();
}

std::string reference(const std::string& name) { return "{\"blob\": \"" + name + "\"}"; }

struct BlobOutcome {
  ServiceObject object;
  std::optional<yaml::Failure> failure;
};

BlobOutcome read_with_blobs(const std::string& spec) {
  const auto root = yaml::parse_document("{spec: " + spec + "}", "body");
  yaml::Report report("body");
  ServiceObject object = read_service_object(yaml::Value(*root, report).at("spec"), fleet(), {}, find_rows);
  return {std::move(object), report.has_failed() ? std::optional(report.parts()) : std::nullopt};
}

constexpr std::string_view kArrivalRows = R"([{"second": 1, "requests": 10}, {"second": 3, "requests": 20}])";

TEST(ServiceObject, RowsMayBeThoseOfABlob) {
  const ServiceSpec wanted = accepted(std::string(kSpec));
  for (const std::string& blob : {kArrivalsBlob, kListBlob}) {
    const auto [object, failure] = read_with_blobs(changed_spec({{kArrivalRows, reference(blob)}}));
    ASSERT_FALSE(failure) << failure->message;
    EXPECT_EQ(object.spec, wanted);
    EXPECT_EQ(object.blobs, (RowsBlobs{{"arrivals", blob}}));
  }
  const std::size_t rows = kSpec.find('[');
  const std::string_view profile_rows = kSpec.substr(rows, kSpec.find(']') + 1 - rows);
  const std::string variants = R"("variants": [{"name": "v", "accuracy": 0.5, "profile": {"format": "csv",
    "model": "n", "rows": )" + reference(kProfileBlob) +
                               "}}], \"slo\"";
  const auto [object, failure] =
      read_with_blobs(changed_spec({{profile_rows, reference(kProfileBlob)}, {"\"slo\"", variants}}));
  ASSERT_FALSE(failure) << failure->message;
  EXPECT_EQ(object.spec.table, wanted.table);
  ASSERT_EQ(object.spec.variants.size(), 1U);
  EXPECT_EQ(object.spec.variants[0].table.points.size(), 1U);
  EXPECT_EQ(object.blobs, (RowsBlobs{{"profile", kProfileBlob}, {"variants[0].profile", kProfileBlob}}));
}

TEST(ServiceObject, SaysWhatIsWrongWithAReference) {
  const struct {
    std::string rows;
    std::string field;
    std::string wanted;
    std::string found;
  } cases[] = {
      {reference(std::string(64, 'e')), "spec.arrivals.rows.blob",
       "a blob that is there: PUT /v1/blobs/SHA256 stores one", std::string(64, 'e') + ", which is not there"},
      {reference(std::string(63, 'a')), "spec.arrivals.rows.blob", "the SHA-256 of a blob, 64 digits and letters a-f",
       ""},
      {reference(std::string(64, 'A')), "spec.arrivals.rows.blob", "the SHA-256 of a blob, 64 digits and letters a-f",
       ""},
      {"{\"blob\": 5}", "spec.arrivals.rows.blob", "", ""},
      {"{}", "spec.arrivals.rows.blob", "", ""},
      {"{\"path\": \"x\"}", "spec.arrivals.rows.path", "", ""},
      {reference(kBrokenBlob), "spec.arrivals.rows.blob", "", ""},
      {reference(kProfileBlob), "spec.arrivals.rows.blob", "", ""},
  };
  for (const auto& each : cases) {
    const auto [object, failure] = read_with_blobs(changed_spec({{kArrivalRows, each.rows}}));
    ASSERT_TRUE(failure) << each.rows;
    EXPECT_EQ(failure->field(), each.field) << failure->message;
    if (!each.wanted.empty()) {
      EXPECT_EQ(failure->wanted, each.wanted);
    }
    if (!each.found.empty()) {
      EXPECT_EQ(failure->found, each.found);
    }
  }
}

std::vector<std::string> warnings_of(const std::string& spec) {
  const auto root = yaml::parse_document("{spec: " + spec + "}", "body");
  yaml::Report report("body");
  (void)read_service_object(yaml::Value(*root, report).at("spec"), fleet());
  std::vector<std::string> texts;
  for (const yaml::Warning& warning : report.warnings()) texts.push_back(warning.path + " | " + warning.text);
  return texts;
}

TEST(ServiceObject, WarnsOfRowsThatContradictThemselves) {
  EXPECT_EQ(warnings_of(std::string(kSpec)).size(), 1U);  // one for two rows
  EXPECT_EQ(
      warnings_of(changed_spec({{"\"requests_per_second\": 1,", "\"requests_per_second\": 950,"}, {"300.5", "900.0"}})),
      (std::vector<std::string>{
          "spec.profile.rows | spec.profile.rows: the columns of 2 of 3 rows contradict each other: rate x "
          "latency / (batch x processes) is outside 0.75 to 1.05; the worst, row 1 (A100-80GB, 2g.20gb), has "
          "2.25: 900 requests per second, where 1 process with batches of 8 in 20 ms serves 400"}));
}

TEST(ServiceObject, SaysWhichTablesStateTooMuch) {
  const std::string blob_variant = R"("variants": [{"name": "v", "accuracy": 0.5, "profile": {"format": "csv",
    "model": "m", "rows": )" + reference(kExcessiveBlob) +
                                   "}}], \"slo\"";
  const auto [object, failure] = read_with_blobs(changed_spec({{"300.5", "900.0"}, {"\"slo\"", blob_variant}}));
  ASSERT_FALSE(failure) << failure->message;
  ASSERT_EQ(object.excessive.size(), 2U);
  EXPECT_EQ(object.excessive[0].number, 0U);
  EXPECT_EQ(object.excessive[0].failure.field(), "spec.profile.rows[0].requests_per_second");
  EXPECT_EQ(object.excessive[0].failure.found, "900");
  EXPECT_EQ(object.excessive[1].number, 1U);
  EXPECT_EQ(object.excessive[1].failure.field(), "spec.variants[0].profile.rows.blob");
  EXPECT_EQ(object.excessive[1].failure.found, "500 in line 2");
}

/// The spec with that many variants whose tables are one row each.
std::string with_variants(std::int64_t count) {
  std::string variants;
  for (std::int64_t number = 0; number < count; ++number) {
    variants += number == 0 ? "" : ",";
    variants += R"({"name": "v)" + std::to_string(number) +
                R"(", "accuracy": 0.5, "profile": {"format": "csv", "model": "m", "rows": [{"model": "m", "gpu": "A30",
                "profile": "full", "batch": 1, "processes": 1, "requests_per_second": 1, "latency_ms": 1}]}})";
  }
  return changed_spec({{"\"slo\"", "\"variants\": [" + variants + "], \"slo\""}});
}

TEST(ServiceObject, HasABoundedNumberOfVariants) {
  EXPECT_EQ(accepted(with_variants(kVariantsMax)).variants.size(), std::size_t{kVariantsMax});
  const std::string too_many = with_variants(kVariantsMax + 1);
  const auto [service, failure] = read(too_many, fleet());
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->field(), "spec.variants");
  EXPECT_EQ(failure->wanted, "at most 64 variants");
  EXPECT_EQ(failure->found, "65");
  const auto root = yaml::parse_document("{spec: " + too_many + "}", "row");
  yaml::Report report("row");
  const ServiceSpec before = read_accepted_service_object(yaml::Value(*root, report).at("spec"), fleet());
  EXPECT_FALSE(report.has_failed()) << "an earlier version accepted it";
  EXPECT_EQ(before.variants.size(), std::size_t{kVariantsMax + 1});
}

TEST(ServiceObject, ItsTablesHaveABoundedNumberOfRowsTogether) {
  const std::string model = R"({"name": "v", "accuracy": 0.5, "profile": {"format": "csv", "model": "n", "rows": )";
  const auto with_rows = [&](const std::string& last) {
    return changed_spec(
        {{"\"slo\"", "\"variants\": [" + model + reference(kProfileBlob) + "}}, " + "{\"name\": \"w\"," +
                         model.substr(model.find("\"accuracy\"")) + reference(last) + "}}], \"slo\""}});
  };
  EXPECT_FALSE(read_with_blobs(with_rows(kProfileBlob)).failure);
  const auto [object, failure] = read_with_blobs(with_rows(kLongBlob));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->field(), "spec.variants[1].profile.rows") << failure->message;
  EXPECT_EQ(failure->wanted, "at most 1000000 rows in the profile and the variants of a service together");
  EXPECT_EQ(failure->found, "1000001") << "3 of the profile, 3 of one blob, 999,995 of the other";
}

TEST(ServiceObject, WithoutBlobsAReferenceIsNoListOfRows) {
  const auto [service, failure] = read(changed_spec({{kArrivalRows, reference(kArrivalsBlob)}}), fleet());
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->field(), "spec.arrivals.rows");
}

}  // namespace
}  // namespace berth::scenario
