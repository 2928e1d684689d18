/**
 * A program that is a client of protected servers: its `Authorization`, a browser without a screen, and a clock that a test
 * can set forward.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import type { Browser } from "@effect-mcp/auth/Browser"
import * as CredentialStore from "@effect-mcp/auth/CredentialStore"
import type { Grant } from "@effect-mcp/auth/Grant"
import * as LoopbackBrowser from "@effect-mcp/auth/node/LoopbackBrowser"
import * as Client from "@effect-mcp/core/Client"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { Version } from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import { Clock, Context, Duration, Effect, Layer, type Scope } from "effect"
import * as Visitor from "./Visitor.js"

export interface Options extends Authorization.Options {
  readonly visitor?: Visitor.Visitor
  readonly store?: Layer.Layer<CredentialStore.CredentialStore>
  /** How many times as fast as time the program sleeps. Default: 1. */
  readonly pace?: number
  /** Default: the authorization code. */
  readonly grant?: Grant<Browser | CredentialStore.CredentialStore>
}

export interface Program {
  readonly authorization: Authorization.AuthorizationService
  readonly visitor: Visitor.Visitor
  /** A client of a server, until the scope closes. */
  readonly connect: (url: string, version?: Version) => Effect.Effect<ClientSessionService, unknown, Scope.Scope>
  /** Provides what the program has to an effect, its clock included. */
  readonly provide: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, Exclude<R, Authorization.Authorization | HttpClient.HttpClient>>
  /** Sets the clock of the program forward. */
  readonly advance: (seconds: number) => Effect.Effect<void>
}

/** Runs until the scope closes. */
export const make = (options: Options = {}): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { grant = AuthorizationCode.make({ name: "Test" }), pace = 1, store, visitor = Visitor.make(), ...rest } =
      options
    let ahead = 0
    const live = Clock.make()
    const clock: Clock.Clock = Object.assign(Object.create(live) as Clock.Clock, {
      unsafeCurrentTimeMillis: () => live.unsafeCurrentTimeMillis() + ahead,
      currentTimeMillis: Effect.map(live.currentTimeMillis, (millis) => millis + ahead),
      sleep: (duration: Duration.Duration) => live.sleep(Duration.times(duration, 1 / pace))
    })
    const context = yield* Layer.build(
      Authorization.layer(grant, rest).pipe(
        Layer.provide(LoopbackBrowser.layerWith({ open: visitor.open })),
        Layer.provide(store ?? CredentialStore.layerMemory),
        Layer.provideMerge(NodeHttpClient.layerUndici)
      )
    )
    const authorization = Context.get(context, Authorization.Authorization)
    const provide: Program["provide"] = (effect) => Effect.withClock(Effect.provide(effect, context), clock)
    return {
      authorization,
      visitor,
      provide,
      advance: (seconds) => Effect.sync(() => void (ahead += seconds * 1000)),
      connect: (url, version) =>
        Client.make(
          Remote.connector(url, { authorize: Authorization.authorize, standalone: false }),
          version === undefined ? {} : { versions: [version] }
        ).pipe(provide)
    }
  })

/** The error of authorization in the cause of an error. */
export const causeOf = (error: unknown): AuthorizationError => {
  const { cause } = error as { readonly cause: unknown }
  if (cause instanceof AuthorizationError) return cause
  throw new Error(`Not an error of authorization: ${String(error)}`)
}
