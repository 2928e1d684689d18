import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Reach from "@effect-mcp/core/unstable/client/Reach"
import type * as HostName from "@effect-mcp/core/unstable/kit/HostName"
import * as GuardedHttpClient from "@effect-mcp/node/GuardedHttpClient"
import { Effect, type Layer, type Scope } from "effect"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import type * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import * as Dispatchers from "../src/client/Dispatchers.js"
import * as ReachingClient from "../src/client/ReachingClient.js"
import { bundledOnce } from "./Bundle.js"
import { fixture } from "./Fixture.js"
import { listening } from "./HttpFixture.js"

/** Resolves each name to the next of its addresses; the last one stays. */
const resolving = (names: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>>) => {
  const asked: Array<string> = []
  const resolve: Dispatchers.Resolve = (name, _, then) => {
    const rows = names[name] ?? []
    const addresses = rows[Math.min(asked.filter((one) => one === name).length, rows.length - 1)] ?? []
    asked.push(name)
    then(null, addresses.map((address) => ({ address, family: net.isIP(address) })))
  }
  return { resolve, asked }
}

const clientOf = (
  resolve: Dispatchers.Resolve,
  environment: Dispatchers.Environment = {}
): Layer.Layer<HttpClient.HttpClient> => ReachingClient.layer({ resolve, environment })

const get = (url: string): Effect.Effect<string, unknown, HttpClient.HttpClient> =>
  Effect.scoped(Effect.flatMap(HttpClient.get(url), ({ text }) => text))

const within = (...zones: ReadonlyArray<HostName.Zone>) => Effect.locally(Reach.current, new Set(zones))

/** Why a request was not made; any other end of it is a defect. */
const refusal = <R>(effect: Effect.Effect<unknown, unknown, R>): Effect.Effect<string, unknown, R> =>
  Effect.flatMap(Effect.flip(effect), (error) => {
    const { cause } = error as { readonly cause?: unknown }
    return cause instanceof Reach.UnreachableAddress ? Effect.succeed(cause.message) : Effect.die(error)
  }) as Effect.Effect<string, unknown, R>

/** A server on this machine that counts connections. */
const counted = (listener?: http.RequestListener) =>
  Effect.map(listening(listener ?? ((_, response) => void response.end("here"))), ({ port, server }) => {
    let connections = 0
    server.on("connection", () => connections++)
    return { port, count: () => connections }
  })

describe("The client for Node", () => {
  const literals = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "0.0.0.0",
    "localhost"
  ]
  for (const host of literals) {
    it.scopedLive(`does not connect to ${host}, where a peer has named it, and does where the application has`, () =>
      Effect.gen(function*() {
        const { count, port } = yield* counted()
        const url = `http://${host}:${port}/`
        yield* refusal(GuardedHttpClient.publicOnly(get(url)))
        assert.strictEqual(count(), 0)
        // Only these reach the server of this test.
        if (!host.startsWith("[")) assert.strictEqual(yield* get(url), "here")
      }).pipe(Effect.provide(GuardedHttpClient.layer)))
  }

  const addresses = [
    "127.0.0.1",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "64:ff9b::7f00:1",
    "64:ff9b::169.254.169.254",
    "2002:7f00:1::1",
    "fe80::1%eth0",
    "fd12:3456::1",
    "not an address"
  ]
  for (const address of addresses) {
    it.scopedLive(`does not connect to a public name that resolves to ${address}, alone or beside a public address`, () =>
      Effect.gen(function*() {
        const { count, port } = yield* counted()
        const { resolve } = resolving({ "alone.example.com": [[address]], "both.example.com": [["8.8.8.8", address]] })
        const both = Effect.forEach(
          ["alone", "both"],
          (name) => refusal(GuardedHttpClient.publicOnly(get(`http://${name}.example.com:${port}/`)))
        )
        for (const message of yield* Effect.provide(both, clientOf(resolve))) assert.include(message, address)
        assert.strictEqual(count(), 0)
      }))
  }

  it.scopedLive("connects to the address that it has checked, and checks each connection: a name that changes is refused", () =>
    Effect.gen(function*() {
      const { count, port } = yield* counted((_, response) =>
        void response.setHeader("connection", "close").end("here")
      )
      const { asked, resolve } = resolving({ "rebound.example.com": [["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1"]] })
      const url = `http://rebound.example.com:${port}/`
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* get(url), "here")
        assert.include(yield* refusal(get(url)), "10.0.0.1")
      }).pipe(within("public", "loopback"), Effect.provide(clientOf(resolve)))
      assert.deepStrictEqual([asked.length, count()], [2, 1])
    }))

  it.scopedLive("does not use the open connection of another request, which was let through", () =>
    Effect.gen(function*() {
      const { count, port } = yield* counted()
      const { resolve } = resolving({ "app.example.com": [["127.0.0.1"]] })
      const url = `http://app.example.com:${port}/`
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* get(url), "here")
        yield* refusal(GuardedHttpClient.publicOnly(get(url)))
      }).pipe(Effect.provide(clientOf(resolve)))
      assert.strictEqual(count(), 1)
    }))

  it.scopedLive("checks where each redirect leads, for who follows redirects", () =>
    Effect.gen(function*() {
      let requests = 0
      const { port } = yield* counted((request, response) => {
        requests++
        const to = new URL(request.url!, "http://here").searchParams.get("to")!
        response.writeHead(302, { location: to }).end()
      })
      const { resolve } = resolving({ "inside.example.com": [["10.0.0.1"]] })
      yield* Effect.gen(function*() {
        const client = HttpClient.followRedirects(yield* HttpClient.HttpClient, 3)
        for (const to of ["http://10.0.0.1/", "http://inside.example.com/", "http://[::ffff:a00:1]/"]) {
          const request = HttpClientRequest.get(`http://127.0.0.1:${port}/?to=${encodeURIComponent(to)}`)
          yield* refusal(Effect.scoped(client.execute(request)))
        }
      }).pipe(within("public", "loopback"), Effect.provide(clientOf(resolve)))
      assert.strictEqual(requests, 3)
    }))

  it.scopedLive("does not follow a redirect itself", () =>
    Effect.gen(function*() {
      const { port } = yield* counted((_, response) => void response.writeHead(302, { location: "/other" }).end())
      assert.strictEqual((yield* HttpClient.get(`http://127.0.0.1:${port}/`)).status, 302)
    }).pipe(Effect.provide(GuardedHttpClient.layer)))
})

/** A proxy that tunnels everything to one port of this machine. */
const proxy = (port: number) =>
  Effect.map(listening(() => {}), (listened) => {
    const tunnels: Array<string> = []
    listened.server.on("connect", (request, socket) => {
      tunnels.push(request.url!)
      const upstream = net.connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
        upstream.pipe(socket).pipe(upstream)
      })
      for (const one of [socket, upstream]) one.on("error", () => {})
    })
    return { tunnels, url: listened.origin }
  })

describe("The client for Node behind a proxy", () => {
  it.scopedLive("lets the proxy resolve names, and checks the host of the URL", () =>
    Effect.gen(function*() {
      const { port } = yield* counted()
      const { tunnels, url } = yield* proxy(port)
      const { asked, resolve } = resolving({})
      const client = clientOf(resolve, { HTTP_PROXY: url.replace("http://", "") })
      yield* Effect.gen(function*() {
        assert.strictEqual(yield* GuardedHttpClient.publicOnly(get("http://app.example.com/")), "here")
        for (const host of ["10.0.0.1", "[::ffff:127.0.0.1]", "intranet", "localhost"]) {
          yield* refusal(GuardedHttpClient.publicOnly(get(`http://${host}/`)))
        }
        assert.strictEqual(yield* get("http://10.0.0.1/"), "here")
      }).pipe(Effect.provide(client))
      assert.deepStrictEqual(tunnels, ["app.example.com:80", "10.0.0.1:80"])
      assert.deepStrictEqual(asked, [])
    }))

  it.scopedLive("connects itself to this machine and to what NO_PROXY names, and checks the addresses there", () =>
    Effect.gen(function*() {
      const { port } = yield* counted()
      const { tunnels, url } = yield* proxy(port)
      const { resolve } = resolving({ "own.example.com": [["127.0.0.1"]] })
      const client = clientOf(resolve, { HTTP_PROXY: url, NO_PROXY: ".example.com" })
      yield* Effect.gen(function*() {
        const own = `http://own.example.com:${port}/`
        assert.strictEqual(yield* get(`http://127.0.0.1:${port}/`), "here")
        assert.strictEqual(yield* get(own), "here")
        yield* refusal(GuardedHttpClient.publicOnly(get(own)))
      }).pipe(Effect.provide(client))
      assert.deepStrictEqual(tunnels, [])
    }))

  it("reads the variables as other programs do", () => {
    const here = "localhost,127.0.0.1,[::1]"
    const rows: ReadonlyArray<readonly [Dispatchers.Environment, Dispatchers.Proxies]> = [
      [{}, { httpProxy: undefined, httpsProxy: undefined, noProxy: `,${here}` }],
      [{ HTTPS_PROXY: "http://a:1", https_proxy: "http://b:2" }, {
        httpProxy: undefined,
        httpsProxy: "http://b:2",
        noProxy: `,${here}`
      }],
      [{ HTTP_PROXY: "proxy:3128", NO_PROXY: "a.test b.test,c.test" }, {
        httpProxy: "http://proxy:3128",
        httpsProxy: undefined,
        noProxy: `a.test,b.test,c.test,${here}`
      }],
      [{ HTTPS_PROXY: "", NO_PROXY: "*" }, { httpProxy: undefined, httpsProxy: undefined, noProxy: "*" }]
    ]
    for (const [environment, expected] of rows) assert.deepStrictEqual(Dispatchers.proxiesOf(environment), expected)
  })

  it.effect("dies at a variable that names no proxy", () =>
    Effect.gen(function*() {
      for (const HTTPS_PROXY of ["socks5://proxy:1080", "http://", "ftp://proxy"]) {
        const { resolve } = resolving({})
        const exit = yield* Effect.exit(Effect.provide(get("http://a.test"), clientOf(resolve, { HTTPS_PROXY })))
        assert.match(String(exit), /HTTPS_PROXY.*names no proxy/)
      }
    }))
})

const tls = {
  key: readFileSync(fixture("tls/server.key")),
  cert: readFileSync(fixture("tls/server.pem"))
}

/** A protected server, and its authorization server, under two public names with certificates of a private authority. */
const publicServers: Effect.Effect<
  { readonly port: number; readonly seen: ReadonlyArray<string> },
  never,
  Scope.Scope
> = Effect.gen(function*() {
  const seen: Array<string> = []
  const server = yield* Effect.acquireRelease(
    Effect.async<https.Server>((resume) => {
      const made = https.createServer(tls, (request, response) => {
        const { port } = made.address() as net.AddressInfo
        const { host = "", url = "" } = { host: request.headers.host?.replace(/:.*/, ""), url: request.url }
        seen.push(`${request.method} ${host}${url}`)
        const issuer = `https://login.example.com:${port}`
        const document = url.startsWith("/.well-known/oauth-protected-resource")
          ? { resource: `https://mcp.example.com:${port}/mcp`, authorization_servers: [issuer] }
          : url.startsWith("/.well-known/oauth-authorization-server")
          ? {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            registration_endpoint: `${issuer}/register`,
            code_challenge_methods_supported: ["S256"]
          }
          : url === "/register"
          ? { client_id: "c", redirect_uris: ["http://127.0.0.1:1/"] }
          : { access_token: "t", token_type: "Bearer" }
        response.setHeader("content-type", "application/json").end(JSON.stringify(document))
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) =>
      Effect.sync(() => {
        made.close()
        made.closeAllConnections()
      })
  )
  return { port: (server.address() as net.AddressInfo).port, seen }
})

describe("A login through the client for Node, at names that resolve to this machine", () => {
  const program = bundledOnce("privateAuthority.ts")

  const login = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) =>
    Effect.flatMap(program, (path) =>
      Effect.async<string>((resume) => {
        execFile(process.execPath, [path, ...args], { env: { ...process.env, ...env } }, (error, stdout) =>
          resume(error === null ? Effect.succeed(stdout.trim()) : Effect.die(error)))
      }))

  const trusting = { NODE_EXTRA_CA_CERTS: fixture("tls/ca.pem") }

  it.scopedLive("does not request the metadata of the authorization server there, because the server has named it", () =>
    Effect.gen(function*() {
      const { port, seen } = yield* publicServers
      const printed = yield* login([`https://mcp.example.com:${port}/mcp`], trusting)
      assert.match(printed, /^UnsafeUrl: .*"login\.example\.com" resolves to 127\.0\.0\.1.*`privateHosts`/)
      // The application has named this one, and its certificate is the private authority's.
      assert.deepStrictEqual(seen, ["GET mcp.example.com/.well-known/oauth-protected-resource/mcp"])
    }))

  it.scopedLive("ends well where the program lists the host of the authorization server", () =>
    Effect.gen(function*() {
      const { port, seen } = yield* publicServers
      const url = `https://mcp.example.com:${port}/mcp`
      assert.strictEqual(yield* login([url, "login.example.com"], trusting), "logged in")
      assert.include(seen, "POST login.example.com/token")
    }))

  it.scopedLive("fails without the certificate of the private authority", () =>
    Effect.gen(function*() {
      const { port, seen } = yield* publicServers
      const url = `https://mcp.example.com:${port}/mcp`
      assert.match(yield* login([url, "login.example.com"], { NODE_EXTRA_CA_CERTS: "" }), /^Unreachable/)
      assert.deepStrictEqual(seen, [])
    }))
})
