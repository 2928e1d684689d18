/**
 * The commands `login` and `logout`. `login` logs the user in at a server with a URL, before another command needs the login. `logout` ends
 * the login. Both use the credentials that `Target` stores for all commands. `Cli` runs the commands.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Authorization } from "@effect-mcp/auth/Authorization"
import type { AuthorizationError } from "@effect-mcp/auth/AuthorizationError"
import { CredentialStore } from "@effect-mcp/auth/CredentialStore"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as Effect from "effect/Effect"
import { inFlags, refused, usage } from "../CommandFailure.js"
import { layer as outputLayer, Output } from "../CommandOutput.js"
import * as Target from "../Target.js"

const { allowOthers, config, privateHosts, trust } = Target.options

const options = {
  config,
  trust,
  privateHosts,
  allowOthers,
  words: Args.text({ name: "server" }).pipe(
    Args.withDescription("The URL of the server, or its name in a file of servers"),
    Args.atMost(1)
  )
}

type Given = Pick<Target.Given, "config" | "trust" | "privateHosts" | "allowOthers"> & {
  readonly words: ReadonlyArray<string>
}

/** Returns the URL of the server. Fails with `usage` for a server that a host launches. */
const urlOf = ({ words, ...given }: Given, after: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { entry } = yield* Target.entryOf(words, after, given)
    if (!ServersConfig.isAddress(entry)) {
      return yield* usage(
        "Only a server with a URL has a login: a launched server takes credentials from its environment"
      )
    }
    if (!URL.canParse(entry.url)) return yield* usage(`${entry.url} is not a URL`)
    return entry.url
  })

const failed = ({ message }: AuthorizationError) => refused(inFlags(message))

const login = (after: ReadonlyArray<string>) =>
  Command.make("login", options, (given) =>
    Effect.gen(function*() {
      const url = yield* urlOf(given, after)
      const { result } = yield* Output
      yield* Effect.flatMap(Authorization, ({ login }) => login(url)).pipe(
        Effect.mapError(failed),
        Effect.provide(Target.live(given))
      )
      yield* result(url, `Logged in at ${url}`)
    }).pipe(Effect.provide(outputLayer(false)))).pipe(
      Command.withDescription("Logs in at a server in the browser, and stores the login for all commands")
    )

const logout = (after: ReadonlyArray<string>) =>
  Command.make("logout", options, (given) =>
    Effect.gen(function*() {
      const url = yield* urlOf(given, after)
      const { result } = yield* Output
      const wasLoggedIn = yield* Effect.gen(function*() {
        const { origin, pathname } = new URL(url)
        const stored = yield* Effect.flatMap(CredentialStore, ({ bindings }) => bindings.get(`${origin}${pathname}`))
        yield* Effect.flatMap(Authorization, ({ logout }) => logout(url))
        return stored !== undefined
      }).pipe(Effect.mapError(failed), Effect.provide(Target.live(given)))
      if (!wasLoggedIn) return yield* refused(`There is no login at ${url}`)
      yield* result(url, `Logged out of ${url}`)
    }).pipe(Effect.provide(outputLayer(false)))).pipe(
      Command.withDescription("Ends the login at a server, and deletes the stored login")
    )

export const commands = (after: ReadonlyArray<string>) => [login(after), logout(after)] as const
