#include "rarefy/reports/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "parts.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/folder.hpp"

namespace rarefy {
namespace {

std::string safe_name(std::string name) {
  for (char& c : name) {
    const bool safe =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    if (!safe) c = '_';
  }
  return name;
}

template <typename Picture>
void write_both(const Picture& picture, const std::filesystem::path& folder,
                const std::string& name) {
  const auto file = [&](const char* type) { return folder / (safe_name(name) + type); };
  write_file_atomically(file(".png"), pictures::render_png(picture));
  write_file_atomically(file(".svg"), pictures::render_svg(picture));
}

void write_profile(const Results& results, Profile profile, const std::filesystem::path& folder) {
  const auto rows = reports::rows_to_plot(results, profile);
  if (rows.rows.empty()) return;
  (void)Folder::make(folder);
  for (const auto& metric : reports::plotted_metrics()) {
    const std::string name(metric.file);
    if (const auto chart = reports::curves(rows, metric)) write_both(*chart, folder, name);
    for (const auto& domain : rows.domains) {
      if (const auto chart = reports::curves(rows, metric, domain)) {
        write_both(*chart, folder, fmt::format("{}-{}", name, domain));
      }
    }
  }
  for (const auto& ablation : reports::ablations(rows)) {
    write_both(ablation.chart, folder, "ablation-" + ablation.parameter);
  }
  if (const auto panels = reports::heatmap_panels(rows)) write_both(*panels, folder, "heatmaps");
}

}  // namespace

void write_plots(const Results& results, const std::filesystem::path& folder) {
  std::vector<Profile> profiles;
  for (const auto& row : results.rows) {
    if (reports::shown_trials(row).empty()) continue;
    if (std::find(profiles.begin(), profiles.end(), row.profile) == profiles.end()) {
      profiles.push_back(row.profile);
    }
  }
  for (const auto profile : profiles) {
    write_profile(results, profile,
                  profiles.size() == 1 ? folder : folder / std::string(name_of(profile)));
  }
}

}  // namespace rarefy
