import { assert, describe, it } from "@effect/vitest"
import * as Guard from "../../../src/server/http/Guard.js"
import * as ListensOn from "../../../src/server/http/ListensOn.js"

const refusal = (guard: Guard.Guard, host: string | undefined, origin?: string) =>
  guard.check({ host, ...(origin === undefined ? undefined : { origin }) })?.error.message

describe("A guard by default", () => {
  const guard = Guard.make()

  it("allows the hosts of this machine, with any port", () => {
    for (
      const host of ["localhost", "localhost:3000", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:80"]
    ) {
      assert.isUndefined(refusal(guard, host))
      assert.isUndefined(refusal(guard, host, `http://${host}`))
      assert.isUndefined(refusal(guard, host, `https://${host}`))
    }
  })

  it("refuses every other host", () => {
    for (
      const host of [
        "",
        "evil.com",
        "127.0.0.1.evil.com",
        "localhost.evil.com",
        "evil.com:80",
        "localhost.",
        "localhost:",
        "localhost:x",
        "localhost:123456",
        "localhost:80:80",
        "localhost:80, localhost:80",
        "user@localhost",
        " localhost",
        "127.0.0.2",
        "0.0.0.0",
        "[::]",
        "::1",
        "[::ffff:127.0.0.1]",
        "2130706433"
      ]
    ) {
      assert.strictEqual(
        refusal(guard, host),
        `Forbidden: the Host "${host}" is not among the \`allowedHosts\` of this server`
      )
    }
    assert.strictEqual(refusal(guard, undefined), "Forbidden: the Host header is missing")
  })

  it("refuses every other origin", () => {
    for (
      const origin of [
        "null",
        "",
        "http://evil.com",
        "http://localhost.evil.com",
        "https://evil.com:3000",
        "localhost",
        "file://",
        "http://localhost/",
        "chrome-extension://localhost",
        "http://localhost:1, http://localhost:1"
      ]
    ) {
      assert.match(String(refusal(guard, "localhost", origin)), /^Forbidden: the Origin /)
    }
  })

  it("checks a value again after it has refused or allowed another", () => {
    assert.isUndefined(refusal(guard, "localhost:1"))
    assert.isDefined(refusal(guard, "evil.com"))
    assert.isDefined(refusal(guard, "evil.com"))
    assert.isUndefined(refusal(guard, "localhost:1"))
  })

  it("reads :authority of HTTP/2 in place of Host", () => {
    assert.isUndefined(guard.check({ ":authority": "localhost:1" }))
    assert.isDefined(guard.check({ ":authority": "evil.com" }))
  })

  it("refuses a request whose :authority and Host disagree, whichever is allowed", () => {
    assert.isUndefined(guard.check({ ":authority": "LOCALHOST:1", host: "localhost:1" }))
    assert.isDefined(guard.check({ ":authority": "evil.com", host: "localhost:1" }))
    assert.isDefined(guard.check({ ":authority": "localhost:1", host: "evil.com" }))
    assert.isDefined(guard.check({ ":authority": "localhost:1", host: "localhost:2" }))
  })

  it("quotes only the beginning of a long header", () => {
    assert.isBelow(String(refusal(guard, "x".repeat(10_000))).length, 200)
  })
})

describe("The options `allowedHosts` and `allowedOrigins`", () => {
  it("match exactly, or any port, and replace the defaults", () => {
    const guard = Guard.make({
      allowedHosts: ["mcp.example.com", "other.example.com:*"],
      allowedOrigins: ["https://app.example.com", "http://dev.example.com:*"]
    })
    assert.isUndefined(refusal(guard, "MCP.example.com", "https://app.example.com"))
    assert.isUndefined(refusal(guard, "other.example.com:8080", "http://dev.example.com:5173"))
    assert.isUndefined(refusal(guard, "other.example.com", "http://dev.example.com"))
    for (const host of ["mcp.example.com:80", "localhost", "x.mcp.example.com"]) assert.isDefined(refusal(guard, host))
    for (const origin of ["https://app.example.com:1", "https://dev.example.com", "http://localhost"]) {
      assert.isDefined(refusal(guard, "mcp.example.com", origin))
    }
  })

  it("allow every host and origin with \"*\"", () => {
    const guard = Guard.make({ allowedHosts: ["*"], allowedOrigins: ["*"] })
    assert.isUndefined(refusal(guard, "anything", "http://anywhere"))
    assert.isDefined(refusal(guard, undefined))
  })

  it("allow no origin when empty", () => {
    const guard = Guard.make({ allowedHosts: ["*"], allowedOrigins: [] })
    assert.isUndefined(refusal(guard, "192.168.1.7"))
    assert.isDefined(refusal(guard, "192.168.1.7", "http://192.168.1.7"))
  })
})

describe("Guard.isLoopback", () => {
  it("accepts the loopback addresses only", () => {
    for (const address of ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1"]) {
      assert.isTrue(Guard.isLoopback(address))
    }
    for (const address of ["0.0.0.0", "::", "192.168.0.1", "127.0.0.1.evil.com", "1127.0.0.1", "::ffff:192.168.0.1"]) {
      assert.isFalse(Guard.isLoopback(address))
    }
  })
})

describe("The option `cors`", () => {
  const guard = Guard.make({ allowedHosts: ["*"], allowedOrigins: ["*"] })

  it("names the origin of the request, never every origin", () => {
    const cors = guard.cors({ origin: "https://a.example" })!
    assert.strictEqual(cors["access-control-allow-origin"], "https://a.example")
    assert.strictEqual(cors.vary, "Origin")
    assert.notProperty(cors, "access-control-allow-credentials")
    for (const name of ["Mcp-Session-Id", "WWW-Authenticate"]) {
      assert.include(cors["access-control-expose-headers"], name)
    }
    assert.isUndefined(guard.cors({}))
  })

  it("allows a page all methods and headers of a client", () => {
    const headers = guard.preflight({}, "GET, POST")
    const names = [
      "Content-Type",
      "Mcp-Session-Id",
      "MCP-Protocol-Version",
      "Last-Event-ID",
      "Authorization",
      "traceparent",
      "tracestate",
      "b3",
      "baggage"
    ]
    for (const name of names) assert.include(headers["access-control-allow-headers"], name)
    assert.strictEqual(headers["access-control-allow-methods"], "GET, POST")
    assert.notProperty(headers, "access-control-allow-private-network")
  })

  it("allows headers that mirror parameters, and no others", () => {
    const headers = guard.preflight({
      "access-control-request-headers": "content-type, mcp-param-city, x-evil, mcp-param-a b",
      "access-control-request-private-network": "true"
    }, "POST")
    assert.match(headers["access-control-allow-headers"]!, /, mcp-param-city$/)
    assert.notInclude(headers["access-control-allow-headers"], "evil")
    assert.strictEqual(headers["access-control-allow-private-network"], "true")
  })

  it("allows every name that HTTP allows, and as many names as a client may send", () => {
    const names = [..."!#$%&'*+-.^_`|~09azAZ"].map((character) => `Mcp-Param-a${character}b`)
    const many = Array.from({ length: 300 }, (_, n) => `mcp-param-number-${n}`)
    const allowed = (requested: ReadonlyArray<string>) =>
      guard.preflight(
        { "access-control-request-headers": requested.join(",") },
        "POST"
      )["access-control-allow-headers"]!
        .split(", ")
    assert.includeMembers(allowed(names), names)
    assert.includeMembers(allowed(many), many)
    for (
      const odd of ["mcp-param-", "mcp-param-a b", "mcp-param-a\r\nx-evil: 1", "mcp-param-a:b", "mcp-param-\u00e9"]
    ) {
      assert.notInclude(allowed([odd]), odd)
    }
  })
})

describe("a server whose address is known", () => {
  const refusal = (guard: Guard.Guard, isLocal: boolean | undefined, host: string, origin?: string) =>
    guard.check({ host, ...(origin === undefined ? undefined : { origin }) }, { isLocal })?.error.message

  it("allows any host where others than this machine reach it, and still no page of another machine", () => {
    const guard = Guard.make()
    assert.isUndefined(refusal(guard, false, "mcp.example.com"))
    assert.match(refusal(guard, false, "a, b")!, /the Host/)
    assert.match(refusal(guard, false, "evil.com", "http://evil.com")!, /the Origin/)
    for (const isLocal of [true, undefined]) assert.match(refusal(guard, isLocal, "mcp.example.com")!, /the Host/)
  })

  it("allows the hosts of the options and no others", () => {
    const guard = Guard.make({ allowedHosts: ["mcp.example.com"] })
    assert.isUndefined(refusal(guard, false, "mcp.example.com"))
    assert.match(refusal(guard, false, "localhost")!, /the Host/)
  })
})

describe("where a server listens", () => {
  const rows: ReadonlyArray<[string, unknown, boolean | undefined]> = [
    ["a server on a loopback address", { socket: { server: { address: () => ({ address: "127.0.0.1" }) } } }, true],
    [
      "a server on all addresses, also for a connection from this machine",
      { socket: { localAddress: "127.0.0.1", server: { address: () => ({ address: "::" }) } } },
      false
    ],
    ["a server on a Unix socket", { socket: { server: { address: () => "/run/mcp.sock" } } }, false],
    ["a server that has closed", { socket: { localAddress: "::1", server: { address: () => null } } }, true],
    ["a connection whose server is not known", { socket: { localAddress: "192.168.0.1" } }, false],
    ["a connection that has closed", { socket: { localAddress: undefined } }, undefined],
    ["a web request", new Request("http://localhost"), undefined]
  ]
  for (const [what, source, expected] of rows) {
    it(`follows from ${what}: ${expected}`, () => assert.strictEqual(ListensOn.isLocal(source), expected))
  }
})
