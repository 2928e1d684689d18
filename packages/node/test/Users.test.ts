/**
 * The user of a server in every part of it, over every transport, in both eras; and what a client gets that has none.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type { HttpClient } from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { Connector } from "@effect-mcp/core/Connector"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Version } from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Layer, Logger, type Scope } from "effect"
import { bundled, node } from "./Fixture.js"
import { shells } from "./Shells.js"
import { features, options, Server, User } from "./UsersServer.js"

/** How a client of the server connects that has this user, or none. */
type As = (name: string | undefined) => Connector<HttpClient>

interface Way {
  readonly name: string
  readonly start: Effect.Effect<As, never, Dispatcher | Scope.Scope>
  readonly versions: ReadonlyArray<Version>
  /** What a client without a user gets. */
  readonly refusal: RegExp
}

const both = ["2025-11-25", "2026-07-28"] as const

const remote = (url: string, transport: "streamable" | "sse" = "streamable"): As => (name) =>
  Remote.connector(url, {
    transport,
    ...(name === undefined ? undefined : { headers: { authorization: `Bearer ${name}` } })
  })

const given = (name: string | undefined): Authenticator.Caller =>
  name === undefined ? Authenticator.inProcess : Authenticator.given(Context.make(User, { name }))

/** Connects in this process to the server in the context. */
const connecting = (
  connectorAs: (as: Authenticator.Caller) => Effect.Effect<Connector, never, Dispatcher>
): Way["start"] =>
  Effect.map(Effect.context<Dispatcher>(), (context) => (name) => ({
    name: "in this process",
    connect: Effect.flatMap(Effect.provide(connectorAs(given(name)), context), ({ connect }) => connect)
  }))

const unauthorized =
  /^401 Bearer resource_metadata="https:\/\/mcp.example.com\/metadata" .*does not identify a client of this server/

const ways: ReadonlyArray<Way> = [
  ...Object.entries(shells).flatMap(([shell, start]) =>
    [{}, { sessions: false }].map((legacy): Way => ({
      name: "sessions" in legacy ? `${shell}, without sessions` : shell,
      start: Effect.map(start({ path: "/mcp", legacy }), (port) => remote(`http://127.0.0.1:${port}/mcp`)),
      versions: both,
      refusal: unauthorized
    }))
  ),
  {
    name: "HTTP+SSE",
    start: Effect.map(
      Effect.orDie(HttpServer.make({ port: 0, legacy: { ssePath: "/sse" } })),
      ({ port }) => remote(`http://127.0.0.1:${port}/sse`, "sse")
    ),
    versions: ["2024-11-05"],
    refusal: unauthorized
  },
  {
    name: "stdio",
    start: Effect.map(
      bundled("usersServer.ts"),
      (program): As => (name) =>
        StdioClient.connector({
          command: node,
          args: [program],
          ...(name === undefined ? undefined : { env: { MCP_USER: name } })
        })
    ),
    versions: both,
    refusal: /needs the variable MCP_USER/
  },
  {
    name: "no transport, in process",
    start: connecting(InProcess.connectorAs),
    versions: both,
    refusal: /needs the option inProcess/
  },
  {
    name: "a pair in memory",
    start: connecting((as) => TestServer.connector({ as })),
    versions: both,
    refusal: /needs the option inProcess/
  }
]

const services = (server: Layer.Layer<Dispatcher>) =>
  Layer.mergeAll(server, FetchHttpClient.layer).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)))

/** Why a client was refused: over HTTP the status, the challenge and the body. */
const why = (error: unknown): string => {
  const refused = (error as { readonly cause?: unknown }).cause
  return refused instanceof HttpResponseError
    ? `${refused.status} ${refused.headers["www-authenticate"] ?? ""} ${refused.body}`
    : String(error)
}

/** What every part of the server says to a client. */
const seen = (session: ClientSessionService) =>
  Effect.gen(function*() {
    const { content } = yield* session.callTool("who")
    const me = yield* session.readResource("users://me")
    const note = yield* session.readResource("notes://7")
    const prompt = yield* session.getPrompt("greet")
    const { values } = yield* session.complete(
      { type: "ref/resource", uri: "notes://{id}" },
      { name: "id", value: "1" }
    )
    return [content, me.contents, note.contents, prompt.messages.map(({ content }) => content)].map((all) =>
      all.map((one) => "text" in one ? one.text : "?").join()
    ).concat(values)
  })

const of = (name: string) => [
  `${name} home of ${name} badge of ${name} ${name}`,
  name,
  `7 of ${name}`,
  `Greet ${name}.`,
  `1-${name}`
]

for (const { name, refusal, start, versions } of ways) {
  for (const version of versions) {
    describe(`The user over ${name}, at revision ${version}`, () => {
      const connect = (connector: Connector<HttpClient>) => Client.make(connector, { versions: [version] })

      it.scopedLive(
        "is known to tools, resources, templates, prompts, completers, session layer and middleware",
        () =>
          Effect.gen(function*() {
            const as = yield* start
            const [ada, bob] = yield* Effect.all([connect(as("ada")), connect(as("bob"))])
            const [first, second, third] = yield* Effect.all([seen(ada), seen(bob), seen(ada)], {
              concurrency: "unbounded"
            })
            assert.deepStrictEqual([first, second, third], [of("ada"), of("bob"), of("ada")])
          }).pipe(Effect.provide([Server, FetchHttpClient.layer]))
      )

      it.scopedLive("is needed: a client without one is refused, and learns why", () =>
        Effect.gen(function*() {
          const as = yield* start
          const error = yield* Effect.flip(Effect.flatMap(connect(as(undefined)), (session) => session.callTool("who")))
          assert.match(why(error), refusal)
        }).pipe(Effect.provide(services(Server))))

      if (name !== "stdio") {
        it.scopedLive("is needed on every transport: one without an answer is refused", () =>
          Effect.gen(function*() {
            const as = yield* start
            const error = yield* Effect.flip(
              Effect.flatMap(connect(as(undefined)), (session) => session.callTool("who"))
            )
            assert.match(why(error), /cannot find the user/)
          }).pipe(Effect.provide(services(McpServer.layer({ name: "users", version: "1.0.0" }, features, {
            ...options,
            authenticator: Authenticator.make(User, { id: ({ name }) => name })
          })))))
      }
    })
  }
}
