#include "domain/scenario/scenario_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/json/text.h"
#include "domain/scenario/service_json.h"

namespace berth::scenario {
namespace {

std::string name_json(std::string_view text) { return json::json_text(nlohmann::ordered_json(text)); }

std::string seconds_text(Micros time) { return readable_number(Decimal(time.count(), kMicrosPerSecond)); }

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
class Writer {
 public:
  explicit Writer(const Scenario& scenario) : scenario_(scenario) {}

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
      json::Members members = {{"gpu", name_json(entry.model.name)}, {"count", std::to_string(entry.count)}};
      if (entry.usd_per_gpu_hour) members.emplace_back("usd_per_gpu_hour", readable_number(*entry.usd_per_gpu_hour));
      text_ += fmt::format("  - {}\n", json::object_text(members));
    }
  }

  void add_rules() {
    add("gpus_per_node", std::to_string(scenario_.gpus_per_node));
    if (scenario_.provision_seconds)
      add("scaling", fmt::format("{{provision_seconds: {}}}", *scenario_.provision_seconds));
    add("window_seconds", std::to_string(scenario_.window_seconds));
    add("history_seconds", std::to_string(scenario_.history_seconds));
    add("observation_delay_seconds", seconds_text(scenario_.observation_delay));
    add("planning_seconds", seconds_text(scenario_.planning));
    std::vector<std::string> factors;
    factors.reserve(scenario_.interference.size());
    for (const Decimal& factor : scenario_.interference) factors.push_back(readable_number(factor));
    add("interference", json::list_text(factors));
    add("fidelity", scenario_.fidelity == Fidelity::kRates ? "rates" : "requests");
    add("objective", scenario_.objective == Objective::kServices ? "services" : "requests");
    add("changes", json::object_text({{"destroy_seconds", seconds_text(scenario_.changes.destroy)},
                                      {"create_seconds", seconds_text(scenario_.changes.create)},
                                      {"plumbing_seconds", seconds_text(scenario_.changes.plumbing)}}));
    std::vector<std::string> frozen;
    frozen.reserve(scenario_.frozen.size());
    for (const FrozenWindow& window : scenario_.frozen) {
      frozen.push_back(json::object_text({{"from_second", seconds_text(window.from - Instant())},
                                          {"seconds", seconds_text(window.until - window.from)}}));
    }
    if (!frozen.empty()) add("frozen", json::list_text(frozen));
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
      std::vector<std::string> slices;
      for (; it != layout.end() && it->slice.gpu == gpu; ++it) slices.push_back(slice_text(*it));
      text_ += fmt::format(
          "  - {}\n", json::object_text({{"gpu", std::to_string(gpu.index)}, {"slices", json::list_text(slices)}}));
    }
  }

  [[nodiscard]] std::string slice_text(const Holding& holding) const {
    ENSURE(holding.services.size() <= 1);
    const Slice& slice = holding.slice;
    json::Members members = {{"profile", name_json(profile_name(scenario_.model_of(slice.gpu), slice.profile))},
                             {"start", std::to_string(slice.start)}};
    if (holding.services.empty()) return json::object_text(members);
    members.emplace_back("service", name_json(scenario_.services[holding.services.front().index].name));
    members.emplace_back("role", holding.role == Role::kInference ? "inference" : "retraining");
    return json::object_text(members);
  }

  const Scenario& scenario_;
  std::string text_;
  std::map<std::string, std::string> files_;
  std::map<std::string, int> stems_;
};

}  // namespace

std::map<std::string, std::string> scenario_files(const Scenario& scenario, const std::vector<std::string>& remarks) {
  return Writer(scenario).write(remarks);
}

}  // namespace berth::scenario
