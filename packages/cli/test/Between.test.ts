/**
 * The commands that stand between a host and a server: `trace`, `bridge` in both directions and with a login, and `dev`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as NodeHandler from "@effect-mcp/node/NodeHandler"
import { Deferred, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, request, type RequestListener, type ServerResponse } from "node:http"
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
      yield* running.sees(/not a message: hello/)
      yield* running.sees(/"token"/)
      running.end()
      const { code, err, out } = yield* running.ended
      assert.strictEqual(out, `hello\n${answered}\n`)
      assert.match(err, /-> #1 who \{"password":"<hidden>"\}/)
      assert.match(err, /<- #1 .*"token":"<hidden>"[^]*The server has ended: code 7[^]*ended with code 7/)
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

describe("trace hides secrets", () => {
  const script = "process.stdout.write(process.argv.slice(1).join('\\n') + '\\n')"
  const lines = [
    `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"otp":"zq1"},"content":[{"type":"text","text":"{\\"otp\\":\\"zq1\\"}"}]}}`,
    `{"jsonrpc":"2.0","id":2,"result":{"client_secret":"zq2","id_token":"zq3","refreshToken":"zq4"}}`,
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"Authorization: Bearer zq5"}}`,
    `{"jsonrpc":"2.0","method":"a","params":{"headers":[{"name":"Cookie","value":"zq6"}],"url":"https://ada:zq7@example.com/?code=zq8"}}`,
    `DB_PASSWORD=zq9`,
    `{"jsonrpc":"2.0","id":3,"result":{"password":"zq10"`,
    `{"jsonrpc":"2.0","id":4,"result":{"tools":[{"inputSchema":{"properties":{"password":{"type":"string","minLength":8}}}}]}}`
  ]
  for (const options of [[], ["--json"]]) {
    it.scopedLive(`in texts, pairs, URLs and broken messages, and keeps schemas readable: ${options.join()}`, () =>
      Effect.gen(function*() {
        const { err, out } = yield* run(["trace", ...options, "--", process.execPath, "-e", script, ...lines])
        assert.strictEqual(out, `${lines.join("\n")}\n`)
        assert.notMatch(err, /zq\d/)
        assert.include(err, `"password":{"type":"string","minLength":8}`)
      }))
  }
})

/** What `fetch` cannot send: any Host. */
const statusOf = (url: string, headers: Readonly<Record<string, string>>) =>
  Effect.async<number>((resume) => {
    request(url, { method: "POST", headers }, (answer) => {
      answer.resume()
      resume(Effect.succeed(answer.statusCode ?? 0))
    }).end("{}")
  })

/** A trace of a server that answers so, and the URL of the trace. */
const traced = (listener: RequestListener) =>
  Effect.gen(function*() {
    const server = createServer(listener)
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => server.closeAllConnections())
    )
    const { port } = server.address() as AddressInfo
    const trace = yield* launch(["trace", `http://127.0.0.1:${port}/mcp`])
    const [, url = ""] = yield* trace.sees(/Connect the host to (\S+)/)
    return { trace, url }
  })

describe("trace of a URL", () => {
  it.scopedLive("refuses a page of the web, which names another Host or Origin", () =>
    Effect.gen(function*() {
      let count = 0
      const { trace, url } = yield* traced((_, response) => {
        count++
        response.end("{}")
      })
      assert.strictEqual(yield* statusOf(url, {}), 200)
      assert.strictEqual(yield* statusOf(url, { origin: "http://localhost:3000" }), 200)
      assert.strictEqual(yield* statusOf(url, { host: "rebound.example" }), 403)
      assert.strictEqual(yield* statusOf(url, { origin: "https://evil.example" }), 403)
      assert.strictEqual(count, 2)
      yield* trace.sees(/POST was refused: /)
    }))

  it.scopedLive("cuts the answer to the host where the server cuts its answer", () =>
    Effect.gen(function*() {
      const { trace, url } = yield* traced((_, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" })
        response.write("{")
        setImmediate(() => response.destroy())
      })
      const failed = yield* Effect.promise(() =>
        fetch(url).then((answer) => answer.text()).then(() => false, () => true)
      )
      assert.isTrue(failed)
      yield* trace.sees(/The answer to GET was cut/)
    }))
})

describe("trace of a URL, between a host and a server that send slowly", () => {
  it.scopedLive("passes on each part at once in both directions, and cookies one by one", () =>
    Effect.gen(function*() {
      const { url } = yield* traced((request, response) => {
        response.setHeader("set-cookie", ["a=1; Path=/", "b=2"])
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
        request.on("data", (chunk) => response.write(`data: ${chunk}\n\n`)).on("end", () => response.end())
      })
      const parts: Array<string> = []
      const cookies = yield* Effect.async<ReadonlyArray<string> | undefined>((resume) => {
        const sent = request(url, { method: "POST" }, (answer) => {
          answer.setEncoding("utf8").on("data", (text: string) => {
            parts.push(text)
            // The next part leaves when the answer to the part before has come.
            if (parts.length < 3) sent.write(String(parts.length))
            else sent.end()
          }).on("end", () => resume(Effect.succeed(answer.headers["set-cookie"])))
        })
        sent.write("0")
      })
      assert.deepStrictEqual(parts, ["data: 0\n\n", "data: 1\n\n", "data: 2\n\n"])
      assert.deepStrictEqual(cookies, ["a=1; Path=/", "b=2"])
    }))

  for (const [when, begins] of [["before", false], ["after", true]] as const) {
    it.scopedLive(`ends the request to the server when the host goes away ${when} the answer begins`, () =>
      Effect.gen(function*() {
        const arrived = yield* Deferred.make<void>()
        const gone = yield* Deferred.make<void>()
        const { url } = yield* traced((_, response) => {
          response.once("close", () => Deferred.unsafeDone(gone, Effect.void))
          if (begins) response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n")
          Deferred.unsafeDone(arrived, Effect.void)
        })
        const host = new AbortController()
        const answer = fetch(url, { method: "POST", body: "{}", signal: host.signal }).catch(() => undefined)
        yield* Deferred.await(arrived)
        if (begins) yield* Effect.promise(() => answer)
        host.abort()
        yield* Deferred.await(gone)
      }))
  }

  it.scopedLive("answers with 502, and says why, where there is no server, whatever the length of the request", () =>
    Effect.gen(function*() {
      const trace = yield* launch(["trace", "http://127.0.0.1:9/mcp"])
      const [, url = ""] = yield* trace.sees(/Connect the host to (\S+)/)
      for (const body of ["{}", "x".repeat(1_000_000)]) {
        const { status } = yield* Effect.promise(() => fetch(url, { method: "POST", body }))
        assert.strictEqual(status, 502)
      }
      yield* trace.sees(/POST failed: connect ECONNREFUSED/)
    }))
})

describe("trace of a pipe", () => {
  it.scopedLive("ends after its server, although a child of the server holds the streams open", () =>
    Effect.gen(function*() {
      const running = yield* launch(["trace", "--", "sh", "-c", "sleep 60 & echo started; exit 3"])
      yield* running.sees(/The server has ended: code 3/)
      assert.include((yield* running.ended).out, "started")
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
      const ran = yield* run([
        "call",
        "test_list_roots",
        "--root",
        "/tmp",
        "--revision",
        "2026-07-28",
        "--",
        ...bridge
      ])
      assert.match(ran.out, /file:\/\/\/tmp/, JSON.stringify(ran))
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
      const login = yield* run(["login", url], options)
      assert.deepStrictEqual(login, { code: 0, out: `Logged in at ${url}\n`, err: "" })
      // As a folder that a container mounts.
      const credentials = join(cwd, ".effect-mcp", "credentials")
      chmodSync(credentials, 0o755)
      const open = yield* run(["call", url, "whoami"], options)
      assert.deepStrictEqual([open.code, open.out], [3, ""])
      assert.include(open.err, `Run: chmod 700 ${credentials}`)
      assert.include(open.err, "--allow-others allows it")
      const allowed = yield* run(["call", url, "whoami", "--allow-others"], options)
      assert.deepStrictEqual([allowed.out, allowed.err], ["ada\n", ""])
    }))

  it.scopedLive("logs in before a command needs it, by the name of a server, and forgets the login", () =>
    Effect.gen(function*() {
      const { log, url } = yield* guarded
      const cwd = yield* folder
      const env = { HOME: cwd, PATH: "/nonexistent" }
      writeFileSync(join(cwd, "servers.json"), JSON.stringify({ mcpServers: { ours: { url } } }))
      const ours = (command: string) => [command, "ours", "--config", "servers.json"]
      const interrupted = yield* launch(ours("login"), { cwd, env })
      yield* interrupted.sees(/Log in at http\S+\n/)
      interrupted.kill("SIGINT")
      assert.strictEqual((yield* interrupted.ended).code, 130)
      const login = yield* launch(ours("login"), { cwd, env })
      const [, page = ""] = yield* login.sees(/Log in at (http\S+)\n/)
      yield* Effect.promise(() => fetch(page))
      assert.strictEqual((yield* login.ended).out, `Logged in at ${url}\n`)
      assert.strictEqual((yield* run(["call", url, "whoami"], { cwd, env })).out, "ada\n")
      const logout = yield* run(ours("logout"), { cwd, env })
      assert.deepStrictEqual(logout, { code: 0, out: `Logged out of ${url}\n`, err: "" })
      assert.lengthOf(log.filter((path) => path === "/token"), 1)
    }))

  it.scopedLive("says where there is no login", () =>
    Effect.gen(function*() {
      const url = "http://127.0.0.1:9/mcp"
      const cwd = yield* folder
      const options = { cwd, env: { HOME: cwd } }
      const program = yield* run(["login", "--", "nonesuch"], options)
      assert.match(program.err, /^Only a server with a URL has a login/)
      const logout = yield* run(["logout", url], options)
      assert.deepStrictEqual(logout, { code: 1, out: "", err: `There is no login at ${url}\n` })
      const open = yield* run(["login", url], options)
      assert.deepStrictEqual([open.code, open.out], [1, ""])
      assert.include(open.err, "127.0.0.1:9")
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
