import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import { InvalidRequest } from "@effect-mcp/core/protocol/McpError"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Cause, Effect, Layer, Option, Schema } from "effect"

const Name = Tool.make("name", { parameters: { times: Schema.Int }, success: Schema.Array(Schema.String) })
const Open = Tool.make("open", { success: Schema.String })
const Sample = Tool.make("sample", { parameters: { about: Schema.String }, success: Schema.String })
const Where = Tool.make("where", { success: Schema.Array(Schema.String) })
const Asking = Definition.make(Name, Open, Sample, Where)

const AskingLive = McpServer.implement(Asking, {
  name: ({ times }) =>
    Effect.flatMap(
      ServerSession,
      (session) =>
        Effect.forEach(Array.from({ length: times }), (_, i) =>
          session.elicit({ message: `Name ${i + 1}?`, schema: Schema.Struct({ name: Schema.String }) }).pipe(
            Effect.map((answer) =>
              answer.action === "accept" ? answer.content.name : answer.action
            )
          ))
    ),
  open: () =>
    Effect.flatMap(
      ServerSession,
      (session) => session.elicit({ message: "Sign in", url: "https://example.com/in", elicitationId: "1" })
    ),
  sample: ({ about }) =>
    Effect.flatMap(ServerSession, (session) =>
      session.createMessage({
        messages: [{ role: "user", content: { type: "text", text: `Write about ${about}` } }],
        maxTokens: 100
      })).pipe(
        Effect.map(({ content }) => "type" in content && content.type === "text" ? content.text : "no text")
      ),
  where: () =>
    Effect.flatMap(ServerSession, (session) => Effect.map(session.listRoots, (roots) => roots.map(({ uri }) => uri)))
})

for (const version of ["2025-11-25", "2026-07-28"] as const) {
  const withFeatures = (features: Layer.Layer<never, never, ClientFeatures.ClientFeatures>) =>
    TestServer.layer(Asking, AskingLive, { versions: [version], client: { features } })

  describe(`Scripted features at ${version}`, () => {
    it.effect("answer elicitations one after another, and keep what the server requested", () => {
      const person = TestFeatures.elicitation([
        { action: "accept", content: { name: "Ada" } },
        Effect.succeed({ action: "decline" as const }),
        { action: "cancel" }
      ])
      return Effect.gen(function*() {
        const asking = Client.of(yield* Client.Client, Asking)
        assert.deepStrictEqual(yield* asking.name({ times: 3 }), ["Ada", "decline", "cancel"])
        assert.deepStrictEqual((yield* person.requests).map(({ message }) => message), [
          "Name 1?",
          "Name 2?",
          "Name 3?"
        ])
      }).pipe(Effect.provide(withFeatures(person)))
    })

    it.effect("refuse with an error", () =>
      Effect.gen(function*() {
        const asking = Client.of(yield* Client.Client, Asking)
        const exit = yield* Effect.exit(asking.name({ times: 1 }))
        assert.include(String(exit), "Not now")
      }).pipe(
        Effect.provide(withFeatures(TestFeatures.elicitation([new InvalidRequest({ message: "Not now" })])))
      ))

    it.effect("answer sampling with a text or a whole message, open pages, and list roots", () => {
      const model = TestFeatures.sampling(["a poem", {
        role: "assistant",
        model: "ours",
        content: { type: "text", text: "prose" }
      }])
      const features = Layer.mergeAll(
        model,
        TestFeatures.urlElicitation(["accept"]),
        TestFeatures.roots(["file:///home/ada", { uri: "file:///tmp", name: "tmp" }])
      )
      return Effect.gen(function*() {
        const asking = Client.of(yield* Client.Client, Asking)
        assert.strictEqual(yield* asking.sample({ about: "rain" }), "a poem")
        assert.strictEqual(yield* asking.sample({ about: "snow" }), "prose")
        assert.strictEqual(yield* asking.open(), "accept")
        assert.deepStrictEqual(yield* asking.where(), ["file:///home/ada", "file:///tmp"])
        assert.deepStrictEqual((yield* model.requests).map(({ maxTokens }) => maxTokens), [100, 100])
      }).pipe(Effect.provide(withFeatures(features)))
    })

    it.effect("fail the call and the test with the request that has no answer", () =>
      Effect.gen(function*() {
        const calls = Effect.flatMap(Effect.map(Client.Client, Client.of(Asking)), (asking) =>
          Effect.all([asking.name({ times: 2 }), asking.sample({ about: "rain" })]))
        const person = TestFeatures.elicitation([{ action: "cancel" }])
        const noAnswer = `The script of TestFeatures.elicitation has 1 answer, and none for request 2: "Name 2?"`
        const call = yield* Effect.flip(Effect.sandbox(Effect.provide(calls, withFeatures(person))))
        assert.include(String(Option.getOrUndefined(Cause.failureOption(call))), noAnswer)
        // Also where the test does not see the error of the call.
        const ignored = (features: Layer.Layer<never, never, ClientFeatures.ClientFeatures>) =>
          Effect.map(
            Effect.flip(Effect.sandbox(Effect.provide(Effect.ignore(calls), withFeatures(features)))),
            Cause.pretty
          )
        assert.include(yield* ignored(person), noAnswer)
        const people = TestFeatures.elicitation([{ action: "cancel" }, { action: "cancel" }])
        assert.include(
          yield* ignored(Layer.merge(people, TestFeatures.sampling([]))),
          `The script of TestFeatures.sampling has 0 answers, and none for request 1: "Write about rain"`
        )
      }))

    it.effect("fail the call and the test with the reason why an answer does not fit its form", () =>
      Effect.gen(function*() {
        let message = ""
        const exit = yield* Effect.exit(
          Effect.gen(function*() {
            const asking = Client.of(yield* Client.Client, Asking)
            message = (yield* Effect.flip(asking.name({ times: 1 }))).message
          }).pipe(
            Effect.provide(withFeatures(TestFeatures.elicitation([{ action: "accept", content: { nick: "A" } }])))
          )
        )
        const why = `The answer of TestFeatures.elicitation does not fit request 1: "Name 1?": name: is missing`
        assert.include(message, why)
        assert.include(exit._tag === "Failure" ? Cause.pretty(exit.cause) : "", why)
      }))

    it.effect("fail the test that leaves answers, unless it has failed already", () =>
      Effect.gen(function*() {
        const test = (body: Effect.Effect<unknown, string>) =>
          Effect.exit(Effect.provide(
            Effect.zipRight(
              Effect.flatMap(
                Effect.map(Client.Client, Client.of(Asking)),
                (asking) => Effect.orDie(asking.name({ times: 1 }))
              ),
              body
            ),
            withFeatures(TestFeatures.elicitation([{ action: "cancel" }, { action: "cancel" }]))
          ))
        assert.include(
          String(yield* test(Effect.void)),
          "The script of TestFeatures.elicitation has 2 answers, and the server sent 1 request"
        )
        assert.notInclude(String(yield* test(Effect.fail("failed"))), "the server sent")
      }))

    it.effect("begin their script anew for each client", () => {
      const person = TestFeatures.elicitation([{ action: "accept", content: { name: "Ada" } }])
      const once = Effect.provide(
        Effect.flatMap(Effect.map(Client.Client, Client.of(Asking)), (asking) => asking.name({ times: 1 })),
        withFeatures(person)
      )
      return Effect.gen(function*() {
        assert.deepStrictEqual(yield* once, ["Ada"])
        assert.deepStrictEqual(yield* once, ["Ada"])
        assert.lengthOf(yield* person.requests, 2)
      })
    })
  })
}
