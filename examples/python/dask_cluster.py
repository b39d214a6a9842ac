"""Evaluations on a Dask cluster: here two workers on this machine, elsewhere as many as you have.

Any `concurrent.futures.Executor` will do, and Dask's client has one. The function travels to every
worker once, then solutions go out in pieces. Which worker evaluates what makes no difference to the
result: the script runs the same search without Dask, and compares.
"""

import argparse

import numpy as np

import rarefy

try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    raise SystemExit("this example needs Dask: pip install 'dask[distributed]'") from None


def throw(solution):
    """One throw of a ball, step by step: how far and how high does it fly?"""
    speed, angle = 10 + 10 * np.tanh(solution[0]), np.pi / 2 * (1 + np.tanh(solution[1]))
    x, y, vx, vy, highest = 0.0, 0.0, speed * np.cos(angle), speed * np.sin(angle), 0.0
    while y >= 0:
        vx, vy = 0.999 * vx, 0.999 * vy - 9.81 * 0.01  # the air slows it down
        x, y = x + vx * 0.01, y + vy * 0.01
        highest = max(highest, y)
    return x, highest


def search_with(executor, iterations, seed):
    search = rarefy.DensityDescent(
        solution_dim=2, feature_box=[(-40, 40), (0, 20)], emitters=4, batch=25, grid=40, seed=seed
    )
    search.run(throw, iterations, rowwise=True, executor=executor)
    return search


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()

    with LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            there = search_with(client.get_executor(), options.iterations, options.seed)
    print(there)
    here = search_with(None, options.iterations, options.seed)
    print("the same as without Dask:", np.array_equal(here.archive.solutions, there.archive.solutions))


if __name__ == "__main__":  # Dask's workers import this file
    main()
