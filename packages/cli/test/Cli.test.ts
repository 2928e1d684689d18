import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { info } from "../src/Session.js"
import { folder, launch, official, run, template } from "./Program.js"

const [node, forecast] = template("stdio") as readonly [string, string]
const ours = ["--", node, forecast]
const everything = ["-q", "--", ...official("everything")]

describe("The command line", () => {
  it("has the version of its package", () => {
    assert.strictEqual(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version, info.version)
  })

  it.live("shows what a server is and has, in both eras", () =>
    Effect.gen(function*() {
      const modern = yield* run(["inspect", ...ours])
      assert.match(modern.out, /revision 2026-07-28 \(modern\)/)
      assert.match(modern.out, /Tools \(1\)\n\s+forecast\(city: string\)\s+Tomorrow's temperature/)
      const legacy = yield* run(["inspect", ...everything])
      assert.match(legacy.out, /\(legacy\)[^]*Tools[^]*Resources[^]*Resource templates[^]*Prompts/)
      assert.deepStrictEqual([modern.code, legacy.code], [0, 0])
    }))

  it.live("prints JSON for programs, without colors and notes", () =>
    Effect.gen(function*() {
      const { err, out } = yield* run(["inspect", "--json", ...ours], { env: { NO_COLOR: "1" } })
      const { tools, version } = JSON.parse(out)
      assert.deepStrictEqual([version, tools[0].name, err], ["2026-07-28", "forecast", ""])
      const one = yield* run(["inspect", "forecast", ...ours])
      assert.strictEqual(JSON.parse(one.out).inputSchema.type, "object")
    }))

  it.live("calls a tool with words that its schema reads", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* run(["call", "get-sum", "a=1", "b:=2", ...everything])).out, "The sum of 1 and 2 is 3.\n")
      assert.deepStrictEqual(JSON.parse((yield* run(["call", "forecast", "city=Oslo", ...ours])).out), { celsius: -4 })
      assert.deepStrictEqual(JSON.parse((yield* run(["call", "forecast", `{"city":"Rome"}`, ...ours])).out), { celsius: 17 })
      const { out } = yield* run(["call", "forecast", "-", "--json", ...ours], { input: `{"city":"Oslo"}` })
      assert.deepStrictEqual(JSON.parse(out).structuredContent, { celsius: -4 })
    }))

  it.live("says by its exit code what has failed", () =>
    Effect.gen(function*() {
      const codes = yield* Effect.forEach([
        ["call", "forecast", "city=Atlantis", ...ours],
        ["call", "none", ...ours],
        ["call", "get-sum", "a=one", "b=2", ...everything],
        ["call", ...ours],
        ["nonsense"],
        ["inspect", "unknown"],
        ["ping", "-q", "--", "false"],
        ["ping", "http://127.0.0.1:9"],
        ["call", "trigger-long-running-operation", "duration=20", "steps=2", "--timeout", "1", ...everything]
      ], (args) => Effect.map(run(args), ({ code }) => code), { concurrency: 2 })
      assert.deepStrictEqual(codes, [1, 1, 2, 2, 2, 2, 3, 3, 4])
      const { err, out } = yield* run(["call", "forecast", "city=Atlantis", ...ours])
      assert.deepStrictEqual([out, err], ["There is no forecast for Atlantis. Oslo and Rome have one.\n", "The tool reported an error\n"])
    }))

  it.live("reads resources, gets prompts, completes arguments, and pings", () =>
    Effect.gen(function*() {
      assert.match((yield* run(["read", "demo://resource/static/document/features.md", ...everything])).out, /# /)
      assert.strictEqual((yield* run(["prompt", "args-prompt", "city=Oslo", ...everything])).out, "user: What's weather in Oslo?\n")
      assert.strictEqual((yield* run(["complete", "completable-prompt", "department=E", ...everything])).out, "Engineering\n")
      assert.match((yield* run(["ping", ...ours])).out, /answered in \d+ ms/)
    }))

  it.scopedLive("reaches a server by its name in a file", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const server = { command: "${NODE}", args: [forecast] }
      writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { weather: server } }))
      mkdirSync(join(cwd, ".vscode"))
      writeFileSync(join(cwd, ".vscode", "mcp.json"), JSON.stringify({ servers: { code: { type: "stdio", ...server } } }))
      for (const name of ["weather", "code"]) {
        assert.match((yield* run(["call", name, "forecast", "city=Oslo"], { cwd, env: { NODE: node } })).out, /-4/)
      }
      assert.match((yield* run(["inspect", "wether"], { cwd })).err, /No server is called "wether".*weather, code/)
    }))

  it.scopedLive("writes what is not text to files", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const { out } = yield* run(["call", "get-tiny-image", "--out", cwd, ...everything], { cwd })
      assert.match(out, /\[image image\/png, \d+ bytes\]/)
      assert.strictEqual(readFileSync(join(cwd, "2.png")).subarray(1, 4).toString(), "PNG")
    }))

  it.scopedLive("prints what a server sends until it is interrupted", () =>
    Effect.gen(function*() {
      const listening = yield* launch(["listen", "--server-log", "debug", ...everything])
      yield* listening.sees(/Listening to/)
      listening.kill("SIGINT")
      const { code } = yield* listening.ended
      assert.strictEqual(code, 130)
    }))

  it.scopedLive("shows every message between a host and a server", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const file = join(cwd, "messages")
      const { out } = yield* run(["call", "forecast", "city=Oslo", "--", node, launchable, "trace", "--json", "--output", file, ...ours])
      assert.match(out, /-4/)
      const messages = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line))
      const seen = messages.map(({ direction, message }) => `${direction} ${message?.method ?? "answer"}`)
      assert.includeMembers(seen, ["sent server/discover", "received answer", "sent tools/call"])
    }))

  it.scopedLive("serves a pipe over HTTP, traces HTTP, and serves HTTP over a pipe", () =>
    Effect.gen(function*() {
      const bridge = yield* launch(["bridge", "--port", "0", ...ours])
      yield* bridge.sees(/Listening at \S+/)
      const url = /Listening at (\S+)/.exec(bridge.seen().err)![1]!
      const trace = yield* launch(["trace", url])
      yield* trace.sees(/Connect the host to \S+/)
      const traced = /Connect the host to (\S+)/.exec(trace.seen().err)![1]!
      const { out } = yield* run(["call", "forecast", "city=Rome", "--", node, launchable, "bridge", traced])
      assert.match(out, /17/)
      assert.match(trace.seen().err, /-> #\S+ tools\/call .*Rome[^]*<- #\S+ tools\/call \(\d+ ms\)/)
    }))
})

const launchable = new URL("../bin/effect-mcp.js", import.meta.url).pathname
