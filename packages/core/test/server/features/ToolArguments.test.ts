import { assert, describe, it } from "@effect/vitest"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as Feature from "@effect-mcp/core/Feature"
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Message from "@effect-mcp/core/Message"
import * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as RawTool from "@effect-mcp/core/RawTool"
import type { RegisteredTool, Registry, RegistryService } from "@effect-mcp/core/Registry"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as StandardTool from "@effect-mcp/core/StandardTool"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Deferred, Effect, Either, FastCheck, Fiber, Layer, Schema, Scope } from "effect"
import * as JsonSchemaValidator from "../../../src/definition/schema/JsonSchemaValidator.js"
import * as Modern from "../modern/Modern.js"
import { answer, internalError, logbook, result, serve, speaking, unchecked } from "../Serving.js"
import * as Tasking from "../Tasking.js"

type Call = (name: string, args?: JsonObject) => Effect.Effect<JsonObject, any, Dispatcher | Scope.Scope>

const eras: ReadonlyArray<readonly [era: string, call: Effect.Effect<Call, any, Dispatcher | Scope.Scope>]> = [
  ["2025-06-18", Effect.map(unchecked("2025-06-18"), (peer) => (name, args) => result(peer, name, args))],
  ["2025-11-25", Effect.map(unchecked("2025-11-25"), (peer) => (name, args) => result(peer, name, args))],
  [
    "2026-07-28",
    Effect.map(
      Modern.connect,
      (peer) => (name, args) => Modern.call(peer, name, args === undefined ? {} : { arguments: args })
    )
  ]
]

const textOf = (result: JsonObject): string => (result as any).content[0].text

/** The arguments that the handler has received. */
const received = (result: JsonObject): unknown => {
  assert.notProperty(result, "isError", textOf(result))
  return JSON.parse(textOf(result))
}

const refused = (result: JsonObject): string => {
  assert.isTrue(result.isError)
  return textOf(result)
}

const fields = {
  q: Schema.String,
  limit: Schema.optional(Schema.Int),
  tags: Schema.optional(Schema.Array(Schema.String)),
  dry: Schema.optional(Schema.Boolean)
}
const inputSchema = {
  type: "object",
  properties: {
    q: { type: "string" },
    limit: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    dry: { type: "boolean" }
  },
  required: ["q"]
} as const

const echo = (args: unknown) => Effect.succeed(JSON.stringify(args))

const Typed = Tool.make("typed", { parameters: fields })
const Raw = RawTool.make("raw", { inputSchema })
const Standard = StandardTool.make("standard", {
  parameters: Schema.standardSchemaV1(Schema.Struct(fields)),
  inputSchema
})
const Faithful = RawTool.make("faithful", { inputSchema, mendArguments: false })

const tools = Layer.mergeAll(
  McpServer.tool(Typed, echo),
  McpServer.tool(Raw, echo),
  McpServer.tool(Standard, echo),
  McpServer.tool(Faithful, echo)
)

/** A tool whose decoder answers later, once `open` is done: a text of characters becomes their number. */
const late = (open: Deferred.Deferred<void>) => {
  const Length = Schema.transformOrFail(Schema.String, Schema.Number, {
    strict: true,
    decode: (text) => Effect.as(Deferred.await(open), text.length),
    encode: (length) => Effect.succeed("x".repeat(length))
  })
  return McpServer.tool(Tool.make("late", { parameters: { word: Length, limit: Schema.optional(Schema.Int) } }), echo)
}

const Throwing = Tool.make("throwing", {
  parameters: {
    q: Schema.transform(Schema.String, Schema.String, {
      decode: () => {
        throw new Error("a bug of the decoder")
      },
      encode: (q) => q
    })
  }
})

for (const [era, connect] of eras) {
  /** Runs a test with the calls of one client; gives what was logged. */
  const withServer = (
    features: Layer.Layer<never, never, Registry>,
    options: McpServer.Options,
    body: (call: Call) => Effect.Effect<void, any, Dispatcher | Scope.Scope>
  ): Effect.Effect<ReadonlyArray<string>> => {
    const { layer, lines } = logbook()
    return Effect.flatMap(connect, body).pipe(
      Effect.scoped,
      Effect.provide(Layer.provide(serve(features, options), layer)),
      Effect.orDie,
      Effect.map(() => lines.map(({ message }) => message))
    )
  }

  describe(`Arguments that a tool does not accept, at ${era}`, () => {
    for (const name of ["typed", "raw", "standard"]) {
      it.effect(`are mended by the schema of a ${name} tool, and the log says what was mended, without the values`, () =>
        Effect.gen(function*() {
          const log = yield* withServer(tools, {}, (call) =>
            Effect.map(
              call(name, { q: "5", limit: "7", tags: "[\"secret\"]", dry: null }),
              (result) => assert.deepStrictEqual(received(result), { q: "5", limit: 7, tags: ["secret"] })
            ))
          assert.deepStrictEqual(log, [
            `Mended 3 places of a message of "tools/call" for tool "${name}": ` +
            "arguments.limit is a text, read as a number; arguments.tags is a text, read as an array; arguments.dry is null, left out"
          ])
        }))
    }

    it.effect("are refused as the client sent them where a place has no reading, or the mended arguments are not accepted", () =>
      Effect.gen(function*() {
        const Bounded = RawTool.make("bounded", {
          inputSchema: { type: "object", properties: { n: { type: "integer", minimum: 10 } } }
        })
        const log = yield* withServer(
          Layer.merge(tools, McpServer.tool(Bounded, echo)),
          {},
          (call) =>
            Effect.gen(function*() {
              assert.strictEqual(
                refused(yield* call("raw", { limit: "7", dry: "yes" })),
                `Invalid arguments for tool "raw": q: is missing; limit: must be integer; dry: must be boolean`
              )
              assert.strictEqual(
                refused(yield* call("bounded", { n: "9" })),
                `Invalid arguments for tool "bounded": n: must be integer`
              )
              assert.deepStrictEqual(received(yield* call("bounded", { n: "10" })), { n: 10 })
            })
        )
        assert.lengthOf(log, 1)
      }))

    it.effect("are refused by a server that does not mend, and by a tool that does not", () =>
      Effect.gen(function*() {
        const off = yield* withServer(tools, { mendArguments: false }, (call) =>
          Effect.gen(function*() {
            refused(yield* call("typed", { q: "a", limit: "7" }))
            refused(yield* call("raw", { q: "a", limit: "7" }))
            refused(yield* call("faithful", { q: "a", limit: "7" }))
          }))
        const faithful = yield* withServer(tools, { mendArguments: true }, (call) =>
          Effect.map(
            call("faithful", { q: "a", limit: "7" }),
            (result) =>
              assert.strictEqual(refused(result), `Invalid arguments for tool "faithful": limit: must be integer`)
          ))
        assert.deepStrictEqual([...off, ...faithful], [])
      }))

    it.effect("are mended when the decoder answers later", () =>
      Effect.gen(function*() {
        const open = yield* Deferred.make<void>()
        const log = yield* withServer(late(open), {}, (call) =>
          Effect.gen(function*() {
            const called = yield* Effect.fork(call("late", { word: "abc", limit: "7" }))
            yield* Deferred.succeed(open, undefined)
            assert.deepStrictEqual(received(yield* Fiber.join(called)), { word: 3, limit: 7 })
            assert.include(refused(yield* call("late", { word: "abc", limit: "x" })), "limit: ")
          }))
        assert.lengthOf(log, 1)
      }))
  })

  describe(`Arguments that a tool accepts, at ${era}`, () => {
    it.effect("reach the handler as they are, and nothing is logged", () =>
      Effect.gen(function*() {
        const log = yield* withServer(tools, {}, (call) =>
          Effect.gen(function*() {
            for (const name of ["typed", "raw", "standard", "faithful"]) {
              const args = { q: "5", limit: 7, tags: ["[1]"], dry: false }
              assert.deepStrictEqual(received(yield* call(name, args)), args)
            }
          }))
        assert.deepStrictEqual(log, [])
      }))
  })

  describe(`What middleware sees of a call, at ${era}`, () => {
    /** Middleware that writes down the arguments before and after the call. */
    const watching = () => {
      const seen: Array<unknown> = []
      const look = Middleware.make(({ method, params }, next) =>
        method !== "tools/call" ? next : Effect.suspend(() => {
          seen.push(params?.arguments)
          return Effect.ensuring(next, Effect.sync(() => seen.push(params?.arguments)))
        })
      )
      return { seen, look }
    }
    const mended = { q: "a", limit: 7 }

    it.effect("are the mended arguments, around the server, its features and one feature, before the call and after", () =>
      Effect.gen(function*() {
        const { look, seen } = watching()
        const features = McpServer.tool(Raw, echo).pipe(
          FeatureMiddleware.around(
            FeatureMiddleware.make((use) => Effect.zipRight(Effect.sync(() => seen.push(use.arguments)), use.next))
          )
        )
        yield* withServer(features, { middleware: look, sessionMiddleware: look }, (call) =>
          Effect.map(
            call("raw", { q: "a", limit: "7" }),
            (result) => assert.deepStrictEqual(received(result), mended)
          ))
        assert.deepStrictEqual(seen, [mended, mended, mended, mended, mended])
      }))

    it.effect("are the mended arguments after the call, where it looks at them only then", () =>
      Effect.gen(function*() {
        const open = yield* Deferred.make<void>()
        yield* Deferred.succeed(open, undefined)
        const seen: Array<unknown> = []
        const after = Middleware.make(({ method, params }, next) =>
          method !== "tools/call" ? next : Effect.ensuring(next, Effect.sync(() => seen.push(params?.arguments)))
        )
        yield* withServer(
          Layer.merge(late(open), McpServer.tool(Raw, echo)),
          { middleware: after },
          (call) =>
            Effect.gen(function*() {
              yield* call("late", { word: "abc", limit: "7" })
              yield* call("raw", { q: "a", limit: "7" })
            })
        )
        assert.deepStrictEqual(seen, [{ word: "abc", limit: 7 }, mended])
      }))

    it.effect("are the arguments as the client sent them where they are not mended", () =>
      Effect.gen(function*() {
        const { look, seen } = watching()
        yield* withServer(tools, { middleware: look }, (call) =>
          Effect.gen(function*() {
            yield* call("raw", { q: "a", limit: "x" })
            yield* call("raw", { q: "a", limit: 7 })
            yield* call("faithful", { q: "a", limit: "7" })
            yield* call("raw")
          }))
        const wrong = { q: "a", limit: "x" }
        const text = { q: "a", limit: "7" }
        assert.deepStrictEqual(seen, [wrong, wrong, mended, mended, text, text, undefined, undefined])
      }))

    it.effect("are the other parameters, too, and are the whole message as JSON", () =>
      Effect.gen(function*() {
        const seen: Array<any> = []
        const look = Middleware.make((call, next) =>
          call.method !== "tools/call" ? next : Effect.zipRight(
            Effect.sync(() => seen.push(JSON.parse(JSON.stringify({ ...call, params: { ...call.params } })))),
            next
          )
        )
        yield* withServer(tools, { middleware: look }, (call) => call("raw", { q: "a", limit: "7" }))
        assert.deepInclude(seen[0], { method: "tools/call" })
        assert.deepInclude(seen[0].params, { name: "raw", arguments: mended })
        assert.isDefined(seen[0].id)
      }))

    it.effect("cost no decoding until it looks at the arguments, and then the handler needs none", () =>
      Effect.gen(function*() {
        let decoded = 0
        const counting = Schema.standardSchemaV1(Schema.Struct({ q: Schema.String }))
        const validate = counting["~standard"].validate
        const Counted = StandardTool.make("counted", {
          parameters: {
            "~standard": {
              version: 1 as const,
              vendor: "test",
              validate: (args: unknown) => {
                decoded++
                return validate(args)
              }
            }
          },
          inputSchema
        })
        const counts: Array<number> = []
        const look = Middleware.make(({ method, params }, next) =>
          method !== "tools/call" ? next : Effect.suspend(() => {
            assert.strictEqual(params?.name, "counted")
            counts.push(decoded)
            assert.deepStrictEqual(params?.arguments, { q: "a" })
            counts.push(decoded)
            return Effect.ensuring(next, Effect.sync(() => counts.push(decoded)))
          })
        )
        yield* withServer(
          McpServer.tool(Counted, echo),
          { middleware: look },
          (call) => Effect.map(call("counted", { q: "a" }), received)
        )
        assert.deepStrictEqual(counts, [0, 1, 1])
      }))

    it.effect("are the arguments as the client sent them where the decoder answers later, and the handler gets these, too", () =>
      Effect.gen(function*() {
        const open = yield* Deferred.make<void>()
        yield* Deferred.succeed(open, undefined)
        const { look, seen } = watching()
        const log = yield* withServer(late(open), { middleware: look }, (call) =>
          Effect.gen(function*() {
            assert.include(refused(yield* call("late", { word: "abc", limit: "7" })), "limit: ")
            assert.deepStrictEqual(received(yield* call("late", { word: "abc", limit: 7 })), { word: 3, limit: 7 })
          }))
        const [sent, right] = [{ word: "abc", limit: "7" }, { word: "abc", limit: 7 }]
        assert.deepStrictEqual(seen, [sent, sent, right, right])
        assert.deepStrictEqual(log, [])
      }))

    it.effect("are the arguments as the client sent them where the decoder throws; the call reports the bug", () =>
      Effect.gen(function*() {
        const { look, seen } = watching()
        const log = yield* withServer(McpServer.tool(Throwing, echo), { middleware: look }, (call) =>
          Effect.map(
            call("throwing", { q: "a" }),
            ({ content, isError }) => assert.deepStrictEqual<unknown>({ content, isError }, internalError)
          ))
        assert.deepStrictEqual(seen, [{ q: "a" }, { q: "a" }])
        assert.deepStrictEqual(log, [`The handler of tool "throwing" died`])
      }))
  })

  describe(`Arguments that a tool does not name, at ${era}`, () => {
    const args = { q: "a", limt: 5, zzz: 1 }
    const report = `2 unknown arguments for tool "raw": "limt" (perhaps "limit"); "zzz"`

    it.effect("are reported with the nearest name, and the call is served", () =>
      Effect.gen(function*() {
        const log = yield* withServer(tools, {}, (call) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(received(yield* call("raw", args)), args)
            assert.deepStrictEqual(received(yield* call("typed", args)), { q: "a" })
          }))
        assert.deepStrictEqual(log, [report, report.replace("raw", "typed")])
      }))

    it.effect("are reported of a tool without parameters", () =>
      Effect.gen(function*() {
        const None = McpServer.tool(Tool.make("none"), () => Effect.succeed("done"))
        const log = yield* withServer(None, {}, (call) =>
          Effect.gen(function*() {
            assert.strictEqual(textOf(yield* call("none", { a: 1 })), "done")
            assert.strictEqual(textOf(yield* call("none")), "done")
          }))
        assert.deepStrictEqual(log, [`1 unknown argument for tool "none": "a"`])
      }))

    it.effect("are reported beside what was mended", () =>
      Effect.gen(function*() {
        const log = yield* withServer(tools, {}, (call) =>
          Effect.map(call("raw", { ...args, limit: "7" }), (result) =>
            assert.deepStrictEqual(received(result), { ...args, limit: 7 })))
        assert.lengthOf(log, 2)
      }))

    it.effect("are named for the model where the call is refused for another reason", () =>
      Effect.gen(function*() {
        const log = yield* withServer(tools, {}, (call) =>
          Effect.map(call("raw", { querry: "a", limt: 1 }), (result) =>
            assert.strictEqual(
              refused(result),
              `Invalid arguments for tool "raw": q: is missing; "querry" is unknown; "limt" is unknown (did you mean "limit"?)`
            )))
        assert.deepStrictEqual(log, [])
      }))

    it.effect("are refused where the server says so, with the names for the model and for the log", () =>
      Effect.gen(function*() {
        const log = yield* withServer(tools, { unknownArguments: "refuse" }, (call) =>
          Effect.gen(function*() {
            const text = `Invalid arguments for tool "raw": "limt" is unknown (did you mean "limit"?); "zzz" is unknown`
            assert.strictEqual(refused(yield* call("raw", args)), text)
            assert.strictEqual(refused(yield* call("raw", { ...args, dry: "true" })), text)
            assert.deepStrictEqual(received(yield* call("raw", { q: "a" })), { q: "a" })
          }))
        assert.deepStrictEqual(log, [report, report])
      }))

    it.effect("are not mentioned where the server accepts them", () =>
      Effect.gen(function*() {
        const log = yield* withServer(tools, { unknownArguments: "accept" }, (call) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(received(yield* call("raw", args)), args)
            assert.strictEqual(
              refused(yield* call("raw", { qq: 1 })),
              `Invalid arguments for tool "raw": q: is missing`
            )
          }))
        assert.deepStrictEqual(log, [])
      }))

    it.effect("are known where the schema allows them", () =>
      Effect.gen(function*() {
        const Open = RawTool.make("open", {
          inputSchema: { ...inputSchema, additionalProperties: { type: "integer" } }
        })
        const log = yield* withServer(
          McpServer.tool(Open, echo),
          { unknownArguments: "refuse" },
          (call) => Effect.map(call("open", args), (result) => assert.deepStrictEqual(received(result), args))
        )
        assert.deepStrictEqual(log, [])
      }))
  })
}

it.scoped("a tool that takes the place of another one while middleware runs decodes the arguments itself", () =>
  Effect.gen(function*() {
    const entry = (reads: string): RegisteredTool => ({
      advertised: { name: "raw", inputSchema },
      context: Context.empty(),
      decode: () => Effect.succeed(reads),
      call: (args) => Effect.succeed({ content: [{ type: "text", text: String(args) }] })
    })
    const registry = yield* Deferred.make<RegistryService>()
    const scope = yield* Effect.scope
    const replacing = Middleware.make((call, next) =>
      call.method !== "tools/call" ? next : Effect.gen(function*() {
        assert.deepStrictEqual(call.params?.arguments, { q: "a" })
        const { tools } = yield* Deferred.await(registry)
        yield* Scope.extend(tools.register(entry("second")), scope)
        return yield* next
      })
    )
    yield* Effect.gen(function*() {
      const message = Message.request(1, "tools/call", { name: "raw", arguments: { q: "a" } })
      assert.strictEqual(textOf((yield* answer(message, speaking("2025-11-25"))).result), "second")
    }).pipe(Effect.provide(serve(
      Feature.make((own) =>
        Effect.zipRight(Deferred.succeed(registry, own), own.tools.register(entry("first"), { yields: true }))
      ),
      { middleware: replacing }
    )))
  }))

describe("A call that becomes a task", () => {
  const Slow = RawTool.make("slow", { inputSchema, task: "optional" })
  const args = { name: "slow", arguments: { q: "a", limit: "7" } }
  const { look, seen } = (() => {
    const seen: Array<unknown> = []
    const look = Middleware.make(({ method, params }, next) => {
      if (method === "tools/call") seen.push(params?.arguments)
      return next
    })
    return { look, seen }
  })()
  const server = Tasking.serving(
    undefined,
    {},
    { middleware: look },
    McpServer.tool(Slow, (args) => Effect.flatMap(ServerSession, () => echo(args)))
  )

  it.effect("has the mended arguments at 2025-11-25", () =>
    Tasking.onServer(
      Effect.gen(function*() {
        const peer = yield* Tasking.legacy()
        const { task } = yield* Tasking.result(peer, "tools/call", { ...args, task: {} })
        const { taskId } = task as { readonly taskId: string }
        assert.deepStrictEqual(received(yield* Tasking.result(peer, "tasks/result", { taskId })), { q: "a", limit: 7 })
        assert.deepStrictEqual(seen.splice(0), [{ q: "a", limit: 7 }])
      }),
      server
    ))

  it.effect("has the mended arguments at 2026-07-28", () =>
    Tasking.onServer(
      Effect.gen(function*() {
        const peer = yield* Tasking.modern()
        const { taskId } = yield* Tasking.result(peer, "tools/call", args)
        const { result } = yield* Tasking.reached(peer, taskId as string, "completed")
        assert.deepStrictEqual(received(result as JsonObject), { q: "a", limit: 7 })
        assert.deepStrictEqual(seen.splice(0), [{ q: "a", limit: 7 }])
      }),
      server
    ))
})

it.effect("whatever a client sends: the handler gets arguments as a server that does not mend gives them, or arguments that the schema accepts, or the same refusal", () =>
  Effect.gen(function*() {
    const inputSchema = {
      type: "object",
      properties: {
        n: { type: "integer", minimum: 2 },
        b: { anyOf: [{ type: "boolean" }, { type: "string", maxLength: 3 }] },
        list: { type: "array", items: { type: ["number", "boolean"] }, uniqueItems: true, maxItems: 2 },
        o: {
          oneOf: [
            { type: "object", properties: { kind: { const: 1 }, n: { type: "number" } }, required: ["kind"] },
            { type: "object", properties: { kind: { const: "x" }, n: { not: { const: 5 } } }, required: ["kind"] }
          ]
        }
      },
      required: ["n"],
      dependentRequired: { b: ["list"] }
    } as const
    // Most arguments have one reading, so that many calls are mended.
    const odd = FastCheck.constantFrom<unknown>(1, "02", null, "x", "long", "null", "", "[", [null], { kind: 2 }, [
      "1",
      "1"
    ])
    const orOdd = (...likely: ReadonlyArray<unknown>) =>
      FastCheck.oneof({ arbitrary: FastCheck.constantFrom(...likely), weight: 8 }, odd)
    const samples = FastCheck.sample(
      FastCheck.record({
        n: orOdd(2, 5, "2", "5"),
        b: orOdd(true, "true", "a", null),
        list: orOdd([1], ["1"], "[1]", ["1", "true"], "[\"1\",2]", [], null),
        o: orOdd(
          { kind: 1 },
          { kind: "1" },
          { kind: 1, n: "7" },
          { kind: "x", n: 5 },
          "{\"kind\":\"1\",\"n\":null}",
          null
        )
      }, { requiredKeys: [] }),
      { numRuns: 500, seed: 3 }
    )
    const Echo = RawTool.make("echo", { inputSchema })
    const validate = Either.getOrThrow(JsonSchemaValidator.make(inputSchema))
    const answers = (mendArguments: boolean) =>
      Effect.forEach(samples, (args, id) =>
        Effect.map(
          answer(Message.request(id, "tools/call", { name: "echo", arguments: args }), speaking("2025-11-25")),
          ({ result }) => result as JsonObject
        )).pipe(Effect.provide(serve(McpServer.tool(Echo, echo), { mendArguments })))
    const [strict, mending] = [yield* answers(false), yield* answers(true)]
    let mended = 0
    for (const [n, without] of strict.entries()) {
      const result = mending[n]!
      if (without.isError === undefined || result.isError === true) assert.deepStrictEqual(result, without)
      else {
        mended++
        assert.deepStrictEqual(validate(received(result)), Either.right([]), JSON.stringify([samples[n], result]))
      }
    }
    assert.isAbove(mended, 50)
  }).pipe(Effect.provide(logbook().layer)))
