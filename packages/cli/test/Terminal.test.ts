/**
 * What a person at a terminal sees and types: questions for missing arguments, answers to a server, progress, colors, Ctrl+C.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answer, atTerminal, everythingAt, isAlive, ours, uncolored } from "./Program.js"

const forecast = ["--", ...ours("stdio")]
const eras = ["2025-11-25", "2026-07-28"]

describe("A command at a terminal:", () => {
  it.scopedLive("the command asks for the arguments that are missing", () =>
    Effect.gen(function*() {
      const running = yield* atTerminal(["call", "forecast", ...forecast])
      yield* answer(running, [[/city/, "Oslo\r"]])
      const { code, out } = yield* running.ended
      assert.match(uncolored(out), /"celsius": -4/)
      assert.strictEqual(code, 0)
      const number = yield* atTerminal(["call", "slow_compute", "--", ...ours("everything")])
      yield* answer(number, [[/seconds/, "soon\r"], [/must be a number/, "\b\b\b\b0.1\r"]])
      assert.match((yield* number.ended).out, /The computation took 0\.1 seconds/)
    }))

  for (const revision of eras) {
    it.scopedLive(`the user answers what a server asks of its user and of its model, at ${revision}`, () =>
      Effect.gen(function*() {
        const url = yield* everythingAt
        const at = (...args: ReadonlyArray<string>) => atTerminal(["call", url, ...args, "--revision", revision])
        const form = yield* at("test_elicitation", "message=Who are you?")
        yield* answer(form, [
          [/The server asks: Who are you\?[^]*Answer\?/, "y"],
          [/username: User's response/, "ada\r"],
          [/email: User's email/, "ada@example.com\r"]
        ])
        assert.match((yield* form.ended).out, /action=accept, content=\{"username":"ada","email":"ada@example.com"\}/)
        const declined = yield* at("test_elicitation", "message=Who are you?")
        yield* answer(declined, [[/Answer\?/, "n"]])
        assert.match((yield* declined.ended).out, /action=decline/)
        const model = yield* at("test_sampling", "prompt=Say hello")
        yield* answer(model, [[/user: Say hello[^]*Your answer as the model/, "Hello\r"]])
        assert.match((yield* model.ended).out, /LLM response: Hello/)
      }))
  }

  it.scopedLive("choices are lists, and defaults are offered", () =>
    Effect.gen(function*() {
      const url = yield* everythingAt
      const choices = yield* atTerminal(["call", url, "test_elicitation_sep1330_enums"])
      yield* answer(choices, [
        [/Answer\?/, "y"],
        [/untitledSingle[^]*option1/, "\r"],
        [/titledSingle[^]*Option 1/, "\u001b[B\r"],
        [/legacyEnum[^]*Option 1/, "\r"],
        [/untitledMulti[^]*option2/, "\u001b[B\u001b[B \r"],
        [/titledMulti[^]*Option 1/, "\r"]
      ])
      const { out } = yield* choices.ended
      assert.match(out, /"untitledSingle":"option1","titledSingle":"value2","legacyEnum":"opt1"/)
      const defaults = yield* atTerminal(["call", url, "test_elicitation_sep1034_defaults"])
      yield* answer(defaults, [
        [/Answer\?/, "y"],
        [/name[^\n]*John/, "\r"],
        [/age[^\n]*30/, "\r"],
        [/score[^\n]*95/, "\r"],
        [/status[^]*active/, "\r"],
        [/verified/, "\r"]
      ])
      assert.match((yield* defaults.ended).out, /action=accept, content=\{"name":"John Doe","age":30,"score":95.5/)
    }))

  it.scopedLive("progress is a bar, and NO_COLOR means no colors, questions included", () =>
    Effect.gen(function*() {
      const bar = yield* atTerminal(["call", "test_tool_with_progress", "--", ...ours("everything")])
      assert.match((yield* bar.ended).out, /\[#{12}-{12}\] 50 % Completed step 50 of 100/)
      const colored = yield* atTerminal(["inspect", ...forecast])
      assert.include((yield* colored.ended).out, "\u001b[1m")
      const plain = yield* atTerminal(["call", "forecast", ...forecast], { env: { NO_COLOR: "1" } })
      yield* answer(plain, [[/city/, "Rome\r"]])
      const { out } = yield* plain.ended
      assert.match(out, /17/)
      assert.notMatch(out, /\p{Cc}\[[\d;]*m/u)
    }))

  it.scopedLive("Ctrl+C ends the command and its server, in its own questions and in those of the server", () =>
    Effect.gen(function*() {
      const asking = yield* atTerminal(["call", "forecast", ...forecast])
      yield* answer(asking, [[/city/, "\u0003"]])
      assert.strictEqual((yield* asking.ended).code, 130)
      const show = "process.stderr.write(`pid ${process.pid}\\n`); await import(process.argv[1])"
      const [node = "", server = ""] = ours("everything")
      const calling = yield* atTerminal([
        "call",
        "test_elicitation",
        "message=Who",
        "--",
        node,
        "--input-type=module",
        "-e",
        show,
        server
      ])
      const [, pid] = yield* calling.sees(/pid (\d+)/)
      yield* answer(calling, [[/Answer\?/, "\u0003"]])
      assert.strictEqual((yield* calling.ended).code, 130)
      assert.isFalse(isAlive(Number(pid)))
    }))
})
