"""Time."""
import datetime
import time


def get_timestamp_at(time_in=None, time_at=None):
    now = datetime.datetime.now()
    return time.mktime((now + datetime.timedelta(minutes=int(time_in or 0))).timetuple())


def get_time_at(time_in=None, time_at=None, out_fmt="%Y-%m-%dT%H:%M:%S"):
    return datetime.datetime.fromtimestamp(get_timestamp_at(time_in, time_at)).strftime(out_fmt)
