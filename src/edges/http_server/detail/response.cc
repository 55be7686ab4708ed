#include "edges/http_server/detail/response.h"

#include <array>
#include <span>
#include <string>
#include <utility>

#include "edges/http_server/detail/header_rules.h"

namespace berth::edges::detail {
namespace {

// What libmicrohttpd offers its reader at once; a longer piece is sent in several parts.
constexpr std::size_t kStreamBlockBytes = 16'384;

bool add_headers(MHD_Response& response, std::span<const HttpField> headers) {
  for (const HttpField& field : headers) {
    if (!is_token(field.name) || !is_header_value(field.value)) return false;
    if (MHD_add_response_header(&response, field.name.c_str(), field.value.c_str()) != MHD_YES) return false;
  }
  return true;
}

ssize_t read_stream(void* stream, std::uint64_t /*position*/, char* to, std::size_t bytes_max) noexcept {
  return static_cast<Stream*>(stream)->read(to, bytes_max);
}

void free_stream(void* stream) noexcept { const std::unique_ptr<Stream> owned(static_cast<Stream*>(stream)); }

}  // namespace

ResponsePointer make_response(const HttpResponse& response) {
  // The library takes a pointer to bytes that it may not change, but copies them.
  auto* bytes = const_cast<char*>(response.body.data());
  ResponsePointer made(MHD_create_response_from_buffer(response.body.size(), bytes, MHD_RESPMEM_MUST_COPY),
                       &MHD_destroy_response);
  if (made == nullptr || !add_headers(*made, response.headers)) return {nullptr, &MHD_destroy_response};
  const HttpField type{"Content-Type", response.content_type};
  if (!type.value.empty() && !add_headers(*made, {&type, 1})) return {nullptr, &MHD_destroy_response};
  return made;
}

ResponsePointer make_response(HttpEventStream stream, StreamHub& hub, MHD_Connection& connection) {
  // free_stream owns it.
  Stream* content = std::make_unique<Stream>(hub, connection, std::move(stream.source)).release();
  ResponsePointer made(
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kStreamBlockBytes, &read_stream, content, &free_stream),
      &MHD_destroy_response);
  if (made == nullptr) {
    free_stream(content);
    return made;
  }
  const std::array<HttpField, 2> own = {{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}}};
  if (!add_headers(*made, own) || !add_headers(*made, stream.headers)) return {nullptr, &MHD_destroy_response};
  return made;
}

}  // namespace berth::edges::detail
