import { assert, describe, it } from "@effect/vitest"
import * as Definition from "@effect-mcp/core/Definition"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { Registry, Running } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import { Context, Effect, Layer, Schema } from "effect"
import { expectTypeOf } from "vitest"

class Db extends Context.Tag("Db")<Db, { readonly find: Effect.Effect<string> }>() {}
class Cache extends Context.Tag("Cache")<Cache, { readonly size: number }>() {}
class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { q: Schema.String }) {}
class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}

const Search = Tool.make("search", {
  parameters: { q: Schema.String, limit: Schema.optionalWith(Schema.Int, { default: () => 10 }) },
  success: Schema.Struct({ hits: Schema.Array(Schema.String) }),
  failure: NotFound
})
const Tell = Tool.make("tell")
const Both = Definition.make(Search, Tell)

const found = { hits: ["a"] }

describe("A handler's type", () => {
  it("gets the parameters with their defaults", () => {
    const live = McpServer.tool(Search, (parameters) => {
      expectTypeOf(parameters.limit).toEqualTypeOf<number>()
      expectTypeOf(parameters.q).toEqualTypeOf<string>()
      // @ts-expect-error it has no such parameter
      return Effect.succeed({ hits: [parameters.query] })
    })
    assert.isTrue(Layer.isLayer(live))
  })

  it("returns the success, or rich content", () => {
    const good = [
      McpServer.tool(Search, () => Effect.succeed(found)),
      McpServer.tool(Search, () => Effect.succeed(ToolResult.text("a").pipe(ToolResult.withStructured(found)))),
      McpServer.tool(Tell, () => Effect.void),
      McpServer.tool(Tell, () => Effect.succeed("told")),
      McpServer.tool(Tell, () => Effect.succeed(ToolResult.text("told")))
    ]
    const bad = [
      // @ts-expect-error not the success
      McpServer.tool(Search, () => Effect.succeed({ hits: [1] })),
      // @ts-expect-error no structured content
      McpServer.tool(Search, () => Effect.succeed(ToolResult.text("a"))),
      // @ts-expect-error not the success
      McpServer.tool(Search, () => Effect.void),
      // @ts-expect-error no content
      McpServer.tool(Tell, () => Effect.succeed(1))
    ]
    assert.lengthOf([...good, ...bad], 9)
  })

  it("fails with the declared failure, or with an McpError", () => {
    const good = [
      McpServer.tool(Search, ({ q }) => new NotFound({ q })),
      McpServer.tool(Search, () => new McpError.InvalidParams({ message: "no" })),
      McpServer.tool(Tell, () => new McpError.InternalError({ message: "later" }))
    ]
    const bad = [
      // @ts-expect-error undeclared
      McpServer.tool(Search, () => new Busy()),
      // @ts-expect-error undeclared
      McpServer.tool(Search, ({ q }) => q === "" ? new NotFound({ q }) : new Busy()),
      // @ts-expect-error nothing was declared
      McpServer.tool(Tell, () => Effect.fail("no"))
    ]
    assert.lengthOf([...good, ...bad], 6)
  })

  it("leaves its requirements in the layer, except the services of a request", () => {
    const live = McpServer.tool(Search, () =>
      Effect.gen(function*() {
        yield* RequestContext
        yield* ServerSession
        yield* Effect.addFinalizer(() => Effect.void)
        yield* Cache
        const db = yield* Db
        return { hits: [yield* db.find] }
      }))
    expectTypeOf(live).toEqualTypeOf<Layer.Layer<never, never, Registry | Db | Cache>>()
    expectTypeOf(McpServer.tool(Tell, () => Effect.void)).toEqualTypeOf<Layer.Layer<never, never, Registry>>()
    const none = McpServer.tool(Tell, () => Effect.asVoid(Effect.zipRight(ServerSession, Effect.scope)))
    expectTypeOf(none).toEqualTypeOf<Layer.Layer<never, never, Registry>>()
  })
})

describe("A definition's type", () => {
  it("requires a handler of each of its tools", () => {
    const good = McpServer.implement(Both, {
      search: ({ limit, q }) => limit > 5 ? Effect.map(Db, () => found) : new NotFound({ q }),
      tell: () => Effect.asVoid(Effect.zipRight(RequestContext, Cache))
    })
    expectTypeOf(good).toEqualTypeOf<Layer.Layer<never, never, Registry | Db | Cache>>()
    const bad = [
      // @ts-expect-error "tell" is missing
      () => McpServer.implement(Both, { search: () => Effect.succeed(found) }),
      // @ts-expect-error not the success of "search"
      () => McpServer.implement(Both, { search: () => Effect.succeed("found"), tell: () => Effect.void }),
      // @ts-expect-error a failure that "tell" has not declared
      () => McpServer.implement(Both, { search: () => Effect.succeed(found), tell: () => new Busy() })
    ]
    assert.lengthOf(bad, 3)
  })
})

describe("A server's type", () => {
  it("has the failures and the requirements of its features, and provides a dispatcher", () => {
    const DbLive = Layer.effect(Db, Effect.as(Effect.fail("no database" as const), { find: Effect.succeed("") }))
    const live = McpServer.tool(Tell, () => Effect.asVoid(Effect.zipRight(Cache, Effect.flatMap(Db, (db) => db.find))))
    const server = McpServer.layer({ name: "typed", version: "1.0.0" }, Layer.provide(live, DbLive))
    expectTypeOf(server).toEqualTypeOf<Layer.Layer<Dispatcher | Running, "no database", Cache>>()
    const bare = McpServer.layer({ name: "bare", version: "1.0.0" }, Layer.empty)
    expectTypeOf(bare).toEqualTypeOf<Layer.Layer<Dispatcher | Running>>()
  })

  it("does not let features that are not requests ask the client", () => {
    const live = Layer.effectDiscard(ServerSession)
    const server = McpServer.layer({ name: "typed", version: "1.0.0" }, live)
    // No layer can provide it, so this server cannot be launched.
    expectTypeOf(server).toEqualTypeOf<Layer.Layer<Dispatcher | Running, never, ServerSession>>()
  })
})

const Note = ResourceTemplate.make("note")`note:///${ResourceTemplate.param("year", Schema.NumberFromString)}/${
  ResourceTemplate.param("name")
}`
const Readme = Resource.make("readme", { uri: "file:///README.md" })
const Review = Prompt.make("review", {
  arguments: { code: Schema.String, depth: Schema.optionalWith(Schema.NumberFromString, { default: () => 1 }) }
})

describe("A resource's type", () => {
  it("leaves the requirements of reading in the layer, except the services of a request", () => {
    const live = McpServer.resource(
      Readme,
      Effect.gen(function*() {
        yield* ServerSession
        yield* Effect.addFinalizer(() => Effect.void)
        return yield* Effect.flatMap(Db, (db) => db.find)
      })
    )
    expectTypeOf(live).toEqualTypeOf<Layer.Layer<never, never, Registry | Db>>()
    const good = [
      McpServer.resource(Readme, Effect.succeed(new Uint8Array())),
      McpServer.resource(Readme, Effect.succeed([{ uri: "a:b", text: "" }, { uri: "a:c", blob: "" }])),
      McpServer.resource(Readme, new McpError.ResourceNotFound({ uri: "a:b" }))
    ]
    const bad = [
      // @ts-expect-error no contents
      McpServer.resource(Readme, Effect.succeed(1)),
      // @ts-expect-error no text and no bytes
      McpServer.resource(Readme, Effect.succeed({ uri: "a:b" })),
      // @ts-expect-error an undeclared error
      McpServer.resource(Readme, new Busy())
    ]
    assert.lengthOf([...good, ...bad], 6)
  })

  it("gives a template its parameters, and lists and completes without questions to the client", () => {
    const live = McpServer.resourceTemplate(
      Note,
      (parameters, uri) => {
        expectTypeOf(parameters).toEqualTypeOf<{ readonly year: number; readonly name: string }>()
        expectTypeOf(uri).toEqualTypeOf<string>()
        return Effect.as(Effect.zipRight(ServerSession, Db), "")
      },
      {
        complete: { name: (value, others) => Effect.as(Effect.zipRight(RequestContext, Cache), [value, others.year!]) },
        list: Effect.as(Effect.zipRight(RequestContext, Effect.scope), [Readme])
      }
    )
    expectTypeOf(live).toEqualTypeOf<Layer.Layer<never, never, Registry | Db | Cache>>()
    const asking = McpServer.resourceTemplate(Note, () => Effect.succeed(""), {
      complete: { name: () => Effect.as(ServerSession, []) }
    })
    // No layer can provide it, so a server with it cannot be launched.
    expectTypeOf(asking).toEqualTypeOf<Layer.Layer<never, never, Registry | ServerSession>>()
    const listing = McpServer.resourceTemplate(Note, () => Effect.succeed(""), { list: Effect.as(ServerSession, []) })
    expectTypeOf(listing).toEqualTypeOf<Layer.Layer<never, never, Registry | ServerSession>>()
  })
})

describe("A prompt's type", () => {
  it("gives the handler its decoded arguments with their defaults", () => {
    const live = McpServer.prompt(Review, (parameters) => {
      expectTypeOf(parameters).toEqualTypeOf<{ readonly code: string; readonly depth: number }>()
      return Effect.as(Effect.zipRight(ServerSession, Db), [Prompt.user("a"), Prompt.assistant("b")])
    })
    expectTypeOf(live).toEqualTypeOf<Layer.Layer<never, never, Registry | Db>>()
    const bad = [
      // @ts-expect-error no messages
      McpServer.prompt(Review, () => Effect.succeed(1)),
      // @ts-expect-error an undeclared error
      McpServer.prompt(Review, () => new Busy()),
      // @ts-expect-error there is no such argument
      McpServer.prompt(Review, ({ language }) => Effect.succeed(language))
    ]
    assert.lengthOf(bad, 3)
  })

  it("completes arguments by their names, each with encoded strings", () => {
    const live = McpServer.prompt(Review, () => Effect.succeed(""), {
      complete: {
        code: (value, others) => {
          expectTypeOf(value).toEqualTypeOf<string>()
          expectTypeOf(others).toEqualTypeOf<Readonly<Record<string, string>>>()
          return Effect.as(Cache, [value])
        },
        depth: () => Effect.succeed({ values: ["1"], total: 9 })
      }
    })
    expectTypeOf(live).toEqualTypeOf<Layer.Layer<never, never, Registry | Cache>>()
    const bad = [
      McpServer.prompt(Review, () => Effect.succeed(""), {
        // @ts-expect-error there is no such argument
        complete: { language: () => Effect.succeed([]) }
      }),
      McpServer.prompt(Review, () => Effect.succeed(""), {
        // @ts-expect-error strings only, as they stand on the wire
        complete: { depth: () => Effect.succeed([1]) }
      }),
      McpServer.prompt(Review, () => Effect.succeed(""), {
        // @ts-expect-error an undeclared error
        complete: { code: () => new Busy() }
      })
    ]
    const asking = McpServer.prompt(Review, () => Effect.succeed(""), {
      complete: { code: () => Effect.as(ServerSession, []) }
    })
    expectTypeOf(asking).toEqualTypeOf<Layer.Layer<never, never, Registry | ServerSession>>()
    const stub = McpServer.prompt(Review, () => Effect.succeed(""), {
      complete: {
        code: () => {
          throw new Error("later")
        }
      }
    })
    expectTypeOf(stub).toEqualTypeOf<Layer.Layer<never, never, Registry>>()
    assert.lengthOf(bad, 3)
  })
})

describe("A whole definition's type", () => {
  const Whole = Definition.make(Search, Readme, Note, Review)

  it("requires handlers of every kind of entry that it has", () => {
    const good = McpServer.implement(Whole, {
      search: () => Effect.as(Db, found),
      resources: { readme: Effect.as(Cache, "") },
      templates: {
        note: ({ name, year }, uri) => {
          expectTypeOf([name, year, uri] as const).toEqualTypeOf<readonly [string, number, string]>()
          return Effect.as(ServerSession, "")
        }
      },
      prompts: { review: ({ depth }) => Effect.succeed(String(depth + 1)) }
    })
    expectTypeOf(good).toEqualTypeOf<Layer.Layer<never, never, Registry | Db | Cache>>()
    const tools = { search: () => Effect.succeed(found) }
    const resources = { readme: Effect.succeed("") }
    const templates = { note: () => Effect.succeed("") }
    const prompts = { review: () => Effect.succeed("") }
    const bad = [
      // @ts-expect-error the prompts are missing
      () => McpServer.implement(Whole, { ...tools, resources, templates }),
      // @ts-expect-error the resources are missing
      () => McpServer.implement(Whole, { ...tools, templates, prompts }),
      // @ts-expect-error one of the templates is missing
      () => McpServer.implement(Whole, { ...tools, resources, templates: {}, prompts }),
      // @ts-expect-error no contents
      () => McpServer.implement(Whole, { ...tools, resources: { readme: Effect.succeed(1) }, templates, prompts })
    ]
    assert.lengthOf(bad, 4)
  })

  it("accepts handlers that are not written yet", () => {
    const todo = (): never => {
      throw new Error("to do")
    }
    const stub = () => McpServer.implement(Both, { search: todo, tell: todo })
    expectTypeOf(stub).returns.toEqualTypeOf<Layer.Layer<never, never, Registry>>()
    assert.isFunction(stub)
  })
})
