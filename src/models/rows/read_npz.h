/// Reads an archive of NumPy's arrays.
#pragma once

#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/rows/read_npy.h"

namespace berth::models {

/// The arrays of a `.npz` file, packed or not, in the order of the archive, with the names that they were saved by.
///
/// Errors, "NAME: why" or "NAME: ARRAY: why": no zip archive, or damaged; nothing in it; something that is no array;
/// two arrays of one name; more than kArrayBytesMax bytes when unpacked, or more than its bytes can hold; those of
/// read_npy. Memory: twice the largest array and all the others.
[[nodiscard]] Result<std::vector<Tensor>> read_npz(std::string_view bytes, std::string_view name);

}  // namespace berth::models
