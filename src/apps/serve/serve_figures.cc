#include "apps/serve/serve_figures.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace berth::serve {
namespace {

std::string host_name() {
  constexpr std::size_t kBytesMax = 256;
  std::string name(kBytesMax, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.substr(0, name.find('\0'));
}

/// No other process has it: when this one began, and its number.
std::string process_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}-{}", std::chrono::duration_cast<std::chrono::microseconds>(now).count(), getpid());
}

serving::RequestOutcome outcome_of(openai::ProxiedOutcome outcome) {
  switch (outcome) {
    case openai::ProxiedOutcome::kAnswered:
      return serving::RequestOutcome::kInTime;
    case openai::ProxiedOutcome::kRejected:
      return serving::RequestOutcome::kRejected;
    case openai::ProxiedOutcome::kFailed:
      return serving::RequestOutcome::kFailed;
    case openai::ProxiedOutcome::kCancelled:
      return serving::RequestOutcome::kCancelled;
  }
  return serving::RequestOutcome::kFailed;
}

}  // namespace

edges::FigureFileOptions figure_file_options(const serving::ServeRequest& request, const ServeDevice& device) {
  const std::string gpu = device.simulated ? device.name : fmt::format("{}@{}", device.name, host_name());
  return {.series = request.series,
          .usage = request.usage,
          .device = {.gpu = gpu, .sku = device.name, .lanes = device.lanes},
          .id_prefix = process_id()};
}

serving::BackendEnd backend_end(const openai::ProxiedRequest& request) {
  return {.outcome = outcome_of(request.outcome),
          .latency = request.ended - request.began,
          .prompt_tokens = request.usage.prompt_tokens,
          .completion_tokens = request.usage.completion_tokens};
}

}  // namespace berth::serve
