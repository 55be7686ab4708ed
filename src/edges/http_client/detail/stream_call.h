/// One call whose answer is read while it arrives.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/http_stream_client.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/http_client/detail/easy.h"
#include "edges/http_client/detail/peer_check.h"

namespace berth::edges::detail {

/// Sets what is the same for all calls of a handle, whichever they are.
void prepare_for_streams(CURL* easy, const StreamClientOptions& options);

/// Which connection was checked for whom: by the port of this side, which no other connection to the same server has.
using CheckedPeers = std::unordered_map<std::uint16_t, std::string>;

/// What the calls of a loop have in common.
struct StreamCalls {
  CheckedPeers peers = {};                          ///< of the connections that libcurl has
  std::vector<HttpCallNumber> unacknowledged = {};  ///< of which something arrived since `acknowledge`
};

/// Used by one thread alone.
class StreamCall : public Receiving {
 public:
  /// `all` is borrowed.
  StreamCall(HttpCallNumber number, HttpCall call, std::unique_ptr<HttpReplyReader> reader, StreamCalls& all)
      : number_(number), call_(std::move(call)), reader_(std::move(reader)), all_(all) {}
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

  /// Whether libcurl ended it before anything was sent, because it needs a connection that is checked first.
  [[nodiscard]] bool wants_peer() const { return wants_peer_ && !was_sent_; }
  /// Begins to make that connection.
  [[nodiscard]] Result<void> connect_to_peer();
  [[nodiscard]] PeerConnection* peer_connection() { return connection_.get(); }
  /// The connection is checked: sets a handle up that uses it.
  [[nodiscard]] Result<void> use_peer(EasyPointer easy);
  [[nodiscard]] bool is_over_connect_time(Clock::time_point now, Micros connect_timeout) const;

  /// The socket that libcurl uses for it now.
  void set_socket(curl_socket_t socket) { socket_ = socket; }
  /// Acknowledges what has arrived of an answer that is not complete.
  void acknowledge();
  /// Goes on if it is paused. A failure is the end of the call.
  [[nodiscard]] CURLcode resume();
  /// Whether it has waited for longer than it may.
  [[nodiscard]] bool is_over_time(Clock::time_point now, Micros silence_max) const;
  [[nodiscard]] Error timeout_error(Micros silence_max) const;

 private:
  enum class Stop { kNone, kHeadersTooLarge, kSentAlready, kNotHttp };

  [[nodiscard]] const std::string& body() const { return call_.shared_body ? *call_.shared_body : call_.body; }
  void note_unacknowledged();
  void end_head();
  /// For libcurl: it ends the call.
  [[nodiscard]] std::size_t refuse_head();
  // Called back by libcurl.
  [[nodiscard]] std::size_t take_header(std::string_view line);
  [[nodiscard]] std::size_t take_body(std::string_view bytes);
  [[nodiscard]] std::size_t give_body(char* to, std::size_t bytes_max);

  [[nodiscard]] curl_socket_t give_connection();
  [[nodiscard]] bool may_send(int local_port);
  [[nodiscard]] bool may_be_sent_again() const;
  void set_body();
  void set_connection_options();

  static curl_socket_t on_open(void* call, curlsocktype purpose, struct curl_sockaddr* address) noexcept;
  static int on_opened(void* call, curl_socket_t socket, curlsocktype purpose) noexcept;
  static int on_request(void* call, char* peer_ip, char* local_ip, int peer_port, int local_port) noexcept;
  static std::size_t on_read(char* to, std::size_t size, std::size_t count, void* call) noexcept;

  const HttpCallNumber number_;
  HttpCall call_;
  const std::unique_ptr<HttpReplyReader> reader_;
  StreamCalls& all_;
  EasyPointer easy_{nullptr, &curl_easy_cleanup};
  HeaderList headers_{nullptr, &curl_slist_free_all};
  curl_socket_t socket_ = CURL_SOCKET_BAD;
  int acknowledged_count_ = 0;
  bool is_unacknowledged_ = false;
  bool was_sent_ = false;  ///< and must not be sent again
  std::size_t body_sent_ = 0;
  HttpReplyHead head_;
  bool is_head_given_ = false;
  bool is_paused_ = false;       ///< by the reader
  bool is_curl_paused_ = false;  ///< libcurl keeps a part until it is told to go on
  Stop stop_ = Stop::kNone;
  bool wants_peer_ = false;
  int peer_count_ = 0;  ///< connections that were made for it
  Clock::time_point connecting_since_ = {};
  std::unique_ptr<PeerConnection> connection_;  ///< until libcurl has it
};

}  // namespace berth::edges::detail
