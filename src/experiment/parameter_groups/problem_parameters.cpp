// Parameters of the problem, and of the cells that count what is found.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "experiment/parameter_groups/parameter_groups.hpp"
#include "rarefy/experiment/domain_table.hpp"

namespace rarefy {

using std::vector;

namespace {

// Of all domains, each once.
vector<std::string_view> all_objectives() {
  vector<std::string_view> names;
  for (const auto& row : domain_rows()) {
    for (const auto name : row.objectives) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// Each with the domains that have it.
std::string_view objective_meaning() {
  static const std::string meaning = [] {
    std::string text = "what is maximised besides diversity: constant";
    for (const auto objective : all_objectives()) {
      if (objective == "constant") continue;
      vector<std::string_view> domains;
      for (const auto& row : domain_rows()) {
        const auto& its = row.objectives;
        if (std::find(its.begin(), its.end(), objective) != its.end()) domains.push_back(row.name);
      }
      text += fmt::format("; {} ({})", objective, fmt::join(domains, ", "));
    }
    return text;
  }();
  return meaning;
}

}  // namespace

vector<ParameterBuilder> domain_parameters() {
  const auto in = [](auto member) { return at(&Config::problem, member); };
  return {
      integer("n", in(&ProblemOptions::n), "values in a solution").range(1, 1e6),
      integer("m", in(&ProblemOptions::m), "features (linear projections)")
          .range(1, 1e4)
          .when(domain_reads("m")),
      text("objective", in(&ProblemOptions::objective), objective_meaning())
          .one_of(all_objectives()),
      choice("maze", in(&ProblemOptions::maze), "the map (maze)")
          .when(domain_reads("maze"))
          .when(map_is_not_replaced()),
      parsed(
          "walls", in(&ProblemOptions::walls), parse_walls,
          [](const vector<Wall>& walls) { return text_of(walls); },
          "walls instead of the map's, in the unit square: x1,y1,x2,y2; x1,... (maze)")
          .or_list()
          .when(domain_reads("walls")),
      parsed("start", in(&ProblemOptions::start), MazeStart::parse, &MazeStart::text,
             "where the robot starts: x,y,heading (maze)")
          .or_list()
          .when(domain_reads("start")),
      number("no-wall-reading", in(&ProblemOptions::no_wall_reading),
             "what a laser reads that meets no wall (maze)")
          .range(-1e6, 1e6)
          .when(domain_reads("no-wall-reading")),
  };
}

vector<ParameterBuilder> archive_parameters() {
  const auto in = [](auto... members) { return at(&Config::archive, members...); };
  const auto cvt = [&](auto member) { return in(&CellOptions::cvt, member); };
  const auto voronoi = cells_are_voronoi();
  const auto made = centroids_are_made();
  return {
      choice("archive", in(&CellOptions::kind), "auto: grid up to 2 features, cvt beyond"),
      integer("grid", in(&CellOptions::intervals), "intervals along each feature (grid)")
          .range(1, kMany)
          .when(cells_are_a_grid()),
      integer("cells", cvt(&CvtOptions::cells), "number of cells (cvt)")
          .range(1, kMany)
          .when(voronoi)
          .when(made),
      integer("cvt-samples", cvt(&CvtOptions::samples), "points on which centroids are made")
          .range(1, kMany)
          .when(voronoi)
          .when(made),
      integer("cvt-seed", cvt(&CvtOptions::seed), "random numbers of the centroids")
          .range(0, 9e18)
          .when(voronoi)
          .when(made),
      integer("cvt-iterations", cvt(&CvtOptions::iterations), "of Lloyd's algorithm, at most")
          .range(1, kMany)
          .when(voronoi)
          .when(made),
      number("cvt-tolerance", cvt(&CvtOptions::tolerance),
             "it ends when centroids shift by less, relative to the variance of a feature")
          .range(0, kAny)
          .when(voronoi)
          .when(made),
      text("centroids", in(&CellOptions::centroids),
           "a .npy file of centroids to use instead of making them")
          .when(cells_may_be_voronoi()),
  };
}

}  // namespace rarefy
