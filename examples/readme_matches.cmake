# The C++ example in README.md must be examples/quickstart.cpp, word for word.
file(READ ${SOURCE_DIR}/README.md readme)
file(READ ${SOURCE_DIR}/examples/quickstart.cpp example)
string(FIND "${readme}" "```cpp\n${example}```" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md has no ```cpp block that equals examples/quickstart.cpp")
endif()
