"""RemotingCommand: a frame's fields, encoded and decoded.

What is encoded here begins with the length word; what is decoded is what stands behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from impl.common import bodies  # noqa: F401  declares the class of the header
from impl.common.byte_buffer import ByteBuffer
from impl.common.fastjson.beans import BEANS, Bean
from impl.common.fastjson.deserializers import from_json
from impl.common.fastjson.serializer import to_json
from impl.decisions.java_arithmetic import wrap8, wrap16
from impl.decisions.java_errors import JavaException, NegativeArraySizeError, NullPointerError, not_null
from impl.decisions.java_text import utf8_bytes, utf8_text
from impl.hash_map import HashMap

JSON, ROCKETMQ = "JSON", "ROCKETMQ"
_TYPES = (JSON, ROCKETMQ)  # SerializeType, by code
LANGUAGES = ("JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS")
"""LanguageCode, by code."""
RPC_TYPE, RPC_ONEWAY = 1, 2  # bits of the flag
FRAME_MAX_LENGTH = 16_777_216  # NettyDecoder: of the whole frame, its length word included

ExtFields = HashMap[str | None, str | None]


class RemotingCommandError(JavaException):
    """A frame, or a header, that RocketMQ refuses."""

    java_class = "org.apache.rocketmq.remoting.exception.RemotingCommandException"


@dataclass(slots=True)
class RemotingCommand:
    """`RemotingCommand`. flag -- bits RPC_TYPE (a response) and RPC_ONEWAY; ext_fields -- None: there is no map.

    language -- None: a name or a number that stands for no language. serialize_type -- of this frame's header.
    """

    code: int = 0
    language: str | None = "JAVA"
    version: int = 0
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    ext_fields: ExtFields | None = None
    serialize_type: str = JSON
    body: bytes | None = None

    @property
    def is_response(self) -> bool:
        """RemotingCommand#isResponseType."""
        return bool(self.flag & RPC_TYPE)

    @property
    def oneway(self) -> bool:
        """RemotingCommand#isOnewayRPC."""
        return bool(self.flag & RPC_ONEWAY)

    def add_ext_field(self, key: str, value: str | None) -> None:
        """RemotingCommand#addExtField."""
        if self.ext_fields is None:
            self.ext_fields = HashMap()
        self.ext_fields.put(key, value)


def encode(command: RemotingCommand) -> bytes:
    """RemotingCommand#encode."""
    return encode_header(command) + (command.body or b"")


def encode_header(command: RemotingCommand) -> bytes:
    """RemotingCommand#encodeHeader: the frame without its body, which the length counts. Raises JavaError."""
    binary = command.serialize_type == ROCKETMQ
    header = _binary_header(command) if binary else utf8_bytes(json_header(command))
    length = 4 + len(header) + len(command.body or b"")
    word = binary << 24 | len(header) & 0xFFFFFF
    return length.to_bytes(4, "big") + word.to_bytes(4, "big") + header


def json_header(command: RemotingCommand) -> str:
    """The header as JSON."""
    return to_json(Bean(BEANS["RemotingCommand"], {
        "code": command.code, "language": command.language, "version": command.version, "opaque": command.opaque,
        "flag": command.flag, "remark": command.remark, "extFields": command.ext_fields,
        "serializeTypeCurrentRPC": command.serialize_type, "body": None}))


def _binary_header(command: RemotingCommand) -> bytes:
    """RocketMQSerializable#rocketMQProtocolEncode: code and version are cut to 16 bits."""
    language = LANGUAGES.index(not_null(command.language))
    remark = utf8_bytes(command.remark or "")
    ext = b"" if command.ext_fields is None else _map_serialize(command.ext_fields)
    return b"".join((
        _short(command.code), bytes([language]), _short(command.version), _int(command.opaque), _int(command.flag),
        _int(len(remark)), remark, _int(len(ext)), ext))


def _short(value: int) -> bytes:
    return (value & 0xFFFF).to_bytes(2, "big")


def _int(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "big")


def _map_serialize(fields: ExtFields) -> bytes:
    """RocketMQSerializable#mapSerialize: entries without key or value are left out."""
    pairs = [(utf8_bytes(key), utf8_bytes(value)) for key, value in fields.entries()
             if key is not None and value is not None]
    return b"".join(_short(len(key)) + key + _int(len(value)) + value for key, value in pairs)


def decode(data: bytes, next_opaque: Callable[[], int]) -> RemotingCommand:
    """RemotingCommand#decode. Raises JavaError; the decoder then closes the connection.

    next_opaque -- RemotingCommand.requestId: a header that names no opaque gets one of this process.
    """
    buffer = ByteBuffer(data)
    word = buffer.get_int()
    header = buffer.get(word & 0xFFFFFF)
    code = wrap8(word >> 24)
    if not 0 <= code < len(_TYPES):
        raise NullPointerError  # SerializeType#valueOf knows no such type
    command = _decoded_json(header, next_opaque) if _TYPES[code] == JSON else _decoded_binary(header, next_opaque)
    command.body = data[4 + len(header) :] or None
    return command


def _decoded_json(header: bytes, next_opaque: Callable[[], int]) -> RemotingCommand:
    bean = not_null(from_json(utf8_text(header), "RemotingCommand", 0))
    values = bean.values
    opaque = next_opaque()  # the decoder makes an object, whose number is used up
    return RemotingCommand(
        values["code"], values["language"], values["version"],
        opaque if values["opaque"] is None else values["opaque"], values["flag"], values["remark"],
        values["extFields"])


def _decoded_binary(header: bytes, next_opaque: Callable[[], int]) -> RemotingCommand:
    """RocketMQSerializable#rocketMQProtocolDecode: nothing for a text of length 0, or less."""
    buffer = ByteBuffer(header)
    next_opaque()
    code, language = wrap16(buffer.get_short()), buffer.get(1)[0]
    version, opaque, flag = wrap16(buffer.get_short()), buffer.get_int(), buffer.get_int()
    remark = _part(buffer, "remark", len(header))
    ext = _part(buffer, "extFields", len(header))
    return RemotingCommand(
        code, LANGUAGES[language] if language < len(LANGUAGES) else None, version, opaque, flag,
        None if remark is None else utf8_text(remark), None if ext is None else _map_deserialize(ext), ROCKETMQ)


def _part(buffer: ByteBuffer, name: str, header_length: int) -> bytes | None:
    length = buffer.get_int()
    if length <= 0:
        return None
    if length > header_length:
        raise RemotingCommandError(
            f"RocketMQ protocol decoding failed, {name} length: {length}, but header length: {header_length}")
    return buffer.get(length)


def _map_deserialize(data: bytes) -> ExtFields:
    """RocketMQSerializable#mapDeserialize."""
    buffer, found = ByteBuffer(data), ExtFields()
    while buffer.has_remaining():
        key = _sized(buffer, wrap16(buffer.get_short()))
        found.put(key, _sized(buffer, buffer.get_int()))
    return found


def _sized(buffer: ByteBuffer, size: int) -> str:
    if size < 0:
        raise NegativeArraySizeError(str(size))
    return utf8_text(buffer.get(size))
