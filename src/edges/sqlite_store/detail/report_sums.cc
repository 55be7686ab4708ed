#include "edges/sqlite_store/detail/report_sums.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace berth::edges::detail {
namespace {

/// Model, version, sha256, device, batch.
using TimesKey = std::tuple<std::string, std::string, std::string, std::string, int>;
/// Model, version.
using MemoryKey = std::pair<std::string, std::string>;

TimesKey key_of(const ObservedTimes& times) {
  return {times.model, times.version, times.sha256, times.device, times.batch};
}

MemoryKey key_of(const ObservedMemory& memory) { return {memory.model, memory.version}; }

/// Whether both sums fit 64 bits.
bool add_to(ObservedTimes& sum, const ObservedTimes& times) {
  sum.sum_squares += times.sum_squares;
  return !__builtin_add_overflow(sum.count, times.count, &sum.count) &&
         !__builtin_add_overflow(sum.sum_us, times.sum_us, &sum.sum_us);
}

ObservedTimes minus(ObservedTimes times, const ObservedTimes& earlier) {
  times.count -= earlier.count;
  times.sum_us -= earlier.sum_us;
  times.sum_squares -= earlier.sum_squares;
  return times;
}

/// What the earlier reports of the same url and start counted.
std::map<TimesKey, ObservedTimes> counted_before(const TimesReport& report, std::span<const ReportRows> earlier) {
  std::map<TimesKey, ObservedTimes> counted;
  for (const ReportRows& rows : earlier) {
    if (rows.url != report.url || rows.started_us != report.started_us) continue;
    for (const ObservedTimes& times : rows.times) {
      const auto [found, is_new] = counted.emplace(key_of(times), times);
      if (!is_new) static_cast<void>(add_to(found->second, times));
    }
  }
  return counted;
}

/// The reversal of times without a sha256 of which the report has fewer, if they are there under their sha256 now.
std::optional<ObservedTimes> reversal(const ObservedTimes& counted, const TimesReport& report) {
  if (!counted.sha256.empty() || counted.count == 0) return std::nullopt;
  ObservedTimes now = counted;
  now.count = 0;
  now.sum_us = 0;
  now.sum_squares = 0;
  bool is_known_now = false;
  for (const ObservedTimes& times : report.items) {
    if (key_of(times) == key_of(counted)) now = times;
    const bool is_same = times.model == counted.model && times.version == counted.version &&
                         times.device == counted.device && times.batch == counted.batch;
    is_known_now = is_known_now || (is_same && !times.sha256.empty());
  }
  if (!is_known_now || now.count >= counted.count) return std::nullopt;
  return minus(now, counted);
}

}  // namespace

ReportRows difference(const TimesReport& report, std::span<const ReportRows> earlier, std::int64_t now_us) {
  ReportRows rows{.url = report.url, .started_us = report.started_us, .at_us = now_us};
  const auto counted = counted_before(report, earlier);
  for (const ObservedTimes& times : report.items) {
    const auto found = counted.find(key_of(times));
    const ObservedTimes added = found == counted.end() ? times : minus(times, found->second);
    if (added.count > 0) rows.times.push_back(added);
  }
  for (const auto& [key, times] : counted) {
    if (const auto reversed = reversal(times, report)) rows.times.push_back(*reversed);
  }
  std::map<MemoryKey, std::int64_t> last;
  for (const ObservedMemorySum& sum : last_memory(earlier)) {
    if (sum.url == report.url) last[key_of(sum.memory)] = sum.memory.bytes;
  }
  for (const ObservedMemory& memory : report.memory) {
    const auto found = last.find(key_of(memory));
    if (found == last.end() || found->second != memory.bytes) rows.memory.push_back(memory);
  }
  std::ranges::sort(rows.times, {}, [](const ObservedTimes& times) { return key_of(times); });
  std::ranges::sort(rows.memory, {}, [](const ObservedMemory& memory) { return key_of(memory); });
  return rows;
}

std::int64_t batch_count(const ReportRows& rows) {
  std::int64_t count = 0;
  for (const ObservedTimes& times : rows.times) count += times.count;
  return count;
}

std::optional<std::vector<ObservedSum>> observed_sums(std::span<const ReportRows> reports) {
  std::map<std::pair<std::string, TimesKey>, ObservedSum> sums;
  for (const ReportRows& rows : reports) {
    for (const ObservedTimes& times : rows.times) {
      const auto [found, is_new] = sums.try_emplace({rows.url, key_of(times)}, ObservedSum{.url = rows.url});
      ObservedSum& sum = found->second;
      sum.last_us = rows.at_us;
      if (is_new) {
        sum.times = times;
      } else if (!add_to(sum.times, times)) {
        return std::nullopt;
      }
    }
  }
  std::vector<ObservedSum> kept;
  for (auto& [key, sum] : sums) {
    if (sum.times.count > 0) kept.push_back(std::move(sum));
  }
  return kept;
}

std::vector<ObservedMemorySum> last_memory(std::span<const ReportRows> reports) {
  std::map<std::pair<std::string, MemoryKey>, ObservedMemorySum> last;
  for (const ReportRows& rows : reports) {
    for (const ObservedMemory& memory : rows.memory) {
      last[{rows.url, key_of(memory)}] = {.url = rows.url, .memory = memory, .last_us = rows.at_us};
    }
  }
  std::vector<ObservedMemorySum> list;
  list.reserve(last.size());
  for (auto& [key, sum] : last) list.push_back(std::move(sum));
  return list;
}

}  // namespace berth::edges::detail
