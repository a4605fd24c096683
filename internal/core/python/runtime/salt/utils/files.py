"""Files."""
import contextlib
import errno
import os
import shutil
import tempfile

TEMPFILE_PREFIX = "__salt.tmp."


def fopen(path, mode="r", *args, **kwargs):
    """Opens a file; text is UTF-8."""
    if "b" not in mode and len(args) < 2:
        kwargs.setdefault("encoding", "utf-8")
    return open(path, mode, *args, **kwargs)


flopen = fopen


@contextlib.contextmanager
def fpopen(path, *args, **kwargs):
    """Opens a file and sets its owner and mode."""
    uid, gid, mode = kwargs.pop("uid", -1), kwargs.pop("gid", -1), kwargs.pop("mode", None)
    with fopen(path, *args, **kwargs) as handle:
        os.chown(path, -1 if uid is None else uid, -1 if gid is None else gid)
        if mode is not None:
            os.chmod(path, mode)
        yield handle


@contextlib.contextmanager
def set_umask(mask):
    """Sets the umask for a while."""
    if mask is None:
        yield
        return
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mkstemp(*args, **kwargs):
    """Makes a temporary file and returns its path."""
    kwargs.setdefault("prefix", "__salt.tmp.")
    close = kwargs.pop("close_fd", True)
    handle, path = tempfile.mkstemp(*args, **kwargs)
    if not close:
        return handle, path
    os.close(handle)
    return path


def copyfile(source, dest, backup_mode="", cachedir=""):
    """Copies a file over another at once."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(dest))
    os.close(handle)
    shutil.copyfile(source, temporary)
    if os.path.exists(dest):
        shutil.copymode(dest, temporary)
    os.replace(temporary, dest)


def rename(source, dest):
    os.replace(source, dest)


def remove(path):
    """Removes a file, if it is there."""
    try:
        os.remove(path)
    except OSError as exc:
        if exc.errno != errno.ENOENT:
            raise


safe_rm = remove


def rm_rf(path):
    """Removes a file or a whole directory."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        remove(path)


def recursive_copy(source, dest):
    for place, _, files in os.walk(source):
        target = os.path.join(dest, os.path.relpath(place, source))
        os.makedirs(target, exist_ok=True)
        for name in files:
            shutil.copy2(os.path.join(place, name), os.path.join(target, name))


def is_empty(path):
    try:
        return os.stat(path).st_size == 0
    except OSError:
        return False


def is_binary(path):
    """Guesses whether a file is binary."""
    try:
        with open(path, "rb") as handle:
            head = handle.read(2048)
    except OSError:
        return False
    return b"\0" in head


def is_text(path, blocksize=512):
    return not is_binary(path)


def list_files(directory):
    """Returns a directory and all that is below it."""
    found = {directory}
    for root, dirs, files in os.walk(directory):
        found.update(os.path.join(root, name) for name in dirs + files)
    return list(found)


def normalize_mode(mode):
    """Returns a mode as Salt writes it: 0644."""
    if mode is None:
        return None
    text = str(mode).strip("\"'").lstrip("0o").zfill(1)
    return text if text == "0" else text.lstrip("0").zfill(4)


def st_mode_to_octal(mode):
    return oct(mode)[-4:] if mode else ""


def process_read_exception(exc, path, ignore=None):
    """Raises CommandExecutionError for a failure to read."""
    from salt.exceptions import CommandExecutionError

    if ignore is not None and exc.errno in (ignore if isinstance(ignore, (list, tuple)) else [ignore]):
        return
    raise CommandExecutionError("{}: {}".format(path, exc.strerror))
