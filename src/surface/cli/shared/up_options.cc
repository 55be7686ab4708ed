#include "surface/cli/shared/up_options.h"

#include <fmt/format.h>

#include <string_view>

#include "base/core/decimal.h"
#include "base/core/text.h"
#include "surface/cli/shared/loopback_address.h"

namespace berth::cli {
namespace {

constexpr const char* kSimulated = "simulated";
constexpr const char* kMeasured = "measured";
constexpr const char* kLocal = "local";
constexpr const char* kAuto = "auto";
constexpr const char* kKubernetes = "kubernetes";  // only `berth operator` can run it
constexpr const char* kSpeed = "10";
constexpr const char* kListen = "127.0.0.1:8642";
constexpr const char* kDeviceMetrics = "127.0.0.1:9400";
constexpr std::int64_t kSpeedMax = 1'000'000;
constexpr std::int64_t kUntilMax = 1'073'741'824;

Result<std::int64_t> number_of(std::string_view option, const std::string& text, std::int64_t max) {
  const auto number = parse_count(text, max);
  if (!number) return invalid(fmt::format("{}: {}", option, number.error().message));
  return *number;
}

Result<double> parse_speed(const std::string& text) {
  if (text == "max") return 0.0;
  const auto speed = Decimal::parse(text);
  if (!speed || speed->sign() <= 0 || *speed > Decimal(kSpeedMax)) {
    return invalid(
        fmt::format("--speed: wanted max or a number above 0 and at most {}, found {}", kSpeedMax, in_quotes(text)));
  }
  return speed->to_double();
}

std::optional<Approval> approval_of(std::string_view word) {
  if (word == "never") return Approval::kNever;
  if (word == "first") return Approval::kFirst;
  if (word == "always") return Approval::kAlways;
  return std::nullopt;
}

Result<void> check_words(const UpOptions& options) {
  const auto wrong = [](std::string_view option, std::string_view wanted, const std::string& found) {
    return invalid(fmt::format("{}: wanted {}, found {}", option, wanted, in_quotes(found)));
  };
  const std::string world = options.world.value_or(kSimulated);
  if (world != kSimulated && world != kLocal && world != kAuto && world != kKubernetes)
    return wrong("--world", "simulated, local or auto", world);
  if (options.load && *options.load != kSimulated && *options.load != kMeasured) {
    return wrong("--load", "simulated or measured", *options.load);
  }
  if (options.dry_run && !options.manage_gpus) return invalid("--dry-run: wanted --manage-gpus with it, found none");
  if (options.hands == "") return wrong("--hands", "the path of a socket", "");
  if (options.nvml == "") return wrong("--nvml", "the file of a library", "");
  if (options.policy && options.policy != "berth" && options.policy != "fixed") {
    return wrong("--policy", "berth or fixed", *options.policy);
  }
  if (options.approval && !approval_of(*options.approval)) {
    return wrong("--approval", "never, first or always", *options.approval);
  }
  if (options.scenario == "") return wrong("--scenario", "a file", "");
  if (options.data == "") return wrong("--data", "a folder", "");
  if (options.journal == "") return wrong("--journal", "a file", "");
  return {};
}

}  // namespace

Result<live::UpRequest> check_up_options(const UpOptions& options) {
  if (auto words = check_words(options); !words) return pass_on(words.error());
  live::UpRequest request{.scenario_path = options.scenario,
                          .nvml_path = options.nvml,
                          .hands_path = options.hands,
                          .manage_gpus = options.manage_gpus,
                          .is_dry_run = options.dry_run,
                          .accepts_gap = options.accept_gap,
                          .has_load = options.load == kSimulated,
                          .measures_load = options.load == kMeasured,
                          .policy = options.policy,
                          .approval = options.approval ? approval_of(*options.approval) : std::nullopt,
                          .data_dir = options.data,
                          .journal_path = options.journal,
                          .config_path = options.config};
  if (options.seed) {
    const auto seed = number_of("--seed", *options.seed, INT64_MAX);
    if (!seed) return pass_on(seed.error());
    request.seed = static_cast<std::uint64_t>(*seed);
  }
  if (options.world == kLocal) request.world = live::WorldKind::kLocal;
  if (options.world == kKubernetes) request.world = live::WorldKind::kKubernetes;
  if (options.world == kAuto) request.world.reset();
  request.is_speed_stated = options.speed.has_value();
  const auto speed = parse_speed(options.speed.value_or(kSpeed));
  if (!speed) return pass_on(speed.error());
  request.speed = *speed;
  if (options.until == "end") {
    request.until_end = true;
  } else if (options.until) {
    const auto until = number_of("--until", *options.until, kUntilMax);
    if (!until) return pass_on(until.error());
    request.until_second = *until;
  }
  auto listen = parse_loopback("--listen", kListen, options.listen.value_or(kListen));
  if (!listen) return pass_on(listen.error());
  request.listen = {.host = std::move(listen->host), .port = listen->port};
  if (!options.device_metrics) return request;
  auto metrics = parse_loopback("--device-metrics", kDeviceMetrics, *options.device_metrics);
  if (!metrics) return pass_on(metrics.error());
  request.device_metrics = {.host = std::move(metrics->host), .port = metrics->port};
  return request;
}

}  // namespace berth::cli
