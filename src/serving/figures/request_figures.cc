#include "serving/figures/request_figures.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::serving {
namespace {

// A number is written in groups of seven bits, the lowest first; the highest bit of a byte says that more follow.

void put_number(std::string& bytes, std::int64_t number) {
  auto rest = static_cast<std::uint64_t>(number);
  while (rest >= 0x80) {
    bytes += static_cast<char>(rest | 0x80);
    rest >>= 7U;
  }
  bytes += static_cast<char>(rest);
}

std::int64_t take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    ENSURE(!bytes.empty());
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return static_cast<std::int64_t>(number);
}

std::string pack(const RequestFigures& figures) {
  std::string bytes;
  for (const auto figure : kSummedFigures) put_number(bytes, figures.*figure);
  put_number(bytes, figures.queue_max);
  std::uint32_t before = 0;
  for (const LatencyBucket& each : figures.latencies) {
    put_number(bytes, each.bucket - std::exchange(before, each.bucket));
    put_number(bytes, each.count);
  }
  return bytes;
}

void add_counts(RequestFigures& sum, const RequestFigures& more) {
  for (const auto figure : kSummedFigures) sum.*figure += more.*figure;
  add_buckets(sum.latencies, more.latencies);
}

}  // namespace

void add_outcome(RequestFigures& figures, RequestOutcome outcome) {
  switch (outcome) {
    case RequestOutcome::kInTime:
      ++figures.in_time;
      return;
    case RequestOutcome::kLate:
      ++figures.late;
      return;
    case RequestOutcome::kRejected:
      ++figures.rejected;
      return;
    case RequestOutcome::kExpired:
      ++figures.expired;
      return;
    case RequestOutcome::kFailed:
      ++figures.failed;
      return;
    case RequestOutcome::kCancelled:
      ++figures.cancelled;
      return;
  }
}

void add_beside(RequestFigures& sum, const RequestFigures& more) {
  add_counts(sum, more);
  sum.queue_max += more.queue_max;
}

void add_after(RequestFigures& sum, const RequestFigures& more) {
  add_counts(sum, more);
  sum.queue_max = std::max(sum.queue_max, more.queue_max);
}

void SecondRing::add(std::int64_t second, const RequestFigures& figures) {
  ENSURE(seconds_.empty() || seconds_.back().second < second);
  seconds_.push_back({.second = second, .bytes = pack(figures)});
}

void SecondRing::forget_before(std::int64_t second) {
  while (!seconds_.empty() && seconds_.front().second < second) seconds_.pop_front();
}

std::deque<SecondRing::Packed>::const_iterator SecondRing::first_from(std::int64_t second) const {
  return std::ranges::lower_bound(seconds_, second, {}, &Packed::second);
}

RequestFigures SecondRing::unpack(std::string_view bytes) {
  RequestFigures figures;
  for (const auto figure : kSummedFigures) figures.*figure = take_number(bytes);
  figures.queue_max = take_number(bytes);
  std::uint32_t bucket = 0;
  while (!bytes.empty()) {
    bucket += static_cast<std::uint32_t>(take_number(bytes));
    figures.latencies.push_back({.bucket = bucket, .count = take_number(bytes)});
  }
  return figures;
}

}  // namespace berth::serving
