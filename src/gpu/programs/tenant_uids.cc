#include "gpu/programs/tenant_uids.h"

#include <fmt/format.h>

#include <set>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/writer.h"
#include "base/yaml/reader.h"

namespace berth::programs {
namespace {

constexpr std::size_t kUidsBytesMax = std::size_t{16} << 20U;

}  // namespace

Result<std::int64_t> TenantUids::uid_of(const std::string& tenant, const UidRange& range) {
  if (const auto known = uids_.find(tenant); known != uids_.end()) {
    if (known->second >= range.first && known->second <= range.last) return known->second;
    return fail(ErrorCode::kUnavailable, fmt::format("uids: tenant {} has uid {}, which is not in {}-{} any more",
                                                     in_quotes(tenant), known->second, range.first, range.last));
  }
  std::set<std::int64_t> taken;
  for (const auto& [name, uid] : uids_) taken.insert(uid);
  for (std::int64_t uid = range.first; uid <= range.last; ++uid) {
    if (taken.contains(uid)) continue;
    uids_.emplace(tenant, uid);
    return uid;
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("uids: wanted a free uid of {}-{} for tenant {}, found none: {} tenants have them",
                          range.first, range.last, in_quotes(tenant), uids_.size()));
}

std::string TenantUids::text() const {
  json::Writer json;
  json.open_object().open_object("uids");
  for (const auto& [tenant, uid] : uids_) json.member(tenant, uid);
  return json.close_object().close_object().take_line();
}

Result<TenantUids> TenantUids::read(std::string_view text, const std::string& path) {
  constexpr json::Limits kLimits{.text_bytes_max = kUidsBytesMax, .value_count_max = 1 << 20};
  const auto tree = json::parse_document(text, path, kLimits);
  if (!tree) return pass_on(tree.error());
  yaml::Report report(path);
  const yaml::Value root(*tree, report);
  root.check_keys({"uids"});
  TenantUids made;
  std::set<std::int64_t> taken;
  const yaml::Value uids = root.at("uids");
  for (const std::string& tenant : uids.keys()) {
    const std::int64_t uid = uids.at(tenant).whole({1, UINT32_MAX});
    if (!taken.insert(uid).second) uids.at(tenant).refuse("a uid of its own");
    made.uids_.emplace(tenant, uid);
  }
  if (report.has_failed()) return pass_on(report.failure());
  return made;
}

}  // namespace berth::programs
