#include "edges/http_client/detail/stream_call.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace berth::edges::detail {
namespace {

// So many parts are acknowledged at once; then the system does.
constexpr int kAcknowledgedMax = 3;

// A kept connection can end between its choice and its use.
constexpr int kPeersMax = 3;

// libcurl sends such a body in one piece with the headers, if it has its bytes: the server then is woken once.
constexpr std::size_t kBytesAtOnceMax = std::size_t{32} << 10U;

// No header of libcurl's own: the call says what is sent. "Expect" would delay large bodies.
constexpr std::array<const char*, 2> kLeftOut = {"Expect:", "Accept:"};

// No call asks for another protocol: what follows would be read until the connection ends.
constexpr int kSwitchingProtocols = 101;

/// Libcurl and the reader of an answer may take different ones.
bool has_two_lengths(const HttpReplyHead& head) {
  const auto first = find_header(head.headers, "Content-Length");
  return first && std::ranges::any_of(head.headers, [&](const HttpField& each) {
           return is_same_header(each.name, "Content-Length") && each.value != *first;
         });
}

}  // namespace

void prepare_for_streams(CURL* easy, const StreamClientOptions& options) {
  set_common_options(easy);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // none, regardless of the environment
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, to_ms(options.connect_timeout));
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);  // the caller's bytes, also with "..": its server decides
  curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, static_cast<long>(options.kept_max.count() / kMicrosPerSecond));
}

Result<void> StreamCall::prepare(EasyPointer easy) {
  easy_ = std::move(easy);
  if (easy_ == nullptr) return pass_on(no_memory());
  if (const auto method = check_method(call_.method); !method) return method;
  if (!is_header_text(call_.url)) return invalid("wanted a URL of http or https");
  auto list = find_header(call_.headers, "Accept") ? header_list(call_.headers, {kLeftOut.data(), 1})
                                                   : header_list(call_.headers, kLeftOut);
  if (!list) return pass_on(list.error());
  headers_ = *std::move(list);
  CURL* handle = easy_.get();
  curl_easy_setopt(handle, CURLOPT_URL, call_.url.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(handle, CURLOPT_NOBODY, call_.method == "HEAD" ? 1L : 0L);
  set_body();
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
  // Without a body a call that may not be sent again takes no chances with a kept connection.
  curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, body().empty() && !may_be_sent_again() ? 1L : 0L);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, (&receive<StreamCall, &StreamCall::take_header>));
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, (&receive<StreamCall, &StreamCall::take_body>));
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, this);
  set_connection_options();
  return {};
}

bool StreamCall::may_be_sent_again() const {
  return body().empty() && (call_.method == "GET" || call_.method == "HEAD");
}

void StreamCall::set_body() {
  CURL* const handle = easy_.get();
  if (call_.method == "HEAD") return;  // NOBODY says it all
  if (body().empty() && call_.method != "PUT" && call_.method != "POST") {
    curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    return;
  }
  const bool is_at_once = body().size() <= kBytesAtOnceMax;
  curl_easy_setopt(handle, CURLOPT_POST, 1L);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, is_at_once ? body().data() : nullptr);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body().size()));
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, &StreamCall::on_read);
  curl_easy_setopt(handle, CURLOPT_READDATA, this);
}

// A call with a peer to check opens no connection itself, and before its request is sent it says over which one. If a
// kept connection breaks before the answer, libcurl would send the request again over another one: it asks first.
void StreamCall::set_connection_options() {
  CURL* const handle = easy_.get();
  const bool has_peer = call_.peer != nullptr;
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, has_peer ? &StreamCall::on_open : nullptr);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, has_peer ? &StreamCall::on_opened : nullptr);
  curl_easy_setopt(handle, CURLOPT_SOCKOPTDATA, this);
  curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, &StreamCall::on_request);
  curl_easy_setopt(handle, CURLOPT_PREREQDATA, this);
}

Result<void> StreamCall::connect_to_peer() {
  wants_peer_ = false;
  if (++peer_count_ > kPeersMax) {
    return fail(ErrorCode::kNoServer, fmt::format("{}: no connection could be kept", call_.url));
  }
  connecting_since_ = Clock::now();
  connection_ = std::make_unique<PeerConnection>(call_.peer);
  return connection_->begin(call_.url);
}

Result<void> StreamCall::use_peer(EasyPointer easy) {
  if (auto prepared = prepare(std::move(easy)); !prepared) return prepared;
  curl_easy_setopt(easy_.get(), CURLOPT_FRESH_CONNECT, 1L);  // this connection, not another one
  return {};
}

bool StreamCall::is_over_connect_time(Clock::time_point now, Micros connect_timeout) const {
  return now - connecting_since_ > std::chrono::microseconds(connect_timeout.count());
}

curl_socket_t StreamCall::give_connection() {
  if (connection_ == nullptr) {
    wants_peer_ = true;
    return CURL_SOCKET_BAD;
  }
  all_.peers.insert_or_assign(connection_->local_port(), call_.peer->identity);
  const curl_socket_t socket = connection_->release();
  connection_.reset();
  return socket;
}

bool StreamCall::may_send(int local_port) {
  if (was_sent_) {
    stop_ = Stop::kSentAlready;
    return false;
  }
  if (call_.peer != nullptr) {
    const auto peer = all_.peers.find(static_cast<std::uint16_t>(local_port));
    wants_peer_ = peer == all_.peers.end() || peer->second != call_.peer->identity;
    if (wants_peer_) return false;
  }
  was_sent_ = !may_be_sent_again();
  return true;
}

curl_socket_t StreamCall::on_open(void* call, curlsocktype /*purpose*/, curl_sockaddr* /*address*/) noexcept {
  return static_cast<StreamCall*>(call)->give_connection();
}

int StreamCall::on_opened(void* /*call*/, curl_socket_t /*socket*/, curlsocktype /*purpose*/) noexcept {
  return CURL_SOCKOPT_ALREADY_CONNECTED;
}

int StreamCall::on_request(void* call, char* /*peer_ip*/, char* /*local_ip*/, int /*peer_port*/,
                           int local_port) noexcept {
  return static_cast<StreamCall*>(call)->may_send(local_port) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

EasyPointer StreamCall::end(Result<void> outcome) {
  reader_->on_end(std::move(outcome));
  if (easy_ != nullptr) curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, nullptr);
  return std::move(easy_);
}

Result<void> StreamCall::outcome(CURLcode code) const {
  switch (stop_) {
    case Stop::kNone:
      break;
    case Stop::kHeadersTooLarge:
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{}: wanted headers of at most {} bytes, found more", call_.url, kHeaderBytesMax));
    case Stop::kSentAlready:
      return fail(ErrorCode::kUnavailable, fmt::format("{}: its connection broke", call_.url));
    case Stop::kNotHttp:
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{}: wanted an answer in HTTP/1 with one length, found another one", call_.url));
  }
  if (has_failed()) return pass_on(no_memory());
  // libcurl would have sent it again, over another connection.
  if (wants_peer_) return fail(ErrorCode::kUnavailable, fmt::format("{}: its connection broke", call_.url));
  if (code != CURLE_OK) return pass_on(error_of(code, call_.url, call_.timeout));
  if (!is_head_given_) return fail(ErrorCode::kUnavailable, fmt::format("{}: the answer has no head", call_.url));
  return {};
}

CURLcode StreamCall::resume() {
  if (!std::exchange(is_paused_, false)) return CURLE_OK;
  note_bytes();
  return std::exchange(is_curl_paused_, false) ? curl_easy_pause(easy_.get(), CURLPAUSE_CONT) : CURLE_OK;
}

bool StreamCall::is_over_time(Clock::time_point now, Micros silence_max) const {
  if (is_paused_) return false;
  const Micros limit = is_head_given_ ? silence_max : call_.timeout;
  return now - last_bytes() > std::chrono::microseconds(limit.count());
}

Error StreamCall::timeout_error(Micros silence_max) const {
  const Micros limit = is_head_given_ ? silence_max : call_.timeout;
  return {ErrorCode::kTimedOut, fmt::format("{}: nothing arrived within {} s", call_.url, limit.to_seconds())};
}

// A server that sends small parts without TCP_NODELAY waits for the acknowledgement of one before it sends the next,
// and over a kept connection the system delays it by 40 ms.
void StreamCall::acknowledge() {
  is_unacknowledged_ = false;
  if (socket_ == CURL_SOCKET_BAD || acknowledged_count_ >= kAcknowledgedMax) return;
  ++acknowledged_count_;
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

void StreamCall::note_unacknowledged() {
  if (std::exchange(is_unacknowledged_, true)) return;
  all_.unacknowledged.push_back(number_);
}

std::size_t StreamCall::take_header(std::string_view line) {
  if (is_head_given_) return line.size();  // trailers of a chunked body
  if (!count_header(line)) {
    stop_ = Stop::kHeadersTooLarge;
    return 0;
  }
  if (const auto status = status_in(easy_.get(), line)) {
    if (!line.starts_with("HTTP/1.") || *status == kSwitchingProtocols) return refuse_head();
    head_ = HttpReplyHead{*status, {}};
  } else if (line == "\r\n" || line == "\n") {
    if (has_two_lengths(head_)) return refuse_head();
    end_head();
  } else if (auto field = field_in(line)) {
    head_.headers.push_back(*std::move(field));
  }
  return line.size();
}

std::size_t StreamCall::refuse_head() {
  stop_ = Stop::kNotHttp;
  return 0;
}

void StreamCall::end_head() {
  if (head_.status < 200) return;
  is_head_given_ = true;
  note_unacknowledged();
  reader_->on_head(std::move(head_));
}

std::size_t StreamCall::take_body(std::string_view bytes) {
  if (is_paused_) {
    is_curl_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;  // libcurl keeps these bytes
  }
  note_unacknowledged();
  is_paused_ = reader_->on_bytes(bytes) == HttpReading::kPaused;
  return bytes.size();
}

std::size_t StreamCall::give_body(char* to, std::size_t bytes_max) {
  const std::size_t count = body().copy(to, bytes_max, body_sent_);
  body_sent_ += count;
  note_bytes();
  return count;
}

std::size_t StreamCall::on_read(char* to, std::size_t size, std::size_t count, void* call) noexcept {
  return static_cast<StreamCall*>(call)->give_body(to, size * count);
}

}  // namespace berth::edges::detail
