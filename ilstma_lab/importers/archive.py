"""A zipped export: only the chat in it is read, into memory, never onto the disk."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib

from ilstma_lab.errors import FormatError
from ilstma_lab.importers.conversation import brief, listed

MAX_UNPACKED_BYTES = 512 * 2**20
MAX_PACKING = 100
"""How many times smaller a chat may be in the zip, above SMALL_BYTES: text packs 5 to 20 times, a zip bomb 1,000 times."""

SMALL_BYTES = 16 * 2**20

_CHATS = (
    re.compile(r"(^|/)conversations[^/]*\.json$"),  # ChatGPT, also in several files
    re.compile(r"(^|/)result\.json$"),  # Telegram
    re.compile(r"(^|/)(_chat|WhatsApp[^/]*)\.txt$"),
    re.compile(r"\.(json|jsonl|csv|txt)$", re.IGNORECASE),
)
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, OSError, ValueError)


def is_zip(data: bytes) -> bool:
    """Tell whether `data` begins like a zip file."""
    return data[:4] in (b"PK\x03\x04", b"PK\x05\x06")


def unzip(data: bytes, name: str) -> list[tuple[str, bytes]]:
    """Return name and bytes of the members that hold the chats: one, or the parts of a ChatGPT export in their order.

    Raises FormatError where no member, or more than one, could be meant, where the zip is broken or locked by a
    password, and where more than MAX_UNPACKED_BYTES would be unpacked, or MAX_PACKING times what was packed.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _chats([member for member in archive.infolist() if not member.is_dir()], name)
            return _read(archive, members, name)
    except FormatError:
        raise
    except _BROKEN as error:
        raise FormatError(
            f"{name}: this zip file cannot be read ({brief(str(error))}). Unpack it and give the chat's own file."
        ) from None


def _chats(members: list[zipfile.ZipInfo], name: str) -> list[zipfile.ZipInfo]:
    for number, pattern in enumerate(_CHATS):
        found = sorted((m for m in members if pattern.search(m.filename)), key=lambda member: member.filename)
        if len(found) == 1 or (found and number == 0):
            return found
        if found:
            break
    held = listed([member.filename for member in members]) or "nothing"
    raise FormatError(f"{name}: cannot tell which file in this zip is the chat (it holds {held}). Unpack it and give that file.")


def _read(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], name: str) -> list[tuple[str, bytes]]:
    unpacked, packed = sum(m.file_size for m in members), sum(m.compress_size for m in members)
    bomb = unpacked > SMALL_BYTES and unpacked > MAX_PACKING * packed
    if bomb or unpacked > MAX_UNPACKED_BYTES:
        limit = f"{MAX_PACKING} times what the zip holds" if bomb else f"{MAX_UNPACKED_BYTES // 2**20} MiB"
        raise FormatError(f"{name}: {brief(members[0].filename)} unpacks to more than {limit}. If you trust it, give that file.")
    for member in members:
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(f"{name}: {brief(member.filename)} is packed in an uncommon way. Unpack it and give that file.")
    return [(member.filename, archive.read(member)) for member in members]  # reads no more than the size that it states
