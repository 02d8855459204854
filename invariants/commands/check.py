"""The command `check`: a user's own code, judged by the claims about RocketMQ."""

from __future__ import annotations

from typing import Annotated

import typer

from invariants.front_desk.options import Json, Out, Property, Seed, desk_app, examples, judging, only
from invariants.verdict import BadInputError

app = desk_app(help="Judge your own code by the claims about RocketMQ.")


@app.command("allocation", epilog=examples(
    "rocketproof check allocation --python my_package.strategies:StickyAllocation",
    "rocketproof check allocation --java target/classes:lib/* --class com.example.Sticky --out out",
    "rocketproof check allocation --exec ./my_adapter --function AVG"))
@judging
def check_allocation(  # noqa: PLR0913, PLR0917 - one parameter for each option
    python: Annotated[str | None, typer.Option(
        metavar="MODULE:CLASS",
        help="Class with allocate(consumer_group, current_cid, mq_all, cid_all); FILE.py:CLASS will do.")] = None,
    java: Annotated[str | None, typer.Option(
        metavar="CLASSPATH", help="Jars and class folders; goes with --class.")] = None,
    class_name: Annotated[str | None, typer.Option(
        "--class", metavar="NAME", help="Binary name of an AllocateMessageQueueStrategy.")] = None,
    program: Annotated[str | None, typer.Option(
        "--exec", metavar="CMD", help="Program in any language that answers JSON lines (docs/adapters.md).")] = None,
    function: Annotated[str | None, typer.Option(
        metavar="NAME", help="With --exec: which of its functions; default: allocate.")] = None,
    queues: Annotated[int, typer.Option(min=1, help="Queues of the largest exhaustive case.")] = 12,
    members: Annotated[int, typer.Option(min=1, help="Members of the largest exhaustive case.")] = 6,
    random: Annotated[int, typer.Option("--examples", min=1, help="Random cases afterwards.")] = 100,
    property: Property = None,  # noqa: A002 - the name of the option
    seed: Seed = 0, json: Json = None, out: Out = None,
) -> None:
    """Judge your own allocation strategy: all small groups, smallest first, then random ones.

    A class is made without arguments, in a process of its own. Queues are impl.decisions.message_queue.MessageQueue.
    Exit status: 0 nothing a group cannot do without is broken, 1 something is, 2 bad input, 3 something is unknown.
    """
    from invariants.front_desk.desk import Desk

    with Desk(json, out=out) as desk:
        from invariants.front_desk import catalogue

        for name in property or []:
            catalogue.known(name)
        from stateful_tests.decisions import check

        sizes: dict[str, int] = {"queues": queues, "members": members, "examples": random, "seed": seed}
        match python, java, class_name, program, function:
            case str(), None, None, None, None:
                rows = check.check_allocation(python, out=out, **sizes)
            case None, str(), str(), None, None:
                rows = check.check_java_allocation(java, class_name, out=out, **sizes)
            case None, None, None, str(), _:
                rows = check.check_port_allocation(program, function, out=out, **sizes)
            case _:
                raise BadInputError("say what to check: --python MODULE:CLASS, or --java CLASSPATH --class NAME, "
                                    "or --exec CMD; one of the three")
        desk.judge("check", only(rows, property or []))
