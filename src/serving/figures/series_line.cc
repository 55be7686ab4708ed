#include "serving/figures/series_line.h"

#include <cstdint>
#include <optional>

#include "base/json/writer.h"
#include "serving/figures/figure_json.h"

namespace berth::serving {
namespace {

void write_bucket(json::Writer& json, const LatencyBucket& each) {
  const auto middle_us = static_cast<std::int64_t>(latency_bucket_middle_us(each.bucket));
  json.open_list().value(middle_us).value(each.count).close_list();
}

}  // namespace

std::string series_lines(std::span<const ModelSecond> seconds) {
  std::string lines;
  for (const ModelSecond& each : seconds) {
    const bool is_backend = each.version.empty();
    json::Writer json;
    json.open_object().member("second", each.second).member("model", each.model);
    json.member("version", is_backend ? std::nullopt : std::optional(each.version));
    put_counts(json, each.figures, !is_backend);
    json.member("queue_max", each.figures.queue_max).list("latency_buckets", each.figures.latencies, write_bucket);
    lines += json.close_object().take_line();
  }
  return lines;
}

}  // namespace berth::serving
