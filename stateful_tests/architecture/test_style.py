"""House rules that no linter knows: nothing in `finally`, no order out of sets, specifications without control flow."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("rocketproof", "model", "invariants", "impl", "stateful_tests", "proofs", "spark_fuzz", "bench")
PYTHON = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
SPECIFICATION = [path for room in ("model", "model/route_info", "invariants")
                 for path in sorted((ROOT / room).glob("*.py"))
                 if "from model.language import" in path.read_text("utf-8")
                 and ("@action(" in path.read_text("utf-8") or "@always(" in path.read_text("utf-8"))]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def text(path: Path) -> str:
    return path.read_text("utf-8")


def offending(rule: Callable[[str], list[Any]], paths: list[Path]) -> dict[str, list[Any]]:
    """What a rule finds, by file."""
    found = {named(path): rule(text(path)) for path in paths}
    return {name: offences for name, offences in found.items() if offences}


@cache
def nodes(source: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(source)))


def parsed(source: str) -> Iterator[Any]:
    yield from nodes(source)


# -- a kill must not run anything --------------------------------------------------------------------------------------


def cleanups(source: str) -> list[int]:
    """Lines of `finally` and `async with`: a simulated kill -9 closes coroutines, and would run what stands there."""
    return [node.lineno for node in parsed(source)
            if isinstance(node, ast.AsyncWith) or (isinstance(node, ast.Try | ast.TryStar) and node.finalbody)]


def test_nothing_happens_in_finally() -> None:
    hosts = ROOT / "impl" / "hosts"
    mortal = [path for path in PYTHON if path.is_relative_to(ROOT / "impl") and not path.is_relative_to(hosts)]
    assert len(mortal) > 30
    assert offending(cleanups, mortal) == {}


def test_an_effect_in_finally_is_noticed() -> None:
    assert cleanups("async def f():\n    try:\n        await x()\n    finally:\n        unlock()\n") == [2]
    assert cleanups("async def f():\n    async with lock:\n        pass\n") == [2]
    assert cleanups("try:\n    f()\nexcept OSError:\n    g()\n") == []


# -- nothing depends on the order of a set -----------------------------------------------------------------------------

_INDIFFERENT = ("sorted", "set", "frozenset", "any", "all", "sum", "len", "min", "max")
_ORDERING = ("list", "tuple", "enumerate", "zip", "iter", "next", "join", "fromkeys", "map", "filter")
_SET_OPERATIONS = ("union", "difference", "intersection", "symmetric_difference")


def is_set(node: ast.expr) -> bool:
    """Whether the expression is a set that was made right here."""
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ("set", "frozenset")
        case ast.Call(func=ast.Attribute(value=value, attr=name)):
            return name in _SET_OPERATIONS and is_set(value)
        case ast.BinOp(left=left, op=ast.Sub() | ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return is_set(left) or is_set(right)
    return False


def called(node: ast.AST | None) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def ordered_sets(source: str) -> list[int]:
    """Lines where the order of a set decides something: it differs from process to process when it holds strings."""
    parents = {child: node for node in parsed(source) for child in ast.iter_child_nodes(node)}
    loops = [node for node in parsed(source) if isinstance(node, ast.For | ast.AsyncFor)]
    found = [node.iter.lineno for node in loops if is_set(node.iter)]
    for node in parsed(source):
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp) and any(
                is_set(part.iter) for part in node.generators) and called(parents.get(node)) not in _INDIFFERENT:
            found.append(node.lineno)
        if isinstance(node, ast.Call) and called(node) in _ORDERING and any(map(is_set, node.args)):
            found.append(node.lineno)
        if isinstance(node, ast.Starred) and is_set(node.value) and not isinstance(parents[node], ast.Set):
            found.append(node.lineno)
    return found


def test_nothing_depends_on_the_order_of_a_set() -> None:
    assert len(PYTHON) > 150
    assert offending(ordered_sets, PYTHON) == {}


@pytest.mark.parametrize("source", [
    "for x in {a, b}:\n    f(x)", "[f(x) for x in set(names)]", "list(set(a) - b)", "', '.join({a, b})",
    "f(*{a, b})", "{x: 1 for x in frozenset(a).union(b)}", "next(iter({a, b}))",
])
def test_an_order_out_of_a_set_is_noticed(source: str) -> None:
    assert ordered_sets(source) == [1]


def test_sets_may_be_used_where_order_does_not_matter() -> None:
    for source in ("sorted(x for x in {a, b})", "{f(x) for x in set(a)}", "any(x for x in set(a))", "sorted({a} | b)"):
        assert ordered_sets(source) == []


# -- the repository stands alone ---------------------------------------------------------------------------------------

# Put together here, so that this file does not contain them.
FOREIGN = tuple("/".join(parts) for parts in (("", "work", ""), ("..", "shared"), ("", "root", ""), ("", "home", "")))


def committed() -> list[Path]:
    """The files that are, or are about to be, in the repository."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - of the PATH
                            cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        return PYTHON
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def foreign(content: str) -> list[str]:
    return [path for path in FOREIGN if path in content]


def test_no_file_refers_to_a_place_outside_the_repository() -> None:
    found = {}
    for path in committed():
        content = path.read_bytes()
        if b"\0" not in content[:1024] and path.suffix not in (".jsonl", ".gz") and foreign(content.decode("utf-8")):
            found[named(path)] = foreign(content.decode("utf-8"))
    assert found == {}
    assert len(committed()) > 100


def test_a_place_outside_is_noticed() -> None:
    assert foreign(f"see {FOREIGN[1]}/design.md") == [FOREIGN[1]]


# -- specifications read like specifications ---------------------------------------------------------------------------

_DECLARING = ("action", "always", "step", "sometimes", "lemma", "lemma_given", "leads_to", "initially", "premise",
              "tight")
_FLOW = (ast.If, ast.IfExp, ast.While, ast.Try, ast.With, ast.BoolOp, ast.Match, ast.Assert, ast.Raise, ast.Lambda)


def undocumented(source: str) -> list[str]:
    """Sorts, concepts, actions and properties without a sentence."""
    return [node.name for node in parsed(source) if isinstance(node, ast.FunctionDef | ast.ClassDef)
            and (_is_declared(node) and not (ast.get_docstring(node) or "").strip())]


def _is_declared(node: ast.FunctionDef | ast.ClassDef) -> bool:
    if isinstance(node, ast.ClassDef):
        return True
    names = [called(one) or getattr(one, "id", "") for one in node.decorator_list]
    return not node.name.startswith("_") or any(name in _DECLARING for name in names)


def control_flow(source: str) -> list[str]:
    """What a declaration has no use for: branches, loops over anything but elements, identity of Python objects."""
    found = []
    for node in parsed(source):
        in_setof = isinstance(node, ast.Lambda) and len(node.args.args) == 1
        if isinstance(node, _FLOW) and not in_setof:
            found.append(f"{node.lineno}: {type(node).__name__}")
        if isinstance(node, ast.For) and called(node.iter) != "every":
            found.append(f"{node.lineno}: a loop over {ast.unparse(node.iter)}")
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.comprehension) and (node.ifs or called(node.iter) != "every"):
            found.append(f"{node.iter.lineno}: a comprehension over {ast.unparse(node.iter)}")
    return found


def test_every_declaration_has_a_sentence() -> None:
    assert offending(undocumented, SPECIFICATION) == {}


def test_a_specification_has_no_control_flow() -> None:
    assert offending(control_flow, SPECIFICATION) == {}


def test_there_are_specifications() -> None:
    names = {named(path) for path in SPECIFICATION}
    assert names >= {f"{room}/{concept}.py" for room in ("model", "invariants") for concept in (
        "consumer_group", "order_lock", "registration", "subscription")}
    assert names >= {"invariants/route_info.py", *(f"model/route_info/{name}.py" for name in (
        "cache", "routes", "servers", "topics"))}


def test_a_declaration_without_a_sentence_is_noticed() -> None:
    assert undocumented('@action("x")\ndef f(s: S) -> None:\n    s.a = TRUE\n') == ["f"]
    assert undocumented("@lemma\ndef _f(s: S) -> Bool:\n    return s.a\n") == ["_f"]
    assert undocumented("class Member(Sort):\n    pass\n") == ["Member"]
    assert undocumented('class Member(Sort):\n    """A member."""\n') == []


@pytest.mark.parametrize("line", [
    "if s.a:\n    pass", "x = a if b else c", "a and b", "for q in queues:\n    pass", "m is not q", "m in view",
    "forall(f(x) for x in every(M) if f(x))", "forall(f(x) for x in members)",
])
def test_control_flow_in_a_specification_is_noticed(line: str) -> None:
    assert control_flow(line)


# -- names and tests ---------------------------------------------------------------------------------------------------


def vague(source: str) -> list[str]:
    """Classes with a name that says nothing; in impl they are Java's."""
    return [node.name for node in parsed(source)
            if isinstance(node, ast.ClassDef) and node.name.endswith(("Manager", "Helper", "Util", "Utils"))]


def test_no_class_is_called_manager_helper_or_util() -> None:
    assert offending(vague, [path for path in PYTHON if not path.is_relative_to(ROOT / "impl")]) == {}
    assert vague("class QueueHelper:\n    pass\n") == ["QueueHelper"]


MUST_NOT_RAISE = {
    ("stateful_tests/cover/store/test_replication_model.py", "test_replication_refines_its_model"),
    ("stateful_tests/cover/tables/test_broker.py", "test_expressions_that_compile"),
}


def without_assertion(source: str) -> list[str]:
    """Tests that cannot fail by what they find: they assert nothing, expect no error and call no judge."""
    tests = [node for node in parsed(source) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return [test.name for test in tests if not any(map(_judges, ast.walk(test)))]


def _judges(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return isinstance(node, ast.Assert) or name in ("raises", "warns", "fail") or name.startswith(("assert_", "check_"))


def test_every_test_asserts_something() -> None:
    found = offending(without_assertion, [path for path in PYTHON if path.name.startswith("test_")])
    assert {(name, test) for name, tests in found.items() for test in tests} == MUST_NOT_RAISE


def test_a_test_that_asserts_nothing_is_noticed() -> None:
    assert without_assertion("def test_it():\n    run()\n") == ["test_it"]
    assert without_assertion("def test_it():\n    with pytest.raises(ValueError):\n        run()\n") == []
