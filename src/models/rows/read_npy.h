/// Reads an array of NumPy's file format.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/core/result.h"
#include "domain/values/tensor.h"

namespace berth::models {

/// The most bytes of one array, and of all arrays of an archive together.
inline constexpr std::uint64_t kArrayBytesMax = std::uint64_t{2} << 30;

/// The array, row by row and little-endian, whatever the order of the file. `name` becomes its name. Versions 1 to 3
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), elements of the types b1, i1 to i8, u1 to
/// u8, f2, f4, f8, U (as UTF-8) and S; trailing zero characters of texts are no part of them.
///
/// Errors, "wanted .., found ..", without a name: no such file, or cut off; a type that tensors do not have (complex
/// numbers, records, objects, times); more or fewer bytes than the shape says; a text that is no Unicode. O(bytes).
[[nodiscard]] Result<Tensor> read_npy(std::string_view bytes, std::string_view name);

}  // namespace berth::models
