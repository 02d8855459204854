"""`python -m stateful_tests.machines`: Hypothesis writes programs for a simulated world (`rocketproof machine`)."""

from __future__ import annotations

from typing import Annotated

import typer

from invariants.front_desk.interrupt import start
from invariants.front_desk.options import Base, Json, Out, Property, Seed, desk_app, examples, judging

EXAMPLES = examples(
    "rocketproof machine consumer_group --subject shipped",
    "rocketproof machine order_lock --subject repaired --examples 1000 --seed 7",
    "rocketproof machine consumer_group --subject shipped --program \"start(who='consumer1'); start(who='consumer2')\"",
)


@judging
def machine(  # noqa: PLR0913, PLR0917 - one parameter for each option
    concept: Annotated[str, typer.Argument(
        metavar="CONCEPT", help="A concept of `invariants.concepts`, or running_group.")],
    subject: Annotated[str, typer.Option(
        help="What is judged: shipped, repaired or repaired-HAZARD, each also with +BUG or +FILE.")] = "",
    variant: Annotated[str | None, typer.Option(
        metavar="V", help="A planted bug, or a file that defines VARIANT.")] = None,
    base: Base = None,
    count: Annotated[int, typer.Option("--examples", min=1, help="Programs that are written.")] = 100,
    deeds: Annotated[int, typer.Option(min=1, help="Lines of a program, at most.")] = 12,
    program: Annotated[str | None, typer.Option(
        metavar="TEXT", help="Play this program instead, as it was printed: calls behind semicolons.")] = None,
    minutes: Annotated[float | None, typer.Option(
        help="Wall time at most.", show_default="2 for each 100 programs")] = None,
    property: Property = None,  # noqa: A002 - the name of the option
    seed: Seed = 0, json: Json = None, out: Out = None,
) -> None:
    """Let Hypothesis write programs of faults and deeds.

    A simulated world lives through each of them, and is judged at every step; what breaks a property is shrunk.

    Exit status: 0 as expected, 1 some outcome differs, 2 bad input, 3 some outcome is unknown, or interrupted.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out, stream=True) as desk:
        from invariants.front_desk.options import only
        from invariants.verdict import BadInputError
        from stateful_tests.machines import judge
        from stateful_tests.machines.program import parsed
        from stateful_tests.machines.search import Effort
        from stateful_tests.worlds.subjects import subject_named, subject_on

        if variant is not None and subject:
            raise BadInputError("give --subject or --variant, not both")
        if base is not None and variant is None:
            raise BadInputError(f"--base {base}: say with --variant what lies on it")
        named = subject_on(base, variant) if variant is not None else subject_named(subject or "shipped").name
        desk.say(subject_named(named).said_first(f"rocketproof machine {concept} --variant"))
        if program is None:
            effort = Effort(seed, count, deeds, 60 * (minutes or max(2.0, count / 50)))
            desk.judge("machine", judge.judged(
                concept, named, effort, property or [], out=out, draw=desk.draw, tell=desk.tell))
        else:
            desk.judge("machine", only(
                judge.replayed(concept, named, parsed(program), out, desk.draw), property or []))
            if not desk.rows:
                desk.closing.append("the program breaks nothing")


app = desk_app()
app.command(epilog=EXAMPLES)(machine)


def main() -> None:
    """Entry point."""
    start(app)


if __name__ == "__main__":
    main()
