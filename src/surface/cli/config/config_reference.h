/// The reference page of the configuration file, as docs/reference/config.md has it.
#pragma once

#include <string>

namespace berth::cli {

/// Markdown, made from config_keys(). The same bytes each time.
[[nodiscard]] std::string config_reference();

}  // namespace berth::cli
