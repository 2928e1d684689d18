import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Middleware from "@effect-mcp/core/Middleware"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Methods from "@effect-mcp/core/protocol/legacy/Methods"
import type { Registry } from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { type Cause, Context, Effect, Layer, Schema } from "effect"
import { act, call, connect, internalError, logbook, result, serve, until } from "../Serving.js"

const rejected = (): never => Promise.reject(new Error("a rejection that nothing waits for")) as never

/** What an operator reads when a server with these features answers this request with "Internal error". */
const logged = (
  features: Layer.Layer<never, never, Registry>,
  method: string,
  params: JsonObject,
  middleware?: Middleware.Middleware<any, never>
) => {
  const { layer, lines } = logbook()
  return Effect.gen(function*() {
    const peer = yield* connect()
    const id = yield* peer.request(method, params)
    if (method === "tools/call") assert.deepStrictEqual<unknown>(yield* peer.expectResult(id), internalError)
    else assert.deepStrictEqual(yield* peer.expectError(id), { code: -32603, message: "Internal error" })
    yield* until(() => lines.length > 0)
    assert.lengthOf(lines, 1)
    return lines[0]!
  }).pipe(Effect.scoped, Effect.provide(Layer.provide(serve(features, { middleware }), layer)))
}

const Note = ResourceTemplate.make("note")`note:///${ResourceTemplate.param("id", Schema.String)}`
const Review = Prompt.make("review", { arguments: { code: Schema.String } })
const Odd = Tool.make("odd")
const readme = Resource.make("readme", { uri: "file:///readme" })
const ofReview = { ref: { type: "ref/prompt", name: "review" }, argument: { name: "code", value: "" } }

/** Features whose handler gives `returned`, one of each kind, and a request that runs the handler. */
const kinds = (returned: () => never): ReadonlyArray<
  readonly [
    actor: string,
    died: string,
    features: Layer.Layer<never, never, Registry>,
    method: string,
    params: JsonObject
  ]
> => [
  [`The handler of tool "odd"`, `tool "odd"`, McpServer.tool(Odd, returned), "tools/call", { name: "odd" }],
  [
    `The handler of prompt "review"`,
    `prompt "review"`,
    McpServer.prompt(Review, returned),
    "prompts/get",
    { name: "review", arguments: { code: "" } }
  ],
  [
    `The handler of resource template "note:///{id}"`,
    `resource "note:///1"`,
    McpServer.resourceTemplate(Note, returned),
    "resources/read",
    { uri: "note:///1" }
  ],
  [
    `The handler of the completion of "code" of prompt "review"`,
    `the completion of "code" of prompt "review"`,
    McpServer.prompt(Review, () => Effect.succeed(""), { complete: { code: returned } }),
    "completion/complete",
    ofReview
  ],
  [
    `The handler of "tools/list"`,
    `"tools/list"`,
    MethodHandler.request(Methods.listTools, returned),
    "tools/list",
    {}
  ],
  [
    `The handler of "x/custom"`,
    `"x/custom"`,
    MethodHandler.customRequest("x/custom", { params: Schema.Struct({}), result: Schema.Unknown }, returned),
    "x/custom",
    {}
  ],
  [`The handler of "x/other"`, `"x/other"`, MethodHandler.fallback(returned), "x/other", {}]
]

const messageOf = (cause: Cause.Cause<unknown>) => String(cause)

describe("A handler that returns a Promise", () => {
  for (const [actor, died, features, method, params] of kinds(rejected)) {
    it.effect(`is a defect that says what to use: ${actor}`, () =>
      Effect.gen(function*() {
        const { cause, message } = yield* logged(features, method, params)
        assert.strictEqual(message, `The handler of ${died} died`)
        assert.include(
          messageOf(cause),
          `${actor} returned a Promise, and it must return an Effect: use Effect.tryPromise`
        )
      }))
  }

  for (const [actor, , features, method, params] of kinds(() => Effect.sync(rejected) as never)) {
    it.effect(`is a defect, too, where its Effect succeeds with one: ${actor}`, () =>
      Effect.gen(function*() {
        const { cause } = yield* logged(features, method, params)
        assert.include(messageOf(cause), `${actor} succeeded with a Promise, which its Effect must wait for`)
      }))
  }

  it.effect("is a defect of a resource that was given one in place of an Effect", () =>
    Effect.gen(function*() {
      const { cause, message } = yield* logged(McpServer.resource(readme, rejected()), "resources/read", {
        uri: "file:///readme"
      })
      assert.strictEqual(message, `The handler of resource "file:///readme" died`)
      assert.include(messageOf(cause), `The handler of resource "file:///readme" returned a Promise`)
    }))

  it.effect("is a defect of the list of a template", () =>
    Effect.gen(function*() {
      const features = McpServer.resourceTemplate(Note, () => Effect.succeed(""), { list: rejected() })
      const { cause } = yield* logged(features, "resources/list", {})
      assert.include(messageOf(cause), `The list of resource template "note:///{id}" returned a Promise`)
    }))

  it.effect("is a defect of a middleware, and of one that provides a service", () =>
    Effect.gen(function*() {
      class User extends Context.Tag("User")<User, string>() {}
      const only = <A>(run: () => A) => (call: Middleware.Call, next: Effect.Effect<unknown, unknown>) =>
        call.method === "x/none" ? run() as never : next
      const cases: ReadonlyArray<readonly [Middleware.Middleware<any, never>, string]> = [
        [Middleware.make(only(rejected)), "A middleware returned a Promise"],
        [
          Middleware.compose(Middleware.make((_, next) => next), Middleware.make(only(rejected))),
          "A middleware returned a Promise"
        ],
        [
          Middleware.provide(User, (call) => only(rejected)(call, Effect.succeed("ada")) as never),
          "The middleware that provides User returned a Promise"
        ]
      ]
      for (const [middleware, why] of cases) {
        const { cause } = yield* logged(act(Effect.void), "x/none", {}, middleware)
        assert.include(messageOf(cause), why)
      }
    }))

  it.effect("is a defect of a handler of notifications", () => {
    const { layer, lines } = logbook()
    return Effect.gen(function*() {
      const peer = yield* connect(undefined, { roots: { listChanged: true } })
      yield* peer.notify("notifications/roots/list_changed")
      yield* until(() => lines.length > 0)
      assert.include(String(lines[0]?.cause), `The handler of "notifications/roots/list_changed" returned a Promise`)
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Layer.provide(serve(Layer.merge(MethodHandler.rootsListChanged(rejected()), act(Effect.void))), layer)
      )
    )
  })
})

describe("A handler that returns no Effect", () => {
  const mistakes: ReadonlyArray<readonly [returned: () => unknown, why: string]> = [
    [() => undefined, "returned undefined, and it must return an Effect: use Effect.succeed"],
    [() => null, "returned null"],
    [() => "text", "returned a string"],
    [() => ({ n: 1 }), "returned an object"],
    [() => [1], "returned an array"],
    [() => () => Effect.void, "returned a function"],
    [function*() {}, "returned a generator, and it must return an Effect: use Effect.gen"]
  ]
  for (const [returned, why] of mistakes) {
    it.effect(`is a defect that says so: it ${why}`, () =>
      Effect.gen(function*() {
        const { cause } = yield* logged(McpServer.tool(Odd, returned as never), "tools/call", { name: "odd" })
        assert.include(messageOf(cause), `The handler of tool "odd" ${why}`)
      }))
  }
})

describe("A handler that gives no value where one is needed", () => {
  for (const [actor, , features, method, params] of kinds(() => Effect.void as never).slice(1, 4)) {
    it.effect(`is a defect: ${actor}`, () =>
      Effect.gen(function*() {
        const { cause } = yield* logged(features, method, params)
        assert.include(messageOf(cause), `${actor} succeeded with undefined, and a value is needed`)
      }))
  }

  for (const [actor, died, features, method, params] of kinds(() => Effect.succeed(5) as never).slice(0, 4)) {
    it.effect(`is a defect when it gives a number: ${actor}`, () =>
      Effect.gen(function*() {
        const { message } = yield* logged(features, method, params)
        assert.strictEqual(message, `The handler of ${died} died`)
      }))
  }

  it.effect("is a defect of a tool without a success schema that gives one", () =>
    Effect.gen(function*() {
      const { cause } = yield* logged(McpServer.tool(Odd, () => Effect.succeed(5 as never)), "tools/call", {
        name: "odd"
      })
      assert.include(messageOf(cause), `A tool without a "success" schema returns a text, a ToolResult or nothing`)
    }))
})

describe("A result that JSON cannot express", () => {
  const Numbers = Tool.make("odd", { success: Schema.Struct({ hits: Schema.Array(Schema.Number), note: Schema.Any }) })
  const give = (value: unknown) => McpServer.tool(Numbers, () => Effect.succeed(value as never))
  const cases: ReadonlyArray<readonly [value: unknown, where: string]> = [
    [{ hits: [1, NaN], note: null }, "hits.1 is NaN"],
    [{ hits: [Infinity], note: null }, "hits.0 is Infinity"],
    [{ hits: [], note: { deep: [{ n: -Infinity }] } }, "note.deep.0.n is -Infinity"],
    [{ hits: [], note: [undefined] }, "note.0 is undefined"],
    [{ hits: [], note: [() => 1] }, "note.0 is a function"],
    [{ hits: [], note: new Date(NaN) }, "note is an invalid date"],
    [{ hits: [], note: 1n }, "it has no form in JSON"]
  ]
  for (const [value, where] of cases) {
    it.effect(`is a defect of the tool, not null for the client: ${where}`, () =>
      Effect.gen(function*() {
        for (
          const features of [
            give(value),
            give(ToolResult.withStructured(value)(ToolResult.text("as text"))),
            give(ToolResult.asError(ToolResult.withStructured(value)(ToolResult.text("as text")))),
            give(
              ToolResult.withMeta(value as JsonObject)(
                ToolResult.withStructured({ hits: [], note: 1 })(ToolResult.make())
              )
            )
          ]
        ) {
          const { cause, message } = yield* logged(features, "tools/call", { name: "odd" })
          assert.strictEqual(message, `The handler of tool "odd" died`)
          assert.include(messageOf(cause), where)
        }
      }))
  }

  it.scoped("leaves null, and members that are undefined, as they are", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const { structuredContent } = yield* result(peer, "odd")
      assert.deepStrictEqual(structuredContent, { hits: [], note: { a: null, c: "null" } })
      yield* peer.expectResult(yield* call(peer, "odd"))
    }).pipe(Effect.provide(serve(give({ hits: [], note: { a: null, b: undefined, c: "null" } })))))

  it.effect("is a defect of a handler of a whole method", () =>
    Effect.gen(function*() {
      const features = MethodHandler.fallback(() => Effect.succeed({ n: NaN }))
      const { cause } = yield* logged(features, "x/none", {})
      assert.include(messageOf(cause), `The handler of "x/none" succeeded with a value that is not JSON: n is NaN`)
    }))
})
