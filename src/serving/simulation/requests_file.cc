#include "serving/simulation/requests_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"

namespace berth::serving {
namespace {

constexpr std::int64_t kTimeMax = 1'000'000'000'000'000;  ///< some 31 years
constexpr std::int64_t kTargetMax = 1'000'000'000'000;
constexpr std::int64_t kPriorityMax = 1000;
constexpr std::size_t kRequestNameBytesMax = 63;

enum Column : std::size_t { kTime, kModel, kTenant, kTarget, kPriority };

/// Names in the order of their first use.
class NameTable {
 public:
  int index_of(std::string_view name) {
    const auto [place, is_new] = indices_.try_emplace(std::string(name), static_cast<int>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return place->second;
  }
  /// The names in byte order, and for each of the old indices the new one.
  [[nodiscard]] std::pair<std::vector<std::string>, std::vector<int>> sorted() const {
    std::vector<std::string> names = names_;
    std::ranges::sort(names);
    std::vector<int> places;
    places.reserve(names_.size());
    for (const std::string& name : names_) {
      places.push_back(static_cast<int>(std::ranges::lower_bound(names, name) - names.begin()));
    }
    return {std::move(names), std::move(places)};
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> indices_;
};

Result<int> name_index(const Rows& rows, std::size_t column, NameTable& names) {
  const std::string_view name = rows.field(column);
  if (name.empty() || name.size() > kRequestNameBytesMax) {
    return rows.refuse(column, fmt::format("a name of 1 to {} bytes", kRequestNameBytesMax));
  }
  return names.index_of(name);
}

Result<Request> read_request(const Rows& rows, NameTable& models, NameTable& tenants) {
  FirstError first;
  Request request;
  request.arrival = Instant(first.take(rows.integer(kTime, 0, kTimeMax)));
  request.model = ModelIndex(first.take(name_index(rows, kModel, models)));
  request.tenant = TenantIndex(first.take(name_index(rows, kTenant, tenants)));
  request.target = Micros(first.take(rows.integer(kTarget, 1, kTargetMax)));
  request.priority = std::max<std::int64_t>(first.take(rows.integer(kPriority, 0, kPriorityMax)), 1);
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace

Result<RecordedRequests> read_requests(std::string_view text, std::string_view file) {
  Rows rows(text, file, std::vector<std::string_view>{"time_us", "model", "tenant", "target_us", "priority"});
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  NameTable models;
  NameTable tenants;
  RecordedRequests recorded;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    auto request = read_request(rows, models, tenants);
    if (!request) return pass_on(request.error());
    if (!recorded.requests.empty() && request->arrival < recorded.requests.back().arrival) {
      const std::int64_t before = recorded.requests.back().arrival.micros();
      return rows.refuse(kTime, fmt::format("rows sorted by time, so at least {}", before));
    }
    request->number = static_cast<std::int64_t>(recorded.requests.size());
    recorded.requests.push_back(*request);
  }
  if (recorded.requests.empty()) return rows.fail_file("wanted at least one request, found none");
  std::vector<int> model_places;
  std::vector<int> tenant_places;
  std::tie(recorded.models, model_places) = models.sorted();
  std::tie(recorded.tenants, tenant_places) = tenants.sorted();
  for (Request& request : recorded.requests) {
    request.model = ModelIndex(model_places[static_cast<std::size_t>(request.model)]);
    request.tenant = TenantIndex(tenant_places[static_cast<std::size_t>(request.tenant)]);
  }
  return recorded;
}

}  // namespace berth::serving
