import { assert, describe, it } from "@effect/vitest"
import * as ClientError from "@effect-mcp/core/ClientError"
import { JsonRpcError } from "@effect-mcp/core/JsonRpcError"
import { ConnectionClosed, NoBackChannel, RequestTimeout, TransportError } from "@effect-mcp/core/LocalError"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { Either, Schema } from "effect"
import * as EffectParser from "../../src/protocol/schema/EffectParser.js"

describe("ClientError.fromCall", () => {
  it("gives the typed error for the code of the server's error", () => {
    const errors: ReadonlyArray<McpError.McpError> = [
      new McpError.ParseError({ message: "what?" }),
      new McpError.InvalidRequest({ message: "not now" }),
      new McpError.MethodNotFound({ method: "tools/forget" }),
      new McpError.InvalidParams({ message: "no such tool", data: { name: "forget" } }),
      new McpError.InternalError({ message: "Internal error" }),
      new McpError.ResourceNotFound({ uri: "file:///gone" }),
      new McpError.UrlElicitationRequired({
        elicitations: [{ mode: "url", elicitationId: "1", url: "https://example.com", message: "Open it" }]
      }),
      new McpError.UrlElicitationRequired({ elicitations: [], message: "Sign in to the archive first" }),
      new McpError.PeerError({ code: -32000, message: "Connection closed" }),
      new McpError.PeerError({ code: 7, message: "ours", data: [1, 2] })
    ]
    for (const error of errors) {
      const back = ClientError.fromCall(new JsonRpcError(McpError.toWire(error, "legacy")))
      assert.deepStrictEqual(back, error)
      assert.isTrue(McpError.isMcpError(back))
    }
  })

  it("does not change a local error", () => {
    const errors = [
      new ConnectionClosed({}),
      new RequestTimeout({ method: "ping", millis: 1 }),
      new NoBackChannel({ method: "ping" }),
      new TransportError({ reason: "Write", message: "full" })
    ]
    for (const error of errors) assert.strictEqual(ClientError.fromCall(error), error)
  })
})

describe("NoCommonVersion", () => {
  it("names the revisions of both sides", () => {
    const error = new ClientError.NoCommonVersion({ offered: "2099-01-01", supported: ["2025-06-18", "2025-11-25"] })
    assert.strictEqual(
      error.message,
      "The server supports 2099-01-01; this client supports 2025-06-18, 2025-11-25"
    )
  })

  it("is short whatever the server offers", () => {
    const error = new ClientError.NoCommonVersion({ offered: "x".repeat(100_000), supported: ["2025-11-25"] })
    assert.isBelow(error.message.length, 300)
  })
})

describe("ToolError", () => {
  const messageOf = (content: ClientError.ToolError["result"]["content"]) =>
    new ClientError.ToolError({ tool: "forget", result: { content, isError: true } }).message

  it("has the first text of the result as its message", () => {
    assert.strictEqual(
      messageOf([
        { type: "image", data: "", mimeType: "image/png" },
        { type: "text", text: "There is nothing to forget" },
        { type: "text", text: "and nothing to add" }
      ]),
      "There is nothing to forget"
    )
  })

  it("has a message for a result without text", () => {
    assert.strictEqual(messageOf([]), "The tool \"forget\" failed without a message")
  })
})

describe("ClientError.invalidResult", () => {
  it("has reason `Decode` and names the place", () => {
    const decoded = EffectParser.decodeUnknownEither(Schema.Struct({ hits: Schema.Array(Schema.Number) }))({
      hits: [1, "2"]
    })
    const error = ClientError.invalidResult("the tool \"search\"", Either.getOrThrow(Either.flip(decoded)))
    assert.strictEqual(error.reason, "Decode")
    assert.strictEqual(
      error.message,
      "The result of the tool \"search\" is not valid: hits.1: Expected number, actual \"2\""
    )
  })
})
