import { assert, describe, it } from "@effect/vitest"
import { ConnectionClosed, RequestTimeout } from "@effect-mcp/core/LocalError"
import * as Reopening from "../../../src/client/modern/Reopening.js"

/** A request that the server has acknowledged, and ended with its result, five minutes after it was sent. */
const open: Reopening.Ended = {
  wasOpen: true,
  acknowledged: { toolsListChanged: true },
  error: undefined,
  began: 0,
  failures: 0
}
const now = 300_000
const error = new RequestTimeout({ method: "subscriptions/listen", millis: 1 })
const closed = new ConnectionClosed({})
const refused = { acknowledged: undefined, error }

const wordOf = (next: Reopening.Next): string => {
  switch (next._tag) {
    case "Stop":
      return "stop"
    case "Refuse":
      return `refuse: ${next.error._tag}`
    case "Reopen": {
      const { after: { failures, seconds }, report } = next
      return `${report === undefined ? "" : `report ${report._tag}, `}reopen after ${seconds} s, ${failures} failures`
    }
  }
}

describe("A subscription whose request has ended", () => {
  const rows: ReadonlyArray<readonly [string, Partial<Reopening.Ended>, string]> = [
    ["is opened again", {}, "reopen after 1 s, 0 failures"],
    ["is opened again when its stream failed", { error }, "reopen after 1 s, 0 failures"],
    [
      "is refused when the server has never acknowledged it",
      { ...refused, wasOpen: false },
      "refuse: RequestTimeout"
    ],
    [
      "is refused when the server sends the result of a first request that it has not acknowledged",
      { acknowledged: undefined, wasOpen: false },
      "refuse: TransportError"
    ],
    [
      "is refused when the connection has ended before the first acknowledgement",
      { acknowledged: undefined, wasOpen: false, error: closed },
      "refuse: ConnectionClosed"
    ],
    ["is over when the connection has ended", { error: closed }, "stop"],
    ["is over, and not reported, when the connection ends before a later acknowledgement", {
      acknowledged: undefined,
      error: closed
    }, "stop"],
    ["is over when the server has acknowledged nothing of it", { acknowledged: {} }, "stop"],
    [
      "is reported when the server does not acknowledge it again",
      refused,
      "report RequestTimeout, reopen after 1 s, 1 failures"
    ],
    [
      "is reported when the server sends the result of a later request that it has not acknowledged",
      { acknowledged: undefined },
      "report TransportError, reopen after 1 s, 1 failures"
    ],
    [
      "counts as a failure when it ended sooner than the wait before it",
      { began: now - 3999, failures: 2 },
      "reopen after 4 s, 3 failures"
    ],
    [
      "counts as a failure when it ended as late as that",
      { began: now - 4000, failures: 2 },
      "reopen after 4 s, 3 failures"
    ],
    [
      "begins with a second again when it was open for longer",
      { began: now - 4001, failures: 2 },
      "reopen after 1 s, 0 failures"
    ],
    ["waits for 30 seconds at most", { began: now, failures: 5 }, "reopen after 30 s, 6 failures"],
    [
      "counts as a failure without an acknowledgement, however long it took",
      { ...refused, failures: 2 },
      "report RequestTimeout, reopen after 4 s, 3 failures"
    ]
  ]
  for (const [sentence, facts, word] of rows) {
    it(sentence, () => assert.strictEqual(wordOf(Reopening.afterEnd({ ...open, ...facts }, now)), word))
  }
})
