/// The headers of ONNX Runtime, without its global table of functions: that is set when the library is opened.
#pragma once

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT
