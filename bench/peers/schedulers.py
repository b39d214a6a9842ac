"""The algorithms as pyribs' users put them together. The library is an argument: `ribs`, or what stands in for it."""

import numpy as np

from settings import BATCH, BUFFER, EMITTERS, GRID, PARAMETERS, SOLUTION_DIM


class Parts:
    """What a library has for a domain."""

    def __init__(self, ribs, domain, centroids=None, threads=1):
        self.ribs = ribs
        self.domain = domain
        self.centroids = centroids
        self.threads = threads

    def archive(self, seed, **options):
        common = {"solution_dim": SOLUTION_DIM, "ranges": self.domain.ranges, "seed": seed, **options}
        if not self.domain.is_cvt:
            return self.ribs.archives.GridArchive(dims=[GRID] * self.domain.features, **common)
        return self.ribs.archives.CVTArchive(centroids=self.centroids,
                                             kdtree_query_kwargs={"workers": self.threads}, **common)

    def scheduler(self, *parts):
        return self.ribs.schedulers.Scheduler(*parts)


def cma_es_emitters(parts, archive, parameters, ranker, seed):
    return [parts.ribs.emitters.EvolutionStrategyEmitter(
        archive, x0=np.zeros(SOLUTION_DIM), sigma0=parameters["sigma0"], ranker=ranker,
        selection_rule="mu", restart_rule="basic", batch_size=BATCH,
        seed=seed + 1 + i) for i in range(EMITTERS)]


def dds_kde(parts, parameters, seed):
    # The density has no solutions: emitters restart at those of the passive archive.
    passive = parts.archive(seed)
    density = parts.ribs.archives.DensityArchive(measure_dim=parts.domain.features, buffer_size=BUFFER,
                             bandwidth=parameters["bandwidth"], seed=seed)
    return parts.scheduler(density, cma_es_emitters(parts, passive, parameters, "density", seed), passive)


def novelty_search(parts, parameters, seed):
    kept = parts.ribs.archives.ProximityArchive(solution_dim=SOLUTION_DIM, measure_dim=parts.domain.features,
                            k_neighbors=parameters["neighbours"],
                            novelty_threshold=parameters["novelty-threshold"], seed=seed)
    return parts.scheduler(kept, cma_es_emitters(parts, kept, parameters, "nov", seed), parts.archive(seed))


def cma_mae(parts, parameters, seed):
    annealed = parts.archive(seed, learning_rate=parameters["alpha"],
                              threshold_min=parameters["threshold-min"])
    return parts.scheduler(annealed, cma_es_emitters(parts, annealed, parameters, "imp", seed),
                     parts.archive(seed))


def cma_me(parts, parameters, seed):
    archive = parts.archive(seed)
    return parts.scheduler(archive, cma_es_emitters(parts, archive, parameters, "2imp", seed))


def map_elites_line(parts, parameters, seed):
    archive = parts.archive(seed)
    return parts.scheduler(archive, [
        parts.ribs.emitters.IsoLineEmitter(archive, iso_sigma=parameters["iso-sigma"],
                       line_sigma=parameters["line-sigma"], x0=np.zeros(SOLUTION_DIM),
                       batch_size=BATCH, seed=seed + 1 + i) for i in range(EMITTERS)])


SCHEDULERS = {"dds-kde": dds_kde, "ns": novelty_search, "cma-mae": cma_mae, "cma-me": cma_me,
              "map-elites-line": map_elites_line}


def make_scheduler(parts, algorithm, seed):
    return SCHEDULERS[algorithm](parts, PARAMETERS[algorithm][parts.domain.name], seed)
