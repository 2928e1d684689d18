/**
 * Documents, metadata and messages that others wrote, given to the packages around the core: what is shown has no secret, what a host gets
 * is safe, and reading takes processor time in proportion to the text. The suite runs in the process of `main`.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Redaction from "@effect-mcp/core/Redaction"
import * as Tool from "@effect-mcp/core/Tool"
import * as Guard from "@effect-mcp/core/unstable/server/Guard"
import * as Apps from "@effect-mcp/extensions/Apps"
import * as SkillsClient from "@effect-mcp/extensions/SkillsClient"
import * as GuardedHttpClient from "@effect-mcp/node/GuardedHttpClient"
import * as OpenApi from "@effect-mcp/openapi/OpenApi"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Outcome } from "./Report.js"

const secret = "hunter2hunter2"

/** Messages and lines, each with the secret. */
const telling: ReadonlyArray<unknown> = [
  {
    result: { structuredContent: { otp: secret }, content: [{ type: "text", text: JSON.stringify({ otp: secret }) }] }
  },
  { params: { headers: [{ name: "Authorization", value: secret }], args: ["--token", secret] } },
  { params: { url: `https://ada:${secret}@example.com/?code=${secret}` } },
  { params: { data: `DB_PASSWORD=${secret}` } },
  { params: { credentials: { [secret]: true }, code_verifier: secret, idToken: secret } },
  { inputSchema: { properties: { password: { type: "string", default: secret, examples: [secret] } } } },
  `{"jsonrpc":"2.0","result":{"client_secret":"${secret}`,
  `Bearer ${secret}`
]

const redaction = (): ReadonlyArray<string> => {
  const shown = telling.map((one) =>
    typeof one === "string" ? Redaction.text(one) : JSON.stringify(Redaction.value(one))
  )
  const schema = { inputSchema: { type: "object", properties: { password: { type: "string", minLength: 8 } } } }
  return [
    ...shown.filter((text) => text.includes(secret)).map((text) => `a secret is shown: ${text}`),
    ...(JSON.stringify(Redaction.value(schema)) === JSON.stringify(schema) ? [] : ["a schema is not readable"])
  ]
}

const floods = [
  "token:",
  "token='",
  "\"token\":{",
  "//a:b@",
  "eyJ.",
  "bearer ",
  "{\"name\":\"token\",\"value\":",
  "[",
  "\\\"token\\\":\\\""
]

const flooded = (): ReadonlyArray<string> => {
  for (const part of floods) Redaction.text(part.repeat(1_000_000 / part.length))
  return []
}

const MAX_BYTES = 10 * 1024 * 1024

const longLists = async (): Promise<ReadonlyArray<string>> => {
  const features = Array.from(
    { length: 30 },
    (_, i) => McpServer.tool(Tool.make(`t${i}`, { description: "語".repeat(500_000) }), () => Effect.void)
  )
  const server = McpServer.layer(
    { name: "long", version: "1.0.0" },
    features.reduce((all, one) => Layer.merge(all, one))
  )
  const pages = Effect.gen(function*() {
    const client = yield* Client.Client
    const faults: Array<string> = []
    let cursor: string | undefined
    do {
      const page = yield* client.listTools(cursor === undefined ? {} : { cursor })
      const bytes = Buffer.byteLength(JSON.stringify(page))
      if (bytes > MAX_BYTES) faults.push(`a page of tools has ${bytes} bytes`)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return faults
  })
  return Effect.runPromise(Effect.provide(pages, Client.layer(InProcess.fromLayer(server))))
}

const sources = [
  "*",
  "https:",
  "javascript:",
  "https://169.254.169.254",
  "http://localhost:3000",
  "https://*.com",
  "a; form-action *"
]

const views = (): ReadonlyArray<string> => {
  const { csp } = Apps.ofView({ csp: { connectDomains: sources } }).ui
  return (csp?.connectDomains ?? []).map((source) => `a view may reach ${source}`)
}

const paths = [
  "~/.ssh/id",
  "CON",
  ".git/config",
  "../x",
  "%2e%2e/x",
  "C:/x",
  "a.",
  "nul.md",
  "a%00b",
  "GIT~1/config",
  "$HOME/x"
]

const skills = async (): Promise<ReadonlyArray<string>> => {
  const root = "skill://refunds"
  const digest = `sha256:${"0".repeat(64)}`
  const main = { uri: `${root}/SKILL.md`, digest, size: 1 }
  const load = (path: string) =>
    Effect.gen(function*() {
      const skill = {
        uri: main.uri,
        frontmatter: { name: "refunds", description: "x" },
        resources: [main, { ...main, uri: `${root}/${path}` }]
      }
      const ended = yield* Effect.either(SkillsClient.make(yield* Client.Client).load(skill))
      return ended._tag === "Left" && ended.left._tag === "SkillRefused" && ended.left.reason === "Entry"
        ? []
        : [`a host gets the path ${path}`]
    })
  const server = McpServer.layer({ name: "skills", version: "1.0.0" }, Layer.empty)
  const all = Effect.map(Effect.forEach(paths, load), (faults) => faults.flat())
  return Effect.runPromise(Effect.provide(all, Client.layer(InProcess.fromLayer(server))))
}

/** Schemas that lead to each other, and operations that refer to one of them. */
const linked = (schemas: number, operations: number) => {
  const content = { "application/json": { schema: { $ref: "#/components/schemas/S0" } } }
  const thing = (n: number) => ({
    type: "object",
    description: "x".repeat(850),
    properties: { next: { $ref: `#/components/schemas/S${(n + 1) % schemas}` } }
  })
  return {
    openapi: "3.1.0",
    servers: [{ url: "https://example.com" }],
    paths: Object.fromEntries(Array.from({ length: operations }, (_, n) => [
      `/${n}`,
      { post: { requestBody: { content }, responses: { 200: { content } } } }
    ])),
    components: { schemas: Object.fromEntries(Array.from({ length: schemas }, (_, n) => [`S${n}`, thing(n)])) }
  }
}

const openApi = async (): Promise<ReadonlyArray<string>> => {
  const faults: Array<string> = []
  for (const [schemas, operations] of [[200, 100], [2000, 1000]] as const) {
    const { skipped, tools } = await Effect.runPromise(OpenApi.make(linked(schemas, operations)))
    const characters = tools.reduce((sum, { definition }) => sum + JSON.stringify(definition.advertised).length, 0)
    if (characters > 30 * 1024 * 1024) {
      faults.push(`the tools of ${operations} operations have ${characters} characters`)
    }
    if (tools.length + skipped.length !== operations) faults.push("an operation is neither a tool nor left out")
  }
  const paths = { "/a": { get: { responses: {}, servers: [{ url: "https://evil.example.net" }] } } }
  const foreign = await Effect.runPromise(
    OpenApi.make({ openapi: "3.1.0", servers: [{ url: "https://example.com" }], paths })
  )
  return foreign.tools.length === 0 ? faults : [...faults, "an operation names the server that gets the token"]
}

/** How a peer may write an address of this machine: literals, numbers, mapped and translated forms, and names. */
const ownAddresses = [
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0.0.0.0",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::1]",
  "localhost",
  "localhost.",
  "a.localhost",
  "user:secret@127.0.0.1"
]

const addresses = async (): Promise<ReadonlyArray<string>> => {
  const reached: Array<string> = []
  const server = createServer((request, response) => {
    reached.push(`a request to ${request.headers.host} reached this machine`)
    response.end()
  }).listen(0)
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const get = (url: string) => Effect.scoped(HttpClient.get(url))
  const sent = Effect.forEach(ownAddresses, (host) => Effect.ignore(get(`http://${host}:${port}/`)))
  await Effect.runPromise(Effect.provide(GuardedHttpClient.publicOnly(sent), GuardedHttpClient.layer))
  const { length } = reached
  // The attack would find nothing if no address reached the server.
  await Effect.runPromise(Effect.provide(get(`http://127.0.0.1:${port}/`), GuardedHttpClient.layer))
  server.close()
  server.closeAllConnections()
  return reached.length === length + 1 ? reached.slice(0, -1) : ["the server of the attack does not answer"]
}

const hosts = (): ReadonlyArray<string> =>
  Guard.make().check({ ":authority": "evil.com", host: "localhost" }) === undefined
    ? ["a request with two hosts is let in"]
    : []

/** Each attack, and the most milliseconds of processor time that it may take. */
const attacks: ReadonlyArray<readonly [string, () => ReadonlyArray<string> | Promise<ReadonlyArray<string>>, number]> =
  [
    ["secrets in messages and lines that are shown", redaction, 500],
    ["floods of what looks like secrets", flooded, 15_000],
    ["lists of long tools", longLists, 10_000],
    ["origins of views", views, 500],
    ["paths of skills", skills, 3_000],
    ["schemas of an OpenAPI document that lead to each other", openApi, 20_000],
    ["an authority that is not the host", hosts, 500],
    ["addresses of this machine that a peer names", addresses, 3_000]
  ]

export const run = async (only: string | undefined): Promise<ReadonlyArray<Outcome>> => {
  const outcomes: Array<Outcome> = []
  for (const [name, attack, most] of attacks) {
    if (only !== undefined && !name.includes(only)) continue
    const before = process.cpuUsage()
    const faults = await attack()
    const { system, user } = process.cpuUsage(before)
    const cost = (system + user) / 1000
    const slow = cost > most ? [`it took ${cost.toFixed(0)} ms of processor time`] : []
    outcomes.push({ name, faults: [...faults, ...slow], cost, share: cost / most })
  }
  return outcomes
}
