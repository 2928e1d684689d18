import { assert, describe, it } from "@effect/vitest"
import * as RemoteOptions from "@effect-mcp/client/RemoteOptions"
import * as DeadlineTimer from "@effect-mcp/jsonrpc/unstable/DeadlineTimer"
import { Effect, Fiber } from "effect"
import * as HttpConnection from "../../src/http/HttpConnection.js"
import { HttpSession } from "../../src/legacy/HttpSession.js"
import { listen } from "../../src/legacy/Listen.js"
import { ResumePoint } from "../../src/legacy/ResumePoint.js"
import * as Played from "../http/Played.js"

/** Listens once, to a server that does this. */
const outcome = (serve: (asked: Played.Asked) => Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const options = RemoteOptions.resolve({})
    const runtime = yield* HttpConnection.runtimeOf(options)
    const clock = yield* Effect.clock
    const http = yield* Played.make()
    const alarm = (ring: (now: number) => number) => new DeadlineTimer.DeadlineTimer(runtime, clock, ring)
    const site = new HttpConnection.HttpConnection(new URL(Played.URL), options, runtime, alarm, http.client)
    const heard: Array<unknown> = []
    const listening = yield* Effect.fork(
      listen(site, new HttpSession(site), new ResumePoint(), (event) => void heard.push(event))
    )
    yield* Effect.flatMap(http.expect("GET"), serve)
    const outcome = yield* Fiber.join(listening)
    yield* http.idle
    return { heard, outcome }
  })

describe("Listening", () => {
  it.effect("ends with the stream, by itself or by a fault", () =>
    Effect.gen(function*() {
      const well = yield* outcome((asked) =>
        Effect.flatMap(asked.events(), (stream) => Effect.zipRight(stream.push("data: 1\n\n"), stream.end))
      )
      assert.lengthOf(well.heard, 1)
      assert.deepInclude(well.outcome, { _tag: "Ended", error: undefined })
      const ill = yield* outcome((asked) => Effect.flatMap(asked.events(), (stream) => stream.cut))
      assert.isTrue(ill.outcome._tag === "Ended" && ill.outcome.error?.reason === "Read")
    }))

  it.effect("can be tried again after what passes", () =>
    Effect.gen(function*() {
      for (const status of [408, 409, 425, 429, 500, 502, 503, 504]) {
        const { outcome: one } = yield* outcome((asked) => asked.reply(status))
        assert.strictEqual(one._tag, "Ended", String(status))
      }
      const { outcome: one } = yield* outcome((asked) => asked.fail("ECONNREFUSED"))
      assert.strictEqual(one._tag, "Ended")
    }))

  it.effect("is not tried again where there is nothing to listen to", () =>
    Effect.gen(function*() {
      for (const status of [400, 401, 403, 404, 405, 406, 410]) {
        const { outcome: one } = yield* outcome((asked) => asked.reply(status))
        assert.deepInclude(one, { _tag: "Unavailable", status })
      }
      for (const type of ["application/json", "text/html"]) {
        const { outcome: one } = yield* outcome((asked) => asked.reply(200, { "content-type": type }, "{}"))
        assert.deepInclude(one, { _tag: "Unavailable", status: 200 })
      }
    }))
})
