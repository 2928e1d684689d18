import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import { InternalError } from "@effect-mcp/core/protocol/McpError"
import * as Version from "@effect-mcp/core/protocol/Version"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Context, Effect, Layer, Schema } from "effect"
import { connect, GreetLive, logbook, serve, unchecked, uninitialized } from "../Serving.js"

type Ref = { readonly type: "ref/prompt"; readonly name: string } | {
  readonly type: "ref/resource"
  readonly uri: string
}

const prompt = (name: string): Ref => ({ type: "ref/prompt", name })
const template = (uri: string): Ref => ({ type: "ref/resource", uri })

const complete = (
  peer: TestPeer,
  ref: Ref,
  name: string,
  value: string,
  others?: Readonly<Record<string, string>>
) =>
  peer.request("completion/complete", {
    ref,
    argument: { name, value },
    ...(others === undefined ? undefined : { context: { arguments: others } })
  })

const completion = (...args: Parameters<typeof complete>) =>
  Effect.map(Effect.flatMap(complete(...args), args[0].expectResult), ({ completion }) => completion)

const refusal = (...args: Parameters<typeof complete>) => Effect.flatMap(complete(...args), args[0].expectError)

class Db extends Context.Tag("Db")<Db, ReadonlyArray<string>>() {}

const Travel = Prompt.make("travel", {
  arguments: {
    country: Schema.Literal("France", "Finland", "Italy"),
    city: Schema.String,
    note: Schema.optional(Schema.String)
  }
})
const cities: Record<string, ReadonlyArray<string>> = { France: ["Paris", "Pau"], Italy: ["Pisa"] }
const TravelLive = McpServer.prompt(Travel, () => Effect.succeed("Go."), {
  complete: {
    city: (value, { country }) => Effect.succeed((cities[country ?? ""] ?? []).filter((city) => city.startsWith(value)))
  }
})

const id = ResourceTemplate.param("id", Schema.String)
const Notes = McpServer.resourceTemplate(ResourceTemplate.make("note")`note:///${id}`, () => Effect.succeed(""), {
  complete: { id: (value) => Effect.succeed([`${value} of all`]) }
})
const OldNotes = McpServer.resourceTemplate(ResourceTemplate.make("old")`note:///old/${id}`, () => Effect.succeed(""), {
  complete: { id: (value) => Effect.succeed([`${value} of old`]) }
})

const found = (value: string) => ({ values: [value], total: 1, hasMore: false })

const none = { values: [], total: 0, hasMore: false }

describe("completion/complete", () => {
  it.scoped("completes an argument that accepts only some strings, in upper or lower case", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const country = (value: string) => completion(peer, prompt("travel"), "country", value)
      assert.deepStrictEqual(yield* country(""), { values: ["France", "Finland", "Italy"], total: 3, hasMore: false })
      assert.deepStrictEqual(yield* country("f"), { values: ["France", "Finland"], total: 2, hasMore: false })
      assert.deepStrictEqual(yield* country("FRANCE"), { values: ["France"], total: 1, hasMore: false })
      assert.deepStrictEqual(yield* country("x"), none)
    }).pipe(Effect.provide(serve(TravelLive))))

  it.scoped("prefers a given completer to the strings that an argument accepts", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* completion(peer, prompt("travel"), "country", "F"), {
        values: ["for F"],
        total: 1,
        hasMore: false
      })
    }).pipe(Effect.provide(serve(McpServer.prompt(Travel, () => Effect.succeed("Go."), {
      complete: { country: (value) => Effect.succeed([`for ${value}`]) }
    })))))

  it.scoped("completes parameters of a template, by its text", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const ref = template("notes:///{kind}/{name}")
      assert.deepStrictEqual(yield* completion(peer, ref, "kind", "p"), { values: ["plan"], total: 1, hasMore: false })
      assert.deepStrictEqual(yield* completion(peer, ref, "name", "x", { kind: "plan" }), {
        values: ["plan-x"],
        total: 1,
        hasMore: false
      })
    }).pipe(Effect.provide(serve(McpServer.resourceTemplate(
      ResourceTemplate.make("note")`notes:///${ResourceTemplate.param("kind", Schema.Literal("plan", "draft"))}/${
        ResourceTemplate.param("name")
      }`,
      () => Effect.succeed(""),
      { complete: { name: (value, { kind }) => Effect.succeed([`${kind}-${value}`]) } }
    )))))

  it.scoped("has no values for an argument without a completer, and refuses an unknown one", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* completion(peer, prompt("travel"), "note", "x"), none)
      for (const name of ["nothing", "constructor", "__proto__", ""]) {
        assert.strictEqual((yield* refusal(peer, prompt("travel"), name, "x")).code, -32602)
      }
    }).pipe(Effect.provide(serve(TravelLive))))

  it.scoped("MUST send a hundred values at most, and their total", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const many = (n: number) => completion(peer, prompt("many"), "n", String(n))
      const numbers = (n: number) => Array.from({ length: n }, (_, i) => String(i))
      assert.deepStrictEqual(yield* many(100), { values: numbers(100), total: 100, hasMore: false })
      assert.deepStrictEqual(yield* many(101), { values: numbers(100), total: 101, hasMore: true })
      // Of the first page of a million, the completer knows best.
      assert.deepStrictEqual(yield* completion(peer, prompt("many"), "page", ""), {
        values: numbers(100),
        total: 1_000_000,
        hasMore: true
      })
      assert.deepStrictEqual(yield* completion(peer, prompt("many"), "few", ""), { values: ["a"], hasMore: true })
      const { hasMore, total, values } = (yield* completion(peer, prompt("many"), "choice", "")) as {
        readonly values: ReadonlyArray<string>
        readonly total: number
        readonly hasMore: boolean
      }
      assert.deepStrictEqual([values.length, total, hasMore], [100, 150, true])
    }).pipe(Effect.provide(serve(McpServer.prompt(
      Prompt.make("many", {
        arguments: {
          n: Schema.String,
          page: Schema.String,
          few: Schema.String,
          choice: Schema.Literal(...Array.from({ length: 150 }, (_, i) => `choice ${i}`))
        }
      }),
      () => Effect.succeed(""),
      {
        complete: {
          n: (value) => Effect.succeed(Array.from({ length: Number(value) }, (_, i) => String(i))),
          page: () => Effect.succeed({ values: Array.from({ length: 120 }, (_, i) => String(i)), total: 1_000_000 }),
          few: () => Effect.succeed({ values: ["a"], hasMore: true })
        }
      }
    )))))

  it.scoped("is refused for an unknown prompt or template", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      const unknown: ReadonlyArray<readonly [Ref, string]> = [
        [prompt("journey"), "Unknown prompt: journey"],
        [prompt("constructor"), "Unknown prompt: constructor"],
        [template("notes:///{id}"), "Unknown resource template: notes:///{id}"]
      ]
      for (const [ref, message] of unknown) {
        assert.deepStrictEqual(yield* refusal(peer, ref, "a", ""), { code: -32602, message })
      }
      assert.isBelow(JSON.stringify(yield* refusal(peer, template(`a:///${"x".repeat(10_000)}`), "a", "")).length, 500)
    }).pipe(Effect.provide(serve(TravelLive))))

  it.scoped("has no values for a resource with a fixed URI", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* completion(peer, template("file:///a"), "a", ""), none)
    }).pipe(Effect.provide(serve(Layer.merge(
      TravelLive,
      McpServer.resource(Resource.make("a", { uri: "file:///a" }), Effect.succeed("A"))
    )))))

  it.scoped("is refused for an argument that the prompt or the template does not have", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.deepStrictEqual(yield* refusal(peer, prompt("travel"), "town", ""), {
        code: -32602,
        message: `Unknown argument "town" of prompt "travel"`
      })
      assert.deepStrictEqual(yield* refusal(peer, template("note:///{id}"), "name", ""), {
        code: -32602,
        message: `Unknown argument "name" of resource template "note:///{id}"`
      })
      assert.strictEqual((yield* refusal(peer, prompt("travel"), "constructor", "")).code, -32602)
      assert.isBelow(JSON.stringify(yield* refusal(peer, prompt("travel"), "x".repeat(10_000), "")).length, 500)
      // It has this one, and no completer for it.
      assert.deepStrictEqual(yield* completion(peer, prompt("travel"), "note", ""), none)
    }).pipe(Effect.provide(serve(Layer.merge(TravelLive, Notes)))))

  it.scoped("completes by a URI that a template matches, with the most specific template", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      for (const uri of ["note:///{id}", "note:///1", "note:///"]) {
        assert.deepStrictEqual(yield* completion(peer, template(uri), "id", "1"), found("1 of all"), uri)
      }
      assert.deepStrictEqual(yield* completion(peer, template("note:///old/1"), "id", "1"), found("1 of old"))
      assert.strictEqual((yield* refusal(peer, template("file:///1"), "id", "1")).code, -32602)
    }).pipe(Effect.provide(serve(Layer.merge(Notes, OldNotes)))))

  it.scoped("MUST check its parameters", () =>
    Effect.gen(function*() {
      const peer = yield* unchecked()
      const argument = { name: "city", value: "P" }
      const ref = prompt("travel")
      const wrong: ReadonlyArray<readonly [object | undefined, string]> = [
        [undefined, "ref"],
        [{ argument }, "ref"],
        [{ ref: { type: "ref/tool", name: "a" }, argument }, "ref"],
        [{ ref: { type: { toString: 1, valueOf: 1 } }, argument }, "does not conform"],
        [{ ref }, "argument"],
        [{ ref, argument: { name: "city" } }, "argument.value"],
        [{ ref, argument: { name: "city", value: 1 } }, "argument.value"],
        [{ ref, argument, context: { arguments: { a: 1 } } }, "context.arguments"]
      ]
      for (const [params, path] of wrong) {
        const error = yield* peer.expectError(yield* peer.request("completion/complete", params as never))
        assert.strictEqual(error.code, -32602)
        assert.include(error.message, path)
      }
    }).pipe(Effect.provide(serve(TravelLive))))

  it.effect("runs with the services of its feature and of the request; its failure is an error response", () =>
    Effect.gen(function*() {
      const { layer, lines } = logbook()
      let released = 0
      const Any = Prompt.make("any", {
        arguments: { db: Schema.String, later: Schema.String, dead: Schema.String, thrown: Schema.String }
      })
      const features = McpServer.prompt(Any, () => Effect.succeed(""), {
        complete: {
          db: () =>
            Effect.gen(function*() {
              const { method } = yield* RequestContext
              yield* Effect.addFinalizer(() => Effect.sync(() => released++))
              return [...(yield* Db), method]
            }),
          later: () => new InternalError({ message: "later" }),
          dead: () => Effect.die(new Error("hunter2")),
          thrown: () => {
            throw new Error("hunter2")
          }
        }
      })
      yield* Effect.gen(function*() {
        const peer = yield* connect()
        assert.deepStrictEqual(yield* completion(peer, prompt("any"), "db", ""), {
          values: ["a", "completion/complete"],
          total: 2,
          hasMore: false
        })
        assert.strictEqual(released, 1)
        assert.deepStrictEqual(yield* refusal(peer, prompt("any"), "later", ""), { code: -32603, message: "later" })
        assert.deepStrictEqual(lines, [])
        for (const name of ["dead", "thrown"]) {
          assert.deepStrictEqual(yield* refusal(peer, prompt("any"), name, ""), {
            code: -32603,
            message: "Internal error"
          })
          assert.include(String(lines.splice(0)[0]?.cause), "hunter2")
        }
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(serve(features), Layer.merge(layer, Layer.succeed(Db, ["a"]))))
      )
    }))
})

describe("Completions are offered", () => {
  it.scoped("MUST be declared where something can be completed, to clients whose revision knows the capability", () =>
    Effect.gen(function*() {
      for (const version of Version.legacy) {
        const peer = yield* unchecked(version)
        assert.deepStrictEqual(yield* completion(peer, prompt("travel"), "country", "I"), {
          values: ["Italy"],
          total: 1,
          hasMore: false
        })
      }
      const declared = (version: string) =>
        Effect.scoped(Effect.flatMap(
          uninitialized,
          (peer) => Effect.map(peer.initialize({ version }), ({ capabilities }) => capabilities as object)
        ))
      assert.property(yield* declared("2025-03-26"), "completions")
      assert.notProperty(yield* declared("2024-11-05"), "completions")
    }).pipe(Effect.provide(serve(TravelLive))))

  it.scoped("SHOULD NOT be answered by a server without completers, to clients whose revision knows the capability", () =>
    Effect.gen(function*() {
      for (const version of Version.legacy) {
        const peer = yield* uninitialized
        const { capabilities } = yield* peer.initialize({ version })
        assert.notProperty(capabilities, "completions")
        if (version === "2024-11-05") assert.deepStrictEqual(yield* completion(peer, prompt("plain"), "a", ""), none)
        else assert.strictEqual((yield* refusal(peer, prompt("plain"), "a", "")).code, -32601)
      }
    }).pipe(Effect.provide(serve(McpServer.prompt(
      Prompt.make("plain", { arguments: { a: Schema.String } }),
      () => Effect.succeed("")
    )))))

  it.scoped("not by a server without prompts and resources", () =>
    Effect.gen(function*() {
      const peer = yield* connect()
      assert.strictEqual((yield* refusal(peer, prompt("a"), "a", "")).code, -32601)
    }).pipe(Effect.provide(serve(GreetLive))))
})
