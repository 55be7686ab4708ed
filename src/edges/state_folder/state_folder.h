/// The folder of a running `berth up`: the key of its API, its address, and a lock, so that one process uses it at a
/// time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/core/result.h"

namespace berth::edges {

/// While it exists, no other process can open the folder. The files remain afterwards.
class StateFolder {
 public:
  /// Opens the folder, and creates it (mode 0700, with its parents) if missing. An existing one gets that mode if it
  /// contains only our own files, and else keeps its own (see `warning`). Creates `admin.key` (0600) if missing: 32
  /// random bytes of the system in hexadecimal and a line feed. Errors: kUnavailable if another process has it open
  /// (the message names its pid) or the disk is full; kInvalidInput if it is not a folder, or none can be created
  /// there.
  [[nodiscard]] static Result<std::unique_ptr<StateFolder>> open(const std::string& path);
  /// For `open`: takes over the lock's file descriptor.
  StateFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;
  ~StateFolder();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Why users other than the owner may read the folder; empty if they cannot.
  [[nodiscard]] const std::string& warning() const { return warning_; }
  [[nodiscard]] std::string key_path() const { return path_ + "/admin.key"; }
  /// The key, without its line feed.
  [[nodiscard]] const std::string& key() const { return key_; }
  /// The key of the gateway, good for its routes only; `gateway.key` (0600) is made if missing.
  [[nodiscard]] Result<std::string> gateway_key() const;
  /// Removes the key, the folder and the parents that `open` created, as far as they contain nothing else: for a
  /// refused start.
  void discard_if_new();
  /// Writes `address` ("http://127.0.0.1:8642/") atomically.
  [[nodiscard]] Result<void> write_address(const std::string& url) const;

 private:
  [[nodiscard]] Result<void> read_or_make_key();
  [[nodiscard]] Result<void> hide_key() const;
  void close_to_others();

  std::string path_;
  int lock_;
  std::vector<std::string> made_folders_;  ///< by `open`, the outermost first
  std::string key_;
  std::string warning_;
};

/// So many random bytes of the system in lower-case hexadecimal; empty if it has none. Requires: 1 to 256 bytes.
[[nodiscard]] std::string random_hex(std::size_t byte_count);

/// $XDG_STATE_HOME/berth, else ~/.local/state/berth; an error without both variables.
[[nodiscard]] Result<std::string> default_state_folder();

}  // namespace berth::edges
