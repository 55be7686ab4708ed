#include "domain/lists/tenant_list.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "base/core/first_error.h"
#include "base/core/rows.h"
#include "base/core/text.h"

namespace berth {
namespace {

constexpr std::int64_t kGpusMax = 1'000'000'000;
constexpr std::int64_t kWeightMax = 1'000'000'000;

struct TenantColumn {
  enum : std::size_t { kTenant, kParent, kGuaranteed, kLimit, kWeight };
};

const NamedColumns tenant_columns = {.required = {"tenant", "parent", "guaranteed", "limit", "weight"}, .optional = {}};

/// A tenant whose parent is not resolved yet, and the position of its row.
struct TenantRow {
  ListedTenant tenant;
  std::string parent;
  TextPlace parent_place;
  TextPlace guaranteed_place;
};

Result<TenantRow> tenant_row(const Rows& rows) {
  FirstError first;
  TenantRow row;
  row.tenant.name = first.take(rows.word(TenantColumn::kTenant));
  row.parent = rows.field(TenantColumn::kParent);
  row.tenant.guaranteed = first.take(rows.integer(TenantColumn::kGuaranteed, 0, kGpusMax));
  if (!first.is_clear()) return first.passed_on();
  if (!rows.field(TenantColumn::kLimit).empty())
    row.tenant.limit = first.take(rows.integer(TenantColumn::kLimit, row.tenant.guaranteed, kGpusMax));
  row.tenant.weight = first.take(rows.integer(TenantColumn::kWeight, 1, kWeightMax));
  row.parent_place = rows.place_of(TenantColumn::kParent);
  row.guaranteed_place = rows.place_of(TenantColumn::kGuaranteed);
  if (!first.is_clear()) return first.passed_on();
  return row;
}

/// The rows of a file, and the checks that span several rows.
class TenantTree {
 public:
  TenantTree(std::string_view file, std::vector<TenantRow> rows) : file_(file), rows_(std::move(rows)) {}

  Result<std::vector<ListedTenant>> checked(std::int64_t gpus) {
    if (auto found = find_parents(); !found) return pass_on(found.error());
    if (auto found = find_circle(); !found) return pass_on(found.error());
    if (auto found = check_guarantees(gpus); !found) return pass_on(found.error());
    std::vector<ListedTenant> tenants;
    tenants.reserve(rows_.size());
    for (TenantRow& row : rows_) tenants.push_back(std::move(row.tenant));
    return tenants;
  }

 private:
  Result<void> find_parents() {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < rows_.size(); ++i) places.emplace(rows_[i].tenant.name, i);
    for (TenantRow& row : rows_) {
      if (row.parent.empty()) continue;
      const auto parent = places.find(row.parent);
      if (parent == places.end()) {
        return tl::unexpected(
            error_at(file_, row.parent_place, "parent: wanted a tenant of this file, found " + in_quotes(row.parent)));
      }
      row.tenant.parent = parent->second;
    }
    return {};
  }

  /// Each tenant is visited once: a walk ends at the root, or at a tenant that an earlier walk visited.
  [[nodiscard]] Result<void> find_circle() const {
    std::vector<std::size_t> walk_of(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (std::optional<std::size_t> at = i; at && walk_of[*at] == 0; at = rows_[*at].tenant.parent) {
        walk_of[*at] = i + 1;
        const std::optional<std::size_t> next = rows_[*at].tenant.parent;
        if (!next || walk_of[*next] != i + 1) continue;
        return tl::unexpected(error_at(file_, rows_[*at].parent_place,
                                       fmt::format("parent: wanted a tree, found {} below {}",
                                                   in_quotes(rows_[*at].parent), in_quotes(rows_[*at].tenant.name))));
      }
    }
    return {};
  }

  [[nodiscard]] Result<void> check_guarantees(std::int64_t gpus) const {
    std::int64_t top = 0;
    std::vector<std::int64_t> of_children(rows_.size());
    for (const TenantRow& row : rows_) {
      std::int64_t& sum = row.tenant.parent ? of_children[*row.tenant.parent] : top;
      sum += row.tenant.guaranteed;
      const std::int64_t most = row.tenant.parent ? rows_[*row.tenant.parent].tenant.guaranteed : gpus;
      if (sum <= most) continue;
      return tl::unexpected(
          error_at(file_, row.guaranteed_place,
                   fmt::format("guaranteed: wanted at most {} together with its siblings ({}), found {}", most,
                               row.tenant.parent ? "the guarantee of " + in_quotes(row.parent) : "the GPUs", sum)));
    }
    return {};
  }

  std::string_view file_;
  std::vector<TenantRow> rows_;
};

}  // namespace

Result<std::vector<ListedTenant>> read_tenants(std::string_view text, std::string_view file, std::int64_t gpus) {
  Rows rows(text, file, tenant_columns);
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<TenantRow> found;
  std::unordered_map<std::string, std::size_t> names;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    auto row = tenant_row(rows);
    if (!row) return pass_on(row.error());
    if (!names.emplace(row->tenant.name, found.size()).second)
      return rows.refuse(TenantColumn::kTenant, "a name that no other tenant has");
    found.push_back(std::move(*row));
  }
  if (found.empty()) return rows.fail_file("wanted at least one tenant, found none");
  return TenantTree(file, std::move(found)).checked(gpus);
}

}  // namespace berth
