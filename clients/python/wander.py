"""Use a resource that a group of machines shares, from Python.

    import wander

    with wander.hold("tape", wait=600) as grant:
        back_up(fence=grant.fence)      # nobody else in the group uses the tape

It asks the daemon of this machine (`wander node`) over its Unix socket:
$WANDER_SOCKET, or /var/lib/wander/wander.sock. It needs the standard library
of Python 3.9 or later, and nothing else. Copy this file where your program is.

A grant has a deadline, after which another machine may use the resource,
whatever this program does. Look at grant.left() between steps, or at
grant.lost: why the grant is over before its deadline, or None. Where the
program may hang, let `wander run` start it, which kills it at the deadline.

The requests are those of spec/openapi.json.
"""

import datetime
import json
import os
import re
import socket
import threading
import time

DEFAULT_SOCKET = "/var/lib/wander/wander.sock"

_VERSION = 1
_ANSWER_S = 30  # the longest that the daemon takes for an answer, but for a grant
_MAX_LINE = 1 << 20  # far more than any answer's line
_RELEASE_S = 10  # how long a release waits for a daemon that is being restarted


class Error(Exception):
    """A refusal. code is its word (spec/api.md, A-3), hint what to do about it."""

    code = "internal"

    def __init__(self, message, hint="", code=None):
        super().__init__(message)
        self.hint = hint
        if code:
            self.code = code


class NotGranted(Error):
    """No token came in time."""

    code = "not_granted"


class NotDue(NotGranted):
    """The operation ran more recently than once_per asks for."""

    code = "not_due"


class Held(Error):
    """This program itself runs under a grant of the resource."""

    code = "held"


class Isolated(Error):
    """This machine is cut off from all others, and does not hold the token."""

    code = "isolated"


class Revoked(Error):
    """This machine's certificate is revoked or expired."""

    code = "revoked"


class Refused(Error):
    """The group's configuration does not permit it."""

    code = "refused"


class Unavailable(Error):
    """No daemon answers, or it cannot serve now."""

    code = "unavailable"


class Lost(Error):
    """The grant was over before the program had ended."""

    code = "lost"


_ERRORS = {e.code: e for e in (NotGranted, NotDue, Held, Isolated, Revoked, Refused, Unavailable)}


def _error(answer):
    e = answer.get("error") or {}
    code = e.get("code", "internal")
    return _ERRORS.get(code, Error)(e.get("message", "a refusal without a reason"), e.get("hint", ""), code)


class _Answer:
    """An answer of the daemon: a status, and lines of JSON."""

    def __init__(self, path, method, target, body, timeout):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(path)
            text = b"" if body is None else json.dumps(body).encode()
            head = f"{method} {target} HTTP/1.0\r\nHost: wander\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
            self._socket.sendall(head.encode() + text)
            self._file = self._socket.makefile("rb")
            first = self._file.readline(_MAX_LINE).split()
            if len(first) < 2:
                raise Unavailable("the daemon closed the connection")
            self.status = int(first[1])
            while self._file.readline(_MAX_LINE).strip():
                pass
        except OSError as e:
            self._socket.close()
            raise Unavailable(f"no daemon answers on {path}: {e.strerror or e}", "start it with `systemctl start wander` or `wander node`, or name its socket in WANDER_SOCKET") from e
        except BaseException:
            self._socket.close()
            raise

    def waits(self):
        """From now on the next line may take as long as it likes."""
        self._socket.settimeout(None)

    def line(self):
        """The next object, or None at the end. Fields that this version does not know are the caller's to skip."""
        try:
            text = self._file.readline(_MAX_LINE)
        except OSError as e:
            raise Unavailable(f"the daemon does not answer: {e}") from e
        if not text.strip():
            return None
        answer = json.loads(text)
        if answer.get("v") != _VERSION:
            raise Error(f"version {answer.get('v')}, this program understands {_VERSION}")
        return answer

    def close(self):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # a thread may be reading
        except OSError:
            pass
        self._socket.close()


def _call(path, method, target, body=None):
    answer = _Answer(path, method, target, body, _ANSWER_S)
    try:
        got = answer.line()
        if got is None:
            raise Unavailable("the daemon closed the connection")
        if answer.status != 200:
            raise _error(got)
        return got
    finally:
        answer.close()


def _socket_path(path):
    return path or os.environ.get("WANDER_SOCKET") or DEFAULT_SOCKET


def _held():
    return [entry.partition("=")[2] for entry in os.environ.get("WANDER_HELD", "").split(",") if entry]


def _boot_now():
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _boot_id():
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def _seconds(text):
    """The seconds since 1970 of a time of RFC 3339, whose fraction has up to nine digits."""
    whole, fraction, zone = re.fullmatch(r"(.{19})(\.\d+)?(Z|[+-]\d\d:\d\d)", text).groups()
    at = datetime.datetime.fromisoformat(whole + zone.replace("Z", "+00:00"))
    return at.timestamp() + float(fraction or 0)


class Grant:
    """The permission to use a resource until a deadline.

    resource, member (the machine's name), token and hop say what was granted.
    fence is a number that grows from one holder to the next: a resource that
    remembers the highest one can refuse a holder that is late. gate_fence is
    the number of the session at the resource's gate, 0 without one. lost is
    why the grant was over early, or None. return_s is in how many seconds from
    the grant on this machine's next turn is expected, in half of all cases, and
    return_p95_s in 19 of 20: None while the machine has had too few turns.
    """

    def __init__(self, path, answer, granted):
        self._path, self._answer = path, answer
        self.id, self.resource, self.member = granted["id"], granted["resource"], granted["name"]
        self.token, self.hop = granted["token"], granted["hop"]
        self.fence, self.gate_fence = int(granted["fence"]), int(granted.get("gate_fence", "0"))
        self.deadline = granted["deadline"]
        self.return_s, self.return_p95_s = granted.get("return_s"), granted.get("return_p95_s")
        self.lost = None
        if granted.get("boot_id", "") == _boot_id():
            self._until = granted["deadline_boot_ns"] / 1e9
        else:  # another clock than the daemon's
            self._until = _boot_now() + _seconds(self.deadline) - time.time()
        self._released = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        try:
            while True:
                event = self._answer.line()
                if event is None:
                    return
                if event.get("event") == "lost":
                    self.lost = event.get("reason", "lost")
                    return
        except (Error, ValueError, OSError):
            return  # a grant whose daemon is gone stands until its deadline

    def left(self):
        """Seconds until the deadline, below 0 after it."""
        return self._until - _boot_now()

    def check(self):
        """Raise Lost if the resource may not be used any more: call it between two steps."""
        if self.lost:
            raise Lost(f"{self.resource}: the grant was lost: {self.lost}")
        if self.left() <= 0:
            raise Lost(f"{self.resource}: the deadline of the grant has come")

    def release(self, operated=True):
        """Give the resource back. It may be called more than once. A daemon that is being restarted is waited for, for 10 s."""
        if self._released:
            return
        self._released = True
        end = time.monotonic() + _RELEASE_S
        pause = 0.05
        try:
            while True:
                try:
                    _call(self._path, "POST", "/v1/release", {"grant": self.id, "operated": operated, "exit": 0})
                    return
                except Unavailable:
                    if time.monotonic() + pause > end:
                        raise
                    time.sleep(pause)
                    pause = min(2 * pause, 2)
        finally:
            self._answer.close()


class hold:
    """hold(resource) is a context manager that gives a Grant, and waits for it.

    wait is how many seconds to wait: None for without end, 0 for not at all.
    max_hold and min_hold are in seconds: a shorter grant than the resource
    permits, and how long the token stays here after the grant. once_per asks
    for a grant only if nobody has had one for so many seconds: NotDue
    otherwise. label is shown to people who wait. An error of the block passes
    through. A block that ends well although the grant was lost, or after its
    deadline, raises Lost.
    """

    def __init__(self, resource, *, wait=None, max_hold=0, min_hold=0, once_per=0, label="", path=None):
        self._path = _socket_path(path)
        self._demand = {"resource": resource, "held": _held(), "pid": os.getpid()}
        for name, seconds in (("wait_ms", wait), ("max_hold_ms", max_hold), ("min_hold_ms", min_hold), ("once_per_ms", once_per)):
            if seconds is not None and (seconds or name == "wait_ms"):
                self._demand[name] = -int(-seconds * 1000 // 1)
        if label:
            self._demand["label"] = label.encode()[:128].decode(errors="ignore")
        self._grant = None

    def acquire(self):
        """Wait for the grant, without `with`: the caller has to release it."""
        answer = _Answer(self._path, "POST", "/v1/acquire", self._demand, None)
        try:
            while True:
                got = answer.line()
                if got is None:
                    raise Unavailable("the daemon closed the connection")
                if answer.status != 200 or got.get("event") == "refused":
                    raise _error(got)
                if got.get("event") == "granted":
                    return Grant(self._path, answer, got["grant"])
        except BaseException:
            answer.close()  # which withdraws the demand
            raise

    def __enter__(self):
        self._grant = self.acquire()
        return self._grant

    def __exit__(self, kind, error, trace):
        over = kind is None and (self._grant.lost or self._grant.left() <= 0)
        try:
            if over:
                self._grant.check()
        finally:
            self._grant.release()
        return False


def status(path=None):
    """What this machine's member knows: a dictionary (spec/api.md)."""
    return _call(_socket_path(path), "GET", "/v1/status")


def members(path=None):
    """The members that it knows: a list of dictionaries."""
    return _call(_socket_path(path), "GET", "/v1/members")["members"]
