/// The server's checks of request headers beyond those of libmicrohttpd, which takes the first of contradictory ones
/// and is lenient with names (RFC 9112, sections 3.2, 5.1, 6.3).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/ports/http_message.h"

namespace berth::edges::detail {

enum class HttpVersion { kOld, kOneDotOne };

/// The fault, if any: a name or value with forbidden bytes, no Host or several in HTTP/1.1.
[[nodiscard]] std::optional<std::string> find_header_fault(std::span<const HttpField> headers, HttpVersion version);

/// Why the end of the body is ambiguous, if it is: several lengths, a length together with a transfer coding, a coding
/// other than "chunked". After such a request the connection cannot be reused.
[[nodiscard]] std::optional<std::string> find_framing_fault(std::span<const HttpField> headers, HttpVersion version);

/// Whether a text is a token (RFC 9110, 5.6.2): a method or the name of a header.
[[nodiscard]] bool is_token(std::string_view text);

/// Whether a text may be the value of a header: no control characters but tabs.
[[nodiscard]] bool is_header_value(std::string_view text);

}  // namespace berth::edges::detail
