import { assert, describe, it } from "@effect/vitest"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as Side from "@effect-mcp/core/Side"
import { Context, Effect } from "effect"
import { connect } from "./ScriptedPeer.js"

describe("Side.make", () => {
  class Db extends Context.Tag("Db")<Db, string>() {}

  it.scoped("runs its handlers in the context that they need", () =>
    Effect.gen(function*() {
      const notified: Array<string> = []
      const served = yield* Side.make({
        onRequest: ({ method }, outbound) =>
          Effect.gen(function*() {
            yield* outbound.notify("note")
            return { db: yield* Db, method }
          }),
        onNotification: ({ method }) => Effect.map(Db, (db) => notified.push(`${db}: ${method}`))
      }).pipe(Effect.provideService(Db, "notes"))
      const t = yield* connect(served)
      yield* t.peer.notify("hello")
      yield* t.peer.request(1, "which")
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.notification("note"))
      assert.deepStrictEqual<unknown>(yield* t.peer.receive, Message.success(1, { db: "notes", method: "which" }))
      assert.deepStrictEqual(notified, ["notes: hello"])
    }))

  it.scoped("answers with the error of a handler, hides its defects, and needs no handler of notifications", () =>
    Effect.gen(function*() {
      const error = new JsonRpcError.JsonRpcError({ code: 7, message: "no" })
      const served = yield* Side.make({
        onRequest: ({ method }) => {
          if (method === "throws") throw new Error("s3cret")
          return method === "fails" ? error : Effect.die("s3cret")
        }
      })
      const t = yield* connect(served)
      yield* t.peer.notify("ignored")
      for (const method of ["fails", "throws", "dies"]) yield* t.peer.request(method, method)
      const answers = [yield* t.peer.receive, yield* t.peer.receive, yield* t.peer.receive]
      assert.deepStrictEqual<unknown>(answers, [
        Message.failure("fails", error),
        Message.failure("throws", JsonRpcError.internal),
        Message.failure("dies", JsonRpcError.internal)
      ])
    }))
})
