/// One call whose answer is read while it arrives.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/http_stream_client.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/http_client/detail/easy.h"

namespace berth::edges::detail {

/// Sets what is the same for all calls of a handle, whichever they are.
void prepare_for_streams(CURL* easy, const StreamClientOptions& options);

/// Used by one thread alone.
class StreamCall : public Receiving {
 public:
  StreamCall(HttpCallNumber number, HttpCall call, std::unique_ptr<HttpReplyReader> reader)
      : number_(number), call_(std::move(call)), reader_(std::move(reader)) {}
  StreamCall(const StreamCall&) = delete;
  StreamCall& operator=(const StreamCall&) = delete;

  /// Sets the handle up for this call. Errors: kInvalidInput for the method or a header.
  [[nodiscard]] Result<void> prepare(EasyPointer easy);
  /// Tells the reader how it ended. Returns the handle for another call; null if it has none.
  [[nodiscard]] EasyPointer end(Result<void> outcome);

  [[nodiscard]] HttpCallNumber number() const { return number_; }
  [[nodiscard]] CURL* easy() const { return easy_.get(); }
  [[nodiscard]] HttpReplyReader& reader() { return *reader_; }
  /// What libcurl's result means.
  [[nodiscard]] Result<void> outcome(CURLcode code) const;

  /// The socket that libcurl uses for it now.
  void set_socket(curl_socket_t socket) { socket_ = socket; }
  /// Goes on if it is paused. A failure is the end of the call.
  [[nodiscard]] CURLcode resume();
  /// Whether it has waited for longer than it may.
  [[nodiscard]] bool is_over_time(Clock::time_point now, Micros silence_max) const;
  [[nodiscard]] Error timeout_error(Micros silence_max) const;

 private:
  enum class Stop { kNone, kHeadersTooLarge };

  /// Acknowledges what has arrived.
  void acknowledge();
  void end_head();
  // Called back by libcurl.
  [[nodiscard]] std::size_t take_header(std::string_view line);
  [[nodiscard]] std::size_t take_body(std::string_view bytes);
  [[nodiscard]] std::size_t give_body(char* to, std::size_t bytes_max);

  static std::size_t on_read(char* to, std::size_t size, std::size_t count, void* call) noexcept;

  const HttpCallNumber number_;
  HttpCall call_;
  const std::unique_ptr<HttpReplyReader> reader_;
  EasyPointer easy_{nullptr, &curl_easy_cleanup};
  HeaderList headers_{nullptr, &curl_slist_free_all};
  curl_socket_t socket_ = CURL_SOCKET_BAD;
  int acknowledged_count_ = 0;
  std::size_t body_sent_ = 0;
  HttpReplyHead head_;
  bool is_head_given_ = false;
  bool is_paused_ = false;       ///< by the reader
  bool is_curl_paused_ = false;  ///< libcurl keeps a part until it is told to go on
  Stop stop_ = Stop::kNone;
};

}  // namespace berth::edges::detail
