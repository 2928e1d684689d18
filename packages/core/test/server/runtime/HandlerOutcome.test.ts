import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as LocalError from "@effect-mcp/core/LocalError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import { Cause, Exit } from "effect"
import * as HandlerOutcome from "../../../src/server/runtime/HandlerOutcome.js"

const internal = { code: -32603, message: "Internal error" }

const said = (exit: Exit.Exit<unknown, unknown>) =>
  HandlerOutcome.fromExit(exit, "legacy", (value) => ({ result: { said: value } }))

describe("HandlerOutcome", () => {
  it("encodes a result with the given function", () => {
    assert.deepStrictEqual(said(Exit.succeed(1)), { result: { said: 1 } })
  })

  it("encodes an McpError with the code of the era", () => {
    const notFound = Cause.fail(new McpError.ResourceNotFound({ uri: "a" }))
    assert.strictEqual(HandlerOutcome.fromCause(notFound, "legacy").error?.code, -32002)
    assert.strictEqual(HandlerOutcome.fromCause(notFound, "modern").error?.code, -32602)
  })

  it("passes a JSON-RPC error on unchanged", () => {
    const error = new JsonRpcError.JsonRpcError({ code: 7, message: "own" })
    assert.strictEqual(said(Exit.fail(error)).error, error)
  })

  it("hides any other failure from the client, and keeps the cause for the operator", () => {
    const causes: ReadonlyArray<Cause.Cause<unknown>> = [
      Cause.die(new Error("secret")),
      Cause.fail(new Error("secret")),
      Cause.fail({ _tag: "InvalidParams", message: "looks like one" }),
      Cause.interrupt(undefined as never),
      Cause.empty
    ]
    for (const cause of causes) {
      assert.deepStrictEqual(said(Exit.failCause(cause)), { error: internal, died: cause })
    }
  })

  it("hides a failure that came with a defect, and reports the defect", () => {
    const failure = Cause.fail(new McpError.InvalidParams({ message: "no" }))
    const defect = Cause.die("bug")
    for (const cause of [Cause.sequential(failure, defect), Cause.parallel(defect, failure)]) {
      assert.deepStrictEqual(said(Exit.failCause(cause)), { error: internal, died: cause })
    }
  })

  it("encodes the failure of one of several fibers that were interrupted with it", () => {
    const failure = Cause.fail(new McpError.InvalidParams({ message: "no" }))
    const cause = Cause.parallel(Cause.interrupt(undefined as never), failure)
    assert.strictEqual(said(Exit.failCause(cause)).error?.code, -32602)
  })

  it("accepts only a result of the method, and says where another value is wrong, but not what it is", () => {
    const result = { messages: [{ role: "user", content: { type: "text", text: "hello" } }] }
    assert.deepStrictEqual<unknown>(HandlerOutcome.result(result, Methods.getPrompt), { result })
    const { died, error } = HandlerOutcome.result({ messages: [{ role: "secret" }] }, Methods.getPrompt)
    assert.deepStrictEqual(error, internal)
    const start = `The handler of "prompts/get" returned a value that is not a result of the method`
    assert.include(String(died), `${start}: see messages.0.`)
    assert.notInclude(String(died), "secret")
    assert.include(String(HandlerOutcome.result(undefined, Methods.getPrompt).died), start)
  })

  it("gives the model \"Internal error\" of a tool that died, and the calling program that of anything else", () => {
    const died = Cause.die(new Error("secret"))
    const of = (method: string, params?: JsonObject) =>
      HandlerOutcome.ofRequest(
        { received: { method, params }, encode: () => ({ result: {} }) },
        Exit.failCause(died),
        "legacy"
      )
    assert.deepStrictEqual<unknown>(of("tools/call", { name: "search" }), {
      result: { content: [{ type: "text", text: "Internal error" }], isError: true },
      died,
      subject: `tool "search"`
    })
    assert.deepStrictEqual<unknown>(of("prompts/get", { name: "review" }), {
      error: internal,
      died,
      subject: `prompt "review"`
    })
  })

  it("describes why a question to the client had no answer, without the error of the transport", () => {
    const why = (error: unknown) => HandlerOutcome.fromCause(Cause.fail(error), "legacy").error
    assert.deepInclude(why(new LocalError.RequestTimeout({ method: "roots/list", millis: 5 })), {
      code: -32603,
      message: `Request "roots/list" timed out after 5 ms`
    })
    assert.include(
      why(new LocalError.NoBackChannel({ method: "roots/list" }))?.message ?? "",
      `Cannot send "roots/list"`
    )
    const broken = new LocalError.TransportError({ reason: "Write", message: "EPIPE /home/ada/secret" })
    assert.deepInclude(why(broken), { code: -32603, message: "The server's request did not reach the client" })
    assert.deepInclude(why(new LocalError.TransportError({ reason: "Decode", message: "not valid: secret" })), {
      code: -32603,
      message: "The client's answer to a request of the server is not valid"
    })
    // What a program said last may be anything; it is for the operator.
    const closed = new LocalError.ConnectionClosed({ cause: broken })
    const reply = HandlerOutcome.fromCause(Cause.fail(closed), "legacy")
    assert.deepInclude(reply.error, { code: -32603, message: "The client has closed the connection" })
    assert.deepStrictEqual(reply.died, Cause.fail(closed))
    assert.include(why(new LocalError.SessionExpired({ method: "roots/list" }))?.message ?? "", `"roots/list"`)
  })

  it("reports a handler that demands to open what is not a URL, and sends no such URL", () => {
    const demand = (url: string) =>
      new McpError.UrlElicitationRequired({
        elicitations: [{ mode: "url", elicitationId: "7", message: "Sign in", url }]
      })
    const reply = HandlerOutcome.fromCause(Cause.fail(demand("not a URL")), "legacy")
    assert.deepStrictEqual(reply.error, internal)
    assert.include(String(reply.died), `a url that is not valid, in the elicitation "7"`)
    assert.strictEqual(
      HandlerOutcome.fromCause(Cause.fail(demand("https://example.com")), "legacy").error?.code,
      -32042
    )
  })

  it("knows which failures are protocol errors", () => {
    for (
      const failure of [
        new McpError.InvalidParams({ message: "no" }),
        new JsonRpcError.JsonRpcError({ code: 7, message: "own" }),
        new LocalError.NoBackChannel({ method: "a" })
      ]
    ) {
      assert.isTrue(HandlerOutcome.isProtocolError(failure))
    }
    for (const failure of [new Error("no"), { _tag: "InvalidParams", message: "looks like one" }, undefined]) {
      assert.isFalse(HandlerOutcome.isProtocolError(failure))
    }
  })
})
