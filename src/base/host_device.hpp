// CUZK_HD marks functions that the CUDA form of a module compiles for the device too.
#pragma once

#if defined(__CUDACC__)
#define CUZK_HD __host__ __device__
#else
#define CUZK_HD
#endif
