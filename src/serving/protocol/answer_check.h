/// Whether the answer to a request for inference can be one of the model: as a client checks it before it measures.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/core/result.h"

namespace berth::serving::protocol {

/// `head`: the JSON, of at most `head_bytes_max` bytes. `data`: the binary data that follow it. `source` is named in
/// messages. Outputs without data (an empty list, an output without `data`) pass: some servers leave them out.
///
/// Errors, kInvalidInput, with the output and the element: no JSON, or no list of outputs; `null` or NaN as an element
/// (JSON has no NaN: servers write null, or text that is no JSON); fewer binary data than the outputs state.
[[nodiscard]] Result<void> check_infer_answer(std::string_view head, std::string_view data, std::string_view source,
                                              std::size_t head_bytes_max);

}  // namespace berth::serving::protocol
