/// Who pays for a GPU now: its cost divided as a ledger divides the cell that its usage gives (usage_events.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "domain/values/scenario.h"
#include "ledger/events/event.h"
#include "live/session/usage_book.h"

namespace berth::ledger {

/// A share of what a GPU costs: weight / whole.
struct CostShare {
  Role role = Role::kIdle;
  std::int64_t weight = 1;                           ///< above 0; all of a GPU add up to `whole`
  std::int64_t whole = 1;                            ///< the same for all of a GPU
  std::size_t part = 0;                              ///< whose; of kIdle meaningless
  std::optional<std::size_t> holder = std::nullopt;  ///< its place in UsagePart::holders; absent: unowned, or foreign
};

class CostShares {
 public:
  /// The fleet is borrowed.
  explicit CostShares(const Scenario& fleet) : fleet_(fleet) {}

  /// The shares of a GPU whose units belong to these parts, by start. Empty if a ledger cannot divide it (so many
  /// holders that their shares are not integers). Valid until the next call. Results are cached by the form of the
  /// layout.
  [[nodiscard]] const std::vector<CostShare>& of(GpuId gpu, std::span<const live::UsagePart> parts);
  /// The tenant that pays; empty: unowned.
  [[nodiscard]] static std::string_view payer(const CostShare& share, std::span<const live::UsagePart> parts);

 private:
  static constexpr std::size_t kFormsMax = 10'000;
  using Form = std::vector<std::int32_t>;  ///< what the division depends on

  const Scenario& fleet_;
  std::map<Form, std::vector<CostShare>> known_;
};

}  // namespace berth::ledger
