"""A server on loopback that speaks the Hub's protocol, for tests. Only Python's standard library.

    python3 tests/hub/server.py --root FOLDER [--port 0] [--tls CERT KEY] [--fault KIND[:TEXT[:COUNT]]]... [--log FILE]

The first line on standard output is the URL for HF_ENDPOINT. The server ends when its standard input closes (with
--stay: when it is killed). FOLDER holds the repositories, which may be added while the server runs:

    FOLDER/models/OWNER/NAME/...                the files of a model, revision main
    FOLDER/datasets/OWNER/NAME/...              the files of a data set, revision main
    FOLDER/models/OWNER/NAME@REVISION/...       another revision; a slash in REVISION is written %2F
    FOLDER/renamed.json                         {"models/old-name": "models/OWNER/NAME"}: redirects, as for old short names
    FOLDER/access.json                          {"models/OWNER/NAME": "gated" or "private"}

The token hf_test belongs to the user `tester`, who may read and write everything; hf_other to `stranger`, who may write
nothing and is not let into gated repositories. Weights, archives, Parquet files and files above --lfs_threshold bytes
are LFS files: their download is redirected to a second port, the "CDN".

Faults, each for the files or URLs that contain TEXT, the first COUNT times (default: always):
    cut           the transfer ends after half of the bytes
    corrupt       one byte of the contents is wrong
    slow          half a second passes before the contents come
    error         status 500
    no_range      range requests are answered with the whole file
    etag          the ETag is ../../../outside
    outside       the list of files also has ../../../outside.txt, with contents
    multipart     LFS uploads are split into parts of 1000 bytes
    reject        the verification of an LFS upload fails
"""
import argparse
import base64
import collections
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import ssl
import sys
import threading
import time
import urllib.parse

TOKENS = {"hf_test": "tester", "hf_other": "stranger"}
LFS_ENDINGS = (".safetensors", ".bin", ".pt", ".pth", ".parquet", ".arrow", ".gz", ".zst", ".zip")
OUTSIDE = "../../../outside.txt"


def git_blob_id(contents):
    return hashlib.sha1(b"blob %d\0" % len(contents) + contents).hexdigest()


class Failure(Exception):
    """An answer other than the one asked for."""

    def __init__(self, status, message, code=None, headers=None):
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers or {}


class File:
    def __init__(self, path, contents, lfs_threshold):
        self.path, self.contents, self.size = path, contents, len(contents)
        self.sha256 = hashlib.sha256(contents).hexdigest()
        self.is_lfs = self.size > 0 and (path.endswith(LFS_ENDINGS) or self.size > lfs_threshold)
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {self.size}\n".encode()
        self.pointer_size = len(pointer)
        self.blob_id = git_blob_id(pointer if self.is_lfs else contents)
        self.etag = self.sha256 if self.is_lfs else self.blob_id

    def entry(self):
        found = {"type": "file", "oid": self.blob_id, "size": self.size, "path": self.path}
        if self.is_lfs:
            found["lfs"] = {"oid": self.sha256, "size": self.size, "pointerSize": self.pointer_size}
        return found


class Repository:
    """A repository at one revision, as it is on disk now."""

    def __init__(self, folder, lfs_threshold):
        self.files = {}
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                self.files[name] = File(name, path.read_bytes(), lfs_threshold)
        listing = "".join(f"{file.blob_id} {name}\n" for name, file in self.files.items())
        self.commit = hashlib.sha1(f"{folder}\n{listing}".encode()).hexdigest()


class Hub:
    """The repositories, the uploads under way and the faults."""

    def __init__(self, options):
        self.root, self.lfs_threshold = pathlib.Path(options.root), options.lfs_threshold
        self.page_size = options.page_size
        self.lock = threading.RLock()
        self.uploaded, self.parts = {}, collections.defaultdict(dict)  # LFS objects by sha256
        self.faults = []
        for fault in options.fault:
            kind, text, count = (fault.split(":") + ["", ""])[:3]
            self.faults.append([kind, text, int(count) if count else -1])
        self.log = open(options.log, "a") if options.log else None
        self.url = self.cdn_url = ""

    def fault(self, kind, text):
        with self.lock:
            for row in self.faults:
                if row[0] == kind and row[1] in text and row[2] != 0:
                    row[2] -= 1
                    return True
        return False

    def table(self, name):
        file = self.root / name
        return json.loads(file.read_text()) if file.exists() else {}

    def folder(self, kind, name, revision):
        folder = self.root / kind / name
        return folder if revision == "main" else folder.with_name(f"{folder.name}@{urllib.parse.quote(revision, safe='')}")

    def revisions(self, kind, name):
        folder = self.root / kind / name
        others = [urllib.parse.unquote(other.name.split("@", 1)[1]) for other in folder.parent.glob(folder.name + "@*")]
        return ["main"] + others

    def repository(self, kind, name, revision, user):
        """The repository, or the Failure that the Hub answers with."""
        access = self.table("access.json").get(f"{kind}/{name}", "public")
        exists = (self.root / kind / name).is_dir()
        if not exists or (access == "private" and user != "tester"):
            raise Failure(404 if user else 401, "Repository not found" if user else "Invalid username or password.",
                          "RepoNotFound")
        if access == "gated" and user != "tester":
            if user is None:
                raise Failure(401, f"Access to {kind[:-1]} {name} is restricted. You must have access to it and be "
                              "authenticated to access it. Please log in.", "GatedRepo")
            raise Failure(403, f"Access to {kind[:-1]} {name} is restricted and you are not in the authorized list.",
                          "GatedRepo")
        with self.lock:
            if self.folder(kind, name, revision).is_dir():
                return Repository(self.folder(kind, name, revision), self.lfs_threshold)
            if re.fullmatch(r"[0-9a-f]{40}", revision):
                for other in self.revisions(kind, name):
                    found = Repository(self.folder(kind, name, other), self.lfs_threshold)
                    if found.commit == revision:
                        return found
        raise Failure(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def write(self, kind, name, revision, operations):
        """Applies a commit: {path: bytes, or None for a file to delete}."""
        with self.lock:
            folder = self.folder(kind, name, revision)
            for path, contents in operations.items():
                file = folder / path
                if folder.resolve() not in file.resolve().parents:
                    raise Failure(400, f"{path} leaves the repository")
                if contents is None:
                    file.unlink(missing_ok=True)
                else:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(contents)
            return Repository(folder, self.lfs_threshold)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub = None
    is_cdn = False

    # ---- plumbing ----

    def log_message(self, *_):
        pass

    def user(self):
        header = self.headers.get("Authorization")
        if header is None:
            return None
        token = header.removeprefix("Bearer ")
        if token not in TOKENS:
            raise Failure(401, "Invalid credentials in Authorization header")
        return TOKENS[token]

    def writer(self):
        user = self.user()
        if user is None:
            raise Failure(401, "Invalid username or password.")
        if user != "tester":
            raise Failure(403, "Forbidden: you must use a write token to write to this repository.")
        return user

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status, contents=b"", headers=None, cut=False):
        if not isinstance(contents, bytes):
            contents, headers = json.dumps(contents).encode(), {"Content-Type": "application/json", **(headers or {})}
        headers = headers or {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(contents)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(contents[:len(contents) // 2] if cut else contents)
        if cut:
            self.wfile.flush()
            self.close_connection = True

    def refuse(self, failure):
        headers = {"X-Error-Message": str(failure), **failure.headers}
        if failure.code:
            headers["X-Error-Code"] = failure.code
        self.answer(failure.status, {"error": str(failure)}, headers)

    def handle_request(self):
        target = urllib.parse.urlsplit(self.path)  # a client that uses this server as its proxy sends the whole URL
        self.query = dict(urllib.parse.parse_qsl(target.query))
        self.place = target.path
        self.data = self.body()
        if self.hub.log:
            with self.hub.lock:
                self.hub.log.write(json.dumps({
                    "method": self.command, "path": target.path, "cdn": self.is_cdn, "proxied": bool(target.netloc),
                    "range": self.headers.get("Range"), "authorization": self.headers.get("Authorization")}) + "\n")
                self.hub.log.flush()
        try:
            if self.hub.fault("error", target.path):
                raise Failure(500, "Internal error")
            for pattern, methods, action in CDN_ROUTES if self.is_cdn else ROUTES:
                match = re.fullmatch(pattern, target.path)
                if match and self.command in methods:
                    return action(self, **{key: urllib.parse.unquote(value or "")
                                           for key, value in match.groupdict().items()})
            raise Failure(404, f"No such page: {target.path}")
        except Failure as failure:
            self.refuse(failure)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request

    def redirect_renamed(self, kind, name):
        """Whether the repository has another name today; then the answer is a redirect to it."""
        new = self.hub.table("renamed.json").get(f"{kind}/{name}")
        if new is None:
            return False
        old = name if kind == "models" and not self.place.startswith("/api/") else f"{kind}/{name}"
        new = new.removeprefix("models/") if not self.place.startswith("/api/") else new
        query = urllib.parse.urlsplit(self.path).query
        self.answer(307, b"", {"Location": self.place.replace(old, new, 1) + (f"?{query}" if query else "")})
        return True

    # ---- reading ----

    def info(self, kind, name, revision):
        if self.redirect_renamed(kind, name):
            return
        found = self.hub.repository(kind, name, revision or "main", self.user())
        siblings = []
        for file in found.files.values():
            row = {"rfilename": file.path}
            if self.query.get("blobs"):
                row |= {"size": file.size, "blobId": file.blob_id}
                if file.is_lfs:
                    row["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": file.pointer_size}
            siblings.append(row)
        if self.hub.fault("outside", self.place):
            siblings.append({"rfilename": OUTSIDE, "size": 4, "blobId": git_blob_id(b"evil")})
        access = self.hub.table("access.json").get(f"{kind}/{name}", "public")
        self.answer(200, {"_id": "0" * 24, "id": name, "modelId": name, "author": name.split("/")[0], "sha": found.commit,
                          "lastModified": "2026-01-01T00:00:00.000Z", "private": access == "private",
                          "gated": "auto" if access == "gated" else False, "disabled": False, "downloads": 0,
                          "likes": 0, "tags": [], "siblings": siblings, "createdAt": "2026-01-01T00:00:00.000Z"})

    def tree(self, kind, name, revision, folder):
        if self.redirect_renamed(kind, name):
            return
        found = self.hub.repository(kind, name, revision, self.user())
        prefix = folder.strip("/") + "/" if folder.strip("/") else ""
        rows, folders = [], set()
        for file in found.files.values():
            if not file.path.startswith(prefix):
                continue
            inner = file.path[len(prefix):]
            parents = [prefix + "/".join(inner.split("/")[:i]) for i in range(1, inner.count("/") + 1)]
            recursive = self.query.get("recursive", "").lower() in ("1", "true")
            for parent in parents if recursive else parents[:1]:
                if parent not in folders:
                    folders.add(parent)
                    rows.append({"type": "directory", "oid": hashlib.sha1(parent.encode()).hexdigest(), "size": 0,
                                 "path": parent})
            if recursive or not parents:
                rows.append(file.entry())
        if prefix and not rows:
            raise Failure(404, f"{folder} does not exist", "EntryNotFound")
        begin = int(self.query.get("cursor", 0))
        page, headers = rows[begin:begin + self.hub.page_size], {}
        if begin + len(page) < len(rows):
            query = urllib.parse.urlencode({**self.query, "cursor": begin + len(page)})
            headers["Link"] = f'<{self.hub.url}{self.place}?{query}>; rel="next"'
        self.answer(200, page, headers)

    def paths_info(self, kind, name, revision):
        if self.redirect_renamed(kind, name):
            return
        found = self.hub.repository(kind, name, revision, self.user())
        if "json" in self.headers.get("Content-Type", ""):
            paths = json.loads(self.data)["paths"]
        else:
            paths = urllib.parse.parse_qs(self.data.decode()).get("paths", [])
        rows = []
        for path in paths:
            if path in found.files:
                rows.append(found.files[path].entry())
            elif any(other.startswith(path.rstrip("/") + "/") for other in found.files):
                rows.append({"type": "directory", "oid": hashlib.sha1(path.encode()).hexdigest(), "size": 0, "path": path})
        self.answer(200, rows)

    def refs(self, kind, name):
        if self.redirect_renamed(kind, name):
            return
        user = self.user()
        rows = {"branches": [], "converts": [], "tags": [], "pullRequests": []}
        for revision in self.hub.revisions(kind, name):
            is_convert = revision.startswith("refs/convert/")
            rows["converts" if is_convert else "branches"].append({
                "name": revision.removeprefix("refs/convert/"),
                "ref": revision if revision.startswith("refs/") else f"refs/heads/{revision}",
                "targetCommit": self.hub.repository(kind, name, revision, user).commit})
        self.answer(200, rows)

    def resolve(self, name, revision, path, kind="models"):
        kind = kind or "models"
        if self.redirect_renamed(kind, name):
            return
        if self.hub.fault("outside", path) or path == OUTSIDE:
            return self.answer(200, b"evil", {"ETag": '"outside"', "X-Repo-Commit": "0" * 40})
        found = self.hub.repository(kind, name, revision, self.user())
        file = found.files.get(path)
        headers = {"X-Repo-Commit": found.commit, "Accept-Ranges": "bytes"}
        if file is None:
            raise Failure(404, "Entry not found", "EntryNotFound", headers)
        etag = "../../../outside" if self.hub.fault("etag", path) else file.etag
        if file.is_lfs:
            location = f"{self.hub.cdn_url}/cdn/{kind}/{name}/{found.commit}/{file.sha256}?signature=of-{file.size}"
            text = f"Found. Redirecting to {location}".encode()
            return self.answer(302, text, {**headers, "Location": location, "ETag": f'"{file.blob_id}"',
                                           "X-Linked-Size": str(file.size), "X-Linked-ETag": f'"{etag}"'})
        place = f"/api/resolve-cache/{kind}/{name}/{found.commit}/{urllib.parse.quote(path, safe='')}"
        self.answer(307, b"Temporary redirect", {**headers, "Location": f"{place}?etag={urllib.parse.quote(file.etag)}",
                                                 "X-Linked-Size": str(file.size), "X-Linked-ETag": f'"{etag}"'})

    def resolve_cache(self, kind, name, revision, path):
        found = self.hub.repository(kind, name, revision, self.user())
        file = found.files[path]
        etag = "../../../outside" if self.hub.fault("etag", path) else file.etag
        self.send_contents(file.contents, path, {"ETag": f'"{etag}"', "X-Repo-Commit": found.commit})

    def cdn(self, kind, name, commit, sha256):
        if self.headers.get("Authorization") is not None:
            raise Failure(400, "Only one auth mechanism allowed")  # as the real one; the URL is signed
        for revision in self.hub.revisions(kind, name):
            for file in Repository(self.hub.folder(kind, name, revision), self.hub.lfs_threshold).files.values():
                if file.sha256 == sha256:
                    return self.send_contents(file.contents, file.path, {"ETag": f'"{sha256}"'})
        raise Failure(404, f"no such object: {sha256} of {commit}")

    def send_contents(self, contents, path, headers):
        if self.hub.fault("corrupt", path) and contents:
            contents = bytes([contents[0] ^ 1]) + contents[1:]
        cut = self.command == "GET" and self.hub.fault("cut", path)
        if self.command == "GET" and self.hub.fault("slow", path):
            time.sleep(0.5)
        headers = {"Content-Type": "application/octet-stream", "Accept-Ranges": "bytes", **headers}
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if match and not self.hub.fault("no_range", path):
            begin, end = int(match[1]), min(int(match[2] or len(contents) - 1), len(contents) - 1)
            if begin >= len(contents):
                raise Failure(416, "Range not satisfiable", headers={"Content-Range": f"bytes */{len(contents)}"})
            headers["Content-Range"] = f"bytes {begin}-{end}/{len(contents)}"
            return self.answer(206, contents[begin:end + 1], headers, cut)
        if self.command == "HEAD":
            headers["Content-Length"] = str(len(contents))
        self.answer(200, contents, headers, cut)

    # ---- writing ----

    def whoami(self):
        user = self.user()
        if user is None:
            raise Failure(401, "Invalid username or password.")
        self.answer(200, {"type": "user", "id": "0" * 24, "name": user, "fullname": user, "email": "", "isPro": False,
                          "orgs": [], "auth": {"type": "access_token", "accessToken": {"displayName": "test",
                                                                                       "role": "write"}}})

    def validate_yaml(self):
        self.answer(200, {"errors": [], "warnings": []})

    def create(self):
        user, wanted = self.writer(), json.loads(self.data)
        kind = wanted.get("type", "model") + "s"
        name = f"{wanted.get('organization') or user}/{wanted['name']}"
        url = f"{self.hub.url}/{'' if kind == 'models' else kind + '/'}{name}"
        folder = self.hub.folder(kind, name, "main")
        with self.hub.lock:
            if folder.is_dir():
                raise Failure(409, "You already created this repo")
            folder.mkdir(parents=True)
            (folder / ".gitattributes").write_text("".join(f"*{ending} filter=lfs\n" for ending in LFS_ENDINGS))
            if wanted.get("private"):
                table = self.hub.table("access.json") | {f"{kind}/{name}": "private"}
                (self.hub.root / "access.json").write_text(json.dumps(table))
        self.answer(200, {"url": url, "name": name, "id": "0" * 24})

    def branch(self, kind, name, revision):
        self.writer()
        new = self.hub.folder(kind, name, revision)
        if new.is_dir():
            raise Failure(409, "Reference already exists")
        shutil.copytree(self.hub.folder(kind, name, "main"), new)
        self.answer(200, {})

    def preupload(self, kind, name, revision):
        found = self.hub.repository(kind, name, revision, self.writer())
        rows = []
        for wanted in json.loads(self.data)["files"]:
            path = wanted["path"]
            base64.b64decode(wanted["sample"], validate=True)
            is_lfs = path.endswith(LFS_ENDINGS) or wanted["size"] > self.hub.lfs_threshold
            there = found.files.get(path)
            rows.append({"path": path, "uploadMode": "lfs" if is_lfs else "regular", "shouldIgnore": False,
                         "oid": there.etag if there else None})
        self.answer(200, {"files": rows})

    def lfs_batch(self, name, kind="models"):
        kind, user, wanted = kind or "models", self.writer(), json.loads(self.data)
        if self.headers.get("Accept") != "application/vnd.git-lfs+json":
            raise Failure(400, "the LFS protocol has a media type of its own")
        revision = wanted.get("ref", {}).get("name", "main")
        there = {file.sha256 for file in self.hub.repository(kind, name, revision, user).files.values()}
        objects = []
        for item in wanted["objects"]:
            oid, size = item["oid"], item["size"]
            row = {"oid": oid, "size": size}
            if oid not in there:
                upload = {"href": f"{self.hub.cdn_url}/lfs/{oid}", "header": {}}
                if self.hub.fault("multipart", name):
                    upload["href"] = f"{self.hub.url}/api/complete_multipart/{oid}"
                    upload["header"] = {"chunk_size": "1000"} | {
                        str(i + 1): f"{self.hub.cdn_url}/lfs/{oid}?part={i + 1}" for i in range(-(-size // 1000))}
                row["actions"] = {"upload": upload, "verify": {"href": f"{self.hub.url}/api/lfs_verify/{oid}"}}
            objects.append(row)
        self.answer(200, {"transfer": "basic", "objects": objects})

    def lfs_put(self, oid):
        if self.headers.get("Authorization") is not None:
            raise Failure(400, "Only one auth mechanism allowed")
        if "part" in self.query:
            self.hub.parts[oid][int(self.query["part"])] = self.data
        elif hashlib.sha256(self.data).hexdigest() != oid:
            raise Failure(400, "XAmzContentSHA256Mismatch")
        else:
            self.hub.uploaded[oid] = self.data
        self.answer(200, b"", {"ETag": f'"{hashlib.md5(self.data).hexdigest()}"'})

    def lfs_complete(self, oid):
        parts, wanted = self.hub.parts.pop(oid), json.loads(self.data)
        tags = [f'"{hashlib.md5(parts[part["partNumber"]]).hexdigest()}"' for part in wanted["parts"]]
        contents = b"".join(parts[number] for number in sorted(parts))
        if [part["etag"] for part in wanted["parts"]] != tags or hashlib.sha256(contents).hexdigest() != oid:
            raise Failure(400, "the parts do not make up the object")
        self.hub.uploaded[oid] = contents
        self.answer(200, {})

    def lfs_verify(self, oid):
        self.writer()
        wanted = json.loads(self.data)
        if self.hub.fault("reject", self.place) or len(self.hub.uploaded.get(oid, b"")) != wanted["size"]:
            raise Failure(400, "the object was not uploaded")
        self.answer(200, {})

    def commit(self, kind, name, revision):
        self.hub.repository(kind, name, revision, self.writer())
        if self.headers.get("Content-Type") != "application/x-ndjson":
            raise Failure(400, "a commit is NDJSON")
        lines = [json.loads(line) for line in self.data.splitlines() if line.strip()]
        if not lines or lines[0]["key"] != "header" or not lines[0]["value"].get("summary"):
            raise Failure(400, "a commit begins with its summary")
        operations = {}
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                operations[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                known = {file.sha256: file.contents for file in self.hub.repository(kind, name, revision, "tester").files.values()}
                known |= self.hub.uploaded
                if value["oid"] not in known:
                    raise Failure(400, f"the LFS object {value['oid']} was not uploaded")
                operations[value["path"]] = known[value["oid"]]
            elif line["key"] == "deletedFile":
                operations[value["path"]] = None
            else:
                raise Failure(400, f"unknown operation {line['key']}")
        found = self.hub.write(kind, name, revision, operations)
        prefix = "" if kind == "models" else f"{kind}/"
        self.answer(200, {"success": True, "commitOid": found.commit, "hookOutput": "",
                          "commitUrl": f"{self.hub.url}/{prefix}{name}/commit/{found.commit}"})


NAME = r"(?P<name>[^/]+(?:/[^/]+)?)"
API = rf"/api/(?P<kind>models|datasets)/{NAME}"
READ, WRITE = ("GET", "HEAD"), ("POST",)
ROUTES = [
    (r"/api/whoami-v2", READ, Handler.whoami),
    (r"/api/validate-yaml", WRITE, Handler.validate_yaml),
    (r"/api/repos/create", WRITE, Handler.create),
    (r"/api/complete_multipart/(?P<oid>\w+)", WRITE, Handler.lfs_complete),
    (r"/api/lfs_verify/(?P<oid>\w+)", WRITE, Handler.lfs_verify),
    (r"/api/resolve-cache/(?P<kind>models|datasets)/" + NAME + r"/(?P<revision>\w{40})/(?P<path>.+)", READ,
     Handler.resolve_cache),
    (API + r"/revision/(?P<revision>[^/]+)", READ, Handler.info),
    (API + r"/tree/(?P<revision>[^/]+)(?P<folder>(?:/.*)?)", READ, Handler.tree),
    (API + r"/paths-info/(?P<revision>[^/]+)", WRITE, Handler.paths_info),
    (API + r"/refs", READ, Handler.refs),
    (API + r"/branch/(?P<revision>[^/]+)", WRITE, Handler.branch),
    (API + r"/preupload/(?P<revision>[^/]+)", WRITE, Handler.preupload),
    (API + r"/commit/(?P<revision>[^/]+)", WRITE, Handler.commit),
    (API + "(?P<revision>)", READ, Handler.info),
    (r"/(?:(?P<kind>datasets)/)?" + NAME + r"\.git/info/lfs/objects/batch", WRITE, Handler.lfs_batch),
    (r"/(?:(?P<kind>datasets)/)?" + NAME + r"/resolve/(?P<revision>[^/]+)/(?P<path>.+)", READ, Handler.resolve),
]
CDN_ROUTES = [
    (r"/cdn/(?P<kind>models|datasets)/" + NAME + r"/(?P<commit>\w{40})/(?P<sha256>\w{64})", READ, Handler.cdn),
    (r"/lfs/(?P<oid>\w{64})", ("PUT",), Handler.lfs_put),
]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a client that went away
            super().handle_error(request, client_address)


def start(hub, port, tls, is_cdn):
    """Serves in a thread; returns the URL."""
    handler = type("BoundHandler", (Handler,), {"hub": hub, "is_cdn": is_cdn})
    server = Server(("127.0.0.1", port), handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--log", help="a line of JSON per request")
    parser.add_argument("--lfs_threshold", type=int, default=10 << 20)
    parser.add_argument("--page_size", type=int, default=1000, help="entries per page of a listing")
    parser.add_argument("--stay", action="store_true", help="do not end with standard input")
    options = parser.parse_args()
    os.makedirs(options.root, exist_ok=True)
    hub = Hub(options)
    hub.cdn_url = start(hub, 0, options.tls, True)
    hub.url = start(hub, options.port, options.tls, False)
    print(hub.url, flush=True)
    if options.stay:
        threading.Event().wait()
    sys.stdin.read()


if __name__ == "__main__":
    main()
