/// What can be bought: instances with their GPUs, and their prices over time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/date.h"

namespace berth::pricing {

enum class Purchase { kOnDemand, kSpot, kCommitted };
/// Such as "on-demand".
[[nodiscard]] std::string_view name_of(Purchase purchase);
[[nodiscard]] std::optional<Purchase> purchase_named(std::string_view name);

/// The days on which a price is in force: from `from` to before `to`; without `to` it is still in force.
struct Validity {
  Date from;
  std::optional<Date> to;

  [[nodiscard]] bool contains(Date date) const { return from <= date && (!to || date < *to); }
  friend bool operator==(const Validity&, const Validity&) = default;
};

/// Identifies a product: a thing that can be bought.
struct OfferKey {
  std::string provider;
  std::string instance_type;
  std::string region;
  Purchase purchase = Purchase::kOnDemand;

  friend auto operator<=>(const OfferKey&, const OfferKey&) = default;
};

/// The hardware of an instance. One price covers GPUs and host.
struct Shape {
  std::string gpu_model;            ///< in lower case, as in "a100"; never empty
  int gpu_count = 0;                ///< whole GPUs; 0: a fraction of one
  std::int64_t gpu_memory_mib = 0;  ///< of each GPU; 0: unknown
  std::int64_t vcpu_milli = 0;
  std::int64_t memory_mib = 0;  ///< of the host
  int mig_instances_max = 0;    ///< of each GPU; 0: it cannot be partitioned

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// One row of a catalogue.
struct Offer {
  OfferKey key;
  Shape shape;
  std::optional<std::int64_t> micro_usd_per_hour;  ///< of the whole instance; absent: not offered
  Validity validity;
  std::string source;

  friend bool operator==(const Offer&, const Offer&) = default;
};

/// Whether Berth may buy it: it is offered, has whole GPUs, and they are NVIDIA's. Fractions of GPUs (SR-IOV, time
/// slices) and other accelerators are listed only.
[[nodiscard]] bool is_buyable(const Offer& offer);

/// Whether a model name belongs to a non-NVIDIA accelerator. Unknown names count as NVIDIA's.
[[nodiscard]] bool is_other_accelerator(std::string_view gpu_model);

}  // namespace berth::pricing
