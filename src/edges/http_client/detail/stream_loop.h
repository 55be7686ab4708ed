/// The thread that moves the bytes of all streamed calls.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "domain/ports/http_stream_client.h"
#include "edges/http_client/curl_stream_client.h"
#include "edges/http_client/detail/easy.h"
#include "edges/http_client/detail/stream_call.h"

namespace berth::edges::detail {

/// A file descriptor of the system, closed on destruction.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int number) : number_(number) {}
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  ~OwnedDescriptor();
  [[nodiscard]] int number() const { return number_; }

 private:
  const int number_;
};

/// `start`, `resume` and `cancel` put an order into a queue and wake the thread, which does the rest: a handle of
/// libcurl belongs to one thread.
class StreamLoop {
 public:
  explicit StreamLoop(const StreamClientOptions& options);
  StreamLoop(const StreamLoop&) = delete;
  StreamLoop& operator=(const StreamLoop&) = delete;
  ~StreamLoop();

  void take_guest(StreamClientGuest guest);
  void start(HttpCall call, std::unique_ptr<HttpReplyReader> reader);
  void resume(HttpCallNumber number) { order({.kind = OrderKind::kResume, .number = number, .call = nullptr}); }
  void cancel(HttpCallNumber number) { order({.kind = OrderKind::kCancel, .number = number, .call = nullptr}); }

 private:
  using Clock = std::chrono::steady_clock;
  using MultiPointer = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;
  enum class OrderKind { kStart, kResume, kCancel, kGuest, kStop };
  struct Order {
    OrderKind kind;
    HttpCallNumber number = 0;
    std::unique_ptr<StreamCall> call;  ///< to start
    StreamClientGuest guest = {};
  };

  void order(Order order);

  // All below is for the thread alone.
  void run();
  void move_all();
  void wait_and_move();
  void handle(int socket, std::uint32_t events);
  void carry_out_orders();
  void carry_out(Order order);
  void go_on(HttpCallNumber number);
  void begin_guest(StreamClientGuest guest);
  void turn_guest();
  void begin(std::unique_ptr<StreamCall> call);
  void connect(StreamCall& call);
  void step_connection(int socket);
  void drop_connection(StreamCall& call);
  void watch_connection(const PeerConnection& connection, int change);
  void end_complete();
  void acknowledge();
  void end_late();
  void end(HttpCallNumber number, Result<void> outcome);
  void keep(EasyPointer easy);
  void move_bytes(curl_socket_t socket, int events);
  [[nodiscard]] EasyPointer take_handle();
  [[nodiscard]] int wait_ms() const;

  // Callbacks of libcurl.
  static int on_socket(CURL* easy, curl_socket_t socket, int wanted, void* loop, void* mark) noexcept;
  static int on_timer(CURLM* multi, long after_ms, void* loop) noexcept;
  static int on_close(void* loop, curl_socket_t socket) noexcept;

  const StreamClientOptions options_;
  std::atomic<HttpCallNumber> last_number_ = 0;
  const OwnedDescriptor waited_;  ///< epoll
  const OwnedDescriptor wake_;    ///< eventfd
  std::mutex mutex_;
  std::vector<Order> orders_;
  bool is_thread_awake_ = true;  ///< it will look at the orders before it waits

  StreamCalls all_;
  std::unordered_map<int, HttpCallNumber> connecting_;  ///< by socket: connections that are being made and checked
  MultiPointer multi_;
  std::unordered_map<HttpCallNumber, std::unique_ptr<StreamCall>> calls_;
  std::vector<EasyPointer> unused_;
  std::optional<StreamClientGuest> guest_;
  bool is_guest_due_ = false;  ///< something has happened since its last turn
  std::optional<Clock::time_point> guest_turn_at_;
  std::optional<Clock::time_point> timer_;
  Clock::time_point next_sweep_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace berth::edges::detail
