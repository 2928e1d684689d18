/**
 * The authorization server `oidc-provider` in a process of its own, which ends with the scope: it issues tokens for
 * resources (JWT or opaque), registers clients, and obeys commands of a test.
 */
import { Effect, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"

export interface Settings {
  /** Clients that are registered from the beginning. */
  readonly clients?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** The life of access tokens, in seconds. Default: an hour. */
  readonly tokenLife?: number
  /** Default: "jwt". */
  readonly format?: "jwt" | "opaque"
  readonly dpop?: boolean
  readonly requireNonce?: boolean
  /** The life of device codes, in seconds. Default: there is no device grant. */
  readonly deviceCodeLife?: number
  /** By how many seconds its clock is ahead. */
  readonly clockSkew?: number
  /** Whether it issues refresh tokens as it does by default: for `offline_access` only. Default: to all clients that may have them. */
  readonly hasStockRefresh?: boolean
  /** Whether clients may register. Default: true. */
  readonly registration?: boolean
  /** Whether clients may delete their registrations (RFC 7592). Default: false. */
  readonly registrationManagement?: boolean
  /** Default: any that is free. */
  readonly port?: number
}

export interface Provider {
  readonly issuer: string
  /** The requests so far, such as "POST /token". */
  readonly requests: ReadonlyArray<string>
  /** How often that was requested. */
  readonly count: (request: string) => number
  /** Signs tokens with a new key, and publishes the old ones only if so. */
  readonly rotateKeys: (keepOld: boolean) => Effect.Effect<void>
  /** Issues tokens for this audience, whatever is requested. */
  readonly setAudience: (audience: string) => Effect.Effect<void>
  readonly requireNonce: Effect.Effect<void>
  /** From now on, requests for a path are never answered. */
  readonly stall: (path: string) => Effect.Effect<void>
  /** Forgets all records of these kinds: opaque tokens, what users have granted, and clients that have registered. */
  readonly forget: (
    ...kinds: ReadonlyArray<"AccessToken" | "Client" | "Grant" | "RefreshToken">
  ) => Effect.Effect<void>
}

/** What the process sends. */
interface Sent {
  readonly issuer?: string
  readonly request?: string
  readonly done?: number
}

/** Runs an authorization server, which tells its address, until the scope closes. */
export const launch = (
  file: URL,
  settings: Settings
): Effect.Effect<readonly [ChildProcess, string], never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() =>
      fork(fileURLToPath(file), [JSON.stringify(settings)], {
        execPath: process.execPath,
        execArgv: [],
        stdio: ["ignore", "ignore", "pipe", "ipc"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.flatMap((child) =>
      Effect.timeoutFail(started(child), {
        duration: START_LIMIT,
        onTimeout: () => new Error(`The authorization server did not start within ${START_LIMIT}`)
      })
    ),
    Effect.orDie
  )

const START_LIMIT = "30 seconds"

const started = (child: ChildProcess): Effect.Effect<readonly [ChildProcess, string]> =>
  Effect.async((resume) => {
    let stderr = ""
    child.stderr!.setEncoding("utf8").on("data", (text: string) => stderr += text)
    child.once(
      "exit",
      (code) => resume(Effect.dieMessage(`The authorization server did not start: it ended with ${code}. ${stderr}`))
    )
    child.once("message", ({ issuer }: Sent) => resume(Effect.succeed([child, issuer!])))
  })

/** Starts an authorization server. */
export const make = (settings: Settings = {}): Effect.Effect<Provider, never, Scope.Scope> =>
  Effect.map(launch(new URL("./provider.mjs", import.meta.url), settings), (launched) => controlled(launched))

/** An authorization server that obeys commands. */
export const controlled = ([child, issuer]: readonly [ChildProcess, string]): Provider => {
  const requests: Array<string> = []
  const waiting = new Map<number, () => void>()
  let id = 0
  child.on("message", ({ done, request }: Sent) => {
    if (request !== undefined) requests.push(request)
    if (done !== undefined) waiting.get(done)?.()
  })
  const command = (name: string, value?: object) =>
    Effect.async<void>((resume) => {
      waiting.set(++id, () => resume(Effect.void))
      child.send({ command: name, id, value })
    })
  return {
    issuer,
    requests,
    count: (request) => requests.filter((one) => one === request).length,
    rotateKeys: (keepOld) => command("rotateKeys", { keepOld }),
    setAudience: (audience) => command("setAudience", { audience }),
    requireNonce: command("requireNonce"),
    stall: (path) => command("stall", { path }),
    forget: (...kinds) => command("forget", { kinds })
  }
}
