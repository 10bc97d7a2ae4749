# Writes the source file OUT, which defines assets() with the files of the list IN ("a;b;c"). Run as: cmake
# -DIN=... -DOUT=... -P embed.cmake
set(text "#include \"tools/web/assets.h\"\n\n#include <array>\n\nnamespace pbs::web {\nnamespace {\n\n")
set(rows "")
set(count 0)
foreach(file ${IN})
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" size)
  math(EXPR size "${size} / 2")
  # Append a NUL: compilers warn about an array without elements.
  string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}00")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND text "constexpr char kFile${count}[] = {\n${bytes}};\n")
  string(APPEND rows "    Asset{\"${name}\", {kFile${count}, ${size}}},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "\nconstexpr std::array kAssets = {\n${rows}};\n\n}  // namespace\n\n"
       "std::span<const Asset> assets() {\n    return kAssets;\n}\n\n}  // namespace pbs::web\n")
file(WRITE ${OUT} "${text}")
