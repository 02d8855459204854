"""What is wrong with a file of one's own, in one line that names file and line."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dis import get_instructions
from traceback import walk_tb
from types import CodeType, ModuleType

_DOES_NOT_END = " does not end "


def unknown_name(code: CodeType, module: ModuleType) -> str:
    """The first name that a function of a module reads and that nobody has defined; empty if there is none.

    code -- of the module, which has been imported.
    """
    assigned = {str(one.argval) for part in _parts(code) for one in get_instructions(part)
                if one.opname == "STORE_GLOBAL"}
    for part in _parts(code):
        for one in get_instructions(part):
            name = str(one.argval)
            if one.opname == "LOAD_GLOBAL" and not (
                    name in assigned or name in vars(module) or hasattr(builtins, name)):
                line = one.positions.lineno if one.positions else part.co_firstlineno
                return f"{code.co_filename}:{line}: the name {name} is not defined: correct or import it"
    return ""


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def import_error(path: str, error: BaseException) -> str:
    """Why a file cannot be imported, and which line of it says so."""
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno or 1)
    return f"{path}{f':{lines[-1]}' if lines else ''} cannot be imported: mend it first ({described(error)})"


def blamed(
    error: BaseException, files: Sequence[str], within: Sequence[str], judges: Sequence[str] = (),
) -> str:
    """Which line of one's own files an error comes from; empty if it is none of theirs.

    An error that is raised within certain packages comes from a file too, if there is one: without it nothing is raised
    there. within -- their names: the implementation, and what reads its tables. An error that a judge raises is no
    mistake of a file, also where the file's code is what the judge looks at in that moment. judges -- their packages.
    """
    frames = [(frame.f_code.co_filename, line, str(frame.f_globals.get("__name__")))
              for frame, line in walk_tb(error.__traceback__)]
    own = [f"{name}:{line}" for name, line, _ in frames if name in files]
    name, line, module = frames[-1] if frames else ("", 0, "")
    implemented = _lies_in(module, within)
    if name not in files and not implemented and _lies_in(module, judges):
        return ""
    if own:
        return f"{own[-1]}: {described(error)}"
    if files and implemented:
        return f"{files[-1]}: with it {name}:{line} raises {described(error)}"
    return ""


def endless(error: BaseException, files: Sequence[str]) -> str:
    """Which function of one's own files was at work when time was over, and why that was said; else only why.

    It is the last one that other code has called: what it calls of these files may have come and gone. The line is the
    one with which it begins, as it is the same wherever time was over. Of a run in which time still passes (stands is
    False) no function is the one.
    """
    if not getattr(error, "stands", True):
        return str(error)
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    own = [code.co_filename in files for code in codes]
    entered = [code for code, mine, before in zip(codes, own, [False, *own], strict=False) if mine and not before]
    if not entered:
        return str(error)
    return f"{entered[-1].co_filename}:{entered[-1].co_firstlineno}: {entered[-1].co_qualname}{_DOES_NOT_END}({error})"


def what_does_not_end(told: str) -> str:
    """File, line and function that `endless` has named in this sentence; empty if it has named none."""
    return told.rpartition(_DOES_NOT_END)[0]


def _lies_in(module: str, packages: Sequence[str]) -> bool:
    return any(f"{module}.".startswith(f"{one}.") for one in packages)


def described(error: BaseException) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
