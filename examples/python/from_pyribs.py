"""A script for pyribs, moved over: only the import has changed.

    import ribs                      # as it was
    import rarefy.ribs as ribs       # as it is

It is CMA-ME on the sphere function with a linear projection for measures, as in pyribs' own examples.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import rarefy.ribs as ribs

SOLUTION_DIM = 20
BOUND = SOLUTION_DIM / 2 * 5.12  # the greatest measure


def sphere(solutions):
    """Objectives, 100 where all values are 2.048; measures, the sums of both halves of the values.

    Values beyond 5.12 count less and less in a measure (M. C. Fontaine and others, GECCO 2020).
    """
    worst = SOLUTION_DIM * (5.12 + 2.048) ** 2
    objectives = 100 * (1 - ((solutions - 2.048) ** 2).sum(axis=1) / worst)
    counted = np.where(np.abs(solutions) <= 5.12, solutions, 5.12 / solutions)
    half = SOLUTION_DIM // 2
    return objectives, np.stack([counted[:, :half].sum(axis=1), counted[:, half:].sum(axis=1)], axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="from_pyribs.png", help="the picture")
    options = parser.parse_args()

    archive = ribs.archives.GridArchive(
        solution_dim=SOLUTION_DIM, dims=(50, 50), ranges=[(-BOUND, BOUND), (-BOUND, BOUND)], seed=options.seed
    )
    emitters = [
        ribs.emitters.EvolutionStrategyEmitter(
            archive, x0=np.zeros(SOLUTION_DIM), sigma0=0.5, ranker="2imp", batch_size=36, seed=options.seed + i
        )
        for i in range(5)
    ]
    scheduler = ribs.schedulers.Scheduler(archive, emitters)
    for _ in range(options.iterations):
        objectives, measures = sphere(scheduler.ask())
        scheduler.tell(objectives, measures)

    stats = archive.stats
    print(f"{type(archive).__module__.split('.')[0]}: coverage {100 * stats.coverage:.1f} %, "
          f"QD score {stats.qd_score:,.0f}, best {stats.obj_max:.2f}")  # fmt: skip

    values = np.full(archive.cells, np.nan)
    found = archive.data(["index", "objective"])
    values[found["index"]] = found["objective"]
    figure, ax = plt.subplots(layout="constrained")
    image = ax.imshow(values.reshape(archive.dims).T, origin="lower", extent=(-BOUND, BOUND, -BOUND, BOUND))
    figure.colorbar(image, label="objective")
    ax.set(xlabel="measure 0", ylabel="measure 1", title="CMA-ME on the sphere function")
    figure.savefig(options.out)


if __name__ == "__main__":
    main()
