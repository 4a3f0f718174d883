"""HfArgumentParser: command lines and files of settings become instances of dataclasses, TrainingArguments among them."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import json
import os
import pathlib
import sys
import types
import typing
from typing import Any, Callable, Iterable, Literal, Mapping, Optional, Sequence, Union

from .lib._hearth import Error

_TRUE, _FALSE = ("yes", "true", "t", "y", "1"), ("no", "false", "f", "n", "0")
_NONE = type(None)


class ArgumentsError(Error, ValueError):
    """A ValueError, as transformers raises it."""


def HfArg(
    *,
    aliases: Optional[Union[str, list[str]]] = None,
    help: Optional[str] = None,
    default: Any = dataclasses.MISSING,
    default_factory: Any = dataclasses.MISSING,
    metadata: Optional[dict[str, Any]] = None,
    **keywords: Any,
) -> Any:
    """A field of a dataclass, with its help and other names."""
    given = {name: value for name, value in (("aliases", aliases), ("help", help)) if value is not None}
    keywords["metadata"] = {**(metadata or {}), **given}
    return dataclasses.field(default=default, default_factory=default_factory, **keywords)


def _truth(word: str) -> bool:
    if word.lower() in _TRUE:
        return True
    if word.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"'{word}' is neither of {', '.join(_TRUE)} nor of {', '.join(_FALSE)}")


def _only_type(name: str, hint: Any) -> Any:
    """The type that the words of a flag become: of a Union the one that transformers takes. Optional[bool] stays."""
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return hint
    members = typing.get_args(hint)
    if str not in members and (len(members) != 2 or _NONE not in members):
        raise ArgumentsError(
            f"{name}: {hint} has several types, but the word of a flag can become one only: use Optional[X], or X with str"
        )
    if _NONE not in members:
        return members[0] if members[1] is str else members[1]
    if bool in members:
        return Optional[bool]
    return members[0] if members[1] is _NONE else members[1]


def _default_of(field: dataclasses.Field[Any]) -> dict[str, Any]:
    if field.default is not dataclasses.MISSING:
        return {"default": field.default}
    if field.default_factory is not dataclasses.MISSING:
        return {"default": field.default_factory()}
    return {"required": True}


def _keywords_of(field: dataclasses.Field[Any], kind: Any) -> dict[str, Any]:
    """What add_argument is told of a field's values."""
    default = _default_of(field)
    if kind is bool or (kind == Optional[bool] and default.get("default") is not None):
        return {"type": _truth, "nargs": "?", "const": True, "default": default.get("default", False)}
    if kind == Optional[bool]:
        return {"type": _truth, **default}
    is_enum = isinstance(kind, type) and issubclass(kind, enum.Enum)
    if is_enum or typing.get_origin(kind) is Literal:
        choices = [member.value for member in kind] if is_enum else list(typing.get_args(kind))
        by_name = {str(choice): choice for choice in choices}
        return {"type": lambda word: by_name.get(word, word), "choices": choices, **default}
    if (typing.get_origin(kind) or kind) is list:
        return {"type": (typing.get_args(kind) or (str,))[0], "nargs": "+", **default}
    return {"type": kind, **default}


def _spellings(name: str) -> list[str]:
    return list(dict.fromkeys([f"--{name}", f"--{name.replace('_', '-')}"]))


class HfArgumentParser(argparse.ArgumentParser):
    """A parser with a flag per field of the dataclasses. More arguments can be added to it; parsing then also returns
    their namespace. A class may name its group in the help as `_argument_group_name`."""

    def __init__(self, dataclass_types: Any = None, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.ArgumentDefaultsHelpFormatter)
        super().__init__(**options)
        if dataclass_types is None:
            dataclass_types = ()
        elif dataclasses.is_dataclass(dataclass_types) or not isinstance(dataclass_types, Iterable):
            dataclass_types = (dataclass_types,)
        self.dataclass_types: list[Any] = list(dataclass_types)
        for each in self.dataclass_types:
            self._add_fields(each)

    def _add_fields(self, dataclass_type: Any) -> None:
        title = getattr(dataclass_type, "_argument_group_name", None)
        group: Any = self if title is None else self.add_argument_group(title)
        try:
            hints = typing.get_type_hints(dataclass_type)
        except NameError as error:
            raise Error(
                f"the types of {dataclass_type.__name__} cannot be found ({error}): define the class at the top of a "
                "module, or leave out `from __future__ import annotations`"
            ) from error
        for field in _fields_of(dataclass_type):
            kind = _only_type(field.name, hints[field.name])
            told = dict(field.metadata)
            aliases = told.pop("aliases", [])
            aliases = [aliases] if isinstance(aliases, str) else list(aliases)
            group.add_argument(*_spellings(field.name), *aliases, **{**told, **_keywords_of(field, kind)})
            is_negatable = field.default is True or field.name in getattr(dataclass_type, "_negatable", ())
            if is_negatable and kind in (bool, Optional[bool]):
                group.add_argument(
                    *_spellings(f"no_{field.name}"),
                    dest=field.name,
                    action="store_false",
                    default=argparse.SUPPRESS,
                    help=told.get("help"),
                )

    def parse_args_into_dataclasses(
        self,
        args: Optional[Sequence[str]] = None,
        return_remaining_strings: bool = False,
        look_for_args_file: bool = True,
        args_filename: Optional[Union[str, os.PathLike[str]]] = None,
        args_file_flag: Optional[str] = None,
    ) -> tuple[Any, ...]:
        """The instances in the order of their classes; then the namespace of other arguments, if there are any; then, if
        asked for, the words that no flag takes. Words are those of `args` or of the command line, after those of files:
        `args_filename` or the script's name with the ending .args, and the files that `args_file_flag` names."""
        words = list(sys.argv[1:] if args is None else args)
        files: list[Union[str, os.PathLike[str]]] = []
        if args_filename is not None:
            files.append(args_filename)
        elif look_for_args_file and sys.argv and sys.argv[0]:
            files.append(pathlib.Path(sys.argv[0]).with_suffix(".args"))
        if args_file_flag is not None:
            naming = argparse.ArgumentParser(add_help=False)
            naming.add_argument(args_file_flag, dest="files", action="append", default=[])
            named, words = naming.parse_known_args(words)
            files += named.files
        for file in reversed([pathlib.Path(file) for file in files]):
            if file.exists():
                words = file.read_text(encoding="utf-8").split() + words
        namespace, remaining = self.parse_known_args(words)
        given = vars(namespace)
        results: list[Any] = []
        for each in self.dataclass_types:
            results.append(each(**{field.name: given.pop(field.name) for field in _fields_of(each)}))
        if given:
            results.append(namespace)
        if return_remaining_strings:
            results.append(remaining)
        elif remaining:
            raise ArgumentsError(f"Some specified arguments are not used by the HfArgumentParser: {remaining}")
        return tuple(results)

    def parse_dict(self, args: Mapping[str, Any], allow_extra_keys: bool = False) -> tuple[Any, ...]:
        """The instances whose fields have the values of a dict."""
        unused = set(args)
        results = []
        for each in self.dataclass_types:
            own = {field.name: args[field.name] for field in _fields_of(each) if field.name in args}
            unused -= own.keys()
            results.append(each(**own))
        if unused and not allow_extra_keys:
            raise ArgumentsError(f"Some keys are not used by the HfArgumentParser: {sorted(unused)}")
        return tuple(results)

    def parse_json_file(
        self, json_file: Union[str, os.PathLike[str]], allow_extra_keys: bool = False
    ) -> tuple[Any, ...]:
        return self._parse_file(json_file, json.loads, ValueError, allow_extra_keys)

    def parse_yaml_file(
        self, yaml_file: Union[str, os.PathLike[str]], allow_extra_keys: bool = False
    ) -> tuple[Any, ...]:
        try:
            import yaml  # type: ignore[import-untyped, unused-ignore]
        except ImportError as error:
            raise Error("parse_yaml_file needs PyYAML: pip install pyyaml, or write the file as JSON") from error
        return self._parse_file(yaml_file, yaml.safe_load, yaml.YAMLError, allow_extra_keys)

    def _parse_file(
        self,
        file: Union[str, os.PathLike[str]],
        read: Callable[[str], Any],
        failure: type[Exception],
        allow_extra_keys: bool,
    ) -> tuple[Any, ...]:
        try:
            values = read(pathlib.Path(file).read_text(encoding="utf-8"))
        except failure as error:
            raise ArgumentsError(f"{os.fspath(file)} cannot be read: {' '.join(str(error).split())}") from error
        if not isinstance(values, dict):
            raise ArgumentsError(f"{os.fspath(file)} must have names with values, not a {type(values).__name__}")
        return self.parse_dict(values, allow_extra_keys)


def _fields_of(dataclass_type: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(dataclass_type) if field.init]
