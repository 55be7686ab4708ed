/// Which long tables of a service were stated by reference.
#pragma once

#include <map>
#include <string>

namespace berth {

/// By the path of the value in the service's spec that has them as its `rows` ("profile", "arrivals",
/// "variants[0].profile"): the SHA-256 of the bytes that state the rows, as 64 digits and small letters.
using RowsBlobs = std::map<std::string, std::string>;

}  // namespace berth
