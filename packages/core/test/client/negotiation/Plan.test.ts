import { assert, describe, it } from "@effect/vitest"
import { type ConnectError, NoCommonVersion } from "@effect-mcp/core/ClientError"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import { JsonRpcError } from "@effect-mcp/core/JsonRpcError"
import { ConnectionClosed, RequestTimeout, TransportError } from "@effect-mcp/core/LocalError"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as Plan from "../../../src/client/negotiation/Plan.js"
import type { Verdict } from "../../../src/client/negotiation/Probe.js"
import { prior } from "./Connecting.js"

const MODERN = "2026-07-28"
const legacyVersions = ["2025-06-18", "2025-11-25"] as const

const pipe: Plan.Facts = {
  versions: [...legacyVersions, MODERN],
  legacy: legacyVersions,
  modern: [MODERN],
  prior: undefined,
  known: undefined,
  hasExchanges: false,
  isResumed: false,
  canReconnect: true,
  canLogIn: false
}
const http: Plan.Facts = { ...pipe, hasExchanges: true, canReconnect: false }
const once: Plan.Facts = { ...pipe, canReconnect: false }

const timeout = new RequestTimeout({ method: "any", millis: 5000 })
const ended = new ConnectionClosed({})
const refusal = McpError.fromWire(new JsonRpcError({ code: -32601, message: "No" }))
const noCommon = new NoCommonVersion({ offered: "1", supported: [] })
const refused = (status: number, headers: Record<string, string> = {}) =>
  new TransportError({
    reason: "Write",
    message: `answered with ${status}`,
    cause: new HttpResponseError({ status, headers, method: "POST", url: "https://a.test", body: "" })
  })
const login = refused(401, { "www-authenticate": "Bearer" })

const description = { ...prior, version: MODERN } as const
const modern: Verdict = { _tag: "Modern", facts: description }
const legacy: Verdict = { _tag: "Legacy", why: "No" }
const silent: Verdict = { _tag: "Inconclusive", error: timeout }
const gone: Verdict = { _tag: "Gone", error: ended }
const asksForLogin: Verdict = { _tag: "Final", error: login }
const unreachable: Verdict = { _tag: "Final", error: new TransportError({ reason: "Open", message: "no host" }) }
const supports = (...supported: ReadonlyArray<string>): Verdict => ({ _tag: "OtherVersions", supported })

/** What becomes of an action. A count is that of the skipped inputs until then. */
type Happening =
  | Verdict
  | ConnectError
  | "reconnects"
  | "cannot reconnect"
  | "is late"
  | readonly [
    Verdict | ConnectError,
    number
  ]

const isVerdict = (happening: Verdict | ConnectError): happening is Verdict =>
  ["Modern", "OtherVersions", "Legacy", "Inconclusive", "Gone", "Final"].includes(happening._tag)

/** The event of what became of this action. */
const eventOf = (action: Plan.Action, happening: Happening): Plan.Event => {
  if (happening === "reconnects") return { _tag: "Reconnected" }
  if (happening === "is late") return { _tag: "DescribedLate", facts: description }
  if (happening === "cannot reconnect") {
    assert(action._tag === "Reconnect")
    return { _tag: "NotReconnected", error: action.error }
  }
  const [outcome, count] = "_tag" in happening ? [happening, 0] : happening
  const skipped = { count, first: count === 0 ? undefined : "Wel\tcome" }
  if (!isVerdict(outcome)) return { _tag: "HandshakeFailed", error: outcome, skipped }
  assert(action._tag === "Probe")
  return { _tag: "Probed", probe: action, verdict: outcome, skipped }
}

const wordOf = (action: Plan.Action): string => {
  switch (action._tag) {
    case "Probe":
      return `probe${action.isNamed ? " again" : ""}${action.isPatient ? ", patiently" : ""}`
    case "Handshake": {
      const before = action.pauses ? "wait, " : ""
      const named = action.version === legacyVersions[1] ? "" : ` at ${action.version}`
      const patience = { full: "", answering: ", 15 s", silent: ", as long as the probe" }[action.patience]
      return `${before}handshake${named}${patience}${action.takesLate ? ", or a late answer" : ""}`
    }
    case "Open":
      return "modern"
    case "Reconnect":
      return action.pauses ? "wait, reconnect" : "reconnect"
    case "Fail":
      return `fail: ${action.error._tag}`
  }
}

const walk = (facts: Plan.Facts, happenings: ReadonlyArray<Happening>) => {
  let [state, action] = Plan.begin(facts)
  const words = [wordOf(action)]
  for (const happening of happenings) {
    ;[state, action] = Plan.step(facts, state, eventOf(action, happening))
    words.push(wordOf(action))
  }
  return { state, action, words: words.join(" > ") }
}

type Row = readonly [sentence: string, facts: Plan.Facts, happenings: ReadonlyArray<Happening>, words: string]

const check = (rows: ReadonlyArray<Row>) => {
  for (const [sentence, facts, happenings, words] of rows) {
    it(sentence, () => assert.strictEqual(walk(facts, happenings).words, words))
  }
}

describe("A client of both eras goes on, in the order of docs/host/06-revisions,", () => {
  const late = "probe > handshake, or a late answer"
  const silence = "probe > handshake, as long as the probe, or a late answer"
  check([
    ["with a modern session when the server describes itself", pipe, [modern], "probe > modern"],
    [
      "with the newest revision that both have",
      pipe,
      [supports("2025-06-18")],
      "probe > handshake at 2025-06-18, 15 s"
    ],
    ["with a modern revision before a legacy one, and asks once more", pipe, [
      supports("2025-11-25", MODERN),
      supports("2025-11-25", MODERN)
    ], "probe > probe again > handshake, 15 s"],
    ["not at all without a common revision", pipe, [supports("2030-01-01")], "probe > fail: NoCommonVersion"],
    ["with the handshake after any other error", pipe, [legacy], "probe > handshake, 15 s, or a late answer"],
    ["with the handshake after any other error over HTTP", http, [legacy], late],
    ["with the handshake when the server is silent", pipe, [silent], silence],
    ["with the handshake when the server denies access", http, [{ _tag: "Inconclusive", error: refused(403) }], late],
    ["with a late answer, in the modern era", pipe, [silent, "is late"], `${silence} > modern`],
    ["with a new connection and the handshake when the handshake fails", pipe, [
      silent,
      timeout,
      "reconnects"
    ], `${silence} > reconnect > handshake`],
    ["with the handshake as long as for any request when the server is silent and there is one connection", once, [
      silent
    ], late],
    [
      "with the handshake once more, after a while, when the server over HTTP denies the handshake right after the probe",
      http,
      [
        legacy,
        refused(403)
      ],
      `${late} > wait, handshake, or a late answer`
    ],
    [
      "with the handshake once more when the server over HTTP has had too many requests, and does not say for how long",
      http,
      [
        silent,
        refused(429),
        refused(429)
      ],
      `${late} > wait, handshake, or a late answer > fail: TransportError`
    ],
    ["not at all when the server over HTTP names a time that is too long", http, [
      legacy,
      refused(429, { "retry-after": "600" })
    ], `${late} > fail: TransportError`],
    ["with a new connection, also after an answer", pipe, [
      legacy,
      refusal,
      "reconnects",
      refusal
    ], "probe > handshake, 15 s, or a late answer > reconnect > handshake > fail: MethodNotFound"],
    [
      "with the revision that the server has named, also on a new connection",
      pipe,
      [supports("2025-06-18"), refusal, "reconnects"],
      "probe > handshake at 2025-06-18, 15 s > reconnect > handshake at 2025-06-18"
    ],
    [
      "with a new connection, after a while, when the server exits",
      pipe,
      [gone, "reconnects"],
      "probe > wait, reconnect > handshake"
    ],
    ["not at all when the server cannot be reached", http, [unreachable], "probe > fail: TransportError"],
    [
      "not at all when it is asked for a login and has `authorize`",
      { ...http, canLogIn: true },
      [asksForLogin],
      "probe > fail: TransportError"
    ],
    ["with the handshake when it is asked for a login and has no `authorize`", http, [asksForLogin], late]
  ])
})

describe("The second attempt of a client of both eras", () => {
  const late = "probe > handshake, or a late answer"
  const silence = "probe > handshake, as long as the probe, or a late answer"
  check([
    ["waits when the server has ended at the handshake", pipe, [silent, ended], `${silence} > wait, reconnect`],
    ["is not made when there is no common revision", pipe, [silent, noCommon], `${silence} > fail: NoCommonVersion`],
    [
      "fails as the first when the server cannot be connected to",
      pipe,
      [gone, "cannot reconnect"],
      "probe > wait, reconnect > fail: ConnectionClosed"
    ],
    ["sends a probe when the server refuses the handshake: it ended for another reason", pipe, [
      gone,
      "reconnects",
      refusal,
      modern
    ], "probe > wait, reconnect > handshake > probe > modern"],
    ["makes the handshake that this probe names", pipe, [
      gone,
      "reconnects",
      refusal,
      supports("2025-06-18")
    ], "probe > wait, reconnect > handshake > probe > handshake at 2025-06-18"],
    ["fails with the refusal when this probe shows no modern server", pipe, [
      gone,
      "reconnects",
      refusal,
      legacy
    ], "probe > wait, reconnect > handshake > probe > fail: MethodNotFound"],
    ["sends no probe when the handshake is not answered", pipe, [
      gone,
      "reconnects",
      timeout
    ], "probe > wait, reconnect > handshake > fail: RequestTimeout"],
    ["is a patient probe where there is no other connection", http, [
      silent,
      refusal,
      supports(MODERN),
      legacy
    ], `${late} > probe, patiently > probe again, patiently > fail: MethodNotFound`],
    ["is not made over HTTP after an answer", http, [legacy, refusal], `${late} > fail: MethodNotFound`],
    ["is not made when the only connection has ended", once, [gone], "probe > fail: ConnectionClosed"]
  ])
})

describe("A client that knows the era", () => {
  check([
    ["sends no message to a modern server of `prior`", { ...http, prior: description }, [], "modern"],
    ["makes the handshake with a legacy server of `prior`", { ...http, prior }, [], "handshake"],
    ["makes the handshake with a server that was legacy", { ...http, known: "2025-06-18" }, [], "handshake"],
    [
      "follows `prior` before an earlier connection",
      { ...http, prior: description, known: "2025-06-18" },
      [],
      "modern"
    ],
    ["sends a probe when a server that was legacy refuses the handshake", { ...pipe, known: "2025-06-18" }, [
      refusal,
      modern
    ], "handshake > probe > modern"],
    [
      "fails when a server that was legacy does not answer the handshake",
      { ...pipe, known: "2025-06-18" },
      [timeout],
      "handshake > fail: RequestTimeout"
    ],
    ["sends a probe to a server that was modern", { ...pipe, known: MODERN }, [], "probe"],
    [
      "makes the handshake in a session that goes on, whatever `prior` says",
      { ...http, isResumed: true, prior: description },
      [refusal],
      "handshake > fail: MethodNotFound"
    ],
    [
      "makes the handshake without a modern revision",
      { ...pipe, modern: [] },
      [refusal],
      "handshake > fail: MethodNotFound"
    ],
    ["fails without a legacy revision", { ...pipe, legacy: [] }, [silent], "probe > fail: RequestTimeout"],
    [
      "fails without a legacy revision when the server is legacy",
      { ...pipe, legacy: [] },
      [legacy],
      "probe > fail: NoCommonVersion"
    ]
  ])
})

describe("What shows the era of a session", () => {
  type Evidence = readonly [Plan.Facts, ReadonlyArray<Happening>, Version.Version, Plan.Contact["evidence"]]
  const rows: ReadonlyArray<Evidence> = [
    [{ ...pipe, modern: [] }, [], "2025-11-25", "given"],
    [{ ...pipe, prior: description }, [], MODERN, "given"],
    [{ ...pipe, known: "2025-11-25" }, [], "2025-11-25", "answer"],
    [{ ...pipe, known: "2025-11-25" }, [refusal, modern], MODERN, "answer"],
    [pipe, [modern], MODERN, "answer"],
    [pipe, [legacy], "2025-11-25", "answer"],
    [http, [legacy], "2025-11-25", "answer"],
    [pipe, [silent], "2025-11-25", "silence"],
    [http, [silent], "2025-11-25", "guess"],
    [http, [silent, refusal, modern], MODERN, "answer"],
    [pipe, [silent, "is late"], MODERN, "answer"],
    [pipe, [legacy, timeout, "reconnects"], "2025-11-25", "relaunch"]
  ]
  for (const [facts, happenings, version, evidence] of rows) {
    const { state, words } = walk(facts, happenings)
    it(`is ${evidence}: ${words}, at ${version}`, () =>
      assert.strictEqual(Plan.contact(state, facts, version).evidence, evidence))
  }
})

describe("The error of a client that gives up", () => {
  const both = /^The server opened no session\. .*"server\/discover" was: (.*)\. The outcome of "initialize" was: (.*)$/
  const skipped = (count: number) =>
    ` Inputs of the server that were not messages and were skipped: ${count}; the first begins with "Wel come"`
  const why = `Request "any" timed out after 5000 ms`
  const rows: ReadonlyArray<readonly [string, Plan.Facts, ReadonlyArray<Happening>, string]> = [
    ["says what became of both requests", once, [silent, refusal, legacy], `${why} | ${refusal.message}`],
    ["says only why the connection ended", pipe, [gone, "cannot reconnect"], ended.message],
    ["asks for the login that the server wants", http, [silent, login], login.message],
    [
      "says what was skipped until the handshake timed out",
      once,
      [[silent, 1], [timeout, 2]],
      `${why} | ${why}.${skipped(2)}`
    ],
    ["says what was skipped until the probe timed out, when the probe was all", { ...pipe, legacy: [] }, [
      [silent, 1]
    ], `${why}.${skipped(1)}`],
    ["says what was skipped before the connection could not be made again", pipe, [
      silent,
      [timeout, 2],
      "cannot reconnect"
    ], `${why} | ${why}.${skipped(2)}`],
    ["says nothing of what was skipped on the connection before", pipe, [
      silent,
      [timeout, 2],
      "reconnects",
      timeout
    ], `${why} | ${why}`],
    [
      "says nothing of what was skipped when the server has answered",
      once,
      [legacy, [refusal, 2]],
      `No | ${refusal.message}`
    ]
  ]
  for (const [sentence, facts, happenings, message] of rows) {
    it(sentence, () => {
      const { action } = walk(facts, happenings)
      assert(action._tag === "Fail")
      const said = both.exec(action.error.message)
      assert.strictEqual(said === null ? action.error.message : said.slice(1).join(" | "), message)
    })
  }
})

describe("All ways of a client", () => {
  const happenings = (action: Plan.Action): ReadonlyArray<Happening> => {
    switch (action._tag) {
      case "Probe":
        return [
          ...[modern, legacy, silent, gone, asksForLogin, unreachable],
          ...[supports("2025-06-18"), supports(MODERN), supports("2030-01-01")]
        ]
      case "Handshake":
        return [refusal, timeout, ended, login, noCommon, ...(action.takesLate ? ["is late" as const] : [])]
      case "Reconnect":
        return ["reconnects", "cannot reconnect"]
      default:
        return []
    }
  }
  const ways = (
    facts: Plan.Facts,
    [state, action]: ReturnType<typeof Plan.begin>
  ): ReadonlyArray<ReadonlyArray<string>> => {
    const next = happenings(action)
    return next.length === 0
      ? [[action._tag]]
      : next.flatMap((happening) => ways(facts, Plan.step(facts, state, eventOf(action, happening)))).map((rest) => [
        action._tag,
        ...rest
      ])
  }
  const kinds = [pipe, once, http, { ...http, canLogIn: true }, { ...http, isResumed: true }].flatMap((facts) =>
    ([undefined, "2025-11-25", MODERN] as const).map((known) => ({ ...facts, known }))
  )

  it("end, connect twice at most, and send no probe right after the second connection", () => {
    const all = kinds.flatMap((facts) =>
      ways(facts, Plan.begin(facts)).map((tags) => [facts.canReconnect ? 1 : 0, tags] as const)
    )
    assert.isAbove(all.length, 500)
    for (const [reconnects, tags] of all) {
      assert.include(["Open", "Fail"], tags.at(-1))
      assert.isAtMost(tags.filter((tag) => tag === "Reconnect").length, reconnects)
      assert.isAtMost(tags.filter((tag) => tag === "Probe").length, 4)
      assert.notInclude(tags.join(), "Reconnect,Probe")
    }
  })
})
