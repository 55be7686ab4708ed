#include "edges/kube/testing/fake_api_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "edges/kube/testing/fake_request.h"
#include "kube/client/write.h"

namespace berth::edges::testing {
namespace {

constexpr auto kTick = std::chrono::milliseconds(20);

/// As Kubernetes 1.37.0 answers to a patch that names another uid.
constexpr std::string_view kOtherUid =
    R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,)"
    R"("details":{"causes":[{"reason":"FieldValueInvalid","message":"field is immutable","field":"metadata.uid"}]}})";

std::string status_body(int code, std::string_view reason) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","code":{},"reason":"{}","message":"as told"}})", code,
      reason);
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool send_chunk(int connection, std::string_view bytes) {
  return send_all(connection, fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

bool send_chunks(int connection, std::string_view bytes, std::size_t piece_bytes) {
  if (bytes.empty()) return true;
  if (piece_bytes == 0) return send_chunk(connection, bytes);
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
    if (!send_chunk(connection, bytes.substr(at, piece_bytes))) return false;
  }
  return true;
}

yaml::Node& member(yaml::Node& map, std::string_view key) {
  for (yaml::Entry& entry : std::get<yaml::Map>(map.value)) {
    if (entry.key == key) return entry.value;
  }
  return kube::put(map, key, kube::map_node());
}

void erase_key(yaml::Node& map, std::string_view key) {
  std::erase_if(std::get<yaml::Map>(map.value), [&](const yaml::Entry& entry) { return entry.key == key; });
}

/// RFC 7386.
void merge(yaml::Node& target, const yaml::Node& patch) {
  const auto* entries = std::get_if<yaml::Map>(&patch.value);
  if (entries == nullptr) {
    target = patch;
    return;
  }
  if (!std::holds_alternative<yaml::Map>(target.value)) target = kube::map_node();
  for (const yaml::Entry& entry : *entries) {
    if (entry.value.is_null()) {
      erase_key(target, entry.key);
    } else if (std::holds_alternative<yaml::Map>(entry.value.value)) {
      merge(member(target, entry.key), entry.value);
    } else {
      kube::put(target, entry.key, entry.value);
    }
  }
}

bool differs(const yaml::Node& patch, const yaml::Node& object, std::string_view key) {
  const std::string_view wanted = json::text_at(patch, {"metadata", key});
  return !wanted.empty() && wanted != json::text_at(object, {"metadata", key});
}

bool is_being_deleted(const yaml::Node& object) {
  return !json::text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

}  // namespace

FakeApiServer::FakeApiServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(socket_, 64) != 0)
    std::abort();
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) std::abort();
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept(); });
}

FakeApiServer::~FakeApiServer() {
  {
    const std::lock_guard held(lock_);
    is_stopped_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
    changed_.notify_all();
  }
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(socket_);
}

std::string FakeApiServer::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

void FakeApiServer::add(Trouble trouble) {
  const std::lock_guard held(lock_);
  troubles_.push_back(std::move(trouble));
}

void FakeApiServer::clear_troubles() {
  const std::lock_guard held(lock_);
  troubles_.clear();
}

void FakeApiServer::observe(std::function<void(std::string_view, const yaml::Node&)> observer) {
  const std::lock_guard held(lock_);
  observer_ = std::move(observer);
}

void FakeApiServer::accept_tokens(std::set<std::string> tokens) {
  const std::lock_guard held(lock_);
  tokens_ = std::move(tokens);
}

void FakeApiServer::compact() {
  const std::lock_guard held(lock_);
  compacted_ = ++version_;
  history_.clear();
}

void FakeApiServer::break_watches(const std::string& last_line) {
  const std::lock_guard held(lock_);
  last_line_ = last_line;
  ++watch_epoch_;
  changed_.notify_all();
}

void FakeApiServer::silence_watches(bool is_silent) {
  const std::lock_guard held(lock_);
  is_silent_ = is_silent;
  changed_.notify_all();
}

void FakeApiServer::split_frames(std::size_t piece_bytes) {
  const std::lock_guard held(lock_);
  piece_bytes_ = piece_bytes;
}

void FakeApiServer::send_bookmarks() {
  const std::lock_guard held(lock_);
  ++bookmark_epoch_;
  changed_.notify_all();
}

std::vector<std::string> FakeApiServer::requests() const {
  const std::lock_guard held(lock_);
  return requests_;
}

int FakeApiServer::count_requests(std::string_view method, std::string_view target_part) const {
  const std::lock_guard held(lock_);
  return static_cast<int>(std::ranges::count_if(requests_, [&](const std::string& request) {
    return request.starts_with(method) && request.find(target_part) != std::string::npos;
  }));
}

void FakeApiServer::accept() {
  while (true) {
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard held(lock_);
    if (is_stopped_ || connection < 0) {
      if (connection >= 0) ::close(connection);
      return;
    }
    const int yes = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    connections_.insert(connection);
    threads_.emplace_back([this, connection] { serve(connection); });
  }
}

void FakeApiServer::serve(int connection) {
  std::string received;
  while (const auto request = receive_request(connection, received)) {
    Request known{*request};
    if (!answer(connection, known)) break;
  }
  const std::lock_guard held(lock_);
  connections_.erase(connection);
  ::close(connection);
}

bool FakeApiServer::take_trouble(const Request& request, Trouble& trouble) {
  for (Trouble& each : troubles_) {
    if (each.count == 0 || each.method != request.method || request.target.find(each.target_part) == std::string::npos)
      continue;
    --each.count;
    trouble = each;
    return true;
  }
  return false;
}

void FakeApiServer::stay_silent() {
  std::unique_lock held(lock_);
  changed_.wait(held, [this] { return is_stopped_; });
}

bool FakeApiServer::answer(int connection, const Request& request) {
  const Place place{place_of(request.target)};
  Reply reply;
  Trouble trouble;
  bool is_troubled = false;
  {
    const std::lock_guard held(lock_);
    requests_.push_back(request.method + " " + request.target);
    if (!tokens_.empty() && !tokens_.contains(request.token)) {
      reply = {401, status_body(401, "Unauthorized")};
    } else if (is_troubled = take_trouble(request, trouble); is_troubled && trouble.kind == TroubleKind::kStatus) {
      reply = {trouble.status, status_body(trouble.status, trouble.status == 410 ? "Expired" : "AsTold"),
               trouble.retry_after};
    } else if (!is_troubled || trouble.kind == TroubleKind::kLostAfterWrite) {
      if (place.query("watch") != "true") reply = carry_out(request, place);
    }
  }
  if (is_troubled && trouble.kind == TroubleKind::kSilent) stay_silent();
  if (is_troubled && trouble.kind != TroubleKind::kStatus) return false;
  if (reply.status == 200 && place.query("watch") == "true") return serve_watch(connection, request, place);
  std::string head = fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
                                 reply.status, reply.body.size());
  if (reply.retry_after >= 0) head += fmt::format("Retry-After: {}\r\n", reply.retry_after);
  return send_all(connection, head + "\r\n" + reply.body);
}

bool FakeApiServer::serve_watch(int connection, const Request&, const Place& place) {
  std::int64_t seen = std::atoll(std::string(place.query("resourceVersion")).c_str());
  if (!send_all(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"))
    return false;
  std::unique_lock held(lock_);
  const std::int64_t epoch = watch_epoch_;
  std::int64_t bookmarked = bookmark_epoch_;
  while (!is_stopped_) {
    std::string bytes;
    const bool is_too_old = seen < compacted_;
    const bool is_ended = epoch != watch_epoch_;
    if (!is_silent_) {
      for (const Event& event : history_) {
        if (event.version <= seen || event.collection != place.collection) continue;
        bytes += event.line + "\n";
        seen = event.version;
      }
      if (bookmarked != bookmark_epoch_) {
        bookmarked = bookmark_epoch_;
        seen = version_;
        bytes +=
            fmt::format("{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":\"{}\"}}}}}}\n", seen);
      }
    }
    if (is_too_old) bytes = fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", status_body(410, "Expired"));
    if (is_ended && !last_line_.empty()) bytes += last_line_ + "\n";
    const std::size_t piece_bytes = piece_bytes_;
    held.unlock();
    if (!send_chunks(connection, bytes, piece_bytes)) return false;
    if (is_too_old || is_ended) {
      static_cast<void>(send_all(connection, "0\r\n\r\n"));
      return !is_ended;
    }
    char byte = 0;
    if (::recv(connection, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) return false;
    held.lock();
    changed_.wait_for(held, kTick);
  }
  return false;
}

FakeApiServer::Reply FakeApiServer::carry_out(const Request& request, const Place& place) {
  if (request.method == "GET" && place.name.name.empty()) return list(request, place);
  if (request.method == "GET") {
    const auto& objects = objects_[place.collection];
    const auto found = objects.find(place.name);
    if (found == objects.end()) return {404, status_body(404, "NotFound")};
    return {200, json::text_of_node(found->second)};
  }
  if (request.method == "POST") return create(request, place);
  if (request.method == "PATCH") return change(request, place);
  if (request.method == "DELETE") return remove(request, place);
  return {405, status_body(405, "MethodNotAllowed")};
}

FakeApiServer::Reply FakeApiServer::list(const Request&, const Place& place) {
  const auto limit = static_cast<std::size_t>(std::max(1LL, std::atoll(std::string(place.query("limit")).c_str())));
  std::string version = fmt::format("{}", version_);
  std::string after;
  if (const std::string token(place.query("continue")); !token.empty()) {
    version = token.substr(0, token.find(' '));
    after = token.substr(token.find(' ') + 1);
    if (std::atoll(version.c_str()) < compacted_) return {410, status_body(410, "Expired")};
  }
  std::vector<std::string> items;
  std::string last;
  bool has_more = false;
  for (const auto& [name, object] : objects_[place.collection]) {
    if (!place.name.namespace_name.empty() && name.namespace_name != place.name.namespace_name) continue;
    if (name.text() <= after) continue;
    if (items.size() == limit && !place.query("limit").empty()) {
      has_more = true;
      break;
    }
    items.push_back(json::text_of_node(object));
    last = name.text();
  }
  return {200, fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})", version,
                           has_more ? version + " " + last : "", fmt::join(items, ","))};
}

FakeApiServer::Reply FakeApiServer::create(const Request& request, const Place& place) {
  auto object = json::parse_document(request.body, "body");
  if (!object) return {400, status_body(400, "BadRequest")};
  Place named = place;
  named.name.name = json::text_at(*object, {"metadata", "name"});
  if (objects_[place.collection].contains(named.name)) return {409, status_body(409, "AlreadyExists")};
  kube::put(member(*object, "metadata"), "uid", kube::text_node(fmt::format("uid-{}", ++uid_)));
  Reply reply = store(named, *std::move(object), "ADDED");
  reply.status = 201;
  return reply;
}

FakeApiServer::Reply FakeApiServer::change(const Request& request, const Place& place) {
  auto patch = json::parse_document(request.body, "body");
  if (!patch) return {400, status_body(400, "BadRequest")};
  const auto found = objects_[place.collection].find(place.name);
  if (found == objects_[place.collection].end()) {
    const bool is_apply = request.content_type.find("apply-patch") != std::string::npos;
    return is_apply ? create(request, place) : Reply{404, status_body(404, "NotFound")};
  }
  yaml::Node object = found->second;
  if (differs(*patch, object, "resourceVersion")) return {409, status_body(409, "Conflict")};
  if (differs(*patch, object, "uid")) return {422, std::string(kOtherUid)};
  if (place.subresource == "status") {
    std::erase_if(std::get<yaml::Map>(patch->value), [](const yaml::Entry& entry) { return entry.key != "status"; });
  } else {
    erase_key(*patch, "status");
  }
  const std::string before = json::text_of_node(object);
  merge(object, *patch);
  if (json::text_of_node(object) == before) return {200, before};
  const bool is_gone = is_being_deleted(object) && json::list_at(object, {"metadata", "finalizers"}).empty();
  return store(place, std::move(object), is_gone ? "DELETED" : "MODIFIED");
}

FakeApiServer::Reply FakeApiServer::remove(const Request& request, const Place& place) {
  const auto found = objects_[place.collection].find(place.name);
  if (found == objects_[place.collection].end()) return {404, status_body(404, "NotFound")};
  if (const auto options = json::parse_document(request.body, "body")) {
    const std::string_view uid = json::text_at(*options, {"preconditions", "uid"});
    if (!uid.empty() && uid != json::text_at(found->second, {"metadata", "uid"}))
      return {409, status_body(409, "Conflict")};
  }
  yaml::Node object = found->second;
  if (json::list_at(object, {"metadata", "finalizers"}).empty()) return store(place, std::move(object), "DELETED");
  kube::put(member(object, "metadata"), "deletionTimestamp", kube::text_node("2026-01-01T00:00:00Z"));
  return store(place, std::move(object), "MODIFIED");
}

FakeApiServer::Reply FakeApiServer::store(const Place& place, yaml::Node object, std::string_view type) {
  kube::put(member(object, "metadata"), "resourceVersion", kube::text_node(fmt::format("{}", ++version_)));
  const std::string text = json::text_of_node(object);
  if (observer_) observer_(type, object);
  history_.push_back({version_, place.collection, fmt::format(R"({{"type":"{}","object":{}}})", type, text)});
  if (type == "DELETED") {
    objects_[place.collection].erase(place.name);
  } else {
    objects_[place.collection].insert_or_assign(place.name, std::move(object));
  }
  changed_.notify_all();
  return {200, text};
}

}  // namespace berth::edges::testing
