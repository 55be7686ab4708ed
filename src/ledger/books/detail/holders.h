/// Holders (tenant, service, role) as numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/books/detail/gpu_book.h"
#include "ledger/books/detail/names.h"
#include "ledger/events/event.h"

namespace berth::ledger::detail {

struct Holder {
  NameId tenant = 0;
  NameId service = 0;
  Role role = Role::kIdle;
  friend bool operator==(const Holder&, const Holder&) = default;
};

class Holders {
 public:
  [[nodiscard]] HolderId intern(std::string_view tenant, std::string_view service, Role role) {
    const Holder holder{.tenant = texts_.intern(tenant), .service = texts_.intern(service), .role = role};
    const auto [found, is_new] = numbers_.try_emplace(holder, static_cast<HolderId>(holders_.size()));
    if (is_new) holders_.push_back(holder);
    return found->second;
  }
  [[nodiscard]] std::string_view tenant(HolderId id) const { return texts_.text(holders_[id].tenant); }
  [[nodiscard]] std::string_view service(HolderId id) const { return texts_.text(holders_[id].service); }
  [[nodiscard]] Role role(HolderId id) const { return holders_[id].role; }
  [[nodiscard]] bool has_tenant(std::string_view tenant) const {
    const auto id = texts_.find(tenant);
    return id && std::ranges::find(holders_, *id, &Holder::tenant) != holders_.end();
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.texts_, self.holders_);
    if constexpr (Archive::kReads) {
      for (HolderId id = 0; id < self.holders_.size(); ++id) self.numbers_.emplace(self.holders_[id], id);
    }
  }

 private:
  struct Hash {
    std::size_t operator()(const Holder& holder) const {
      const std::uint64_t packed = std::uint64_t{holder.tenant} << 35U ^ std::uint64_t{holder.service} << 3U ^
                                   static_cast<std::uint64_t>(holder.role);
      return packed * 0x9e3779b97f4a7c15ULL >> 16U;
    }
  };

  Names texts_;
  std::vector<Holder> holders_;  ///< by HolderId
  std::unordered_map<Holder, HolderId, Hash> numbers_;
};

}  // namespace berth::ledger::detail
