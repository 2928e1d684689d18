/**
 * The name of a server, and the files that have it: those of the user come first, and what a folder brings runs only when the user
 * agrees to what is shown.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { answer, atTerminal, folder, ours, run, uncolored } from "./Program.js"

const [node = "", stdio = ""] = ours("stdio")

const write = (path: string, content: unknown): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
}

/** A home, a folder that somebody else has written, and what runs in them. */
const places = Effect.map(folder, (at) => {
  const home = join(at, "home")
  const cwd = join(at, "checkout")
  mkdirSync(home)
  mkdirSync(cwd)
  const env = { HOME: home, SECRET: "s3cret" }
  const ping = (name: string, ...options: ReadonlyArray<string>) => run(["ping", name, ...options], { cwd, env })
  const atTty = (name: string, ...options: ReadonlyArray<string>) =>
    atTerminal(["ping", name, ...options], { cwd, env, columns: 200 })
  return {
    home,
    cwd,
    ping,
    atTty,
    /** Whether a server of `leavingTrace` has run since the last look. */
    hasRun: () => {
      const has = existsSync(join(cwd, "trace"))
      rmSync(join(cwd, "trace"), { force: true })
      return has
    },
    own: (servers: unknown) => write(join(home, ".cursor/mcp.json"), { mcpServers: servers }),
    foreign: (servers: unknown) => write(join(cwd, ".mcp.json"), { mcpServers: servers }),
    remembered: () => {
      const trusted = join(home, ".effect-mcp/trusted")
      return existsSync(trusted) ? readdirSync(trusted).length : 0
    }
  }
})

const weather = { command: node, args: [stdio] }

/** A server that leaves a file behind. */
const leavingTrace = { command: "sh", args: ["-c", "echo ran > trace; exec \"$0\" \"$1\"", node, stdio] }

describe("The name of a server", () => {
  it.scopedLive("means the user's own entry, whatever the folder has under that name", () =>
    Effect.gen(function*() {
      const { foreign, hasRun, own, ping } = yield* places
      own({ weather })
      foreign({ weather: leavingTrace })
      for (const options of [[], ["--trust"]]) {
        const { code, err } = yield* ping("weather", ...options)
        assert.deepStrictEqual([code, err, hasRun()], [0, "", false])
      }
    }))

  it.scopedLive("stays with the user's entry when that cannot be read or is disabled: the folder's does not answer for it", () =>
    Effect.gen(function*() {
      const { foreign, hasRun, home, own, ping } = yield* places
      const file = join(home, ".cursor/mcp.json")
      own({
        broken: { command: "npx", args: ["-y", {}] },
        asks: { command: "npx", env: { KEY: "${input:key}" } },
        off: { command: "npx", enabled: false },
        weather
      })
      foreign({ broken: leavingTrace, asks: leavingTrace, off: leavingTrace })
      for (
        const [name, sentence] of [
          ["broken", `The server "broken" of ${file} cannot be read: args[1]: expected a string\n`],
          [
            "asks",
            `The server "asks" of ${file} cannot be read: env.KEY: the variable "input:key" has neither a value nor a default\n`
          ],
          ["off", `The server "off" is disabled in ${file}\n`]
        ] as const
      ) {
        const { code, err } = yield* ping(name, "--trust")
        assert.deepStrictEqual([code, err, hasRun()], [1, sentence, false])
      }
      // The others of the file are there.
      assert.strictEqual((yield* ping("weather")).code, 0)
      assert.include((yield* ping("wether")).err, "Did you mean \"weather\"?")
      const { err } = yield* ping("zzz")
      assert.include(err, "The files have broken (cannot be read), asks, off (disabled), weather.")
    }))

  it.scopedLive("is none of the folder's while a file of the user cannot be read, which may have it", () =>
    Effect.gen(function*() {
      const { foreign, hasRun, home, ping } = yield* places
      write(join(home, ".cursor/mcp.json"), "{ \"mcpServers\": { \"theirs\": { }")
      write(join(home, ".gemini/settings.json"), { mcpServers: { later: weather } })
      foreign({ theirs: leavingTrace })
      const { code, err } = yield* ping("theirs", "--trust")
      assert.deepStrictEqual([code, hasRun()], [1, false])
      assert.match(
        err,
        /\.cursor\/mcp\.json cannot be read: it is not JSON: close brace expected in line 1.*\n.*possibly has/
      )
      const later = yield* ping("later")
      assert.strictEqual(later.code, 0)
      assert.match(later.err, /\.cursor\/mcp\.json cannot be read/)
    }))

  it.scopedLive("is looked up in the one file that --config names, which nobody asks about", () =>
    Effect.gen(function*() {
      const { cwd, own, ping } = yield* places
      own({ one: { command: "false" } })
      const args = JSON.stringify(weather.args)
      write(
        join(cwd, "mine.json"),
        `{ // Mine\n "mcpServers": { "one": { "command": "${node}", "args": ${args}, }, }, }`
      )
      write(join(cwd, "mine.toml"), `[mcp_servers.one]\ncommand = "${node}"\nargs = ${args}\n`)
      for (const file of ["mine.json", "mine.toml"]) {
        assert.deepStrictEqual([(yield* ping("one", "--config", file)).code], [0], file)
      }
      write(join(cwd, "none.json"), "{}")
      const { code, err } = yield* ping("one", "--config", "none.json")
      assert.deepStrictEqual([code, err], [1, `none.json cannot be read: it has no "mcpServers"\n`])
    }))
})

describe("A server of a file of the folder", () => {
  const entry = {
    ...leavingTrace,
    env: { NODE_OPTIONS: "--no-warnings", KEY: "${SECRET}" },
    envFile: "${workspaceFolder}/.env"
  }

  it.scopedLive("does not run in a pipe: the command shows all that it would do, without a value of a variable", () =>
    Effect.gen(function*() {
      const { cwd, foreign, hasRun, ping, remembered } = yield* places
      foreign({ theirs: entry, remote: { url: "https://example.com/${SECRET}", headers: { "X-Key": "${SECRET}" } } })
      write(join(cwd, ".env"), "FROM_FILE=hidden")
      for (const options of [[], ["--json"]]) {
        const { code, err, out } = yield* ping("theirs", ...options)
        assert.deepStrictEqual([code, hasRun(), out], [1, false, ""])
        for (
          const shown of [
            `file: ${join(cwd, ".mcp.json")}\n`,
            `runs: sh -c "echo ran > trace; exec`,
            "variable: NODE_OPTIONS=--no-warnings\n",
            "variable: KEY=\"${SECRET}\"\n",
            "variables of the file: \"${workspaceFolder}/.env\": FROM_FILE\n",
            "gets of your environment: SECRET, workspaceFolder\n",
            "run the command at a terminal, or give --trust"
          ]
        ) assert.include(err, shown)
        assert.notInclude(err, "s3cret")
        assert.notInclude(err, "hidden")
      }
      const { code, err } = yield* ping("remote")
      assert.strictEqual(code, 1)
      assert.match(err, /connects to: https:\/\/example\.com\/\$\{SECRET\}\n +header: X-Key="\$\{SECRET\}"/)
      assert.strictEqual(remembered(), 0)
    }))

  it.scopedLive("runs with --trust, which is remembered for no other command", () =>
    Effect.gen(function*() {
      const { foreign, hasRun, ping, remembered } = yield* places
      foreign({ theirs: leavingTrace })
      assert.deepStrictEqual([(yield* ping("theirs", "--trust")).code, hasRun(), remembered()], [0, true, 0])
      assert.deepStrictEqual([(yield* ping("theirs")).code, hasRun()], [1, false])
    }))

  it.scopedLive("runs when the user agrees at a terminal, who is asked once for its content", () =>
    Effect.gen(function*() {
      const { atTty, cwd, foreign, hasRun, ping, remembered } = yield* places
      foreign({ theirs: entry })
      write(join(cwd, ".env"), "FROM_FILE=1")
      const first = yield* atTty("theirs")
      yield* answer(first, [[/runs: sh -c[^]*Run it\?/, "y"]])
      assert.strictEqual((yield* first.ended).code, 0, uncolored(first.seen().out))
      assert.deepStrictEqual([hasRun(), remembered()], [true, 1])
      const second = yield* atTty("theirs")
      const { code, out } = yield* second.ended
      assert.deepStrictEqual([code, hasRun()], [0, true])
      assert.notInclude(out, "Run it?")
      assert.deepStrictEqual([(yield* ping("theirs")).code, hasRun()], [0, true])

      // Any change is other content, that of the file of variables as well.
      const changes = [
        () => foreign({ theirs: { ...entry, args: [...entry.args, "more"] } }),
        () => foreign({ theirs: { ...entry, env: { ...entry.env, NODE_OPTIONS: "--require ./evil.js" } } }),
        () => foreign({ theirs: { ...entry, cwd: "." } }),
        () => foreign({ other: entry }),
        () => {
          foreign({ theirs: entry })
          write(join(cwd, ".env"), "FROM_FILE=1\nNODE_OPTIONS=--require=./evil.js\nLD_PRELOAD=./evil.so")
        }
      ]
      for (const [index, change] of changes.entries()) {
        change()
        const { code, err } = yield* ping(index === 3 ? "other" : "theirs")
        assert.deepStrictEqual([code, hasRun()], [1, false], `change ${index}: ${err}`)
      }
      foreign({ theirs: entry })
      write(join(cwd, ".env"), "FROM_FILE=1")
      assert.deepStrictEqual([(yield* ping("theirs")).code, hasRun()], [0, true])
    }))

  it.scopedLive("does not run when the user says no, or ends the question, and is asked about again", () =>
    Effect.gen(function*() {
      const { atTty, foreign, hasRun, remembered } = yield* places
      foreign({ theirs: leavingTrace })
      for (const [keys, code] of [["n", 1], ["\r", 1], ["\u0003", 130]] as const) {
        const running = yield* atTty("theirs")
        yield* answer(running, [[/Run it\?/, keys]])
        assert.deepStrictEqual([(yield* running.ended).code, hasRun(), remembered()], [code, false, 0], keys)
      }
    }))

  it.scopedLive("is not asked about when nobody would read it whole", () =>
    Effect.gen(function*() {
      const { atTty, foreign, hasRun, remembered } = yield* places
      foreign({ theirs: { ...leavingTrace, args: [...leavingTrace.args, "long ".repeat(1000)] } })
      const running = yield* atTty("theirs")
      const { code, out } = yield* running.ended
      assert.deepStrictEqual([code, hasRun(), remembered()], [1, false, 0])
      assert.include(out, "is too long to be shown: read the file, and run again with --trust")
    }))

  it.scopedLive("is not asked about when it cannot run", () =>
    Effect.gen(function*() {
      const { cwd, foreign, ping } = yield* places
      foreign({ broken: { command: [] }, missing: { command: "a", envFile: "none" }, off: { disabled: true } })
      const of = join(cwd, ".mcp.json")
      for (
        const [name, sentence] of [
          ["broken", `The server "broken" of ${of} cannot be read: command: is empty\n`],
          ["missing", `The server "missing" of ${of} cannot be read: envFile: there is no such file\n`],
          ["off", `The server "off" is disabled in ${of}\n`]
        ] as const
      ) assert.strictEqual((yield* ping(name)).err, sentence)
    }))
})
