/**
 * The commands with servers of other authors: the official reference servers, and servers of the official SDKs 1.x and 2.x over both
 * transports.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { answer, atTerminal, cli, folder, launch, official, run, start } from "../Program.js"

const everything = ["-q", "--", ...official("everything", "stdio")]

const fixture = (name: string): ReadonlyArray<string> => [
  process.execPath,
  fileURLToPath(new URL(`../../../node/test/fixtures/${name}.mjs`, import.meta.url))
]

describe("server-everything", () => {
  it.scopedLive("is inspected, called, read and completed", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const [inspect, sum, read, prompt, complete, image, tasks] = yield* Effect.forEach([
        ["inspect"],
        ["call", "get-sum", "a=1", "b:=2"],
        ["read", "demo://resource/static/document/features.md"],
        ["prompt", "args-prompt", "city=Oslo"],
        ["complete", "completable-prompt", "department=E"],
        ["call", "get-tiny-image", "--out", cwd],
        ["tasks", "list"]
      ], (args) =>
        run([...args, ...everything]), { concurrency: 2 })
      assert.match(inspect!.out, /\(legacy\)[^]*Tools[^]*Resources[^]*Resource templates[^]*Prompts/)
      assert.strictEqual(sum!.out, "The sum of 1 and 2 is 3.\n")
      assert.match(read!.out, /# /)
      assert.strictEqual(prompt!.out, "user: What's weather in Oslo?\n")
      assert.strictEqual(complete!.out, "Engineering\n")
      assert.match(image!.out, /\[image image\/png, \d+ bytes\]/)
      assert.strictEqual(readFileSync(join(cwd, "2.png")).subarray(1, 4).toString(), "PNG")
      assert.strictEqual(tasks!.code, 0, tasks!.err)
    }))

  it.scopedLive("shows progress, and asks the user", () =>
    Effect.gen(function*() {
      const long = ["call", "trigger-long-running-operation", "duration=1", "steps=4"]
      const progress = yield* atTerminal([...long, ...everything])
      assert.match((yield* progress.ended).out, /\[#{12}-{12}\] 50 %/)
      const sampling = yield* atTerminal(["call", "trigger-sampling-request", ...everything])
      yield* answer(sampling, [[/prompt/, "Say hello\r"], [/Your answer as the model/, "Hello from a person\r"]])
      assert.match((yield* sampling.ended).out, /Hello from a person/)
    }))

  it.scopedLive("is listened to, with its log messages", () =>
    Effect.gen(function*() {
      const listening = yield* launch(["listen", "--server-log", "debug", ...everything])
      yield* listening.sees(/Listening to/)
      listening.kill("SIGINT")
      assert.strictEqual((yield* listening.ended).code, 130)
    }))

  it.scopedLive("speaks to a host of the modern era through a bridge, and over HTTP", () =>
    Effect.gen(function*() {
      const modern = ["--revision", "2026-07-28"]
      const sum = ["call", "get-sum", "a=1", "b=2"]
      const bridged = yield* run([...sum, ...modern, "--", ...cli("bridge", ...everything)])
      assert.strictEqual(bridged.out, "The sum of 1 and 2 is 3.\n", bridged.err)
      const http = yield* launch(["bridge", "--port", "0", ...everything])
      const [, url = ""] = yield* http.sees(/Listening at (\S+)/)
      assert.strictEqual((yield* run(["call", url, ...sum.slice(1), ...modern])).out, "The sum of 1 and 2 is 3.\n")
    }))
})

const freePort = Effect.async<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

describe("server-everything over HTTP, traced", () => {
  for (const [mode, path, type] of [["streamableHttp", "/mcp", "http"], ["sse", "/sse", "sse"]] as const) {
    it.scopedLive(`serves the command line at ${path}`, () =>
      Effect.gen(function*() {
        const cwd = yield* folder
        const port = yield* freePort
        const server = yield* start(official("everything", mode), { cwd, env: { PORT: String(port) } })
        yield* server.sees(/on port|running/i)
        const trace = yield* launch(["trace", `http://127.0.0.1:${port}${path}`])
        const [, url = ""] = yield* trace.sees(/Connect the host to (\S+)/)
        writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { everything: { type, url } } }))
        const sum = yield* run(["call", "everything", "get-sum", "a=1", "b=2", "--trust"], { cwd })
        assert.strictEqual(sum.out, "The sum of 1 and 2 is 3.\n", sum.err)
        assert.match(trace.seen().err, /-> #\S+ tools\/call [^]*<- #\S+ tools\/call \(\d+ ms\) .*The sum of 1 and 2/)
      }))
  }
})

describe("The reference servers", () => {
  it.scopedLive("filesystem works in the folders of --root, and memory keeps what it was told", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const files = ["-q", "--", ...official("filesystem", cwd)]
      const path = join(cwd, "hello.txt")
      assert.strictEqual((yield* run(["call", "write_file", `path=${path}`, "content=Hello", ...files])).code, 0)
      assert.match((yield* run(["call", "read_text_file", `path=${path}`, ...files])).out, /Hello/)
      const outside = yield* run(["call", "read_text_file", "path=/etc/hostname", ...files])
      assert.deepStrictEqual([outside.code, outside.err], [1, "The tool reported an error\n"])
      const memory = ["-q", "--env", `MEMORY_FILE_PATH=${join(cwd, "memory.jsonl")}`, "--", ...official("memory")]
      const entities = `entities:=[{"name":"Ada","entityType":"person","observations":["likes numbers"]}]`
      assert.strictEqual((yield* run(["call", "create_entities", entities, ...memory])).code, 0)
      assert.match((yield* run(["call", "search_nodes", "query=Ada", ...memory])).out, /likes numbers/)
    }))
})

describe("The official SDKs", () => {
  for (
    const [name, revision] of [
      ["officialServer1", "2025-11-25"],
      ["officialServer2", "2025-11-25"],
      ["officialServer2", "2026-07-28"]
    ] as const
  ) {
    it.scopedLive(`serve the command line: ${name} at ${revision}, traced`, () =>
      Effect.gen(function*() {
        const cwd = yield* folder
        const trace = join(cwd, "trace")
        const at = ["--revision", revision, "-q", "--", ...cli("trace", "--output", trace, "--", ...fixture(name))]
        const inspect = yield* run(["inspect", "--json", ...at])
        const { tools, version } = JSON.parse(inspect.out)
        assert.deepStrictEqual([version, tools.length > 0], [revision, true])
        assert.match(readFileSync(trace, "utf8"), /-> #\S+ tools\/list[^]*<- #\S+ tools\/list \(\d+ ms\)/)
        const unknown = yield* run(["call", `${tools[0].name}x`, ...at])
        assert.match(unknown.err, new RegExp(`Did you mean "${tools[0].name}"`))
        assert.match((yield* run(["ping", ...at])).out, /answered in/)
      }))
  }
})
