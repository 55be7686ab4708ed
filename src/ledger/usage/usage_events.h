/// The usage of a world as lines of events for a ledger.
///
/// The past of each GPU is divided into cells: at each instant at which one of its parts changes, and at each full hour
/// (UTC). A cell gives a `gpu` event (the GPU is paid for) and a `use` for each holder:
///
///   held      a use of the weight of the slice's profile; of several holders one each, which weigh the same
///   changing  a use of nobody with the role reconfiguration
///   foreign   a use of the role reserved by the tenant and service "foreign"
///   free      of a slice that nobody holds, or where a slice fits: no use, so it is idle; where no legal slice fits: a
///             use of nobody with the role stranded, of what the other parts leave of the capacity
///   lost      a use of nobody with the role stranded, the whole GPU
///
/// Weights are those of ledger/weights; units of no slice, or of a part of one, weigh their part of the units. Where
/// slices have several holders, capacity and weights of the cell are multiplied, so that all shares are whole.
///
/// Ids: "WORLD/RESOURCE/EPOCH/SEQUENCE", WORLD when the world began, in microseconds since 1970; EPOCH "-" without one.
/// The cells of an interval that do not begin with it add "@" and the microsecond at which they begin, one of several
/// holders "#" and its number. The same cell gives the same bytes whenever it is written.
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

/// A part of the past that is written at once.
struct Stretch {
  Instant from;
  Instant to;           ///< behind `from`, at most the end of its hour
  bool is_over = true;  ///< the past ends there, or is to be cut there; else what goes on at `to` is left out
};

class UsageEvents {
 public:
  /// `epoch_us`: second 0 of the world, in microseconds since 1970. The fleet must outlive it. Error (kInvalidInput): a
  /// price that a ledger cannot have.
  [[nodiscard]] static Result<UsageEvents> make(const Scenario& fleet, std::int64_t epoch_us);
  UsageEvents(UsageEvents&&) noexcept;
  UsageEvents& operator=(UsageEvents&&) noexcept;
  ~UsageEvents();

  /// A line for each sku that has a price, from the world's second 0 on. A sku is a GPU model; if the fleet has several
  /// prices of one model, also its price: "A100-80GB@3.673".
  [[nodiscard]] const std::string& prices() const;
  /// The first full hour after an instant.
  [[nodiscard]] Instant hour_after(Instant at) const;
  /// The lines of a stretch, in the order in which the cells end. To be called for one stretch after the other.
  /// `usage`: every interval that has a part in it, in any order; what goes on ends at the stretch's end or later.
  /// The past of a GPU begins where all its units are known. Errors: kUnavailable: from then on something is missing,
  /// or there twice; kInvalidInput: what a ledger cannot have, such as a tenant of more than 128 bytes, or so many
  /// holders that their shares are not whole in a capacity of 10^6.
  [[nodiscard]] Result<std::string> lines(const Stretch& stretch, std::span<const live::UsageInterval> usage);

 private:
  struct State;
  explicit UsageEvents(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::ledger
