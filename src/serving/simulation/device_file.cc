#include "serving/simulation/device_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/core/byte_size.h"
#include "base/yaml/reader.h"

namespace berth::serving {
namespace {

constexpr std::int64_t kLanesMax = 64;
constexpr std::int64_t kBatchMax = 4096;
constexpr std::int64_t kMillisMax = 3'600'000;
constexpr std::int64_t kLoadSecondsMax = 86'400;
constexpr std::int64_t kBytesPerSecondMax = 1'000'000'000'000'000;
constexpr std::size_t kModelNameBytesMax = 63;
constexpr std::size_t kOriginBytesMax = 200;

/// A point of a model's latencies.
struct LatencyPoint {
  RowCount rows = 1;
  std::int64_t micros = 1;
};

std::int64_t read_bytes(const yaml::Value& value) {
  const auto bytes = parse_byte_size(value.text("a size such as 2GiB"));
  if (bytes) return *bytes;
  if (!value.has_failed()) value.fail_with(bytes.error());
  return 1;
}

LatencyPoint read_point(const yaml::Value& value, RowCount rows_before) {
  const auto pair = value.items("a batch size and its milliseconds, such as [1, 6.125]");
  if (value.has_failed()) return {};
  if (pair.size() != 2) {
    value.refuse("a batch size and its milliseconds, such as [1, 6.125]", fmt::format("{} values", pair.size()));
    return {};
  }
  const std::int64_t rows = pair[0].whole({1, 1'000'000});
  const Decimal micros = pair[1].number(yaml::number_above_zero(Decimal(kMillisMax))) * Decimal(1000);
  if (value.has_failed()) return {};
  if (rows_before == 0 && rows != 1) pair[0].refuse("1, the first batch size");
  if (rows <= rows_before) pair[0].refuse(fmt::format("a batch size above {}", rows_before));
  if (!micros.is_integer()) pair[1].refuse("milliseconds with at most three decimals");
  return {.rows = static_cast<RowCount>(rows), .micros = micros.is_integer() ? micros.floor() : 1};
}

/// The times of all batch sizes up to `batch_max`: linear between two points, in whole microseconds, half up.
std::vector<Micros> interpolated(const std::vector<LatencyPoint>& points, RowCount batch_max) {
  std::vector<Micros> by_rows;
  std::size_t after = 0;
  for (RowCount rows = 1; rows <= batch_max; ++rows) {
    while (points[after].rows < rows) ++after;
    const LatencyPoint& upper = points[after];
    if (upper.rows == rows) {
      by_rows.emplace_back(upper.micros);
      continue;
    }
    const LatencyPoint& lower = points[after - 1];
    const Decimal share =
        Decimal(upper.micros - lower.micros) * Decimal(rows - lower.rows) / Decimal(upper.rows - lower.rows);
    by_rows.emplace_back((Decimal(lower.micros) + share).round_half_up());
  }
  return by_rows;
}

std::optional<SimulatedModel> read_model(const yaml::Value& value, const SimulatedDevice& device) {
  value.check_keys({"latency_ms", "bytes"});
  const yaml::Value latency = value.at("latency_ms");
  std::vector<LatencyPoint> points;
  for (const yaml::Value& item : latency.items("a list of batch sizes and milliseconds", false)) {
    points.push_back(read_point(item, points.empty() ? 0 : points.back().rows));
    if (value.has_failed()) return std::nullopt;
  }
  if (value.has_failed()) return std::nullopt;
  if (points.back().rows < device.batch_max) {
    latency.refuse(fmt::format("a last batch size of at least batch_max, {}", device.batch_max),
                   fmt::format("{}", points.back().rows));
  }
  const std::int64_t bytes = read_bytes(value.at("bytes"));
  if (value.has_failed()) return std::nullopt;
  if (bytes > device.memory) {
    value.at("bytes").refuse(fmt::format("at most the memory, {} bytes", device.memory), fmt::format("{}", bytes));
  }
  if (value.has_failed()) return std::nullopt;
  return SimulatedModel{.latency = LatencyTable(interpolated(points, device.batch_max)), .bytes = bytes};
}

void read_models(const yaml::Value& value, SimulatedDevice& device) {
  const std::vector<std::string> names = value.keys();
  if (names.empty() && !value.has_failed()) value.refuse("a map from the names of models, or \"*\", to their figures");
  for (const std::string& name : names) {
    if (name.empty() || name.size() > kModelNameBytesMax) {
      value.at(name).fail(
          fmt::format("wanted a model's name of 1 to {} bytes, found {}", kModelNameBytesMax, name.size()));
    }
    auto model = read_model(value.at(name), device);
    if (!model) return;
    device.models.emplace(name, std::move(*model));
  }
}

}  // namespace

std::optional<ModelTerms> SimulatedDevice::terms_of(const std::string& model) const {
  auto found = models.find(model);
  if (found == models.end()) found = models.find("*");
  if (found == models.end()) return std::nullopt;
  const std::int64_t bytes = found->second.bytes;
  const Decimal micros = (load_seconds + Decimal(bytes) / Decimal(load_bytes_per_second)) * Decimal(kMicrosPerSecond);
  return ModelTerms{.name = model,
                    .bytes = bytes,
                    .load = Micros(micros.is_integer() ? micros.floor() : micros.floor() + 1),
                    .latency = found->second.latency};
}

Result<SimulatedDevice> read_device_file(std::string_view text, std::string_view file) {
  const auto root = yaml::parse_document(text, file);
  if (!root) return pass_on(root.error());
  yaml::Report report{std::string(file)};
  const yaml::Value value(*root, report);
  value.check_keys({"berth", "name", "origin", "lanes", "memory", "batch_max", "load", "models"});
  static_cast<void>(value.at("berth").whole({1, 1}));
  SimulatedDevice device;
  device.name = value.at("name").name();
  if (value.at("origin").is_written()) device.origin = value.at("origin").name(kOriginBytesMax);
  device.lanes = static_cast<int>(value.at("lanes").whole({1, kLanesMax}));
  device.memory = read_bytes(value.at("memory"));
  device.batch_max = static_cast<RowCount>(value.at("batch_max").whole({1, kBatchMax}));
  const yaml::Value load = value.at("load");
  load.check_keys({"seconds", "bytes_per_second"});
  device.load_seconds = load.at("seconds").number(yaml::number_from(Decimal(0), Decimal(kLoadSecondsMax)));
  device.load_bytes_per_second = load.at("bytes_per_second").whole({1, kBytesPerSecondMax});
  if (!report.has_failed()) read_models(value.at("models"), device);
  if (report.has_failed()) return pass_on(report.failure());
  return device;
}

}  // namespace berth::serving
