#include "surface/cli/shared/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/core/text.h"
#include "base/yaml/document.h"
#include "base/yaml/reader.h"
#include "gpu/programs/read_rules.h"
#include "surface/cli/shared/config_keys.h"
#include "surface/cli/shared/up_options.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kRetentionDaysMax = 100'000;
constexpr std::size_t kManagedGpusMax = 64;

/// The value of a key that has a flag, checked like the flag.
std::string read_option(const yaml::Value& value, const ConfigKey& key) {
  UpOptions alone;
  alone.*key.option = value.text(key.value);
  if (value.has_failed()) return "";
  if (const auto checked = check_up_options(alone); !checked) {
    std::string_view message = checked.error().message;
    const std::string flag = fmt::format("--{}: ", key.flag_name());
    if (message.starts_with(flag)) message.remove_prefix(flag.size());
    value.fail(message);
  }
  return *(alone.*key.option);
}

/// The value of a key; absent if the map that it is in is.
yaml::Value value_of(const yaml::Value& root, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return root.at(name);
  yaml::Value map = root.at(name.substr(0, dot));
  return map.is_written() ? map.at(name.substr(dot + 1)) : map;
}

UpOptions read_options(const yaml::Value& root) {
  UpOptions options;
  for (const ConfigKey& key : config_keys()) {
    if (key.option == nullptr) continue;
    const yaml::Value value = value_of(root, key.name);
    if (value.is_written()) options.*key.option = read_option(value, key);
  }
  return options;
}

std::string read_hostname_label(const yaml::Value& root) {
  constexpr std::array<std::string_view, 2> kLabels = {"hostname", "Hostname"};
  const yaml::Value value = value_of(root, "device_metrics.hostname_label");
  return std::string(kLabels[value.is_written() ? value.choice(kLabels) : 0]);
}

live::Retention read_retention(const yaml::Value& value) {
  live::Retention retention;
  if (!value.is_written()) return retention;
  value.check_keys(keys_within("retention"));
  for (const ConfigKey& key : config_keys()) {
    if (key.days == nullptr) continue;
    const yaml::Value days = value.at(key.name.substr(key.name.find('.') + 1));
    if (days.is_written()) retention.*key.days = days.whole({1, kRetentionDaysMax});
  }
  return retention;
}

std::int64_t read_series_max(const yaml::Value& metrics) {
  const std::int64_t usual = live::UpRequest().series_max;
  if (!metrics.is_written()) return usual;
  metrics.check_keys(keys_within("metrics"));
  const yaml::Value value = metrics.at("series_max");
  return value.is_written() ? value.whole({live::kSeriesMaxLeast, live::kSeriesMaxMost}) : usual;
}

/// "HH:MM" as minutes of the day, at most `max`.
std::optional<int> parse_time_of_day(std::string_view text, int max) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hours = parse_count(text.substr(0, 2), 24);
  const auto minutes = parse_count(text.substr(3), 59);
  if (!hours || !minutes) return std::nullopt;
  const auto minute = static_cast<int>(*hours * 60 + *minutes);
  return minute <= max ? std::optional(minute) : std::nullopt;
}

int read_time_of_day(const yaml::Value& value, int max, std::string_view wanted) {
  const std::string text = value.text(wanted);
  if (value.has_failed()) return 0;
  const auto minute = parse_time_of_day(text, max);
  if (!minute) value.refuse(wanted);
  return minute.value_or(0);
}

DailyWindow read_window(const yaml::Value& item) {
  item.check_keys(keys_within("no_changes[]"));
  DailyWindow window;
  for (const yaml::Value& day : item.at("days").items("a list of at least one day, such as [mon, fri]", false)) {
    window.days.push_back(static_cast<int>(day.choice(weekday_words())));
  }
  const yaml::Value to = item.at("to");
  window.from_minute = read_time_of_day(item.at("from"), kMinutesPerDay - 1, "a time of the day from 00:00 to 23:59");
  window.to_minute = read_time_of_day(to, kMinutesPerDay, "a time of the day from 00:00 to 24:00");
  if (window.from_minute == window.to_minute) {
    to.refuse("another time than `from`; a whole day is 00:00 to 24:00");
  }
  return window;
}

std::vector<WeekSpan> read_no_changes(const yaml::Value& value) {
  if (!value.is_written()) return {};
  std::vector<DailyWindow> windows;
  for (const yaml::Value& item : value.items("a list of windows")) windows.push_back(read_window(item));
  if (value.has_failed()) return {};
  std::vector<WeekSpan> spans = spans_of(windows);
  if (is_whole_week(spans)) {
    value.refuse("some time of the week for changes (berth plan pause stops them all)", "windows over the whole week");
  }
  return spans;
}

/// A UUID of a whole GPU, as NVML writes it.
std::string read_gpu_uuid(const yaml::Value& value) {
  constexpr std::size_t kBytesMax = 80;
  constexpr std::string_view kWanted = "the UUID of a GPU, such as GPU-88af9caf-d226-5142-8ecd-1887494bf67c";
  std::string uuid = value.text(kWanted);
  if (value.has_failed()) return "";
  const auto is_part = [](char c) { return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  const bool is_uuid = uuid.size() <= kBytesMax && uuid.starts_with("GPU-") && uuid.size() > 4 &&
                       std::ranges::all_of(uuid.substr(4), is_part);
  if (!is_uuid) value.refuse(kWanted);
  return uuid;
}

void read_manage(const yaml::Value& value, Config& config) {
  if (!value.is_written()) return;
  const auto items = value.items("a list of GPUs");
  if (items.size() > kManagedGpusMax) {
    return value.refuse(fmt::format("at most {} GPUs", kManagedGpusMax), fmt::format("{}", items.size()));
  }
  std::vector<device::ManagedGpu>& gpus = config.manage;
  for (const yaml::Value& item : items) {
    item.check_keys(keys_within("manage[]"));
    const yaml::Value uuid = item.at("uuid");
    device::ManagedGpu gpu{.uuid = read_gpu_uuid(uuid)};
    if (const yaml::Value mode = item.at("mig_mode"); mode.is_written()) gpu.has_mig_mode = mode.truth();
    if (std::ranges::find(gpus, gpu.uuid, &device::ManagedGpu::uuid) != gpus.end()) uuid.refuse("each GPU once");
    gpus.push_back(std::move(gpu));
    config.manage_places.push_back(uuid.where());
  }
}

void read_health(const yaml::Value& value, Config& config) {
  if (!value.is_written()) return;
  value.check_keys(keys_within("health"));
  if (const yaml::Value dry_run = value.at("dry_run"); dry_run.is_written()) config.is_health_dry_run = dry_run.truth();
  if (const yaml::Value policy = value.at("policy"); policy.is_written()) config.xid_policy = policy.text("a path");
}

std::vector<std::string> read_pools(const yaml::Value& value) {
  std::vector<std::string> pools;
  for (const yaml::Value& item : value.items("all, or a list of pools", false)) {
    std::string pool = item.name();
    if (std::ranges::find(pools, pool) != pools.end()) item.refuse("each pool once");
    pools.push_back(std::move(pool));
  }
  return pools;
}

void read_kubernetes(const yaml::Value& value, Config& config) {
  if (!value.is_written()) return;
  value.check_keys(keys_within("kubernetes"));
  if (const yaml::Value most = value.at("gpus_max"); most.is_written())
    config.kubernetes_gpus_max = most.whole({1, kube::kOwnedGpusMax});
  const yaml::Value own = value.at("own");
  if (!own.is_written()) return;
  for (const yaml::Value& item : own.items("a list of drivers")) {
    item.check_keys(keys_within("kubernetes.own[]"));
    const yaml::Value driver = item.at("driver");
    kube::OwnedPools entry{.driver = driver.name(), .pools = std::nullopt};
    const yaml::Value pools = item.at("pools");
    if (pools.written() != "all") entry.pools = read_pools(pools);
    if (std::ranges::find(config.kubernetes_own, entry.driver, &kube::OwnedPools::driver) !=
        config.kubernetes_own.end()) {
      driver.refuse("each driver once");
    }
    config.kubernetes_own.push_back(std::move(entry));
  }
}

}  // namespace

Result<Config> read_config(std::string_view text, const std::string& path) {
  const auto tree = yaml::parse_document(text, path);
  if (!tree) return pass_on(tree.error());
  yaml::Report report(path);
  const yaml::Value root(*tree, report);
  Config config;
  root.check_keys(keys_within(""));
  if (const yaml::Value metrics = root.at("device_metrics"); metrics.is_written()) {
    metrics.check_keys(keys_within("device_metrics"));
  }
  config.options = read_options(root);
  config.hostname_label = read_hostname_label(root);
  config.retention = read_retention(root.at("retention"));
  config.series_max = read_series_max(root.at("metrics"));
  config.no_changes = read_no_changes(root.at("no_changes"));
  read_manage(root.at("manage"), config);
  read_health(root.at("health"), config);
  config.programs = programs::read_rules(root);
  read_kubernetes(root.at("kubernetes"), config);
  const yaml::Value sure = root.at("tier_sure");
  if (sure.is_written()) config.tier_sure = sure.number(yaml::number_between(Decimal(0), Decimal(1)));
  const yaml::Value model = root.at("tier_model");
  if (model.is_written()) config.tier_model = model.text("a path");
  const yaml::Value learn = root.at("learn_speed");
  if (learn.is_written()) config.learns_speed = learn.truth();
  if (report.has_failed()) return pass_on(report.failure());
  return config;
}

}  // namespace berth::cli
