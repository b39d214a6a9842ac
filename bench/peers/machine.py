"""What the comparisons say of the machine they ran on."""

import os
import time


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


class Others:
    """How many cores' worth of time other programs take meanwhile."""

    def __init__(self):
        self.began, self.busy, self.own = self.now()

    @staticmethod
    def now():
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, _idle, _waiting, *interrupts = map(int, stat.readline().split()[1:])
        busy = user + nice + system + sum(interrupts[:2])
        return time.perf_counter(), busy / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4])

    def cores(self):
        ended, busy, own = self.now()
        return max(0.0, (busy - self.busy - (own - self.own)) / (ended - self.began))

    def warning(self):
        """A line to print, or nothing."""
        cores = self.cores()
        if cores < 0.05:
            return ""
        return f"\nWARNING: other programs kept {cores:.2f} cores busy meanwhile; do not quote these times\n"
