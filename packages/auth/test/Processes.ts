/**
 * An authorization server that takes each refresh token once, for processes that share a store of credentials. The module
 * `fixtures/sharing.ts` of a package is such a process: it prints what it sends to the MCP server, as JSON, and ends.
 */
import type { CredentialStoreService } from "@effect-mcp/auth/CredentialStore"
import { Deferred, Effect, Redacted } from "effect"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

export const SERVER = "https://mcp.test/mcp"

/** `grace`: whether a refresh token that was used is accepted again, as some servers do for a while. */
export const provider = (grace = false) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<Provider>((resume) => {
        const used = new Set<string>()
        const held: Array<() => void> = []
        const self: Provider = {
          issuer: "",
          refreshes: 0,
          refused: 0,
          holds: false,
          arrived: Effect.runSync(Deferred.make()),
          release: () => {},
          close: () => {}
        }
        const json = (response: ServerResponse, status: number, value: unknown) =>
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
        const server = createServer((request, response): void => {
          if (request.method === "GET") {
            json(response, 200, {
              issuer: self.issuer,
              authorization_endpoint: `${self.issuer}/authorize`,
              token_endpoint: `${self.issuer}/token`,
              token_endpoint_auth_methods_supported: ["none"],
              code_challenge_methods_supported: ["S256"]
            })
            return
          }
          let text = ""
          request.on("data", (chunk) => text += String(chunk)).on("end", (): void => {
            const token = new URLSearchParams(text).get("refresh_token") ?? ""
            if (used.has(token) && !grace) {
              self.refused++
              json(response, 400, { error: "invalid_grant" })
              return
            }
            used.add(token)
            const number = ++self.refreshes
            const answer = () =>
              void json(response, 200, {
                access_token: `access-${number}`,
                token_type: "Bearer",
                expires_in: 3600,
                refresh_token: `refresh-${number}`
              })
            if (!self.holds) return void answer()
            self.holds = false
            held.push(answer)
            Effect.runSync(Deferred.succeed(self.arrived, undefined))
          })
        })
        self.release = () => held.forEach((answer) => answer())
        self.close = () => server.close().closeAllConnections()
        server.listen(0, "127.0.0.1", () => {
          self.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
          resume(Effect.succeed(self))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    (self) => self
  )

export interface Provider {
  issuer: string
  refreshes: number
  /** How often a refresh token came that was used before. */
  refused: number
  /** Whether the next refresh waits for `release`. */
  holds: boolean
  readonly arrived: Deferred.Deferred<void>
  release: () => void
  close: () => void
}

/** Stores tokens that have expired, for all processes. */
export const expired = (store: CredentialStoreService, issuer: string) =>
  Effect.zipRight(
    store.bindings.set({ issuer, resource: SERVER, scopes: undefined, key: undefined }, SERVER),
    store.tokens.set(
      {
        accessToken: Redacted.make("access-0"),
        type: "Bearer",
        expiresAt: 1,
        renewAt: 1,
        refreshToken: Redacted.make("refresh-0"),
        clientId: "host",
        scopes: undefined
      },
      issuer,
      SERVER
    )
  )

/** Bundles the process of a package, whose folder this is. */
export const bundle = (folder: string) =>
  Effect.gen(function*() {
    const built = join(folder, "build")
    const target = yield* Effect.acquireRelease(
      Effect.sync(() => {
        mkdirSync(built, { recursive: true })
        return mkdtempSync(join(built, "sharing-"))
      }),
      (target) => Effect.sync(() => rmSync(target, { recursive: true, force: true }))
    )
    const outfile = join(target, "sharing.mjs")
    yield* Effect.promise(() =>
      build({
        entryPoints: [join(folder, "test/fixtures/sharing.ts")],
        outfile,
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node20",
        conditions: ["@effect-mcp/source"],
        external: ["ioredis", "@libsql/client", "pg", "pg-cursor", "pg-pool", "jose"],
        logLevel: "error"
      })
    )
    return outfile
  })

export interface Run {
  readonly child: ChildProcess
  /** What each program of the process has sent. */
  readonly sent: Effect.Effect<ReadonlyArray<string>>
}

/** Starts a process with so many programs that share the store. */
export const start = (file: string, place: string, issuer: string, programs: number) =>
  Effect.acquireRelease(
    Effect.sync((): Run => {
      const child = spawn(process.execPath, [file, place, issuer, `${programs}`], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      let text = ""
      child.stdout.on("data", (chunk) => text += String(chunk))
      const sent = Effect.async<ReadonlyArray<string>>((resume) => {
        const end = () => resume(Effect.sync(() => text.split("\n").filter((line) => line !== "")))
        if (child.exitCode !== null || child.signalCode !== null) end()
        else child.once("close", end)
      })
      return { child, sent }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )
