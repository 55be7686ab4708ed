/// A few members of a JSON object, without reading the rest of its text.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::json {

/// The texts of the values of some keys in the object that a JSON text is, in the order of `keys`; empty where there is
/// no such key. They borrow from `text`.
///
/// Error: kMalformed if the text is not an object, strings or brackets in it do not end, or one of `keys` is repeated:
/// readers differ in which value counts. What is between brackets and in other values is not checked. O(bytes).
[[nodiscard]] Result<std::vector<std::string_view>> find_members(std::string_view text,
                                                                 std::span<const std::string_view> keys);

}  // namespace berth::json
