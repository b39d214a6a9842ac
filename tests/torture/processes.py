"""Starts the command, waits for it, and says what became of it."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import time
import unicodedata
from dataclasses import dataclass

# Only there to end what hangs: no outcome may depend on how busy a machine is.
LONGEST = 600
MOST_CPU_SECONDS = 400

# A process that ends by one of these has crashed, or was ended by what it should have survived.
CRASHES = {
    getattr(signal, name)
    for name in ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGPIPE", "SIGXFSZ", "SIGSYS")
}


_c = ctypes.CDLL(None)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass
class End:
    """How a process ended: `code` or, where a signal ended it, `signal`."""

    words: list
    code: int | None
    signal: int | None
    out: bytes
    err: bytes
    seconds: float
    megabytes: float
    hung: bool
    mute: bool  # nobody could hear it

    def __str__(self):
        how = f"exit code {self.code}" if self.signal is None else f"signal {self.signal}"
        if self.hung:
            how += " (it hung)"
        said = self.err.decode(errors="replace").strip()[-300:]
        return f"{' '.join(str(w)[:120] for w in self.words[1:])}: {how}; it said: {said!r}"


class Process:
    """A process whose streams go to memory, unless the caller has others for them. Where its files
    are limited, `piped` keeps standard error from being one."""

    def __init__(self, words, *, env=None, cwd=None, streams=None, closed=(), prepare=None,
                 limits=None, cpu=MOST_CPU_SECONDS, piped=False):
        self.words = [os.fspath(w) for w in words]
        self._own = {}
        streams = dict(streams or {})
        self._cpu = cpu
        self._mute = 2 in closed or 2 in streams
        self._pipe = None
        if piped:
            self._pipe, streams[2] = os.pipe()
            self._mute = False
        for number in (1, 2):
            if number not in streams:
                self._own[number] = os.memfd_create(f"stream-{number}")
                streams[number] = self._own[number]
        limits = dict(limits or {})
        limits.setdefault(resource.RLIMIT_CORE, 0)
        limits.setdefault(resource.RLIMIT_CPU, cpu)

        def before():
            _c.prctl(_DIE_WITH_PARENT, signal.SIGKILL)  # no run outlives the harness
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            for what, most in limits.items():
                resource.setrlimit(what, (most, most))
            if prepare:
                prepare()
            for number in closed:
                os.close(number)

        whole = {k: v for k, v in os.environ.items()
                 if not k.startswith(("FAULT_", "GLIBC_TUNABLES", "LD_PRELOAD", "GTEST_"))}
        whole.update(LC_ALL="C", **(env or {}))
        self.began = time.monotonic()
        self.popen = subprocess.Popen(
            self.words, env=whole, cwd=cwd, preexec_fn=before,
            stdin=streams.get(0, subprocess.DEVNULL), stdout=streams[1], stderr=streams[2])
        if piped:
            os.close(streams[2])
        self.pid = self.popen.pid
        self.end = None

    def send(self, number):
        if self.end is None:
            os.kill(self.pid, number)

    def is_over(self):
        """Whether it has ended; wait() then returns at once."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait_until(self, condition):
        """Until `condition()`; false where the process ended before."""
        limit = time.monotonic() + LONGEST
        while time.monotonic() < limit:
            if condition():
                return True
            if self.is_over():
                return condition()
            time.sleep(0.001)
        return False

    def said(self, number=2):
        """What it has written to a stream so far."""
        where = self._own[number]
        return os.pread(where, os.fstat(where).st_size, 0)

    def drop(self):
        """Ends it, where a case has broken off."""
        if self.end is None:
            self.send(signal.SIGKILL)
            self.wait()

    def wait(self):
        if self.end is not None:
            return self.end
        handle = os.pidfd_open(self.pid)
        hung = not select.select([handle], [], [], LONGEST)[0]
        os.close(handle)
        if hung:
            os.kill(self.pid, signal.SIGKILL)
        _, status, usage = os.wait4(self.pid, 0)
        self.popen.returncode = 0  # it is waited for
        by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        code = None if by is not None else os.WEXITSTATUS(status)
        hung = hung or by == signal.SIGXCPU or (
            by == signal.SIGKILL and usage.ru_utime + usage.ru_stime >= self._cpu - 1)
        texts = {number: self.said(number) for number in self._own}
        if self._pipe is not None:
            with os.fdopen(self._pipe, "rb") as rest:
                texts[2] = rest.read()
        for where in self._own.values():
            os.close(where)
        self.end = End(self.words, code, by, texts.get(1, b""), texts.get(2, b""),
                       time.monotonic() - self.began, usage.ru_maxrss / 1024, hung, self._mute)
        return self.end


def unprintable(text):
    """What in `text` must not reach a terminal; empty where all may."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        return f"no UTF-8 at byte {error.start}: {text[error.start:error.start + 10]!r}"
    for letter in decoded:
        if letter not in "\n\t" and unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp"):
            return f"the control character {letter!r}"
    return ""
