#include "domain/values/held_bytes.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/core/archive.h"

namespace berth {
namespace {

/// The longest decimal that can be written.
Decimal longest_decimal() { return Decimal::parse("9.9999999999999999999999999999999999e-30").value(); }

PerformanceTable large_table(std::size_t count) {
  const PerformancePoint point{.gpu = std::string(40, 'g'),
                               .profile = std::string(20, 'p'),
                               .batch = 65'536,
                               .processes = 1024,
                               .requests_per_second = longest_decimal(),
                               .latency_ms = longest_decimal()};
  return {.model = std::string(200, 'm'), .points = std::vector<PerformancePoint>(count, point)};
}

/// A service with every part at its limit.
ServiceSpec large_service() {
  ServiceSpec service;
  service.name = service.tenant = std::string(200, 's');
  service.target_ms = service.batching.slo_factor = service.weight = longest_decimal();
  service.floor_attainment = service.expects = service.arrivals.scale = longest_decimal();
  service.trust_domain = std::string(200, 't');
  service.table = large_table(10);
  Retraining retraining;
  for (int size = 0; size < 6; ++size) retraining.time_on[size] = Micros(std::numeric_limits<std::int64_t>::max());
  service.retraining = retraining;
  service.variants.assign(5, {.name = std::string(200, 'v'), .table = large_table(10), .accuracy = {}});
  service.pins.assign(100, {.slice = {.gpu = {100'000}, .start = 7, .profile = {20}}});
  return service;
}

TEST(HeldBytes, AnArchiveIsNeverLarger) {
  constexpr std::size_t kLength = 1000;
  constexpr std::uint32_t kMany = kRequestsPerSecondMax;
  constexpr auto kTokens = std::numeric_limits<std::uint32_t>::max();
  constexpr std::int64_t kLastUs = std::int64_t{1} << 47U;
  const TimedTrace::Request request{.at_us = kLastUs, .context_tokens = kTokens, .generated_tokens = kTokens};
  ServiceSpec service = large_service();
  for (const decltype(Arrivals::source)& source : std::vector<decltype(Arrivals::source)>{
           Generator{.kind = Generator::Kind::kPoisson, .requests_per_second = longest_decimal()},
           CountTrace{std::vector(kLength, kMany)}, MinuteTrace{std::vector(kLength, kMany)},
           TimedTrace{.requests = std::vector(kLength, request), .seconds = kTraceSecondsMax}}) {
    service.arrivals.source = source;
    const auto archived = static_cast<std::int64_t>(bytes_of(service).size());
    EXPECT_LE(archived, held_bytes(service)) << source.index();
  }
}

TEST(HeldBytes, GrowWithWhatIsLong) {
  const ServiceSpec none;
  ServiceSpec service;
  service.arrivals.source = CountTrace{std::vector<std::uint32_t>(2'592'000)};
  EXPECT_EQ(held_bytes(service), held_bytes(none) + 2'592'000 * 4);
  service.variants.emplace_back();
  const std::int64_t with_variant = held_bytes(service);
  EXPECT_GT(with_variant, held_bytes(none) + 2'592'000 * 4);
  service.variants[0].table = large_table(3);
  service.table = large_table(2);
  EXPECT_EQ(held_bytes(service), with_variant + 5 * 384);
  using Texts = std::map<std::string, std::string>;
  EXPECT_EQ(held_bytes(Texts()), 0);
  EXPECT_EQ(held_bytes(Texts{{"key", "value"}, {"k", ""}}), 64 + 8 + 64 + 1);
}

}  // namespace
}  // namespace berth
