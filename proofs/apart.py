"""Work in a process apart: if it crashes, one answer is unknown and the others are given all the same.

Z3 can end the process that asks it: where a limit of time or of effort is met while it checks a model against
quantifiers, it follows a null pointer (`smt::model_checker::add_instance`, in 5.4.0 and 5.4.1).
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing import Pipe
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Job = TypeVar("Job")
Result = TypeVar("Result")


class _Raised(NamedTuple):
    """An exception that ended the work, as it is raised again here."""

    exception: BaseException


def apart(
    jobs: Iterable[Job], work: Callable[[Job], Result], lost: Callable[[Job, str], Result],
) -> Generator[Result, None, None]:
    """Do the jobs one after the other in a forked process, and give their results in this order.

    What a job leaves behind in memory is there for the next one, and is gone at the end. work -- gives a result that
    can be pickled; what it raises is raised here. lost -- the result of a job that ended the process, with how the
    process ended; the jobs behind it are done in another one.
    """
    left = deque(jobs)
    while left:
        receiver, sender = Pipe(duplex=False)
        child = _forked()
        if child == 0:
            _worked(sender, left, work)
        sender.close()
        try:
            yield from _received(receiver, left)
        except BaseException:  # also that nobody wants more results
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            receiver.close()
            _, status = os.waitpid(child, 0)
        if left:
            yield lost(left.popleft(), _told(os.waitstatus_to_exitcode(status)))


def ended(how: str) -> str:
    """The note of a row that was lost."""
    return f"the process that asks the solver ended: {how}"


def _forked() -> int:
    """Fork; where Python warns of threads: the child calls the solver, which is made for it, and takes no lock."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _worked(sender: Connection, jobs: Iterable[Job], work: Callable[[Job], Result]) -> NoReturn:
    """Do the jobs in the child. It leaves by the shortest way: nothing that its parent owns is closed or flushed."""
    faulthandler.disable()  # how the process ends is told by a row
    gc.freeze()  # garbage of the parent is the parent's: its finalizers may talk to other processes
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the child
    status = 0
    try:
        for job in jobs:
            sender.send(work(job))
    except BrokenPipeError:
        status = 1  # nobody waits any more
    except BaseException as raised:  # noqa: BLE001  # whatever it is, the parent raises it
        sender.send(_Raised(raised))
    finally:
        os._exit(status)


def _received(receiver: Connection, left: deque[Job]) -> Iterator[Result]:
    """The results of a child, up to its end; their jobs leave the queue."""
    while left:
        try:
            result = receiver.recv()
        except EOFError:
            return
        if isinstance(result, _Raised):
            raise result.exception
        left.popleft()
        yield result


def _told(status: int) -> str:
    """How a process ended, as the note of a row says it."""
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
