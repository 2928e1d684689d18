/**
 * Behaviours: calling a tool, and what comes of it while it runs and when it has ended.
 */
import { assert } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { LoggingLevel } from "@effect-mcp/protocol/Logging"
import { Cause, Deferred, Effect, Exit, Fiber, Option } from "effect"
import type { Behaviour, Visitor } from "./Behaviour.js"
import { around, hearing, holding, key, text } from "./Behaviour.js"
import * as Contract from "./Contract.js"

const typed = (client: Visitor) => Effect.provideService(Client.of(Contract.Tools), Client.Client, client)

const told = (messages: ReadonlyArray<Message.Message>, method: string) =>
  messages.flatMap((message) => Message.isNotification(message) && message.method === method ? [message.params!] : [])

const ending: ReadonlyArray<Behaviour> = [
  {
    name: "call a tool by its definition: arguments, defaults and result decoded",
    run: ({ client }) =>
      Effect.gen(function*() {
        const tools = yield* typed(client)
        assert.deepStrictEqual(yield* tools.add({ a: 2, b: 3 }), { sum: 5 })
        assert.deepStrictEqual(yield* tools.add({ a: 2 }), { sum: 3 })
        assert.deepStrictEqual((yield* tools.steps({ to: 0 })).content, text("0 steps"))
      })
  },
  {
    name: "SHOULD say structured content as text, too",
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
    name: "tell the model of a failure that the tool has declared, and the program that knows it which it was",
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
    name: "SHOULD tell the model of arguments that the tool does not take",
    rule: "2025-11-25 server/tools#error-handling",
    since: "2025-11-25",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { content, isError } = yield* client.callTool("add", { a: "two" })
        assert.isTrue(isError)
        assert.match(JSON.stringify(content), /Invalid arguments for tool \\"add\\": a: Expected number/)
      })
  },
  {
    name: "refuse arguments that the tool does not take with Invalid params, where the model cannot be told",
    until: "2025-06-18",
    run: ({ client }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(client.callTool("add", { a: "two" })))._tag, "InvalidParams")
      })
  },
  {
    name: "refuse a tool that is not there with Invalid params, and a method with Method not found",
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
    name: "say Internal error and nothing else of a handler that died; the operator hears everything",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const error = yield* Effect.flip(client.callTool("die", { key: name }))
        assert.deepStrictEqual([error._tag, error.message], ["InternalError", "Internal error"])
        assert.notInclude(JSON.stringify(around(client, { key: name })), "hunter2")
        yield* served.told.until(`${name}: the password is hunter2`)
        yield* client.ping()
      })
  },
  {
    name: "answer with blocks of every kind",
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
    name: "tell an older client of blocks that it does not know in words",
    until: "2024-11-05",
    run: ({ client }) =>
      Effect.gen(function*() {
        const { content } = yield* client.callTool("rich")
        assert.deepStrictEqual(content.map(({ type }) => type), ["text", "image", "text", "text", "resource"])
      })
  },
  {
    name: "give each of many calls at once its own answer",
    run: ({ client }) =>
      Effect.gen(function*() {
        const tools = yield* typed(client)
        const numbers = Array.from({ length: 40 }, (_, n) => n)
        const sums = yield* Effect.forEach(numbers, (a) => tools.add({ a, b: 1 }), { concurrency: "unbounded" })
        assert.deepStrictEqual(sums, numbers.map((n) => ({ sum: n + 1 })))
      })
  },
  {
    name: "answer what ends first first, whatever was asked before",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const held = yield* holding(client, served, name)
        assert.deepStrictEqual((yield* client.callTool("steps", { to: 0 })).content, text("0 steps"))
        assert.isFalse(around(client, { key: name }).isAnswered)
        yield* client.callTool("release", { key: name })
        assert.deepStrictEqual((yield* held.exit).content, text(`${name} was released`))
      })
  }
]

const meanwhile: ReadonlyArray<Behaviour> = [
  {
    name: "MUST tell progress that increases, all of it before the result",
    rule: "2025-11-25 basic/utilities/progress#progress-flow",
    run: ({ client, road }) =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const to = 50
        const result = yield* client.callTool("steps", { to }, {
          onProgress: (progress) => Effect.sync(() => seen.push(progress))
        })
        assert.deepStrictEqual(result.content, text("50 steps"))
        const steps = Array.from({ length: to }, (_, n) => n + 1)
        const message = (n: number) => road.version === "2024-11-05" ? undefined : { message: `step ${n}` }
        assert.deepStrictEqual(seen, steps.map((n) => ({ progress: n, total: to, ...message(n) })))
        const { after, between, id } = around(client, { to })
        const own = (messages: ReadonlyArray<Message.Message>) =>
          told(messages, "notifications/progress").filter(({ progressToken }) => progressToken === id)
        assert.deepStrictEqual(own(between).map(({ progress }) => progress), steps)
        assert.deepStrictEqual(own(after), [])
      })
  },
  {
    name: "MUST NOT tell progress to who has not asked for it",
    rule: "2025-11-25 basic/utilities/progress#behavior-requirements",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const client = yield* visit()
        yield* client.callTool("steps", { to: 3 })
        yield* client.ping()
        assert.notInclude(JSON.stringify(client.said.entries), "notifications/progress")
      })
  },
  {
    name: "log at the levels that the client wants to hear of, in order and before the result",
    rule: "2025-11-25 server/utilities/logging#setting-log-level",
    run: ({ visit }) =>
      Effect.gen(function*() {
        const client = yield* visit()
        const logs = yield* hearing(client.logs)
        const levels: ReadonlyArray<LoggingLevel> = ["error", "debug", "emergency", "notice", "warning"]
        yield* client.callTool("log", { levels: ["debug"] })
        yield* client.setLoggingLevel("warning")
        yield* client.callTool("log", { levels })
        yield* logs.count(4)
        const expected = (["error", "emergency", "warning"] as const).map((level) => ({
          level,
          logger: "behaviours",
          data: { said: level }
        }))
        assert.deepStrictEqual(logs.heard.slice(1), expected)
        const { after, between } = around(client, { levels })
        assert.deepStrictEqual(told(between, "notifications/message"), expected)
        assert.deepStrictEqual(told(after, "notifications/message"), [])
      })
  },
  {
    name: "SHOULD stop the handler of a call that was cancelled, and serve on",
    rule: "2025-11-25 basic/utilities/cancellation#behavior-requirements",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const [cancelled, beside] = [key(), key()]
        const held = yield* holding(client, served, cancelled)
        const other = yield* holding(client, served, beside)
        yield* held.interrupt
        yield* served.told.until(`${cancelled} stopped`)
        yield* client.callTool("release", { key: beside })
        assert.deepStrictEqual((yield* other.exit).content, text(`${beside} was released`))
      })
  },
  {
    name: "SHOULD NOT answer a call that was cancelled",
    rule: "2025-11-25 basic/utilities/cancellation#behavior-requirements",
    // The stream of a POST can only end with an answer, which the client does not read any more.
    over: ["memory", "direct", "stdio", "sse"],
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const held = yield* holding(client, served, name)
        yield* held.interrupt
        yield* served.told.until(`${name} stopped`)
        yield* client.ping()
        assert.isFalse(around(client, { key: name }).isAnswered)
      })
  },
  {
    name: "SHOULD give up a call that takes too long, and stop its handler",
    rule: "2025-11-25 basic/lifecycle#timeouts",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const error = yield* Effect.flip(client.callTool("hold", { key: name }, {
          timeout: "200 millis",
          resetTimeoutOnProgress: true
        }))
        assert.strictEqual(error._tag, "RequestTimeout")
        yield* served.told.until(`${name} stopped`)
        yield* client.ping()
      })
  },
  {
    name: "go on with a call whose answer is polled for",
    run: ({ client, served }) =>
      Effect.gen(function*() {
        const name = key()
        const polling = yield* Effect.fork(client.callTool("poll", { key: name }))
        yield* served.told.until(`${name} began`)
        yield* client.callTool("release", { key: name })
        assert.deepStrictEqual((yield* Fiber.join(polling)).content, text(`${name} was released`))
      })
  },
  {
    name: "go on with a call when the connection is cut: the client comes back for the answer",
    over: ["http"],
    resumes: true,
    run: ({ alone, visit }) =>
      Effect.gen(function*() {
        const served = yield* alone
        const { connector, cut } = yield* served.cabled!
        const client = yield* visit({}, { connector })
        const name = key()
        const seen: Array<number> = []
        const begun = yield* Deferred.make<void>()
        const calling = yield* Effect.fork(client.callTool("hold", { key: name }, {
          onProgress: ({ progress }) =>
            Effect.zipRight(Effect.sync(() => seen.push(progress)), Deferred.succeed(begun, undefined))
        }))
        yield* Deferred.await(begun)
        yield* cut
        yield* (yield* visit({}, served)).callTool("release", { key: name })
        assert.deepStrictEqual((yield* Fiber.join(calling)).content, text(`${name} was released`))
        assert.deepStrictEqual(seen, [1])
        assert.notInclude(served.told.lines(), `${name} stopped`)
      })
  },
  {
    name: "lose a call with its connection, where nothing is kept of it, and the session lives on",
    over: ["http"],
    resumes: false,
    run: ({ alone, visit }) =>
      Effect.gen(function*() {
        const served = yield* alone
        const { connector, cut } = yield* served.cabled!
        const client = yield* visit({}, { connector })
        const name = key()
        const held = yield* holding(client, served, name)
        yield* cut
        const exit = yield* Effect.exit(held.exit)
        assert.deepInclude(
          Option.getOrThrow(Cause.failureOption(Exit.isFailure(exit) ? exit.cause : Cause.empty)) as object,
          { _tag: "TransportError", reason: "Read" }
        )
        // A lost stream is not a cancel.
        assert.notInclude(served.told.lines(), `${name} stopped`)
        yield* client.callTool("release", { key: name })
      })
  }
]

export const behaviours = [...ending, ...meanwhile]
