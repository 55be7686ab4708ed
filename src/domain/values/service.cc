#include "domain/values/service.h"

#include "base/core/archive.h"

namespace berth {

bool operator==(const Arrivals&, const Arrivals&) = default;

bool operator==(const ServiceSpec&, const ServiceSpec&) = default;

void ServiceSpec::archive_fields(ArchiveWriter& archive, const ServiceSpec& spec) { archive.fields(spec); }

void ServiceSpec::archive_fields(ArchiveReader& archive, ServiceSpec& spec) { archive.fields(spec); }

bool may_share_gpu(const ServiceSpec& a, const ServiceSpec& b) {
  const bool is_alone = a.isolation == Isolation::kGpu || b.isolation == Isolation::kGpu;
  return !is_alone && a.trust_domain == b.trust_domain;
}

ServiceSpec absent_service(const ServiceSpec& removed) {
  ServiceSpec spec;
  spec.is_absent = true;
  spec.name = removed.name;
  spec.tenant = removed.tenant;
  return spec;
}

}  // namespace berth
