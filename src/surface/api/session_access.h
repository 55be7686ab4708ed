/// The handlers' access to the session: under its lock, for as short a time as possible.
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
  /// Both are borrowed. The driver of the session must hold the lock, too.
  SessionAccess(live::Session& session, edges::FairMutex& lock) : session_(session), lock_(lock) {}

  /// Calls `function` with the session, to read or change it, and returns its result: a value that owns all that it
  /// holds, so that it can be formatted afterwards, while the engine continues.
  template <class Function>
  auto with(Function&& function) const {
    using Value = std::invoke_result_t<Function, live::Session&>;
    static_assert(!std::is_reference_v<Value> && !std::is_pointer_v<Value>, "what is read must own what it holds");
    const std::scoped_lock hold(lock_);
    refresh();
    return std::forward<Function>(function)(session_);
  }

 private:
  /// Brings the session up to date before it is read.
  void refresh() const;

  live::Session& session_;
  edges::FairMutex& lock_;
};

}  // namespace berth::api
