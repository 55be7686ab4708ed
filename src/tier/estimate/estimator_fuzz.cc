// The reader of forests: on the bytes themselves, and on the content of a real forest that the bytes change or cut,
// behind a checksum that fits. What is read must come back from what it writes, and must estimate.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "tier/estimate/detail/forest_file.h"
#include "tier/estimate/estimator.h"

namespace {

using namespace berth::tier;

void check(const berth::Result<Estimator>& estimator) {
  if (!estimator) {
    ENSURE(!estimator.error().message.empty());
    return;
  }
  const std::string written = estimator->write();
  const auto again = Estimator::read(written, "fuzz");
  ENSURE(again && again->write() == written);
  TierWorkload known{.group = "g", .name = "w", .batch = 1, .graph = {}, .points = {}};
  known.points.resize(estimator->tiers().size());
  known.points[1] = {
      {.batch = 4, .processes = 1, .samples_per_second = berth::Decimal(100), .latency_ms = berth::Decimal(40)}};
  const TierTarget target{.per_second = berth::Decimal(300), .latency_ms = berth::Decimal(100)};
  for (const TierEstimate& estimate : estimator->estimate(known, target)) {
    ENSURE(estimate.probability >= 0 && estimate.probability <= 1 && !std::isnan(estimate.cost_mean));
  }
  (void)estimator->explain(known, 0);
}

/// Two services on three tiers, with latencies in whole milliseconds.
TierTable small_table() {
  TierTable table{.kind = TierKind::kServices, .tiers = {}, .workloads = {}, .rows_left_out = 0};
  for (int i = 1; i <= 3; ++i) table.tiers.push_back({.name = std::to_string(i), .usd_per_hour = berth::Decimal(i)});
  for (int group = 1; group <= 2; ++group) {
    TierWorkload workload{.group = std::to_string(group), .name = "w", .batch = 1, .graph = {}, .points = {}};
    for (int tier = 1; tier <= 3; ++tier) {
      std::vector<TierPoint>& points = workload.points.emplace_back();
      for (const int batch : {1, 4}) {
        const int latency_ms = 5 + group * batch * 6 / tier;
        points.push_back({.batch = batch,
                          .processes = 1,
                          .samples_per_second = berth::Decimal(1000 * batch, latency_ms),
                          .latency_ms = berth::Decimal(latency_ms)});
      }
    }
    table.workloads.push_back(workload);
  }
  return table;
}

const std::string& content() {
  static const std::string kContent = [] {
    const auto estimator = Estimator::train(small_table(), {}, {.trees = 2});
    const std::string file = estimator->write();
    return std::string(*forest_file_bytes(file, "fuzz"));
  }();
  return kContent;
}

/// Each three bytes: a place (two bytes, from the end with the highest bit) and its new value; 255 cuts there.
std::string changed(const std::uint8_t* data, std::size_t size) {
  std::string bytes = content();
  for (std::size_t i = 0; i + 2 < size; i += 3) {
    const std::size_t distance = (static_cast<std::size_t>(data[i] & 0x7f) << 8) | data[i + 1];
    if (bytes.empty()) break;
    const std::size_t place =
        (data[i] & 0x80) != 0 ? bytes.size() - 1 - distance % bytes.size() : distance % bytes.size();
    if (data[i + 2] == 255) {
      bytes.resize(place);
    } else {
      bytes[place] = static_cast<char>(data[i + 2]);
    }
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(Estimator::read(text, "fuzz"));
  check(Estimator::read(forest_file(text), "fuzz"));
  check(Estimator::read(forest_file(changed(data, size)), "fuzz"));
  return 0;
}
