/**
 * Serves skills. A skill is a directory with instructions and other files for a model. `fromDirectory` reads skills from the disk,
 * `fromFiles` takes files in memory, and `make` defines a skill in code. Clients list the skills with the digests and sizes of their files.
 * When a model needs a file, the client reads the file as a resource.
 *
 * A server needs `layer` among its features and `extension` among its `extensions`.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as CacheHints from "@effect-mcp/core/CacheHints"
import type * as Feature from "@effect-mcp/core/Feature"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { Registry } from "@effect-mcp/core/Registry"
import * as ScopeEnd from "@effect-mcp/core/unstable/kit/ScopeEnd"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as FileBytes from "./format/FileBytes.js"
import * as SkillDirectory from "./server/SkillDirectory.js"
import * as SkillFiles from "./server/SkillFiles.js"
import * as SkillRegistration from "./server/SkillRegistration.js"
import * as SkillRequests from "./server/SkillRequests.js"
import { type Skill, SkillError } from "./Skill.js"
import * as Skills from "./Skills.js"

/**
 * The extension, for the option `extensions` of a server. With this extension the server declares that it answers
 * `resources/directory/read`.
 *
 * @category constants
 */
export const extension: typeof Skills.extension = Extension.declare(Skills.extension, {
  server: { directoryRead: true }
})

/**
 * The limits of the skills that the server makes. When a skill is larger than the defaults of `maxFiles` and `maxBytes`, clients may refuse
 * the skill.
 *
 * @category models
 */
export interface Limits {
  /** The most files of a skill, including the files of other skills in directories below the skill. Default: 512. */
  readonly maxFiles?: number | undefined
  /** The most bytes that all files of a skill have together. Default: 16 MiB. */
  readonly maxBytes?: number | undefined
  /** The most skills in one directory or in one set of files. When there are more, `fromDirectory` or `fromFiles` fails. Default: 1,000. */
  readonly maxSkills?: number | undefined
}

/**
 * The options of `fromFiles`.
 *
 * @category models
 */
export interface FilesOptions extends Limits {
  /**
   * The beginning of the path in every URI of a skill. With the prefix `acme/billing`, the skill `refunds` has the URI
   * `skill://acme/billing/refunds/SKILL.md`. Default: no prefix.
   */
  readonly prefix?: string | undefined
}

/**
 * The options of `fromDirectory`.
 *
 * @category models
 */
export interface DirectoryOptions extends FilesOptions {
  /**
   * Whether the server serves harmless files such as `.gitignore`. The server never serves other files whose names begin with a dot,
   * because programs trust such files. Default: false.
   */
  readonly dotfiles?: boolean | undefined
  /**
   * The most files and directories that the directory contains at any depth, including files and directories that belong to no skill. When
   * there are more, `fromDirectory` fails. Default: 10,000.
   */
  readonly maxEntries?: number | undefined
}

const limitsOf = ({ maxBytes, maxFiles, maxSkills }: Limits): SkillFiles.Limits => ({
  maxFiles: maxFiles ?? Skills.limits.files,
  maxBytes: maxBytes ?? Skills.limits.bytes,
  maxSkills: maxSkills ?? 1000
})

const build = <R>(
  sources: Iterable<readonly [string, SkillFiles.Source<R>]>,
  directories: ReadonlyArray<string>,
  prefix: string | undefined,
  options: Limits
): Effect.Effect<ReadonlyArray<Either.Either<Skill<R>, SkillError>>, SkillError> => {
  const full = (path: string) => prefix === undefined || prefix === "" ? path : `${prefix}/${path}`
  return SkillFiles.build(
    new Map(Array.from(sources, ([path, source]) => [full(path), source])),
    directories.map(full),
    limitsOf(options)
  )
}

/** Returns the skills that can be served, and logs a warning for each other skill. */
const servable = (
  found: ReadonlyArray<Either.Either<Skill, SkillError>>
): Effect.Effect<ReadonlyArray<Skill>> =>
  Effect.map(
    Effect.forEach(found, (one) =>
      Either.isRight(one)
        ? Effect.succeed([one.right])
        : Effect.as(Effect.logWarning(`A skill is left out: ${one.left.message}`), [])),
    (skills) => skills.flat()
  )

/**
 * Reads the skills in a directory. A skill is a directory that contains a `SKILL.md`: the given directory itself, or a directory at any
 * depth below. The path of the directory becomes the path in the URI of the skill. The name of the directory must be the `name` in the
 * front matter of the skill.
 *
 * The server does not follow links, and does not serve special files (such as sockets) and files outside of skills. Each time a client
 * reads a file, the server reads the file from the disk, and compares the content with the digest in the entry of the skill.
 *
 * The result does not contain a skill that clients would refuse. For each such skill, the function logs a warning with the file, the line
 * in the front matter, and the reason. The effect fails with a `SkillError` when the directory cannot be read, or when it has too many
 * entries, levels or skills.
 *
 * @category constructors
 */
export const fromDirectory = (
  directory: string,
  options: DirectoryOptions = {}
): Effect.Effect<ReadonlyArray<Skill>, SkillError, FileSystem.FileSystem | Path.Path> =>
  Effect.flatMap(
    SkillDirectory.find(directory, {
      dotfiles: options.dotfiles === true,
      maxEntries: options.maxEntries ?? 10_000,
      maxBytes: limitsOf(options).maxBytes
    }),
    ({ directories, files, name }) => {
      const isSkill = files.has(Skills.FILE)
      const below = (path: string) => isSkill ? `${name}/${path}` : path
      return Effect.flatMap(
        build(
          Array.from(files, ([path, source]) => [below(path), source] as const),
          directories.map(below),
          options.prefix,
          options
        ),
        servable
      )
    }
  )

/**
 * Makes skills from files that are part of your program, for example files that a bundler has included. The keys of `files` are paths such
 * as `refunds/SKILL.md`. The values are the contents of the files. The result does not contain a skill that clients would refuse, and the
 * function logs a warning for each such skill. The effect fails with a `SkillError` when there are too many skills, or when a `SKILL.md` is
 * not in a directory.
 *
 * @category constructors
 */
export const fromFiles = (
  files: Readonly<Record<string, string | Uint8Array>>,
  options: FilesOptions = {}
): Effect.Effect<ReadonlyArray<Skill>, SkillError> =>
  Effect.flatMap(
    build(
      Object.entries(files).map(([path, content]) => [path, stored(path, content)] as const),
      [],
      options.prefix,
      options
    ),
    servable
  )

/**
 * The content of a file, or an effect that generates the content. The server runs the effect each time a client reads the file.
 *
 * @category models
 */
export type Content = string | Uint8Array | Effect.Effect<string | Uint8Array, Feature.Fails, any>

type ContextOf<C> = C extends Effect.Effect<any, any, infer R> ? R : never

/**
 * The options of `make`.
 *
 * @category models
 */
export interface Options<
  Instructions extends Content = Content,
  Files extends Readonly<Record<string, Content>> = Readonly<Record<string, Content>>
> extends Limits {
  /** A text that says what the skill does and when to use it. Models choose a skill by this text. It may have at most 1,024 characters. */
  readonly description: string
  /** The Markdown that the model reads when it uses the skill. */
  readonly instructions: Instructions
  /** The other fields of the front matter, for example `license`. Default: none. */
  readonly frontmatter?: { readonly [field: string]: unknown } | undefined
  /** The other files of the skill, by their paths relative to the skill. Default: none. */
  readonly files?: Files | undefined
}

/**
 * Makes a skill that is defined in code. The last name in `path` is the name of the skill. The names before the last name group skills, as
 * in `acme/billing/refunds`.
 *
 * When the content of a file is an effect, clients cannot verify the skill, because its entry has no digests. Many clients refuse such a
 * skill. The effect may require the same services as a handler of a resource.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
 *
 * const Refunds = SkillsServer.make("refunds", {
 *   description: "Refund an order as the company wants it. Use it when a customer wants money back.",
 *   instructions: "Look up the order first. Above 100 €, fill in [the form](forms/large.md).",
 *   files: { "forms/large.md": "Order, amount, reason" }
 * })
 *
 * export const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, SkillsServer.layer(Refunds), {
 *   extensions: [SkillsServer.extension]
 * })
 * ```
 * @category constructors
 */
export const make = <
  const Instructions extends Content,
  const Files extends Readonly<Record<string, Content>> = {}
>(
  path: string,
  options: Options<Instructions, Files>
): Effect.Effect<Skill<ContextOf<Instructions> | ContextOf<Files[keyof Files]>>, SkillError> => {
  const { description, frontmatter, instructions } = options
  const name = path.slice(path.lastIndexOf("/") + 1)
  // Each JSON text is valid YAML.
  const fields = Object.entries({ name, description, ...frontmatter }).flatMap(([field, value]) =>
    value === undefined ? [] : [`${JSON.stringify(field)}: ${JSON.stringify(value)}\n`]
  )
  const head = `---\n${fields.join("")}---\n\n`
  const main = `${path}/${Skills.FILE}`
  const files = Object.entries<Content>(options.files ?? {}).map(([file, content]) => {
    const own = `${path}/${file}`
    return [own, Effect.isEffect(content) ? generated(own, "", content) : stored(own, content)] as const
  })
  const source = Effect.isEffect(instructions)
    ? generated(main, head, instructions)
    : stored(main, concat(head, instructions as string | Uint8Array))
  return files.some(([file]) => file.endsWith(`/${Skills.FILE}`))
    ? new SkillError({
      file: main,
      problem: `the option "files" must not contain a ${Skills.FILE}: give it as "instructions"`
    })
    : Effect.flatMap(build<any>([[main, source], ...files], [], undefined, options), ([skill]) => skill!)
}

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : content

const concat = (head: string, content: string | Uint8Array): Uint8Array =>
  FileBytes.concat([bytesOf(head), bytesOf(content)])

const stored = (label: string, content: string | Uint8Array): SkillFiles.Source => ({
  label,
  load: Effect.sync(() => bytesOf(content))
})

const generated = <R>(
  label: string,
  head: string,
  content: Effect.Effect<string | Uint8Array, Feature.Fails, R>
): SkillFiles.Source<R> => ({
  label,
  isDynamic: true,
  load: Effect.sync(() => bytesOf(head)),
  read: () => Effect.map(content, (content) => concat(head, content))
})

/**
 * Makes a stream for the option `reload` of `layer`. The stream has an element after changes in a directory. It waits with the element
 * until nothing has changed for the time `debounce`. Default of `debounce`: 200 milliseconds. When the directory cannot be watched, the
 * stream logs a warning and ends.
 *
 * @category utils
 */
export const watch = (
  directory: string,
  options: { readonly debounce?: Duration.DurationInput | undefined } = {}
): Stream.Stream<unknown, never, FileSystem.FileSystem> =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (fs) => fs.watch(directory, { recursive: true }))).pipe(
    Stream.debounce(options.debounce ?? "200 millis"),
    Stream.catchAll((error) =>
      Stream.execute(Effect.logWarning(`The skills in ${directory} are not watched any more: ${error.message}`))
    )
  )

/**
 * The options of `layer`.
 *
 * @category models
 */
export interface LayerOptions<out R = never> {
  /** The time for which clients of revision 2026-07-28 or later may cache entries and files. Default: the option `cache` of the server. */
  readonly cache?: CacheHints.CacheOptions | undefined
  /**
   * The most entries of one page of `skills/list`, and of one page of a directory. One entry can have 512 files, so a page can be large.
   * Default: 100.
   */
  readonly pageSize?: number | undefined
  /**
   * A stream that tells the server when to read the skills again. After each element the server reads the skills, and notifies clients when
   * resources have changed. When the skills cannot be read, the server logs the error and keeps the present skills. The server also reads
   * the skills again when a client reads a file that has changed on the disk. Default: no stream.
   */
  readonly reload?: Stream.Stream<unknown, never, R> | undefined
}

/**
 * Makes the feature that serves skills. A server may have several of these features with different skills. `Feature.visible` and
 * `FeatureMiddleware.around` work for skills in the same way as for resources.
 *
 * The layer fails when the skills cannot be read, and dies when another feature has a resource with the same URI.
 *
 * @category layers
 */
export const layer = <R = never, E = never, SR = never, RR = never>(
  skills: Effect.Effect<Skill<R> | ReadonlyArray<Skill<R>>, E, SR>,
  options: LayerOptions<RR> = {}
): Layer.Layer<
  never,
  E,
  Registry | Exclude<R, Feature.RequestServices> | Exclude<SR, Scope.Scope> | Exclude<RR, Scope.Scope>
> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const registry = yield* Registry
    const context = yield* Effect.context<any>()
    const hints = CacheHints.toHints(options.cache)
    // While the layer reads the skills, the queue keeps at most one request to read them again, because one further reading is enough.
    const noticed = yield* Queue.sliding<void>(1)
    const replace = yield* SkillRegistration.make({
      registry,
      context: Context.omit(Scope.Scope)(context) as Context.Context<never>,
      hints,
      onChanged: Effect.asVoid(Queue.offer(noticed, undefined))
    })
    const read = Effect.flatMap(ScopeEnd.scoped(skills), (skills) => replace(Array.isArray(skills) ? skills : [skills]))
    yield* read
    const reload = Effect.catchAllCause(read, (cause) =>
      Effect.zipRight(
        Effect.logWarning("The skills could not be read again: the server keeps the skills that it has", cause),
        Effect.sleep(RELOAD_PAUSE)
      ))
    yield* Stream.merge(Stream.fromQueue(noticed), options.reload ?? Stream.empty).pipe(
      Stream.runForEach(() => reload),
      Effect.forkScoped
    )
    return SkillRequests.layer(registry, { hints, pageSize: options.pageSize ?? 100 })
  })) as Layer.Layer<never, E, any>

/** The pause after a failed attempt to read the skills. */
const RELOAD_PAUSE = "1 second"
