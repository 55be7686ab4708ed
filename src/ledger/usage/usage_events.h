/// The usage of a world as lines of events for a ledger.
///
/// The past of each GPU is divided into cells: at each instant at which one of its parts changes, and at each full hour
/// (UTC). A cell gives a `gpu` event (the GPU is paid for) and a `use` for each holder:
///
///   held      a use of the weight of the slice's profile; of several holders one each, which weigh the same
///   changing  a use without a tenant, with the role reconfiguration
///   foreign   a use of the role reserved by the tenant and service "foreign"
///   free      an unowned slice, or units where a slice fits: no use, so it is idle; units where no legal slice fits: a
///             use without a tenant, with the role stranded, of what the other parts leave of the capacity
///   lost      a use without a tenant, with the role stranded, of the whole GPU
///
/// The slice of a use that was not observed ends in "~unobserved".
///
/// Weights are those of ledger/weights; units outside slices, or of a part of one, weigh their share of the units.
/// Where slices have several holders, capacity and weights of the cell are multiplied, so that all shares are integers.
///
/// Ids: "WORLD/RESOURCE/EPOCH/SEQUENCE", WORLD the time at which the world began, in microseconds since 1970; EPOCH "-"
/// without one. Cells that begin inside an interval add "@" and the microsecond at which they begin; each of several
/// holders adds "#" and its number. The same cell always gives the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "live/session/usage_book.h"

namespace berth::ledger {

/// A part of the past that is written in one call.
struct Stretch {
  Instant from;
  Instant to;  ///< after `from`, at most the end of its hour
};

class UsageEvents {
 public:
  /// `epoch_us`: second 0 of the world, in microseconds since 1970. The fleet must outlive it. Error (kInvalidInput): a
  /// price outside a ledger's range.
  [[nodiscard]] static Result<UsageEvents> make(const Scenario& fleet, std::int64_t epoch_us);
  UsageEvents(UsageEvents&&) noexcept;
  UsageEvents& operator=(UsageEvents&&) noexcept;
  ~UsageEvents();

  /// A line for each sku that has a price, from the world's second 0 on. A sku is a GPU model; if the fleet has several
  /// prices of one model, also its price: "A100-80GB@3.673".
  [[nodiscard]] const std::string& prices() const;
  /// The first full hour after an instant.
  [[nodiscard]] Instant hour_after(Instant at) const;
  /// The lines of a stretch, in the order in which the cells end. Requires: called for consecutive stretches. `usage`:
  /// every interval that overlaps it, in any order; continuing ones end at the stretch's end or later. The past of a
  /// GPU begins where all its units are known. Errors: kUnavailable: after that, some usage is missing or duplicated;
  /// kInvalidInput: values outside a ledger's range, such as a tenant of more than 128 bytes, or so many holders that
  /// their shares are not integers in a capacity of 10^6.
  [[nodiscard]] Result<std::string> lines(const Stretch& stretch, std::span<const live::UsageInterval> usage);

 private:
  struct State;
  explicit UsageEvents(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::ledger
