/// Whether two JSON trees say the same to a reader whose numbers are doubles.
#pragma once

#include "base/yaml/document.h"

namespace berth::json {

/// The same kinds of values with the same texts, in objects of any order of keys. Two integers of at most 64 bits are
/// compared exactly, other numbers as doubles. Requires: `json::parse_document` made them. O(size^2) in the keys of one
/// object, else O(size).
[[nodiscard]] bool is_same_to_doubles(const yaml::Node& a, const yaml::Node& b);

}  // namespace berth::json
