import { assert, describe, it } from "@effect/vitest"
import { keys } from "@effect-mcp/core/protocol/Meta"
import * as CallOfMessage from "../../src/upstream/CallOfMessage.js"
import type { Running } from "../../src/upstream/Link.js"

const call = (): Running => ({}) as Running
const [a, b] = [call(), call()]
const names = new Map([[a, "a"], [b, "b"]])

const running = (...calls: ReadonlyArray<readonly [Running, Partial<CallOfMessage.Marks>]>) =>
  new Map(calls.map(([one, marks]) => [one, { ...CallOfMessage.marks(), ...marks }]))

const plain = running([a, { requests: new Set([1]) }], [b, { requests: new Set([2, 3]) }])
const tasks = running([a, { requests: new Set([1]), task: "A" }], [b, { requests: new Set([2]), task: "B" }])
const early = running([a, { requests: new Set([1]), task: true }], [b, { requests: new Set([2]) }])

const about = (taskId: unknown) => ({ [keys.relatedTask]: taskId === undefined ? null : { taskId } }) as never

const rows: ReadonlyArray<readonly [string, ReturnType<typeof running>, CallOfMessage.Named, string]> = [
  ["belongs to no call when no call runs", running(), {}, "none"],
  ["belongs to the only call", running([a, {}]), {}, "a"],
  ["may belong to each of several calls", plain, {}, "a or b"],
  ["belongs to the call on whose stream it came", plain, { call: 1 }, "a"],
  ["belongs to the call that was sent a second time", plain, { call: 3 }, "b"],
  ["belongs to no call when it came on the stream of another request", plain, { call: 9 }, "none"],
  [
    "does not belong to the only call when it came on the stream of another request",
    running([a, {}]),
    { call: 9 },
    "none"
  ],
  ["knows that \"1\" and 1 are two ids", plain, { call: "1" }, "none"],
  ["belongs to the call whose task it names", tasks, { meta: about("B") }, "b"],
  ["belongs to the call whose task it names, on whichever stream it came", tasks, { call: 1, meta: about("B") }, "b"],
  ["may belong to each task when it came on the stream of another request", tasks, { call: 9 }, "a or b"],
  ["belongs to the call that waits for the id of its task", early, { meta: about("A") }, "a"],
  ["belongs to no call when it names the task of no call", plain, { meta: about("A") }, "none"],
  ["names no task with a task that is not a text", plain, { meta: about(undefined) }, "a or b"]
]

describe("A message of an upstream", () => {
  for (const [sentence, calls, named, expected] of rows) {
    it(sentence, () => {
      const found = CallOfMessage.of(calls, named)
      const word = found._tag === "Call"
        ? names.get(found.running)
        : found._tag === "Outside"
        ? "none"
        : found.calls.map((one) => names.get(one)).join(" or ")
      assert.strictEqual(word, expected)
    })
  }
})
