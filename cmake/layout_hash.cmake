# Hashes the files that say what compiler and runtime agree on, so that an image of another layout is
# recognised. Run by the build: cmake -DOUTPUT=FILE -DFILES=a;b -P layout_hash.cmake
set(text "")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} sum)
  get_filename_component(name ${file} NAME)
  string(APPEND text "${name} ${sum}\n")
endforeach()
string(SHA256 sum "${text}")
string(SUBSTRING ${sum} 0 16 low)
string(SUBSTRING ${sum} 16 16 high)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define HOIST_LAYOUT_HASH 0x${low}, 0x${high}\n")
