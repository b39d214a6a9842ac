# Installs the build into a new folder, then configures, builds and runs the
# consumer beside this file against it.
#
#   cmake -D build=DIR -D configuration=NAME -D compiler=PATH -D generator=NAME -D with_mpi=BOOL -P run.cmake
set(scratch ${build}/install_test)
set(prefix ${scratch}/prefix)
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${build} --config ${configuration} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${scratch}/consumer -G ${generator}
    -D CMAKE_BUILD_TYPE=${configuration} -D CMAKE_CXX_COMPILER=${compiler}
    -D with_mpi=${with_mpi} -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${scratch}/consumer --config ${configuration})
run(${scratch}/consumer/consumer)
run(${scratch}/consumer/consumer_of_everything)
if(with_mpi)
  run(${CMAKE_COMMAND} -E env OMPI_MCA_btl_tcp_if_include=lo ${scratch}/consumer/consumer_of_mpi)
endif()
if(EXISTS ${build}/rarefy)
  run(${prefix}/bin/rarefy --version)
endif()

# The copy must stand alone: nothing in it may point back to where it was built.
file(GLOB_RECURSE package_files ${prefix}/*.cmake)
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  string(REPLACE "${prefix}" "" text "${text}")
  string(FIND "${text}" "${build}" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${file} names the build folder ${build}")
  endif()
endforeach()
file(REMOVE_RECURSE ${scratch})
