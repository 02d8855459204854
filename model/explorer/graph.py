"""The state graph of a small scope, for pictures."""

from __future__ import annotations

from typing import Any

from model.explorer.exploration import Exploration
from model.language.batch import Batch, states


def graph(found: Exploration, most: int = 500) -> dict[str, list[dict[str, Any]]]:
    """All states and steps: nodes {id, depth, cells}, edges {source, target, action, arguments}.

    Raises ValueError when there are more states than `most`: nobody can read such a picture.
    """
    if found.states > most:
        raise ValueError(f"{found.states} states do not fit into a picture; take a scope with at most {most}")
    layout, scope = found.expander.ground.layout, found.scope
    number: dict[int, int] = {}
    nodes = []
    for depth, level in enumerate(found.levels):
        for state in states(level):
            number[state] = len(number)
            nodes.append({"id": number[state], "depth": depth, "cells": layout.text(state)})
    edges = []
    for level in found.levels:
        own = states(level)
        for part in found.expander.edges(Batch(level)):
            for row, chosen, after in zip(part.rows.tolist(), part.instances.tolist(), states(part.after), strict=True):
                instance = found.expander.instances[chosen]
                arguments = {v.name: scope.text(v.sort, k)
                             for v, k in zip(instance.action.parameters, instance.arguments, strict=True)}
                if after in number:
                    edges.append({"source": number[own[row]], "target": number[after],
                                  "action": instance.action.name, "arguments": arguments})
    edges.sort(key=lambda edge: (edge["source"], edge["target"], edge["action"], str(edge["arguments"])))
    return {"nodes": nodes, "edges": edges}
