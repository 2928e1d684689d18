/**
 * The servers of a host's configuration (`mcpServers`): each server is a program to launch, or a URL. `decode` reads the parsed
 * configuration, entry by entry. It accepts the spellings of existing hosts, such as Claude Code. `expand` replaces variables by their
 * values. `layer` connects a `ClientSessionGroup` with the servers. An entry that cannot be read is left out, with a reason; the other
 * entries stay. The application gives `layer` a function that makes the connectors. `configuration/Member` and `configuration/Variable`
 * read the members of an entry.
 * @see https://modelcontextprotocol.io/docs/develop/connect-local-servers
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { Connector } from "../jsonrpc/Connector.js"
import { all as concurrently } from "../kit/Race.js"
import * as Version from "../protocol/Version.js"
import type { ConnectError } from "./ClientError.js"
import { ClientFeatures, roots as rootsFeature } from "./ClientFeatures.js"
import * as ClientSessionGroup from "./ClientSessionGroup.js"
import * as Member from "./configuration/Member.js"
import * as Variable from "./configuration/Variable.js"
import type { DuplicateEntry, DuplicateServer } from "./GroupError.js"

/** The members that a server of either kind may have. */
interface Shared {
  /** The revisions that the client may use with this server. Default: the option `versions` of the client. */
  readonly versions?: readonly [Version.Version, ...Array<Version.Version>] | undefined
  /** How long a call may take. Default: the option `timeout` of the client. */
  readonly timeout?: Duration.Duration | undefined
  /** The `file://` URIs of the folders in which this server may work. Default: the roots of the application. */
  readonly roots?: ReadonlyArray<string> | undefined
}

/**
 * A server that is launched as a program. Client and program talk over the standard streams of the program.
 *
 * @category models
 */
export interface Program extends Shared {
  readonly command: string
  readonly args?: ReadonlyArray<string> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The names of the environment variables that the program gets if they have a value. */
  readonly inherit?: ReadonlyArray<string> | undefined
  /** A file with more variables. A variable of `env` takes precedence over a variable of the file. */
  readonly envFile?: string | undefined
  readonly cwd?: string | undefined
}

/**
 * A server that is reached over HTTP. "sse" is the transport of revision 2024-11-05; it is deprecated since 2025-03-26 (SEP-2596).
 *
 * @category models
 */
export interface Address extends Shared {
  readonly type?: "http" | "sse" | undefined
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** @category guards */
export const isAddress = (server: Program | Address): server is Address => "url" in server

/**
 * One entry of a configuration: a server, a server that is disabled, or an entry that cannot be read.
 *
 * @category models
 */
export type Entry = ServerEntry | { readonly _tag: "Disabled" } | LeftOut

/**
 * How the texts of a configuration write variables. `${NAME}`: as `${NAME}`, `${env:NAME}` or `${NAME:-default}`. `$NAME`: in these three
 * ways, or as `$NAME`. `{env:NAME}`: only as `{env:NAME}`.
 *
 * @category models
 */
export type VariableSyntax = "${NAME}" | "$NAME" | "{env:NAME}"

/** @category models */
export interface ServerEntry {
  readonly _tag: "Server"
  /** The file that has the entry; `undefined` when the application has not set it. */
  readonly file?: string | undefined
  readonly server: Program | Address
  /** How the texts of the server write variables; `undefined` when their variables are replaced already. */
  readonly variables?: VariableSyntax | undefined
}

/**
 * An entry that cannot be used. The entry still reserves its name, so an entry of another file with the same name is not used in its place.
 *
 * @category models
 */
export interface LeftOut {
  readonly _tag: "LeftOut"
  readonly file?: string | undefined
  /** The place inside the entry; `undefined` when the reason is about the whole entry. */
  readonly member?: string | undefined
  readonly reason: string
}

/** @category models */
export type Entries = ReadonlyMap<string, Entry>

const MAX_NAME = 100

/** Writes the text on one line. Characters that control a terminal or change the direction of the text are escaped. */
const onOneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

const quoted = (text: string): string =>
  onOneLine(JSON.stringify(text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text))

/**
 * A configuration cannot be read, or the program needs an entry that cannot be read.
 *
 * @category errors
 */
export class ConfigurationError extends Data.TaggedError("ConfigurationError")<{
  readonly file?: string | undefined
  /** The name of the entry; `undefined` when the error is about the whole configuration. */
  readonly entry?: string | undefined
  /** The place inside the entry; `undefined` when the error is about the whole entry. */
  readonly member?: string | undefined
  readonly reason: string
  /**
   * Whether there is nothing to read: the file does not exist, or has no servers. This need not be a mistake, because the file may have
   * other content. Default: `false`.
   */
  readonly isAbsent?: boolean | undefined
}> {
  override get message(): string {
    const whose = this.entry === undefined
      ? this.file ?? "The configuration"
      : `The server ${quoted(this.entry)}${this.file === undefined ? "" : ` of ${this.file}`}`
    return onOneLine(`${whose} cannot be read: ${this.member === undefined ? "" : `${this.member}: `}${this.reason}`)
  }
}

/**
 * Makes the error that says why an entry was left out.
 *
 * @category utils
 */
export const errorOf = (name: string, { file, member, reason }: LeftOut): ConfigurationError =>
  new ConfigurationError({ file, entry: name, member, reason })

/** @category models */
export interface DecodeOptions {
  /**
   * The place of the servers in the configuration. Each element is a path of member names; the first path that exists is used. Default:
   * `mcpServers`, and the places of other hosts: `servers`, `context_servers`, `mcp_servers`, `mcp.servers` and `mcp`.
   */
  readonly members?: ReadonlyArray<ReadonlyArray<string>> | undefined
  /**
   * The unit of a number in `timeout`. Default: a number up to 600 is in seconds, a larger number is in milliseconds, because hosts differ.
   */
  readonly timeoutUnit?: "seconds" | "millis" | undefined
  /** How the texts of the configuration write variables; see `VariableSyntax`. Default: `${NAME}`. */
  readonly variables?: VariableSyntax | undefined
}

const everyMember: ReadonlyArray<ReadonlyArray<string>> = [
  ["mcpServers"],
  ["servers"],
  ["context_servers"],
  ["mcp_servers"],
  ["mcp", "servers"],
  ["mcp"]
]

/**
 * Whether a value is a single server. `decode` uses this check, so that it does not take a server with the name `servers` for a list of
 * servers.
 */
const isEntry = (value: unknown): boolean =>
  Member.isObject(value) &&
  ["command", "url"].some((member) => Member.own(value, member) !== undefined && !Member.isObject(value[member]))

/**
 * Reads the entries of a parsed configuration. Fails when the value has no object of servers. An entry with a mistake becomes `LeftOut`,
 * and the other entries stay.
 *
 * @category constructors
 */
export const decode = (config: unknown, options: DecodeOptions = {}): Either.Either<Entries, ConfigurationError> => {
  const members = options.members ?? everyMember
  for (const path of members) {
    const value = path.reduce<unknown>(
      (object, member) => Member.isObject(object) ? Member.own(object, member) : undefined,
      config
    )
    if (value === undefined || (path.length > 1 && isEntry(value))) continue
    return Member.isObject(value)
      ? Either.right(new Map(Object.entries(value).map(([name, entry]) => [name, entryOf(entry, options)])))
      : Either.left(new ConfigurationError({ reason: `"${path.join(".")}" is not an object` }))
  }
  const wanted = `"${members[0]?.join(".") ?? ""}"`
  return Either.left(new ConfigurationError({ reason: `it has no ${wanted}`, isAbsent: true }))
}

const leftOut = ({ member, reason }: Member.Flaw): LeftOut => ({
  _tag: "LeftOut",
  member: member === "" ? undefined : member,
  reason
})

const entryOf = (value: unknown, options: DecodeOptions): Entry => {
  if (!Member.isObject(value)) return leftOut({ member: "", reason: "expected an object" })
  const disabled = Either.flatMap(
    Member.optional(Member.flag)(Member.own(value, "disabled"), "disabled"),
    (disabled) =>
      Either.map(
        Member.optional(Member.flag)(Member.own(value, "enabled"), "enabled"),
        (enabled) => disabled === true || enabled === false
      )
  )
  return Either.match(
    Either.flatMap(disabled, (disabled) => disabled ? Either.right(undefined) : serverOf(value, options)),
    {
      onLeft: leftOut,
      onRight: (server): Entry =>
        server === undefined
          ? { _tag: "Disabled" }
          : { _tag: "Server", server, variables: options.variables ?? "${NAME}" }
    }
  )
}

/** How hosts spell the kinds of servers, in lower case and with letters only. */
const kinds = new Map<string, "program" | "http" | "sse">([
  ["stdio", "program"],
  ["local", "program"],
  ["http", "http"],
  ["streamable", "http"],
  ["streamablehttp", "http"],
  ["remote", "http"],
  ["sse", "sse"]
])

type Source = Readonly<Record<string, unknown>>

/**
 * Returns the value and the name of the first of these members that is present. If none is present, returns `undefined` and the first name.
 */
const firstOf = (entry: Source, ...members: ReadonlyArray<string>): readonly [value: unknown, member: string] => {
  const member = members.find((one) => Member.own(entry, one) !== undefined) ?? members[0] ?? ""
  return [Member.own(entry, member), member]
}

const serverOf = (entry: Source, options: DecodeOptions): Member.Read<Program | Address> =>
  Either.gen(function*() {
    const [type, place] = firstOf(entry, "type", "transportType", "transport")
    const kind = typeof type === "string" ? kinds.get(type.toLowerCase().replace(/[^a-z]/g, "")) : undefined
    if (type !== undefined && kind === undefined) {
      const spelled = typeof type === "string"
        ? `${quoted(type)} is not a transport that this client has`
        : "expected a string"
      return yield* Member.flaw(place, spelled)
    }
    if (Member.own(entry, "sandboxEnabled") === true) {
      return yield* Member.flaw("sandboxEnabled", "the entry asks for a sandbox, which this client does not have")
    }
    const [url] = firstOf(entry, "httpUrl", "url", "serverUrl")
    const hasCommand = Member.own(entry, "command") !== undefined
    if (kind === undefined && !hasCommand && url === undefined) {
      return yield* Member.flaw("", "it has no command and no URL")
    }
    const shared = yield* sharedOf(entry, options)
    return kind === "program" || (kind === undefined && hasCommand)
      ? { ...yield* programOf(entry), ...shared }
      : { ...yield* addressOf(entry, kind === "sse" ? "sse" : undefined, options), ...shared }
  })

/** Returns the object without the members whose value is `undefined`. */
const present = <A extends object>(members: A): A =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as A

const texts = Member.optional(Member.texts)
const record = Member.optional(Member.record)

const programOf = (entry: Source): Member.Read<Program> =>
  Either.gen(function*() {
    const given = Member.own(entry, "command")
    if (given === undefined) return yield* Member.flaw("command", "is missing")
    const [command = "", ...before] = Array.isArray(given)
      ? yield* Member.texts(given, "command")
      : [yield* Member.text(given, "command")]
    if (command === "") return yield* Member.flaw("command", "is empty")
    const args = yield* texts(Member.own(entry, "args"), "args")
    const environment = yield* record(Member.own(entry, "environment"), "environment")
    const env = yield* record(Member.own(entry, "env"), "env")
    return present<Program>({
      command,
      args: args === undefined && before.length === 0 ? undefined : [...before, ...args ?? []],
      env: environment === undefined ? env : { ...environment, ...env },
      inherit: yield* Member.optional(inherited)(Member.own(entry, "env_vars"), "env_vars"),
      envFile: yield* Member.optional(Member.filled)(Member.own(entry, "envFile"), "envFile"),
      cwd: yield* Member.optional(Member.filled)(Member.own(entry, "cwd"), "cwd")
    })
  })

/** Reads a list of names, or of objects that have a name. */
const inherited = (value: unknown, member: string): Member.Read<ReadonlyArray<string>> =>
  Member.texts(
    Array.isArray(value) ? value.map((one) => Member.isObject(one) ? Member.own(one, "name") : one) : value,
    member
  )

const addressOf = (entry: Source, type: "sse" | undefined, options: DecodeOptions): Member.Read<Address> =>
  Either.gen(function*() {
    const [given, place] = firstOf(entry, "httpUrl", "url", "serverUrl")
    if (given === undefined) return yield* Member.flaw("url", "is missing")
    const referred = (name: string) => Variable.reference(name, options.variables ?? "${NAME}")
    const [headers, where] = firstOf(entry, "headers", "http_headers")
    const own = yield* record(headers, where)
    const ofEnvironment = yield* record(Member.own(entry, "env_http_headers"), "env_http_headers")
    const token = yield* Member.optional(Member.filled)(
      Member.own(entry, "bearer_token_env_var"),
      "bearer_token_env_var"
    )
    const all = {
      ...own,
      ...Object.fromEntries(Object.entries(ofEnvironment ?? {}).map(([name, from]) => [name, referred(from)])),
      ...(token === undefined ? undefined : { Authorization: `Bearer ${referred(token)}` })
    }
    return present<Address>({
      type,
      url: yield* Member.filled(given, place),
      headers: Object.keys(all).length === 0 ? undefined : all
    })
  })

const sharedOf = (entry: Source, { timeoutUnit }: DecodeOptions): Member.Read<Shared> =>
  Either.gen(function*() {
    const [timeout, place] = firstOf(entry, "timeout", "tool_timeout_sec")
    const unit = place === "tool_timeout_sec" ? "seconds" : timeoutUnit
    return present<Shared>({
      versions: yield* Member.optional(versions)(Member.own(entry, "versions"), "versions"),
      timeout: yield* Member.optional(durationIn(unit))(timeout, place),
      roots: yield* texts(Member.own(entry, "roots"), "roots")
    })
  })

const known: ReadonlySet<unknown> = new Set(Version.all)

const versions = (value: unknown, member: string): Member.Read<NonNullable<Shared["versions"]>> =>
  Array.isArray(value) && value.length > 0 && value.every((one) => known.has(one))
    ? Either.right(value as never)
    : Member.flaw(member, "expected a list of revisions")

const durationIn =
  (unit: "seconds" | "millis" | undefined) => (value: unknown, member: string): Member.Read<Duration.Duration> => {
    const count = typeof value === "string" && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value
    const duration = typeof count === "number" && count > 0
      ? Option.some(
        unit === "seconds" || (unit === undefined && count <= 600) ? Duration.seconds(count) : Duration.millis(count)
      )
      : typeof count === "string"
      ? Duration.decodeUnknown(count)
      : Option.none()
    return Option.match(Option.filter(duration, Duration.greaterThan(Duration.zero)), {
      onNone: () => Member.flaw(member, "expected a duration"),
      onSome: Either.right
    })
  }

/** The members of a server whose texts may have variables. */
const filledIn = ["command", "args", "env", "cwd", "envFile", "url", "headers", "roots"]

/** Returns the texts of a server that may have variables, each with its place. */
const textsOf = (server: Program | Address): ReadonlyArray<readonly [text: string, place: string]> =>
  Object.entries(server).filter(([member]) => filledIn.includes(member)).flatMap(([member, value]) =>
    typeof value === "string"
      ? [[value, member] as const]
      : Array.isArray(value)
      ? value.map((text: string, index) => [text, `${member}[${index}]`] as const)
      : Object.entries(value as Readonly<Record<string, string>>)
        .map(([key, text]) => [text, Member.within(member, key)] as const)
  )

/**
 * Returns the names of the variables that `expand` would replace, and of the variables that the program inherits.
 *
 * @category utils
 */
export const variablesOf = ({ server, variables }: ServerEntry): ReadonlyArray<string> => [
  ...new Set([
    ...variables === undefined ? [] : textsOf(server).flatMap(([text]) => Variable.names(text, variables)),
    ...isAddress(server) ? [] : server.inherit ?? []
  ])
]

/**
 * Replaces variables by their values. An entry is left out when one of its variables has no value and no default, or when its URL is not a
 * URL afterwards. A variable that only a host can ask for, such as `${input:…}`, has no value. The result has no variables left, so a
 * second `expand` changes nothing.
 *
 * @category utils
 */
export const expand = (entries: Entries, values: Readonly<Record<string, string | undefined>>): Entries =>
  new Map([...entries].map(([name, entry]) => [name, entry._tag === "Server" ? expanded(entry, values) : entry]))

const expanded = (entry: ServerEntry, values: Readonly<Record<string, string | undefined>>): Entry => {
  const { file, server, variables } = entry
  if (variables === undefined) return entry
  const valueOf = (key: string) => Object.hasOwn(values, key) ? values[key] : undefined
  const filled = new Map<unknown, string>()
  for (const [text, place] of textsOf(server)) {
    const made = Variable.fill(text, variables, valueOf)
    if (Either.isLeft(made)) {
      const reason = `the variable ${quoted(made.left)} has neither a value nor a default`
      return { ...leftOut({ member: place, reason }), file }
    }
    filled.set(text, made.right)
  }
  const fill = (value: unknown): unknown =>
    typeof value === "string"
      ? filled.get(value)
      : Array.isArray(value)
      ? value.map(fill)
      : Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, fill(inner)]))
  const made = Object.fromEntries(
    Object.entries(server).map(([member, value]) => [member, filledIn.includes(member) ? fill(value) : value])
  ) as unknown as Program | Address
  if (isAddress(made) && !(/^https?:/i.test(made.url) && URL.canParse(made.url))) {
    return { ...leftOut({ member: "url", reason: "expected a URL that begins with http:// or https://" }), file }
  }
  return { _tag: "Server", file, server: isAddress(made) ? made : withInherited(made, valueOf) }
}

const withInherited = (
  { inherit, ...program }: Program,
  valueOf: (key: string) => string | undefined
): Program => {
  if (inherit === undefined) return program
  const given = inherit.flatMap((key) => {
    const value = valueOf(key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return { ...program, env: { ...Object.fromEntries(given), ...program.env } }
}

/**
 * Joins the entries of several configurations. When configurations have entries with the same name, the first of these entries is used,
 * also when it is left out or disabled.
 *
 * @category utils
 */
export const merge = (configurations: Iterable<Entries>): Entries => {
  const all = new Map<string, Entry>()
  for (const entries of configurations) {
    for (const [name, entry] of entries) {
      if (!all.has(name)) all.set(name, entry)
    }
  }
  return all
}

/** @category models */
export interface Options<RC, E = never, R = never> extends ClientSessionGroup.Options {
  /** Makes the connector of a server. */
  readonly connector: (server: Program | Address, name: string) => Connector<RC>
  /**
   * The options of every connection, or a function that returns the options for one server: the features of the client, its revisions, the
   * schedule for reconnecting. When the configuration sets an option of a server, too, the value of the configuration takes precedence.
   * Features are built for each connection. The layer fails when they cannot be built. Default: no options.
   */
  readonly server?:
    | ClientSessionGroup.ServerOptions<E, R>
    | ((name: string, server: Program | Address) => ClientSessionGroup.ServerOptions<E, R>)
    | undefined
  /**
   * What happens when an entry cannot be read, when a server cannot be reached, or when a server is refused because of `onCollision:
   * "fail"`. `fail`: the layer fails. `skip`: the server is left out and the error is logged. A server that is left out because it cannot
   * be reached is tried again according to the option `reconnect` of that server. Default: `skip`.
   */
  readonly onFailure?: "fail" | "skip" | undefined
}

/**
 * The errors with which adding a server to the group can fail.
 *
 * @category errors
 */
export type JoinError = ConfigurationError | ConnectError | DuplicateEntry | DuplicateServer

/**
 * Makes a layer with the group of all servers that can be read. The servers are connected concurrently. When two servers have an entry of
 * the same name, the server that is first in the configuration keeps the name. A server that is connected by a later attempt counts as
 * last.
 *
 * @category layers
 */
export const layer = <RC, E = never, R = never>(
  entries: Entries,
  options: Options<RC, E, R>
): Layer.Layer<
  ClientSessionGroup.ClientSessionGroup,
  JoinError | E,
  Exclude<Exclude<R, ClientFeatures> | RC, Scope.Scope>
> =>
  ClientSessionGroup.layer(options, (group) =>
    concurrently(
      [...entries].flatMap(([name, entry]) => {
        if (entry._tag === "Disabled") return []
        if (entry._tag === "LeftOut") {
          const error = errorOf(name, entry)
          return [
            options.onFailure === "fail" ? Effect.fail(error) : Effect.logWarning(`${error.message}. It is left out`)
          ]
        }
        const { server } = entry
        const given = typeof options.server === "function" ? options.server(name, server) : options.server ?? {}
        const { reconnect } = given
        const connecting: Effect.Effect<
          unknown,
          ConnectingError<E>,
          Exclude<Exclude<R, ClientFeatures> | RC, Scope.Scope>
        > = group.connect(name, options.connector(server, name), optionsOf(server, given))
        const leaveOut = (error: ConnectingError<E>) =>
          Effect.logWarning(`The server ${quoted(name)} is left out: ${error.message}`)
        return [Effect.catchAll(connecting, (error): Effect.Effect<unknown, JoinError | E, any> => {
          if ("ofFeatures" in error) return Effect.fail(error.ofFeatures)
          if (options.onFailure === "fail") return Effect.fail(error)
          if (reconnect === undefined || !mayCome(error)) return leaveOut(error)
          return Effect.logWarning(`The server ${quoted(name)} is not there yet: ${error.message}`).pipe(
            Effect.zipRight(Ref.make(true)),
            Effect.flatMap((isFirst) =>
              // The attempt that has failed counts as the first attempt of the schedule.
              Effect.flatMap(Ref.getAndSet(isFirst, false), (is) => is ? Effect.fail(error) : connecting).pipe(
                Effect.retry({ schedule: reconnect, while: mayCome }),
                Effect.catchAll(leaveOut),
                Effect.interruptible,
                Effect.forkScoped
              )
            )
          )
        })]
      })
    )) as never

type ConnectingError<E> = Exclude<JoinError, ConfigurationError> | { readonly ofFeatures: E; readonly message: string }

/** Whether a later attempt to reach the server may succeed. */
const mayCome = (error: ConnectingError<unknown>): boolean =>
  !("ofFeatures" in error) && error._tag !== "DuplicateEntry" && error._tag !== "DuplicateServer" &&
  error._tag !== "NoCommonVersion"

/** Combines the options of a connection with the members of its server in the configuration. */
const optionsOf = <E, R>(
  { roots, timeout, versions }: Program | Address,
  options: ClientSessionGroup.ServerOptions<E, R>
): ClientSessionGroup.ServerOptions<{ readonly ofFeatures: E; readonly message: string }, R> => {
  const features = Layer.mapError(
    options.features ?? Layer.empty as Layer.Layer<never, E, R>,
    (ofFeatures) => ({ ofFeatures, message: "its features cannot be built" })
  )
  return {
    ...options,
    ...(versions === undefined ? undefined : { versions }),
    ...(timeout === undefined ? undefined : { timeout }),
    // The roots of the configuration replace the roots of the application.
    features: roots === undefined ? features : Layer.flatMap(features, () => rootsOf(roots)) as typeof features
  }
}

const rootsOf = (roots: ReadonlyArray<string>): Layer.Layer<never, never, ClientFeatures> =>
  Layer.unwrapEffect(Effect.map(ClientFeatures, (features) => {
    delete features.roots
    return rootsFeature(Effect.succeed(roots.map((uri) => ({ uri }))))
  }))
