"""configparser, by brine."""
from salt import _brine
from salt.serializers import DeserializationError, SerializationError

available = True


def serialize(obj, **options):
    try:
        return _brine.call("slsutil.serialize", "configparser", obj, **options)
    except Exception as exc:
        raise SerializationError(exc)


def deserialize(stream_or_string, **options):
    text = stream_or_string if isinstance(stream_or_string, (str, bytes)) else stream_or_string.read()
    try:
        return _brine.call("slsutil.deserialize", "configparser", text.decode("utf-8") if isinstance(text, bytes) else text, **options)
    except Exception as exc:
        raise DeserializationError(exc)
