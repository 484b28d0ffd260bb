// CUZK_HD marks functions that the CUDA form of a module compiles for the device too.
//
// CUZK_HD_COLD marks such functions that device code calls rarely: they are not inlined there, so that what they need
// does not add to the registers and the size of a kernel's inner loop. Their parameters are values, not references,
// which would force the caller's operands into memory.
//
// CUZK_UNROLL before a loop keeps arrays that it indexes in registers there.
#pragma once

#if defined(__CUDACC__)
#define CUZK_HD __host__ __device__
#define CUZK_UNROLL _Pragma("unroll")
#else
#define CUZK_HD
#define CUZK_UNROLL
#endif
#if defined(__CUDA_ARCH__)
#define CUZK_HD_COLD __host__ __device__ __noinline__
#else
#define CUZK_HD_COLD CUZK_HD
#endif
