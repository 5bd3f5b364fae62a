"""A throw-away JupyterLab on this machine, and a notebook in it as a page to act on.

Waits are on Lab's own state or on what is drawn, never for a time. Lab offers its application object to the page
(`expose_app_in_browser`), so that a test can ask the notebook itself.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # a test that names a check is skipped, not broken, where playwright is missing
    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Playwright, Request

ROOT = Path(__file__).parents[2]
CHROMIUM = Path(os.environ.get("BROWSER_PATH", "/usr/bin/chromium"))
TIMEOUT = 1000 * int(os.environ.get("BROWSER_TIMEOUT", "120"))  # ms; generous, since it only ends what has failed
_ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
)
_ARGUMENTS += "--disable-sync --disable-dev-shm-usage --force-color-profile=srgb --font-render-hinting=none"
_SETTINGS = {  # by plugin: draw all cells at once, end kernels with their notebooks, ask nobody for news, save nothing
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none", "kernelShutdown": True},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}
_OPTIONS = """--no-browser --allow-root --ip=127.0.0.1 --ServerApp.port_retries=0 --LabApp.expose_app_in_browser=True
    --LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate --LabApp.extension_manager=readonly
    --ServerApp.terminals_enabled=False --LanguageServerManager.autodetect=False""".split()


_KEEPS_ITS_WIDTH = """async () => {
    for (let last = -1, same = 0; same < 20; ) {
        await new Promise(requestAnimationFrame);
        const width = document.querySelector('.jp-Notebook').getBoundingClientRect().width;
        same = width === last ? same + 1 : 0;
        last = width;
    }
}"""

# The contrast of each visible text with what is painted behind it, by WCAG 2: colours as the browser computed them.
CONTRAST = """([root, least]) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => a * part + (1 - a) * below[i]).concat(1);
  const ground = (node) => {
    if (!node) return [1, 1, 1, 1];
    const own = rgba(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(node.parentElement));
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  for (const node of root.querySelectorAll('*')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || node.closest('style, :disabled, .gone') || !node.checkVisibility()) continue;
    const behind = ground(node), text = over(rgba(getComputedStyle(node).color), behind);
    const [low, high] = [light(behind), light(text)].sort((one, other) => one - other);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < least) faint.push(`${ratio.toFixed(2)} ${node.className}: ${node.textContent.trim().slice(0, 40)}`);
  }
  return faint;
}"""
# What ends to the right of the output that it belongs to.
OVERFLOW = """(root) => [...root.querySelectorAll('*')].filter((node) =>
  node.checkVisibility() && !node.closest('.gone, .cut') &&
  node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1
).map((node) => `${node.tagName}.${node.className}: ${node.textContent.trim().slice(0, 40)}`)"""
LEAST = 4.5


def launch(playwright: Playwright) -> Browser:
    """Return Debian's Chromium, or the one that BROWSER_PATH names, started without a screen."""
    return playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=_ARGUMENTS.split())


_LABS_SPLASH = "Failed to execute 'removeChild' on 'Node': The node to be removed is not a child of this node."


class LabServer:
    """JupyterLab over the folder `root`, on a free port, with settings and a kernel environment of its own."""

    def __init__(self, root: Path):
        self.root = root
        self._own = Path(tempfile.mkdtemp(prefix="lab-"))
        self._log = self._own / "server.log"
        self._port, self.token = _free_port(), secrets.token_hex(8)
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        for plugin, values in _SETTINGS.items():
            path = self._own / "settings" / f"{plugin}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))
        port = [f"--ServerApp.port={self._port}", f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.root}"]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", *_OPTIONS, *port],
                env=self._environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a process group of its own: ended as one, and nothing else with it
            )
        self._wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        shutil.rmtree(self._own, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        places = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "IPYTHONDIR": "ipython",
        }
        places |= {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
        own = {name: str(self._own / folder) for name, folder in places.items()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "JUPYTER", "COV_"))}
        return {**kept, **own, "PYTHONPATH": str(ROOT)}

    def _wait(self) -> None:
        """Wait until the server answers; one that ends instead raises with what it logged."""
        give_up = time.monotonic() + TIMEOUT / 1000
        while self._process.poll() is None and time.monotonic() < give_up:
            try:
                with urllib.request.urlopen(f"{self.url}/api/status?token={self.token}", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        log = self._log.read_text()[-2000:]
        self.__exit__(None, None, None)
        raise RuntimeError(f"JupyterLab did not start:\n{log}")


class Notebook:
    """A notebook open in a page, with what the page said on its console and whom it asked besides the server."""

    def __init__(self, page: Page, server: LabServer):
        self.page, self._server = page, server
        self.complaints: list[str] = []
        self.outside: list[str] = []
        page.set_default_timeout(TIMEOUT)
        page.on("console", self._hear)
        page.on("pageerror", self._note)
        page.on("request", self._see)

    def open(self, name: str) -> None:
        """Open a notebook of the server's folder alone in the page, and wait for its kernel."""
        self.page.goto(f"{self._server.url}/doc/tree/{name}?token={self._server.token}&reset")
        self._until("window.jupyterapp?.restored && window.jupyterapp.shell.currentWidget?.context?.isReady")
        self.page.evaluate(
            "async () => { const w = window.jupyterapp.shell.currentWidget; await w.revealed; await w.sessionContext.ready }"
        )
        self._until("window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.connectionStatus === 'connected'")
        self._until_idle()

    def command(self, name: str, **arguments: Any) -> None:
        """Run one of Lab's commands and wait until it has ended."""
        self.page.evaluate(
            "([name, given]) => window.jupyterapp.commands.execute(name, given).then(() => null)", [name, arguments]
        )

    def fit(self, place: Locator, width: int) -> None:
        """Make the page so wide that `place` is `width` pixels wide; Lab lays itself out some time after the page has changed."""
        for _ in range(8):
            self.settle()
            now = place.bounding_box()["width"]
            if abs(now - width) <= 2:
                return
            size = self.page.viewport_size
            self.page.set_viewport_size({"width": round(size["width"] + width - now), "height": 1600})
        raise AssertionError(f"the place stays {now} pixels wide, and should be {width}")

    def settle(self) -> None:
        """Wait until the notebook has kept its width for twenty frames."""
        self.page.evaluate(_KEEPS_ITS_WIDTH)

    def run_all(self) -> None:
        """Run all cells and wait until the kernel is idle again."""
        self.command("notebook:run-all-cells")
        self._until_idle()

    def use_theme(self, *, dark: bool) -> None:
        """Switch Lab's theme, and wait until the page has it and Lab's splash is gone: the next switch must not meet it."""
        self.command("apputils:change-theme", theme="JupyterLab Dark" if dark else "JupyterLab Light")
        self._until(f"document.body.dataset.jpThemeLight === '{str(not dark).lower()}'")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def _note(self, error: object) -> None:
        """Keep an error of the page, but for Lab's own when it takes its splash away twice."""
        if _LABS_SPLASH not in str(error):
            self.complaints.append(str(error))

    def cells(self) -> list[str]:
        """Return the ids of the cells, in order."""
        return self._ask("content.model.cells", "[...cells].map(cell => cell.id)")

    def errors(self) -> list[str]:
        """Return the errors among the outputs, as "name: value"."""
        outputs = "[...cells].flatMap(cell => cell.type === 'code' ? cell.outputs.toJSON() : [])"
        found = self._ask("content.model.cells", outputs)
        return [f"{output['ename']}: {output['evalue']}" for output in found if output["output_type"] == "error"]

    def shut_down(self) -> None:
        """End the notebook's kernel."""
        self.page.evaluate("async () => { await window.jupyterapp?.shell.currentWidget?.sessionContext.shutdown() }")

    def picture(self, name: str, of: Locator | None = None) -> None:
        """Save a screenshot where SCREENSHOTS names a folder."""
        if folder := os.environ.get("SCREENSHOTS"):
            (of or self.page).screenshot(path=Path(folder) / f"{name}.png")

    def _ask(self, what: str, script: str) -> Any:
        return self.page.evaluate(f"() => {{ const cells = window.jupyterapp.shell.currentWidget.{what}; return {script} }}")

    def _until(self, holds: str) -> None:
        self.page.wait_for_function(f"() => {holds}")

    def _until_idle(self) -> None:
        self._until("window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def _see(self, request: Request) -> None:
        here = (self._server.url, self._server.url.replace("http", "ws", 1), "data:", "blob:", "about:")
        if not request.url.startswith(here):
            self.outside.append(request.url)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
