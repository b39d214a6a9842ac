"""Threads, instruction sets and the C library's own choices: the same bits."""

import configurations
from cases import Case, Skip

TITLE = "any number of threads and any choice of the C library gives the same bits"

ITERATIONS = 25
SETS = ("baseline", "avx2", "avx512")
# What the C library may use of a processor. Names that one version does not know do nothing.
TUNABLES = {
    "none": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-FMA4_Usable",
    "no-avx512": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-Prefer_No_VZEROUPPER",
    "sse2": "glibc.cpu.hwcaps=-SSE4_1,-SSE4_2,-SSSE3,-AVX,-AVX2,-FMA,-FMA4,-ERMS,-BMI2",
    "cache": "glibc.cpu.x86_data_cache_size=0x1000:glibc.cpu.x86_shared_cache_size=0x10000",
}


def _has(bench, name):
    folder = bench.root / f"set-{name}"
    return bench.world(name).start("run", *configurations.words("kde-lp", 1), "--instruction-set",
                                   name, "--quiet", "--out", folder).wait().code == 0


def _same(words, expected, threads, tunables):
    def function(world):
        env = {"GLIBC_TUNABLES": TUNABLES[tunables]} if tunables else {}
        folder = world.place / "run"
        world.rarefy("run", *words, "--threads", str(threads), "--quiet", "--out", folder, env=env)
        world.same(folder, expected)
    return function


def _resumed(words, expected, threads, other):
    """Stopped half way by one number of threads, and taken further by another."""
    def function(world):
        folder = world.place / "run"
        half = [*words]
        half[half.index("--iterations") + 1] = str(ITERATIONS // 2)
        world.rarefy("run", *half, "--threads", str(threads), "--quiet", "--out", folder)
        world.rarefy("resume", folder, "--iterations", str(ITERATIONS), "--threads", str(other),
                     "--quiet")
        world.same(folder, expected)
    return function


def _sets_differ(references):
    """The comparison itself: some search must tell the sets apart, or it sees nothing."""
    def function(world):
        if len({name for name, _ in references}) < 2:
            raise Skip("one instruction set alone: whether sets are told apart is not known")
        archives = {}
        for (name, configuration), folder in references.items():
            archives.setdefault(configuration, set()).add((folder / "archive.npz").read_bytes())
        world.check(any(len(all_of) > 1 for all_of in archives.values()),
                    "all instruction sets give the same bytes: the comparison is blind, or the "
                    "option does nothing")
    return function


def cases(bench):
    found, references = [], {}
    sets = [name for name in SETS if _has(bench, name)]
    for name in configurations.names(bench.quick):
        for instructions in sets:
            words = configurations.words(name, ITERATIONS, "--instruction-set", instructions)
            key = (name, "determinism", instructions)
            expected = bench.reference(key, [*words, "--threads", "1"])
            references[instructions, name] = expected
            for threads in (1, 2, 3, 5):
                found.append(Case(f"threads.{name}.{instructions}.{threads}",
                                  _same(words, expected, threads, None)))
            for tunables in TUNABLES:
                found.append(Case(f"library.{name}.{instructions}.{tunables}",
                                  _same(words, expected, 2, tunables)))
            found.append(Case(f"resumed.{name}.{instructions}", _resumed(words, expected, 3, 2)))
    if bench.quick:
        found = found[::9]
    found.append(Case("sets-differ", _sets_differ(references)))
    return found
