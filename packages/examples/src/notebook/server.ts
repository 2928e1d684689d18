/**
 * A notebook over SQLite, on stdio and over HTTP at the same time: tools, a resource template with completion, a prompt, state
 * of each session, and a limit of the requests. It prints the address of its HTTP endpoint to stderr.
 */
import * as FeatureMiddleware from "@effect-mcp/core/FeatureMiddleware"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as Resource from "@effect-mcp/core/Resource"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/RateLimiter"
import * as Ref from "effect/Ref"
import { Notebook, TitleTaken } from "./contract.js"
import * as Notes from "./Notes.js"

/** The titles that the client of this session has added. From 2026-07-28 on there are no sessions: each request has its own. */
class Mine extends Context.Tag("example/Mine")<Mine, Ref.Ref<ReadonlyArray<string>>>() {}

const read = (title: string) =>
  Effect.flatMap(Notes.Notes, (notes) => notes.text(title)).pipe(
    Effect.flatMap((text) =>
      text === undefined ? new McpError.ResourceNotFound({ uri: uriOf(title) }) : Effect.succeed(text)
    )
  )

const uriOf = (title: string) => `note:///${encodeURIComponent(title)}`

const titles = (prefix: string) => Effect.flatMap(Notes.Notes, (notes) => notes.titles(prefix))

const NotebookLive = McpServer.implement(Notebook, {
  add: ({ text, title }) =>
    Effect.gen(function*() {
      const notes = yield* Notes.Notes
      if (!(yield* notes.add(title, text))) return yield* new TitleTaken({ title })
      yield* Ref.update(yield* Mine, (all) => [...all, title])
      return `Added "${title}"`
    }),
  search: ({ limit, word }) =>
    Effect.map(Effect.flatMap(Notes.Notes, (notes) => notes.withWord(word, limit)), (titles) => ({ titles })),
  mine: () => Effect.map(Effect.flatMap(Mine, Ref.get), (titles) => ({ titles })),
  templates: {
    note: {
      read: ({ title }) => read(title),
      complete: { title: titles },
      list: Effect.map(titles(""), (all) => all.map((title) => Resource.make(title, { uri: uriOf(title) })))
    }
  },
  prompts: {
    summarize: {
      get: ({ title }) => Effect.map(read(title), (text) => `Summarize this note in one sentence:\n\n${text}`),
      complete: { title: titles }
    }
  }
})

class Limit extends Context.Tag("example/Limit")<Limit, RateLimiter.RateLimiter>() {}

/** Ten requests in a second, of all clients together; more wait. */
const LimitLive = Layer.scoped(Limit, RateLimiter.make({ limit: 10, interval: "1 second" }))

const limited = FeatureMiddleware.make(({ next }) =>
  Effect.flatMap(Limit, (limit) => limit<unknown, unknown, never>(next))
)

const Server = McpServer.layer(
  { name: "notebook", version: "1.0.0" },
  NotebookLive.pipe(FeatureMiddleware.around(limited)),
  {
    session: Layer.effect(Mine, Ref.make<ReadonlyArray<string>>([]))
  }
).pipe(Layer.provide([Notes.layer, LimitLive]))

const Announced = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ url }) => Console.error(`the notebook is at ${url}`))
).pipe(Layer.provide(HttpServer.layer({ port: 0 })))

Layer.mergeAll(StdioServer.layer, Announced).pipe(Layer.provide(Server), Layer.launch, StdioServer.runMain)
