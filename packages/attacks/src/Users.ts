/**
 * Clients with invented tokens at a server that asks an authorization server about each token. Meanwhile a user whom the server knows is
 * served, and the server asks few times about the same invented token. The suite runs in the process of `main`.
 */
import type { AccessToken } from "@effect-mcp/auth/AccessToken"
import * as IntrospectionVerifier from "@effect-mcp/auth/IntrospectionVerifier"
import * as ResourceServer from "@effect-mcp/auth/ResourceServer"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as GuardedHttpClient from "@effect-mcp/node/GuardedHttpClient"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import { call, initialize, post } from "./Canary.js"
import type { Outcome } from "./Report.js"

class User extends Context.Tag("attacks/User")<User, AccessToken<unknown>>() {}

const RESOURCE = "https://mcp.example.com/mcp"
const METADATA = "/.well-known/oauth-protected-resource/mcp"

/**
 * An authorization server: it knows the token `ada`, answers about tokens that begin with `late` when it is told to, and counts how often
 * it was asked about each token.
 */
const authorizationServer = async () => {
  const asked = new Map<string, number>()
  const late: Array<() => void> = []
  const server = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8").on("data", (chunk: string) => text += chunk)
    request.on("end", () => {
      const token = new URLSearchParams(text).get("token") ?? ""
      asked.set(token, (asked.get(token) ?? 0) + 1)
      const exp = Math.floor(Date.now() / 1000) + 3600
      const claims = token === "ada" ? { active: true, sub: "ada", aud: RESOURCE, exp } : { active: false }
      const answer = (): void => void response.setHeader("content-type", "application/json").end(JSON.stringify(claims))
      if (token.startsWith("late")) late.push(answer)
      else answer()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    asked: (token: string): number => asked.get(token) ?? 0,
    /** How many requests wait for their answers. */
    waiting: (): number => late.length,
    answerLate: (): void => late.splice(0).forEach((answer) => answer()),
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: (): void => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const protectedBy = (issuer: string) => {
  const authenticator = ResourceServer.make(User, {
    resource: RESOURCE,
    authorizationServers: [issuer],
    verify: IntrospectionVerifier.make({
      endpoint: `${issuer}/introspect`,
      client: { clientId: "server", clientSecret: Redacted.make("secret"), authMethod: "client_secret_basic" },
      // The server asks about the token of each request anew, as after a time without requests.
      cacheFor: 0
    })
  })
  const features = McpServer.tool(Tool.make("act"), () => Effect.void)
  return ManagedRuntime.make(
    HttpServer.layer({ port: 0 }).pipe(
      Layer.provide(McpServer.layer({ name: "users", version: "1.0.0" }, features, { authenticator })),
      Layer.provide(GuardedHttpClient.layer),
      Layer.provide(Logger.minimumLogLevel(LogLevel.None))
    )
  )
}

interface Subject {
  readonly port: number
  readonly login: Awaited<ReturnType<typeof authorizationServer>>
}

const as = (token: string, session?: string) => ({
  authorization: `Bearer ${token}`,
  ...(session === undefined ? undefined : { "mcp-session-id": session })
})

const statuses = (answers: ReadonlyArray<{ readonly status: number }>): string =>
  [...new Set(answers.map(({ status }) => status))].sort().join(" ")

const SENDERS = 300

const invented = async ({ login, port }: Subject): Promise<ReadonlyArray<string>> => {
  const { headers } = await post(port, initialize(), as("ada"))
  const session = String(headers["mcp-session-id"])
  const flood = Array.from({ length: SENDERS }, (_, n) => post(port, initialize(), as(`late-${n}`)))
  // The authorization server is asked about some of these tokens; the other requests are refused.
  while (login.waiting() < 64) await turn()
  const calls = []
  for (let id = 1; id <= 10; id++) calls.push(await post(port, call(id, "act"), as("ada", session)))
  login.answerLate()
  const refused = statuses(await Promise.all(flood))
  return [
    ...(statuses(calls) === "200" ? [] : [`a user whom the server knows got ${statuses(calls)}`]),
    ...(refused === "401 503" ? [] : [`invented tokens got ${refused}`])
  ]
}

const repeated = async ({ login, port }: Subject): Promise<ReadonlyArray<string>> => {
  const rounds = []
  for (let n = 0; n < 20; n++) {
    rounds.push(await Promise.all(Array.from({ length: 20 }, () => post(port, initialize(), as("again")))))
  }
  const answers = rounds.flat()
  const told = answers.some(({ headers, text }) => `${JSON.stringify(headers)}${text}`.includes("again"))
  return [
    ...(statuses(answers) === "401" ? [] : [`an invented token got ${statuses(answers)}`]),
    // A machine that is busy needs longer than the server remembers the answer.
    ...(login.asked("again") <= 5 ? [] : [`the authorization server was asked ${login.asked("again")} times`]),
    ...(told ? ["an answer repeats the token"] : [])
  ]
}

const heads = async ({ port }: Subject): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  const send = (method: string) =>
    fetch(`http://127.0.0.1:${port}${METADATA}`, { method, signal: AbortSignal.timeout(10_000) })
  for (let n = 0; n < 50; n++) {
    const [get, head] = [await send("GET"), await send("HEAD")]
    const length = (await get.text()).length
    if (get.status !== 200 || head.status !== 200) faults.push(`GET got ${get.status}, HEAD got ${head.status}`)
    if ((await head.text()) !== "") faults.push("HEAD has a body")
    if (length === 0 || get.headers.get("content-type") !== head.headers.get("content-type")) {
      faults.push("GET and HEAD differ")
    }
  }
  for (const method of ["POST", "PUT", "DELETE"]) {
    const { status } = await send(method)
    if (status !== 405) faults.push(`${method} got ${status}`)
  }
  return [...new Set(faults)]
}

const attacks: ReadonlyArray<readonly [string, (subject: Subject) => Promise<ReadonlyArray<string>>]> = [
  [`${SENDERS} invented tokens beside a user whom the server knows`, invented],
  ["one invented token 400 times", repeated],
  ["HEAD of the metadata, and methods that the metadata does not have", heads]
]

export const run = async (only: string | undefined): Promise<ReadonlyArray<Outcome>> => {
  const outcomes: Array<Outcome> = []
  for (const [name, attack] of attacks) {
    if (only !== undefined && !name.includes(only)) continue
    const login = await authorizationServer()
    const server = protectedBy(login.issuer)
    const { port } = await server.runPromise(HttpServer.HttpServer)
    const faults = await attack({ port, login }).catch((error: unknown) => [String(error)])
    outcomes.push({ name, faults })
    login.answerLate()
    await server.dispose()
    login.close()
  }
  return outcomes
}
