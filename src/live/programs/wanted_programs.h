/// What a session wants to run on its slices.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/scenario.h"
#include "live/programs/program_book.h"

namespace berth::live {

/// The UUID of the MIG device or GPU of a slice; nothing: it is not known now.
using DeviceUuid = std::function<std::optional<std::string>(const Slice&)>;

/// The programs on these slices; those whose device is not known cannot be started until it is.
[[nodiscard]] std::vector<WantedProgram> wanted_programs(const Scenario& scenario,
                                                         const std::vector<world::ProgramSlice>& slices,
                                                         const DeviceUuid& uuid_of);
/// The services of the scenario with `run`, in its order.
[[nodiscard]] std::vector<ProgramService> program_services(const Scenario& scenario);

}  // namespace berth::live
