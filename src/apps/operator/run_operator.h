/// `berth operator`: a session on the GPUs of a cluster, and the controller of pods that wait for devices.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "apps/up/up_outside.h"
#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/lease/lease.h"
#include "kube/placing/owned_pools.h"
#include "live/folder/up_request.h"

namespace berth::apps {

struct OperatorRequest {
  kube::Access access;
  std::vector<kube::OwnedPools> own;  ///< not empty
  std::int64_t gpus_max = kube::kOwnedGpusMax;
  kube::LeaseOptions lease;  ///< valid; without an identity one is made
  std::int64_t requests_per_second = 500;
  bool is_dry_run = false;  ///< then no Lease is taken
  live::UpRequest up;       ///< of its session
};

struct OperatorOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::string version = {};  ///< of the program
  up::ServerStarter start_server = {};
  /// The pools of the configuration as its file says now; empty: it is not read again.
  std::function<Result<std::vector<kube::OwnedPools>>()> read_own_again = {};
  std::function<int(const Error&)> report_failure = {};  ///< prints the error; returns the exit status
  std::function<Result<live::RereadConfig>()> read_config_again = {};
};

/// Runs until SIGINT or SIGTERM; returns the exit status. Follows the cluster and stands by until it has the Lease;
/// then it runs a session, and prints the line of `berth up` on `out` once its API answers. An operator that has lost
/// the Lease ends (1): whoever starts it again finds the cluster as it is by then. Each write is a line on `err`.
/// SIGHUP reads the configuration again: rules are written for new entries, and those of entries that are gone are
/// removed. Bad input, nothing written: a server without resource.k8s.io/v1, a folder of another cluster (2).
[[nodiscard]] int run_operator(const OperatorRequest& request, const OperatorOutside& outside);

}  // namespace berth::apps
