"""Progress bars of long work: tqdm's where it is installed, else one line on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Callable

Progress = bool | Callable[[float, float], Any] | None
"""None: a bar where somebody looks (a terminal, a notebook) and the work takes more than a second; True, False: always, never; a
function gets (done, total) some ten times a second."""

DELAY = 1.0
"""Shorter work has no bar [s]."""


def somebody_looks() -> bool:
    shell = sys.modules.get("IPython")
    if shell is not None:
        running = shell.get_ipython()
        if running is not None and "ZMQ" in type(running).__name__:
            return True
    return sys.stderr is not None and sys.stderr.isatty()


class Line:
    """The bar of an installation without tqdm."""

    def __init__(self, total: float, what: str, delay: float) -> None:
        self.total, self.what, self.n = total, what, 0.0
        self.begun = time.monotonic()
        self.next = self.begun + delay
        self.shown = False

    def update(self, more: float) -> None:
        self.n += more
        now = time.monotonic()
        if now < self.next:
            return
        self.next, self.shown = now + 0.25, True
        part = self.n / self.total if self.total else 1.0
        left = (now - self.begun) * (1 - part) / part if part > 0 else float("inf")
        ahead = f"{left:.0f} s left" if left < 1e6 else ""
        sys.stderr.write(f"\r{self.what} {100 * part:3.0f} % ({self.n:.0f} of {self.total:.0f}) {ahead}      ")
        sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\n")


class Bar:
    """`with Bar(total, "sweep", "runs", progress) as bar:`; bar.call is what the compiled part is given, or None."""

    def __init__(self, total: float, what: str, unit: str, progress: Progress) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress is True, False, None or a function of (done, total), not {type(progress).__name__}")
        self.total, self.what, self.unit = total, what, unit
        self.progress = somebody_looks() if progress is None else progress
        self.delay = DELAY if progress is None else 0.0
        self.call: Callable[[float], None] | None = None
        self._bar: Any = None
        self._n = 0.0

    def __enter__(self) -> Bar:
        if callable(self.progress):
            self.call = self._tell
        elif self.progress:
            self._bar = self._make()
            self.call = self._move
        return self

    def _make(self) -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return Line(self.total, self.what, self.delay)
        return tqdm(total=self.total, desc=self.what, unit=f" {self.unit}", delay=self.delay, leave=not self.delay)

    def _move(self, done: float) -> None:
        if done > self._n:
            self._bar.update(done - self._n)
            self._n = done

    def _tell(self, done: float) -> None:
        assert callable(self.progress)
        self.progress(done, self.total)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()


def in_pieces(step: Callable[[int], None], n: int, what: str, progress: Progress) -> None:
    """step(n) in pieces of about a tenth of a second, with a bar."""
    with Bar(n, what, "steps", progress) as bar:
        if bar.call is None or not isinstance(n, int) or n < 1:
            step(n)  # which also tells what is wrong with n
            return
        done, piece = 0, 1
        while done < n:
            now = min(piece, n - done)
            begun = time.monotonic()
            step(now)
            past = time.monotonic() - begun
            done += now
            piece = max(1, min(piece * 2, int(now * 0.1 / past) if past > 0.05 else piece * 2))
            bar.call(done)
