import * as AiError from "@effect/ai/AiError"
import type * as Prompt from "@effect/ai/Prompt"
import * as AiTool from "@effect/ai/Tool"
import { assert, describe, it } from "@effect/vitest"
import * as ModelSampling from "@effect-mcp/ai/ModelSampling"
import type { CreateMessageParams, CreateMessageResult } from "@effect-mcp/core/protocol/Sampling"
import { Context, Deferred, Effect, Fiber, FiberRef, Layer, Queue, Ref } from "effect"
import { ask, AskLive, say, user } from "./Asking.js"
import * as ScriptedModel from "./ScriptedModel.js"
import { client, eras } from "./Serving.js"

const parts = (messages: ReadonlyArray<Prompt.Message>) =>
  messages.map(({ content, role }) => [
    role,
    typeof content === "string" ? content : content.map(({ options: _, ...part }) => ({ ...part }))
  ])

const http = { method: "POST" as const, url: "https://secret.example/v1", urlParams: [], hash: undefined, headers: {} }

for (const [era, versions] of eras) {
  describe(`Sampling by a language model, in the ${era} era`, () => {
    it.scoped("answers a server with the model's text and name", () =>
      Effect.gen(function*() {
        const model = ScriptedModel.make(say("Hello"))
        const features = Layer.provide(ModelSampling.layer({ name: "small" }), model.layer)
        const { answer } = yield* ask(features, { systemPrompt: "Be kind." }, versions)
        assert.deepStrictEqual(answer, {
          role: "assistant",
          content: { type: "text", text: "Hello" },
          model: "small",
          stopReason: "endTurn"
        })
        assert.deepStrictEqual(parts(model.seen[0]!.prompt.content), [
          ["system", "Be kind."],
          ["user", [{ type: "text", text: "Hi", "~effect/ai/Prompt/Part": "~effect/ai/Prompt/Part" }]]
        ])
      }))

    it.scoped("gives the model the server's tools, and the server the model's uses of them", () =>
      Effect.gen(function*() {
        const inputSchema = { type: "object" as const, properties: { q: { type: "string" } } }
        const tools = [
          { name: "notes.find", description: "Finds.", inputSchema, annotations: { readOnlyHint: true } },
          { name: "notes_find", inputSchema }
        ]
        const model = ScriptedModel.make(
          [
            ScriptedModel.text("Let me look."),
            ScriptedModel.call("7", "notes_find", { q: "a" }),
            ScriptedModel.call("8", "notes_find_2", { q: "b" }),
            ScriptedModel.finish("tool-calls")
          ],
          say("Found it")
        )
        const features = Layer.provide(ModelSampling.layer(), model.layer)
        const session = yield* client(AskLive, { versions, client: { features } })
        const send = (messages: CreateMessageParams["messages"]) =>
          Effect.map(
            session.callTool("ask", { params: { messages, maxTokens: 100, tools, toolChoice: { mode: "auto" } } }),
            ({ structuredContent }) => (structuredContent as { readonly answer: CreateMessageResult }).answer
          )
        const first = yield* send([user("Find a")])
        assert.strictEqual(first.stopReason, "toolUse")
        assert.deepStrictEqual<unknown>(first.content, [
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: "7", name: "notes.find", input: { q: "a" } },
          { type: "tool_use", id: "8", name: "notes_find", input: { q: "b" } }
        ])
        const [find] = model.seen[0]!.tools
        assert.deepStrictEqual<unknown>(AiTool.getJsonSchema(find as never), inputSchema)
        assert.isTrue(Context.get(find!.annotations, AiTool.Readonly))
        assert.strictEqual(model.seen[0]!.toolChoice, "auto")

        const last = yield* send([
          user("Find a"),
          { role: "assistant", content: first.content },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                toolUseId: "7",
                content: [{ type: "text", text: "found" }, { type: "image", data: "AAAA", mimeType: "image/png" }]
              },
              { type: "tool_result", toolUseId: "8", content: [{ type: "text", text: "no" }], isError: true }
            ]
          }
        ])
        assert.deepInclude(last, { content: { type: "text", text: "Found it" }, stopReason: "endTurn" })
        const [, assistant, tool, files] = model.seen[1]!.prompt.content
        assert.deepStrictEqual((assistant!.content as ReadonlyArray<Prompt.Part>).map(({ type }) => type), [
          "text",
          "tool-call",
          "tool-call"
        ])
        assert.deepInclude(assistant!.content[1] as object, { id: "7", name: "notes_find", params: { q: "a" } })
        assert.strictEqual(tool!.role, "tool")
        assert.deepInclude(tool!.content[0] as object, {
          id: "7",
          name: "notes_find",
          isFailure: false,
          result: "found\n[image: image/png]"
        })
        assert.deepInclude(tool!.content[1] as object, { id: "8", name: "notes_find_2", isFailure: true, result: "no" })
        assert.deepInclude(files!.content[1] as object, {
          type: "file",
          mediaType: "image/png",
          data: new Uint8Array([0, 0, 0])
        })
      }))

    it.scoped("has images and audio, in messages and in answers", () =>
      Effect.gen(function*() {
        const model = ScriptedModel.make([
          { type: "file", mediaType: "image/png", data: "AAAA" },
          ScriptedModel.finish("stop")
        ])
        const { answer } = yield* ask(
          Layer.provide(ModelSampling.layer(), model.layer),
          {
            messages: [
              { role: "user", content: { type: "image", data: "BBBB", mimeType: "image/jpeg" } },
              { role: "user", content: { type: "audio", data: "CCCC", mimeType: "audio/wav" } }
            ]
          },
          versions
        )
        assert.deepStrictEqual<unknown>(answer?.content, { type: "image", data: "AAAA", mimeType: "image/png" })
        assert.deepInclude(model.seen[0]!.prompt.content[0]!.content[0] as object, {
          mediaType: "image/jpeg",
          data: new Uint8Array([4, 16, 65])
        })
        assert.deepInclude(model.seen[0]!.prompt.content[1]!.content[0] as object, { mediaType: "audio/wav" })
      }))
  })
}

describe("Sampling by a language model", () => {
  it.scoped("MUST respect the stop sequences and the token limit of the server, whatever the model does", () =>
    Effect.gen(function*() {
      const model = ScriptedModel.make(say("one END two"), say("0123456789", "stop", 200), say("cut", "length"))
      const features = Layer.provide(ModelSampling.layer(), model.layer)
      const session = yield* client(AskLive, { client: { features } })
      const send = (params: object) =>
        Effect.map(
          session.callTool("ask", { params: { messages: [user("Hi")], maxTokens: 100, ...params } }),
          ({ structuredContent }) => (structuredContent as { readonly answer: CreateMessageResult }).answer
        )
      assert.deepInclude(yield* send({ stopSequences: ["STOP", "", " END"] }), {
        content: { type: "text", text: "one" },
        stopReason: "stopSequence"
      })
      assert.deepInclude(yield* send({}), { content: { type: "text", text: "01234" }, stopReason: "maxTokens" })
      assert.deepInclude(yield* send({}), { content: { type: "text", text: "cut" }, stopReason: "maxTokens" })
    }))

  it.scoped("configures a generation by the server's parameters, with at most the client's tokens", () =>
    Effect.gen(function*() {
      const temperature = FiberRef.unsafeMake<number | undefined>(undefined)
      const tokens = FiberRef.unsafeMake(0)
      const model = ScriptedModel.make(() =>
        Effect.map(Effect.all([FiberRef.get(temperature), FiberRef.get(tokens)]), (both) => say(both.join(" ")))
      )
      const features = ModelSampling.layer({
        maxTokens: 1000,
        configure: (params) => (generation) =>
          generation.pipe(
            Effect.locally(temperature, params.temperature),
            Effect.locally(tokens, params.maxTokens)
          )
      })
      const { answer } = yield* ask(Layer.provide(features, model.layer), { temperature: 0.5, maxTokens: 1e9 })
      assert.deepStrictEqual<unknown>(answer?.content, { type: "text", text: "0.5 1000" })
    }))

  const named = (name: string, rating: Partial<ModelSampling.Candidate> = {}): ModelSampling.Candidate => ({
    name,
    model: ScriptedModel.make(say(name)).layer,
    ...rating
  })

  it.scoped("chooses the model by the server's hints, then by its priorities", () =>
    Effect.gen(function*() {
      const models = () =>
        ModelSampling.choosing([
          named("gpt-5-mini", { cost: 0.9, speed: 0.9, intelligence: 0.4 }),
          named("claude-sonnet-4", { aliases: ["gemini-pro"], cost: 0.4, speed: 0.6, intelligence: 0.8 }),
          named("claude-opus-4", { cost: 0.1, speed: 0.2, intelligence: 1 })
        ])
      const cases: ReadonlyArray<readonly [CreateMessageParams["modelPreferences"], string]> = [
        [undefined, "gpt-5-mini"],
        [{ hints: [{ name: "claude" }] }, "claude-sonnet-4"],
        [{ hints: [{ name: "llama" }, { name: "OPUS" }, { name: "gpt" }] }, "claude-opus-4"],
        [{ hints: [{ name: "gemini" }] }, "claude-sonnet-4"],
        [{ hints: [{ name: "claude" }], intelligencePriority: 1 }, "claude-opus-4"],
        [{ hints: [{}, { name: "" }], intelligencePriority: 0.9, costPriority: 0.2 }, "claude-opus-4"],
        [{ speedPriority: 1, intelligencePriority: 0.1 }, "gpt-5-mini"]
      ]
      for (const [modelPreferences, expected] of cases) {
        const { answer } = yield* ask(models(), modelPreferences === undefined ? {} : { modelPreferences })
        assert.strictEqual(answer?.model, expected)
      }
    }))

  it.scoped("names the model that the provider reports", () =>
    Effect.gen(function*() {
      const model = ScriptedModel.make([{ type: "response-metadata", modelId: "gpt-5-2026" }, ...say("Hi")])
      const { answer } = yield* ask(Layer.provide(ModelSampling.layer({ name: "gpt-5" }), model.layer), {})
      assert.strictEqual(answer?.model, "gpt-5-2026")
    }))

  it.scoped("SHOULD have a person who can deny a request, edit it, and deny or edit the answer", () =>
    Effect.gen(function*() {
      class Person extends Context.Tag("Person")<Person, Ref.Ref<string>>() {}
      const mood = yield* Ref.make("deny")
      const model = ScriptedModel.make(say("one"), say("two"), say("three"))
      const features = ModelSampling.layer({
        approve: (params) =>
          Effect.map(
            Effect.flatMap(Person, Ref.get),
            (mood) => mood === "deny" ? false : mood === "edit" ? { ...params, systemPrompt: "Be short." } : true
          ),
        review: (result) =>
          Effect.map(
            Effect.flatMap(Person, Ref.get),
            (mood) =>
              mood === "keep"
                ? false
                : mood === "edit"
                ? { ...result, content: { type: "text", text: "edited" } }
                : true
          )
      })
      const session = yield* client(AskLive, {
        client: { features: features.pipe(Layer.provide(model.layer), Layer.provide(Layer.succeed(Person, mood))) },
        versions: ["2025-11-25"]
      })
      const send = Effect.map(
        session.callTool("ask", { params: { messages: [user("Hi")], maxTokens: 100 } }),
        ({ structuredContent }) =>
          structuredContent as { readonly answer?: CreateMessageResult; readonly error?: unknown }
      )
      const rejected = { error: { code: -1, message: "User rejected sampling request" } }
      assert.deepStrictEqual(yield* send, rejected)
      assert.strictEqual(model.seen.length, 0)
      yield* Ref.set(mood, "keep")
      assert.deepStrictEqual(yield* send, rejected)
      yield* Ref.set(mood, "edit")
      assert.deepStrictEqual<unknown>((yield* send).answer?.content, { type: "text", text: "edited" })
      assert.strictEqual(model.seen[1]!.prompt.content[0]?.content, "Be short.")
      yield* Ref.set(mood, "agree")
      assert.deepStrictEqual<unknown>((yield* send).answer?.content, { type: "text", text: "three" })
    }))

  it.scoped("fails the call at the client when a person rejects the request, from 2026-07-28 on", () =>
    Effect.gen(function*() {
      const features = Layer.provide(
        ModelSampling.layer({ approve: () => Effect.succeed(false) }),
        ScriptedModel.make().layer
      )
      const session = yield* client(AskLive, { versions: ["2026-07-28"], client: { features } })
      const error = yield* Effect.flip(session.callTool("ask", { params: { messages: [user("Hi")], maxTokens: 100 } }))
      assert.strictEqual(error._tag, "InputRefused")
      assert.include(error.message, "User rejected sampling request")
    }))

  it.scoped("waits with a generation while as many run as the client allows", () =>
    Effect.gen(function*() {
      const begun = yield* Queue.unbounded<void>()
      const release = yield* Deferred.make<void>()
      const wait = () => Effect.zipRight(Queue.offer(begun, undefined), Effect.as(Deferred.await(release), say("done")))
      const features = Layer.provide(
        ModelSampling.layer({ concurrency: 2 }),
        ScriptedModel.make(wait, wait, wait).layer
      )
      const session = yield* client(AskLive, { versions: ["2025-11-25"], client: { features } })
      const calls = yield* Effect.fork(Effect.all(
        Array.from(
          { length: 3 },
          () => session.callTool("ask", { params: { messages: [user("Hi")], maxTokens: 100 } })
        ),
        { concurrency: "unbounded" }
      ))
      yield* Queue.takeN(begun, 2)
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      assert.strictEqual(yield* Queue.size(begun), 0)
      yield* Deferred.succeed(release, undefined)
      yield* Queue.take(begun)
      assert.strictEqual((yield* Fiber.join(calls)).length, 3)
    }))

  it.scoped("adds context of the client's servers where the application gives it, and only what the server asks for", () =>
    Effect.gen(function*() {
      const model = ScriptedModel.make(say("one"), say("two"))
      const features = Layer.provide(
        ModelSampling.layer({ context: (from) => Effect.succeed(`Context from ${from}.`) }),
        model.layer
      )
      yield* ask(features, { includeContext: "allServers", systemPrompt: "Be kind." })
      yield* ask(features, { includeContext: "none" })
      assert.strictEqual(model.seen[0]!.prompt.content[0]?.content, "Be kind.\n\nContext from allServers.")
      assert.strictEqual(model.seen[1]!.prompt.content[0]?.role, "user")
    }))

  it.scoped("tells the server in plain words how the model failed, and nothing of the provider's request", () =>
    Effect.gen(function*() {
      const status = (code: number) =>
        new AiError.HttpResponseError({
          module: "m",
          method: "f",
          reason: "StatusCode",
          request: http as never,
          response: { status: code, headers: {} },
          body: "secret"
        }, { disableValidation: true })
      const failures: ReadonlyArray<readonly [AiError.AiError, RegExp]> = [
        [status(429), /too many requests at the moment/],
        [status(401), /is not allowed to use its model/],
        [status(400), /does not accept these messages/],
        [status(503), /provider of this client's model has a fault/],
        [
          new AiError.HttpRequestError({ module: "m", method: "f", reason: "Transport", request: http as never }, {
            disableValidation: true
          }),
          /could not be reached/
        ],
        [new AiError.MalformedOutput({ module: "m", method: "f", description: "secret" }), /could not be read/],
        [new AiError.UnknownError({ module: "m", method: "f", description: "secret" }), /failed/]
      ]
      for (const [failure, expected] of failures) {
        const model = ScriptedModel.make(() => Effect.fail(failure))
        const { error } = yield* ask(Layer.provide(ModelSampling.layer(), model.layer), {})
        assert.match(error as string, expected)
        assert.notInclude(error as string, "secret")
      }
    }))

  it.scoped("MUST use a tool when the server requires it, and none when it forbids it", () =>
    Effect.gen(function*() {
      const tools = [{ name: "find", inputSchema: { type: "object" as const } }]
      const model = ScriptedModel.make(say("no"), say("yes"))
      const features = Layer.provide(ModelSampling.layer(), model.layer)
      const { error } = yield* ask(features, { tools, toolChoice: { mode: "required" } })
      assert.strictEqual(error, "The model of this client used no tool, although it had to")
      assert.strictEqual(model.seen[0]!.toolChoice, "required")
      const { answer } = yield* ask(features, { tools, toolChoice: { mode: "none" } })
      assert.deepStrictEqual<unknown>(answer?.content, { type: "text", text: "yes" })
      assert.deepStrictEqual(model.seen[1]!.tools, [])
    }))

  it.scoped("gives the server the arguments of its tools without the nulls of the strict form", () =>
    Effect.gen(function*() {
      const tools = [{ name: "find", inputSchema: { type: "object" as const, properties: { q: { type: "string" } } } }]
      const model = ScriptedModel.make([ScriptedModel.call("1", "find", { q: null })])
      const features = Layer.provide(ModelSampling.layer({ dialect: "openai-strict" }), model.layer)
      const { answer } = yield* ask(features, { tools })
      assert.deepStrictEqual<unknown>(answer?.content, { type: "tool_use", id: "1", name: "find", input: {} })
    }))

  it.scoped("tells the server which of its tools the model cannot use", () =>
    Effect.gen(function*() {
      const tools = [{
        name: "filter",
        inputSchema: { type: "object" as const, properties: { "filter[name]": { type: "string" } } }
      }]
      const features = Layer.provide(ModelSampling.layer({ dialect: "anthropic" }), ScriptedModel.make().layer)
      const { error } = yield* ask(features, { tools })
      const reason = "at \"/properties/filter[name]\", \"filter[name]\": a name must match ^[a-zA-Z0-9_.-]{1,64}$"
      assert.strictEqual(error, `The tool "filter" has arguments that the model cannot take: ${reason}`)
    }))
})
