/**
 * The law of what is printed: whatever servers, programs, files and addresses say, no command writes a character that steers the
 * terminal, or that nobody sees, but its own. `fixtures/hostile.mjs` adds such characters to every text of the protocol.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { answer, atTerminal, everythingAt, folder, ours, type Ran, start } from "./Program.js"

/** OSC 52, OSC 0, OSC 8, CSI, C0, DEL, C1, tags, bidirectional, zero width, separators. */
const HOSTILE =
  "\u001b]52;c;aGkh\u0007\u001b]0;t\u0007\u001b]8;;http://evil\u001b\\\u001b[2J\u001b[5;41m\b\r\u000b\u007f" +
  "\u0085\u009b5m\u009d0;x\u009c\u{e0041}\u{e007f}\u202e\u2066\u200e\u061c\u200b\u200d\ufeff\u2060\u00ad\u2028\u2029"

/** Each of its characters for a command line or JSON of ASCII. */
const ascii = JSON.stringify(HOSTILE).replace(
  /[^ -~]/g,
  (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
)

const saying = (text: string, ...args: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath,
  fileURLToPath(new URL("./fixtures/hostile.mjs", import.meta.url)),
  text,
  ...args
]

const hostile = (...args: ReadonlyArray<string>): ReadonlyArray<string> => saying(ascii, ...args)

const urlOf = (command: ReadonlyArray<string>): Effect.Effect<string, never, Scope.Scope> =>
  Effect.flatMap(start(command), (server) => Effect.map(server.sees(/at (http\S+)/), ([, url = ""]) => url))

/** The server with every kind of feature, behind the hostile one. */
const hostileEverything = Effect.flatMap(everythingAt, (url) => urlOf(hostile("http", url)))

const STEERING = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

const ESC = "\u001b"

/** What the command line writes itself: line ends of a terminal, its status line, colors, and the steps of its questions. */
const OWN = {
  lines: /\r\n/g,
  status: new RegExp(`\\r${ESC}\\[K`, "g"),
  colors: new RegExp(`${ESC}\\[(?:0|1|2|31|32|33|36)m`, "g"),
  questions: new RegExp(`${ESC}\\[(?:\\?25[hl]|\\d*[A-DGKsu]|(?:(?:[0-4]|[39][0-7]);?)*m)`, "g")
}

/** A hostile text as it is shown. */
const SHOWN = /\\u(\{1b\}|001b|\{e0041\})/

const law = ({ err, out }: Ran, mode: Mode, asks: boolean, what: string): void => {
  const text = [OWN.lines, OWN.status, ...(mode === "plain" ? [] : [OWN.colors]), ...(asks ? [OWN.questions] : [])]
    .reduce((text, own) => text.replace(own, "\n"), out + err)
  const found = STEERING.exec(text)
  assert.isNull(
    found,
    `${what}, ${mode}: ${JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 200)).slice(0, 300))}`
  )
}

type Mode = "colors" | "plain" | "json"

interface Case {
  readonly args: ReadonlyArray<string>
  /** What the user types. A case with answers has no JSON. */
  readonly answers?: ReadonlyArray<readonly [RegExp, string]>
  /** Something that stands beside a hostile text in what is printed. */
  readonly shows?: RegExp
  readonly modes?: ReadonlyArray<Mode>
  /** Interrupts the command when it has written this. */
  readonly until?: RegExp
}

const ALL = ["colors", "plain", "json"] as const

/** A run of `npm test` takes one mode of each case, always the same; `npm run test:long` takes all. */
const isLong = process.env.EFFECT_MCP_TEST_LONG !== undefined

const taken = (modes: ReadonlyArray<Mode>, place: number): ReadonlyArray<Mode> =>
  isLong ? modes : modes.filter((_, index) => index === place % modes.length)

const runs = (cases: ReadonlyArray<Case>, cwd: string) =>
  Effect.forEach(
    cases.flatMap((one, place) => taken(one.modes ?? ALL, place).map((mode) => [one, mode] as const)),
    ([{ answers = [], args, shows, until }, mode]) =>
      Effect.scoped(Effect.gen(function*() {
        const at = args.indexOf("--")
        const flagged = mode === "json"
          ? at < 0 ? [...args, "--json"] : [...args.slice(0, at), "--json", ...args.slice(at)]
          : args
        const running = yield* atTerminal(flagged, {
          cwd,
          ...(mode === "plain" ? { env: { NO_COLOR: "1" } } : undefined)
        })
        yield* answer(running, answers)
        if (until !== undefined) {
          yield* running.sees(until)
          running.write("\u0003")
        }
        const what = args.slice(0, 3).join(" ").replaceAll(HOSTILE, "…")
        const ran = yield* running.ended.pipe(
          Effect.timeoutFail({
            duration: "20 seconds",
            onTimeout: () => new Error(`${what}, ${mode} did not end: ${JSON.stringify(running.seen())}`)
          }),
          Effect.orDie
        )
        law(ran, mode, answers.length > 0, what)
        assert.match(ran.out + ran.err, shows ?? SHOWN, `${what}, ${mode}`)
      })),
    { concurrency: 3, discard: true }
  )

const T = (name: string): string => `${name}${HOSTILE}`

/** The name of a file: it has no slash. */
const fileOf = (name: string): string => T(name).replaceAll("/", "")

/** One word with arguments. */
const given = (args: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(args).map(([name, value]) => [T(name), value])))

const eras = ["2025-11-25", "2026-07-28"] as const

describe("Nothing that a server says steers a terminal", () => {
  for (const revision of eras) {
    it.scopedLive(`in requests, at ${revision}`, () =>
      Effect.gen(function*() {
        const url = yield* hostileEverything
        const cwd = yield* folder
        const at = (...args: ReadonlyArray<string>): Case => ({ args: [...args, "--revision", revision] })
        yield* runs([
          at("inspect", url),
          at("inspect", url, T("greet")),
          at("inspect", url, T("test://static-text")),
          at("call", url, T("greet"), given({ name: "Ada" })),
          { ...at("call", url, T("greet")), modes: ["json"] },
          at("call", url, T("greet"), `${T("name")}=Ada`),
          at("call", url, "greet", "name=Ada"),
          at("call", url, "nonesuch"),
          at("call", url, T("test_error_handling")),
          at("call", url, T("test_image_content"), "--out", cwd),
          at("call", url, T("test_audio_content")),
          at("call", url, T("test_embedded_resource")),
          at("call", url, T("test_multiple_content_types")),
          at("call", url, T("test_resource_link")),
          at("call", url, T("test_structured_content"), "{}"),
          at("call", url, T("test_tool_with_progress")),
          { ...at("call", url, T("test_tool_with_logging"), "--server-log", "debug"), shows: /logger\\u\{1b\}/ },
          { ...at("call", url, T("test_elicitation_url")), modes: ["json"], shows: /capability/ },
          at("read", url, T("test://static-text")),
          at("read", url, T("test://static-binary"), "--out", cwd),
          at("read", url, "test://nope"),
          at("prompt", url, T("test_prompt_with_arguments"), given({ arg1: "a", arg2: "b" })),
          at("prompt", url, T("test_prompt_with_image")),
          { ...at("prompt", url, T("test_prompt_with_arguments")), modes: ["json"] },
          at("complete", url, T("test_prompt_with_arguments"), `${T("arg1")}=par`),
          { ...at("ping", url), modes: ["colors", "plain"] },
          { ...at("listen", url, T("test://watched-resource")), until: /Listening/ }
        ], cwd)
      }), 240_000)

    it.scopedLive(`in what a server asks, at ${revision}`, () =>
      Effect.gen(function*() {
        const url = yield* hostileEverything
        const cwd = yield* folder
        const asks = (args: ReadonlyArray<string>, ...answers: ReadonlyArray<readonly [RegExp, string]>): Case => ({
          args: ["call", url, ...args, "--revision", revision],
          answers,
          modes: ["colors", "plain"]
        })
        yield* runs([
          asks([T("greet")], [/name[^\n]*› /, "Ada\r"], [/The value of/, "\b\b\b\"A\"\r"]),
          asks([T("test_elicitation"), given({ message: "Who?" })], [/Answer\?/, "y"], [/username[^\n]*› /, "a\r"], [
            /email/,
            "a@b.cd\r"
          ]),
          asks([T("test_elicitation_url")], [/opened it\?/, "y"]),
          asks([T("test_sampling"), given({ prompt: "Hello" })], [/as the model/, "Hi\r"]),
          asks(
            [T("test_elicitation_sep1034_defaults")],
            [/Answer\?/, "y"],
            [/name[^\n]*› John/, "\r"],
            [/age[^\n]*› 30/, "x\r"],
            [/The value of/, "\b30\r"],
            [/score[^\n]*› 95/, "\r"],
            [/status[^]*active/, "\r"],
            [/verified[^\n]*› /, "\r"]
          ),
          asks(
            [T("test_elicitation_sep1330_enums")],
            [/Answer\?/, "y"],
            [/untitledSingle/, "\r"],
            [/titledSingle[^]*Option 1/, "\u001b[B\r"],
            [/legacyEnum/, "\r"],
            [/untitledMulti/, "\u001b[B\u001b[B \r"],
            [/titledMulti[^]*Option 1/, "\r"]
          )
        ], cwd)
      }), 240_000)

    it.scopedLive(`in tasks, at ${revision}`, () =>
      Effect.gen(function*() {
        const url = yield* hostileEverything
        const cwd = yield* folder
        const started = yield* atTerminal([
          "tasks",
          "start",
          url,
          T("slow_compute"),
          given({ seconds: 600 }),
          "--json",
          "--revision",
          revision
        ])
        const ran = yield* started.ended
        law(ran, "json", false, "tasks start")
        const { taskId } = JSON.parse(/^\{"taskId".*$/m.exec(stripVTControlCharacters(ran.out))?.[0] ?? "")
        assert.include(taskId, HOSTILE)
        const part = (name: string, ...args: ReadonlyArray<string>): Case => ({
          args: ["tasks", name, url, ...args, "--revision", revision]
        })
        yield* runs([
          part("start", T("slow_compute"), given({ seconds: 600 })),
          part("start", T("greet"), given({ name: "Ada" })),
          part("result", T("none")),
          { ...part("watch", taskId), until: /working/ }
        ], cwd)
        yield* runs([
          { ...part("cancel", taskId), modes: ["colors"] },
          { ...part("list"), ...(revision === "2025-11-25" ? undefined : { shows: /was not sent/ }) },
          part("watch", taskId),
          part("result", taskId)
        ], cwd)
      }), 240_000)
  }

  it.scopedLive("in questions that are longer than they look: they erase nothing above", () =>
    Effect.gen(function*() {
      const everything = yield* everythingAt
      const marks = "\u0301".repeat(400)
      const url = yield* urlOf(saying(JSON.stringify(marks), "http", everything))
      const running = yield* atTerminal([
        "call",
        url,
        `test_elicitation_sep1034_defaults${marks}`,
        "--revision",
        "2025-11-25"
      ], { columns: 80 })
      yield* answer(running, [[/Answer\?/, "y"], [/› John/, "a\b"]])
      yield* running.sees(/(› John[^]*){2}/)
      assert.notInclude(running.seen().out, `${ESC}[1A`)
    }))

  it.scopedLive("in connecting, and on standard error", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const raw = yield* urlOf(hostile("raw"))
      const piped = (...args: ReadonlyArray<string>): Case => ({ args: ["ping", "--", ...hostile(...args)] })
      yield* runs([
        piped("pipe", ...ours("stdio")),
        piped("refuse"),
        { args: ["ping", "--log-level", "debug", "--", ...hostile("refuse")] },
        { args: ["ping", "--revision", "2025-11-25", "--", ...hostile("refuse")] },
        piped("mute"),
        ...["status", "body", "error", "type", "html", "login", "moved", "head"].flatMap((path) =>
          eras.map((revision): Case => ({
            args: ["ping", raw.replace("mcp", path), "--no-login", "--revision", revision],
            shows: /Cannot connect/,
            modes: ["colors"]
          }))
        ),
        { args: ["ping", raw.replace("mcp", "login")], shows: /Cannot connect/, modes: ["colors"] },
        { args: ["ping", `http://127.0.0.1:9/${HOSTILE}`], shows: /Cannot connect/ },
        { args: ["ping", "--", T("nonesuch")] },
        { args: ["ping", "--", process.execPath, "-e", `throw new Error(${ascii.replace("\\u001b[5;41m", "")})`] }
      ], cwd)
    }), 240_000)

  it.scopedLive("in files and their names", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const file = join(cwd, ".mcp.json")
      const [command, ...args] = hostile("pipe", ...ours("stdio"))
      writeFileSync(
        file,
        JSON.stringify({ mcpServers: { [T("a")]: { command, args }, [T("b")]: { command: T("none") } } })
      )
      const broken = fileOf("broken.json")
      writeFileSync(join(cwd, broken), "{")
      const out = fileOf("out")
      mkdirSync(join(cwd, out))
      writeFileSync(join(cwd, out, "file"), "")
      const url = yield* hostileEverything
      yield* runs([
        { args: ["ping", "none"] },
        { args: ["ping", T("a")], modes: ["json"] },
        { args: ["ping", T("a")], answers: [[/Run it\?/, "n"]], modes: ["colors", "plain"] },
        { args: ["ping", T("a"), "--trust"] },
        { args: ["ping", T("b"), "--trust"] },
        { args: ["ping", "x", "--config", broken] },
        { args: ["ping", "x", "--config", fileOf("missing.json")] },
        { args: ["call", url, T("test_image_content"), "--out", out] },
        { args: ["trace", "--output", `${fileOf("none")}/x`, "--", ...ours("stdio")], modes: ["colors"] },
        { args: ["init", out, "--template", "stdio"], modes: ["colors", "plain"] },
        { args: ["init", fileOf("new"), "--template", "http"], modes: ["colors", "plain"] }
      ], cwd)
    }), 240_000)

  it.scopedLive("in what stands between a host and a server", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const initialize = `${
        JSON.stringify({
          jsonrpc: "2.0",
          id: "1",
          method: "initialize",
          params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "host", version: "1" } }
        })
      }\n`
      const behind = hostile("pipe", ...ours("stdio"))
      const raw = yield* urlOf(hostile("raw"))
      const program = join(cwd, fileOf("changed.mjs"))
      writeFileSync(program, "process.exit(1)")
      const typed: ReadonlyArray<Case> = [
        { args: ["trace", "--", ...behind] },
        { args: ["trace", "--", ...hostile("refuse")] },
        { args: ["bridge", "--", ...behind], modes: ["colors", "plain"] },
        { args: ["dev", "--watch", cwd, "--", ...behind], modes: ["colors", "plain"] }
      ]
      yield* runs(
        typed.map((one) => ({ ...one, answers: [[/^/, initialize]], until: /"jsonrpc"[^]*(serverInfo|error)/ })),
        cwd
      )
      for (
        const args of [["bridge", "--port", "0", "--", ...behind], [
          "bridge",
          "--port",
          "0",
          "--",
          ...hostile("refuse")
        ]]
      ) {
        yield* runs([{ args, modes: ["colors"], until: /Listening|Cannot connect/ }], cwd)
      }
      const file = join(cwd, "trace.txt")
      yield* runs([{
        args: ["trace", "--output", file, "--", ...behind],
        answers: [[/^/, initialize]],
        until: /serverInfo/,
        modes: ["colors"]
      }], cwd)
      law({ code: 0, out: readFileSync(file, "utf8"), err: "" }, "plain", false, "trace --output")
      const tracing = yield* atTerminal(["trace", raw.replace("mcp", "body")])
      const [, at = ""] = yield* tracing.sees(/Connect the host to (\S+)/)
      const host = yield* atTerminal(["ping", at])
      law(yield* host.ended, "colors", false, "ping behind trace")
      const dev = yield* atTerminal(["dev", "--", process.execPath, program], { cwd })
      yield* dev.sees(/launched again/)
      writeFileSync(program, "process.exit(2)")
      yield* dev.sees(/has changed/)
      law(dev.seen(), "colors", false, "dev")
      law(tracing.seen(), "colors", false, "trace of a URL")
    }), 240_000)
})
