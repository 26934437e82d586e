"""A model's folder: its files and the manifest that vouches for them."""

import hashlib
import json
from pathlib import Path


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_manifest(folder: Path, kind: str, rest: dict) -> None:
    """Everything in the folder is named with its SHA-256; what is not named is not read."""
    files = {path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.name != "manifest.json"}
    manifest = {"v": 1, "kind": kind, "files": files, **rest}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf8")
