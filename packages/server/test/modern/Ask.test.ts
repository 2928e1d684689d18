import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "@effect-mcp/definition/Prompt"
import * as Resource from "@effect-mcp/definition/Resource"
import * as Tool from "@effect-mcp/definition/Tool"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import { UrlElicitationRequired } from "@effect-mcp/protocol/McpError"
import * as Ask from "@effect-mcp/server/Ask"
import * as McpServer from "@effect-mcp/server/McpServer"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Cause, Deferred, Effect, Fiber, Layer, Redacted, Schema, TestClock } from "effect"
import { serve } from "../Serving.js"
import { call, connect, error, result, silence, stamp, text } from "./Modern.js"

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

/** A tool without parameters that may ask. */
const asking = (handler: Effect.Effect<unknown, any, any>, name = "ask") =>
  McpServer.tool(
    Tool.make(name, { parameters: { n: Schema.optional(Schema.Number) } }),
    () =>
      Effect.map(handler, (value) => JSON.stringify(value) ?? "nothing") as Effect.Effect<string, never, ServerSession>
  )

const session = ServerSession

const confirm = (message: string) => Effect.flatMap(session, ({ ask }) => ask({ sure: Ask.confirm(message) }))

const Name = Schema.Struct({ name: Schema.String })

const elicit = (message: string) => Effect.flatMap(session, (one) => one.elicit({ message, schema: Name }))

interface Required {
  readonly resultType: "input_required"
  readonly inputRequests: Readonly<Record<string, { readonly method: string; readonly params: JsonObject }>>
  readonly requestState: string
}

/** Calls the tool, with answers and state if there are any. */
const ask = (peer: TestPeer, params: JsonObject = {}, declared: JsonObject = capabilities) =>
  Effect.map(
    call(peer, "ask", params, { capabilities: declared }),
    (result) => result as unknown as Required & JsonObject
  )

const accept = { action: "accept", content: {} }

const named = (name: string) => ({ action: "accept", content: { name } })

/** The parameters of the next round, with the same response to every question. */
const retry = ({ inputRequests, requestState }: Required, response: (key: string) => JsonObject = () => accept) => ({
  requestState,
  inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, response(key)]))
})

const questions = ({ inputRequests }: Required) =>
  Object.values(inputRequests).map(({ params }) => params.message as string)

describe("A question", () => {
  it.scoped("ends the round: the client gets it, and the handler runs again with the answer", () => {
    const runs: Array<string> = []
    const handler = Effect.gen(function*() {
      runs.push("run")
      const { sure } = yield* confirm("Deploy?")
      runs.push("act")
      return sure
    })
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(first, {
        resultType: "input_required",
        inputRequests: {
          sure: {
            method: "elicitation/create",
            params: { mode: "form", message: "Deploy?", requestedSchema: { type: "object", properties: {} } }
          }
        },
        requestState: first.requestState,
        _meta: stamp._meta
      })
      assert.deepStrictEqual(runs, ["run"])
      assert.strictEqual(text(yield* ask(peer, retry(first))), "true")
      assert.deepStrictEqual(runs, ["run", "run", "act"])
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("of each kind is answered by a response of that kind", () => {
    const handler = Effect.flatMap(session, (one) =>
      one.ask({
        name: Ask.elicit({ message: "Name?", schema: Name }),
        poem: Ask.sample({ messages: [{ role: "user", content: { type: "text", text: "Rhyme" } }], maxTokens: 5 }),
        roots: Ask.roots
      }))
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(Object.entries(first.inputRequests).map(([key, { method }]) => [key, method]), [
        ["name", "elicitation/create"],
        ["poem", "sampling/createMessage"],
        ["roots", "roots/list"]
      ])
      const responses: Record<string, JsonObject> = {
        name: named("Ada"),
        poem: { role: "assistant", content: { type: "text", text: "rose" }, model: "m" },
        roots: { roots: [{ uri: "file:///a" }] }
      }
      const answers = JSON.parse(text(yield* ask(peer, retry(first, (key) => responses[key]!)))!)
      assert.deepStrictEqual(answers.name, { action: "accept", content: { name: "Ada" } })
      assert.strictEqual(answers.poem.content.text, "rose")
      assert.deepStrictEqual(answers.roots, [{ uri: "file:///a" }])
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("may also be asked by prompts and resources", () => {
    const features = Layer.merge(
      McpServer.prompt(
        Prompt.make("p"),
        () => Effect.as(confirm("Prompt?"), "text") as Effect.Effect<string, never, ServerSession>
      ),
      McpServer.resource(
        Resource.make("r", { uri: "file:///r" }),
        Effect.as(confirm("Read?"), "text") as Effect.Effect<string, never, ServerSession>
      )
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      for (
        const [method, params] of [["prompts/get", { name: "p" }], ["resources/read", { uri: "file:///r" }]] as const
      ) {
        const first = yield* result(peer, method, params, { capabilities })
        assert.strictEqual(first.resultType, "input_required")
        // An unfinished result MUST NOT be cached.
        assert.notProperty(first, "ttlMs")
        const second = yield* result(peer, method, { ...params, ...retry(first as any) }, { capabilities })
        assert.strictEqual(second.resultType, "complete")
      }
    }).pipe(Effect.provide(serve(features)))
  })

  it.scoped("that the client cannot answer MUST be refused with -32021 and the missing capabilities", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const refused = yield* error(peer, "tools/call", { name: "ask" }, { capabilities: { sampling: {} } })
      assert.strictEqual(refused.code, -32021)
      assert.deepStrictEqual(refused.data, { requiredCapabilities: { elicitation: { form: {} } } })
    }).pipe(Effect.provide(serve(asking(confirm("?"))))))

  it.scoped("that the client has declined gives its action", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.strictEqual(text(yield* ask(peer, retry(first, () => ({ action: "decline" })))), `{"action":"decline"}`)
    }).pipe(Effect.provide(serve(asking(elicit("Name?"))))))
})

describe("Several questions", () => {
  it.scoped("one after another take a round each, and none is asked twice", () => {
    const handler = Effect.gen(function*() {
      const first = yield* elicit("First?")
      const second = yield* elicit("Second?")
      const third = yield* confirm("Third?")
      return [first, second, third]
    })
    return Effect.gen(function*() {
      const peer = yield* connect
      const one = yield* ask(peer)
      assert.deepStrictEqual(questions(one), ["First?"])
      const two = yield* ask(peer, retry(one, () => named("a")))
      assert.deepStrictEqual(questions(two), ["Second?"])
      assert.notStrictEqual(two.requestState, one.requestState)
      const three = yield* ask(peer, retry(two, () => named("b")))
      assert.deepStrictEqual(questions(three), ["Third?"])
      const done = yield* ask(peer, retry(three))
      assert.deepStrictEqual(
        JSON.parse(text(done)!).map((answer: any) => answer.content?.name ?? answer.sure),
        ["a", "b", true]
      )
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("of concurrent fibers share a round", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(questions(first), ["a", "b", "c"])
      const done = yield* ask(peer, retry(first, () => named("x")))
      assert.lengthOf(JSON.parse(text(done)!), 3)
    }).pipe(Effect.provide(
      serve(asking(Effect.all(["a", "b", "c"].map(elicit), { concurrency: "unbounded" })))
    )))

  it.scoped("that are equal are two questions", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      const second = yield* ask(peer, retry(first, () => named("one")))
      const done = yield* ask(peer, retry(second, () => named("two")))
      assert.deepStrictEqual(JSON.parse(text(done)!).map(({ content }: any) => content.name), ["one", "two"])
    }).pipe(Effect.provide(serve(asking(Effect.all([elicit("Again?"), elicit("Again?")]))))))

  it.scoped("are asked again for those without a response, and responses to others are ignored", () => {
    const handler = Effect.flatMap(session, (one) => one.ask({ a: Ask.confirm("a"), b: Ask.confirm("b") }))
    return Effect.gen(function*() {
      const peer = yield* connect
      const { requestState } = yield* ask(peer)
      const second = yield* ask(peer, { requestState, inputResponses: { a: accept, c: accept } })
      assert.deepStrictEqual(questions(second), ["b"])
      assert.strictEqual(text(yield* ask(peer, retry(second))), `{"a":true,"b":true}`)
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("under one name: a retry that asks something else asks again", () => {
    let price = 1
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      price = 2
      const second = yield* ask(peer, retry(first))
      assert.deepStrictEqual(questions(second), ["Pay 2?"])
      assert.strictEqual(text(yield* ask(peer, retry(second))), `{"sure":true}`)
    }).pipe(Effect.provide(serve(asking(Effect.suspend(() => confirm(`Pay ${price}?`))))))
  })

  it.scoped("take ten rounds at most", () => {
    const handler = Effect.forEach(Array.from({ length: 11 }, (_, n) => n), (n) => elicit(`${n}?`))
    return Effect.gen(function*() {
      const peer = yield* connect
      let round = yield* ask(peer)
      for (let n = 1; n < 10; n++) {
        assert.deepStrictEqual(questions(round), [`${n - 1}?`])
        round = yield* ask(peer, retry(round, () => named("x")))
      }
      assert.deepStrictEqual(questions(round), ["9?"])
      const refused = yield* error(peer, "tools/call", { name: "ask", ...retry(round, () => named("x")) }, {
        capabilities
      })
      assert.strictEqual(refused.code, -32603)
      assert.include(refused.message, "more than 10 rounds")
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("are bounded by the option `max`", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      const refused = yield* error(peer, "tools/call", { name: "ask", ...retry(first, () => named("x")) }, {
        capabilities
      })
      assert.include(refused.message, "more than 1 rounds")
    }).pipe(Effect.provide(serve(asking(Effect.all([elicit("a"), elicit("b")])), { rounds: { max: 1 } }))))
})

describe("The handler that asks", () => {
  it.scoped("runs its finalizers, the innermost first, before the question leaves", () => {
    const events: Array<string> = []
    const note = (event: string) => Effect.sync(() => events.push(event))
    const handler = Effect.gen(function*() {
      yield* Effect.addFinalizer(() => note("scope"))
      yield* Effect.ensuring(
        Effect.onInterrupt(confirm("Sure?"), () => Effect.zipRight(Effect.yieldNow(), note("inner"))),
        note("outer")
      )
    })
    return Effect.gen(function*() {
      const peer = yield* connect
      yield* ask(peer)
      assert.deepStrictEqual(events, ["inner", "outer", "scope"])
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("cannot swallow the question by catching everything", () => {
    let acted = false
    const handler = confirm("Sure?").pipe(
      Effect.catchAllCause(() => Effect.succeed("swallowed")),
      Effect.tap(() => Effect.sync(() => acted = true))
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(questions(yield* ask(peer)), ["Sure?"])
      assert.isFalse(acted)
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  for (
    const [what, region] of [
      ["as it is", Effect.uninterruptible],
      [
        "and catches everything",
        (self: Effect.Effect<any, any, any>) =>
          Effect.uninterruptible(Effect.catchAllCause(self, () => Effect.succeed("swallowed")))
      ],
      ["and exits", (self: Effect.Effect<any, any, any>) => Effect.uninterruptible(Effect.exit(self))]
    ] as const
  ) {
    it.scoped(`in an uninterruptible region, ${what}, still sends the question`, () =>
      Effect.gen(function*() {
        const peer = yield* connect
        const first = yield* ask(peer)
        assert.deepStrictEqual(questions(first), ["Sure?"])
        assert.include(text(yield* ask(peer, retry(first)))!, "true")
      }).pipe(Effect.provide(serve(asking(region(confirm("Sure?")))))))
  }

  it.scoped("may ask in a fiber that it has forked", () => {
    let released = 0
    const handler = Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.ensuring(confirm("Forked?"), Effect.sync(() => released++)))
      return yield* Fiber.join(fiber)
    })
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(questions(first), ["Forked?"])
      assert.strictEqual(released, 1)
      assert.strictEqual(text(yield* ask(peer, retry(first))), `{"sure":true}`)
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("may ask in a daemon while the request runs, and after it the question fails", () =>
    Effect.gen(function*() {
      const late = yield* Deferred.make<unknown>()
      const go = yield* Deferred.make<void>()
      const handler = Effect.forkDaemon(
        Effect.zipRight(Deferred.await(go), Effect.exit(confirm("Late?"))).pipe(
          Effect.flatMap((exit) => Deferred.succeed(late, exit._tag === "Failure" ? String(exit.cause) : exit))
        )
      ).pipe(Effect.as("done"))
      yield* Effect.gen(function*() {
        const peer = yield* connect
        assert.strictEqual(text(yield* ask(peer)), `"done"`)
        yield* Deferred.succeed(go, undefined)
        assert.include(yield* Deferred.await(late), "NoBackChannel")
        yield* silence(peer)
      }).pipe(Effect.scoped, Effect.provide(serve(asking(handler))))
    }))

  it.scoped("may race the question against something else: the question ends the round", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(questions(yield* ask(peer)), ["Race?"])
    }).pipe(Effect.provide(serve(asking(Effect.race(confirm("Race?"), Effect.never))))))

  it.scoped("may want a person to open URLs: these are questions, too", () => {
    const handler = Effect.fail(
      new UrlElicitationRequired({
        elicitations: [{ mode: "url", elicitationId: "1", url: "https://example.com/a", message: "Sign in" }]
      })
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(Object.values(first.inputRequests), [
        { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://example.com/a" } }
      ])
      assert.strictEqual((yield* error(peer, "tools/call", { name: "ask" }, { capabilities: {} })).code, -32021)
    }).pipe(Effect.provide(serve(asking(handler))))
  })

  it.scoped("asks for a page without the id that older revisions have", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(Object.values(first.inputRequests), [
        { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://example.com/a" } }
      ])
      assert.strictEqual(text(yield* ask(peer, retry(first, () => ({ action: "accept" })))), `"accept"`)
    }).pipe(Effect.provide(serve(asking(Effect.flatMap(session, (one) =>
      one.elicitUrl({ message: "Sign in", url: "https://example.com/a", elicitationId: "1" })))))))
})

describe("Responses", () => {
  it.scoped("may come with the first request, without state", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.strictEqual(text(yield* ask(peer, { inputResponses: { sure: accept, more: accept } })), `{"sure":true}`)
    }).pipe(Effect.provide(serve(asking(confirm("Sure?"))))))

  it.scoped("that are malformed SHOULD be refused with -32602", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      for (
        const inputResponses of [null, 1, { sure: 12345 }, { sure: { action: "perhaps" } }, { sure: { roots: [] } }]
      ) {
        const refused = yield* error(peer, "tools/call", { name: "ask", inputResponses }, { capabilities })
        assert.strictEqual(refused.code, -32602, JSON.stringify(inputResponses))
      }
    }).pipe(Effect.provide(serve(asking(confirm("Sure?"))))))

  it.scoped("that do not fit the form are refused with -32602 and the key", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      const refused = yield* error(
        peer,
        "tools/call",
        { name: "ask", ...retry(first, () => ({ action: "accept", content: { name: 1 } })) },
        { capabilities }
      )
      assert.strictEqual(refused.code, -32602)
      assert.include(refused.message, Object.keys(first.inputRequests)[0]!)
    }).pipe(Effect.provide(serve(asking(elicit("Name?"))))))
})

describe("requestState", () => {
  const secret = (letter: string) => Redacted.make(letter.repeat(32))
  const refusedWith = (peer: TestPeer, params: JsonObject) =>
    error(peer, "tools/call", { name: "ask", ...params }, { capabilities })

  it.scoped("MUST be refused when it was changed, in any place", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const round = retry(yield* ask(peer))
      const { length } = round.requestState
      for (const at of [0, 8, 20, length - 2]) {
        const changed = round.requestState[at] === "A" ? "B" : "A"
        const requestState = round.requestState.slice(0, at) + changed + round.requestState.slice(at + 1)
        const refused = yield* refusedWith(peer, { ...round, requestState })
        assert.strictEqual(refused.code, -32602)
        assert.include(refused.message, "requestState")
      }
      for (const requestState of ["", "x", `${round.requestState}-TAMPERED`, "a".repeat(10_000)]) {
        assert.strictEqual((yield* refusedWith(peer, { ...round, requestState })).code, -32602)
      }
    }).pipe(Effect.provide(serve(asking(confirm("Sure?"))))))

  it.scoped("SHOULD be refused with other arguments, another tool or another method", () => {
    const features = Layer.mergeAll(
      asking(confirm("Sure?")),
      asking(confirm("Sure?"), "other"),
      McpServer.prompt(
        Prompt.make("ask"),
        () => Effect.as(confirm("Sure?"), "text") as Effect.Effect<string, never, ServerSession>
      )
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      const round = retry(yield* ask(peer, { arguments: { n: 1 } }))
      assert.strictEqual((yield* refusedWith(peer, { ...round, arguments: { n: 2 } })).code, -32602)
      assert.strictEqual((yield* refusedWith(peer, round)).code, -32602)
      assert.strictEqual((yield* refusedWith(peer, { ...round, name: "other", arguments: { n: 1 } })).code, -32602)
      assert.strictEqual((yield* error(peer, "prompts/get", { name: "ask", ...round }, { capabilities })).code, -32602)
      assert.strictEqual(text(yield* ask(peer, { ...round, arguments: { n: 1 } })), `{"sure":true}`)
    }).pipe(Effect.provide(serve(features)))
  })

  it.scoped("SHOULD expire", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const round = retry(yield* ask(peer))
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(text(yield* ask(peer, round)), `{"sure":true}`)
      yield* TestClock.adjust("1 second")
      assert.include((yield* refusedWith(peer, round)).message, "expired")
    }).pipe(Effect.provide(serve(asking(confirm("Sure?")), { rounds: { ttl: "1 minute" } }))))

  const server = (...letters: readonly [string, ...Array<string>]) =>
    serve(asking(confirm("Sure?")), { rounds: { secrets: letters.map(secret) as any } })

  const between = (one: Layer.Layer<any>, two: Layer.Layer<any>) =>
    Effect.gen(function*() {
      const round = yield* Effect.map(Effect.flatMap(connect, ask), retry).pipe(Effect.scoped, Effect.provide(one))
      return yield* Effect.flatMap(connect, (peer) =>
        peer.request("tools/call", {
          name: "ask",
          ...round,
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities
          }
        }).pipe(Effect.zipRight(peer.next))).pipe(Effect.scoped, Effect.provide(two))
    })

  it.effect("MUST need no memory of the first round: another server with the same secret opens it", () =>
    Effect.gen(function*() {
      assert.property(yield* between(server("a"), server("a")), "result")
      assert.property(yield* between(server("a"), server("b")), "error")
      const ownSecret = serve(asking(confirm("Sure?")))
      assert.property(yield* between(ownSecret, serve(asking(confirm("Sure?")))), "error")
    }))

  it.effect("opens with an old secret after a new one was put before it", () =>
    Effect.gen(function*() {
      assert.property(yield* between(server("a"), server("b", "a")), "result")
      assert.property(yield* between(server("b", "a"), server("a")), "error")
    }))

  it.effect("is not sealed with a secret that is too short", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(
        serve(Layer.empty, { rounds: { secrets: [Redacted.make("short")] } })
      )))
      assert.include(exit._tag === "Failure" ? Cause.pretty(exit.cause) : "", "has 5 bytes; it needs at least 32")
    }))
})
