import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as McpServer from "@effect-mcp/core/McpServer"
import { isRequest } from "@effect-mcp/core/Message"
import * as Tool from "@effect-mcp/core/Tool"
import { Deferred, Effect, Exit, Fiber, Layer, Schedule, Stream } from "effect"
import { entrance, pairs, server } from "./Setting.js"

const text = (result: { readonly content: ReadonlyArray<object> }) => (result.content[0] as { text: string }).text
const fast = { reconnect: Schedule.spaced("5 millis"), connectTimeout: "2 seconds" } as const

/** A connector whose pipes break: without an answer to what runs, or at a call, before the call is written, as often as `breaks` says. */
const breaking = (connector: Connector.Connector) => {
  const state = { breaks: 0, opened: 0 }
  const open = new Set<Deferred.Deferred<void>>()
  const broken = Connector.make(
    connector.name,
    Effect.gen(function*() {
      state.opened++
      const { exchanges: _, run: __, ...transport } = yield* connector.connect
      const end = yield* Deferred.make<void>()
      open.add(end)
      const unsafeSend: typeof transport.unsafeSend = (message, ...more) => {
        if (state.breaks > 0 && isRequest(message) && message.method === "tools/call") {
          state.breaks--
          open.delete(end)
          Deferred.unsafeDone(end, Exit.void)
        }
        return open.has(end) && transport.unsafeSend(message, ...more)
      }
      return { ...transport, incoming: Stream.interruptWhenDeferred(transport.incoming, end), unsafeSend }
    })
  )
  const cut = Effect.sync(() => {
    for (const end of open) Deferred.unsafeDone(end, Exit.void)
    open.clear()
  })
  return { connector: broken, state, cut }
}

for (const sessions of ["each", "shared"] as const) {
  for (const [eras, client, versions] of pairs) {
    const setting = Effect.gen(function*() {
      const runs: Array<string> = []
      const begun = yield* Deferred.make<void>()
      const counting = McpServer.tool(Tool.make("counting"), () => Effect.sync(() => String(runs.push("counting"))))
      const hanging = McpServer.tool(Tool.make("hanging"), () =>
        Effect.sync(() => runs.push("hanging")).pipe(
          Effect.zipRight(Deferred.succeed(begun, undefined)),
          Effect.zipRight(Effect.suspend(() => runs.length > 1 ? Effect.succeed("hanging") : Effect.never))
        ))
      const upstream = yield* server(Layer.merge(counting, hanging), { versions })
      return { runs, begun, upstream }
    })

    describe(`An upstream whose session ends (${eras}, sessions: ${sessions})`, () => {
      it.scopedLive("serves a call that was not sent in its next session, once", () =>
        Effect.gen(function*() {
          const { runs, upstream } = yield* setting
          const { connector, state } = breaking(upstream)
          const session = yield* Effect.flatMap(
            entrance(connector, { proxy: { ...fast, sessions } }),
            (through) => Client.make(through, { versions: client })
          )
          assert.strictEqual(text(yield* session.callTool("counting")), "1")
          const opened = state.opened
          state.breaks = 1
          assert.strictEqual(text(yield* session.callTool("counting")), "2")
          assert.isAbove(state.opened, opened)
          assert.lengthOf(runs, 2)
        }))

      it.scopedLive("gets a call that was not sent no third time", () =>
        Effect.gen(function*() {
          const { runs, upstream } = yield* setting
          const { connector, state } = breaking(upstream)
          const session = yield* Effect.flatMap(
            entrance(connector, { proxy: { ...fast, sessions } }),
            (through) => Client.make(through, { versions: client })
          )
          state.breaks = 2
          const error = yield* Effect.flip(session.callTool("counting"))
          assert.strictEqual(error.message, "The upstream \"up\" closed the connection before \"tools/call\" was sent")
          assert.strictEqual(text(yield* session.callTool("counting")), "1")
          assert.lengthOf(runs, 1)
        }))

      it.scopedLive("never gets a call again that it may have served, and the error says so", () =>
        Effect.gen(function*() {
          const { begun, runs, upstream } = yield* setting
          const { connector, cut } = breaking(upstream)
          const session = yield* Effect.flatMap(
            entrance(connector, { proxy: { ...fast, sessions } }),
            (through) => Client.make(through, { versions: client })
          )
          const call = yield* Effect.fork(Effect.flip(session.callTool("hanging")))
          yield* Deferred.await(begun)
          yield* cut
          assert.strictEqual(
            (yield* Fiber.join(call)).message,
            "The upstream \"up\" closed the connection before it answered \"tools/call\". It may or may not have served the request"
          )
          assert.strictEqual(text(yield* session.callTool("counting")), "2")
          assert.deepStrictEqual(runs, ["hanging", "counting"])
        }))
    })
  }
}
