/// The session as the handlers of requests reach it: under its lock, for as short a time as possible.
#pragma once

#include <mutex>
#include <type_traits>
#include <utility>

#include "base/locks/fair_mutex.h"

namespace berth::live {
class Session;
}

namespace berth::api {

class SessionAccess {
 public:
  /// Both are borrowed. Whoever drives the session holds the lock, too.
  SessionAccess(live::Session& session, edges::FairMutex& lock) : session_(session), lock_(lock) {}

  /// Calls `function` with the session, to read or to change it, and returns what it returns: a value that owns all
  /// that it holds. Texts are made of it afterwards, while the engine goes on.
  template <class Function>
  auto with(Function&& function) const {
    using Value = std::invoke_result_t<Function, live::Session&>;
    static_assert(!std::is_reference_v<Value> && !std::is_pointer_v<Value>, "what is read must own what it holds");
    const std::scoped_lock hold(lock_);
    refresh();
    return std::forward<Function>(function)(session_);
  }

 private:
  /// What is read is up to date then.
  void refresh() const;

  live::Session& session_;
  edges::FairMutex& lock_;
};

}  // namespace berth::api
