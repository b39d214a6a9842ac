# What every target of the project is compiled with.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(RAREFY_SANITIZE "" CACHE STRING "Sanitizers, as given to -fsanitize=")

# Compiles several sources of a target as one (RAREFY_UNITE): what they include is parsed once, and
# what they instantiate is compiled once. Names in unnamed namespaces may then hide one another.
# The preset `dev` and `make lint` take each source alone.
function(rarefy_unite target)
  if(RAREFY_UNITE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON ${ARGN})
    # g++ takes a source for a header when another file includes it.
    target_compile_options(${target} PRIVATE -Wno-shadow
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

function(rarefy_options target)
  # No contraction of a*b+c into a fused operation behind our back: random
  # numbers and results must not depend on what a compiler chose to fuse.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(RAREFY_DEVELOPER)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                           -Wno-sign-conversion -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # g++ 12 warns of overlapping copies inside std::string that cannot be (its bug 105651).
      target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
  endif()
  if(RAREFY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${RAREFY_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${RAREFY_SANITIZE})
  endif()
endfunction()
