"""Exceptions that modules raise and catch."""


class SaltException(Exception):
    """The base of all others."""

    def __init__(self, message="", **info):
        super().__init__(message)
        self.message = self.strerror = str(message)
        self.info = info


class CommandExecutionError(SaltException):
    """A command, or what a function wanted to do, failed."""


class CommandNotFoundError(SaltException):
    """A program is not there."""


class SaltInvocationError(SaltException, TypeError):
    """A function was called in a wrong way."""


class ArgumentValueError(CommandExecutionError):
    """An argument has a wrong value."""


class CheckError(CommandExecutionError):
    """A check failed."""


class CommandError(SaltException):
    """A call of a client failed."""


class FileserverConfigError(SaltException):
    """The file server is misconfigured."""


class FileLockError(SaltException):
    """A lock could not be had."""

    def __init__(self, message="", time_start=None, **info):
        super().__init__(message, **info)
        self.time_start = time_start


class GitLockError(SaltException):
    """A lock of git could not be had."""


class LoaderError(SaltException):
    """A module cannot be loaded."""


class MinionError(SaltException):
    """A file or another thing of the minion is not there."""


class PillarRenderError(SaltException):
    """The pillar cannot be rendered."""


class SaltClientError(SaltException):
    """The client failed."""


class SaltRenderError(SaltException):
    """A template cannot be rendered."""


class SaltReqTimeoutError(SaltException):
    """A question had no answer in time."""


class SaltRunnerError(SaltException):
    """A runner failed."""


class SaltSystemExit(SystemExit):
    """The program ends."""


class TemplateError(SaltException):
    """A template raised."""


class TimedProcTimeoutError(SaltException):
    """A command took too long."""


class TokenAuthenticationError(SaltException):
    """A token is refused."""


class AuthenticationError(SaltException):
    """A login is refused."""


class InvalidConfigError(CommandExecutionError):
    """The configuration is wrong."""


class InvalidEntityError(CommandExecutionError):
    """A thing is not what it should be."""


class NotImplemented(SaltException):
    """A function is not there."""


class ProxyIdentError(SaltException):
    """A proxy is not known."""


class VMwareSaltError(CommandExecutionError):
    """VMware failed."""


class SaltMasterError(SaltException):
    """The controller failed."""


class SaltNoMinionsFound(SaltException):
    """No target matches."""


class MasterExit(SystemExit):
    """The controller ends."""


class PublishError(SaltException):
    """A call cannot be sent."""


class GitRemoteError(SaltException):
    """A remote of git failed."""


class PkgParseError(SaltException):
    """The output of a package manager is not understood."""


class SaltClientTimeout(SaltException):
    """A client waited too long."""


class SaltCacheError(SaltException):
    """The cache failed."""


class TimeoutError(SaltException):
    """It took too long."""


class EauthAuthenticationError(SaltException):
    """A login is refused."""


class SaltDeserializationError(SaltException):
    """Data cannot be read."""


class AuthorizationError(SaltException):
    """A call is not allowed."""


class SaltDaemonNotRunning(SaltException):
    """A daemon does not run."""


class SaltWheelError(SaltException):
    """A wheel function failed."""


class SaltConfigurationError(SaltException):
    """The configuration is wrong."""


class InvalidKeyError(SaltException):
    """A key is wrong."""


class SaltCloudException(SaltException):
    """The base of what the cloud raises."""


class SaltCloudSystemExit(SaltCloudException):
    """The cloud ends."""


class SaltCloudConfigError(SaltCloudException):
    """The configuration of the cloud is wrong."""


class SaltCloudNotFound(SaltCloudException):
    """The cloud does not know it."""


class SaltCloudExecutionTimeout(SaltCloudException):
    """The cloud took too long."""


class SaltCloudExecutionFailure(SaltCloudException):
    """The cloud failed."""


class LoggingRuntimeError(RuntimeError):
    """The log failed."""


class MissingSmb(SaltException):
    """SMB is not there."""


class VMwareObjectRetrievalError(VMwareSaltError):
    """An object of VMware cannot be had."""


class VMwareApiError(VMwareSaltError):
    """VMware's API failed."""


class VMwareRuntimeError(VMwareSaltError):
    """VMware failed at run time."""


class VMwareConnectionError(VMwareSaltError):
    """VMware cannot be reached."""


class CodePageError(CommandExecutionError):
    """A code page cannot be set."""
