/// The signals that `berth up` waits for.
#pragma once

#include <signal.h>

#include <optional>

namespace berth::up {

/// While it exists, SIGINT and SIGTERM are kept for `taken`, and SIGHUP for `is_reload_asked`. To be made before the
/// first thread.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  /// A stop signal that arrived, if any; does not wait.
  [[nodiscard]] std::optional<int> taken() const;
  /// Whether SIGHUP arrived since the last call; does not wait.
  [[nodiscard]] bool is_reload_asked() const;

 private:
  sigset_t signals_{};
  sigset_t reload_{};
  sigset_t before_{};
  struct sigaction on_reload_before_{};
};

}  // namespace berth::up
