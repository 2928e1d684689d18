/**
 * Finds the server of a command, for `CommandClient`, `Bridge` and `Login`. The user names the server by a command line after `--`, by a
 * URL, or by its name in a configuration file (`Configured`). When a server with a URL requires a login, this module opens the browser, and
 * stores the tokens in the user's folder for the next command.
 */
import * as Options from "@effect/cli/Options"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { HttpClient } from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import type { QuitException, Terminal } from "@effect/platform/Terminal"
import * as Authorization from "@effect-mcp/auth/Authorization"
import * as AuthorizationCode from "@effect-mcp/auth/AuthorizationCode"
import { Browser } from "@effect-mcp/auth/Browser"
import type { CredentialStore } from "@effect-mcp/auth/CredentialStore"
import * as CredentialDirectory from "@effect-mcp/auth/node/CredentialDirectory"
import * as LoopbackBrowser from "@effect-mcp/auth/node/LoopbackBrowser"
import type { Connector } from "@effect-mcp/core/Connector"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import * as GuardedHttpClient from "@effect-mcp/node/GuardedHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { basename, join } from "node:path"
import { type Failure, usage } from "./CommandFailure.js"
import { type Output, print } from "./CommandOutput.js"
import * as Configured from "./Configured.js"

const pairs = (name: string, separator: string, description: string) =>
  Options.text(name).pipe(
    Options.withDescription(description),
    Options.repeated,
    Options.map((texts) =>
      Object.fromEntries(texts.map((text) => {
        const at = text.indexOf(separator)
        return at < 0 ? [text, ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
      }))
    )
  )

/** A port to listen at. */
export const port = Options.integer("port").pipe(Options.withSchema(
  Schema.Int.pipe(Schema.between(0, 65_535, { message: () => "A port is a number from 0 to 65535" }))
))

/** The options of every command that reaches a server. */
export const options = {
  config: Options.file("config", { exists: "yes" }).pipe(
    Options.withDescription("The file that has the server's name, of any host"),
    Options.optional
  ),
  trust: Options.boolean("trust").pipe(
    Options.withDescription("Uses a server from a file of this folder without asking")
  ),
  headers: pairs("header", ":", "A header of every HTTP request, such as \"Authorization: Bearer …\""),
  env: pairs("env", "=", "A variable of the server's environment: NAME=value"),
  cwd: Options.directory("cwd", { exists: "yes" }).pipe(
    Options.withDescription("The folder in which the server runs"),
    Options.optional
  ),
  versions: Options.choice("revision", Version.all).pipe(
    Options.withDescription("A revision of the protocol that the client may use; all by default"),
    Options.repeated
  ),
  quiet: Options.boolean("quiet").pipe(
    Options.withAlias("q"),
    Options.withDescription("Does not print the server's standard error")
  ),
  noLogin: Options.boolean("no-login").pipe(
    Options.withDescription("Fails when a server asks for a login; without this option the browser opens")
  ),
  privateHosts: Options.text("private-host").pipe(
    Options.withDescription("A host of a private network that a server may name for its login"),
    Options.repeated
  ),
  allowOthers: Options.boolean("allow-others").pipe(
    Options.withDescription("Uses stored logins that other users of this machine can read or change")
  )
}

export interface Given extends Configured.Given {
  readonly headers: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly cwd: Option.Option<string>
  readonly versions: ReadonlyArray<Version.Version>
  readonly quiet: boolean
  readonly noLogin: boolean
  readonly privateHosts: ReadonlyArray<string>
  readonly allowOthers: boolean
  /** How many seconds the command waits for its server; absent for a command without this limit. */
  readonly timeout?: number
}

export interface Target {
  readonly connector: Connector<HttpClient | Authorization.Authorization>
  /** The words of the command line that do not name the server. */
  readonly rest: ReadonlyArray<string>
}

const browsers: Partial<Record<NodeJS.Platform, readonly [string, ...Array<string>]>> = {
  darwin: ["open"],
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"]
}

/** Opens a login page in the browser. Also prints the address, for a user whose browser is on another machine. Never fails. */
const open = (url: URL): Effect.Effect<void> =>
  Effect.zipRight(
    print(process.stderr, `Log in at ${url.href}`),
    Effect.async((resume) => {
      const [program, ...args] = browsers[process.platform] ?? ["xdg-open"]
      const child = spawn(program, [...args, url.href], { stdio: "ignore", detached: true })
      child.once("error", () => resume(Effect.void))
      child.once("spawn", () => resume(Effect.void))
      child.unref()
    })
  )

/** Wraps an effect that waits for a person. */
type During = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const timed = (during: During): Layer.Layer<Browser, never, Browser> =>
  Layer.effect(
    Browser,
    Effect.map(Browser, (browser) => ({
      login: (registered) =>
        Effect.map(browser.login(registered), (login) => ({
          ...login,
          open: (url, state) => during(login.open(url, state))
        }))
    }))
  )

/**
 * Provides what a connection needs: the HTTP client, and the logins of this user. `during` wraps the effect that waits for the user's
 * login.
 */
export const live = (
  { allowOthers, privateHosts }: Pick<Given, "allowOthers" | "privateHosts">,
  during: During = (effect) => effect
): Layer.Layer<HttpClient | Authorization.Authorization | CredentialStore> =>
  Layer.suspend(() =>
    Authorization.layer(AuthorizationCode.make({ name: "Effect MCP command line" }), { privateHosts }).pipe(
      Layer.provide(Layer.provide(timed(during), LoopbackBrowser.layerWith({ open }))),
      Layer.provideMerge(CredentialDirectory.layer(join(homedir(), ".effect-mcp", "credentials"), { allowOthers }))
    )
  ).pipe(Layer.provideMerge(GuardedHttpClient.layer))

const isUrl = (word: string): boolean => /^https?:\/\//i.test(word)

/**
 * Returns the server that the user names by the first word or by the command line after `--`. The result has the form of an entry in a
 * configuration file. Fails with `usage` when the user names no server. When the first word is a name, fails as `Configured.find` does.
 */
export const entryOf = (
  words: ReadonlyArray<string>,
  command: ReadonlyArray<string>,
  given: Configured.Given
): Effect.Effect<
  {
    readonly name: string
    readonly entry: ServersConfig.Program | ServersConfig.Address
    /** The words of the command line that do not name the server. */
    readonly rest: ReadonlyArray<string>
  },
  Failure | QuitException,
  Output | FileSystem.FileSystem | Path.Path | Terminal
> => {
  const [program, ...args] = command
  if (program !== undefined) {
    return Effect.succeed({ name: basename(program), entry: { command: program, args }, rest: words })
  }
  const [name, ...rest] = words
  if (name === undefined) {
    return Effect.fail(usage("Name the server: a URL, a name in a file of servers, or its command line after --"))
  }
  return isUrl(name)
    ? Effect.succeed({ name, entry: { url: name }, rest })
    : Effect.map(Configured.find(name, given), (entry) => ({ name, entry, rest }))
}

/** Returns the server that the words and the command line after `--` name. */
export const find = (words: ReadonlyArray<string>, command: ReadonlyArray<string>, given: Given) =>
  Effect.map(
    entryOf(words, command, given),
    ({ entry, name, rest }): Target => ({ connector: ofEntry(name, entry, given), rest })
  )

/** How many seconds a launched server may take at most for each step of its end (`closeTimeouts`). */
const MAX_STEP = 2

const ofEntry = (
  name: string,
  entry: ServersConfig.Program | ServersConfig.Address,
  given: Given
): Target["connector"] => {
  const server = ServersConfig.isAddress(entry)
    ? { ...entry, headers: { ...entry.headers, ...given.headers } }
    : { ...entry, env: { ...entry.env, ...given.env }, cwd: Option.getOrUndefined(given.cwd) ?? entry.cwd }
  const step = given.timeout === undefined ? undefined : Math.min(MAX_STEP, given.timeout / 3) * 1000
  return ConfiguredServers.connector(server, {
    stderr: given.quiet ? "ignore" : "forward",
    ...(step === undefined ? undefined : { program: () => ({ closeTimeouts: { grace: step, terminate: step } }) }),
    ...(given.noLogin ? undefined : { authorize: Authorization.authorize })
  }, name)
}
