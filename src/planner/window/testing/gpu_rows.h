/// The rules of one GPU as rows: valid configurations, transitions between them, pins and isolation.
#pragma once

#include "planner/window/testing/gpu_columns.h"

namespace berth::planner::testing {

/// Adds the rows, with the columns that only they need. `columns` are those of the GPU.
void add_gpu_rows(const Problem& problem, GpuIndex gpu, const GpuColumns& columns, ProgramBuilder& program);

}  // namespace berth::planner::testing
