# %% [markdown]
# # An Optuna sampler that looks for many different trials
#
# [Optuna](https://optuna.org) looks for one best trial. This sampler proposes what a search of rarefy asks for: the objective function tells the
# *features* of its trial, and every cell of feature space keeps its best one.

# %%
import threading
import warnings
from collections import deque

import numpy as np

import rarefy

warnings.filterwarnings("ignore", "IProgress")  # Optuna's progress bars would like ipywidgets
import optuna

optuna.logging.set_verbosity(optuna.logging.WARNING)

# %% from optuna_sampler.py: RANGE, RarefySampler, scaled

# %% [markdown]
# The lightest steel cans of any size and shape. Walls that are too thin buckle, and such trials are pruned.

# %% from optuna_sampler.py: SPACE, can

# %%
sampler = RarefySampler(
    SPACE,
    algorithm=rarefy.CmaMae,
    feature_box=[(0, 5), (0, 4)],
    feature_names=["litres", "height / width"],
    objective_range=(-20_000, 0),
    title="The lightest cans",
    emitters=4,
    batch=10,
    grid=20,
    seed=1,
)
study = optuna.create_study(sampler=sampler, direction="minimize")
study.optimize(can, n_trials=2000)
print(f"{len(study.trials):,} trials, of which {sampler.search.failed} were pruned; {len(sampler.search.archive)} different cans")
ax = rarefy.plot.heatmap(sampler.search.archive)

# %% [markdown]
# The can nearest to 1 litre that is 1.5 times as high as wide, in centimetres:

# %%
elite = sampler.search.archive.nearest([1, 1.5])
{name: round(value, 3) for name, value in sampler.parameters(elite.solution).items()}
