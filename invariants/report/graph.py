"""Draws the reachable states of a small scope: matplotlib draws, the page embeds the SVG.

States stand in columns by their distance from the start, left to right; within a column they are ordered so that
transitions cross little. The picture names states by number; the page lists what each number is.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Mapping

import matplotlib as mpl
import networkx as nx
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from invariants.report.shapes import Graph, Node

LARGEST = 250  # states; beyond that a picture shows a tangle and no longer a protocol
_EDGE_LABELS = 30  # transitions; beyond that labels hide each other, and only the tooltips name the actions
_SWEEPS = 12  # passes of the barycentre ordering; further ones change nothing at this size

# matplotlib writes colours, the page wants its own variables (light, dark, print): each stand-in becomes a variable.
_LINE, _INK, _PAPER, _START = "#010101", "#020202", "#030303", "#040404"
_VARIABLES = {_LINE: "--line-strong", _INK: "--ink", _PAPER: "--surface", _START: "--holds"}

_Place = tuple[float, float]


def draw(graph: Graph, name: str) -> Markup:
    """The graph as an SVG element; name tells its ids apart from those of other pictures on the page.

    The same graph and name give the same bytes: places are computed without chance, ids are salted with the name.
    """
    places = _places(graph)
    heights = Counter(x for x, _ in places.values())  # of the columns
    columns, tallest = len(heights), max(heights.values())
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 8}):
        figure = Figure(figsize=(max(8.6, 1.05 * columns), max(1.8, 0.3 * tallest + 0.3)))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.margins(0.03, 0.6 / (tallest + 1))
        _edges(axes, graph, places)
        _nodes(axes, graph.nodes, places)
        raw = io.StringIO()
        figure.savefig(raw, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _embeddable(raw.getvalue(), graph, name)


def _places(graph: Graph) -> dict[str, _Place]:
    directed: nx.DiGraph[str] = nx.DiGraph()
    directed.add_nodes_from(node.id for node in graph.nodes)
    directed.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    depths = sorted({node.depth for node in graph.nodes})
    columns = [[node.id for node in graph.nodes if node.depth == depth] for depth in depths]
    _untangle(columns, directed)
    # Columns are spread over the whole height, short ones too, so that edges run flat.
    return {name: (float(at), -(row + 0.5) / len(column))
            for at, column in enumerate(columns) for row, name in enumerate(column)}


def _untangle(columns: list[list[str]], directed: nx.DiGraph[str]) -> None:
    """Order each column by the mean height of its neighbours in the column before, then after, a few times."""
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        order = columns[1:] if forward else columns[-2::-1]
        fixed = columns[0] if forward else columns[-1]
        for column in order:
            height = {name: at / max(1, len(fixed) - 1) for at, name in enumerate(fixed)}
            here = {name: at / max(1, len(column) - 1) for at, name in enumerate(column)}
            near = directed.predecessors if forward else directed.successors
            means = {name: _mean([height[other] for other in near(name) if other in height], here[name])
                     for name in column}
            column.sort(key=lambda name, means=means: means[name])  # type: ignore[misc]
            fixed = column


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _edges(axes: Axes, graph: Graph, places: Mapping[str, _Place]) -> None:
    both = {(edge.source, edge.target) for edge in graph.edges}
    for at, edge in enumerate(graph.edges):
        if edge.source == edge.target:
            continue  # a step that changes nothing moves nobody; the list of transitions has it
        (x1, y1), (x2, y2) = ends = places[edge.source], places[edge.target]
        bend = 0.18 if (edge.target, edge.source) in both or x1 >= x2 else 0.0
        axes.add_patch(FancyArrowPatch(
            *ends, connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>", mutation_scale=7,
            shrinkA=8.5, shrinkB=8.5, linewidth=0.8, color=_LINE, gid=f"edge-{at}", zorder=1))
        if len(graph.edges) <= _EDGE_LABELS:
            axes.text((x1 + x2) / 2, (y1 + y2) / 2, edge.label, color=_INK, fontsize=7, ha="center", va="bottom",
                      parse_math=False, zorder=3)


def _nodes(axes: Axes, nodes: tuple[Node, ...], places: Mapping[str, _Place]) -> None:
    for at, node in enumerate(nodes):
        x, y = places[node.id]
        initial = node.depth == 0
        axes.plot([x], [y], marker="s" if initial else "o", markersize=15, color=_INK, markerfacecolor=_PAPER,
                  markeredgewidth=2.2 if initial else 0.9, markeredgecolor=_START if initial else _INK,
                  gid=f"node-{at}", zorder=2)
        axes.text(x, y, str(at), color=_INK, fontsize=7, ha="center", va="center_baseline", zorder=4)


def _embeddable(svg: str, graph: Graph, name: str) -> Markup:
    """The svg element alone, scalable, with tooltips, the page's colours, and no id that another picture has."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    for stand_in, variable in _VARIABLES.items():
        svg = svg.replace(stand_in, f"var({variable})")
    titles = {f"node-{at}": f"{at}: {node.label}" for at, node in enumerate(graph.nodes)}
    titles |= {f"edge-{at}": edge.label for at, edge in enumerate(graph.edges)}
    svg = re.sub(r'<g id="((?:node|edge)-\d+)">', lambda found: f"<g><title>{escape(titles[found[1]])}</title>", svg)
    svg = re.sub(r'<g id="[a-z]+[a-z0-9_]*_\d+">', "<g>", svg)
    prefix = hashlib.sha256(name.encode()).hexdigest()[:8]
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>g{prefix}-", svg)
    return Markup(re.sub(r"\s*\n\s*", "\n", svg))  # noqa: S704 - matplotlib escapes labels, titles are escaped above
