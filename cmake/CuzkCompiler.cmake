# Warnings, optimisation and sanitizers, as one interface target that every module links.
add_library(cuzk_compiler INTERFACE)
target_include_directories(cuzk_compiler INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(cuzk_compiler INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wno-missing-field-initializers -Werror=return-type>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives in inlined std::vector code, and it alone in inlined std::string code (PR 105329).
  target_compile_options(cuzk_compiler INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(cuzk_compiler INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  endif()
endif()
if(CUZK_SANITIZER)
  # -O1: with -O2 GCC 12 takes half as long again to compile what is instrumented.
  target_compile_options(cuzk_compiler INTERFACE -fsanitize=${CUZK_SANITIZER} -fno-omit-frame-pointer -g1 -O1)
  target_link_options(cuzk_compiler INTERFACE -fsanitize=${CUZK_SANITIZER})
  if(CUZK_SANITIZER MATCHES "undefined")
    target_compile_options(cuzk_compiler INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
if(CUZK_FUZZ)
  target_compile_options(cuzk_compiler INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_program(CUZK_CCACHE ccache)
if(CUZK_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CUZK_CCACHE}")
endif()
if(CUZK_CUDA)
  if(CUZK_CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${CUZK_CCACHE}")
  endif()
  # Machine code for every generation that CUDA 13 compiles for and cards of 16 GiB or more have, and for later ones
  # PTX. A build for one machine names its own.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120)
  endif()
  # Of the programs that check and measure on one machine, where the modules are for more.
  set(CUZK_CHECK_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}" CACHE STRING "Architectures of the CUDA checks")
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  # 550: outputs of inline assembly that are only clobbered.
  target_compile_options(cuzk_compiler INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -diag-suppress=550>)
  if(CUZK_KERNEL_REPORT)
    target_compile_options(cuzk_compiler INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
  endif()
endif()
