// The schema of a spec and the readers of the API agree, key by key.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "domain/mig/catalogue.h"
#include "domain/scenario/service_json.h"
#include "domain/scenario/service_object.h"
#include "kube/client/write.h"
#include "kube/schemas/definitions.h"
#include "kube/schemas/spec_schema.h"

namespace berth::kube {
namespace {

using scenario::KeyKind;
using scenario::ServiceKey;

// ---- what an API server checks

std::optional<std::string> complaint(const yaml::Node& schema, const yaml::Node& value, const std::string& path);

bool says(const yaml::Node& schema, std::string_view key) {
  const yaml::Node* const found = json::find_member(schema, key);
  return found != nullptr && json::truth_in(*found).value_or(false);
}

std::optional<double> number_of(const yaml::Node& schema, std::string_view key) {
  const yaml::Node* const found = json::find_member(schema, key);
  return found == nullptr ? std::nullopt : json::double_in(*found);
}

std::optional<std::string> number_complaint(const yaml::Node& schema, double number, const std::string& path) {
  const auto minimum = number_of(schema, "minimum");
  const auto maximum = number_of(schema, "maximum");
  if (minimum && (says(schema, "exclusiveMinimum") ? number <= *minimum : number < *minimum)) return path;
  if (maximum && (says(schema, "exclusiveMaximum") ? number >= *maximum : number > *maximum)) return path;
  return std::nullopt;
}

std::optional<std::string> text_complaint(const yaml::Node& schema, const std::string& text, const std::string& path) {
  if (const auto shortest = number_of(schema, "minLength"); shortest && static_cast<double>(text.size()) < *shortest)
    return path;
  if (const auto longest = number_of(schema, "maxLength"); longest && static_cast<double>(text.size()) > *longest)
    return path;
  const std::string pattern(json::text_at(schema, {"pattern"}));
  if (!pattern.empty() && !std::regex_search(text, std::regex(pattern))) return path;
  const yaml::List& words = json::list_at(schema, {"enum"});
  const bool is_word = std::ranges::any_of(words, [&](const yaml::Node& word) { return *json::text_in(word) == text; });
  return words.empty() || is_word ? std::nullopt : std::optional(path);
}

std::optional<std::string> list_complaint(const yaml::Node& schema, const yaml::List& list, const std::string& path) {
  if (const auto least = number_of(schema, "minItems"); least && static_cast<double>(list.size()) < *least) return path;
  if (const auto most = number_of(schema, "maxItems"); most && static_cast<double>(list.size()) > *most) return path;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto found = complaint(*json::find_member(schema, "items"), list[i], fmt::format("{}[{}]", path, i));
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<std::string> map_complaint(const yaml::Node& schema, const yaml::Map& map, const std::string& path) {
  for (const yaml::Node& key : json::list_at(schema, {"required"})) {
    if (std::ranges::find(map, *json::text_in(key), &yaml::Entry::key) == map.end())
      return path + "." + *json::text_in(key);
  }
  const yaml::Node* const properties = json::find_member(schema, "properties");
  const yaml::Node* const others = json::find_member(schema, "additionalProperties");
  for (const yaml::Entry& entry : map) {
    const yaml::Node* property = properties == nullptr ? nullptr : json::find_member(*properties, entry.key);
    if (property == nullptr) property = others;
    const std::string below = path + "." + entry.key;
    if (property == nullptr && !says(schema, "x-kubernetes-preserve-unknown-fields")) return below;
    if (property == nullptr) continue;
    if (auto found = complaint(*property, entry.value, below)) return found;
  }
  return std::nullopt;
}

bool has_type(const yaml::Node& value, std::string_view type) {
  if (type == "object") return std::holds_alternative<yaml::Map>(value.value);
  if (type == "array") return json::list_in(value) != nullptr;
  if (type == "string") return json::text_in(value) != nullptr;
  if (type == "boolean") return json::truth_in(value).has_value();
  if (type == "integer") return json::integer_in<std::int64_t>(value).has_value();
  return type == "number" && json::number_in(value) != nullptr;
}

/// The path of what the schema refuses, as an API server does with unknown fields refused; nothing if it is valid.
std::optional<std::string> complaint(const yaml::Node& schema, const yaml::Node& value, const std::string& path) {
  const std::string_view type = json::text_at(schema, {"type"});
  if (!type.empty() && !has_type(value, type)) return path;
  if (type.empty() && !says(schema, "x-kubernetes-preserve-unknown-fields")) return "no type at " + path;
  if (const auto number = json::double_in(value)) return number_complaint(schema, *number, path);
  if (const std::string* text = json::text_in(value)) return text_complaint(schema, *text, path);
  if (const yaml::List* list = json::list_in(value)) return list_complaint(schema, *list, path);
  if (const auto* map = std::get_if<yaml::Map>(&value.value)) return map_complaint(schema, *map, path);
  return std::nullopt;
}

// ---- the readers

Scenario fleet() {
  Scenario scenario;
  scenario.fleet = {{.model = mig::find_gpu_model("A100-80GB").value(), .count = 4, .usd_per_gpu_hour = Decimal(4)}};
  return scenario;
}

struct ReadSpec {
  ServiceSpec spec;
  std::optional<std::string> failed_at;  ///< as `complaint` says it
};

ReadSpec read_spec(const yaml::Node& spec) {
  yaml::Node root = map_node();
  put(root, "spec", spec);
  yaml::Report report("body");
  ReadSpec read{scenario::read_service_object(yaml::Value(root, report).at("spec"), fleet()), std::nullopt};
  if (report.has_failed()) read.failed_at = report.parts().field();
  return read;
}

// ---- specs that together have every key

constexpr const char* kRows =
    R"([{"model":"m","gpu":"A100-80GB","profile":"1g.10gb","batch":4,"processes":1,"requests_per_second":100,)"
    R"("latency_ms":40}])";

std::string full_spec() {
  return fmt::format(
      R"({{"profile":{{"format":"csv","model":"m","rows":{0}}},"slo":{{"latency_ms":100,"attainment":0.9}},)"
      R"("batching":{{"slo_factor":0.5,"max_processes":2}},"drop":"early",)"
      R"("arrivals":{{"format":"csv","from_second":0,"seconds":5,"scale":1,"smooth_seconds":60,"repeat":true,)"
      R"("rows":[{{"second":0,"requests":3}},{{"second":4,"requests":1}}]}},"start_seconds":4,"accuracy":1,)"
      R"("retraining":{{"every_seconds":600,"offset_seconds":1,"swap_seconds":1,"unfinished":"continue",)"
      R"("seconds_on":{{"1g":6,"2g":5,"3g":4,"4g":3,"7g":2,"full":1}}}},)"
      R"("variants":[{{"name":"int8","profile":{{"format":"csv","model":"m","rows":{0}}},"accuracy":0.9}}],)"
      R"("weight":2,"floor":{{"attainment":0.5}},"pins":[{{"gpu":0,"profile":"1g.10gb","start":0}}],)"
      R"("changes_per_hour":4,"isolation":"mig","trust_domain":"d","expects":{{"requests_per_second":5}},)"
      R"("tier":{{"gpu":"A100-80GB"}},"known_on":["A100-80GB"],)"
      R"("warm_pool":{{"min":1,"max":3,"cold_usd":0.5,"usd_per_hour":50}},"answer_seconds":2,)"
      R"("run":{{"template":"t","parameters":{{"A":"b","C":""}}}},"replicas":{{"min":1,"max":4}},)"
      R"("pod":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}}})",
      kRows);
}

std::string other_spec() {
  return fmt::format(R"({{"profile":{{"format":"csv","model":"m","rows":{}}},"slo":{{"latency_ms":100}},)"
                     R"("arrivals":{{"format":"poisson","requests_per_second":3,"seconds":60}},)"
                     R"("start_seconds":{{"runtime":1,"model":2}},"accuracy":{{"before":0.5,"after":1}},"tier":"auto",)"
                     R"("run":{{"serve":{{"repository":"r","model":"m"}}}}}})",
                     kRows);
}

std::vector<yaml::Node> sample_specs() {
  std::vector<yaml::Node> specs;
  for (const std::string& text : {full_spec(), other_spec()}) {
    specs.push_back(json::parse_document(text, "spec").value());
  }
  return specs;
}

const yaml::Node& spec_schema() {
  static const yaml::Node schema = schema_of_map(scenario::service_keys());
  return schema;
}

/// Calls `visit` with each key of the table whose map is in the spec, its path, and that map.
void visit_keys(yaml::Node& map, const scenario::KeyList& keys, const std::string& path,
                const std::function<void(const ServiceKey&, const std::string&, yaml::Node&)>& visit) {
  for (const ServiceKey& key : keys) {
    const std::string below = path + "." + std::string(key.name);
    visit(key, below, map);
    for (yaml::Entry& entry : std::get<yaml::Map>(map.value)) {
      if (entry.key != key.name) continue;
      if (std::holds_alternative<yaml::Map>(entry.value.value)) visit_keys(entry.value, key.below, below, visit);
      auto* const list = std::get_if<yaml::List>(&entry.value.value);
      if (list == nullptr || key.kind != KeyKind::kMaps) continue;
      visit_keys(list->front(), key.below, below + "[0]", visit);
    }
  }
}

/// Whether the schema keeps unknown keys of the map.
bool is_free(const std::string& path) {
  return path.ends_with(".start_seconds") || path.ends_with(".accuracy") || path.ends_with(".tier");
}

bool has_key(const yaml::Node& map, std::string_view key) { return json::find_member(map, key) != nullptr; }

/// Values that the key must not have.
std::vector<yaml::Node> bad_values(const ServiceKey& key) {
  std::vector<yaml::Node> values;
  if (key.bounds) {
    const auto& bounds = *key.bounds;
    values.push_back(number_node(bounds.is_min_allowed ? bounds.min - 1 : bounds.min));
    values.push_back(number_node(bounds.is_max_allowed ? bounds.max + 1 : bounds.max));
  }
  switch (key.kind) {
    case KeyKind::kText:
      values.push_back(text_node(""));
      values.push_back(text_node(std::string(key.length_max + 1, 'x')));
      values.push_back(number_node(1));
      break;
    case KeyKind::kWhole:
      values.push_back({{}, yaml::Scalar{"1.5", false, yaml::ScalarKind::kNumber}});
      [[fallthrough]];
    case KeyKind::kNumber:
      values.push_back(text_node("1"));
      break;
    case KeyKind::kChoice:
    case KeyKind::kChoiceOrMap:
      values.push_back(text_node("no-such-word"));
      break;
    case KeyKind::kNames:
      values.push_back({{}, yaml::List{}});
      [[fallthrough]];
    case KeyKind::kTruth:
    case KeyKind::kMap:
    case KeyKind::kTexts:
    case KeyKind::kMaps:
    case KeyKind::kTemplate:
      values.push_back(text_node("text"));
      break;
    case KeyKind::kNumberOrMap:
      break;
  }
  return values;
}

class SchemaAndReaders : public ::testing::TestWithParam<int> {
 protected:
  yaml::Node spec_ = sample_specs()[static_cast<std::size_t>(GetParam())];

  /// The readers refuse the spec as it is, at the path or within it; so does the schema, at the path.
  void expect_refused(const std::string& path, const std::string& what) {
    EXPECT_EQ(complaint(spec_schema(), spec_, "spec").value_or("accepted"), path) << what;
    expect_unread(path, what);
  }
  void expect_unread(const std::string& path, const std::string& what) {
    const std::string failed_at = read_spec(spec_).failed_at.value_or("accepted");
    EXPECT_TRUE(failed_at.starts_with(path)) << path << ": " << what << ": " << failed_at;
  }
};

TEST_P(SchemaAndReaders, AcceptTheSample) {
  EXPECT_EQ(complaint(spec_schema(), spec_, "spec"), std::nullopt);
  EXPECT_EQ(read_spec(spec_).failed_at, std::nullopt);
}

TEST_P(SchemaAndReaders, TheSchemaAcceptsWhatTheApiShows) {
  const std::string shown = scenario::service_spec_json(read_spec(spec_).spec, fleet());
  EXPECT_EQ(complaint(spec_schema(), json::parse_document(shown, "shown").value(), "spec"), std::nullopt) << shown;
}

TEST_P(SchemaAndReaders, RefuseTheSameValues) {
  visit_keys(spec_, scenario::service_keys(), "spec",
             [&](const ServiceKey& key, const std::string& path, yaml::Node& map) {
               if (!has_key(map, key.name)) return;
               const yaml::Node before = *json::find_member(map, key.name);
               for (const yaml::Node& value : bad_values(key)) {
                 put(map, key.name, value);
                 expect_refused(path, json::text_of_node(value));
               }
               put(map, key.name, before);
             });
}

TEST_P(SchemaAndReaders, RefuseAMissingKey) {
  visit_keys(spec_, scenario::service_keys(), "spec",
             [&](const ServiceKey& key, const std::string& path, yaml::Node& map) {
               if (!key.is_required || !has_key(map, key.name)) return;
               const yaml::Node before = map;
               auto& entries = std::get<yaml::Map>(map.value);
               std::erase_if(entries, [&](const yaml::Entry& entry) { return entry.key == key.name; });
               expect_refused(path, "missing");
               map = before;
             });
}

TEST_P(SchemaAndReaders, RefuseAKeyThatTheTableDoesNotHave) {
  std::set<std::string> tried;
  visit_keys(spec_, scenario::service_keys(), "spec", [&](const ServiceKey&, const std::string& path, yaml::Node& map) {
    const std::string parent = path.substr(0, path.rfind('.'));
    if (!tried.insert(parent).second) return;
    auto& entries = std::get<yaml::Map>(map.value);
    entries.push_back({"no_such_key", {}, number_node(1)});
    if (is_free(parent)) {
      EXPECT_EQ(complaint(spec_schema(), spec_, "spec"), std::nullopt);
      expect_unread(parent + ".no_such_key", "unknown");
    } else {
      expect_refused(parent + ".no_such_key", "unknown");
    }
    entries.pop_back();
  });
}

INSTANTIATE_TEST_SUITE_P(Samples, SchemaAndReaders, ::testing::Values(0, 1));

TEST(Schemas, TheSamplesHaveEveryKey) {
  std::set<std::string> missing;
  std::set<std::string> seen;
  for (yaml::Node& spec : sample_specs()) {
    visit_keys(spec, scenario::service_keys(), "spec",
               [&](const ServiceKey& key, const std::string& path, const yaml::Node& map) {
                 (has_key(map, key.name) ? seen : missing).insert(path);
               });
  }
  for (const std::string& path : seen) missing.erase(path);
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

TEST(Schemas, AreThoseOfTheDefinitions) {
  const auto definitions = custom_resource_definitions();
  ASSERT_EQ(definitions.size(), 2U);
  EXPECT_EQ(json::text_at(definitions[0], {"metadata", "name"}), "tenants.berth.dev");
  EXPECT_EQ(json::text_at(definitions[0], {"spec", "scope"}), "Cluster");
  EXPECT_EQ(json::text_at(definitions[1], {"metadata", "name"}), "gpuservices.berth.dev");
  EXPECT_EQ(json::text_at(definitions[1], {"spec", "scope"}), "Namespaced");
  const auto refused = [&](std::size_t index, const std::string& text) {
    return complaint(schema_in(definitions[index]), json::parse_document(text, "object").value(), "").value_or("");
  };
  EXPECT_EQ(refused(0, R"({"apiVersion":"berth.dev/v1alpha1","kind":"Tenant","metadata":{"name":"vision"}})"), "");
  EXPECT_EQ(refused(0, R"({"metadata":{"name":"a.b"}})"), ".metadata.name");
  EXPECT_EQ(refused(0, R"({"metadata":{"name":"a"},"spec":{"quota":1}})"), ".spec.quota");
  EXPECT_EQ(refused(1, R"({"metadata":{"name":"a"}})"), ".spec");
  EXPECT_EQ(refused(1, R"({"metadata":{"name":"a"},"spec":)" + full_spec() + "}"), "");
  EXPECT_EQ(refused(1, R"({"metadata":{"name":"a"},"spec":)" + other_spec() +
                           R"(,"status":{"observedGeneration":1,"phase":"Running","slice_count":1,)"
                           R"("serving_slice_count":1,"slices":[{"gpu":"gpu-0","profile":"1g.10gb","start":4,)"
                           R"("role":"inference","state":"serving"}],"conditions":[{"type":"Accepted",)"
                           R"("status":"True","reason":"Accepted","message":"","lastTransitionTime":"t"}]}})"),
            "");
}

}  // namespace
}  // namespace berth::kube
