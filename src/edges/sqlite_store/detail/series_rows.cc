#include "edges/sqlite_store/detail/series_rows.h"

#include <array>
#include <bit>
#include <cmath>
#include <span>

namespace berth::edges::detail {
namespace {

/// Above any figure of a span, and small enough that sums of many spans cannot overflow.
constexpr std::uint64_t kFigureMax = std::uint64_t{1} << 50U;

// ---- numbers as bytes

void put_number(std::string& bytes, std::uint64_t number) {
  while (number >= 0x80U) {
    bytes.push_back(static_cast<char>(0x80U | (number & 0x7fU)));
    number >>= 7U;
  }
  bytes.push_back(static_cast<char>(number));
}

void put_number(std::string& bytes, std::int64_t number) { put_number(bytes, static_cast<std::uint64_t>(number)); }

class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}

  /// The next number; 0, and `is_good` false from then on, if there is none or it is kFigureMax or more.
  std::int64_t next() {
    std::uint64_t number = 0;
    for (std::uint32_t shift = 0; shift < 56U && !bytes_.empty(); shift += 7U) {
      const auto byte = static_cast<std::uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) != 0) continue;
      if (number >= kFigureMax) break;
      return static_cast<std::int64_t>(number);
    }
    is_good_ = false;
    return 0;
  }
  /// The number of items that follow, each of at least `bytes_min` bytes.
  std::size_t next_count(std::size_t bytes_min) {
    const auto count = static_cast<std::size_t>(next());
    if (count > bytes_.size() / bytes_min) is_good_ = false;
    return is_good_ ? count : 0;
  }
  [[nodiscard]] bool is_good() const { return is_good_; }
  [[nodiscard]] bool is_at_end() const { return is_good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool is_good_ = true;
};

// ---- checksums

/// FNV-1a with 64 bits. http://www.isthe.com/chongo/tech/comp/fnv/
class RowChecksum {
 public:
  RowChecksum& add(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    for (std::uint32_t shift = 0; shift < 64U; shift += 8U) feed(static_cast<std::uint8_t>(bits >> shift));
    return *this;
  }
  RowChecksum& add(std::string_view bytes) {
    for (const char byte : bytes) feed(static_cast<std::uint8_t>(byte));
    return *this;
  }
  [[nodiscard]] std::int64_t value() const { return std::bit_cast<std::int64_t>(state_); }

 private:
  void feed(std::uint8_t byte) { state_ = (state_ ^ byte) * 1099511628211U; }

  std::uint64_t state_ = 14695981039346656037U;
};

bool are_figures(std::span<const std::int64_t> numbers) {
  for (const std::int64_t number : numbers) {
    if (number < 0 || static_cast<std::uint64_t>(number) >= kFigureMax) return false;
  }
  return true;
}

// ---- columns

constexpr std::size_t kServiceColumns = 8;  // service .. queued_max
constexpr std::size_t kFleetColumns = 6;    // covered_us .. lost_gpus_max
constexpr std::int64_t kNoPrice = -1;       // for the checksum

std::array<std::int64_t, kServiceColumns> columns_of(const ServiceFigures& figures) {
  return {static_cast<std::int64_t>(figures.service),
          figures.seconds,
          figures.requests,
          figures.in_time,
          figures.late,
          figures.dropped,
          figures.accuracy_sum_micro,
          figures.queued_max};
}

std::array<std::int64_t, kFleetColumns> columns_of(const FleetFigures& figures) {
  return {figures.covered_us,
          std::llround(figures.available_us),
          std::llround(figures.allocated_us),
          std::llround(figures.busy_us),
          std::llround(figures.effective_us),
          figures.lost_gpus_max};
}

template <std::size_t kCount>
RowChecksum checksum_of(std::int64_t second, const std::array<std::int64_t, kCount>& columns) {
  RowChecksum checksum;
  checksum.add(second);
  for (const std::int64_t each : columns) checksum.add(each);
  return checksum;
}

void bind_percentile(StatementRun& run, const LatencyBuckets& latencies, int percent) {
  const auto us = percentile_us(latencies, percent);
  if (us) {
    run.bind(static_cast<std::int64_t>(std::llround(*us)));
  } else {
    run.bind_null();
  }
}

}  // namespace

std::string detail_bytes(std::int64_t second, const ServiceFigures& figures) {
  std::string bytes;
  put_number(bytes, figures.latencies.size());
  std::uint64_t bucket = 0;
  for (const LatencyBucket& each : figures.latencies) {
    put_number(bytes, each.bucket - bucket);
    put_number(bytes, each.count);
    bucket = each.bucket;
  }
  put_number(bytes, figures.settled.size());
  for (const SettledRequests& each : figures.settled) {
    put_number(bytes, second - each.second);
    put_number(bytes, each.in_time);
    put_number(bytes, each.late);
    put_number(bytes, each.dropped);
    put_number(bytes, each.accuracy_sum_micro);
  }
  return bytes;
}

bool read_detail(std::string_view bytes, std::int64_t second, ServiceFigures& figures) {
  NumberReader reader(bytes);
  figures.latencies.resize(reader.next_count(2));
  std::int64_t bucket = 0;
  for (LatencyBucket& each : figures.latencies) {
    bucket += reader.next();
    if (bucket > kLatencyBucketMax) return false;
    each = {.bucket = static_cast<std::uint32_t>(bucket), .count = reader.next()};
  }
  figures.settled.resize(reader.next_count(5));
  for (SettledRequests& each : figures.settled) {
    each.second = second - reader.next();
    each.in_time = reader.next();
    each.late = reader.next();
    each.dropped = reader.next();
    each.accuracy_sum_micro = reader.next();
  }
  return reader.is_at_end();
}

void bind_row(StatementRun& run, std::int64_t second, const ServiceFigures& figures, std::string_view detail) {
  const auto columns = columns_of(figures);
  run.bind(second);
  for (const std::int64_t each : columns) run.bind(each);
  bind_percentile(run, figures.latencies, 50);
  bind_percentile(run, figures.latencies, 99);
  run.bind_bytes(detail).bind(checksum_of(second, columns).add(detail).value());
}

std::optional<ServiceFigures> read_row(StatementRun& run, std::int64_t second) {
  constexpr int kDetail = 1 + static_cast<int>(kServiceColumns) + 2;  // after the percentiles, derived from it
  std::array<std::int64_t, kServiceColumns> columns{};
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = run.integer(1 + static_cast<int>(i));
  const std::string detail = run.bytes(kDetail);
  const std::int64_t checksum = run.integer(kDetail + 1);
  const bool is_whole = checksum == checksum_of(second, columns).add(detail).value();
  if (!run.is_well_typed() || !is_whole || !are_figures(std::span(columns).subspan(1))) return std::nullopt;
  ServiceFigures figures{.service = static_cast<std::uint64_t>(columns[0]),
                         .seconds = columns[1],
                         .requests = columns[2],
                         .in_time = columns[3],
                         .late = columns[4],
                         .dropped = columns[5],
                         .accuracy_sum_micro = columns[6],
                         .queued_max = columns[7]};
  if (!read_detail(detail, second, figures)) return std::nullopt;
  return figures;
}

void bind_row(StatementRun& run, std::int64_t second, const FleetFigures& figures) {
  const auto columns = columns_of(figures);
  run.bind(second);
  for (const std::int64_t each : columns) run.bind(each);
  if (figures.micro_usd_per_hour) {
    run.bind(*figures.micro_usd_per_hour);
  } else {
    run.bind_null();
  }
  run.bind(checksum_of(second, columns).add(figures.micro_usd_per_hour.value_or(kNoPrice)).value());
}

std::optional<FleetFigures> read_fleet_row(StatementRun& run, std::int64_t second) {
  constexpr int kPrice = 1 + static_cast<int>(kFleetColumns);
  std::array<std::int64_t, kFleetColumns> columns{};
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = run.integer(1 + static_cast<int>(i));
  const auto price = run.is_null(kPrice) ? std::nullopt : std::optional(run.integer(kPrice));
  const std::int64_t checksum = run.integer(kPrice + 1);
  const bool is_whole = checksum == checksum_of(second, columns).add(price.value_or(kNoPrice)).value();
  if (!run.is_well_typed() || !is_whole) return std::nullopt;
  return FleetFigures{.covered_us = columns[0],
                      .available_us = static_cast<double>(columns[1]),
                      .allocated_us = static_cast<double>(columns[2]),
                      .busy_us = static_cast<double>(columns[3]),
                      .effective_us = static_cast<double>(columns[4]),
                      .lost_gpus_max = columns[5],
                      .micro_usd_per_hour = price};
}

}  // namespace berth::edges::detail
