/// Files of simulated devices, which programs on slices of a simulated machine read.
#pragma once

#include <optional>
#include <string>

namespace berth::edges {

/// Writes FOLDER/NAME.yaml atomically, readable for everyone, since programs run as other users. The folder is made if
/// it is missing. Returns why it cannot. Requires: the name is one of a file.
[[nodiscard]] std::optional<std::string> write_device_file(const std::string& folder, const std::string& name,
                                                           const std::string& text);

}  // namespace berth::edges
