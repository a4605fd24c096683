"""JSON."""
import json

from salt.serializers import DeserializationError, SerializationError

available = True


def serialize(obj, **options):
    options.pop("fp", None)
    try:
        return json.dumps(obj, **options)
    except (TypeError, ValueError) as exc:
        raise SerializationError(exc)


def deserialize(stream_or_string, **options):
    text = stream_or_string if isinstance(stream_or_string, (str, bytes)) else stream_or_string.read()
    try:
        return json.loads(text.decode("utf-8") if isinstance(text, bytes) else text, **options)
    except ValueError as exc:
        raise DeserializationError(exc)
