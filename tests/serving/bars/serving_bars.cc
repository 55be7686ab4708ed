// The bars of serving that a simulation can show: goodput against the rivals, lane time at partial load, overload, a
// tenant that floods the others, and evictions. Prints a line for each.
//
//   berth_serving_bars [--seeds 3] [--requests 200000] [--only ABCDEF,fair,evict]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "serving/simulation/policy_name.h"
#include "serving/simulation/run.h"
#include "workloads.h"

namespace berth::serving_bars {
namespace {

using serving::DispatchPolicy;
using serving::EvictionRule;
using serving::Request;
using serving::RivalKind;
using serving::RunEvent;
using serving::StartBatch;

constexpr std::array<Case, 6> kCases = {{{'A', 1, 1, 25, 1},
                                         {'B', 1, 8, 25, 1},
                                         {'C', 10, 1, 100, 1},
                                         {'D', 10, 8, 25, 1},
                                         {'E', 10, 8, 50, 4},
                                         {'F', 1, 1, 50, 4}}};
constexpr serving::RowCount kRowsMax = 64;

struct Options {
  int seeds = 3;
  int requests = 200'000;
  std::string only = "ABCDEF,fair,evict";
};

/// A policy with its largest batch.
struct Contender {
  DispatchPolicy policy;
  serving::RowCount rows_max = kRowsMax;
};

struct Outcome {
  double in_time = 0;             ///< share of the requests after the first tenth
  double in_time_per_second = 0;  ///< of them
  double busy = 0;                ///< share of lane time
};

Outcome run(const Case& of_case, const Contender& contender, const std::vector<Request>& requests) {
  std::vector<serving::ModelTerms> models;
  std::vector<serving::TenantTerms> tenants;
  for (int model = 0; model < of_case.models; ++model) {
    models.push_back({.name = fmt::format("m{:02}", model),
                      .bytes = 0,
                      .load = Micros(1),
                      .latency = bar_latency(contender.rows_max)});
    tenants.push_back({.name = fmt::format("t{:02}", model)});
  }
  serving::Dispatcher dispatcher(models, tenants, {.policy = contender.policy, .memory = 1, .lanes = of_case.lanes});
  dispatcher.place_initially();
  const std::size_t skipped = requests.size() / 10;
  const Instant from = requests[skipped].arrival;
  std::int64_t in_time = 0;
  Micros busy;
  serving::run_dispatcher(dispatcher, requests, [&](const RunEvent& event) {
    const auto* batch = std::get_if<StartBatch>(&event.order);
    if (batch == nullptr) return;
    if (event.at >= from) busy += batch->expected;
    for (const Request& request : batch->requests) {
      if (static_cast<std::size_t>(request.number) >= skipped && event.end <= request.deadline()) ++in_time;
    }
  });
  const double seconds = (requests.back().arrival - from).to_seconds();
  return {.in_time = static_cast<double>(in_time) / static_cast<double>(requests.size() - skipped),
          .in_time_per_second = static_cast<double>(in_time) / seconds,
          .busy = busy.to_seconds() / (seconds * of_case.lanes)};
}

/// The highest rate with at least 99 % in time, by bisection to 0.5 %; mean over the seeds.
double goodput(const Case& of_case, const Contender& contender, const Options& options) {
  double sum = 0;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    double low = 10;
    double high = 10'000;
    while (high / low > 1.005) {
      const double rate = std::sqrt(low * high);
      const auto requests = random_requests(of_case, rate, options.requests, static_cast<std::uint64_t>(seed));
      (run(of_case, contender, requests).in_time >= 0.99 ? low : high) = rate;
    }
    sum += low;
  }
  return sum / options.seeds;
}

struct BestRival {
  std::string name;
  double goodput = 0;
};

BestRival best_rival(const Case& of_case, const Options& options) {
  std::vector<Contender> rivals = {{.policy = {.rival = RivalKind::kEager}}, {.policy = {.rival = RivalKind::kAimd}}};
  for (const serving::RowCount rows : {8, 16, 32, 64}) {
    for (const int percent : {5, 10, 20, 40}) {
      rivals.push_back({.policy = {.rival = RivalKind::kDelay, .delay = Micros(of_case.target_ms * 10 * percent)},
                        .rows_max = rows});
    }
  }
  BestRival best;
  for (const Contender& rival : rivals) {
    const double reached = goodput(of_case, rival, options);
    if (reached <= best.goodput) continue;
    best = {.name = fmt::format("{} with batches of {}", serving::name_of(rival.policy), rival.rows_max),
            .goodput = reached};
  }
  return best;
}

void show(const std::string& what, double value, const std::string& bar, bool is_met, const std::string& words) {
  fmt::print("{:<28} {:8.3f}  {:<12} {:<7} {}\n", what, value, bar, is_met ? "met" : "missed", words);
  std::fflush(stdout);
}

struct Means {
  double goodput = 0;
  double busy = 0;
  int cases = 0;
};

void compare(const Case& of_case, const Options& options, Means& means) {
  const BestRival rival = best_rival(of_case, options);
  const double own = goodput(of_case, {}, options);
  const std::string name(1, of_case.name);
  const double ratio = own / rival.goodput;
  show(name + " goodput / best rival", ratio, ">= 1.02", ratio >= 1.02,
       fmt::format("{:.0f} / {:.0f} per second ({})", own, rival.goodput, rival.name));
  const auto partial = random_requests(of_case, own * 0.36, options.requests, 7);
  const Outcome ours = run(of_case, {}, partial);
  const Outcome eager = run(of_case, {.policy = {.rival = RivalKind::kEager}}, partial);
  const double busy = ours.busy / eager.busy;
  show(name + " busy / eager at 36 %", busy, "<= 0.85", busy <= 0.85 && ours.in_time >= eager.in_time - 0.001,
       fmt::format("{:.1f} / {:.1f} % of the lanes, in time {:.2f} / {:.2f} %", 100 * ours.busy, 100 * eager.busy,
                   100 * ours.in_time, 100 * eager.in_time));
  for (const int times : {2, 4}) {
    const auto requests = random_requests(of_case, own * times, options.requests, 8);
    const double share = run(of_case, {}, requests).in_time_per_second / own;
    show(fmt::format("{} in time at {} x goodput", name, times), share, ">= 1.05", share >= 1.05, "of the goodput");
  }
  means.goodput += ratio;
  means.busy += busy;
  ++means.cases;
}

/// Case C with a tenant for each model, at 80 % of its goodput; one sends ten times as much.
void flood(const Options& options) {
  const Case of_case = kCases[2];
  const double rate = 0.8 * goodput(of_case, {}, options);
  Case one = of_case;
  one.models = 1;
  double others = 0;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const auto requests = merged(random_requests(of_case, rate, options.requests / 2, number),
                                 random_requests(one, rate * 0.9, options.requests * 9 / 20, number + 100));
    serving::Dispatcher dispatcher(
        std::vector<serving::ModelTerms>(
            10, {.name = "m", .bytes = 0, .load = Micros(1), .latency = bar_latency(kRowsMax)}),
        std::vector<serving::TenantTerms>(10), {.policy = {}, .memory = 1, .lanes = 1});
    dispatcher.place_initially();
    const auto is_counted = [&](const Request& request) {
      return request.tenant != serving::TenantIndex(0) &&
             static_cast<std::size_t>(request.number) >= requests.size() / 10;
    };
    std::int64_t in_time = 0;
    serving::run_dispatcher(dispatcher, requests, [&](const RunEvent& event) {
      const auto* batch = std::get_if<StartBatch>(&event.order);
      if (batch == nullptr) return;
      in_time += std::ranges::count_if(batch->requests, [&](const Request& request) {
        return is_counted(request) && event.end <= request.deadline();
      });
    });
    others += static_cast<double>(in_time) / static_cast<double>(std::ranges::count_if(requests, is_counted));
  }
  others /= options.seeds;
  show("the others in a flood", others, ">= 0.99", others >= 0.99,
       fmt::format("{:.0f} per second, one tenant ten times as much", rate));
}

struct LoadTime {
  Micros time;
  std::int64_t missed = 0;
};

LoadTime load_time(const Popularity& popularity, EvictionRule rule) {
  serving::Dispatcher dispatcher(popularity.models, {{.name = "default"}},
                                 {.policy = {}, .eviction = rule, .memory = popularity.memory, .lanes = 1});
  dispatcher.place_initially();
  LoadTime load;
  serving::run_dispatcher(dispatcher, popularity.requests, [&](const RunEvent& event) {
    if (std::holds_alternative<serving::StartLoad>(event.order)) load.time += event.end - event.at;
    if (std::holds_alternative<serving::Drop>(event.order) || std::holds_alternative<serving::Reject>(event.order))
      ++load.missed;
  });
  return load;
}

void evictions(const Options& options) {
  for (const int redraw_each : {0, 50'000}) {
    Micros by_value;
    Micros by_lru;
    std::int64_t missed = 0;
    for (int seed = 1; seed <= options.seeds; ++seed) {
      const Popularity popularity =
          random_popularity(options.requests * 5, redraw_each, static_cast<std::uint64_t>(seed));
      const LoadTime value = load_time(popularity, EvictionRule::kValue);
      by_value += value.time;
      missed += value.missed;
      by_lru += load_time(popularity, EvictionRule::kLru).time;
    }
    const double saved = 1 - by_value.to_seconds() / by_lru.to_seconds();
    const double bar = redraw_each == 0 ? 0.18 : 0.10;
    show(redraw_each == 0 ? "load time saved" : "load time saved, redrawn", saved, fmt::format(">= {:.2f}", bar),
         saved >= bar && missed == 0,
         fmt::format("{:.0f} s instead of {:.0f} with lru, {} missed", by_value.to_seconds(), by_lru.to_seconds(),
                     missed));
  }
}

int measure(const Options& options) {
  Means means;
  for (const Case& of_case : kCases) {
    if (options.only.find(of_case.name) != std::string::npos) compare(of_case, options, means);
  }
  if (means.cases > 0) {
    show("mean goodput / best rival", means.goodput / means.cases, ">= 1.08", means.goodput / means.cases >= 1.08, "");
    show("mean busy / eager at 36 %", means.busy / means.cases, "<= 0.70", means.busy / means.cases <= 0.70, "");
  }
  if (options.only.find("fair") != std::string::npos) flood(options);
  if (options.only.find("evict") != std::string::npos) evictions(options);
  return 0;
}

}  // namespace
}  // namespace berth::serving_bars

int main(int argc, char** argv) {
  berth::serving_bars::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seeds") options.seeds = std::atoi(argv[i + 1]);
    if (name == "--requests") options.requests = std::atoi(argv[i + 1]);
    if (name == "--only") options.only = argv[i + 1];
  }
  return berth::serving_bars::measure(options);
}
