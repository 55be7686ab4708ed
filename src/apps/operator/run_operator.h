/// `berth operator`: one controller of pods that wait for devices.
#pragma once

#include <cstdio>
#include <functional>
#include <vector>

#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/placing/owned_pools.h"

namespace berth::apps {

struct OperatorRequest {
  kube::Access access;
  std::vector<kube::OwnedPools> own;  ///< not empty
  bool is_dry_run = false;
};

struct OperatorOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::function<int(const Error&)> report_failure;  ///< prints the error; returns the exit status
};

/// Runs until SIGINT or SIGTERM; returns the exit status. Prints "ready" on `out` once it has seen the whole cluster,
/// and each write on `err`. Bad input, nothing written: a server without resource.k8s.io/v1 (2).
[[nodiscard]] int run_operator(const OperatorRequest& request, const OperatorOutside& outside);

}  // namespace berth::apps
