/// What the figures of a server need from the outside.
#pragma once

#include "apps/serve/serve_device.h"
#include "edges/figure_recorder/figure_recorder.h"
#include "serving/config/serve_request.h"
#include "serving/service/figure_service.h"
#include "surface/openai_api/proxied_request.h"

namespace berth::serve {

/// A device of this machine is called `cpu@HOST`, so that it is unique in a ledger; a simulated one by its name.
[[nodiscard]] edges::FigureFileOptions figure_file_options(const serving::ServeRequest& request,
                                                           const ServeDevice& device);

[[nodiscard]] serving::BackendEnd backend_end(const openai::ProxiedRequest& request);

}  // namespace berth::serve
