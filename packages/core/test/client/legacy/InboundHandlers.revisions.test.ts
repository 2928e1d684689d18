import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import { FeatureContext } from "@effect-mcp/core/FeatureContext"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Cause, Effect, Fiber, Layer, Option, Stream } from "effect"
import { legacyClient } from "../Scripts.js"

const sampled = { role: "assistant", model: "m", content: { type: "text", text: "yes" } } as const
const form = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))
const page = ClientFeatures.urlElicitation(() => Effect.succeed("accept"))
const model = ClientFeatures.sampling(() => Effect.succeed(sampled), { tools: true })

const questions = {
  "a form": ["elicitation/create", { message: "Which?", requestedSchema: { type: "object", properties: {} } }],
  "a page": ["elicitation/create", {
    mode: "url",
    message: "Sign in",
    url: "https://example.com",
    elicitationId: "7"
  }],
  "a message": ["sampling/createMessage", {
    messages: [{ role: "user", content: { type: "text", text: "hello" } }],
    maxTokens: 10
  }],
  "a message with tools": ["sampling/createMessage", {
    messages: [{ role: "user", content: { type: "text", text: "hello" } }],
    maxTokens: 10,
    tools: [{ name: "t", inputSchema: { type: "object" } }]
  }],
  "roots": ["roots/list", {}],
  "a ping": ["ping", {}]
} as const

/** The answer to each question at a revision: "answered", or the code of the error. */
const answers = <E, R>(version: Version.LegacyVersion, features: Layer.Layer<never, E, R>) =>
  Effect.gen(function*() {
    const { server } = yield* TestClient.make({ version, oracle: false, client: { features } })
    return yield* Effect.forEach(Object.entries(questions), ([what, [method, params]]) =>
      Effect.map(
        Effect.zipRight(server.request(method, params), server.next),
        (message) => [what, "error" in message ? message.error.code : "answered"] as const
      ))
  }).pipe(Effect.map((all) => Object.fromEntries(all)))

describe("A client that has every feature", () => {
  const everything = Layer.mergeAll(form, page, model, ClientFeatures.roots(Effect.succeed([])))
  const expected: Record<Version.LegacyVersion, Record<keyof typeof questions, unknown>> = {
    "2024-11-05": {
      "a form": -32601,
      "a page": -32601,
      "a message": "answered",
      "a message with tools": -32602,
      "roots": "answered",
      "a ping": "answered"
    },
    "2025-03-26": {
      "a form": -32601,
      "a page": -32601,
      "a message": "answered",
      "a message with tools": -32602,
      "roots": "answered",
      "a ping": "answered"
    },
    "2025-06-18": {
      "a form": "answered",
      "a page": -32602,
      "a message": "answered",
      "a message with tools": -32602,
      "roots": "answered",
      "a ping": "answered"
    },
    "2025-11-25": {
      "a form": "answered",
      "a page": "answered",
      "a message": "answered",
      "a message with tools": "answered",
      "roots": "answered",
      "a ping": "answered"
    }
  }
  for (const version of Version.legacy) {
    it.scoped(`MUST answer only what the agreed revision knows: ${version}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual<unknown>(yield* answers(version, everything), expected[version])
      }))
  }
})

it.scoped("A client that opens pages only has no elicitation at 2025-06-18, which knows forms only", () =>
  Effect.gen(function*() {
    assert.deepInclude(yield* answers("2025-06-18", page), { "a form": -32601, "a page": -32601 })
    assert.deepInclude(yield* answers("2025-11-25", page), { "a form": -32602, "a page": "answered" })
  }))

it.scoped("Progress for a server of 2024-11-05 has no message, which that revision does not know", () =>
  Effect.gen(function*() {
    for (const [version, more] of [["2024-11-05", {}], ["2025-03-26", { message: "half" }]] as const) {
      const features = ClientFeatures.request(
        "ours/do",
        () =>
          Effect.flatMap(FeatureContext, ({ progress }) => Effect.as(progress(1, { total: 2, message: "half" }), {}))
      )
      const { server } = yield* TestClient.make({ version, client: { features } })
      const id = yield* server.request("ours/do", { _meta: { progressToken: "t" } })
      assert.deepStrictEqual(yield* server.expectNotification("notifications/progress"), {
        progressToken: "t",
        progress: 1,
        total: 2,
        ...more
      })
      yield* server.expectResult(id)
    }
  }))

describe("A question that belongs to no call of the client", () => {
  const roots = ClientFeatures.roots(Effect.succeed([]))

  it.scoped("is answered: many servers request the roots when the session begins", () =>
    Effect.gen(function*() {
      const { server } = yield* legacyClient({ client: { features: roots } })
      assert.deepStrictEqual(yield* server.expectResult(yield* server.request("roots/list")), { roots: [] })
    }))

  it.scoped("SHOULD be refused with -32602, with `refuseUnassociated`; a ping is answered, and a question in a call", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ client: { features: roots, refuseUnassociated: true } })
      assert.strictEqual((yield* server.expectError(yield* server.request("roots/list"))).code, -32602)
      yield* server.expectSilence
      yield* Effect.forkScoped(client.callTool("t"))
      yield* server.expectRequest("tools/call")
      assert.deepStrictEqual(yield* server.expectResult(yield* server.request("roots/list")), { roots: [] })
      yield* server.hangUp
    }))
})

describe("The answer of a model", () => {
  const tools = [{ name: "t", inputSchema: { type: "object" } }]
  const use = { type: "tool_use", id: "1", name: "t", input: {} } as const
  const text = { type: "text", text: "yes" } as const
  const cases: ReadonlyArray<readonly [string, string | undefined, unknown, boolean]> = [
    ["uses no tool, although it MUST", "required", text, false],
    ["uses a tool, as it MUST", "required", [text, use], true],
    ["uses a tool, although it MUST NOT", "none", use, false],
    ["uses no tool, as it MUST NOT", "none", text, true],
    ["may use a tool", undefined, use, true],
    ["has two uses of one id", "auto", [use, use], false],
    ["has the result of a tool", "auto", [{ type: "tool_result", toolUseId: "1", content: [] }], false]
  ]
  for (const [it_, mode, content, isSent] of cases) {
    it.scoped(`${it_}: it is ${isSent ? "sent" : "not sent, and the application gets the reason"}`, () =>
      Effect.gen(function*() {
        const features = ClientFeatures.sampling(
          () => Effect.succeed({ role: "assistant", model: "m", content } as typeof sampled),
          { tools: true }
        )
        const { client, server } = yield* legacyClient({ client: { features } })
        const reported = yield* Effect.forkScoped(Stream.runHead(client.diagnostics))
        yield* Effect.yieldNow()
        const [, params] = questions["a message with tools"]
        const id = yield* server.request("sampling/createMessage", {
          ...params,
          tools,
          ...(mode === undefined ? {} : { toolChoice: { mode } })
        })
        if (isSent) return void assert.deepInclude(yield* server.expectResult(id), { content })
        assert.deepStrictEqual(yield* server.expectError(id), { code: -32603, message: "Internal error" })
        const diagnostic = Option.getOrThrow(yield* Fiber.join(reported))
        assert.include(
          Cause.pretty((diagnostic as { readonly cause: Cause.Cause<unknown> }).cause),
          "breaks a rule of tool use"
        )
      }))
  }
})
