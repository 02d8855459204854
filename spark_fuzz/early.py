"""The start of the daemon (`daemon`): on this machine it is early, while the JVM still starts.

`waiting` starts a process that imports what workers need, and then waits at a socket. Later the JVM starts its daemon,
`python -m spark_fuzz.early`, which only passes its standard streams, arguments and environment through the socket: from
then on the process that has waited is the daemon. Where none waits, as on other machines or after it was killed, the
process that the JVM has started is the daemon itself.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

SOCKET = "ROCKETPROOF_DAEMON"
"""The environment variable that names the socket."""
WAIT = "--wait"
ENDS_S = 5.0
"""How long a daemon has to end its workers and itself when its JVM is gone, before it is killed."""
_SIZE_BYTES = 8


@contextmanager
def waiting(python: str, address: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """A daemon that waits at an address, for the time of the block; it ends with this process too.

    python -- the program. variables -- of its environment, besides those of this process.
    """
    command = [python, "-m", __name__, WAIT]
    environment = {"PYTHONHASHSEED": "0", **os.environ, **variables, SOCKET: str(address)}  # as Spark does it
    try:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,  # noqa: S603 - our own module
                                   stderr=subprocess.DEVNULL, process_group=0)
    except OSError:  # the JVM will not start it either, and says so
        yield
        return
    try:
        yield
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(ENDS_S)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, 9)
        process.wait()


def main() -> None:
    """Wait, or pass on what the JVM has given, or be the daemon."""
    address = os.environ.get(SOCKET, "")
    if sys.argv[1:] == [WAIT]:
        _wait(address)
    elif not _passed_on(address):
        from spark_fuzz import daemon  # noqa: PLC0415 - whoever only passes on needs none of it

        daemon.prepare()
        daemon.serve()


def _passed_on(address: str) -> bool:
    """Whether somebody waits there, and has been the daemon until it ended."""
    with socket.socket(socket.AF_UNIX) as waits:
        try:
            waits.connect(address)
        except OSError:
            return False
        given = json.dumps([sys.argv, dict(os.environ)]).encode()
        socket.send_fds(waits, [len(given).to_bytes(_SIZE_BYTES, "little")], [0, 1, 2])
        waits.sendall(given)
        with suppress(OSError):
            waits.recv(1)
    return True


def _wait(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen(1)
        from spark_fuzz import daemon  # noqa: PLC0415 - whoever comes meanwhile finds the door

        daemon.prepare()
        ready, _, _ = select.select([door, sys.stdin], [], [])
        if door not in ready:
            return  # the driver has gone
        giver, _ = door.accept()
    Path(address).unlink()  # another daemon, in place of this one, has nobody to pass to
    with giver:
        _take_over(giver)
        daemon.serve()


def _take_over(giver: socket.socket) -> None:
    """Become the process that has connected."""
    head, streams, _, _ = socket.recv_fds(giver, _SIZE_BYTES, 3)
    with giver.makefile("rb") as given:
        sys.argv, environment = json.loads(given.read(int.from_bytes(head, "little")))
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)


if __name__ == "__main__":
    main()
