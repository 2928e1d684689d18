import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import type * as Message from "@effect-mcp/core/Message"
import * as ErrorCodes from "@effect-mcp/core/protocol/ErrorCodes"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type * as TestClient from "@effect-mcp/testing/TestClient"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Cause, Context, Deferred, Effect, type Exit, Fiber, Layer, Logger, LogLevel, Queue, Ref, Stream } from "effect"
import { legacyClient } from "./Scripts.js"

class Model extends Context.Tag("Model")<Model, { readonly go: (prompt: string) => string }>() {}

const ModelLive = Layer.succeed(Model, { go: (prompt) => `after ${prompt}` })

const sampled = (text: string) => ({ role: "assistant", content: { type: "text", text }, model: "m" }) as const

const SamplingLive = ClientFeatures.sampling(({ messages }) =>
  Effect.map(Model, (model) => {
    const content = messages[0]!.content
    return sampled(model.go("text" in content ? content.text : "?"))
  })
)

const prompt = { messages: [{ role: "user", content: { type: "text", text: "hello" } }], maxTokens: 10 }

/** Has the server ask, and gives the answer. */
const asking = (server: TestClient.TestClient["server"]) => (method: string, params?: JsonObject) =>
  Effect.flatMap(server.request(method, params), server.expectResult)
const refused = (server: TestClient.TestClient["server"]) => (method: string, params?: JsonObject) =>
  Effect.flatMap(server.request(method, params), server.expectError)

const connected = <E, R>(features: Layer.Layer<never, E, R>, options: TestClient.Options = {}) =>
  Effect.gen(function*() {
    const transcript = Transcript.make()
    const { client, server } = yield* legacyClient({ ...options, transcript, client: { features } })
    const { message } = transcript.entries.find(({ message }) =>
      "method" in message && message.method === "initialize"
    )!
    const capabilities = (message as Message.Request).params!.capabilities as JsonObject
    return { client, server, capabilities, ask: asking(server), refuse: refused(server) }
  })

const form = {
  message: "Who are you?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1 },
      age: { type: "integer", default: 30 },
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] } }
    },
    required: ["name"]
  }
}

describe("A client without features", () => {
  it.scoped("declares no capability, and refuses everything but a ping", () =>
    Effect.gen(function*() {
      const { ask, capabilities, refuse } = yield* connected(Layer.empty)
      assert.deepStrictEqual(capabilities, {})
      assert.deepStrictEqual(yield* ask("ping"), {})
      for (
        const [method, params] of [["sampling/createMessage", prompt], ["elicitation/create", form], [
          "roots/list",
          {}
        ]] as const
      ) {
        assert.deepInclude(yield* refuse(method, params), { code: -32601, message: `Method not found: ${method}` })
      }
    }))
})

describe("A client that has a model", () => {
  it.scoped("declares sampling, and answers with the model's message", () =>
    Effect.gen(function*() {
      const { ask, capabilities } = yield* connected(SamplingLive)
      assert.deepStrictEqual(capabilities, { sampling: {} })
      assert.deepStrictEqual<unknown>(yield* ask("sampling/createMessage", prompt), sampled("after hello"))
    }).pipe(Effect.provide(ModelLive)))

  it.scoped("refuses tools, unless its option allows them", () =>
    Effect.gen(function*() {
      const tools = [{ name: "t", inputSchema: { type: "object" } }]
      const without = yield* connected(ClientFeatures.sampling(() => Effect.succeed(sampled("yes"))))
      assert.strictEqual((yield* without.refuse("sampling/createMessage", { ...prompt, tools })).code, -32602)
      const withTools = yield* connected(ClientFeatures.sampling(() => Effect.succeed(sampled("yes")), { tools: true }))
      assert.deepStrictEqual(withTools.capabilities, { sampling: { tools: {} } })
      assert.deepStrictEqual<unknown>(
        yield* withTools.ask("sampling/createMessage", { ...prompt, tools }),
        sampled("yes")
      )
    }))

  it.scoped("refuses a dialogue in which a tool use is not answered", () =>
    Effect.gen(function*() {
      const { refuse } = yield* connected(
        ClientFeatures.sampling(() => Effect.succeed(sampled("yes")), { tools: true })
      )
      const error = yield* refuse("sampling/createMessage", {
        ...prompt,
        messages: [{ role: "assistant", content: [{ type: "tool_use", id: "1", name: "t", input: {} }] }]
      })
      assert.deepInclude(error, { code: -32602, message: "Message 0: a tool use is not answered" })
    }))

  it.scoped("may answer that the user has rejected the request", () =>
    Effect.gen(function*() {
      const { refuse } = yield* connected(ClientFeatures.sampling(() =>
        Effect.fail(
          new McpError.PeerError({ code: ErrorCodes.USER_REJECTED, message: "User rejected sampling request" })
        )
      ))
      assert.deepStrictEqual(
        yield* refuse("sampling/createMessage", prompt),
        { code: -1, message: "User rejected sampling request" }
      )
    }))

  it.scoped("does not reveal why a handler died, or what invalid result it returned", () =>
    Effect.gen(function*() {
      const answers = yield* Queue.unbounded<Effect.Effect<any>>()
      const { ask, refuse } = yield* connected(ClientFeatures.sampling(() => Effect.flatten(Queue.take(answers))))
      yield* Queue.offerAll(answers, [
        Effect.dieMessage("secret"),
        Effect.succeed({ no: "result" }),
        Effect.succeed(sampled("yes"))
      ])
      for (const _ of [1, 2]) {
        assert.deepStrictEqual(yield* refuse("sampling/createMessage", prompt), {
          code: -32603,
          message: "Internal error"
        })
      }
      assert.deepStrictEqual<unknown>(yield* ask("sampling/createMessage", prompt), sampled("yes"))
    }))

  it.scoped("refuses invalid parameters, and names the place", () =>
    Effect.gen(function*() {
      const { refuse } = yield* connected(SamplingLive)
      const error = yield* refuse("sampling/createMessage", { ...prompt, maxTokens: "many" })
      assert.strictEqual(error.code, -32602)
      assert.include(error.message, "maxTokens")
    }).pipe(Effect.provide(ModelLive)))

  it.scoped("stops when the server cancels, and does not answer", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const { server } = yield* connected(
        ClientFeatures.sampling(() => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined)))
      )
      const requestId = yield* server.request("sampling/createMessage", prompt)
      yield* server.notify("notifications/cancelled", { requestId })
      yield* Deferred.await(stopped)
      yield* server.expectSilence
    }))
})

describe("A client that can ask a person", () => {
  it.scoped("has the user fill in a form; fields left out get their default", () =>
    Effect.gen(function*() {
      const { ask, capabilities } = yield* connected(
        ClientFeatures.elicitation(({ message }) => Effect.succeed({ action: "accept", content: { name: message } }))
      )
      assert.deepStrictEqual(capabilities, { elicitation: { form: {} } })
      assert.deepStrictEqual(yield* ask("elicitation/create", form), {
        action: "accept",
        content: { name: "Who are you?", age: 30 }
      })
    }))

  it.scoped("answers that the user declined or cancelled, without the content", () =>
    Effect.gen(function*() {
      for (const action of ["decline", "cancel"] as const) {
        const { ask } = yield* connected(
          ClientFeatures.elicitation(() =>
            Effect.succeed({ action, content: { name: "secret" } } as ClientFeatures.Answer)
          )
        )
        assert.deepStrictEqual(yield* ask("elicitation/create", form), { action })
      }
    }))

  it.scoped("does not send an answer that does not fit the form", () =>
    Effect.gen(function*() {
      const { refuse } = yield* connected(
        ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { name: "", tags: ["c"] } }))
      )
      assert.deepStrictEqual(yield* refuse("elicitation/create", form), { code: -32603, message: "Internal error" })
    }))

  it.scoped("has the user open a page, and gets the notification of its completion", () =>
    Effect.gen(function*() {
      const { ask, capabilities, client, refuse, server } = yield* connected(
        ClientFeatures.urlElicitation(({ url }) => Effect.succeed(url.startsWith("https:") ? "accept" : "decline"))
      )
      assert.deepStrictEqual(capabilities, { elicitation: { url: {} } })
      const done = yield* Effect.fork(Stream.runHead(client.elicitationsCompleted))
      yield* Effect.yieldNow()
      const page = { mode: "url", message: "Sign in", url: "https://example.com", elicitationId: "7" }
      assert.deepStrictEqual(yield* ask("elicitation/create", page), { action: "accept" })
      yield* server.notify("notifications/elicitation/complete", { elicitationId: "7" })
      assert.deepStrictEqual(yield* Effect.flatten(yield* Fiber.await(done)), "7")
      assert.strictEqual((yield* refuse("elicitation/create", form)).code, -32602)
    }))

  it.scoped("MUST refuse a page when it can show forms only", () =>
    Effect.gen(function*() {
      const { refuse } = yield* connected(ClientFeatures.elicitation(() => Effect.succeed({ action: "cancel" })))
      const page = { mode: "url", message: "Sign in", url: "https://example.com", elicitationId: "7" }
      assert.strictEqual((yield* refuse("elicitation/create", page)).code, -32602)
    }))
})

describe("A client that has roots", () => {
  const root = (uri: string) => ({ uri, name: uri.slice(-1) })

  it.scoped("lists the current roots, and notifies the server when they change", () =>
    Effect.gen(function*() {
      const roots = yield* Ref.make([root("file:///a")])
      const changes = yield* Queue.unbounded<void>()
      const { ask, capabilities, server } = yield* connected(
        ClientFeatures.roots(Ref.get(roots), { changes: Stream.fromQueue(changes) })
      )
      assert.deepStrictEqual(capabilities, { roots: { listChanged: true } })
      assert.deepStrictEqual(yield* ask("roots/list"), { roots: [root("file:///a")] })
      yield* Ref.set(roots, [root("file:///b")])
      yield* Queue.offer(changes, undefined)
      yield* server.expectNotification("notifications/roots/list_changed")
      assert.deepStrictEqual(yield* ask("roots/list"), { roots: [root("file:///b")] })
    }))

  it.scoped("MUST NOT send a root that is not a file URI, or leads out of its folder", () =>
    Effect.gen(function*() {
      const roots = yield* Ref.make([root("file:///a")])
      const { ask, refuse } = yield* connected(ClientFeatures.roots(Ref.get(roots)))
      for (const uri of ["https://example.com/", "/home/ada", "file:///home/../etc"]) {
        yield* Ref.set(roots, [root("file:///a"), root(uri)])
        assert.strictEqual((yield* refuse("roots/list")).code, -32603)
      }
      yield* Ref.set(roots, [root("file://share.example/a")])
      assert.deepStrictEqual(yield* ask("roots/list"), { roots: [root("file://share.example/a")] })
    }))

  it.scoped("without `changes` does not declare `listChanged`", () =>
    Effect.gen(function*() {
      const { capabilities } = yield* connected(ClientFeatures.roots(Effect.succeed([])))
      assert.deepStrictEqual(capabilities, { roots: {} })
    }))
})

describe("A client that hears logs", () => {
  it.scoped("handles them from the beginning, in order, in the context of its layer", () =>
    Effect.gen(function*() {
      const logged = yield* Queue.unbounded<string>()
      const { server } = yield* connected(ClientFeatures.logging(({ data, level }) =>
        Effect.flatMap(Model, (model) => Queue.offer(logged, `${level} ${model.go(String(data))}`))
      ))
      for (const data of ["one", "two"]) {
        yield* server.notify("notifications/message", { level: "info", data })
      }
      assert.deepStrictEqual([yield* Queue.take(logged), yield* Queue.take(logged)], [
        "info after one",
        "info after two"
      ])
    }).pipe(Effect.provide(ModelLive)))

  it.scoped("gives the handler of each a scope of its own", () =>
    Effect.gen(function*() {
      const log = yield* Queue.unbounded<string>()
      const { server } = yield* connected(ClientFeatures.logging(({ data }) =>
        Effect.zipRight(
          Effect.addFinalizer(() => Queue.offer(log, `${String(data)} closed`)),
          Queue.offer(log, `${String(data)} handled`)
        )
      ))
      for (const data of ["one", "two"]) yield* server.notify("notifications/message", { level: "info", data })
      for (const line of ["one handled", "one closed", "two handled", "two closed"]) {
        assert.strictEqual(yield* Queue.take(log), line)
      }
    }))

  it.scoped("loses only the message at which its handler dies", () =>
    Effect.gen(function*() {
      const logged = yield* Queue.unbounded<unknown>()
      const { server } = yield* connected(ClientFeatures.logging(({ data }) => {
        if (data === "throw") throw new Error("a bug of the handler's")
        return data === "die" ? Effect.dieMessage("another") : Queue.offer(logged, data)
      }))
      for (const data of ["throw", "one", "die", "two"]) {
        yield* server.notify("notifications/message", { level: "info", data })
      }
      assert.deepStrictEqual([yield* Queue.take(logged), yield* Queue.take(logged)], ["one", "two"])
      yield* server.expectSilence
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)))
})

describe("A feature", () => {
  it.scoped("declares capabilities by value", () =>
    Effect.gen(function*() {
      const { capabilities } = yield* connected(Layer.mergeAll(
        ClientFeatures.sampling(() => Effect.succeed(sampled("yes")), { tools: { parallel: true }, context: {} }),
        ClientFeatures.elicitation(() => Effect.succeed({ action: "cancel" }), { settings: { applyDefaults: true } }),
        ClientFeatures.urlElicitation(() => Effect.succeed("cancel"), { settings: { schemes: ["https"] } }),
        ClientFeatures.experimental("ours", { a: 1 }),
        ClientFeatures.experimental("theirs"),
        ClientFeatures.extension("com.example/trace", { depth: 2 })
      ))
      assert.deepStrictEqual<unknown>(capabilities, {
        sampling: { tools: { parallel: true }, context: {} },
        elicitation: { form: { applyDefaults: true }, url: { schemes: ["https"] } },
        experimental: { ours: { a: 1 }, theirs: {} },
        extensions: { "com.example/trace": { depth: 2 } }
      })
    }))

  it.effect("that declares the same twice, or an extension without a prefix, dies while the client is made", () =>
    Effect.gen(function*() {
      const twice = Layer.merge(ClientFeatures.experimental("ours"), ClientFeatures.experimental("ours", {}))
      for (
        const [layer, message] of [
          [twice, "Two features of this client declare \"ours\" in \"experimental\""],
          [ClientFeatures.extension("trace"), "\"trace\" does not identify an extension"]
        ] as const
      ) {
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(layer))).pipe(
          Effect.provideServiceEffect(ClientFeatures.ClientFeatures, ClientFeatures.make)
        )
        assert.include(Cause.pretty((exit as Exit.Failure<never, never>).cause), message)
      }
    }))

  it.scoped("may answer a custom method", () =>
    Effect.gen(function*() {
      const { ask, refuse } = yield* connected(Layer.merge(
        ClientFeatures.request("ours/add", (params) => Effect.succeed({ sum: (params!.a as number) + 1 })),
        ClientFeatures.request("ours/fail", () => Effect.fail(new McpError.InvalidParams({ message: "no" })))
      ))
      assert.deepStrictEqual(yield* ask("ours/add", { a: 1 }), { sum: 2 })
      assert.deepStrictEqual(yield* refuse("ours/fail"), { code: -32602, message: "no" })
    }))

  it.scoped("has the facts of the request, and reports progress when the server requested it", () =>
    Effect.gen(function*() {
      const { server } = yield* connected(ClientFeatures.request("ours/do", () =>
        Effect.gen(function*() {
          const { id, meta, method, progress } = yield* FeatureContext
          yield* progress(1, { total: 2, message: "half" })
          yield* progress(1)
          yield* progress(2)
          return { id, meta, method }
        })))
      const id = yield* server.request("ours/do", { _meta: { progressToken: "t", more: 1 } })
      const progressed = server.expectNotification("notifications/progress")
      assert.deepStrictEqual(yield* progressed, { progressToken: "t", progress: 1, total: 2, message: "half" })
      assert.deepStrictEqual(yield* progressed, { progressToken: "t", progress: 2 })
      assert.deepStrictEqual<unknown>(yield* server.expectResult(id), {
        id,
        meta: { progressToken: "t", more: 1 },
        method: "ours/do"
      })
    }))

  it.effect("that is there twice dies while the client is made", () =>
    Effect.gen(function*() {
      const twice = Layer.merge(ClientFeatures.roots(Effect.succeed([])), ClientFeatures.roots(Effect.succeed([])))
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(twice))).pipe(
        Effect.provideServiceEffect(ClientFeatures.ClientFeatures, ClientFeatures.make)
      )
      assert.include(
        Cause.pretty((exit as Exit.Failure<never, never>).cause),
        "Two features of this client are for \"roots\""
      )
    }))

  it.scoped("of one layer serves two clients", () =>
    Effect.gen(function*() {
      const layer = ClientFeatures.roots(Effect.succeed([]))
      for (const _ of [1, 2]) {
        const { ask } = yield* connected(layer)
        assert.deepStrictEqual(yield* ask("roots/list"), { roots: [] })
      }
    }))

  it("needs what its handler needs, except what each request provides", () => {
    expectTypeOf(SamplingLive).toEqualTypeOf<Layer.Layer<never, never, ClientFeatures.ClientFeatures | Model>>()
    const own = ClientFeatures.request("m", () => Effect.as(FeatureContext, {}))
    expectTypeOf(own).toEqualTypeOf<Layer.Layer<never, never, ClientFeatures.ClientFeatures>>()
  })

  it("has no `FeatureContext` in the handlers of logs and of changes of the roots", () => {
    const logs = ClientFeatures.logging(() => Effect.asVoid(FeatureContext))
    expectTypeOf(logs).toEqualTypeOf<Layer.Layer<never, never, ClientFeatures.ClientFeatures | FeatureContext>>()
    const changing = ClientFeatures.roots(Effect.as(FeatureContext, []), { changes: Stream.fromEffect(Model) })
    expectTypeOf(changing).toEqualTypeOf<Layer.Layer<never, never, ClientFeatures.ClientFeatures | Model>>()
  })
})
