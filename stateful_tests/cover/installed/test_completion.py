"""Completion of commands and options in bash and zsh."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from rocketproof import child
from stateful_tests.installed.environment import ran

BASH = """
eval "$(_ROCKETPROOF_COMPLETE=source_bash rocketproof)"
COMP_WORDS=(rocketproof {words}) COMP_CWORD={at}
_rocketproof_completion rocketproof
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ }}
_arguments() {{ print -r -- "$@" }}
source <(_ROCKETPROOF_COMPLETE=source_zsh rocketproof)
words=(rocketproof {words}) CURRENT=$(( {at} + 1 ))
_rocketproof_completion
"""
ASKED = [("ver", 1, "verify"), ("machine --vari", 2, "--variant")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the program `rocketproof`."""
    program = tmp_path / "rocketproof"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(child.PROGRAM)} "$@"\n', "utf-8")
    program.chmod(0o755)
    return tmp_path


def completed(shell: str, script: str, folder: Path) -> str:
    path = f"{folder}:{Path(str(shutil.which(shell))).parent}:/usr/bin:/bin"
    options = ["--norc"] if shell == "bash" else ["-f"]
    done: subprocess.CompletedProcess[str] = ran(shell, *options, "-c", script, PATH=path)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("words", "at", "wanted"), ASKED)
def test_bash_completes(words: str, at: int, wanted: str, folder: Path) -> None:
    assert completed("bash", BASH.format(words=words, at=at), folder).splitlines() == [wanted]


@pytest.mark.parametrize(("words", "at", "wanted"), ASKED[:1])
def test_zsh_completes(words: str, at: int, wanted: str, folder: Path) -> None:
    if shutil.which("zsh") is None:  # then what its script asks for is asked for
        done = ran(folder / "rocketproof", _ROCKETPROOF_COMPLETE="complete_zsh",
                   _TYPER_COMPLETE_ARGS=f"rocketproof {words}")
        assert f'"{wanted}"' in done.stdout
        return
    assert f'"{wanted}"' in completed("zsh", ZSH.format(words=words, at=at), folder)


def test_the_script_of_the_shell_is_shown(folder: Path) -> None:
    shown = completed("bash", "rocketproof --show-completion bash; true", folder)
    assert "complete -o default -F _rocketproof_completion rocketproof" in shown
