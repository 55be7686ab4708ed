#include "edges/http_server/detail/response.h"

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "edges/http_server/detail/header_rules.h"

namespace berth::edges::detail {
namespace {

// The buffer that libmicrohttpd offers its reader at a time; a longer piece is sent in several parts.
constexpr std::size_t kStreamBlockBytes = 16'384;
constexpr std::size_t kPartBlockBytes = 65'536;

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

/// A body being sent, and its share of the limit on large ones.
struct Body {
  Body(std::string bytes, LargeAnswers::Place among) : text(std::move(bytes)), place(std::move(among)) {}
  std::string text;
  LargeAnswers::Place place;
};

void free_body(void* body) noexcept { const std::unique_ptr<Body> owned(static_cast<Body*>(body)); }

/// A body that comes in parts.
class PartsBody {
 public:
  explicit PartsBody(std::function<std::string()> next) : next_(std::move(next)) { ENSURE(next_ != nullptr); }

  /// Copies the next bytes; negative (libmicrohttpd's value) if there are no more.
  [[nodiscard]] ssize_t read(char* to, std::size_t bytes_max) {
    if (sent_ == part_.size()) {
      part_ = {};  // never two parts in memory
      part_ = next_();
      sent_ = 0;
    }
    // An ordinary end, as for streams. libmicrohttpd closes the connection, as bytes are missing.
    if (part_.empty()) return MHD_CONTENT_READER_END_OF_STREAM;
    const std::size_t count = part_.copy(to, bytes_max, sent_);
    sent_ += count;
    return static_cast<ssize_t>(count);
  }

 private:
  std::function<std::string()> next_;
  std::string part_;
  std::size_t sent_ = 0;  ///< bytes of part_
};

ssize_t read_parts(void* parts, std::uint64_t /*position*/, char* to, std::size_t bytes_max) noexcept {
  try {
    return static_cast<PartsBody*>(parts)->read(to, bytes_max);
  } catch (...) {
    return MHD_CONTENT_READER_END_OF_STREAM;
  }
}

void free_parts(void* parts) noexcept { const std::unique_ptr<PartsBody> owned(static_cast<PartsBody*>(parts)); }

/// A response's end of a body that is being written.
struct WrittenBody {
  WrittenBody(std::shared_ptr<LateBody> written, MHD_Connection& to) : body(std::move(written)), connection(to) {}
  WrittenBody(const WrittenBody&) = delete;
  WrittenBody& operator=(const WrittenBody&) = delete;
  ~WrittenBody() { body->close(); }

  const std::shared_ptr<LateBody> body;
  MHD_Connection& connection;
};

ssize_t read_written(void* written, std::uint64_t /*position*/, char* to, std::size_t bytes_max) noexcept {
  auto& self = *static_cast<WrittenBody*>(written);
  return self.body->read(self.connection, to, bytes_max);
}

void free_written(void* written) noexcept {
  const std::unique_ptr<WrittenBody> owned(static_cast<WrittenBody*>(written));
}

/// Null if a header cannot be sent.
ResponsePointer with_headers(ResponsePointer response, const std::string& content_type,
                             std::span<const HttpField> headers) {
  const HttpField type{"Content-Type", content_type};
  const bool is_added = add_headers(*response, headers) && (content_type.empty() || add_headers(*response, {&type, 1}));
  return is_added ? std::move(response) : ResponsePointer(nullptr, &MHD_destroy_response);
}

void free_stream(void* stream) noexcept { const std::unique_ptr<Stream> owned(static_cast<Stream*>(stream)); }

}  // namespace

ResponsePointer make_response(HttpResponse response, LargeAnswers::Place place) {
  // free_body owns it.
  Body* body = std::make_unique<Body>(std::move(response.body), std::move(place)).release();
  ResponsePointer made(
      MHD_create_response_from_buffer_with_free_callback_cls(body->text.size(), body->text.data(), &free_body, body),
      &MHD_destroy_response);
  if (made == nullptr) {
    free_body(body);
    return made;
  }
  return with_headers(std::move(made), response.content_type, response.headers);
}

ResponsePointer make_response(HttpParts parts) {
  // free_parts owns it.
  PartsBody* body = std::make_unique<PartsBody>(std::move(parts.next)).release();
  ResponsePointer made(MHD_create_response_from_callback(parts.bytes, kPartBlockBytes, &read_parts, body, &free_parts),
                       &MHD_destroy_response);
  if (made == nullptr) {
    free_parts(body);
    return made;
  }
  return with_headers(std::move(made), parts.content_type, parts.headers);
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

ResponsePointer make_response(const HttpBodyHead& head, std::shared_ptr<LateBody> body, MHD_Connection& connection) {
  // free_written owns it.
  WrittenBody* written = std::make_unique<WrittenBody>(std::move(body), connection).release();
  ResponsePointer made(MHD_create_response_from_callback(head.bytes.value_or(MHD_SIZE_UNKNOWN), kStreamBlockBytes,
                                                         &read_written, written, &free_written),
                       &MHD_destroy_response);
  if (made == nullptr) {
    free_written(written);
    return made;
  }
  return with_headers(std::move(made), head.content_type, head.headers);
}

}  // namespace berth::edges::detail
