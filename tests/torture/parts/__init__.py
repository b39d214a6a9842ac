"""One module a part; each has TITLE and cases(bench)."""
