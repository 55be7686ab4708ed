#include "live/session/in_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "live/session/live_figures.h"
#include "live/session/service_watch.h"
#include "live/session/session.h"

namespace berth::live {
namespace {

/// Rates are sums of doubles: a rate is reached if less than this share of it is missing.
constexpr double kTolerance = 1e-9;

SliceRates rates_of(const Session& session, ServiceId service) {
  SliceRates rates;
  const Snapshot& snapshot = session.snapshot();
  double largest = 0;
  for (const std::size_t index : session.watch().slices_of(service).indices) {
    const StandingSlice& standing = snapshot.slices[index];
    if (standing.is_leaving || standing.holding.role != Role::kInference) continue;
    const double rate = session.figures().rate_on(service, standing);
    (standing.is_ready ? rates.serving : rates.others).push_back(rate);
    largest = std::max(largest, rate);
  }
  if (largest == 0) largest = session.figures().largest_rate_of(service);
  if (largest > 0) rates.largest = largest;
  return rates;
}

/// "94.99": rounded down, so that a share below 95 % is not shown as 95.
std::string percent_below(std::int64_t part, std::int64_t whole) {
  const std::int64_t hundredths = part * 10'000 / whole;
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

std::string slices_words(std::int64_t count) { return fmt::format("{} slice{}", count, count == 1 ? "" : "s"); }

/// What is wrong with a service that missed its share: a word and a clause.
std::pair<std::string, std::string> why_missed(const Need& need, std::size_t serving) {
  const std::string needed = fmt::format(
      "needed: at least {:.1f} requests per second{}", *need.rate,
      need.slices ? fmt::format(", {}", slices_words(*need.slices)) : ", and no slice of the fleet can serve it");
  if (serving == 0) return {"NoneServes", needed + "; no slice serves it"};
  const std::string serve =
      fmt::format("{}; {} that serve{} can answer {:.1f}", needed, slices_words(static_cast<std::int64_t>(serving)),
                  serving == 1 ? "s" : "", need.capacity);
  if (need.slices && *need.slices > static_cast<std::int64_t>(serving)) return {"TooLittleCapacity", serve};
  return {"EnoughNow", serve + " now: the minute has seconds with less, or they are slower than their profile"};
}

}  // namespace

std::optional<std::int64_t> slices_for(double rate, SliceRates rates) {
  if (!rates.largest) return std::nullopt;
  double missing = rate * (1 - kTolerance);
  std::int64_t count = 0;
  for (std::vector<double>* each : {&rates.serving, &rates.others}) {
    std::ranges::sort(*each, std::greater());
    for (const double of_slice : *each) {
      if (missing <= 0) return count;
      missing -= of_slice;
      ++count;
    }
  }
  return missing <= 0 ? count : count + static_cast<std::int64_t>(std::ceil(missing / *rates.largest));
}

Need need_of(const Session& session, ServiceId service) {
  Need need{.agreed = agreed_share(session.scenario().services[service.index])};
  need.rate = session.figures().needed_rate_of(service);
  SliceRates rates = rates_of(session, service);
  need.capacity = std::accumulate(rates.serving.begin(), rates.serving.end(), 0.0);
  if (need.rate) need.slices = slices_for(*need.rate, std::move(rates));
  return need;
}

Condition in_time_condition(const Session& session, const ServiceEntry& service, const Need& need) {
  const LiveFigures& figures = session.figures();
  const InTimeSeen seen = figures.in_time_of(service.id);
  Condition condition{.type = ConditionType::kInTime, .status = seen.status};
  condition.since = seen.since.value_or(std::max(service.meta.created, figures.began()));
  const auto minute = figures.counts_of(service.id);
  if (!minute) {
    condition.reason = "NoFigures";
    condition.message = "no second of it was measured yet";
  } else if (minute->requests == 0) {
    condition.reason = "NoRequests";
    condition.message = "no request came in the last minute";
  } else {
    const std::string_view from = need.agreed.from == "default" ? "the default" : need.agreed.from;
    condition.message = fmt::format("{} % of {} requests in the last {} s in time, agreed: {} % ({})",
                                    percent_below(minute->in_time, minute->requests), minute->requests, minute->seconds,
                                    (need.agreed.share * Decimal(100)).to_string(), from);
    condition.reason = "InTime";
    if (seen.status != ConditionStatus::kFalse) return condition;
    auto [reason, clause] = why_missed(need, session.watch().slices_of(service.id).serving);
    condition.reason = std::move(reason);
    condition.message += "; " + clause;
  }
  return condition;
}

InTimeCounts count_in_time(const Session& session) {
  InTimeCounts counts;
  for (const auto& [name, service] : session.catalog().services) {
    const ConditionStatus status = session.figures().in_time_of(service.id).status;
    counts.kept += status == ConditionStatus::kTrue ? 1 : 0;
    counts.missed += status == ConditionStatus::kFalse ? 1 : 0;
    counts.unknown += status == ConditionStatus::kUnknown ? 1 : 0;
  }
  return counts;
}

}  // namespace berth::live
