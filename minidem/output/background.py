"""Calls in the background, such as writing files, while the time loop goes on, which releases Python's global lock."""
from collections import deque
from concurrent.futures import ThreadPoolExecutor


class Background(ThreadPoolExecutor):
    """A context that calls functions in one thread, in order, and ends when the last call has.

    After a call that raised an exception later calls are skipped; `wait` raises it in the thread of the caller.
    """

    def __init__(self):
        super().__init__(1)
        self._calls, self._failed = deque(), False

    def call(self, function, *arguments):
        """Call `function` when all earlier calls have ended."""
        self._calls.append(self.submit(self._run, function, arguments))

    def wait(self, most=0):
        """Wait until at most `most` calls have not ended; raise the exception of one that failed."""
        while self._calls and (len(self._calls) > most or self._calls[0].done()):
            self._calls.popleft().result()

    def _run(self, function, arguments):
        if self._failed:
            return
        try:
            function(*arguments)
        except BaseException:
            self._failed = True
            raise
