#include "domain/scenario/scenario_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/json/writer.h"
#include "domain/scenario/service_json.h"

namespace berth::scenario {
namespace {

std::string seconds_text(Micros time) { return readable_number(Decimal(time.count(), kMicrosPerSecond)); }

void put_time(json::Writer& json, std::string_view key, Micros time) { json.key(key).written(seconds_text(time)); }

std::string rows_text(const PerformanceTable& table, const std::string& model) {
  std::string text = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n";
  for (const PerformancePoint& point : table.points) {
    text += fmt::format("{},{},{},{},{},{},{}\n", model, point.gpu, point.profile, point.batch, point.processes,
                        readable_number(point.requests_per_second), readable_number(point.latency_ms));
  }
  return text;
}

std::string counts_text(const Arrivals& arrivals) {
  ENSURE(std::holds_alternative<CountTrace>(arrivals.source) && arrivals.scale == Decimal(1));
  std::string text;
  for (const std::uint32_t count : std::get<CountTrace>(arrivals.source).counts) text += fmt::format("{}\n", count);
  return text;
}

/// Writes a scenario.
class ScenarioWriter {
 public:
  explicit ScenarioWriter(const Scenario& scenario) : scenario_(scenario) {}

  std::map<std::string, std::string> write(const std::vector<std::string>& remarks) {
    for (const std::string& remark : remarks) text_ += fmt::format("# {}\n", in_one_line(remark));
    text_ += "berth: 1\n";
    add_fleet();
    add_rules();
    text_ += "services:\n";
    for (const ServiceSpec& service : scenario_.services) add_service(service);
    if (scenario_.layout) add_layout(*scenario_.layout);
    files_[std::string(kScenarioPath)] = std::move(text_);
    return std::move(files_);
  }

 private:
  static std::string in_one_line(std::string text) {
    std::ranges::replace_if(text, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
    return text;
  }

  void add(std::string_view key, const std::string& value) { text_ += fmt::format("{}: {}\n", key, value); }

  void add_fleet() {
    text_ += "fleet:\n";
    for (const FleetEntry& entry : scenario_.fleet) {
      json::Writer json;
      json.open_object().member("gpu", entry.model.name).member("count", entry.count);
      if (entry.usd_per_gpu_hour) json.key("usd_per_gpu_hour").written(readable_number(*entry.usd_per_gpu_hour));
      text_ += fmt::format("  - {}\n", json.close_object().take());
    }
  }

  void add_rules() {
    add("gpus_per_node", std::to_string(scenario_.gpus_per_node));
    if (scenario_.provision_seconds)
      add("scaling", fmt::format("{{provision_seconds: {}}}", *scenario_.provision_seconds));
    add_tiers();
    add("window_seconds", std::to_string(scenario_.window_seconds));
    add("history_seconds", std::to_string(scenario_.history_seconds));
    add("observation_delay_seconds", seconds_text(scenario_.observation_delay));
    add("planning_seconds", seconds_text(scenario_.planning));
    json::Writer json;
    const auto write_factor = [](json::Writer& to, const Decimal& factor) { to.written(readable_number(factor)); };
    add("interference", json.list(scenario_.interference, write_factor).take());
    add("fidelity", scenario_.fidelity == Fidelity::kRates ? "rates" : "requests");
    add("objective", scenario_.objective == Objective::kServices ? "services" : "requests");
    json.open_object();
    put_time(json, "destroy_seconds", scenario_.changes.destroy);
    put_time(json, "create_seconds", scenario_.changes.create);
    put_time(json, "plumbing_seconds", scenario_.changes.plumbing);
    add("changes", json.close_object().take());
    if (!scenario_.frozen.empty()) add("frozen", json.list(scenario_.frozen, write_frozen).take());
  }

  void add_tiers() {
    const TierSettings& tiers = scenario_.tiers;
    if (tiers.sure != TierSettings().sure) add("tier_sure", readable_number(tiers.sure));
    if (!tiers.forest) return;
    constexpr const char* kForestFile = "tier-model.json";
    files_[kForestFile] = *tiers.forest;
    add("tier_model", kForestFile);
  }

  static void write_frozen(json::Writer& json, const FrozenWindow& window) {
    json.open_object();
    put_time(json, "from_second", window.from - Instant());
    put_time(json, "seconds", window.until - window.from);
    json.close_object();
  }

  void add_service(const ServiceSpec& service) {
    const std::string stem = stem_of(service.name);
    ServicePaths paths{.profile = fmt::format("profiles/{}.csv", stem),
                       .model = stem,
                       .arrivals = fmt::format("arrivals/{}.txt", stem),
                       .variants = {}};
    files_[paths.profile] = rows_text(service.table, stem);
    files_[paths.arrivals] = counts_text(service.arrivals);
    for (std::size_t index = 0; index < service.variants.size(); ++index) {
      paths.variants.push_back(fmt::format("profiles/{}.variant-{}.csv", stem, index + 1));
      files_[paths.variants.back()] = rows_text(service.variants[index].table, stem);
    }
    text_ += fmt::format("  - {}\n", service_entry_json(service, scenario_, paths));
  }

  /// The name of the service's files: unique, even on a file system that ignores case.
  std::string stem_of(const std::string& name) {
    constexpr std::size_t kLengthMax = 100;
    std::string stem = name.substr(0, kLengthMax);
    const auto is_plain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    };
    std::ranges::replace_if(stem, [&](char c) { return !is_plain(c); }, '_');
    std::string key = stem;
    std::ranges::transform(key, key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const int count = ++stems_[key];
    // A '+' is in no other stem.
    return count == 1 ? stem : fmt::format("{}+{}", stem, count);
  }

  void add_layout(const std::vector<Holding>& layout) {
    text_ += "layout:\n";
    for (auto it = layout.begin(); it != layout.end();) {
      const GpuId gpu = it->slice.gpu;
      json::Writer json;
      json.open_object().member("gpu", gpu.index).open_list("slices");
      for (; it != layout.end() && it->slice.gpu == gpu; ++it) write_slice(json, *it);
      text_ += fmt::format("  - {}\n", json.close_list().close_object().take());
    }
  }

  void write_slice(json::Writer& json, const Holding& holding) const {
    ENSURE(holding.services.size() <= 1);
    const Slice& slice = holding.slice;
    json.open_object().member("profile", profile_name(scenario_.model_of(slice.gpu), slice.profile));
    json.member("start", slice.start);
    if (!holding.services.empty()) {
      json.member("service", scenario_.services[holding.services.front().index].name);
      // Without quotes: the files are YAML.
      json.key("role").written(holding.role == Role::kInference ? "inference" : "retraining");
    }
    json.close_object();
  }

  const Scenario& scenario_;
  std::string text_;
  std::map<std::string, std::string> files_;
  std::map<std::string, int> stems_;
};

}  // namespace

std::map<std::string, std::string> scenario_files(const Scenario& scenario, const std::vector<std::string>& remarks) {
  return ScenarioWriter(scenario).write(remarks);
}

}  // namespace berth::scenario
