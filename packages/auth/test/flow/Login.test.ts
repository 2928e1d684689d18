import { assert, describe, it } from "@effect/vitest"
import { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import type { Tokens } from "@effect-mcp/auth/Tokens"
import { Redacted } from "effect"
import * as Login from "../../src/flow/Login.js"
import { nothing, type State } from "../../src/flow/TokenState.js"

const NOW = 1_000_000

const user: Login.Rules = { server: new URL("https://mcp.test/mcp"), isInteractive: true, needsLogin: false }
const atLogin: Login.Rules = { ...user, needsLogin: true }
const program: Login.Rules = { ...user, isInteractive: false }

const binding = { issuer: "https://auth.test", resource: "https://mcp.test/mcp", scopes: ["read"], key: undefined }

const tokens = (fields: Partial<Tokens> = {}): Tokens => ({
  accessToken: Redacted.make("now"),
  type: "Bearer",
  expiresAt: NOW + 60_000,
  renewAt: NOW + 30_000,
  refreshToken: Redacted.make("refresh"),
  scopes: undefined,
  ...fields
})
const lasting = tokens({ refreshToken: undefined })

/** What is known of a server whose user has logged in before. */
const known = (fields: Partial<State> = {}): State => ({ ...nothing, binding, tokens: tokens(), ...fields })

const wanted = { resourceMetadata: undefined, scopes: undefined, error: undefined, description: undefined }

/** The need of a request that was sent with the tokens that are known, unless the fields say otherwise. */
const need = (fields: Partial<Login.Need> = {}): Login.Need => ({
  wanted,
  sent: "Bearer now",
  missing: undefined,
  attempt: 1,
  version: "2025-11-25",
  ...fields
})
const lacks = (scope: string, fields: Partial<Login.Need> = {}): Login.Need =>
  need({ missing: [scope], wanted: { ...wanted, error: "insufficient_scope", scopes: [scope] }, ...fields })
const before = { sent: "Bearer before" }
const without = { sent: undefined }

const failing = (reason: AuthorizationError["reason"]) => new AuthorizationError({ reason, message: reason })

const word = (answer: Login.Answer): string => answer._tag === "Fail" ? `Fail with ${answer.error.reason}` : answer._tag

describe("Login before a request:", () => {
  const due = { renewAt: NOW, expiresAt: NOW + 1 }
  const over = { renewAt: NOW - 1, expiresAt: NOW }
  const asking = { ...Login.none, running: 1 }
  const rows: ReadonlyArray<readonly [string, Login.Rules, Tokens, Login.History, string]> = [
    ["tokens that are not due are sent", user, tokens({ renewAt: NOW + 1 }), Login.none, "Send"],
    ["tokens that the server gives no time for are sent", user, tokens({ renewAt: undefined }), Login.none, "Send"],
    ["expired tokens that only the user can renew are sent", user, { ...lasting, ...over }, Login.none, "Send"],
    ["tokens that are due are renewed meanwhile", user, tokens(due), Login.none, "RenewMeanwhile"],
    ["expired tokens are renewed first", user, tokens(over), Login.none, "RenewFirst"],
    [
      "tokens without an end are renewed first",
      user,
      tokens({ ...over, expiresAt: undefined }),
      Login.none,
      "RenewFirst"
    ],
    ["expired tokens are sent while the user may be asked", user, tokens(over), asking, "RenewMeanwhile"],
    ["a program renews by its grant", program, { ...lasting, ...over }, Login.none, "RenewFirst"]
  ]
  it("tokens without a refresh token are renewed without the user by a program only", () => {
    assert.isTrue(Login.mayRenew(program, lasting))
    assert.isFalse(Login.mayRenew(user, lasting))
    assert.isTrue(Login.mayRenew(user, tokens()))
  })

  for (const [sentence, rules, held, history, expected] of rows) {
    it(sentence, () => assert.strictEqual(Login.beforeRequest(rules, held, history, NOW), expected))
  }
})

describe("Login after a refusal:", () => {
  const caused = { status: 401, isQuiet: false }
  const quiet = { status: 401, isQuiet: true }
  const forbidden = { status: 403, isQuiet: false }
  const rows: ReadonlyArray<readonly [string, State, Login.Need, typeof caused, string]> = [
    ["a request without tokens gets tokens", nothing, need(without), caused, "GetTokens"],
    ["a request gets tokens in place of refused tokens", known(), need(), caused, "GetTokens"],
    ["a request is sent with the tokens that another request got", known(), need(before), caused, "SendAgain"],
    [
      "a request that had no tokens is sent with the tokens of another one",
      known(),
      need(without),
      caused,
      "SendAgain"
    ],
    ["a token of a refresh may be refused", known(), need({ attempt: 2 }), caused, "GetTokens"],
    ["a token of a login, used before, may be refused", known({ isFresh: true }), need(), caused, "GetTokens"],
    [
      "a token that the request has just got is not refused without an error",
      known({ isFresh: true }),
      need({ attempt: 2 }),
      caused,
      "Fail with TokenRefused"
    ],
    ["a request has a third attempt at tokens", known(), need({ attempt: 3 }), caused, "GetTokens"],
    ["a request has no fourth attempt", known(), need({ ...before, attempt: 4 }), caused, "LeaveRefused"],
    ["403 that asks for no scopes is final", known(), need(), forbidden, "LeaveRefused"],
    ["403 with scopes is final without the code", known(), need({ missing: ["write"] }), forbidden, "LeaveRefused"],
    [
      "403 with the code is final without scopes",
      known(),
      lacks("write", { missing: undefined }),
      forbidden,
      "LeaveRefused"
    ],
    ["missing scopes are requested", known(), lacks("write"), forbidden, "GetTokens"],
    [
      "missing scopes are requested although others were",
      known({ requested: ["read"] }),
      lacks("write"),
      forbidden,
      "GetTokens"
    ],
    [
      "scopes that were requested are not requested again",
      known({ requested: ["read", "write"] }),
      lacks("write"),
      forbidden,
      "Fail with InsufficientScope"
    ],
    [
      "scopes that another program requested are not requested again",
      known(),
      lacks("read"),
      forbidden,
      "Fail with InsufficientScope"
    ],
    [
      "a request is sent with the scopes that another request got",
      known({ requested: ["write"] }),
      lacks("write", before),
      forbidden,
      "SendAgain"
    ],
    [
      "a request gets scopes that another request did not ask for",
      known({ requested: ["read"] }),
      lacks("write", before),
      forbidden,
      "GetTokens"
    ],
    ["a quiet request refreshes", known(), need(), quiet, "Renew"],
    ["a quiet request refreshes once", known(), need({ attempt: 2 }), quiet, "LeaveRefused"],
    [
      "a quiet request is sent with the tokens of another one",
      known(),
      need({ ...before, attempt: 2 }),
      quiet,
      "SendAgain"
    ],
    ["a quiet request does not ask for tokens", nothing, need(without), quiet, "LeaveRefused"],
    ["a quiet request does not ask without a refresh token", known({ tokens: lasting }), need(), quiet, "LeaveRefused"],
    [
      "a quiet request does not ask for scopes",
      known(),
      lacks("write"),
      { ...forbidden, isQuiet: true },
      "LeaveRefused"
    ]
  ]
  for (const [sentence, state, why, refusal, expected] of rows) {
    it(sentence, () => assert.strictEqual(word(Login.afterRefusal(user, state, why, refusal)), expected))
  }

  const only: ReadonlyArray<readonly [string, State, Login.Need, typeof caused, string]> = [
    ["does not ask for tokens", nothing, need(without), caused, "Fail with LoginRequired"],
    ["does not ask for scopes", known(), lacks("write"), forbidden, "Fail with LoginRequired"],
    ["refreshes", known(), need(), caused, "Renew or fail with LoginRequired"],
    ["refreshes once", known(), need({ attempt: 2 }), caused, "Fail with LoginRequired"],
    ["is sent with the tokens of another request", known(), need(before), caused, "SendAgain"],
    ["stays refused when it is quiet", nothing, need(without), quiet, "LeaveRefused"]
  ]
  for (const [sentence, state, why, refusal, expected] of only) {
    it(`a request of a grant that needs a call of login ${sentence}`, () => {
      const answer = Login.afterRefusal(atLogin, state, why, refusal)
      const otherwise = answer._tag === "Renew" && answer.otherwise !== undefined
      assert.strictEqual(word(answer) + (otherwise ? ` or fail with ${answer.otherwise.reason}` : ""), expected)
    })
  }

  it("a program gets tokens for a quiet request", () =>
    assert.strictEqual(word(Login.afterRefusal(program, nothing, need(without), quiet)), "GetTokens"))

  it("a refused token is not in the error that says why", () => {
    const secret = "secret-of-the-token-0123456789"
    const state = known({ isFresh: true, tokens: tokens({ accessToken: Redacted.make(secret) }) })
    const described = { ...wanted, description: `the token ${secret} is too old` }
    const why = need({ attempt: 2, sent: `Bearer ${secret}`, wanted: described })
    const answer = Login.forNeed(user, state, why)
    const message = answer._tag === "Fail" ? answer.error.message : ""
    assert.include(message, "is too old")
    assert.notInclude(message, secret)
  })
})

describe("The user", () => {
  const learned = (...events: ReadonlyArray<Login.Event>): Login.History =>
    events.reduce((history, event, second) => Login.learn(history, event, NOW + second * 1000), Login.none)
  const asking: Login.Event = { _tag: "Asking" }
  const failed = (reason: AuthorizationError["reason"], hasConsent = false): Login.Event => ({
    _tag: "AskingFailed",
    error: failing(reason),
    hasConsent
  })
  const ended = (reason: AuthorizationError["reason"]): Login.Event => ({
    _tag: "RequestFailed",
    error: failing(reason)
  })
  const reset: Login.Event = { _tag: "Reset" }
  const whyNot = (rules: Login.Rules, history: Login.History, now: number) =>
    (Login.whyNotBegin(rules, history, now) ?? Login.whyNotAsk(rules, history, now))?.reason ?? "Ask"

  // The events are a second apart, and the question comes so many seconds after the first event.
  const rows: ReadonlyArray<readonly [string, ReadonlyArray<Login.Event>, number, string]> = [
    ["is asked", [], 0, "Ask"],
    ["is not asked soon after a login that the user denied", [asking, failed("Denied")], 30.999, "Denied"],
    ["is asked half a minute after that", [asking, failed("Denied")], 31, "Ask"],
    ["is asked again when nothing was shown", [asking, failed("Unreachable")], 2, "Ask"],
    ["is asked again when the client was not known", [asking, failed("UnknownClient")], 2, "Ask"],
    ["is not asked soon when nothing came after the consent", [asking, failed("Unreachable", true)], 2, "Unreachable"],
    ["is not asked soon for a server that refuses new tokens", [asking, ended("TokenRefused")], 2, "TokenRefused"],
    ["is asked for a request whose scopes were not granted", [asking, ended("InsufficientScope")], 2, "Ask"],
    ["is asked a fourth time", [asking, asking, asking], 10, "Ask"],
    ["is not asked a fifth time", [asking, asking, asking, asking], 10, "InsufficientScope"],
    ["is not asked a fifth time within ten minutes", [asking, asking, asking, asking], 599.999, "InsufficientScope"],
    ["is asked ten minutes after the first time", [asking, asking, asking, asking], 600, "Ask"],
    ["was not asked where nothing was shown", [asking, asking, asking, asking, failed("Unreachable")], 10, "Ask"],
    ["is asked when the program wants a login", [asking, asking, asking, asking, reset], 10, "Ask"],
    ["is asked for a login of the program after a failure", [asking, failed("Denied"), reset], 3, "Ask"]
  ]
  for (const [sentence, events, seconds, expected] of rows) {
    it(sentence, () => assert.strictEqual(whyNot(user, learned(...events), NOW + seconds * 1000), expected))
  }

  it("does not exist for a program", () => {
    assert.strictEqual(whyNot(program, learned(asking, asking, asking, asking, failed("Denied")), NOW + 5000), "Ask")
  })

  it("may be asked until the last run has ended, also when a login or a logout comes between", () => {
    const counts = [
      { _tag: "RunBegan" },
      { _tag: "RunBegan" },
      reset,
      { _tag: "RunEnded" },
      { _tag: "RunEnded" }
    ] as const
    assert.deepStrictEqual(counts.map((_, index) => learned(...counts.slice(0, index + 1)).running), [1, 2, 2, 1, 0])
  })
})

describe("A run that gets tokens", () => {
  const found = (state: State, fields: Partial<typeof binding> = {}): Login.Found => {
    const { issuer, resource } = { ...binding, ...fields }
    return { known: state, discovered: { resource, scopes: undefined, isPublished: true, server: { issuer } as never } }
  }
  const rows: ReadonlyArray<readonly [string, boolean, boolean]> = [
    ["looks for tokens of another process", Login.mayBeStored(need()), true],
    ["does not look when the request had no token", Login.mayBeStored(need(without)), false],
    ["does not look after the second refusal", Login.mayBeStored(need({ attempt: 2 })), false],
    ["does not look for more scopes", Login.mayBeStored(lacks("write")), false],
    ["refreshes", Login.mayRefresh(need(), found(known())), true],
    ["refreshes for a request without a token", Login.mayRefresh(need(without), found(known())), true],
    ["does not refresh without a refresh token", Login.mayRefresh(need(), found(known({ tokens: lasting }))), false],
    ["does not refresh after the second refusal", Login.mayRefresh(need({ attempt: 2 }), found(known())), false],
    ["does not refresh for more scopes", Login.mayRefresh(lacks("write"), found(known())), false],
    [
      "does not refresh at another authorization server",
      Login.mayRefresh(need(), found(known(), { issuer: "https://other.test" })),
      false
    ],
    [
      "does not refresh for another resource",
      Login.mayRefresh(need(), found(known(), { resource: "https://mcp.test" })),
      false
    ]
  ]
  for (const [sentence, actual, expected] of rows) it(sentence, () => assert.strictEqual(actual, expected))
})

describe("All ways of a request", () => {
  /** What a run may have done to the tokens: nothing, another login, or a refresh. Each time other scopes were requested. */
  const outcomes = ["Nothing", "Login", "Renew"] as const
  const states = [
    nothing,
    known(),
    known({ isFresh: true }),
    known({ tokens: lasting }),
    known({ requested: ["write"] })
  ]
  const refusals = [
    { status: 401, isQuiet: false },
    { status: 401, isQuiet: true },
    { status: 403, isQuiet: false },
    { status: 403, isQuiet: true }
  ]
  const after = (state: State, outcome: typeof outcomes[number], attempt: number): State =>
    outcome === "Nothing" ? state : {
      ...state,
      binding,
      tokens: tokens({ accessToken: Redacted.make(`${outcome} ${attempt}`) }),
      isFresh: outcome === "Login"
    }
  const headerOf = ({ tokens }: State) =>
    tokens === undefined ? undefined : `Bearer ${Redacted.value(tokens.accessToken)}`

  /** Sends a request until it ends, on every way, and gives the words of each way. The server refuses every attempt. */
  const walk = (
    rules: Login.Rules,
    refusal: typeof refusals[number],
    state: State,
    sent = headerOf(state),
    attempt = 1
  ): ReadonlyArray<ReadonlyArray<string>> => {
    const why = refusal.status === 403 ? lacks("write", { sent, attempt }) : need({ sent, attempt })
    const answer = Login.afterRefusal(rules, state, why, refusal)
    if (answer._tag === "LeaveRefused" || answer._tag === "Fail") return [[word(answer)]]
    const next = answer._tag === "SendAgain" ? [state] : outcomes.map((outcome) => after(state, outcome, attempt))
    return next.flatMap((state) =>
      walk(rules, refusal, state, headerOf(state), attempt + 1).map((words) => [answer._tag, ...words])
    )
  }
  const ways = [user, program].flatMap((rules) =>
    refusals.flatMap((refusal) =>
      states.flatMap((state) =>
        [headerOf(state), "Bearer before"].flatMap((sent) =>
          walk(rules, refusal, state, sent).map((words) => ({ rules, refusal, words }))
        )
      )
    )
  )

  it("end within four refusals", () => {
    assert.isAbove(ways.length, 100)
    for (const { words } of ways) assert.isAtMost(words.length, 4, words.join(" > "))
  })

  it("ask the user only for a request that the user caused", () => {
    for (const { refusal, rules, words } of ways) {
      if (rules.isInteractive && refusal.isQuiet) assert.notInclude(words, "GetTokens")
      else assert.notInclude(words, "Renew")
    }
  })

  it("use every word", () => {
    assert.deepStrictEqual([...new Set(ways.flatMap(({ words }) => words))].sort(), [
      "Fail with InsufficientScope",
      "Fail with TokenRefused",
      "GetTokens",
      "LeaveRefused",
      "Renew",
      "SendAgain"
    ])
  })
})
