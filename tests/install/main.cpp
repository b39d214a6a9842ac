#include <rarefy/core/batch.hpp>
#include <rarefy/core/error.hpp>
#include <rarefy/core/state.hpp>
#include <rarefy/core/version.hpp>
#include <string_view>

#ifdef EIGEN_WORLD_VERSION
#error "a public header includes Eigen"
#endif

int main() {
  if (std::string_view(rarefy::kVersion).empty()) return 1;

  rarefy::Batch batch(2, 3);
  for (double& value : batch.values()) value = 0.5;
  rarefy::StateWriter writer;
  writer.reals("values", batch.values());

  rarefy::Batch copy(2, 3);
  rarefy::StateReader reader(writer.bytes());
  reader.reals("values", copy.values());
  if (copy(1, 2) != 0.5) return 2;

  try {
    reader.integer("more");
  } catch (const rarefy::Error& error) {
    return error.kind() == rarefy::ErrorKind::corrupt ? 0 : 3;
  }
  return 4;
}
