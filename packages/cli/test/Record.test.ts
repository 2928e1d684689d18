/**
 * `record`: a conversation that a test replays, without the secrets that passed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import type { Connector } from "@effect-mcp/core/Connector"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Replay from "@effect-mcp/testing/Replay"
import * as Transcript from "@effect-mcp/testing/Transcript"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { cli, folder, launch, ours, run } from "./Program.js"

const forecast = (server: Connector) =>
  Effect.scoped(Effect.gen(function*() {
    const client = yield* Client.make(server)
    const { structuredContent } = yield* client.callTool("forecast", { city: "Oslo" })
    return structuredContent
  }))

describe("record", () => {
  it.scopedLive("writes a conversation that `Replay` plays", () =>
    Effect.gen(function*() {
      const file = join(yield* folder, "forecast.json")
      const [command = "", ...args] = cli("record", file, "--", ...ours("stdio"))
      assert.deepStrictEqual(yield* forecast(StdioClient.connector({ command, args })), { celsius: -4 })
      const transcript = yield* Transcript.fromJson(readFileSync(file, "utf8"))
      assert.deepStrictEqual(yield* Effect.scoped(Effect.flatMap(Replay.server(transcript), forecast)), { celsius: -4 })
    }))

  it.scopedLive("writes no secrets, also when the user ends the command", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const running = yield* launch(["record", "a b.json", "--", "cat"], { cwd })
      const params = { password: "hunter2", headers: { authorization: "Bearer abcdefghijkl" }, city: "Oslo" }
      running.write(`no message\n${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "login", params })}\n`)
      yield* running.sees(/hunter2/)
      running.kill("SIGINT")
      const { code, err } = yield* running.ended
      const text = readFileSync(join(cwd, "a b.json"), "utf8")
      assert.strictEqual(code, 130)
      assert.match(
        err,
        /Not recorded, because it is not a message: "no message"\n[^]*Recorded to a b\.json: 2 messages\n/
      )
      assert.notMatch(text + err, /hunter2|abcdefghijkl/)
      assert.lengthOf(text.match(/"city":"Oslo"/g) ?? [], 2)
    }))

  it.scopedLive("leaves a recording as it is when nothing passed, and says which file cannot be written", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      writeFileSync(join(cwd, "kept.json"), "kept")
      const none = yield* run(["record", "kept.json", "--", "nonesuch"], { cwd })
      assert.strictEqual(none.code, 3)
      assert.match(none.err, /Nothing was recorded, and kept\.json stays as it is\nCannot launch nonesuch/)
      assert.strictEqual(readFileSync(join(cwd, "kept.json"), "utf8"), "kept")
      const absent = yield* run(["record", "none/a.json", "--", "touch", "launched"], { cwd })
      assert.deepStrictEqual([absent.code, absent.err], [
        1,
        "Cannot write to none/a.json: there is no such folder\n"
      ])
      assert.isFalse(existsSync(join(cwd, "launched")))
    }))
})
