"""How far a training is: by tqdm where it is installed, else as a line that is written over."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterator, List, Optional, Union

from . import _library as c

ProgressLike = Union[bool, None, Callable[[str, float, float], object]]


@contextmanager
def interrupts_kept(raised: List[BaseException]) -> Iterator[None]:
    """Ctrl-C during a call into C goes on the list, where callbacks look: raised inside a callback it could be lost."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def keep(_number: int, _frame: Any) -> None:
        raised.append(KeyboardInterrupt())

    signal.signal(signal.SIGINT, keep)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def raise_what_was(raised: List[BaseException], call: Callable[[], int]) -> None:
    """Makes a call into C, raising what its status says or, before that, what its callbacks raised."""
    cancelled = False
    try:
        with interrupts_kept(raised):
            status = call()
        c.check(status)
    except c.Cancelled:
        cancelled = True
    except c.Error:
        if not raised:
            raise
    if raised:
        first = raised[0]
        raised.clear()
        raise first
    if cancelled:
        raise c.Error("a function in C ended the call")


class Progress:
    """The callback of one training. What it raises, or an interrupt from the keyboard, ends the training and is
    raised by `make`."""

    def __init__(self, wanted: ProgressLike, title: str) -> None:
        self.raised: List[BaseException] = []
        self._bar: Any = None
        self._title = title
        self._width = 0
        self._tell: Optional[Callable[[str, float, float], object]] = None
        if callable(wanted):
            self._tell = wanted
        elif wanted or (wanted is None and sys.stderr is not None and sys.stderr.isatty()):
            self._tell = self._show
        self.callback = c.PROGRESS(self._called)

    def _called(self, _user: Any, activity: bytes, share: float, seconds_left: float) -> int:
        try:
            if self._tell is not None:
                self._tell(activity.decode("utf-8", "replace"), share, seconds_left)
            return 1 if self.raised else 0
        except BaseException as error:  # it must not go through C
            self.raised.append(error)
            return 1

    def _show(self, activity: str, share: float, seconds_left: float) -> None:
        if self._bar is None:
            try:
                from tqdm.auto import tqdm

                self._bar = tqdm(total=100, desc=self._title, leave=False)
            except ImportError:
                self._bar = False
        if self._bar:
            self._bar.set_postfix_str(activity, refresh=False)
            self._bar.update(100 * share - self._bar.n)
            return
        left = "" if seconds_left != seconds_left else f", {seconds_left:.0f} s left"
        line = f"{self._title}: {100 * share:3.0f} % {activity}{left}"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def make(self, kind: str, create: Callable[[Any], int]) -> c.Handle:
        """What the call creates, raising what it or the callback raised."""
        made: List[c.Handle] = []  # whoever drops it frees it, also where Ctrl-C came just before the end

        def call() -> int:
            made.append(c.Handle(kind, create))
            return c.OK

        try:
            raise_what_was(self.raised, call)
        finally:
            del self.callback  # the circle of the two
            if self._bar:
                self._bar.close()
            elif self._width:
                sys.stderr.write("\r" + " " * self._width + "\r")
                sys.stderr.flush()
        return made[0]
