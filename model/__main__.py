"""`python -m model`: the explorer, a search of all states of named scopes (`rocketproof explore`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from invariants.front_desk.interrupt import start
from invariants.front_desk.options import Json, NoSeed, Out, Property, desk_app, examples, judging

if TYPE_CHECKING:
    from invariants.exploring import Room
    from invariants.front_desk.desk import Desk
    from invariants.verdict import Verdict
    from model.explorer import Progress
    from model.language.scope import Scope

MEMORY_BYTES = 4 << 30
EXAMPLES = examples(
    "rocketproof explore",
    'rocketproof explore "group 1,2,2" --property one_owner_per_queue --out out',
    'rocketproof explore "order lock" --json rows.jsonl',
    'rocketproof explore "group 2,3,2" --memory-bytes 1000000000 --cores 2',
    'rocketproof explore "order lock, D9" --disk states',
    "rocketproof explore lease.py",
)
NEW = examples("rocketproof new concept lease.py")


@judging
def explore(  # noqa: PLR0913, PLR0917 - one parameter for each option
    scope: Annotated[list[str] | None, typer.Argument(
        metavar="SCOPE", show_default=False,
        help="Named scopes, or the beginning of their names; default: all that take seconds.")] = None,
    property: Property = None,  # noqa: A002 - the name of the option
    memory_bytes: Annotated[int, typer.Option(
        min=1, help="Bound for states and their tables; a search that reaches it ends as unknown.")] = MEMORY_BYTES,
    heavy: Annotated[bool, typer.Option("--heavy", help="Without names: the scopes that take minutes too.")] = False,
    twins: Annotated[bool, typer.Option(
        "--twins", help="Plant each mutation that a property names, and expect the search to find it.")] = False,
    cores: Annotated[int, typer.Option(min=1, help="Threads that search one scope.")] = 1,
    disk: Annotated[Path | None, typer.Option(
        metavar="DIR", show_default=False,
        help="Keep the states there: memory bounds only what is worked on, and a search that was interrupted goes "
             "on.")] = None,
    json: Json = None, out: Out = None, seed: NoSeed = 0,
) -> None:
    """Search all reachable states of named scopes.

    Exact counts, every property, shortest traces. FILE.py as the first name: the scopes of a file of your own
    (`rocketproof new concept`).

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.exploring import Room
    from invariants.front_desk.desk import Desk

    del seed
    with Desk(json, out=out) as desk:
        names, properties, room = scope or [], property or [], Room(memory_bytes, cores, disk)
        if names and names[0].endswith(".py"):
            file, scopes = Path(names[0]), names[1:]
            if not twins or scopes:
                desk.judge("explore", of_file(desk, file, scopes, properties, room, out))
            if twins:
                desk.judge("explore twins", planted_in(file, properties, out))
            return
        if not twins or names:
            desk.judge("explore", searched(desk, names, properties, room=room, out=out, heavy=heavy))
        if twins:
            desk.judge("explore twins", planted(properties, out))


def of_file(
    desk: Desk, path: Path, names: Sequence[str], properties: Sequence[str], room: Room, out: Path | None,
) -> Iterator[Verdict]:
    """Verdicts about the scopes of a user's file; raises BadInputError when nothing is judged."""
    from invariants.exploring import explore_own

    scopes = own_scopes(path, names, properties)
    yield from explore_own(scopes, properties, file=path, room=room, out=out, progress=_told(desk))


def planted_in(path: Path, properties: Sequence[str], out: Path | None) -> Iterator[Verdict]:
    """Verdicts about the mutations that properties of a user's file name; raises BadInputError if there are none."""
    from invariants.exploring import explore_own_twins

    yield from explore_own_twins(own_scopes(path, (), properties), properties, file=path, out=out)


def own_scopes(path: Path, names: Sequence[str], properties: Sequence[str]) -> list[Scope]:
    """The scopes of a user's file by the beginning of their names, all without names.

    Raises BadInputError where there are none, and for a property that none of them has.
    """
    from invariants.verdict import BadInputError
    from model.language import Misuse
    from model.language.own import load

    try:
        own = load(path)
    except Misuse as error:
        raise BadInputError(str(error)) from error
    scopes = [scope for scope in own.scopes if not names or scope.name.startswith(tuple(names))]
    known = {name for scope in scopes for name in scope.concept.properties}
    if not scopes:
        there = ", ".join(scope.name for scope in own.scopes)
        raise BadInputError(f"{path} has {f'the scopes {there}' if there else 'no scopes'}; "
                            "write scopes = [Scope(NAME, {Sort: 2}, name=...)]")
    for name in properties:
        if name not in known:
            raise BadInputError(f"{path} has no property {name}; it has {', '.join(sorted(known)) or 'none'}")
    return scopes


def _told(desk: Desk) -> Callable[[str, Progress], None]:
    def tell(scope: str, reached: Progress) -> None:
        desk.tell(f"{scope}: depth {reached.depth}, {reached.states:,} states, {reached.frontier:,} to expand")

    return tell


def new_concept(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, NAME.py.")],
) -> None:
    """Write a small concept that runs, to begin your own with."""
    from invariants.front_desk.desk import guarded
    from invariants.verdict import BadInputError
    from model.language import Misuse
    from model.language.own import write

    def written() -> None:
        try:
            write(file)
        except Misuse as error:
            raise BadInputError(str(error)) from error
        print(f"{file}: rocketproof prove {file}; rocketproof explore {file}")

    guarded(written)


def searched(
    desk: Desk, names: Sequence[str], properties: Sequence[str], *, room: Room | None = None,
    out: Path | None = None, heavy: bool = False,
) -> Iterator[Verdict]:
    """Verdicts of the explorer, with its levels told to the desk; raises BadInputError when nothing is judged."""
    from invariants import exploring
    from invariants.front_desk import catalogue
    from invariants.front_desk.options import only
    from invariants.verdict import BadInputError

    for name in properties:
        catalogue.known(name)

    whole = catalogue.of_judge("explore", [name for name in properties if name in catalogue.OWN])
    found = exploring.explore_scopes(names, () if whole else properties, room=room,
                                     progress=_told(desk), out=out, heavy=heavy)
    judged = False
    for verdict in only(found, properties):
        judged = True
        yield verdict
    if not judged:
        where = f"in {'; '.join(names)}" if names else "in any scope that takes seconds"
        raise BadInputError(f"nothing to search: {', '.join(properties)} is not judged {where}; "
                            f"`rocketproof show {properties[0]}` says where")


def planted(properties: Sequence[str], out: Path | None = None) -> Iterator[Verdict]:
    """Verdicts about the mutations that properties name."""
    from invariants.exploring import explore_twins
    from invariants.front_desk import catalogue

    for name in properties:
        catalogue.known(name)
    return explore_twins(properties, out=out)


app = desk_app()
app.command(epilog=EXAMPLES)(explore)


def main() -> None:
    """Entry point."""
    start(app)


if __name__ == "__main__":
    main()
