/**
 * Lists the skills of a server, loads a skill, and reads the files of the skill. Before the application gets the content of a file, this
 * module compares the content with the digest and the size in the entry of the skill (`SkillCheck`, `SkillRefused`). The client reads a
 * file only when the application requests it. The client always reads files from the server of the session, even if a URI names another
 * host.
 *
 * A digest only shows that the content of a file belongs to an entry. It does not show that the server can be trusted. The text of a skill
 * comes from the server, not from the application.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 * @since 0.1.0
 */
import { type ClientError, NotNegotiated } from "@effect-mcp/core/ClientError"
import type { CallOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Diagnostic from "@effect-mcp/core/Diagnostic"
import { TransportError } from "@effect-mcp/core/LocalError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Resources from "@effect-mcp/core/protocol/Resources"
import * as ListPages from "@effect-mcp/core/unstable/client/ListPages"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SkillCheck from "./client/SkillCheck.js"
import * as FileBytes from "./format/FileBytes.js"
import * as FrontMatter from "./format/FrontMatter.js"
import * as SkillUri from "./format/SkillUri.js"
import { SkillRefused } from "./SkillRefused.js"
import * as Skills from "./Skills.js"

/**
 * The extension, for the option `extensions` of a client.
 *
 * @category constants
 */
export const extension: typeof Skills.extension = Skills.extension

/**
 * The options of `make`.
 *
 * @category models
 */
export interface Options {
  /**
   * The most files of a skill. The client refuses a skill with more files. Default: 512, which is the number that the specification
   * requires clients to accept.
   */
  readonly maxFiles?: number | undefined
  /**
   * The most bytes that all files of a skill have together. The client refuses a larger skill. Default: 16 MiB, which is the size that the
   * specification requires clients to accept.
   */
  readonly maxBytes?: number | undefined
  /** The most characters of the front matter of a `SKILL.md`. Default: 16,384. */
  readonly maxFrontMatter?: number | undefined
  /**
   * Whether `load` accepts skills with generated content. The entry of such a skill has no digests, so the client can verify only the front
   * matter. With `false`, `load` of such a skill fails with reason `Dynamic`. Default: false.
   */
  readonly allowDynamic?: boolean | undefined
}

/**
 * A file of a skill, as the entry of the skill describes the file.
 *
 * @category models
 */
export interface SkillFile {
  /** The path relative to the directory of the skill. */
  readonly path: string
  readonly uri: string
  /** The size of the file, in bytes. */
  readonly size: number
}

/**
 * The content of a file of a skill.
 *
 * @category models
 */
export interface SkillContent {
  readonly uri: string
  /** The media type that the server has sent; `undefined` when the server has not sent a media type. */
  readonly mimeType: string | undefined
  readonly bytes: Uint8Array
  /** The text of the file; `None` when the bytes are not UTF-8. */
  readonly text: Option.Option<string>
}

/**
 * A skill that `load` returns. The client has read and verified its `SKILL.md`.
 *
 * @category models
 */
export interface LoadedSkill {
  readonly entry: Skills.Skill
  /** The text of `SKILL.md` without its front matter. */
  readonly instructions: string
  /** The files in the entry of the skill. The list is empty when the content of the skill is generated. */
  readonly files: ReadonlyArray<SkillFile>
  /**
   * Reads a file. `path` is the path relative to the skill, as the instructions of the skill name the file. Fails with `SkillRefused` when
   * the entry does not have the file, or when the content differs from the entry. When the content differs, the file may have changed on
   * the server. Then call `get` for the present entry.
   */
  readonly read: (path: string, options?: CallOptions) => Effect.Effect<SkillContent, ClientError | SkillRefused>
}

/**
 * The functions that list, load and read the skills of one server.
 *
 * @category models
 */
export interface SkillsService {
  /**
   * The entries of the skills that the server lists. A server may have skills that it does not list. The stream skips entries that break a
   * rule of the extension, and logs a warning for each. For such an entry `get` fails with the reason.
   */
  readonly list: Stream.Stream<Skills.Skill, ClientError>
  /** Gets the present entry of a skill, by the URI of its `SKILL.md`. */
  readonly get: (uri: string, options?: CallOptions) => Effect.Effect<Skills.Skill, ClientError | SkillRefused>
  /** Reads the `SKILL.md` of a skill, and verifies its content and its front matter. */
  readonly load: (
    entry: Skills.Skill,
    options?: CallOptions
  ) => Effect.Effect<LoadedSkill, ClientError | SkillRefused>
  /**
   * Lists the files and directories that are directly in a directory, at the time of the call. `uri` is the URI of the directory, without a
   * slash at the end. A listed file belongs to a skill only if the entry of the skill has this file. Fails with `NotNegotiated` when the
   * server does not list directories, and with `SkillRefused` when the server lists a resource that is not in the directory.
   */
  readonly readDirectory: (uri: string) => Stream.Stream<Resources.Resource, ClientError | SkillRefused>
}

/**
 * Returns an id of the content of a skill. The id is different when a file of the skill was added, removed or changed. An application can
 * store the id when the user approves the skill, and ask the user again when the id is different. Store the id together with the
 * application's own name for the server. Returns `None` for a skill with generated content, because a user cannot approve such content in
 * advance.
 *
 * @category utils
 */
export const contentId = ({ resources, uri }: Skills.Skill): Effect.Effect<Option.Option<string>> =>
  resources === "dynamic"
    ? Effect.succeedNone
    : Effect.asSome(FileBytes.sha256(
      new TextEncoder().encode(JSON.stringify([uri, resources.map(({ digest, uri }) => [uri, digest]).sort()]))
    ))

interface Self {
  readonly session: ClientSessionService
  readonly limits: SkillCheck.Limits
  readonly maxFrontMatter: number
  readonly allowDynamic: boolean
}

/**
 * Makes the functions that list, load and read the skills of a session's server. The client needs `extension` among its `extensions`.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as SkillsClient from "@effect-mcp/extensions/SkillsClient"
 * import { Effect, Stream } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const skills = SkillsClient.make(yield* Client.Client)
 *   const listed = yield* Stream.runCollect(skills.list)
 *   for (const { frontmatter } of listed) yield* Effect.log(`${frontmatter.name}: ${frontmatter.description}`)
 *   for (const entry of listed) {
 *     if (entry.frontmatter.name !== "refunds") continue
 *     const refunds = yield* skills.load(entry)
 *     yield* Effect.log(refunds.instructions)
 *     yield* Effect.log((yield* refunds.read("forms/large.md")).text)
 *   }
 * })
 * ```
 * @category constructors
 */
export const make = (session: ClientSessionService, options: Options = {}): SkillsService => {
  const self: Self = {
    session,
    limits: {
      maxFiles: options.maxFiles ?? Skills.limits.files,
      maxBytes: options.maxBytes ?? Skills.limits.bytes
    },
    maxFrontMatter: options.maxFrontMatter ?? FrontMatter.MAX_LENGTH,
    allowDynamic: options.allowDynamic === true
  }
  return {
    list: list(self),
    get: (uri, call) => get(self, uri, call),
    load: (entry, call) => load(self, entry, call),
    readDirectory: (uri) => readDirectory(self, uri)
  }
}

const methods = extension.requests

const list = (self: Self): Stream.Stream<Skills.Skill, ClientError> =>
  ListPages.stream(methods.list.name, (cursor) => page(self, cursor), ({ skills }) => skills, Diagnostic.log).pipe(
    Stream.mapEffect((given) =>
      Either.match(entryOf(self, uriOf(given), given), {
        onLeft: ({ message }) =>
          Effect.as(Effect.logWarning(`A skill of the server is left out: ${message}`), undefined),
        onRight: Effect.succeed
      })
    ),
    Stream.filter((entry) => entry !== undefined)
  )

const page = ({ session }: Self, cursor: string | undefined) =>
  Effect.flatMap(
    // The request has no schema for the result, so that one invalid entry does not make the whole page invalid.
    session.request(methods.list.name, cursor === undefined ? {} : { cursor }),
    ({ nextCursor, skills }): Effect.Effect<Page, ClientError> =>
      Array.isArray(skills) && (nextCursor === undefined || typeof nextCursor === "string")
        ? Effect.succeed({ skills, nextCursor })
        : Effect.fail(invalid(methods.list.name))
  )

const get = (self: Self, uri: string, call: CallOptions | undefined) =>
  Effect.flatMap(self.session.request(methods.get.name, { uri }, call), ({ skill }) =>
    Effect.filterOrFail(
      EffectInternals.fromEither(entryOf(self, uri, skill)),
      (entry) => entry.uri === uri,
      () => new SkillRefused({ reason: "Entry", uri, problem: "the server answered with the entry of another skill" })
    ))

const entryOf = ({ limits }: Self, uri: string, given: unknown): Either.Either<Skills.Skill, SkillRefused> =>
  Either.match(decodeEntry(given), {
    onLeft: () =>
      Either.left(
        new SkillRefused({
          reason: "Entry",
          uri,
          problem: "its entry is not valid: it needs uri, frontmatter and resources"
        })
      ),
    onRight: (entry) => {
      const refused = SkillCheck.refusal(entry, limits)
      return refused === undefined ? Either.right(entry) : Either.left(refused)
    }
  })

/** A loaded skill, whose files can be read. */
interface Loaded extends Self {
  readonly root: string
  /** The files in the entry of the skill, by their URIs; `undefined` when the content is generated. */
  readonly byUri: ReadonlyMap<string, Skills.SkillResource> | undefined
  /** The number of bytes of generated content that the client may still read. */
  readonly remaining: Ref.Ref<number>
}

const load = Effect.fnUntraced(function*(self: Self, entry: Skills.Skill, call: CallOptions | undefined) {
  const { resources, uri } = entry
  const refused = SkillCheck.refusal(entry, self.limits)
  if (refused !== undefined) return yield* refused
  if (resources === "dynamic" && !self.allowDynamic) {
    const problem =
      "its content is generated and cannot be verified: to load the skill anyway, set the option allowDynamic"
    return yield* new SkillRefused({ reason: "Dynamic", uri, problem })
  }
  const skill: Loaded = {
    ...self,
    root: SkillUri.root(uri)!,
    byUri: resources === "dynamic" ? undefined : new Map(resources.map((one) => [one.uri, one])),
    remaining: yield* Ref.make(self.limits.maxBytes)
  }
  const instructions = yield* instructionsOf(skill, entry, call)
  const files = filesOf(skill)
  const byPath = new Map(files.map(({ path, uri }) => [path, uri]))
  return {
    entry,
    instructions,
    files,
    read: (path, call) => readPath(skill, byPath, path, call)
  } satisfies LoadedSkill
})

/** Reads `SKILL.md`, compares its front matter with the entry, and returns the text below the front matter. */
const instructionsOf = Effect.fnUntraced(function*(
  skill: Loaded,
  { frontmatter, uri }: Skills.Skill,
  call: CallOptions | undefined
) {
  const refused = (problem: string) => new SkillRefused({ reason: "FrontMatter", uri, problem })
  const main = yield* readFile(skill, uri, call)
  const text = yield* Effect.mapError(
    EffectInternals.fromEither(FileBytes.text(main.bytes)),
    () => refused("the file is not UTF-8 text")
  )
  const { body, fields } = yield* Effect.mapError(
    FrontMatter.read(text, skill.maxFrontMatter),
    ({ line, problem }) => refused(`line ${line}: ${problem}`)
  )
  if (!FrontMatter.isEqual(fields, frontmatter)) {
    return yield* refused("its front matter differs from its entry: discard the entry, and get it again")
  }
  return body
})

const filesOf = ({ byUri, root }: Loaded): ReadonlyArray<SkillFile> =>
  Array.from(byUri?.values() ?? [], ({ size, uri }) => ({ path: SkillUri.within(root, uri)!, uri, size }))

const readPath = Effect.fnUntraced(function*(
  skill: Loaded,
  byPath: ReadonlyMap<string, string>,
  path: string,
  call: CallOptions | undefined
) {
  const below = path.startsWith("./") ? path.slice(2) : path
  const uri = skill.byUri === undefined ? uriBelow(skill.root, below) : byPath.get(below)
  if (uri === undefined) {
    const problem = "the entry of the skill has no such file: give a path in the skill, as in forms/large.md"
    return yield* new SkillRefused({ reason: "Unlisted", uri: path, problem })
  }
  const { bytes, mimeType } = yield* readFile(skill, uri, call)
  return { uri, mimeType, bytes, text: Either.getRight(FileBytes.text(bytes)) }
})

const readFile = (skill: Loaded, uri: string, call: CallOptions | undefined) =>
  skill.byUri === undefined ? unverified(skill, uri, call) : verified(skill, skill.byUri.get(uri)!, call)

/** Reads a file without a digest. The bytes of all files that this function reads for a skill count against `maxBytes`. */
const unverified = (skill: Loaded, uri: string, call: CallOptions | undefined) =>
  Effect.flatMap(Ref.get(skill.remaining), (max) =>
    Effect.tap(
      read(skill, uri, max, call),
      ({ bytes }) => Ref.update(skill.remaining, (left) => left - bytes.length)
    ))

const verified = Effect.fnUntraced(function*(
  self: Self,
  { digest, size, uri }: Skills.SkillResource,
  call: CallOptions | undefined
) {
  const content = yield* read(self, uri, size, call)
  if (content.bytes.length !== size) return yield* differs("Size", uri)
  if ((yield* FileBytes.sha256(content.bytes)) !== digest) return yield* differs("Digest", uri)
  return content
})

const read = ({ session }: Self, uri: string, max: number, call: CallOptions | undefined) =>
  Effect.flatMap(session.readResource(uri, call), (result) => SkillCheck.content(uri, result, max))

const readDirectory = (
  { session }: Self,
  uri: string
): Stream.Stream<Resources.Resource, ClientError | SkillRefused> =>
  Stream.unwrap(Effect.map(session.extension(extension), (settings) => {
    if (Option.isSome(settings) && settings.value.server.directoryRead !== true) {
      return Stream.fail(
        new NotNegotiated({
          method: methods.readDirectory.name,
          version: session.version,
          capability: `extensions.${extension.id}.directoryRead`,
          declaredBy: "server"
        })
      )
    }
    return ListPages.stream(
      methods.readDirectory.name,
      (cursor) => session.request(methods.readDirectory, cursor === undefined ? { uri } : { uri, cursor }),
      ({ resources }) => resources,
      Diagnostic.log
    ).pipe(Stream.mapEffect((child) => childOf(uri, child)))
  }))

const childOf = (uri: string, child: Resources.Resource): Effect.Effect<Resources.Resource, SkillRefused> => {
  const path = SkillUri.within(uri, child.uri)
  return path === undefined || path.includes("/")
    ? new SkillRefused({
      reason: "Directory",
      uri,
      problem: "the server listed a resource that is not in the directory"
    })
    : Effect.succeed(child)
}

interface Page {
  readonly skills: ReadonlyArray<unknown>
  readonly nextCursor?: string | undefined
}

const decodeEntry = Schema.decodeUnknownEither(Skills.Skill)

const uriOf = (entry: unknown): string => {
  const { uri } = Object(entry) as JsonObject
  return typeof uri === "string" ? uri : "an entry without a URI"
}

const invalid = (method: string) =>
  new TransportError({
    reason: "Decode",
    message: `The result of "${method}" is not valid: it is not a page of skills`
  })

const differs = (reason: "Size" | "Digest", uri: string) =>
  new SkillRefused({
    reason,
    uri,
    problem:
      `the ${
        reason === "Size" ? "size" : "digest"
      } of the content differs from the entry of the skill: the file may have ` +
      "changed, so get the entry again"
  })

const uriBelow = (root: string, path: string): string | undefined => {
  const uri = SkillUri.fromPath(path)
  return uri === undefined ? undefined : `${root}/${uri.slice("skill://".length)}`
}
