/// A body that a thread of the handler writes while the server sends it.
#pragma once

#include <microhttpd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "domain/ports/http_server.h"
#include "edges/http_server/detail/resumer.h"

namespace berth::edges::detail {

/// What may wait for a client; one write more can follow it.
inline constexpr std::size_t kBodyBytesWaitingMax = std::size_t{256} << 10U;

/// A part up to this size is sent at once, unless more than this is on the way to the client.
inline constexpr std::size_t kDirectBytesMax = std::size_t{8} << 10U;

/// Whether the other end of a socket has closed the connection, or its side of it.
[[nodiscard]] bool has_gone(int socket);

/// The socket of a connection; -1 if libmicrohttpd does not say.
[[nodiscard]] int socket_of(MHD_Connection& connection);

/// The state shared by a writer, the response that reads it, and the hub that watches the client. All functions may be
/// called by any thread.
///
/// While there is nothing to send the connection is suspended: libmicrohttpd does not touch it, so it exists until this
/// class resumes it. One lock, held while it is suspended or resumed, guarantees that no write in between is lost.
class LateBody {
 public:
  LateBody(std::string first, std::function<void()> on_room, std::function<void()> on_gone,
           std::shared_ptr<Resumer> resumer)
      : resumer_(std::move(resumer)),
        waiting_(std::move(first)),
        on_room_(std::move(on_room)),
        on_gone_(std::move(on_gone)) {}

  // For the writer.
  [[nodiscard]] HttpBodyFlow write(std::string_view bytes);
  void end() { finish(State::kEnded); }
  /// The connection will be closed when all is sent.
  void abort() { finish(State::kAborted); }
  void set_on_gone(std::function<void()> on_gone);

  // For the response.
  /// The body is sent in chunks.
  void allow_chunks();
  /// Copies the next bytes; 0 if the connection is suspended, negative (libmicrohttpd's value) at the end.
  [[nodiscard]] ssize_t read(MHD_Connection& connection, char* to, std::size_t bytes_max);
  /// Nothing reads any more: the answer was sent, or the connection broke.
  void close();

  // For the hub.
  /// Closes it if its client has gone and that matters to somebody. Requires: the server has not stopped.
  void check_client();

 private:
  enum class State {
    kOpen,     ///< to the next three
    kEnded,    ///< the writer has written all
    kAborted,  ///< the writer was destroyed before
    kGone,     ///< the client has left, or the server stops: nothing more is sent
  };

  void finish(State how);
  // These require that the lock is held.
  /// Sends a small part as a chunk of its own, past libmicrohttpd, which has nothing to send on a suspended connection:
  /// this saves waking its thread. False: nothing was sent.
  [[nodiscard]] bool send_chunk(std::string_view bytes);
  void resume();
  /// The result is to be called without the lock.
  [[nodiscard]] std::function<void()> leave();
  [[nodiscard]] ssize_t rest(MHD_Connection& connection);

  const std::shared_ptr<Resumer> resumer_;
  std::mutex mutex_;
  State state_ = State::kOpen;
  std::string waiting_;
  std::size_t sent_ = 0;                  ///< bytes of waiting_
  bool is_full_ = false;                  ///< the writer was told so
  MHD_Connection* connection_ = nullptr;  ///< while it is suspended
  int socket_ = -1;                       ///< of the connection, once it was suspended
  bool are_chunks_allowed_ = false;
  std::function<void()> on_room_;
  std::function<void()> on_gone_;
};

class LateBodyWriter final : public HttpBodyWriter {
 public:
  explicit LateBodyWriter(std::shared_ptr<LateBody> body) : body_(std::move(body)) {}
  LateBodyWriter(const LateBodyWriter&) = delete;
  LateBodyWriter& operator=(const LateBodyWriter&) = delete;
  ~LateBodyWriter() override { body_->abort(); }

  HttpBodyFlow write(std::string_view bytes) override { return body_->write(bytes); }
  void end() override { body_->end(); }

 private:
  const std::shared_ptr<LateBody> body_;
};

}  // namespace berth::edges::detail
