/// The long tables of a service that were given by reference.
#pragma once

#include <map>
#include <string>

namespace berth {

/// The SHA-256 of the bytes with the rows, as 64 lower-case hexadecimal digits, by the path of the value in the
/// service's spec whose `rows` they are ("profile", "arrivals", "variants[0].profile").
using RowsBlobs = std::map<std::string, std::string>;

}  // namespace berth
