"""Many different throws of a ball: how far and how high can it fly?"""

import numpy as np

import rarefy


def throw(solutions):
    speed = 10 + 10 * np.tanh(solutions[:, 0])  # 0 to 20 metres a second
    angle = np.pi / 2 * (1 + np.tanh(solutions[:, 1]))  # 0 to 180 degrees
    across = speed**2 * np.sin(2 * angle) / 9.81
    up = (speed * np.sin(angle)) ** 2 / 19.62
    return np.stack([across, up], axis=1)


if __name__ == "__main__":
    search = rarefy.DensityDescent(
        solution_dim=2, feature_box=[(-40, 40), (0, 20)], feature_names=["metres across", "metres up"], seed=1
    )
    search.run(throw, iterations=300)
    print(search)
    print(search.archive.nearest([20, 5]))
    rarefy.plot.heatmap(search).figure.savefig("throws.png")
