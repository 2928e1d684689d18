import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Launch from "../../src/subprocess/Launch.js"
import { node, until } from "../Fixture.js"

const command = (options: Partial<Launch.Command>): Launch.Command => ({
  command: node,
  args: ["-e", ""],
  env: { PATH: process.env.PATH },
  stderr: "pipe",
  ...options
})

const refusal = (options: Partial<Launch.Command>) => Effect.flip(Launch.launch(command(options)))

const open = () => process.getActiveResourcesInfo().filter((kind) => /Pipe|Process/.test(kind)).length
const atRest = open()

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-launch-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

const nasty = [
  "plain",
  "two words",
  "",
  "a&b|c>d<e^f",
  "%PATH%",
  "say \"hi\"",
  "ends\\",
  "\\\\\"x\\\\",
  "(paren) [bracket]; a,b * ? !x!",
  "a\\b\\\"c"
]

/** What a program writes to its standard output. */
const written = (options: Partial<Launch.Command>) =>
  Effect.flatMap(Launch.launch(command(options)), (child) =>
    Effect.async<string>((resume) => {
      let text = ""
      child.stdout!.setEncoding("utf8").on("data", (piece) => text += piece)
      child.stderr!.resume()
      child.once("close", () => resume(Effect.succeed(text)))
    }))

const PRINT = "console.log(JSON.stringify(process.argv.slice(2)))"

describe("Launch", () => {
  it.scopedLive("gives a program its arguments as they are", () =>
    Effect.gen(function*() {
      const script = join(yield* folder, "print.cjs")
      writeFileSync(script, PRINT)
      assert.deepStrictEqual(JSON.parse(yield* written({ args: [script, ...nasty] })), nasty)
    }))

  // Only Windows has batch files.
  it.scopedLive.skipIf(process.platform !== "win32")(
    "gives a batch file its arguments as they are, and none with a line break",
    () =>
      Effect.gen(function*() {
        const at = yield* folder
        writeFileSync(join(at, "print.cjs"), PRINT)
        writeFileSync(join(at, "print.cmd"), `@"${node}" "%~dp0print.cjs" %*\r\n`)
        const env = { ...process.env, PATH: at } as Record<string, string>
        assert.deepStrictEqual(JSON.parse(yield* written({ command: "print", args: nasty, env })), nasty)
        assert.match((yield* refusal({ command: "print", args: ["a\nb"], env })).message, /line break/)
      })
  )

  it.live("starts a program with pipes, as leader of its own group", () =>
    Effect.gen(function*() {
      const child = yield* Launch.launch(command({}))
      assert.isNumber(child.pid)
      const code = yield* Effect.async<number | null>((resume) => {
        child.once("close", (code) => resume(Effect.succeed(code)))
        child.stdout!.resume()
        child.stderr!.resume()
        process.kill(-child.pid!, 0)
      })
      assert.strictEqual(code, 0)
    }))

  it.live("explains what to do when the program does not exist", () =>
    Effect.gen(function*() {
      const error = yield* refusal({ command: "no-such-program" })
      assert.strictEqual(error.reason, "Open")
      assert.strictEqual(
        error.message,
        "Cannot start \"no-such-program\": there is no such program on its PATH; install it, or give the path of the file"
      )
      assert.match((yield* refusal({ command: "./no/such/file" })).message, /there is no such file/)
      assert.match((yield* refusal({ command: "node", env: { PATH: "/nowhere" } })).message, /on its PATH/)
      assert.match(
        (yield* refusal({ command: "node server.js" })).message,
        /give what follows the first space in `args`$/
      )
    }))

  it.live("reports that the working directory does not exist", () =>
    Effect.gen(function*() {
      assert.match(
        (yield* refusal({ cwd: "/no/such/folder" })).message,
        /working directory "\/no\/such\/folder" is not a/
      )
      assert.match((yield* refusal({ cwd: node })).message, /working directory .* is not a folder/)
    }))

  it.scopedLive("explains why a file cannot be executed", () =>
    Effect.gen(function*() {
      const at = yield* folder
      const file = join(at, "tool")
      writeFileSync(file, "#!/no/such/interpreter\n")
      assert.match((yield* refusal({ command: file })).message, /may not be executed; allow it \(chmod \+x\)/)
      chmodSync(file, 0o755)
      assert.match((yield* refusal({ command: file })).message, /the interpreter in its first line does not exist/)
      assert.match((yield* refusal({ command: "./tool", cwd: at })).message, /the interpreter in its first line/)
      assert.match((yield* refusal({ command: at })).message, /it is a folder/)
    }))

  it.live("refuses values that the system cannot take, without quoting them", () =>
    Effect.gen(function*() {
      assert.match((yield* refusal({ command: "" })).message, /the command is empty/)
      assert.match((yield* refusal({ command: "a\0b" })).message, /the command has a NUL byte/)
      assert.match((yield* refusal({ args: ["a", "secret\0"] })).message, /argument 2 has a NUL byte/)
      assert.match((yield* refusal({ cwd: "/tmp\0" })).message, /the working directory has a NUL byte/)
      const error = yield* refusal({ env: { TOKEN: "secret\0" } })
      assert.match(error.message, /the environment variable "TOKEN" has a NUL byte/)
      assert.notInclude(JSON.stringify(error), "secret")
      assert.match((yield* refusal({ args: ["x".repeat(8_000_000)] })).message, /too long/)
    }))

  it.live("leaves nothing open when it fails", () =>
    Effect.gen(function*() {
      yield* Effect.forEach(Array.from({ length: 20 }), () => refusal({ command: "no-such-program" }), {
        concurrency: "unbounded"
      })
      yield* until(() => open() <= atRest)
    }))
})
