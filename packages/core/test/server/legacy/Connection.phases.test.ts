import { assert, describe, it } from "@effect/vitest"
import * as Outbound from "@effect-mcp/core/Outbound"
import { Deferred, Effect, FiberId, type Scope } from "effect"
import { Connection } from "../../../src/server/legacy/Connection.js"

const ended = Deferred.unsafeMake<void>(FiberId.none)

const events = {
  begin: (one: Connection) => one.beginOpening(ended),
  accept: (one: Connection) => one.accept(),
  end: (one: Connection) => one.endOpening(),
  refuse: (one: Connection) => one.refuse(),
  "take over": (one: Connection) => one.takeOver(["a:1"]),
  restore: (one: Connection) => one.beginRestoring(ended),
  restored: (one: Connection) => one.endRestoring(true),
  "not restored": (one: Connection) => one.endRestoring(false),
  close: (one: Connection) => one.closeSession()
}

type Event = keyof typeof events

const after = (...all: ReadonlyArray<Event>): string => {
  const connection = new Connection(Outbound.none, {} as Scope.Scope)
  for (const event of all) events[event](connection)
  const { accepted, handshake, phase, unrestored } = connection
  return [
    phase._tag,
    accepted ? "serves" : "refuses",
    ...(handshake === undefined ? [] : ["waits"]),
    ...unrestored ?? []
  ].join(", ")
}

const rows: ReadonlyArray<readonly [sentence: string, events: ReadonlyArray<Event>, phase: string]> = [
  ["serves nothing before `initialize`", [], "New, refuses"],
  ["is open at once where nothing surrounds the handshake", ["accept"], "Open, serves"],
  ["has later messages wait while `initialize` is served", ["begin"], "Opening, refuses, waits"],
  [
    "has them wait after the server has accepted it, because middleware may refuse",
    ["begin", "accept"],
    "Opening, serves, waits"
  ],
  ["is open when `initialize` has ended", ["begin", "accept", "end"], "Open, serves"],
  ["is as before when `initialize` was refused", ["begin", "refuse", "end"], "New, refuses"],
  [
    "is as before when middleware refuses after the server has accepted",
    ["begin", "accept", "refuse", "end"],
    "New, refuses"
  ],
  ["is as before when middleware answers in place of the server", ["begin", "end"], "New, refuses"],
  ["can be opened after a refusal", ["begin", "refuse", "begin", "accept", "end"], "Open, serves"],
  ["serves a session of another node, whose subscriptions are still to come", ["take over"], "Restoring, serves, a:1"],
  ["has messages wait while the session is restored", ["take over", "restore"], "Restoring, serves, waits, a:1"],
  ["is open when the session was restored", ["take over", "restore", "restored"], "Open, serves"],
  [
    "has the next message try again when it could not be restored",
    ["take over", "restore", "not restored"],
    "Restoring, serves, a:1"
  ],
  [
    "is restored once for two messages that came together",
    ["take over", "restore", "restored", "restore"],
    "Open, serves"
  ],
  ["still tells after the end that it was open", ["accept", "close"], "Ended, serves"],
  ["tells after the end that it was never open", ["close"], "Ended, refuses"],
  ["stays ended when `initialize` ends after it", ["begin", "close", "accept", "end"], "Ended, serves"],
  [
    "stays ended when `initialize` is refused after it",
    ["begin", "accept", "close", "refuse", "end"],
    "Ended, refuses"
  ],
  ["stays ended when restoring ends after it", ["take over", "restore", "close", "restored"], "Ended, serves"]
]

describe("A connection", () => {
  for (const [sentence, all, phase] of rows) it(sentence, () => assert.strictEqual(after(...all), phase))

  it("never leaves its end, whatever comes", () => {
    const names = Object.keys(events) as ReadonlyArray<Event>
    const opening = names.filter((event) => event !== "begin" && event !== "take over")
    for (const first of names) {
      for (const second of opening) {
        for (const third of opening) {
          assert.match(after(first, "close", second, third), /^Ended/, `${first}, close, ${second}, ${third}`)
        }
      }
    }
  })

  it("gives back what was built for a handshake that was refused, once", () => {
    const connection = new Connection(Outbound.none, {} as Scope.Scope)
    connection.releaseServices = Effect.void
    connection.beginOpening(ended)
    assert.strictEqual(connection.refuse(), Effect.void)
    assert.isUndefined(connection.refuse())
  })

  it("has a conversation, or is made for one request", () => {
    assert.strictEqual(new Connection(Outbound.none, {} as Scope.Scope).reach, "conversation")
    const request = new Connection(Outbound.none)
    assert.deepStrictEqual([request.reach, request.clientKey, request.sessionScope], ["request", undefined, undefined])
  })
})
