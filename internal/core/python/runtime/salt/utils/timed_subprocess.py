"""Commands with a limit of time."""
import subprocess

from salt.exceptions import TimedProcTimeoutError


class TimedProc:
    """A command that is ended when its time is over."""

    def __init__(self, args, **kwargs):
        self.command = args
        self.timeout = kwargs.pop("timeout", None)
        self.stdin = kwargs.pop("stdin", None)
        kwargs.pop("with_communicate", None)
        kwargs.setdefault("stdout", subprocess.PIPE)
        self.process = subprocess.Popen(args, **kwargs)
        self.stdout = self.stderr = None

    def run(self):
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise TimedProcTimeoutError("{} : Timed out after {} seconds".format(self.command, self.timeout))
        return self.process.returncode
