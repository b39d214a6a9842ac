# %% [markdown]
# # A script for pyribs, moved over
#
# The import is all that changes: `rarefy.ribs` has the archives, emitters, rankers and the scheduler of pyribs 0.12 by its own
# means, and hands other names over to an installed pyribs.

# %%
import matplotlib.pyplot as plt
import numpy as np

import rarefy.ribs as ribs  # import ribs

# %% from from_pyribs.py: SOLUTION_DIM, BOUND, sphere

# %%
archive = ribs.archives.GridArchive(
    solution_dim=SOLUTION_DIM, dims=(50, 50), ranges=[(-BOUND, BOUND), (-BOUND, BOUND)], seed=1
)
emitters = [
    ribs.emitters.EvolutionStrategyEmitter(
        archive, x0=np.zeros(SOLUTION_DIM), sigma0=0.5, ranker="2imp", batch_size=36, seed=i
    )
    for i in range(5)
]
scheduler = ribs.schedulers.Scheduler(archive, emitters)
for _ in range(300):
    objectives, measures = sphere(scheduler.ask())
    scheduler.tell(objectives, measures)
print(f"coverage {100 * archive.stats.coverage:.1f} %, QD score {archive.stats.qd_score:,.0f}")

# %%
archive.data(return_type="pandas").iloc[:5, :6].round(2)

# %%
values = np.full(archive.cells, np.nan)
values[archive.data("index")] = archive.data("objective")
plt.imshow(values.reshape(archive.dims).T, origin="lower", extent=(-BOUND, BOUND, -BOUND, BOUND))
plt.colorbar(label="objective")
plt.title("CMA-ME on the sphere function");
