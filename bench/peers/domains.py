"""The domains of the comparisons with pyribs, in NumPy."""

import numpy as np

from settings import SOLUTION_DIM


def linear_projection(features):
    def evaluate(solutions):
        outside = np.abs(solutions) > 5.12
        clipped = np.where(outside, 5.12 / np.where(outside, solutions, 1.0), solutions)
        return clipped.reshape(len(solutions), features, -1).sum(axis=2)
    return evaluate


def arm(solutions):
    angles = np.cumsum(solutions, axis=1)
    return np.stack([np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)], axis=1)


class Domain:
    def __init__(self, name):
        self.name = name
        self.features = 10 if name == "multi-lp" else 2
        self.evaluate = arm if name == "arm" else linear_projection(self.features)
        half = SOLUTION_DIM if name == "arm" else 5.12 * SOLUTION_DIM / self.features
        self.ranges = [(-half, half)] * self.features
        self.is_cvt = self.features > 2
