#include "apps/serve/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "apps/serve/demo_folder.h"
#include "apps/serve/demo_savings.h"
#include "apps/serve/demo_traffic.h"
#include "serving/simulation/device_file.h"

namespace berth::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kDemoSeconds = 60;
constexpr milliseconds kPause{20};
constexpr int kReadySecondsMax = 20;
constexpr int kAnswersSecondsMax = 2;
constexpr std::uint64_t kSeed = 1;

/// Sleeps until then; false if `is_done` before.
template <class IsDone>
bool wait_until(Clock::time_point limit, const IsDone& is_done) {
  while (Clock::now() < limit) {
    if (is_done()) return true;
    std::this_thread::sleep_for(kPause);
  }
  return is_done();
}

/// Files count when they have not changed for a second.
bool are_models_ready(const edges::ModelServer& server) {
  const auto index = server.index();
  return std::ssize(index) == std::ssize(kDemoModels) &&
         std::ranges::all_of(
             index, [](const serving::IndexEntry& entry) { return entry.state == serving::ModelState::kReady; });
}

std::string p99_text(std::vector<Micros> latencies) {
  if (latencies.empty()) return "-";
  const auto rank = static_cast<std::ptrdiff_t>((latencies.size() * 99 + 99) / 100 - 1);
  std::ranges::nth_element(latencies, latencies.begin() + rank);
  return fmt::format("{} ms", latencies[static_cast<std::size_t>(rank)].count() / 1000);
}

/// What the server did, in all.
struct ServerCounts {
  std::uint64_t rows = 0;
  std::uint64_t batches = 0;
  std::int64_t loads = 0;
  std::int64_t evictions = 0;
};

ServerCounts counts_of(const edges::ModelServer& server) {
  ServerCounts counts;
  const auto activity = server.activity();
  counts.loads = activity.loads;
  counts.evictions = activity.evictions;
  const auto statistics = server.statistics("", "");
  if (!statistics) return counts;
  for (const serving::ModelStatistics& model : *statistics) {
    counts.rows += model.rows;
    counts.batches += model.batches;
  }
  return counts;
}

std::string line_of(int second, const TrafficCounts& traffic, const ServerCounts& before, const ServerCounts& now) {
  const std::uint64_t batches = now.batches - before.batches;
  const double rows = batches == 0 ? 0 : static_cast<double>(now.rows - before.rows) / static_cast<double>(batches);
  return fmt::format("{:>6}{:>10}{:>9}{:>6}{:>9}{:>9}{:>17.1f}{:>7}{:>11}\n", second, traffic.sent, traffic.in_time,
                     traffic.late, traffic.refused + traffic.failed, p99_text(traffic.latencies), rows,
                     now.loads - before.loads, now.evictions - before.evictions);
}

class Demo {
 public:
  Demo(const edges::ModelServer& server, HttpStreamClient& client, std::uint16_t port, const DemoTerms& terms)
      : server_(server), terms_(terms), traffic_(client, port, kSeed) {}

  void run() {
    say(fmt::format(
        "{} generated models, memory for half of them, on a simulated device: answers are computed, and take as long "
        "as "
        "on a large GPU.\nAbout 230 requests per second over HTTP, each to be answered within {} ms; two models are "
        "popular, and which ones changes every 15 s.\n\n",
        kDemoModels.size(), kDemoTarget.count() / 1000));
    if (!wait_until(Clock::now() + std::chrono::seconds(kReadySecondsMax),
                    [&] { return terms_.is_stopped() || are_models_ready(server_); })) {
      return say("the models cannot be served: POST /v2/repository/index gives the reasons\n");
    }
    say(fmt::format("{:>6}{:>10}{:>9}{:>6}{:>9}{:>9}{:>17}{:>7}{:>11}\n", "second", "requests", "in time", "late",
                    "refused", "p99", "rows in a batch", "loads", "evictions"));
    traffic_.start();
    const auto began = Clock::now();
    for (int second = 1; second <= kDemoSeconds && !terms_.is_stopped(); ++second) {
      wait_until(began + std::chrono::seconds(second), [&] { return terms_.is_stopped(); });
      show_second(second);
    }
    traffic_.stop();
    wait_until(Clock::now() + std::chrono::seconds(kAnswersSecondsMax), [&] { return traffic_.is_idle(); });
    all_.add(traffic_.take_counts());
    summarise();
  }

 private:
  void say(const std::string& text) {
    fmt::print(terms_.out, "{}", text);
    std::fflush(terms_.out);
  }

  void show_second(int second) {
    const ServerCounts now = counts_of(server_);
    const TrafficCounts traffic = traffic_.take_counts();
    say(line_of(second, traffic, before_, now));
    before_ = now;
    all_.add(traffic);
  }

  void summarise() {
    if (all_.sent == 0) return;
    say(fmt::format("\nserved: {} requests, {:.1f} % in time, p99 {}{}\n", all_.sent,
                    100 * static_cast<double>(all_.in_time) / static_cast<double>(all_.sent), p99_text(all_.latencies),
                    all_.failed > 0 ? fmt::format(", {} failed", all_.failed) : ""));
    auto device = serving::read_device_file(demo_device(), "the demo's device");
    if (!device) return say(device.error().message + "\n");
    serving::ServingCase serving_case{
        .device = *std::move(device), .recorded = traffic_.recorded(), .models = {}, .tenants = {{.name = "default"}}};
    const auto activity = server_.activity();
    for (const std::string& name : serving_case.recorded.models) {
      const auto found = std::ranges::find(activity.models, name, &serving::ModelTerms::name);
      if (found != activity.models.end()) serving_case.models.push_back(*found);
    }
    if (serving_case.models.size() != serving_case.recorded.models.size()) return;
    say("the same requests on the same device, simulated:\n\n" + savings_text(serving_case));
  }

  const edges::ModelServer& server_;
  const DemoTerms& terms_;
  DemoTraffic traffic_;
  TrafficCounts all_;
  ServerCounts before_;
};

}  // namespace

void run_demo(const edges::ModelServer& server, HttpStreamClient& client, std::uint16_t port, const DemoTerms& terms) {
  Demo(server, client, port, terms).run();
}

}  // namespace berth::serve
