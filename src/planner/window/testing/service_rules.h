/// The rules of one service as rows: at most one retraining piece, its floor, its budget of changes.
#pragma once

#include <vector>

#include "planner/window/testing/gpu_columns.h"

namespace berth::planner::testing {

/// Adds the rows, with the columns that only they need. `gpus` are the columns of all GPUs.
void add_service_rules(const Problem& problem, const std::vector<GpuColumns>& gpus, ServiceIndex service,
                       ProgramBuilder& program);

}  // namespace berth::planner::testing
