/**
 * The network of the command line: a server with a public name that asks for a login, with certificates of a private authority. In the
 * command, every name resolves to this machine.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { readFileSync } from "node:fs"
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import { fileURLToPath } from "node:url"
import { folder, launch, run } from "./Program.js"

const tls = (name: string): string => fileURLToPath(new URL(`../../node/test/fixtures/tls/${name}`, import.meta.url))

const listening = <A extends http.Server | https.Server>(server: A): Effect.Effect<number, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<A>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => (server.address() as net.AddressInfo).port
  )

/** A proxy that leads each tunnel to a port of this machine, and the addresses that it was asked for. */
const tunnelling = (port: number) => {
  const tunnels: Array<string> = []
  const proxy = http.createServer().on("connect", (request, socket) => {
    tunnels.push(request.url!)
    const upstream = net.connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      upstream.pipe(socket).pipe(upstream)
    })
    for (const one of [socket, upstream]) one.on("error", () => {})
  })
  return Effect.map(listening(proxy), (port) => ({ tunnels, url: `http://127.0.0.1:${port}` }))
}

/** A server whose metadata names an authorization server at a host, and what both were asked for. */
const named = (issuerOf: (port: number) => string) =>
  Effect.gen(function*() {
    const seen: Array<string> = []
    let port = 0
    const certificate = { key: readFileSync(tls("server.key")), cert: readFileSync(tls("server.pem")) }
    const server = https.createServer(certificate, ({ headers, method, url = "" }, response) => {
      seen.push(`${method} ${headers.host?.replace(/:.*/, "")}${url}`)
      const metadata = `https://mcp.example.com:${port}/.well-known/oauth-protected-resource/mcp`
      if (url === "/mcp") {
        response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end()
      } else if (url.startsWith("/.well-known/oauth-protected-resource")) {
        response.setHeader("content-type", "application/json").end(JSON.stringify({
          resource: `https://mcp.example.com:${port}/mcp`,
          authorization_servers: [issuerOf(port)]
        }))
      } else response.writeHead(404).end()
    })
    port = yield* listening(server)
    return { seen, port, url: `https://mcp.example.com:${port}/mcp` }
  })

const RESOLVING = `import dns from "node:dns"
import { syncBuiltinESMExports } from "node:module"
dns.lookup = (name, options, then) =>
  then === undefined ? options(null, "127.0.0.1", 4) : then(null, [{ address: "127.0.0.1", family: 4 }])
syncBuiltinESMExports()`

const env = {
  NODE_EXTRA_CA_CERTS: tls("ca.pem"),
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(RESOLVING)}`
}

const ping = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(folder, (cwd) => run(["ping", ...args], { cwd, env: { ...env, ...more } }))

describe("A command at a public server that asks for a login", () => {
  const hosts = ["127.0.0.1", "localhost", "login.example.com"]
  for (const host of hosts) {
    it.scopedLive(`requests nothing of this machine, which the server names as ${host}`, () =>
      Effect.gen(function*() {
        const { seen, url } = yield* named((port) => `https://${host}:${port}`)
        const { code, err } = yield* ping([url])
        assert.strictEqual(code, 3, err)
        assert.match(err, /does not use/)
        assert.deepStrictEqual(seen.filter((one) => !one.includes(" mcp.example.com/")), [])
        assert.include(seen, "GET mcp.example.com/.well-known/oauth-protected-resource/mcp")
      }))
  }

  it.scopedLive("requests a host of a private network that --private-host names", () =>
    Effect.gen(function*() {
      const { seen, url } = yield* named((port) => `https://login.example.com:${port}`)
      const { err } = yield* ping([url, "--private-host", "login.example.com"])
      assert.include(seen, "GET login.example.com/.well-known/oauth-authorization-server", err)
    }))

  it.scopedLive("reaches both through the proxy that HTTPS_PROXY names", () =>
    Effect.gen(function*() {
      const { port, seen, url } = yield* named((port) => `https://login.example.com:${port}`)
      const proxy = yield* tunnelling(port)
      yield* ping([url], { HTTPS_PROXY: proxy.url })
      assert.sameMembers([...new Set(proxy.tunnels)], [`mcp.example.com:${port}`, `login.example.com:${port}`])
      // The proxy has resolved the name.
      assert.include(seen, "GET login.example.com/.well-known/oauth-authorization-server")
    }))
})

describe("trace of a public server", () => {
  const traced = (more: (proxy: string) => Readonly<Record<string, string>>) =>
    Effect.gen(function*() {
      const { port, seen, url } = yield* named((port) => `https://login.example.com:${port}`)
      const proxy = yield* tunnelling(port)
      const trace = yield* launch(["trace", url], { env: { ...env, ...more(proxy.url) } })
      const [, local = ""] = yield* trace.sees(/Connect the host to (\S+)/)
      const { status } = yield* Effect.promise(() => fetch(local, { method: "POST", body: "{}" }))
      assert.strictEqual(status, 401)
      assert.include(seen, "POST mcp.example.com/mcp")
      return { port, tunnels: proxy.tunnels }
    })

  it.scopedLive("reaches the server through the proxy that HTTPS_PROXY names", () =>
    Effect.gen(function*() {
      const { port, tunnels } = yield* traced((proxy) => ({ HTTPS_PROXY: proxy }))
      assert.deepStrictEqual(tunnels, [`mcp.example.com:${port}`])
    }))

  it.scopedLive("reaches a server that NO_PROXY names without the proxy", () =>
    Effect.gen(function*() {
      const { tunnels } = yield* traced((proxy) => ({ HTTPS_PROXY: proxy, NO_PROXY: ".example.com" }))
      assert.deepStrictEqual(tunnels, [])
    }))
})
