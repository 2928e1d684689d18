import { assert, describe, it } from "@effect/vitest"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import type { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as Inbox from "@effect-mcp/core/Inbox"
import * as McpServer from "@effect-mcp/core/McpServer"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as SessionDirectory from "@effect-mcp/core/SessionDirectory"
import * as Tool from "@effect-mcp/core/Tool"
import type { HttpOptions } from "@effect-mcp/core/WebHandler"
import { Context, Deferred, Effect, Exit, Fiber, Layer, type Layer as Layers, Schema, Scope } from "effect"
import { request } from "node:http"
import { until } from "./HttpFixture.js"
import { shells } from "./Shells.js"

const LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const

/** How many calls of `wait` have begun. */
let begun = 0

const server: Layers.Layer<Dispatcher> = McpServer.layer(
  { name: "nodes", version: "1.0.0" },
  Layer.merge(
    McpServer.tool(
      Tool.make("wait", { parameters: { ms: Schema.Number }, success: Schema.Number }),
      ({ ms }) => Effect.zipRight(Effect.sync(() => begun++), Effect.delay(Effect.succeed(ms), ms))
    ),
    McpServer.tool(
      Tool.make("roots", { success: Schema.Number }),
      () =>
        Effect.orDie(Effect.flatMap(ServerSession, ({ listRoots }) => Effect.map(listRoots, ({ length }) => length)))
    )
  )
)

class User extends Context.Tag("test/User")<User, { readonly id: string }>() {}

/** A server whose users are those with a token. */
const guarded: Layers.Layer<Dispatcher> = McpServer.layer({ name: "nodes", version: "1.0.0" }, Layer.empty, {
  authenticator: Authenticator.make(User, {
    id: ({ id }) => id,
    http: ({ headers }) =>
      headers.authorization === "Bearer ada"
        ? Effect.succeed({ id: "ada" })
        : Effect.fail(HttpRefusal.unauthorized("Bearer"))
  })
})

const call = (id: number, name: string, args = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args }
})

/** Nodes of one server, each with a shell of its own, which share their state in memory. */
const nodesOf = (
  shell: typeof shells[string],
  count: number,
  options: HttpOptions = {},
  stores = Layer.merge(SessionDirectory.layerMemory, Inbox.layerMemory),
  served = server
) =>
  Effect.gen(function*() {
    const shared = yield* Layer.build(Layer.merge(stores, EventStore.layerMemory))
    const node = Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
      const own = yield* Layer.buildWithScope(Layer.fresh(served), scope)
      const port = yield* shell(options).pipe(Effect.provide(shared), Effect.provide(own), Scope.extend(scope))
      return { url: `http://127.0.0.1:${port}/mcp`, leave: Scope.close(scope, Exit.void) }
    })
    return yield* Effect.replicateEffect(node, count)
  })

/**
 * Sends requests to the nodes in turn, as a proxy does: those that a node has refused or not accepted go to the next one, and that
 * node gets no more.
 */
const proxy = (urls: ReadonlyArray<string>) => {
  const down = new Set<number>()
  let requests = 0
  return (body: unknown, headers: Record<string, string> = {}) => {
    const first = requests++
    const attempt = (n: number): Effect.Effect<Response, unknown> => {
      const at = (first + n) % urls.length
      if (down.has(at)) return attempt(n + 1)
      return Effect.tryPromise({
        try: () =>
          fetch(urls[at]!, {
            method: "POST",
            headers: { accept: "application/json, text/event-stream", "content-type": "application/json", ...headers },
            body: JSON.stringify(body)
          }),
        catch: (error) => (error as { readonly cause: { readonly syscall?: string } }).cause
      }).pipe(
        Effect.filterOrFail(({ status }) => status !== 503, () => ({ syscall: "connect" })),
        Effect.catchIf(({ syscall }) => syscall === "connect", () => {
          down.add(at)
          return attempt(n + 1)
        })
      )
    }
    return Effect.orDie(attempt(0))
  }
}

for (const [name, shell] of Object.entries(shells)) {
  describe(`three nodes with ${name}`, () => {
    for (const version of LEGACY) {
      it.scopedLive(`serve a session wherever its requests, answers, cancellations and its end arrive, at ${version}`, () =>
        Effect.gen(function*() {
          const nodes = yield* nodesOf(shell, 3, { drainTimeout: 0 })
          let session: Record<string, string> = {}
          const send = (at: number, body: unknown, method = "POST") =>
            Effect.promise((signal) =>
              fetch(nodes[at]!.url, {
                method,
                signal,
                headers: {
                  accept: "application/json, text/event-stream",
                  "content-type": "application/json",
                  ...session
                },
                body: method === "POST" ? JSON.stringify(body) : null
              })
            )
          const textOf = (response: Response) => Effect.promise(() => response.text())
          const opened = yield* send(0, {
            jsonrpc: "2.0",
            id: 0,
            method: "initialize",
            params: {
              protocolVersion: version,
              capabilities: { roots: {} },
              clientInfo: { name: "test", version: "1" }
            }
          })
          session = { "mcp-session-id": opened.headers.get("mcp-session-id")! }
          yield* send(1, { jsonrpc: "2.0", method: "notifications/initialized" })

          const asking = yield* send(1, call(1, "roots"))
          const reader = asking.body!.pipeThrough(new TextDecoderStream()).getReader()
          let text = ""
          const readUntil = (part: string) =>
            Effect.repeat(Effect.promise(() => reader.read()), {
              until: ({ done, value = "" }) => done || (text += value).includes(part)
            })
          yield* readUntil("roots/list")
          const [, id] = /"id":("[^"]+"|\d+),"method":"roots\/list"|"method":"roots\/list"[^\n]*"id":("[^"]+"|\d+)/
            .exec(text)!
            .filter((found, n) => n === 0 || found !== undefined)
          const roots = [{ uri: "file:///a" }, { uri: "file:///b" }]
          const answer = { jsonrpc: "2.0", id: JSON.parse(id!), result: { roots } }
          assert.strictEqual((yield* send(2, answer)).status, 202)
          yield* readUntil(`"result":{"content"`)
          assert.include(text, "2")

          const before = begun
          const waiting = yield* Effect.fork(Effect.flatMap(send(1, call(2, "wait", { ms: 60_000 })), textOf))
          yield* until(() => begun > before)
          const params = { requestId: 2 }
          yield* send(2, { jsonrpc: "2.0", method: "notifications/cancelled", params })
          assert.include(yield* Fiber.join(waiting), "Request cancelled")

          if (version === "2025-03-26") {
            const batch = yield* send(2, [call(3, "wait", { ms: 1 }), call(4, "wait", { ms: 2 })])
            const both = yield* textOf(batch)
            for (const id of [3, 4]) assert.include(both, `"id":${id},"result"`)
          }
          assert.strictEqual((yield* send(1, undefined, "DELETE")).status, 200)
          for (const at of [0, 1, 2]) assert.strictEqual((yield* send(at, call(5, "wait", { ms: 0 }))).status, 404)
        }))
    }

    it.scopedLive("ask nothing of the directory or the inboxes for requests without a token, whose bodies they do not read", () =>
      Effect.gen(function*() {
        let commands = 0
        const noted = <A extends object>(service: A): A =>
          Object.fromEntries(
            Object.entries(service).map(([name, member]: [string, unknown]) => [
              name,
              typeof member !== "function" ? member : (...args: ReadonlyArray<unknown>) => {
                if (name !== "touch") commands++
                return member(...args) as unknown
              }
            ])
          ) as A
        const stores = Layer.merge(
          Layer.effect(
            SessionDirectory.SessionDirectory,
            Effect.map(SessionDirectory.memory(), ({ join }) => ({ join: (node) => Effect.map(join(node), noted) }))
          ),
          Layer.effect(
            Inbox.Inbox,
            Effect.map(Inbox.memory(), ({ open }) => ({ open: (node) => Effect.map(open(node), noted) }))
          )
        )
        const [one, two] = yield* nodesOf(shell, 2, { drainTimeout: 0 }, stores, guarded)
        const ada = { authorization: "Bearer ada" }
        const opened = yield* proxy([one!.url])({
          jsonrpc: "2.0",
          id: 0,
          method: "initialize",
          params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
        }, ada)
        const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! }
        const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
        const send = proxy([two!.url])
        commands = 0
        for (let n = 0; n < 40; n++) assert.strictEqual((yield* send(ping, session)).status, 401)
        assert.strictEqual(commands, 0)
        // The rest of the body never arrives: the refusal waits for nothing.
        const refused = yield* Effect.async<number | undefined>((resume) => {
          const half = request(two!.url, {
            method: "POST",
            headers: { "content-type": "application/json", "content-length": 1000, ...session }
          }, (response) => {
            resume(Effect.sync(() => {
              half.on("error", () => {}).destroy()
              return response.statusCode
            }))
          })
          half.write("{")
        })
        assert.strictEqual(refused, 401)
        assert.strictEqual((yield* send(ping, { ...session, ...ada })).status, 200)
        assert.isAbove(commands, 0)
      }))

    it.scopedLive("serve a POST at the next node whose session has moved there before its body had arrived", () =>
      Effect.gen(function*() {
        // A node that changes a session has lost it.
        const directory = Effect.map(
          SessionDirectory.memory(),
          ({ join }): SessionDirectory.SessionDirectoryService => ({
            join: (node) =>
              Effect.map(join(node), (membership) => ({
                ...membership,
                update: (id, epoch) => Effect.as(membership.release(id, epoch), false)
              }))
          })
        )
        const stores = Layer.merge(Layer.effect(SessionDirectory.SessionDirectory, directory), Inbox.layerMemory)
        const [one, two] = yield* nodesOf(shell, 2, { drainTimeout: 0 }, stores)
        const sending = proxy([one!.url])
        const opened = yield* sending({
          jsonrpc: "2.0",
          id: 0,
          method: "initialize",
          params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
        })
        const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! }
        yield* sending({ jsonrpc: "2.0", method: "notifications/initialized" }, session)
        const body = JSON.stringify(call(1, "wait", { ms: 1 }))
        const answered = yield* Deferred.make<readonly [number | undefined, string]>()
        const slow = request(one!.url, {
          method: "POST",
          headers: {
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            "content-length": body.length,
            expect: "100-continue",
            ...session
          }
        }, (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (part) => text += part)
          response.on("end", () => Deferred.unsafeDone(answered, Effect.succeed([response.statusCode, text])))
        })
        // The node waits for the body.
        yield* Effect.async<void>((resume) => {
          slow.on("continue", () => resume(Effect.void)).flushHeaders()
        })
        const level = { jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "error" } }
        const lost = yield* sending(level, session)
        assert.include(yield* Effect.promise(() => lost.text()), "Another node serves this session")
        const ping = yield* proxy([two!.url])({ jsonrpc: "2.0", id: 3, method: "ping" }, session)
        assert.strictEqual(ping.status, 200)
        slow.end(body)
        const [status, text] = yield* Deferred.await(answered)
        assert.strictEqual(status, 200, text)
        assert.include(text, `"id":1,"result"`)
      }))

    it.scopedLive("answer every call without an error while one of them shuts down, in every revision", () =>
      Effect.gen(function*() {
        const nodes = yield* nodesOf(shell, 3)
        const send = proxy(nodes.map(({ url }) => url))
        const open = (version: string) =>
          Effect.map(
            send({
              jsonrpc: "2.0",
              id: 0,
              method: "initialize",
              params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } }
            }),
            (response) => response.headers.get("mcp-session-id")!
          )
        const calls = (session: string) =>
          Effect.forEach(Array.from({ length: 20 }, (_, n) => n), (id) =>
            Effect.gen(function*() {
              const response = yield* send(call(id, "wait", { ms: id % 20 }), { "mcp-session-id": session })
              assert.include(yield* Effect.promise(() => response.text()), `"id":${id},"result"`)
            }), { concurrency: 2, discard: true })
        const sessions = yield* Effect.forEach([...LEGACY, ...LEGACY], open)
        const calling = yield* Effect.fork(Effect.forEach(sessions, calls, { concurrency: "unbounded", discard: true }))
        yield* Effect.sleep("50 millis")
        yield* nodes[0]!.leave
        yield* Fiber.join(calling)
      }))
  })
}
