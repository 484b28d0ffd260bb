"""Packages of the npm registry that tests run on Node.js."""
import fcntl
import os
import shutil
import subprocess
import sys


def install(folder, package):
    """Installs what the folder's package.json names, `package` among it; the reason where that cannot be."""
    # One at a time: two tests that install into a folder at once leave half of a package.
    with open(folder / "package.json", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return install_alone(folder, package)


def install_alone(folder, package):
    if (folder / "node_modules" / package).is_dir():
        return None
    if shutil.which("npm") is None:
        return "npm is not installed"
    run = subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"], cwd=folder,
                         capture_output=True, text=True, timeout=300)
    return None if run.returncode == 0 else "npm install failed: " + run.stderr[-500:]


def install_or_skip(folder, package):
    reason = install(folder, package)
    if reason:
        print(f"skipped: {reason}")
        # Continuous integration has the packages; a silent skip there would hide that nothing was checked.
        sys.exit(1 if os.environ.get("CI") else 77)
