import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { Options } from "@effect-mcp/core/ClientSession"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { fixture, node } from "./Fixture.js"
import { pidsOf } from "./Processes.js"

const connect = (wrong: string, mark: string, options?: Options) =>
  Client.make(
    StdioClient.connector({
      command: node,
      args: [fixture("badServer.mjs"), wrong, mark],
      stderr: () => Effect.void,
      closeTimeouts: { grace: "1 minute" }
    }),
    options
  )

/** The error of connecting, after which the server has exited, although the scope is open. */
const refusal = (wrong: string, options?: Options) =>
  Effect.gen(function*() {
    const mark = randomUUID()
    const error = yield* Effect.flip(connect(wrong, mark, options))
    assert.deepStrictEqual(pidsOf(mark), [])
    return error
  })

describe.concurrent("A client of Effect MCP", () => {
  it.scopedLive("fails with the exit code and stderr of a server that crashes at its start", () =>
    Effect.gen(function*() {
      const error = yield* refusal("crash")
      assert.strictEqual(error._tag, "ConnectionClosed")
      assert.strictEqual(
        error.message,
        `Connection closed: "${node}" exited with code 1; the last lines of its stderr:\nError: Cannot find module 'left-pad'`
      )
    }))

  it.scopedLive("times out when a server does not answer, and ends it", () =>
    Effect.gen(function*() {
      const error = yield* refusal("silent", { timeout: "500 millis" })
      assert.strictEqual(error._tag, "RequestTimeout")
      assert.match(error.message, /`versions`.*Request "initialize" timed out after 500 ms$/)
    }))
})
