/**
 * Behaviours of tool calls: their results, and what happens while they run.
 */
import { assert } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Message from "@effect-mcp/core/Message"
import type { LoggingLevel } from "@effect-mcp/core/protocol/Logging"
import { Cause, Deferred, Effect, Exit, Fiber, Option } from "effect"
import {
  type Behaviour,
  collect,
  hold,
  isModern,
  key,
  messagesAbout,
  type RecordedClient,
  text,
  timedOut
} from "./Behaviour.js"
import * as Contract from "./Contract.js"

const typed = (client: RecordedClient) => Effect.succeed(Client.of(client, Contract.Tools))

/** Waits until a request succeeds: one on a connection that was cut while nothing used it fails. */
const usable = (client: RecordedClient): Effect.Effect<void> => Effect.asVoid(Effect.eventually(client.ping()))

const paramsOf = (messages: ReadonlyArray<Message.Message>, method: string) =>
  messages.flatMap((message) => Message.isNotification(message) && message.method === method ? [message.params!] : [])

const results: ReadonlyArray<Behaviour> = [
  {
    name: "a call by definition decodes arguments, defaults and the result",
    run: ({ client }) =>
      Effect.gen(function*() {
        const tools = yield* typed(client)
        assert.deepStrictEqual(yield* tools.add({ a: 2, b: 3 }), { sum: 5 })
        assert.deepStrictEqual(yield* tools.add({ a: 2 }), { sum: 3 })
        assert.deepStrictEqual((yield* tools.steps({ to: 0 })).content, text("0 steps"))
      })
  },
  {
    name: "a client can make more calls at once than the server takes",
    run: ({ client, transport }) =>
      Effect.gen(function*() {
        // Over HTTP the client has 64 requests in flight; over a pipe the server takes 64 and 1,024.
        const length = transport.kind === "http" ? 130 : 1200
        const calls = Array.from({ length }, () => client.callTool("steps", { to: 0 }, { checkOutput: false }))
        const results = yield* Effect.all(calls, { concurrency: "unbounded" })
        for (const { content } of results) assert.deepStrictEqual(content, text("0 steps"))
      })
  },
  {
    name: "the server SHOULD also send structured content as text",
    rule: "2025-11-25 server/tools#structured-content",
    since: "2025-06-18",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { content, structuredContent } = yield* client.callTool("add", { a: 2, b: 3 })
        assert.deepStrictEqual(structuredContent, { sum: 5 })
        assert.deepStrictEqual(content, text("{\"sum\":5}"))
      })
  },
  {
    name: "a failure that the tool declares is a result for the model, and a typed error for a typed client",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { content, isError } = yield* client.callTool("add", { a: 1000, b: 1 })
        assert.isTrue(isError)
        assert.strictEqual(content[0]?.type, "text")
        assert.deepStrictEqual(JSON.parse((content[0] as { text: string }).text), { _tag: "TooLarge", limit: 1000 })
        const failure = yield* Effect.flip((yield* typed(client)).add({ a: 1000, b: 1 }))
        assert.instanceOf(failure, Contract.TooLarge)
      })
  },
  {
    name:
      "a call whose arguments are texts of numbers is mended, and a call whose arguments have no such reading is refused",
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* client.callTool("add", { a: "2", b: null })).structuredContent, { sum: 3 })
        assert.isTrue((yield* client.callTool("add", { a: "02" })).isError)
      })
  },
  {
    name: "the server SHOULD send invalid arguments back as a tool error, for the model to read",
    rule: "2025-11-25 server/tools#error-handling",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { content, isError } = yield* client.callTool("add", { a: "two" })
        assert.isTrue(isError)
        assert.match(JSON.stringify(content), /Invalid arguments for tool \\"add\\": a: Expected number/)
      })
  },
  {
    name: "the server refuses an unknown tool with Invalid params, and an unknown method with Method not found",
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.deepInclude((yield* Effect.flip(client.callTool("none"))) as object, {
          _tag: "InvalidParams",
          message: "Unknown tool: none"
        })
        assert.deepInclude((yield* Effect.flip(client.request("ours/none"))) as object, {
          _tag: "MethodNotFound",
          method: "ours/none"
        })
      })
  },
  {
    name: "a tool that dies is a result for the model with only Internal error; the server logs the cause",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const { content, isError } = yield* client.callTool("die", { key: name })
        assert.deepStrictEqual([content, isError], [text("Internal error"), true])
        assert.notInclude(JSON.stringify(messagesAbout(client, { key: name })), "hunter2")
        yield* served.reports.until(`${name}: the password is hunter2`)
        yield* client.ping()
      })
  },
  {
    name: "a tool returns content of every kind",
    since: "2025-06-18",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { _meta, content } = yield* client.callTool("rich")
        assert.deepStrictEqual(content, [
          ...text("text"),
          { type: "image", data: "AQID", mimeType: "image/png" },
          { type: "audio", data: "BAUG", mimeType: "audio/wav" },
          { type: "resource_link", name: "text", uri: "test://text", mimeType: "text/plain" },
          { type: "resource", resource: { uri: "test://inside", mimeType: "text/plain", text: "inside" } }
        ])
        assert.deepStrictEqual(_meta, { "example.com/kind": "rich" })
      })
  },
  {
    name: "content that an older revision does not know arrives as text",
    until: "2024-11-05",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { content } = yield* client.callTool("rich")
        assert.deepStrictEqual(content.map(({ type }) => type), ["text", "image", "text", "text", "resource"])
      })
  },
  {
    name: "every one of many concurrent calls gets its own result",
    run: ({ client }) =>
      Effect.gen(function*() {
        const tools = yield* typed(client)
        const numbers = Array.from({ length: 40 }, (_, n) => n)
        const sums = yield* Effect.forEach(numbers, (a) => tools.add({ a, b: 1 }), { concurrency: "unbounded" })
        assert.deepStrictEqual(sums, numbers.map((n) => ({ sum: n + 1 })))
      })
  },
  {
    name: "results arrive in the order in which the calls end",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const held = yield* hold(client, served, name)
        assert.deepStrictEqual((yield* client.callTool("steps", { to: 0 })).content, text("0 steps"))
        assert.isFalse(messagesAbout(client, { key: name }).isAnswered)
        yield* client.callTool("release", { key: name })
        assert.deepStrictEqual((yield* held.exit).content, text(`${name} was released`))
      })
  }
]

const running: ReadonlyArray<Behaviour> = [
  {
    name: "the server MUST send progress that increases, all of it before the result",
    rule: "2025-11-25 basic/utilities/progress#progress-flow",
    run: ({ client, transport }) =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const to = 50
        const result = yield* client.callTool("steps", { to }, {
          onProgress: (progress) => Effect.sync(() => seen.push(progress))
        })
        assert.deepStrictEqual(result.content, text("50 steps"))
        const steps = Array.from({ length: to }, (_, n) => n + 1)
        const message = (n: number) => transport.version === "2024-11-05" ? undefined : { message: `step ${n}` }
        assert.deepStrictEqual(seen, steps.map((n) => ({ progress: n, total: to, ...message(n) })))
        const { after, between, id } = messagesAbout(client, { to })
        const own = (messages: ReadonlyArray<Message.Message>) =>
          paramsOf(messages, "notifications/progress").filter(({ progressToken }) => progressToken === id)
        assert.deepStrictEqual(own(between).map(({ progress }) => progress), steps)
        assert.deepStrictEqual(own(after), [])
      })
  },
  {
    name: "the server MUST NOT send progress when the client has not requested it",
    rule: "2025-11-25 basic/utilities/progress#behavior-requirements",
    run: ({ connect }) =>
      Effect.gen(function*() {
        const client = yield* connect()
        yield* client.callTool("steps", { to: 3 })
        yield* client.ping()
        assert.notInclude(JSON.stringify(client.transcript.entries), "notifications/progress")
      })
  },
  {
    name: "the server sends logs of the level that the client set or higher, in order and before the result",
    sessions: true,
    rule: "2025-11-25 server/utilities/logging#setting-log-level",
    run: ({ connect, transport }) =>
      Effect.gen(function*() {
        const client = yield* connect()
        const logs = yield* collect(client.logs)
        const levels: ReadonlyArray<LoggingLevel> = ["error", "debug", "emergency", "notice", "warning"]
        yield* client.callTool("log", { levels: ["debug"] })
        yield* client.setLoggingLevel("warning")
        yield* client.callTool("log", { levels })
        // From 2026-07-28 on the server sends no logs to a client that has set no level.
        const earlier = isModern(transport) ? 0 : 1
        yield* logs.count(earlier + 3)
        const expected = (["error", "emergency", "warning"] as const).map((level) => ({
          level,
          logger: "behaviours",
          data: { value: level }
        }))
        assert.deepStrictEqual(logs.received.slice(earlier), expected)
        const { after, between } = messagesAbout(client, { levels })
        assert.deepStrictEqual(paramsOf(between, "notifications/message"), expected)
        assert.deepStrictEqual(paramsOf(after, "notifications/message"), [])
      })
  },
  {
    name: "the server SHOULD interrupt the handler of a cancelled call, and continue to serve",
    sessions: true,
    rule: "2025-11-25 basic/utilities/cancellation#behavior-requirements",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const [cancelled, beside] = [key(), key()]
        const held = yield* hold(client, served, cancelled)
        const other = yield* hold(client, served, beside)
        yield* held.interrupt
        yield* served.reports.until(`${cancelled} stopped`)
        yield* client.callTool("release", { key: beside })
        assert.deepStrictEqual((yield* other.exit).content, text(`${beside} was released`))
      })
  },
  {
    name: "the server SHOULD NOT answer a cancelled call",
    rule: "2025-11-25 basic/utilities/cancellation#behavior-requirements",
    // The stream of a POST can only end with a response, which the client no longer reads.
    over: ["memory", "direct", "stdio", "sse"],
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const held = yield* hold(client, served, name)
        yield* held.interrupt
        yield* served.reports.until(`${name} stopped`)
        yield* client.ping()
        assert.isFalse(messagesAbout(client, { key: name }).isAnswered)
      })
  },
  {
    name: "a client SHOULD cancel a call that exceeds its timeout, and the server interrupts the handler",
    sessions: true,
    rule: "2025-11-25 basic/lifecycle#timeouts",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const { error, name } = yield* timedOut(served.reports.lines, (key, timeout) =>
          client.callTool("hold", { key }, { timeout, resetTimeoutOnProgress: true }))
        assert.strictEqual(error._tag, "RequestTimeout")
        yield* served.reports.until(`${name} stopped`)
        yield* client.ping()
      })
  },
  {
    name: "a call continues after the server closed its stream, and the client polls for the result",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const polling = yield* Effect.fork(client.callTool("poll", { key: name }))
        yield* served.reports.until(`${name} began`)
        yield* client.callTool("release", { key: name })
        assert.deepStrictEqual((yield* Fiber.join(polling)).content, text(`${name} was released`))
      })
  },
  {
    name: "a call continues when its connection is cut, and the client resumes the stream",
    over: ["http"],
    resumes: true,
    run: ({ connect, ownServer }) =>
      Effect.gen(function*() {
        const served = yield* ownServer
        const { connector, cut } = yield* served.proxied!
        const client = yield* connect({}, { connector })
        const name = key()
        const seen: Array<number> = []
        const begun = yield* Deferred.make<void>()
        const calling = yield* Effect.fork(client.callTool("hold", { key: name }, {
          onProgress: ({ progress }) =>
            Effect.zipRight(Effect.sync(() => seen.push(progress)), Deferred.succeed(begun, undefined))
        }))
        yield* Deferred.await(begun)
        yield* cut
        yield* (yield* connect({}, served)).callTool("release", { key: name })
        assert.deepStrictEqual((yield* Fiber.join(calling)).content, text(`${name} was released`))
        assert.deepStrictEqual(seen, [1])
        assert.notInclude(served.reports.lines(), `${name} stopped`)
      })
  },
  {
    name: "without an event store, a call fails when its connection is cut, and the session continues",
    until: "2025-11-25",
    over: ["http"],
    resumes: false,
    run: ({ connect, ownServer }) =>
      Effect.gen(function*() {
        const served = yield* ownServer
        const { connector, cut } = yield* served.proxied!
        const client = yield* connect({}, { connector })
        const name = key()
        const held = yield* hold(client, served, name)
        yield* cut
        const exit = yield* Effect.exit(held.exit)
        assert.deepInclude(
          Option.getOrThrow(Cause.failureOption(Exit.isFailure(exit) ? exit.cause : Cause.empty)) as object,
          { _tag: "TransportError", reason: "Read" }
        )
        // Losing the stream does not cancel the call.
        assert.notInclude(served.reports.lines(), `${name} stopped`)
        yield* usable(client)
        yield* client.callTool("release", { key: name })
      })
  },
  {
    name: "a call fails when its connection is cut, the handler MUST be interrupted, and the client goes on",
    rule: "2026-07-28 basic/transports#cancellation",
    over: ["http"],
    since: "2026-07-28",
    run: ({ connect, ownServer }) =>
      Effect.gen(function*() {
        const served = yield* ownServer
        const { connector, cut } = yield* served.proxied!
        const client = yield* connect({}, { connector })
        const name = key()
        const held = yield* hold(client, served, name)
        yield* cut
        const exit = yield* Effect.exit(held.exit)
        assert.deepInclude(
          Option.getOrThrow(Cause.failureOption(Exit.isFailure(exit) ? exit.cause : Cause.empty)) as object,
          { _tag: "TransportError", reason: "Read" }
        )
        yield* served.reports.until(`${name} stopped`)
        yield* usable(client)
      })
  }
]

export const behaviours = [...results, ...running]
