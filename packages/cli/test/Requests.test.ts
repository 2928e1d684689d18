/**
 * The commands that send a request, in a pipe, to servers of ours in both eras: results, JSON, exit codes, and sentences about bad input.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { info } from "../src/CommandClient.js"
import { everythingAt, folder, ours, run } from "./Program.js"

const forecast = ["--", ...ours("stdio")]
const [node = "", stdio = ""] = ours("stdio")

type Case = readonly [code: number, sentence: RegExp, ...args: ReadonlyArray<string>]

/** Runs each command line, and compares its exit code and what it says. */
const check = (cases: ReadonlyArray<Case>) =>
  Effect.gen(function*() {
    const cwd = yield* folder
    const ran = yield* Effect.forEach(cases, ([, , ...args]) => run(args, { cwd }), { concurrency: 3 })
    for (const [index, [code, sentence]] of cases.entries()) {
      const { code: given, err, out } = ran[index]!
      assert.match(out + err, sentence)
      assert.strictEqual(given, code, err)
    }
  })

describe("The command line", () => {
  it.live("has the version of its package, and pages of help without colors", () =>
    Effect.gen(function*() {
      const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
      assert.deepStrictEqual([version, (yield* run(["--version"])).out], [info.version, `${version}\n`])
      const [all, one, tasks, bash] = yield* Effect.forEach(
        [[], ["call", "--help"], ["tasks"], ["--completions", "bash"]],
        (args) => run(args),
        { concurrency: 2 }
      )
      assert.match(all!.out, /Usage: effect-mcp <command>[^]*inspect +Shows[^]*init +Writes/)
      assert.match(one!.out, /Usage: effect-mcp call \[options\] <server[^]*--json +Prints results as lines of JSON/)
      assert.match(tasks!.out, /Usage: effect-mcp tasks <command>\n[^]*watch +Prints/)
      assert.notInclude(all!.out + one!.out + tasks!.out, "\u001b")
      assert.match(bash!.out, /complete -F \S+ .*effect-mcp/)
    }))

  it.live("shows what a server is and has, in both eras and over HTTP", () =>
    Effect.gen(function*() {
      const modern = yield* run(["inspect", ...forecast])
      assert.match(modern.out, /revision 2026-07-28 \(modern\)/)
      assert.match(modern.out, /Tools \(1\)\n\s+forecast\(city: string\)\s+Tomorrow's temperature/)
      assert.notInclude(modern.out, "\u001b")
      const url = yield* everythingAt
      const legacy = yield* run(["inspect", url, "--revision", "2025-06-18"])
      assert.match(
        legacy.out,
        /2025-06-18 \(legacy\)[^]*One of each[^]*Tools \(\d+\)[^]*Resources[^]*Resource templates[^]*Prompts/
      )
    }).pipe(Effect.scoped))

  it.live("prints JSON for programs", () =>
    Effect.gen(function*() {
      const { err, out } = yield* run(["inspect", "--json", ...forecast])
      const { tools, version } = JSON.parse(out)
      assert.deepStrictEqual([version, tools[0].name, err], ["2026-07-28", "forecast", ""])
      const one = yield* run(["inspect", "forecast", ...forecast])
      assert.strictEqual(JSON.parse(one.out).inputSchema.type, "object")
      const ping = yield* run(["ping", "--json", "--revision", "2025-11-25", ...forecast])
      assert.strictEqual(JSON.parse(ping.out).version, "2025-11-25")
    }))

  it.live("waits for a slow server as long as it may, when it asks in one way only", () =>
    Effect.gen(function*() {
      const slow = ["--", "sh", "-c", "sleep 5.2; exec \"$0\" \"$@\"", node, stdio]
      const { code, err } = yield* run(["ping", "--revision", "2026-07-28", ...slow])
      assert.strictEqual(code, 0, err)
    }))

  it.live("calls a tool with words that its schema reads", () =>
    Effect.gen(function*() {
      const call = (...args: ReadonlyArray<string>) => run(["call", ...args])
      assert.deepStrictEqual(JSON.parse((yield* call("forecast", "city=Oslo", ...forecast)).out), { celsius: -4 })
      assert.deepStrictEqual(JSON.parse((yield* call("forecast", `{"city":"Rome"}`, ...forecast)).out), { celsius: 17 })
      const { out } = yield* run(["call", "forecast", "-", "--json", ...forecast], { input: `{"city":"Oslo"}` })
      assert.deepStrictEqual(JSON.parse(out).structuredContent, { celsius: -4 })
      const slept = yield* call("slow_compute", "seconds=0.1", "label=1", "--", ...ours("everything"))
      assert.strictEqual(slept.out, "1 took 0.1 seconds\n")
    }))

  for (const revision of ["2025-11-25", "2026-07-28"]) {
    it.scopedLive(`reads resources, gets prompts, completes arguments, and pings, at ${revision}`, () =>
      Effect.gen(function*() {
        const url = yield* everythingAt
        const [read, prompt, complete, template, ping] = yield* Effect.forEach(
          [
            ["read", "test://template/7/data"],
            ["prompt", "test_prompt_with_arguments", "arg1=a", "arg2=b"],
            ["complete", "test_prompt_with_arguments", "arg1=par"],
            ["complete", "test://template/{id}/data", "id=1"],
            ["ping"]
          ],
          ([command = "", ...args]) => run([command, url, ...args, "--revision", revision]),
          { concurrency: 2 }
        )
        assert.strictEqual(JSON.parse(read!.out).id, "7")
        assert.strictEqual(prompt!.out, "user: Prompt with arguments: arg1='a', arg2='b'\n")
        assert.deepStrictEqual([complete!.out, template!.out], ["paris\npark\nparty\n", "123\n124\n"])
        assert.match(ping!.out, /everything answered in \d+ ms/)
      }))
  }

  it.scopedLive("says by its exit code what has failed, and what to do in a sentence", () =>
    Effect.gen(function*() {
      const url = yield* everythingAt
      const call = ["call", url] as const
      yield* check([
        [
          1,
          /There is no forecast for Atlantis.*\n[^]*The tool reported an error/,
          "call",
          "forecast",
          "city=Atlantis",
          ...forecast
        ],
        [2, /no tool "gret"\. Did you mean "greet"\?/, ...call, "gret", "name=Ada"],
        [2, /no tool "nonesuch"\. It has: .*greet/, ...call, "nonesuch"],
        [2, /An argument is missing: name \(string\)/, ...call, "greet"],
        [2, /"name" is not an argument: write name=text/, ...call, "greet", "name"],
        [2, /The value of "name" is not JSON: \{/, ...call, "greet", "name:={"],
        [2, /The argument is not JSON/, ...call, "greet", "{name"],
        [2, /The value of "seconds" must be a number, and is: soon/, ...call, "slow_compute", "seconds=soon"],
        [2, /Name the tool; `inspect` lists/, ...call],
        [1, /The server has no resources/, "read", "file:///none", ...forecast],
        [3, /there is no such program on its PATH/, "ping", "--", "nonesuch"],
        [3, /"false" exited with code 1/, "ping", "--", "false"],
        [3, /connect ECONNREFUSED 127\.0\.0\.1:9\n/, "ping", "http://127.0.0.1:9"],
        [3, /an invalid URL/, "ping", "http://127.0.0.1:99999/mcp"],
        [
          4,
          /did not answer in time, within 1 second\. --timeout/,
          ...call,
          "test_sleep",
          "seconds=20",
          "--timeout",
          "1"
        ]
      ])
    }))

  it.scopedLive("says which command, option, server or argument was meant", () =>
    check([
      [2, /effect-mcp has no command "nonsense"\. It has: inspect, /, "nonsense"],
      [2, /effect-mcp has no command "inspekt"\. Did you mean "inspect"\?/, "inspekt", "weather"],
      [2, /tasks has no command "wacth"\. Did you mean "watch"\?/, "tasks", "wacth"],
      [2, /call has no option --tiemout\. Did you mean "--timeout"\?/, "call", "--tiemout", "3", ...forecast],
      [2, /call has no option --city\. Arguments are written as name=value/, "call", "forecast", "--city=Oslo"],
      [2, /--timeout needs a value/, "call", "--json", "--timeout", ...forecast],
      [2, /There is no argument "ctiy"\. Did you mean "city"\?/, "call", "forecast", "ctiy=Oslo", ...forecast],
      [2, /lists nothing that is called "forcast"\. Did you mean "forecast"\?/, "inspect", "forcast", ...forecast],
      [2, /No server is called "unknown"\. No file with servers was found/, "inspect", "unknown"],
      [2, /'none\.json' must exist/, "inspect", "--config", "none.json", "x"],
      [2, /none' must exist|none' to be a directory/, "ping", "--cwd", "none", ...forecast],
      [1, /Cannot write to none\/a: there is no such folder\n/, "trace", "--output", "none/a", ...forecast],
      [2, /Name the server/, "ping"],
      [2, /--timeout is a number of seconds, 1 or more/, "ping", "x", "--timeout", "0"]
    ]))

  it.scopedLive("reaches a server by its name in a file", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const server = { command: "${NODE}", args: [stdio] }
      writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { weather: server } }))
      mkdirSync(join(cwd, ".vscode"))
      const servers = { code: { type: "stdio", ...server } }
      writeFileSync(join(cwd, ".vscode", "mcp.json"), JSON.stringify({ servers }))
      for (const name of ["weather", "code"]) {
        assert.match(
          (yield* run(["call", name, "forecast", "city=Oslo", "--trust"], { cwd, env: { NODE: node } })).out,
          /-4/
        )
      }
      const { err } = yield* run(["inspect", "wether"], { cwd })
      assert.match(err, /No server is called "wether"\. Did you mean "weather"\?/)
      const other = yield* run(["inspect", "calendar"], { cwd })
      assert.match(other.err, /No server is called "calendar"\. The files have weather, code\. A URL begins with/)
    }))

  it.scopedLive("writes files with new names, and with extensions that the server does not choose", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const types = [
        "image/png",
        "application/x-sh",
        "text/html",
        "image/svg+xml",
        "a/bat",
        "application/../../x",
        "a/lnk",
        "IMAGE/GIF; a=b"
      ]
      const script = `
        require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
          const { id, method } = JSON.parse(line)
          const result = method === "initialize"
            ? { protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo: { name: "a", version: "1" } }
            : { contents: ${JSON.stringify(types)}.map((mimeType, i) => ({ uri: "a:" + i, mimeType, blob: "AAAA" })) }
          const known = method === "initialize" || method === "resources/read"
          if (id === undefined) return
          const answer = known ? { result } : { error: { code: -32601, message: "no" } }
          console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }))
        })`
      writeFileSync(join(cwd, "1.png"), "mine")
      symlinkSync(join(cwd, "target"), join(cwd, "2.bin"))
      const read = ["read", "a:0", "--revision", "2025-11-25", "--out", cwd, "--", process.execPath, "-e", script]
      const { err } = yield* run(read)
      assert.deepStrictEqual(
        readdirSync(cwd).sort(),
        ["1-2.png", "1.png", "2-2.bin", "2.bin", "3.bin", "4.bin", "5.bin", "6.bin", "7.bin", "8.gif"],
        err
      )
      assert.strictEqual(readFileSync(join(cwd, "1.png"), "utf8"), "mine")
    }))

  it.scopedLive("writes what is not text to files, and asks nothing in a pipe", () =>
    Effect.gen(function*() {
      const url = yield* everythingAt
      const cwd = yield* folder
      const { out } = yield* run(["read", url, "test://static-binary", "--out", join(cwd, "new", "folder")])
      assert.match(out, /\[image\/png, \d+ bytes, test:\/\/static-binary\]/)
      assert.strictEqual(readFileSync(join(cwd, "new", "folder", "1.png")).subarray(1, 4).toString(), "PNG")
      for (const revision of ["2025-11-25", "2026-07-28"]) {
        const asked = yield* run(["call", url, "test_elicitation", "message=Who", "--revision", revision])
        assert.strictEqual(asked.code, 1)
        assert.match(asked.out + asked.err, /elicitation/i)
      }
    }))
})
