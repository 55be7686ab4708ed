#include "engine/rivals/detail/even_search.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/detail/open_gpus.h"
#include "engine/rivals/layout.h"

namespace berth::partition {

LayoutOrInfeasible static_even_layout(const Scenario& scenario) {
  const detail::FleetView fleet = detail::view_fleet(scenario);
  if (const auto unservable = detail::find_unservable(fleet, /*only_whole=*/false)) return *unservable;
  const auto plan = detail::even_plan(fleet);
  if (!plan) return detail::no_room(fleet);
  return detail::layout_of(fleet, *plan);
}

}  // namespace berth::partition
