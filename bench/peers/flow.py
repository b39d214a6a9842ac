#!/usr/bin/python3
"""The continuous normalizing flow beside the same one in PyTorch, in one run.

    make bench-flow                               builds our side, and runs this on all cores
    bench/peers/flow.py --threads 1               on one
    bench/peers/flow.py --ours PATH               with our side (bench_flow_peer) from elsewhere

Both sides get the same weights (of a network trained here for a while on a mixture of Gaussians),
training batch and queries, all made from a fixed seed, and compute with float32

    a step of training     loss and gradient of flow matching for 256 samples, then Adam
    a query of 540         log-densities of 540 places: RK4 in 10 steps, with the exact divergence

in rounds, by turns. Times are medians of the rounds. Neither side draws random numbers while it is
timed. Of the ways that PyTorch 1.13 has to an exact divergence, each network uses the one that
turns out fastest on this machine; the table names it:

    autograd           one backward pass for each feature
    autograd, batched  all of them as one (is_grads_batched)
    vmap of jvp        forward mode by functorch, all features at once
    by hand            the tangents written out, layer by layer, as our side does it

The script fails (status 1) unless, on the shared weights, both sides' gradients agree to 1e-4 (a
layer's weights or biases relative to the largest of its entries) and their log-densities to 1e-4
(absolute). Both are also compared with PyTorch in double precision, which tells who is to blame.

Needs Debian's python3-torch and libopenblas0-openmp. With the reference BLAS, which Debian installs
with PyTorch where there is no other, PyTorch multiplies matrices some thirty times slower than it
can: the script refuses that, as it would be no comparison, unless --any-blas is given.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from machine import Others

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = [(256, 256, 256), (64, 64)]
FEATURES = [2, 10]
FREQUENCIES = 3
SIGMA_MIN = 1e-4
BATCH = 256
QUERIES = 540
INTEGRATION_STEPS = 10
TRAINING_STEPS = 1000
RATE = 1e-3
TOLERANCE = 1e-4


def arguments():
    parser = argparse.ArgumentParser(
        description="The continuous normalizing flow beside the same one in PyTorch.")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, default=cores, help="of either side (all cores)")
    parser.add_argument("--rounds", type=int, default=5, help="5 unless told otherwise")
    parser.add_argument("--ours", type=pathlib.Path, default=ROOT / "build/bench/bench_flow_peer",
                        help="our side (build/bench/bench_flow_peer)")
    parser.add_argument("--any-blas", action="store_true",
                        help="compare even where PyTorch has only the reference BLAS")
    given = parser.parse_args()
    if given.threads < 1 or given.rounds < 1:
        parser.error("--threads and --rounds: expected whole numbers > 0")
    if not given.ours.is_file():
        parser.error(f"{given.ours}: not there; `make bench-flow` builds it")
    return given


ARGUMENTS = arguments()
# Libraries read these when they are loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(ARGUMENTS.threads)
try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as error:
    sys.exit(f"bench/peers/flow.py: {error}. It compares with PyTorch: "
             "apt-get install python3-torch libopenblas0-openmp, and run it with /usr/bin/python3")
try:
    import functorch
except ImportError:  # not every build has it
    functorch = None


# ---- the network --------------------------------------------------------------------------------

class Velocity(nn.Module):
    """v(x, t), a multilayer perceptron on [x, cos(k pi t), sin(k pi t), k = 1 .. FREQUENCIES]."""

    def __init__(self, features, layers):
        super().__init__()
        widths = [features + 2 * FREQUENCIES, *layers]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.last = nn.Linear(widths[-1], features)
        self.register_buffer("frequencies", math.pi * torch.arange(1, FREQUENCIES + 1))

    def inputs(self, x, t):
        angles = t * self.frequencies
        return torch.cat([x, torch.cos(angles), torch.sin(angles)], dim=1)

    def forward(self, x, t):
        h = self.inputs(x, t)
        for layer in self.hidden:
            h = nn.functional.elu(layer(h))
        return self.last(h)


def flow_matching_loss(net, x1, x0, t):
    """Lipman et al., "Flow matching for generative modeling", ICLR 2023, equations 20 to 23."""
    x = (1 - (1 - SIGMA_MIN) * t) * x0 + t * x1
    return nn.functional.mse_loss(net(x, t), x1 - (1 - SIGMA_MIN) * x0)


# ---- velocity and divergence, in several ways ---------------------------------------------------

def by_autograd(net, x, t):
    features = x.shape[1]
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        v = net(x, t)
        divergence = 0
        for d in range(features):
            (gradient,) = torch.autograd.grad(v[:, d].sum(), x, retain_graph=d + 1 < features)
            divergence = divergence + gradient[:, d]
    return v.detach(), divergence


def unit_vectors(x):
    features = x.shape[1]
    return torch.eye(features, dtype=x.dtype)[:, None, :].expand(features, len(x), features)


def by_batched_autograd(net, x, t):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        v = net(x, t)
        (gradients,) = torch.autograd.grad(v, x, unit_vectors(x), is_grads_batched=True)
    return v.detach(), torch.einsum("dbd->b", gradients)


def by_vmap_of_jvp(net, x, t):
    def push(tangent):
        return functorch.jvp(lambda place: net(place, t), (x,), (tangent,))
    v, tangents = functorch.vmap(push)(unit_vectors(x))
    return v[0], torch.einsum("dbd->b", tangents)


def by_hand(net, x, t):
    features = x.shape[1]
    h = net.inputs(x, t)
    tangents = None
    for layer in net.hidden:
        h = nn.functional.elu(layer(h))
        slopes = h.clamp(max=0).add_(1)  # of ELU: e^z = elu(z) + 1 below 0, and 1 above
        if tangents is None:
            tangents = slopes * layer.weight[:, :features].t()[:, None, :]
        else:
            tangents = (tangents @ layer.weight.t()).mul_(slopes)
    return net.last(h), torch.einsum("dbk,dk->b", tangents, net.last.weight)


DIVERGENCES = {
    "autograd": by_autograd,
    "autograd, batched": by_batched_autograd,
    **({"vmap of jvp": by_vmap_of_jvp} if functorch else {}),
    "by hand": by_hand,
}


@torch.no_grad()
def log_density(net, divergence, y):
    """ln p(y) = ln N(z(0); 0, I) + the integral from t = 1 to 0 of div v, by RK4."""
    def velocity(z, t):
        return divergence(net, z, torch.full((len(z), 1), t, dtype=z.dtype))
    z, total = y, 0
    h = -1.0 / INTEGRATION_STEPS
    for step in range(INTEGRATION_STEPS):
        t = 1.0 + step * h
        v1, d1 = velocity(z, t)
        v2, d2 = velocity(z + h / 2 * v1, t + h / 2)
        v3, d3 = velocity(z + h / 2 * v2, t + h / 2)
        v4, d4 = velocity(z + h * v3, t + h)
        z = z + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        total = total + h / 6 * (d1 + 2 * d2 + 2 * d3 + d4)
    return total - 0.5 * z.square().sum(1) - 0.5 * z.shape[1] * math.log(2 * math.pi)


# ---- what both sides share ----------------------------------------------------------------------

class Mixture:
    """Eight Gaussians in the box from -1 to 1."""

    def __init__(self, features):
        self.centres = 1.4 * torch.rand(8, features) - 0.7

    def sample(self, count):
        which = torch.randint(len(self.centres), (count,))
        return self.centres[which] + 0.1 * torch.randn(count, self.centres.shape[1])


class Case:
    """A trained network, a batch and queries; the same numbers, as arrays, in a folder."""

    def __init__(self, features, layers, folder):
        torch.manual_seed(1)
        self.features, self.layers, self.folder = features, layers, folder
        data = Mixture(features)
        self.net = Velocity(features, layers)
        self.train(data)
        self.batch = (data.sample(BATCH), torch.randn(BATCH, features), torch.rand(BATCH, 1))
        # Where candidates of a search lie: among what was found, and beyond. (Not too far beyond:
        # where the logarithm is -700, its last digits in float32 are worth more than 1e-4.)
        near, beyond = QUERIES // 2, QUERIES - QUERIES // 2
        self.queries = torch.cat(
            [data.sample(near), data.sample(beyond) + 0.2 * torch.randn(beyond, features)])
        self.write()

    def train(self, data):
        optimizer = torch.optim.Adam(self.net.parameters(), RATE)
        for _ in range(TRAINING_STEPS):
            optimizer.zero_grad(set_to_none=True)
            loss = flow_matching_loss(self.net, data.sample(BATCH),
                                      torch.randn(BATCH, self.features), torch.rand(BATCH, 1))
            loss.backward()
            optimizer.step()

    def write(self):
        x1, x0, t = self.batch
        with torch.no_grad():
            weights = torch.cat([p.flatten() for p in self.net.parameters()])
        for name, values in {"weights": weights, "samples": x1, "noise": x0, "times": t.flatten(),
                             "queries": self.queries}.items():
            np.save(self.folder / f"{name}.npy", values.numpy().astype(np.float64))
        np.save(self.folder / "layers.npy", np.array(self.layers, dtype=np.int64))

    def read(self, name):
        return torch.from_numpy(np.load(self.folder / f"{name}.npy").ravel())

    def name(self):
        return f"{','.join(map(str, self.layers))}; {self.features} features"


def copy_of(net, dtype):
    copy = Velocity(net.last.out_features, [layer.out_features for layer in net.hidden]).to(dtype)
    copy.load_state_dict(net.state_dict())
    # pi in the precision asked for.
    copy.frequencies = math.pi * torch.arange(1, FREQUENCIES + 1, dtype=dtype)
    return copy


# ---- times --------------------------------------------------------------------------------------

def milliseconds(work, least=0.3):
    """A call, over as many as make up a while, after one that nobody times."""
    work()
    calls, began = 0, time.perf_counter()
    while True:
        work()
        calls += 1
        passed = time.perf_counter() - began
        if passed >= least:
            return 1e3 * passed / calls


def time_ours(case):
    done = subprocess.run([ARGUMENTS.ours, case.folder, str(ARGUMENTS.threads)],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench/peers/flow.py: {ARGUMENTS.ours} failed with status {done.returncode}")
    return [float(word) for word in done.stdout.split()]


def time_torch(case, divergence):
    net = copy_of(case.net, torch.float32)
    optimizer = torch.optim.Adam(net.parameters(), RATE)

    def step():
        optimizer.zero_grad(set_to_none=True)
        flow_matching_loss(net, *case.batch).backward()
        optimizer.step()

    return [milliseconds(step),
            milliseconds(lambda: log_density(case.net, divergence, case.queries))]


def fastest_divergence(case):
    def cost(way):
        t = torch.full((QUERIES, 1), 0.5)
        with torch.no_grad():
            return min(milliseconds(lambda: way(case.net, case.queries, t), 0.05)
                       for _ in range(3))
    costs = {name: cost(way) for name, way in DIVERGENCES.items()}
    return min(costs, key=costs.get), costs


# ---- agreement ----------------------------------------------------------------------------------

def torch_gradient(net, batch):
    loss = flow_matching_loss(net, *batch)
    return loss.item(), [g.double() for g in torch.autograd.grad(loss, list(net.parameters()))]


def largest(values):
    return torch.tensor(list(values)).max().item()  # NaN if one is, which Python's own may hide


def gradient_difference(one, other):
    """The largest of any entry, relative to the largest entry of its layer's weights or biases."""
    return largest((a - b).abs().max() / b.abs().max() for a, b in zip(one, other))


def agreement(case, divergence):
    """For gradients (with the loss) and for log-densities: ours to PyTorch's, ours to PyTorch's in
    double precision, PyTorch's to that; and the log-densities in double precision."""
    double = copy_of(case.net, torch.float64)
    batch = [values.double() for values in case.batch]
    exact_loss, exact_gradient = torch_gradient(double, batch)
    torch_loss, theirs = torch_gradient(case.net, case.batch)
    ours = [part.view_as(p) for part, p in
            zip(case.read("gradient").split([p.numel() for p in case.net.parameters()]),
                case.net.parameters())]
    our_loss = case.read("loss").item()
    gradients = tuple(largest([gradient_difference(a, b), abs(a_loss - b_loss) / b_loss])
                      for a, b, a_loss, b_loss in
                      [(ours, theirs, our_loss, torch_loss),
                       (ours, exact_gradient, our_loss, exact_loss),
                       (theirs, exact_gradient, torch_loss, exact_loss)])
    exact = log_density(double, by_autograd, case.queries.double())
    torch_logs = log_density(case.net, divergence, case.queries).double()
    our_logs = case.read("log_density")
    logs = tuple((a - b).abs().max().item() for a, b in
                 [(our_logs, torch_logs), (our_logs, exact), (torch_logs, exact)])
    return gradients, logs, exact


# ---- which BLAS ---------------------------------------------------------------------------------

def blas_in_use():
    """The name of a library that is known to be fast, or None."""
    if torch.backends.mkl.is_available():
        return "MKL"
    loaded = {os.path.realpath(line.split()[-1]) for line in open("/proc/self/maps")
              if "blas" in line or "blis" in line}
    for path in sorted(loaded):
        if any(name in path for name in ("openblas", "blis", "atlas")):
            return path
    return None


def check_blas():
    a = torch.ones(1024, 1024)
    product = min(milliseconds(lambda: a @ a, 0.1) for _ in range(5))
    blas = blas_in_use()
    print(f"PyTorch {torch.__version__}, {ARGUMENTS.threads} thread(s), products by "
          f"{blas or 'the reference BLAS'}: {2 * 1024**3 / product / 1e6:.0f} GFLOP/s "
          "(1024 x 1024)")
    if blas is None and not ARGUMENTS.any_blas:
        sys.exit("bench/peers/flow.py: PyTorch multiplies matrices by the reference BLAS, the "
                 "slowest there is:\napt-get install libopenblas0-openmp, or accept it "
                 "with --any-blas")


# ---- the comparison -----------------------------------------------------------------------------

def main():
    torch.set_num_threads(ARGUMENTS.threads)
    check_blas()
    print(f"training steps of {BATCH} samples, log-densities of {QUERIES} queries "
          f"({INTEGRATION_STEPS} steps of RK4); medians of {ARGUMENTS.rounds} rounds\n")
    with tempfile.TemporaryDirectory() as scratch:
        cases, ways = [], {}
        for layers in NETWORKS:
            for features in FEATURES:
                folder = pathlib.Path(scratch) / f"case{len(cases)}"
                folder.mkdir()
                case = Case(features, layers, folder)
                cases.append(case)
                ways[case], costs = fastest_divergence(case)
                print(f"{case.name()}: PyTorch's divergence, ms: " +
                      ", ".join(f"{name} {cost:.2f}" for name, cost in costs.items()), flush=True)
        times = {case: ([], []) for case in cases}
        # PyTorch's threads wait for one another actively: on a busy machine they lose far more
        # than their share, and ratios mean nothing.
        others = Others()
        for _ in range(ARGUMENTS.rounds):
            for case in cases:
                times[case][0].append(time_ours(case))
                times[case][1].append(time_torch(case, DIVERGENCES[ways[case]]))
        print_times(cases, times, ways)
        print(others.warning())
        return 0 if print_agreement(cases, ways) else 1


def print_times(cases, times, ways):
    print(f"\n{'':<25}|{'ms a training step':^25}|{'ms a query of 540':^25}|")
    header = f"{'ours':>7} {'PyTorch':>9} {'ratio':>7}"
    print(f"{'network':<25}|{header}|{header}| PyTorch's divergence")
    for case in cases:
        ours, theirs = ([statistics.median(round_[kind] for round_ in side) for kind in (0, 1)]
                        for side in times[case])
        cells = [f"{a:7.3f} {b:9.3f} {b / a:6.2f}x" for a, b in zip(ours, theirs)]
        print(f"{case.name():<25}|{cells[0]}|{cells[1]}| {ways[case]}")


def print_agreement(cases, ways):
    print(f"{'largest difference':<25}|{'gradient, relative':^31}|{'log-density, absolute':^31}|")
    print(f"{'':<25}|" + 2 * f"{'ours to':>9} {'ours to':>10} {'PyTorch to':>10}|")
    print(f"{'network':<25}|" + 2 * f"{'PyTorch':>9} {'double':>10} {'double':>10}|")
    passed = True
    for case in cases:
        gradients, logs, exact = agreement(case, DIVERGENCES[ways[case]])
        # A comparison with NaN is false: what cannot be compared fails.
        good = gradients[0] <= TOLERANCE and logs[0] <= TOLERANCE
        passed = passed and good
        cells = [f"{a:9.1e} {b:10.1e} {c:10.1e}" for a, b, c in (gradients, logs)]
        print(f"{case.name():<25}|{cells[0]}|{cells[1]}| {'pass' if good else 'FAIL'}; "
              f"log-densities {exact.min():.1f} to {exact.max():.1f}")
    print(f"\n{'PASS' if passed else 'FAIL'}: gradients and log-densities "
          f"{'agree' if passed else 'do not agree'} to {TOLERANCE:g}")
    return passed


if __name__ == "__main__":
    sys.exit(main())
