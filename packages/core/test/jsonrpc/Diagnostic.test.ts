import { assert, describe, it } from "@effect/vitest"
import { Diagnostic, log, logger } from "@effect-mcp/core/Diagnostic"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import { Cause, Effect, HashMap, Logger, LogLevel, Option, TestClock } from "effect"

/** The level and the text that a diagnostic logs. */
const logged = (diagnostic: Diagnostic) =>
  Effect.gen(function*() {
    const lines: Array<readonly [level: string, words: string, cause: Cause.Cause<unknown>]> = []
    const logger = Logger.make(({ annotations, cause, logLevel, message }) => {
      assert.strictEqual(HashMap.size(annotations), 0)
      lines.push([logLevel.label, (message as ReadonlyArray<unknown>).join(" "), cause])
    })
    yield* log(diagnostic).pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.All)
    )
    assert.strictEqual(lines.length, 1)
    return lines[0]!
  })

describe("The log of a peer", () => {
  it.effect("has few lines a minute for each kind that the peer causes, however many there are, with their number", () =>
    Effect.gen(function*() {
      const counts: Array<unknown> = []
      const counting = Logger.make(({ annotations }) => {
        counts.push(Option.getOrUndefined(HashMap.get(annotations, "count")))
      })
      const report = logger()
      const send = (diagnostic: Diagnostic, times: number) =>
        Effect.repeatN(report(diagnostic), times - 1).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, counting)),
          Effect.map(() => counts.splice(0))
        )
      const malformed = Diagnostic.Malformed({ malformed: new Message.Malformed("unknown", -32700, "no") })
      assert.lengthOf(yield* send(malformed, 500), 8 + 5)
      assert.deepStrictEqual(yield* send(malformed, 50_000 - 500), [512, 1024, 2048, 4096, 8192, 16384, 32768])
      assert.lengthOf(yield* send(Diagnostic.Overloaded({ method: "m", limit: 1 }), 2), 2)
      assert.lengthOf(yield* send(Diagnostic.HandlerDied({ method: "m", cause: Cause.die("boom") }), 100), 100)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* send(malformed, 16), [...Array.from({ length: 8 }, () => undefined), 16])
    }))
})

const cause = Cause.die(new Error("boom"))

const cases: ReadonlyArray<readonly [diagnostic: Diagnostic, level: string, words: string]> = [
  [
    Diagnostic.Malformed({ malformed: new Message.Malformed("request", -32700, "Parse error: no") }),
    "WARN",
    "Malformed message: Parse error: no"
  ],
  [
    Diagnostic.Malformed({ malformed: MessageText.parse(`Listening\ton ${"x".repeat(200)}`) as Message.Malformed }),
    "WARN",
    `Malformed message: Parse error: the input is not JSON; it begins with "Listening on ${"x".repeat(87)}"`
  ],
  [
    Diagnostic.UnknownResponse({ response: Message.success("7", {}), late: false }),
    "DEBUG",
    "Unknown response: id \"7\""
  ],
  [Diagnostic.UnknownResponse({ response: Message.success(7, {}), late: true }), "DEBUG", "Late response: id 7"],
  [
    Diagnostic.UnattributedError({ error: { code: -32700, message: "what?" } }),
    "WARN",
    "The peer sent an error without an id: what? (-32700)"
  ],
  [
    Diagnostic.Mended({ method: "m", count: 2, places: [{ path: "a", message: "is null" }] }),
    "WARN",
    "Mended 2 places of a message of \"m\": a is null"
  ],
  [
    Diagnostic.Mended({ method: "m", count: 1, places: [{ path: "a", message: "is null" }] }),
    "WARN",
    "Mended 1 place of a message of \"m\": a is null"
  ],
  [
    Diagnostic.Mended({
      method: "tools/call",
      subject: "tool \"search\"",
      count: 1,
      places: [{ path: "arguments.limit", message: "is a text, read as a number" }]
    }),
    "WARN",
    "Mended 1 place of a message of \"tools/call\" for tool \"search\": arguments.limit is a text, read as a number"
  ],
  [
    Diagnostic.UnknownArguments({
      subject: "tool \"search\"",
      count: 1,
      names: [{ name: "\"limt\"", nearest: "\"limit\"" }]
    }),
    "WARN",
    "1 unknown argument for tool \"search\": \"limt\" (perhaps \"limit\")"
  ],
  [
    Diagnostic.UnknownArguments({
      subject: "tool \"search\"",
      count: 7,
      names: [{ name: "\"a\"", nearest: undefined }, { name: "\"b\"", nearest: undefined }]
    }),
    "WARN",
    "7 unknown arguments for tool \"search\": \"a\"; \"b\""
  ],
  [
    Diagnostic.HiddenCharacters({ subject: "the tools of \"shop\"", count: 1, names: ["pay\\u{200b}"] }),
    "WARN",
    "Left out characters that people do not see, in 1 entry of the tools of \"shop\": \"pay\\u{200b}\""
  ],
  [
    Diagnostic.HiddenCharacters({ subject: "the tools of \"shop\"", count: 7, names: ["a", "b"] }),
    "WARN",
    "Left out characters that people do not see, in 7 entries of the tools of \"shop\": \"a\"; \"b\"; and 5 more"
  ],
  [
    Diagnostic.LookAlikes({
      subject: "the tools of the group",
      count: 2,
      names: [["pay", "p\\u{430}y"], ["x\\u{430}"]]
    }),
    "WARN",
    "Names of the tools of the group look alike, or mix scripts: \"pay\" and \"p\\u{430}y\"; \"x\\u{430}\""
  ],
  [
    Diagnostic.Unchecked({ subject: "The result", reason: "it is large" }),
    "WARN",
    "The result was accepted without the usual check: it is large"
  ],
  [Diagnostic.DuplicateRequest({ id: 1, method: "m" }), "DEBUG", "Refused \"m\": id 1 is in flight"],
  [Diagnostic.Overloaded({ method: "m", limit: 64 }), "WARN", "Refused \"m\": 64 are in flight"],
  [Diagnostic.AmbiguousCancel({ id: "a" }), "DEBUG", "Ignored a cancel that matches several requests: \"a\""],
  [Diagnostic.HandlerDied({ method: "m", cause }), "ERROR", "The handler of \"m\" died"],
  [
    Diagnostic.FlawedAnswer({ method: "m", reason: "no" }),
    "WARN",
    "The handler of \"m\" returned an answer that breaks a rule: no"
  ],
  [
    Diagnostic.Unsubscribed({ peer: "files", changes: ["toolsListChanged"], reason: "no" }),
    "WARN",
    "The peer \"files\" does not announce changes (toolsListChanged): no"
  ],
  [
    Diagnostic.Unsubscribed({ peer: undefined, changes: ["a", "b"], reason: "no" }),
    "WARN",
    "The peer does not announce changes (a, b): no"
  ],
  [Diagnostic.Dropped({ count: 3 }), "WARN", "3 more diagnostics of this conversation are not reported"],
  [
    Diagnostic.HandlerDied({ method: "tools/call", cause, subject: "tool \"search\"" }),
    "ERROR",
    "The handler of tool \"search\" died"
  ],
  [
    Diagnostic.Detached({ method: "m" }),
    "WARN",
    "The handler of \"m\" did not stop in time and still runs"
  ]
]

describe("Diagnostic.log", () => {
  for (const [diagnostic, level, words] of cases) {
    it.effect(`writes ${diagnostic._tag} as ${level}: ${words}`, () =>
      Effect.gen(function*() {
        const [loggedLevel, loggedWords] = yield* logged(diagnostic)
        assert.deepStrictEqual([loggedLevel, loggedWords], [level, words])
      }))
  }

  it.effect("keeps what the peer wrote short and on one line", () =>
    Effect.gen(function*() {
      const text = `a\n[ERROR] b\u001b[2J\u2028${"x".repeat(10_000)}`
      const diagnostics = [
        Diagnostic.Mended({ method: text, count: 1, places: [{ path: text, message: text }] }),
        Diagnostic.Mended({ method: "m", subject: text, count: 1, places: [] }),
        Diagnostic.UnknownArguments({ subject: text, count: 1, names: [{ name: text, nearest: text }] }),
        Diagnostic.HiddenCharacters({ subject: text, count: 1, names: [text] }),
        Diagnostic.LookAlikes({ subject: text, count: 1, names: [[text, text]] }),
        Diagnostic.Unchecked({ subject: text, reason: text }),
        Diagnostic.UnknownResponse({ response: Message.success(text, {}), late: false }),
        Diagnostic.UnattributedError({ error: { code: -32700, message: text } }),
        Diagnostic.DuplicateRequest({ id: text, method: text }),
        Diagnostic.Overloaded({ method: text, limit: 64 }),
        Diagnostic.AmbiguousCancel({ id: text }),
        Diagnostic.HandlerDied({ method: text, cause }),
        Diagnostic.Unsubscribed({ peer: text, changes: [text], reason: text }),
        Diagnostic.Detached({ method: text })
      ]
      for (const diagnostic of diagnostics) {
        const [, words] = yield* logged(diagnostic)
        assert.isBelow(words.length, 800)
        assert.notMatch(words, /[\p{Cc}\u2028]/u)
      }
    }))

  it.effect("contains the cause of a handler that died", () =>
    Effect.gen(function*() {
      const [, , shown] = yield* logged(Diagnostic.HandlerDied({ method: "m", cause }))
      assert.strictEqual(shown, cause)
    }))

  it("has no diagnostic that is missing in this test", () => {
    const tags = new Set(cases.map(([diagnostic]) => diagnostic._tag))
    const all: Record<Diagnostic["_tag"], true> = {
      Malformed: true,
      Mended: true,
      UnknownArguments: true,
      HiddenCharacters: true,
      LookAlikes: true,
      Unchecked: true,
      UnknownResponse: true,
      UnattributedError: true,
      DuplicateRequest: true,
      Overloaded: true,
      AmbiguousCancel: true,
      Unsubscribed: true,
      HandlerDied: true,
      Dropped: true,
      Detached: true,
      FlawedAnswer: true
    }
    assert.deepStrictEqual(Object.keys(all).sort(), [...tags].sort())
    assert.strictEqual(JsonRpcError.internal.message, "Internal error")
  })
})
