# The C++ in README.md must be that of the examples, word for word: the whole of quickstart.cpp, and
# the middle of lander.cpp without its indentation.
file(READ ${SOURCE_DIR}/README.md readme)
file(READ ${SOURCE_DIR}/examples/quickstart.cpp example)
string(FIND "${readme}" "```cpp\n${example}```" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md has no ```cpp block that equals examples/quickstart.cpp")
endif()

file(READ ${SOURCE_DIR}/examples/lander.cpp lander)
string(FIND "${lander}" "  rarefy::DomainInfo info;" first)
string(FIND "${lander}" "\n  return end ==" last)
math(EXPR length "${last} - ${first}")
string(SUBSTRING "${lander}" ${first} ${length} middle)
string(REPLACE "\n  " "\n" middle "\n${middle}")
string(FIND "${readme}" "```cpp${middle}\n```" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md has no ```cpp block that equals the middle of examples/lander.cpp")
endif()
