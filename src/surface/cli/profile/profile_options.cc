#include "surface/cli/profile/profile_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/first_error.h"
#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kProfileCudaMax = 63;

Result<std::vector<int>> parse_numbers(std::string_view option, std::string_view text, std::int64_t max) {
  const auto words = split_words(option, text, "numbers");
  if (!words) return pass_on(words.error());
  std::vector<int> numbers;
  for (const std::string& word : *words) {
    const auto number = whole_option(option, word, 1, max);
    if (!number) return pass_on(number.error());
    numbers.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(numbers);
  if (std::ranges::adjacent_find(numbers) == numbers.end()) return numbers;
  return invalid(fmt::format("{}: wanted each once, found one twice: {}", option, in_quotes(text)));
}

Result<double> parse_point_seconds(const std::string& text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  const bool is_number = error == std::errc() && rest == end && std::isfinite(seconds);
  if (is_number && seconds > 0 && seconds <= models::kProfileSecondsMax) return seconds;
  return invalid(fmt::format("--seconds: wanted a number above 0, at most {}, found {}", models::kProfileSecondsMax,
                             in_quotes(text)));
}

Result<std::optional<int>> parse_profile_device(const std::optional<std::string>& text) {
  constexpr std::string_view kCuda = "cuda:";
  if (!text || *text == "cpu") return std::nullopt;
  if (text->starts_with(kCuda)) {
    const auto index = parse_count(std::string_view(*text).substr(kCuda.size()), kProfileCudaMax);
    if (index) return static_cast<int>(*index);
  }
  return invalid(
      fmt::format("--device: wanted cpu, or cuda:N with N from 0 to {}, found {}", kProfileCudaMax, in_quotes(*text)));
}

/// What the figures count as, with the full name of the GPU.
Result<std::string> parse_label(const std::optional<std::string>& text) {
  if (!text) return std::string();
  const std::size_t colon = text->find(':');
  if (colon == std::string::npos) {
    return invalid(fmt::format("--as: wanted GPU:PROFILE such as A30-24GB:1g.6gb, found {}", in_quotes(*text)));
  }
  const auto gpu = mig::find_gpu_model(text->substr(0, colon));
  if (!gpu) return invalid("--as: " + gpu.error().message);
  const std::string profile = text->substr(colon + 1);
  if (!mig::find_profile(*gpu, profile)) {
    return invalid(fmt::format("--as: wanted a profile of {}, found {}", gpu->name, in_quotes(profile)));
  }
  return fmt::format("{}:{}", gpu->name, profile);
}

bool is_model_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

/// Without slashes at its end.
Result<std::string> parse_server_url(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  const bool has_host =
      (url.starts_with("http://") && url.size() > 7) || (url.starts_with("https://") && url.size() > 8);
  const bool is_plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c <= '~'; });
  if (has_host && is_plain) return url;
  return invalid(fmt::format("--url: wanted a server such as http://127.0.0.1:8000, found {}", in_quotes(url)));
}

/// A file, or a model of a server.
Result<void> check_source(const ProfileWords& words) {
  if (words.path.has_value() == words.url.has_value()) {
    return invalid(
        fmt::format("profile: wanted either a model's file or --url, found {}", words.url ? "both" : "none"));
  }
  if (!words.url) return {};
  if (!words.model) return invalid("--url: wanted also --model, the model's name there, found none");
  if (words.device) return invalid("--device: wanted a model's file, found --url: the server has its own device");
  if (words.engine) return invalid("--engine: wanted a model's file, found --url: the server has its own engine");
  return {};
}

Result<void> check_profile_paths(const ProfileWords& words) {
  using Path = std::pair<std::string_view, const std::string*>;
  const std::array<Path, 4> paths = {{{"MODEL", words.path ? &*words.path : nullptr},
                                      {"--inputs", words.inputs ? &*words.inputs : nullptr},
                                      {"--engine", words.engine ? &*words.engine : nullptr},
                                      {"--out", &words.out}}};
  for (const auto& [option, path] : paths) {
    if (path != nullptr && path->empty()) return invalid(fmt::format("{}: wanted a path, found none", option));
  }
  if (!words.model || is_model_name(*words.model)) return {};
  return invalid(fmt::format("--model: wanted letters, digits, '_', '-' and '.', found {}", in_quotes(*words.model)));
}

}  // namespace

OptionTable profile_option_rows(ProfileWords& words) {
  return {
      {"MODEL", "FILE", "The model (ONNX)", &words.path},
      {"--url", "URL", "Or a server of the Open Inference Protocol (v2), such as http://127.0.0.1:8000", &words.url},
      {"--model", "NAME", "The model's name on the server; for a file, the name to store it under", &words.model},
      {"--device", "WORD", "cpu or cuda:N [cpu]", &words.device},
      {"--batches", "LIST", "Batch sizes to measure", &words.batches},
      {"--processes", "LIST", "Concurrent processes of one thread each; with --url, concurrent connections",
       &words.processes},
      {"--inputs", "FILE", "Input rows: an .npz with an array per input [random rows]", &words.inputs},
      {"--as", "GPU:PROFILE", "The GPU and profile that the figures stand for, such as A30-24GB:1g.6gb", &words.as},
      {"--seconds", "NUMBER", "Seconds to measure each point, at least; at most three times as long", &words.seconds},
      {"--seed", "NUMBER", "Seed of random rows and of the order of turns", &words.seed},
      {"--engine", "FILE", "The library of ONNX Runtime [where scripts/setup puts it]", &words.engine},
      {"--out", "DB", "The database, to which the run is added", &words.out, kRequired},
      {"--format", "WORD", "table or json", &words.format},
  };
}

Result<CheckedProfile> check_profile_options(const ProfileWords& words) {
  if (auto checked = check_source(words); !checked) return pass_on(checked.error());
  if (auto checked = check_profile_paths(words); !checked) return pass_on(checked.error());
  FirstError first;
  CheckedProfile checked{.out = words.out};
  models::ProfileRequest& request = checked.request;
  request.path = words.path.value_or("");
  if (words.url) request.url = first.take(parse_server_url(*words.url));
  request.name = words.model.value_or("");
  request.cuda_index = first.take(parse_profile_device(words.device));
  request.batches = first.take(parse_numbers("--batches", words.batches, models::kProfileBatchMax));
  request.processes = first.take(parse_numbers("--processes", words.processes, models::kProfileProcessesMax));
  request.inputs = words.inputs;
  request.label = first.take(parse_label(words.as));
  request.seconds = first.take(parse_point_seconds(words.seconds));
  request.seed = static_cast<std::uint64_t>(first.take(whole_option("--seed", words.seed, 0, INT64_MAX)));
  request.engine = words.engine;
  checked.format = first.take(parse_format(words.format));
  if (!first.is_clear()) return first.passed_on();
  return checked;
}

}  // namespace berth::cli
