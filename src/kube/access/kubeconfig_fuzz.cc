#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/core/ensure.h"
#include "kube/access/kubeconfig.h"

namespace {

/// The first file is the input; any other path has the same bytes.
class FuzzKubeFiles : public berth::Files {
 public:
  explicit FuzzKubeFiles(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] berth::Result<std::string> read(const std::string& path) const override {
    if (path.ends_with("none")) return berth::fail(berth::ErrorCode::kNotFound, path);
    return text_;
  }
  [[nodiscard]] berth::Result<std::optional<std::vector<std::string>>> list(const std::string&) const override {
    return std::nullopt;
  }

 private:
  std::string text_;
};

}  // namespace

/// Any bytes give an access with a server, or an error with a message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const FuzzKubeFiles files(std::string(reinterpret_cast<const char*>(bytes), size));
  const std::vector<std::string> paths = {"config"};
  const auto access = berth::kube::read_kubeconfig(files, {.paths = paths});
  if (access) {
    ENSURE(access->server.starts_with("http"));
  } else {
    ENSURE(!access.error().message.empty());
  }
  return 0;
}
