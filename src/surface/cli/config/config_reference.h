/// The reference page of the configuration file: docs/reference/config.md.
#pragma once

#include <string>

namespace berth::cli {

/// Markdown, generated from config_keys(). Always the same bytes.
[[nodiscard]] std::string config_reference();

}  // namespace berth::cli
