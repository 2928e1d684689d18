import { assert, describe, it } from "@effect/vitest"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import { Chunk, Effect, Either, Fiber, Logger, Option, Stream, TestClock } from "effect"
import { untilSuspended } from "../../../../testing/test/support/Suspended.js"
import { cacheable, calling, complete, connect, tools } from "./ModernHttp.js"

const right = <A, E>(fiber: Fiber.Fiber<Either.Either<A, E>>) => Effect.map(Fiber.join(fiber), Either.getOrThrow)

const left = <A, E>(fiber: Fiber.Fiber<Either.Either<A, E>>) =>
  Effect.map(Fiber.join(fiber), (either) => Either.getOrThrow(Either.flip(either)))

const LARGE = { text: "x".repeat(1500) }

describe("A modern request over HTTP", () => {
  it.scoped("MUST be a POST of its own that repeats its revision, its method and its name, and accepts both answers", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ remote: { headers: { "x-own": "1", "mcp-method": "no" } } })
      for (
        const [method, call, name, result] of [
          ["tools/call", client.callTool("Ünï"), "=?base64?w5xuw68=?=", { content: [] }],
          ["prompts/get", client.getPrompt("p"), "p", { messages: [] }],
          ["resources/read", client.readResource("file:///a b"), "file:///a b", { contents: [] }],
          ["tools/list", client.listTools(), undefined, { tools: [] }]
        ] as const
      ) {
        const call_ = yield* calling<unknown>(call)
        const exchange = yield* http.expect(method)
        assert.strictEqual(exchange.request.method, "POST")
        assert.deepInclude(exchange.headers, {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          "x-own": "1"
        })
        assert.strictEqual(exchange.headers["mcp-name"], name)
        assert.notProperty(exchange.headers, "mcp-session-id")
        assert.strictEqual(
          exchange.message.params._meta["io.modelcontextprotocol/protocolVersion"],
          exchange.headers["mcp-protocol-version"]
        )
        yield* cacheable(exchange, result)
        yield* right(call_)
      }
    }))

  it.scoped("takes answers that nest deeper than 512 levels where `limits.maxDepth` says so", () =>
    Effect.gen(function*() {
      let deep: object = {}
      for (let depth = 0; depth < 600; depth++) deep = { deep }
      for (const remote of [{ limits: { maxDepth: 1000 } }, {}]) {
        const { client, http } = yield* connect({ remote })
        for (const isStream of [false, true]) {
          const call = yield* calling(client.callTool("t"))
          const exchange = yield* http.expect("tools/call")
          const result = { resultType: "complete", content: [], structuredContent: { deep } }
          if (isStream) {
            const stream = yield* exchange.events()
            yield* stream.send({ jsonrpc: "2.0", id: exchange.message.id, result })
          } else yield* exchange.result(result)
          if ("limits" in remote) assert.deepStrictEqual((yield* right(call)).structuredContent, { deep })
          else assert.deepInclude(yield* left(call), { _tag: "TransportError", reason: "Decode" })
        }
      }
    }))

  it.scoped("fails with the malformed answer in a batch, wherever it is, and gets the other messages of the batch", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const notified = yield* Effect.fork(Stream.runHead(client.notifications))
      yield* untilSuspended(notified)
      const call = yield* calling(client.callTool("t"))
      const exchange = yield* http.expect("tools/call")
      const { id } = exchange.message
      yield* exchange.json([{ jsonrpc: "2.0", method: "notifications/theirs" }, { jsonrpc: "2.0", id, result: "no" }])
      const error = yield* left(call)
      assert.deepInclude(error, { _tag: "TransportError", reason: "Decode" })
      assert.notInclude(error.message, "something else")
      assert.deepInclude(Option.getOrThrow(yield* Fiber.join(notified)), { method: "notifications/theirs" })
    }))

  it.scoped("ignores a session and event ids that a server sends, and goes on without them", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      for (let i = 0; i < 2; i++) {
        const call = yield* calling(client.callTool("t"))
        const exchange = yield* http.expect("tools/call")
        assert.notProperty(exchange.headers, "mcp-session-id")
        assert.notProperty(exchange.headers, "last-event-id")
        const stream = yield* exchange.events({ "mcp-session-id": "s" })
        const result = { resultType: "complete", content: [] }
        yield* stream.send({ jsonrpc: "2.0", id: exchange.message.id, result }, { id: "7" })
        yield* right(call)
      }
    }))

  it.scoped("gets the messages of its stream in order, ignores comments and what is not a message, and then its answer", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const seen: Array<number> = []
      const logs = yield* Effect.forkScoped(Stream.runCollect(Stream.take(client.logs, 1)))
      const call = yield* calling(client.callTool("t", {}, {
        onProgress: ({ progress }) => Effect.sync(() => seen.push(progress))
      }))
      const exchange = yield* http.expect("tools/call")
      const stream = yield* exchange.events()
      yield* stream.push(": hello\n\ndata:\n\ndata: {\"no\":\"message\"}\n\n")
      for (const progress of [1, 2, 3]) {
        yield* stream.send({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: exchange.message.params._meta.progressToken, progress }
        })
      }
      yield* stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } })
      // A server MUST NOT send requests here: nothing answers it.
      yield* stream.send({ jsonrpc: "2.0", id: "s", method: "ping" })
      const result = { resultType: "complete", content: [] }
      yield* stream.send({ jsonrpc: "2.0", id: String(exchange.message.id), result })
      assert.deepStrictEqual(yield* right(call), { content: [] })
      assert.deepStrictEqual(seen, [1, 2, 3])
      assert.lengthOf(Chunk.toReadonlyArray(yield* Fiber.join(logs)), 1)
      yield* http.quiet
      yield* http.idle
    }))

  for (
    const [what, event] of [
      ["as a message", (id: unknown) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: LARGE })}`],
      ["with its id at the end", (id: unknown) => `data: ${JSON.stringify({ result: LARGE, id: String(id) })}`],
      ["in a batch", (id: unknown) => `data: ${JSON.stringify([{ jsonrpc: "2.0", id, result: LARGE }])}`],
      ["so that nothing shows what it is", () => `data: ${"x".repeat(2000)}`]
    ] as const
  ) {
    it.scoped(`fails while its stream stays open when its event is too large, and is not sent again: ${what}`, () =>
      Effect.gen(function*() {
        const { client, http } = yield* connect({ remote: { limits: { maxEventBytes: 1000 } } })
        const call = yield* calling(client.callTool("t", {}, { maxRetries: 3 }))
        const exchange = yield* http.expect("tools/call")
        const stream = yield* exchange.events()
        yield* stream.push(`${event(exchange.message.id)}\n\n`)
        assert.deepInclude(yield* left(call), {
          _tag: "TransportError",
          reason: "Decode",
          message: "The answer to \"tools/call\" cannot be read: an event of its stream has more than 1000 bytes; " +
            "raise the limit maxEventBytes, or ask for a smaller answer"
        })
        yield* TestClock.adjust("1 minute")
        yield* http.quiet
        yield* http.idle
      }))
  }

  it.scoped("fails when its body is too large, as declared or as read, and is not sent again", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ remote: { limits: { maxBodyBytes: 1000 } } })
      for (
        const [headers, size] of [[{}, "more than 1000 bytes"], [{ "content-length": "2000" }, "2000 bytes"]] as const
      ) {
        const call = yield* calling(client.callTool("t", {}, { maxRetries: 3 }))
        const exchange = yield* http.expect("tools/call")
        const body = yield* exchange.open(200, { "content-type": "application/json", ...headers })
        yield* body.push(" ".repeat(2000))
        const error = yield* left(call)
        assert.deepInclude(error, { _tag: "TransportError", reason: "Decode" })
        assert.include(error.message, `The answer to "tools/call" cannot be read: its body has ${size}`)
        assert.include(error.message, "raise the limit maxBodyBytes, or ask for a smaller answer")
      }
      yield* TestClock.adjust("1 minute")
      yield* http.quiet
    }))

  it.scoped("does not fail when a notification beside it is too large: the notification is reported", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({ remote: { limits: { maxEventBytes: 1000 } } })
      const reported = yield* Effect.forkScoped(Effect.flatten(Stream.runHead(client.diagnostics)))
      yield* untilSuspended(reported)
      const call = yield* calling(client.callTool("t"))
      const exchange = yield* http.expect("tools/call")
      const stream = yield* exchange.events()
      yield* stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: LARGE } })
      assert.strictEqual((yield* Fiber.join(reported))._tag, "Malformed")
      yield* stream.send({ jsonrpc: "2.0", id: exchange.message.id, result: { resultType: "complete", content: [] } })
      assert.deepStrictEqual(yield* right(call), { content: [] })
    }))

  it.scoped("that subscribes goes on when an event is too large, whatever it was: the event is reported", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect({
        capabilities: { tools: { listChanged: true } },
        remote: { limits: { maxEventBytes: 1000 } }
      })
      const exchange = yield* http.expect("subscriptions/listen")
      const stream = yield* exchange.events()
      const { id } = exchange.message
      const _meta = { "io.modelcontextprotocol/subscriptionId": id }
      const notify = (method: string, params: object) =>
        stream.send({ jsonrpc: "2.0", method: `notifications/${method}`, params: { ...params, _meta } })
      yield* notify("subscriptions/acknowledged", { notifications: { toolsListChanged: true } })
      const reported = yield* Effect.forkScoped(Stream.runCollect(Stream.take(client.diagnostics, 2)))
      const changed = yield* Effect.forkScoped(Effect.flatten(Stream.runHead(client.listChanges)))
      yield* untilSuspended(reported)
      yield* untilSuspended(changed)
      yield* notify("resources/updated", { uri: "x".repeat(2000) })
      yield* stream.push(`data: ${"x".repeat(2000)}\n\n`)
      assert.deepStrictEqual(Array.from(yield* Fiber.join(reported), ({ _tag }) => _tag), ["Malformed", "Malformed"])
      yield* notify("tools/list_changed", {})
      assert.strictEqual(yield* Fiber.join(changed), "tools")
      assert.isFalse(stream.isOver())
    }))

  it.scoped("is cancelled by closing its response, without a notification", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      for (const begins of [true, false]) {
        const call = yield* calling(client.callTool("t"))
        const exchange = yield* http.expect("tools/call")
        if (begins) yield* exchange.events()
        yield* http.quiet
        yield* Fiber.interrupt(call)
        yield* http.quiet
        assert.isTrue(exchange.isOver)
      }
    }))

  it.scoped("is cancelled by closing its response when its time is over", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.callTool("t", {}, { timeout: 0 }))
      assert.strictEqual((yield* left(call))._tag, "RequestTimeout")
      yield* http.quiet
    }))

  for (
    const [status, code, tag] of [
      [400, -32020, "HeaderMismatch"],
      [400, -32602, "InvalidParams"],
      [404, -32601, "MethodNotFound"],
      [500, -32603, "InternalError"],
      [503, -32603, "InternalError"]
    ] as const
  ) {
    it.scoped(`fails with the error in the body of ${status}${status < 500 ? ", also when that names no id" : ""}`, () =>
      Effect.gen(function*() {
        const { client, http } = yield* connect()
        // The error of a proxy names none.
        for (const id of status < 500 ? ["own", null, undefined] : ["own"]) {
          const call = yield* calling(client.getPrompt("p"))
          const exchange = yield* http.expect("prompts/get")
          yield* exchange.json(
            { jsonrpc: "2.0", id: id === "own" ? exchange.message.id : id, error: { code, message: "No" } },
            {},
            status
          )
          assert.strictEqual((yield* left(call))._tag, tag)
        }
      }))
  }

  it.scoped("fails with the refusal when access is denied with an error that names no id", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      for (const status of [401, 403]) {
        const call = yield* calling(client.getPrompt("p"))
        const body = { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Unauthorized" } }
        yield* Effect.flatMap(http.expect("prompts/get"), (exchange) => exchange.json(body, {}, status))
        assert.deepInclude(((yield* left(call)) as { readonly cause?: unknown }).cause, {
          _tag: "HttpResponseError",
          status
        })
      }
    }))

  it.scoped("fails with the refusal when its body is the error of another request", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.getPrompt("p"))
      const exchange = yield* http.expect("prompts/get")
      yield* exchange.json({ jsonrpc: "2.0", id: "other", error: { code: -32602, message: "No" } }, {}, 400)
      const error = yield* left(call)
      assert.deepInclude(error, { _tag: "TransportError", reason: "Write" })
      assert.instanceOf(error._tag === "TransportError" && error.cause, HttpResponseError)
    }))

  it.scoped("keeps the refusal as the cause of an answer that is lost", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.getPrompt("p"))
      yield* Effect.flatMap(http.expect("prompts/get"), (exchange) => exchange.reply(502))
      const error = yield* left(call)
      assert.deepInclude(error, { _tag: "TransportError", reason: "Read" })
      assert.propertyVal(error._tag === "TransportError" && error.cause, "status", 502)
    }))

  it.scoped("fails when its answer has another id, in JSON and in a stream", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const json = yield* calling(client.getPrompt("p"))
      const other = { jsonrpc: "2.0", id: "other", result: { resultType: "complete", messages: [] } }
      yield* Effect.flatMap(http.expect("prompts/get"), (exchange) => exchange.json(other))
      assert.deepInclude(yield* left(json), { _tag: "TransportError", reason: "Decode" })
      const streamed = yield* calling(client.getPrompt("p"))
      const stream = yield* Effect.flatMap(http.expect("prompts/get"), (exchange) => exchange.events())
      yield* stream.send(other)
      yield* stream.end
      assert.include((yield* left(streamed)).message, "the stream ended before it")
    }))

  it.scoped("cannot be resumed", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.callTool("t", {}, { resumptionToken: "1 2" }))
      assert.include((yield* left(call)).message, "of revision 2025-11-25 or earlier")
      yield* http.quiet
    }))
})

describe("The headers of a call over HTTP", () => {
  const mark = (name: string, header: string) => ({
    name,
    inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } }
  })

  for (const isOpen of [false, true]) {
    it.scoped(`SHOULD be learnt from the list of tools, and the call sent again, when the server refuses those it got${isOpen ? ", also over a transport that was open before" : ""}`, () =>
      Effect.gen(function*() {
        const { client, http } = yield* connect({ isOpen })
        const call = yield* calling(client.callTool("t", { region: "eu" }))
        const first = yield* http.expect("tools/call")
        assert.notProperty(first.headers, "mcp-param-region")
        const refusal = {
          jsonrpc: "2.0",
          id: first.message.id,
          error: { code: -32020, message: "Mcp-Param-Region is missing" }
        }
        yield* first.json(refusal, {}, 400)
        const one = yield* http.expect("tools/list")
        assert.notStrictEqual(one.message.id, first.message.id)
        yield* cacheable(one, { tools: [mark("other", "Other")], nextCursor: "" })
        const two = yield* http.expect("tools/list")
        assert.strictEqual(two.message.params.cursor, "")
        yield* cacheable(two, { tools: [mark("t", "Region")], nextCursor: "3" })
        const second = yield* http.expect("tools/call")
        assert.strictEqual(second.headers["mcp-param-region"], "eu")
        assert.deepStrictEqual(second.message.params, first.message.params)
        yield* complete(second, { content: [] })
        yield* right(call)
      }))
  }

  it.scoped("are learnt once: a second refusal fails the call", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.callTool("t", { region: "eu" }))
      const error = { code: -32020, message: "No" }
      for (const method of ["tools/call", "tools/list", "tools/call"]) {
        const exchange = yield* http.expect(method)
        if (method === "tools/list") yield* tools(exchange, {})
        else yield* exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error }, {}, 400)
      }
      assert.strictEqual((yield* left(call))._tag, "HeaderMismatch")
      yield* http.quiet
    }))

  it.scoped("are not looked for again for a minute when the list does not have the tool", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const refuse = Effect.flatMap(http.expect("tools/call"), (exchange) =>
        exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32020, message: "No" } }, {}, 400))
      const again = Effect.gen(function*() {
        const call = yield* calling(client.callTool("t"))
        yield* refuse
        yield* Effect.flatMap(http.expect("tools/list"), (list) =>
          tools(list, {}))
        yield* refuse
        assert.strictEqual((yield* left(call))._tag, "HeaderMismatch")
      })
      yield* again
      const call = yield* calling(client.callTool("t"))
      yield* refuse
      assert.strictEqual((yield* left(call))._tag, "HeaderMismatch")
      yield* http.quiet
      yield* TestClock.adjust("1 minute")
      yield* again
    }))

  it.scoped("fail the call with the refusal when the list of tools is lost, because the server has not run it", () =>
    Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.callTool("t", { region: "eu" }))
      const refused = yield* http.expect("tools/call")
      const error = { code: -32020, message: "No" }
      yield* refused.json({ jsonrpc: "2.0", id: refused.message.id, error }, {}, 400)
      yield* Effect.flatMap(http.expect("tools/list"), (list) => list.fail("ECONNRESET"))
      assert.strictEqual((yield* left(call))._tag, "HeaderMismatch")
      yield* http.quiet
    }))

  it.scoped("MUST be valid: a tool whose marks are not is left out of the list, and SHOULD be logged with the reason", () => {
    const logged: Array<unknown> = []
    return Effect.gen(function*() {
      const { client, http } = yield* connect()
      const call = yield* calling(client.listTools())
      yield* Effect.flatMap(
        http.expect("tools/list"),
        (list) => cacheable(list, { tools: [mark("bad", "a b"), mark("good", "Region")] })
      )
      assert.deepStrictEqual((yield* right(call)).tools.map(({ name }) => name), ["good"])
      assert.include(String(logged[0]), "\"bad\" (the mark of \"region\" is not a valid header name)")
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(message)))))
  })
})
