# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what held and what did not, for the scripts of this folder."""


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {detail}"[:1500], flush=True)

    def end(self):
        """Says it; the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
