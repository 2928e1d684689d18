/**
 * Our client over memory, stdio and HTTP, and a server that sends it exactly what a row of the table says.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Connector from "@effect-mcp/core/Connector"
import type * as Diagnostic from "@effect-mcp/core/Diagnostic"
import type * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as Transport from "@effect-mcp/core/Transport"
import { Cause, Effect, Exit, Layer, Logger, type Scope, Stream } from "effect"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { PassThrough } from "node:stream"
import { gzipSync } from "node:zlib"
import { expect } from "vitest"
import * as Pipe from "../../src/stdio/Pipe.js"
import type { HttpResponse, Over, ServerRow } from "./Row.js"
import { textOf, until } from "./ServerUnderTest.js"

/** What the server does with a message: the texts that it sends, or an HTTP response. */
type OnMessage = (message: any) => ReadonlyArray<string> | HttpResponse

type Serve = (onMessage: OnMessage, row: ServerRow) => Effect.Effect<Connector.Connector, unknown, Scope.Scope>

const isResponse = (sent: ReadonlyArray<string> | HttpResponse): sent is HttpResponse => !Array.isArray(sent)

const memory: Serve = (onMessage) =>
  Effect.gen(function*() {
    const [client, server] = yield* Transport.memory()
    yield* Effect.forkScoped(Transport.run(server, (message) => {
      const sent = onMessage(message)
      if (isResponse(sent)) return
      // The pair in memory also delivers what is not a message.
      for (const text of sent) server.unsafeSend(MessageText.parse(text) as Message.Message)
    }))
    return Connector.fromTransport(client, "a deviating server")
  })

const stdio: Serve = (onMessage) =>
  Effect.gen(function*() {
    const input = new PassThrough()
    const output = new PassThrough()
    let text = ""
    output.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (text + chunk).split("\n")
      text = lines.pop()!
      for (const line of lines) {
        const sent = onMessage(JSON.parse(line))
        if (!isResponse(sent)) { for (const text of sent) input.write(text + "\n") }
      }
    })
    return Connector.fromTransport(yield* Pipe.make({ input, output }), "a deviating server")
  })

const json = (body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse => ({
  headers: { "content-type": "application/json", ...headers },
  body
})

const respond = (
  message: any,
  sent: ReadonlyArray<string> | HttpResponse,
  { accepts = { status: 202, headers: {}, body: "" }, session: id = "s-1" }: ServerRow
): HttpResponse => {
  if (isResponse(sent)) return sent
  if (message.method === undefined || message.id === undefined) return accepts
  const session = message.method === "initialize" ? { "mcp-session-id": id } : undefined
  return sent.length === 1
    ? json(sent[0]!, session)
    : {
      headers: { "content-type": "text/event-stream", ...session },
      body: sent.map((text) => text.split("\n").map((line) => `data: ${line}\n`).join("") + "\n").join("")
    }
}

const overHttp: Serve = (onMessage, row) =>
  Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(
      Effect.async<http.Server>((resume) => {
        const server = http.createServer((request, response) => {
          let text = ""
          request.setEncoding("utf8").on("data", (chunk: string) => text += chunk)
          request.on("end", () => {
            if (request.method !== "POST") {
              response.writeHead(request.method === "GET" ? 405 : 200).end()
              return
            }
            const message = JSON.parse(text) as unknown
            const { body, headers = { "content-type": "application/json" }, isGzip = false, status = 200 } = respond(
              message,
              onMessage(message),
              row
            )
            response.writeHead(status, headers).end(isGzip ? gzipSync(body) : body)
          })
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    const { connect, name } = Remote.connector(`http://127.0.0.1:${port}/mcp`, { standalone: false })
    return Connector.make(name, Effect.provide(connect, FetchHttpClient.layer))
  })

const servers: Readonly<Record<Over, Serve>> = { memory, stdio, http: overHttp }

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {}
}

type Verb = (
  client: ClientSessionService,
  options: {
    readonly onProgress: (progress: object) => Effect.Effect<void>
    readonly timeout: "50 seconds" | "100 millis"
  }
) => Effect.Effect<unknown, unknown>

const verbs: Readonly<Record<string, Verb>> = {
  "initialize": ({ instructions, serverCapabilities, serverInfo, version }) =>
    Effect.succeed({ instructions, serverCapabilities, serverInfo, version }),
  "server/discover": ({ instructions, serverCapabilities, serverInfo, version }) =>
    Effect.succeed({ instructions, serverCapabilities, serverInfo, version }),
  "subscriptions/listen": (client) => client.awaitSubscription,
  "ping": (client) => client.ping(),
  "tools/list": (client) => client.listTools(),
  "tools/list, all pages": (client) => Effect.map(Stream.runCollect(client.tools), (all) => Array.from(all)),
  "tools/call": (client, options) => client.callTool("t", {}, { checkOutput: false, ...options }),
  "resources/list": (client) => client.listResources(),
  "resources/templates/list": (client) => client.listResourceTemplates(),
  "resources/read": (client) => client.readResource("memo://note"),
  "resources/subscribe": (client) => client.subscribeResource("memo://note"),
  "prompts/list": (client) => client.listPrompts(),
  "prompts/get": (client) => client.getPrompt("p"),
  "completion/complete": (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" }),
  "logging/setLevel": (client) => client.setLoggingLevel("info")
}

const features = (logs: Array<object>) =>
  Layer.mergeAll(
    ClientFeatures.sampling(() =>
      Effect.succeed({ role: "assistant" as const, content: { type: "text" as const, text: "hi" }, model: "m" })
    ),
    ClientFeatures.elicitation(() => Effect.succeed({ action: "accept" as const, content: { name: "x" } })),
    ClientFeatures.urlElicitation(() => Effect.succeed("accept" as const)),
    ClientFeatures.roots(Effect.succeed([{ uri: "file:///work" }])),
    ClientFeatures.logging((message) => Effect.sync(() => void logs.push(message)))
  )

const serverInfo = { name: "deviating", version: "1" }

/** What the server says of itself. */
const description = (version: Version.Version) =>
  Version.isModern(version)
    ? {
      resultType: "complete",
      supportedVersions: [version],
      capabilities,
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo }
    }
    : { protocolVersion: version, capabilities, serverInfo }

const failure = (id: unknown) => JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Not here" } })

const result = (id: unknown, value: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result: value })

/** Calls the deviating server, and checks what the client does. */
export const run = (row: ServerRow, over: Over): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { changes = [], ends = false, fails, logs = [], progress = [], replies = [], reports = [], updates = [] } =
      row.expected
    const called = row.during ?? row.method
    const wire = called.replace(/,.*/, "")
    const seen = {
      replies: [] as Array<any>,
      logs: [] as Array<object>,
      progress: [] as Array<object>,
      updates: [] as Array<string>,
      changes: [] as Array<string>,
      reports: [] as Array<string>
    }
    const version = row.version ?? "2025-11-25"
    const opening = Version.isModern(version) ? "server/discover" : "initialize"
    const sends = row.sends ?? (row.http === undefined ? [{ jsonrpc: "2.0", id: "$id", result: row.result }] : [])
    const isDescribed = called !== opening ||
      row.sends === undefined && row.http === undefined && row.result === undefined
    let late: ReadonlyArray<string> = []
    const later = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
      if (row.isLate !== true) return texts
      late = texts
      return []
    }
    const connector = yield* Effect.orDie(servers[over]((message) => {
      const { id, method, params } = message
      if (method === undefined) {
        seen.replies.push(message)
        return []
      }
      if (id === undefined) return []
      if (method === opening && isDescribed) return [result(id, { ...description(version), ...row.initialize })]
      // A client at 2026-07-28 opens a subscription by itself.
      if (method === "subscriptions/listen" && wire !== method) return [failure(id)]
      if (row.isLate === true && method === "ping") return [...late, result(id, {})]
      if (method !== wire) return [result(id, {})]
      const fill = (text: string) => text.replaceAll("\"$token\"", JSON.stringify(params?._meta?.progressToken))
      return row.http === undefined
        ? later(sends.map((one) => fill(textOf(one, id))))
        : { ...row.http, body: fill(textOf(row.http.body, id)) }
    }, row))
    const collect = <A>(stream: Stream.Stream<A>, into: Array<A>) =>
      Effect.forkScoped(Stream.runForEach(stream, (one) => Effect.sync(() => void into.push(one))))
    const logger = Logger.make(({ message }) => {
      const [text] = [message].flat()
      if (String(text).startsWith("Mended")) seen.reports.push("Mended")
    })
    const session = Effect.gen(function*() {
      const client = yield* Client.make(connector, {
        features: features(seen.logs),
        checkOutputs: false,
        versions: Version.isModern(version) ? [version] : Version.legacy
      })
      // The servers of these rows refuse every subscription.
      const tags = Stream.map(client.diagnostics, ({ _tag }: Diagnostic.Diagnostic): string => _tag).pipe(
        Stream.filter((tag) => tag !== "Unsubscribed")
      )
      yield* collect(tags, seen.reports)
      yield* collect(client.resourceUpdates, seen.updates)
      yield* collect(client.listChanges, seen.changes)
      yield* Effect.yieldNow()
      const call = verbs[called]!(client, {
        onProgress: (one) => Effect.sync(() => void seen.progress.push(one)),
        timeout: row.isLate === true ? "100 millis" : "50 seconds"
      })
      const value = row.isLate === true ? yield* Effect.merge(call) : yield* call
      return { client, value }
    })
    const outcome = yield* Effect.exit(Effect.provide(session, Logger.replace(Logger.defaultLogger, logger)))
    if (Exit.isSuccess(outcome) && !ends) yield* Effect.orDie(outcome.value.client.ping())
    if (fails !== undefined) {
      const error: unknown = Exit.isFailure(outcome) ? Cause.squash(outcome.cause) : outcome.value.value
      expect(error).toMatchObject({
        ...fails,
        ...(fails.message === undefined ? undefined : { message: expect.stringContaining(fails.message) })
      })
    } else {
      const { value } = yield* Effect.orDie(outcome)
      if (row.expected.value !== undefined) expect(value).toEqual(row.expected.value)
    }
    yield* until("reply", () => seen.replies.length >= replies.length)
    yield* until("log", () => seen.logs.length >= logs.length && seen.updates.length >= updates.length)
    yield* until("report", () => over === "http" || seen.reports.length >= reports.length)
    expect(seen.replies).toMatchObject(replies)
    expect({ ...seen, replies: seen.replies.length }).toEqual({
      replies: replies.length,
      logs,
      progress,
      updates,
      changes,
      // Over HTTP a call that fails has its own response: nothing else reports that.
      reports: over === "http" && fails !== undefined ? reports.filter((tag) => tag !== "Malformed") : reports
    })
  })
