#include "surface/cli/warm/warm_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/core/first_error.h"
#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

Result<AppTraceFormat> parse_app_trace_format(std::string_view text) {
  if (text == "azure-functions") return AppTraceFormat::kAzureFunctions;
  if (text == "csv") return AppTraceFormat::kCsv;
  return invalid(fmt::format("--trace-format: wanted azure-functions or csv, found {}", in_quotes(text)));
}

Result<warm::Weigh> parse_weigh(std::string_view text) {
  if (text == "invocations") return warm::Weigh::kInvocations;
  if (text == "apps") return warm::Weigh::kApps;
  return invalid(fmt::format("--weigh: wanted invocations or apps, found {}", in_quotes(text)));
}

Result<std::vector<warm::Policy>> parse_warm_policies(std::string_view text, bool has_memory) {
  const auto words = split_words("--policies", text, "policies");
  if (!words) return pass_on(words.error());
  std::vector<warm::Policy> policies;
  for (const std::string& word : *words) {
    const auto named = warm::policies_named(word, has_memory);
    if (!named) {
      return invalid(fmt::format("--policies: wanted {}{}, found {}", warm::known_policy_words(has_memory),
                                 has_memory ? " with --memory-mib" : "", in_quotes(word)));
    }
    for (const warm::Policy& policy : *named) {
      if (std::ranges::find(policies, policy) != policies.end()) {
        return invalid(fmt::format("--policies: wanted each policy once, found {} twice", policy.name));
      }
      policies.push_back(policy);
    }
  }
  return policies;
}

Result<void> check_warm_paths(const WarmWords& words) {
  if (words.trace.empty()) return invalid("--trace: wanted a file, found an empty path");
  if (words.memory == "") return invalid("--memory: wanted a file, found an empty path");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  if (words.log == "") return invalid("--log: wanted a file, found an empty path");
  if (words.memory_mib && !words.memory)
    return invalid("--memory-mib: wanted --memory with the sizes of the apps, found none");
  return {};
}

/// A log has no column for the policy, and `bound` loads nothing.
Result<void> check_log(const WarmRequest& request) {
  if (!request.log_path) return {};
  if (request.policies.size() != 1) {
    return invalid(fmt::format("--log: wanted one policy in --policies, found {}", request.policies.size()));
  }
  if (request.policies.front().kind == warm::PolicyKind::kBound) {
    return invalid("--log: wanted a policy that loads apps, found bound");
  }
  return {};
}

}  // namespace

OptionTable warm_option_rows(WarmWords& words) {
  return {
      {"--trace", "FILE", "Invocations of apps by the minute, plain or gzip", &words.trace, kRequired},
      {"--trace-format", "WORD", "azure-functions, or csv: app,minute,invocations", &words.trace_format, kRequired},
      {"--memory", "FILE", "Sizes of the apps: HashApp, AverageAllocatedMb_pct50", &words.memory},
      {"--memory-mib", "M", "The memory that loaded apps share; default: enough for all", &words.memory_mib},
      {"--policies", "A,B",
       "all, or fixed-10m, hybrid, optimal, berth, berth-V, curve, ...; with M: lru, greedy-dual, bound, berth",
       &words.policies},
      {"--cold-minutes", "V", "The idle minutes that a cold start is worth", &words.cold_minutes},
      {"--weigh", "WORD", "invocations: every cold start counts alike; apps: every app does", &words.weigh},
      {"--load-seconds", "L", "How long an app takes to load", &words.load_seconds},
      {"--micro-usd-per-idle-hour", "P", "What a loaded, idle app costs", &words.micro_usd_per_idle_hour},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--log", "FILE", "Write the minutes in which each app is loaded, of one policy", &words.log},
  };
}

Result<WarmRequest> check_warm_options(const WarmWords& words) {
  if (auto checked = check_warm_paths(words); !checked) return pass_on(checked.error());
  FirstError first;
  WarmRequest request{
      .trace_path = words.trace,
      .trace_format = first.take(parse_app_trace_format(words.trace_format)),
      .memory_path = words.memory,
      .memory_mib = std::nullopt,
      .policies = first.take(parse_warm_policies(words.policies, words.memory_mib.has_value())),
      .weigh = first.take(parse_weigh(words.weigh)),
      .prices = {.cold_minutes =
                     first.take(whole_option("--cold-minutes", words.cold_minutes, 0, warm::kColdMinutesMax)),
                 .load_seconds =
                     first.take(whole_option("--load-seconds", words.load_seconds, 0, warm::kLoadSecondsMax))},
      .format = first.take(parse_format(words.format)),
      .log_path = words.log,
      .report_dir = words.report};
  if (words.memory_mib) {
    request.memory_mib = first.take(whole_option("--memory-mib", *words.memory_mib, 1, warm::kMemoryMibMax));
  }
  if (words.micro_usd_per_idle_hour) {
    request.prices.micro_usd_per_idle_hour =
        first.take(whole_option("--micro-usd-per-idle-hour", *words.micro_usd_per_idle_hour, 0, warm::kPriceMax));
  }
  if (!first.is_clear()) return first.passed_on();
  if (auto checked = check_log(request); !checked) return pass_on(checked.error());
  return request;
}

}  // namespace berth::cli
