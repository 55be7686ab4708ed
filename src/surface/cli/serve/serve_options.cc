#include "surface/cli/serve/serve_options.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/core/byte_size.h"
#include "base/core/first_error.h"
#include "base/core/text.h"
#include "serving/simulation/policy_name.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/loopback_address.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

using serving::DeviceKind;
using serving::LoopbackAddress;
using serving::ServeRequest;

constexpr std::int64_t kThreadsMax = 64;
constexpr std::int64_t kCudaIndexMax = 63;

Result<LoopbackAddress> parse_serve_address(std::string_view option, const std::string& text,
                                            std::string_view example) {
  auto address = parse_loopback(option, example, text);
  if (!address) return pass_on(address.error());
  return LoopbackAddress{.host = std::move(address->host), .port = address->port};
}

Result<void> parse_device(const std::string& text, ServeRequest& request) {
  constexpr std::string_view kCuda = "cuda:";
  constexpr std::string_view kSimulated = "simulated:";
  if (text == "cpu") return {};
  if (text.starts_with(kCuda)) {
    const auto index = parse_count(text.substr(kCuda.size()), kCudaIndexMax);
    if (!index)
      return invalid(
          fmt::format("--device: wanted cuda:N with N from 0 to {}, found {}", kCudaIndexMax, in_quotes(text)));
    request.device = DeviceKind::kCuda;
    request.cuda_index = static_cast<int>(*index);
    return {};
  }
  if (text.starts_with(kSimulated) && text.size() > kSimulated.size()) {
    request.device = DeviceKind::kSimulated;
    request.device_file = text.substr(kSimulated.size());
    return {};
  }
  return invalid(fmt::format("--device: wanted cpu, cuda:N or simulated:FILE, found {}", in_quotes(text)));
}

Result<std::optional<std::int64_t>> parse_memory(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto bytes = parse_byte_size(*text);
  if (!bytes) return invalid("--memory: " + bytes.error().message);
  return *bytes;
}

Result<std::optional<int>> parse_threads(const ServeWords& words, DeviceKind device) {
  if (!words.threads) return std::nullopt;
  const auto threads = parse_count(*words.threads, kThreadsMax);
  if (!threads || *threads < 1) {
    return invalid(
        fmt::format("--threads: wanted a number from 1 to {}, found {}", kThreadsMax, in_quotes(*words.threads)));
  }
  if (device != DeviceKind::kCpu) {
    return invalid(fmt::format("--threads: wanted with --device cpu alone, found --device {}", words.device));
  }
  return static_cast<int>(*threads);
}

Result<void> check_serve_paths(const ServeWords& words) {
  using Path = std::pair<std::string_view, const std::optional<std::string>*>;
  const std::array<Path, 6> paths = {{{"--repository", &words.repository},
                                      {"--engine", &words.engine},
                                      {"--config", &words.config},
                                      {"--series", &words.series},
                                      {"--usage", &words.usage},
                                      {"--cache", &words.cache}}};
  for (const auto& [option, path] : paths) {
    if (*path && (*path)->empty()) return invalid(fmt::format("{}: wanted a path, found an empty one", option));
  }
  return check_outputs_are_distinct({{"--config", words.config}},
                                    {{"--series", words.series}, {"--usage", words.usage}});
}

/// It has its own models, device, load and address.
Result<ServeRequest> check_demo_options(const ServeWords& words) {
  ServeWords alone;
  alone.demo = true;
  alone.engine = words.engine;
  if (words != alone) return invalid("--demo: wanted no other option but --engine, found another");
  if (auto paths = check_serve_paths(words); !paths) return pass_on(paths.error());
  ServeRequest request;
  request.is_demo = true;
  request.engine = words.engine;
  request.http.host = "127.0.0.1";
  request.grpc.host = "127.0.0.1";
  return request;
}

}  // namespace

OptionTable serve_option_rows(ServeWords& words) {
  return {
      {"--repository", "DIR", "The models, as MODEL/VERSION/model.onnx; read again each second", &words.repository},
      {"--listen", "HOST:PORT", "Where HTTP is served; loopback only, port 0 is any free one", &words.listen},
      {"--grpc", "HOST:PORT", "Where gRPC is served", &words.grpc},
      {"--memory", "SIZE", "For models, such as 2GiB [cpu: 2GiB; simulated: the file's; cuda: 90 % of what is free]",
       &words.memory},
      {"--device", "DEVICE", "cpu, cuda:N, or simulated:FILE, which answers as late as the file states", &words.device},
      {"--threads", "N", "On cpu: batches at a time [the cores that it may use]", &words.threads},
      {"--engine", "FILE", "The library of ONNX Runtime [where scripts/setup puts it]", &words.engine},
      {"--config", "FILE", "Tenants and backends (YAML)", &words.config},
      {"--series", "FILE", "Write a line for each model and second with requests", &words.series},
      {"--usage", "FILE", "Write lane time by tenant, for `berth ledger`", &words.usage},
      {"--cache", "DIR", "Keep optimised models there, which load faster", &words.cache},
      {"--demo", "", "Six generated models, memory for three, load for a minute; then what was saved", &words.demo},
      {"--policy", "WORD", "berth, eager, delay:MICROSECONDS, aimd", &words.policy},
      {"--evict", "WORD", "What makes room for a load of berth: value, lru, or warm (also preloads)", &words.evict},
  };
}

Result<ServeRequest> check_serve_options(const ServeWords& words) {
  if (words.demo) return check_demo_options(words);
  if (!words.repository && !words.config) {
    return invalid("wanted --repository DIR, or --config FILE with backends, found neither");
  }
  if (auto paths = check_serve_paths(words); !paths) return pass_on(paths.error());
  ServeRequest request;
  if (auto device = parse_device(words.device, request); !device) return pass_on(device.error());
  FirstError first;
  request.repository = words.repository;
  request.http = first.take(parse_serve_address("--listen", words.listen, "127.0.0.1:8000"));
  request.grpc = first.take(parse_serve_address("--grpc", words.grpc, "127.0.0.1:8001"));
  request.memory = first.take(parse_memory(words.memory));
  request.threads = first.take(parse_threads(words, request.device));
  request.engine = words.engine;
  request.config = words.config;
  request.series = words.series;
  request.usage = words.usage;
  request.cache = words.cache;
  if (!first.is_clear()) return first.passed_on();
  const auto policy = serving::parse_policy(words.policy);
  if (!policy) return invalid("--policy: " + policy.error().message);
  const auto eviction = serving::parse_eviction(words.evict);
  if (!eviction) return invalid("--evict: " + eviction.error().message);
  request.policy = *policy;
  request.eviction = *eviction;
  return request;
}

}  // namespace berth::cli
