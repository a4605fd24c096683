"""The events of brine's runs: those of this user on this machine."""
import atexit
import fnmatch
import json
import queue
import re
import subprocess
import threading

from salt import _brine

# How a tag is compared with the one that is asked for.
MATCHES = {
    "startswith": lambda tag, want: tag.startswith(want),
    "endswith": lambda tag, want: tag.endswith(want),
    "find": lambda tag, want: want in tag,
    "regex": lambda tag, want: re.search(want, tag) is not None,
    "fnmatch": fnmatch.fnmatch,
}


class SaltEvent:
    """Reads and fires events.

    The first question for events starts a brine that listens: events before it
    are not seen. sock_dir says nothing: each user has one bus.
    """

    def __init__(self, node="master", sock_dir=None, opts=None, listen=True, **kwargs):
        self.opts = opts or {}
        self._listener = None
        self._queue = queue.Queue()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.destroy()
        return False

    def connect_pub(self, timeout=None):
        """Begins to listen; returns when no event is missed any more."""
        if self._listener is not None:
            return True
        line = _brine.command("run", "state.event")
        self._listener = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.destroy)
        began = threading.Event()
        for target, args in ((self._read, (self._listener.stdout,)), (self._drain, (self._listener.stderr, began))):
            thread = threading.Thread(target=target, args=args)
            thread.daemon = True
            thread.start()
        began.wait()
        return True

    def _drain(self, stream, began):
        for line in stream:
            if b"listening for events" in line:
                began.set()
        began.set()

    def _read(self, stream):
        for line in stream:
            tag, _, data = line.decode("utf-8", "replace").rstrip("\n").partition("\t")
            try:
                data = json.loads(data, object_pairs_hook=_brine.Data)
            except ValueError:
                continue
            self._queue.put({"tag": tag, "data": data})
        self._queue.put(None)

    def subscribe(self, tag=None, match_type=None):
        self.connect_pub()

    def unsubscribe(self, tag=None, match_type=None):
        pass

    def get_event(self, wait=5, tag="", full=False, match_type=None, no_block=False, **kwargs):
        """Returns the next event whose tag matches; None after wait seconds.

        A wait of 0 or None has no end.
        """
        import time

        self.connect_pub()
        match = MATCHES[match_type or "startswith"]
        end = time.time() + wait if wait else None
        while True:
            try:
                if no_block:
                    found = self._queue.get_nowait()
                else:
                    found = self._queue.get(True, None if end is None else max(0.0, end - time.time()))
            except queue.Empty:
                return None
            if found is None:
                self._queue.put(None)
                return None
            if not tag or match(found["tag"], tag):
                return found if full else found["data"]

    def get_event_noblock(self):
        return self.get_event(no_block=True, full=True)

    def get_event_block(self):
        return self.get_event(wait=0, full=True)

    def iter_events(self, tag="", full=False, match_type=None, auto_reconnect=False):
        """Yields the events whose tags match, until brine stops listening."""
        while True:
            found = self.get_event(wait=0, tag=tag, full=full, match_type=match_type)
            if found is None:
                return
            yield found

    def fire_event(self, data, tag, timeout=1000):
        """Sends an event to all runs and listeners."""
        _brine.report("run", ["event.send", tag] + _brine.arguments([data], None))
        return True

    fire_master = fire_event

    def destroy(self):
        listener, self._listener = self._listener, None
        if listener is not None and listener.poll() is None:
            listener.terminate()
            listener.wait()

    stop = destroy


class MasterEvent(SaltEvent):
    """The events of the controller."""

    def __init__(self, sock_dir=None, opts=None, listen=True, **kwargs):
        super().__init__("master", sock_dir, opts, listen)


LocalClientEvent = MasterEvent


class MinionEvent(SaltEvent):
    """The events of this machine: they are on the same bus."""

    def __init__(self, opts=None, listen=True, **kwargs):
        super().__init__("minion", None, opts, listen)


def get_event(node="master", sock_dir=None, transport=None, opts=None, listen=True, **kwargs):
    return SaltEvent(node, sock_dir, opts, listen)


def get_master_event(opts=None, sock_dir=None, listen=True, **kwargs):
    return MasterEvent(sock_dir, opts, listen)


def tagify(suffix="", prefix="", base="salt"):
    parts = [base, prefix] if prefix else [base]
    parts.extend(str(item) for item in (suffix if isinstance(suffix, (list, tuple)) else [suffix]))
    return "/".join(part for part in parts if part)
