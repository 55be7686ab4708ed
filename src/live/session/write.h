/// The writes of clients, as the program that carries them out sees them: checked, recorded with others, answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "domain/ports/journal_store.h"
#include "live/session/order_batch.h"
#include "live/session/write_trace.h"

namespace berth::live {

class Session;

/// Orders about services, carried out together with others. Its functions are called in this order; `foretell` only
/// where there is an order.
struct ServiceWrite {
  /// Under the session's lock: checks it, and adds its orders, if it has any, to the batch. Returns the status that its
  /// answer will have; absent: it must wait until the batch was carried out, and is asked again then.
  std::function<std::optional<int>(const Session&, OrderBatch&)> join;
  /// The body of its answer, if known before the order is carried out; without the lock. May be empty.
  std::function<std::optional<std::string>()> foretell = nullptr;
  /// Under the lock, when its orders were carried out; `failure`: why they could not be recorded instead.
  std::function<void(const Session&, const std::optional<std::string>& failure)> settle;
};

/// The stored part of an answer.
struct WriteAnswer {
  int status = 200;
  std::string body;
};

/// Any other write, which is carried out alone.
struct LoneWrite {
  int status = 200;           ///< of its answer if it succeeds
  std::function<void()> run;  ///< takes the session's lock itself
  /// That answer, if known before `run`; takes the lock itself. May be empty.
  std::function<WriteAnswer()> foretell = nullptr;
};

/// The key under which a client sends a write, so that a repeat does nothing twice.
struct WriteKey {
  Sha256 key{};      ///< of the owner and the key
  Sha256 request{};  ///< of method, path and body
  /// Replaces the rest if the key was used before: answers with that outcome, or why there is none. An error: the
  /// outcome cannot be read now. Without the lock.
  std::function<void(const StoreResult<KeyedOutcome>& before)> repeat;
};

struct Write {
  std::variant<ServiceWrite, LoneWrite> what;
  std::optional<WriteKey> key;
  /// The answer, made without the lock, after all of the above.
  std::function<const WriteAnswer&()> render;
  /// Answers that nothing can be recorded, and why, instead of what was rendered.
  std::function<void(const std::string& failure)> refuse;
  /// Sends the client what was rendered. Called last; if never called, the client is answered that the outcome is
  /// unknown.
  std::function<void()> send;
  std::shared_ptr<WriteTrace> trace = nullptr;  ///< null: it is not traced
};

}  // namespace berth::live
