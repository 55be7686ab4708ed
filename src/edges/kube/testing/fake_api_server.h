/// An API server for tests that misbehaves as it is told. It keeps objects of any resource, without schemas: an apply
/// is a merge patch that also creates.
#pragma once

#include <netinet/in.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/yaml/document.h"
#include "kube/client/resource.h"

namespace berth::edges::testing {

enum class TroubleKind : std::uint8_t {
  kStatus,          ///< answers with `status`, and does nothing else
  kLostAfterWrite,  ///< carries the request out, and closes the connection without an answer
  kLostBefore,      ///< closes the connection
  kSilent,          ///< never answers
};

/// What happens to the next `count` requests with this method and text in their target.
struct Trouble {
  TroubleKind kind = TroubleKind::kStatus;
  std::string method = "GET";
  std::string target_part = {};
  int count = 1;
  int status = 500;
  int retry_after = -1;  ///< seconds; -1: no such header
};

class FakeApiServer {
 public:
  FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;
  ~FakeApiServer();

  [[nodiscard]] std::string url() const;
  void add(Trouble trouble);
  void clear_troubles();
  /// Called with each object that is written, in the order of their versions, by the threads of the server.
  void observe(std::function<void(std::string_view type, const yaml::Node& object)> observer);
  /// Only these tokens are let in; none: anybody.
  void accept_tokens(std::set<std::string> tokens);
  /// Everything up to now is too old to be watched from, and to be continued from.
  void compact();
  /// Ends all watches: a frame that ends them is sent first, if there is one.
  void break_watches(const std::string& last_line = {});
  /// Watches get nothing more, and stay open. New ones too, until this is lifted.
  void silence_watches(bool is_silent);
  /// Frames are sent in pieces of this many bytes; 0: as they come, several at a time.
  void split_frames(std::size_t piece_bytes);
  void send_bookmarks();

  /// "METHOD TARGET" of each request so far.
  [[nodiscard]] std::vector<std::string> requests() const;
  [[nodiscard]] int count_requests(std::string_view method, std::string_view target_part) const;

 private:
  struct Request;
  struct Place;
  struct Reply {
    int status = 200;
    std::string body = "{}";
    int retry_after = -1;
  };
  struct Event {
    std::int64_t version = 0;
    std::string collection;
    std::string line;
  };

  void accept();
  void serve(int connection);
  [[nodiscard]] bool answer(int connection, const Request& request);
  [[nodiscard]] bool take_trouble(const Request& request, Trouble& trouble);
  void stay_silent();
  [[nodiscard]] bool serve_watch(int connection, const Request& request, const Place& place);
  [[nodiscard]] Reply carry_out(const Request& request, const Place& place);
  [[nodiscard]] Reply list(const Request& request, const Place& place);
  [[nodiscard]] Reply create(const Request& request, const Place& place);
  [[nodiscard]] Reply change(const Request& request, const Place& place);
  [[nodiscard]] Reply remove(const Request& request, const Place& place);
  [[nodiscard]] Reply store(const Place& place, yaml::Node object, std::string_view type);

  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::map<std::string, std::map<kube::ObjectName, yaml::Node>> objects_;
  std::deque<Event> history_;
  std::int64_t version_ = 100;
  std::int64_t compacted_ = 0;
  std::int64_t uid_ = 0;
  std::vector<Trouble> troubles_;
  std::function<void(std::string_view, const yaml::Node&)> observer_;
  std::set<std::string> tokens_;
  std::vector<std::string> requests_;
  std::int64_t watch_epoch_ = 0;
  std::string last_line_;
  std::int64_t bookmark_epoch_ = 0;
  bool is_silent_ = false;
  std::size_t piece_bytes_ = 0;
  bool is_stopped_ = false;
  int socket_ = -1;
  std::uint16_t port_ = 0;
  std::set<int> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace berth::edges::testing
