/// What `berth why pod` asks of the program, which can reach a cluster.
#pragma once

#include "domain/ports/files.h"
#include "kube/access/access.h"
#include "kube/client/resource.h"

namespace berth::cli {

/// The files are borrowed.
struct WhyCall {
  kube::Access access;
  kube::ObjectName pod;
  const Files* files = nullptr;
};

}  // namespace berth::cli
