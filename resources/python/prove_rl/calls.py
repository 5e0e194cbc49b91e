"""Reads the calls in the text of a model's message, in the syntaxes of the model families.

It reads as the service does: the same text gives the same calls everywhere. Thinking is what comes
before `</think>` and before the first call. A call whose value is complete is made, with or without
its closing tag; what comes between and after calls is the text of the message. What begins as a call
and cannot be read becomes a call with an empty name, whose arguments are its text and the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .client import Json, parse_integer

OPEN = "<tool_call>"
CLOSE = "</tool_call>"
PYTHON = "<|python_tag|>"
GRANITE = "<|tool_call|>"
FUNCTION = "<function="

MAX_LEVELS = 128
"""The levels of the deepest value that is read. The service refuses arguments with more than 64."""

SPACE = re.compile(r"[ \t\n\r]*")
SEPARATORS = re.compile(r"[ \t\n\r;,]*")
LITERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
STRING_MARK = re.compile(r'["\\\x00-\x1f]')
ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')


@dataclass(frozen=True)
class Fault:
    """What is wrong with a text, and the index of the character."""

    what: str
    at: int


@dataclass(frozen=True)
class Found:
    """The end of a value, unless its structure is broken, its call, and the first fault."""

    end: int | None = None
    fault: Fault | None = None
    call: Json | None = None


@dataclass(frozen=True)
class Block:
    """Calls that stand together, up to the end of their tag. The values of a whole one end."""

    calls: list[Json]
    end: int
    is_whole: bool = True


def read_message(
    text: str, syntax: str | None = None, tools: Mapping[str, Json] | None = None
) -> tuple[str, list[Json]]:
    """The text of a message and its calls, each an object with `name` and `arguments`.

    `text` is without the token that ended the message. The syntax is `hermes`, `xml`, `granite`,
    `llama`, or `none` for a text whose calls are not read; by default that of the first tag. `tools` are the schemas of arguments by
    the names of the tools, which tell texts from numbers in XML.
    """
    reader = create_reader(text, syntax or find_syntax(text), tools or {})
    at = skip_thinking(text, reader)
    if at is None:
        return "", []
    calls: list[Json] = []
    texts: list[str] = []
    while (start := reader.next(at)) is not None:
        texts.append(text[at:start])
        block = reader.read(start)
        calls += block.calls
        at = block.end
    texts.append(text[at:])
    # a thought without an end is no text for the user
    if texts[0].lstrip().startswith("<think>"):
        del texts[0]
    return "\n".join(it for part in texts if (it := part.strip())), calls


def detect_syntax(rendered: str) -> str | None:
    """The syntax of a call that a chat template rendered; None if it is not known."""
    if OPEN in rendered:
        return "xml" if FUNCTION in rendered else "hermes"
    if GRANITE in rendered:
        return "granite"
    return "llama" if rendered.lstrip().startswith(("{", PYTHON)) else None


FIRST_TAG = re.compile(r"<tool_call>|<\|tool_call\|>|<\|python_tag\|>")


def find_syntax(text: str) -> str | None:
    tag = FIRST_TAG.search(text)
    return detect_syntax(tag[0]) if tag else None


class Finder:
    """Finds a pattern from indexes on that grow, without searching a part of the text twice."""

    def __init__(self, text: str, pattern: str) -> None:
        self._text = text
        self._pattern = re.compile(pattern)
        self._from = 0
        self._found: int | None = -1

    def next(self, start: int) -> int | None:
        is_known = start >= self._from and (self._found is None or self._found >= start)
        if not is_known:
            match = self._pattern.search(self._text, start)
            self._found = match.start() if match else None
            self._from = start
        return self._found


class Reader:
    """A syntax. This one has no calls."""

    def next(self, start: int) -> int | None:
        """Where the next block begins, from an index on."""
        return None

    def is_call(self, start: int) -> bool:
        """Whether what begins there looks like a call."""
        return False

    def read(self, start: int) -> Block:
        raise NotImplementedError


def create_reader(text: str, syntax: str | None, tools: Mapping[str, Json]) -> Reader:
    if syntax in ("hermes", "xml"):
        return TagReader(text, syntax, tools)
    if syntax == "granite":
        return GraniteReader(text)
    return LlamaReader(text, tools) if syntax == "llama" else Reader()


def skip_thinking(text: str, reader: Reader) -> int | None:
    """Where the message begins after its thinking, which may have begun in the prompt.

    None if there is nothing else. A call in a thought is none, unless the thought has no end.
    """
    ends = Finder(text, "</think>")
    start = 0
    is_first = True
    while True:
        begin = skip_space(text, start)
        is_thought = text.startswith("<think>", begin)
        if not is_thought and not is_first:
            return start
        end = find_thought_end(ends, reader, begin, is_thought)
        if end is None:
            return None if is_thought and reader.next(begin) is None else start
        start = end
        is_first = False


def find_thought_end(ends: Finder, reader: Reader, at: int, is_thought: bool) -> int | None:
    while (end := ends.next(at)) is not None:
        call = reader.next(at)
        if call is None or call > end:
            return end + len("</think>")
        if not is_thought and reader.is_call(call):
            return None
        block = reader.read(call)
        at = block.end if block.is_whole else call + 1
    return None


def create_faulty_call(text: str, fault: Fault, start: int, end: int) -> Json:
    """A part of a text that is no call. The reason counts characters from its beginning."""
    reason = f"{fault.what} at character {fault.at - start + 1}"
    return {"name": "", "arguments": {"unparsed": text[start:end].rstrip(), "reason": reason}}


class TagReader(Reader):
    """Calls between `<tool_call>` tags, in JSON or in XML."""

    def __init__(self, text: str, syntax: str, tools: Mapping[str, Json]) -> None:
        self._text = text
        self._tools = tools
        # models that write XML leave the first tag out
        self._opens = Finder(text, "<tool_call>|<function=" if syntax == "xml" else OPEN)
        self._tags = Finder(text, "</?tool_call>")
        self._value_ends = Finder(text, VALUE_END)
        self._other_ends = Finder(text, OTHER_END)

    def next(self, start: int) -> int | None:
        return self._opens.next(start)

    def is_call(self, start: int) -> bool:
        return self._text.startswith(("{", FUNCTION), self._find_body(start))

    def read(self, start: int) -> Block:
        text = self._text
        body = self._find_body(start)
        is_xml = text.startswith(FUNCTION, body)
        found = self._read_xml(body) if is_xml else read_json_call(text, body)
        is_whole = found.end is not None
        at = skip_space(text, found.end if found.end is not None else get_fault(found).at)
        tag = self._tags.next(at)
        tag = len(text) if tag is None else tag
        is_closed = text.startswith(CLOSE, tag)
        end = tag + len(CLOSE) if is_closed else tag
        if found.call is None:
            return Block([create_faulty_call(text, get_fault(found), body, tag)], end, is_whole)
        if tag != at and is_closed:
            more = Fault("more text after the call", at)
            return Block([create_faulty_call(text, more, body, tag)], end, is_whole)
        return Block([found.call], end if is_closed else found.end or end, is_whole)

    def _find_body(self, start: int) -> int:
        has_tag = self._text.startswith(OPEN, start)
        return skip_space(self._text, start + len(OPEN) if has_tag else start)

    def _read_xml(self, start: int) -> Found:
        text = self._text
        match = FUNCTION_NAME.match(text, start)
        if match is None:
            return Found(fault=Fault("no name in <function=…>", start))
        schema = self._tools.get(match[1])
        properties = schema.get("properties") if isinstance(schema, dict) else None
        arguments: Json = {}
        at = skip_space(text, match.end())
        while True:
            if text.startswith("</function>", at):
                call = {"name": match[1], "arguments": arguments}
                return Found(end=at + len("</function>"), call=call)
            key = PARAMETER_NAME.match(text, at)
            if key is None:
                return Found(fault=Fault("no <parameter=…> or </function>", at))
            end = self._value_ends.next(key.end())
            other = self._other_ends.next(key.end())
            if end is None or (other is not None and other < end):
                return Found(fault=Fault(f"no </parameter> after <parameter={key[1]}>", at))
            value = LINE_AT_START.sub("", LINE_AT_END.sub("", text[key.end() : end]))
            known = properties.get(key[1]) if isinstance(properties, dict) else None
            arguments[key[1]] = read_value(value, known)
            at = skip_space(text, end + len("</parameter>"))


FUNCTION_NAME = re.compile(r"<function=([^<>\s]+)\s*>")
PARAMETER_NAME = re.compile(r"<parameter=([^<>\s]+)\s*>")
VALUE_END = r"</parameter>(?=[ \t\r\n]*<(?:parameter=|/function>))"
"""The end of a value, which may have the tag in its text as well."""
OTHER_END = r"</function>[ \t\r\n]*</tool_call>|\n<parameter="
"""What a value has in it if its own end is missing."""
LINE_AT_START = re.compile(r"\A\r?\n")
LINE_AT_END = re.compile(r"\r?\n\Z")
PYTHON_LITERALS = {"True": "true", "False": "false", "None": "null"}


def read_value(text: str, schema: Any) -> Any:
    """A value that the schema allows, or else the text: the tool then says what it expects."""
    types = list_types(schema)
    plain = text.strip()
    value = load_json(PYTHON_LITERALS.get(plain, plain), text)
    if isinstance(value, str):
        return text
    return value if not types or get_type(value) in types else text


def list_types(schema: Any) -> list[str]:
    """The JSON types that a schema allows; none if it does not say. An integer is a number."""
    if not isinstance(schema, dict):
        return []
    for branches in (schema.get("anyOf"), schema.get("oneOf")):
        if isinstance(branches, list):
            return [it for branch in branches for it in list_types(branch)]
    kind = schema.get("type")
    if kind is not None:
        kinds = kind if isinstance(kind, list) else [kind]
        return ["number" if it == "integer" else str(it) for it in kinds]
    if isinstance(schema.get("enum"), list):
        return [get_type(it) for it in schema["enum"]]
    return [get_type(schema["const"])] if "const" in schema else []


def get_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def read_json_call(text: str, start: int) -> Found:
    """Read the JSON object that begins at an index as a call."""
    if not text.startswith("{", start):
        return Found(fault=Fault("no JSON object", start))
    found = scan_json(text, start)
    if found.fault is not None or found.end is None:
        return found
    call = read_call(load_scanned(text[start : found.end]))
    if call is None:
        return Found(end=found.end, fault=Fault("no name of a tool in the object", start))
    return Found(end=found.end, call=call)


def read_call(value: Any) -> Json | None:
    """Models of some families name the arguments `parameters`, or write them as a text of JSON."""
    call = value["function"] if isinstance(value.get("function"), dict) else value
    name = call.get("name")
    if not isinstance(name, str) or not name:
        return None
    given = call.get("arguments")
    if given is None:
        given = call.get("parameters")
    return {"name": name, "arguments": parse_arguments(given)}


def parse_arguments(given: Any) -> Any:
    """The arguments of a call, which models write as JSON, or as a text of JSON once or twice.

    Nothing stands for none. Text that is no such JSON is kept, and the service refuses it.
    """
    value = {} if given is None else given
    for _ in range(2):
        if not isinstance(value, str):
            break
        if not value.strip():
            return {}
        text = value
        value = load_json(text, text)
        if value is None:
            return {}
        if value is text:
            return text
    return value


def load_json(text: str, default: Any) -> Any:
    """The value of a JSON text as JavaScript reads it, or the default."""
    found = scan_json(text, skip_space(text, 0))
    if found.fault is not None or found.end is None or skip_space(text, found.end) != len(text):
        return default
    return load_scanned(text)


def load_scanned(text: str) -> Any:
    """The value of a JSON text that has been scanned."""
    return json.loads(text, parse_int=parse_integer)


class GraniteReader(Reader):
    """A JSON list of all calls after `<|tool_call|>`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._opens = Finder(text, re.escape(GRANITE))

    def next(self, start: int) -> int | None:
        return self._opens.next(start)

    def is_call(self, start: int) -> bool:
        return self._text.startswith("[", self._find_body(start))

    def read(self, start: int) -> Block:
        text = self._text
        body = self._find_body(start)
        if not text.startswith("[", body):
            return self._fail(Fault("no JSON list of calls", body), body)
        found = scan_json(text, body)
        if found.fault is not None or found.end is None:
            return self._fail(get_fault(found), body, found.end)
        calls = [*self._read_elements(body)]
        if not calls:
            return self._fail(Fault("an empty list of calls", body), body, found.end)
        return Block(calls, found.end)

    def _find_body(self, start: int) -> int:
        return skip_space(self._text, start + len(GRANITE))

    def _read_elements(self, body: int) -> Iterator[Json]:
        text = self._text
        at = skip_space(text, body + 1)
        while not text.startswith("]", at):
            end = scan_json(text, at).end or len(text)
            element = read_json_call(text, at)
            yield element.call or create_faulty_call(text, get_fault(element), at, end)
            at = skip_space(text, end)
            if text.startswith(",", at):
                at = skip_space(text, at + 1)

    def _fail(self, fault: Fault, body: int, stop: int | None = None) -> Block:
        end = self._opens.next(fault.at) if stop is None else stop
        end = len(self._text) if end is None else end
        return Block([create_faulty_call(self._text, fault, body, end)], end, stop is not None)


class LlamaReader(Reader):
    """The whole message is JSON objects, or follows `<|python_tag|>`."""

    def __init__(self, text: str, tools: Mapping[str, Json]) -> None:
        self._text = text
        self._tools = tools
        self._opens = Finder(text, re.escape(PYTHON))

    def next(self, start: int) -> int | None:
        body = skip_space(self._text, start)
        if self._text.startswith("{", body) and self._is_call_text(body):
            return body
        return self._opens.next(start)

    def is_call(self, start: int) -> bool:
        return True

    def read(self, start: int) -> Block:
        text = self._text
        has_tag = text.startswith(PYTHON, start)
        body = skip_space(text, start + len(PYTHON)) if has_tag else start
        if has_tag and not text.startswith("{", body):
            python = read_python_call(text, body)
            call = python.call or create_faulty_call(text, get_fault(python), body, len(text))
            return Block([call], python.end or len(text))
        calls: list[Json] = []
        at = begin = body
        while text.startswith("{", begin):
            found = read_json_call(text, begin)
            at = len(text) if found.end is None else found.end
            calls.append(found.call or create_faulty_call(text, get_fault(found), begin, at))
            begin = match_end(SEPARATORS, text, at)
        return Block(calls, at)

    def _is_call_text(self, start: int) -> bool:
        """Whether an object is a call, and no answer in JSON. What is no JSON was meant as one."""
        found = scan_json(self._text, start)
        if found.fault is not None or found.end is None:
            return True
        value = load_scanned(self._text[start : found.end])
        if any(it in value for it in ("arguments", "parameters", "function")):
            return True
        name = value.get("name")
        return isinstance(name, str) and (name in self._tools if self._tools else len(value) == 1)


PYTHON_NAME = re.compile(r"([A-Za-z0-9_.-]+)\.call\(")
PYTHON_KEY = re.compile(r"\s*([A-Za-z0-9_]+)\s*=\s*")
PYTHON_LITERAL = re.compile("True|False|None")


def read_python_call(text: str, start: int) -> Found:
    """Read a call such as `search.call(query="rain", count=3)`, with values in JSON."""
    name = PYTHON_NAME.match(text, start)
    if name is None:
        return Found(fault=Fault("no JSON object", start))
    arguments: Json = {}
    at = skip_space(text, name.end())
    while not text.startswith(")", at):
        key = PYTHON_KEY.match(text, at)
        if key is None:
            return Found(fault=Fault("no name of an argument", at))
        word = PYTHON_LITERAL.match(text, key.end())
        value = Found(end=word.end()) if word else scan_json(text, key.end())
        if value.fault is not None or value.end is None:
            return Found(fault=value.fault)
        written = text[key.end() : value.end]
        arguments[key[1]] = load_scanned(PYTHON_LITERALS.get(written, written))
        at = skip_space(text, value.end)
        if text.startswith(",", at):
            at = skip_space(text, at + 1)
        elif not text.startswith(")", at):
            return Found(fault=Fault('no "," or ")" after an argument', at))
    return Found(end=at + 1, call={"name": name[1], "arguments": arguments})


def get_fault(found: Found) -> Fault:
    assert found.fault is not None
    return found.fault


def match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The end of a pattern that matches everywhere."""
    match = pattern.match(text, at)
    return match.end() if match else at


def skip_space(text: str, at: int) -> int:
    return match_end(SPACE, text, at)


def scan_json(text: str, start: int) -> Found:
    """Scan the JSON value that begins at the index.

    A wrong character in a string is a fault, after which the string goes on; any other fault ends
    the scan. The texts of the faults are those of the service.
    """
    closers: list[str] = []
    first: Fault | None = None
    expected = "value"
    at = start
    while True:
        at = skip_space(text, at)
        if at >= len(text):
            return Found(fault=first or Fault("the end of the text inside the JSON", at))
        character = text[at]
        if expected == "colon":
            if character != ":":
                return Found(fault=first or Fault('no ":" after a key', at))
            at += 1
            expected = "value"
            continue
        closer = closers[-1] if closers else ""
        if character == closer and (expected == "more" or expected.endswith("end")):
            at += 1
            closers.pop()
        elif expected == "more":
            if character != ",":
                what = f'no "," or "{closer}" after a value'
                return Found(fault=first or Fault(what, at))
            at += 1
            expected = "key" if closer == "}" else "value"
            continue
        elif character == '"':
            string = scan_string(text, at)
            first = first or string.fault
            if string.end is None:
                return Found(fault=first)
            at = string.end
            if expected.startswith("key"):
                expected = "colon"
                continue
        elif expected.startswith("key"):
            return Found(fault=first or Fault("no key in double quotes", at))
        elif character in "{[":
            if len(closers) == MAX_LEVELS:
                return Found(fault=first or Fault(f"more than {MAX_LEVELS} levels", at))
            closers.append("}" if character == "{" else "]")
            expected = "key or end" if character == "{" else "value or end"
            at += 1
            continue
        else:
            literal = LITERAL.match(text, at)
            if literal is None:
                return Found(fault=first or Fault("no value of JSON", at))
            at = literal.end()
        # a value is complete
        if not closers:
            return Found(end=at, fault=first)
        expected = "more"


CONTROL_NAMES = {"\n": "line break", "\t": "tab"}


def scan_string(text: str, start: int) -> Found:
    fault: Fault | None = None
    at = start + 1
    while True:
        mark = STRING_MARK.search(text, at)
        if mark is None:
            return Found(fault=fault or Fault("a string without an end", start))
        at = mark.start()
        if mark[0] == '"':
            return Found(end=at + 1, fault=fault)
        if mark[0] != "\\":
            name = CONTROL_NAMES.get(mark[0], "control character")
            fault = fault or Fault(f"a raw {name} in a string", at)
            at += 1
        elif escape := ESCAPE.match(text, at):
            at = escape.end()
        else:
            fault = fault or Fault("an escape that JSON does not have", at)
            at += 2
