"""Make RECORD-true wheels of what is installed in a venv: `python tests/repacked.py PREFIX OUTDIR [--lock FILE]`.

For machines without an index: a venv's own distributions become a wheelhouse and a hashed lock of exactly its bytes.
Standard library alone, Python 3.9+; blocks go through memory one at a time, one process a core.
"""

import argparse
import base64
import configparser
import csv
import email.parser
import hashlib
import io
import json
import multiprocessing
import os
import re
import stat
import sys
import zipfile
from pathlib import Path

BLOCK = 1 << 20
WRITTEN = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json")
"""Files of a dist-info that the installer wrote, not the wheel."""
VERSIONED = {"pip": re.compile(r"pip[\d.]*"), "setuptools": re.compile(r"easy_install[-\d.]*")}
"""Commands that installers name after the Python at hand."""
SHEBANG = re.compile(rb"(?:#![^\n]*/python[\d.t]*[ \t]*|#!/bin/sh\n'''exec' [^\n]*/python[\d.t]*[^\n]*\n' ''')\n")


def repack(prefix, folder, jobs=0):
    """Pack every distribution; return (name, version, file name, sha256) of each, and what was left out and why."""
    os.makedirs(folder, exist_ok=True)
    prefix = os.path.realpath(prefix)
    infos = sorted(Path(prefix).glob("lib/python3*/site-packages/*.dist-info"), key=_weight, reverse=True)
    work = [(prefix, str(info), os.fspath(folder)) for info in infos]
    jobs = min(jobs or os.cpu_count() or 1, len(work) or 1)
    if jobs == 1:
        done = [_packed(item) for item in work]
    else:
        with multiprocessing.Pool(jobs) as pool:
            done = list(pool.imap_unordered(_packed, work, 1))
    packed = sorted(found for found, _ in done if found)
    return packed, sorted(said for _, notes in done for said in notes)


def lock(packed):
    """Return a requirements file that pins and hashes them."""
    return "".join(f"{name}=={version} \\\n    --hash=sha256:{digest}\n" for name, version, _, digest in packed)


def _weight(info):
    """Sum the sizes that a RECORD gives: the largest is packed first."""
    try:
        return sum(int(row[2] or 0) for row in _rows(info) if len(row) == 3)
    except (OSError, ValueError):
        return 0


def _rows(info):
    with open(os.path.join(info, "RECORD"), encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def _packed(item):
    prefix, info, folder = item
    stem = os.path.basename(info)[: -len(".dist-info")]
    project, _, version = stem.rpartition("-")
    try:
        if _is_editable(info):
            return None, [f"{stem}: left out, it is an editable install"]
        tag = _tag(info)
        rows = _rows(info)
    except OSError as error:
        return None, [f"{stem}: left out, {error}"]
    name = re.sub(r"[-_.]+", "-", project).lower()
    file = f"{project.replace('-', '_')}-{version}-{tag}.whl"
    notes = []
    path = os.path.join(folder, file)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as wheel:
        record = [_stored(wheel, *member) for member in _members(prefix, info, stem, name, rows, notes)]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*record, (f"{stem}.dist-info/RECORD", "", "")])
        wheel.writestr(_header(f"{stem}.dist-info/RECORD", 0o644), text.getvalue())
    return (name, version, file, _sha256(path)), notes


def _is_editable(info):
    try:
        with open(os.path.join(info, "direct_url.json"), encoding="utf-8") as stream:
            return bool(json.load(stream).get("dir_info", {}).get("editable"))
    except FileNotFoundError:
        return False


def _tag(info):
    """Return the compatibility tags, compressed as in a file name, the build number before them."""
    with open(os.path.join(info, "WHEEL"), encoding="utf-8") as stream:
        said = email.parser.HeaderParser().parse(stream)
    tags = [tag.strip().split("-") for tag in said.get_all("Tag") or ["py3-none-any"]]
    parts = [".".join(dict.fromkeys(tag[place] for tag in tags)) for place in range(3)]
    return "-".join([*([said["Build"]] if said["Build"] else []), *parts])


def _members(prefix, info, stem, name, rows, notes):
    """Yield (name in the wheel, path on disk, first bytes to be replaced) of each file that the wheel had."""
    site, commands = os.path.dirname(info), _commands(info)
    seen = set()
    for row in rows:
        path = os.path.normpath(os.path.join(site, row[0]))
        if path in seen or (row[0].endswith(".pyc") and not row[1]):
            continue
        seen.add(path)
        if os.path.dirname(path) == info and os.path.basename(path) in WRITTEN:
            continue
        if not os.path.isfile(path):
            notes.append(f"{stem}: {row[0]} is not there")
        elif path.startswith(site + os.sep):
            yield os.path.relpath(path, site), path, b""
        elif not path.startswith(prefix + os.sep):
            notes.append(f"{stem}: {row[0]} lies outside the environment")
        elif not _is_command(os.path.relpath(path, prefix), name, commands):
            inside, shebang = _data(os.path.relpath(path, prefix), path)
            yield f"{stem}.data/{inside}", path, shebang


def _is_command(inside, name, commands):
    """Tell whether the installer makes it of an entry point."""
    folder, _, script = inside.rpartition("/")
    return folder == "bin" and (script in commands or (name in VERSIONED and bool(VERSIONED[name].fullmatch(script))))


def _commands(info):
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str
    parser.read(os.path.join(info, "entry_points.txt"), encoding="utf-8")
    sections = ("console_scripts", "gui_scripts")
    return {name for section in sections if parser.has_section(section) for name in parser.options(section)}


def _data(inside, path):
    """Return the place in `.data` of a file outside site-packages, and the first line that its installer wrote."""
    if inside.startswith("bin/"):
        with open(path, "rb") as stream:
            match = SHEBANG.match(stream.read(4096))
        return f"scripts/{inside[4:]}", match[0] if match else b""
    header = re.match(r"include/site/python3\.\d+/[^/]+/(.+)", inside)
    return (f"headers/{header[1]}" if header else f"data/{inside}"), b""


def _stored(wheel, name, path, shebang):
    """Store a file; return its row of RECORD."""
    with open(path, "rb") as source:
        status = os.fstat(source.fileno())
        header = _header(name, stat.S_IMODE(status.st_mode))
        header.file_size = status.st_size
        digest, size = hashlib.sha256(), 0
        source.seek(len(shebang))
        with wheel.open(header, "w", force_zip64=status.st_size > 1 << 30) as target:
            block = b"#!python\n" if shebang else source.read(BLOCK)
            while block:
                digest.update(block)
                size += len(block)
                target.write(block)
                block = source.read(BLOCK)
    return name, f"sha256={base64.urlsafe_b64encode(digest.digest()).rstrip(b'=').decode()}", str(size)


def _header(name, mode):
    header = zipfile.ZipInfo(name)  # dated 1980-01-01: the same files give the same wheel
    header.create_system = 3
    header.external_attr = (stat.S_IFREG | (0o755 if mode & 0o111 else 0o644)) << 16
    return header


def _sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for block in iter(lambda: stream.read(BLOCK), b""):
            digest.update(block)
    return digest.hexdigest()


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("prefix")
    parser.add_argument("outdir")
    parser.add_argument("--lock", help="write a hashed requirements file")
    parser.add_argument("--jobs", type=int, default=0, help="processes; all cores if not said")
    asked = parser.parse_args(argv)
    packed, notes = repack(asked.prefix, asked.outdir, asked.jobs)
    if asked.lock:
        Path(asked.lock).write_text(lock(packed), encoding="utf-8")
    for note in notes:
        print(note, file=sys.stderr)
    print(f"{len(packed)} wheels in {asked.outdir}")


if __name__ == "__main__":
    main(sys.argv[1:])
