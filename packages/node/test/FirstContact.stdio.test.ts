/**
 * Every kind of server that a client may meet on a pipe, each as a real process, and the era in which a client with default options
 * speaks to it. `client/test/negotiation` has the same rules in virtual time.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipes } from "./deviations/Contacts.js"
import { fixture, node } from "./Fixture.js"

describe("A server on a pipe is connected to by default", () => {
  for (const { does, era, kind, launches = 1, timeouts } of pipes) {
    it.scopedLive(`when it ${does}`, () =>
      Effect.gen(function*() {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-contact-"))),
          (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
        )
        const connector = StdioClient.connector({
          command: node,
          args: [fixture("firstContact.mjs"), kind, folder],
          stderr: "ignore"
        })
        const connect = (count: number) =>
          Effect.scoped(Effect.gen(function*() {
            const client = yield* Client.make(connector, { checkOutputs: false, timeouts })
            assert.strictEqual(client.era, era)
            assert.deepStrictEqual((yield* client.callTool("greet")).content, [{ type: "text", text: "hello" }])
            assert.lengthOf(readFileSync(join(folder, "launches"), "utf8").trim().split("\n"), count)
          }))
        yield* connect(launches)
        // What was learnt with two processes holds: the next connection needs one.
        if (launches > 1) yield* connect(launches + 1)
      }))
  }
})
