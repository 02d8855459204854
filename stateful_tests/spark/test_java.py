from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from invariants.verdict import BadInputError
from spark_fuzz import java


def program(home: Path, body: str = "echo mine") -> Path:
    path = home / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_java_home_of_the_user_wins(tmp_path: Path) -> None:
    program(tmp_path / "mine")
    assert java.java_home({"JAVA_HOME": str(tmp_path / "mine")}) == tmp_path / "mine"


def test_a_java_home_without_java_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"JAVA_HOME=.* has no bin/java .*unset it") as refused:
        java.java_home({"JAVA_HOME": str(tmp_path)})
    assert "\n" not in str(refused.value)


def test_a_java_home_that_is_the_wheels_own_gets_the_shim(tmp_path: Path) -> None:
    wheel = java.wheel_java()
    assert wheel is not None
    home = java.java_home({"JAVA_HOME": str(wheel.parent.parent), java.CACHE_VARIABLE: str(tmp_path)})
    assert home.parent == tmp_path


def test_the_shim_drops_one_argument_and_keeps_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = program(tmp_path / "a folder with 'quotes'", 'for a; do echo "<$a>"; done')
    monkeypatch.setattr(java, "wheel_java", lambda: real)
    home = java.java_home({java.CACHE_VARIABLE: str(tmp_path / "cache")})
    arguments = ["-Da=b c", java.DROPPED_ARGUMENT, "", "--add-modules=jdk.incubator.vector,other", "$HOME", "*"]
    told = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)  # noqa: S603 - our own script
    kept = [argument for argument in arguments if argument != java.DROPPED_ARGUMENT]
    assert told.stdout.splitlines() == [f"<{argument}>" for argument in kept]


def test_the_wheels_java_starts_with_the_argument_that_stops_it_without_the_shim(tmp_path: Path) -> None:
    home = java.java_home({java.CACHE_VARIABLE: str(tmp_path)})
    wheel = java.wheel_java()
    assert wheel is not None
    bare, shimmed = (
        subprocess.run([path, java.DROPPED_ARGUMENT, "-version"], capture_output=True, check=False).returncode  # noqa: S603 - the Java under test
        for path in (wheel, home / "bin" / "java")
    )
    assert (bare != 0, shimmed) == (True, 0)


def test_processes_that_write_the_shim_at_the_same_time_all_get_a_whole_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        homes = list(pool.map(lambda _: java.java_home({java.CACHE_VARIABLE: str(tmp_path)}), range(40)))
    assert len(set(homes)) == 1
    assert [path.name for path in (homes[0] / "bin").iterdir()] == ["java"]
    assert (homes[0] / "bin" / "java").stat().st_mode & 0o777 == 0o755


def test_two_installations_never_share_a_shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = []
    for name in ("one", "two"):
        real = program(tmp_path / name, f"echo {name}")
        monkeypatch.setattr(java, "wheel_java", lambda real=real: real)
        homes.append(java.java_home({java.CACHE_VARIABLE: str(tmp_path / "cache")}))
    assert homes[0] != homes[1]


def test_a_cache_that_cannot_be_written_names_the_variable_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadInputError, match="set ROCKETPROOF_CACHE"):
        java.java_home({java.CACHE_VARIABLE: str(tmp_path / "file" / "below")})


def test_without_the_wheel_the_java_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "wheel_java", lambda: None)
    program(tmp_path / "system")
    assert java.java_home({"PATH": str(tmp_path / "system" / "bin")}) == tmp_path / "system"


def test_no_java_at_all_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "wheel_java", lambda: None)
    with pytest.raises(BadInputError, match="pip install 'rocketproof"):
        java.java_home({"PATH": ""})
