/// The options of `berth operator`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/lease/lease.h"
#include "kube/placing/owned_pools.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/up_options.h"
#include "surface/cli/up/stated_request.h"

namespace berth::cli {

struct OperatorWords {
  std::optional<std::string> config;
  std::optional<std::string> kubeconfig;
  std::optional<std::string> context;
  std::string lease = "berth-system/berth";
  std::string lease_seconds = "15,10,2";
  std::string requests_per_second = "500";
  bool dry_run = false;
  // As those of `berth up`.
  std::optional<std::string> scenario;
  std::optional<std::string> data;
  std::optional<std::string> listen;
  std::optional<std::string> load;
  std::optional<std::string> policy;
  std::optional<std::string> approval;
  std::optional<std::string> seed;
  std::optional<std::string> journal;
};

/// The same as options of `berth up --world kubernetes`.
[[nodiscard]] UpOptions up_options_of(const OperatorWords& words);

[[nodiscard]] OptionTable operator_option_rows(OperatorWords& words);

struct OperatorRequest {
  kube::Access access;
  std::vector<kube::OwnedPools> own;
  std::int64_t gpus_max = kube::kOwnedGpusMax;
  kube::LeaseOptions lease;  ///< without an identity
  std::int64_t requests_per_second = 500;
  bool is_dry_run = false;
  StatedRequest up;  ///< of its session
};

/// The environment in which it is started.
struct OperatorSurroundings {
  std::string kubeconfig_list;  ///< KUBECONFIG
  std::string service_host;     ///< KUBERNETES_SERVICE_HOST
  std::string service_port;     ///< KUBERNETES_SERVICE_PORT
};

[[nodiscard]] OperatorSurroundings cluster_surroundings();

/// How the cluster is reached. Errors: those of the files, and of an identity that is in none of them.
[[nodiscard]] Result<kube::Access> find_cluster(const OperatorWords& words, const OperatorSurroundings& around,
                                                const Files& files);

/// Of --kubeconfig, KUBECONFIG and the pod's identity the first that is there is used. Errors: a configuration without
/// kubernetes: own:, and those of the files.
[[nodiscard]] Result<OperatorRequest> check_operator_options(const OperatorWords& words,
                                                             const OperatorSurroundings& around, const Files& files);

}  // namespace berth::cli
