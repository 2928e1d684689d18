/**
 * The commands that stand between a host and a server: `trace`, `bridge` in both directions and with a login, and `dev`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { cli, folder, isAlive, launch, ours, run, type Running } from "./Program.js"

const eras = ["2025-11-25", "2026-07-28"]
const oslo = ["call", "forecast", "city=Oslo"]

describe("trace", () => {
  it.scopedLive("shows every message between a host and a server of a pipe, and changes none, in both eras", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      for (const revision of eras) {
        const file = join(cwd, revision)
        const traced = cli("trace", "--json", "--output", file, "--", ...ours("stdio"))
        const { out } = yield* run([...oslo, "--revision", revision, "--", ...traced])
        assert.match(out, /-4/)
        const messages = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line))
        const seen = messages.map(({ direction, message }) => `${direction} ${message?.method ?? "answer"}`)
        const first = revision === "2025-11-25" ? "sent initialize" : "sent server/discover"
        assert.includeMembers(seen, [first, "received answer", "sent tools/call"])
      }
    }))

  it.scopedLive("prints lines for a person, without secrets, and says what is no message", () =>
    Effect.gen(function*() {
      const script =
        "process.stdout.write('hello\\n' + process.argv[1] + '\\n'); process.stdin.resume().on('end', () => process.exit(7))"
      const answered = `{"jsonrpc":"2.0","id":1,"result":{"token":"t0p"}}`
      const running = yield* launch(["trace", "--", process.execPath, "-e", script, answered])
      running.write(`{"jsonrpc":"2.0","id":1,"method":"who","params":{"password":"s3cret"}}\n`)
      yield* running.sees(/no message: hello/)
      yield* running.sees(/"token"/)
      running.end()
      const { code, err, out } = yield* running.ended
      assert.strictEqual(out, `hello\n${answered}\n`)
      assert.match(err, /-> #1 who \{"password":"\*\*\*"\}/)
      assert.match(err, /<- #1 .*"token":"\*\*\*"[^]*The server has ended: code 7[^]*ended with code 7/)
      assert.strictEqual(code, 1)
    }))

  it.scopedLive("ends with its host, and takes the server along", () =>
    Effect.gen(function*() {
      const stubborn =
        "process.on('SIGTERM', () => {}); process.stderr.write(`pid ${process.pid}\\n`); setInterval(() => {}, 1000)"
      const running = yield* launch(["trace", "--", process.execPath, "-e", stubborn])
      const [, pid] = yield* running.sees(/pid (\d+)/)
      running.kill("SIGTERM")
      yield* running.ended
      assert.isFalse(isAlive(Number(pid)))
    }))
})

describe("bridge", () => {
  it.scopedLive("serves a pipe over HTTP, and HTTP over a pipe, with a trace between both", () =>
    Effect.gen(function*() {
      const bridge = yield* launch(["bridge", "--port", "0", "--", ...ours("stdio")])
      const [, url = ""] = yield* bridge.sees(/Listening at (\S+)/)
      const trace = yield* launch(["trace", url])
      const [, traced = ""] = yield* trace.sees(/Connect the host to (\S+)/)
      for (const revision of eras) {
        const { out } = yield* run([...oslo, "--revision", revision, "--", ...cli("bridge", traced)])
        assert.match(out, /-4/)
      }
      assert.match(trace.seen().err, /-> #\S+ tools\/call .*Oslo[^]*<- #\S+ tools\/call \(\d+ ms\)/)
      bridge.kill("SIGINT")
      assert.strictEqual((yield* bridge.ended).code, 130)
    }))

  it.scopedLive("passes on questions of the server, to a host of the other era", () =>
    Effect.gen(function*() {
      const bridge = cli("bridge", "--revision", "2025-11-25", "--", ...ours("everything"))
      const { out } = yield* run([
        "call",
        "test_list_roots",
        "--root",
        "/tmp",
        "--revision",
        "2026-07-28",
        "--",
        ...bridge
      ])
      assert.match(out, /file:\/\/\/tmp/)
    }))

  it.scopedLive("says why there is nothing to bridge", () =>
    Effect.gen(function*() {
      const { code, err } = yield* run(["bridge", "http://127.0.0.1:9/mcp"])
      assert.match(err, /Cannot connect to http:\/\/127\.0\.0\.1:9\/mcp/)
      assert.strictEqual(code, 3)
      assert.match((yield* run(["bridge", "--port", "99999", "x"])).err, /a number from 0 to 65535/)
    }))

  it.scopedLive("logs in at the remote server, once for all commands", () =>
    Effect.gen(function*() {
      const { log, url } = yield* guarded
      const cwd = yield* folder
      const bin = join(cwd, "bin")
      mkdirSync(bin)
      // A browser without a screen: it follows the redirects of the authorization server.
      writeFileSync(join(bin, "xdg-open"), `#!${process.execPath}\nfetch(process.argv[2])\n`)
      chmodSync(join(bin, "xdg-open"), 0o755)
      const options = { cwd, env: { PATH: `${bin}:${process.env.PATH}`, HOME: cwd } }
      const refused = yield* run(["ping", "--no-login", url], options)
      assert.match(refused.err, /The server asks for a login/)
      assert.strictEqual(refused.code, 3)
      const bridged = yield* run(["call", "whoami", "--", ...cli("bridge", url)], {
        cwd,
        env: options.env
      })
      assert.strictEqual(bridged.out, "ada\n", bridged.err)
      assert.match(bridged.err, /Log in at http:\/\/127\.0\.0\.1:\d+\/authorize\?/)
      const again = yield* run(["call", url, "whoami"], options)
      assert.deepStrictEqual([again.out, again.err], ["ada\n", ""])
      assert.lengthOf(log.filter((path) => path === "/authorize"), 1)
      const withHeader = yield* run(["call", url, "whoami", "--header", "Authorization: Bearer good"], options)
      assert.strictEqual(withHeader.out, "ada\n")
    }))
})

describe("dev", () => {
  const call = (host: Running, id: number) =>
    Effect.zipRight(
      Effect.sync(() =>
        host.write(
          `${
            JSON.stringify({
              jsonrpc: "2.0",
              id,
              method: "tools/call",
              params: { name: "forecast", arguments: { city: "Oslo" } }
            })
          }\n`
        )
      ),
      Effect.map(host.sees(new RegExp(`\\{[^\\n]*"id":${id}[,}][^\\n]*`)), ([line]) => line)
    )

  it.scopedLive("launches the server anew on a change, and the host stays connected and hears of it", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const file = join(cwd, "server.mjs")
      const good = readFileSync(ours("stdio")[1]!, "utf8")
      writeFileSync(file, good)
      const host = yield* launch(["dev", "--", process.execPath, file], { cwd })
      const initialize = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "host", version: "1" }
      }
      host.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize })}\n`)
      yield* host.sees(/"id":1,"result"|"result".*"id":1/)
      host.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}\n`)
      assert.match(yield* call(host, 2), /-4/)
      writeFileSync(file, good.replace("Oslo: -4", "Oslo: -5").replace("Tomorrow's", "Tonight's"))
      yield* host.sees(/notifications\/tools\/list_changed/)
      assert.match(yield* call(host, 3), /-5/)
      writeFileSync(file, "const = 1\n")
      yield* host.sees(/SyntaxError/)
      yield* host.sees(/launched again when a file changes/)
      assert.match(yield* call(host, 4), /isError|error/)
      copyFileSync(ours("stdio")[1]!, file)
      yield* host.sees(/(server\.mjs has changed[^]*){3}/)
      yield* host.sees(/(list_changed[^]*){3}/)
      assert.match(yield* call(host, 5), /-4/)
      host.end()
      assert.strictEqual((yield* host.ended).code, 0)
    }))

  it.live("needs a command line", () =>
    Effect.gen(function*() {
      const { code, err } = yield* run(["dev"])
      assert.deepStrictEqual([code, err], [2, "Write the command line of the server after --\n"])
    }))
})

const textOf = (request: IncomingMessage) =>
  new Promise<string>((resolve) => {
    let text = ""
    request.setEncoding("utf8").on("data", (chunk) => text += chunk).on("end", () => resolve(text))
  })

const json = (response: ServerResponse, value: unknown, status = 200) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

/** A server that asks for a login, and its authorization server, at one origin; `log` has the paths of requests. */
const guarded = Effect.gen(function*() {
  const server = McpServer.layer(
    { name: "guarded", version: "1.0.0" },
    McpServer.tool(Tool.make("whoami"), () => Effect.succeed("ada"))
  )
  const { handler } = yield* Effect.flatMap(
    Layer.build(server),
    (context) => Effect.provide(NodeHandler.make(), context)
  )
  const log: Array<string> = []
  let code = { challenge: "", redirectUri: "" }
  const listener: RequestListener = (request, response) => {
    const origin = `http://${request.headers.host}`
    const url = new URL(request.url ?? "", origin)
    log.push(url.pathname)
    switch (url.pathname) {
      case "/mcp":
        if (request.headers.authorization === "Bearer good") return handler(request, response)
        return void response.writeHead(401, { "www-authenticate": "Bearer" }).end()
      case "/.well-known/oauth-protected-resource/mcp":
        return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] })
      case "/.well-known/oauth-authorization-server":
        return json(response, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          authorization_response_iss_parameter_supported: true
        })
      case "/register":
        return void textOf(request).then((text) => json(response, { ...JSON.parse(text), client_id: "c1" }, 201))
      case "/authorize": {
        const get = (name: string) => url.searchParams.get(name) ?? ""
        code = { challenge: get("code_challenge"), redirectUri: get("redirect_uri") }
        const back = new URL(code.redirectUri)
        back.search = new URLSearchParams({ code: "code-1", state: get("state"), iss: origin }).toString()
        return void response.writeHead(302, { location: back.href }).end()
      }
      case "/token":
        return void textOf(request).then((text) => {
          const form = new URLSearchParams(text)
          const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url")
          const isRight = form.get("code") === "code-1" && challenge === code.challenge &&
            form.get("redirect_uri") === code.redirectUri
          return isRight
            ? json(response, { access_token: "good", token_type: "Bearer", expires_in: 3600 })
            : json(response, { error: "invalid_grant" }, 400)
        })
      default:
        return void response.writeHead(404).end()
    }
  }
  const http = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return { log, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` }
})
