/**
 * The authorization server `oidc-provider`, configured by its parent process (`Provider.ts`): one argument with the settings
 * as JSON, and one command with each message. It tells its parent of each request, so that tests can count them.
 */
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto"
import { createServer } from "node:http"

const settings = JSON.parse(process.argv[2])

// A clock that is wrong by so many seconds.
const { now } = Date
Date.now = () => now() + (settings.clockSkew ?? 0) * 1000

// Its warnings are about configuration for development and about the version of Node.
console.warn = console.info = () => {}

const { Provider, errors } = await import("oidc-provider")

/** Survives a change of keys, for which the provider is made anew. */
const records = new Map()
const grants = new Map()

class Adapter {
  constructor(model) {
    this.model = model
  }
  async upsert(id, payload, expiresIn) {
    const expiresAt = expiresIn === undefined ? Infinity : Date.now() + expiresIn * 1000
    const key = `${this.model}:${id}`
    records.set(key, { payload, expiresAt })
    if (payload.grantId !== undefined) {
      grants.set(payload.grantId, [...grants.get(payload.grantId) ?? [], key])
    }
  }
  async find(id) {
    return records.get(`${this.model}:${id}`)?.payload
  }
  findWhere(isWanted) {
    for (const [key, { payload }] of records) {
      if (key.startsWith(`${this.model}:`) && isWanted(payload)) return payload
    }
    return undefined
  }
  async findByUid(uid) {
    return this.findWhere((payload) => payload.uid === uid)
  }
  async findByUserCode(userCode) {
    return this.findWhere((payload) => payload.userCode === userCode)
  }
  async consume(id) {
    records.get(`${this.model}:${id}`).payload.consumed = Math.floor(Date.now() / 1000)
  }
  async destroy(id) {
    records.delete(`${this.model}:${id}`)
  }
  async revokeByGrantId(grantId) {
    for (const key of grants.get(grantId) ?? []) records.delete(key)
  }
}

const newKey = () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: randomUUID() }
}

const server = createServer()
await new Promise((resolve) => server.listen(settings.port ?? 0, "127.0.0.1", resolve))
const issuer = `http://127.0.0.1:${server.address().port}`

let audience
let requireNonce = settings.requireNonce === true
let slow
const keys = [newKey()]

const make = () => {
  const provider = new Provider(issuer, {
    adapter: Adapter,
    clients: settings.clients ?? [],
    clientDefaults: { id_token_signed_response_alg: "ES256", grant_types: ["authorization_code", "refresh_token"] },
    enabledJWA: { clientAuthSigningAlgValues: ["ES256"] },
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    clockTolerance: 0,
    cookies: { keys: ["cookies"] },
    jwks: { keys },
    pkce: { required: () => true },
    ...(settings.hasStockRefresh === true ? undefined : {
      rotateRefreshToken: true,
      issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
      scopes: ["openid", "offline_access"]
    }),
    ttl: {
      Grant: 86_400,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
      AuthorizationCode: 60,
      DeviceCode: settings.deviceCodeLife ?? 600,
      AccessToken: settings.tokenLife ?? 3600,
      ClientCredentials: settings.tokenLife ?? 3600
    },
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: settings.deviceCodeLife !== undefined },
      dPoP: {
        enabled: settings.dpop === true,
        nonceSecret: createHash("sha256").update("nonces").digest(),
        requireNonce: () => requireNonce
      },
      introspection: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: settings.registration !== false },
      registrationManagement: { enabled: settings.registrationManagement === true },
      revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, __, oneOf) => oneOf,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => {
          if (!/^http:\/\/127\.0\.0\.1:\d+\/|^https:\/\//.test(resource)) throw new errors.InvalidTarget()
          return {
            scope: "notes:read notes:write notes:admin",
            audience: audience ?? resource,
            accessTokenFormat: settings.format ?? "jwt",
            accessTokenTTL: settings.tokenLife ?? 3600,
            jwt: { sign: { alg: "ES256" } }
          }
        }
      }
    }
  })
  const listener = provider.callback()
  return (request, response) => {
    const { pathname } = new URL(request.url, issuer)
    process.send({ request: `${request.method} ${pathname.replace(/^(\/(?:auth|interaction|reg))\/.*/, "$1")}` })
    if (pathname === slow) return
    if (request.method !== "POST" || pathname !== "/reg") return listener(request, response)
    let text = ""
    request.setEncoding("utf8").on("data", (chunk) => text += chunk).on("end", () => {
      // The official SDK registers with the scopes of its first login, and this server would allow no others later.
      const { scope: _, ...registration } = JSON.parse(text)
      request.body = registration
      listener(request, response)
    })
  }
}

let answer = make()
server.on("request", (request, response) => answer(request, response))

const commands = {
  /** Signs with a new key; the ones before it are published as long as `keepOld` says so. */
  rotateKeys: ({ keepOld }) => {
    keys.unshift(newKey())
    if (!keepOld) keys.length = 1
    answer = make()
  },
  /** Issues tokens for another audience than the one that was requested. */
  setAudience: (value) => audience = value.audience,
  requireNonce: () => requireNonce = true,
  /** Answers no request for a path any more. */
  stall: ({ path }) => slow = path,
  /** Forgets all records of some kinds. */
  forget: ({ kinds }) => {
    for (const key of records.keys()) if (kinds.includes(key.split(":")[0])) records.delete(key)
  }
}

process.on("message", ({ command, id, value }) => {
  commands[command](value ?? {})
  process.send({ done: id })
})
// Its parent has ended.
process.on("disconnect", () => process.exit())
process.send({ issuer })
