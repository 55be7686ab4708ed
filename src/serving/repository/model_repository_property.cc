// Random changes of a repository, in random steps of time: when all is quiet, what is known depends on the files alone.
#include "serving/repository/model_repository.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "domain/ports/testing/memory_tree.h"
#include "models/onnx_file/testing/test_models.h"

namespace berth::serving {
namespace {

void change_something(testing::MemoryTree& tree, Micros now) {
  const std::string model = "r/" + *rc::gen::element(std::string("a"), std::string("b"));
  const std::string version = model + "/" + *rc::gen::element(std::string("1"), std::string("2"), std::string("x"));
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return tree.write(version + "/model.onnx", "broken", now);
    case 1:
      return tree.write(version + "/other", "bytes", now);
    case 2:
      return tree.remove(version);
    case 3:
      return tree.remove(version + "/model.onnx");
    case 4:
      return tree.write(model + "/config.pbtxt",
                        *rc::gen::element(std::string("max_batch_size: 3"), std::string("version_policy { all {} }"),
                                          std::string("sequence_batching {}"), std::string("x")),
                        now);
    case 5:
      return tree.remove(model + "/config.pbtxt");
    case 6:
      return tree.remove(model);
    default:
      return tree.write(version + "/model.onnx", testing::twice_model("Add", *rc::gen::inRange<std::int64_t>(1, 3)),
                        now);
  }
}

/// Carries the changes out on what was known before; they must lead to what is known now.
void check_changes(const std::vector<RepositoryChange>& changes, RepositoryModels before,
                   const RepositoryModels& after) {
  RC_ASSERT(changes_between(before, after) == changes);
  RC_ASSERT(changes_between(after, after).empty());
  for (const RepositoryChange& change : changes) {
    if (change.kind == RepositoryChange::Kind::kModelRemoved) before.erase(change.model);
    if (change.kind == RepositoryChange::Kind::kModelAdded) before[change.model] = {};
  }
  for (const auto& [name, model] : after) RC_ASSERT(before.contains(name));
  RC_ASSERT(before.size() == after.size());
}

RC_GTEST_PROP(ModelRepository, KnowsInTheEndWhatIsOnTheDisk, ()) {
  testing::MemoryTree tree;
  tree.make_folder("r");
  ModelRepository followed(tree, "r");
  Micros now = Micros::seconds(1'000'000);
  const int step_count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < step_count; ++i) {
    change_something(tree, now);
    now += Micros(*rc::gen::inRange(0, 1'500'000));
    const RepositoryModels before = followed.models();
    const auto changes = followed.scan(now);
    RC_ASSERT(changes.has_value());
    check_changes(*changes, before, followed.models());
    for (const auto& [name, model] : followed.models()) RC_ASSERT(!model.versions.empty() || !model.fault.empty());
  }
  for (int i = 0; i < 3; ++i) {
    now += kSettleTime;
    RC_ASSERT(followed.scan(now).has_value());
  }
  ModelRepository fresh(tree, "r");
  RC_ASSERT(fresh.scan(now).has_value());
  RC_ASSERT(fresh.models() == followed.models());
}

}  // namespace
}  // namespace berth::serving
