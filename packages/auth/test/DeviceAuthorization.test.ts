import { assert, describe, it } from "@effect/vitest"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as DeviceAuthorization from "@effect-mcp/auth/DeviceAuthorization"
import { Duration, Effect, Fiber, type Scope, TestClock } from "effect"
import * as Net from "./Net.js"
import * as World from "./World.js"

const CODE = {
  device_code: "the-device-code",
  user_code: "WDJB-MJHT",
  verification_uri: "https://auth.test/device",
  verification_uri_complete: "https://auth.test/device?user_code=WDJB-MJHT",
  expires_in: 600,
  interval: 5
}

const TYPE = "urn:ietf:params:oauth:grant-type:device_code"

interface Options extends Partial<DeviceAuthorization.Options> {
  /** What the authorization server answers instead of a code. */
  readonly code?: Readonly<Record<string, unknown>> | Response
  /** What the token endpoint answers, one after the other: an error, or tokens. The last answer stays. */
  readonly answers?: ReadonlyArray<string | number>
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tools?: Readonly<Record<string, string>>
}

/** An authorization server with the device grant, a program, and what its user was shown. */
const make = ({ answers = ["tokens"], code = CODE, metadata, tools, ...options }: Options = {}) => {
  const shown: Array<DeviceAuthorization.Prompt> = []
  let polls = 0
  const world: World.World = World.make({
    clients: { tv: undefined },
    metadata: {
      device_authorization_endpoint: "https://auth.test/device_authorization",
      scopes_supported: ["read", "offline_access"],
      ...metadata
    },
    scope: "read",
    resourceMetadata: { scopes_supported: ["read"] },
    ...(tools === undefined ? {} : { tools }),
    grant: DeviceAuthorization.make({
      preRegistered: [{ issuer: World.ISSUER, clientId: "tv" }],
      show: (prompt) => Effect.sync(() => void shown.push(prompt)),
      ...options
    }),
    instead: ({ form, url }) => {
      if (url.pathname === "/device_authorization") return code instanceof Response ? code.clone() : Net.json(code)
      if (form.get("grant_type") !== TYPE) return undefined
      const answer = answers[Math.min(polls++, answers.length - 1)]!
      if (typeof answer === "number") return new Response("no", { status: answer })
      if (answer !== "tokens") return Net.json({ error: answer }, 400)
      return Effect.map(
        world.server.issue({ resource: World.SERVER, clientId: "tv", scopes: ["read"] }),
        (token) => Net.json({ access_token: token, token_type: "Bearer", expires_in: 3600 })
      )
    }
  })
  return { shown, world }
}

/** Runs with one `Authorization`, which stays. */
const using = <A, E>(
  { world }: ReturnType<typeof make>,
  use: (
    authorization: Authorization.AuthorizationService
  ) => Effect.Effect<A, E, Authorization.Authorization | Scope.Scope>
) => Effect.scoped(Effect.provide(Effect.flatMap(Authorization.Authorization, use), world.layer))

/** Logs in while time passes, and gives the seconds of each request for tokens. */
const login = (device: ReturnType<typeof make>, seconds = 120) =>
  using(device, ({ login }) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.either(login(World.SERVER)))
      const at: Array<number> = []
      for (let second = 0; second < seconds && fiber.unsafePoll() === null; second++) {
        const before = device.world.sent("POST /token").length
        for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
        yield* TestClock.adjust(second === 0 ? 0 : "1 second")
        for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
        if (device.world.sent("POST /token").length > before) at.push(second)
      }
      return { at, result: yield* Fiber.join(fiber) }
    }))

const failed = (device: ReturnType<typeof make>, seconds?: number) =>
  Effect.map(login(device, seconds), ({ result }) => {
    if (result._tag === "Right") throw new Error("The login has succeeded")
    return result.left
  })

describe("A login on another device", () => {
  it.effect("shows the hosts and the code, waits for the user, and sends the tokens from then on", () =>
    Effect.gen(function*() {
      const device = make({ answers: ["authorization_pending", "authorization_pending", "tokens"] })
      const { shown, world } = device
      yield* using(device, ({ login }) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(login(World.SERVER))
          while (fiber.unsafePoll() === null) yield* TestClock.adjust("1 second")
          yield* Fiber.join(fiber)
          const client = yield* world.connect
          yield* client.ping()
        }))
      assert.deepStrictEqual(shown, [{
        server: World.SERVER,
        host: "auth.test",
        userCode: "WDJB-MJHT",
        verificationUri: CODE.verification_uri,
        verificationUriComplete: CODE.verification_uri_complete,
        expiresAt: Duration.toMillis("10 minutes")
      }])
      const [request] = world.sent("POST /device_authorization")
      assert.deepStrictEqual(Object.fromEntries(request!.form), {
        client_id: "tv",
        resource: World.SERVER,
        scope: "read offline_access"
      })
      const polls = world.sent("POST /token")
      assert.lengthOf(polls, 3)
      for (const { form } of polls) {
        assert.deepInclude(Object.fromEntries(form), {
          grant_type: TYPE,
          device_code: CODE.device_code,
          client_id: "tv",
          resource: World.SERVER
        })
      }
      assert.lengthOf(world.opened, 0)
    }))

  it.effect("MUST NOT begin because a server refuses a request, whatever the server answers", () =>
    Effect.gen(function*() {
      const { shown, world } = make({ tools: { write: "write" } })
      const error = yield* World.refused(world)
      assert.strictEqual(error.reason, "LoginRequired")
      assert.match(
        error.message,
        /^https:\/\/mcp\.test\/mcp accepts none of the stored tokens, .*call `login` of `Authorization`/
      )
      assert.lengthOf(shown, 0)
      assert.lengthOf(world.sent("POST /device_authorization"), 0)
    }))

  it.effect("MUST NOT begin again when the server wants more scopes, or no longer accepts the token", () =>
    Effect.gen(function*() {
      const device = make({ tools: { write: "write" } })
      const { shown, world } = device
      yield* using(device, ({ login }) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(login(World.SERVER))
          while (fiber.unsafePoll() === null) yield* TestClock.adjust("1 second")
          const client = yield* world.connect
          const forbidden = World.causeOf(yield* Effect.flip(client.callTool("write")))
          assert.deepInclude(forbidden, { reason: "LoginRequired", error: "insufficient_scope" })
          assert.include(forbidden.message, "\"write\"")
          world.server.revoke()
          assert.strictEqual(World.causeOf(yield* Effect.flip(client.ping())).reason, "LoginRequired")
        }))
      assert.lengthOf(shown, 1)
    }))

  it.effect("MUST ask no more often than the server says, and less often when it is told to slow down", () =>
    Effect.gen(function*() {
      const pending = "authorization_pending"
      const slow = yield* login(make({ answers: [pending, "slow_down", pending, "tokens"] }))
      assert.deepStrictEqual(slow.at, [5, 10, 20, 30])
      const { interval: _, ...without } = CODE
      assert.deepStrictEqual((yield* login(make({ code: without, answers: [pending, "tokens"] }))).at, [5, 10])
      for (const [interval, at] of [[0, 5], [-1, 5], ["2", 5], [0.001, 1], [20, 20], [1e9, 60]] as const) {
        assert.deepStrictEqual((yield* login(make({ code: { ...CODE, interval } }))).at, [at], `${interval}`)
      }
      // A server that is away is asked less often.
      assert.deepStrictEqual((yield* login(make({ answers: [503, 429, pending, "tokens"] }))).at, [5, 15, 35, 55])
    }))

  it.effect("ends when the user denies access, when the code has expired, and with any other error", () =>
    Effect.gen(function*() {
      const denied = yield* failed(make({ answers: ["authorization_pending", "access_denied"] }))
      assert.deepInclude(denied, { reason: "Denied", error: "access_denied" })
      const expired = yield* failed(make({ answers: ["expired_token"] }))
      assert.deepInclude(expired, { reason: "Browser", error: "expired_token" })
      const other = yield* failed(make({ answers: ["invalid_grant"] }))
      assert.deepInclude(other, { reason: "TokenRefused", error: "invalid_grant" })
      for (
        const device of [
          make({ code: { ...CODE, expires_in: 12 }, answers: ["authorization_pending"] }),
          make({
            loginTimeout: "12 seconds",
            answers: ["authorization_pending"]
          })
        ]
      ) {
        const late = yield* failed(device)
        assert.match(late.message, /did not log in at https:\/\/auth\.test before the code expired/)
        assert.lengthOf(device.world.sent("POST /token"), 2)
      }
    }))

  it.effect("MUST NOT show an address that is not https, a code that is not code, or a page of another host as its own", () =>
    Effect.gen(function*() {
      for (
        const uri of [
          "http://auth.test/device",
          "javascript:alert(1)",
          "file:///etc/passwd",
          "https://a:b@auth.test/",
          7,
          undefined
        ]
      ) {
        const device = make({ code: { ...CODE, verification_uri: uri } })
        assert.strictEqual((yield* failed(device)).reason, "UnsafeUrl", String(uri))
        assert.lengthOf(device.shown, 0)
      }
      const bad: ReadonlyArray<Readonly<Record<string, unknown>>> = [
        { user_code: "A\nB" },
        { user_code: "\u202eABC" },
        { user_code: "" },
        { user_code: "x".repeat(65) },
        { user_code: 12 },
        { device_code: undefined },
        { device_code: "x".repeat(5000) }
      ]
      for (const one of bad) {
        const device = make({ code: { ...CODE, ...one } })
        assert.strictEqual((yield* failed(device)).reason, "UntrustedResponse", JSON.stringify(one))
        assert.lengthOf(device.shown, 0)
      }
      for (
        const uri of ["https://evil.test/device?user_code=1", "http://auth.test/device?user_code=1", "x", undefined]
      ) {
        const device = make({ code: { ...CODE, verification_uri_complete: uri } })
        yield* login(device)
        assert.isUndefined(device.shown[0]!.verificationUriComplete)
      }
    }))

  it.effect("says what the authorization server refuses, and what it cannot do", () =>
    Effect.gen(function*() {
      const refused = yield* failed(
        make({ code: Net.json({ error: "invalid_scope", error_description: "no such" }, 400) })
      )
      assert.deepInclude(refused, { reason: "Denied", error: "invalid_scope" })
      assert.include(refused.message, "no such")
      const away = yield* failed(make({ code: new Response("", { status: 502 }) }))
      assert.strictEqual(away.reason, "Unreachable")
      const without = yield* failed(make({ metadata: { device_authorization_endpoint: undefined } }))
      assert.strictEqual(without.reason, "UnsupportedServer")
      const inside = yield* failed(
        make({ metadata: { device_authorization_endpoint: "http://169.254.169.254/device" } })
      )
      assert.strictEqual(inside.reason, "UnsafeUrl")
      const unknown = yield* failed(make({ preRegistered: [] }))
      assert.strictEqual(unknown.reason, "UnknownClient")
    }))

  it.effect("ends when nothing waits for it, when it cannot be shown, and at a logout", () =>
    Effect.gen(function*() {
      const pending = { answers: ["authorization_pending"] }
      const broken = yield* failed(make({ ...pending, show: () => Effect.fail("no screen") }))
      assert.deepInclude(broken, { reason: "Browser", cause: "no screen" })
      let isShown = 0
      const show = () =>
        Effect.acquireUseRelease(Effect.sync(() => isShown++), () => Effect.never, () => Effect.sync(() => isShown--))
      const device = make({ ...pending, show })
      yield* using(device, ({ login, logout }) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(Effect.either(login(World.SERVER)))
          while (isShown === 0) yield* TestClock.adjust("1 second")
          yield* TestClock.adjust("6 seconds")
          yield* logout(World.SERVER)
          const result = yield* Fiber.join(fiber)
          assert.strictEqual(result._tag === "Left" ? result.left.reason : "none", "Denied")
          assert.strictEqual(isShown, 0)
          const polls = device.world.sent("POST /token").length
          yield* TestClock.adjust("1 minute")
          assert.lengthOf(device.world.sent("POST /token"), polls)
        }))
    }))
})
