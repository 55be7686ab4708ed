#include "domain/values/plan.h"

#include "base/core/archive.h"
#include "base/core/overloaded.h"

namespace berth {
namespace {

template <class Archive, class Self>
void archive_plan(Archive& archive, Self& self) {
  archive(self.id, self.epoch, self.base_version, self.made_at, self.is_ordered, self.facts, self.expires_at,
          self.actions, self.objective, self.bound, self.promised_gain, self.floors, self.unmet_floors, self.ahead);
}

}  // namespace

const Slice& slice_of(const SliceChange& change) {
  return std::visit(Overloaded{
                        [](const CreateSlice& create) -> const Slice& { return create.slice; },
                        [](const DestroySlice& destroy) -> const Slice& { return destroy.slice; },
                        [](const AssignSlice& assign) -> const Slice& { return assign.holding.slice; },
                    },
                    change);
}

void Plan::archive_fields(ArchiveWriter& archive, const Plan& plan) { archive_plan(archive, plan); }

void Plan::archive_fields(ArchiveReader& archive, Plan& plan) { archive_plan(archive, plan); }

bool operator==(const Plan&, const Plan&) = default;

}  // namespace berth
