/// The arguments of the verb `operator` for the program that runs it: the command line does not include the operator.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/lease/lease.h"
#include "kube/placing/owned_pools.h"
#include "live/folder/up_request.h"

namespace berth::cli {

/// The streams and files are borrowed.
struct OperatorCall {
  kube::Access access;
  std::vector<kube::OwnedPools> own;
  std::int64_t gpus_max = kube::kOwnedGpusMax;
  kube::LeaseOptions lease;  ///< without an identity
  std::int64_t requests_per_second = 500;
  bool is_dry_run = false;
  live::UpRequest up;        ///< of its session
  std::string version = {};  ///< of the program
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::function<Result<std::vector<kube::OwnedPools>>()> read_own_again = {};
  std::function<int(const Error&)> report_failure = {};  ///< prints the error; returns the exit status
  std::function<Result<live::RereadConfig>()> read_config_again = {};
};

}  // namespace berth::cli
