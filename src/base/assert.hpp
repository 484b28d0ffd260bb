// CUZK_ASSERT holds in release builds too: it guards against bugs, and no input may reach one.
#pragma once

namespace cuzk {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}

#if defined(__CUDA_ARCH__)
#define CUZK_ASSERT(expression) ((void)0)
#else
#define CUZK_ASSERT(expression) ((expression) ? (void)0 : ::cuzk::assertion_failed(#expression, __FILE__, __LINE__))
#endif
