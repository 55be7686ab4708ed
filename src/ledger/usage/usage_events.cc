#include "ledger/usage/usage_events.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/whole_division.h"
#include "base/json/writer.h"
#include "ledger/events/event_reader.h"
#include "ledger/usage/detail/cell_uses.h"
#include "ledger/usage/detail/usage_cells.h"
#include "ledger/weights/weights.h"
#include "live/session/object_names.h"

namespace berth::ledger {
namespace {

using json::Writer;

constexpr std::int64_t kHourUs = 3'600'000'000;
constexpr std::int64_t kMicroUsd = 1'000'000;

/// By the fleet's entries.
std::vector<std::string> skus_of(const Scenario& fleet) {
  const auto price_text = [](const FleetEntry& entry) {
    return entry.usd_per_gpu_hour ? json::text_of(*entry.usd_per_gpu_hour) : std::string("unpriced");
  };
  std::vector<std::string> skus;
  for (const FleetEntry& entry : fleet.fleet) {
    std::set<std::string> prices;
    for (const FleetEntry& other : fleet.fleet) {
      if (other.model.name == entry.model.name) prices.insert(price_text(other));
    }
    skus.push_back(prices.size() == 1 ? entry.model.name : entry.model.name + "@" + price_text(entry));
  }
  return skus;
}

}  // namespace

struct UsageEvents::State {
  State(const Scenario& the_fleet, std::int64_t the_epoch_us)
      : fleet(the_fleet), epoch_us(the_epoch_us), skus(skus_of(the_fleet)), cells(the_fleet) {}

  [[nodiscard]] std::int64_t unix_us(Instant at) const { return (at + Micros(epoch_us)).micros(); }

  [[nodiscard]] const std::string& sku_of(GpuId gpu) const {
    return skus[static_cast<std::size_t>(&fleet.entry_of(gpu) - fleet.fleet.data())];
  }

  /// The id of a cell that begins at `from`.
  [[nodiscard]] std::string id_of(const detail::CellUse& use, Instant from) const {
    const live::OpenUsage& what = use.of->what;
    const live::UsagePart& part = what.part;
    std::string id = fmt::format("{}/{}/{}/{}", epoch_us,
                                 part.slice ? live::place_name(fleet, *part.slice) : live::gpu_name(use.of->gpu),
                                 part.generation > 0 ? fmt::format("{}", part.generation) : "-", what.sequence);
    if (from != what.from) id += fmt::format("@{}", unix_us(from));
    if (use.holder > 0) id += fmt::format("#{}", use.holder);
    return id;
  }

  /// Error: a line that a ledger would refuse.
  Result<void> add_line(const std::string& line, std::string& text) {
    if (const auto event = reader.read(line); !event) {
      return invalid(fmt::format("not an event of a ledger: {}: {}", event.error().message, line));
    }
    text += line;
    text += '\n';
    return {};
  }

  Result<void> add_prices() {
    std::set<std::string> written;
    for (std::size_t i = 0; i < skus.size(); ++i) {
      const auto& price = fleet.fleet[i].usd_per_gpu_hour;
      if (!price || !written.insert(skus[i]).second) continue;
      const Decimal micro_usd = *price * Decimal(kMicroUsd);
      if (!micro_usd.fits_int64()) {
        return invalid(fmt::format("the price of {} is more than a ledger can have: {}", skus[i], price->to_string()));
      }
      Writer json;
      json.open_object().member("type", "price").member("id", fmt::format("{}/price/{}", epoch_us, skus[i]));
      json.member("sku", skus[i]).member("from_us", epoch_us);
      json.member("micro_usd_per_gpu_hour", micro_usd.round_half_even());
      const auto added = add_line(json.close_object().take(), prices);
      if (!added) return added;
    }
    return {};
  }

  Result<void> add_cell(const detail::UsageCell& cell, std::string& text) {
    const auto divided = detail::uses_of(cell, fleet);
    if (!divided) return pass_on(divided.error());
    const std::string gpu = live::gpu_name(cell.gpu);
    const auto put_time = [&](Writer& json) -> Writer& {
      return json.member("from_us", unix_us(cell.from)).member("to_us", unix_us(cell.to));
    };
    Writer json;
    json.open_object().member("type", "gpu");
    json.member("id", fmt::format("{}/{}@{}", epoch_us, gpu, unix_us(cell.from)));
    json.member("gpu", gpu).member("sku", sku_of(cell.gpu)).member("capacity", divided->capacity);
    auto added = add_line(put_time(json).close_object().take(), text);
    for (const detail::CellUse& use : divided->uses) {
      if (!added) break;
      json.open_object().member("type", "use").member("id", id_of(use, cell.from)).member("gpu", gpu);
      json.member("slice", use.slice).member("weight", use.weight);
      json.member("tenant", use.tenant).member("service", use.service).member("role", name_of(use.role));
      added = add_line(put_time(json).close_object().take(), text);
    }
    return added;
  }

  const Scenario& fleet;
  std::int64_t epoch_us = 0;
  std::vector<std::string> skus;
  std::string prices;
  detail::CellMaker cells;
  EventReader reader;
};

UsageEvents::UsageEvents(std::unique_ptr<State> state) : state_(std::move(state)) {}
UsageEvents::UsageEvents(UsageEvents&&) noexcept = default;
UsageEvents& UsageEvents::operator=(UsageEvents&&) noexcept = default;
UsageEvents::~UsageEvents() = default;

Result<UsageEvents> UsageEvents::make(const Scenario& fleet, std::int64_t epoch_us) {
  auto state = std::make_unique<State>(fleet, epoch_us);
  if (auto added = state->add_prices(); !added) return pass_on(added.error());
  return UsageEvents(std::move(state));
}

const std::string& UsageEvents::prices() const { return state_->prices; }

Instant UsageEvents::hour_after(Instant at) const {
  const std::int64_t hour = floor_divide(state_->unix_us(at), kHourUs) + 1;
  return Instant(hour * kHourUs) - Micros(state_->epoch_us);
}

Result<std::string> UsageEvents::lines(const Stretch& stretch, std::span<const live::UsageInterval> usage) {
  ENSURE(stretch.from < stretch.to && stretch.to <= hour_after(stretch.from));
  const auto cells = state_->cells.cells_of(stretch, usage);
  if (!cells) return pass_on(cells.error());
  std::string text;
  for (const detail::UsageCell& cell : *cells) {
    if (auto added = state_->add_cell(cell, text); !added) return pass_on(added.error());
  }
  return text;
}

}  // namespace berth::ledger
