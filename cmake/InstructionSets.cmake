# Eigen picks its vector instructions when it is compiled, so the file with the
# dense linear algebra is compiled once for each instruction set, and the one to
# use is chosen when the program starts (src/kernels/dense.cpp). In each copy the
# macro RAREFY_ISA renames both our namespace and Eigen's, so that no template
# instantiated for a newer processor can be picked by the linker for an older
# one; the test `kernels.no_leaked_symbols` checks that.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(RAREFY_X86 TRUE)
else()
  set(RAREFY_X86 FALSE)
endif()

function(rarefy_add_dense_kernels target source)
  set(levels baseline)
  if(RAREFY_X86)
    list(APPEND levels avx2 avx512)
  endif()
  set(flags_baseline "")
  if(RAREFY_X86)
    set(flags_baseline -msse4.2)
  endif()
  set(flags_avx2 -mavx2 -mfma -mbmi2)
  set(flags_avx512 -mavx2 -mfma -mbmi2 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512cd
      -mprefer-vector-width=512)
  foreach(level IN LISTS levels)
    set(object ${target}_dense_${level})
    add_library(${object} OBJECT ${source})
    target_compile_features(${object} PRIVATE cxx_std_20)
    target_compile_definitions(${object} PRIVATE RAREFY_ISA=${level})
    target_compile_options(${object} PRIVATE ${flags_${level}})
    if(NOT RAREFY_SANITIZE)
      target_compile_options(${object} PRIVATE -O3)
    endif()
    target_include_directories(${object} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include
                               ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_link_libraries(${object} PRIVATE Eigen3::Eigen)
    rarefy_options(${object})
    if(RAREFY_SANITIZE MATCHES undefined)
      # Eigen's templates take much longer to compile with those checks.
      target_compile_options(${object} PRIVATE -fno-sanitize=undefined)
    endif()
    if(RAREFY_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # The stack frames that g++ 12 makes to find uses after a return are not aligned for vectors
      # of 64 bytes (its bug 110027).
      target_compile_options(${object} PRIVATE --param asan-use-after-return=0)
    endif()
    # g++ 12 takes the "undefined" start values of its own AVX-512 intrinsics for a mistake.
    target_compile_options(${object} PRIVATE -Wno-maybe-uninitialized)
    if(NOT level STREQUAL baseline)
      # One copy is enough for the tools that read compile_commands.json.
      set_target_properties(${object} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
  if(RAREFY_X86)
    set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/src/kernels/dense.cpp
                 PROPERTY COMPILE_DEFINITIONS RAREFY_HAVE_X86_LEVELS)
  endif()
endfunction()
