#include "domain/values/solution.h"

#include "base/core/archive.h"

namespace berth {

void Solution::archive_fields(ArchiveWriter& archive, const Solution& solution) { archive.fields(solution); }

void Solution::archive_fields(ArchiveReader& archive, Solution& solution) { archive.fields(solution); }

bool operator==(const Solution&, const Solution&) = default;

}  // namespace berth
