/// The servers that tests of this folder talk to: the fake one, and a real one where it is built.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "edges/files/disk_files.h"
#include "edges/kube/kube_client.h"
#include "edges/kube/testing/fake_api_server.h"
#include "kube/access/kubeconfig.h"

namespace berth::edges {

/// A folder that goes with the object.
class OwnFolder {
 public:
  OwnFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-kube-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A real control plane, started by scripts/kube and stopped with the object.
class RealServer {
 public:
  /// Why there is none; empty: there is one.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] std::string kubeconfig() const { return folder_.path() + "/kubeconfig"; }

  RealServer() {
    const char* tree = std::getenv("BERTH_SOURCE_DIR");
    const char* own = std::getenv("BERTH_KUBE");
    const char* home = std::getenv("HOME");
    const std::string built =
        own != nullptr ? own : std::string(home == nullptr ? "" : home) + "/.cache/berth/kube-1.37.0";
    if (tree == nullptr) {
      reason_ = "BERTH_SOURCE_DIR is not set";
    } else if (!std::filesystem::exists(built + "/kube-controller-manager")) {
      reason_ = "no API server in " + built + " (scripts/kube build)";
    } else {
      script_ = std::string(tree) + "/scripts/kube";
      if (run("up") != 0) reason_ = "scripts/kube up failed";
    }
  }
  RealServer(const RealServer&) = delete;
  RealServer& operator=(const RealServer&) = delete;
  ~RealServer() {
    if (!script_.empty()) static_cast<void>(run("down"));
  }

 private:
  [[nodiscard]] int run(const std::string& verb) const {
    return std::system(("'" + script_ + "' " + verb + " --dir '" + folder_.path() + "' >&2").c_str());
  }

  OwnFolder folder_;
  std::string script_;
  std::string reason_;
};

}  // namespace berth::edges
