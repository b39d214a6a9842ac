"""Quality diversity: an arm that reaches every place, each with joints that bend as evenly as they can.

Every cell keeps the best solution found for it. Density descent looks for new places only, and takes
the objective as it comes; CMA-MAE, CMA-ME and MAP-Elites look for better ones as well. The QD score
adds up the objectives of all cells, so it counts both.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import rarefy

JOINTS = 10


def reach(joints):
    """Where the hand is, and how evenly the joints bend: 1 where all angles are the same, else less."""
    directions = np.cumsum(joints, axis=1)
    hand = np.stack([np.cos(directions).sum(axis=1), np.sin(directions).sum(axis=1)], axis=1)
    return hand, np.exp(-joints.var(axis=1))


def compare(algorithms, iterations, seed):
    """A search for each algorithm, after so many iterations."""
    searches = {}
    for algorithm in algorithms:
        search = algorithm(
            solution_dim=JOINTS,
            feature_box=[(-JOINTS, JOINTS), (-JOINTS, JOINTS)],
            feature_names=["x", "y"],
            objective_range=(0, 1),
            seed=seed,
        )
        search.run(reach, iterations)
        searches[algorithm.__name__] = search
    return searches


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="objective.png", help="the picture")
    options = parser.parse_args()

    algorithms = [rarefy.DensityDescent, rarefy.CmaMae, rarefy.CmaMe, rarefy.MapElites]
    searches = compare(algorithms, options.iterations, options.seed)
    print("algorithm        coverage  QD score  mean objective")
    for name, search in searches.items():
        found = search.metrics()
        print(f"{name:16} {100 * found['coverage']:6.1f} %  {found['qd_score']:8,.0f}  {found['mean_objective']:14.3f}")

    figure, axes = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
    for ax, name in zip(axes, ["DensityDescent", "CmaMae"]):
        rarefy.plot.heatmap(searches[name], ax, vmin=0, vmax=1, title=name)
    figure.savefig(options.out)


if __name__ == "__main__":
    main()
