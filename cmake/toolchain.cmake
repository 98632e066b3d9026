# The language, the warnings, the sanitizers and the libraries; all of Debian 12.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow
                    $<$<COMPILE_LANGUAGE:CXX>:-Wconversion$<SEMICOLON>-Wnon-virtual-dtor>)
if(EFIVARIUM_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O2 it misreads std::string's operator+ (GCC bug 105651) and std::vector's insert().
  add_compile_options(-Wno-restrict $<$<CONFIG:Release>:-Wno-array-bounds>
                      $<$<CONFIG:Release>:-Wno-stringop-overflow>)
endif()
add_compile_definitions(_GNU_SOURCE)

if(EFIVARIUM_SANITIZE)
  add_compile_options(-fsanitize=${EFIVARIUM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EFIVARIUM_SANITIZE})
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# A command that lists a store and is gone should not spend its time on loading libraries: all but
# the C library are linked in. Not under sanitizers, which know the shared ones.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT EFIVARIUM_SANITIZE)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
  set(ZLIB_USE_STATIC_LIBS ON)
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--gc-sections)
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(FUSE3 REQUIRED IMPORTED_TARGET fuse3>=3.14)
pkg_check_modules(LIBMD REQUIRED IMPORTED_TARGET libmd)
pkg_check_modules(URCU REQUIRED IMPORTED_TARGET liburcu-memb liburcu-cds)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
