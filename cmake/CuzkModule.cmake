# cuzk_module(NAME DEPENDS other modules ... LIBRARIES link targets ...)
#
# Makes the library cuzk_NAME of every source in the folder, and by suffix:
#   x_test.cpp       -> cuzk_NAME_test       (label fast)
#   x_slow_test.cpp  -> cuzk_NAME_slow_test  (label slow)
#   x_bench.cpp      -> cuzk_NAME_bench
#   x_fuzz.cpp       -> x_fuzz               (one target a file; corpus in fuzz/corpus/x; run by scripts/fuzz.sh)
# Tests may include "support/..." of tests/ too.
# With CUZK_CUDA also:
#   x_cuda.cu, x_cuda.cpp, cuda_x.cpp -> part of cuzk_NAME
#   x_cuda_check.cu  -> cuzk_x_cuda_check, a program that compares with the CPU form; needs a GPU to run, none to build
#   x_cuda_bench.cu  -> cuzk_x_cuda_bench, a program that writes its measurements as JSON to the file named first
# and without CUZK_CUDA:
#   x_none.cpp       -> part of cuzk_NAME: what stands for its CUDA form
# DEPENDS is also what scripts/check_includes.py allows the module to include.
include(GoogleTest)
add_custom_target(fast_tests)  # the programs of all fast tests

function(cuzk_module name)
  cmake_parse_arguments(M "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cpp)
  file(GLOB slow_tests CONFIGURE_DEPENDS *_slow_test.cpp)
  file(GLOB benches CONFIGURE_DEPENDS *_bench.cpp)
  file(GLOB fuzzers CONFIGURE_DEPENDS *_fuzz.cpp)
  file(GLOB cuda_hosts CONFIGURE_DEPENDS *_cuda.cpp cuda_*.cpp)
  file(GLOB cuda_sources CONFIGURE_DEPENDS *_cuda.cu)
  file(GLOB cuda_checks CONFIGURE_DEPENDS *_cuda_check.cu *_cuda_bench.cu)
  file(GLOB cuda_stand_ins CONFIGURE_DEPENDS *_none.cpp)
  if(tests OR benches OR fuzzers)
    list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers})
  endif()
  if(slow_tests)
    list(REMOVE_ITEM tests ${slow_tests})
  endif()
  if(CUZK_CUDA)
    list(APPEND sources ${cuda_sources})
    if(cuda_stand_ins)
      list(REMOVE_ITEM sources ${cuda_stand_ins})
    endif()
  elseif(cuda_hosts)
    list(REMOVE_ITEM sources ${cuda_hosts})
  endif()

  # Instrumented, the vector kernels take GCC and clang many minutes and gigabytes to compile. Their memory accesses are
  # the loads and stores of arrays that the calling code, which is instrumented, sizes; the scalar forms run the same
  # tests under the sanitizers.
  file(GLOB vector_kernels CONFIGURE_DEPENDS *_ifma.cpp)
  if(CUZK_SANITIZER AND vector_kernels)
    set_source_files_properties(${vector_kernels} PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all;-O2")
  endif()

  set(links "")
  foreach(dependency IN LISTS M_DEPENDS)
    list(APPEND links cuzk_${dependency})
  endforeach()
  if(sources)
    add_library(cuzk_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(cuzk_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(cuzk_${name} ${scope} cuzk_compiler ${links} ${M_LIBRARIES})

  if(CUZK_CUDA)
    if(sources)
      target_link_libraries(cuzk_${name} PUBLIC CUDA::cudart_static)
    endif()
    foreach(check IN LISTS cuda_checks)
      cuzk_cuda_check("${check}" cuzk_${name})
    endforeach()
  endif()

  if(CUZK_TESTS AND GTest_FOUND)
    cuzk_module_test(${name} test fast ${tests})
    cuzk_module_test(${name} slow_test slow ${slow_tests})
  endif()
  if(CUZK_BENCH AND benches)
    find_package(benchmark QUIET)
    if(benchmark_FOUND)
      add_executable(cuzk_${name}_bench ${benches})
      target_link_libraries(cuzk_${name}_bench PRIVATE cuzk_${name} benchmark::benchmark_main)
    endif()
  endif()
  if(CUZK_FUZZ)
    foreach(fuzzer IN LISTS fuzzers)
      get_filename_component(target "${fuzzer}" NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE cuzk_${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# cuzk_cuda_check(SOURCE links ...): the program cuzk_x_cuda_check of x_cuda_check.cu or .cpp, likewise a bench.
function(cuzk_cuda_check source)
  get_filename_component(target "${source}" NAME_WE)
  add_executable(cuzk_${target} "${source}")
  target_link_libraries(cuzk_${target} PRIVATE ${ARGN} CUDA::cudart_static)
  set_target_properties(cuzk_${target} PROPERTIES CUDA_ARCHITECTURES "${CUZK_CHECK_ARCHITECTURES}")
  if(NOT TARGET cuda_programs)  # what scripts/gpu.sh builds
    add_custom_target(cuda_programs)
  endif()
  add_dependencies(cuda_programs cuzk_${target})
endfunction()

function(cuzk_module_test name suffix label)
  if(NOT ARGN)
    return()
  endif()
  set(target cuzk_${name}_${suffix})
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE cuzk_${name} GTest::gtest_main)
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE CUZK_GOLDEN_DIR="${CMAKE_SOURCE_DIR}/tests/golden")
  # Values would stand in the names of the tests as bytes, addresses among them, which are others in each run.
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
    TEST_PREFIX "${name}." PROPERTIES LABELS "${label}" TIMEOUT 1800)
  if(label STREQUAL "fast")
    add_dependencies(fast_tests ${target})
  endif()
endfunction()
