/**
 * A server with a few tools, and clients that send exactly what a test tells them to. The official schema checks all
 * messages in both directions.
 */
import { assert } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import type * as Feature from "@effect-mcp/core/Feature"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Incoming, Request, Response } from "@effect-mcp/core/Message"
import type * as Middleware from "@effect-mcp/core/Middleware"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as Tool from "@effect-mcp/core/Tool"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { type Cause, Chunk, Context, Effect, type Layer, Logger, Schema, type Scope, Stream } from "effect"

export const info = { name: "test", version: "0.0.0" }

export const serve = <
  E = never,
  R = never,
  S extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  M extends Middleware.Middleware.Any | undefined = Middleware.Middleware<never, never>,
  SM extends Middleware.Middleware.Any | undefined = Middleware.Middleware<never, never>,
  A extends Authenticator.Authenticator.Any | undefined = Authenticator.Authenticator<never>
>(
  features: Layer.Layer<never, E, R>,
  options?: McpServer.Options<S, M, SM, A>
) => McpServer.layer(info, features, options)

/** The user of servers whose tests are not about users: an id, or `undefined` for an anonymous user. */
export class Sender extends Context.Tag("test/Sender")<Sender, string | undefined>() {}

/** Options for a server that finds the id of the sender of an HTTP request in this way. */
export const identified = (
  http: (request: Authenticator.HttpRequest) => Effect.Effect<string | undefined, Authenticator.Refuses>
) => ({ authenticator: Authenticator.make(Sender, { id: (id) => id, http }) })

/** Options for a server whose users are what the header `Authorization` says. */
export const byHeader = identified(({ headers }) => Effect.succeed(headers.authorization))

/** A tool without parameters that runs the given effect. */
export const act = <R = never>(
  handler: Effect.Effect<unknown, never, R>,
  name = "act"
): Layer.Layer<never, never, Exclude<R, Feature.RequestServices> | import("@effect-mcp/core/Registry").Registry> =>
  McpServer.tool(Tool.make(name), () => Effect.asVoid(handler))

export const Greet = Tool.make("greet", { parameters: { name: Schema.String } })
export const GreetLive = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`))

/** A client that has not sent `initialize`. Its messages are not checked, so it may send anything. */
export const uninitialized: Effect.Effect<TestPeer.TestPeer, never, Dispatcher | Scope.Scope> = TestPeer.client()

/** A client after the handshake. */
export const connect = (version?: string, capabilities?: JsonObject) =>
  Effect.gen(function*() {
    const peer = yield* TestPeer.client({ oracle: true })
    yield* peer.initialize({
      ...(version === undefined ? undefined : { version }),
      ...(capabilities === undefined ? undefined : { capabilities })
    })
    return peer
  })

/** A client after the handshake whose own messages are not checked. */
export const unchecked = (version?: string, capabilities?: JsonObject) =>
  Effect.tap(uninitialized, (peer) => peer.initialize({ version, capabilities }))

/** Calls a tool, and asks for progress when there is a token. */
export const call = (peer: TestPeer.TestPeer, name: string, args?: unknown, progressToken?: Request["id"]) =>
  peer.request("tools/call", {
    name,
    ...(args === undefined ? undefined : { arguments: args }),
    ...(progressToken === undefined ? undefined : { _meta: { progressToken } })
  })

/** Calls a tool and waits for its result. */
export const result = (peer: TestPeer.TestPeer, name: string, args?: unknown) =>
  Effect.flatMap(call(peer, name, args), peer.expectResult)

/** What a client receives of a tool that died. */
export const internalError = { content: [{ type: "text", text: "Internal error" }], isError: true }

/** What `serve` of the dispatcher gives for one message. */
export const messages = (incoming: Incoming, caller?: Authenticator.Caller) =>
  Effect.flatMap(
    Dispatcher,
    (dispatcher) => Effect.map(Stream.runCollect(dispatcher.serve(incoming, caller)), Chunk.toReadonlyArray)
  )

/** The one message that it gives, the answer. */
export const answer = (incoming: Incoming, caller?: Authenticator.Caller) =>
  Effect.map(messages(incoming, caller), (all) => {
    assert.lengthOf(all, 1)
    return all[0] as Response & { readonly result?: any; readonly error?: any }
  })

/** The caller of a legacy message of this revision. */
export const speaking = (version: string, headers?: Readonly<Record<string, string>>) =>
  Authenticator.http({ headers: { ...headers, "mcp-protocol-version": version } })

/** The names in a `tools/list`. */
export const names = (peer: TestPeer.TestPeer) =>
  Effect.map(
    Effect.flatMap(peer.request("tools/list"), peer.expectResult),
    ({ tools }) => (tools as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)
  )

export interface Line {
  readonly level: string
  readonly message: string
  readonly cause: Cause.Cause<unknown>
}

/** A layer that records everything that is logged. */
export const logbook = () => {
  const lines: Array<Line> = []
  const layer = Logger.add(Logger.make(({ cause, logLevel, message }) => {
    lines.push({ level: logLevel._tag, message: String(message), cause })
  }))
  return { lines, layer }
}

/** Waits until it holds, which takes only turns of the scheduler. */
export const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.asVoid(Effect.iterate(0, { while: () => !holds(), body: () => Effect.as(Effect.yieldNow(), 0) }))
