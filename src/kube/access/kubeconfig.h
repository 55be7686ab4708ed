/// Kubeconfig files, as kubectl reads them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "kube/access/access.h"

namespace berth::kube {

struct KubeconfigChoice {
  std::span<const std::string> paths;                 ///< the first one that names something decides
  std::optional<std::string> context = std::nullopt;  ///< absent: the current one
  bool may_be_missing = false;                        ///< files that do not exist are skipped
};

/// The access that the files give. kInvalidInput, with FILE:LINE:COLUMN where there is one: malformed files, an
/// unknown context, cluster or user, a server that is no URL of http or https, bytes that are not base64, a
/// certificate without its key, credential programs (exec, auth-provider) and passwords, which are not supported.
/// kNotFound: no file, or one that it names.
[[nodiscard]] Result<Access> read_kubeconfig(const Files& files, const KubeconfigChoice& choice);

/// The parts of KUBECONFIG: separated by colons, empty ones left out.
[[nodiscard]] std::vector<std::string> split_paths(std::string_view list);

}  // namespace berth::kube
