/**
 * Connects to the servers that the configuration files of host applications list. The result is one `ClientSessionGroup`. This module
 * launches servers that are programs, and connects to servers with a URL over HTTP. It finds and reads the configuration files of ten
 * hosts, such as Claude Code.
 *
 * `@effect-mcp/core/ServersConfig` decodes a configuration, and makes the `ClientSessionGroup` with the connectors of this module.
 *
 * @since 0.1.0
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import type { ClientFeatures } from "@effect-mcp/core/ClientFeatures"
import type * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import type { Connector } from "@effect-mcp/core/Connector"
import * as Remote from "@effect-mcp/core/Remote"
import * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as Tap from "@effect-mcp/core/Tap"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { homedir } from "node:os"
import { basename, join, resolve, sep } from "node:path"
import { parseEnv } from "node:util"
import * as ConfigurationText from "./configuration/ConfigurationText.js"
import * as File from "./configuration/File.js"
import * as Hosts from "./configuration/Hosts.js"
import * as StdioClient from "./StdioClient.js"

/**
 * The name of a host application whose files this module reads.
 *
 * @category models
 */
export type Host =
  | "claude-code"
  | "claude-desktop"
  | "cline"
  | "codex"
  | "cursor"
  | "gemini-cli"
  | "opencode"
  | "vscode"
  | "windsurf"
  | "zed"

/**
 * The hosts, in the order in which their files are read.
 *
 * @category constants
 */
export const hosts: ReadonlyArray<Host> = Hosts.hosts.map(({ name }) => name)

/** @category models */
export interface FillOptions {
  /** The values for `${NAME}` in the configuration. Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** The value of `${workspaceFolder}`. Default: none. Without a value, an entry that uses this variable is left out. */
  readonly folder?: string | undefined
}

/** @category models */
export interface Options<RA = never, E = never, R = never>
  extends Omit<ServersConfig.Options<HttpClient, E, R>, "connector">, FillOptions
{
  /**
   * Authorizes the client at servers with a URL. When the configuration of a server has a header `Authorization`, the client sends this
   * header instead. For OAuth, pass `Authorization.authorize` of `@effect-mcp/auth`. Default: no authorization.
   */
  readonly authorize?: Remote.Options<RA>["authorize"]
  /**
   * What happens with the stderr of programs. A function gets each line with the name of the server. Default: `forward`, which writes to
   * the stderr of this process.
   */
  readonly stderr?: StdioClient.Options["stderr"] | ((line: string, server: string) => Effect.Effect<void>)
  /** Receives every message of every server, without secrets and with the name of the server. `Tap.log` is an example. Default: none. */
  readonly tap?: Tap.Tap | undefined
  /** Returns more options of `StdioClient.connector` for a program. Values in the configuration take precedence. Default: none. */
  readonly program?:
    | ((name: string, server: ServersConfig.Program) => Omit<StdioClient.Options, "command" | "name">)
    | undefined
  /** Returns more options of `Remote.connector` for a URL. Values in the configuration take precedence. Default: none. */
  readonly address?: ((name: string, server: ServersConfig.Address) => Remote.Options<RA>) | undefined
}

/**
 * Makes the connector of one server of a configuration. `name` is the name of the server in logs and errors. Default of `name`: the command
 * or the URL of the server.
 *
 * @category constructors
 */
export const connector = <R = never>(
  server: ServersConfig.Program | ServersConfig.Address,
  options: Pick<Options<R>, "address" | "authorize" | "program" | "stderr"> = {},
  name?: string
): Connector<HttpClient | Exclude<R, Scope.Scope>> => {
  const key = name ?? "server"
  if (ServersConfig.isAddress(server)) {
    const { headers, type, url } = server
    const { authorize = options.authorize, ...more } = options.address?.(key, server) ?? {}
    const made = Remote.connector<R>(url, {
      ...more,
      ...(headers === undefined ? undefined : { headers }),
      ...(hasAuthorization(headers) ? undefined : { authorize }),
      ...(type === "sse" ? { transport: "sse" as const } : undefined)
    })
    return name === undefined ? made : { ...made, name }
  }
  const { args, command, cwd, env } = server
  const more = options.program?.(key, server)
  const stderr = more?.stderr ?? options.stderr
  return StdioClient.connector({
    ...more,
    name,
    command,
    args: args ?? more?.args,
    env: { ...more?.env, ...env },
    cwd: cwd ?? more?.cwd,
    stderr: typeof stderr === "function" ? (line) => stderr(line, key) : stderr
  })
}

const hasAuthorization = (headers: Readonly<Record<string, string>> = {}): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === "authorization")

/**
 * The content of one configuration file.
 *
 * @category models
 */
export interface Configuration {
  readonly file: string
  /** The host that reads this file; `undefined` when no host reads a file with this path. */
  readonly host: Host | undefined
  /** The servers of the file. Their variables are not replaced yet; `fill` replaces variables. */
  readonly entries: ServersConfig.Entries
  /**
   * The error with which the file could not be read; `undefined` when the file was read. With an error, `entries` is empty, but the file
   * itself may contain servers.
   */
  readonly error?: ServersConfig.ConfigurationError | undefined
  /**
   * Whether `folderFiles` has found the file in a project folder. Anyone who can write to the folder may have written this file. Default:
   * false.
   */
  readonly isOfFolder?: boolean | undefined
}

/**
 * The options of `read` and `parse`.
 *
 * @category models
 */
export interface ReadOptions {
  /**
   * The host whose rules are used to read the file. Default: the host that reads a file with this path. If there is no such host, the rules
   * that most hosts have in common are used.
   */
  readonly host?: Host | undefined
  /**
   * A project folder. The user's file of Claude Code also contains entries for single folders (the local scope). Of these entries, only the
   * entries for this folder are read. Default: the working directory of this process.
   */
  readonly folder?: string | undefined
  /**
   * The environment variables that give the folders of the user's files, such as `XDG_CONFIG_HOME`. Default: the environment of this
   * process.
   */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** The home folder of the user. Default: the home folder of the user of this process. */
  readonly home?: string | undefined
}

/**
 * The options of `userFiles` and `folderFiles`.
 *
 * @category models
 */
export interface FilesOptions extends Omit<ReadOptions, "host"> {
  /** The hosts whose files are read. Default: all. */
  readonly hosts?: ReadonlyArray<Host> | undefined
}

const placeOf = ({ environment = process.env, home = homedir() }: ReadOptions): Hosts.Place => ({
  platform: process.platform,
  home,
  environment
})

const hostOf = (file: string, options: ReadOptions): Hosts.Host | undefined =>
  options.host === undefined
    ? Hosts.ofPath(resolve(file), placeOf(options))
    : Hosts.hosts.find(({ name }) => name === options.host)

/**
 * Parses the entries in the text of a file. The text is TOML when the name of the file ends with `.toml`, otherwise JSON, which may have
 * comments.
 *
 * @category constructors
 */
export const parse = (
  text: string,
  file: string,
  options: ReadOptions = {}
): Either.Either<ServersConfig.Entries, ServersConfig.ConfigurationError> => {
  const decoding = hostOf(file, options)?.decoding
  return ConfigurationText.parse(text, /\.toml$/i.test(file) ? "toml" : "json").pipe(
    Either.mapLeft((reason) => new ServersConfig.ConfigurationError({ reason })),
    Either.flatMap((value) => {
      const ofUser = ServersConfig.decode(value, decoding)
      const local = basename(file) === ".claude.json" ? localOf(value, resolve(options.folder ?? "")) : undefined
      if (local === undefined) return ofUser
      return Either.flatMap(
        ServersConfig.decode(local, decoding),
        (entries) =>
          Either.isLeft(ofUser) && ofUser.left.isAbsent !== true
            ? ofUser
            : Either.right(ServersConfig.merge([entries, Either.getOrElse(ofUser, () => new Map())]))
      )
    }),
    Either.mapBoth({
      onLeft: ({ isAbsent, reason }) => new ServersConfig.ConfigurationError({ file, reason, isAbsent }),
      onRight: (entries): ServersConfig.Entries =>
        new Map([...entries].map(([name, entry]) => [name, entry._tag === "Disabled" ? entry : { ...entry, file }]))
    })
  )
}

/** Returns the entries for one folder in the user's own file of Claude Code. */
const localOf = (value: unknown, folder: string): unknown => {
  const projects = ownMember(value, "projects")
  const name = Predicate.isRecord(projects) ? Object.keys(projects).find((name) => resolve(name) === folder) : undefined
  const project = name === undefined ? undefined : ownMember(projects, name)
  return ownMember(project, "mcpServers") === undefined ? undefined : project
}

const ownMember = (value: unknown, name: string): unknown =>
  Predicate.isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined

const readUpTo = (
  file: string,
  options: ReadOptions,
  maxBytes: number
): Effect.Effect<Configuration, ServersConfig.ConfigurationError> =>
  File.read(file, maxBytes).pipe(
    Effect.mapError(({ isAbsent, reason }) => new ServersConfig.ConfigurationError({ file, isAbsent, reason })),
    Effect.flatMap((text) => EffectInternals.fromEither(parse(text, file, options))),
    Effect.map((entries) => ({ file, host: hostOf(file, options)?.name as Host | undefined, entries }))
  )

/**
 * Reads the file at a path that the application gives. Fails when the file cannot be read, is not JSON or TOML, or has no servers.
 *
 * @category constructors
 */
export const read = (
  file: string,
  options: ReadOptions = {}
): Effect.Effect<Configuration, ServersConfig.ConfigurationError> => readUpTo(file, options, File.MAX_BYTES)

const readAll = (
  files: ReadonlyArray<readonly [host: Host, file: string]>,
  options: FilesOptions,
  maxBytes: number
): Effect.Effect<ReadonlyArray<Configuration>> =>
  Effect.map(
    Effect.forEach(files, ([host, file]) =>
      Effect.catchAll(readUpTo(file, { ...options, host }, maxBytes), (error) =>
        Effect.succeed(error.isAbsent === true ? undefined : { file, host, entries: new Map(), error }))),
    (all) =>
      all.filter((one) =>
        one !== undefined
      )
  )

const chosen = (options: FilesOptions) => Hosts.hosts.filter(({ name }) => options.hosts?.includes(name) ?? true)

const userPaths = (options: FilesOptions) =>
  chosen(options).flatMap((host) => Hosts.filesOf(host, placeOf(options)).map((file) => [host.name, file] as const))

/**
 * Reads the user's own files that contain servers, in the order of `hosts`. The file of Claude Code also contains entries for single
 * folders; the entries for the option `folder` take precedence over the other entries of this file.
 *
 * @category constructors
 */
export const userFiles = (options: FilesOptions = {}): Effect.Effect<ReadonlyArray<Configuration>> =>
  Effect.suspend(() => readAll(userPaths(options), options, File.MAX_BYTES))

/**
 * Reads the files of a folder that contain servers, without the user's own files. **Anyone who can write to the folder chooses which
 * programs are launched.** Show the command of an entry to the user before you use the entry. In `layerFiles`, the user's own files take
 * precedence.
 *
 * @category constructors
 */
export const folderFiles = (folder: string, options: FilesOptions = {}): Effect.Effect<ReadonlyArray<Configuration>> =>
  Effect.suspend(() => {
    const own = new Set(userPaths({ ...options, hosts: undefined }).map(([, file]) => file))
    const files = chosen(options).flatMap(({ folderFiles, name }) =>
      folderFiles.map((file) => [name, join(resolve(folder), file)] as const)
    )
    return Effect.map(
      readAll(files.filter(([, file]) => !own.has(file)), { folder, ...options }, File.MAX_FOREIGN_BYTES),
      (all) => all.map((file) => ({ ...file, isOfFolder: true }))
    )
  })

/**
 * Replaces the variables in entries: variables of the environment, `${userHome}`, `${pathSeparator}`, `${/}`, and with the option `folder`
 * also `${workspaceFolder}` and `${workspaceFolderBasename}`. Also reads the `envFile` of programs. Leaves out an entry when one of its
 * variables has no value and no default, or when its `envFile` cannot be read.
 *
 * @category utils
 */
export const fill = (entries: ServersConfig.Entries, options: FillOptions = {}): Effect.Effect<ServersConfig.Entries> =>
  Effect.suspend(() => {
    const { environment = process.env, folder } = options
    const filled = ServersConfig.expand(entries, {
      ...environment,
      userHome: homedir(),
      pathSeparator: sep,
      "/": sep,
      ...(folder === undefined
        ? undefined
        : { workspaceFolder: resolve(folder), workspaceFolderBasename: basename(resolve(folder)) })
    })
    return Effect.map(
      Effect.forEach(
        filled,
        ([name, entry]) => Effect.map(withEnvFile(entry, resolve(folder ?? "")), (entry) => [name, entry] as const)
      ),
      (all): ServersConfig.Entries => new Map(all)
    )
  })

const withEnvFile = (entry: ServersConfig.Entry, folder: string): Effect.Effect<ServersConfig.Entry> => {
  if (entry._tag !== "Server" || ServersConfig.isAddress(entry.server)) return Effect.succeed(entry)
  const { envFile, ...program } = entry.server
  if (envFile === undefined) return Effect.succeed(entry)
  return Effect.match(File.read(resolve(folder, envFile), File.MAX_FOREIGN_BYTES), {
    onFailure: ({ reason }): ServersConfig.Entry => ({ _tag: "LeftOut", file: entry.file, member: "envFile", reason }),
    onSuccess: (text): ServersConfig.Entry => {
      const given = parseEnv(text) as Readonly<Record<string, string>>
      return { ...entry, server: { ...program, env: { ...given, ...program.env } } }
    }
  })
}

/**
 * Provides all servers of a configuration as one group. `config` is the parsed value of the configuration. Fails with a
 * `ConfigurationError` when the value has no servers. Leaves out an entry that cannot be read, and logs a warning.
 *
 * @example
 * ```ts
 * import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
 * import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
 * import { FetchHttpClient } from "@effect/platform"
 * import { Effect, Layer } from "effect"
 *
 * const Servers = ConfiguredServers.layer({
 *   mcpServers: {
 *     files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}"] },
 *     search: { type: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer ${TOKEN}" } }
 *   }
 * })
 *
 * export const main = Effect.flatMap(ClientSessionGroup.ClientSessionGroup, (group) => group.callTool("list_files")).pipe(
 *   Effect.provide(Servers.pipe(Layer.provide(FetchHttpClient.layer)))
 * )
 * ```
 * @category layers
 */
export const layer = <RA = never, E = never, R = never>(
  config: unknown,
  options: Options<RA, E, R> = {}
): Layer.Layer<
  ClientSessionGroup.ClientSessionGroup,
  ServersConfig.JoinError | E,
  HttpClient | Exclude<RA | Exclude<R, ClientFeatures>, Scope.Scope>
> =>
  Layer.unwrapEffect(Effect.map(
    EffectInternals.fromEither(ServersConfig.decode(config)),
    (entries) => layerFiles([{ file: "", host: undefined, entries }], options)
  ))

/**
 * Provides all servers of several files as one group. When several files have a server with the same name, only the entry of the first file
 * counts. If this entry is disabled or cannot be used, the group does not get a server with this name. The layer always puts the files of
 * `folderFiles` after the user's own files.
 *
 * When a file has an error, the layer logs a warning and uses the other files. With the option `onFailure: "fail"`, the layer fails
 * instead. When a user's own file has an error, the layer uses no file of a folder, because the user's file may have servers with the same
 * names.
 *
 * @example
 * ```ts
 * import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
 * import { Effect, Layer } from "effect"
 *
 * // One file that the application names.
 * export const Named = Layer.unwrapEffect(
 *   Effect.map(ConfiguredServers.read("servers.jsonc"), (file) => ConfiguredServers.layerFiles([file]))
 * )
 *
 * // What the user has in Cursor and in Claude Code.
 * export const Own = Layer.unwrapEffect(
 *   Effect.map(ConfiguredServers.userFiles({ hosts: ["cursor", "claude-code"] }), (files) => ConfiguredServers.layerFiles(files))
 * )
 * ```
 * @category layers
 */
export const layerFiles = <RA = never, E = never, R = never>(
  files: ReadonlyArray<Configuration>,
  options: Options<RA, E, R> = {}
): Layer.Layer<
  ClientSessionGroup.ClientSessionGroup,
  ServersConfig.JoinError | E,
  HttpClient | Exclude<RA | Exclude<R, ClientFeatures>, Scope.Scope>
> =>
  Layer.unwrapEffect(Effect.gen(function*() {
    for (const { error } of files) {
      if (error === undefined) continue
      if (options.onFailure === "fail") return yield* error
      yield* Effect.logWarning(`${error.message}. It is left out`)
    }
    const [own, ofFolder] = Array.partition(files, ({ isOfFolder }) => isOfFolder === true)
    const unread = own.find(({ error }) => error !== undefined)
    if (unread !== undefined && ofFolder.length > 0) {
      yield* Effect.logWarning(
        `No file of a folder is used until ${unread.file} can be read: it may have servers with the same names`
      )
    }
    const used = unread === undefined ? [...own, ...ofFolder] : own
    return ServersConfig.layer(yield* fill(ServersConfig.merge(used.map(({ entries }) => entries)), options), {
      ...options,
      connector: (server, name) => {
        const made = connector(server, options, name)
        return options.tap === undefined ? made : Tap.connector(made, options.tap)
      }
    })
  }))
