"""Events go to brine's bus."""
from salt import _brine


class SaltEvent:
    """Fires events on the bus of the run."""

    def fire_event(self, data, tag, timeout=1000):
        return _brine.call("event.fire", data, tag)

    def fire_master(self, data, tag, timeout=1000):
        return _brine.call("event.send", tag, data=data)

    def destroy(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


MinionEvent = LocalClientEvent = SaltEvent


def get_event(node="minion", *args, **kwargs):
    return SaltEvent()


def tagify(suffix="", prefix="", base="salt"):
    parts = [base, prefix] if prefix else [base]
    parts.extend(str(item) for item in (suffix if isinstance(suffix, (list, tuple)) else [suffix]))
    return "/".join(part for part in parts if part)
