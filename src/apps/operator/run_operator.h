/// `berth operator`: a session on the GPUs of a cluster, and the controller of pods that wait for devices.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "apps/up/up_outside.h"
#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/placing/owned_pools.h"
#include "live/folder/up_request.h"

namespace berth::apps {

struct OperatorRequest {
  kube::Access access;
  std::vector<kube::OwnedPools> own;  ///< not empty
  bool is_dry_run = false;
  live::UpRequest up;  ///< of its session
};

struct OperatorOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::string version = {};  ///< of the program
  up::ServerStarter start_server = {};
  std::function<int(const Error&)> report_failure;  ///< prints the error; returns the exit status
  std::function<Result<live::RereadConfig>()> read_config_again = {};
};

/// Runs until SIGINT or SIGTERM; returns the exit status. Once it has seen the whole cluster and its API answers, it
/// prints the line of `berth up` on `out`; each write is a line on `err`. Bad input, nothing written: a server without
/// resource.k8s.io/v1, a folder of another cluster (2).
[[nodiscard]] int run_operator(const OperatorRequest& request, const OperatorOutside& outside);

}  // namespace berth::apps
