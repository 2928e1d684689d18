import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import type { AuthorizationError } from "../../src/AuthorizationError.js"
import * as Discovery from "../../src/discovery/Discovery.js"
import * as Net from "../Net.js"

const PRM = "/.well-known/oauth-protected-resource"
const OAUTH = "/.well-known/oauth-authorization-server"
const OIDC = "/.well-known/openid-configuration"

const resource = "https://mcp.test/mcp"

const metadata = (issuer: string, more: object = {}) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  code_challenge_methods_supported: ["S256"],
  ...more
})

interface Options extends Partial<Pick<Discovery.Choice, "exceptions" | "order">> {
  readonly challenged?: string
  readonly server?: string
  /** The issuers that there are credentials for. */
  readonly known?: ReadonlyArray<string>
}

const discover = (net: Net.Net, options: Options = {}) =>
  Discovery.discover(
    {
      client: net.client,
      policy: { server: new URL(options.server ?? resource), chosen: [], privateHosts: [] },
      timeout: "30 seconds",
      maxBytes: 10_000,
      headers: { "mcp-protocol-version": "2025-11-25" }
    },
    { resourceMetadata: options.challenged },
    {
      exceptions: options.exceptions ?? [],
      order: options.order,
      isKnown: (issuer) => options.known?.includes(issuer) === true,
      documentsOf: (documents) => documents
    }
  )

const failing = (net: Net.Net, options?: Options) =>
  Effect.map(Effect.flip(discover(net, options)), ({ message, reason }: AuthorizationError) => ({ message, reason }))

const issuer = "https://auth.test"
const published = { resource, authorization_servers: [issuer] }

describe("The metadata of a resource", () => {
  it.effect("MUST be taken from the address that the challenge names", () =>
    Effect.gen(function*() {
      const net = Net.make({
        "https://mcp.test": Net.documents({ "/custom.json": published }),
        [issuer]: Net.documents({ [OAUTH]: metadata(issuer) })
      })
      const found = yield* discover(net, { challenged: "https://mcp.test/custom.json" })
      assert.strictEqual(found.resource, resource)
      assert.deepStrictEqual(net.log(), ["GET https://mcp.test/custom.json", `GET ${issuer}${OAUTH}`])
    }))

  it.effect("is looked for at the well-known addresses when the challenge names an address that has none", () =>
    Effect.gen(function*() {
      const challenged = "https://mcp.test/gone.json"
      const net = Net.make({
        "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: published }),
        [issuer]: Net.documents({ [OAUTH]: metadata(issuer) })
      })
      assert.strictEqual((yield* discover(net, { challenged })).server.issuer, issuer)
      assert.deepStrictEqual(net.log().slice(0, 2), [`GET ${challenged}`, `GET https://mcp.test${PRM}/mcp`])
      // The server has said that it has metadata: the rules for servers without any are not used.
      const none = Net.make({ "https://mcp.test": Net.notFound })
      const { message, reason } = yield* failing(none, { challenged })
      assert.strictEqual(reason, "InvalidMetadata")
      assert.include(message, "or at the well-known addresses of the server")
      assert.lengthOf(none.log(), 3)
      // Nor is the document of another server taken there.
      const evil = { ...published, resource: "https://evil.test/mcp" }
      const other = Net.make({ "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: evil }) })
      assert.strictEqual((yield* failing(other, { challenged })).reason, "InvalidMetadata")
    }))

  it.effect("MUST be looked for with the path of the server, then without", () =>
    Effect.gen(function*() {
      const net = Net.make({
        "https://mcp.test": Net.documents({ [PRM]: { ...published, resource: "https://mcp.test" } }),
        [issuer]: Net.documents({ [OAUTH]: metadata(issuer) })
      })
      const found = yield* discover(net)
      assert.strictEqual(found.resource, "https://mcp.test")
      assert.deepStrictEqual(net.log().slice(0, 2), [`GET https://mcp.test${PRM}/mcp`, `GET https://mcp.test${PRM}`])
    }))

  for (
    const [what, value] of [
      ["another origin", "https://evil.test/mcp"],
      ["another path", "https://mcp.test/other"],
      ["a path below", "https://mcp.test/mcp/deeper"],
      ["a path that begins alike", "https://mcp.test/mc"],
      ["another scheme", "http://mcp.test/mcp"],
      ["a fragment", "https://mcp.test/mcp#x"],
      ["credentials", "https://u:p@mcp.test/mcp"],
      ["a query", "https://mcp.test/mcp?tenant=1"],
      ["no URL", "mcp"],
      ["nothing", undefined]
    ] as const
  ) {
    it.effect(`MUST NOT be used when it is for ${what}`, () =>
      Effect.gen(function*() {
        const net = Net.make({
          "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: { ...published, resource: value } })
        })
        assert.strictEqual((yield* failing(net)).reason, "InvalidMetadata")
        assert.lengthOf(net.log(), 1)
      }))
  }

  it.effect("MUST name an authorization server", () =>
    Effect.gen(function*() {
      for (const servers of [undefined, [], [1], "https://auth.test"]) {
        const net = Net.make({
          "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: { resource, authorization_servers: servers } })
        })
        assert.strictEqual((yield* failing(net)).message, "The metadata of the resource names no authorization server")
      }
    }))

  it.effect("is not taken to be missing when the server fails", () =>
    Effect.gen(function*() {
      for (const status of [500, 503, 429]) {
        const net = Net.make({ "https://mcp.test": () => Net.json({}, status) })
        assert.include(["InvalidMetadata", "Unreachable"], (yield* failing(net)).reason)
        assert.lengthOf(net.log(), 1)
      }
    }))
})

describe("The metadata of an authorization server", () => {
  const addresses = (issuer: string) => {
    const { origin, pathname } = new URL(issuer)
    const path = pathname.replace(/\/$/, "")
    return path === "" ? [OAUTH, OIDC].map((one) => `${origin}${one}`) : [
      `${origin}${OAUTH}${path}`,
      `${origin}${OIDC}${path}`,
      `${origin}${path}${OIDC}`
    ]
  }

  for (const issuer of ["https://auth.test", "https://auth.test/", "https://auth.test/t1", "https://auth.test/a/b/"]) {
    for (const [nth, address] of addresses(issuer).entries()) {
      it.effect(`MUST be looked for in order, and be found at ${address} for ${issuer}`, () =>
        Effect.gen(function*() {
          const net = Net.make({
            "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: { ...published, authorization_servers: [issuer] } }),
            "https://auth.test": Net.documents({ [new URL(address).pathname]: metadata(issuer) })
          })
          assert.strictEqual((yield* discover(net)).server.issuer, issuer)
          const asked = addresses(issuer).slice(0, nth + 1).map((one) => `GET ${one}`)
          assert.deepStrictEqual(net.log().slice(1), asked)
        }))
    }
  }

  it.effect("MUST name the issuer exactly", () =>
    Effect.gen(function*() {
      for (
        const named of ["https://evil.test", "https://auth.test/", "https://AUTH.test", "https://auth.test:443", 1]
      ) {
        const net = Net.make({
          "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: published }),
          [issuer]: Net.documents({ [OAUTH]: { ...metadata(issuer), issuer: named }, [OIDC]: metadata(issuer) })
        })
        assert.strictEqual((yield* failing(net)).reason, "InvalidMetadata")
        assert.deepStrictEqual(net.log().slice(1), [`GET ${issuer}${OAUTH}`])
      }
    }))

  it.effect("MUST NOT be used when it names an endpoint that is not https, or private", () =>
    Effect.gen(function*() {
      const bad = [
        { token_endpoint: "http://auth.test/token" },
        { token_endpoint: "https://169.254.169.254/token" },
        { registration_endpoint: "https://10.0.0.1/register" },
        { authorization_endpoint: "javascript:alert(1)" },
        { authorization_endpoint: "file:///etc/passwd" }
      ]
      for (const more of bad) {
        const net = Net.make({
          "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: published }),
          [issuer]: Net.documents({ [OAUTH]: metadata(issuer, more) })
        })
        assert.strictEqual((yield* failing(net)).reason, "UnsafeUrl")
      }
    }))

  it.effect("SHOULD NOT be looked for at a private address", () =>
    Effect.gen(function*() {
      for (const bad of ["https://169.254.169.254", "https://localhost", "http://auth.test", "file:///x"]) {
        const net = Net.make({
          "https://mcp.test": Net.documents({ [`${PRM}/mcp`]: { ...published, authorization_servers: [bad] } })
        })
        assert.strictEqual((yield* failing(net)).reason, "UnsafeUrl")
        assert.strictEqual((yield* failing(net, { challenged: `${bad}/prm` })).reason, "UnsafeUrl")
        assert.lengthOf(net.log(), 1)
      }
    }))
})

describe("A server without metadata of its resource", () => {
  it.effect("MUST be asked for metadata at its origin, then the default endpoints are used", () =>
    Effect.gen(function*() {
      const old = "https://mcp.test"
      const some = Net.make({
        [old]: Net.documents({ [OAUTH]: metadata(old, { token_endpoint: `${old}/oauth/token` }) })
      })
      const found = yield* discover(some)
      assert.deepInclude(found, { resource, isPublished: false })
      assert.deepInclude(found.server, { issuer: old, tokenEndpoint: `${old}/oauth/token` })
      const none = Net.make({ [old]: Net.notFound })
      assert.deepInclude((yield* discover(none)).server, {
        issuer: old,
        authorizationEndpoint: `${old}/authorize`,
        tokenEndpoint: `${old}/token`,
        registrationEndpoint: `${old}/register`
      })
      assert.deepStrictEqual(none.log(), [`GET ${old}${PRM}/mcp`, `GET ${old}${PRM}`, `GET ${old}${OAUTH}`])
      const evil = Net.make({ [old]: Net.documents({ [OAUTH]: metadata("https://good.test") }) })
      assert.strictEqual((yield* failing(evil)).reason, "InvalidMetadata")
    }))

  it.effect("has its URL as identifier, without query and last slash", () =>
    Effect.gen(function*() {
      const net = Net.make({ "https://mcp.test": Net.notFound })
      for (
        const [server, identifier] of [["https://MCP.test/a/?x=1", "https://mcp.test/a"], [
          "https://mcp.test/",
          "https://mcp.test"
        ]] as const
      ) {
        assert.strictEqual((yield* discover(net, { server })).resource, identifier)
      }
    }))

  it.effect("SHOULD see the revision in requests for metadata", () =>
    Effect.gen(function*() {
      const net = Net.make({ "https://mcp.test": Net.notFound })
      yield* discover(net)
      for (const { headers } of net.received) assert.strictEqual(headers["mcp-protocol-version"], "2025-11-25")
    }))
})

describe("A document", () => {
  const withPrm = (handler: Net.Handler) => Net.make({ "https://mcp.test": handler })

  it.effect("may be redirected within its origin, three times", () =>
    Effect.gen(function*() {
      const hops = (times: number) =>
        Net.make({
          "https://mcp.test": ({ url }) => {
            const hop = Number(url.searchParams.get("hop") ?? 0)
            return hop < times
              ? new Response(null, { status: 302, headers: { location: `/moved?hop=${hop + 1}` } })
              : Net.json(published)
          },
          [issuer]: Net.documents({ [OAUTH]: metadata(issuer) })
        })
      assert.strictEqual((yield* discover(hops(3))).server.issuer, issuer)
      assert.strictEqual((yield* failing(hops(4))).reason, "UnsafeUrl")
    }))

  it.effect("SHOULD NOT be followed to another origin, a private address or another scheme", () =>
    Effect.gen(function*() {
      const targets = [
        "https://evil.test/x",
        "https://127.0.0.1/x",
        "http://mcp.test/x",
        "https://mcp.test:8443/x",
        "https://u:p@mcp.test/x",
        "file:///x",
        "https://["
      ]
      for (const location of targets) {
        const net = withPrm(() => new Response(null, { status: 307, headers: { location } }))
        assert.strictEqual((yield* failing(net)).reason, "UnsafeUrl", location)
        assert.lengthOf(net.log(), 1)
      }
    }))

  it.effect("is not read beyond its bound, also when it never ends", () =>
    Effect.gen(function*() {
      let pulled = 0
      const endless = () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              pulled++
              controller.enqueue(new TextEncoder().encode(" ".repeat(1000)))
            }
          })
        )
      const { message, reason } = yield* failing(withPrm(endless))
      assert.strictEqual(reason, "Unreachable")
      assert.include(message, "10000 bytes")
      assert.isBelow(pulled, 20)
    }))

  it.effect("is given up at its bound and its time limit, also when the application has cloned the response", () =>
    Effect.gen(function*() {
      const endless = { pull: (one: ReadableStreamDefaultController) => one.enqueue(new Uint8Array(1000)) }
      const silent = { pull: () => new Promise<void>(() => {}) }
      for (const source of [endless, silent]) {
        const clones: Array<Response> = []
        const cloned = () => {
          const response = new Response(new ReadableStream(source))
          clones.push(response.clone())
          return response
        }
        const fiber = yield* Effect.fork(failing(withPrm(cloned)))
        while (clones.length === 0) yield* Effect.yieldNow()
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual((yield* Fiber.join(fiber)).reason, "Unreachable")
      }
    }))

  it.effect("is missing when a page of any size or encoding says so", () =>
    Effect.gen(function*() {
      const pages = [
        () => new Response("x".repeat(20_000), { status: 404 }),
        () => new Response(new Uint8Array([0x3c, 0xe9, 0x3e]), { status: 404 }),
        () => new Response(new Uint8Array([0x3c, 0xe9, 0x3e]))
      ]
      for (const page of pages) {
        const net = Net.make({
          "https://mcp.test": ({ url }) => url.pathname.startsWith(PRM) ? page() : Net.notFound()
        })
        assert.isFalse((yield* discover(net)).isPublished)
      }
    }))

  it.effect("has a time limit for its headers and its body together", () =>
    Effect.gen(function*() {
      const slow: ReadonlyArray<Net.Handler> = [
        () => Effect.never,
        () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))
      ]
      for (const handler of slow) {
        const fiber = yield* Effect.fork(failing(withPrm(handler)))
        yield* TestClock.adjust("30 seconds")
        const { message, reason } = yield* Fiber.join(fiber)
        assert.strictEqual(reason, "Unreachable")
        assert.include(message, "requestTimeout")
      }
    }))

  it.effect("is not used when it is not a JSON object, or names a prototype", () =>
    Effect.gen(function*() {
      for (const text of ["", "[]", "null", "1", "{", `{"__proto__":{},"resource":"${resource}"}`, "\u0000"]) {
        const net = Net.make({
          "https://mcp.test": ({ url }) => url.pathname.startsWith(PRM) ? new Response(text) : Net.notFound()
        })
        assert.isFalse((yield* discover(net)).isPublished)
      }
    }))
})
