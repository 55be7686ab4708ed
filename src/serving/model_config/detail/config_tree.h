/// The text of a config.pbtxt as a tree of fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "base/core/text.h"

namespace berth::serving::detail {

/// A field, or one item of a repeated one.
struct ConfigField {
  std::string name;
  TextPlace place = {};
  std::string text = {};                 ///< a text, or the name of an enum's value
  std::int64_t number = 0;               ///< a whole number, the nearest there is; of a bool 0 or 1
  std::vector<ConfigField> fields = {};  ///< of a message, in the order of model_config.proto
  bool is_bool = false;

  /// The first field of that name; null if it is not written.
  [[nodiscard]] const ConfigField* find(std::string_view field) const;
};

/// Errors, "FILE:LINE:COLUMN: why": not the text format, unknown fields, values of another type.
[[nodiscard]] Result<ConfigField> parse_config_text(std::string_view text, std::string_view file);

}  // namespace berth::serving::detail
