# %% [markdown]
# # Gaits of a half cheetah
#
# HalfCheetah is a two-legged runner of [gymnasium](https://gymnasium.farama.org)'s, simulated by MuJoCo. In how many ways can it move?
# Features are the shares of time in which the back and the front foot touch the ground. The objective is the return: speed
# forwards, less what the torques cost. A solution is a linear policy, 6 x 17 numbers. `pip install rarefy[mujoco]` brings what this needs.

# %%
import gymnasium
import matplotlib.pyplot as plt
import mujoco
import numpy as np

import rarefy

# %% from half_cheetah.py: OBSERVATIONS, TORQUES, STEPS, made, cheetah, steps, gait, make_search

# %% [markdown]
# Other processes evaluate. 80 iterations of 100 gaits take some two minutes on two cores.

# %%
search = make_search(seed=1)
search.run(gait, iterations=80, rowwise=True, executor="processes")
search

# %% [markdown]
# Four gaits: the best, one on the back foot, one on the front foot, and one whose feet hardly touch the ground. (What
# else does is not among the features: it may well slide on its back.) A bar says that the foot is down.

# %%
archive = search.archive
gaits = {
    "the best": archive.best(),
    "mostly on the back foot": archive.nearest([0.9, 0.1]),
    "mostly on the front foot": archive.nearest([0.1, 0.9]),
    "feet hardly on the ground": archive.nearest([0.1, 0.1]),
}
figure, axes = plt.subplots(len(gaits), 1, figsize=(9, 5), sharex=True, layout="constrained")
for ax, (name, elite) in zip(axes, gaits.items()):
    contacts = np.array([down for down, _ in steps(elite.solution)])
    ax.imshow(~contacts.T, aspect="auto", cmap="gray", interpolation="nearest", extent=(0, 10, -0.5, 1.5))
    ax.set_yticks([1, 0], ["back foot", "front foot"])
    ax.set_title(f"{name}: return {elite.objective:.0f}", fontsize=10)
axes[-1].set_xlabel("seconds");
