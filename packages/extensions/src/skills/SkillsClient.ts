/**
 * Lists the skills of a server, loads a skill, and reads its files. A content is compared with the digest and the size in the entry
 * of the skill before the application gets the content. The client reads only what the application requests, and only from the server
 * of the session, whatever a URI looks like.
 *
 * A digest shows that a content belongs to an entry. It does not show that the server can be trusted: the text of a skill comes from
 * the server, not from the application.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 * @since 0.1.0
 */
import { type ClientError, NotNegotiated } from "@effect-mcp/core/ClientError"
import type { CallOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import { TransportError } from "@effect-mcp/core/LocalError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Resources from "@effect-mcp/core/protocol/Resources"
import * as ListPages from "@effect-mcp/core/unstable/client/ListPages"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SkillCheck from "./client/SkillCheck.js"
import * as Content from "./format/Content.js"
import * as FrontMatter from "./format/FrontMatter.js"
import * as SkillUri from "./format/SkillUri.js"
import { SkillRefused } from "./SkillRefused.js"
import * as Protocol from "./Skills.js"

/**
 * The extension, for the option `extensions` of a client.
 *
 * @category constants
 */
export const extension: typeof Protocol.extension = Protocol.extension

/** @category models */
export interface Options {
  /** How many files a skill may have. Default: 512, which every client must accept. */
  readonly maxFiles?: number | undefined
  /** How many bytes the files of a skill may have together. Default: 16 MiB, which every client must accept. */
  readonly maxBytes?: number | undefined
  /** How many characters the front matter of a `SKILL.md` may have. Default: 16,384. */
  readonly maxFrontMatter?: number | undefined
  /**
   * Whether skills with generated content are loaded; the client can verify their front matter only. Default: false, `load` fails
   * with the reason `Dynamic`.
   */
  readonly allowDynamic?: boolean | undefined
}

/**
 * A file of a skill, as its entry describes it.
 *
 * @category models
 */
export interface SkillFile {
  /** The path in the directory of the skill. */
  readonly path: string
  readonly uri: string
  /** In bytes. */
  readonly size: number
}

/** @category models */
export interface SkillContent {
  readonly uri: string
  /** As the server said. */
  readonly mimeType: string | undefined
  readonly bytes: Uint8Array
  /** `None` when the bytes are not UTF-8. */
  readonly text: Option.Option<string>
}

/**
 * A skill whose `SKILL.md` was read and verified. The files are the files of the entry that was loaded.
 *
 * @category models
 */
export interface LoadedSkill {
  readonly entry: Protocol.Skill
  /** `SKILL.md` without its front matter. */
  readonly instructions: string
  /** Empty when the content of the skill is generated. */
  readonly files: ReadonlyArray<SkillFile>
  /**
   * Reads a file by its path in the skill, as the instructions of the skill name the file. Fails with `SkillRefused` when the entry
   * does not have the file, and when the content differs from the entry: then `get` gives the present entry.
   */
  readonly read: (path: string, options?: CallOptions) => Effect.Effect<SkillContent, ClientError | SkillRefused>
}

/** @category models */
export interface SkillsService {
  /**
   * The skills that the server lists, page after page; a server may have further skills. Entries that break a rule of the extension
   * are left out, with a warning in the log. `get` fails with the reason for one entry.
   */
  readonly list: Stream.Stream<Protocol.Skill, ClientError>
  /** The present entry of a skill, by the URI of its `SKILL.md`. */
  readonly get: (uri: string, options?: CallOptions) => Effect.Effect<Protocol.Skill, ClientError | SkillRefused>
  /** Reads the `SKILL.md` of a skill, and verifies its content and its front matter. */
  readonly load: (
    entry: Protocol.Skill,
    options?: CallOptions
  ) => Effect.Effect<LoadedSkill, ClientError | SkillRefused>
  /**
   * The present children of a directory, by the URI of the directory without a slash at the end. A child that the entry of a skill
   * does not have is no file of the skill. Fails with `NotNegotiated` when the server does not list directories.
   */
  readonly readDirectory: (uri: string) => Stream.Stream<Resources.Resource, ClientError | SkillRefused>
}

/**
 * Identifies the content of a skill, so that an application can bind an approval of the user to the content. The id changes when a
 * file is added, removed or changed. Store the id with the name that the application gives the server. `None` for a skill with
 * generated content, to which no approval can be bound.
 *
 * @category utils
 */
export const contentId = ({ resources, uri }: Protocol.Skill): Effect.Effect<Option.Option<string>> =>
  resources === "dynamic"
    ? Effect.succeedNone
    : Effect.asSome(Content.sha256(
      new TextEncoder().encode(JSON.stringify([uri, resources.map(({ digest, uri }) => [uri, digest]).sort()]))
    ))

/**
 * The skills of the server of a session. The client must have been given `extension`.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/core/Client"
 * import * as Skills from "@effect-mcp/extensions/SkillsClient"
 * import { Effect, Stream } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const skills = Skills.make(yield* Client.Client)
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
  const limits = {
    maxFiles: options.maxFiles ?? Protocol.limits.files,
    maxBytes: options.maxBytes ?? Protocol.limits.bytes
  }
  const { get, list, readDirectory } = extension.requests
  const entryOf = (uri: string, given: unknown): Either.Either<Protocol.Skill, SkillRefused> =>
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

  const page = (cursor: string | undefined) =>
    Effect.flatMap(
      // Requested by the name of the method, without a schema, so that one entry that is not valid does not spoil the page.
      session.request(list.name, cursor === undefined ? {} : { cursor }),
      ({ nextCursor, skills }): Effect.Effect<Page, ClientError> =>
        Array.isArray(skills) && (nextCursor === undefined || typeof nextCursor === "string")
          ? Effect.succeed({ skills, nextCursor })
          : Effect.fail(invalid(list.name))
    )

  const read = (uri: string, max: number, call: CallOptions | undefined) =>
    Effect.flatMap(session.readResource(uri, call), (result) => SkillCheck.content(uri, result, max))

  const verified = ({ digest, size, uri }: Protocol.SkillResource, call: CallOptions | undefined) =>
    Effect.gen(function*() {
      const content = yield* read(uri, size, call)
      if (content.bytes.length !== size) return yield* differs("Size", uri)
      if ((yield* Content.sha256(content.bytes)) !== digest) return yield* differs("Digest", uri)
      return content
    })

  return {
    list: ListPages.stream(list.name, page, ({ skills }) => skills).pipe(
      Stream.mapEffect((given) =>
        Either.match(entryOf(uriOf(given), given), {
          onLeft: ({ message }) =>
            Effect.as(Effect.logWarning(`A skill of the server is left out: ${message}`), undefined),
          onRight: Effect.succeed
        })
      ),
      Stream.filter((entry) => entry !== undefined)
    ),
    get: (uri, call) =>
      Effect.flatMap(session.request(get.name, { uri }, call), ({ skill }) =>
        Effect.filterOrFail(
          entryOf(uri, skill),
          (entry) => entry.uri === uri,
          () =>
            new SkillRefused({ reason: "Entry", uri, problem: "the server answered with the entry of another skill" })
        )),
    load: (entry, call) =>
      Effect.gen(function*() {
        const { frontmatter, resources, uri } = entry
        const refused = SkillCheck.refusal(entry, limits)
        if (refused !== undefined) return yield* refused
        const root = SkillUri.root(uri)!
        const remaining = yield* Ref.make(limits.maxBytes)
        if (resources === "dynamic" && options.allowDynamic !== true) {
          const problem =
            "its content is generated and cannot be verified: to load the skill anyway, set the option allowDynamic"
          return yield* new SkillRefused({ reason: "Dynamic", uri, problem })
        }
        /** Reads a file without a digest. The bytes of all such files count against `maxBytes`. */
        const unverified = (uri: string, call: CallOptions | undefined) =>
          Effect.flatMap(Ref.get(remaining), (max) =>
            Effect.tap(read(uri, max, call), ({ bytes }) => Ref.update(remaining, (left) => left - bytes.length)))
        const byUri = new Map(resources === "dynamic" ? [] : resources.map((one) => [one.uri, one]))
        const readFile = (uri: string, call: CallOptions | undefined) =>
          resources === "dynamic" ? unverified(uri, call) : verified(byUri.get(uri)!, call)
        const main = yield* readFile(uri, call)
        const text = yield* Effect.mapError(
          Content.text(main.bytes),
          () =>
            new SkillRefused({ reason: "FrontMatter", uri, problem: "the file is not UTF-8 text" })
        )
        const { body, fields } = yield* Effect.mapError(
          FrontMatter.read(text, options.maxFrontMatter ?? FrontMatter.MAX_LENGTH),
          ({ line, problem }) => new SkillRefused({ reason: "FrontMatter", uri, problem: `line ${line}: ${problem}` })
        )
        if (!FrontMatter.isEqual(fields, frontmatter)) {
          const problem = "its front matter differs from its entry: discard the entry, and get it again"
          return yield* new SkillRefused({ reason: "FrontMatter", uri, problem })
        }
        const files = Array.from(byUri.values(), ({ size, uri }) => ({ path: SkillUri.within(root, uri)!, uri, size }))
        const byPath = new Map(files.map(({ path, uri }) => [path, uri]))
        return {
          entry,
          instructions: body,
          files,
          read: (path, call) =>
            Effect.gen(function*() {
              const below = path.startsWith("./") ? path.slice(2) : path
              const uri = resources === "dynamic" ? uriBelow(root, below) : byPath.get(below)
              if (uri === undefined) {
                const problem =
                  "the entry of the skill has no such file: give a path in the skill, as in forms/large.md"
                return yield* new SkillRefused({ reason: "Unlisted", uri: path, problem })
              }
              const { bytes, mimeType } = yield* readFile(uri, call)
              return { uri, mimeType, bytes, text: Either.getRight(Content.text(bytes)) }
            })
        }
      }),
    readDirectory: (uri) =>
      Stream.unwrap(Effect.map(session.extension(extension), (settings) => {
        if (Option.isSome(settings) && settings.value.server.directoryRead !== true) {
          return Stream.fail(
            new NotNegotiated({
              method: readDirectory.name,
              version: session.version,
              capability: `extensions.${extension.id}.directoryRead`,
              declaredBy: "server"
            })
          )
        }
        return ListPages.stream(
          readDirectory.name,
          (cursor) => session.request(readDirectory, cursor === undefined ? { uri } : { uri, cursor }),
          ({ resources }) => resources
        ).pipe(Stream.mapEffect((child) => {
          const path = SkillUri.within(uri, child.uri)
          return path === undefined || path.includes("/")
            ? new SkillRefused({
              reason: "Directory",
              uri,
              problem: "the server listed a resource that is not in the directory"
            })
            : Effect.succeed(child)
        }))
      }))
  }
}

interface Page {
  readonly skills: ReadonlyArray<unknown>
  readonly nextCursor?: string | undefined
}

const decodeEntry = Schema.decodeUnknownEither(Protocol.Skill)

const uriOf = (entry: unknown): string => {
  const { uri } = Object(entry) as JsonObject
  return typeof uri === "string" ? uri : "an entry without a URI"
}

const invalid = (method: string) =>
  new TransportError({ reason: "Decode", message: `The result of "${method}" is not valid: it is no page of skills` })

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
