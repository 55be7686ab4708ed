/// The value of one service as columns and rows: which requests are answered in time, by which variant, and with which
/// model.
#pragma once

#include <vector>

#include "planner/window/testing/gpu_columns.h"

namespace berth::planner::testing {

/// Adds the columns and rows, those of its retraining included. `gpus` are the columns of all GPUs.
void add_value(const Problem& problem, const std::vector<GpuColumns>& gpus, ServiceIndex service,
               ProgramBuilder& program);

}  // namespace berth::planner::testing
