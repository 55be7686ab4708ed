#include "surface/cli/shared/config_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "surface/cli/shared/config_keys.h"
#include "surface/cli/shared/up_options.h"

namespace berth::cli {
namespace {

TEST(ConfigFile, HoldsTheFlagsAndMore) {
  const auto config = read_config(
      "scenario: s.yaml\n"
      "seed: 7\n"
      "speed: max\n"
      "until: end\n"
      "listen: 127.0.0.1:0\n"
      "retention: {events_days: 3, usage_days: 1000}\n"
      "metrics: {series_max: 2000}\n"
      "no_changes: [{days: [mon, fri], from: \"08:00\", to: \"18:00\"}, {days: [fri], from: 20:00, to: \"24:00\"}]\n",
      "c.yaml");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->options.scenario, "s.yaml");
  EXPECT_EQ(config->options.seed, "7");
  EXPECT_EQ(config->options.speed, "max");
  EXPECT_EQ(config->options.until, "end");
  EXPECT_EQ(config->options.listen, "127.0.0.1:0");
  EXPECT_FALSE(config->options.policy || config->options.config || config->options.data);
  EXPECT_EQ(config->series_max, 2'000);
  EXPECT_EQ(config->retention, (live::Retention{.events_days = 3, .series_days = 7, .usage_days = 1000}));
  EXPECT_EQ(words_of(config->no_changes), "mon 08:00 to mon 18:00, fri 08:00 to fri 18:00, fri 20:00 to sat 00:00");
}

TEST(ConfigFile, MayHoldAnyFlag) {
  const std::map<std::string_view, std::string> values = {
      {"world", "local"},      {"nvml", "n"},
      {"load", "simulated"},   {"hands", "h"},
      {"scenario", "s"},       {"seed", "1"},
      {"speed", "0.5"},        {"until", "9"},
      {"policy", "fixed"},     {"approval", "first"},
      {"listen", "'[::1]:1'"}, {"data", "d"},
      {"journal", "j"},        {"device_metrics.listen", "localhost:0"}};
  for (const ConfigKey& key : config_keys()) {
    if (key.option == nullptr) continue;
    ASSERT_TRUE(values.contains(key.name)) << key.name;
    std::string text = std::string(key.name) + ": " + values.at(key.name);
    if (const std::size_t dot = text.find('.'); dot < key.name.size()) text.replace(dot, 1, ": {").append("}");
    const auto config = read_config(text, "c.yaml");
    ASSERT_TRUE(config.has_value()) << config.error().message;
    EXPECT_TRUE((config->options.*key.option).has_value()) << key.name;
  }
}

TEST(ConfigFile, NamesTheLabelOfTheMachine) {
  EXPECT_EQ(read_config("{}", "c.yaml")->hostname_label, "hostname");
  const auto config = read_config("device_metrics: {listen: \"[::1]:9400\", hostname_label: Hostname}", "c.yaml");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->hostname_label, "Hostname");
  EXPECT_EQ(config->options.device_metrics, "[::1]:9400");
}

TEST(ConfigFile, SaysWhereItIsWrong) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::string days = "a list of at least one day, such as [mon, fri]";
  const std::string known =
      "world, nvml, hands, load, scenario, seed, speed, until, policy, approval, listen, device_metrics, data, "
      "journal, tier_sure, tier_model, learn_speed, health, retention, metrics, no_changes, manage, templates, "
      "repositories, "
      "uids, separate_users, programs_state, simulated_devices, kubernetes";
  const std::string uuid = "the UUID of a GPU, such as GPU-88af9caf-d226-5142-8ecd-1887494bf67c";
  std::string many = "manage: [";
  for (int i = 0; i < 65; ++i) many += "{uuid: GPU-" + std::to_string(i) + "}, ";
  many += "]";
  const std::vector<Case> cases = {
      {"[]", "c.yaml:1:1: wanted a map, found an empty list"},
      {"seed: 1\npolcy: 2", "c.yaml:2:1: unknown key \"polcy\"; did you mean policy? (known: " + known + ")"},
      {"speed: fast", "c.yaml:1:8: speed: wanted max or a number above 0 and at most 1000000, found \"fast\""},
      {"policy: ekya", "c.yaml:1:9: policy: wanted berth or fixed, found \"ekya\""},
      {"\nlisten: 0.0.0.0:80",
       "c.yaml:2:9: listen: wanted a loopback address (127.0.0.1, ::1 or localhost), as the server "
       "has no TLS yet, found \"0.0.0.0\""},
      {"seed: [1]", "c.yaml:1:7: seed: wanted N, found a list"},
      {"data:", "c.yaml:1:6: data: wanted DIR, found nothing"},
      {"seed: 1\nseed: 2", "c.yaml:2:1: "},
      {"retention: 3", "c.yaml:1:12: retention: wanted a map, found \"3\""},
      {"retention: {event_days: 3}",
       "c.yaml:1:13: retention: unknown key \"event_days\"; did you mean events_days? "
       "(known: events_days, series_days, usage_days)"},
      {"retention: {events_days: 0}",
       "c.yaml:1:26: retention.events_days: wanted a whole number from 1 to 100000, found \"0\""},
      {"retention: {usage_days: 100001}",
       "c.yaml:1:25: retention.usage_days: wanted a whole number from 1 to 100000, found \"100001\""},
      {"device_metrics: 9400", "c.yaml:1:17: device_metrics: wanted a map, found \"9400\""},
      {"device_metrics: {port: 9400}",
       "c.yaml:1:18: device_metrics: unknown key \"port\" (known: listen, hostname_label)"},
      {"device_metrics: {listen: \"0.0.0.0:9400\"}",
       "c.yaml:1:26: device_metrics.listen: wanted a loopback address (127.0.0.1, ::1 or localhost)"},
      {"device_metrics: {hostname_label: host}",
       "c.yaml:1:34: device_metrics.hostname_label: wanted hostname or Hostname, found \"host\""},
      {"metrics: {series_max: 999}",
       "c.yaml:1:23: metrics.series_max: wanted a whole number from 1000 to 1000000, found \"999\""},
      {"metrics: {series: 1}", "c.yaml:1:11: metrics: unknown key \"series\" (known: series_max)"},
      {"no_changes: {days: [mon]}", "c.yaml:1:13: no_changes: wanted a list of windows, found a map"},
      {"no_changes: [{day: [mon]}]",
       "c.yaml:1:15: no_changes[0]: unknown key \"day\"; did you mean days? (known: days, from, to)"},
      {"no_changes: [{from: \"08:00\", to: \"09:00\"}]",
       "c.yaml:1:14: no_changes[0].days: wanted " + days + ", found nothing"},
      {"no_changes: [{days: [], from: \"08:00\", to: \"09:00\"}]",
       "c.yaml:1:21: no_changes[0].days: wanted " + days + ", found an empty list"},
      {"no_changes: [{days: [mon, thur], from: \"08:00\", to: \"09:00\"}]", "c.yaml:1:27: no_changes[0].days[1]: "},
      {"no_changes: [{days: [mon], to: \"09:00\"}]",
       "c.yaml:1:14: no_changes[0].from: wanted a time of the day from 00:00 to 23:59, found nothing"},
      {"no_changes: [{days: [mon], from: \"24:00\", to: \"09:00\"}]",
       "c.yaml:1:34: no_changes[0].from: wanted a time of the day from 00:00 to 23:59, found \"24:00\""},
      {"no_changes: [{days: [mon], from: \"8:00\", to: \"09:00\"}]",
       "c.yaml:1:34: no_changes[0].from: wanted a time of the day from 00:00 to 23:59, found \"8:00\""},
      {"no_changes: [{days: [mon], from: \"08:00\", to: \"24:01\"}]",
       "c.yaml:1:47: no_changes[0].to: wanted a time of the day from 00:00 to 24:00, found \"24:01\""},
      {"no_changes: [{days: [mon], from: \"08:00\", to: \"07:60\"}]", "c.yaml:1:47: no_changes[0].to: wanted a time"},
      {"no_changes: [{days: [mon], from: \"08:00\", to: \"08:00\"}]",
       "c.yaml:1:47: no_changes[0].to: wanted another time than `from`; a whole day is 00:00 to 24:00, found "
       "\"08:00\""},
      {"manage: GPU-1", "c.yaml:1:9: manage: wanted a list of GPUs, found \"GPU-1\""},
      {"manage: [GPU-1]", "c.yaml:1:10: manage[0]: wanted a map, found \"GPU-1\""},
      {"manage: [{id: GPU-1}]", "c.yaml:1:11: manage[0]: unknown key \"id\""},
      {"manage: [{mig_mode: true}]", "c.yaml:1:10: manage[0].uuid: wanted " + uuid + ", found nothing"},
      {"manage: [{uuid: MIG-1}]", "c.yaml:1:17: manage[0].uuid: wanted " + uuid + ", found \"MIG-1\""},
      {"manage: [{uuid: GPU-1A}]", "c.yaml:1:17: manage[0].uuid: wanted " + uuid + ", found \"GPU-1A\""},
      {"manage: [{uuid: GPU-1/2}]", "c.yaml:1:17: manage[0].uuid: wanted " + uuid + ", found \"GPU-1/2\""},
      {"manage: [{uuid: GPU-1, mig_mode: 1}]", "c.yaml:1:34: manage[0].mig_mode: wanted true or false, found \"1\""},
      {"manage: [{uuid: GPU-1}, {uuid: GPU-1, mig_mode: true}]",
       "c.yaml:1:32: manage[1].uuid: wanted each GPU once, found \"GPU-1\""},
      {"kubernetes: [a]", "c.yaml:1:13: kubernetes: wanted a map, found a list"},
      {"kubernetes: {own: [{driver: d}]}",
       "c.yaml:1:20: kubernetes.own[0].pools: wanted all, or a list of pools, found nothing"},
      {"kubernetes: {own: [{driver: d, pools: [a, a]}]}",
       "c.yaml:1:43: kubernetes.own[0].pools[1]: wanted each pool once, found \"a\""},
      {many, "c.yaml:1:9: manage: wanted at most 64 GPUs, found 65"},
      {"no_changes: [{days: [mon, tue, wed, thu, fri, sat, sun], from: \"00:00\", to: \"24:00\"}]",
       "c.yaml:1:13: no_changes: wanted some time of the week for changes"},
  };
  for (const Case& each : cases) {
    const auto config = read_config(each.text, "c.yaml");
    ASSERT_FALSE(config.has_value()) << each.text;
    EXPECT_EQ(config.error().code, ErrorCode::kInvalidInput);
    EXPECT_TRUE(config.error().message.starts_with(each.message)) << each.text << "\n" << config.error().message;
  }
}

/// The YAML reader has a fuzzer of its own; this tests the use of its tree.
TEST(ConfigFile, ThatIsDamagedIsRefusedOrSound) {
  const std::string whole =
      "speed: max\nuntil: 9\nlisten: '[::1]:0'\nretention: {events_days: 3, usage_days: 1000}\n"
      "no_changes: [{days: [mon, fri], from: \"08:00\", to: \"18:00\"}, {days: [sun], from: 20:00, to: \"06:00\"}]\n";
  const std::string bytes = "0123456789:,[]{}\"' \nabdefimnortuy-~";
  Rng rng = Rng(1).split("damage");
  int read_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (std::uint64_t damage = rng.below(4); damage > 0; --damage) {
      const std::size_t at = rng.below(text.size());
      text.replace(at, rng.below(2), 1, bytes[rng.below(bytes.size())]);
    }
    const auto config = read_config(text, "c.yaml");
    if (!config) {
      ASSERT_TRUE(config.error().message.starts_with("c.yaml:")) << config.error().message;
      continue;
    }
    ++read_count;
    ASSERT_TRUE(check_up_options(config->options).has_value()) << text;
    ASSERT_TRUE(is_sound(no_changes_of(config->no_changes, i))) << text;
    ASSERT_TRUE(config->retention.events_days > 0 && config->retention.usage_days <= 100'000) << text;
  }
  EXPECT_GT(read_count, 1000);
}

TEST(ConfigKeys, AreKnownByTheirMap) {
  EXPECT_EQ(keys_within("no_changes[]"), (std::vector<std::string_view>{"days", "from", "to"}));
  EXPECT_EQ(keys_within("retention"), (std::vector<std::string_view>{"events_days", "series_days", "usage_days"}));
  EXPECT_EQ(keys_within("device_metrics"), (std::vector<std::string_view>{"listen", "hostname_label"}));
  EXPECT_EQ(keys_within("").back(), "kubernetes");
  EXPECT_EQ(keys_within("kubernetes"), (std::vector<std::string_view>{"own", "gpus_max"}));
  EXPECT_EQ(keys_within("kubernetes.own[]"), (std::vector<std::string_view>{"driver", "pools"}));
}

}  // namespace
}  // namespace berth::cli
