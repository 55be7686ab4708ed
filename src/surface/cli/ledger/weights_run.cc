#include "surface/cli/ledger/weights_run.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/writer.h"
#include "ledger/weights/weights.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

constexpr const char* kWeightsRule =
    "A slice weighs its dominant share: the larger of its part of the compute slices and of the memory slices, in a "
    "capacity that both divide. Uses that weigh more than the capacity together share the cost of the GPU in "
    "proportion to their weights, so they never pay more than it costs.";
constexpr const char* kUnverifiedMark = "? marks what no primary source confirms.\n";

/// Equal software shares, from two to this many, are shown if their weight is a whole number.
constexpr std::int64_t kEqualSharesMax = 10;

struct EqualShare {
  std::int64_t count = 1;  ///< how many of them make up the GPU
  std::int64_t weight = 0;
};

std::vector<EqualShare> equal_shares(std::int64_t capacity) {
  std::vector<EqualShare> shares;
  for (std::int64_t count = 2; count <= kEqualSharesMax; ++count) {
    const auto weight = ledger::weight_of_share({.part = 1, .whole = count}, capacity);
    if (weight) shares.push_back({.count = count, .weight = *weight});
  }
  return shares;
}

std::string dominance_name(ledger::Dominance dominance) {
  switch (dominance) {
    case ledger::Dominance::kCompute:
      return "compute";
    case ledger::Dominance::kMemory:
      return "memory";
    case ledger::Dominance::kBoth:
      return "both";
  }
  return "";
}

// for programs

void write_profile_weight(json::Writer& json, const GpuModel& model, const ledger::ProfileWeight& each) {
  json.open_object().member("profile", profile_name(model, each.profile)).member("weight", each.weight);
  if (model.is_mig_capable()) {
    json.member("compute_slices", each.compute_slices).member("memory_slices", each.memory_slices);
    json.member("dominant", dominance_name(each.dominance));
  } else {
    json.member("compute_slices", nullptr).member("memory_slices", nullptr).member("dominant", nullptr);
  }
  json.member("is_unverified", each.is_unverified).close_object();
}

void write_gpu_weights(json::Writer& json, const GpuModel& model) {
  const std::int64_t capacity = ledger::capacity_of(model);
  json.open_object().member("gpu", model.name).member("capacity", capacity).open_list("profiles");
  for (const ledger::ProfileWeight& each : ledger::weights_of(model)) write_profile_weight(json, model, each);
  json.close_list().open_list("over_capacity");
  for (const ledger::LayoutWeight& layout : ledger::layouts_over_capacity(model)) {
    json.open_object().open_list("profiles");
    for (const ProfileId profile : layout.profiles) json.value(profile_name(model, profile));
    json.close_list().member("weight", layout.weight).close_object();
  }
  json.close_list().open_list("equal_shares");
  for (const EqualShare& share : equal_shares(capacity)) {
    json.open_object().member("count", share.count).member("weight", share.weight).close_object();
  }
  json.close_list().close_object();
}

std::string weights_json(const std::vector<GpuModel>& models) {
  json::Writer json;
  json.open_object().member("berth", 1).open_list("gpus");
  for (const GpuModel& model : models) write_gpu_weights(json, model);
  json.close_list().close_object();
  return json.take_line();
}

// for people

std::vector<std::string> weight_row(const GpuModel& model, const ledger::ProfileWeight& each) {
  std::vector<std::string> row = {profile_name(model, each.profile), fmt::format("{}", each.weight)};
  if (!model.is_mig_capable()) {
    row.insert(row.end(), 3, std::string(kAbsentText));
    return row;
  }
  row.push_back(fmt::format("{}/{}", each.compute_slices, model.compute_slices));
  row.push_back(fmt::format("{}/{}{}", each.memory_slices, model.units, each.is_unverified ? "?" : ""));
  row.push_back(dominance_name(each.dominance));
  return row;
}

std::string over_capacity_text(const GpuModel& model, const ledger::LayoutWeight& layout) {
  std::string names;
  for (const ProfileId profile : layout.profiles) names += (names.empty() ? "" : " + ") + profile_name(model, profile);
  return fmt::format("Over the capacity: {} weigh {} of {}.\n", names, layout.weight, ledger::capacity_of(model));
}

std::string equal_shares_text(std::int64_t capacity) {
  std::string text;
  for (const EqualShare& share : equal_shares(capacity)) {
    text += fmt::format("{}1/{} is {}", text.empty() ? "" : ", ", share.count, share.weight);
  }
  return "Software shares weigh their fraction of the capacity: " + text + ".\n";
}

std::string gpu_weights_table(const GpuModel& model, bool has_colour) {
  const std::int64_t capacity = ledger::capacity_of(model);
  std::string text = fmt::format("{}: capacity {}", model.name, capacity);
  if (!model.is_mig_capable()) text += ", without MIG";
  text += "\n";
  std::vector<std::vector<std::string>> rows = {{"profile", "weight", "compute", "memory", "dominant"}};
  for (const ledger::ProfileWeight& each : ledger::weights_of(model)) rows.push_back(weight_row(model, each));
  text += styled_table(rows, has_colour);
  for (const ledger::LayoutWeight& layout : ledger::layouts_over_capacity(model)) {
    text += over_capacity_text(model, layout);
  }
  return text + equal_shares_text(capacity);
}

std::string weights_table(const std::vector<GpuModel>& models, bool has_colour) {
  std::string text;
  for (const GpuModel& model : models) text += gpu_weights_table(model, has_colour) + "\n";
  const bool has_marks = text.find('?') != std::string::npos;
  return text + wrapped(kWeightsRule) + "\n" + (has_marks ? kUnverifiedMark : "");
}

}  // namespace

Result<std::string> run_ledger_weights(const LedgerWeightsRequest& request, const VerbContext& context) {
  return request.format == OutputFormat::kJson ? weights_json(request.models)
                                               : weights_table(request.models, context.has_colour());
}

}  // namespace berth::cli
