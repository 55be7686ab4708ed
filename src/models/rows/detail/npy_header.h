/// The header of an array of NumPy's file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::models::detail {

enum class NpyKind { kBool, kSigned, kUnsigned, kFloat, kUnicode, kText, kOther };

struct NpyHeader {
  std::string descr;  ///< as it is in the file, such as "<f4"
  NpyKind kind = NpyKind::kOther;
  bool is_big_endian = false;
  std::size_t element_bytes = 0;
  bool is_fortran_order = false;
  std::vector<std::int64_t> shape = {};  ///< each at least 0
  std::size_t bytes = 0;                 ///< of the header: the elements follow
};

/// Errors: no such file, or cut off; a header that is not the dictionary of Python that it should be; records.
[[nodiscard]] Result<NpyHeader> read_npy_header(std::string_view bytes);

}  // namespace berth::models::detail
