# efivarium_module(NAME SOURCES ... [DEPENDS ...] [LIBRARIES ...] [TESTS ...])
# One folder of src/, one namespace, one static library efivarium::NAME. TESTS become one
# executable NAME_test, every test of which CTest knows by name, with the label unit, or, with
# THREADS, unit-threads: those run under the thread sanitizer too.
function(efivarium_module name)
  cmake_parse_arguments(arg "THREADS" "" "SOURCES;DEPENDS;LIBRARIES;TESTS" ${ARGN})
  add_library(efivarium_${name} STATIC ${arg_SOURCES})
  add_library(efivarium::${name} ALIAS efivarium_${name})
  target_include_directories(efivarium_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                      ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM arg_DEPENDS PREPEND efivarium::)
  target_link_libraries(efivarium_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_LIBRARIES})
  if(EFIVARIUM_TESTS AND arg_TESTS)
    set(label unit)
    if(arg_THREADS)
      set(label unit-threads)
    endif()
    efivarium_test(${name}_test LABEL ${label} SOURCES ${arg_TESTS} DEPENDS ${name})
  endif()
endfunction()

# efivarium_test(NAME LABEL ... SOURCES ... [DEPENDS ...] [LIBRARIES ...])
function(efivarium_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_DEPENDS PREPEND efivarium::)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} ${arg_LIBRARIES} GTest::gmock_main)
  gtest_discover_tests(${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT 300)
endfunction()
