/**
 * Every kind of server that a client may meet on a pipe, each as a real process, and the era in which a client with default options
 * speaks to it. `client/test/negotiation` has the same rules in virtual time.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/client/Client"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fixture, node } from "./Fixture.js"

interface Row {
  readonly kind: string
  readonly does: string
  readonly era: "legacy" | "modern"
  /** How many processes are launched. Default: 1. */
  readonly launches?: number
  /** Where the default waits are too long for a test. */
  readonly timeouts?: Client.Options["timeouts"]
}

const impatient = { "server/discover": "200 millis" } as const
const brief = { "server/discover": "200 millis", "initialize": "4 seconds" } as const

const rows: ReadonlyArray<Row> = [
  { kind: "unknown-method", does: "refuses the probe as an unknown method", era: "legacy" },
  { kind: "invalid-params", does: "refuses the parameters of the probe", era: "legacy" },
  { kind: "server-error", does: "refuses the probe with a code of its own", era: "legacy" },
  { kind: "internal-error", does: "fails at the probe", era: "legacy" },
  { kind: "null-id", does: "refuses the probe without its id", era: "legacy" },
  { kind: "no-id", does: "refuses the probe without an id", era: "legacy" },
  { kind: "own-id", does: "refuses the probe under an id of its own", era: "legacy" },
  { kind: "no-message", does: "refuses the probe with JSON that is no message", era: "legacy" },
  { kind: "text", does: "answers the probe with a text", era: "legacy", timeouts: impatient },
  { kind: "batch", does: "answers in a batch of one", era: "legacy" },
  { kind: "empty-result", does: "answers the probe with an empty result", era: "legacy" },
  { kind: "null-result", does: "answers the probe with null", era: "legacy" },
  { kind: "twice", does: "refuses the probe twice", era: "legacy" },
  { kind: "no-revisions", does: "refuses the revision and names none", era: "legacy" },
  { kind: "legacy-revisions", does: "describes itself, with legacy revisions only", era: "legacy" },
  { kind: "silent", does: "does not answer the probe", era: "legacy", timeouts: impatient },
  { kind: "banner", does: "greets its user on the pipe", era: "legacy" },
  { kind: "slow-unknown-method", does: "starts slowly, and refuses the probe", era: "legacy", timeouts: impatient },
  { kind: "exits", does: "exits at the probe", era: "legacy", launches: 2 },
  { kind: "crashes", does: "crashes at the probe", era: "legacy", launches: 2 },
  { kind: "locks", does: "exits at the probe, and frees its lock a little later", era: "legacy", launches: 2 },
  { kind: "closes-output", does: "closes its output at the probe, and exits later", era: "legacy", launches: 2 },
  {
    kind: "initialized-already",
    does: "initializes its upstream at the probe, and refuses to do so again",
    era: "legacy",
    launches: 2
  },
  { kind: "refuses-initialize", does: "refuses `initialize` after the probe", era: "legacy", launches: 2 },
  { kind: "took-for-initialize", does: "takes the probe for `initialize`", era: "legacy", launches: 2 },
  {
    kind: "took-and-deaf",
    does: "takes the probe for `initialize`, and does not answer another",
    era: "legacy",
    launches: 2,
    timeouts: brief
  },
  { kind: "exits-at-initialize", does: "exits at `initialize` after the probe", era: "legacy", launches: 2 },
  { kind: "deaf", does: "answers nothing after the probe", era: "legacy", launches: 2, timeouts: brief },
  { kind: "modern", does: "describes itself", era: "modern" },
  { kind: "modern-banner", does: "greets its user, and describes itself", era: "modern" },
  { kind: "slow-modern", does: "starts slowly, and describes itself", era: "modern", timeouts: impatient }
]

describe("A server on a pipe is connected to by default", () => {
  for (const { does, era, kind, launches = 1, timeouts } of rows) {
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
