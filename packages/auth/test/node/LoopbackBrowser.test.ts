import { assert, describe, it } from "@effect/vitest"
import { Browser } from "@effect-mcp/auth/Browser"
import * as LoopbackBrowser from "@effect-mcp/auth/node/LoopbackBrowser"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { request } from "node:http"
import { dial, until } from "../../../node/test/HttpFixture.js"
import * as OpenUrl from "../../src/node/browser/OpenUrl.js"

const AUTHORIZE = new URL("https://auth.test/authorize?state=right")

/** A login whose URL a test opens itself. */
const begin = (options: LoopbackBrowser.Options = {}, registered: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const opened = yield* Deferred.make<URL>()
    const open = (url: URL) => Effect.asVoid(Deferred.succeed(opened, url))
    const browser = yield* Effect.provide(Browser, LoopbackBrowser.layerWith({ open, ...options }))
    const login = yield* browser.login(registered)
    const waiting = yield* Effect.fork(login.open(AUTHORIZE, "right"))
    yield* Deferred.await(opened)
    return { redirectUri: login.redirectUri, waiting }
  })

interface Page {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

const get = (url: string, options: { readonly method?: string; readonly host?: string } = {}) =>
  Effect.async<Page>((resume) => {
    const headers = options.host === undefined ? {} : { host: options.host }
    request(url, { method: options.method ?? "GET", headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk) => text += chunk)
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode, headers: response.headers, text })))
    }).on("error", (cause) => resume(Effect.die(cause))).end()
  })

describe("The browser of a desktop program", () => {
  it.scopedLive("opens the login, and receives its response on 127.0.0.1 under a random path", () =>
    Effect.gen(function*() {
      const { redirectUri, waiting } = yield* begin()
      assert.match(redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}$/)
      const page = yield* get(`${redirectUri}?code=a%2Bb&state=right&iss=https%3A%2F%2Fauth.test`)
      const response = yield* Fiber.join(waiting)
      assert.deepStrictEqual(Object.fromEntries(response), { code: "a+b", state: "right", iss: "https://auth.test" })
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "You can close this window")
      assert.deepInclude(page.headers, { "cache-control": "no-store", "referrer-policy": "no-referrer" })
      assert.include(page.headers["content-security-policy"], "default-src 'none'")
    }))

  it.scopedLive("SHOULD go on waiting when a response has another state, another path, method or host", () =>
    Effect.gen(function*() {
      const { redirectUri, waiting } = yield* begin()
      const { host, origin } = new URL(redirectUri)
      const wrong = [
        [`${redirectUri}?code=evil&state=wrong`, {}, 400],
        [`${redirectUri}?code=evil`, {}, 400],
        [`${redirectUri}?code=evil&state=right&state=right`, {}, 400],
        [`${origin}/callback?code=evil&state=right`, {}, 404],
        [`${origin}//`, {}, 404],
        [`${redirectUri}?code=evil&state=right`, { method: "POST" }, 404],
        [`${redirectUri}?code=evil&state=right`, { host: "evil.test" }, 404],
        [`${redirectUri}?code=evil&state=right`, { host: `evil.test:${host.split(":")[1]}` }, 404]
      ] as const
      for (const [url, options, status] of wrong) assert.strictEqual((yield* get(url, options)).status, status)
      yield* get(`${redirectUri}?code=good&state=right`)
      assert.strictEqual((yield* Fiber.join(waiting)).get("code"), "good")
      // A response is taken once.
      assert.strictEqual((yield* get(`${redirectUri}?code=again&state=right`)).status, 400)
    }))

  it.scopedLive("shows nothing of what a request holds", () =>
    Effect.gen(function*() {
      const { redirectUri } = yield* begin()
      for (const state of ["wrong", "right"]) {
        const { text } = yield* get(`${redirectUri}?error=<script>&error_description=EVIL&state=${state}`)
        assert.notMatch(text, /script>|EVIL|wrong|right/)
      }
    }))

  it.scopedLive("MUST NOT send the browser on to an address that a request names", () =>
    Effect.gen(function*() {
      const { redirectUri } = yield* begin()
      const elsewhere = encodeURIComponent("https://attacker.test/")
      for (const state of ["wrong", "right"]) {
        for (const name of ["redirect_uri", "next", "error_uri", "iss"]) {
          const { headers, text } = yield* get(`${redirectUri}?state=${state}&error=x&${name}=${elsewhere}`)
          assert.notProperty(headers, "location")
          assert.notProperty(headers, "refresh")
          assert.notInclude(text, "attacker.test")
        }
      }
    }))

  it.scopedLive("MUST NOT be shown in a frame, and sets no cookie", () =>
    Effect.gen(function*() {
      const { redirectUri } = yield* begin()
      for (const url of [redirectUri, `${redirectUri}?state=wrong`, `${redirectUri}?state=right`]) {
        const { headers } = yield* get(url)
        assert.include(headers["content-security-policy"], "frame-ancestors 'none'")
        assert.notProperty(headers, "set-cookie")
      }
    }))

  it.scopedLive("listens only while the login is open", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { redirectUri } = yield* Scope.extend(begin(), scope)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(get(redirectUri))))
    }))

  it.scopedLive("has at most 16 connections, and takes the response although others have come before and send nothing", () =>
    Effect.gen(function*() {
      const { redirectUri, waiting } = yield* begin()
      const idle = yield* Effect.replicateEffect(dial(Number(new URL(redirectUri).port)), 40)
      yield* until(() => idle.slice(0, 24).every(({ closed }) => closed()))
      yield* get(`${redirectUri}?code=good&state=right`)
      assert.strictEqual((yield* Fiber.join(waiting)).get("code"), "good")
    }))

  it.scopedLive("takes the response of a browser that has hundreds of large cookies for this machine", () =>
    Effect.gen(function*() {
      const { redirectUri, waiting } = yield* begin()
      const cookie = Array.from({ length: 180 }, (_, n) => `program-${n}=${"x".repeat(4000)}`).join("; ")
      const status = yield* Effect.async<number | undefined>((resume) => {
        request(`${redirectUri}?code=good&state=right`, { headers: { cookie } }, (response) => {
          response.resume().on("end", () => resume(Effect.succeed(response.statusCode)))
        }).on("error", (cause) => resume(Effect.die(cause))).end()
      })
      assert.strictEqual(status, 200)
      assert.strictEqual((yield* Fiber.join(waiting)).get("code"), "good")
    }))

  it.scopedLive("takes no response that is longer than 16 KiB", () =>
    Effect.gen(function*() {
      const { redirectUri, waiting } = yield* begin()
      const statusOf = (length: number) =>
        Effect.map(get(`${redirectUri}?code=${"x".repeat(length)}&state=right`), ({ status }) => status)
      assert.strictEqual(yield* statusOf(16 * 1024), 431)
      assert.strictEqual(yield* statusOf(15 * 1024), 200)
      assert.lengthOf((yield* Fiber.join(waiting)).get("code")!, 15 * 1024)
    }))

  it.scopedLive("uses the port and the path that are registered", () =>
    Effect.gen(function*() {
      const port = Number(new URL((yield* Effect.scoped(begin())).redirectUri).port)
      const { redirectUri } = yield* begin({ port, path: "/callback" })
      assert.strictEqual(redirectUri, `http://127.0.0.1:${port}/callback`)
      const error = yield* Effect.flip(begin({ port }))
      assert.deepInclude(error, { _tag: "AuthorizationError", reason: "Browser" })
    }))

  it.scopedLive("listens where the client has registered before, unless the port is taken or the options say otherwise", () =>
    Effect.gen(function*() {
      const first = yield* Effect.scoped(begin())
      const again = yield* Effect.scoped(begin({}, ["https://host.test/callback", "no URL", first.redirectUri]))
      assert.strictEqual(again.redirectUri, first.redirectUri)
      const other = yield* begin({ path: "/callback" }, [first.redirectUri])
      assert.strictEqual(new URL(other.redirectUri).pathname, "/callback")
      const taken = yield* begin({}, [other.redirectUri])
      assert.notStrictEqual(taken.redirectUri, other.redirectUri)
      assert.match(taken.redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}$/)
    }))

  it.scopedLive("fails when the address cannot be opened", () =>
    Effect.gen(function*() {
      const browser = yield* Effect.provide(
        Browser,
        LoopbackBrowser.layerWith({ open: () => Effect.fail("no display") })
      )
      const login = yield* browser.login([])
      const error = yield* Effect.flip(login.open(AUTHORIZE, "right"))
      assert.deepInclude(error, { reason: "Browser", cause: "no display" })
    }))
})

describe("Opening a URL", () => {
  const evil = "https://auth.test/$(id)/`id`?a=1&b=--flag&c=\"';|<>%20\n#x"

  it.live("MUST NOT use a shell: the program is given the URL as one argument", () =>
    Effect.gen(function*() {
      const check =
        "const [url, ...more] = process.argv.slice(1); process.exit(more.length === 0 && url === process.env.EXPECTED ? 0 : 9)"
      process.env["EXPECTED"] = new URL(evil).href
      yield* OpenUrl.open(new URL(evil), [process.execPath, "-e", check, "--"])
      for (const platform of ["darwin", "win32", "linux"] as const) {
        assert.notInclude(["cmd", "cmd.exe", "sh", "powershell"], OpenUrl.commandOf(platform)[0])
      }
    }))

  it.live("MUST be refused when it is neither http nor https", () =>
    Effect.gen(function*() {
      for (const url of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x"]) {
        const error = yield* Effect.flip(OpenUrl.open(new URL(url), [process.execPath, "-e", "0", "--"]))
        assert.strictEqual(error.reason, "Browser")
      }
    }))

  it.live("fails when the program is missing or fails, or the system does not take so long an address", () =>
    Effect.gen(function*() {
      const missing = yield* Effect.flip(OpenUrl.open(AUTHORIZE, ["/nowhere/at/all"]))
      assert.include(missing.message, "there is no program")
      const failing = yield* Effect.flip(OpenUrl.open(AUTHORIZE, [process.execPath, "-e", "process.exit(3)", "--"]))
      assert.include(failing.message, "ended with 3")
      const long = new URL(`?scope=${"s".repeat(3_000_000)}`, AUTHORIZE)
      const refused = yield* Effect.flip(OpenUrl.open(long, [process.execPath, "-e", "0", "--"]))
      assert.match(refused.message, /does not take an address of 30000\d\d characters/)
    }))
})
