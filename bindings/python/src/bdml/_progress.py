"""Progress for people who wait: a bar of tqdm where it is installed, else one line that is overwritten."""

from __future__ import annotations

import sys
from typing import Any

_UNCOUNTED = "{desc} [{elapsed}]"  # bar_format of what has no known number of steps


class Progress:
    def __init__(self) -> None:
        self._phase: str | None = None
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm = None
        else:
            self._tqdm = tqdm

    def show(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self.close()
            self._phase = phase
            if self._tqdm:
                self._bar = self._tqdm(desc=phase, total=total or None, leave=False, bar_format=None if total else _UNCOUNTED)
        if self._bar is not None:
            self._bar.total = total or None
            self._bar.n = done
            self._bar.bar_format = None if total else _UNCOUNTED
            self._bar.refresh()
        else:
            share = f": {100 * done // total:3d} %" if total else f": {done}" if done else ""
            print(f"\rbdml: {phase}{share}   ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._phase is not None:
            print(file=sys.stderr)
        self._bar = self._phase = None
