"""Subjects: what a name stands for, what lies on what, and what is expected of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from impl.variants.catalogue import REPAIRS
from impl.variants.subjects import composed, foundation_of, variants_of
from impl.variants.variant import VariantError, load_variant
from invariants.verdict import BadInputError, Outcome
from stateful_tests.worlds.subjects import subject_named, subject_on

SOURCE = """
from impl.broker.consumer_group_info import ConsumerGroupInfo
from impl.variants.variant import Variant, replace

@replace(ConsumerGroupInfo, "update_subscription")
async def add_only(self, sub_list, threads):
    return await self.add_subscriptions(sub_list, threads)

VARIANT = Variant(NAME, KIND, "Topics are never removed.", hazards=HAZARDS, replacements=(add_only,))
"""

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file with a variant; its path."""
    def written(kind: str, *hazards: str, name: str = "mine", folder: str = "") -> str:
        file = tmp_path / folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        source = SOURCE.replace("NAME", repr(name)).replace("KIND", repr(kind)).replace("HAZARDS", repr(hazards))
        file.write_text(source, "utf-8")
        return str(file)

    return written


@pytest.mark.parametrize(("kind", "hazards", "foundation"), [
    ("bug", (), "repaired"), ("repair", ("B-2",), "repaired-B-2"), ("repair", ("D1",), "repaired"),
    ("repair", ("N-1", "B-2", "D1"), "repaired-B-2,N-1"), ("change", (), "repaired-B-2,B-29"),
])
def test_a_variant_lies_on_what_its_kind_says(
    kind: str, hazards: tuple[str, ...], foundation: str, write: Write,
) -> None:
    file = write(kind, *hazards)
    assert foundation_of(load_variant(file)) == foundation
    assert subject_named(file).name == subject_on(None, file) == f"{foundation}+{file}"
    assert subject_named(file).base == foundation
    assert subject_named(file).kind == kind


@pytest.mark.parametrize("base", ["shipped", "repaired", "repaired-B-29", "repaired-B-2,N-1"])
def test_a_base_can_be_named(base: str, write: Write) -> None:
    file = write("change")
    subject = subject_named(subject_on(base, file))
    assert (subject.name, subject.base, subject.title, subject.file) == (
        f"{base}+{file}", base, f"{base}+mine", file)
    assert [one.name for one in subject.variants] == [*(one.name for one in variants_of(base)), "mine"]
    assert [one.name for one in subject.changes] == ["mine"]


def test_a_file_is_a_base_too(write: Write) -> None:
    before, after = write("change", name="before"), write("change", name="after")
    subject = subject_named(subject_on(before, after))
    assert subject.name == f"repaired-B-2,B-29+{before}+{after}"
    assert (subject.base, subject.title) == (subject_named(before).name, "repaired-B-2,B-29+before+after")
    assert [one.name for one in subject.changes] == ["after"]
    with pytest.raises(BadInputError, match="two of its variants are called before; give one of them another name"):
        subject_on(before, before)


def test_a_path_may_be_relative_and_have_a_plus(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write("bug", folder="c++")
    monkeypatch.chdir(tmp_path)
    assert composed(f"shipped+{os.path.relpath(file)}").name == f"shipped+{file}"
    assert composed(f"shipped+{file}").files == (file,)


def test_a_left_out_repair_opens_whatever_else_it_repairs() -> None:
    subject = subject_named("repaired-B-29")
    assert REPAIRS["update_in_one_step"].hazards == ("B-2", "B-29")
    assert subject.has("B-2")
    assert subject.may_break("pull_finds_its_subscription")  # B-2 need not be met
    assert not subject.may_break("subscription_version_never_goes_back")  # B-29 must be
    assert subject.explains(("pull_finds_its_subscription", "refused"))
    assert not subject_named("repaired").explains(("pull_finds_its_subscription", "refused"))


def test_of_a_repair_is_expected_that_its_hazards_are_gone_and_of_others_what_holds_of_their_base(write: Write) -> None:
    name = "newer_subscription_is_taken"
    of = {kind: subject_named(subject_on("repaired-B-29", write(kind, "B-29", name=kind)))
          for kind in ("repair", "change", "bug")}
    assert of["change"].expected(name) is of["bug"].expected(name) is Outcome.VIOLATED
    assert of["repair"].expected(name) is Outcome.HOLDS
    assert subject_named(subject_on("shipped", write("change"))).hazards(name) == subject_named("shipped").hazards(name)


@pytest.mark.parametrize(("kind", "says"), [
    ("", 'does not say its kind: add kind="change" if nothing may get worse, kind="bug" if'),
    ("No pull is late.", "does not say its kind: add"),
])
def test_a_file_that_does_not_say_its_kind_is_told_what_to_add(kind: str, says: str, write: Write) -> None:
    with pytest.raises(VariantError, match="variant mine does not say its kind") as error:
        load_variant(file := write(kind))
    assert str(error.value).startswith(f"{file}: ")
    assert says in str(error.value)
