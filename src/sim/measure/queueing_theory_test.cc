// The simulator compared with exact results of queueing theory (docs/explanation/simulation.md). The long form, with
// BERTH_SOAK=1, takes several seeds and half the tolerance.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

using testing::generated;
using testing::holding_of;
using testing::run_fixed;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

constexpr double kServiceSeconds = 0.01;

/// Servers that each take up to `batch` requests and need kServiceSeconds for any number of them.
struct Server {
  int batch = 1;
  int count = 1;
};

bool is_soak() { return std::getenv("BERTH_SOAK") != nullptr; }

std::vector<double> poisson_law(double mean, std::size_t size) {
  std::vector<double> law(size);
  double log_factorial = 0;
  for (std::size_t k = 0; k < size; ++k) {
    if (k > 0) log_factorial += std::log(static_cast<double>(k));
    law[k] = std::exp(static_cast<double>(k) * std::log(mean) - mean - log_factorial);
  }
  return law;
}

/// The stationary distribution of N' = max(N - capacity, 0) + Poisson(mean), by iteration from the empty queue until no
/// probability changes by more than 1e-15, on enough states to hold it (its tail is geometric).
std::vector<double> stationary_law(int capacity, double mean) {
  constexpr std::size_t kStates = 1200;
  const std::vector<double> come = poisson_law(mean, 200);
  std::vector<double> law(kStates, 0);
  law[0] = 1;
  for (double moved = 1; moved > 1e-15;) {
    std::vector<double> next(kStates, 0);
    for (std::size_t n = 0; n < kStates; ++n) {
      if (law[n] < 1e-18) continue;
      const std::size_t rest = n > static_cast<std::size_t>(capacity) ? n - static_cast<std::size_t>(capacity) : 0;
      for (std::size_t k = 0; k < come.size() && rest + k < kStates; ++k) next[rest + k] += law[n] * come[k];
    }
    const double sum = std::accumulate(next.begin(), next.end(), 0.0);
    moved = 0;
    for (std::size_t n = 0; n < kStates; ++n) {
      next[n] /= sum;
      moved = std::max(moved, std::abs(next[n] - law[n]));
    }
    law = std::move(next);
  }
  return law;
}

/// Mean of max(N - capacity, 0).
double mean_above(const std::vector<double>& law, int capacity) {
  double mean = 0;
  for (std::size_t n = static_cast<std::size_t>(capacity); n < law.size(); ++n) {
    mean += law[n] * (static_cast<double>(n) - capacity);
  }
  return mean;
}

/// M/D/1: the Pollaczek-Khinchine formula.
double wait_md1(double load) { return load * kServiceSeconds / (2 * (1 - load)); }

/// M/D/c: Crommelin 1932. Requests in service at t have left at t + D, and those that waited are in service or still
/// wait, so the number in the system obeys N(t + D) = max(N(t) - c, 0) + Poisson(lambda D) at every t (Tijms 2003,
/// 9.6.2); the waiting time follows by Little's law.
double wait_mdc(double load, int servers) {
  const double mean = load * servers;
  return mean_above(stationary_law(servers, mean), servers) / (mean / kServiceSeconds);
}

/// M/D^[1,B]/1: the number left waiting at the end of each service obeys Bailey's chain (1954), also with a server that
/// starts with the first arrival (Neuts 1967): Q' = max(Q - B, 0) + Poisson(lambda D). A cycle from one end to the next
/// lasts D, or 1 / lambda longer if the queue is empty at its beginning; the area under the queue is max(Q - B, 0) D +
/// lambda D^2 / 2.
double wait_bulk(double load, int batch) {
  const double rate = load * batch / kServiceSeconds;
  const std::vector<double> law = stationary_law(batch, rate * kServiceSeconds);
  const double area = mean_above(law, batch) * kServiceSeconds + rate * kServiceSeconds * kServiceSeconds / 2;
  return area / (kServiceSeconds + law[0] / rate) / rate;
}

/// Mean waiting time in seconds, in a run of about that many requests.
double measured_wait(double load, Server server, double requests, std::uint64_t seed) {
  const std::vector<testing::Row> rows = {{.batch = server.batch, .processes = 1, .latency_ms = 10}};
  const Decimal rate =
      Decimal(std::llround(load * 100), 100) * Decimal(server.batch) * Decimal(server.count) * Decimal(100);
  const auto seconds = static_cast<std::int64_t>(requests / rate.to_double());
  auto service = service_of("s", rows, generated(Generator::Kind::kPoisson, rate, seconds));
  service.drop = DropRule::kNever;
  std::vector<Holding> layout;
  for (int i = 0; i < server.count; ++i) layout.push_back(holding_of(slice_at(0, "1g.10gb", i), {0}));
  const Scenario scenario = scenario_of({service}, layout);
  sim::RunOptions options;
  options.loop.seed = seed;
  const auto outcome = sim::run_scenario(scenario, testing::fixed_stages(scenario), options);
  return *outcome->world->meters()[0].latencies().mean_ms() / 1000 - kServiceSeconds;
}

/// Requests for a standard error of about 0.4 % of the mean waiting time, which grows like 1 / (1 - load)^2.
double enough_requests(double load) { return 160'000 / ((1 - load) * (1 - load)); }

void expect_agreement(double load, Server server, double theory) {
  if (testing::kIsSlowBuild) {
    // Sanitizers and debug builds look for other defects: a twentieth of the requests, with a tolerance to match.
    EXPECT_NEAR(measured_wait(load, server, enough_requests(load) / 20, 1) / theory, 1, 0.09);
    return;
  }
  if (!is_soak()) {
    const double measured = measured_wait(load, server, enough_requests(load), 1);
    ::testing::Test::RecordProperty("measured_over_theory", std::to_string(measured / theory));
    EXPECT_NEAR(measured / theory, 1, 0.02);
    return;
  }
  double sum = 0;
  constexpr int kSeeds = 8;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    sum += measured_wait(load, server, 4 * enough_requests(load), seed);
  std::printf("load %.2f, batch %d, %d servers: %.4f of theory\n", load, server.batch, server.count,
              sum / kSeeds / theory);
  EXPECT_NEAR(sum / kSeeds / theory, 1, 0.005);
}

class WaitTheory : public ::testing::TestWithParam<std::pair<double, int>> {};

TEST_P(WaitTheory, ServersThatTakeOne) {
  const auto [load, servers] = GetParam();
  expect_agreement(load, {.batch = 1, .count = servers}, servers == 1 ? wait_md1(load) : wait_mdc(load, servers));
}

INSTANTIATE_TEST_SUITE_P(Loads, WaitTheory,
                         ::testing::Values(std::pair(0.5, 1), std::pair(0.7, 1), std::pair(0.8, 1), std::pair(0.9, 1),
                                           std::pair(0.5, 2), std::pair(0.7, 2), std::pair(0.8, 2), std::pair(0.9, 2),
                                           std::pair(0.5, 4), std::pair(0.7, 4), std::pair(0.8, 4), std::pair(0.9, 4)));

class BulkTheory : public ::testing::TestWithParam<std::pair<double, int>> {};

TEST_P(BulkTheory, OneServerThatTakesMany) {
  const auto [load, batch] = GetParam();
  expect_agreement(load, {.batch = batch, .count = 1}, wait_bulk(load, batch));
}

INSTANTIATE_TEST_SUITE_P(Loads, BulkTheory,
                         ::testing::Values(std::pair(0.5, 4), std::pair(0.8, 4), std::pair(0.9, 4), std::pair(0.5, 16),
                                           std::pair(0.8, 16), std::pair(0.9, 16)));

TEST(QueueingFormulas, TheGeneralOnesContainTheSimpleOnes) {
  for (const double load : {0.5, 0.7, 0.8, 0.9}) {
    EXPECT_NEAR(wait_mdc(load, 1), wait_md1(load), 1e-9 * wait_md1(load));
    EXPECT_NEAR(wait_bulk(load, 1), wait_md1(load), 1e-9 * wait_md1(load));
  }
  // Cosmetatos 1975 approximates M/D/c from M/M/c within about 1 %.
  for (const double load : {0.5, 0.8, 0.9}) {
    const double mm2 = load * load / (1 - load * load) * kServiceSeconds;
    const double cosmetatos = mm2 / 2 * (1 + (1 - load) * (std::sqrt(14.0) - 2) / (32 * load));
    EXPECT_NEAR(wait_mdc(load, 2) / cosmetatos, 1, 0.02);
  }
}

}  // namespace
}  // namespace berth::measure
