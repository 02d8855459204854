"""The Java virtual machine, inside this process (JPype). Only the worker imports this: a JVM starts once."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import jpype

from invariants.verdict import BadInputError
from stateful_tests.conformance.java.home import java_home

_LIBRARIES = (  # below a Java home: Linux, macOS, Windows; the `jre` ones are those of a JDK 8
    "lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll",
    "jre/lib/amd64/server/libjvm.so", "jre/lib/aarch64/server/libjvm.so", "jre/lib/server/libjvm.dylib",
)


def java_library(home: Path) -> Path:
    """The JVM's shared library below a Java home; raises BadInputError when there is none."""
    for name in _LIBRARIES:
        if (home / name).is_file():
            return home / name
    raise BadInputError(f"JAVA_HOME={home}: no Java runtime there; unset it to use the one that comes as a wheel")


def flags(scratch: Path) -> list[str]:
    """Flags of the JVM: nothing is written outside the scratch folder, whatever RocketMQ and the JVM log or dump.

    The charset is fixed because AllocateMessageQueueConsistentHash hashes the bytes of the default one
    (String#getBytes in ConsistentHashRouter.MD5Hash#hash). Compiled code must not fall back on exceptions without a
    message (OmitStackTraceInFastThrow), as it does after some thousand of a kind: messages are compared. The second
    compiler is left out (TieredStopAtLevel): a run is some thousand calls, too few to earn back what it costs.
    """
    return [
        "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xrs", "-XX:-UsePerfData",
        f"-XX:ErrorFile={scratch}/crash.log", "-XX:-CreateCoredumpOnCrash", "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:-OmitStackTraceInFastThrow", "--enable-native-access=ALL-UNNAMED",
        "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
        "-Dfile.encoding=UTF-8", "-Djava.net.preferIPv4Stack=true", "-Djava.awt.headless=true",
        f"-Duser.home={scratch}", f"-Djava.io.tmpdir={scratch}", f"-Drocketmq.client.logRoot={scratch}/logs",
        f"-Drocketmq.client.localOffsetStoreDir={scratch}/offsets", "-Drocketmq.client.logLevel=ERROR",
        "-Drocketmq.remoting.version=399",  # RemotingCommand takes it from here; only some start-up classes set it
    ]


def start(jars: Sequence[Path], scratch: Path) -> str:
    """Start the JVM of this process with the jars as its class path; returns the version of Java.

    scratch -- an existing folder; the caller deletes it when the process has ended.

    An exception that nobody catches ends the process from now on, with its threads: those of a real store do not end,
    and the JVM would wait for them. Raises BadInputError when there is no Java, or none that starts.
    """
    library = java_library(java_home())
    try:
        jpype.startJVM(str(library), *flags(scratch), classpath=[str(jar) for jar in jars], convertStrings=False)
    except (OSError, RuntimeError, SystemError, ValueError) as error:
        raise BadInputError(f"{library}: does not start ({error}); set JAVA_HOME to a Java 17 or newer") from error
    sys.excepthook = _end
    return str(jpype.JClass("java.lang.System").getProperty("java.version"))


def _end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    traceback.print_exception(kind, error, trace)
    sys.stderr.flush()
    os._exit(1)
