/**
 * The authorization server of `better-auth`, by its plugin for MCP, in a process of its own (`BetterAuth.ts`): users log in before
 * the server looks at the client, clients register themselves, and tokens are opaque. A message makes it forget all clients.
 */
import { createServer } from "node:http"

console.warn = console.info = console.log = () => {}

const { betterAuth } = await import("better-auth")
const { memoryAdapter } = await import("better-auth/adapters/memory")
const { mcp, oAuthDiscoveryMetadata } = await import("better-auth/plugins")
const { toNodeHandler } = await import("better-auth/node")

const server = createServer()
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const issuer = `http://127.0.0.1:${server.address().port}`

const records = {
  user: [],
  session: [],
  account: [],
  verification: [],
  oauthApplication: [],
  oauthAccessToken: [],
  oauthConsent: []
}

const auth = betterAuth({
  baseURL: issuer,
  secret: "a secret of the tests, which is long enough",
  database: memoryAdapter(records),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  logger: { disabled: true },
  telemetry: { enabled: false },
  plugins: [mcp({ loginPage: "/login", oidcConfig: { scopes: ["notes:read"], requirePKCE: true } })]
})

const user = { email: "ada@example.com", password: "the password of ada", name: "Ada" }
await auth.api.signUpEmail({ body: user })

const metadata = oAuthDiscoveryMetadata(auth)
const handle = toNodeHandler(auth)

const send = async (response, answer) => {
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
}

server.on("request", async (request, response) => {
  const url = new URL(request.url, issuer)
  process.send({ request: `${request.method} ${url.pathname}` })
  if (url.pathname === "/.well-known/oauth-authorization-server") {
    return send(response, await metadata(new globalThis.Request(url)))
  }
  // For the MCP server of the tests: whose token it is.
  if (url.pathname === "/userinfo") {
    const token = request.headers.authorization.slice("Bearer ".length)
    const found = records.oauthAccessToken.find(({ accessToken }) => accessToken === token)
    const { clientId, scopes } = found ?? {}
    return response.writeHead(200).end(JSON.stringify(found === undefined ? {} : { clientId, scopes, name: "ada" }))
  }
  if (url.pathname !== "/login") return handle(request, response)
  if (request.method === "GET") {
    return response.writeHead(200).end(`<form action="/login${url.search}"></form>`)
  }
  const { headers } = await auth.api.signInEmail({ body: user, returnHeaders: true })
  response.writeHead(302, {
    location: `/api/auth/mcp/authorize${url.search}`,
    "set-cookie": headers.getSetCookie()
  }).end()
})

process.on("message", ({ id }) => {
  for (const name of ["oauthApplication", "oauthAccessToken"]) records[name].length = 0
  process.send({ done: id })
})
process.on("disconnect", () => process.exit())
process.send({ issuer })
