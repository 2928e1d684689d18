import { assert, describe, it } from "@effect/vitest"
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { McpError } from "@effect-mcp/core/protocol/McpError"
import * as Resource from "@effect-mcp/core/Resource"
import type { PassedRound, ServerSession } from "@effect-mcp/core/ServerSession"
import { Effect, Layer } from "effect"
import { serve } from "../Serving.js"
import { accept, ask, asking, capabilities, confirm, elicit, Name, named, questions, retry, session } from "./Asking.js"
import { connect, error, result, stamp, text } from "./Modern.js"

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
    }).pipe(Effect.provide(serve(asking(Effect.all([elicit("a"), elicit("b")])), { limits: { maxRounds: 1 } }))))
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
        const inputResponses of [1, { sure: 12345 }, { sure: { action: "perhaps" } }, { sure: { roots: [] } }]
      ) {
        const refused = yield* error(peer, "tools/call", { name: "ask", inputResponses }, { capabilities })
        assert.strictEqual(refused.code, -32602, JSON.stringify(inputResponses))
      }
    }).pipe(Effect.provide(serve(asking(confirm("Sure?"))))))

  it.scoped("that are unexpected SHOULD be ignored, whatever they are: without state, with one, and by a tool that asks nothing", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      const odd = { a: 1, b: null, c: { any: 1 }, d: "text", constructor: [] }
      const first = yield* ask(peer, { inputResponses: odd })
      assert.deepStrictEqual(questions(first), ["Sure?"])
      const { inputResponses, requestState } = retry(first, () => accept)
      const second = yield* ask(peer, { requestState, inputResponses: { ...odd, ...inputResponses } })
      assert.strictEqual(text(second), `{"sure":true}`)
      const [key] = Object.keys(inputResponses)
      for (const malformed of [12345, null, { action: "perhaps" }]) {
        const retried = { name: "ask", requestState, inputResponses: { [key!]: malformed } }
        assert.strictEqual((yield* error(peer, "tools/call", retried, { capabilities })).code, -32602)
      }
      const other = yield* error(peer, "tools/call", { name: 1, inputResponses: odd }, { capabilities })
      assert.include(other.message, "name")
    }).pipe(Effect.provide(serve(asking(confirm("Sure?"))))))

  it.scoped("that are null count as absent: the question is asked again", () =>
    Effect.gen(function*() {
      const peer = yield* connect
      assert.deepStrictEqual(questions(yield* ask(peer, { inputResponses: null })), ["Sure?"])
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

describe("Questions that a handler passes on", () => {
  const question = (message: string) => ({
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: { type: "object", properties: {} } }
  })

  /** Passes questions on in each round but the last, and gives what each round knew. */
  const passing = (pass: (round: PassedRound, count: number) => Effect.Effect<unknown, McpError> | undefined) => {
    const seen: Array<Pick<PassedRound, "state" | "responses">> = []
    const handler = Effect.flatMap(session, ({ round }) => {
      const { responses, state } = round!
      seen.push({ state, responses })
      return pass(round!, seen.length) ?? Effect.succeed("done")
    })
    return { seen, server: serve(asking(handler), { limits: { maxRounds: 3 } }) }
  }

  it.scoped("come back with the responses to them only, and with the state of the handler", () => {
    const { seen, server } = passing((round, count) =>
      count === 1
        ? round.pass({ a: question("a"), b: question("b") }, "first")
        : count === 2
        ? round.pass({ c: question("c") }, "second")
        : undefined
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      const first = yield* ask(peer)
      assert.deepStrictEqual(questions(first), ["a", "b"])
      const second = yield* ask(peer, {
        requestState: first.requestState,
        inputResponses: { a: accept, c: accept, toString: accept }
      })
      assert.deepStrictEqual(questions(second), ["c"])
      assert.strictEqual(
        text(yield* ask(peer, { ...retry(second), inputResponses: { a: accept, c: named("c") } })),
        `"done"`
      )
      assert.deepStrictEqual(seen, [
        { state: undefined, responses: undefined },
        { state: "first", responses: { a: accept } },
        { state: "second", responses: { c: named("c") } }
      ])
    }).pipe(Effect.provide(server))
  })

  it.scoped("take as many rounds as the option `maxRounds` says: then `pass` fails, and the handler goes on", () => {
    const errors: Array<string> = []
    const { seen, server } = passing((round, count) =>
      Effect.catchAll(round.pass({ q: question("Again?") }, String(count)), ({ message }) =>
        Effect.sync(() => {
          errors.push(message)
        }))
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      let round = yield* ask(peer)
      for (let n = 1; n < 3; n++) {
        round = yield* ask(peer, retry(round))
        assert.strictEqual(round.resultType, "input_required")
      }
      const done: JsonObject = yield* ask(peer, retry(round))
      assert.strictEqual(done.resultType, "complete")
      assert.deepStrictEqual(errors, [`The handler of "tools/call" asks questions in more than 3 rounds`])
      assert.deepStrictEqual(seen.map(({ state }) => state), [undefined, "1", "2", "3"])
    }).pipe(Effect.provide(server))
  })

  it.scoped("are sent all or none: not with one that no server asks, nor with one that the client cannot answer", () => {
    const errors: Array<string> = []
    const others = [{ method: "tools/list" }, {
      method: "sampling/createMessage",
      params: { messages: [], maxTokens: 1 }
    }]
    const { server } = passing((round) =>
      Effect.forEach(
        others,
        (other) =>
          Effect.catchAll(round.pass({ q: question("Sure?"), other }, ""), (error) =>
            Effect.sync(() => {
              errors.push(error._tag)
            }))
      )
    )
    return Effect.gen(function*() {
      const peer = yield* connect
      const done: JsonObject = yield* ask(peer, {}, { elicitation: { form: {} } })
      assert.strictEqual(done.resultType, "complete")
      assert.deepStrictEqual(errors, ["MethodNotFound", "MissingClientCapability"])
    }).pipe(Effect.provide(server))
  })
})
