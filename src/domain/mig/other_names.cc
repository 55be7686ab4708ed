#include "domain/mig/other_names.h"

#include <algorithm>

#include "domain/mig/catalogue.h"
#include "domain/mig/detail/device_tables.h"

namespace berth::mig {

std::optional<ProfileId> find_profile_by_any_name(const GpuModel& model, std::string_view name) {
  for (const detail::OtherNameRow& row : detail::other_name_rows()) {
    if (model.name == row.device && name == row.other_name) return find_profile(model, row.profile);
  }
  return find_profile(model, name);
}

std::optional<std::string> gpu_known_by_name(std::uint16_t pci_device_id) {
  for (const detail::NamedDeviceRow& row : detail::named_device_rows()) {
    if (std::ranges::find(row.pci_device_ids, pci_device_id) != row.pci_device_ids.end()) return row.name;
  }
  return std::nullopt;
}

}  // namespace berth::mig
