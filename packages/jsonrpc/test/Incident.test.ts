import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, HashMap, Logger, LogLevel } from "effect"
import { Incident, log } from "../src/Incident.js"
import * as JsonRpcError from "../src/JsonRpcError.js"
import * as Message from "../src/Message.js"

/** The level and the words of what an incident logs. */
const logged = (incident: Incident) =>
  Effect.gen(function*() {
    const lines: Array<readonly [level: string, words: string, cause: Cause.Cause<unknown>]> = []
    const logger = Logger.make(({ annotations, cause, logLevel, message }) => {
      assert.strictEqual(HashMap.size(annotations), 0)
      lines.push([logLevel.label, (message as ReadonlyArray<unknown>).join(" "), cause])
    })
    yield* log(incident).pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.All)
    )
    assert.strictEqual(lines.length, 1)
    return lines[0]!
  })

const cause = Cause.die(new Error("boom"))

const cases: ReadonlyArray<readonly [incident: Incident, level: string, words: string]> = [
  [
    Incident.Malformed({ malformed: new Message.Malformed("request", -32700, "Parse error: no") }),
    "DEBUG",
    "Malformed request: Parse error: no"
  ],
  [
    Incident.UnknownResponse({ response: Message.success("7", {}), late: false }),
    "DEBUG",
    "Unknown response: id \"7\""
  ],
  [Incident.UnknownResponse({ response: Message.success(7, {}), late: true }), "DEBUG", "Late response: id 7"],
  [
    Incident.UnattributedError({ error: { code: -32700, message: "what?" } }),
    "WARN",
    "The peer reports an error: what? (-32700)"
  ],
  [Incident.DuplicateRequest({ id: 1, method: "m" }), "DEBUG", "Refused \"m\": id 1 is in flight"],
  [Incident.Overloaded({ method: "m", limit: 64 }), "WARN", "Refused \"m\": 64 are in flight"],
  [Incident.AmbiguousCancel({ id: "a" }), "DEBUG", "Ignored a cancel that fits several requests: \"a\""],
  [Incident.HandlerDied({ method: "m", cause }), "ERROR", "The handler of \"m\" died"],
  [
    Incident.Detached({ method: "m" }),
    "WARN",
    "The handler of \"m\" did not stop in time and was left behind"
  ]
]

describe("Incident.log", () => {
  for (const [incident, level, words] of cases) {
    it.effect(`writes ${incident._tag} as ${level}: ${words}`, () =>
      Effect.gen(function*() {
        const [loggedLevel, loggedWords] = yield* logged(incident)
        assert.deepStrictEqual([loggedLevel, loggedWords], [level, words])
      }))
  }

  it.effect("shows the operator why a handler died", () =>
    Effect.gen(function*() {
      const [, , shown] = yield* logged(Incident.HandlerDied({ method: "m", cause }))
      assert.strictEqual(shown, cause)
    }))

  it("knows no incident that is not listed here", () => {
    const tags = new Set(cases.map(([incident]) => incident._tag))
    const all: Record<Incident["_tag"], true> = {
      Malformed: true,
      UnknownResponse: true,
      UnattributedError: true,
      DuplicateRequest: true,
      Overloaded: true,
      AmbiguousCancel: true,
      HandlerDied: true,
      Detached: true
    }
    assert.deepStrictEqual(Object.keys(all).sort(), [...tags].sort())
    assert.strictEqual(JsonRpcError.internal.message, "Internal error")
  })
})
