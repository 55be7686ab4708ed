#include "live/programs/batch_reports.h"

#include <algorithm>

#include "base/json/document.h"
#include "base/json/tree.h"

namespace berth::live {
namespace {

std::optional<std::int64_t> count_in(const yaml::Node& node, std::string_view key) {
  const yaml::Node* found = json::find_member(node, key);
  const auto count = found == nullptr ? std::nullopt : json::integer_in<std::int64_t>(*found);
  return count && *count >= 0 ? count : std::nullopt;
}

/// What came since the earlier answer of the same server.
ServerTimes::Sum news_of(const ServerTimes::Sum& sum, const ServerTimes* before) {
  if (before == nullptr) return sum;
  const auto known = std::ranges::find(before->sums, sum.batch, &ServerTimes::Sum::batch);
  if (known == before->sums.end()) return sum;
  return {.batch = sum.batch, .count = sum.count - known->count, .sum_us = sum.sum_us - known->sum_us};
}

}  // namespace

std::optional<ServerTimes> read_server_times(std::string_view text) {
  const auto json = json::parse_document(text, "times");
  if (!json) return std::nullopt;
  const auto started = count_in(*json, "started_us");
  const yaml::Node* items = json::find_member(*json, "items");
  const yaml::List* list = items == nullptr ? nullptr : json::list_in(*items);
  if (!started || list == nullptr) return std::nullopt;
  ServerTimes times{.started_us = *started, .sums = {}};
  for (const yaml::Node& item : *list) {
    const auto batch = count_in(item, "batch");
    const auto count = count_in(item, "count");
    const auto sum_us = count_in(item, "sum_us");
    if (!batch || *batch == 0 || !count || !sum_us) return std::nullopt;
    const auto known = std::ranges::find(times.sums, *batch, &ServerTimes::Sum::batch);
    if (known == times.sums.end()) {
      times.sums.push_back({.batch = *batch, .count = *count, .sum_us = *sum_us});
    } else {  // another version of the model
      known->count += *count;
      known->sum_us += *sum_us;
    }
  }
  return times;
}

void BatchReports::add(const ProgramKey& program, const SpeedPlace& place, const std::vector<std::int64_t>& batch_us,
                       const ServerTimes& times) {
  const auto known = latest_.find(program);
  const bool is_same = known != latest_.end() && known->second.started_us == times.started_us;
  for (const ServerTimes::Sum& sum : times.sums) {
    if (sum.batch > std::ssize(batch_us)) continue;
    const ServerTimes::Sum news = news_of(sum, is_same ? &known->second : nullptr);
    if (news.count <= 0 || news.sum_us <= 0) continue;
    sim::BatchTimes& total = sums_[place];
    total.batches += news.count;
    total.table_us += news.count * batch_us[static_cast<std::size_t>(news.batch - 1)];
    total.real_us += news.sum_us;
  }
  latest_[program] = times;
}

std::vector<sim::BatchTimes> BatchReports::take(std::int64_t second) {
  std::vector<sim::BatchTimes> taken;
  for (auto& [place, times] : std::exchange(sums_, {})) {
    times.place = place;
    times.second = second;
    taken.push_back(times);
  }
  return taken;
}

}  // namespace berth::live
