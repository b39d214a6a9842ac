"""Parts of rarefy.ribs and of pyribs, each by itself: medians of times in microseconds.

    python bench/peers/ribs_parts.py [--repeats N] [PART...]

Batches of 540 solutions of 100 numbers with 2 measures, a grid of 100 x 100. The two libraries take turns of ten
repeats, so that what else the machine does meets both. Both packages must be installed; --ours leaves pyribs out.
Densities and novelties are those of as many batches as there are repeats: the buffer and the archive grow meanwhile.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ROWS, DIM, EMITTERS = 540, 100, 15
TURN = 10  # times in a row
Step = Callable[[], Any]


def grid(ribs: Any) -> Any:
    return ribs.archives.GridArchive(solution_dim=DIM, dims=[100, 100], ranges=[(-5.12, 5.12)] * 2, seed=1)


@functools.cache
def made(scale: float) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(1)
    several = [rng.normal(size=(ROWS, DIM)) for _ in range(100)]
    return [(solutions, -np.sum(solutions**2, axis=1), scale * solutions[:, :2]) for solutions in several]


def batches(scale: float = 1.0) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Made beforehand, so that making them is not measured."""
    return itertools.cycle(made(scale))


def add_filling(ribs: Any) -> Step:
    archive, data = grid(ribs), batches(2.0)
    return lambda: archive.add(*next(data))


def add_nothing(ribs: Any) -> Step:
    archive = grid(ribs)
    solutions, objective, measures = next(batches())
    archive.add(solutions, objective, measures)
    return lambda: archive.add(solutions, objective - 1, measures)


def filled(ribs: Any) -> Any:
    archive, data = grid(ribs), batches(2.0)
    for _ in range(50):
        archive.add(*next(data))
    return archive


def retrieve(ribs: Any) -> Step:
    archive, measures = filled(ribs), next(batches())[2]
    return lambda: archive.retrieve(measures)


def sample_elites(ribs: Any) -> Step:
    archive = filled(ribs)
    return lambda: archive.sample_elites(ROWS)


def read_all(ribs: Any) -> Step:
    archive = filled(ribs)
    return lambda: archive.data()


def density_add(ribs: Any) -> Step:
    archive, data = ribs.archives.DensityArchive(measure_dim=2, bandwidth=0.5, seed=1), batches()
    return lambda: archive.add(None, None, next(data)[2])


def novelty_add(ribs: Any) -> Step:
    archive = ribs.archives.ProximityArchive(
        solution_dim=DIM, measure_dim=2, k_neighbors=15, novelty_threshold=0.1, seed=1
    )
    data = batches(2.0)
    return lambda: archive.add(*next(data))


def emitters(es: str, rule: str, ranker: str = "2imp", **more: Any) -> Callable[[Any], Step]:
    """An iteration: ask, evaluate, tell."""

    def make(ribs: Any) -> Step:
        archive = grid(ribs)
        scheduler = ribs.schedulers.Scheduler(
            archive,
            [
                ribs.emitters.EvolutionStrategyEmitter(
                    archive, x0=np.zeros(DIM), sigma0=0.5, ranker=ranker, es=es, selection_rule=rule,
                    restart_rule="basic", batch_size=ROWS // EMITTERS, seed=i, **more,
                )  # fmt: skip
                for i in range(EMITTERS)
            ],
        )

        def step() -> None:
            solutions = scheduler.ask()
            scheduler.tell(-np.sum(solutions**2, axis=1), np.clip(solutions[:, :2], -5.12, 5.12))

        return step

    return make


PARTS: dict[str, Callable[[Any], Step]] = {
    "add-filling": add_filling,
    "add-nothing": add_nothing,
    "retrieve": retrieve,
    "sample-elites": sample_elites,
    "data": read_all,
    "density-add": density_add,
    "novelty-add": novelty_add,
    "cma-es-mu": emitters("cma_es", "mu"),
    "cma-es-filter": emitters("cma_es", "filter"),
    "cma-es-bounds": emitters("cma_es", "filter", bounds=[(-50.0, 50.0)] * DIM),
    "sep-cma-es-filter": emitters("sep_cma_es", "filter"),
    "lm-ma-es-filter": emitters("lm_ma_es", "filter"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--ours", action="store_true", help="leave pyribs out")
    chosen = parser.parse_args()
    import rarefy.ribs

    libraries = {"rarefy.ribs": rarefy.ribs}
    if not chosen.ours:
        import ribs

        libraries["pyribs"] = ribs
    print(f"{'':20}" + "".join(f"{name:>14}" for name in libraries))
    for name in chosen.parts or PARTS:
        steps = {library: PARTS[name](module) for library, module in libraries.items()}
        times: dict[str, list[float]] = {library: [] for library in libraries}
        for turn in range(1 + chosen.repeats // TURN):
            for library, step in steps.items():
                for repeat in range(TURN + 1):
                    begin = time.perf_counter()
                    step()
                    # Not the first turn, in which compilers run, nor the first of a turn, which finds the caches of
                    # the other library.
                    if turn > 0 and repeat > 0:
                        times[library].append(time.perf_counter() - begin)
        print(f"{name:20}" + "".join(f"{1e6 * statistics.median(times[one]):14,.0f}" for one in libraries), flush=True)


if __name__ == "__main__":
    main()
