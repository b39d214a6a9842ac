"""The squares of the first two numbers of a line, and their sum."""
import sys

for line in sys.stdin:
    x, y = (float(word) for word in line.split()[:2])
    print(x * x, y * y, x * x + y * y, flush=True)
