/// `berth operator`: one controller of pods that wait for devices.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/lease/lease.h"
#include "kube/placing/owned_pools.h"

namespace berth::apps {

struct OperatorRequest {
  kube::Access access;
  std::vector<kube::OwnedPools> own;  ///< not empty
  kube::LeaseOptions lease;           ///< valid; without an identity one is made
  std::int64_t requests_per_second = 500;
  bool is_dry_run = false;  ///< then no Lease is taken
};

struct OperatorOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  /// The pools of the configuration as its file says now; empty: it is not read again.
  std::function<Result<std::vector<kube::OwnedPools>>()> read_own_again = {};
  std::function<int(const Error&)> report_failure = {};  ///< prints the error; returns the exit status
};

/// Runs until SIGINT or SIGTERM; returns the exit status. SIGHUP reads the configuration again: rules are written for
/// new entries, and those of entries that are gone are removed. Prints "ready" on `out` once it has seen the whole
/// cluster and it is known who leads, and each write on `err`. Bad input, nothing written: a server without
/// resource.k8s.io/v1 (2).
[[nodiscard]] int run_operator(const OperatorRequest& request, const OperatorOutside& outside);

}  // namespace berth::apps
