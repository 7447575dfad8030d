"""What can go wrong, as exceptions."""

from __future__ import annotations


class SceneError(ValueError):
    """A scene that cannot be loaded or compiled: `file` and `line` say where (line 0: no line applies)."""

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        where = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(where + message)
        self.message = message
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[type[SceneError], tuple[str, str, int]]:
        return type(self), (self.message, self.file, self.line)


class StepError(RuntimeError):
    """A step that broke down, or (with strict=True) was not solved to the tolerance."""

    def __init__(self, message: str, step: int = 0, time: float = 0.0, body: str | None = None, residual: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.step = step
        self.time = time
        self.body = body
        self.residual = residual

    def __reduce__(self) -> tuple[type[StepError], tuple[str, int, float, str | None, float]]:
        return type(self), (self.message, self.step, self.time, self.body, self.residual)


class SceneWarning(UserWarning):
    """Something a scene asks for that is not honoured but does not change the motion."""


def unknown(what: str, name: object, known: tuple[str, ...]) -> KeyError:
    """The error for a name that does not exist."""
    import difflib

    text = f"there is no {what} {name!r}"
    near = difflib.get_close_matches(str(name), known, 1)
    names = [k for k in known if k]
    if near:
        text += f"; did you mean {near[0]!r}?"
    elif names:
        text += "; there are: " + ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    else:
        text += "; there are none"
    return NameNotFound(text)


def whole(value: object, name: str) -> int:
    """A whole number, of Python or numpy."""
    import operator

    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None


class NameNotFound(KeyError):
    """A name that does not exist. Its text is shown as it is (a KeyError would quote it)."""

    def __str__(self) -> str:
        return str(self.args[0])
