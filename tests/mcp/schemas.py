"""Holds every line of a session to the protocol's own JSON Schemas and to what this server promises on top."""

import json
import pathlib

from jsonschema import Draft202012Validator
from mcp.types import JSONRPCError

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "mcp_schemas.json"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "ping": "Result",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
}

_schemas = json.loads(DATA.read_text())


def hold(value, revision, name):
    """A value must be what a revision's schema says under a name."""
    schema = {"$ref": f"#/$defs/{name}", "$defs": _schemas[revision]["$defs"]}
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]
    assert not errors, f"{name} of {revision}: {errors[:3]} in {json.dumps(value)[:600]}"


def conforms(value, schema):
    Draft202012Validator.check_schema(schema)
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]
    assert not errors, f"{errors[:3]} in {json.dumps(value)[:600]}"


def revision_of(request):
    version = request.get("params", {}).get("_meta", {}).get(VERSION_KEY)
    return MODERN if version or request["method"] == "server/discover" else LEGACY


def check_answer(answer, request, tools):
    """One line that the server sent, against the request that it answers (None where it answers what was no request)."""
    if request is None:
        # No id could be read. JSON-RPC then asks for null, and the official client takes an error with an id or null only;
        # the protocol's schema knows no null and would have it left out. So null must be there, and the rest must fit.
        JSONRPCError.model_validate(answer)
        assert "id" in answer
        rest = {key: value for key, value in answer.items() if key != "id" or value is not None}
        for revision in (LEGACY, MODERN):
            hold(rest, revision, "JSONRPCErrorResponse")
        return
    revision = revision_of(request)
    hold(answer, revision, "JSONRPCMessage")
    assert answer["id"] == request["id"] and isinstance(answer["id"], type(request["id"]))
    if "error" in answer:
        hold(answer, revision, "JSONRPCErrorResponse")
        if answer["error"]["code"] == -32022:
            hold(answer, MODERN, "UnsupportedProtocolVersionError")
        return
    hold(answer, revision, "JSONRPCResultResponse")
    result = answer["result"]
    hold(result, revision, RESULTS[request["method"]])
    if request["method"] == "tools/list":
        for tool in result["tools"]:
            check_tool(tool)
    if request["method"] == "tools/call":
        check_call(result, tools.get(request["params"]["name"]))


def check_tool(tool):
    schema = tool["inputSchema"]
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object" and schema["additionalProperties"] is False
    assert not {"oneOf", "anyOf", "allOf", "$ref"} & set(schema), "agents' makers refuse a union at the root"
    assert set(tool["annotations"]) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert tool["title"] and tool["description"]


def check_call(result, tool):
    (content,) = result["content"]
    assert json.loads(content["text"]) == result["structuredContent"], "text and structure must tell the same"
    told = result["structuredContent"]
    if "outcome" in told:
        assert result["isError"] == (told["outcome"] != "accepted")
    else:
        assert result["isError"] is False
    if tool and "outputSchema" in tool:
        conforms(told, tool["outputSchema"])
    assert all(letter.isprintable() for letter in content["text"]), "a control character got through"


def check_session(asked, said, tools):
    """A whole session's lines: each answers one request, and each request is answered once."""
    requests = {}
    for line in asked.splitlines():
        message = json.loads(line)
        if "id" in message and "method" in message:
            requests[message["id"]] = message
    answered = set()
    for line in said.splitlines():
        answer = json.loads(line)
        request = requests[answer["id"]]
        assert answer["id"] not in answered
        answered.add(answer["id"])
        check_answer(answer, request, tools)
    return answered
